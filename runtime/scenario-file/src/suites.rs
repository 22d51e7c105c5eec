//! Suites: which scenarios belong together, and with what each is run.
//!
//! ```text
//! { "version": 1, "name": "all", "suites": [
//!     { "name": "kv", "scenarios": ["kv/*.fozzy.json"], "tags": ["quick"], "matrix": { "seed": [1, 2, 3] } } ] }
//! ```

use crate::json::JsonNode;
use crate::read::ReadProblem;
use std::collections::BTreeSet;

/// A file with `suites`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SuitesFile {
    /// The version of the format: 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1)))]
    pub version: u32,
    /// The name of all of them.
    pub name: String,
    /// The suites.
    pub suites: Vec<ScenarioSuite>,
}

/// Scenarios that belong together.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScenarioSuite {
    /// Its name.
    pub name: String,
    /// Scenarios, by paths or patterns from the folder of this file.
    pub scenarios: Vec<String>,
    /// Words by which suites are chosen: `fozzy test --filter`.
    #[serde(default)]
    pub tags: Vec<String>,
    /// With what each scenario is run: once for each combination.
    #[serde(default)]
    pub matrix: Matrix,
}

/// Values that are combined with each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// Seeds.
    #[serde(default)]
    pub seed: Vec<u64>,
    /// Plan files, by paths from the folder of this file.
    #[serde(default)]
    pub plan: Vec<String>,
}

impl SuitesFile {
    pub(crate) fn check(&self, root: &JsonNode) -> Result<(), ReadProblem> {
        let node = root.member("suites").unwrap_or(root);
        if self.suites.is_empty() {
            return Err(ReadProblem::at(node.at, "suites: there is none, so nothing would be tested"));
        }
        let mut names = BTreeSet::new();
        for (number, suite) in self.suites.iter().enumerate() {
            let here = node.element(number).unwrap_or(node);
            if suite.name.is_empty() || !names.insert(&suite.name) {
                return Err(ReadProblem::at(
                    here.member("name").unwrap_or(here).at,
                    "name: expected a name that no other suite has",
                ));
            }
            if suite.scenarios.is_empty() {
                let at = here.member("scenarios").unwrap_or(here).at;
                return Err(ReadProblem::at(at, "scenarios: there is none, so nothing would be tested"));
            }
        }
        Ok(())
    }
}
