//! Collections that hash.
//!
//! Invariant: values are drawn before they are hashed, so they do not depend on the order of the collection.
//! An iteration has the order of std's own hasher: natively another one in each process, in the sandbox that of the
//! seed.

#![allow(clippy::disallowed_types, reason = "they are the user's own; their order is never looked at here")]

use super::collections::{elements, elements_of};
use super::{Draw, DrawLength};
use core::ops::RangeInclusive;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

impl<T: Draw + Eq + Hash, S: BuildHasher + Default> Draw for HashSet<T, S> {
    /// Equal elements count once, so there may be fewer than were drawn.
    fn draw(site: &str) -> HashSet<T, S> {
        elements(site)
    }
}

impl<K: Draw + Eq + Hash, V: Draw, S: BuildHasher + Default> Draw for HashMap<K, V, S> {
    /// Equal keys count once, so there may be fewer than were drawn.
    fn draw(site: &str) -> HashMap<K, V, S> {
        elements::<(K, V), _>(site)
    }
}

impl<T: Draw + Eq + Hash, S: BuildHasher + Default> DrawLength for HashSet<T, S> {
    fn draw_length(site: &str, lengths: RangeInclusive<usize>) -> HashSet<T, S> {
        elements_of(site, lengths)
    }
}

impl<K: Draw + Eq + Hash, V: Draw, S: BuildHasher + Default> DrawLength for HashMap<K, V, S> {
    fn draw_length(site: &str, lengths: RangeInclusive<usize>) -> HashMap<K, V, S> {
        elements_of::<(K, V), _>(site, lengths)
    }
}
