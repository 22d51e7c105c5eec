//! The words of the system, and the `.fozzy` file.
//!
//! ```text
//!  plan ──┐
//!         ├─▶ Executor ──▶ Execution { end, history, output, memory }
//!  source ┘      │ asks                       │
//!    ▲           ▼                            ▼
//!    └──── question / answer            Recording ──▶ file.fozzy
//! ```
//!
//! Every other crate speaks in these types: virtual time, questions and answers, the history of an
//! execution and how it ended, and the one file that carries all of it to another machine.
//!
//! Invariant: nothing here reads a clock, the environment or an ambient random source; equal values
//! serialise to equal bytes on every machine.
//!
//! Not here: the behaviour of the simulated computer (`fozzy-world`), verdicts (`fozzy-check`).

pub mod choice;
pub mod comparison;
pub mod decision;
pub mod digest;
pub mod errno;
pub mod execution;
pub mod facts;
pub mod file;
pub mod history;
pub mod observation;
pub mod outcome;
pub mod plan;
pub mod record;
pub mod shared;
pub mod source;
pub mod step;
pub mod time;
mod until;

pub use comparison::{CmpLogEntry, ComparisonKind};
pub use decision::{DecisionSource, NodeId, Observed, Origin, Part, Purpose, Question, Seed};
pub use digest::{Digest, Fold};
pub use errno::Errno;
pub use execution::{End, Execution, Executor, HarnessError, NodeExecution, Output, Unmatched, UnmatchedKind};
pub use facts::{Facts, Failure, FailureKind};
pub use history::{Entry, History, Keep, Mark, Recorder, Sink};
pub use observation::{Answer, Ask, Observation, Reality};
pub use outcome::{Finding, FindingKind, Signature, Status, Verdict};
pub use plan::Plan;
pub use record::Record;
pub use shared::Shared;
pub use step::{CheckpointId, StepId, StepOutcome, StepTarget};
pub use time::{Duration, Instant};
pub use until::Until;
