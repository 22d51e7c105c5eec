//! Waiting for another process: with a pause between two looks, an end, and a word about what did not come.
//!
//! ```text
//! wait::until("a file in the corpus", || files() > 0);
//! wait::while_running(&mut child, "a file in the corpus", || files() > 0);   // fails at once if the child ends first
//! wait::output(child)                                                        // kills what does not end
//! ```
//!
//! Invariant: nothing in `tests/` waits in another way, so that no test spins on a core that the awaited process needs, and none
//! waits for ever.

use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// What has not come by then does not come: many times what the longest takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(600);

/// Waits until it is there.
#[track_caller]
pub(crate) fn until(what: &str, mut is_there: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_there() {
        assert!(started.elapsed() < LIMIT, "waited {} s in vain for {what}", LIMIT.as_secs());
        std::thread::sleep(PAUSE);
    }
}

/// Waits until it is there, which is to be before the child ends.
#[track_caller]
pub(crate) fn while_running(child: &mut Child, what: &str, mut is_there: impl FnMut() -> bool) {
    until(what, || {
        // Asked first: what a process leaves behind at its end is there.
        let runs = runs(child);
        let is_there = is_there();
        assert!(is_there || runs, "the process ended while {what} was waited for");
        is_there
    });
}

/// Whether it has not ended yet.
pub(crate) fn runs(child: &mut Child) -> bool {
    child.try_wait().expect("it can be asked").is_none()
}

/// Runs a command to its end; what it printed and how it ended.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> Output {
    output(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts"))
}

/// What a child printed and how it ended.
#[track_caller]
pub(crate) fn output(child: Child) -> Output {
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        // Whoever waits may have given up.
        let _ = sender.send(child.wait_with_output());
    });
    let Ok(output) = receiver.recv_timeout(LIMIT) else {
        let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        panic!("process {id} has not ended after {} s", LIMIT.as_secs());
    };
    reader.join().expect("it only waits");
    output.expect("its pipes can be read")
}
