//! Steps of a run that are taken in one call of the guest, as long as they are dull.
//!
//! Not here: which steps are (`dull_steps`).

use super::{Exploration, ExplorationIo, RunProgress};
use crate::explore::dull_steps::{DullSteps, lock};
use crate::explore::state_feedback::StateScope;
use crate::explore::strategy::{CapturePolicy, RunSpec};
use fozzy_trace::{HarnessError, SharedStepJudge, StepOutcome};
use std::sync::Arc;

impl Exploration {
    /// Which states count in the steps of a run that takes several of them in a call; `None` when each is to be taken alone.
    pub(super) fn states_of_several(&self, io: &ExplorationIo<'_>, spec: &RunSpec) -> Option<StateScope> {
        let wanted = match spec.capture {
            CapturePolicy::New => StateScope::All,
            CapturePolicy::Nothing => StateScope::Told,
            CapturePolicy::States | CapturePolicy::All => return None,
        };
        let is_wanted = self.options.several_steps && !self.options.is_whole_run && !spec.compares;
        if !is_wanted || !io.target.takes_several_steps() {
            return None;
        }
        // In which company faults strike is looked at after each step.
        let mut has_faults = false;
        io.target.faults(&mut |_| has_faults = true);
        (!has_faults).then(|| self.states(wanted))
    }

    /// Takes the steps from `first` to `last` at most, as long as they are dull. The answer is how the last one came out, and how many
    /// dull ones were before it.
    pub(super) fn take_several(
        &mut self,
        io: &mut ExplorationIo<'_>,
        (run, spec): (&mut RunProgress, &RunSpec),
        (first, last): (u32, u32),
        states: StateScope,
    ) -> Result<(StepOutcome, u32), HarnessError> {
        let shared = &*self.dull_steps.get_or_insert_with(DullSteps::shared);
        lock(shared).begin(&mut self.feedback, run.answers.clone(), (run.flow, states));
        let judge = Arc::clone(shared) as SharedStepJudge;
        let taken = io.target.steps(first, last, &judge);
        let (flow, has_wide) = lock(shared).end(&mut self.feedback);
        run.flow = flow;
        self.values.has_wide |= spec.capture == CapturePolicy::New && has_wide;
        taken
    }
}
