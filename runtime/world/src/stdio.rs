//! Standard input as a tape of bytes, and the names of the two outputs.
//!
//! Invariant: reading consumes; a tape that does not stay open ends after its last byte.
//! Not here: what was written (`fozzy_trace::StreamOutput`), terminals: a guest never sees one.

use std::sync::Arc;

/// Standard input.
#[derive(Clone, Debug)]
pub struct Stdin {
    bytes: Arc<[u8]>,
    position: usize,
    stays_open: bool,
}

/// Which of the two outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stdin {
    /// A tape of `bytes`; with `stays_open` a reader waits after the last one, for ever.
    #[must_use]
    pub fn new(bytes: Arc<[u8]>, stays_open: bool) -> Stdin {
        Stdin { bytes, position: 0, stays_open }
    }

    /// Starts again at the first byte.
    pub fn rewind(&mut self) {
        self.position = 0;
    }

    /// Whether a read would return at once: with bytes, or with the end.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.position < self.bytes.len() || !self.stays_open
    }

    /// Whether all bytes were read and no more can come.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.position == self.bytes.len() && !self.stays_open
    }

    /// The next bytes, at most `len`; none when there are none now.
    pub fn read(&mut self, len: u64) -> &[u8] {
        let rest = &self.bytes[self.position..];
        let taken = usize::try_from(len).unwrap_or(usize::MAX).min(rest.len());
        self.position += taken;
        &rest[..taken]
    }
}
