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
    let Some(bytes) = shrinker.story.inputs.get(&shrinker.story.plan.main.stdin.bytes) else { return Ok(()) };
    if bytes.len() <= BYTES_MAX {
        shrinker.leave_out(&bytes, with)?;
    }
    Ok(())
}

/// Bytes of a fuzz target's input: a length, and so many bytes.
pub(super) fn drawn(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let found = shrinker.log.windows(2).find_map(|pair| match pair {
        [length, input] if is_input(length, input) => Some((length.spot, input.spot, input.answer.clone())),
        _ => None,
    });
    let Some((length, input, Override::Bytes(digits))) = found else { return Ok(()) };
    let bytes = unhex(&digits).unwrap_or_default();
    if bytes.len() <= BYTES_MAX {
        shrinker.leave_out(&bytes, |story, rest| {
            let mut story = story.clone();
            story.answers.insert(length, Override::Number(rest.len() as u64));
            story.answers.insert(input, Override::Bytes(hex(rest)));
            story
        })?;
    }
    Ok(())
}

/// Whether the one is the length of the other, of any that an input can have.
fn is_input(length: &Decision, input: &Decision) -> bool {
    length.asked == AnswerDomain::Below(INPUT_MAX + 1)
        && length.spot.part == input.spot.part
        && matches!(input.asked, AnswerDomain::Bytes(_))
}

fn with(story: &ShrinkCandidate, bytes: &[u8]) -> ShrinkCandidate {
    let mut story = story.clone();
    story.plan.main.stdin.bytes = story.inputs.add(bytes);
    story
}
