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

    /// Whether a line of it has begun, and not ended.
    #[must_use]
    pub fn has_unended_sdk_line(&self) -> bool {
        self.sdk_output.as_ref().is_some_and(|output| output.1.has_unended())
    }

    /// Takes such lines, of which nothing more comes.
    pub fn take_unended_sdk_lines(&mut self) -> Vec<SdkLine> {
        self.sdk_output.as_mut().map_or_else(Vec::new, |output| output.1.take_unended())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{DescriptorFlags, DiskLimits, OpenFlags, PathFlags, SDK_WHOLE_LINE_BYTES_MAX, SdkText};
    use fozzy_trace::facts::UnreadLine;

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
        let whole = |text: &[u8]| SdkText::Whole(text.to_vec());
        let line = |number, text: &[u8]| SdkLine { number, text: whole(text), has_end: true };
        assert_eq!(lines, [line(1, b"{\"a\":1}"), line(2, b"")]);
        // The program begins again in the middle of a line.
        let file = open(&mut disk, "out.jsonl", true);
        assert!(disk.is_sdk_output(&file) && disk.has_unended_sdk_line());
        let unended = |number, text: &[u8]| SdkLine { has_end: false, ..line(number, text) };
        assert_eq!(disk.take_sdk_lines(b"x\n"), [unended(3, b"{"), line(3, b"x")]);
        // It ends in the middle of one.
        assert!(!disk.has_unended_sdk_line());
        disk.take_sdk_lines(b"y");
        open(&mut disk, "out.jsonl", true);
        open(&mut disk, "out.jsonl", true);
        assert!(disk.has_unended_sdk_line());
        assert_eq!(disk.take_unended_sdk_lines(), [unended(4, b"y")]);
        // What a life before has left comes before what this one has begun, by itself where nothing is written.
        disk.take_sdk_lines(b"q");
        open(&mut disk, "out.jsonl", true);
        assert_eq!(disk.take_sdk_lines(b""), [unended(4, b"q")]);
        assert!(!disk.has_unended_sdk_line());
        disk.take_sdk_lines(b"z");
        assert_eq!(disk.take_sdk_lines(b""), []);
        assert_eq!(disk.take_unended_sdk_lines(), [unended(4, b"z")]);
        assert!(!disk.has_unended_sdk_line() && disk.take_unended_sdk_lines().is_empty());
    }

    #[test]
    fn of_a_long_line_what_counts_is_kept() {
        let mut disk = disk();
        let details = "y".repeat(SDK_WHOLE_LINE_BYTES_MAX);
        let long = format!("{{\"e\":{{\"details\":[\"{details}\"],\"hit\":true}}}}\nz\n");
        let lines = disk.take_sdk_lines(long.as_bytes());
        let [SdkLine { number: 1, text: SdkText::Long(Ok(kept)), has_end: true }, last] = &*lines else {
            panic!("{lines:?}")
        };
        assert_eq!(*last, SdkLine { number: 2, text: SdkText::Whole(b"z".to_vec()), has_end: true });
        assert!(kept.starts_with("{\"e\":{\"details\":") && kept.ends_with("\"hit\":true}}"), "{kept}");
        assert!(kept.len() < 4096, "{}", kept.len());
        // One byte more than is kept whole, in pieces; the same line in other pieces is the same.
        let of_pieces = |bytes: usize| {
            let mut disk = self::disk();
            long.as_bytes().chunks(bytes).flat_map(|piece| disk.take_sdk_lines(piece)).collect::<Vec<_>>()
        };
        assert_eq!((of_pieces(1), of_pieces(1000)), (lines.clone(), lines));
        disk.take_sdk_lines(&vec![b'y'; SDK_WHOLE_LINE_BYTES_MAX]);
        let text = SdkText::Whole(vec![b'y'; SDK_WHOLE_LINE_BYTES_MAX]);
        assert_eq!(disk.take_sdk_lines(b"\n"), [SdkLine { number: 3, text, has_end: true }]);
        disk.take_sdk_lines(&vec![b'y'; SDK_WHOLE_LINE_BYTES_MAX]);
        let problem = "expected `{` at its byte 1, found `y`".to_owned();
        let text = SdkText::Long(Err(UnreadLine { is_assertion: false, problem }));
        assert_eq!(disk.take_sdk_lines(b"y\n"), [SdkLine { number: 4, text, has_end: true }]);
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
