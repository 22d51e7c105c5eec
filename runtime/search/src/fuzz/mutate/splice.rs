//! Puts a part of another testcase into this one, or its end behind this one's beginning.

use super::{MutationContext, Mutator, insert};

pub(super) const MUTATOR: Mutator =
    Mutator { name: "splice", about: "puts a part of another testcase into this one", weight: 4, apply };

fn apply(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    let other = material.other;
    if other.is_empty() || (other.len() == input.len() && other == &input[..]) {
        return false;
    }
    let length = material.rng.length(other.len());
    let from = material.rng.index(other.len() - length + 1);
    let part = &other[from..from + length];
    let room = material.room(input);
    match material.rng.below(3) {
        0 if room > 0 => {
            let place = material.rng.index(input.len() + 1);
            insert(input, place, part, room);
        }
        1 if length <= input.len() => {
            let place = material.rng.index(input.len() - length + 1);
            input[place..place + length].copy_from_slice(part);
        }
        _ => {
            let place = material.rng.index(input.len() + 1);
            let from = material.rng.index(other.len());
            input.truncate(place);
            let room = material.room(input);
            input.extend_from_slice(&other[from..other.len().min(from + room)]);
        }
    }
    true
}
