//! From the start, or from a place where something new was seen; how often which, is learned.
//!
//! ```text
//! chance of a fresh run   (1 - checkpoint_prob) · 2^(-barren fresh runs / 4), at least 1/50, once there are places
//! order of tasks          any │ pct │ pos │ urw                     ┐ what finds more in a step
//! answers                 all │ coin │ energy │ directed (`swarm`)  ┘ gets more of the runs
//! faults of a whole run   chosen from the start, each alone first and then several together; by chance now and then
//! ```
//!
//! Steps are few as often as many: from a place, what is new is near as often as far.

use super::fault_choices::FaultChoices;
use super::{CapturePolicy, ExplorationStrategy, RunOrigin, RunSpec};
use crate::explore::bandit::{Bandit, Reward};
use crate::explore::frontier::Frontier;
use crate::explore::guided_source::{AnswerLog, AnswerPolicy, FaultChoice, TaskOrder};
use crate::explore::novelty::{KindChoice, NewCoverage};
use crate::explore::options::{CheckpointStrategy, Options};
use crate::explore::swarm::{AnswerMask, Swarm};
use crate::rng::Rng;
use fozzy_trace::{RunLengths, SchedulePolicy};
use std::sync::Arc;

/// Fresh runs without anything new that halve their share.
const BARREN_RUNS: i32 = 4;
/// The share of fresh runs as long as there are chances of faults that have never struck.
const FIRST_PASS_SHARE: f64 = 0.8;
/// The share of fresh runs never falls below this.
const FRESH_MIN: f64 = 0.02;
/// The policies that choose which task runs next, beside chance.
const POLICIES: [SchedulePolicy; 3] = [SchedulePolicy::Pct { depth: 1 }, SchedulePolicy::Pos, SchedulePolicy::Urw];

pub(super) struct CoverageGuidedSearch {
    steps_per_run: u32,
    checkpoint_prob: f64,
    how: CheckpointStrategy,
    toggle: f64,
    /// Fresh runs since the last that found something.
    barren: i32,
    is_fresh: bool,
    /// Whether it was ever asked which task runs next.
    has_tasks: bool,
    /// How long runs of tasks are.
    lengths: Arc<RunLengths>,
    origins: Bandit<2>,
    kinds: KindChoice,
    orders: Bandit<4>,
    /// How faults of a whole run are chosen. Those of a scenario begin and end with its steps.
    faults: Bandit<3>,
    is_whole_run: bool,
    choices: FaultChoices,
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
            has_tasks: false,
            lengths: Arc::default(),
            origins: Bandit::new(["start", "checkpoint"]),
            kinds: KindChoice::new(),
            orders: Bandit::new(["any", "pct", "pos", "urw"]),
            faults: Bandit::new(["chance", "one", "several"]),
            is_whole_run: options.is_whole_run,
            choices: FaultChoices::default(),
            swarm: options.swarm.then(Swarm::new),
        }
    }

    /// Which faults strike. What a chosen one shows is mostly no new code, so that most runs have some, whatever they have earned.
    fn choose_faults(&mut self, is_first_pass: bool, rng: &mut Rng) -> FaultChoice {
        if let Some(none) = self.choices.first() {
            self.faults.choose(0);
            return none;
        }
        if !self.choices.are_there() || !is_first_pass && rng.one_in(4) {
            self.faults.choose(0);
            return FaultChoice::Chance;
        }
        if self.is_fresh && (is_first_pass || rng.one_in(2)) {
            self.faults.choose(1);
            return self.choices.one();
        }
        self.faults.choose(2);
        self.choices.several(rng)
    }

    fn fresh_share(&self) -> f64 {
        let share = (1.0 - self.checkpoint_prob) * 0.5f64.powi(self.barren / BARREN_RUNS);
        // Without checkpoints, all runs are fresh ones.
        if self.checkpoint_prob > 0.0 { share.max(FRESH_MIN) } else { 1.0 }
    }
}

impl ExplorationStrategy for CoverageGuidedSearch {
    fn next(&mut self, frontier: &mut Frontier, rng: &mut Rng) -> Option<RunSpec> {
        // Until each chance of a fault has struck once, there is no better place than the start.
        let is_first_pass = self.choices.are_there() && !self.choices.has_tried_each();
        let fresh_share = if is_first_pass { FIRST_PASS_SHARE } else { self.fresh_share() };
        self.is_fresh = frontier.len() == 0 || rng.happens(fresh_share);
        self.origins.choose(usize::from(!self.is_fresh));
        let place = if self.is_fresh { None } else { frontier.pick(self.how, self.kinds.choose(frontier, rng), rng) };
        let origin = place.map_or(RunOrigin::Start, |node| RunOrigin::Place(Arc::clone(node)));
        let most = self.steps_per_run.max(1) as usize;
        let steps = if self.is_fresh { rng.between(1, most) } else { rng.length(most) };
        // Where no tasks take turns, there is nothing to choose.
        let can = self.has_tasks;
        let order = match self.orders.pick([true, can, can, can], rng).checked_sub(1) {
            None => TaskOrder::Any,
            Some(policy) => {
                let policy = super::of_any_depth(POLICIES[policy], rng);
                TaskOrder::Policy(policy, Arc::clone(&self.lengths))
            }
        };
        let mask = self.swarm.as_mut().map_or(AnswerMask::All, |swarm| swarm.next(rng));
        let faults = if self.is_whole_run { self.choose_faults(is_first_pass, rng) } else { FaultChoice::Chance };
        let policy = AnswerPolicy { mask, order, simplest: false, toggle: self.toggle, faults };
        Some(RunSpec {
            origin,
            steps: steps as u32,
            script: Arc::from([]),
            policy,
            capture: CapturePolicy::New,
            compares: false,
        })
    }

    fn learn(&mut self, new: NewCoverage, steps: u32, answers: &AnswerLog) {
        let fresh = new.sum();
        self.has_tasks |= answers.ordered() > 0;
        if self.is_fresh && self.is_whole_run {
            self.choices.learn(fresh, answers);
        }
        Arc::make_mut(&mut self.lengths).merge(&answers.lengths());
        if self.is_fresh {
            self.barren = if fresh > 0 { 0 } else { self.barren.saturating_add(1) };
        }
        let steps = u64::from(steps);
        self.origins.learn(fresh, steps);
        self.kinds.learn(new, steps);
        self.orders.learn(fresh, steps);
        self.faults.learn(fresh, steps);
        if let Some(swarm) = &mut self.swarm {
            swarm.learn(fresh, steps, &answers.credited());
        }
    }

    fn rewards(&self) -> Vec<(&'static str, &'static str, Reward)> {
        let of = |dial: &'static str, rewards: &mut dyn Iterator<Item = (&'static str, Reward)>| {
            rewards.map(|(name, rewards)| (dial, name, rewards)).collect::<Vec<_>>()
        };
        let mut all = of("origin", &mut self.origins.rewards());
        all.extend(of("place", &mut self.kinds.rewards()));
        all.extend(of("order", &mut self.orders.rewards()));
        if self.is_whole_run {
            all.extend(of("faults", &mut self.faults.rewards()));
        }
        all.extend(self.swarm.iter().flat_map(|swarm| of("swarm", &mut swarm.layers().rewards())));
        all
    }
}
