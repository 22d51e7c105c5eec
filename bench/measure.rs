//! Two things measured in turn, and what their times say.
//!
//! ```text
//! ours, theirs, ours, theirs, …      so that a busy moment of the machine hits both
//! ```
//!
//! In-process work is timed by the CPU time of this thread, which other processes do not disturb;
//! start-up by wall time, because a user waits for all of it; a whole process's work by its CPU time.
//! Medians are compared; the best of each shows how far noise reaches.

#![allow(unsafe_code, reason = "reads two clocks that the standard library does not offer")]
#![allow(clippy::disallowed_methods, reason = "a bench reads real clocks")]

use std::process::{Command, Output, Stdio};
use std::time::Instant;

/// Seconds of two interleaved measurements.
pub(crate) struct Pair {
    pub(crate) ours: Times,
    pub(crate) theirs: Times,
}

impl Pair {
    /// Measures both in turn, after one round that is not counted.
    pub(crate) fn of(rounds: usize, mut ours: impl FnMut() -> f64, mut theirs: impl FnMut() -> f64) -> Pair {
        ours();
        theirs();
        let rounds = (0..rounds).map(|_| (ours(), theirs()));
        let (ours, theirs) = rounds.unzip();
        Pair { ours: Times::new(ours), theirs: Times::new(theirs) }
    }

    /// The same, where each round has a seed of its own, which both get.
    pub(crate) fn of_seeds(
        rounds: usize,
        mut ours: impl FnMut(u64) -> f64,
        mut theirs: impl FnMut(u64) -> f64,
    ) -> Pair {
        let (mut our_seed, mut their_seed) = (0, 0);
        Pair::of(
            rounds,
            || {
                our_seed += 1;
                ours(our_seed)
            },
            || {
                their_seed += 1;
                theirs(their_seed)
            },
        )
    }

    /// The same, of which only the best round counts: what an undisturbed machine would do, as far as it was seen.
    pub(crate) fn best_of(rounds: usize, ours: impl FnMut() -> f64, theirs: impl FnMut() -> f64) -> Pair {
        let all = Pair::of(rounds, ours, theirs);
        Pair::once(all.ours.best(), all.theirs.best())
    }

    /// Two times that were measured elsewhere.
    pub(crate) fn once(ours: f64, theirs: f64) -> Pair {
        Pair { ours: Times(vec![ours]), theirs: Times(vec![theirs]) }
    }

    /// Our median over theirs.
    pub(crate) fn ratio(&self) -> f64 {
        self.ours.median() / self.theirs.median()
    }

    /// Our best over theirs.
    pub(crate) fn ratio_of_best(&self) -> f64 {
        self.ours.best() / self.theirs.best()
    }
}

/// Seconds of the same thing, several times.
pub(crate) struct Times(Vec<f64>);

impl Times {
    pub(crate) fn new(mut seconds: Vec<f64>) -> Times {
        assert!(!seconds.is_empty(), "nothing was measured");
        seconds.sort_by(f64::total_cmp);
        Times(seconds)
    }

    pub(crate) fn median(&self) -> f64 {
        self.0[self.0.len() / 2]
    }

    pub(crate) fn best(&self) -> f64 {
        self.0[0]
    }
}

/// CPU seconds of this thread that `work` takes.
pub(crate) fn thread_seconds(work: impl FnOnce()) -> f64 {
    let before = thread_clock();
    work();
    thread_clock() - before
}

/// How a whole process is timed.
#[derive(Clone, Copy)]
pub(crate) enum Clock {
    Wall,
    Cpu,
}

/// Seconds of one process, which must succeed; it has no input and its output is thrown away.
pub(crate) fn process_seconds(clock: Clock, command: &mut Command) -> f64 {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let (status, seconds) = timed(clock, || command.status());
    let status = status.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}; run it by hand to see why");
    seconds
}

/// What one process without input wrote, and its seconds. How it ended is for the caller to judge.
pub(crate) fn process_output(clock: Clock, command: &mut Command) -> (Output, f64) {
    let (output, seconds) = timed(clock, || command.stdin(Stdio::null()).output());
    (output.unwrap_or_else(|error| panic!("{command:?}: {error}")), seconds)
}

/// Seconds of one of those that a command counts, at `pointer` of the document that it writes.
pub(crate) fn process_seconds_each(clock: Clock, command: &mut Command, pointer: &str) -> f64 {
    let (output, seconds) = process_output(clock, command.arg("--json"));
    let document: Option<serde_json::Value> = serde_json::from_slice(&output.stdout).ok();
    let count = document.and_then(|document| document.pointer(pointer)?.as_u64()).filter(|count| *count > 0);
    seconds / count.unwrap_or_else(|| panic!("{command:?}: no {pointer}; run it by hand to see why")) as f64
}

/// What `work`, which starts a process and waits for it, comes to, and the seconds of that.
fn timed<T>(clock: Clock, work: impl FnOnce() -> T) -> (T, f64) {
    let (wall, cpu) = (Instant::now(), children_clock());
    let result = work();
    let seconds = match clock {
        Clock::Wall => wall.elapsed().as_secs_f64(),
        Clock::Cpu => children_clock() - cpu,
    };
    (result, seconds)
}

/// CPU seconds of this process so far, all its threads.
pub(crate) fn process_clock() -> f64 {
    cpu_clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU seconds of this thread so far.
pub(crate) fn thread_clock() -> f64 {
    cpu_clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn cpu_clock(clock: libc::clockid_t) -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both clocks exist on every Linux, and the pointer is to a value of ours.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    assert_eq!(result, 0, "the CPU clock cannot be read");
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// CPU time of all processes that we waited for so far, and of those that they waited for; one runs at a time.
fn children_clock() -> f64 {
    // SAFETY: all fields are numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a value of ours.
    let result = unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    assert_eq!(result, 0, "the CPU time of child processes cannot be read");
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
