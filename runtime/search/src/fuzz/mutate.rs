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
mod brackets;
mod bytes;
mod comparison;
mod digits;
mod indent;
mod interesting;
mod mutator;
mod nest;
mod repeat;
mod sized;
mod splice;
mod tokens;
mod words;

pub use mutator::Mutator;
pub(crate) use mutator::{
    MutationContext, insert, insert_within, is_mostly_text, is_text, repeat_block, replace_part, resize_part, window,
};

use crate::rng::Rng;

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
    sized::MUTATOR,
    tokens::MUTATOR,
    brackets::MUTATOR,
    indent::MUTATOR,
];

/// Draws a mutator that finds something to do, and applies it. With nothing to do for any of them, nothing is changed.
const DRAWS_MAX: usize = 16;
/// Powers of two of mutators on top of each other: few most often, as each one more makes it likelier that the input is
/// spoilt.
const STACK_BITS_MAX: usize = 4;

/// The mutators that a campaign uses.
#[derive(Clone, Debug)]
pub(crate) struct Mutators {
    /// Each as often as it weighs.
    rows: Vec<&'static Mutator>,
}

impl Mutators {
    /// All of them, or the one with that name.
    pub(crate) fn new(only: Option<&'static Mutator>) -> Mutators {
        let all = only.map_or(MUTATORS, std::slice::from_ref);
        Mutators { rows: all.iter().flat_map(|row| std::iter::repeat_n(row, row.weight as usize)).collect() }
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
        self.rows[rng.index(self.rows.len())]
    }
}

#[cfg(test)]
mod tests;
