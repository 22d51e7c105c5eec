//! Puts one side of a comparison where the other side stands; see `compared`.

use super::{MutationContext, Mutator};

pub(super) const MUTATOR: Mutator =
    Mutator { name: "comparison", about: "puts one side of a comparison where the other stands", weight: 6, apply };

fn apply(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    if material.pairs.is_empty() {
        return false;
    }
    let pair = &material.pairs[material.rng.index(material.pairs.len())];
    let Some(place) = pair.draw_place(input, material.rng) else { return false };
    pair.put(input, place);
    true
}
