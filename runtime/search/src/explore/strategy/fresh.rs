//! Always from the start: `random`, `fifo`, `pct`, `pos` and `urw`, which differ in which task runs next.
//!
//! How long runs of tasks are, which `pct` and `urw` must know, is learned from one run of the exploration to the next. What a
//! run answered is in its decisions; so it is replayed without that.

use super::{CapturePolicy, ExplorationStrategy, RunOrigin, RunSpec};
use crate::explore::frontier::Frontier;
use crate::explore::guided_source::{AnswerLog, AnswerPolicy, FaultChoice, TaskOrder};
use crate::explore::novelty::NewCoverage;
use crate::explore::options::Options;
use crate::explore::swarm::AnswerMask;
use crate::rng::Rng;
use std::sync::Arc;

pub(super) struct FreshStart {
    steps_per_run: u32,
    policy: AnswerPolicy,
}

impl FreshStart {
    pub(super) fn new(options: &Options, order: TaskOrder) -> FreshStart {
        let policy = AnswerPolicy {
            mask: AnswerMask::All,
            order,
            simplest: false,
            toggle: options.fault_toggle_prob,
            faults: FaultChoice::Chance,
        };
        FreshStart { steps_per_run: options.steps_per_run, policy }
    }
}

impl ExplorationStrategy for FreshStart {
    fn next(&mut self, _: &mut Frontier, rng: &mut Rng) -> Option<RunSpec> {
        let (script, mut policy) = (Arc::from([]), self.policy.clone());
        if let TaskOrder::Policy(policy, _) = &mut policy.order {
            *policy = super::of_any_depth(*policy, rng);
        }
        Some(RunSpec {
            origin: RunOrigin::Start,
            steps: self.steps_per_run,
            script,
            policy,
            capture: CapturePolicy::Nothing,
            compares: false,
        })
    }

    fn learn(&mut self, _: NewCoverage, _: u32, answers: &AnswerLog) {
        if let TaskOrder::Policy(_, lengths) = &mut self.policy.order {
            Arc::make_mut(lengths).merge(&answers.lengths());
        }
    }
}
