//! Always from the start; which chances of faults strike is chosen, not drawn: none, each alone, and then several together as often as
//! one alone again.

use super::fault_choices::FaultChoices;
use super::{CapturePolicy, ExplorationStrategy, RunOrigin, RunSpec};
use crate::explore::frontier::Frontier;
use crate::explore::guided_source::{AnswerLog, AnswerPolicy, TaskOrder};
use crate::explore::novelty::NewCoverage;
use crate::explore::options::Options;
use crate::explore::swarm::AnswerMask;
use crate::rng::Rng;
use std::sync::Arc;

pub(super) struct FaultFocusedSearch {
    steps_per_run: u32,
    choices: FaultChoices,
}

impl FaultFocusedSearch {
    pub(super) fn new(options: &Options) -> FaultFocusedSearch {
        FaultFocusedSearch { steps_per_run: options.steps_per_run, choices: FaultChoices::default() }
    }
}

impl ExplorationStrategy for FaultFocusedSearch {
    fn next(&mut self, _: &mut Frontier, rng: &mut Rng) -> Option<RunSpec> {
        let choices = &mut self.choices;
        let faults = match choices.first() {
            Some(none) => none,
            None if choices.has_tried_each() && rng.one_in(2) => choices.several(rng),
            None => choices.one(),
        };
        let policy =
            AnswerPolicy { mask: AnswerMask::All, order: TaskOrder::Any, simplest: false, toggle: 0.0, faults };
        let (origin, steps) = (RunOrigin::Start, self.steps_per_run);
        Some(RunSpec { origin, steps, script: Arc::from([]), policy, capture: CapturePolicy::Nothing, compares: false })
    }

    fn learn(&mut self, fresh: NewCoverage, _: u32, answers: &AnswerLog) {
        self.choices.learn(fresh.sum(), answers);
    }
}
