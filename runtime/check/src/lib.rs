//! From a history to a verdict.
//!
//! ```text
//! Execution { end, stderr, backtrace, nodes, unmatched } ─judge─▶ Verdict { status, findings, signature }
//! ```
//!
//! Invariant: a verdict is a function of the execution only, and equal failures get equal signatures:
//! kind and site, never addresses, values or counts.
//! Beside it, histories of clients of a distributed system (`history`), whatever recorded them.
//! Not here: printing (`fozzy-report`); what the program itself asserts (comes with the guest SDK).

mod checker;
mod criteria;
mod frame_filter;
mod hash_index;
mod history;
mod history_criteria;
mod identity;
mod isolation;
mod judge;
mod leak;
mod linearizability;
mod model;
mod panic;
mod signature;
mod unmatched;

pub use checker::{
    CHECKERS, CheckerOptions, CheckerRow, CheckerVerdict, HistoryAnomaly, check_property, check_property_with, checker,
};
/// A program that is a model, and a call as it gets it.
pub use fozzy_trace::{ModelProgram, ProgramCall};
pub use frame_filter::{generated_frames, is_own};
pub use history::{
    ClientCall, Datum, DatumId, DatumPool, HistoryError, HistoryFormat, HistoryNotation, HistoryOperation,
    HistoryOrder, NOTATIONS, OperationHistory, OperationType, Process, WrittenHistory, notation, notation_of_extension,
    pair_calls, read_cobra,
};
pub use history_criteria::check_criterion;
pub use identity::{FailureIdentity, identify};
pub use isolation::{
    DependencyStep, ISOLATION_LEVELS, IsolationAnomaly, IsolationLevel, IsolationVerdict, LevelVerdict,
    check_isolation, check_isolation_level, has_transactions, isolation_level,
};
pub use judge::{
    SearchVerdict, judge, judge_by_exit_code, judge_by_open_operations, judge_end, judge_facts, judge_of_search,
};
pub use linearizability::{
    CheckLimits, LinearizabilityVerdict, MinimalViolation, PartitionVerdict, UndecidedReason, Validity,
    check_linearizability, check_sequential_consistency, minimize_sequential_violation, minimize_violation,
};
pub use model::{
    CallRecord, MODELS, ModelAction, ModelCall, ModelRow, NextStates, ProgramModel, SequentialModel, guess_checker,
    guess_model, model,
};
