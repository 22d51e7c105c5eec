//! What is on its way between nodes.
//!
//! Invariant: a message that is cut off waits, and so does one to a node that is down; none is lost.

use std::collections::BTreeSet;

/// Two nodes, the smaller number first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair(pub(super) usize, pub(super) usize);

impl Pair {
    pub(super) fn of(one: usize, other: usize) -> Pair {
        Pair(one.min(other), one.max(other))
    }
}

/// A message.
pub(super) struct Sent {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) body: Vec<u8>,
}

#[derive(Default)]
pub(super) struct Wire {
    /// In the order in which they were sent.
    sent: Vec<Sent>,
    pub(super) cuts: BTreeSet<Pair>,
}

impl Wire {
    pub(super) fn send(&mut self, sent: Sent) {
        self.sent.push(sent);
    }

    /// Whether nothing is on its way, nor held back.
    pub(super) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    fn open(&self, is_up: impl Fn(usize) -> bool) -> impl Iterator<Item = usize> {
        let is_open = move |sent: &Sent| is_up(sent.to) && !self.cuts.contains(&Pair::of(sent.from, sent.to));
        self.sent.iter().enumerate().filter(move |(_, sent)| is_open(sent)).map(|(place, _)| place)
    }

    /// How many can arrive.
    pub(super) fn deliverable(&self, is_up: impl Fn(usize) -> bool) -> usize {
        self.open(is_up).count()
    }

    /// Takes one of those that can.
    pub(super) fn take(&mut self, of_deliverable: usize, is_up: impl Fn(usize) -> bool) -> Option<Sent> {
        let place = self.open(is_up).nth(of_deliverable)?;
        Some(self.sent.remove(place))
    }
}
