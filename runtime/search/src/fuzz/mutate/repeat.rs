//! Repeats a block many times, up to all the room there is: what grows with its input, and what recurses, is found so.

use super::{MutationContext, Mutator};

pub(super) const MUTATOR: Mutator =
    Mutator { name: "repeat", about: "repeats a block, up to all the room there is", weight: 2, apply };

fn apply(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    let room = material.room(input);
    if input.is_empty() || room == 0 {
        return false;
    }
    let length = material.rng.length(input.len().min(64));
    let start = material.rng.index(input.len() - length + 1);
    let most = room / length;
    if most == 0 {
        return false;
    }
    // Each power of two is as likely as the next: a few times, and as often as there is room.
    let times = material.rng.length(most);
    let block = input[start..start + length].to_vec();
    let rest = input.split_off(start + length);
    input.reserve(times * length + rest.len());
    (0..times).for_each(|_| input.extend_from_slice(&block));
    input.extend_from_slice(&rest);
    true
}
