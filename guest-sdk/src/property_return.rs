//! What a property, an invariant or a fuzz target came to, by what its function returns.
//!
//! ```text
//! ()                     holds                      Err(Skip)     skipped, which is counted of properties and invariants
//! true, any value        holds                      Err(e)        fails, as a test does
//! false                  fails                      Ok(value)     as the value
//! ```
//!
//! For the macros: `(&&&&PropertyReturn::new(x)).value(…)` and `(&&&PropertyValue::new(y)).judge()` take the first of the traits below that
//! fits, in their order; `property_fails` and `invariant_fails` tell what they found. Not here: flows (`narration`).

use crate::host::ReportedFailure;
use crate::narration::{returned, text_of};
use crate::scenario::Skip;
use crate::{host, properties};
use alloc::string::String;
use core::cell::Cell;
use core::fmt::{self, Debug, Formatter};

/// What a function returned.
pub struct PropertyReturn<T>(Cell<Option<T>>);

/// What it returned where that was no error, and whether people are shown it: what an invariant returns is not what its step came to.
pub struct PropertyValue<T>(Cell<Option<T>>, bool);

impl<T> PropertyReturn<T> {
    /// This.
    pub const fn new(returned: T) -> PropertyReturn<T> {
        PropertyReturn(Cell::new(Some(returned)))
    }

    fn take(&self) -> T {
        self.0.take().expect("it is asked once")
    }
}

impl<T> PropertyValue<T> {
    /// This.
    pub const fn new(value: T) -> PropertyValue<T> {
        PropertyValue(Cell::new(Some(value)), true)
    }

    /// That of an invariant.
    pub const fn of_invariant(value: T) -> PropertyValue<T> {
        PropertyValue(Cell::new(Some(value)), false)
    }

    fn show(&self, value: &impl Debug) {
        if self.1 {
            returned(value);
        }
    }

    fn take(&self) -> T {
        self.0.take().expect("it is asked once")
    }
}

impl<T> Debug for PropertyReturn<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("PropertyReturn")
    }
}

impl<T> Debug for PropertyValue<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("PropertyValue")
    }
}

/// Why a function that returned has failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReturnedFailure {
    /// It returned this error.
    Error(String),
    /// It returned `false`.
    False,
}

impl ReturnedFailure {
    /// Of the function with this name, in a sentence.
    fn sentence(&self, name: &str) -> String {
        match self {
            ReturnedFailure::Error(_) => format!("`{name}` returns an error"),
            ReturnedFailure::False => format!("`{name}` returns false"),
        }
    }

    fn error(&self) -> Option<&str> {
        match self {
            ReturnedFailure::Error(error) => Some(error),
            ReturnedFailure::False => None,
        }
    }
}

/// Tells that a property, a fuzz target or a flow failed so.
pub fn property_fails(name: &str, failure: &ReturnedFailure) {
    host::unreachable(&failure.sentence(name), failure.error());
}

/// Tells that an invariant failed so.
pub fn invariant_fails(name: &str, failure: &ReturnedFailure) {
    let error = failure.error().map(|error| format!("\n{error}")).unwrap_or_default();
    let message = format!("the invariant {}{error}", failure.sentence(name));
    host::fail(ReportedFailure::Invariant, name, &message);
}

/// A value, or a reason to check nothing.
pub trait SkippableCheck<T> {
    /// The value. How often there was one is reported under `health`, where that is a name.
    fn value(&self, health: &str) -> Result<Option<T>, ReturnedFailure>;
}

impl<T> SkippableCheck<T> for &&&PropertyReturn<Result<T, Skip>> {
    fn value(&self, health: &str) -> Result<Option<T>, ReturnedFailure> {
        let value = self.take().ok();
        if !health.is_empty() {
            properties::checked(health, value.is_some());
        }
        Ok(value)
    }
}

/// A value, or an error, which is a failure as in a test.
pub trait FallibleCheck<T> {
    /// The value.
    fn value(&self, health: &str) -> Result<Option<T>, ReturnedFailure>;
}

impl<T, E: Debug> FallibleCheck<T> for &&PropertyReturn<Result<T, E>> {
    fn value(&self, _: &str) -> Result<Option<T>, ReturnedFailure> {
        self.take().map(Some).map_err(|error| ReturnedFailure::Error(text_of(&error)))
    }
}

/// The same, of an error that cannot be written.
pub trait OpaqueErrorCheck<T> {
    /// The value; of the error, the name of its type.
    fn value(&self, health: &str) -> Result<Option<T>, ReturnedFailure>;
}

impl<T, E> OpaqueErrorCheck<T> for &PropertyReturn<Result<T, E>> {
    fn value(&self, _: &str) -> Result<Option<T>, ReturnedFailure> {
        self.take().map(Some).map_err(|_| ReturnedFailure::Error(core::any::type_name::<E>().into()))
    }
}

/// Anything else.
pub trait ValueCheck<T> {
    /// The value.
    fn value(&self, health: &str) -> Result<Option<T>, ReturnedFailure>;
}

impl<T> ValueCheck<T> for PropertyReturn<T> {
    fn value(&self, _: &str) -> Result<Option<T>, ReturnedFailure> {
        Ok(Some(self.take()))
    }
}

/// A value that itself says whether the property holds.
pub trait VerdictValue {
    /// Whether it holds.
    fn judge(&self) -> Result<(), ReturnedFailure>;
}

impl VerdictValue for &&PropertyValue<bool> {
    fn judge(&self) -> Result<(), ReturnedFailure> {
        let holds = self.take();
        self.show(&holds);
        if holds { Ok(()) } else { Err(ReturnedFailure::False) }
    }
}

impl VerdictValue for &&PropertyValue<()> {
    fn judge(&self) -> Result<(), ReturnedFailure> {
        Ok(())
    }
}

/// A value that can be shown.
pub trait ShownValue {
    /// Tells the value, which is no verdict.
    fn judge(&self) -> Result<(), ReturnedFailure>;
}

impl<T: Debug> ShownValue for &PropertyValue<T> {
    fn judge(&self) -> Result<(), ReturnedFailure> {
        self.show(&self.take());
        Ok(())
    }
}

/// Any other value.
pub trait OtherValue {
    /// It is no verdict.
    fn judge(&self) -> Result<(), ReturnedFailure>;
}

impl<T> OtherValue for PropertyValue<T> {
    fn judge(&self) -> Result<(), ReturnedFailure> {
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::needless_borrow, reason = "the attributes write these borrows, by which the right method is found")]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// As the attribute writes it; what it says when it fails.
    macro_rules! said {
        ($returned:expr) => {{
            crate::native::begin(1);
            let failed = catch_unwind(AssertUnwindSafe(|| {
                let judged = match (&&&&PropertyReturn::new($returned)).value("h") {
                    Ok(Some(value)) => (&&&PropertyValue::new(value)).judge(),
                    Ok(None) => Ok(()),
                    Err(failure) => Err(failure),
                };
                if let Err(failure) = judged {
                    property_fails("p", &failure);
                }
            }));
            failed.err().map(|panic| match panic.downcast::<String>() {
                Ok(text) => *text,
                Err(panic) => panic.downcast_ref::<&str>().map(ToString::to_string).unwrap_or_default(),
            })
        }};
    }

    struct Opaque;

    #[test]
    fn what_is_no_failure_holds() {
        assert_eq!(said!(()), None);
        assert_eq!(said!(true), None);
        assert_eq!(said!(Opaque), None);
        assert_eq!(said!(Some(false)), None, "it is a value, and no verdict");
        assert_eq!(said!(Ok::<(), String>(())), None);
        assert_eq!(said!(Ok::<Opaque, Opaque>(Opaque)), None);
        assert_eq!(said!(Err::<(), _>(Skip::new("no"))), None);
        assert_eq!(said!(Err::<Opaque, _>(Skip::new("no"))), None);
    }

    #[test]
    fn false_and_an_error_fail_and_say_so() {
        let fails = |said: Option<String>, words: &[&str]| {
            let said = said.expect("it fails");
            assert!(words.iter().all(|word| said.contains(word)), "{said}");
        };
        fails(said!(false), &["`p` returns false"]);
        fails(said!(Ok::<bool, String>(false)), &["`p` returns false"]);
        fails(said!(Ok::<bool, Skip>(false)), &["`p` returns false"]);
        fails(said!(Err::<(), _>("no such account")), &["`p` returns an error", "no such account"]);
        fails(said!(Err::<Opaque, _>(7)), &["`p` returns an error", "7"]);
        fails(said!(Err::<u8, _>(Opaque)), &["`p` returns an error", "Opaque"]);
    }
}
