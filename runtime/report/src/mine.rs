//! What `fozzy mine` prints: what held in all runs, as properties to put into the program.
//!
//! ```text
//! fozzy mine  3 properties held in all of 100 runs
//!   412 values  always_at_least!(balance, 0, "balance is at least 0");
//! ```
//!
//! Invariant: nothing is said but that it held in those runs; the next one may be otherwise.
//! Not here: how they are found (`fozzy-campaign`).

use crate::pretty::{Style, counted, fit, grouped};
use crate::{Layout, TargetSummary};
use fozzy_trace::Seed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// `fozzy.mine.v1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MineDocument {
    /// Always `fozzy.mine.v1`.
    pub schema_version: String,
    /// The program.
    pub target: TargetSummary,
    /// Runs that pass: all that is said held in each of them.
    pub runs: u64,
    /// The first of their seeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seed: Option<Seed>,
    /// Runs that fail; they do not count.
    pub failing: u64,
    /// Whether it was stopped before its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// What held.
    pub properties: Vec<MinedProperty>,
    /// What a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Something that held in all runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MinedProperty {
    /// `constant`, `at-least`, `at-most`, `never-falls`, `never-rises`, `relation`, `not-empty` or `always-true`.
    pub kind: String,
    /// In words.
    pub what: String,
    /// As code for the SDK, with the names that the program has told instead of its variables.
    pub code: String,
    /// Where the values come from: `output`, `operations` or `properties`.
    pub source: String,
    /// Values that it was seen to hold for.
    pub values: u64,
    /// Runs that had any; all others had none.
    pub runs: u64,
}

impl Layout for MineDocument {
    fn lay_out(&self, style: Style) -> String {
        let Style { faint, end, .. } = style;
        let (found, runs) = (self.properties.len() as u64, counted(self.runs, "run"));
        let properties = if found == 1 { "1 property".to_owned() } else { format!("{} properties", grouped(found)) };
        let mut text = format!("fozzy mine  {properties} held in all of {runs} that pass\n");
        for MinedProperty { what, code, values, runs, source, .. } in &self.properties {
            let evidence = format!("{} in {}, {source}", counted(*values, "value"), counted(*runs, "run"));
            let _ = writeln!(text, "  {}  {faint}{evidence}{end}", fit(what, style.room(evidence.len() + 4)));
            let _ = writeln!(text, "      {code}");
        }
        if self.failing > 0 {
            let _ = writeln!(text, "note: {} failed, and did not count", counted(self.failing, "run"));
        }
        if self.interrupted {
            text.push_str("note: interrupted; other runs were not executed\n");
        }
        self.warnings.iter().for_each(|warning| _ = writeln!(text, "note: {warning}"));
        text
    }
}
