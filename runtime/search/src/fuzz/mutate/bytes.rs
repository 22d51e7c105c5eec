//! Replaces one byte by another: any, or one of the input itself.

use super::{MutationContext, Mutator};

pub(super) const MUTATOR: Mutator = Mutator { name: "byte", about: "replaces one byte by another", weight: 6, apply };

fn apply(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    if input.is_empty() {
        return false;
    }
    let (place, from) = (material.rng.index(input.len()), material.rng.index(input.len()));
    let byte = if material.rng.one_in(4) { input[from] } else { material.rng.byte() };
    if byte == input[place] {
        return false;
    }
    input[place] = byte;
    true
}
