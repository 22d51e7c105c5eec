//! A mutator, what it works with, and what several of them need.
//!
//! ```text
//! name, weight, apply: (input, context) ─▶ whether the input is another one
//! ```
//!
//! Not here: the table of all, and how one is drawn (`mutate`).

use crate::fuzz::dictionary::Dictionary;
use crate::fuzz::input_to_state::InputToStatePair;
use crate::rng::Rng;
use std::ops::Range;

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

    /// Puts `changed` in the place of `input`, unless it is too long or the same.
    pub(crate) fn replace(&self, input: &mut Vec<u8>, changed: Vec<u8>) -> bool {
        let fits = changed.len() <= self.bytes_max && changed != *input;
        if fits {
            *input = changed;
        }
        fits
    }
}

/// A way to change an input.
pub struct Mutator {
    /// Its name, for `--mutator`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// How likely it is drawn, beside the others.
    pub(super) weight: u32,
    /// `false` when there was nothing to do.
    pub(super) apply: fn(&mut Vec<u8>, &mut MutationContext<'_>) -> bool,
}

impl std::fmt::Debug for Mutator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
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

/// A part of something with `len` bytes, of `most` bytes at most. A mutator that takes its input apart does so with such a part: what
/// it costs does not grow with the input.
pub(crate) fn window(len: usize, most: usize, rng: &mut Rng) -> Range<usize> {
    let start = if len > most { rng.index(len - most + 1) } else { 0 };
    start..len.min(start + most)
}

/// Bytes of its beginning by which an input is taken for text or not: formats that are not text show it in their headers.
const BEGINNING_BYTES: usize = 64;

/// Whether an input begins as plain text does.
pub(crate) fn is_text(input: &[u8]) -> bool {
    strays(input) == 0
}

/// Whether an input begins as text does, but for a quarter of its bytes at the most.
pub(crate) fn is_mostly_text(input: &[u8]) -> bool {
    4 * strays(input) <= input.len().min(BEGINNING_BYTES)
}

/// How many bytes of its beginning are none of plain text.
fn strays(input: &[u8]) -> usize {
    let beginning = input.iter().take(BEGINNING_BYTES);
    beginning.filter(|byte| !byte.is_ascii_graphic() && !byte.is_ascii_whitespace()).count()
}
