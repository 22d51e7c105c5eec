//! Statistics of searches: how often, how much is left, how cost grows, what differs.
//!
//! Not here: what is counted (`fuzz`, `explore`, `causality`).

mod difference;
pub(crate) mod estimate;
pub(crate) mod outlook;
mod proportion;
pub mod scaling;

pub use difference::{DifferenceMethod, MeanDifference};
pub use estimate::Estimate;
pub use outlook::Outlook;
pub use proportion::{Proportion, clean_runs, detectable_one_in};
