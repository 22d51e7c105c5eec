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
//! What the memory says its state is, where that counts, is looked at after all else: that look learns from each step, and must be the
//! only one.
//!
//! Invariant: an exploration that takes several steps in a call finds, keeps and counts what one does that takes each alone.
//! Not here: when several steps are taken (`explorer`), the call (`fozzy-engine`).

use super::guided_source::AnswerLog;
use super::state_feedback::{StateFeedback, StateScope};
use fozzy_trace::{StepJudge, StepView};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Looks at steps as long as they are dull. It is used again for the steps of the next call.
pub(super) struct DullSteps {
    /// That of the exploration, for the length of a call.
    feedback: Box<StateFeedback>,
    /// The answers of the run, likewise.
    answers: Option<AnswerLog>,
    /// The flow before the next step.
    flow: Option<u32>,
    states: StateScope,
    /// Whether a value out of many was drawn up to the last dull step.
    has_wide: bool,
    /// The version of the properties that were looked at last.
    version: Option<u64>,
}

/// The same, for an exploration and the host of its guest.
pub(super) type SharedDullSteps = Arc<Mutex<DullSteps>>;

/// The steps, which nobody else has meanwhile: the guest runs or its caller does.
pub(super) fn lock(steps: &SharedDullSteps) -> MutexGuard<'_, DullSteps> {
    steps.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DullSteps {
    /// Those of no call.
    pub(super) fn shared() -> SharedDullSteps {
        let (feedback, states) = (Box::default(), StateScope::Ignored);
        let steps = DullSteps { feedback, answers: None, flow: None, states, has_wide: false, version: None };
        Arc::new(Mutex::new(steps))
    }

    /// A call begins, of steps that come after `flow`, in a run that gives these answers. It has the `feedback` until it is over.
    pub(super) fn begin(
        &mut self,
        feedback: &mut Box<StateFeedback>,
        answers: AnswerLog,
        (flow, states): (Option<u32>, StateScope),
    ) {
        std::mem::swap(&mut self.feedback, feedback);
        self.answers = Some(answers);
        (self.flow, self.states, self.has_wide, self.version) = (flow, states, false, None);
    }

    /// The call is over. The answer is the flow of the last dull step, or of the one before the call, and whether a value out of many
    /// was drawn up to there.
    pub(super) fn end(&mut self, feedback: &mut Box<StateFeedback>) -> (Option<u32>, bool) {
        std::mem::swap(&mut self.feedback, feedback);
        self.answers = None;
        (self.flow, self.has_wide)
    }
}

impl StepJudge for DullSteps {
    fn is_dull(&mut self, step: &StepView<'_>) -> bool {
        let Some(answers) = &self.answers else { return false };
        let version = Some(step.facts.properties.version());
        let is_dull = (version == self.version || self.feedback.knows_properties(step.facts))
            && !answers.is_truncated()
            && self.feedback.is_dull(step, self.flow, self.states)
            && answers.end_dull_step();
        if is_dull {
            self.feedback.count_dull();
            self.has_wide = answers.has_wide();
            (self.flow, self.version) = (Some(step.flow), version);
        }
        is_dull
    }
}
