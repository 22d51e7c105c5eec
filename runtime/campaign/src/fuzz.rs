//! What a campaign needs of the real machine: its corpus and findings as files, and somebody who watches the clock.
//!
//! Not here: what is executed next (`fozzy-search`), flags (`command/fuzz.rs`).

pub(crate) mod cargo;
pub(crate) mod choose;
pub(crate) mod corpus;
pub(crate) mod jobs;
pub(crate) mod keeper;
pub(crate) mod portable;
pub(crate) mod summary;
pub(crate) mod target;
pub(crate) mod worker;
