//! Statistics of searches: how often, how much is left, how cost grows.
//!
//! Not here: what is counted (`fuzz`, `explore`, `causality`).

pub(crate) mod estimate;
mod proportion;
pub mod scaling;

pub use estimate::Estimate;
pub use proportion::{Proportion, clean_runs};
