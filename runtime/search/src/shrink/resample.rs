//! The step that failed, with fewer before it and other values: where the others only matter for what they leave behind.
//!
//! ```text
//! deposit 40 · withdraw 10 · … 7 more … · transfer 80        none can go, as the balance must fit the 80
//! transfer 80   ─▶ transfer 23, transfer 61, …               alone, with other values: it fails so too
//! ```
//!
//! Invariant: which values are tried follows from their places, so that shrinking again gives the same.

use super::schedule::is_turn;
use super::steps::{FLOW, StepPosition, steps_of, with_steps};
use super::values::is_drawn;
use super::{ShrinkCandidate, ShrinkHalt, Shrinker};
use crate::keyed_source::{AnswerDomain, Decision, DecisionKey};
use fozzy_trace::digest::hex;
use fozzy_trace::source::Override;
use fozzy_trace::{DecisionPart, Purpose, RunningDigest};
use std::sync::Arc;

/// Steps up to which the failing one is tried with each other: more would take too many executions, and have other ways to go.
const STEPS_MAX: usize = 16;
/// Other values that the failing step is tried with alone.
const ALONE: u64 = 16;
/// Other values for each pair of a step and the failing one.
const PAIRED: u64 = 4;

pub(super) fn few(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let all = steps_of(shrinker);
    let Some((last, before)) = all.split_last() else { return Ok(()) };
    if before.is_empty() {
        return Ok(());
    }
    let alone = (1..=ALONE).map(|number| (vec![*last], number));
    let firsts = before.iter().rev().filter(|_| (2..STEPS_MAX).contains(&before.len()));
    let paired = firsts.flat_map(|first| (1..=PAIRED).map(|number| (vec![*first, *last], number)));
    let ways: Vec<(Vec<StepPosition>, u64)> = alone.chain(paired).collect();
    for at in 0..ways.len() {
        let log = Arc::clone(&shrinker.log);
        let candidate = |smallest: &ShrinkCandidate, further: usize| {
            let (places, number) = ways.get(at + further)?;
            Some(resampled(smallest, &log, places, *number))
        };
        let this = candidate(&shrinker.smallest, 0);
        if let Some(this) = this
            && shrinker.attempt_before(this, &candidate)?
        {
            return Ok(());
        }
    }
    Ok(())
}

/// The candidate with these steps only, which draw other values and turns.
pub(super) fn resampled(
    smallest: &ShrinkCandidate,
    log: &[Decision],
    places: &[StepPosition],
    number: u64,
) -> ShrinkCandidate {
    let mut smallest = with_steps(smallest, places);
    let parts: Vec<DecisionPart> = places.iter().map(|place| place.part()).collect();
    // With the turns that have failed, and with others.
    let with_turns = number.is_multiple_of(2);
    let is_redrawn = |decision: &&Decision| {
        let own = parts.contains(&decision.key.part) && decision.site != FLOW;
        let of_program = matches!(decision.key.purpose, Purpose::Choice(_) | Purpose::Schedule);
        own && of_program && is_drawn(decision.domain) && (with_turns || !is_turn(decision))
    };
    for decision in log.iter().filter(is_redrawn) {
        let drawn = |at: u64| {
            let mut fold = RunningDigest::default();
            fold.bytes(name_of(&decision.key).as_bytes());
            [number, at].into_iter().for_each(|word| fold.word(word));
            fold.value()
        };
        let answer = match decision.domain {
            AnswerDomain::Below(bound) => Override::Number(drawn(0) % bound),
            AnswerDomain::Bytes(length) => {
                Override::Bytes(hex(&(0..length as u64).map(|at| drawn(at) as u8).collect::<Vec<_>>()))
            }
        };
        smallest.answers.insert(decision.key, answer);
    }
    smallest
}

/// The name of a key that its values are drawn from. It has the words of the first version, so that what a trace shrinks to
/// depends on no name of a type.
fn name_of(key: &DecisionKey) -> String {
    let purpose = match key.purpose {
        Purpose::Choice(part) => format!("Choice(Part({}))", part.stream()),
        other => format!("{other:?}"),
    };
    format!(
        "Spot {{ part: Part({}), node: NodeId({}), purpose: {purpose}, nth: {} }}",
        key.part.stream(),
        key.node.0,
        key.nth
    )
}
