//! Nests: repeats one short block before, and another one as often behind, what stands between them.
//!
//! ```text
//! [1]      ─▶  [[[[[[[[1]]]]]]]]
//! <a>x</a> ─▶  <a><a><a>x</a></a></a>
//! ```

use super::{MutationContext, Mutator, repeat_block};

pub(super) const MUTATOR: Mutator =
    Mutator { name: "nest", about: "repeats a block and its counterpart, one inside of the other", weight: 2, apply };

/// Bytes of what is nested: an opening word.
const OPENING_BYTES_MAX: usize = 8;

fn apply(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    let room = material.room(input);
    if input.len() < 2 {
        return false;
    }
    let opening = material.rng.length(OPENING_BYTES_MAX.min(input.len() - 1));
    let start = material.rng.index(input.len() - opening);
    let rest = input.len() - start - opening;
    let closing = material.rng.length(OPENING_BYTES_MAX.min(rest));
    let close = start + opening + material.rng.index(rest - closing + 1);
    let most = room / (opening + closing);
    if most == 0 {
        return false;
    }
    let times = material.rng.length(most);
    // The one behind first: the other moves it.
    repeat_block(input, close..close + closing, times);
    repeat_block(input, start..start + opening, times);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::mutate::tests::check_plain;

    #[test]
    fn blocks_are_nested_as_by_putting_all_parts_together() {
        check_plain(&MUTATOR, |input, material| {
            let room = material.room(input);
            if input.len() < 2 {
                return false;
            }
            let opening = material.rng.length(OPENING_BYTES_MAX.min(input.len() - 1));
            let start = material.rng.index(input.len() - opening);
            let rest = input.len() - start - opening;
            let closing = material.rng.length(OPENING_BYTES_MAX.min(rest));
            let close = start + opening + material.rng.index(rest - closing + 1);
            if room < opening + closing {
                return false;
            }
            let times = 1 + material.rng.length(room / (opening + closing));
            *input = [
                &input[..start],
                &input[start..start + opening].repeat(times)[..],
                &input[start + opening..close],
                &input[close..close + closing].repeat(times)[..],
                &input[close + closing..],
            ]
            .concat();
            true
        });
    }
}
