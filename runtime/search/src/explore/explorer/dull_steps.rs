//! Steps that are taken in one call of the guest: those that show nothing new.
//!
//! ```text
//! step 4   step 5   step 6                one call
//! known    known    a new edge            looked at while the guest waits, each by itself
//!                   └ the call returns: this step is looked at as one that was taken alone, and its place is kept
//! ```
//!
//! A step is dull if to look at it in the usual way would find nothing new and change nothing but how many steps there were:
//! its edges were seen with these classes of counts, and each of them in more than two steps, so that it is no rare one either;
//! its state, its pair of flows and its properties were seen as they are. Each step has its own coverage bytes, since from the sum of
//! several nothing follows for each: an edge that is always taken four times in a step is in none of the lower classes, whatever
//! the sum is. Whether a step is dull may be denied too often, which costs a call; it is never affirmed wrongly.
//!
//! What the memory says its state is, where that counts, is looked at after all else: that look learns from each step, and must be the only one.
//!
//! Invariant: an exploration that takes several steps in a call finds, keeps and counts what one does that takes each alone.
//! Not here: the call (`fozzy-engine`).

use super::{Exploration, ExplorationIo, RunProgress};
use crate::explore::guided_source::AnswerLog;
use crate::explore::state_feedback::{StateFeedback, StateScope};
use crate::explore::strategy::{CapturePolicy, RunSpec};
use fozzy_trace::{HarnessError, SharedStepJudge, StepJudge, StepOutcome, StepView};
use std::sync::{Arc, Mutex, PoisonError};

/// Looks at steps as long as they are dull.
struct DullSteps {
    feedback: StateFeedback,
    answers: AnswerLog,
    /// The flow before the next step.
    flow: Option<u32>,
    states: StateScope,
    /// Whether a value out of many was drawn up to the last dull step.
    has_wide: bool,
    /// The version of the properties that were looked at last.
    version: Option<u64>,
}

impl StepJudge for DullSteps {
    fn is_dull(&mut self, step: &StepView<'_>) -> bool {
        let version = Some(step.facts.properties.version());
        let is_dull = (version == self.version || self.feedback.knows_properties(step.facts))
            && !self.answers.is_truncated()
            && self.feedback.is_dull(step, self.flow, self.states)
            && self.answers.end_dull_step();
        if is_dull {
            self.feedback.count_dull();
            self.has_wide = self.answers.has_wide();
            (self.flow, self.version) = (Some(step.flow), version);
        }
        is_dull
    }
}

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
        let (feedback, answers) = (std::mem::take(&mut self.feedback), run.answers.clone());
        let (flow, has_wide, version) = (run.flow, false, None);
        let steps = Arc::new(Mutex::new(DullSteps { feedback, answers, flow, states, has_wide, version }));
        let judge = Arc::clone(&steps) as SharedStepJudge;
        let taken = io.target.steps(first, last, &judge);
        let mut steps = steps.lock().unwrap_or_else(PoisonError::into_inner);
        self.feedback = std::mem::take(&mut steps.feedback);
        run.flow = steps.flow;
        self.values.has_wide |= spec.capture == CapturePolicy::New && steps.has_wide;
        taken
    }
}
