//! What will happen in the network, in the order of virtual time.
//!
//! Invariant: what happens at the same moment happens in the order in which it was caused.

use super::error::SocketErrorCode;
use super::slab::SlabKey;
use super::{TcpId, UdpId};
use fozzy_trace::{Duration, Instant, NodeId};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
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
    Syn(Syn),
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
        self.queue.push(Reverse(QueuedEvent { at, number: self.pushed, event }));
        self.pushed += 1;
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.queue.peek().map(|Reverse(first)| first.at)
    }

    /// The next one, if it is due at `now`.
    pub(super) fn pop(&mut self, now: Instant) -> Option<(Instant, NetworkEvent)> {
        self.next().filter(|at| *at <= now)?;
        self.queue.pop().map(|Reverse(first)| (first.at, first.event))
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }
}
