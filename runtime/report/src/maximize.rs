//! What a search for the highest cost found: the worst run beside the usual one, and how the cost grows.
//!
//! Invariant: no wall facts in it: equal searches have equal summaries, but for the paths.

use fozzy_trace::{Duration, FailureSignature, counted, grouped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sizes that a line for people shows at most, the largest ones.
const POINTS_SHOWN: usize = 6;

/// A search for the highest cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MaximizeSummary {
    /// `cpu`, `heap`, `latency` or `calls:NAME`.
    pub metric: String,
    /// What it is counted in: `instructions`, `bytes`, `ns`, `calls`.
    pub unit: String,
    /// Runs that were made.
    pub runs: u64,
    /// The highest cost.
    pub best: u64,
    /// The run that had it first, counted from 1.
    pub best_at: u64,
    /// The size of its input: bytes, or numbers and bytes that the program draws.
    pub size: u64,
    /// The median cost of inputs that chance draws; absent when none was drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<u64>,
    /// How many times that the highest cost is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// How often a run cost more than all before it.
    pub improvements: u64,
    /// The highest cost of inputs of about a size, by size.
    pub growth: Vec<MaximizePoint>,
    /// The power of the size by which the highest cost grows; absent when it cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exponent: Option<f64>,
    /// The trace of the run with the highest cost; empty when it is not kept.
    pub trace_path: String,
    /// Runs that failed.
    pub failed: u64,
    /// Failures that were met on the way, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<MaximizeFailure>,
    /// Why it ended: `runs`, `time`, `limit` when a run has used up its budget of instructions, `interrupted` by a signal.
    pub ended: String,
    /// What a reader has to know of the costs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The highest cost of inputs of about a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MaximizePoint {
    /// The size of the input that has it.
    pub size: u64,
    /// The cost.
    pub cost: u64,
}

/// A failure that was met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MaximizeFailure {
    /// What it is.
    pub signature: FailureSignature,
    /// Its trace; empty when it is not kept.
    pub trace_path: String,
}

impl MaximizeSummary {
    /// The same, of a search whose traces are not kept.
    #[must_use]
    pub fn unkept(self) -> MaximizeSummary {
        let failures = self.failures.into_iter();
        let failures = failures.map(|failure| MaximizeFailure { trace_path: String::new(), ..failure }).collect();
        MaximizeSummary { trace_path: String::new(), failures, ..self }
    }

    fn cost(&self, cost: u64) -> String {
        match self.unit.as_str() {
            "ns" => Duration(cost).to_string(),
            unit => counted(cost, unit.strip_suffix('s').unwrap_or(unit)),
        }
    }
}

/// The lines of a search for people.
pub(crate) fn maximize_lines(found: &MaximizeSummary) -> Vec<String> {
    let MaximizeSummary { metric, best, best_at, runs, size, .. } = found;
    let mut lines =
        vec![format!("{metric}: at most {}, in run {} of {}", found.cost(*best), grouped(*best_at), grouped(*runs))];
    let median = found.median.map(|median| {
        let times = found.ratio.map(|ratio| format!(", {} times as much", ratio_text(ratio))).unwrap_or_default();
        format!("usual: {} (median of inputs by chance){times}", found.cost(median))
    });
    lines.extend(median);
    let growth = found.exponent.map(|exponent| format!(": the cost grows with its size to the power of {exponent:.1}"));
    lines.push(format!("its input has size {}{}", grouped(*size), growth.unwrap_or_default()));
    if found.growth.len() > 1 {
        let shown = &found.growth[found.growth.len().saturating_sub(POINTS_SHOWN)..];
        let points: Vec<String> =
            shown.iter().map(|point| format!("{} {}", grouped(point.size), found.cost(point.cost))).collect();
        lines.push(format!("most by size: {}", points.join(" · ")));
    }
    if found.ended == "limit" {
        lines.push(
            "a run has used up its budget of instructions, which ends the search: a higher --fuel lets it go on"
                .to_owned(),
        );
    }
    if found.trace_path.is_empty() {
        lines.push("the run is not kept".to_owned());
    } else {
        lines.push(format!("worst: {}", found.trace_path));
    }
    for failure in &found.failures {
        let path = if failure.trace_path.is_empty() { "not kept" } else { &failure.trace_path };
        lines.push(format!("met {}: {path}", failure.signature));
    }
    lines.extend(found.warnings.iter().cloned());
    lines
}

/// A ratio, in as many digits as it takes.
fn ratio_text(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.1}") } else { grouped(ratio.round() as u64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_run_is_shown_beside_the_usual_one() {
        let found = MaximizeSummary {
            metric: "cpu".to_owned(),
            unit: "instructions".to_owned(),
            runs: 3000,
            best: 1_234_567,
            best_at: 812,
            size: 63,
            median: Some(10_000),
            ratio: Some(123.4567),
            growth: vec![MaximizePoint { size: 8, cost: 900 }, MaximizePoint { size: 63, cost: 1_234_567 }],
            exponent: Some(1.98),
            trace_path: "worst.fozzy".to_owned(),
            ended: "runs".to_owned(),
            ..MaximizeSummary::default()
        };
        assert_eq!(
            maximize_lines(&found),
            [
                "cpu: at most 1,234,567 instructions, in run 812 of 3,000",
                "usual: 10,000 instructions (median of inputs by chance), 123 times as much",
                "its input has size 63: the cost grows with its size to the power of 2.0",
                "most by size: 8 900 instructions · 63 1,234,567 instructions",
                "worst: worst.fozzy",
            ]
        );
    }
}
