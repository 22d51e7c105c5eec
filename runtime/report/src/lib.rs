//! Verdicts and executions to every output format.
//!
//! ```text
//! Outcome, Verdict, History ─▶ documents (JSON keys of the contract) ─▶ json │ text
//! ```
//!
//! Invariants: documents are plain values whose keys are never renamed; text never carries what the
//! document does not.
//! Not here: where it is printed and whether in colour (`fozzy-cli`).

mod ablation;
mod antithesis;
mod benchmark;
mod causality;
pub mod coverage;
pub mod diff;
pub mod document;
mod explore;
mod facts;
mod findings;
mod flaky;
mod flatten;
pub mod fleet;
mod fuzz;
mod goal;
mod history_check;
mod history_page;
mod html;
mod input;
mod input_moment;
pub mod inspect;
mod keeping_command;
mod layout;
mod machine_line;
pub mod maelstrom;
pub mod map;
mod maximize;
pub mod memory;
pub mod mine;
pub mod mutants;
mod playback;
mod pretty;
mod printable;
pub mod profile;
mod query;
mod sarif;
mod saved;
pub mod schema_keys;
mod sequence;
mod show;
mod state;
mod state_search;
mod strikes;
pub mod suite;
mod summary;
pub mod suspects;
mod time_spent;
pub mod usage;
mod wasi_errors;

pub use ablation::{AblationDocument, AblationRow, ablation_lines};
pub use benchmark::{BenchmarkDocument, BenchmarkTrial, ScalingLawDocument, benchmark_line, benchmark_lines};
pub use causality::{
    CausalityDocument, CausalityPoint, CausalityTurn, Findability, FindabilityDocument, GuidedFindability, Probability,
    causality_lines, causality_svg, findability_lines,
};
pub use explore::{ExploreFinding, ExploreReward, ExploreSummary, SeedState, UnreachedBranch};
pub use facts::{FlowSummary, HEALTH_SUFFIX, MemorySummary, PropertySummary, ScenarioSummary};
pub use findings::finding_annotations;
pub use flaky::{FlakyReport, RunSignature};
pub use flatten::flatten;
pub use fuzz::{FuzzCoverage, FuzzFinding, FuzzSummary, SlowestInput};
pub use history_check::{
    CheckerAnomaly, CheckerCount, DependencyReport, HistoryCall, HistoryCheck, HistoryCheckDocument, HistoryViolation,
    IsolationReport, TransactionAnomalyReport, UndecidedPartition,
};
pub use history_page::{HistoryPage, HistoryTimeline, TimelinePart, cycles_dot, cycles_svg, history_page};
pub use input::{LiteralLanguage, ShownInput};
pub use keeping_command::keeping_command;
pub use layout::Layout;
pub use machine_line::MachineLine;
pub use maximize::{MaximizeFailure, MaximizePoint, MaximizeSummary};
pub use playback::RunPlayback;
pub use pretty::{Style, pretty, printable_line, run_line, shell_path, shell_word};
pub use printable::{dialogue_bytes, printable, printable_bytes};
pub use query::{QueryError, paths, query};
pub use sarif::sarif;
pub use saved::{SeedsDocument, seeds_lines};
pub use sequence::{ExecutedStep, StepEvent, StepSequence, StepValue, step_lines};
pub use show::{MachineNames, divergence_lines, entry_line, entry_lines, folded_lines};
pub use state::{FileState, MemoryState, StateDocument, SymbolState, TaskState, TimerState, state_lines};
pub use state_search::StateSearchSummary;
pub use strikes::{FaultOverlap, FaultPair, FaultSummary, FaultTotal, FaultTotals, PowerLossSummary, StrikeSummary};
pub use summary::{
    ExplainedDecision, FailureSize, KeptOutput, NodeSummary, OutputSummary, ReplaySummary, RunIdentity, RunMode,
    RunSummary, ShrinkSlip, ShrinkSummary, StreamSummary, TargetSummary, WallFacts,
};
pub use time_spent::TimeSpent;
