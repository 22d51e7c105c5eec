//! The step that failed, with fewer before it and other values: where the others only matter for what they leave behind.
//!
//! ```text
//! deposit 40 · withdraw 10 · … 7 more … · transfer 80        none can go, as the balance must fit the 80
//! transfer 80   ─▶ transfer 23, transfer 61, …               alone, with other values: it fails so too
//! ```
//!
//! The same in a smaller cluster, if the target has one: fewer machines, or fewer clients.
//!
//! Who asks and who is hit are values that fit the larger cluster: where they do not show the failure, the steps that are left draw others.
//!
//! ```text
//! n0 n1 n2 · 6 clients    kill n1 n2, generate, generate     n0 · 2 clients: fails so with other values     n0 · 1 client: so, too
//! ```
//!
//! Answers have their places in a step. What a step does is drawn behind the messages that come before it, and in a smaller cluster fewer
//! come: so it is tried right behind the first answer, too, which is the moment of the step.
//!
//! ```text
//! n0 n1 n2    moment, message, message, flow = kill, targets     n0    moment, flow = kill, targets
//! ```
//!
//! A cluster that fails as it is, where the larger one needed a fault, has another cause, a majority that it cannot have, say: it is none of these.
//!
//! A program without steps gets what was recorded by the sites of its questions, and other draws beside it, as where a fault is left out.
//!
//! Invariant: which values are tried follows from their places, so that shrinking again gives the same.

use super::retrial::retry;
use super::schedule::is_turn;
use super::steps::{FLOW, StepPosition, steps_of, with_steps};
use super::values::is_drawn;
use super::{ShrinkCandidate, ShrinkHalt, Shrinker, digest, source};
use crate::keyed_source::{AnswerDomain, Decision, DecisionKey, LOGGED_MAX};
use crate::site_source::RecordedAnswers;
use fozzy_trace::digest::hex;
use fozzy_trace::source::Override;
use fozzy_trace::{DecisionPart, Plan, Purpose, RunningDigest};
use std::sync::Arc;

/// Steps up to which the failing one is tried with each other: more would take too many executions, and have other ways to go.
const STEPS_MAX: usize = 16;
/// Other values that the failing step is tried with alone.
const ALONE: u64 = 16;
/// Other values for each pair of a step and the failing one.
const PAIRED: u64 = 4;

/// Steps up to which other values are drawn for all of them: with more, hardly any fits.
const CLUSTER_STEPS_MAX: usize = 12;
/// Other values for each cluster.
const RESAMPLED: u64 = 16;

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

/// The smallest cluster in which it fails, machines first.
pub(super) fn smaller_cluster(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    loop {
        let (plan, inputs) = (&shrinker.smallest.plan, &shrinker.smallest.inputs);
        let plans = shrinker.workers[0].target().smaller_clusters(plan, inputs);
        let needs_fault = !plans.is_empty() && !fails_without_faults(shrinker, &shrinker.smallest.clone())?;
        let mut is_smaller = false;
        for plan in plans {
            if fails_with(shrinker, plan, needs_fault)? {
                is_smaller = true;
                break;
            }
        }
        if !is_smaller {
            return Ok(());
        }
    }
}

fn fails_with(shrinker: &mut Shrinker<'_>, plan: Plan, needs_fault: bool) -> Result<bool, ShrinkHalt> {
    let old = &shrinker.smallest;
    let answers = old.answers.iter().filter_map(|(key, answer)| Some((moved(key, &plan, &old.plan)?, answer.clone())));
    let candidate = ShrinkCandidate { answers: answers.collect(), plan, ..old.clone() };
    if needs_fault && fails_without_faults(shrinker, &candidate)? {
        return Ok(false);
    }
    if shrinker.attempt(candidate.clone())? {
        return Ok(true);
    }
    let larger = &shrinker.smallest.plan;
    let stays = |decision: &Decision| {
        let key = moved(&decision.key, &candidate.plan, larger)?;
        Some(Decision { key, ..decision.clone() })
    };
    let log: Vec<Decision> = shrinker.log.iter().filter_map(stays).collect();
    match steps_of(shrinker) {
        steps if steps.is_empty() => has_other_draws(shrinker, &candidate, &log),
        steps => has_other_values(shrinker, &candidate, &log, &steps),
    }
}

/// Whether a candidate fails so when no planned fault can strike; one without any does.
fn fails_without_faults(shrinker: &mut Shrinker<'_>, candidate: &ShrinkCandidate) -> Result<bool, ShrinkHalt> {
    if candidate.plan.faults.is_empty() {
        return Ok(true);
    }
    let mut quiet = candidate.clone();
    quiet.plan.faults.clear();
    shrinker.tries += 1;
    let (source, _) = source(&quiet, shrinker.seed, &shrinker.observations);
    let execution = shrinker.workers[0].target().execute(&quiet.plan, &quiet.inputs, source, 0..0)?;
    Ok(shrinker.workers[0].target().identify(&execution).as_ref() == Some(&shrinker.identity))
}

/// The same question in the plan with fewer machines; `None` if the one that asks is gone.
fn moved(key: &DecisionKey, plan: &Plan, larger: &Plan) -> Option<DecisionKey> {
    Some(DecisionKey { node: plan.node_of(larger, key.node)?, ..*key })
}

fn has_other_draws(
    shrinker: &mut Shrinker<'_>,
    candidate: &ShrinkCandidate,
    log: &[Decision],
) -> Result<bool, ShrinkHalt> {
    // What was tried in vain is tried once, as each other candidate.
    let is_possible = candidate.calm && shrinker.log.len() < LOGGED_MAX;
    if !is_possible || !shrinker.retried.insert(digest(candidate)) {
        return Ok(false);
    }
    retry(shrinker, candidate, &RecordedAnswers::of(log))
}

fn has_other_values(
    shrinker: &mut Shrinker<'_>,
    candidate: &ShrinkCandidate,
    log: &[Decision],
    steps: &[StepPosition],
) -> Result<bool, ShrinkHalt> {
    if steps.len() > CLUSTER_STEPS_MAX {
        return Ok(false);
    }
    for number in 1..=RESAMPLED {
        let other = resampled(candidate, log, steps, number);
        let early = with_early_flows(&other, log, steps);
        for candidate in std::iter::once(other).chain(early) {
            if shrinker.attempt(candidate)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The candidate with the flow of each of these steps right behind its first answer; none if each stands there, or is the first.
fn with_early_flows(candidate: &ShrinkCandidate, log: &[Decision], places: &[StepPosition]) -> Option<ShrinkCandidate> {
    let parts: Vec<DecisionPart> = places.iter().map(|place| place.part()).collect();
    let is_late =
        |decision: &&Decision| decision.site == FLOW && decision.key.nth > 1 && parts.contains(&decision.key.part);
    let late =
        log.iter().filter(is_late).map(|decision| (DecisionKey { nth: 1, ..decision.key }, decision.answer.clone()));
    let mut early = candidate.clone();
    early.answers.extend(late);
    (early != *candidate).then_some(early)
}

/// The candidate with these steps only, which draw other values and turns.
fn resampled(smallest: &ShrinkCandidate, log: &[Decision], places: &[StepPosition], number: u64) -> ShrinkCandidate {
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
