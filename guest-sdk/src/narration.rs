//! What people are shown of a step: the values that it drew, and its result.
//!
//! ```text
//! fn get(&mut self, key: u8) -> Option<u32>     ─▶  drew("key", "1")  returned("None")   ─▶  get(key=1) -> None
//! ```
//!
//! Values are written only in an execution that is narrated to people, which repeats a recorded one: all others ask
//! once a sequence whether they are narrated, and write nothing.
//!
//! Invariant: whether a run is narrated changes nothing but the narration.

use crate::host;
use crate::property_return::{ReturnedFailure, property_fails};
use crate::scenario::{IntoOutcome, Outcome, Skip};
use alloc::string::String;
use core::cell::Cell;
use core::fmt::Debug;

/// Bytes of a value that are shown; the rest is cut.
const VALUE_BYTES_MAX: usize = 1024;

crate::__local! {
    static IS_NARRATED: Cell<bool> = const { Cell::new(false) };
}

/// Asks whether this run is narrated.
pub fn begin() {
    IS_NARRATED.set(host::is_narrated());
}

/// Whether this run is narrated.
#[inline]
#[must_use]
pub fn is_narrated() -> bool {
    IS_NARRATED.get()
}

/// An argument: the draws of its parts are not shown beside it.
#[doc(hidden)]
pub fn argument<T>(draw: impl FnOnce() -> T) -> T {
    let before = IS_NARRATED.get();
    IS_NARRATED.set(false);
    let value = draw();
    IS_NARRATED.set(before);
    value
}

/// Shows a value, if the run is narrated.
#[inline]
pub(crate) fn drew(value: &impl Debug) {
    if is_narrated() {
        host::drew("", &text_of(value));
    }
}

/// Shows a value that has a name.
pub fn drew_as(name: &str, value: &str) {
    host::drew(name, value);
}

pub(crate) fn text_of(value: &impl Debug) -> String {
    cut(format!("{value:?}"))
}

fn cut(mut text: String) -> String {
    if text.len() > VALUE_BYTES_MAX {
        let end = (0..=VALUE_BYTES_MAX).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

/// An argument of any type, for the macros: `(&ArgumentValue(&x)).text()` is its `Debug` if it has one.
#[derive(Debug)]
pub struct ArgumentValue<'a, T>(pub &'a T);

/// Of what can be written.
pub trait DebugText {
    /// As text.
    fn text(&self) -> String;
}

impl<T: Debug> DebugText for ArgumentValue<'_, T> {
    fn text(&self) -> String {
        text_of(self.0)
    }
}

/// Of what cannot.
pub trait TypeText {
    /// The name of the type.
    fn text(&self) -> String;
}

impl<T> TypeText for &ArgumentValue<'_, T> {
    fn text(&self) -> String {
        let name = core::any::type_name::<T>();
        // By bytes: comparing texts would need a `memcmp`, which a program without std may not have.
        let start = name.bytes().rposition(|byte| byte == b':').map_or(0, |colon| colon + 1);
        cut(format!("{}(..)", name.get(start..).unwrap_or(name)))
    }
}

/// What a flow returned, for the macros: `(&&&&&&FlowReturn::new(x)).outcome("flow")` takes the first of the traits below that
/// fits, in this order.
pub struct FlowReturn<T>(Cell<Option<T>>);

impl<T> core::fmt::Debug for FlowReturn<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("FlowReturn")
    }
}

impl<T> FlowReturn<T> {
    /// This.
    pub const fn new(value: T) -> FlowReturn<T> {
        FlowReturn(Cell::new(Some(value)))
    }

    fn take(&self) -> T {
        self.0.take().expect("it is asked once")
    }
}

/// Whether it went well, or a reason to do nothing: `false` is a failure, as of a property.
pub trait VerdictReturn {
    /// As an outcome; the value is shown.
    fn outcome(&self, flow: &str) -> Outcome;
}

impl VerdictReturn for &&&&&FlowReturn<bool> {
    fn outcome(&self, flow: &str) -> Outcome {
        let value = self.take();
        returned(&value);
        judge(flow, value);
        Ok(())
    }
}

impl VerdictReturn for &&&&&FlowReturn<Result<bool, Skip>> {
    fn outcome(&self, flow: &str) -> Outcome {
        let value = self.take()?;
        returned(&value);
        judge(flow, value);
        Ok(())
    }
}

/// The same, or an error.
pub trait FallibleVerdict {
    /// As an outcome; the value is shown.
    fn outcome(&self, flow: &str) -> Outcome;
}

impl<E: Debug> FallibleVerdict for &&&&FlowReturn<Result<bool, E>> {
    fn outcome(&self, flow: &str) -> Outcome {
        let value = self.take();
        returned(&value);
        match value {
            Ok(value) => judge(flow, value),
            Err(error) => property_fails(flow, &ReturnedFailure::Error(text_of(&error))),
        }
        Ok(())
    }
}

fn judge(flow: &str, went_well: bool) {
    if !went_well {
        property_fails(flow, &ReturnedFailure::False);
    }
}

/// Nothing, or `Result<(), Skip>`.
pub trait PlainReturn {
    /// As an outcome.
    fn outcome(&self, flow: &str) -> Outcome;
}

impl<T: IntoOutcome> PlainReturn for &&&FlowReturn<T> {
    fn outcome(&self, _: &str) -> Outcome {
        self.take().into_outcome()
    }
}

/// A value, or a reason to do nothing.
pub trait SkippableReturn {
    /// As an outcome; the value is shown.
    fn outcome(&self, flow: &str) -> Outcome;
}

impl<T: Debug> SkippableReturn for &&FlowReturn<Result<T, Skip>> {
    fn outcome(&self, _: &str) -> Outcome {
        let value = self.take()?;
        returned(&value);
        Ok(())
    }
}

/// A value or an error, which is a failure as in a test.
pub trait FallibleReturn {
    /// As an outcome; the value is shown.
    fn outcome(&self, flow: &str) -> Outcome;
}

impl<T: Debug, E: Debug> FallibleReturn for &FlowReturn<Result<T, E>> {
    fn outcome(&self, flow: &str) -> Outcome {
        let value = self.take();
        returned(&value);
        if let Err(error) = value {
            property_fails(flow, &ReturnedFailure::Error(text_of(&error)));
        }
        Ok(())
    }
}

/// Any other value.
pub trait DebugReturn {
    /// As an outcome; the value is shown.
    fn outcome(&self, flow: &str) -> Outcome;
}

impl<T: Debug> DebugReturn for FlowReturn<T> {
    fn outcome(&self, _: &str) -> Outcome {
        returned(&self.take());
        Ok(())
    }
}

/// Shows the result of a step, if the run is narrated.
pub(crate) fn returned(value: &impl Debug) {
    if is_narrated() {
        host::returned(&text_of(value));
    }
}

#[cfg(test)]
#[allow(clippy::needless_borrow, reason = "the attributes write these borrows, by which the right method is found")]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_is_named() {
        struct Secret;
        assert_eq!((&ArgumentValue(&Some(1))).text(), "Some(1)");
        assert_eq!((&ArgumentValue(&Secret)).text(), "Secret(..)");
        assert_eq!(cut("ä".repeat(1000)).chars().count(), VALUE_BYTES_MAX / 2 + 1);
    }

    /// As the attribute writes it.
    macro_rules! outcome {
        ($returned:expr) => {
            (&&&&&&FlowReturn::new($returned)).outcome("f")
        };
    }

    #[test]
    fn a_flow_may_return_nothing_a_skip_a_value_or_both() {
        assert_eq!(outcome!(()), Ok(()));
        assert_eq!(outcome!(Err::<(), _>(Skip::new("no"))), Err(Skip::new("no")));
        assert_eq!(outcome!(Some(3)), Ok(()));
        assert_eq!(outcome!(Err::<u8, _>(Skip::new("no"))), Err(Skip::new("no")));
        assert_eq!(outcome!(Ok::<u8, String>(3)), Ok(()));
        assert_eq!(outcome!(Ok::<bool, String>(true)), Ok(()));
        assert_eq!(outcome!(Err::<bool, _>(Skip::new("no"))), Err(Skip::new("no")));
    }

    #[test]
    fn a_flow_that_returns_false_or_an_error_fails() {
        let said = |outcome: fn() -> Outcome| {
            crate::native::begin(1);
            let panic = std::panic::catch_unwind(outcome).expect_err("it fails");
            panic.downcast_ref::<String>().cloned().unwrap_or_default()
        };
        assert!(said(|| outcome!(false)).contains("`f` returns false"));
        assert!(said(|| outcome!(Ok::<bool, Skip>(false))).contains("`f` returns false"));
        assert!(said(|| outcome!(Ok::<bool, u8>(false))).contains("`f` returns false"));
        let error = said(|| outcome!(Err::<bool, _>("no account")));
        assert!(error.contains("`f` returns an error") && error.contains("no account"), "{error}");
    }
}
