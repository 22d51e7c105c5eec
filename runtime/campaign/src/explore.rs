//! What an exploration needs of the real machine: its ground, its findings as files, and somebody who watches the clock.
//!
//! Not here: which way is tried next (`fozzy-search`), flags (`command/explore.rs`).

pub(crate) mod cluster;
pub(crate) mod generated;
pub(crate) mod ground;
pub(crate) mod keeper;
pub(crate) mod seeds;
pub(crate) mod settings;
pub(crate) mod state;
pub(crate) mod unreached;
pub(crate) mod workers;
