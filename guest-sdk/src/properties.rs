//! What the property macros call. Use the macros: they make each property known before the run.

use crate::host::{self, Comparison};

/// See [`always!`](crate::always).
#[inline]
pub fn always(name: &str, holds: bool, details: impl FnOnce() -> Option<String>) {
    let details = if holds { None } else { details() };
    host::always(name, holds, details.as_deref());
}

/// See [`always_or_unreachable!`](crate::always_or_unreachable).
#[inline]
pub fn always_or_unreachable(name: &str, holds: bool, details: impl FnOnce() -> Option<String>) {
    let details = if holds { None } else { details() };
    host::always_or_unreachable(name, holds, details.as_deref());
}

/// See [`sometimes!`](crate::sometimes).
#[inline]
pub fn sometimes(name: &str, holds: bool) {
    host::sometimes(name, holds, None);
}

/// See [`reachable!`](crate::reachable).
#[inline]
pub fn reachable(name: &str) {
    host::reachable(name);
}

/// See [`unreachable!`](crate::unreachable).
#[inline]
pub fn unreachable(name: &str, details: Option<String>) {
    host::unreachable(name, details.as_deref());
}

/// A number of a comparison. Large integers are rounded, as in any conversion to `f64`.
pub trait Number: Copy {
    /// As a float.
    fn number(self) -> f64;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Number for $number {
            fn number(self) -> f64 {
                self as f64
            }
        }
    )*};
}
numbers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64);

/// See [`always_at_most!`](crate::always_at_most) and its sisters.
#[inline]
pub fn always_number(name: &str, left: impl Number, comparison: Comparison, right: impl Number) {
    host::always_number(name, left.number(), comparison, right.number());
}

/// See [`sometimes_at_least!`](crate::sometimes_at_least) and its sisters.
#[inline]
pub fn sometimes_number(name: &str, left: impl Number, comparison: Comparison, right: impl Number) {
    host::sometimes_number(name, left.number(), comparison, right.number());
}
