//! Steps that a failure depends on, and that no candidate is without.
//!
//! ```text
//! required     { 2, 5 }      the failing step reads what they write
//! companions   { 3: 4 }      step 4 stays as long as step 3 does: a heal, and its partition
//!
//! candidate    0 3 5    ─complete▶    0 2 3 4 5
//! ```
//!
//! A candidate without them can fail at the same place with the same words, and tell another story: an assertion on a sum that
//! nothing has computed.
//!
//! Not here: which steps those are, which only who knows the notation of the scenario can tell (`fozzy-scenario-file`).

use super::ShrinkCandidate;
use fozzy_trace::facts::ScenarioPosition;
use fozzy_trace::plan::{KeptSequence, ScenarioKind};
use std::collections::{BTreeMap, BTreeSet};

/// Steps that a failure depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepDependencies {
    /// Steps that stay.
    pub required: BTreeSet<u32>,
    /// Steps that stay as long as another one does, by the number of that one.
    pub companions: BTreeMap<u32, u32>,
}

impl StepDependencies {
    /// The candidate, with the steps that it cannot be without in the sequence that fails.
    pub(super) fn complete(
        &self,
        mut candidate: ShrinkCandidate,
        position: Option<ScenarioPosition>,
    ) -> ShrinkCandidate {
        let failing = position.and_then(|position| position.sequence);
        if self.required.is_empty() && self.companions.is_empty() {
            return candidate;
        }
        let sequences = candidate.plan.scenario.iter_mut().flat_map(|scenario| &mut scenario.only);
        for KeptSequence { steps, .. } in
            sequences.filter(|kept| kept.kind == ScenarioKind::Stateful && Some(kept.sequence) == failing)
        {
            self.complete_steps(steps);
        }
        candidate
    }

    /// Stretches may be as long as a run can be: only what is added is looked at step by step.
    fn complete_steps(&self, stretches: &mut Vec<(u32, u32)>) {
        // They stand in the order of their steps.
        let is_there = |step: u32| stretches.get(stretches.partition_point(|(_, to)| *to <= step));
        let is_missing = |step: u32| is_there(step).is_none_or(|(from, _)| step < *from);
        let mut added: BTreeSet<u32> = self.required.iter().copied().filter(|step| is_missing(*step)).collect();
        // A companion stands after its step, so that one pass in order finds those of companions too.
        for (step, companion) in &self.companions {
            if (added.contains(step) || !is_missing(*step)) && is_missing(*companion) {
                added.insert(*companion);
            }
        }
        if !added.is_empty() {
            stretches.extend(added.into_iter().map(|step| (step, step + 1)));
            *stretches = joined(std::mem::take(stretches));
        }
    }
}

/// Stretches that have no step in common, in their order, those that follow on each other as one.
fn joined(mut stretches: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    stretches.sort_unstable();
    let mut joined: Vec<(u32, u32)> = Vec::new();
    for (from, to) in stretches.into_iter().filter(|(from, to)| from < to) {
        match joined.last_mut() {
            Some((_, end)) if *end == from => *end = to,
            _ => joined.push((from, to)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_is_completed_with_what_its_failure_depends_on() {
        let dependencies =
            StepDependencies { required: BTreeSet::from([2, 5]), companions: BTreeMap::from([(3, 4), (4, 6), (7, 8)]) };
        let mut steps = vec![(0, 1), (3, 4), (5, 6)];
        dependencies.complete_steps(&mut steps);
        assert_eq!(steps, [(0, 1), (2, 7)]);
        let mut complete = vec![(2, 3), (5, 6)];
        dependencies.complete_steps(&mut complete);
        assert_eq!(complete, [(2, 3), (5, 6)], "stretches of a complete candidate are as they were");
        let mut long = vec![(3, u32::MAX)];
        dependencies.complete_steps(&mut long);
        assert_eq!(long, [(2, u32::MAX)], "however long they are");
    }
}
