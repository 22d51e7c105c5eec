//! Always from the start: `random`, `fifo` and `pct`, which differ in who goes on.
//!
//! Source of `pct`: Burckhardt and others, A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs, 2010. The
//! priorities are those of a task over all others as long as it runs; the change points are drawn as there, for each step: its
//! tasks are its own.

use super::{CapturePolicy, ExplorationStrategy, RunOrigin, RunSpec};
use crate::explore::frontier::Frontier;
use crate::explore::guided_source::{AnswerLog, AnswerPolicy, TaskOrder};
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
        let policy = AnswerPolicy { mask: AnswerMask::All, order, simplest: false, toggle: options.fault_toggle_prob };
        FreshStart { steps_per_run: options.steps_per_run, policy }
    }
}

impl ExplorationStrategy for FreshStart {
    fn next(&mut self, _: &mut Frontier, _: &mut Rng) -> Option<RunSpec> {
        let (script, policy) = (Arc::from([]), self.policy.clone());
        Some(RunSpec {
            origin: RunOrigin::Start,
            steps: self.steps_per_run,
            script,
            policy,
            capture: CapturePolicy::Nothing,
        })
    }

    fn learn(&mut self, _: u32, _: u32, answers: &AnswerLog) {
        if let TaskOrder::Changes { among, .. } = &mut self.policy.order {
            *among = answers.ordered().max(*among);
        }
    }
}
