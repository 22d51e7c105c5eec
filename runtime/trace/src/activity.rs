//! Events that an observer of a run receives beside its calls: turns, waits, and bytes that move.
//!
//! ```text
//! engine  Turn(server, others that could run)      whose turn it is
//! host    Wait(server, 3 ms .. 5 ms, connection)    what a call waited for
//!         Io(server, connection 7, read 12 bytes)   what a call moved
//!         Datagram(server, 3 received)              what became of a datagram
//! ```
//!
//! Invariants: an observer cannot answer, so it cannot influence a run; without one, nothing of this is put together.
//! Not here: calls ([`crate::HistorySink`]), and what is made of all this (`fozzy-report`).

use crate::{Instant, NodeId};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// A guest got its turn.
    Turn {
        /// Its machine.
        node: NodeId,
        /// When.
        at: Instant,
        /// All machines whose guests could have got it, in order.
        ready: Vec<NodeId>,
    },
    /// A program asked which of its tasks is next, and was told.
    Task {
        /// The machine.
        node: NodeId,
        /// The task, by its number.
        task: u64,
    },
    /// A guest ended.
    Ended {
        /// Its machine.
        node: NodeId,
        /// When.
        at: Instant,
    },
    /// A call begins to wait. Unless its end is told, it still waits when its machine or the run ends.
    WaitBegins {
        /// The machine of the guest.
        node: NodeId,
        /// When.
        at: Instant,
        /// For what, or for the first of several things.
        awaited: AwaitedEvent,
    },
    /// A call has waited.
    Wait {
        /// The machine of the guest.
        node: NodeId,
        /// From when.
        since: Instant,
        /// Until when.
        until: Instant,
        /// For what.
        awaited: AwaitedEvent,
    },
    /// Bytes were read or written.
    Io {
        /// The machine of the guest.
        node: NodeId,
        /// When.
        at: Instant,
        /// Where.
        channel: IoChannel,
        /// Whether the guest wrote them.
        is_write: bool,
        /// How many.
        bytes: u64,
    },
    /// A datagram was sent or received. Its bytes are among those of [`Activity::Io`], too.
    Datagram {
        /// The machine that sends or receives it.
        node: NodeId,
        /// When.
        at: Instant,
        /// What became of it.
        step: DatagramStep,
    },
}

/// What becomes of a datagram between two machines. Those of one machine to itself, and of none, are not sent so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramStep {
    /// It is sent.
    Sent {
        /// Its number among those of the run.
        number: u64,
        /// The machine for which it is.
        to: NodeId,
        /// Bytes of its content.
        bytes: u64,
        /// How often it is on its way: not at all if it is lost, twice if it is doubled.
        copies: u32,
        /// Whether it is held back, so that others overtake it.
        is_late: bool,
    },
    /// A program receives it.
    Received {
        /// The number with which it was sent. One that a machine has sent to itself has a number, too, which no sent one has.
        number: u64,
    },
}

/// What a guest waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwaitedEvent {
    /// What kind of event it is.
    pub kind: WaitKind,
    /// In words.
    pub what: String,
    /// The machine whose program brings it about, if it is one.
    pub of: Option<NodeId>,
    /// The stream that brings it, by its number.
    pub stream: Option<u64>,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitKind {
    /// A moment.
    Timer,
    /// Standard input.
    Input,
    /// Bytes of a connection, or that one is made.
    Network,
    /// Room to write.
    Room,
    /// The output of another process.
    Pipe,
    /// The end of a process.
    Process,
    /// An answer of HTTP, or the end of another program.
    Answer,
    /// Nothing.
    Nothing,
}

impl WaitKind {
    /// In one word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            WaitKind::Timer => "timer",
            WaitKind::Input => "input",
            WaitKind::Network => "network",
            WaitKind::Room => "room",
            WaitKind::Pipe => "pipe",
            WaitKind::Process => "process",
            WaitKind::Answer => "answer",
            WaitKind::Nothing => "nothing",
        }
    }
}

/// What bytes are read from or written to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IoChannel {
    /// What kind it is.
    pub kind: IoKind,
    /// Its name: a path, the other side of a connection.
    pub name: String,
    /// Where bytes arrive in the order in which they were sent: the number of the stream, the same on both sides.
    pub stream: Option<u64>,
}

/// Kinds of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IoKind {
    /// A file.
    File,
    /// A standard stream.
    Standard,
    /// A connection.
    Connection,
    /// Datagrams.
    Datagrams,
    /// The body of a message of HTTP.
    Http,
    /// A standard stream of another process.
    Process,
}

impl IoKind {
    /// In one word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            IoKind::File => "file",
            IoKind::Standard => "standard",
            IoKind::Connection => "connection",
            IoKind::Datagrams => "datagrams",
            IoKind::Http => "http",
            IoKind::Process => "process",
        }
    }
}

/// Hears of what happens, in its order.
pub type ActivitySink = Box<dyn FnMut(Activity) + Send>;
