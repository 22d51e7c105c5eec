//! Scenario files: what stands in a `*.fozzy.json`, read strictly.
//!
//! ```text
//! text ─json─▶ Node (places, no key twice) ─read─▶ Scenario ─┬─ Steps        a list of steps
//!                                                            ├─ Program      the same in version 2, with variables and loops
//!                                                            ├─ Cluster      nodes of a replicated store, and faults
//!                                                            └─ Suites       which scenarios belong together
//! ```
//!
//! The `fozzy` command and the player, which is a guest, read the same text by this crate: so a trace holds the text as the
//! user wrote it, and both mean the same by it.
//!
//! Invariants: what is refused is refused with its line and column; no input makes it panic or recurse without bound; nothing
//! that a file says is ignored.
//! The same holds for the options of `fozzy maelstrom`, which are no file (`maelstrom`).
//!
//! Not here: what a step does (`runtime/player`).

mod cluster;
mod condition;
mod json;
mod maelstrom;
mod options;
mod payload;
mod problem;
mod program;
mod read;
#[cfg(feature = "schema")]
mod schema;
// The player has no use for it, and travels in each trace.
#[cfg(not(target_arch = "wasm32"))]
mod slice;
mod step;
mod suites;
mod template;
mod time;

pub use cluster::{Cluster, ClusterFile, ClusterInvariant, ClusterStep};
pub use condition::{Condition, ConditionOperator};
pub use json::{DEPTH_MAX, JsonNode, JsonNumber, JsonValue, TEXT_BYTES_MAX};
pub use maelstrom::{
    LatencyDistribution, MAELSTROM_CLIENTS_MAX, MAELSTROM_NODES_MAX, MAELSTROM_SERVICES, MAELSTROM_STEPS_MAX,
    MaelstromGoal, MaelstromOptions, MaelstromWorkload, NemesisKind, PartitionMoment, Topology,
};
pub use options::{ClusterFault, ClusterOptions, ClusterPreset};
pub use payload::Payload;
pub use problem::{ScenarioProblem, SourcePosition};
pub use program::{Calculation, ProgramFile, ProgramStep, ROUNDS_MAX, Statement, StepFunction, TargetCall, filled};
#[cfg(feature = "schema")]
pub use schema::{schema_v1, schema_v2};
#[cfg(not(target_arch = "wasm32"))]
pub use slice::{FailedPart, StepSlice};
pub use step::{
    AllocKey, BodyContent, DeliveryStrategy, HttpRequest, HttpRuleStep, KvPoll, KvRead, ProcRuleStep, ProcSpawn, Step,
    StepsFile,
};
pub use suites::{Matrix, ScenarioSuite, SuitesFile};
pub use template::{FILLED_BYTES_MAX, Variables, fill, fill_text, fill_wave, kind, plain};
pub use time::StepDuration;

/// Steps that a scenario can have, those inside of others too. The bound keeps the time of a run within reason.
pub const STEPS_MAX: usize = 200_000;

/// A scenario file.
#[derive(Clone, Debug, PartialEq)]
pub enum ParsedScenario {
    /// A list of steps.
    Steps(StepsFile),
    /// A list of steps, in version 2.
    Program(ProgramFile),
    /// Nodes of a replicated store.
    Cluster(ClusterFile),
    /// A list of scenarios.
    Suites(SuitesFile),
}

/// The versions that are read.
const VERSIONS: [u64; 2] = [1, 2];

impl ParsedScenario {
    /// Reads a file.
    ///
    /// # Errors
    /// When it is not one: the first thing that is wrong, and where.
    pub fn parse(bytes: &[u8]) -> Result<ParsedScenario, ScenarioProblem> {
        let text = problem::text(bytes)?;
        let root = json::parse(text).map_err(|found| found.locate(text))?;
        ParsedScenario::of(&root).map_err(|found| found.locate(text))
    }

    fn of(root: &JsonNode) -> Result<ParsedScenario, read::ReadProblem> {
        let JsonValue::Object(members) = &root.value else {
            let what = format!("expected a scenario, which is an object {{ … }}, found {}", root.value.kind());
            return Err(read::ReadProblem::at(root.at, what));
        };
        let member = |name: &str| members.iter().find(|(key, _)| key.text == name).map(|(_, node)| node);
        let Some(version) = member("version") else {
            return Err(read::ReadProblem::at(root.at, "`version` is missing: `\"version\": 1`"));
        };
        let number = match &version.value {
            JsonValue::Number(JsonNumber::Unsigned(number)) if VERSIONS.contains(number) => *number,
            other => {
                let what = format!("version: expected 1 or 2, found {}", other.shown());
                return Err(read::ReadProblem::at(version.at, what));
            }
        };
        let shapes: Vec<&str> =
            ["steps", "distributed", "suites"].into_iter().filter(|name| member(name).is_some()).collect();
        let scenario = match shapes[..] {
            ["steps"] if number == 2 => ParsedScenario::Program(program::read(root)?),
            [shape] if number == 2 => {
                let what = format!("version: expected 1 with `{shape}`, found 2, which has `steps` only");
                return Err(read::ReadProblem::at(version.at, what));
            }
            ["steps"] => ParsedScenario::Steps(read::read(root)?),
            ["distributed"] => ParsedScenario::Cluster(read::read(root)?),
            ["suites"] => ParsedScenario::Suites(read::read(root)?),
            [] => {
                let unknown = members.iter().find(|(key, _)| !["version", "name"].contains(&key.text.as_str()));
                let at = unknown.map_or(root.at, |(key, _)| key.at);
                let what = match unknown {
                    Some((key, _)) => read::unknown("field", &key.text, &["steps", "distributed", "suites"]),
                    None => "one of `steps`, `distributed` and `suites` is missing".to_owned(),
                };
                return Err(read::ReadProblem::at(at, what));
            }
            [first, second, ..] => {
                let what = format!("`{first}` and `{second}` in one file: a scenario has one of them");
                return Err(read::ReadProblem::at(root.at, what));
            }
            [other] => return Err(read::ReadProblem::at(root.at, format!("`{other}` cannot be read"))),
        };
        // The player is given what the command has checked.
        if !cfg!(target_arch = "wasm32") {
            scenario.check(root)?;
        }
        Ok(scenario)
    }

    /// What no type says.
    fn check(&self, root: &JsonNode) -> Result<(), read::ReadProblem> {
        if self.name().is_empty() || self.name().len() > NAME_BYTES_MAX {
            let what = format!("name: expected 1 to {NAME_BYTES_MAX} bytes, found {}", self.name().len());
            return Err(read::ReadProblem::at(root.member("name").unwrap_or(root).at, what));
        }
        match self {
            ParsedScenario::Steps(file) => file.check(root),
            // All of it is looked at where it is read.
            ParsedScenario::Program(_) => Ok(()),
            ParsedScenario::Cluster(file) => file.check(root),
            ParsedScenario::Suites(file) => file.check(root),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            ParsedScenario::Steps(file) => &file.name,
            ParsedScenario::Program(file) => &file.name,
            ParsedScenario::Cluster(file) => &file.name,
            ParsedScenario::Suites(file) => &file.name,
        }
    }

    /// The name of its shape, which is that of its main field.
    #[must_use]
    pub fn variant(&self) -> &'static str {
        match self {
            ParsedScenario::Steps(_) | ParsedScenario::Program(_) => "steps",
            ParsedScenario::Cluster(_) => "distributed",
            ParsedScenario::Suites(_) => "suites",
        }
    }
}

/// The text as a tree of values that know their places, whether or not it is a scenario; `None` when it is not JSON.
#[must_use]
pub fn read_tree(bytes: &[u8]) -> Option<JsonNode> {
    json::parse(problem::text(bytes).ok()?).ok()
}

/// Longest name of a scenario, in bytes: it travels in reports.
pub const NAME_BYTES_MAX: usize = 255;

#[cfg(test)]
mod tests;
