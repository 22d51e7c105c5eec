//! How long runs of tasks are, as earlier ones have shown.
//!
//! ```text
//! kind of run   points: 24        task 0: 3 steps, task 1: 9 steps, …        the most that any run had
//! ```
//!
//! Invariant: nothing learned ever becomes less, so that the order in which runs are learned from does not matter.
//! A task that runs alone after the last point is seen up to that point; another run, in which it was not the last one,
//! shows the rest.

use super::ReadyTask;
use std::collections::BTreeMap;

/// Points of a run that count; a longer one is as one of this length. It bounds what one endless run can teach. At two tasks and
/// as many points, a fault of depth 2 is hit once in 16,384 runs.
const POINTS_MAX: u64 = 1 << 13;
/// Kinds that are learned; later ones stay unknown.
const KINDS_MAX: usize = 4096;
/// Tasks of a kind that are learned; later ones stay unknown.
const TASKS_MAX: usize = 4096;

/// The lengths of runs, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunLengths(BTreeMap<u64, Length>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Length {
    points: u64,
    /// Steps of each task, by its number.
    steps: BTreeMap<u64, u64>,
}

impl RunLengths {
    /// Adds what others have learned.
    pub fn merge(&mut self, others: &RunLengths) {
        for (kind, other) in &others.0 {
            let Some(length) = self.of(*kind) else { continue };
            length.points = length.points.max(other.points);
            other.steps.iter().for_each(|(task, steps)| length.at_least(*task, *steps));
        }
    }

    /// Points of a run; `None` when there was none of this kind.
    pub(super) fn points(&self, kind: u64) -> Option<u64> {
        self.0.get(&kind).map(|length| length.points)
    }

    /// Steps of each task.
    pub(super) fn steps(&self, kind: u64) -> BTreeMap<u64, u64> {
        self.0.get(&kind).map(|length| length.steps.clone()).unwrap_or_default()
    }

    /// After `points` of a run, these tasks were ready.
    pub(super) fn learn(&mut self, kind: u64, points: u64, ready: &[ReadyTask]) {
        let Some(length) = self.of(kind) else { return };
        length.points = length.points.max(points.min(POINTS_MAX));
        for task in ready {
            // Who is ready takes at least one step more.
            length.at_least(task.number, task.steps.saturating_add(1));
        }
    }

    fn of(&mut self, kind: u64) -> Option<&mut Length> {
        if self.0.len() >= KINDS_MAX && !self.0.contains_key(&kind) {
            return None;
        }
        Some(self.0.entry(kind).or_default())
    }
}

impl Length {
    fn at_least(&mut self, task: u64, steps: u64) {
        if self.steps.len() < TASKS_MAX || self.steps.contains_key(&task) {
            let most = self.steps.entry(task).or_default();
            *most = steps.max(*most);
        }
    }
}
