//! One puzzle, explored once for each seed.
//!
//! Invariant: what is counted as solved, a run of its own has confirmed.

use super::ground::Puzzle;
use super::{seconds, seeds};
use crate::measure::thread_clock;
use fozzy_search::FailureRecord;
use fozzy_search::explore::{
    DecisionPath, Exploration, ExplorationEnd, ExplorationObserver, FirstPaths, Options, Stats, StopCondition, strategy,
};
use fozzy_trace::Seed;
use std::sync::Arc;

/// Steps between two looks at the clock.
const LOOK_EVERY: u64 = 64;

/// A way to search.
#[derive(Clone, Copy)]
pub(super) struct Way {
    pub(super) name: &'static str,
    pub(super) strategy: &'static str,
    pub(super) checkpoints: bool,
    pub(super) states: bool,
    /// Whether the search hears what the puzzle says its state is; otherwise it has its memory only.
    pub(super) told: bool,
}

/// What several seeds came to.
#[derive(Default)]
pub(super) struct Tries {
    /// Steps of those that solved it, and the CPU seconds.
    pub(super) solved: Vec<(u64, f64)>,
    pub(super) tried: usize,
    /// Of all of them, solved or not.
    pub(super) steps: u64,
    pub(super) seconds: f64,
}

impl Tries {
    pub(super) fn add(&mut self, solved: bool, steps: u64, seconds: f64) {
        self.tried += 1;
        self.steps += steps;
        self.seconds += seconds;
        if solved {
            self.solved.push((steps, seconds));
            self.solved.sort_by_key(|(steps, _)| *steps);
        }
    }

    /// Steps of the one in the middle; those that solved nothing are worse than all that did.
    pub(super) fn median(&self) -> u64 {
        self.solved.get(self.tried / 2).map_or(0, |(steps, _)| *steps)
    }

    /// `20/20 │ 812 to 2930 steps │ 3.1 ms │ 540 steps/ms`
    pub(super) fn shown(&self) -> String {
        let rate = format!("{:.0} steps/s", self.steps as f64 / self.seconds.max(1e-9));
        let solved = format!("{}/{}", self.solved.len(), self.tried);
        let (Some((worst, _)), true) = (self.solved.last(), self.solved.len() > self.tried / 2) else {
            return format!("{solved}, {rate}");
        };
        let mut seconds: Vec<f64> = self.solved.iter().map(|(_, seconds)| *seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let seconds = seconds[self.tried / 2] * 1e3;
        format!("{solved}, {} to {worst} steps, {seconds:.1} ms, {rate}", self.median())
    }
}

/// Ends when its CPU seconds are used up.
struct WatchedExploration {
    looked: u64,
    until: f64,
}

impl ExplorationObserver for WatchedExploration {
    fn on_step(&mut self, _: &Stats) -> bool {
        self.looked += 1;
        !self.looked.is_multiple_of(LOOK_EVERY) || thread_clock() < self.until
    }

    fn on_failure(&mut self, _: &FailureRecord<DecisionPath>) {}
}

/// Explores one puzzle with each seed.
pub(super) fn solve(component: &Arc<[u8]>, name: &str, way: Way) -> Tries {
    let mut puzzle = Puzzle::new(component, name, way.told);
    let mut tries = Tries::default();
    let row = strategy(way.strategy).expect("it has that name");
    for seed in 0..seeds() {
        let mut options =
            Options { seed: Seed(seed), states: way.states, stop: StopCondition::FirstFinding, ..Options::default() };
        if !way.checkpoints {
            (options.checkpoint_prob, options.checkpoints_max) = (0.0, 0);
        }
        let mut exploration = Exploration::new(options, row, &puzzle.start);
        let before = thread_clock();
        let mut watched = WatchedExploration { looked: 0, until: before + seconds() };
        let ended = exploration
            .run(&mut puzzle, FirstPaths::Found(&mut std::iter::empty()), &mut watched)
            .expect("the machine is well");
        assert_eq!(exploration.stats().lost, 0, "{name}, {}: a failure was lost", way.name);
        tries.add(ended == ExplorationEnd::FirstFailure, exploration.stats().steps, thread_clock() - before);
        puzzle.clear();
    }
    tries
}
