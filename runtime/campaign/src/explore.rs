//! What an exploration needs of the real machine: its target, its findings as files, and the time budget.
//!
//! Not here: which way is tried next (`fozzy-search`), flags (`command/explore.rs`).

mod answer_path;
pub mod campaign_sink;
pub mod cluster;
pub mod conditions;
pub mod exchange;
mod first_run;
pub mod generated;
pub mod guided_rate;
mod other_program;
pub mod program_target;
pub mod regression_status;
pub mod result;
pub mod retrial;
pub mod saved_failures;
pub mod settings;
pub mod setup;
pub mod shrink_time;
pub mod state;
mod state_saver;
pub mod stateful_target;
mod status_line;
pub mod unreached;
pub mod workers;
