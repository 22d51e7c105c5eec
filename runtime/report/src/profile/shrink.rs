//! What `fozzy profile shrink` says of the smallest run that keeps a cost.

use crate::Layout;
use crate::pretty::Style;
use fozzy_trace::{Duration, counted, grouped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a cost is to stay as high, or as low.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CostDirection {
    /// The smaller run costs at least as much as is expected.
    Increase,
    /// It costs at most as much.
    Decrease,
}

/// `fozzy.profile_shrink.v2`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileShrink {
    /// Always `fozzy.profile_shrink.v2`.
    pub schema_version: String,
    /// `ok`, or `no_feasible_shrink_found`.
    pub status: String,
    /// The trace.
    pub run: String,
    /// The same.
    pub trace: String,
    /// The trace of the smallest run, if one is smaller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_trace: Option<String>,
    /// The folder that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifacts_dir: Option<String>,
    /// `cpu_time`, `alloc_bytes`, `p99_latency`, `latency` or `calls:NAME`.
    pub metric: String,
    /// What it is counted in: `instructions`, `bytes`, `ns`, `calls`.
    pub unit: String,
    /// Whether the cost stays as high, or as low.
    pub direction: CostDirection,
    /// What was made smaller: `all`, `input`, `schedule` or `faults`.
    pub minimize: String,
    /// What the recorded run costs.
    pub baseline: u64,
    /// What the smallest one costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Whether it keeps what was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preserved: Option<bool>,
    /// What a smaller run has to keep.
    pub contract: ProfileShrinkContract,
    /// Why there is no smaller one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the recorded run holds.
    pub before_size: ProfileShrinkSize,
    /// What the smallest one holds.
    pub after_size: ProfileShrinkSize,
    /// Executions that it took.
    pub executions: u64,
    /// Whether no single part can be left out of it.
    pub minimal: bool,
}

/// What a smaller run has to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileShrinkContract {
    /// The bound of its cost.
    pub expected: u64,
    /// From which side.
    pub direction: CostDirection,
}

/// How much a run holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileShrinkSize {
    /// Steps of a scenario.
    pub steps: usize,
    /// Planned faults.
    pub faults: usize,
    /// How often they strike.
    pub strikes: usize,
    /// Decisions that are not the simplest of their kind.
    pub decisions: usize,
    /// Bytes of its input.
    pub input_bytes: usize,
}

impl ProfileShrink {
    /// Its schema.
    pub const SCHEMA: &str = "fozzy.profile_shrink.v2";
    /// The status without a smaller run.
    pub const NOTHING_SMALLER: &str = "no_feasible_shrink_found";

    fn cost(&self, cost: u64) -> String {
        match self.unit.as_str() {
            "ns" => Duration(cost).to_string(),
            unit => counted(cost, unit.strip_suffix('s').unwrap_or(unit)),
        }
    }
}

impl ProfileShrinkSize {
    fn words(self) -> String {
        let ProfileShrinkSize { steps, faults, decisions, input_bytes, .. } = self;
        let parts = [(steps, "step"), (faults, "fault"), (decisions, "decision"), (input_bytes, "byte")];
        let parts = parts.iter().filter(|(size, _)| *size > 0).map(|(size, what)| counted(*size as u64, what));
        let words = parts.collect::<Vec<_>>().join(", ");
        if words.is_empty() { "nothing that varies".to_owned() } else { words }
    }
}

impl Layout for ProfileShrink {
    fn lay_out(&self, _style: Style) -> String {
        let ProfileShrink { metric, baseline, before_size, after_size, executions, .. } = self;
        let mut text = format!("{metric}: {} with {}\n", self.cost(*baseline), before_size.words());
        match (self.after, &self.out_trace) {
            (Some(after), Some(out)) => {
                text += &format!("     now {} with {}\n", self.cost(after), after_size.words());
                let end = if self.minimal { "no part of it can be left out" } else { "the time was over" };
                text += &format!("{} executions, {end}\nwrote {out}\n", grouped(*executions));
            }
            _ => text += &format!("nothing smaller: {}\n", self.reason.as_deref().unwrap_or_default()),
        }
        text
    }
}
