//! Waiting for another process: with a pause between two looks, an end, and a word about what did not come.
//!
//! ```text
//! wait::until("a file in the corpus", || files() > 0);
//! wait::while_running(&mut child, "a file in the corpus", || files() > 0);   // fails at once if the child ends first
//! wait::output(child)                                                        // kills what does not end
//! wait::build(&mut cargo)                                                    // the same, with the patience that a build needs
//! wait::exit(&mut child)
//! wait::first_bytes(pipe)
//! Messages::of(pipe, read_one).next()                                    // the next thing that a child says
//! ```
//!
//! Invariant: nothing in `tests/` waits in another way, so that no test spins on a core that the awaited process needs, and none
//! waits for ever. A tidy test holds it.

use std::io::{BufReader, Read};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// What has not come by then does not come: many times what the longest takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(600);

/// The same for what compiles: a whole toolchain's worth of packages, one at a time.
const BUILD_LIMIT: Duration = Duration::from_secs(3600);

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

/// Waits for the end of a child.
#[track_caller]
pub(crate) fn exit(child: &mut Child) -> ExitStatus {
    until("the end of a process", || !runs(child));
    child.wait().expect("it has ended")
}

/// The first bytes that somebody writes, and the pipe, which stays open.
#[track_caller]
pub(crate) fn first_bytes<R: Read + Send + 'static>(mut pipe: R) -> ([u8; 10], R) {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut head = [0; 10];
        let read = pipe.read_exact(&mut head);
        // Whoever waits may have given up.
        let _ = sender.send(read.map(|()| (head, pipe)));
    });
    let read = receiver.recv_timeout(LIMIT);
    read.unwrap_or_else(|_| panic!("nothing is written after {} s", LIMIT.as_secs())).expect("it prints that much")
}

/// What a child says, one message after the other.
pub(crate) struct Messages<T>(mpsc::Receiver<T>);

impl<T: Send + 'static> Messages<T> {
    /// Those of a pipe. `read` reads one; `None` at the end.
    pub(crate) fn of<R: Read + Send + 'static>(
        pipe: R,
        read: impl Fn(&mut BufReader<R>) -> Option<T> + Send + 'static,
    ) -> Messages<T> {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let mut pipe = BufReader::new(pipe);
            while read(&mut pipe).is_some_and(|message| sender.send(message).is_ok()) {}
        });
        Messages(receiver)
    }

    /// The next one; `None` at the end.
    #[track_caller]
    pub(crate) fn next(&self) -> Option<T> {
        match self.0.recv_timeout(LIMIT) {
            Ok(message) => Some(message),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("nothing is said after {} s", LIMIT.as_secs()),
        }
    }
}

/// Runs a command to its end, with nothing on standard input; what it printed and how it ended.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> Output {
    output(start(command))
}

/// Runs a command that compiles to its end; what it printed and how it ended.
#[track_caller]
pub(crate) fn build(command: &mut Command) -> Output {
    output_within(start(command), BUILD_LIMIT)
}

#[track_caller]
fn start(command: &mut Command) -> Child {
    let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    piped.spawn().unwrap_or_else(|error| panic!("cannot start {}: {error}", command.get_program().display()))
}

/// What a child printed and how it ended.
#[track_caller]
pub(crate) fn output(child: Child) -> Output {
    output_within(child, LIMIT)
}

#[track_caller]
fn output_within(child: Child, limit: Duration) -> Output {
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        // Whoever waits may have given up.
        let _ = sender.send(child.wait_with_output());
    });
    let Ok(output) = receiver.recv_timeout(limit) else {
        let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        panic!("process {id} has not ended after {} s", limit.as_secs());
    };
    reader.join().expect("it only waits");
    output.expect("its pipes can be read")
}
