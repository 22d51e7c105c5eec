//! What is on its way between nodes.
//!
//! Invariant: a message that is cut off waits, and so does one to a node that is down; none is lost.

use std::collections::BTreeSet;

/// Two nodes, the smaller number first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodePair(pub(super) usize, pub(super) usize);

impl NodePair {
    pub(super) fn of(one: usize, other: usize) -> NodePair {
        NodePair(one.min(other), one.max(other))
    }
}

/// A message.
pub(super) struct SentMessage {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) body: Vec<u8>,
}

/// A message that can arrive.
pub(super) struct DeliverableMessage {
    /// The how manieth one that was sent, from 0.
    pub(super) number: u64,
    pub(super) to: usize,
}

#[derive(Default)]
pub(super) struct Wire {
    /// In the order in which they were sent, each with its number.
    sent: Vec<(u64, SentMessage)>,
    next: u64,
    pub(super) cuts: BTreeSet<NodePair>,
}

impl Wire {
    pub(super) fn send(&mut self, sent: SentMessage) {
        self.sent.push((self.next, sent));
        self.next += 1;
    }

    /// Whether nothing is on its way, nor held back.
    pub(super) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    fn open(&self, is_up: impl Fn(usize) -> bool) -> impl Iterator<Item = usize> {
        let is_open = move |(_, sent): &(u64, SentMessage)| {
            is_up(sent.to) && !self.cuts.contains(&NodePair::of(sent.from, sent.to))
        };
        self.sent.iter().enumerate().filter(move |(_, sent)| is_open(sent)).map(|(place, _)| place)
    }

    /// Those that can arrive.
    pub(super) fn deliverable(&self, is_up: impl Fn(usize) -> bool) -> Vec<DeliverableMessage> {
        let message = |place: usize| DeliverableMessage { number: self.sent[place].0, to: self.sent[place].1.to };
        self.open(is_up).map(message).collect()
    }

    /// Takes one of those that can.
    pub(super) fn take(&mut self, of_deliverable: usize, is_up: impl Fn(usize) -> bool) -> Option<SentMessage> {
        let place = self.open(is_up).nth(of_deliverable)?;
        Some(self.sent.remove(place).1)
    }
}
