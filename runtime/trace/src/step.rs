//! Steps of a stateful scenario: the calls of one sequence, how each came out, and checkpoints between them.
//!
//! ```text
//! start ─Begin▶ ─Step(0)▶ ─Step(1)▶ …  ─End▶
//!                  │capture
//!                  └──── restore ─Step(1)▶ …
//! ```
//!
//! Invariant of every [`StepTarget`]: after `restore`, equal answers give equal steps, as often as it is restored.
//! Not here: which steps are worth taking (`fozzy-search`), how a guest is brought back (`fozzy-engine`).

use crate::facts::Facts;
use crate::outcome::StackFrame;
use crate::{DecisionSource, ExecutionEnd, HarnessError};
use std::sync::{Arc, Mutex};

/// A checkpoint of one target. Later checkpoints of a target have larger numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckpointId(pub u64);

/// One call of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepId {
    /// The beginning of the sequence.
    Begin,
    /// The step of this number.
    Step(u32),
    /// The end of the sequence.
    End,
}

/// How one call of a sequence came out.
#[derive(Debug)]
pub enum StepOutcome {
    /// It returned.
    Returned {
        /// The flow that ran, or found nothing to do; none at the beginning and at the end.
        flow: Option<u32>,
    },
    /// The sequence is over without a failure: the guest has left, or its machine has lost power.
    Finished,
    /// The guest ended in the call.
    Ended {
        /// How.
        end: ExecutionEnd,
        /// Its stack, innermost first.
        backtrace: Vec<StackFrame>,
        /// What it had written to standard error.
        stderr: Vec<u8>,
    },
    /// It took longer than the watchdog allows. A run with fuel decides whether it comes to an end.
    Cut,
}

/// Who looks at coverage bytes: told of a module by its place among all, how many bytes it has, where a stretch of them begins, a multiple
/// of eight, and what that holds.
pub type StretchLook<'a> = dyn FnMut(usize, usize, usize, &[u8]) + 'a;

/// A step that is over, as it is seen while the guest waits to be told whether it takes the next.
pub struct StepView<'a> {
    /// The flow that ran, or found nothing to do.
    pub flow: u32,
    /// What the guest has said about itself on this way.
    pub facts: &'a Facts,
    /// Shows the coverage bytes of the step that are not zero, in the order of modules and of their bytes. Each module is shown, with an
    /// empty stretch if there is nothing else.
    pub coverage: &'a dyn Fn(&mut StretchLook<'_>),
    /// What the guest's memory says its state is; `None` when that is not known. It is found out when it is asked, which is to be once at
    /// most. If the step is not dull, it counts as the one time that its owner asks for it.
    pub memory_state: &'a dyn Fn() -> Option<u64>,
}

/// Looks at steps that are taken in one call of the guest.
pub trait StepJudge: Send {
    /// Whether there is nothing about the step for which the guest has to come back. Such a step is over then.
    fn is_dull(&mut self, step: &StepView<'_>) -> bool;
}

/// A judge that the guest's host asks, and whose owner takes back what it has noted.
pub type SharedStepJudge = Arc<Mutex<dyn StepJudge>>;

/// One sequence of a scenario, called step by step, and brought back to its checkpoints.
pub trait StepTarget {
    /// The checkpoint before the beginning of the sequence. It is never released.
    fn start(&self) -> CheckpointId;

    /// Goes back to a checkpoint. `source` answers from there on.
    ///
    /// # Errors
    /// When the machine, not the scenario, fails.
    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError>;

    /// Makes one call.
    ///
    /// # Errors
    /// When the machine, not the scenario, fails.
    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError>;

    /// Makes a checkpoint of the current state, between two calls.
    ///
    /// # Errors
    /// When the guest has ended, or the machine fails.
    fn capture(&mut self) -> Result<CheckpointId, HarnessError>;

    /// Releases a checkpoint. It cannot be restored any more.
    fn release(&mut self, checkpoint: CheckpointId);
}
