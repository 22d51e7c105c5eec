//! One line on a terminal that says what is being done, and goes away.
//!
//! ```text
//! 3/12  bank, cache
//! ```
//!
//! Invariants: on anything but a terminal nothing is written; whatever else is written takes the line away first. Of a command that has
//! written nothing for long a line of its own says that it is still at work, also where there is no terminal.

use fozzy_campaign::wall_clock::{Stopwatch, pause};
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Characters of the line on a terminal whose width is not known; a longer one would wrap, and could not be taken back.
const CHARS_MAX: usize = 76;
/// To the beginning of the line, and nothing behind it.
const CLEAR: &str = "\r\x1b[2K";

static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// How often something was written.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// Between two looks at whether something was written: twice that is a minute, which no command is silent for.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// Whether a person talks to a program, which waits for that.
static IS_TALKING: AtomicBool = AtomicBool::new(false);

/// From here on it is a person who is silent.
pub(crate) fn allow_silence() {
    IS_TALKING.store(true, Ordering::Relaxed);
}

/// From here on a line says that this command is still at work whenever it has written nothing for long.
pub(crate) fn break_silence() {
    let watch = Stopwatch::start();
    let look = move || {
        loop {
            let before = WRITTEN.load(Ordering::Relaxed);
            pause(LOOK_EVERY);
            if WRITTEN.load(Ordering::Relaxed) == before && !IS_TALKING.load(Ordering::Relaxed) {
                let words = format!("still at work after {}s; Ctrl-C stops it\n", watch.elapsed().as_secs());
                stderr(words.as_bytes());
            }
        }
    };
    // Without the thread it is only more silent.
    let _ = std::thread::Builder::new().name("silence".to_owned()).spawn(look);
}

/// Who shows what campaigns and builds do, if stderr is a terminal.
pub(crate) fn line() -> Option<fn(&str)> {
    io::stderr().is_terminal().then_some(show as fn(&str))
}

/// Shows something instead of what was shown before; an empty text takes the line away.
pub(crate) fn show(text: &str) {
    if text.is_empty() || !io::stderr().is_terminal() {
        return clear();
    }
    WRITTEN.fetch_add(1, Ordering::Relaxed);
    let width = terminal_size::terminal_size_of(io::stderr()).map_or(CHARS_MAX, |(width, _)| usize::from(width.0) - 1);
    let line: String = text.chars().filter(|c| !c.is_control()).take(width).collect();
    IS_SHOWN.store(true, Ordering::Relaxed);
    let _ = io::stderr().lock().write_all(format!("{CLEAR}{line}").as_bytes());
}

/// Takes the line away, before something else is printed.
pub(crate) fn clear() {
    WRITTEN.fetch_add(1, Ordering::Relaxed);
    if IS_SHOWN.swap(false, Ordering::Relaxed) {
        let _ = io::stderr().lock().write_all(CLEAR.as_bytes());
    }
}

/// Writes to stderr, in the place of the line; a closed pipe is silently accepted.
pub(crate) fn stderr(bytes: &[u8]) {
    clear();
    let mut out = io::stderr().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}
