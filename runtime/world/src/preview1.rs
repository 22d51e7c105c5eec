//! Descriptors of WASI preview 1: numbers of the guest's own program, with positions, flags and names of preopened directories.
//!
//! ```text
//! 0 stdin   1 stdout   2 stderr   3 directory, preopened as "/"   4 file at 4096, appending   5 socket, non-blocking
//! ```
//!
//! Numbers are given as wasmtime gives them: the highest one that was closed, else one above the highest that is open.
//!
//! Invariants: the table depends on the guest's calls only; each file and directory in it holds its node once, each socket its socket of
//! the network; at most [`HANDLES_MAX`] are open.
//! Not here: what is read and written (`fozzy-host`), handles of components (`table`).

use crate::clock::CLOCK_TICK;
use crate::files::{FileDescriptor, InodeIndex, LiveFile};
use crate::network::{SocketErrorCode, SocketId};
use crate::table::{HANDLES_MAX, TableError};
use crate::{Disk, OutputKind};
use fozzy_trace::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An open file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenFile {
    /// Of the virtual disk.
    Disk(FileDescriptor),
    /// Of the real computer.
    Live(LiveFile),
}

/// Calls of a program between two `sched_yield` that looks whether something has come, and does nothing else.
const YIELD_CALLS: u64 = 4;
/// Longest time that a program gives way for by one `sched_yield`: sixty thousand of them are a minute.
const YIELD_MAX: Duration = Duration(1_000_000);

/// The entries of a directory, as its descriptor keeps them.
pub type DirectoryListing = Arc<[ListedEntry]>;

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEntry {
    /// Its name.
    pub name: Arc<str>,
    /// Its identity.
    pub inode: u64,
    /// `filetype`.
    pub filetype: u8,
}

/// What a number stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Preview1Descriptor {
    /// Standard input.
    Stdin,
    /// One of the standard outputs.
    Output(OutputKind),
    /// A directory.
    Directory {
        /// The directory.
        file: OpenFile,
        /// The path that it was preopened as; `None` when the guest opened it.
        preopen: Option<Arc<str>>,
        /// What stood in it when the guest began to list it.
        listing: Option<DirectoryListing>,
    },
    /// A file.
    File {
        /// The file.
        file: OpenFile,
        /// Where the next read or write begins, in bytes.
        position: u64,
        /// Writes go to the end.
        append: bool,
        /// The flag is kept and told; files never make anybody wait.
        nonblocking: bool,
    },
    /// A socket.
    Socket {
        /// The socket, which the descriptor holds.
        socket: SocketId,
        /// Calls that would wait answer `again`.
        nonblocking: bool,
        /// What a connection failed for that was begun without waiting, or what broke it behind bytes that were read, until the program is
        /// told.
        error: Option<SocketErrorCode>,
    },
}

impl Preview1Descriptor {
    /// The file or directory, for those that are one.
    #[must_use]
    pub fn file(&self) -> Option<OpenFile> {
        match self {
            Preview1Descriptor::Directory { file, .. } | Preview1Descriptor::File { file, .. } => Some(*file),
            Preview1Descriptor::Stdin | Preview1Descriptor::Output(_) | Preview1Descriptor::Socket { .. } => None,
        }
    }
}

/// The descriptors of one guest.
#[derive(Clone, Debug, Default)]
pub struct Preview1Table {
    /// Whether the first descriptors were put in: that is done when the guest first asks for one.
    is_open: bool,
    used: BTreeMap<u32, Preview1Descriptor>,
    free: BTreeSet<u32>,
    /// The calls of the run before the last `sched_yield`, and how long that one took.
    yielded: Option<(u64, Duration)>,
}

impl Preview1Table {
    /// Whether the standard streams and preopened directories are in it, or were closed since.
    #[must_use]
    #[inline]
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// How long the program gives way for at a `sched_yield`, if the run had `calls` calls before: a tick, and twice as
    /// long each time while nothing else happens, so that a program that spins waits for the others and not they for
    /// it.
    pub fn yields(&mut self, calls: u64) -> Duration {
        let span = match self.yielded {
            Some((before, span)) if calls <= before + YIELD_CALLS => Duration(span.0 * 2).min(YIELD_MAX),
            _ => CLOCK_TICK,
        };
        self.yielded = Some((calls, span));
        span
    }

    /// Puts in the standard streams and the preopened directories.
    ///
    /// # Errors
    /// When there are too many directories.
    pub fn open(&mut self, preopens: Vec<(OpenFile, Arc<str>)>) -> Result<(), TableError> {
        self.is_open = true;
        let streams = [
            Preview1Descriptor::Stdin,
            Preview1Descriptor::Output(OutputKind::Stdout),
            Preview1Descriptor::Output(OutputKind::Stderr),
        ];
        let directories = preopens.into_iter().map(|(file, path)| Preview1Descriptor::Directory {
            file,
            preopen: Some(path),
            listing: None,
        });
        streams.into_iter().chain(directories).try_for_each(|descriptor| self.insert(descriptor).map(drop))
    }

    /// Gives a descriptor its number.
    ///
    /// # Errors
    /// When too many are open.
    pub fn insert(&mut self, descriptor: Preview1Descriptor) -> Result<u32, TableError> {
        if self.used.len() >= HANDLES_MAX {
            return Err(TableError::Full);
        }
        let number = match self.free.pop_last() {
            Some(number) => number,
            // Numbers are never above how many were open at once.
            None => self.used.last_key_value().map_or(0, |(number, _)| number + 1),
        };
        self.used.insert(number, descriptor);
        Ok(number)
    }

    /// What a number stands for.
    #[must_use]
    #[inline]
    pub fn get(&self, number: u32) -> Option<&Preview1Descriptor> {
        self.used.get(&number)
    }

    /// What a number stands for, to be changed.
    #[inline]
    pub fn get_mut(&mut self, number: u32) -> Option<&mut Preview1Descriptor> {
        self.used.get_mut(&number)
    }

    /// Closes a number and gives what it stood for.
    pub fn remove(&mut self, number: u32) -> Option<Preview1Descriptor> {
        let removed = self.used.remove(&number)?;
        self.free.insert(number);
        Some(removed)
    }

    /// Has `target`, which was closed, stand for what `source` stands for, which is closed thereby.
    pub fn renumber(&mut self, source: u32, target: u32) {
        if let Some(descriptor) = self.remove(source) {
            self.free.remove(&target);
            self.used.insert(target, descriptor);
        }
    }

    /// Closes all and gives what they stood for. The table is as at the start.
    pub fn clear(&mut self) -> Vec<Preview1Descriptor> {
        std::mem::take(self).used.into_values().collect()
    }

    /// The nodes of the virtual disk that it holds.
    pub fn nodes(&self) -> impl Iterator<Item = InodeIndex> {
        self.used.values().filter_map(|descriptor| match descriptor.file() {
            Some(OpenFile::Disk(file)) => Some(file.node),
            _ => None,
        })
    }

    /// Whether it holds something of `disk` other than its root.
    #[must_use]
    pub fn is_busy(&self, disk: &Disk) -> bool {
        let root = disk.root();
        self.nodes().any(|node| node != root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::DiskLimits;

    fn table() -> (Disk, Preview1Table) {
        let mut disk = Disk::new(DiskLimits { bytes: 1 << 20, nodes: 1 << 10 }, 0);
        let root = disk.open_root(true);
        let mut table = Preview1Table::default();
        table.open(vec![(OpenFile::Disk(root), "/".into())]).expect("room");
        (disk, table)
    }

    #[test]
    fn numbers_are_given_as_wasmtime_gives_them() {
        let (_, mut table) = table();
        assert!(matches!(table.get(3), Some(Preview1Descriptor::Directory { preopen: Some(_), .. })));
        assert_eq!(
            (4..7).map(|_| table.insert(Preview1Descriptor::Stdin).expect("room")).collect::<Vec<_>>(),
            [4, 5, 6]
        );
        for number in [1, 5, 4] {
            assert!(table.remove(number).is_some() && table.remove(number).is_none());
        }
        // The highest that was closed comes first.
        assert_eq!([5, 4, 1, 7].map(|_| table.insert(Preview1Descriptor::Stdin).expect("room")), [5, 4, 1, 7]);
    }

    #[test]
    fn renumbering_moves_a_descriptor_and_frees_its_number() {
        let (_, mut table) = table();
        table.remove(0);
        table.renumber(3, 0);
        assert!(table.get(3).is_none() && matches!(table.get(0), Some(Preview1Descriptor::Directory { .. })));
        assert_eq!(table.insert(Preview1Descriptor::Stdin), Ok(3));
        assert_eq!(table.insert(Preview1Descriptor::Stdin), Ok(4));
    }

    #[test]
    fn who_does_nothing_but_yield_gives_way_for_longer_and_longer() {
        let (_, mut table) = table();
        assert_eq!([0, 1, 3, 7].map(|calls| table.yields(calls).0), [1_000, 2_000, 4_000, 8_000]);
        // There were other calls.
        assert_eq!([12, 13].map(|calls| table.yields(calls).0), [1_000, 2_000]);
        assert_eq!((14..99).map(|calls| table.yields(calls)).max(), Some(YIELD_MAX));
    }

    #[test]
    fn what_it_holds_of_the_disk_is_known() {
        let (disk, mut table) = table();
        assert!(!table.is_busy(&disk) && table.nodes().count() == 1);
        assert_eq!(table.clear().len(), 4);
        assert!(!table.is_open() && table.nodes().count() == 0);
    }

    #[test]
    fn the_table_is_bounded() {
        let (_, mut table) = table();
        for _ in 4..HANDLES_MAX {
            table.insert(Preview1Descriptor::Stdin).expect("room");
        }
        assert_eq!(table.insert(Preview1Descriptor::Stdin), Err(TableError::Full));
    }
}
