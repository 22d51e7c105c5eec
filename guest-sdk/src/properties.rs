//! What the property macros call. Use the macros: they make each property known before the run.
//!
//! ```text
//! always!(true)    reported  ─▶ evaluated 1, held 1
//! always!(true)    counted      says nothing new
//! always!(true)    counted
//! end of sequence  reported  ─▶ evaluated 3, held 3
//! always!(false)   reported at once, with what was counted before
//! ```
//!
//! A report takes a call of the host, some fifty times as long as counting. So each place in the program reports only
//! what is new: the first time that it holds, the first time that it does not, a number closer to its bound. All else
//! is counted, and reported when the sequence, the fuzz target or the property ends. A program that is run as a command
//! has no such end: it reports everything.
//!
//! Invariant: a failure is reported at once. When a trap ends a sequence, its counts are not reported.

use crate::host::{self, Comparison};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What was told of a property by one place of the program, and what is still to be told.
#[doc(hidden)]
#[derive(Debug)]
pub struct Tally {
    name: &'static str,
    told_held: AtomicBool,
    told_missed: AtomicBool,
    held: AtomicU64,
    missed: AtomicU64,
    /// Bits of the smallest distance that was told.
    closest: AtomicU64,
}

crate::__local! {
    /// Whether there will be an end at which counts are told.
    static COUNTING: Cell<bool> = const { Cell::new(false) };
    /// Those that have something to tell.
    static COUNTED: RefCell<Vec<&'static Tally>> = const { RefCell::new(Vec::new()) };
}

impl Tally {
    /// Nothing told yet.
    #[must_use]
    pub const fn new(name: &'static str) -> Tally {
        Tally {
            name,
            told_held: AtomicBool::new(false),
            told_missed: AtomicBool::new(false),
            held: AtomicU64::new(0),
            missed: AtomicU64::new(0),
            closest: AtomicU64::new(f64::INFINITY.to_bits()),
        }
    }

    /// Whether an evaluation is counted; otherwise it is to be told.
    fn counts(&'static self, holds: bool) -> bool {
        if !COUNTING.get() {
            return false;
        }
        let told = if holds { &self.told_held } else { &self.told_missed };
        // Loads and stores, as a thread has its own counts natively, where nothing is counted.
        if !told.load(Ordering::Relaxed) {
            told.store(true, Ordering::Relaxed);
            return false;
        }
        let (held, missed) = (self.held.load(Ordering::Relaxed), self.missed.load(Ordering::Relaxed));
        if held == 0 && missed == 0 {
            COUNTED.with_borrow_mut(|counted| counted.push(self));
        }
        let (count, before) = if holds { (&self.held, held) } else { (&self.missed, missed) };
        count.store(before + 1, Ordering::Relaxed);
        true
    }

    /// The same for a comparison that came so close to its bound.
    fn counts_at(&'static self, holds: bool, distance: f64) -> bool {
        if distance.abs() < f64::from_bits(self.closest.load(Ordering::Relaxed)) {
            self.closest.store(distance.abs().to_bits(), Ordering::Relaxed);
            return false;
        }
        self.counts(holds)
    }
}

/// From now on repeated evaluations are only counted: the caller will call [`tell`].
#[doc(hidden)]
pub fn count() {
    COUNTING.set(cfg!(target_arch = "wasm32"));
}

/// Tells what was counted.
#[doc(hidden)]
pub fn tell() {
    for tally in COUNTED.take() {
        host::again(tally.name, tally.held.swap(0, Ordering::Relaxed), tally.missed.swap(0, Ordering::Relaxed));
    }
}

/// See [`always!`](crate::always).
#[doc(hidden)]
#[inline]
pub fn always(tally: &'static Tally, holds: bool, details: impl FnOnce() -> Option<String>) {
    if holds && tally.counts(true) {
        return;
    }
    let details = if holds { None } else { failing(details()) };
    host::always(tally.name, holds, details.as_deref());
}

/// See [`always_or_unreachable!`](crate::always_or_unreachable).
#[doc(hidden)]
#[inline]
pub fn always_or_unreachable(tally: &'static Tally, holds: bool, details: impl FnOnce() -> Option<String>) {
    if holds && tally.counts(true) {
        return;
    }
    let details = if holds { None } else { failing(details()) };
    host::always_or_unreachable(tally.name, holds, details.as_deref());
}

/// See [`sometimes!`](crate::sometimes).
#[doc(hidden)]
#[inline]
pub fn sometimes(tally: &'static Tally, holds: bool) {
    if !tally.counts(holds) {
        host::sometimes(tally.name, holds, None);
    }
}

/// See [`reachable!`](crate::reachable).
#[doc(hidden)]
#[inline]
pub fn reachable(tally: &'static Tally) {
    if !tally.counts(true) {
        host::reachable(tally.name);
    }
}

/// See [`unreachable!`](crate::unreachable).
#[doc(hidden)]
#[inline]
pub fn unreachable(tally: &'static Tally, details: Option<String>) {
    host::unreachable(tally.name, failing(details).as_deref());
}

/// What a property came to that may skip its values: how many it did not skip is a property too, by which reports warn of one
/// that checks nearly nothing.
pub(crate) fn checked(health: &str, is_checked: bool) {
    host::sometimes(health, is_checked, None);
}

/// The run ends at the failure that follows: the counts are reported first.
#[cold]
fn failing(details: Option<String>) -> Option<String> {
    tell();
    details
}

/// A number of a comparison. Large integers are rounded, as in any conversion to `f64`.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// // Of any type, on both sides.
/// always_less!(3u8, 4.5f64, "the ratio is small");
/// ```
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

impl Comparison {
    /// Whether it holds, and how far it is from the bound; as the run has it.
    fn of(self, left: f64, right: f64) -> (bool, f64) {
        let holds = match self {
            Comparison::Less => left < right,
            Comparison::AtMost => left <= right,
            Comparison::Greater => left > right,
            Comparison::AtLeast => left >= right,
        };
        (holds, right - left)
    }
}

/// See [`always_at_most!`](crate::always_at_most) and its sisters.
#[doc(hidden)]
#[inline]
pub fn always_number(tally: &'static Tally, left: impl Number, comparison: Comparison, right: impl Number) {
    let (left, right) = (left.number(), right.number());
    let (holds, distance) = comparison.of(left, right);
    if holds && tally.counts_at(true, distance) {
        return;
    }
    if !holds {
        tell();
    }
    host::always_number(tally.name, left, comparison, right);
}

/// See [`sometimes_at_least!`](crate::sometimes_at_least) and its sisters.
#[doc(hidden)]
#[inline]
pub fn sometimes_number(tally: &'static Tally, left: impl Number, comparison: Comparison, right: impl Number) {
    let (left, right) = (left.number(), right.number());
    let (holds, distance) = comparison.of(left, right);
    if !tally.counts_at(holds, distance) {
        host::sometimes_number(tally.name, left, comparison, right);
    }
}
