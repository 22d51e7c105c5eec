//! What a property came to, by what its function returns.
//!
//! ```text
//! ()                     holds                      Err(Skip)     skipped, which is counted
//! true, any value        holds                      Err(e)        fails, as a test does
//! false                  fails                      Ok(value)     as the value
//! ```
//!
//! For the macros: `(&&&&PropertyReturn::new(x)).value(…)` and `(&&&PropertyValue::new(y)).judge(…)` take the first of the traits below that
//! fits, in their order. Not here: flows, of which any value is only shown (`narration`).

use crate::narration::{returned, text_of};
use crate::scenario::Skip;
use crate::{host, properties};
use core::cell::Cell;
use core::fmt::{self, Debug, Formatter};

/// What a function returned.
pub struct PropertyReturn<T>(Cell<Option<T>>);

/// What it returned where that was no error.
pub struct PropertyValue<T>(Cell<Option<T>>);

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
        PropertyValue(Cell::new(Some(value)))
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

/// A value, or a reason to check nothing.
pub trait SkippableCheck<T> {
    /// The value. How often there was one is told under `health`.
    fn value(&self, name: &str, health: &str) -> Option<T>;
}

impl<T> SkippableCheck<T> for &&&PropertyReturn<Result<T, Skip>> {
    fn value(&self, _: &str, health: &str) -> Option<T> {
        let value = self.take().ok();
        properties::checked(health, value.is_some());
        value
    }
}

/// A value, or an error, which is a failure as in a test.
pub trait FallibleCheck<T> {
    /// The value; an error is told.
    fn value(&self, name: &str, health: &str) -> Option<T>;
}

impl<T, E: Debug> FallibleCheck<T> for &&PropertyReturn<Result<T, E>> {
    fn value(&self, name: &str, _: &str) -> Option<T> {
        self.take().map_err(|error| fails(name, &text_of(&error))).ok()
    }
}

/// The same, of an error that cannot be written.
pub trait OpaqueErrorCheck<T> {
    /// The value; that there was an error is told.
    fn value(&self, name: &str, health: &str) -> Option<T>;
}

impl<T, E> OpaqueErrorCheck<T> for &PropertyReturn<Result<T, E>> {
    fn value(&self, name: &str, _: &str) -> Option<T> {
        self.take().map_err(|_| fails(name, core::any::type_name::<E>())).ok()
    }
}

fn fails(name: &str, error: &str) {
    host::unreachable(&format!("`{name}` returns an error"), Some(error));
}

/// Anything else.
pub trait ValueCheck<T> {
    /// The value.
    fn value(&self, name: &str, health: &str) -> Option<T>;
}

impl<T> ValueCheck<T> for PropertyReturn<T> {
    fn value(&self, _: &str, _: &str) -> Option<T> {
        Some(self.take())
    }
}

/// A value that says by itself whether the property holds.
pub trait VerdictValue {
    /// Tells a failure.
    fn judge(&self, name: &str);
}

impl VerdictValue for &&PropertyValue<bool> {
    fn judge(&self, name: &str) {
        let holds = self.take();
        returned(&holds);
        if !holds {
            host::unreachable(&format!("`{name}` returns false"), None);
        }
    }
}

impl VerdictValue for &&PropertyValue<()> {
    fn judge(&self, _: &str) {}
}

/// A value that can be shown.
pub trait ShownValue {
    /// Tells the value.
    fn judge(&self, name: &str);
}

impl<T: Debug> ShownValue for &PropertyValue<T> {
    fn judge(&self, _: &str) {
        returned(&self.take());
    }
}

/// Any other value.
pub trait OtherValue {
    /// Tells nothing.
    fn judge(&self, name: &str);
}

impl<T> OtherValue for PropertyValue<T> {
    fn judge(&self, _: &str) {}
}

#[cfg(test)]
#[allow(clippy::needless_borrow, reason = "the attributes write these borrows, by which the right method is found")]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// As the attribute writes it; what it says when it fails.
    macro_rules! said {
        ($returned:expr) => {{
            crate::native::begin(1);
            let failed = catch_unwind(AssertUnwindSafe(|| {
                if let Some(value) = (&&&&PropertyReturn::new($returned)).value("p", "h") {
                    (&&&PropertyValue::new(value)).judge("p");
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
