//! The failure in a smaller cluster, if the target has one: fewer machines, or fewer clients.
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
//! A program without steps gets what was recorded by the sites of its questions, and other draws beside it, as where a fault is left out.
//!
//! Invariant: what is tried follows from places, so that shrinking again gives the same.

use super::resample::resampled;
use super::retrial::retry;
use super::steps::{FLOW, StepPosition, steps_of};
use super::{ShrinkCandidate, ShrinkHalt, Shrinker, digest};
use crate::keyed_source::{Decision, DecisionKey, LOGGED_MAX};
use crate::site_source::RecordedAnswers;
use fozzy_trace::DecisionPart;
use fozzy_trace::Plan;

/// Steps up to which other values are drawn for all of them: with more, hardly any fits.
const STEPS_MAX: usize = 12;
/// Other values for each cluster.
const RESAMPLED: u64 = 16;

/// The smallest cluster in which it fails, machines first.
pub(super) fn smaller(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    loop {
        let (plan, inputs) = (&shrinker.smallest.plan, &shrinker.smallest.inputs);
        let plans = shrinker.workers[0].target().smaller_clusters(plan, inputs);
        let mut is_smaller = false;
        for plan in plans {
            if fails_with(shrinker, plan)? {
                is_smaller = true;
                break;
            }
        }
        if !is_smaller {
            return Ok(());
        }
    }
}

fn fails_with(shrinker: &mut Shrinker<'_>, plan: Plan) -> Result<bool, ShrinkHalt> {
    let old = &shrinker.smallest;
    let answers = old.answers.iter().filter_map(|(key, answer)| Some((moved(key, &plan, &old.plan)?, answer.clone())));
    let candidate = ShrinkCandidate { answers: answers.collect(), plan, ..old.clone() };
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
    if steps.len() > STEPS_MAX {
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
