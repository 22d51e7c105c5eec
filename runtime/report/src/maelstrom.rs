//! Results of `fozzy maelstrom test`: as a document, as EDN with the names of the original, and as lines.
//!
//! ```text
//! {:valid? true,
//!  :net {:servers {:msgs-per-op 6.2}},
//!  :workload {:valid? true, :stable-latencies {0.5 120}}}
//! ```

mod journal;
mod page;

pub use crate::goal::GoalResult;
pub use journal::{DIAGRAM_EVENTS, JOURNAL_EVENTS_MAX, MessageEvent, MessageEventKind, lamport_svg};
pub use page::maelstrom_page;

use crate::RunSummary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What `fozzy maelstrom test --json` prints.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MaelstromDocument {
    /// `fozzy.maelstrom.v1`.
    pub schema_version: String,
    /// Results of the test.
    pub results: MaelstromResults,
    /// The run, as `fozzy run` has it.
    pub run: RunSummary,
}

/// A verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MaelstromValidity {
    /// It is known.
    Known(bool),
    /// It is not.
    Undecided(UndecidedWord),
}

/// A verdict that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UndecidedWord {
    /// It is not known.
    Unknown,
}

impl MaelstromValidity {
    /// It is valid.
    pub const VALID: MaelstromValidity = MaelstromValidity::Known(true);
    /// It is invalid.
    pub const INVALID: MaelstromValidity = MaelstromValidity::Known(false);
    /// It is not known.
    pub const UNKNOWN: MaelstromValidity = MaelstromValidity::Undecided(UndecidedWord::Unknown);
}

impl Default for MaelstromValidity {
    fn default() -> MaelstromValidity {
        MaelstromValidity::UNKNOWN
    }
}

/// Results of a test. Its keys are those of Maelstrom, where it has them.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct MaelstromResults {
    /// What was tested.
    pub name: String,
    /// `true`, `false` or `"unknown"`.
    #[serde(rename = "valid?")]
    pub valid: MaelstromValidity,
    /// What was found wrong with the run, whoever has found it: checkers, nodes that break the protocol, crash or end, budgets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// How long it took, in virtual time.
    pub virtual_seconds: f64,
    /// Messages; absent when the run has ended before the test was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net: Option<MaelstromNet>,
    /// Completions of operations, and whether each kind has succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stats: Option<CheckerResult>,
    /// The share of operations that succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability: Option<MaelstromAvailability>,
    /// What the workload's own checker says; absent when it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<CheckerResult>,
    /// How long operations took, and how many there were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub perf: Option<MaelstromPerf>,
    /// Errors and timeouts of operations; always valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exceptions: Option<MaelstromExceptions>,
    /// Whether operations can be drawn over time; always valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<MaelstromTimeline>,
    /// Goals that were set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<GoalResult>,
}

/// Latencies and rates, by function.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct MaelstromPerf {
    /// It is never wrong.
    #[serde(rename = "valid?")]
    pub valid: bool,
    /// Milliseconds of operations that succeeded, by quantile.
    pub latencies: BTreeMap<String, BTreeMap<String, f64>>,
    /// Operations that succeeded, for each second of virtual time.
    pub rates: BTreeMap<String, f64>,
}

/// What operations ended with that did not succeed.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct MaelstromExceptions {
    /// It is never wrong.
    #[serde(rename = "valid?")]
    pub valid: bool,
    /// How often, by what was said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ExceptionClass>,
}

/// Operations that ended with the same words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExceptionClass {
    /// The words.
    pub class: String,
    /// How many operations.
    pub count: u64,
}

/// The timeline of operations, which is `index.html`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct MaelstromTimeline {
    /// It is never wrong.
    #[serde(rename = "valid?")]
    pub valid: bool,
}

/// The share of operations that succeeded.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct MaelstromAvailability {
    /// Whether these are enough.
    #[serde(rename = "valid?")]
    pub valid: bool,
    /// From 0 to 1.
    pub ok_fraction: f64,
}

/// Messages of a test.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct MaelstromNet {
    /// All of them.
    pub all: MessageCounts,
    /// Those with a client at either end.
    pub clients: MessageCounts,
    /// The others.
    pub servers: MessageCounts,
}

/// How many messages there were.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct MessageCounts {
    /// Messages that were sent.
    pub send_count: u64,
    /// Messages that arrived.
    pub recv_count: u64,
    /// Messages, each counted once.
    pub msg_count: u64,
    /// Messages for each operation of a client.
    pub msgs_per_op: f64,
}

/// What a checker says of the operations.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct CheckerResult {
    /// `true`, `false` or `"unknown"`.
    #[serde(rename = "valid?")]
    pub valid: MaelstromValidity,
    /// What was counted.
    #[serde(flatten)]
    pub counts: BTreeMap<String, i64>,
    /// What was counted, by function.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_f: BTreeMap<String, BTreeMap<String, i64>>,
    /// Milliseconds from when an element is known until the last read that missed it, by quantile.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stable_latencies: BTreeMap<String, i64>,
    /// What is wrong, or worth knowing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anomalies: Vec<String>,
}

impl MaelstromResults {
    /// What was measured under the name of a goal.
    #[must_use]
    pub fn measured(&self, name: &str) -> Option<f64> {
        let latency = |quantile: &str| {
            let latencies = &self.workload.as_ref()?.stable_latencies;
            latencies.get(quantile).map(|ms| *ms as f64)
        };
        match name {
            "msgs-per-op" => self.net.as_ref().map(|net| net.servers.msgs_per_op),
            "ok-fraction" => self.availability.as_ref().map(|one| one.ok_fraction),
            "median" => latency("0.5"),
            "p95" => latency("0.95"),
            "p99" => latency("0.99"),
            _ => latency("1"),
        }
    }

    /// In EDN, with keywords as keys.
    #[must_use]
    pub fn edn(&self) -> String {
        let mut text = String::new();
        write_edn(&serde_json::to_value(self).unwrap_or_default(), 0, &mut text);
        text.push('\n');
        text
    }
}

fn write_edn(value: &Value, depth: usize, text: &mut String) {
    match value {
        Value::Object(entries) => {
            text.push('{');
            for (number, (key, value)) in entries.iter().enumerate() {
                if number > 0 {
                    text.push_str(",\n");
                    text.extend(std::iter::repeat_n(' ', depth + 1));
                }
                // Quantiles are numbers, all other keys are names.
                let key = if key.parse::<f64>().is_ok() { key.clone() } else { format!(":{key}") };
                let _ = write!(text, "{key} ");
                write_edn(value, depth + 1, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    text.push(' ');
                }
                write_edn(item, depth + 1, text);
            }
            text.push(']');
        }
        Value::Null => text.push_str("nil"),
        // As the original has it: a verdict is true, false or :unknown.
        Value::String(word) if word == "unknown" => text.push_str(":unknown"),
        other => {
            let _ = write!(text, "{other}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_names_of_the_original() {
        let mut checker = CheckerResult { valid: MaelstromValidity::UNKNOWN, ..CheckerResult::default() };
        checker.counts.insert("stable-count".to_owned(), 3);
        checker.stable_latencies.insert("0.5".to_owned(), 120);
        let results = MaelstromResults {
            name: "broadcast".to_owned(),
            valid: MaelstromValidity::VALID,
            virtual_seconds: 1.5,
            workload: Some(checker),
            ..MaelstromResults::default()
        };
        let edn = results.edn();
        let all = [
            ":valid? true",
            ":name \"broadcast\"",
            ":stable-latencies {0.5 120}",
            ":valid? :unknown",
            ":stable-count 3",
        ];
        assert!(all.iter().all(|part| edn.contains(part)), "{edn}");
        let json = serde_json::to_value(&results).expect("plain values");
        assert_eq!((&json["valid?"], &json["workload"]["valid?"]), (&true.into(), &"unknown".into()));
    }
}
