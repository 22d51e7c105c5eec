//! Random functions with set probabilities, as in Woke's fuzz tests.
//!
//! ```
//! use fozzy_sdk::prelude::*;
//!
//! let amount = random_int(-100, 100).zero_prob(0.25).edge_values_prob(0.1).draw();
//! let name = random_string(1, 20).alphabet("abc").predicate(|name| name != "aaa").draw();
//! let key = random_bytes(32, 32).draw();
//! let heads = random_bool(0.5);
//! # let _ = (amount, name, key, heads);
//! ```
//!
//! Invariant: probabilities are exact to 2^-53; what cannot be is said in a sentence, and ends the scenario.

use crate::draw::{Alphabet, Int, TRIES_MAX, never_true, range_at, string_of_at, told};
use crate::{host, site};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::panic::Location;

/// The characters of a string without an alphabet: printable ASCII, and the usual white space, as Python's
/// `string.printable`.
///
/// ```
/// use fozzy_sdk::prelude::*;
/// use fozzy_sdk::random::PRINTABLE;
///
/// assert!(random_string(0, 20).draw().chars().all(|character| PRINTABLE.contains(character)));
/// ```
pub const PRINTABLE: &str =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \t\n\r\u{b}\u{c}";

/// What a value must satisfy.
type Predicate<T> = Box<dyn Fn(&T) -> bool>;

/// True with this probability.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// assert!(random_bool(1.0));
/// ```
#[must_use]
#[track_caller]
pub fn random_bool(true_prob: f64) -> bool {
    told(host::happens(site::of(Location::caller()), true_prob))
}

/// A number from `min` to `max`, both included. Without further settings all are equally likely.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let amount = random_int(0, 1000u32).zero_prob(0.1).min_prob(0.0).max_prob(0.05).draw();
/// let edges = random_int(-5, 5i8).edge_values_prob(0.1).draw();
/// assert!(amount <= 1000 && (-5..=5).contains(&edges));
/// ```
#[track_caller]
pub fn random_int<T: Int>(min: T, max: T) -> RandomInt<T> {
    let site = site::of(Location::caller());
    RandomInt { site, min, max, min_prob: None, zero_prob: None, max_prob: None, edge_values_prob: None }
}

/// See [`random_int`]. `min`, 0 (if it lies between `min` and `max` and is neither) and `max` are the edge values.
///
/// An edge value whose probability is set comes with exactly that. What is left of 1 is spread evenly over all other
/// values of the range, among them edge values without a probability. If there are no others, the probabilities that
/// are set are taken as weights: a range of one value always gives that value.
///
/// ```
/// use fozzy_sdk::random::{RandomInt, random_int};
///
/// let kind: RandomInt<u8> = random_int(1, 6);
/// assert!((1..=6).contains(&kind.draw()));
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct RandomInt<T> {
    site: &'static str,
    min: T,
    max: T,
    min_prob: Option<f64>,
    zero_prob: Option<f64>,
    max_prob: Option<f64>,
    edge_values_prob: Option<f64>,
}

/// The resolution of probabilities.
const WHOLE: u64 = 1 << 53;

impl<T: Int> RandomInt<T> {
    /// The probability of `min`.
    pub fn min_prob(self, probability: f64) -> Self {
        RandomInt { min_prob: Some(probability), ..self }
    }

    /// The probability of 0, if `min` < 0 < `max`.
    pub fn zero_prob(self, probability: f64) -> Self {
        RandomInt { zero_prob: Some(probability), ..self }
    }

    /// The probability of `max`.
    pub fn max_prob(self, probability: f64) -> Self {
        RandomInt { max_prob: Some(probability), ..self }
    }

    /// The probability of each edge value that has none of its own.
    pub fn edge_values_prob(self, probability: f64) -> Self {
        RandomInt { edge_values_prob: Some(probability), ..self }
    }

    /// The value.
    #[must_use]
    pub fn draw(self) -> T {
        let value = self.value();
        told(value.wide());
        value
    }

    fn value(self) -> T {
        let (site, min, max) = (self.site, self.min.wide(), self.max.wide());
        let edges = self.edges();
        let sum: u64 = edges.iter().map(|(_, share)| share).sum();
        if sum > WHOLE {
            host::invalid(site, &format!("at `{site}`: the probabilities of edge values sum to more than 1"));
        }
        if edges.is_empty() || min > max {
            return range_at(site, self.min..=self.max);
        }
        let others = max - min + 1 - edges.len() as i128;
        let whole = if others == 0 { sum.max(1) } else { WHOLE };
        // Values that are no edge come first, so that the simplest is the smallest of them.
        let rest = whole - sum.min(whole);
        let drawn = host::choose(site, whole);
        let Some(mut left) = drawn.checked_sub(rest).filter(|_| sum > 0) else {
            return if others == 0 { T::narrow(edges[0].0) } else { self.other(&edges, others) };
        };
        for (value, share) in &edges {
            if left < *share {
                return T::narrow(*value);
            }
            left -= share;
        }
        T::narrow(edges[edges.len() - 1].0)
    }

    /// Edge values with a probability, in order, each once, with their share of [`WHOLE`].
    fn edges(&self) -> Vec<(i128, u64)> {
        let (min, max) = (self.min.wide(), self.max.wide());
        let zero = (min < 0 && 0 < max).then_some(0);
        let mut edges: Vec<(i128, u64)> = Vec::new();
        for (value, probability) in [(Some(min), self.min_prob), (zero, self.zero_prob), (Some(max), self.max_prob)] {
            let Some(value) = value.filter(|value| edges.iter().all(|(known, _)| known != value)) else { continue };
            let Some(probability) = probability.or(self.edge_values_prob) else { continue };
            if !(0.0..=1.0).contains(&probability) {
                let site = self.site;
                host::invalid(
                    site,
                    &format!("at `{site}`: {probability} is no probability: it is not between 0 and 1"),
                );
            }
            edges.push((value, (probability * WHOLE as f64) as u64));
        }
        edges
    }

    /// One of the values that are no edge with a probability.
    fn other(&self, edges: &[(i128, u64)], others: i128) -> T {
        let mut value = self.min.wide() + i128::from(range_at(self.site, 0..=(others - 1) as u64));
        let mut sorted: Vec<i128> = edges.iter().map(|(value, _)| *value).collect();
        sorted.sort_unstable();
        for edge in sorted {
            value += i128::from(edge <= value);
        }
        T::narrow(value)
    }
}

/// A string of `min` to `max` characters, all lengths equally likely.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let name = random_string(1, 8).alphabet("abc").predicate(|name| !name.starts_with('c')).draw();
/// assert!((1..=8).contains(&name.len()));
/// ```
#[track_caller]
pub fn random_string(min: usize, max: usize) -> RandomString {
    RandomString { site: site::of(Location::caller()), min, max, alphabet: None, predicate: None }
}

/// See [`random_string`].
///
/// ```
/// use fozzy_sdk::random::{RandomString, random_string};
///
/// let name: RandomString = random_string(3, 3);
/// assert_eq!(name.draw().chars().count(), 3);
/// ```
#[must_use]
pub struct RandomString {
    site: &'static str,
    min: usize,
    max: usize,
    alphabet: Option<Vec<char>>,
    predicate: Option<Predicate<str>>,
}

impl RandomString {
    /// Only of these characters; without, of [`PRINTABLE`].
    pub fn alphabet<A: Alphabet + ?Sized>(self, alphabet: &A) -> Self {
        RandomString { alphabet: Some(alphabet.characters()), ..self }
    }

    /// Only strings for which this holds.
    pub fn predicate(self, predicate: impl Fn(&str) -> bool + 'static) -> Self {
        RandomString { predicate: Some(Box::new(predicate)), ..self }
    }

    /// The string.
    #[must_use]
    pub fn draw(self) -> String {
        let alphabet = self.alphabet.unwrap_or_else(|| PRINTABLE.chars().collect());
        let one = || string_of_at(self.site, alphabet.as_slice(), self.min..=self.max);
        let Some(predicate) = &self.predicate else { return told(one()) };
        let found = core::iter::repeat_with(one).take(TRIES_MAX).find(|string| predicate(string));
        told(found.unwrap_or_else(|| never_true(self.site)))
    }
}

/// `min` to `max` bytes, all lengths equally likely.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let key = random_bytes(4, 16).predicate(|bytes| bytes[0] != 0).draw();
/// assert!(key.len() >= 4);
/// ```
#[track_caller]
pub fn random_bytes(min: usize, max: usize) -> RandomBytes {
    RandomBytes { site: site::of(Location::caller()), min, max, predicate: None }
}

/// See [`random_bytes`].
///
/// ```
/// use fozzy_sdk::random::{RandomBytes, random_bytes};
///
/// let key: RandomBytes = random_bytes(3, 3);
/// assert_eq!(key.draw().len(), 3);
/// ```
#[must_use]
pub struct RandomBytes {
    site: &'static str,
    min: usize,
    max: usize,
    predicate: Option<Predicate<[u8]>>,
}

impl RandomBytes {
    /// Only bytes for which this holds.
    pub fn predicate(self, predicate: impl Fn(&[u8]) -> bool + 'static) -> Self {
        RandomBytes { predicate: Some(Box::new(predicate)), ..self }
    }

    /// The bytes.
    #[must_use]
    pub fn draw(self) -> Vec<u8> {
        let one = || host::bytes(self.site, range_at(self.site, self.min as u64..=self.max as u64));
        let Some(predicate) = &self.predicate else { return told(one()) };
        let found = core::iter::repeat_with(one).take(TRIES_MAX).find(|bytes| predicate(bytes));
        told(found.unwrap_or_else(|| never_true(self.site)))
    }
}
