//! What the guest's handles mean.
//!
//! ```text
//! handle in the guest ─(wasmtime's table)─▶ rep 5 ─(this table)─▶ InputStream { file 12, offset 4096 }
//! ```
//!
//! Invariants: a rep is the lowest free slot's, last freed first, so numbers depend on the guest's calls
//! only; the table is bounded by [`HANDLES_MAX`].
//! Not here: the guest's own numbering, which wasmtime keeps.

use crate::files::{DirectoryCursor, FileDescriptor, LiveFile};
use crate::http::{BodyId, HttpErrorCode, HttpHandle};
use crate::network::{self, TcpId, UdpId};
use crate::pipe::PipeId;
use crate::process::Pid;
use crate::{OutputKind, Wait};
use fozzy_trace::observation::FileKind;
use std::fmt;
use std::net::IpAddr;

/// Handles that a guest may hold at once; one more ends the execution with a trap. The same bound
/// as wasmtime's own for a component.
pub const HANDLES_MAX: usize = 100_000;

/// What one handle stands for.
#[derive(Clone, Debug)]
pub enum Handle {
    /// Something to wait for.
    Pollable(Wait),
    /// A stream to read.
    InputStream(StreamSource),
    /// A stream to write.
    OutputStream(StreamSink),
    /// The reason why an operation of a stream failed.
    Error(StreamFailure),
    /// An open file or directory.
    Descriptor(FileDescriptor),
    /// A listing in progress.
    DirectoryStream(DirectoryCursor),
    /// An open file or directory of the real computer.
    LiveDescriptor(LiveFile),
    /// What is left of a listing by the real computer, the next entry last.
    LiveDirectoryStream(Vec<(String, FileKind)>),
    /// The right to use the network.
    Network,
    /// A TCP socket.
    TcpSocket(TcpId),
    /// A UDP socket.
    UdpSocket(UdpId),
    /// The datagrams that come to a socket.
    IncomingDatagrams(UdpId),
    /// The datagrams that go from a socket.
    OutgoingDatagrams {
        /// The socket.
        socket: UdpId,
        /// How many may be sent before the next `check-send`.
        permit: u64,
    },
    /// Addresses of a name, the first one last.
    Addresses(Vec<IpAddr>),
    /// Anything of HTTP but the streams of bodies.
    Http(Box<HttpHandle>),
    /// A process that was started.
    Child(Pid),
    /// The terminal behind standard input.
    TerminalInput,
    /// The terminal behind a standard output.
    TerminalOutput,
}

/// Where a stream reads.
#[derive(Clone, Debug)]
pub enum StreamSource {
    /// Standard input.
    Stdin,
    /// A file, from an offset on.
    File {
        /// The file.
        file: FileDescriptor,
        /// Where the next read begins, in bytes.
        offset: u64,
    },
    /// A file of the real computer, from an offset on.
    LiveFile {
        /// The file.
        file: LiveFile,
        /// Where the next read begins, in bytes.
        offset: u64,
    },
    /// What a connection brings.
    Tcp(TcpId),
    /// The body of an HTTP message, from an offset on.
    Http {
        /// The body.
        body: BodyId,
        /// Where the next read begins, in bytes.
        offset: u64,
        /// It failed, or was read to its end.
        closed: bool,
    },
    /// A pipe: the output of another process.
    Pipe(PipeId),
    /// A file that was read to its end or failed. It stays so, whatever becomes of the file, and holds nothing.
    Closed,
}

/// Where a stream writes.
#[derive(Clone, Debug)]
pub enum StreamSink {
    /// One of the standard outputs.
    Standard(OutputKind),
    /// A file, from an offset on.
    File {
        /// The file.
        file: FileDescriptor,
        /// Where the next write begins; `None` appends.
        offset: Option<u64>,
    },
    /// A file of the real computer, from an offset on.
    LiveFile {
        /// The file.
        file: LiveFile,
        /// Where the next write begins; `None` appends.
        offset: Option<u64>,
    },
    /// What a connection takes away.
    Tcp(TcpId),
    /// The body of an HTTP message.
    Http {
        /// The body.
        body: BodyId,
        /// A write failed.
        closed: bool,
    },
    /// A pipe: the input of another process.
    Pipe(PipeId),
    /// A file at which a write failed. It stays so, and holds nothing.
    Closed,
}

/// Why an operation of a stream failed.
#[derive(Clone, Debug)]
pub enum StreamFailure {
    /// The file system's word for it.
    File(crate::files::Errno),
    /// That of the network.
    Network(network::SocketErrorCode),
    /// That of HTTP.
    Http(HttpErrorCode),
}

/// A handle that is not what the call needs. Wasmtime checks types before we see them, so this is a
/// fault of a guest only where resources of one type have several meanings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    /// No such handle, or one of another kind.
    WrongHandle,
    /// [`HANDLES_MAX`] handles are open.
    Full,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::WrongHandle => f.write_str("a handle was used that is not open, or is of another kind"),
            TableError::Full => write!(f, "more than {HANDLES_MAX} handles are open"),
        }
    }
}

impl std::error::Error for TableError {}

/// The open handles of one guest.
#[derive(Clone, Debug, Default)]
pub struct HandleTable {
    slots: Vec<Option<Handle>>,
    free: Vec<u32>,
}

impl HandleTable {
    /// Opens a handle and returns its number.
    ///
    /// # Errors
    /// When [`HANDLES_MAX`] are open.
    pub fn insert(&mut self, handle: Handle) -> Result<u32, TableError> {
        if let Some(rep) = self.free.pop() {
            self.slots[rep as usize] = Some(handle);
            return Ok(rep);
        }
        if self.slots.len() == HANDLES_MAX {
            return Err(TableError::Full);
        }
        self.slots.push(Some(handle));
        Ok(self.slots.len() as u32 - 1)
    }

    /// Closes a handle and returns what it was.
    ///
    /// # Errors
    /// When it is not open.
    pub fn remove(&mut self, rep: u32) -> Result<Handle, TableError> {
        let slot = self.slots.get_mut(rep as usize).ok_or(TableError::WrongHandle)?;
        let handle = slot.take().ok_or(TableError::WrongHandle)?;
        self.free.push(rep);
        Ok(handle)
    }

    /// The numbers of all open handles.
    #[must_use]
    pub fn reps(&self) -> Vec<u32> {
        (0..self.slots.len() as u32).filter(|rep| self.slots[*rep as usize].is_some()).collect()
    }

    /// Closes all handles and returns what they were, in the order of their numbers. The next number is the first.
    pub fn clear(&mut self) -> Vec<Handle> {
        std::mem::take(self).slots.into_iter().flatten().collect()
    }

    /// Places that the table has, open and free.
    #[must_use]
    pub fn places(&self) -> usize {
        self.slots.len()
    }

    /// The number that the next handle gets.
    #[must_use]
    pub fn next_place(&self) -> usize {
        self.free.last().map_or(self.slots.len(), |place| *place as usize)
    }

    /// The places that are free; the last one is given next.
    #[must_use]
    pub fn free(&self) -> &[u32] {
        &self.free
    }

    /// The handles that are open, with their numbers.
    pub fn open(&self) -> impl Iterator<Item = (u32, &Handle)> {
        self.slots.iter().enumerate().filter_map(|(place, slot)| Some((place as u32, slot.as_ref()?)))
    }

    /// Whether another table has the same places open, with handles of the same `kind`, and frees in the same order.
    #[must_use]
    pub fn same_places(&self, other: &HandleTable, kind: impl Fn(&Handle) -> &'static str) -> bool {
        let same = |(one, two): (&Option<Handle>, &Option<Handle>)| one.as_ref().map(&kind) == two.as_ref().map(&kind);
        self.slots.len() == other.slots.len()
            && self.free == other.free
            && self.slots.iter().zip(&other.slots).all(same)
    }

    /// Everything that is open, by number.
    pub fn iter(&self) -> impl Iterator<Item = &Handle> {
        self.slots.iter().flatten()
    }

    /// What a handle stands for.
    ///
    /// # Errors
    /// When it is not open.
    #[inline]
    pub fn get(&self, rep: u32) -> Result<&Handle, TableError> {
        self.slots.get(rep as usize).and_then(Option::as_ref).ok_or(TableError::WrongHandle)
    }

    /// What a handle stands for, to be changed.
    ///
    /// # Errors
    /// When it is not open.
    #[inline]
    pub fn get_mut(&mut self, rep: u32) -> Result<&mut Handle, TableError> {
        self.slots.get_mut(rep as usize).and_then(Option::as_mut).ok_or(TableError::WrongHandle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_number_freed_is_the_next_one_used() {
        let mut table = HandleTable::default();
        let reps: Vec<u32> = (0..3).map(|_| table.insert(Handle::Pollable(Wait::Nothing)).expect("room")).collect();
        assert_eq!(reps, [0, 1, 2]);
        table.remove(0).expect("open");
        table.remove(1).expect("open");
        assert_eq!(table.remove(1).expect_err("closed"), TableError::WrongHandle);
        assert_eq!(table.insert(Handle::Pollable(Wait::Nothing)), Ok(1));
        assert_eq!(table.insert(Handle::Pollable(Wait::Nothing)), Ok(0));
    }

    #[test]
    fn the_table_is_bounded() {
        let mut table = HandleTable::default();
        for _ in 0..HANDLES_MAX {
            table.insert(Handle::Pollable(Wait::Nothing)).expect("room");
        }
        assert_eq!(table.insert(Handle::Pollable(Wait::Nothing)), Err(TableError::Full));
    }
}
