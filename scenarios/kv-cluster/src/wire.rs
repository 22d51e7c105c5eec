//! What is on its way between the nodes of a cluster.
//!
//! ```text
//! send 0 ─▶ 2 ─┐
//! send 0 ─▶ 1 ─┼─▶ deliverable: those whose ends are not cut from each other; any of them may arrive next
//! send 1 ─▶ 0 ─┘
//! ```
//!
//! Invariant: a message that is cut off waits; it is lost only with the machine that it goes to.

use std::collections::BTreeSet;

struct Sent {
    from: u32,
    to: u32,
    body: Vec<u8>,
}

#[derive(Default)]
pub(crate) struct Wire {
    /// In the order in which they were sent.
    sent: Vec<Sent>,
    /// Pairs that hear nothing of each other, the smaller number first.
    cuts: BTreeSet<(u32, u32)>,
}

impl Wire {
    pub(crate) fn send(&mut self, from: u32, to: u32, body: Vec<u8>) {
        self.sent.push(Sent { from, to, body });
    }

    /// The places of the messages that can arrive.
    fn open(&self) -> impl Iterator<Item = usize> {
        let is_open = |sent: &Sent| !self.cuts.contains(&pair(sent.from, sent.to));
        self.sent.iter().enumerate().filter(move |(_, sent)| is_open(sent)).map(|(place, _)| place)
    }

    /// How many messages can arrive.
    pub(crate) fn deliverable(&self) -> usize {
        self.open().count()
    }

    /// Takes one of those that can arrive: sender, receiver, bytes.
    pub(crate) fn take(&mut self, of_deliverable: usize) -> (u32, u32, Vec<u8>) {
        let place = self.open().nth(of_deliverable).expect("there are so many");
        let Sent { from, to, body } = self.sent.remove(place);
        (from, to, body)
    }

    pub(crate) fn cut(&mut self, one: u32, other: u32) {
        self.cuts.insert(pair(one, other));
    }

    pub(crate) fn heal(&mut self, one: u32, other: u32) {
        self.cuts.remove(&pair(one, other));
    }

    pub(crate) fn heal_all(&mut self) {
        self.cuts.clear();
    }

    /// What was on its way to a machine is lost with it.
    pub(crate) fn lose(&mut self, to: u32) {
        self.sent.retain(|sent| sent.to != to);
    }
}

fn pair(one: u32, other: u32) -> (u32, u32) {
    (one.min(other), one.max(other))
}
