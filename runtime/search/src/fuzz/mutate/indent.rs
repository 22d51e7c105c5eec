//! Indentation: a line gets that of another one, goes one step further in, or is there many times, each time further in.
//!
//! ```text
//! a:     ─▶   a:     a:        a:
//!   b         b          b       b
//!                                  b
//!                                    b
//! ```
//!
//! A step is what another line begins with, here or in another testcase.
//!
//! Not here: what nests between brackets (`brackets`), lines that are copied as they are (`tokens`).

use super::{MutationContext, Mutator, is_mostly_text};
use crate::rng::Rng;
use std::ops::Range;

pub(super) const MUTATOR: Mutator = Mutator {
    name: "indent",
    about: "indents a line as another one, further, or many times, each time further",
    weight: 1,
    apply,
};

/// Bytes of a line before and behind a place in it that are looked at.
const NEAR_BYTES: usize = 1 << 10;
/// Steps where the other line begins with none.
const STEPS: [&[u8]; 3] = [b" ", b"  ", b"\t"];

fn apply(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    if input.is_empty() || !is_mostly_text(input) {
        return false;
    }
    let (room, rng) = (material.room(input), &mut *material.rng);
    let line = draw_line(input, rng);
    let own = indentation(&input[line.clone()]);
    let text = &input[line.start + own.len()..line.end];
    let like = if rng.one_in(2) { material.other } else { &input[..] };
    let learned = indentation(&like[draw_line(like, rng)]);
    let step = if learned.is_empty() { STEPS[rng.index(STEPS.len())] } else { learned };
    let (before, behind) = (&input[..line.start], &input[line.end..]);
    let changed = match rng.below(4) {
        0 => [before, learned, text, behind].concat(),
        1 => [before, own, step, text, behind].concat(),
        _ => {
            let added = |times: usize| times * (own.len() + text.len() + 1) + step.len() * times * (times + 1) / 2;
            let most = (1..).take_while(|times| added(*times) <= room).count();
            if text.is_empty() || most == 0 {
                return false;
            }
            let times = rng.length(most);
            let mut changed = Vec::with_capacity(input.len() + added(times));
            changed.extend_from_slice(before);
            for depth in 0..=times {
                changed.extend_from_slice(if depth > 0 { &b"\n"[..] } else { b"" });
                changed.extend_from_slice(own);
                (0..depth).for_each(|_| changed.extend_from_slice(step));
                changed.extend_from_slice(text);
            }
            changed.extend_from_slice(behind);
            changed
        }
    };
    material.replace(input, changed)
}

/// The line around a place that is drawn, without its end.
fn draw_line(text: &[u8], rng: &mut Rng) -> Range<usize> {
    let place = rng.index(text.len() + 1);
    let (first, last) = (place.saturating_sub(NEAR_BYTES), text.len().min(place + NEAR_BYTES));
    let is_end = |byte: &u8| *byte == b'\n';
    let start = text[first..place].iter().rposition(is_end).map_or(first, |end| first + end + 1);
    let end = text[place..last].iter().position(is_end).map_or(last, |end| place + end);
    start..end
}

/// The spaces and tabs that a line begins with.
fn indentation(line: &[u8]) -> &[u8] {
    let length = line.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
    &line[..length.unwrap_or(line.len())]
}
