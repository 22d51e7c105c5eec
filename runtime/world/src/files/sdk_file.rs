//! Where the Antithesis SDK of a program writes, on the disk: a file of a name, whose lines are taken.
//!
//! Invariant: no other file is ever taken for it, not one that is made in its place either. Not here: how lines come out of bytes
//! (`sdk_output`).

use super::content::FileContent;
use super::node::{InodeBody, InodeKind};
use super::open::FileDescriptor;
use super::sdk_output::{SdkLine, SdkOutput};
use super::{Disk, Errno};

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
        self.sdk_output = Some(Box::new((node, SdkOutput::default())));
        Ok(())
    }

    /// Whether that is what `file` is, and it can be written.
    #[inline]
    #[must_use]
    pub fn is_sdk_output(&self, file: &FileDescriptor) -> bool {
        let is_it = self.sdk_output.as_ref().is_some_and(|output| output.0 == file.node);
        is_it && file.flags.write && file.writable
    }

    /// Takes bytes that are written to it; the answer is the lines that end with them.
    pub fn take_sdk_lines(&mut self, bytes: &[u8]) -> Vec<SdkLine> {
        self.sdk_output.as_mut().map_or_else(Vec::new, |output| output.1.take(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::SDK_LINE_BYTES_MAX as LINE_BYTES_MAX;
    use crate::files::{DescriptorFlags, DiskLimits, OpenFlags, PathFlags};

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
