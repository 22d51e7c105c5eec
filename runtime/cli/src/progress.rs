//! One line on a terminal that says what is being done, and goes away.
//!
//! ```text
//! 3/12  bank, cache
//! ```
//!
//! Invariant: on anything but a terminal nothing is written.

use crate::output;
use std::io::{IsTerminal, stderr};

/// Characters of the line; a longer one would wrap, and could not be taken back.
const CHARS_MAX: usize = 76;
/// To the beginning of the line, and nothing behind it.
const CLEAR: &str = "\r\x1b[2K";

/// The line.
pub(crate) struct Progress {
    is_terminal: bool,
    is_shown: bool,
}

impl Progress {
    pub(crate) fn new() -> Progress {
        Progress { is_terminal: stderr().is_terminal(), is_shown: false }
    }

    /// Shows something instead of what was shown before.
    pub(crate) fn show(&mut self, text: &str) {
        if self.is_terminal {
            let line: String = text.chars().filter(|c| !c.is_control()).take(CHARS_MAX).collect();
            output::stderr(format!("{CLEAR}{line}").as_bytes());
            self.is_shown = true;
        }
    }

    /// Takes the line away, before something else is printed.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            output::stderr(CLEAR.as_bytes());
        }
    }
}
