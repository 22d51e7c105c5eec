//! Which scenarios a suite has.
//!
//! ```text
//! names, or none ─find─▶ entries ─┬─ less what others of them judge, and what clusters among them are made of
//!                                 ├─ a suites file is the scenarios that it names, each once for each combination of its matrix
//!                                 └─ those that fit the filter
//! ```
//!
//! Invariants: a suite without a scenario is an error; the order is that of the paths; a component that a scenario of the suite
//! judges is none of its scenarios, and neither is the checker that a plan of theirs names, a program of a cluster's machines, or clients
//! without a plan of their own.

use super::entry::{Kind, SuiteEntry, shown};
use super::expect::{Expect, own_plan};
use super::find::{SuiteEntries, everything, kind_of, named};
use super::unfold::unfold;
use crate::cluster_plan::{clients, is_same};
use crate::error::{CampaignError, ErrorKind};
use fozzy_plan::{PlanFile, read_text};
use fozzy_trace::counted;
use std::path::{Path, PathBuf};

/// What was asked for by name, or everything.
pub fn select(globs: &[String], filter: Option<&str>) -> Result<Vec<SuiteEntry>, CampaignError> {
    let mut found = SuiteEntries::new();
    if globs.is_empty() {
        everything(&mut found)?;
    }
    for word in globs {
        named(word, &mut found)?;
    }
    // Clients that are found with their own plan are one scenario, not two.
    let paired: Vec<PathBuf> = found.values().filter_map(|one| paired(one, &found)).collect();
    found.retain(|path, _| !paired.contains(path));
    let used: Vec<PathBuf> = found.values().flat_map(|one| judged(one).into_iter().chain(planned(one))).collect();
    // What a Makefile makes lies beside its sources: a program in a folder that is used is what is used of it.
    let is_used = |path: &PathBuf, kind: Kind| {
        let is_made = || path.parent().is_some_and(|folder| used.iter().any(|used| used == folder));
        used.contains(path) || kind == Kind::Program && is_made()
    };
    found.retain(|path, one| path.canonicalize().map_or(true, |path| !is_used(&path, one.kind)));
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
    let own = selected.path.canonicalize().ok();
    own.into_iter().chain(judged(selected)).chain(planned(selected)).collect()
}

/// What a scenario judges. What is wrong with its `expect.toml` is said when it is run.
fn judged(selected: &SuiteEntry) -> Option<PathBuf> {
    let expect = Expect::of(&selected.path, selected.kind).ok()?;
    expect.judged(&selected.path)?.canonicalize().ok()
}

/// What a scenario uses under its own plan, but for itself: the program that judges its runs; of a cluster also those of the machines, and
/// the clients, unless they have a plan of their own. What is wrong with that plan is said when it is run.
fn planned(selected: &SuiteEntry) -> Vec<PathBuf> {
    let read = |path: PathBuf| PlanFile::parse(&read_text(&path).ok()?, &path).ok();
    let Some(plan) = own_plan(&selected.path, selected.kind).and_then(read) else { return Vec::new() };
    let clients = plan.cluster.clients;
    let machines = plan.node.into_iter().filter(|_| clients.is_some()).map(|node| node.component);
    let has_plan = |path: &Path| kind_of(path).and_then(|kind| own_plan(path, kind)).is_some();
    let callers = clients.iter().filter(|path| selected.kind == Kind::Cluster && !has_plan(path)).cloned();
    let own = selected.path.canonicalize().ok();
    let used = plan.expect.check.into_iter().chain(machines).chain(callers);
    used.filter_map(|path| path.canonicalize().ok()).filter(|path| Some(path) != own.as_ref()).collect()
}

/// The own plan of a program that was found, if that plan was found, too, and names this program as its clients.
fn paired(selected: &SuiteEntry, found: &SuiteEntries) -> Option<PathBuf> {
    let plan = own_plan(&selected.path, selected.kind).filter(|plan| *plan != selected.path)?;
    let is_cluster = found.get(&plan).is_some_and(|other| other.kind == Kind::Cluster);
    (is_cluster && clients(&plan).is_ok_and(|clients| is_same(&clients, &selected.path))).then_some(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_in_the_folder_of_a_machine_is_no_scenario() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("store")).expect("room");
        let plan = "[[node]]\nname = 'n'\ncomponent = '../store'\n[cluster]\nclients = '../clients.wat'\n";
        for (name, text) in
            [("clients.wat", ""), ("other.wat", ""), ("store/plan.toml", plan), ("store/store.wasm", "")]
        {
            std::fs::write(folder.path().join(name), text).expect("room");
        }
        let found = select(&[shown(folder.path())], None).expect("some");
        let found: Vec<(&str, Kind)> = found.iter().map(|one| (one.name.as_str(), one.kind)).collect();
        assert_eq!(found, [("other", Kind::Program), ("store", Kind::Cluster)]);
    }
}
