//! The scenarios of a project, and which of them the steps are about.
//!
//! Invariant: the first scenario by path whose name says that it passes, or shows something, is the one; else the first whose
//! name does not say that it fails. A distributed one is taken only where there is no other, since it cannot be fuzzed.

use crate::error::{CampaignError, ErrorKind};
use crate::suite::entry::{Kind, SuiteEntry, shown};
use crate::suite::expect::flags;
use crate::suite::select::select;
use fozzy_trace::counted;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Where scenarios are looked for unless something else is said.
const ROOT: &str = "tests";
/// In names of scenarios that are there to pass.
const POSITIVE: [&str; 2] = ["pass", "example"];
/// In names of scenarios that are there to fail.
const NEGATIVE: [&str; 6] = ["fail", "leak", "panic", "timeout", "checkers", "assertions"];

/// What the steps are about.
pub struct ProjectScenarios {
    /// Where scenarios were looked for.
    pub root: String,
    /// All that are in scope, by path.
    pub all: Vec<SuiteEntry>,
    /// The one for steps that take one.
    pub primary: SuiteEntry,
    /// Its plan and its target, as flags.
    pub flags: Vec<String>,
}

impl ProjectScenarios {
    /// The scenarios below `root`, or all that `fozzy test` takes by default, and what else is below `tests`. Of these, only those that
    /// `scopes` name.
    pub fn discover(root: Option<&Path>, scopes: &[String]) -> Result<ProjectScenarios, CampaignError> {
        let of_tests = || Path::new(ROOT).is_dir().then(|| select(&[ROOT.to_owned()], None).ok()).flatten();
        let (root, mut all) = match root {
            Some(root) => (shown(root), select(&[shown(root)], None)?),
            None => {
                let all = everywhere(of_tests().unwrap_or_default())?;
                let is_tests = all.iter().all(|selected| selected.path.starts_with(ROOT)) && scopes.is_empty();
                (if is_tests { ROOT } else { "." }.to_owned(), all)
            }
        };
        let found = all.len();
        let fits = |selected: &SuiteEntry, part: &String| {
            selected.name.contains(part.as_str()) || shown(&selected.path).contains(part.as_str())
        };
        all.retain(|selected| scopes.is_empty() || scopes.iter().any(|part| fits(selected, part)));
        ProjectScenarios::of(root, all)?.ok_or_else(|| {
            let message = format!(
                "of {}, none has {} in its name or path",
                counted(found as u64, "scenario"),
                scopes.join(" or ")
            );
            CampaignError::new(ErrorKind::Suite, message)
        })
    }

    /// These scenarios, and the one that steps are about; `None` of none.
    fn of(root: String, all: Vec<SuiteEntry>) -> Result<Option<ProjectScenarios>, CampaignError> {
        let order = |selected: &&SuiteEntry| {
            let rank = rank(&selected.name);
            (rank == NEGATIVE_RANK, is_distributed(selected), rank)
        };
        let Some(primary) = all.iter().min_by_key(order).cloned() else { return Ok(None) };
        let flags = flags(&primary)?;
        Ok(Some(ProjectScenarios { root, all, primary, flags }))
    }

    /// Only the scenarios at these paths; `None` when there is none.
    pub fn only(&self, paths: &[String]) -> Result<Option<ProjectScenarios>, CampaignError> {
        let all = self.all.iter().filter(|selected| paths.contains(&shown(&selected.path)));
        ProjectScenarios::of(self.root.clone(), all.cloned().collect())
    }

    /// The paths of all scenarios, as they are named to `fozzy test`.
    pub fn paths(&self) -> Vec<String> {
        self.all.iter().map(|selected| shown(&selected.path)).collect()
    }

    /// The path of the one.
    pub fn primary(&self) -> String {
        shown(&self.primary.path)
    }

    /// The same, wherever a step works.
    pub fn primary_absolute(&self) -> String {
        absolute(&self.primary.path)
    }

    /// The path of the scenario that is meant for the real computer, as its name says: `host.pass`.
    pub fn meant_for_hosts(&self) -> Option<String> {
        let mut hosts = self.all.iter().filter(|selected| selected.name.split('.').any(|word| word == "host"));
        hosts.next().map(|selected| absolute(&selected.path))
    }

    /// Whether it is a JSON scenario of several nodes.
    pub fn is_distributed(&self) -> bool {
        is_distributed(&self.primary)
    }
}

/// What `fozzy test` takes by default, and these.
fn everywhere(mut all: Vec<SuiteEntry>) -> Result<Vec<SuiteEntry>, CampaignError> {
    match select(&[], None) {
        Ok(others) => all.extend(others),
        Err(error) if all.is_empty() => return Err(error),
        Err(_) => {}
    }
    let mut seen = BTreeSet::new();
    all.retain(|selected| seen.insert((selected.path.clone(), selected.given.which.clone())));
    all.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(all)
}

fn is_distributed(selected: &SuiteEntry) -> bool {
    let text = || std::fs::read_to_string(&selected.path).ok();
    let value = || serde_json::from_str::<Value>(&text()?).ok();
    selected.kind == Kind::Json && value().is_some_and(|value| value.get("distributed").is_some())
}

fn absolute(path: &Path) -> String {
    shown(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// The rank of what is there to fail.
const NEGATIVE_RANK: u8 = 2;

/// Low for what is likely to pass.
fn rank(name: &str) -> u8 {
    let name = name.to_lowercase();
    if NEGATIVE.iter().any(|word| name.contains(word)) {
        NEGATIVE_RANK
    } else {
        u8::from(!POSITIVE.iter().any(|word| name.contains(word)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_to_pass_comes_first() {
        let mut names = ["memory.fail", "bank", "run.pass", "example", "assertions"];
        names.sort_by_key(|name| rank(name));
        assert_eq!(names, ["run.pass", "example", "bank", "memory.fail", "assertions"]);
    }
}
