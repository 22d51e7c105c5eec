//! Nests: repeats one short block before, and another one as often behind, what stands between them.
//!
//! ```text
//! [1]      ─▶  [[[[[[[[1]]]]]]]]
//! <a>x</a> ─▶  <a><a><a>x</a></a></a>
//! ```

use super::{MutationContext, Mutator};

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
    let mut nested = Vec::with_capacity(input.len() + times * (opening + closing));
    nested.extend_from_slice(&input[..start]);
    (0..=times).for_each(|_| nested.extend_from_slice(&input[start..start + opening]));
    nested.extend_from_slice(&input[start + opening..close]);
    (0..=times).for_each(|_| nested.extend_from_slice(&input[close..close + closing]));
    nested.extend_from_slice(&input[close + closing..]);
    *input = nested;
    true
}
