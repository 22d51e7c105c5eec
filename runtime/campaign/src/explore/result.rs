//! What an exploration came to, and what its workers tell their supervisor of it.
//!
//! Not here: how it is transmitted (`crate::workers`), and what workers leave for each other (`exchange`).

use super::shrink_time::ShrinkTime;
use crate::workers::WorkerProtocol;
use fozzy_report::{FaultOverlap, UnreachedBranch};
use fozzy_search::explore::{DecisionPath, KnownCoverage, Reward, Stats};
use fozzy_trace::facts::PropertyTable;
use fozzy_trace::{FailureSignature, Verdict};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What an exploration came to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ExplorationResult {
    /// Its numbers; of a worker, those of its own share.
    pub stats: Stats,
    /// Runs of these that were made before it began.
    #[serde(default)]
    pub first_runs: u64,
    /// Runs that were given up at its end.
    #[serde(default)]
    pub given_up: u64,
    /// Whether any flow did anything.
    pub has_run: bool,
    /// EdgeClasses that are told apart.
    pub edges_total: u64,
    /// For each module, whether each of its edges was taken.
    pub taken: Vec<Vec<u8>>,
    /// The failures, each once.
    pub traces: Vec<FailureTrace>,
    /// The ways to the places that are kept.
    pub stories: Vec<DecisionPath>,
    /// The ways to the failures.
    #[serde(default)]
    pub findings: Vec<DecisionPath>,
    /// What was seen, for an exploration that continues it.
    #[serde(default)]
    pub known: KnownCoverage,
    /// What each way to search has earned, by dial and name.
    pub earned: Vec<(String, String, Reward)>,
    /// Which nemeses were at work together, and with which operations.
    #[serde(default)]
    pub overlaps: Vec<FaultOverlap>,
    /// How the properties of the program stand over all its runs.
    #[serde(default)]
    pub properties: PropertyTable,
    /// Branches that were not reached.
    #[serde(skip)]
    pub not_reached: Vec<UnreachedBranch>,
    /// Why it ended.
    pub ended: String,
    /// Workers that ended before their time.
    #[serde(skip)]
    pub workers_lost: u32,
    /// Workers that were started in their place.
    #[serde(skip)]
    pub workers_restarted: u32,
    /// What is left of its time for making its failures smaller.
    #[serde(skip)]
    pub shrink_time: ShrinkTime,
    /// Why it could not be brought to its end.
    #[serde(skip)]
    pub failure: Option<String>,
}

/// The trace of a failure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FailureTrace {
    /// The file; it is not there if there is an `unkept`.
    pub path: PathBuf,
    /// What is known of a failure whose trace could not be written, as on a full disk.
    pub unkept: Option<UnkeptFailure>,
    /// What fails.
    pub signature: Option<FailureSignature>,
    /// The run that found it, of its worker, counted from 1; 0 when the worker was lost before it could say so.
    pub found_at: u64,
    /// How often it was seen.
    pub times: u64,
}

/// A failure whose trace could not be written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UnkeptFailure {
    /// How its run ended.
    pub verdict: Verdict,
    /// Steps of the run.
    pub steps: u32,
    /// Why there is no trace.
    pub why: String,
}

impl FailureTrace {
    /// Where its trace is, or why it is nowhere.
    pub(super) fn place(&self) -> String {
        self.unkept.as_ref().map_or_else(
            || self.path.display().to_string(),
            |unkept| format!("its trace is not kept: {}", unkept.why.lines().next().unwrap_or_default()),
        )
    }
}

/// What workers of an exploration report: numbers, failures, and why they ended.
pub enum ExploreProtocol {}

impl WorkerProtocol for ExploreProtocol {
    type Progress = Stats;
    type Finding = FailureTrace;
    type Report = String;

    fn runs(progress: &Stats) -> u64 {
        progress.runs
    }
}

/// Each path once, in the order of its first.
pub(super) fn without_doubles(paths: impl Iterator<Item = DecisionPath>) -> Vec<DecisionPath> {
    let mut paths: Vec<DecisionPath> = paths.collect();
    let firsts: Vec<bool> = {
        let mut known = BTreeSet::new();
        paths.iter().map(|path| known.insert(PathFromItsEnd(path))).collect()
    };
    let mut firsts = firsts.into_iter();
    paths.retain(|_| firsts.next() == Some(true));
    paths
}

/// A path in an order that is told quickly: many begin in the same way, and differ at their end.
#[derive(PartialEq, Eq)]
struct PathFromItsEnd<'a>(&'a DecisionPath);

impl Ord for PathFromItsEnd<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (own, other) = (self.0, other.0);
        let sizes = (own.steps, own.answers.len()).cmp(&(other.steps, other.answers.len()));
        sizes.then_with(|| own.answers.iter().rev().cmp(other.answers.iter().rev()))
    }
}

impl PartialOrd for PathFromItsEnd<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::source::Override;

    #[test]
    fn each_path_stays_once_where_it_came_first() {
        let number = |index: u64| index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let paths: Vec<DecisionPath> = (0..3_000)
            .map(|index| {
                let answers = (0..number(index) % 4).map(|at| Override::Number(number(index * 4 + at) % 3)).collect();
                DecisionPath { answers, steps: (number(index + 7) % 3) as u32 }
            })
            .collect();
        let mut expected: Vec<DecisionPath> = Vec::new();
        for path in &paths {
            if !expected.contains(path) {
                expected.push(path.clone());
            }
        }
        assert!(expected.len() > 50 && expected.len() < 200, "{}", expected.len());
        assert_eq!(without_doubles(paths.into_iter()), expected);
    }
}
