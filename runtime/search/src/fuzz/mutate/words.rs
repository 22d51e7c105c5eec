//! Puts a word of the dictionary over what stands there, or between.

use super::{MutationContext, Mutator, insert};

/// One word in this many is one that is only suggested, where there are others.
const SUGGESTED: u64 = 4;

pub(super) const MUTATOR: Mutator =
    Mutator { name: "word", about: "puts a word of the dictionary into the input", weight: 6, apply };

fn apply(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    let tokens = match (material.dictionary.tokens(), material.dictionary.suggested()) {
        ([], []) => return false,
        (tokens, []) => tokens,
        ([], suggested) => suggested,
        (_, suggested) if material.rng.one_in(SUGGESTED) => suggested,
        (tokens, _) => tokens,
    };
    let token = &tokens[material.rng.index(tokens.len())];
    let room = material.room(input);
    if room >= token.len() && (input.len() < token.len() || material.rng.one_in(2)) {
        let place = material.rng.index(input.len() + 1);
        insert(input, place, token, room);
        return true;
    }
    if token.len() > input.len() {
        return false;
    }
    let place = material.rng.index(input.len() - token.len() + 1);
    input[place..place + token.len()].copy_from_slice(token);
    true
}
