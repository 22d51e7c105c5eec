//! From the start, or from a place where something new was seen; how often which, is learned.
//!
//! ```text
//! chance of a fresh run   (1 - checkpoint_prob) · 2^(-barren fresh runs / 4), at least 1/50, once there are places
//! order of tasks          any │ runs on, but for a few changes     ┐ what finds more in a step
//! answers                 all │ coin │ energy │ directed (`swarm`)  ┘ gets more of the runs
//! ```
//!
//! Steps are few as often as many: from a place, what is new is near as often as far.

use super::{CapturePolicy, ExplorationStrategy, RunOrigin, RunSpec};
use crate::explore::bandit::{Bandit, Reward};
use crate::explore::frontier::Frontier;
use crate::explore::guided_source::{AnswerLog, AnswerPolicy, TaskOrder};
use crate::explore::options::{CheckpointStrategy, Options};
use crate::explore::swarm::{AnswerMask, Swarm};
use crate::rng::Rng;
use std::sync::Arc;

/// Fresh runs without anything new that halve their share.
const BARREN_RUNS: i32 = 4;
/// The share of fresh runs never falls below this.
const FRESH_MIN: f64 = 0.02;
/// Changes of the running task in a step, at most, where tasks run on.
const CHANGES: u32 = 2;

pub(super) struct CoverageGuidedSearch {
    steps_per_run: u32,
    checkpoint_prob: f64,
    how: CheckpointStrategy,
    toggle: f64,
    /// Fresh runs since the last that found something.
    barren: i32,
    is_fresh: bool,
    /// The most questions about the order in one step.
    ordered: u64,
    origins: Bandit<2>,
    orders: Bandit<2>,
    /// `None` when every run may do everything.
    swarm: Option<Swarm>,
}

impl CoverageGuidedSearch {
    pub(super) fn new(options: &Options) -> CoverageGuidedSearch {
        CoverageGuidedSearch {
            steps_per_run: options.steps_per_run,
            checkpoint_prob: options.checkpoint_prob,
            how: options.checkpoint_strategy,
            toggle: options.fault_toggle_prob,
            barren: 0,
            is_fresh: true,
            ordered: 0,
            origins: Bandit::new(["start", "checkpoint"]),
            orders: Bandit::new(["any", "changes"]),
            swarm: options.swarm.then(Swarm::new),
        }
    }

    fn fresh_share(&self) -> f64 {
        let share = (1.0 - self.checkpoint_prob) * 0.5f64.powi(self.barren / BARREN_RUNS);
        // Whoever wants no places gets none.
        if self.checkpoint_prob > 0.0 { share.max(FRESH_MIN) } else { 1.0 }
    }
}

impl ExplorationStrategy for CoverageGuidedSearch {
    fn next(&mut self, frontier: &mut Frontier, rng: &mut Rng) -> Option<RunSpec> {
        self.is_fresh = frontier.len() == 0 || rng.happens(self.fresh_share());
        self.origins.choose(usize::from(!self.is_fresh));
        let origin = if self.is_fresh { RunOrigin::Start } else { RunOrigin::Checkpoint(frontier.pick(self.how, rng)) };
        let most = self.steps_per_run.max(1) as usize;
        let steps = if self.is_fresh { rng.between(1, most) } else { rng.length(most) };
        // Where nobody takes turns, there is nothing to choose.
        let order = match self.orders.pick([true, self.ordered > 0], rng) {
            0 => TaskOrder::Any,
            _ => TaskOrder::Changes { most: CHANGES, among: self.ordered },
        };
        let mask = self.swarm.as_mut().map_or(AnswerMask::All, |swarm| swarm.next(rng));
        let policy = AnswerPolicy { mask, order, simplest: false, toggle: self.toggle };
        Some(RunSpec { origin, steps: steps as u32, script: Arc::from([]), policy, capture: CapturePolicy::New })
    }

    fn learn(&mut self, fresh: u32, steps: u32, answers: &AnswerLog) {
        self.ordered = answers.ordered().max(self.ordered);
        if self.is_fresh {
            self.barren = if fresh > 0 { 0 } else { self.barren.saturating_add(1) };
        }
        let steps = u64::from(steps);
        self.origins.learn(fresh, steps);
        self.orders.learn(fresh, steps);
        if let Some(swarm) = &mut self.swarm {
            swarm.learn(fresh, steps, &answers.credited());
        }
    }

    fn rewards(&self) -> Vec<(&'static str, &'static str, Reward)> {
        let of = |dial: &'static str, rewards: &mut dyn Iterator<Item = (&'static str, Reward)>| {
            rewards.map(|(name, rewards)| (dial, name, rewards)).collect::<Vec<_>>()
        };
        let mut all = of("origin", &mut self.origins.rewards());
        all.extend(of("order", &mut self.orders.rewards()));
        all.extend(self.swarm.iter().flat_map(|swarm| of("swarm", &mut swarm.layers().rewards())));
        all
    }
}
