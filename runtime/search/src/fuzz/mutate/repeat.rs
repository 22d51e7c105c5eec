//! Repeats a block many times, up to all the room there is: what grows with its input, and what recurses, is found so.

use super::{MutationContext, Mutator, repeat_block};

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
    repeat_block(input, start..start + length, times);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::mutate::tests::check_plain;

    #[test]
    fn a_block_is_repeated_as_by_copying_it_once_more_each_time() {
        check_plain(&MUTATOR, |input, material| {
            let room = material.room(input);
            if input.is_empty() || room == 0 {
                return false;
            }
            let length = material.rng.length(input.len().min(64));
            let start = material.rng.index(input.len() - length + 1);
            if room < length {
                return false;
            }
            let times = material.rng.length(room / length);
            let block = input[start..start + length].repeat(times);
            input.splice(start..start, block);
            true
        });
    }
}
