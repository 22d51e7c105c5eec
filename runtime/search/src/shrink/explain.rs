//! What of a story matters: answers that may be any other are told from those on which the failure depends.
//!
//! ```text
//! draws.int("amount") below 1000 -> 80       others tried: 0, 1, 999, 412, 77     passes with 0: it matters
//! draws.int("payer")  below 8    -> 0        others tried: 1, 7, 3, 5             fails so with each: it may be any
//! ```
//!
//! Invariants: the story stays as it is; what is said to be free was tried with several other answers, and is no proof for all.

use super::{ShrinkError, Stage, Story, source};
use crate::guided::{Asked, Decision, Spot, take};
use fozzy_check::judge;
use fozzy_trace::digest::hex;
use fozzy_trace::file::Recording;
use fozzy_trace::source::Explicit;
use fozzy_trace::{Fold, Signature};

/// Decisions that are varied: stories that are worth reading have fewer.
const EXPLAINED_MAX: usize = 64;
/// Other answers that each is tried with.
const OTHERS_MAX: usize = 5;

/// One decision, and whether it matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// What was asked, and answered.
    pub decision: Decision,
    /// Other answers that were tried; none when there are none.
    pub tried: usize,
    /// Whether the failure was the same with each of them.
    pub is_free: bool,
}

/// Tries other answers to each decision of a story that fails with `signature`, as long as `go_on` gives time.
///
/// # Errors
/// When the machine fails.
pub fn explain(
    recording: &Recording,
    stage: &mut dyn Stage,
    story: &Story,
    signature: &Signature,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<Explained>, ShrinkError> {
    let mut tell = |story: &Story| -> Result<(Vec<Decision>, bool), ShrinkError> {
        let (source, log) = source(story, recording.seed, &recording.observations);
        let execution = stage.perform(&story.plan, &story.inputs, source, 0..0)?;
        Ok((take(&log), judge(&execution).signature.as_ref() == Some(signature)))
    };
    let (log, _) = tell(story)?;
    let mut explained = Vec::new();
    for decision in log.into_iter().take(EXPLAINED_MAX) {
        let others = others(&decision);
        let (mut tried, mut is_free) = (0, !others.is_empty());
        for other in others {
            if !go_on() {
                return Ok(explained);
            }
            let mut candidate = story.clone();
            candidate.answers.insert(decision.spot, other);
            tried += 1;
            if !tell(&candidate)?.1 {
                is_free = false;
                break;
            }
        }
        explained.push(Explained { decision, tried, is_free });
    }
    Ok(explained)
}

/// Other answers to the same question: the ends of what there is, and some between.
fn others(decision: &Decision) -> Vec<Explicit> {
    let drawn = |number: u64| drawn(decision.spot, number);
    let all: Vec<Explicit> = match decision.asked {
        Asked::Below(bound) => {
            let ends = [0, 1, bound - 1];
            let between = (0..8).map(|number| drawn(number) % bound);
            ends.into_iter().chain(between).filter(|answer| *answer < bound).map(Explicit::Number).collect()
        }
        Asked::Bytes(length) => {
            let bytes = |number: u64| (0..length as u64).map(|at| drawn(number << 32 | at) as u8).collect::<Vec<u8>>();
            let ends = [vec![0; length], vec![0xff; length]];
            ends.into_iter().chain((0..3).map(bytes)).map(|bytes| Explicit::Bytes(hex(&bytes))).collect()
        }
    };
    let mut seen = Vec::new();
    for answer in all {
        if answer != decision.answer && !seen.contains(&answer) && seen.len() < OTHERS_MAX {
            seen.push(answer);
        }
    }
    seen
}

/// A number that depends on the place and nothing else.
fn drawn(spot: Spot, number: u64) -> u64 {
    let mut fold = Fold::default();
    fold.bytes(format!("{spot:?}").as_bytes());
    fold.word(number);
    fold.value()
}
