//! What a guest can wait for, and that it waits in vain.

use crate::SignalId;
use crate::network::Readiness;
use crate::pipe::{PipeEnd, PipeId};
use crate::process::Pid;
use fozzy_trace::{Instant, NodeId};
use std::fmt;

/// What a pollable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Nothing: it is ready at once.
    Nothing,
    /// A moment of virtual time.
    Until(Instant),
    /// A moment of the monotonic clock of a machine, which errs.
    OwnClock {
        /// The machine.
        node: NodeId,
        /// What its clock shows then.
        monotonic_ns: u64,
    },
    /// Bytes on the standard input of this machine, or its end.
    Stdin(NodeId),
    /// An event that happens once.
    Signal(SignalId),
    /// A socket.
    Socket(Readiness),
    /// Bytes in a pipe or its end, or room in it or that it breaks.
    Pipe(PipeId, PipeEnd),
    /// The end of a process.
    Process(Pid),
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wait::Nothing => f.write_str("nothing"),
            Wait::Until(Instant::NEVER) => f.write_str("a deadline that never comes"),
            Wait::Until(deadline) => write!(f, "the moment {deadline}"),
            Wait::OwnClock { monotonic_ns, .. } => write!(f, "the moment {} of its own clock", Instant(*monotonic_ns)),
            Wait::Stdin(_) => f.write_str("standard input, which stays open and empty"),
            Wait::Signal(_) => f.write_str("the end of another program"),
            Wait::Socket(readiness) => write!(f, "{readiness}"),
            Wait::Pipe(_, PipeEnd::Read) => f.write_str("the output of another process"),
            Wait::Pipe(_, PipeEnd::Write) => f.write_str("another process to read its input"),
            Wait::Process(pid) => write!(f, "the end of process {pid}"),
        }
    }
}

/// A pending deadline of the computer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    /// When.
    pub at: Instant,
    /// Whose guest waits for it; `None` is the computer itself.
    pub node: Option<NodeId>,
    /// What.
    pub what: String,
}

/// Every task waits, and nothing that it waits for can happen any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// What is waited for.
    pub waiting: Vec<String>,
}
