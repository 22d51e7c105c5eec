//! What a campaign needs of the real machine: its corpus and findings as files, and the time budget.
//!
//! Not here: what is executed next (`fozzy-search`), flags (`command/fuzz.rs`).

pub mod campaign_sink;
pub mod cargo;
pub mod choose;
pub mod component_target;
pub mod confirmer;
pub mod corpus;
pub mod corpus_files;
pub mod corpus_minimize;
pub mod kept_name;
pub mod known;
pub mod machines_target;
pub mod open;
pub mod portable;
pub mod protocol;
pub mod settings;
pub mod setup;
pub mod single_inputs;
pub mod summary;
pub mod target;
pub mod timed_target;
pub mod workers;
