//! What will happen in the network, in the order of virtual time.
//!
//! ```text
//! push, not before all others   line   [1 ms #0][1 ms #1][2 ms #5]     no search for its place: most packets have one latency
//! push, before another one      queue  [1 ms #2]                       a heap
//! pop                           what is first of both
//! ```
//!
//! Invariants: what happens at the same moment happens in the order in which it was caused; `line` is in the order of `pop`.

use super::error::SocketErrorCode;
use super::slab::SlabKey;
use super::{TcpId, UdpId};
use fozzy_trace::{Duration, Instant, NodeId};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};
use std::net::SocketAddr;

/// One of the two ends of a connection: the one that connected, the one that accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionSide {
    Client,
    Server,
}

impl ConnectionSide {
    pub(super) fn other(self) -> ConnectionSide {
        match self {
            ConnectionSide::Client => ConnectionSide::Server,
            ConnectionSide::Server => ConnectionSide::Client,
        }
    }
}

/// Something that arrives or expires.
#[derive(Clone, Debug)]
pub(super) enum NetworkEvent {
    /// A machine is asked for a connection.
    Syn(Box<Syn>),
    /// An attempt to connect is over.
    ConnectEnds { socket: TcpId, result: Result<SlabKey, SocketErrorCode> },
    /// A connection is ready to be accepted.
    Acceptable { listener: TcpId, connection: SlabKey, back: Duration },
    /// Bytes arrive that `from` sent. An answer takes `back`.
    Bytes { connection: SlabKey, from: ConnectionSide, count: usize, back: Duration },
    /// `from` has nothing more to say.
    Fin { connection: SlabKey, from: ConnectionSide },
    /// The end `to` learns that the connection is no more.
    Reset { connection: SlabKey, to: ConnectionSide },
    /// The end `to` has waited for an acknowledgement in vain.
    GiveUp { connection: SlabKey, to: ConnectionSide },
    /// A datagram arrives.
    Datagram(Box<Datagram>),
    /// A sender learns that its datagrams are not received.
    Unheard { socket: UdpId, to: SocketAddr },
}

#[derive(Clone, Debug)]
pub(super) struct Syn {
    pub(super) socket: TcpId,
    pub(super) machine: NodeId,
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    /// How long it was on its way.
    pub(super) there: Duration,
    /// When the answer arrives after this did, or how long after it the client gives up.
    pub(super) back: Result<Duration, Duration>,
    /// How often it was ignored.
    pub(super) ignored: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Datagram {
    /// Which one of the run it is.
    pub(super) number: u64,
    pub(super) socket: UdpId,
    pub(super) machine: NodeId,
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    pub(super) bytes: Vec<u8>,
    /// How long it was on its way.
    pub(super) there: Duration,
}

#[derive(Clone, Debug, Default)]
pub(super) struct NetworkEvents {
    /// In order.
    line: VecDeque<QueuedEvent>,
    /// What is due before the last one of the line, when it is pushed.
    queue: BinaryHeap<Reverse<QueuedEvent>>,
    pushed: u64,
}

/// What happens at a moment, with its number among all that was caused.
#[derive(Clone, Debug)]
struct QueuedEvent {
    at: Instant,
    number: u64,
    event: NetworkEvent,
}

impl QueuedEvent {
    fn order(&self) -> (Instant, u64) {
        (self.at, self.number)
    }
}

impl PartialEq for QueuedEvent {
    fn eq(&self, other: &QueuedEvent) -> bool {
        self.order() == other.order()
    }
}

impl Eq for QueuedEvent {}

impl PartialOrd for QueuedEvent {
    fn partial_cmp(&self, other: &QueuedEvent) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for QueuedEvent {
    fn cmp(&self, other: &QueuedEvent) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl NetworkEvents {
    pub(super) fn push(&mut self, at: Instant, event: NetworkEvent) {
        let pushed = QueuedEvent { at, number: self.pushed, event };
        self.pushed += 1;
        match self.line.back() {
            Some(last) if last.at > at => self.queue.push(Reverse(pushed)),
            _ => self.line.push_back(pushed),
        }
    }

    #[inline]
    pub(super) fn next(&self) -> Option<Instant> {
        let (line, queue) = (self.line.front(), self.queue.peek());
        line.map(|first| first.at).into_iter().chain(queue.map(|Reverse(first)| first.at)).min()
    }

    /// The next one, if it is due at `now`.
    #[inline]
    pub(super) fn pop(&mut self, now: Instant) -> Option<(Instant, NetworkEvent)> {
        self.next().filter(|at| *at <= now)?;
        let next = match (self.line.front(), self.queue.peek()) {
            (Some(line), Some(Reverse(queue))) if queue < line => self.queue.pop().map(|Reverse(first)| first),
            (None, _) => self.queue.pop().map(|Reverse(first)| first),
            _ => self.line.pop_front(),
        };
        next.map(|first| (first.at, first.event))
    }

    pub(super) fn len(&self) -> usize {
        self.line.len() + self.queue.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::slab::Slab;
    use super::*;

    #[test]
    fn what_is_pushed_in_any_order_comes_by_moment_and_by_cause() {
        let connection = Slab::default().insert(());
        let (mut events, mut expected, mut popped) = (NetworkEvents::default(), Vec::new(), Vec::new());
        let mut chance = 1_u64;
        let mut take = |events: &mut NetworkEvents, expected: &mut Vec<(u64, usize)>, now: u64| {
            while let Some((at, event)) = events.pop(Instant(now)) {
                let NetworkEvent::Bytes { count, .. } = event else { panic!("bytes alone were pushed") };
                // The first by moment and number, among those that are there.
                expected.sort_unstable();
                assert_eq!((at.0, count), expected.remove(0));
                popped.push(count);
            }
            assert!(expected.iter().all(|(at, _)| *at > now), "what was due has come");
            assert_eq!(events.next().map(|at| at.0), expected.iter().map(|(at, _)| *at).min());
            assert_eq!(events.len(), expected.len());
        };
        for number in 0..1_000 {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let now = number as u64 / 4;
            // Mostly one latency, sometimes less or more.
            let late = [5, 5, 5, 5, 0, 2, 9, 40][(chance >> 60) as usize % 8];
            let event =
                NetworkEvent::Bytes { connection, from: ConnectionSide::Client, count: number, back: Duration(0) };
            events.push(Instant(now + late), event);
            expected.push((now + late, number));
            take(&mut events, &mut expected, now);
        }
        take(&mut events, &mut expected, u64::MAX);
        popped.sort_unstable();
        assert_eq!(popped, (0..1_000).collect::<Vec<_>>(), "each comes once");
    }
}
