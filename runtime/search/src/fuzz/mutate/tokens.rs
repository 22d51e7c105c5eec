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

use super::{MutationContext, Mutator, insert_within, is_mostly_text, window};
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
#[derive(Clone, Copy, PartialEq)]
enum TokenClass {
    Word,
    Space,
    LineEnd,
    Sign,
}

const fn class(byte: u8) -> TokenClass {
    match byte {
        b' ' | b'\t' => TokenClass::Space,
        b'\n' | b'\r' => TokenClass::LineEnd,
        b'_' | 0x80.. => TokenClass::Word,
        _ if byte.is_ascii_alphanumeric() => TokenClass::Word,
        _ => TokenClass::Sign,
    }
}

/// The class of each byte.
const CLASSES: [TokenClass; 256] = {
    let mut classes = [TokenClass::Sign; 256];
    let mut byte = 0;
    while byte < classes.len() {
        classes[byte] = class(byte as u8);
        byte += 1;
    }
    classes
};

/// Where the tokens in a part of an input begin, and where the last one ends.
struct TokenBorders {
    /// Where the part begins, from which borders are counted.
    start: usize,
    borders: [u16; WINDOW_BYTES + 1],
    /// Tokens, each between two borders.
    number: usize,
}

impl TokenBorders {
    /// Those in a part of some text.
    fn in_window(text: &[u8], window: Range<usize>) -> TokenBorders {
        let mut tokens = TokenBorders { start: window.start, borders: [0; WINDOW_BYTES + 1], number: 0 };
        let (len, mut before) = (window.len(), TokenClass::Sign);
        for (place, byte) in text[window].iter().enumerate() {
            let class = CLASSES[usize::from(*byte)];
            // Where none begins, the next border is written over it. There is no branch, as nobody could foretell it.
            tokens.borders[tokens.number] = place as u16;
            tokens.number += usize::from((class != before) | (class == TokenClass::Sign));
            before = class;
        }
        tokens.borders[tokens.number] = len as u16;
        tokens
    }

    /// The place in the input at which a token begins, or the last one ends.
    fn place(&self, nth: usize) -> usize {
        self.start + usize::from(self.borders[nth])
    }

    /// The bytes of some tokens.
    fn bytes(&self, run: Range<usize>) -> Range<usize> {
        self.place(run.start)..self.place(run.end)
    }
}

fn apply(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    if input.is_empty() || !is_mostly_text(input) {
        return false;
    }
    let rng = &mut *material.rng;
    let tokens = TokenBorders::in_window(input, window(input.len(), WINDOW_BYTES, rng));
    let (run, place) = (draw_run(tokens.number, rng), rng.index(tokens.number + 1));
    let (first, bytes, place) = (run.start, tokens.bytes(run), tokens.place(place));
    match rng.below(4) {
        0 => {
            let to = rng.index(tokens.number);
            let [left, right] = [first.min(to), first.max(to)].map(|nth| tokens.bytes(nth..nth + 1));
            input.len() <= material.bytes_max && exchange(input, left, right)
        }
        1 => {
            let fits = bytes.len() <= material.room(input);
            if fits {
                insert_within(input, place, bytes);
            }
            fits
        }
        2 => material.replace(input, bytes, &[]),
        _ => {
            let other = material.other;
            let others = TokenBorders::in_window(other, window(other.len(), WINDOW_BYTES, rng));
            if others.number == 0 {
                return false;
            }
            let part = &other[others.bytes(draw_run(others.number, rng))];
            let replaced = if rng.one_in(2) { bytes } else { place..place };
            material.replace(input, replaced, part)
        }
    }
}

/// Exchanges two tokens, unless they are the same. Otherwise the text is another one: what follows the shorter one is of another class.
fn exchange(text: &mut [u8], left: Range<usize>, right: Range<usize>) -> bool {
    if text[left.clone()] == text[right.clone()] {
        return false;
    }
    let (left_bytes, right_bytes) = (left.len(), right.len());
    let part = &mut text[left.start..right.end];
    part.rotate_right(right_bytes);
    part[right_bytes..].rotate_left(left_bytes);
    true
}

/// Some tokens of `number`, which is not 0.
fn draw_run(number: usize, rng: &mut Rng) -> Range<usize> {
    let start = rng.index(number);
    start..start + rng.length(RUN_TOKENS_MAX.min(number - start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::mutate::tests::{check_plain, replace_all};

    fn split(text: &[u8]) -> Vec<&[u8]> {
        let belongs = |left: &u8, right: &u8| class(*left) == class(*right) && class(*left) != TokenClass::Sign;
        text.chunk_by(belongs).collect()
    }

    #[test]
    fn tokens_change_as_in_a_list_of_them() {
        check_plain(&MUTATOR, |input, material| {
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
                    let others = split(&other[super::window(other.len(), WINDOW_BYTES, rng)]);
                    if others.is_empty() {
                        return false;
                    }
                    let part = others[draw_run(others.len(), rng)].to_vec();
                    let replaced = if rng.one_in(2) { run } else { place..place };
                    tokens.splice(replaced, part);
                }
            }
            let changed = [&input[..window.start], &tokens.concat()[..], &input[window.end..]].concat();
            replace_all(input, changed, material)
        });
    }
}
