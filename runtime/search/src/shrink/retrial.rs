//! Faults that only seem to be needed: each is left out once more, and the rest answered by the sites of its questions.
//!
//! ```text
//! recorded     loss strikes · retry · latency 7 ms ✗
//! as keyed     the 1st question of the network is another one now, and 7 ms go to it          passes
//! by sites     latency 7 ms wherever latency is asked; what was not asked before is drawn      fails as before
//! ```
//!
//! A cluster that is tried with fewer machines is answered so, too.
//!
//! These are the tries of an ablation, so that shrinking keeps no fault that an ablation shows to be unneeded. A try that fails as
//! it should has its decisions written down, and becomes the smallest candidate as any other: when a run of it fails so too.
//!
//! Not here: how several answers are drawn (`site_source`), and what an ablation tells (`ablate`).

use super::ablate::TRIES_MAX;
use super::faults::{chance, strikes_at, striking};
use super::{ShrinkCandidate, ShrinkHalt, ShrinkProgress, Shrinker};
use crate::keyed_source::{Decision, DecisionLog, KeyedSource, LOGGED_MAX, is_chance, take};
use crate::site_source::{RecordedAnswers, SiteSource};
use fozzy_trace::Origin;
use fozzy_trace::plan::Plan;
use std::sync::Arc;

/// Most strikes that are left out one by one: each takes as many tries as a planned fault, and if there are more, their
/// number is what matters.
const STRIKES_MAX: usize = 8;

/// Leaves out one planned fault, or one place where a fault strikes. Returns whether there was one.
pub(super) fn without_a_fault(shrinker: &mut Shrinker<'_>) -> Result<bool, ShrinkHalt> {
    if !shrinker.smallest.calm || shrinker.log.len() == LOGGED_MAX {
        return Ok(false);
    }
    let (smallest, log) = (shrinker.smallest.clone(), Arc::clone(&shrinker.log));
    for place in (0..smallest.plan.faults.len()).rev() {
        let mut calmer = smallest.clone();
        calmer.plan.faults.remove(place);
        if retry(shrinker, &calmer, &RecordedAnswers::of(&log))? {
            return Ok(true);
        }
    }
    let strikes = striking(shrinker);
    for strike in strikes.iter().rev().filter(|_| strikes.len() <= STRIKES_MAX) {
        if retry(shrinker, &smallest, &RecordedAnswers::without(&log, *strike))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Tries a candidate with these answers by their sites, and with others beside them. Whether one of the tries is the smallest now.
pub(super) fn retry(
    shrinker: &mut Shrinker<'_>,
    candidate: &ShrinkCandidate,
    recorded: &RecordedAnswers,
) -> Result<bool, ShrinkHalt> {
    let (plan, inputs) = (&candidate.plan, &candidate.inputs);
    let size = |plan: &Plan, log: &[Decision]| (plan.nodes.len(), plan.faults.len(), strikes(plan, log));
    let before = size(&shrinker.smallest.plan, &shrinker.log);
    for round in 0..TRIES_MAX {
        let progress = ShrinkProgress { tries: shrinker.tries, size: shrinker.size() };
        if !(shrinker.may_continue)(&progress) {
            return Err(ShrinkHalt::Budget);
        }
        shrinker.tries += 1;
        let observed = (Arc::clone(&shrinker.observations), inputs.clone());
        let by_sites = SiteSource::new(shrinker.seed, observed, recorded.clone(), round);
        // An ablation has its second try as shrinking does it: that is what came to nothing before.
        let by_sites = if round == 1 { by_sites.calm() } else { by_sites };
        let log = DecisionLog::default();
        let source = KeyedSource::over(Box::new(by_sites), Arc::default(), Arc::clone(&log));
        let execution = shrinker.workers[0].target().execute(plan, inputs, Box::new(source), 0..0)?;
        let log = take(&log);
        let is_same = shrinker.workers[0].target().identify(&execution).as_ref() == Some(&shrinker.identity);
        // What is drawn anew may strike elsewhere.
        let is_calmer = size(plan, &log) < before;
        if log.len() == LOGGED_MAX || !is_same || !is_calmer {
            continue;
        }
        let mut answers = candidate.answers.clone();
        answers.retain(|key, _| !is_chance(key.purpose));
        answers.extend(
            log.iter()
                .filter(|decision| is_own(decision, round))
                .map(|decision| (decision.key, decision.answer.clone())),
        );
        answers.extend(chance(plan, &log));
        if shrinker.attempt(ShrinkCandidate { answers, calm: true, ..candidate.clone() })? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn strikes(plan: &Plan, log: &[Decision]) -> usize {
    log.iter().filter(|decision| strikes_at(plan, decision)).count()
}

/// Whether a decision of the program is one that the seed of the recording would take otherwise.
fn is_own(decision: &Decision, round: u32) -> bool {
    !is_chance(decision.key.purpose) && (round > 0 || decision.origin == Origin::Explicit)
}
