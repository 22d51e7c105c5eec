//! Runs the tests: on all cores, each by its name, with what was skipped said and counted at the end.
//!
//! ```text
//! #[test] functions ──┐
//! tests/cli/<case>  ──┴─▶ trials ─libtest-mimic─▶ test network::… ... ok
//!                                                 test coverage::c … ... ignored, needs clang and wasi-libc
//!                                                 test result: ok. … passed; 0 failed; … ignored; …
//!                                                 skipped: 41, for want of …; next: FOZZY_TIER=2 cargo test …
//! ```
//!
//! Invariants: a skipped test is never a passed one, and in tier two it is a failure; what a panic said stands with the name of the
//! test. Not here: what a test needs (`tier`).

use crate::tier::{self, Requirement};
use libtest_mimic::{Arguments, Completion, Conclusion, Failed, Trial};
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Prints the slowest tests and their seconds at the end.
const TIMES: &str = "FOZZY_TIMES";

/// As for the tests of other crates.
const THREADS: &str = "RUST_TEST_THREADS";

/// A function under `#[test]`.
pub(crate) struct Test {
    /// Its path, which begins with the name of the crate.
    pub(crate) name: &'static str,
    pub(crate) run: fn(),
}

inventory::collect!(Test);

/// What the trials of this run left to be told.
struct Record {
    skipped: BTreeMap<Requirement, usize>,
    times: Vec<(Duration, String)>,
}

static RECORD: Mutex<Record> = Mutex::new(Record { skipped: BTreeMap::new(), times: Vec::new() });

thread_local! {
    /// What the last panic of this thread said, while a test runs on it.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
    static IS_TEST: RefCell<bool> = const { RefCell::new(false) };
}

/// Runs the tests that the arguments of this process select, and those `others`.
pub(crate) fn run(others: Vec<Trial>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    let threads = std::env::var(THREADS).ok().and_then(|text| text.parse().ok());
    arguments.test_threads = arguments.test_threads.or(threads);
    let mut trials: Vec<Trial> = inventory::iter::<Test>().map(|test| trial(short(test.name), test.run)).collect();
    trials.extend(others);
    trials.sort_by(|one, other| one.name().cmp(other.name()));
    keep_panics();
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        report(&conclusion);
    }
    conclusion.exit_code()
}

/// A test of that name.
pub(crate) fn trial(name: impl Into<String>, run: impl FnOnce() + Send + 'static) -> Trial {
    let name = name.into();
    Trial::ignorable_test(name.clone(), move || {
        IS_TEST.set(true);
        let started = Instant::now();
        let ended = panic::catch_unwind(AssertUnwindSafe(run));
        IS_TEST.set(false);
        lock().times.push((started.elapsed(), name));
        ended.map_or_else(|payload| ended_early(&*payload), |()| Ok(Completion::Completed))
    })
}

/// The name of a test, without that of the crate.
fn short(path: &'static str) -> &'static str {
    path.split_once("::").map_or(path, |(_, name)| name)
}

fn ended_early(payload: &(dyn Any + Send)) -> Result<Completion, Failed> {
    let Some(need) = payload.downcast_ref::<Requirement>() else {
        return Err(PANIC.take().unwrap_or_else(|| "it panicked".to_owned()).into());
    };
    if tier::is_two() {
        return Err(format!("skipped, and tier two skips nothing: it needs {need}").into());
    }
    *lock().skipped.entry(*need).or_default() += 1;
    Ok(Completion::ignored_with(format!("needs {need}")))
}

fn lock() -> std::sync::MutexGuard<'static, Record> {
    RECORD.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What a test says when it panics is kept for the list of failures; panics of other threads are printed as ever.
fn keep_panics() {
    let printed = panic::take_hook();
    panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
        if IS_TEST.with_borrow(|is_test| *is_test) {
            PANIC.set(Some(info.to_string()));
        } else {
            printed(info);
        }
    }));
}

/// What libtest has no words for: what was skipped and why, and where the time went.
fn report(conclusion: &Conclusion) {
    let mut record = lock();
    let mut text = String::new();
    if conclusion.num_ignored > 0 {
        let _ = writeln!(text, "skipped: {}, for want of", conclusion.num_ignored);
        for (need, tests) in &record.skipped {
            let _ = writeln!(text, "{tests:6}  {need}");
        }
        let _ = writeln!(
            text,
            "next: {}=2 cargo test --workspace --locked, which installs what is missing\n",
            tier::VARIABLE
        );
    }
    if std::env::var_os(TIMES).is_some() {
        record.times.sort_by(|one, other| other.cmp(one));
        for (time, name) in &record.times {
            let _ = writeln!(text, "{:8.2} s  {name}", time.as_secs_f64());
        }
    }
    // A closed pipe is no reason to fail.
    let _ = std::io::stdout().write_all(text.as_bytes());
}
