//! What joins the engine and the search, as a library: no arguments, no screens, no exit codes.
//!
//! ```text
//! load ─▶ plan ─▶ compile ─▶ session ─▶ execute ─▶ judge ─▶ record          the pipeline
//!   targets of campaigns: calls (fuzz), scenarios (explore), sequences (shrink)
//!   corpora, saved failures, generated tests, suites, coverage, run store, selectors, workers
//! ```
//!
//! Invariants: nothing here prints or ends the process; what a person should hear goes to the [`Remarks`] of the
//! caller.

pub mod artifacts;
pub mod block_stacks;
pub mod build;
pub mod causality;
pub mod cluster_plan;
pub mod comparisons;
pub mod compiler;
pub mod config;
pub mod coverage;
pub mod debug;
pub mod diff;
pub mod disk_sync;
mod embedded;
pub mod error;
pub mod explore;
pub mod fleet;
pub mod fuzz;
pub mod gates;
pub mod git_patch;
pub mod history_check;
pub mod inputs;
pub mod inspection;
pub mod maelstrom;
pub mod map;
pub mod maximize;
pub mod memory;
pub mod migrate;
pub mod mine;
mod model_component;
pub mod mutants;
pub mod options;
mod other_build;
pub mod pipeline;
pub mod profile;
pub mod program_place;
pub mod progress;
pub mod project;
mod refusal_stacks;
pub mod remarks;
mod risk_bound;
pub mod run_details;
pub mod scenario;
pub mod scenario_steps;
pub mod sdk;
pub mod search_clock;
pub mod seed_runs;
pub mod selector;
pub mod sequence;
pub mod shrink;
pub mod sources;
pub mod store;
pub mod suite;
pub mod suspects;
pub mod time_travel;
pub mod trace_check;
pub mod trace_destination;
pub mod walker;
pub mod wall_clock;
pub mod workers;

pub use error::{CampaignError, ErrorKind};
pub use remarks::Remarks;
pub use risk_bound::RiskBound;
