//! Steps that have moments: the test is over sooner, what goes wrong goes by its kinds, the test begins later, and pauses get shorter.
//!
//! ```text
//! recorded      0 ──P──H──a──P──b────────c──H──d── 600     a b c d operations, P a partition, H its end
//! sooner        0 ──P──H──a──P──b────────c─ 470            what comes after the failure costs time and shows nothing
//! later         0 ──P──b────────c─ 230                     with the fault that is not over there
//! closer        0 P─b─c─ 40                                steps get other numbers, and keep what they have drawn
//! ```
//!
//! Each of these makes all executions after it shorter, so that they come before steps are left out one by one.
//!
//! Invariants: a fault goes with its end, so that those after it stay what they were; a step that has moved draws what it has drawn before.
//! Not here: how steps get their moments (`runtime/player/maelstrom`), what a shorter test is (`fozzy-campaign`).

use super::steps::{FLOW, StepPosition, named, steps_of, with_steps};
use super::{ShrinkCandidate, ShrinkHalt, Shrinker};
use crate::keyed_source::{AnswerDomain, Decision, DecisionKey, LOGGED_MAX};
use fozzy_trace::plan::ScenarioKind;
use fozzy_trace::source::Override;
use fozzy_trace::{DecisionPart, Plan, Purpose};
use std::collections::BTreeMap;

/// The end of a test is found to a share of its steps: what is left is found step by step.
const END_SHARE: usize = 16;
/// Seconds that a test has before its first step, or between two steps, of which the shortest that does is taken.
const PAUSES: [f64; 5] = [0.0, 0.25, 1.0, 2.0, 4.0];
/// Pauses that are made shorter one by one: the longest ones.
const PAUSES_MAX: usize = 8;

impl Shrinker<'_> {
    /// Makes the test shorter, before anything else.
    pub(super) fn shorten_test(&mut self) -> Result<(), ShrinkHalt> {
        if step_rate(self).is_none() {
            return Ok(());
        }
        sooner(self)?;
        kinds(self)?;
        later(self)?;
        self.close_pauses()
    }

    /// Leaves out what goes wrong together with its end, each pair that can go.
    pub(super) fn drop_faults(&mut self) -> Result<(), ShrinkHalt> {
        if step_rate(self).is_none() {
            return Ok(());
        }
        let mut pairs: Vec<Vec<StepPosition>> =
            by_kind(self).values().flat_map(|steps| steps.chunks(2)).map(<[StepPosition]>::to_vec).collect();
        pairs.sort_unstable();
        let all: Vec<StepPosition> = pairs.concat();
        self.remove_chunks(&pairs, |smallest, rest| {
            let rest = rest.concat();
            without(smallest, |step| all.contains(step) && !rest.contains(step))
        })?;
        Ok(())
    }

    /// Makes the pauses shorter: all at once, then the longest ones.
    pub(super) fn close_pauses(&mut self) -> Result<(), ShrinkHalt> {
        let Some(rate) = step_rate(self) else { return Ok(()) };
        let steps_in = |seconds: f64| (seconds * rate).round() as u32;
        for pause in PAUSES {
            let most = steps_in(pause);
            if attempt_pauses(self, |_, pause| pause.min(most))? {
                break;
            }
        }
        let mut longest: Vec<(u32, usize)> = pauses(&steps_of(self)).into_iter().zip(0..).collect();
        longest.sort_unstable_by(|left, right| right.cmp(left));
        for (length, place) in longest.into_iter().take(PAUSES_MAX) {
            for pause in PAUSES {
                let most = steps_in(pause);
                if most >= length
                    || attempt_pauses(self, |at, pause| if at == place { pause.min(most) } else { pause })?
                {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// The fewest steps of the beginning that fail.
fn sooner(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let all = steps_of(shrinker);
    // A failure in a step is the last thing that happens.
    let fails_at_step = shrinker.position.is_some_and(|position| position.step.is_some());
    let mut bad = if fails_at_step { all.len().saturating_sub(1) } else { 0 };
    let mut good = all.len();
    if fails_at_step {
        let candidate = until(shrinker, &all);
        shrinker.attempt(candidate)?;
    }
    while good - bad > (good / END_SHARE).max(1) {
        let middle = bad + (good - bad) / 2;
        let candidate = until(shrinker, &all[..middle]);
        if shrinker.attempt(candidate)? {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Ok(())
}

/// The first steps alone, in a test that is over with them.
fn until(shrinker: &mut Shrinker<'_>, steps: &[StepPosition]) -> ShrinkCandidate {
    let plan = over_after(shrinker, steps);
    with_steps(&ShrinkCandidate { plan, ..shrinker.smallest.clone() }, steps)
}

/// The plan of a test that is over with the last of these steps.
fn over_after(shrinker: &mut Shrinker<'_>, steps: &[StepPosition]) -> Plan {
    let count = steps.last().map_or(0, |last| last.step + 1);
    let plan = shrinker.smallest.plan.clone();
    shrinker.workers[0].target().shortened(&plan, count).unwrap_or(plan)
}

/// Each kind of fault, with all that it does.
fn kinds(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    for steps in by_kind(shrinker).values() {
        let candidate = without(&shrinker.smallest, |step| steps.contains(step));
        shrinker.attempt(candidate)?;
    }
    Ok(())
}

/// The last operations alone, as few as fail: at first among all faults, and then with those faults alone that are not over there.
fn later(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    for keeps_all_faults in [true, false] {
        let all = steps_of(shrinker);
        let (mut good, mut bad) = (0, all.len());
        while bad - good > (all.len() / END_SHARE).max(1) {
            let middle = good + (bad - good) / 2;
            let faults = kinds_of(shrinker);
            let kept = match keeps_all_faults {
                true => faults.into_iter().map(|(step, _)| step).collect(),
                false => open_before(&faults, all[middle]),
            };
            let candidate = without(&shrinker.smallest, |step| *step < all[middle] && !kept.contains(step));
            if shrinker.attempt(candidate)? {
                good = middle;
            } else {
                bad = middle;
            }
        }
    }
    Ok(())
}

/// Of the steps before one, those that begin faults which are not over there.
fn open_before(faults: &[(StepPosition, usize)], first: StepPosition) -> Vec<StepPosition> {
    let mut open: BTreeMap<usize, Option<StepPosition>> = BTreeMap::new();
    for (step, kind) in faults.iter().filter(|(step, _)| *step < first) {
        let open = open.entry(*kind).or_default();
        *open = open.is_none().then_some(*step);
    }
    open.into_values().flatten().collect()
}

/// Tries other pauses before each of the steps. Whether they do.
fn attempt_pauses(shrinker: &mut Shrinker<'_>, shorter: impl Fn(usize, u32) -> u32) -> Result<bool, ShrinkHalt> {
    let steps = steps_of(shrinker);
    let before = pauses(&steps);
    let after: Vec<u32> = before.iter().enumerate().map(|(at, pause)| shorter(at, *pause)).collect();
    let is_of_one = |step: &StepPosition| step.kind == ScenarioKind::Stateful && step.sequence == steps[0].sequence;
    if after == before || !steps.iter().all(is_of_one) || shrinker.log.len() == LOGGED_MAX {
        return Ok(false);
    }
    let mut next = 0;
    let numbers = steps.iter().zip(after).map(|(step, pause)| {
        next += pause + 1;
        (step.step, next - 1)
    });
    let moved: BTreeMap<u32, u32> = numbers.collect();
    let places: Vec<StepPosition> =
        steps.iter().map(|step| StepPosition { step: moved[&step.step], ..*step }).collect();
    let plan = over_after(shrinker, &places);
    let mut answers = shrinker.smallest.answers.clone();
    answers.retain(|key, _| key.part.step_number().is_none());
    let renumbered = |part: DecisionPart| Some(DecisionPart::step(part.sequence()?, *moved.get(&part.step_number()?)?));
    for decision in &*shrinker.log {
        let Some(part) = renumbered(decision.key.part) else { continue };
        let purpose = match decision.key.purpose {
            Purpose::Choice(of) => Purpose::Choice(renumbered(of).unwrap_or(of)),
            other => other,
        };
        answers.insert(DecisionKey { part, purpose, ..decision.key }, decision.answer.clone());
    }
    let candidate = with_steps(&ShrinkCandidate { plan, answers, ..shrinker.smallest.clone() }, &places);
    shrinker.attempt(candidate)
}

/// Steps that are left out before each one.
fn pauses(steps: &[StepPosition]) -> Vec<u32> {
    let next = std::iter::once(0).chain(steps.iter().map(|step| step.step + 1));
    steps.iter().zip(next).map(|(step, next)| step.step.saturating_sub(next)).collect()
}

/// Steps a second, if steps have moments.
fn step_rate(shrinker: &mut Shrinker<'_>) -> Option<f64> {
    let plan = shrinker.smallest.plan.clone();
    shrinker.workers[0].target().step_rate(&plan)
}

/// The steps at which faults begin and end, by what they have drawn, and the kind of each.
fn kinds_of(shrinker: &mut Shrinker<'_>) -> Vec<(StepPosition, usize)> {
    let plan = shrinker.smallest.plan.clone();
    let flows: BTreeMap<DecisionPart, (u64, u64)> = shrinker.log.iter().filter_map(flow).collect();
    let steps = steps_of(shrinker);
    let target = shrinker.workers[0].target();
    let kind = |step: &StepPosition| target.fault_of(&plan, *flows.get(&step.part())?);
    steps.iter().filter_map(|step| Some((*step, kind(step)?))).collect()
}

/// The same, by kind.
fn by_kind(shrinker: &mut Shrinker<'_>) -> BTreeMap<usize, Vec<StepPosition>> {
    let mut by_kind: BTreeMap<usize, Vec<StepPosition>> = BTreeMap::new();
    for (step, kind) in kinds_of(shrinker) {
        by_kind.entry(kind).or_default().push(step);
    }
    by_kind
}

/// What a step has drawn for its flow, and below which number.
fn flow(decision: &Decision) -> Option<(DecisionPart, (u64, u64))> {
    match (&decision.answer, decision.domain) {
        (Override::Number(answer), AnswerDomain::Below(bound)) if decision.site == FLOW => {
            Some((decision.key.part, (*answer, bound)))
        }
        _ => None,
    }
}

/// The candidate without some of its steps.
fn without(smallest: &ShrinkCandidate, is_left_out: impl Fn(&StepPosition) -> bool) -> ShrinkCandidate {
    let steps: Vec<StepPosition> = named(smallest).filter(|step| !is_left_out(step)).collect();
    with_steps(smallest, &steps)
}
