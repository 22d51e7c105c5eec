//! One line on a terminal that says what is being done, and goes away.
//!
//! ```text
//! 3/12  bank, cache
//! ```
//!
//! Invariants: on anything but a terminal nothing is written; whatever else is written takes the line away first.

use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicBool, Ordering};

/// Characters of the line on a terminal whose width is not known; a longer one would wrap, and could not be taken back.
const CHARS_MAX: usize = 76;
/// To the beginning of the line, and nothing behind it.
const CLEAR: &str = "\r\x1b[2K";

static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// Who shows what campaigns and builds do, if stderr is a terminal.
pub(crate) fn line() -> Option<fn(&str)> {
    stderr().is_terminal().then_some(show as fn(&str))
}

/// Shows something instead of what was shown before; an empty text takes the line away.
pub(crate) fn show(text: &str) {
    if text.is_empty() || !stderr().is_terminal() {
        return clear();
    }
    let width = terminal_size::terminal_size_of(stderr()).map_or(CHARS_MAX, |(width, _)| usize::from(width.0) - 1);
    let line: String = text.chars().filter(|c| !c.is_control()).take(width).collect();
    IS_SHOWN.store(true, Ordering::Relaxed);
    let _ = stderr().lock().write_all(format!("{CLEAR}{line}").as_bytes());
}

/// Takes the line away, before something else is printed.
pub(crate) fn clear() {
    if IS_SHOWN.swap(false, Ordering::Relaxed) {
        let _ = stderr().lock().write_all(CLEAR.as_bytes());
    }
}
