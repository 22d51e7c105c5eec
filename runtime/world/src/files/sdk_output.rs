//! The file to which the Antithesis SDK of a program writes: a device, whose lines are taken as they come.
//!
//! ```text
//! write "{\"a\":" · "1}" · "\n{"  ─▶  line 1: {"a":1}      kept: "{"
//! ```
//!
//! It stands on the disk like a file, and stays empty: nothing fills the disk, no fault strikes it, and no loss of power takes anything.
//!
//! Invariants: one file of a disk at most; what is kept of a line that has not ended is at most [`LINE_BYTES_MAX`]; opening it anew, as
//! the program does in each of its lives, begins a new line. Not here: what the lines mean (`fozzy_trace::facts`).

use super::content::FileContent;
use super::node::{InodeBody, InodeIndex, InodeKind};
use super::open::FileDescriptor;
use super::{Disk, Errno};

/// Bytes of a line; of a longer one nothing is taken.
pub const LINE_BYTES_MAX: usize = 64 << 10;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct SdkOutput {
    pub(super) node: InodeIndex,
    /// What has come of a line.
    partial: Vec<u8>,
    /// Whether more has come than is taken.
    is_too_long: bool,
    /// Lines so far.
    lines: u64,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SdkLine {
    /// Counted from one.
    pub number: u64,
    /// Without its end; nothing when it is longer than [`LINE_BYTES_MAX`].
    pub text: Option<Vec<u8>>,
}

impl SdkOutput {
    /// The program begins to write it.
    pub(super) fn begin(&mut self) {
        self.partial.clear();
        self.is_too_long = false;
    }

    fn take(&mut self, bytes: &[u8]) -> Vec<SdkLine> {
        let mut lines = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n");
            let more = text.unwrap_or(part);
            self.is_too_long |= self.partial.len() + more.len() > LINE_BYTES_MAX;
            match self.is_too_long {
                true => self.partial.clear(),
                false => self.partial.extend_from_slice(more),
            }
            if text.is_some() {
                self.lines += 1;
                let text = std::mem::take(&mut self.partial);
                let is_whole = !std::mem::take(&mut self.is_too_long);
                lines.push(SdkLine { number: self.lines, text: is_whole.then_some(text) });
            }
        }
        lines
    }
}

impl Disk {
    /// Puts it at an absolute path, in the place of a file that is there.
    ///
    /// # Errors
    /// `no-entry` and `not-directory` when its directory is not there, `is-directory` when one is in its place.
    pub fn place_sdk_output(&mut self, path: &str, now_ns: u64) -> Result<(), Errno> {
        let (directory, name) = path.rsplit_once('/').ok_or(Errno::Invalid)?;
        let directory = self.directory_at(directory)?;
        let node = match self.entry(directory, name) {
            Some(entry) if entry.kind == InodeKind::File => entry.node,
            Some(_) => return Err(Errno::IsDirectory),
            None => self.make(directory, name.into(), InodeBody::File(FileContent::default()), now_ns)?,
        };
        // Its number is never another file's.
        self.opened(node);
        self.sdk_output = Some(Box::new(SdkOutput { node, partial: Vec::new(), is_too_long: false, lines: 0 }));
        Ok(())
    }

    /// Whether that is what `file` is, and it can be written.
    #[inline]
    #[must_use]
    pub fn is_sdk_output(&self, file: &FileDescriptor) -> bool {
        let is_it = self.sdk_output.as_ref().is_some_and(|output| output.node == file.node);
        is_it && file.flags.write && file.writable
    }

    /// Takes bytes that are written to it; the answer is the lines that end with them.
    pub fn take_sdk_lines(&mut self, bytes: &[u8]) -> Vec<SdkLine> {
        self.sdk_output.as_mut().map_or_else(Vec::new, |output| output.take(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DescriptorFlags, DiskLimits, OpenFlags, PathFlags};
    use super::*;

    fn disk() -> Disk {
        let mut disk = Disk::new(DiskLimits { bytes: 100, nodes: 100 }, 0);
        disk.place_sdk_output("/out.jsonl", 0).expect("the root is there");
        disk
    }

    fn open(disk: &mut Disk, path: &str, truncate: bool) -> FileDescriptor {
        let root = disk.open_root(true);
        let flags = DescriptorFlags { write: true, ..DescriptorFlags::default() };
        let open = OpenFlags { create: true, truncate, ..OpenFlags::default() };
        disk.open_at(&root, PathFlags::default(), path, open, flags, 0).expect("it is there")
    }

    #[test]
    fn lines_are_taken_whole_in_whatever_pieces_they_come() {
        let mut disk = disk();
        assert_eq!(disk.take_sdk_lines(b"{\"a\":"), []);
        assert_eq!(disk.take_sdk_lines(b"1}"), []);
        let lines = disk.take_sdk_lines(b"\n\n{");
        let line = |number, text: &[u8]| SdkLine { number, text: Some(text.to_vec()) };
        assert_eq!(lines, [line(1, b"{\"a\":1}"), line(2, b"")]);
        // The program begins again in the middle of a line.
        let file = open(&mut disk, "out.jsonl", true);
        assert!(disk.is_sdk_output(&file));
        assert_eq!(disk.take_sdk_lines(b"x\n"), [line(3, b"x")]);
        disk.take_sdk_lines(&vec![b'y'; LINE_BYTES_MAX]);
        disk.take_sdk_lines(b"y");
        assert_eq!(disk.take_sdk_lines(b"y\nz\n"), [SdkLine { number: 4, text: None }, line(5, b"z")]);
    }

    #[test]
    fn no_other_file_is_taken_for_it() {
        let mut disk = disk();
        let root = disk.open_root(true);
        disk.unlink_file_at(&root, "out.jsonl", 0).expect("it is there");
        for path in ["out.jsonl", "a", "b"] {
            let file = open(&mut disk, path, true);
            assert!(!disk.is_sdk_output(&file), "{path}");
        }
        for path in ["/gone/out", "/tmp", "out"] {
            assert!(disk.place_sdk_output(path, 0).is_err(), "{path}");
        }
    }
}
