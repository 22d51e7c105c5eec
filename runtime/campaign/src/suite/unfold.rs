//! A suites file becomes the scenarios that it names.
//!
//! ```text
//! { "suites": [ { "name": "kv", "scenarios": ["kv/*.fozzy.json"], "matrix": { "seed": [1, 2] } } ] }
//!      ─▶ get [kv, seed 1]  get [kv, seed 2]  put [kv, seed 1]  put [kv, seed 2]
//! ```
//!
//! Paths count from the folder of the file. Everything that `fozzy test` takes can be named, but for other suites.
//!
//! Invariant: the order is that of the file, then of the paths, then of the matrix.

use super::entry::{CaseOverrides, Kind, SuiteEntry, shown};
use super::find::{SuiteEntries, named};
use crate::error::{CampaignError, ErrorKind};
use crate::scenario;
use fozzy_scenario_file::{Matrix, ParsedScenario, ScenarioSuite};
use fozzy_trace::Seed;
use std::path::Path;

/// Cases that a suites file can have. More would be a matrix that multiplied unseen.
const CASES_MAX: usize = 100_000;

/// The scenarios of a suites file; of anything else, itself. What is wrong with a file is said when it is run.
pub(super) fn unfold(selected: SuiteEntry) -> Result<Vec<SuiteEntry>, CampaignError> {
    // Opening a pipe would wait for a writer.
    if selected.kind != Kind::Json || !selected.path.is_file() {
        return Ok(vec![selected]);
    }
    let Ok(ParsedScenario::Suites(file)) = scenario::read(&selected.path).map(|read| read.scenario) else {
        return Ok(vec![selected]);
    };
    let mut cases = Vec::new();
    for suite in &file.suites {
        of_suite(&selected.path, suite, &mut cases)?;
        if cases.len() > CASES_MAX {
            let message = format!("{}: more than {CASES_MAX} cases", shown(&selected.path));
            return Err(CampaignError::new(ErrorKind::Suite, message));
        }
    }
    Ok(cases)
}

fn of_suite(path: &Path, suite: &ScenarioSuite, cases: &mut Vec<SuiteEntry>) -> Result<(), CampaignError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let refused =
        |why: String| CampaignError::new(ErrorKind::Suite, format!("{}: suite `{}`: {why}", shown(path), suite.name));
    for word in &suite.scenarios {
        let mut found = SuiteEntries::new();
        named(&shown(&folder.join(word)), &mut found).map_err(|error| refused(error.message))?;
        for one in found.into_values() {
            let is_suites = one.kind == Kind::Json
                && matches!(scenario::read(&one.path), Ok(read) if matches!(read.scenario, ParsedScenario::Suites(_)));
            // A pattern may well fit the file itself.
            if is_suites && word.contains('*') {
                continue;
            }
            if is_suites {
                return Err(refused(format!("{word} is a file of suites, which cannot be inside of others")));
            }
            cases.extend(combined(&one, suite, folder));
        }
    }
    Ok(())
}

/// One case for each combination of the matrix.
fn combined(one: &SuiteEntry, suite: &ScenarioSuite, folder: &Path) -> Vec<SuiteEntry> {
    let Matrix { seed, plan } = &suite.matrix;
    let mut cases = Vec::new();
    for plan in choices(plan) {
        for seed in choices(seed) {
            let words = [seed.map(|seed| format!("seed {seed}")), plan.map(|plan| format!("plan {plan}"))];
            let words: Vec<String> = [Some(suite.name.clone())].into_iter().chain(words).flatten().collect();
            let which = words.join(", ");
            let given = CaseOverrides {
                seed: seed.map(|seed| Seed(*seed)),
                plan: plan.map(|plan| folder.join(plan)),
                which: Some(which.clone()),
                tags: suite.tags.iter().cloned().chain([suite.name.clone()]).collect(),
            };
            cases.push(SuiteEntry { name: format!("{} [{which}]", one.name), given, ..one.clone() });
        }
    }
    cases
}

/// Each of them; nothing once when there are none.
fn choices<T>(of: &[T]) -> Vec<Option<&T>> {
    if of.is_empty() { vec![None] } else { of.iter().map(Some).collect() }
}
