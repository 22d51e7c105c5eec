//! Tokens of text: two are exchanged, some are put elsewhere once more, left out, or taken from another testcase.
//!
//! ```text
//! [first]\nk=second    is    [  first  ]  \n  k  =  second
//!                      ─▶    [second]\nk=first
//! ```
//!
//! A token is a word, a run of spaces or of line ends, or a single other sign. Some that follow each other are a line, or an assignment.
//!
//! Not here: what stands between brackets (`brackets`).

use super::{MutationContext, Mutator, is_mostly_text, window};
use crate::rng::Rng;
use std::ops::Range;

pub(super) const MUTATOR: Mutator = Mutator {
    name: "token",
    about: "exchanges, copies or leaves out tokens of text, or takes some of another testcase",
    weight: 3,
    apply,
};

/// Bytes of a text that are taken apart.
const WINDOW_BYTES: usize = 1 << 10;
/// Tokens that are copied, left out or taken together.
const RUN_TOKENS_MAX: usize = 8;

/// What a byte of text belongs to.
#[derive(PartialEq)]
enum TokenClass {
    Word,
    Space,
    LineEnd,
    Sign,
}

fn class(byte: u8) -> TokenClass {
    match byte {
        b' ' | b'\t' => TokenClass::Space,
        b'\n' | b'\r' => TokenClass::LineEnd,
        b'_' | 0x80.. => TokenClass::Word,
        _ if byte.is_ascii_alphanumeric() => TokenClass::Word,
        _ => TokenClass::Sign,
    }
}

fn apply(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    if input.is_empty() || !is_mostly_text(input) {
        return false;
    }
    let rng = &mut *material.rng;
    let window = window(input.len(), WINDOW_BYTES, rng);
    let mut tokens = split(&input[window.clone()]);
    let (run, place) = (draw_run(tokens.len(), rng), rng.index(tokens.len() + 1));
    match rng.below(4) {
        0 => {
            let to = rng.index(tokens.len());
            tokens.swap(run.start, to);
        }
        1 => {
            let copy = tokens[run].to_vec();
            tokens.splice(place..place, copy);
        }
        2 => {
            tokens.drain(run);
        }
        _ => {
            let other = material.other;
            let others = split(&other[self::window(other.len(), WINDOW_BYTES, rng)]);
            if others.is_empty() {
                return false;
            }
            let part = others[draw_run(others.len(), rng)].to_vec();
            let replaced = if rng.one_in(2) { run } else { place..place };
            tokens.splice(replaced, part);
        }
    }
    let changed = [&input[..window.start], &tokens.concat()[..], &input[window.end..]].concat();
    material.replace(input, changed)
}

/// The tokens of a text.
fn split(text: &[u8]) -> Vec<&[u8]> {
    let belongs = |left: &u8, right: &u8| class(*left) == class(*right) && class(*left) != TokenClass::Sign;
    text.chunk_by(belongs).collect()
}

/// Some tokens of `number`, which is not 0.
fn draw_run(number: usize, rng: &mut Rng) -> Range<usize> {
    let start = rng.index(number);
    start..start + rng.length(RUN_TOKENS_MAX.min(number - start))
}
