//! What became of the planned faults of an execution: chances, strikes, and what losses of power took.
//!
//! ```text
//! write-error on /data/*   asked 130   matched 102   chances 102   strikes 1: main, /data/log, at 12us
//! power-loss               main at 1.2ms: the name /data/log; its directory was never synced
//! ```
//!
//! Invariants: bounded, whatever a plan and a program do; counts are exact, only the list of strikes is cut. It follows from plan
//! and decisions, so no trace holds it: executing again gives it again.
//! Not here: when a fault strikes (`fozzy-world`), the words of reports (`fozzy-report`).

use crate::Instant;
use std::collections::{BTreeMap, BTreeSet};

/// Strikes of one fault that are kept, the first ones; further ones are counted.
pub const STRIKES_KEPT_MAX: usize = 16;
/// Targets that one fault did not match and that are kept, the first ones: enough to see a slip in a pattern.
pub const MISSED_KEPT_MAX: usize = 3;
/// Losses of power that are kept, the first ones; further ones are counted.
pub const LOSSES_KEPT_MAX: usize = 16;
/// Names of operations that are counted apart from each other, of one run and of many: the first ones by the alphabet, whatever the order in
/// which runs are added. Further ones are not counted: names that are made from values have no end.
pub const OPERATION_NAMES_MAX: usize = 64;
/// Sentences about one loss of power that are kept; the last one says how many there are more.
pub const LOST_KEPT_MAX: usize = 16;

/// What became of the planned faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InjectedFaults {
    /// One for each fault, in the order of the plan.
    pub rules: Vec<FaultTally>,
    /// The first losses of power, planned or asked for by a scenario.
    pub losses: Vec<PowerLossRecord>,
    /// Further ones.
    pub losses_more: u64,
    /// Which nemeses were at work together, and with which operations.
    pub overlaps: FaultOverlaps,
    /// Whether faults were planned and all held back to the end, since no program said that its setup was complete.
    pub awaits_setup: bool,
}

/// How often nemeses were at work together, and while which operations of clients began or ended. What never was is not covered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultOverlaps {
    /// The places of nemeses among the faults of the plan.
    pub nemeses: Vec<usize>,
    /// Pairs of places, the lower one first.
    pub pairs: BTreeMap<(usize, usize), u64>,
    /// Those of them that can never be at work together, by the bounds of the plan.
    pub apart: BTreeSet<(usize, usize)>,
    /// Operations by the first word of their names, and places.
    pub operations: BTreeMap<(String, usize), u64>,
    /// First words of operations, [`OPERATION_NAMES_MAX`] at the most.
    pub names: BTreeSet<String>,
}

impl FaultOverlaps {
    /// Adds those of another run under the same plan.
    pub fn add(&mut self, other: &FaultOverlaps) {
        self.nemeses.clone_from(&other.nemeses);
        self.apart.clone_from(&other.apart);
        for (pair, times) in &other.pairs {
            *self.pairs.entry(*pair).or_default() += times;
        }
        for name in &other.names {
            self.note_name(name);
        }
        for (cell, times) in other.operations.iter().filter(|((name, _), _)| self.names.contains(name)) {
            *self.operations.entry(cell.clone()).or_default() += times;
        }
    }

    /// Whether operations of this name are counted. One that is among the first of all names was never left out, so that its count is whole.
    pub fn note_name(&mut self, name: &str) -> bool {
        if self.names.contains(name) {
            return true;
        }
        self.names.insert(name.to_owned());
        if self.names.len() <= OPERATION_NAMES_MAX {
            return true;
        }
        let last = self.names.pop_last().unwrap_or_default();
        self.operations.retain(|(of, _), _| *of != last);
        last != name
    }
}

impl InjectedFaults {
    /// Whether any of them has struck.
    #[must_use]
    pub fn has_struck(&self) -> bool {
        self.rules.iter().any(|rule| rule.strikes > 0)
    }
}

/// How often one planned fault could strike, and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultTally {
    /// The name of its kind.
    pub kind: String,
    /// The target of the plan.
    pub target: String,
    /// Operations that its kind can strike.
    pub asked: u64,
    /// Those of them that its target names.
    pub matched: u64,
    /// Those of them that came within its time and its number of strikes: at each, whether it strikes was a decision.
    pub chances: u64,
    /// How often it struck.
    pub strikes: u64,
    /// The first strikes.
    pub first: Vec<StrikeRecord>,
    /// When it struck last.
    pub last: Instant,
    /// Targets that it did not match.
    pub missed: Vec<String>,
}

/// One strike of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrikeRecord {
    /// Virtual time.
    pub at: Instant,
    /// Calls before it.
    pub call: u64,
    /// The machine whose operation it struck.
    pub machine: String,
    /// What it struck: a path, a URL, a link, a machine.
    pub target: String,
    /// How hard, such as `1s` or `512 bytes`; empty when the kind has no strength.
    pub strength: String,
}

/// One loss of power.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerLossRecord {
    /// Virtual time.
    pub at: Instant,
    /// The machine.
    pub machine: String,
    /// What its disk lost, a sentence each; empty when it kept everything.
    pub lost: Vec<String>,
}

impl InjectedFaults {
    /// Notes a loss of power.
    pub fn lose(&mut self, loss: PowerLossRecord) {
        if self.losses.len() < LOSSES_KEPT_MAX {
            self.losses.push(loss);
        } else {
            self.losses_more += 1;
        }
    }
}

impl FaultTally {
    /// Adds what became of the same fault in another run. When it struck belongs to each run, and is not kept.
    pub fn add(&mut self, other: &FaultTally) {
        if self.kind.is_empty() {
            (self.kind, self.target) = (other.kind.clone(), other.target.clone());
        }
        self.asked += other.asked;
        self.matched += other.matched;
        self.chances += other.chances;
        self.strikes += other.strikes;
        other.missed.iter().for_each(|target| self.miss(target));
    }

    /// Notes a strike.
    pub fn strike(&mut self, at: Instant, record: impl FnOnce() -> StrikeRecord) {
        self.strikes += 1;
        self.last = at;
        if self.first.len() < STRIKES_KEPT_MAX {
            let record = record();
            let target = super::cut(&record.target, crate::choice::NAME_BYTES_MAX);
            self.first.push(StrikeRecord { target, ..record });
        }
    }

    /// Notes an operation that the target of the plan does not name.
    pub fn miss(&mut self, target: &str) {
        if self.missed.len() < MISSED_KEPT_MAX && !self.missed.iter().any(|known| known == target) {
            self.missed.push(super::cut(target, crate::choice::NAME_BYTES_MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_operations_over_many_runs_are_bounded() {
        let mut all = FaultOverlaps::default();
        for number in 0..3 * OPERATION_NAMES_MAX {
            let mut run = FaultOverlaps::default();
            for name in ["add".to_owned(), format!("add{number}")] {
                assert!(run.note_name(&name));
                run.operations.insert((name, 0), 1);
            }
            all.add(&run);
        }
        assert_eq!((all.names.len(), all.operations.len()), (OPERATION_NAMES_MAX, OPERATION_NAMES_MAX));
        assert_eq!(all.operations.get(&("add".to_owned(), 0)), Some(&(3 * OPERATION_NAMES_MAX as u64)));
    }

    fn sum<'a>(runs: impl Iterator<Item = &'a FaultOverlaps>) -> FaultOverlaps {
        let mut all = FaultOverlaps::default();
        runs.for_each(|run| all.add(run));
        all
    }

    #[test]
    fn which_names_are_counted_and_how_often_does_not_depend_on_the_order_of_runs() {
        let runs: Vec<FaultOverlaps> = (0..200_u64)
            .map(|number| {
                let mut run = FaultOverlaps::default();
                for name in [format!("op{}", number * 7 % 90), format!("op{}", number * 11 % 90)] {
                    if run.note_name(&name) {
                        *run.operations.entry((name, 0)).or_default() += 1;
                    }
                }
                run
            })
            .collect();
        let (forth, back) = (sum(runs.iter()), sum(runs.iter().rev()));
        assert_eq!((&forth, forth.names.len()), (&back, OPERATION_NAMES_MAX));
        // Several workers, each with a part of them.
        let parts: Vec<FaultOverlaps> = (0..3).map(|worker| sum(runs.iter().skip(worker).step_by(3))).collect();
        assert_eq!(sum(parts.iter()), forth);
        let counted: u64 = forth.operations.values().sum();
        let all = runs.iter().flat_map(|run| &run.operations).filter(|((name, _), _)| forth.names.contains(name));
        assert_eq!(counted, all.map(|(_, times)| times).sum::<u64>(), "what is counted is counted as a whole");
    }
}
