//! Replaces a number written in decimal digits by another one.

use super::{MutationContext, Mutator};

pub(super) const MUTATOR: Mutator =
    Mutator { name: "digits", about: "replaces a decimal number by another", weight: 2, apply };

fn apply(input: &mut Vec<u8>, material: &mut MutationContext<'_>) -> bool {
    if input.is_empty() {
        return false;
    }
    let from = material.rng.index(input.len());
    let digit = |byte: &u8| byte.is_ascii_digit();
    let Some(start) = input[from..].iter().position(digit).map(|at| from + at) else { return false };
    let end = input[start..].iter().position(|byte| !digit(byte)).map_or(input.len(), |at| start + at);
    let text = std::str::from_utf8(&input[start..end]).unwrap_or_default();
    let value: u64 = text.parse().unwrap_or(u64::MAX);
    let power = 1u64 << material.rng.below(64);
    let value = match material.rng.below(7) {
        0 => value.wrapping_add(1),
        1 => value.wrapping_sub(1),
        2 => value / 2,
        3 => value.wrapping_mul(2),
        4 => power,
        5 => power.wrapping_sub(1),
        _ => material.rng.below(value.clamp(9, u64::MAX - 1) + 1),
    };
    let text = value.to_string();
    if text.len() > end - start + material.room(input) {
        return false;
    }
    input.splice(start..end, text.bytes());
    true
}
