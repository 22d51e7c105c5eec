//! Mutators: each changes an input in one way.
//!
//! ```text
//! testcase ─▶ copy ─▶ one to sixteen mutators, one on top of the other ─▶ input
//! ```
//!
//! Invariants: an input never grows past its bound; a mutator that found nothing to do says so, and another one is drawn.
//! To add one: a file here, a row in [`MUTATORS`], a case in `tests.rs` that it alone solves within its budget.

#![allow(clippy::ptr_arg, reason = "rows of one table have functions of one type")]

mod arithmetic;
mod bits;
mod blocks;
mod bytes;
mod comparison;
mod digits;
mod interesting;
mod nest;
mod repeat;
mod splice;
mod words;

use super::dictionary::Dictionary;
use super::input_to_state::InputToStatePair;
use crate::rng::Rng;

/// What mutators work with.
pub(crate) struct MutationContext<'a> {
    pub(crate) rng: &'a mut Rng,
    pub(crate) dictionary: &'a Dictionary,
    /// What the testcase compared.
    pub(crate) pairs: &'a [InputToStatePair],
    /// Another testcase.
    pub(crate) other: &'a [u8],
    /// Bytes that an input can have.
    pub(crate) bytes_max: usize,
}

impl MutationContext<'_> {
    /// How much longer `input` can become.
    pub(crate) fn room(&self, input: &[u8]) -> usize {
        self.bytes_max.saturating_sub(input.len())
    }
}

/// A way to change an input.
pub struct Mutator {
    /// Its name, for `--mutator`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// How likely it is drawn, beside the others.
    weight: u32,
    /// `false` when there was nothing to do.
    apply: fn(&mut Vec<u8>, &mut MutationContext<'_>) -> bool,
}

impl std::fmt::Debug for Mutator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// All mutators.
pub const MUTATORS: &[Mutator] = &[
    bits::MUTATOR,
    bytes::MUTATOR,
    arithmetic::MUTATOR,
    interesting::MUTATOR,
    blocks::ERASE,
    blocks::INSERT,
    blocks::COPY,
    blocks::MOVE,
    splice::MUTATOR,
    words::MUTATOR,
    comparison::MUTATOR,
    digits::MUTATOR,
    repeat::MUTATOR,
    nest::MUTATOR,
];

/// Draws a mutator that finds something to do, and applies it. With nothing to do for any of them, nothing is changed.
const DRAWS_MAX: usize = 16;
/// Powers of two of mutators on top of each other: few most often, as each one more makes it likelier that the input is
/// spoilt.
const STACK_BITS_MAX: usize = 4;

/// The mutators that a campaign uses.
#[derive(Clone, Debug)]
pub(crate) struct Mutators {
    rows: Vec<&'static Mutator>,
    weight: u64,
}

impl Mutators {
    /// All of them, or the one with that name.
    pub(crate) fn new(only: Option<&'static Mutator>) -> Mutators {
        let rows: Vec<&Mutator> = only.map_or_else(|| MUTATORS.iter().collect(), |only| vec![only]);
        let weight = rows.iter().map(|row| u64::from(row.weight)).sum();
        Mutators { rows, weight }
    }

    /// Changes `input` in a few ways.
    pub(crate) fn mutate(&self, input: &mut Vec<u8>, material: &mut MutationContext<'_>) {
        let most = material.rng.between(0, STACK_BITS_MAX);
        let times = material.rng.between(1, 1 << most);
        for _ in 0..times {
            for _ in 0..DRAWS_MAX {
                if (self.draw(material.rng).apply)(input, material) {
                    break;
                }
            }
        }
        input.truncate(material.bytes_max);
    }

    fn draw(&self, rng: &mut Rng) -> &'static Mutator {
        let mut left = rng.below(self.weight);
        for row in &self.rows {
            match left.checked_sub(u64::from(row.weight)) {
                Some(rest) => left = rest,
                None => return row,
            }
        }
        self.rows[0]
    }
}

/// Inserts at `place` the beginning of `bytes` that fits in `room`.
pub(crate) fn insert(input: &mut Vec<u8>, place: usize, bytes: &[u8], room: usize) {
    let bytes = &bytes[..bytes.len().min(room)];
    let len = input.len();
    input.resize(len + bytes.len(), 0);
    input.copy_within(place..len, place + bytes.len());
    input[place..place + bytes.len()].copy_from_slice(bytes);
}

#[cfg(test)]
mod tests;
