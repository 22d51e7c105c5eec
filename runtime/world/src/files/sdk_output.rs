//! The file to which the Antithesis SDK of a program writes: a device, whose lines are taken as they come.
//!
//! ```text
//! write "{\"a\":" · "1}" · "\n{"  ─▶  line 1: {"a":1}      kept: "{"
//! write of 2 MB · "\n"          ─▶  line 2: what counts of it, by `SdkLineReader`
//! ```
//!
//! It stands on the disk like a file, and stays empty: nothing fills the disk, no fault strikes it, and no loss of power takes anything.
//!
//! Invariants: one file of a disk at most; what is kept of a line that has not ended is at most [`WHOLE_LINE_BYTES_MAX`], or what a reader
//! of lines keeps; opening it anew, as the program does in each of its lives, begins a new line. Not here: its place on the disk
//! (`sdk_file`), what the lines mean (`fozzy_trace::facts`).

use fozzy_trace::facts::{SdkLineReader, UnreadLine};
use std::mem::take;

/// Bytes of a line that is kept as it is; of a longer one, what counts is kept.
pub const WHOLE_LINE_BYTES_MAX: usize = 64 << 10;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct SdkOutput {
    /// What has come of a line.
    partial: Vec<u8>,
    /// Reads a line of which more has come than is kept.
    reader: Option<Box<SdkLineReader>>,
    /// Lines so far.
    lines: u64,
    /// A line whose end has not come when the file was opened anew.
    left: Option<SdkLine>,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SdkLine {
    /// Counted from one.
    pub number: u64,
    /// What it says.
    pub text: SdkText,
    /// Whether its end has come.
    pub has_end: bool,
}

/// What a line says, without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SdkText {
    /// As it is.
    Whole(Vec<u8>),
    /// What counts of one that is longer than [`WHOLE_LINE_BYTES_MAX`], JSON.
    Long(Result<String, UnreadLine>),
}

impl SdkOutput {
    /// The program begins to write it.
    pub(super) fn begin(&mut self) {
        let unended = self.unended();
        self.left = unended.or_else(|| self.left.take());
    }

    /// Takes bytes; the answer is the lines that end with them.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<SdkLine> {
        let mut lines: Vec<SdkLine> = self.left.take().into_iter().collect();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n");
            let more = text.unwrap_or(part);
            match &mut self.reader {
                Some(reader) => reader.push(more),
                None if self.partial.len() + more.len() > WHOLE_LINE_BYTES_MAX => {
                    let mut reader = Box::<SdkLineReader>::default();
                    reader.push(&take(&mut self.partial));
                    reader.push(more);
                    self.reader = Some(reader);
                }
                None => self.partial.extend_from_slice(more),
            }
            if text.is_some() {
                self.lines += 1;
                lines.push(SdkLine { number: self.lines, text: self.end_text(), has_end: true });
            }
        }
        lines
    }

    /// Whether a line has begun, and not ended.
    pub(super) fn has_unended(&self) -> bool {
        !self.partial.is_empty() || self.reader.is_some() || self.left.is_some()
    }

    /// Takes the lines that have not ended: nothing more comes.
    pub(super) fn take_unended(&mut self) -> Vec<SdkLine> {
        let left = self.left.take();
        left.into_iter().chain(self.unended()).collect()
    }

    fn unended(&mut self) -> Option<SdkLine> {
        let has_begun = !self.partial.is_empty() || self.reader.is_some();
        has_begun.then(|| SdkLine { number: self.lines + 1, text: self.end_text(), has_end: false })
    }

    fn end_text(&mut self) -> SdkText {
        match self.reader.take() {
            Some(reader) => SdkText::Long(reader.finish()),
            None => SdkText::Whole(take(&mut self.partial)),
        }
    }
}
