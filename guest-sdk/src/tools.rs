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
pub fn event(name: &str, details: &str) {
    host::event(name, details);
}

/// A stretch of the history, from here to where it is dropped.
#[must_use]
pub fn span(name: &str) -> Span {
    Span(host::enter(name))
}

/// See [`span`].
#[derive(Debug)]
pub struct Span(u64);

impl Drop for Span {
    fn drop(&mut self) {
        host::leave(self.0);
    }
}

/// Whether a planned fault strikes this point now. Natively none does.
#[must_use]
pub fn buggify(point: &str) -> bool {
    host::buggify(point).is_some()
}

/// How hard a planned fault strikes this point now, if one does.
#[must_use]
pub fn buggify_with(point: &str) -> Option<u64> {
    host::buggify(point)
}

/// Lets virtual time pass at once.
pub fn advance(time: Duration) {
    host::advance(time);
}

/// From now on readings of the clock do not move it.
pub fn freeze() {
    host::freeze(true);
}

/// Readings of the clock move it again.
pub fn unfreeze() {
    host::freeze(false);
}

/// A number to seed a generator with that a target cannot do without. Ask again at the beginning of each flow: after a
/// branch of the run it is another one.
#[must_use]
pub fn reseed() -> u64 {
    host::reseed()
}

/// Keeps the file tree of this machine under a name.
///
/// # Errors
/// In words: a wrong name, too many snapshots, real files.
pub fn snapshot_files(name: &str) -> Result<(), String> {
    host::snapshot_files(name)
}

/// Makes the file tree what it was at the snapshot.
///
/// # Errors
/// In words: no such snapshot, open files, real files.
pub fn restore_files(name: &str) -> Result<(), String> {
    host::restore_files(name)
}

/// From now on it is known what [`lose_power`] leaves; everything that is on the disk now is durable.
///
/// # Errors
/// In words: real files.
pub fn watch_power() -> Result<(), String> {
    host::watch_power()
}

/// The disk is what a loss of power leaves of it: what was synced, and a drawn part of the rest. The scenario continues,
/// with its model; all files are to be closed before.
///
/// # Errors
/// In words: open files, a disk that is not watched, real files.
pub fn lose_power() -> Result<(), String> {
    host::lose_power()
}

/// An operation of a client, for checkers that judge whole histories. One that is dropped without an end counts as
/// unknown.
#[derive(Debug)]
pub struct Operation(u64);

/// A client begins an operation.
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
