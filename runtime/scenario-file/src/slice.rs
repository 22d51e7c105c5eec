//! Steps that a failure is about: those that write what the failing step reads, and those that must go together.
//!
//! ```text
//! 0  set_kv a = 1
//! 1  set_kv b = 2              is not read by the failing step: may go
//! 2  get_kv a, save_as x       writes x, reads a
//! 3  partition n0 n1
//! 4  heal n0 n1                goes with its partition only
//! 5  assert ${x} == 3          fails; reads x, so 2 stays, and so does 0
//! ```
//!
//! Left to itself, a search for fewer steps leaves out the step that computes a sum, and keeps an assertion on it that fails in
//! any order. So the steps of a backward slice stay: what a step reads is followed to the steps that may have written it, and
//! from there to what those read. Plain writes end the search for earlier ones of the same key.
//!
//! Invariants: what is not known for sure - a key with a variable in it, what a loop does - counts as written and never as
//! overwritten; only steps before the failing one are named.
//! Not here: which steps a search tries to leave out (`fozzy-search`). Not followed: the state of a target, since a
//! file does not say what the target's functions read and write.
//!
//! Source: Weiser, "Program Slicing" (1981).

mod effects;
mod pattern;

use crate::cluster::{Cluster, ClusterStep};
use crate::{ParsedScenario, Step};
use effects::{Effects, ProgramEffects};
use std::collections::{BTreeMap, BTreeSet};

/// Where a scenario failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedPart {
    /// At a step, by its number.
    Step(u32),
    /// At an invariant of a cluster, by its number, before the step of the other number, or at the end.
    Invariant(usize, Option<u32>),
    /// After the last step.
    End,
}

/// What a search must not leave out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepSlice {
    /// Steps that write what the failing one reads.
    pub required: BTreeSet<u32>,
    /// Steps that stay as long as another one does, by the number of that one: a heal and its partition.
    pub companions: BTreeMap<u32, u32>,
}

impl ParsedScenario {
    /// The steps that a failure is about. Suites have none.
    #[must_use]
    pub fn slice(&self, failed: FailedPart) -> StepSlice {
        match self {
            ParsedScenario::Steps(file) => of_steps(&file.steps, failed),
            ParsedScenario::Program(file) => {
                let program = ProgramEffects::new(file);
                let effects: Vec<Effects> = file.steps.iter().map(|step| program.effects(step)).collect();
                let plain: Vec<Option<Step>> = file.steps.iter().map(effects::plain_step).collect();
                let closes = |later: usize, earlier: usize| match (&plain[later], &plain[earlier]) {
                    (Some(later), Some(earlier)) => closes(later, earlier),
                    _ => false,
                };
                StepSlice {
                    required: required(&effects, failed),
                    companions: companions(effects.len(), failed, closes),
                }
            }
            ParsedScenario::Cluster(file) => file.distributed.slice(failed),
            ParsedScenario::Suites(_) => StepSlice::default(),
        }
    }
}

fn of_steps(steps: &[Step], failed: FailedPart) -> StepSlice {
    let effects: Vec<Effects> = steps.iter().map(Effects::of_step).collect();
    let closes = |later: usize, earlier: usize| closes(&steps[later], &steps[earlier]);
    StepSlice { required: required(&effects, failed), companions: companions(steps.len(), failed, closes) }
}

impl Cluster {
    /// The steps that a failure is about.
    #[must_use]
    pub fn slice(&self, failed: FailedPart) -> StepSlice {
        let key = match failed {
            FailedPart::Step(step) => match self.steps.get(step as usize) {
                Some(ClusterStep::ClientGetAssert { key, .. }) => Some(key.as_str()),
                _ => None,
            },
            FailedPart::Invariant(number, _) => self.invariants.get(number).map(|invariant| invariant.key()),
            FailedPart::End => None,
        };
        let is_written =
            |step: &ClusterStep| matches!(step, ClusterStep::ClientPut { key: put, .. } if Some(put.as_str()) == key);
        let steps = reached(self.steps.len(), failed);
        let required = steps.clone().filter(|at| is_written(&self.steps[*at])).map(|at| at as u32).collect();
        let closes = |later: usize, earlier: usize| match (&self.steps[later], &self.steps[earlier]) {
            (ClusterStep::Heal { a, b }, ClusterStep::Partition { a: one, b: other }) => is_pair((a, b), (one, other)),
            (ClusterStep::Restart { node }, ClusterStep::Crash { node: crashed }) => node == crashed,
            _ => false,
        };
        StepSlice { required, companions: companions(self.steps.len(), failed, closes) }
    }
}

/// The steps up to the failure.
fn reached(steps: usize, failed: FailedPart) -> std::ops::Range<usize> {
    match failed {
        FailedPart::Step(step) | FailedPart::Invariant(_, Some(step)) => 0..steps.min(step as usize + 1),
        FailedPart::Invariant(_, None) | FailedPart::End => 0..steps,
    }
}

/// The backward slice from the failing step.
fn required(effects: &[Effects], failed: FailedPart) -> BTreeSet<u32> {
    let FailedPart::Step(failing) = failed else { return BTreeSet::new() };
    let Some(first) = effects.get(failing as usize) else { return BTreeSet::new() };
    let mut read = first.reads.clone();
    let mut required = BTreeSet::from([failing]);
    for at in (0..failing as usize).rev() {
        let step = &effects[at];
        if !step.writes.iter().any(|written| read.iter().any(|read| written.may_be(read))) {
            continue;
        }
        required.insert(at as u32);
        read.retain(|read| !step.overwrites.iter().any(|written| written.is(read)));
        read.extend(step.reads.iter().cloned());
    }
    required
}

/// Of each step that another one ends, the first that does.
fn companions(steps: usize, failed: FailedPart, closes: impl Fn(usize, usize) -> bool) -> BTreeMap<u32, u32> {
    let reached = reached(steps, failed);
    let of = |earlier: usize| {
        let later = (earlier + 1..reached.end).find(|later| closes(*later, earlier))?;
        Some((earlier as u32, later as u32))
    };
    reached.clone().filter_map(of).collect()
}

/// Whether a step ends what an earlier one began.
fn closes(later: &Step, earlier: &Step) -> bool {
    match (later, earlier) {
        (Step::NetHeal { a, b }, Step::NetPartition { a: one, b: other }) => is_pair((a, b), (one, other)),
        (Step::Unfreeze {}, Step::Freeze { .. })
        | (Step::NetSetDropRate { .. }, Step::NetSetDropRate { .. })
        | (Step::NetSetReorder { .. }, Step::NetSetReorder { .. }) => true,
        (Step::MemoryFree(which), Step::MemoryAlloc { key, .. }) => which.key.is_some() && which.key == *key,
        _ => false,
    }
}

fn is_pair(one: (&String, &String), other: (&String, &String)) -> bool {
    one == other || one == (other.1, other.0)
}

#[cfg(test)]
mod tests;
