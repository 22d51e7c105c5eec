//! Where a look into an execution stops.
//!
//! ```text
//! calls   0 1 2 │ 3 4 …        Call(3): before call 3 is answered
//! steps   0 1 │ 2 …            Step(2): before step 2 of the run; Place(1, 4): before step 4 of sequence 1
//! time    ──2s────│──3s──▶     Time(2.5s): when nothing more happens up to then, timers included
//! ```
//!
//! Invariant: up to there the execution is the one that would have gone on.

use crate::Instant;
use std::fmt;

/// A moment of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopPoint {
    /// The call of this index, which is not answered any more.
    Call(u64),
    /// The step of this number, counted from 0 over all sequences of the run.
    Step(u64),
    /// The first step of this sequence that has this number, or a later one.
    Place {
        /// The sequence.
        sequence: u32,
        /// The step in it.
        step: u32,
    },
    /// The call after the one that took this decision.
    Decision(u64),
    /// A moment of virtual time.
    Time(Instant),
}

impl fmt::Display for StopPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopPoint::Call(call) => write!(f, "call {call}"),
            StopPoint::Step(step) => write!(f, "step {step}"),
            StopPoint::Place { sequence, step } => write!(f, "step {step} of sequence {sequence}"),
            StopPoint::Decision(decision) => write!(f, "decision {decision}"),
            StopPoint::Time(at) => write!(f, "{at}"),
        }
    }
}
