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

pub mod activity;
pub mod choice;
pub mod comparison;
pub mod copy_on_write;
mod counted;
pub mod decision;
pub mod digest;
pub mod errno;
pub mod execution;
pub mod facts;
#[cfg(feature = "file")]
pub mod file;
mod heap;
pub mod history;
pub mod memory_error;
mod memory_request;
mod model_program;
pub mod nemesis;
pub mod observation;
pub mod outcome;
pub mod plan;
pub mod record;
pub mod scheduler;
pub mod source;
mod state_search;
pub mod step;
mod stop_point;
pub mod time;
mod undefined;

pub use activity::{Activity, ActivitySink, AwaitedEvent, DatagramStep, IoChannel, IoKind, WaitKind};
pub use comparison::{CmpLogEntry, CmpLogSites, ComparisonKind};
pub use copy_on_write::CopyOnWrite;
pub use counted::{counted, grouped};
pub use decision::{DecisionPart, DecisionSource, NodeId, ObservationLookup, Origin, Purpose, Question, Seed};
pub use digest::{Digest, RunningDigest};
pub use errno::Errno;
pub use execution::{
    Execution, ExecutionEnd, Executor, HarnessError, HarnessErrorKind, NodeExecution, RequestKind, STACK_EXHAUSTED,
    StreamOutput, UnmatchedRequest,
};
pub use facts::{Facts, FailureKind, ReportedFailure, cut};
pub use heap::{FlowHeap, HeapCounts};
pub use history::{ASIDE_BYTES_MAX, Aside, DigestMark, History, HistoryEntry, HistorySink, HistoryWindow, Recorder};
pub use memory_error::MemoryError;
pub use memory_request::MemoryRequest;
pub use model_program::{ModelProgram, ModelPrograms, ProgramCall, SharedModel};
pub use observation::{BackendRequest, BackendResponse, LiveBackend, Observation};
pub use outcome::{FailureSignature, Finding, FindingKind, PeerStack, Status, Verdict};
pub use plan::Plan;
pub use record::Record;
pub use scheduler::{ReadyTask, RunLengths, SchedulePolicy, Scheduler, SchedulingPoint};
pub use state_search::{StateBasis, StateSearchEnd};
pub use step::{CheckpointId, SharedStepJudge, StepId, StepJudge, StepOutcome, StepTarget, StepView, StretchLook};
pub use stop_point::StopPoint;
pub use time::{Duration, Instant};
pub use undefined::{UNDEFINED_MASK, UNDEFINED_TAG, UndefinedBytes, UndefinedOutput, UndefinedOutputs};
