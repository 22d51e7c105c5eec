//! What a run is held to beside what every run is held to, as `[expect]` of a plan and its flags say.
//!
//! ```text
//! exit 0 or 3 │ output "done" │ no line with `balance: -` │ judge.wasm says so
//! ```
//!
//! Invariant: criteria are a part of the plan, so that replays, shrinking and searches judge as the run did.
//! Not here: measuring a run by them (`fozzy-engine`), the verdict (`fozzy-check`).

use super::MachinePlan;
use crate::Digest;
use serde::{Deserialize, Serialize};

/// Bytes of a pattern at the most.
pub const PATTERN_BYTES_MAX: usize = 4096;
/// Patterns of a plan at the most.
pub const PATTERNS_MAX: usize = 64;

/// What a run is held to. Each part is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct RunCriteria {
    /// The codes with which the target may exit; only 0 when it is empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exit_codes: Vec<u32>,
    /// What the target writes to standard output, but for a line end at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Digest>,
    /// Regular expressions that nothing matches which any machine writes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fail_on: Vec<String>,
    /// The program that judges the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checker: Option<CheckerPlan>,
}

/// Checkers that the operations of a run are held to at the most.
pub const HISTORY_CRITERIA_MAX: usize = 16;
/// Bytes of the name of a checker, model or level.
pub const CHECKER_NAME_BYTES_MAX: usize = 64;

/// Whether a model is named by the path of a component: `./model.wasm`.
#[must_use]
pub fn is_model_path(model: &str) -> bool {
    [".wasm", ".wat"].iter().any(|ending| model.ends_with(ending)) || model.contains('/')
}

/// A checker that the operations of a run's clients are held to.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HistoryCriterion {
    /// `linearizable`, `sequential`, `isolation`, or the name of a checker that needs neither model nor level.
    pub checker: String,
    /// The name of the model or level; what the operations plainly have if it is empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The component that is the model, which then has the name of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<Digest>,
    /// Of a bank, the names of its accounts in EDN; those of the first read if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<String>,
    /// Of a bank, what its accounts have together; what they have at the first read if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
}

impl HistoryCriterion {
    /// A checker by its name and that of its model or level.
    #[must_use]
    pub fn named(checker: &str, model: &str) -> HistoryCriterion {
        HistoryCriterion { checker: checker.to_owned(), model: model.to_owned(), ..HistoryCriterion::default() }
    }

    /// Its name in sentences.
    #[must_use]
    pub fn name(&self) -> String {
        match self.model.as_str() {
            "" => self.checker.clone(),
            model => format!("{} {model}", self.checker),
        }
    }

    /// The site of a failure: the checker, the anomaly, and the class of the key, in which numbers make no difference.
    #[must_use]
    pub fn site(&self, anomaly: &str, key: Option<&str>) -> String {
        let mut site = format!("{}: {anomaly}", self.name());
        if let Some(key) = key {
            site.push_str(" of key ");
            let mut was_digit = false;
            for c in key.chars().filter(|c| !c.is_control()) {
                if !(c.is_ascii_digit() && was_digit) {
                    site.push(if c.is_ascii_digit() { '#' } else { c });
                }
                was_digit = c.is_ascii_digit();
            }
        }
        site
    }
}

/// A program that judges runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CheckerPlan {
    /// The component, before instrumentation.
    pub component: Digest,
    /// What its machine is given beside the run that it judges.
    pub machine: MachinePlan,
}

impl RunCriteria {
    /// Whether a run is held to nothing more than every run.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == RunCriteria::default()
    }

    /// The names of all bytes that they refer to.
    pub fn digests(&self) -> impl Iterator<Item = Digest> + '_ {
        self.output.into_iter().chain(self.checker.as_ref().map(|checker| checker.component))
    }
}
