//! What a campaign needs of the real machine: its corpus and findings as files, and somebody who watches the clock.
//!
//! Not here: what is executed next (`fozzy-search`), flags (`command/fuzz.rs`).

pub(crate) mod cargo;
pub(crate) mod corpus;
pub(crate) mod keeper;
pub(crate) mod target;
