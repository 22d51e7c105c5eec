//! Which scenarios a suite has.
//!
//! ```text
//! names, or none ─find─▶ entries ─┬─ less what others of them judge
//!                                 ├─ a suites file is the scenarios that it names, each once for each combination of its matrix
//!                                 └─ those that fit the filter
//! ```
//!
//! Invariants: a suite without a scenario is an error; the order is that of the paths; a component that a scenario of the suite
//! judges is none of its scenarios, and neither is the checker that a plan of theirs names.

use super::entry::{SuiteEntry, shown};
use super::expect::{Expect, own_plan};
use super::find::{SuiteEntries, everything, named};
use super::unfold::unfold;
use crate::error::{CampaignError, ErrorKind};
use fozzy_plan::{PlanFile, read_text};
use fozzy_trace::counted;
use std::path::PathBuf;

/// What was asked for by name, or everything.
pub fn select(globs: &[String], filter: Option<&str>) -> Result<Vec<SuiteEntry>, CampaignError> {
    let mut found = SuiteEntries::new();
    if globs.is_empty() {
        everything(&mut found)?;
    }
    for word in globs {
        named(word, &mut found)?;
    }
    let judged: Vec<PathBuf> = found.values().flat_map(|one| judged(one).into_iter().chain(checker(one))).collect();
    found.retain(|path, _| path.canonicalize().map_or(true, |path| !judged.contains(&path)));
    let all = found.len();
    if all == 0 {
        return Err(CampaignError::new(
            ErrorKind::Suite,
            "no scenario is here: none in tests/**/*.fozzy.json, below scenarios/ and in this folder",
        )
        .hint(
            "name some: fozzy test app.wasm 'more/*.wat' folder; or begin with one: fozzy init app --template rust",
        ));
    }
    let fits = |selected: &SuiteEntry| {
        let has = |part: &str| selected.name.contains(part) || shown(&selected.path).contains(part);
        filter.is_none_or(|part| has(part) || selected.given.tags.iter().any(|tag| tag == part))
    };
    let unfolded: Vec<Vec<SuiteEntry>> = found.into_values().map(unfold).collect::<Result<_, _>>()?;
    let all = unfolded.iter().map(Vec::len).sum::<usize>();
    let kept: Vec<SuiteEntry> = unfolded.into_iter().flatten().filter(fits).collect();
    match (kept.is_empty(), filter) {
        (true, Some(part)) => Err(CampaignError::new(
            ErrorKind::Suite,
            format!("--filter {part}: of {}, none has this in its path", counted(all as u64, "scenario")),
        )),
        _ => Ok(kept),
    }
}

/// The files of a scenario, as the system names them: its own, and what is no scenario since this one uses it.
pub(crate) fn files(selected: &SuiteEntry) -> Vec<PathBuf> {
    [selected.path.canonicalize().ok(), judged(selected), checker(selected)].into_iter().flatten().collect()
}

/// What a scenario judges. What is wrong with its `expect.toml` is said when it is run.
fn judged(selected: &SuiteEntry) -> Option<PathBuf> {
    let expect = Expect::of(&selected.path, selected.kind).ok()?;
    expect.judged(&selected.path)?.canonicalize().ok()
}

/// The program that judges the runs of a scenario under its own plan. What is wrong with that plan is said when it is run.
fn checker(selected: &SuiteEntry) -> Option<PathBuf> {
    let path = own_plan(&selected.path, selected.kind)?;
    let plan = PlanFile::parse(&read_text(&path).ok()?, &path).ok()?;
    plan.expect.check?.canonicalize().ok()
}
