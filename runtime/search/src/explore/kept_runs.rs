//! Whole runs that have shown something new, of a program that cannot be called step by step.
//!
//! ```text
//! place   the run too: others go on from a beginning of it, drawn each time (`frontier`, `explorer`)
//! run     all of its answers: executed again, it shows the same
//! ```
//!
//! Invariant: what is kept is bounded; the oldest runs are forgotten first.

use super::decision_path::PathNode;
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of the answers of all runs together, behind the places that they went on from: most answers take one.
const RUN_BYTES_MAX: usize = 64 << 20;
/// Runs that are kept.
const RUNS_MAX: usize = 100_000;

/// Their paths, in the order in which they were made.
#[derive(Debug, Default)]
pub(crate) struct KeptRuns {
    runs: VecDeque<Arc<PathNode>>,
    bytes: usize,
}

impl KeptRuns {
    /// How many they are.
    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    /// One more.
    pub(crate) fn keep(&mut self, run: Arc<PathNode>) {
        self.bytes += run.own_answers().bytes();
        self.runs.push_back(run);
        while self.runs.len() > RUNS_MAX || self.bytes > RUN_BYTES_MAX {
            let Some(oldest) = self.runs.pop_front() else { return };
            self.bytes -= oldest.own_answers().bytes();
        }
    }

    /// The latest ones, within bounds of their number and of their answers, in the order in which they were made.
    pub(crate) fn latest(&self, most: usize, mut answers: usize) -> Vec<&Arc<PathNode>> {
        let has_room = |run: &&Arc<PathNode>| {
            let left = answers.checked_sub(run.weight());
            answers = left.unwrap_or(answers);
            left.is_some()
        };
        let mut latest: Vec<_> = self.runs.iter().rev().filter(has_room).take(most).collect();
        latest.reverse();
        latest
    }
}

#[cfg(test)]
mod tests {
    use super::super::decision_path::PathNodeId;
    use super::*;
    use fozzy_trace::source::Override;

    #[test]
    fn the_latest_runs_are_told_as_far_as_there_is_room() {
        let mut kept = KeptRuns::default();
        for number in 1..=3 {
            kept.keep(PathNode::from(None, &[number; 3].map(Override::Number), 1, PathNodeId(number)));
        }
        let one = 3 * Override::Number(1).weight();
        let told = |most, answers| kept.latest(most, answers).iter().map(|run| run.id.0).collect::<Vec<_>>();
        assert_eq!((told(9, 3 * one), told(2, 3 * one)), (vec![1, 2, 3], vec![2, 3]));
        assert_eq!((told(9, 2 * one), told(9, one - 1)), (vec![2, 3], Vec::new()));
    }
}
