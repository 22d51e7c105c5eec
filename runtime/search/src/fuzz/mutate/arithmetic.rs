//! Adds a small number to an integer of one to eight bytes, in either order of bytes.

use super::{MutationContext, Mutator};

pub(super) const MUTATOR: Mutator =
    Mutator { name: "arithmetic", about: "adds a small number to an integer", weight: 4, apply };

/// The most that is added or taken, as in AFL.
const MOST: u64 = 35;

fn apply(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    let width = 1usize << material.rng.below(4);
    if input.len() < width {
        return false;
    }
    let place = material.rng.index(input.len() - width + 1);
    let (big, negative) = (material.rng.one_in(2), material.rng.one_in(2));
    let by = 1 + material.rng.below(MOST);
    let field = &mut input[place..place + width];
    if big {
        field.reverse();
    }
    let mut wide = [0; 8];
    wide[..width].copy_from_slice(field);
    let value = u64::from_le_bytes(wide);
    let value = if negative { value.wrapping_sub(by) } else { value.wrapping_add(by) };
    field.copy_from_slice(&value.to_le_bytes()[..width]);
    if big {
        field.reverse();
    }
    true
}
