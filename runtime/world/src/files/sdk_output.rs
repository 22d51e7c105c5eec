//! The file to which the Antithesis SDK of a program writes: a device, whose lines are taken as they come.
//!
//! ```text
//! write "{\"a\":" · "1}" · "\n{"  ─▶  line 1: {"a":1}      kept: "{"
//! ```
//!
//! It stands on the disk like a file, and stays empty: nothing fills the disk, no fault strikes it, and no loss of power takes anything.
//!
//! Invariants: one file of a disk at most; what is kept of a line that has not ended is at most [`LINE_BYTES_MAX`]; opening it anew, as
//! the program does in each of its lives, begins a new line. Not here: its place on the disk (`sdk_file`), what the lines mean (`fozzy_trace::facts`).

/// Bytes of a line; of a longer one nothing is taken.
pub const LINE_BYTES_MAX: usize = 64 << 10;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct SdkOutput {
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

    /// Takes bytes; the answer is the lines that end with them.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<SdkLine> {
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
