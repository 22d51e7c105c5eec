//! Always from the start: `random`, `fifo`, `pct`, `pos` and `urw`, which differ in who goes on.
//!
//! How long runs of tasks are, which `pct` and `urw` must know, is learned from one run of the exploration to the next. What a
//! run answered is in its decisions; so it is replayed without that.

use super::{CapturePolicy, ExplorationStrategy, RunOrigin, RunSpec};
use crate::explore::frontier::Frontier;
use crate::explore::guided_source::{AnswerLog, AnswerPolicy, TaskOrder};
use crate::explore::options::Options;
use crate::explore::swarm::AnswerMask;
use crate::rng::Rng;
use std::sync::Arc;

pub(super) struct FreshStart {
    steps_per_run: u32,
    manner: AnswerPolicy,
}

impl FreshStart {
    pub(super) fn new(options: &Options, order: TaskOrder) -> FreshStart {
        let manner = AnswerPolicy { mask: AnswerMask::All, order, simplest: false, toggle: options.fault_toggle_prob };
        FreshStart { steps_per_run: options.steps_per_run, manner }
    }
}

impl ExplorationStrategy for FreshStart {
    fn next(&mut self, _: &mut Frontier, chance: &mut Rng) -> Option<RunSpec> {
        let (script, mut manner) = (Arc::from([]), self.manner.clone());
        if let TaskOrder::Policy(policy, _) = &mut manner.order {
            *policy = super::of_any_depth(*policy, chance);
        }
        Some(RunSpec {
            origin: RunOrigin::Start,
            steps: self.steps_per_run,
            script,
            manner,
            keeps: CapturePolicy::Nothing,
        })
    }

    fn learn(&mut self, _: u32, _: u32, answers: &AnswerLog) {
        if let TaskOrder::Policy(_, lengths) = &mut self.manner.order {
            Arc::make_mut(lengths).merge(&answers.lengths());
        }
    }
}
