//! Signals: on Ctrl-C half-written files are removed, and the exit code says that it was interrupted; a
//! file that grows past `ulimit -f` is an error of that write, as a full disk is, and not the end of us.

use crate::progress;
use fozzy_campaign::wall_clock::Stopwatch;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

/// The shell's code for a process ended by SIGINT.
pub(crate) const EXIT_INTERRUPTED: u8 = 130;

/// Installs the handler. Without one (a second handler, no signals) Ctrl-C just ends the process.
pub(crate) fn install() {
    ignore_file_size_signal();
    let installed = ctrlc::set_handler(|| {
        if ASKING.swap(false, Ordering::SeqCst) {
            ASKED.store(true, Ordering::SeqCst);
            let _ = ASKED_SINCE.set(Stopwatch::start());
            say(match AT_A_CALL.load(Ordering::SeqCst) {
                true => b"\nstopping where the program waits or calls next; once more to stop at once\n",
                false => b"\nstopping: what was found is kept; once more to stop at once\n",
            });
            return;
        }
        if ASKED_SINCE.get().is_some_and(|since| u128::from(since.elapsed_ns()) < ECHO.as_nanos()) {
            return;
        }
        STOPPING.store(true, Ordering::SeqCst);
        fozzy_trace::file::store::remove_temporaries();
        say(match IS_FLEET.load(Ordering::SeqCst) {
            true => b"\ninterrupted: no half-written file is left\n  what was kept stays; the same command goes on with it\n",
            false => b"\ninterrupted: no half-written file is left\n  run the same command again; it is deterministic\n",
        });
        process::exit(EXIT_INTERRUPTED.into());
    });
    if let Err(error) = installed {
        tracing::debug!(%error, "no handler for Ctrl-C");
    }
}

/// Whether the next Ctrl-C asks the command to stop gracefully.
static ASKING: AtomicBool = AtomicBool::new(false);
/// Whether it was asked.
static ASKED: AtomicBool = AtomicBool::new(false);
/// Since when.
static ASKED_SINCE: OnceLock<Stopwatch> = OnceLock::new();

/// A signal this soon after the first is the same one: `timeout` of GNU, shells and terminals signal a process, and then its group.
const ECHO: Duration = Duration::from_millis(500);

/// The first Ctrl-C from now on does not end the process: the command looks at [`is_asked_to_stop`].
pub(crate) fn ask_me_to_stop() {
    ASKING.store(true, Ordering::SeqCst);
}

/// The same for a single run, which ends at a call of its program.
pub(crate) fn ask_me_to_stop_at_a_call() {
    AT_A_CALL.store(true, Ordering::SeqCst);
    ask_me_to_stop();
}

/// Whether what is asked to stop is a single run.
static AT_A_CALL: AtomicBool = AtomicBool::new(false);

/// What a signal ends from now on is a fleet, which goes on from what is kept, and is never the same twice.
pub(crate) fn end_as_a_fleet() {
    IS_FLEET.store(true, Ordering::SeqCst);
}

/// Whether it is one.
static IS_FLEET: AtomicBool = AtomicBool::new(false);

/// The same for a worker: its supervisor says it.
pub(crate) fn ask_me_to_stop_quietly() {
    QUIET.store(true, Ordering::SeqCst);
    ask_me_to_stop();
}

/// Whether a signal is answered without words.
static QUIET: AtomicBool = AtomicBool::new(false);

fn say(words: &'static [u8]) {
    if !QUIET.load(Ordering::SeqCst) {
        say_briefly(words);
    }
}

/// Ends the process, as a signal does: no half-written file is left.
pub(crate) fn leave() {
    STOPPING.store(true, Ordering::SeqCst);
    fozzy_trace::file::store::remove_temporaries();
    process::exit(EXIT_INTERRUPTED.into());
}

/// Whether the command is to come to its end.
pub(crate) fn is_asked_to_stop() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// Time in which a run that is asked to stop comes to a call; after it, it makes none.
const CALL_GRACE: Duration = Duration::from_secs(1);

/// Whether a run that is asked to stop makes no call at which it could.
pub(crate) fn has_been_asked_for_long() -> bool {
    ASKED_SINCE.get().is_some_and(|since| u128::from(since.elapsed_ns()) > CALL_GRACE.as_nanos())
}

/// Whether the handler is at work.
static STOPPING: AtomicBool = AtomicBool::new(false);

/// Does not return once Ctrl-C was pressed: the handler ends the process. What the command then meets (its temporary
/// file is gone) is no error to be told, and its exit code is not the one that counts.
pub(crate) fn yield_to_handler() {
    while STOPPING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// Longest wait for a reader of the last message.
const LAST_WORDS_WAIT: Duration = Duration::from_millis(200);

/// Writes to stderr, unless it is not being read: the program may be stuck there in the middle of a write, and Ctrl-C is
/// then the only way out.
#[allow(clippy::disallowed_methods, reason = "a signal of the real machine; no execution continues after it")]
fn say_briefly(words: &'static [u8]) {
    let (said, waiting) = mpsc::channel();
    std::thread::spawn(move || {
        progress::stderr(words);
        let _ = said.send(());
    });
    let _ = waiting.recv_timeout(LAST_WORDS_WAIT);
}

/// Without this the system kills the process in the middle of a write, and its temporary file stays.
#[cfg(unix)]
#[allow(unsafe_code, reason = "the standard library sets no signal dispositions")]
fn ignore_file_size_signal() {
    // SAFETY: no handler is installed: ignoring a signal runs no code of ours, and no other thread exists yet.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

#[cfg(not(unix))]
fn ignore_file_size_signal() {}
