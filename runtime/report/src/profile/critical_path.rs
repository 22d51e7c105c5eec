//! The critical path: what the length of a run is made of, walked backwards from its end.
//!
//! ```text
//! main     ██████░░░░░░░░░░░░████        ░ waits for bytes of `server`, which were sent at ▲
//! server          ░░░░░████▲                 path: main ▸ message ▸ server … ▸ timer
//! ```
//!
//! A machine that waited for bytes continues because of the machine that sent them: the path moves to the sender, at
//! the moment at which it sent them. A machine that waited for a moment stays on the path.
//!
//! Invariant: the parts follow each other without gaps, so that their sum is the length of the run.

use fozzy_trace::{Instant, NodeId, WaitKind};
use std::collections::BTreeMap;

/// Parts of the path that are kept one by one, from the end. Their sums are of all.
const PARTS_MAX: usize = 1 << 12;

/// Who brought about what another one waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    /// The machine.
    pub node: NodeId,
    /// When.
    pub at: Instant,
    /// As which event of the run.
    pub event: u64,
}

/// One wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitSpan {
    /// Who waited.
    pub node: NodeId,
    /// From when.
    pub since: Instant,
    /// Until when.
    pub until: Instant,
    /// For what kind of event.
    pub kind: WaitKind,
    /// For what, in words.
    pub what: String,
    /// For whom.
    pub of: Option<NodeId>,
    /// Who brought it about, if that is known.
    pub sender: Option<Sender>,
    /// Its end, as which event of the run.
    pub event: u64,
}

/// What happens in one part of the path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathPart {
    /// A machine runs: its readings of clocks take time.
    Runs(NodeId),
    /// A machine waits.
    Waits(NodeId, WaitKind, String),
    /// Bytes, or the news of an end, are on their way.
    Travels(NodeId, NodeId),
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// How long each part takes in all, and how often it occurs.
    pub sums: BTreeMap<PathPart, (u64, u64)>,
    /// The last parts, in the order of time: from when, until when, what.
    pub parts: Vec<(Instant, Instant, PathPart)>,
    /// Where it begins: the first moment of the machine that it comes to.
    pub start: Instant,
}

/// The critical path of a run that ended at `end`; `starts` has the first moment of each machine.
#[must_use]
pub(super) fn critical_path(waits: &[WaitSpan], starts: &BTreeMap<NodeId, Instant>, end: Instant) -> CriticalPath {
    let mut of: BTreeMap<NodeId, Vec<&WaitSpan>> = BTreeMap::new();
    for wait in waits {
        of.entry(wait.node).or_default().push(wait);
    }
    let mut path = CriticalPath::default();
    let (mut node, mut at, mut event) = (NodeId(0), end, u64::MAX);
    loop {
        let before = of.get(&node).map_or(&[][..], Vec::as_slice);
        let before = &before[..before.partition_point(|wait| wait.event < event)];
        // A wait that was cut off by the end of the run may reach beyond it.
        let Some(wait) = before.iter().rev().find(|wait| wait.until <= at) else {
            let start = starts.get(&node).copied().unwrap_or(Instant::START).min(at);
            path.add(start, at, PathPart::Runs(node));
            path.start = start;
            break;
        };
        path.add(wait.until, at, PathPart::Runs(node));
        event = wait.event;
        match wait.sender.filter(|sender| sender.node != node && sender.at <= wait.until && sender.event < event) {
            Some(sender) => {
                path.add(sender.at, wait.until, PathPart::Travels(sender.node, node));
                (node, at, event) = (sender.node, sender.at, sender.event);
            }
            None => {
                path.add(wait.since, wait.until, PathPart::Waits(node, wait.kind, wait.what.clone()));
                at = wait.since;
            }
        }
    }
    path.parts.reverse();
    path
}

impl CriticalPath {
    fn add(&mut self, since: Instant, until: Instant, part: PathPart) {
        let ns = until.since(since).0;
        if ns == 0 {
            return;
        }
        if self.parts.len() < PARTS_MAX {
            self.parts.push((since, until, part.clone()));
        }
        let sum = self.sums.entry(part).or_default();
        *sum = (sum.0 + ns, sum.1 + 1);
    }

    /// How long it is.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        self.sums.values().map(|(ns, _)| ns).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(node: u32, since: u64, until: u64, sender: Option<(u32, u64, u64)>, event: u64) -> WaitSpan {
        let sender = sender.map(|(node, at, event)| Sender { node: NodeId(node), at: Instant(at), event });
        WaitSpan {
            node: NodeId(node),
            since: Instant(since),
            until: Instant(until),
            kind: if sender.is_some() { WaitKind::Network } else { WaitKind::Timer },
            what: "it".to_owned(),
            of: None,
            sender,
            event,
        }
    }

    fn starts() -> BTreeMap<NodeId, Instant> {
        (0..3).map(|node| (NodeId(node), Instant::START)).collect()
    }

    #[test]
    fn the_path_goes_over_to_who_was_waited_for_and_is_as_long_as_the_run() {
        // The server sleeps from 10 to 40, computes until 45, and its answer takes until 60; main waits from 5 to 60.
        let waits = [wait(1, 10, 40, None, 3), wait(0, 5, 60, Some((1, 45, 4)), 5)];
        let path = critical_path(&waits, &starts(), Instant(70));
        assert_eq!(path.total_ns(), 70);
        let parts: Vec<_> = path.parts.iter().map(|(since, until, part)| (since.0, until.0, part.clone())).collect();
        let timer = PathPart::Waits(NodeId(1), WaitKind::Timer, "it".to_owned());
        let expected = [
            (0, 10, PathPart::Runs(NodeId(1))),
            (10, 40, timer),
            (40, 45, PathPart::Runs(NodeId(1))),
            (45, 60, PathPart::Travels(NodeId(1), NodeId(0))),
            (60, 70, PathPart::Runs(NodeId(0))),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn messages_without_a_delay_come_to_an_end() {
        let waits = [wait(0, 1, 5, Some((1, 5, 3)), 4), wait(1, 1, 5, Some((0, 5, 1)), 2), wait(0, 5, 5, None, 6)];
        assert_eq!(critical_path(&waits, &starts(), Instant(5)).total_ns(), 5);
    }
}
