//! Where the traces of a suite are written, and which of them the suite's run names.

use super::entry::{SuiteEntry, shown};
use crate::store::RunFolder;
use fozzy_report::RunIdentity;
use fozzy_report::suite::{CaseResult, CaseSummary};
use fozzy_trace::Seed;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where the traces of all cases are written: one case has the name itself, several are numbered in their order.
pub fn records(record: Option<&Path>, cases: usize) -> Vec<Option<PathBuf>> {
    let numbered = |path: &Path, number: usize| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
        path.with_file_name(format!("{stem}.{number}{ending}"))
    };
    let place = |number: usize| match (record, cases) {
        (Some(path), 1) => Some(path.to_owned()),
        (Some(path), _) => Some(numbered(path, number)),
        (None, _) => None,
    };
    (1..=cases).map(place).collect()
}

/// Names of traces in the folder of the run, each once.
pub fn trace_names(selected: &[SuiteEntry]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name = |selected: &SuiteEntry| {
        let stem: String = selected.name.chars().map(plain).collect();
        let numbered = (2..).map(|number| format!("{stem}-{number}.fozzy"));
        let mut names = std::iter::once(format!("{stem}.fozzy")).chain(numbered);
        names.find(|name| taken.insert(name.to_lowercase())).unwrap_or_default()
    };
    selected.iter().map(name).collect()
}

/// The suite's run. Its trace, which `latest` and `last-fail` name, is that of the first scenario that has one and failed.
pub fn identity<'a>(
    folder: &RunFolder,
    seed: Seed,
    cases: impl Iterator<Item = &'a CaseSummary> + Clone,
) -> RunIdentity {
    let failed = cases.clone().filter(|case| case.result == CaseResult::Failed);
    let trace = |case: &CaseSummary| case.run.as_ref()?.identity.trace_path.clone();
    let trace_path = failed.filter_map(trace).next().or_else(|| cases.filter_map(trace).next());
    let report_path = folder.is_kept().then(|| shown(&folder.path.join("report.json")));
    RunIdentity {
        run_id: folder.id.clone(),
        seed,
        trace_path,
        report_path,
        artifacts_dir: folder.is_kept().then(|| shown(&folder.path)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{CaseOverrides, Kind};
    use super::*;

    #[test]
    fn traces_of_several_scenarios_are_numbered() {
        let names = |record, cases| {
            records(Some(Path::new(record)), cases).into_iter().flatten().map(|path| shown(&path)).collect::<Vec<_>>()
        };
        assert_eq!(names("a/b.fozzy", 1), ["a/b.fozzy"]);
        assert_eq!(names("a/b.fozzy", 2), ["a/b.1.fozzy", "a/b.2.fozzy"]);
        assert_eq!(names("b", 2), ["b.1", "b.2"]);
        assert_eq!(records(None, 2), [None, None]);
    }

    #[test]
    fn names_of_traces_are_names_of_files_and_differ() {
        let selected = |name: &str| SuiteEntry {
            name: name.to_owned(),
            path: PathBuf::new(),
            kind: Kind::Program,
            given: CaseOverrides::default(),
        };
        let all = [selected("a"), selected("../a"), selected("A"), selected("a")];
        assert_eq!(trace_names(&all), ["a.fozzy", ".._a.fozzy", "A-2.fozzy", "a-3.fozzy"]);
    }
}
