//! One line on a terminal that says what is being done, and goes away.
//!
//! ```text
//! 3/12  bank, cache
//! ```
//!
//! Invariants: on anything but a terminal nothing is written; whatever else is written takes the line away first. Of a command that has
//! written nothing for long a line of its own says that it is still at work, also where there is no terminal.

use fozzy_campaign::wall_clock::{Stopwatch, pause};
use fozzy_report::run_line;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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

/// Real time after which a run says that it is at work.
const RUN_QUIET: Duration = Duration::from_secs(3);
/// Between two lines of it.
const RUN_LINE_EVERY: Duration = Duration::from_secs(1);

/// Whether what was written last ends a line; a line of ours would take a part of one away.
static IS_AT_LINE_START: AtomicBool = AtomicBool::new(true);

/// These are written next.
pub(crate) fn writes(bytes: &[u8]) {
    if let Some(last) = bytes.last() {
        IS_AT_LINE_START.store(*last == b'\n', Ordering::Relaxed);
    }
}

/// Says on a terminal that a run is at work, until this is dropped.
pub(crate) struct RunLine(Arc<Mutex<bool>>);

/// Says so of a run that may take that many instructions. How many it has taken is known when it calls the computer or ends.
pub(crate) fn of_run(fuel: u64) -> Option<RunLine> {
    let is_shown = io::stderr().is_terminal() && !IS_TALKING.load(Ordering::Relaxed);
    let has_ended = Arc::new(Mutex::new(false));
    let (watch, is_over) = (Stopwatch::start(), Arc::clone(&has_ended));
    let look = move || {
        loop {
            pause(RUN_LINE_EVERY);
            let is_over = is_over.lock().unwrap_or_else(PoisonError::into_inner);
            if *is_over {
                return;
            }
            if watch.elapsed() >= RUN_QUIET && IS_AT_LINE_START.load(Ordering::Relaxed) {
                show(&run_line(watch.elapsed().as_secs(), fuel));
            }
        }
    };
    let thread = is_shown.then(|| std::thread::Builder::new().name("at-work".to_owned()).spawn(look));
    // Without the thread it is only more silent.
    thread?.ok().map(|_| RunLine(has_ended))
}

impl Drop for RunLine {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        clear();
    }
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
    writes(bytes);
    let mut out = io::stderr().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}
