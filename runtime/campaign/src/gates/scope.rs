//! Which scenarios a gate checks: those that are named, and of these those that a change needs.
//!
//! ```text
//! --scope a,b ─▶ by name or path ─┬─ no --since ─▶ these
//!                                 └─ --since REV ─▶ map suites --since REV ─▶ those that reach the change, or all if none does
//! ```
//!
//! Invariant: a gate checks something: a change that no scenario reaches leaves the scope as it is, and that is said.

use super::chain::{map_counts, map_suites};
use super::steps::{Steps, advisory, passed, skipped};
use super::subprocess::CommandRunner;
use crate::error::CampaignError;
use crate::suite::project::ProjectScenarios;
use fozzy_trace::counted;
use serde_json::Value;
use std::path::Path;

/// Takes the steps `map_suites` and `scope_match`.
pub fn scope(
    steps: &mut Steps<'_>,
    own: &CommandRunner,
    project: Option<&ProjectScenarios>,
    root: Option<&Path>,
    parts: &[String],
    since: Option<&str>,
) -> Option<ProjectScenarios> {
    let mut needed: Option<Vec<String>> = None;
    steps.step("map_suites", || {
        if project.is_none() {
            return Ok(skipped("no scenario"));
        }
        let mut flags: Vec<String> =
            root.iter().flat_map(|root| ["--scenario-root".to_owned(), root.display().to_string()]).collect();
        flags.extend(since.iter().flat_map(|since| ["--since".to_owned(), (*since).to_owned()]));
        let map = match map_suites(own, &flags)? {
            Ok(map) => map,
            Err(outcome) => return Ok(outcome),
        };
        let Some(change) = map.document.pointer("/change") else { return Ok(passed(map_counts(&map).2)) };
        let list = |key: &str| change.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let scenarios =
            list("scenarios").iter().filter_map(|row| row.get("path")?.as_str().map(str::to_owned)).collect();
        let (files, functions) = (list("files").len() as u64, list("functions").len() as u64);
        let missed: Vec<String> =
            list("unexecuted").iter().filter_map(|line| line.as_str().map(str::to_owned)).collect();
        needed = Some(scenarios);
        let what = format!("{} and {} changed", counted(files, "file"), counted(functions, "function"));
        Ok(match missed.first() {
            Some(first) => {
                advisory(format!("{what}; {} no scenario executes, the first is {first}", not_executed(missed.len())))
            }
            None => passed(what),
        })
    });
    let mut scoped = None;
    steps.step("scope_match", || {
        if project.is_none() {
            return Ok(skipped("no scenario"));
        }
        let found = ProjectScenarios::discover(root, parts)?;
        let (narrowed, how) = narrowed(&found, needed.as_deref())?;
        let found = narrowed.unwrap_or(found);
        let detail = format!("scenarios: {}{how}; steps are about {}", found.all.len(), found.primary());
        scoped = Some(found);
        Ok(passed(detail))
    });
    scoped
}

fn not_executed(lines: usize) -> String {
    if lines == 1 { "1 line that changed".to_owned() } else { format!("{lines} lines that changed") }
}

/// The scenarios that a change needs, and how it went.
fn narrowed(
    found: &ProjectScenarios,
    needed: Option<&[String]>,
) -> Result<(Option<ProjectScenarios>, &'static str), CampaignError> {
    let Some(needed) = needed else { return Ok((None, "")) };
    let narrowed = found.only(needed)?;
    let how = if narrowed.is_some() { " that the change needs" } else { ", since none reaches the change" };
    Ok((narrowed, how))
}
