//! Steps of a scenario: the sequence that fails alone, whole kinds of flows at once, then each step.
//!
//! ```text
//! 10 sequences of 100    ─isolate▶  sequence 3: steps 0..58     ─kinds▶  without `open`: 12 steps     ─each▶  3 steps
//! ```
//!
//! Steps keep their numbers when others go, and so the stream of their choices.

use super::{ShrinkCandidate, ShrinkHalt, Shrinker};
use fozzy_trace::facts::ScenarioPosition;
use fozzy_trace::plan::{KeptSequence, Plan, ScenarioKind, ScenarioPlan};
use fozzy_trace::{DecisionPart, HistoryEntry};
use std::collections::BTreeMap;

/// One step of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StepPosition {
    /// Of which kind its sequence is.
    pub(super) kind: ScenarioKind,
    /// The sequence.
    pub(super) sequence: u32,
    /// The step.
    pub(super) step: u32,
}

impl StepPosition {
    /// Its part of the run.
    pub(super) const fn part(self) -> DecisionPart {
        DecisionPart::step(self.kind.stream(self.sequence), self.step)
    }
}

/// The site at which a step of a scenario draws its flow.
pub(super) const FLOW: &str = "flow";

/// Calls of an execution that are looked through for the flows of its steps. In longer ones steps are not told apart by
/// their flows, which costs more tries.
const LOOKED_AT_MAX: u64 = 1 << 18;
/// Steps that are told apart. Of a longer candidate, only sequences are left out.
const STEPS_MAX: usize = 1 << 20;

const KINDS: [ScenarioKind; 3] = [ScenarioKind::Stateful, ScenarioKind::Fuzz, ScenarioKind::Property];

/// The sequence in which it failed, alone and up to the step that failed.
pub(super) fn isolate(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let Some(plan) = &shrinker.smallest.plan.scenario else { return Ok(()) };
    let Some(sequence) = shrinker.position.and_then(|position| position.sequence) else { return Ok(()) };
    let (whole, plan) = (plan.only.is_empty(), plan.clone());
    for kind in KINDS {
        let Some(stretches) = plan.stretches(kind, sequence) else { continue };
        let mut candidate = shrinker.smallest.clone();
        let only = vec![KeptSequence { kind, sequence, steps: stretches }];
        candidate.plan.scenario = Some(ScenarioPlan { only, ..plan.clone() });
        cut_tail(&mut candidate.plan, shrinker.position);
        if candidate == shrinker.smallest || shrinker.attempt(candidate)? {
            return Ok(());
        }
    }
    if whole {
        let mut candidate = shrinker.smallest.clone();
        name_all(&mut candidate.plan, sequence);
        shrinker.attempt(candidate)?;
    }
    Ok(())
}

/// What failed needs several sequences: they are named, so that the others can be left out.
fn name_all(plan: &mut Plan, last: u32) {
    let Some(scenario) = &mut plan.scenario else { return };
    let numbers = 0..=last.min(STEPS_MAX as u32);
    let all = |kind| numbers.clone().map(move |sequence| (kind, sequence));
    let flows = scenario.flows;
    scenario.only = KINDS
        .into_iter()
        .flat_map(all)
        .map(|(kind, sequence)| KeptSequence { kind, sequence, steps: vec![(0, flows)] })
        .collect();
}

/// Steps after the one that failed are not reached.
pub(super) fn cut_tail(plan: &mut Plan, position: Option<ScenarioPosition>) {
    let Some(ScenarioPosition { sequence: Some(sequence), step: Some(step), .. }) = position else { return };
    let Some(scenario) = &mut plan.scenario else { return };
    let [kept] = &mut *scenario.only else { return };
    if kept.sequence == sequence {
        kept.steps.retain(|(from, _)| *from <= step);
        if let Some((_, to)) = kept.steps.last_mut() {
            *to = (*to).min(step + 1);
        }
    }
}

/// A candidate without answers to what only steps ask that it has left out.
pub(super) fn relevant(mut smallest: ShrinkCandidate) -> ShrinkCandidate {
    let Some(scenario) = smallest.plan.scenario.as_ref().filter(|scenario| !scenario.only.is_empty()) else {
        return smallest;
    };
    if !smallest.answers.is_empty() {
        let is_kept = |part: DecisionPart, step: u32| {
            let its = |kept: &&KeptSequence| DecisionPart::step(kept.kind.stream(kept.sequence), step) == part;
            // Stretches are in the order of their steps.
            let at = |kept: &KeptSequence| kept.steps.get(kept.steps.partition_point(|(_, to)| *to <= step)).copied();
            scenario.only.iter().filter(its).filter_map(at).any(|(from, _)| from <= step)
        };
        smallest.answers.retain(|key, _| key.part.step_number().is_none_or(|step| is_kept(key.part, step)));
    }
    smallest
}

/// The sequences of a candidate, each left out whole.
pub(super) fn sequences(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let Some(scenario) = &shrinker.smallest.plan.scenario else { return Ok(()) };
    let kept = scenario.only.clone();
    if kept.len() < 2 {
        return Ok(());
    }
    shrinker.remove_chunks(&kept, |smallest, rest| with(smallest, rest.to_vec()))?;
    Ok(())
}

/// All steps of one flow at once, for each flow.
pub(super) fn kinds(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let all = steps_of(shrinker);
    if all.len() < 4 {
        return Ok(());
    }
    let smallest = shrinker.smallest.clone();
    let execution = shrinker.replay(&smallest, 0..LOOKED_AT_MAX)?.execution;
    shrinker.tries += 1;
    let flows = flows(&execution.history.entries);
    let mut by_flow: BTreeMap<&str, usize> = BTreeMap::new();
    for place in &all {
        *by_flow.entry(flows.get(place).map_or("", String::as_str)).or_default() += 1;
    }
    let mut names: Vec<(usize, &str)> = by_flow.into_iter().map(|(name, steps)| (steps, name)).collect();
    // The flow that ran most often first: it saves most.
    names.sort_unstable_by(|left, right| right.cmp(left));
    let mut left = all;
    for (_, name) in names {
        let rest: Vec<StepPosition> =
            left.iter().copied().filter(|place| flows.get(place).map_or("", String::as_str) != name).collect();
        let candidate = with_steps(&shrinker.smallest, &rest);
        if rest.len() < left.len() && shrinker.attempt(candidate)? {
            left = steps_of(shrinker);
        }
    }
    Ok(())
}

/// Each step, in runs.
pub(super) fn each(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let all = steps_of(shrinker);
    if all.len() > STEPS_MAX {
        return Ok(());
    }
    shrinker.remove_chunks(&all, with_steps)?;
    Ok(())
}

/// Leaves out a block of steps, none of which can be left out alone.
pub(super) fn block(shrinker: &mut Shrinker<'_>) -> Result<bool, ShrinkHalt> {
    let all = steps_of(shrinker);
    // The last one fails.
    let Some((last, before)) = all.split_last() else { return Ok(false) };
    shrinker.remove_block(before, |smallest, rest| with_steps(smallest, &[rest, &[*last]].concat()))
}

/// Steps that go together only: neither can go without the other.
pub(super) fn pairs(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let Some(failing) = shrinker.position.and_then(|position| position.sequence) else { return Ok(()) };
    // The last first, as those inside of others come before those around them.
    let pairs: Vec<(u32, u32)> = shrinker.dependencies.companions.clone().into_iter().rev().collect();
    for (step, companion) in pairs {
        let is_of_pair = |place: &StepPosition| {
            let is_there = place.kind == ScenarioKind::Stateful && place.sequence == failing;
            is_there && [step, companion].contains(&place.step)
        };
        let all = steps_of(shrinker);
        let rest: Vec<StepPosition> = all.iter().copied().filter(|place| !is_of_pair(place)).collect();
        if rest.len() + 2 == all.len() {
            shrinker.attempt(with_steps(&shrinker.smallest, &rest))?;
        }
    }
    Ok(())
}

/// Which flow each step of stateful sequences drew, by the number of the answer.
fn flows(entries: &[HistoryEntry]) -> BTreeMap<StepPosition, String> {
    let mut found = BTreeMap::new();
    let mut place = StepPosition { kind: ScenarioKind::Stateful, sequence: 0, step: 0 };
    for HistoryEntry { call, asked, answer, .. } in entries {
        match call.as_str() {
            "fozzy:scenario/stateful.begin-sequence" => place.sequence = asked.parse().unwrap_or(0),
            "fozzy:scenario/stateful.step" => place.step = asked.parse().unwrap_or(0),
            "fozzy:choices/draws.weighted" if asked.starts_with("\"flow\",") => {
                found.entry(place).or_insert_with(|| answer.clone());
            }
            _ => {}
        }
    }
    found
}

/// The steps that the candidate names.
pub(super) fn steps_of(shrinker: &Shrinker<'_>) -> Vec<StepPosition> {
    named(&shrinker.smallest).collect()
}

/// The same of any candidate.
pub(super) fn named(candidate: &ShrinkCandidate) -> impl Iterator<Item = StepPosition> + '_ {
    let only = candidate.plan.scenario.iter().flat_map(|scenario| &scenario.only);
    let places = only.flat_map(|kept| {
        let KeptSequence { kind, sequence, steps } = kept;
        let numbers = steps.iter().flat_map(|(from, to)| *from..*to);
        numbers.map(|step| StepPosition { kind: *kind, sequence: *sequence, step })
    });
    places.take(STEPS_MAX + 1)
}

/// How many steps a candidate runs up to its failure.
pub(super) fn count(plan: &Plan, position: Option<ScenarioPosition>) -> usize {
    let Some(scenario) = &plan.scenario else { return 0 };
    let of = |steps: &[(u32, u32)]| steps.iter().map(|(from, to)| (to - from.min(to)) as usize).sum::<usize>();
    if !scenario.only.is_empty() {
        return scenario.only.iter().map(|kept| of(&kept.steps)).sum();
    }
    let Some(ScenarioPosition { sequence: Some(sequence), step, .. }) = position else { return 0 };
    let whole = sequence as usize * scenario.flows as usize;
    // A failure after the last step has all of them before it.
    whole + step.map_or(scenario.flows as usize, |step| step as usize + 1)
}

fn with(smallest: &ShrinkCandidate, only: Vec<KeptSequence>) -> ShrinkCandidate {
    let mut smallest = smallest.clone();
    if let Some(scenario) = &mut smallest.plan.scenario {
        scenario.only = only;
    }
    smallest
}

/// The candidate with these steps only. Its sequences stay, also those without a step.
pub(super) fn with_steps(smallest: &ShrinkCandidate, places: &[StepPosition]) -> ShrinkCandidate {
    let mut only = smallest.plan.scenario.as_ref().map(|scenario| scenario.only.clone()).unwrap_or_default();
    let mut stretches: BTreeMap<(ScenarioKind, u32), Vec<(u32, u32)>> = BTreeMap::new();
    for StepPosition { kind, sequence, step } in places {
        let stretches = stretches.entry((*kind, *sequence)).or_default();
        match stretches.last_mut() {
            Some((_, to)) if to == step => *to += 1,
            _ => stretches.push((*step, step + 1)),
        }
    }
    for kept in &mut only {
        kept.steps = stretches.get(&(kept.kind, kept.sequence)).cloned().unwrap_or_default();
    }
    with(smallest, only)
}
