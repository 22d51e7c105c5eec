//! What an exploration goes through: something that takes steps, and can be brought back to where it was.
//!
//! Invariant of every implementation: after `go`, the same answers give the same steps as the first time.

use super::decision_path::DecisionPath;
use fozzy_trace::facts::Property;
use fozzy_trace::{DecisionSource, HarnessError, Verdict};

/// A place that was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckpointId(pub u64);

/// What came of a step.
#[derive(Clone, Debug)]
pub enum Went {
    /// It was taken.
    On {
        /// The flow that ran; none at the beginning and at the end.
        flow: Option<u32>,
    },
    /// There are no further steps, and that is no failure.
    Over,
    /// It failed.
    Failed(Box<Verdict>),
    /// It took so long that it was cut; whether that is a failure, `confirm` says.
    Cut,
}

/// A scenario on a computer that can be brought back.
pub trait StatefulTarget {
    /// Where every way begins.
    fn start(&self) -> CheckpointId;

    /// Goes to a place. `source` answers from there on.
    ///
    /// # Errors
    /// When the machine, not the scenario, fails.
    fn go(&mut self, place: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError>;

    /// Begins, or takes the next step.
    ///
    /// # Errors
    /// When the machine, not the scenario, fails.
    fn forward(&mut self) -> Result<Went, HarnessError>;

    /// Ends the sequence: the last thing on a way.
    ///
    /// # Errors
    /// When the machine, not the scenario, fails.
    fn finish(&mut self) -> Result<Went, HarnessError>;

    /// Keeps where it is.
    ///
    /// # Errors
    /// When the machine, not the scenario, fails.
    fn keep(&mut self) -> Result<CheckpointId, HarnessError>;

    /// A place is not needed any more.
    fn forget(&mut self, place: CheckpointId);

    /// Shows the coverage bytes of the last step, module after module, and sets them to zero.
    fn coverage(&mut self, see: &mut dyn FnMut(&[u8]));

    /// Shows the properties as they stand on this way.
    fn properties(&self, see: &mut dyn FnMut(&str, &Property));

    /// Shows how often each planned fault has struck on this way, in their order.
    fn faults(&self, see: &mut dyn FnMut(u64)) {
        let _ = see;
    }

    /// What the scenario says its state is, as a number; `None` when it says nothing.
    fn state(&self) -> Option<u64>;

    /// What its memory says its state is, for a scenario that says nothing; `None` when that is not known. It is asked after
    /// steps only.
    fn memory_state(&mut self) -> Option<u64> {
        None
    }

    /// Executes a story as a run that can be recorded. Its verdict is the one that counts.
    ///
    /// # Errors
    /// When the machine, not the scenario, fails.
    fn confirm(&mut self, story: &DecisionPath) -> Result<Verdict, HarnessError>;
}
