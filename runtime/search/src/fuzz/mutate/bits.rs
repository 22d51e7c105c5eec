//! Flips one bit of an input.

use super::{MutationContext, Mutator};

pub(super) const MUTATOR: Mutator = Mutator { name: "bit", about: "flips one bit", weight: 4, apply };

fn apply(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    if input.is_empty() {
        return false;
    }
    let place = material.rng.index(input.len());
    input[place] ^= 1 << material.rng.below(8);
    true
}
