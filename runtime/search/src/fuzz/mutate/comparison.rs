//! Puts one side of a comparison where the other side stands; see `compared`.

use super::{MutationContext, Mutator};

pub(super) const MUTATOR: Mutator =
    Mutator { name: "comparison", about: "puts one side of a comparison where the other stands", weight: 6, apply };

fn apply(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    if material.pairs.is_empty() {
        return false;
    }
    let pair = &material.pairs[material.rng.index(material.pairs.len())];
    let number = pair.places(input).count();
    if number == 0 {
        return false;
    }
    let nth = material.rng.index(number);
    let Some(place) = pair.places(input).nth(nth) else { return false };
    pair.put(input, place);
    true
}
