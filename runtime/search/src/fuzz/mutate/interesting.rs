//! Replaces an integer by one of those at which programs go wrong: borders of types, powers of two, lengths.

use super::{MutationContext, Mutator};

pub(super) const MUTATOR: Mutator =
    Mutator { name: "interesting", about: "replaces an integer by one at which programs go wrong", weight: 4, apply };

fn apply(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    let width = 1usize << material.rng.below(4);
    if input.len() < width {
        return false;
    }
    let place = material.rng.index(input.len() - width + 1);
    let value = value(input.len(), width, material);
    let field = &mut input[place..place + width];
    field.copy_from_slice(&value.to_le_bytes()[..width]);
    if material.rng.one_in(2) {
        field.reverse();
    }
    true
}

fn value(len: usize, width: usize, material: &mut MutationContext<'_>) -> u64 {
    let bits = width as u64 * 8;
    let power = 1u64 << material.rng.below(bits);
    match material.rng.below(7) {
        6 => 0,
        0 => power,
        1 => power - 1,
        2 => power.wrapping_neg(),
        3 => power.wrapping_neg() - 1,
        // How long the input is, or what is left of it, is what a length field should say.
        4 => (len as u64).wrapping_sub(material.rng.below(width as u64 + 1)),
        _ => material.rng.below(len as u64 + 1),
    }
}
