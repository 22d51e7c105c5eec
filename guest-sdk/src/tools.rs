//! What a scenario can tell the run, and ask of it, besides draws and properties.
//!
//! ```
//! use fozzy_sdk::prelude::*;
//!
//! let span = tools::span("settle");
//! tools::event("started", "three accounts");
//! drop(span);
//! ```

use crate::host;
use alloc::string::String;
use core::time::Duration;

/// Puts something into the history of the run.
///
/// ```
/// fozzy_sdk::tools::event("leader", "node 2");
/// ```
pub fn event(name: &str, details: &str) {
    host::event(name, details);
}

/// A stretch of the history, from here to where it is dropped.
///
/// ```
/// use fozzy_sdk::tools;
///
/// let settling = tools::span("settle");
/// // What happens here stands within it, in the history.
/// drop(settling);
/// ```
#[must_use]
pub fn span(name: &str) -> Span {
    Span(host::enter(name))
}

/// See [`span`].
///
/// ```
/// use fozzy_sdk::tools::{Span, span};
///
/// struct Request { open: Span }
/// let request = Request { open: span("request") };
/// # drop(request.open);
/// ```
#[derive(Debug)]
pub struct Span(u64);

impl Drop for Span {
    fn drop(&mut self) {
        host::leave(self.0);
    }
}

/// Whether a planned fault strikes this point now. Natively none does.
///
/// ```
/// use fozzy_sdk::tools;
///
/// let batch = if tools::buggify("small batch") { 1 } else { 100 };
/// # assert_eq!(batch, 100);
/// ```
#[must_use]
pub fn buggify(point: &str) -> bool {
    host::buggify(point).is_some()
}

/// How hard a planned fault strikes this point now, if one does.
///
/// ```
/// use fozzy_sdk::tools;
/// use std::time::Duration;
///
/// if let Some(strength) = tools::buggify_with("slow disk") {
///     tools::advance(Duration::from_millis(strength));
/// }
/// ```
#[must_use]
pub fn buggify_with(point: &str) -> Option<u64> {
    host::buggify(point)
}

/// Lets virtual time pass at once.
///
/// ```
/// use fozzy_sdk::tools;
/// use std::time::Duration;
///
/// // Until the session has expired.
/// tools::advance(Duration::from_secs(30 * 60));
/// ```
pub fn advance(time: Duration) {
    host::advance(time);
}

/// From now on readings of the clock do not move it.
///
/// ```
/// use fozzy_sdk::{task, tools};
///
/// tools::freeze();
/// assert_eq!(task::now(), task::now());
/// tools::unfreeze();
/// ```
pub fn freeze() {
    host::freeze(true);
}

/// Readings of the clock move it again.
///
/// ```
/// use fozzy_sdk::{task, tools};
///
/// tools::freeze();
/// tools::unfreeze();
/// assert!(task::now() < task::now());
/// ```
pub fn unfreeze() {
    host::freeze(false);
}

/// A number to seed a generator with that a target cannot do without. Ask again at the beginning of each flow: after a
/// branch of the run it is another one.
///
/// ```
/// let seed: u64 = fozzy_sdk::tools::reseed();
/// // let mut generator = SmallRng::seed_from_u64(seed);
/// # let _ = seed;
/// ```
#[must_use]
pub fn reseed() -> u64 {
    host::reseed()
}

/// Keeps the file tree of this machine under a name.
///
/// # Errors
/// In words: a wrong name, too many snapshots, real files.
///
/// ```
/// use fozzy_sdk::tools;
///
/// let kept = tools::snapshot_files("before");
/// // In the sandbox it works; natively files are the real ones, and the error says so.
/// # assert!(kept.is_err());
/// ```
pub fn snapshot_files(name: &str) -> Result<(), String> {
    host::snapshot_files(name)
}

/// Makes the file tree what it was at the snapshot.
///
/// # Errors
/// In words: no such snapshot, open files, real files.
///
/// ```
/// use fozzy_sdk::tools;
///
/// let kept = tools::restore_files("before");
/// // In the sandbox it works; natively files are the real ones, and the error says so.
/// # assert!(kept.is_err());
/// ```
pub fn restore_files(name: &str) -> Result<(), String> {
    host::restore_files(name)
}

/// From now on it is known what [`lose_power`] leaves; everything that is on the disk now is durable.
///
/// # Errors
/// In words: real files.
///
/// ```
/// use fozzy_sdk::tools;
///
/// if tools::watch_power().is_ok() {
///     // Write, sync, and see with `lose_power` what is left.
/// }
/// ```
pub fn watch_power() -> Result<(), String> {
    host::watch_power()
}

/// The disk is what a loss of power leaves of it: what was synced, and a drawn part of the rest. The scenario continues,
/// with its model; all files are to be closed before.
///
/// # Errors
/// In words: open files, a disk that is not watched, real files.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// fn crash(journal_is_whole: impl Fn() -> bool) {
///     if tools::lose_power().is_ok() {
///         always!(journal_is_whole(), "the journal survives a loss of power");
///     }
/// }
/// # crash(|| true);
/// ```
pub fn lose_power() -> Result<(), String> {
    host::lose_power()
}

/// An operation of a client, for checkers that judge whole histories. One that is dropped without an end counts as
/// unknown.
///
/// ```
/// use fozzy_sdk::tools;
///
/// let (read, write) = (tools::invoke(0, "get x", ""), tools::invoke(1, "put x", "7"));
/// read.ok("7");
/// // Its answer was lost: nobody knows whether it was done.
/// write.info("timeout");
/// ```
#[derive(Debug)]
pub struct Operation(u64);

/// A client begins an operation.
///
/// ```
/// use fozzy_sdk::tools;
///
/// let put = tools::invoke(0, "put x", "7");
/// match Err::<(), _>("refused") {
///     Ok(()) => put.ok(""),
///     Err(why) => put.fail(why),
/// }
/// ```
#[must_use]
pub fn invoke(client: u32, operation: &str, input: &str) -> Operation {
    Operation(host::invoke(client, operation, input))
}

impl Operation {
    /// It was done, with this result.
    pub fn ok(self, output: &str) {
        host::end_ok(self.0, output);
    }

    /// It was certainly not done.
    pub fn fail(self, error: &str) {
        host::end_fail(self.0, error);
    }

    /// It is not known whether it was done.
    pub fn info(self, note: &str) {
        host::end_info(self.0, note);
    }
}

/// Holds the operations of this run to a checker, from the first one on: `linearizable` or `sequential` with the name of a model,
/// `isolation` with that of a level, or a checker that needs neither, with an empty text; `fozzy check --help` has all names.
///
/// A checker that can tell while the run continues (`unique-ids`, `counter`, `set-full`, `kafka`, reads of failed
/// transactions) ends it at the first anomaly; the others judge when it has ended. Natively nothing is judged.
///
/// ```
/// use fozzy_sdk::tools;
///
/// tools::check_history("linearizable", "kv");
/// let put = tools::invoke(0, "put x", "7");
/// put.ok("");
/// ```
pub fn check_history(checker: &str, model: &str) {
    host::check_history(checker, model);
}
