//! Typed draws: values of a type, of a range, of a list, of a pattern.
//!
//! ```
//! use fozzy_sdk::prelude::*;
//!
//! #[derive(Debug, Draw)]
//! enum Order { Buy { amount: u8, urgent: bool }, Cancel }
//!
//! let order: Order = draw::any();
//! let port = draw::range(1024..=49151u16);
//! let colour = draw::one_of(&["red", "green"]);
//! let words = draw::vec_of(0..=5, || draw::string_of("abc", 1..=8));
//! # let _ = (order, port, colour, words);
//! ```
//!
//! Where a site is not given, it is the place in the source. Values of a type are biased towards its boundaries:
//!
//! ```text
//! integers   4 of 8 small (0 to 255, signed -128 to 127), 3 of 8 of the whole type, 1 of 8 an edge (0 1 -1 min max …)
//! floats     4 of 8 small integers, 3 of 8 of all bit patterns, 1 of 8 an edge (0 -0 1 min max epsilon inf NaN)
//! lengths    of 168: 147 up to 8, 16 up to 64, 4 up to 512, 1 up to 4096
//! ```
//!
//! So the longest collection grows with the number of cases; in a campaign it is bounded by its input too, whose length grows
//! while nothing new is found. What is inside of a collection shares these 4096 elements with all that is in it. Bounds of one's own
//! are an attribute, of an argument of a property or a flow as of a field:
//!
//! ```
//! use fozzy_sdk::prelude::*;
//!
//! #[derive(Debug, Draw)]
//! struct Packet {
//!     #[draw(range = 1..=15)]
//!     version: u8,
//!     #[draw(length = 0..=65_536)]
//!     payload: Vec<u8>,
//! }
//! ```
//!
//! `usize` and `isize` are drawn as 32 bits everywhere, so that a sandbox of 32 bits and a native test of 64 draw the same.
//!
//! Invariant: the simplest answers give the simplest value: zero, empty, the first.

mod collections;
#[cfg(feature = "std")]
mod hashed;
mod numbers;
#[cfg(feature = "regex")]
mod pattern;
mod text;

use alloc::vec::Vec;
pub use numbers::Int;
#[cfg(feature = "regex")]
pub use pattern::{matching, matching_at};
pub use text::{Alphabet, string_of, string_of_at};

use crate::{host, narration, site};
use alloc::string::String;
use core::cell::Cell;
use core::ops::RangeInclusive;
use core::panic::Location;

/// A type whose values can be drawn.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// struct Even(u32);
///
/// impl Draw for Even {
///     fn draw(site: &str) -> Even { Even(draw::range_at(site, 0..=50) * 2) }
/// }
/// assert_eq!(draw::any::<Even>().0 % 2, 0);
/// ```
pub trait Draw: Sized {
    /// A value, drawn at `site`, which has 1 to 255 bytes.
    fn draw(site: &str) -> Self;
}

/// A type whose values have a length: collections and strings.
///
/// `#[draw(length = 0..=1000)]` of a field or an argument draws by it.
///
/// ```
/// use fozzy_sdk::draw::DrawLength;
///
/// let name = String::draw_length("name", 3..=3);
/// assert_eq!(name.chars().count(), 3);
/// ```
pub trait DrawLength: Draw {
    /// A value of that many elements, all lengths equally likely.
    fn draw_length(site: &str, lengths: RangeInclusive<usize>) -> Self;
}

/// The most elements that a collection has by default, with all that is in it.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// assert!(draw::any::<Vec<u8>>().len() as u64 <= draw::LENGTH_MAX);
/// ```
pub const LENGTH_MAX: u64 = 4096;

/// A value of a type.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let (number, name): (u16, Option<String>) = draw::any();
/// # let _ = (number, name);
/// ```
#[must_use]
#[track_caller]
pub fn any<T: Draw>() -> T {
    T::draw(site::of(Location::caller()))
}

/// A number of a range, both ends included, all equally likely. The simplest is the lower end.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let port = draw::range(1024..=49_151u16);
/// assert!(port >= 1024);
/// ```
#[must_use]
#[track_caller]
pub fn range<T: Int>(range: RangeInclusive<T>) -> T {
    let value = range_at(site::of(Location::caller()), range);
    narration::drew(&value.wide());
    value
}

/// The same value, which people are told.
pub(crate) fn told<T: core::fmt::Debug>(value: T) -> T {
    narration::drew(&value);
    value
}

/// The same, with a site.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// assert!(draw::range_at("temperature", -40..=60) <= 60);
/// ```
#[must_use]
pub fn range_at<T: Int>(site: &str, range: RangeInclusive<T>) -> T {
    numbers::uniform(site, *range.start(), *range.end())
}

/// A place in a list of that length. `index(0)` ends the scenario with a sentence that says so.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let accounts = ["anna", "bert"];
/// let account = accounts[draw::index(accounts.len())];
/// # let _ = account;
/// ```
#[must_use]
#[track_caller]
pub fn index(length: usize) -> usize {
    told(host::choose(site::of(Location::caller()), length as u64) as usize)
}

/// One of a list. An empty list ends the scenario with a sentence that says so.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// assert!(["red", "green"].contains(&draw::one_of(&["red", "green"])));
/// ```
#[must_use]
#[track_caller]
pub fn one_of<T: Clone>(list: &[T]) -> T {
    list[host::choose(site::of(Location::caller()), list.len() as u64) as usize].clone()
}

/// One of a list, each as likely as its share of the weights.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let method = draw::weighted(&[(9, "GET"), (1, "DELETE")]);
/// # let _ = method;
/// ```
#[must_use]
#[track_caller]
pub fn weighted<T: Clone>(list: &[(u32, T)]) -> T {
    let weights: Vec<u32> = list.iter().map(|(weight, _)| *weight).collect();
    list[host::weighted(site::of(Location::caller()), &weights) as usize].1.clone()
}

/// The place of one of these weights. For `derive(Draw)`.
#[doc(hidden)]
#[must_use]
pub fn weighted_at(site: &str, weights: &[u32]) -> u32 {
    host::weighted(site, weights)
}

/// True with this probability.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// assert!(draw::chance(1.0) && !draw::chance(0.0));
/// ```
#[must_use]
#[track_caller]
pub fn chance(probability: f64) -> bool {
    told(host::happens(site::of(Location::caller()), probability))
}

/// So many bytes.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// assert_eq!(draw::bytes(16).len(), 16);
/// ```
#[must_use]
#[track_caller]
pub fn bytes(length: usize) -> Vec<u8> {
    told(host::bytes(site::of(Location::caller()), length as u64))
}

/// A list of a drawn length, of what `element` draws.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let words = draw::vec_of(1..=3, || draw::string_of("abc", 1..=8));
/// assert!((1..=3).contains(&words.len()));
/// ```
#[must_use]
#[track_caller]
pub fn vec_of<T>(lengths: RangeInclusive<usize>, element: impl FnMut() -> T) -> Vec<T> {
    let length = range_at(site::of(Location::caller()), lengths);
    core::iter::repeat_with(element).take(length).collect()
}

/// Draws until `predicate` holds, a thousand times at the most: then the scenario ends with a sentence that says so.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let odd = draw::such_that(draw::any::<u32>, |number| number % 2 == 1);
/// assert_eq!(odd % 2, 1);
/// ```
#[must_use]
#[track_caller]
pub fn such_that<T>(mut draw: impl FnMut() -> T, mut predicate: impl FnMut(&T) -> bool) -> T {
    let site = site::of(Location::caller());
    let found = core::iter::repeat_with(&mut draw).take(TRIES_MAX).find(|value| predicate(value));
    found.unwrap_or_else(|| never_true(site))
}

/// Draws before a predicate is taken for one that is never true. One that holds for a hundredth of the values is missed
/// once in 23,000 times.
pub(crate) const TRIES_MAX: usize = 1000;

pub(crate) fn never_true(site: &str) -> ! {
    host::invalid(
        site,
        &format!("at `{site}`: none of {TRIES_MAX} values satisfies the predicate; draw from fewer values"),
    )
}

/// Lengths that are drawn by default, and how many of those that are not short have them.
const LONG: [u64; 3] = [64, 512, LENGTH_MAX];
const LONG_WEIGHTS: [u32; 3] = [16, 4, 1];

crate::__local! {
    /// Elements that a collection may have, as it is in another one.
    static ELEMENTS_LEFT: Cell<u64> = const { Cell::new(LENGTH_MAX) };
}

/// A length, mostly short: a collection inside another one gets a part of the elements that are left.
pub(crate) fn length(site: &str) -> usize {
    let left = ELEMENTS_LEFT.get();
    if host::weighted(site, &[7, 1]) == 0 {
        return host::choose(site, left.min(8) + 1) as usize;
    }
    let most = LONG[host::weighted(site, &LONG_WEIGHTS) as usize];
    host::choose(&length_site(site), left.min(most) + 1) as usize
}

/// A length of a range.
pub(crate) fn length_of(site: &str, lengths: RangeInclusive<usize>) -> usize {
    range_at(&length_site(site), lengths)
}

/// The site at which a length is drawn: a source that reads answers off an input gives no more than the input has.
fn length_site(site: &str) -> String {
    const SUFFIX: &str = " length";
    let fits = |end: &usize| site.is_char_boundary(*end) && end + SUFFIX.len() <= SITE_BYTES_MAX;
    let end = (0..=site.len()).rev().find(fits).unwrap_or(0);
    format!("{}{SUFFIX}", &site[..end])
}

/// Bytes that a site can have.
const SITE_BYTES_MAX: usize = 255;

/// Draws `length` elements, which share what is left.
pub(crate) fn repeated<T, C: FromIterator<T>>(length: usize, element: impl FnMut() -> T) -> C {
    let left = ELEMENTS_LEFT.get();
    ELEMENTS_LEFT.set((left / (length as u64).max(1)).max(1));
    let elements = core::iter::repeat_with(element).take(length).collect();
    ELEMENTS_LEFT.set(left);
    elements
}

/// A value of a type that knows how to be made from bytes.
///
/// ```
/// let (id, tags): (u8, Vec<bool>) = fozzy_sdk::draw::arbitrary();
/// # let _ = (id, tags);
/// ```
#[cfg(feature = "arbitrary")]
#[must_use]
#[track_caller]
pub fn arbitrary<T: for<'a> arbitrary::Arbitrary<'a>>() -> T {
    let site = site::of(Location::caller());
    let (least, most) = T::size_hint(0);
    let most = most.unwrap_or(ARBITRARY_BYTES_MAX).clamp(least, ARBITRARY_BYTES_MAX.max(least));
    for _ in 0..TRIES_MAX {
        let length = host::choose(site, (most - least) as u64 + 1) + least as u64;
        let bytes = host::bytes(site, length);
        if let Ok(value) = T::arbitrary(&mut arbitrary::Unstructured::new(&bytes)) {
            return value;
        }
    }
    host::invalid(site, &format!("at `{site}`: no value could be made from bytes in {TRIES_MAX} tries"))
}

/// Bytes that a type without a bound of its own is made from.
#[cfg(feature = "arbitrary")]
const ARBITRARY_BYTES_MAX: usize = 1024;
