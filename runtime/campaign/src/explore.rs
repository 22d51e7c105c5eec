//! What an exploration needs of the real machine: its target, its findings as files, and the time budget.
//!
//! Not here: which way is tried next (`fozzy-search`), flags (`command/explore.rs`).

pub mod campaign_sink;
pub mod cluster;
pub mod conditions;
pub mod exchange;
pub mod generated;
pub mod guided_rate;
pub mod program_target;
pub mod retrial;
pub mod saved_failures;
pub mod settings;
pub mod setup;
pub mod state;
pub mod stateful_target;
pub mod unreached;
pub mod workers;
