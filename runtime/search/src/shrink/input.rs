//! Bytes that a program is given - as standard input, as a file, as an argument, as the input of a fuzz target: those that can go,
//! in runs.

use super::{ShrinkCandidate, ShrinkHalt, Shrinker};
use crate::keyed_source::{AnswerDomain, Decision};
use fozzy_trace::choice::BYTES_MAX as INPUT_MAX;
use fozzy_trace::digest::{hex, unhex};
use fozzy_trace::plan::PlannedInput;
use fozzy_trace::source::Override;
use std::sync::Arc;

/// Longest input that is made shorter byte by byte. Of a longer one, only runs at its end would go in any useful time.
const BYTES_MAX: usize = 1 << 20;

/// What the plan of a candidate gives to its program: standard input, and the input of a campaign.
pub(super) fn planned(candidate: &ShrinkCandidate) -> [Option<Arc<[u8]>>; 2] {
    let ShrinkCandidate { plan, inputs, .. } = candidate;
    [inputs.get(&plan.main.stdin.bytes), plan.planned_input(inputs)]
}

/// Bytes of standard input, of the file and of the argument that are an input.
pub(super) fn given(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let [stdin, input] = planned(&shrinker.smallest);
    if let Some(bytes) = stdin.filter(|bytes| !shrinker.options.keeps_stdin && bytes.len() <= BYTES_MAX) {
        shrinker.remove_chunks(&bytes, |smallest, rest| {
            let mut smallest = smallest.clone();
            smallest.plan.main.stdin.bytes = smallest.inputs.add(rest);
            smallest
        })?;
    }
    let Some(bytes) = input.filter(|bytes| bytes.len() <= BYTES_MAX) else { return Ok(()) };
    if shrinker.smallest.plan.input == Some(PlannedInput::Argument) {
        // Half of a character would be replaced by another one.
        let chars: Vec<char> = String::from_utf8_lossy(&bytes).chars().collect();
        shrinker.remove_chunks(&chars, |smallest, rest| with(smallest, rest.iter().collect::<String>().as_bytes()))?;
    } else {
        shrinker.remove_chunks(&bytes, with)?;
    }
    Ok(())
}

fn with(smallest: &ShrinkCandidate, bytes: &[u8]) -> ShrinkCandidate {
    let mut smallest = smallest.clone();
    smallest.plan.replace_planned_input(&mut smallest.inputs, bytes);
    smallest
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
