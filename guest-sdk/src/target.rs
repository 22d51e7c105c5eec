//! The component that a scenario judges, when that is another one: `fozzy run SCENARIO --target TARGET`.
//!
//! ```text
//! store::put("k", b"v")                           a call of the target, by an interface that it exports
//! target::restart()                               its memory is gone, its disk stays
//! target::attempt(|| store::get("k"))             Err("trapped: …") instead of the end of the run
//! target::on(2, || store::put("k", b"v"))         the same of another instance (`--target-instances 3`)
//! ```
//!
//! Natively there is no target: imports of another component do not link, so such a scenario runs in the sandbox only.

use crate::host;
use alloc::string::String;

/// How many instances of the target there are, each with a memory, files and a machine of its own.
///
/// ```
/// use fozzy_sdk::target;
///
/// for instance in 0..target::instances() {
///     target::on(instance, || { /* calls of the target's interface */ });
/// }
/// ```
#[must_use]
pub fn instances() -> u32 {
    host::target_instances()
}

/// Lets `body` deal with one instance of the target, and calls after it with the first one again: calls of the target's
/// interfaces, and of the functions here, are of that instance. Not to be nested.
///
/// Traps when there is no instance of that number.
///
/// ```
/// use fozzy_sdk::target;
///
/// let stored = target::on(2, || { /* store::put("k", b"v") */ true });
/// assert!(stored);
/// ```
pub fn on<R>(instance: u32, body: impl FnOnce() -> R) -> R {
    host::select_target(instance);
    let result = body();
    host::select_target(0);
    result
}

/// Ends the target, if it is up. The next call is answered by a new instance, on the disk as it is.
///
/// ```
/// use fozzy_sdk::target;
///
/// if target::down().is_some() {
///     target::restart();
/// }
/// ```
pub fn restart() {
    host::restart_target();
}

/// As [`restart`], and the machine of the target loses power: its disk keeps what was synced, and of the rest whatever is
/// drawn.
///
/// ```
/// use fozzy_sdk::prelude::*;
/// use fozzy_sdk::target;
///
/// if draw::chance(0.01) {
///     target::lose_power();
/// }
/// ```
pub fn lose_power() {
    host::lose_power_of_target();
}

/// Why the target answers nothing, in a few words; `None` while it is up.
///
/// ```
/// use fozzy_sdk::target;
///
/// assert_eq!(target::down(), None);
/// ```
#[must_use]
pub fn down() -> Option<String> {
    host::target_down()
}

/// Calls the target, and continues if the call traps. The trap is a finding either way.
///
/// # Errors
/// Why the target answers nothing. Until it is [`restart`]ed, neither does any other call.
///
/// ```
/// use fozzy_sdk::target;
///
/// match target::attempt(|| { /* store::get("k") */ 7 }) {
///     Ok(answer) => assert_eq!(answer, 7),
///     Err(why) => println!("the target is down: {why}"),
/// }
/// ```
pub fn attempt<R>(call: impl FnOnce() -> R) -> Result<R, String> {
    host::outlive_target(true);
    let answer = call();
    host::outlive_target(false);
    match down() {
        None => Ok(answer),
        Some(why) => Err(why),
    }
}
