//! Scenario files `*.fozzy.json`: read, checked, and given to the player, which is embedded here.
//!
//! ```text
//! kv.fozzy.json ─read─▶ ScenarioFile ─equip─▶ Plan { stdin = the text, one sequence of so many steps }
//!                                             component = the player
//! ```
//!
//! So a scenario file is a program like any other from here on: it is recorded, replayed, fuzzed, explored and shrunk as such,
//! and its text stands in each trace.
//!
//! Not here: what a file must look like (`player/model`), what a step does (`player`).

use crate::error::{CliError, at_path};
use fozzy_trace::Plan;
use fozzy_trace::plan::{Backend, Inputs, ScenarioPlan};
use player_model::{ClusterStep, Problem, Scenario, Step, TEXT_BYTES_MAX};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The component that plays scenario files; see `runtime/cli/build.rs`.
const PLAYER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/player.wasm"));

/// What a target of this kind is called in traces and reports.
pub(crate) const KIND: &str = "scenario";

/// How a scenario file can be named where programs can.
const PREFIX: &str = "scenario:";

/// A scenario file that was read.
#[derive(Clone, Debug)]
pub(crate) struct ScenarioFile {
    /// As it stands in the file.
    pub(crate) text: Arc<[u8]>,
    pub(crate) scenario: Scenario,
}

/// The path of a scenario file, if a target is one: by the end of its name, or by `scenario:` before it.
pub(crate) fn named(target: &Path) -> Option<PathBuf> {
    let word = target.to_str().unwrap_or_default();
    let path = word.strip_prefix(PREFIX).map_or_else(|| target.to_owned(), PathBuf::from);
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    (word.starts_with(PREFIX) || is_json).then_some(path)
}

/// The component that plays it.
pub(crate) fn player() -> Arc<[u8]> {
    PLAYER.into()
}

/// Reads the text of one; what cannot be one is refused before it is swallowed.
pub(crate) fn read_text(path: &Path) -> Result<Vec<u8>, CliError> {
    let failed = |error: std::io::Error| at_path(KIND, "cannot read", path, &error);
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(CliError::new(KIND, format!("{} is a folder, not a scenario file", path.display())));
    }
    let mut text = Vec::new();
    file.take(TEXT_BYTES_MAX as u64 + 1).read_to_end(&mut text).map_err(failed)?;
    Ok(text)
}

/// Reads one.
pub(crate) fn read(path: &Path) -> Result<ScenarioFile, CliError> {
    let text = read_text(path)?;
    let scenario = Scenario::parse(&text).map_err(|problem| refused(path, &problem))?;
    Ok(ScenarioFile { text: text.into(), scenario })
}

fn refused(path: &Path, problem: &Problem) -> CliError {
    let between = if problem.place.is_some() { ":" } else { ": " };
    CliError::new(KIND, format!("{}{between}{problem}", path.display()))
}

impl ScenarioFile {
    /// Makes a plan one of this scenario.
    pub(crate) fn equip(&self, name: &str, plan: &mut Plan, inputs: &mut Inputs) -> Result<(), CliError> {
        let Some(steps) = self.steps() else {
            let message = format!("{name} is a file of suites, whose scenarios are run by `fozzy test`");
            return Err(CliError::new(KIND, message).hint(format!("fozzy test {name}")));
        };
        if plan.main.args.len() > 1 {
            return Err(CliError::new("usage", format!("{name} is a scenario file, which takes no arguments")));
        }
        let answerer = |backend, has_rules| match (backend, has_rules) {
            (Backend::Host, _) => "host",
            (Backend::Virtual, true) => "plan",
            (Backend::Virtual, false) => "nobody",
        };
        plan.main.args = vec![
            "player".to_owned(),
            format!("--name={}", self.scenario.name()),
            format!("--kinds={}", self.kinds().join(",")),
            format!("--http={}", answerer(plan.backends.http, !plan.http.is_empty())),
            format!("--proc={}", answerer(plan.backends.processes, !plan.processes.is_empty())),
        ];
        plan.main.stdin.bytes = inputs.add(Arc::clone(&self.text));
        plan.main.stdin.stays_open = false;
        plan.scenario = Some(ScenarioPlan::all(1, steps));
        Ok(())
    }

    /// The kinds of its steps, each once, in the order of their first steps.
    fn kinds(&self) -> Vec<&'static str> {
        let all: Vec<&'static str> = match &self.scenario {
            Scenario::Steps(file) => file.steps.iter().map(Step::kind).collect(),
            Scenario::Cluster(file) => file.distributed.steps.iter().map(ClusterStep::kind).collect(),
            Scenario::Suites(_) => Vec::new(),
        };
        let mut kinds: Vec<&'static str> = Vec::new();
        for kind in all {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }

    /// Its steps; `None` for suites, which have none.
    pub(crate) fn steps(&self) -> Option<u32> {
        let steps = match &self.scenario {
            Scenario::Steps(file) => file.steps.len(),
            Scenario::Cluster(file) => file.distributed.steps.len(),
            Scenario::Suites(_) => return None,
        };
        Some(u32::try_from(steps).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_file_is_told_by_its_name() {
        for (target, path) in [
            ("a.fozzy.json", Some("a.fozzy.json")),
            ("scenario:b/a.json", Some("b/a.json")),
            ("scenario:a", Some("a")),
            ("a.wasm", None),
            ("a.fozzy", None),
        ] {
            assert_eq!(named(Path::new(target)).as_deref(), path.map(Path::new), "{target}");
        }
    }
}
