//! What stands between brackets or quotes is put in the place of another such part, into itself many times, or between more of them.
//!
//! ```text
//! f(1), g[2]   ─▶  f[2], g[2]               one in the place of another
//! {"a":[1]}    ─▶  {"a":{"a":{"a":[1]}}}    one in itself: what recurses gets deep
//! x            ─▶  <<<<x>>>>                more of them around
//! ```
//!
//! Invariant: brackets that are balanced stay balanced.
//! Not here: other blocks with a counterpart (`nest`).

use super::{MutationContext, Mutator, is_mostly_text, repeat_block, resize_part, window};
use crate::rng::Rng;
use std::ops::Range;

pub(super) const MUTATOR: Mutator = Mutator {
    name: "bracket",
    about: "exchanges or nests what stands between brackets or quotes, or puts more of them around",
    weight: 2,
    apply,
};

/// Brackets and quotes, the opening one first.
const BRACKETS: [[u8; 2]; 6] = [*b"()", *b"[]", *b"{}", *b"<>", *b"\"\"", *b"''"];
/// Which bytes are one of these: few bytes of a text are.
const IS_BRACKET: [bool; 256] = {
    let mut table = [false; 256];
    let mut row = 0;
    while row < BRACKETS.len() {
        let [opening, closing] = BRACKETS[row];
        table[opening as usize] = true;
        table[closing as usize] = true;
        row += 1;
    }
    table
};
/// Bytes of a text that are looked at.
const WINDOW_BYTES: usize = 1 << 12;
/// How many that are open a closing one is compared with: some are none, as an apostrophe.
const OPEN_MAX: usize = 8;
/// Regions for which there is room from the beginning.
const REGIONS_USUAL: usize = 16;

fn apply(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    if input.is_empty() || !is_mostly_text(input) {
        return false;
    }
    let here = regions(input, material.rng);
    let changed = match material.rng.below(3) {
        0 => exchange(input, &here, material),
        1 => nest(input, &here, material),
        _ => wrap(input, &here, material),
    };
    changed.is_some()
}

/// A region of the other testcase, or of this one, in the place of a region.
fn exchange(input: &mut Vec<u8>, here: &[Range<usize>], material: &mut MutationContext<'_>) -> Option<()> {
    let place = drawn(here, material.rng)?;
    let own;
    let part = match material.rng.one_in(2).then(|| regions(material.other, material.rng)) {
        Some(there) if !there.is_empty() => &material.other[drawn(&there, material.rng)?],
        _ => {
            own = input[drawn(here, material.rng)?].to_vec();
            &own[..]
        }
    };
    material.replace(input, place, part).then_some(())
}

/// A region in itself, in the place of a region that it has, or else of its content.
fn nest(input: &mut Vec<u8>, here: &[Range<usize>], material: &mut MutationContext<'_>) -> Option<()> {
    let outer = drawn(here, material.rng)?;
    let is_inside = |region: &&Range<usize>| outer.start < region.start && region.end < outer.end;
    let core = match here.iter().filter(is_inside).count() {
        0 => outer.start + 1..outer.end - 1,
        number => here.iter().filter(is_inside).nth(material.rng.index(number))?.clone(),
    };
    let times = draw_times(input, outer.len() - core.len(), material)?;
    // The end first: what is added to the beginning moves it.
    repeat_block(input, core.end..outer.end, times);
    repeat_block(input, outer.start..core.start, times);
    Some(())
}

/// Brackets around a region, or else around any part.
fn wrap(input: &mut Vec<u8>, here: &[Range<usize>], material: &mut MutationContext<'_>) -> Option<()> {
    let core = drawn(here, material.rng).unwrap_or_else(|| {
        let start = material.rng.index(input.len());
        start..start + material.rng.length(input.len() - start)
    });
    let brackets = BRACKETS[material.rng.index(BRACKETS.len())];
    let times = draw_times(input, brackets.len(), material)?;
    for (place, bracket) in [core.start, core.end].into_iter().zip(brackets).rev() {
        resize_part(input, place..place, times);
        input[place..place + times].fill(bracket);
    }
    Some(())
}

/// How often `bytes` more are put around something: each power of two is as likely as the next, up to all the room there is.
fn draw_times(input: &[u8], bytes: usize, material: &mut MutationContext<'_>) -> Option<usize> {
    let most = material.room(input) / bytes;
    (most > 0).then(|| material.rng.length(most))
}

/// The parts of a text between brackets or quotes that belong together, with these; of a long text, those in some part of it.
fn regions(text: &[u8], rng: &mut Rng) -> Vec<Range<usize>> {
    let window = window(text.len(), WINDOW_BYTES, rng);
    let (mut open, mut regions) = (Vec::<(usize, u8)>::with_capacity(REGIONS_USUAL), Vec::with_capacity(REGIONS_USUAL));
    let bytes = text[window.clone()].iter().zip(window);
    for (byte, place) in bytes.filter(|(byte, _)| IS_BRACKET[usize::from(**byte)]) {
        let near = open.len().saturating_sub(OPEN_MAX);
        if let Some(nth) = open[near..].iter().rposition(|(_, closing)| closing == byte) {
            regions.push(open[near + nth].0..place + 1);
            open.truncate(near + nth);
        } else if let Some([_, closing]) = BRACKETS.iter().find(|[opening, _]| opening == byte) {
            open.push((place, *closing));
        }
    }
    regions
}

fn drawn(regions: &[Range<usize>], rng: &mut Rng) -> Option<Range<usize>> {
    (!regions.is_empty()).then(|| regions[rng.index(regions.len())].clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::mutate::tests::{check_plain, replace_all};

    fn surrounded(
        input: &[u8],
        core: &Range<usize>,
        [before, after]: [&[u8]; 2],
        material: &mut MutationContext<'_>,
    ) -> Option<Vec<u8>> {
        let most = material.room(input) / (before.len() + after.len());
        let times = (most > 0).then(|| material.rng.length(most))?;
        let (before, after) = (before.repeat(times), after.repeat(times));
        Some([&input[..core.start], &before[..], &input[core.clone()], &after[..], &input[core.end..]].concat())
    }

    fn changed(input: &[u8], material: &mut MutationContext<'_>) -> Option<Vec<u8>> {
        let here = regions(input, material.rng);
        match material.rng.below(3) {
            0 => {
                let place = drawn(&here, material.rng)?;
                let there = if material.rng.one_in(2) { regions(material.other, material.rng) } else { Vec::new() };
                let part = match there.is_empty() {
                    true => &input[drawn(&here, material.rng)?],
                    false => &material.other[drawn(&there, material.rng)?],
                };
                Some([&input[..place.start], part, &input[place.end..]].concat())
            }
            1 => {
                let outer = drawn(&here, material.rng)?;
                let is_inside = |region: &&Range<usize>| outer.start < region.start && region.end < outer.end;
                let inside: Vec<Range<usize>> = here.iter().filter(is_inside).cloned().collect();
                let core = drawn(&inside, material.rng).unwrap_or(outer.start + 1..outer.end - 1);
                let around = [&input[outer.start..core.start], &input[core.end..outer.end]];
                surrounded(input, &core, around, material)
            }
            _ => {
                let core = drawn(&here, material.rng).unwrap_or_else(|| {
                    let start = material.rng.index(input.len());
                    start..start + material.rng.length(input.len() - start)
                });
                let [opening, closing] = BRACKETS[material.rng.index(BRACKETS.len())];
                surrounded(input, &core, [&[opening], &[closing]], material)
            }
        }
    }

    #[test]
    fn brackets_change_as_by_putting_all_parts_together() {
        check_plain(&MUTATOR, |input, material| {
            let is_changed = !input.is_empty() && is_mostly_text(input);
            let changed = is_changed.then(|| changed(input, material)).flatten();
            changed.is_some_and(|changed| replace_all(input, changed, material))
        });
    }
}
