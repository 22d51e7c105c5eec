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

#[derive(Default)]
pub(super) struct Wire {
    /// In the order in which they were sent.
    sent: Vec<SentMessage>,
    pub(super) cuts: BTreeSet<NodePair>,
}

impl Wire {
    pub(super) fn send(&mut self, sent: SentMessage) {
        self.sent.push(sent);
    }

    fn open(&self, is_up: impl Fn(usize) -> bool) -> impl Iterator<Item = usize> {
        let is_open = move |sent: &SentMessage| is_up(sent.to) && !self.cuts.contains(&NodePair::of(sent.from, sent.to));
        self.sent.iter().enumerate().filter(move |(_, sent)| is_open(sent)).map(|(place, _)| place)
    }

    /// How many can arrive.
    pub(super) fn deliverable(&self, is_up: impl Fn(usize) -> bool) -> usize {
        self.open(is_up).count()
    }

    /// Takes one of those that can.
    pub(super) fn take(&mut self, of_deliverable: usize, is_up: impl Fn(usize) -> bool) -> Option<SentMessage> {
        let place = self.open(is_up).nth(of_deliverable)?;
        Some(self.sent.remove(place))
    }
}
