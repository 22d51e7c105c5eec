//! Blocks of bytes are erased, inserted, copied over others, moved.

use super::{MutationContext, Mutator, insert, insert_within, resize_part};

pub(super) const ERASE: Mutator = Mutator { name: "erase", about: "erases a block of bytes", weight: 6, apply: erase };
pub(super) const INSERT: Mutator =
    Mutator { name: "insert", about: "inserts a block: random bytes, or one byte many times", weight: 5, apply: grow };
pub(super) const COPY: Mutator =
    Mutator { name: "copy", about: "copies a block of the input over another or between", weight: 5, apply: copy };
pub(super) const MOVE: Mutator =
    Mutator { name: "move", about: "exchanges two neighbouring blocks", weight: 2, apply: swap };

/// Random bytes that are inserted at once: more of them say nothing to anybody.
const RANDOM_BYTES_MAX: usize = 16;

fn erase(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    if input.is_empty() {
        return false;
    }
    let length = material.rng.length(input.len());
    let place = material.rng.index(input.len() - length + 1);
    input.drain(place..place + length);
    true
}

fn grow(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    let room = material.room(input);
    if room == 0 {
        return false;
    }
    // What is read from the left to the right is made longer at its end.
    let at_end = material.rng.one_in(3);
    let place = if at_end { input.len() } else { material.rng.index(input.len() + 1) };
    if material.rng.one_in(2) {
        input.insert(place, material.rng.byte());
    } else if material.rng.one_in(2) {
        let near = input.get(place).copied().unwrap_or(b'0');
        let byte = if material.rng.one_in(2) { near } else { material.rng.byte() };
        let length = material.rng.length(room.min(4 * RANDOM_BYTES_MAX));
        resize_part(input, place..place, length);
        input[place..place + length].fill(byte);
    } else {
        let length = material.rng.length(room.min(RANDOM_BYTES_MAX));
        let mut bytes = [0; RANDOM_BYTES_MAX];
        bytes[..length].iter_mut().for_each(|byte| *byte = material.rng.byte());
        insert(input, place, &bytes[..length], room);
    }
    true
}

fn copy(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    if input.len() < 2 {
        return false;
    }
    let length = material.rng.length(input.len() - 1);
    let from = material.rng.index(input.len() - length + 1);
    let room = material.room(input);
    if room == 0 || material.rng.one_in(2) {
        let to = material.rng.index(input.len() - length + 1);
        input.copy_within(from..from + length, to);
        return from != to;
    }
    let (place, length) = (material.rng.index(input.len() + 1), length.min(room));
    insert_within(input, place, from..from + length);
    true
}

fn swap(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    if input.len() < 2 {
        return false;
    }
    let length = material.rng.between(2, input.len());
    let start = material.rng.index(input.len() - length + 1);
    let middle = material.rng.between(1, length - 1);
    input[start..start + length].rotate_left(middle);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::mutate::tests::check_plain;

    #[test]
    fn bytes_are_inserted_as_by_splicing_them() {
        check_plain(&INSERT, |input, material| {
            let room = material.room(input);
            if room == 0 {
                return false;
            }
            let at_end = material.rng.one_in(3);
            let place = if at_end { input.len() } else { material.rng.index(input.len() + 1) };
            let bytes = if material.rng.one_in(2) {
                vec![material.rng.byte()]
            } else if material.rng.one_in(2) {
                let near = input.get(place).copied().unwrap_or(b'0');
                let byte = if material.rng.one_in(2) { near } else { material.rng.byte() };
                vec![byte; material.rng.length(room.min(4 * RANDOM_BYTES_MAX))]
            } else {
                let length = material.rng.length(room.min(RANDOM_BYTES_MAX));
                (0..length).map(|_| material.rng.byte()).collect()
            };
            input.splice(place..place, bytes);
            true
        });
    }

    #[test]
    fn a_block_is_copied_as_by_taking_it_out_first() {
        check_plain(&COPY, |input, material| {
            if input.len() < 2 {
                return false;
            }
            let length = material.rng.length(input.len() - 1);
            let from = material.rng.index(input.len() - length + 1);
            let block = input[from..from + length].to_vec();
            let room = material.room(input);
            if room == 0 || material.rng.one_in(2) {
                let to = material.rng.index(input.len() - length + 1);
                input.splice(to..to + length, block);
                return from != to;
            }
            let place = material.rng.index(input.len() + 1);
            input.splice(place..place, block.into_iter().take(room));
            true
        });
    }
}
