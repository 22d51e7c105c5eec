//! Strings, and the characters that they are made of.

use super::{Draw, DrawLength, length, length_of, numbers, repeated};
use crate::{host, site};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use core::panic::Location;

impl Draw for String {
    fn draw(site: &str) -> String {
        repeated(length(site), || char::draw(site))
    }
}

impl DrawLength for String {
    /// In characters.
    fn draw_length(site: &str, lengths: RangeInclusive<usize>) -> String {
        repeated(length_of(site, lengths), || char::draw(site))
    }
}

/// Characters to choose from.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// // A text, or a list of characters.
/// let (hex, beeps) = (draw::string_of("0123456789abcdef", 2..=2), draw::string_of(&['.', '-'][..], 1..=5));
/// assert!(hex.len() == 2 && (1..=5).contains(&beeps.len()));
/// ```
pub trait Alphabet {
    /// All of them; none ends the scenario with a sentence that says so, unless nothing is chosen.
    fn characters(&self) -> Vec<char>;
}

impl Alphabet for str {
    fn characters(&self) -> Vec<char> {
        self.chars().collect()
    }
}

impl Alphabet for [char] {
    fn characters(&self) -> Vec<char> {
        self.to_vec()
    }
}

/// A string of these characters, of a length in the range, in characters.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// assert!(draw::string_of("ab", 1..=3).len() <= 3);
/// ```
#[must_use]
#[track_caller]
pub fn string_of<A: Alphabet + ?Sized>(alphabet: &A, lengths: RangeInclusive<usize>) -> String {
    super::told(string_of_at(site::of(Location::caller()), alphabet, lengths))
}

/// The same, with a site.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// assert_eq!(draw::string_of_at("pin", "0123456789", 4..=4).len(), 4);
/// ```
#[must_use]
pub fn string_of_at<A: Alphabet + ?Sized>(site: &str, alphabet: &A, lengths: RangeInclusive<usize>) -> String {
    let characters = alphabet.characters();
    let length = numbers::uniform(site, *lengths.start(), *lengths.end());
    if characters.is_empty() && length > 0 {
        host::invalid(site, &format!("at `{site}`: the alphabet is empty, and {length} characters are wanted of it"));
    }
    let one = || characters[host::choose(site, characters.len() as u64) as usize];
    core::iter::repeat_with(one).take(length).collect()
}
