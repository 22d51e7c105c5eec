//! Explores a scenario: goes many ways through its flows, from its start and from where something new was seen.
//!
//! ```text
//!            ┌─ fresh ──────────▶ begin ▶ step ▶ step ▶ …        something new? keep the place
//! strategy ──┤                              │new edge
//!            └─ from a place ◀── pool ◀─────┘                    a failure? its whole path is run again, alone
//! ```
//!
//! A way is a list of answers from time zero (a [`DecisionPath`]); a kept place only spares going there again.
//!
//! Invariants: with one worker, everything that is found depends on scenario, options and seed; what counts as a finding is
//! what a run of its own says.
//! Not here: how a step is taken (`fozzy-engine`), files and clocks (`fozzy`).

mod bandit;
mod compact_answers;
mod decision_path;
mod dull_steps;
mod explorer;
mod frontier;
mod guided_source;
mod kept_runs;
mod known_coverage;
mod moments;
mod novelty;
mod options;
mod run_signs;
mod state_feedback;
mod stateful_target;
mod strategy;
mod sum_tree;
mod swarm;
mod values;

#[cfg(test)]
mod tests;

pub use bandit::Reward;
pub use compact_answers::CompactAnswers;
pub use decision_path::DecisionPath;
pub use explorer::{
    EdgeClasses, Exploration, ExplorationEnd, ExplorationObserver, FirstPaths, PeerDiscoveries, RestoredPaths,
    SavedProgress, Stats,
};
pub(crate) use guided_source::LoggedAnswer;
pub use guided_source::{AnswerLog, GuidedSource};
pub use known_coverage::KnownCoverage;
pub use options::{CheckpointStrategy, Options, StopCondition};
pub use run_signs::NoveltyDimension;
pub use stateful_target::{ConfirmReason, CoverageStretch, InputMoment, StatefulTarget};
pub use strategy::{DEFAULT_STRATEGY, STRATEGIES, StrategyRow, strategy};
