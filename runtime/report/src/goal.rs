//! A goal of a Maelstrom test, and whether it was met.
//!
//! ```text
//! msgs-per-op<30: missed, 41.20
//! ```
//!
//! Not here: what is measured (`maelstrom`), what a goal is (`fozzy-scenario-file`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a goal was met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct GoalResult {
    /// The goal.
    pub goal: String,
    /// What was measured; absent when the test has no such number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    /// Whether it was met. What was not measured meets no goal.
    pub is_met: bool,
}

impl GoalResult {
    /// Whether it was met, and what was measured.
    pub(crate) fn line(&self) -> String {
        match self.measured {
            Some(number) => format!("{}: {}, {number:.2}", self.goal, if self.is_met { "met" } else { "missed" }),
            None => format!("{}: not measured", self.goal),
        }
    }
}
