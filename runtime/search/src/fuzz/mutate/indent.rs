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

use super::{MutationContext, Mutator, is_mostly_text, resize_part};
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
    let own = line.start..line.start + indentation(&input[line.clone()]).len();
    let text = own.end..line.end;
    let like = if rng.one_in(2) { material.other } else { &input[..] };
    // Most lines begin with none, which needs no memory.
    let learned = indentation(&like[draw_line(like, rng)]).to_vec();
    let step = if learned.is_empty() { STEPS[rng.index(STEPS.len())] } else { &learned[..] };
    match rng.below(4) {
        0 => material.replace(input, own, &learned),
        1 => material.replace(input, own.end..own.end, step),
        _ => {
            let added = |times: usize| times * (line.len() + 1) + step.len() * times * (times + 1) / 2;
            let most = (1..).take_while(|times| added(*times) <= room).count();
            if text.is_empty() || most == 0 {
                return false;
            }
            let times = rng.length(most);
            resize_part(input, line.end..line.end, added(times));
            deepen(input, own, text, step, times);
            true
        }
    }
}

/// Writes a line behind itself some times, each time a step further in than the one before.
fn deepen(input: &mut [u8], own: Range<usize>, text: Range<usize>, step: &[u8], times: usize) {
    let (mut above, mut end) = (own, text.end);
    for _ in 0..times {
        input[end] = b'\n';
        let start = end + 1;
        let deeper = start + above.len();
        input.copy_within(above, start);
        above = start..deeper + step.len();
        input[deeper..above.end].copy_from_slice(step);
        input.copy_within(text.clone(), above.end);
        end = above.end + text.len();
    }
}

/// The line around a place that is drawn, without its end.
fn draw_line(text: &[u8], rng: &mut Rng) -> Range<usize> {
    let place = rng.index(text.len() + 1);
    let (first, last) = (place.saturating_sub(NEAR_BYTES), text.len().min(place + NEAR_BYTES));
    let start = memchr::memrchr(b'\n', &text[first..place]).map_or(first, |end| first + end + 1);
    let end = memchr::memchr(b'\n', &text[place..last]).map_or(last, |end| place + end);
    start..end
}

/// The spaces and tabs that a line begins with.
fn indentation(line: &[u8]) -> &[u8] {
    let length = line.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
    &line[..length.unwrap_or(line.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::mutate::tests::{check_plain, replace_all};

    #[test]
    fn lines_are_indented_as_by_writing_them_one_after_the_other() {
        check_plain(&MUTATOR, |input, material| {
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
            let deeper = |times: usize| {
                let line = |depth| [own, &step.repeat(depth)[..], text].concat();
                (0..=times).map(line).collect::<Vec<_>>().join(&b'\n')
            };
            let changed = match rng.below(4) {
                0 => [learned, text].concat(),
                1 => [own, step, text].concat(),
                _ => {
                    let most = (1..).take_while(|times| deeper(*times).len() <= room + line.len()).count();
                    if text.is_empty() || most == 0 {
                        return false;
                    }
                    deeper(rng.length(most))
                }
            };
            let changed = [&input[..line.start], &changed[..], &input[line.end..]].concat();
            replace_all(input, changed, material)
        });
    }

    #[test]
    fn a_line_goes_to_the_ends_that_are_nearest() {
        for text in [&b"ab\n\ncd\n"[..], b"\n", b"", b"abc"] {
            let ends = |byte: &u8| *byte == b'\n';
            let mut rng = Rng::new(fozzy_trace::Seed(6), 0);
            for _ in 0..20 {
                let place = rng.clone().index(text.len() + 1);
                let start = text[..place].iter().rposition(ends).map_or(0, |end| end + 1);
                let end = text[place..].iter().position(ends).map_or(text.len(), |end| place + end);
                assert_eq!(draw_line(text, &mut rng), start..end);
            }
        }
    }
}
