//! Bytes that a program is given, as standard input or as the input of a fuzz target: those that can go, in runs.

use super::{ShrinkCandidate, ShrinkHalt, Shrinker};
use crate::keyed_source::{AnswerDomain, Decision};
use fozzy_trace::choice::BYTES_MAX as INPUT_MAX;
use fozzy_trace::digest::{hex, unhex};
use fozzy_trace::source::Override;

/// Longest input that is made shorter byte by byte. Of a longer one, only runs at its end would go in any useful time.
const BYTES_MAX: usize = 1 << 20;

/// Bytes of standard input.
pub(super) fn stdin(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    if shrinker.options.keeps_stdin {
        return Ok(());
    }
    let Some(bytes) = shrinker.smallest.inputs.get(&shrinker.smallest.plan.main.stdin.bytes) else { return Ok(()) };
    if bytes.len() <= BYTES_MAX {
        shrinker.remove_chunks(&bytes, with)?;
    }
    Ok(())
}

/// Bytes of a fuzz target's input: a length, and that many bytes.
pub(super) fn drawn(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let found = shrinker.log.windows(2).find_map(|pair| match pair {
        [length, input] if is_input(length, input) => Some((length.key, input.key, input.answer.clone())),
        _ => None,
    });
    let Some((length, input, Override::Bytes(digits))) = found else { return Ok(()) };
    let bytes = unhex(&digits).unwrap_or_default();
    if bytes.len() <= BYTES_MAX {
        shrinker.remove_chunks(&bytes, |smallest, rest| {
            let mut smallest = smallest.clone();
            smallest.answers.insert(length, Override::Number(rest.len() as u64));
            smallest.answers.insert(input, Override::Bytes(hex(rest)));
            smallest
        })?;
    }
    Ok(())
}

/// Whether the one is the length of the other, of any that an input can have.
fn is_input(length: &Decision, input: &Decision) -> bool {
    length.domain == AnswerDomain::Below(INPUT_MAX + 1)
        && length.key.part == input.key.part
        && matches!(input.domain, AnswerDomain::Bytes(_))
}

fn with(smallest: &ShrinkCandidate, bytes: &[u8]) -> ShrinkCandidate {
    let mut smallest = smallest.clone();
    smallest.plan.main.stdin.bytes = smallest.inputs.add(bytes);
    smallest
}
