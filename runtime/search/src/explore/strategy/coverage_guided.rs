//! From the start, or from a place where something new was seen; how often which, is learned.
//!
//! ```text
//! chance of a fresh run   (1 - checkpoint_prob) · 2^(-barren fresh runs / 16), at least 1/50, once there are places
//! ```
//!
//! Steps are few as often as many: from a place, what is new is near as often as far.

use super::{Attempt, Keeps, Origin, Strategy};
use crate::explore::options::{CheckpointStrategy, Options};
use crate::explore::pool::Pool;
use crate::explore::walk::{Answers, Manner, Order};
use crate::fuzz::chance::Chance;
use std::sync::Arc;

/// Fresh runs without anything new that halve their share.
const BARREN_RUNS: i32 = 16;
/// The share of fresh runs never falls below this.
const FRESH_MIN: f64 = 0.02;
/// One run in so many lets tasks run on but for a few changes, as `pct` does.
const ORDERED: u64 = 4;

/// Changes of the running task in a step of such a run, at most.
const CHANGES: u32 = 2;

pub(super) struct CoverageGuided {
    steps_per_run: u32,
    checkpoint_prob: f64,
    how: CheckpointStrategy,
    toggle: f64,
    /// Fresh runs since the last that found something.
    barren: i32,
    is_fresh: bool,
    /// The most questions about the order in one step.
    ordered: u64,
}

impl CoverageGuided {
    pub(super) fn new(options: &Options) -> CoverageGuided {
        CoverageGuided {
            steps_per_run: options.steps_per_run,
            checkpoint_prob: options.checkpoint_prob,
            how: options.checkpoint_strategy,
            toggle: options.fault_toggle_prob,
            barren: 0,
            is_fresh: true,
            ordered: 1,
        }
    }

    fn fresh_share(&self) -> f64 {
        let share = (1.0 - self.checkpoint_prob) * 0.5f64.powi(self.barren / BARREN_RUNS);
        // Whoever wants no places gets none.
        if self.checkpoint_prob > 0.0 { share.max(FRESH_MIN) } else { 1.0 }
    }
}

impl Strategy for CoverageGuided {
    fn next(&mut self, pool: &mut Pool, chance: &mut Chance) -> Option<Attempt> {
        self.is_fresh = pool.len() == 0 || chance.happens(self.fresh_share());
        let origin = if self.is_fresh { Origin::Start } else { Origin::Kept(pool.pick(self.how, chance)) };
        let most = self.steps_per_run.max(1) as usize;
        let steps = if self.is_fresh { chance.between(1, most) } else { chance.length(most) };
        let order =
            if chance.one_in(ORDERED) { Order::Changes { most: CHANGES, among: self.ordered } } else { Order::Any };
        let manner = Manner { order, simplest: false, toggle: self.toggle };
        Some(Attempt { origin, steps: steps as u32, script: Arc::from([]), manner, keeps: Keeps::New })
    }

    fn learn(&mut self, fresh: u32, answers: &Answers) {
        self.ordered = answers.ordered().max(self.ordered);
        if self.is_fresh {
            self.barren = if fresh > 0 { 0 } else { self.barren.saturating_add(1) };
        }
    }
}
