//! Open files of the real computer: their numbers, and who holds them.
//!
//! ```text
//! open-at "log", opened: 3 ─▶ LiveFile { number: 3 } ─▶ descriptor and two streams hold it ─▶ the last one closes it
//! ```
//!
//! Invariants: a number is given once in a run, so a trace names each open file by one number; number 0 is the
//! root, which is always open and never closed. Not here: asking the real computer (`fozzy-host`).

use super::open::DescriptorFlags;
use super::{Errno, InodeKind};
use std::collections::BTreeMap;

/// An open file or directory of the real computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveFile {
    /// How it is named in questions.
    pub number: u32,
    /// What it is.
    pub kind: InodeKind,
    /// What it can be used for; `get-flags` answers them.
    pub flags: DescriptorFlags,
}

/// The open files of a run.
#[derive(Clone, Debug, Default)]
pub struct LiveFiles {
    last: u32,
    holders: BTreeMap<u32, u32>,
}

impl LiveFile {
    /// The root directory.
    #[must_use]
    pub fn root() -> LiveFile {
        let flags = DescriptorFlags { read: true, mutate_directory: true, ..DescriptorFlags::default() };
        LiveFile { number: 0, kind: InodeKind::Directory, flags }
    }

    /// Refuses directories, in the words of wasmtime-wasi.
    ///
    /// # Errors
    /// `bad-descriptor`.
    pub fn need_file(&self) -> Result<(), Errno> {
        if self.kind == InodeKind::File { Ok(()) } else { Err(Errno::BadDescriptor) }
    }

    /// Refuses files, in the words of wasmtime-wasi.
    ///
    /// # Errors
    /// `not-directory`.
    pub fn need_directory(&self) -> Result<(), Errno> {
        if self.kind == InodeKind::Directory { Ok(()) } else { Err(Errno::NotDirectory) }
    }
}

impl LiveFiles {
    /// A number for what is about to be opened.
    ///
    /// # Errors
    /// `insufficient-memory` when every number was given.
    pub fn number(&mut self) -> Result<u32, Errno> {
        self.last = self.last.checked_add(1).ok_or(Errno::InsufficientMemory)?;
        Ok(self.last)
    }

    /// Notes one more holder.
    pub fn opened(&mut self, file: LiveFile) {
        if file.number > 0 {
            *self.holders.entry(file.number).or_default() += 1;
        }
    }

    /// Notes one holder less; the answer is whether it was the last, and the file is to be closed.
    pub fn closed(&mut self, file: LiveFile) -> bool {
        let Some(holders) = self.holders.get_mut(&file.number) else { return false };
        *holders -= 1;
        let last = *holders == 0;
        if last {
            self.holders.remove(&file.number);
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_holder_closes_and_numbers_are_given_once() {
        let mut files = LiveFiles::default();
        let one = LiveFile { number: files.number().expect("the first"), ..LiveFile::root() };
        files.opened(one);
        files.opened(one);
        assert!(!files.closed(one) && files.closed(one) && !files.closed(one));
        assert_eq!(files.number(), Ok(2));
        files.opened(LiveFile::root());
        assert!(!files.closed(LiveFile::root()), "the root stays open");
        files.last = u32::MAX;
        assert_eq!(files.number(), Err(Errno::InsufficientMemory));
    }
}
