//! What a session and its debuggees say to each other: a line of JSON each.

use fozzy_engine::{DebugPlace, DebugValue, Position, Resume, Stop};
use fozzy_trace::{Digest, Instant, Status};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// Longest line: a page of memory at a time is far below it.
const LINE_BYTES_MAX: u64 = 64 << 20;

/// What a debuggee executes, in its environment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DebuggeeSpec {
    /// Where its session listens.
    pub(super) socket: PathBuf,
    /// The trace or bundle.
    pub(super) trace: PathBuf,
    /// Whether it can stop where memory is written.
    pub(super) stores: bool,
    /// The decision from which on a seed answers, and that seed.
    pub(super) branch: Option<(u64, u64)>,
}

/// What a session asks a debuggee that has stopped for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// To go on.
    Resume(Resume),
    /// The same as the last time, but up to this position.
    ResumeUntil(Option<Position>),
    /// To copy itself: the copy says [`Reply::Hello`] on a connection of its own.
    Fork,
    /// Its stack.
    Frames,
    /// Parameters and locals of a frame.
    Locals(usize),
    /// The operand stack of a frame.
    Operands(usize),
    /// A global, by frame and index.
    Global(usize, u32),
    /// Bytes, by frame, memory, address and length.
    Memory(usize, u32, u64, u64),
    /// The digest of a memory of the module of a frame.
    MemoryDigest(usize, u32),
    /// What machines there are.
    Machines,
}

/// A machine of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineState {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// What it waits for; empty while it runs.
    pub waits_for: Vec<String>,
    /// Whether it has ended.
    pub has_ended: bool,
    /// The call of the host that it waits in; none of the machine whose turn it is, or of one that has not begun.
    pub waits_in: Option<Position>,
    /// Where its present life began.
    pub began: Position,
}

/// The end of a debugged run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndReport {
    /// How many instructions it has executed.
    pub position: Position,
    /// How it ended, in words.
    pub words: String,
    /// Its verdict.
    pub status: Status,
    /// In what it is not the recorded run.
    pub difference: Option<String>,
    /// Calls of the host.
    pub calls: u64,
    /// Decisions.
    pub decisions: u64,
    /// The virtual time.
    pub time: Instant,
}

/// What a debuggee answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// It is there, with this process id.
    Hello(u32),
    /// It has stopped, with so many frames on its stack.
    Stopped(Stop, usize),
    /// The run is over.
    Ended(EndReport),
    /// Whether it has copied itself.
    Forked(Result<(), String>),
    /// Operators and indices of functions, the innermost frame first.
    Frames(Vec<(DebugPlace, u32)>),
    /// Values.
    Values(Option<Vec<DebugValue>>),
    /// Bytes.
    Bytes(Option<Vec<u8>>),
    /// Bytes of a memory, and the digest of them.
    Digest(Option<(u64, Digest)>),
    /// The machines.
    Machines(Vec<MachineState>),
    /// It could not do it.
    Failed(String),
}

/// One end of a connection.
pub(super) struct DebuggerLink {
    reader: BufReader<UnixStream>,
}

impl DebuggerLink {
    pub(super) fn new(stream: UnixStream) -> DebuggerLink {
        DebuggerLink { reader: BufReader::new(stream) }
    }

    /// The connection itself.
    pub(super) fn stream(&self) -> &UnixStream {
        self.reader.get_ref()
    }

    /// Gives up when nothing has come for so long.
    pub(super) fn wait_at_most(&mut self, limit: Option<Duration>) -> io::Result<()> {
        self.reader.get_ref().set_read_timeout(limit)
    }

    pub(super) fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.reader.get_mut().write_all(&line)
    }

    /// The next message; an error at the end of the connection.
    pub(super) fn receive<T: for<'de> Deserialize<'de>>(&mut self) -> io::Result<T> {
        let mut line = Vec::new();
        let read = io::Read::take(&mut self.reader, LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(serde_json::from_slice(&line)?)
    }
}
