//! Several runs that should have come out alike: did they?
//!
//! ```text
//! signature   status and titles of findings
//! rate        runs that differ from the most frequent signature, in percent of all
//! ```
//!
//! Not here: the allowed share of differences (`fozzy-cli`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is compared of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunSignature {
    /// The word of its status.
    pub status: String,
    /// Titles of its findings, in order.
    pub titles: Vec<String>,
}

/// `fozzy report flaky`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlakyReport {
    /// `fozzy.flaky_report.v1`.
    pub schema_version: String,
    /// How many runs were compared.
    pub run_count: usize,
    /// How many ended in which way.
    pub status_counts: BTreeMap<String, usize>,
    /// The titles of findings of each signature, each set once.
    pub finding_title_sets: Vec<Vec<String>>,
    /// Whether not all came out alike.
    pub is_flaky: bool,
    /// How many differ from the most frequent way, in percent.
    pub flake_rate_pct: f64,
}

impl FlakyReport {
    /// What the runs come to.
    #[must_use]
    pub fn of(runs: &[RunSignature]) -> FlakyReport {
        let mut counts: BTreeMap<&RunSignature, usize> = BTreeMap::new();
        let mut status_counts = BTreeMap::new();
        for run in runs {
            *counts.entry(run).or_default() += 1;
            *status_counts.entry(run.status.clone()).or_default() += 1;
        }
        let most = counts.values().copied().max().unwrap_or(0);
        let mut finding_title_sets: Vec<Vec<String>> = counts.keys().map(|run| run.titles.clone()).collect();
        finding_title_sets.sort();
        finding_title_sets.dedup();
        FlakyReport {
            schema_version: "fozzy.flaky_report.v1".to_owned(),
            run_count: runs.len(),
            status_counts,
            finding_title_sets,
            is_flaky: counts.len() > 1,
            flake_rate_pct: (runs.len() - most) as f64 * 100.0 / runs.len().max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(status: &str, titles: &[&str]) -> RunSignature {
        RunSignature { status: status.to_owned(), titles: titles.iter().map(|title| (*title).to_owned()).collect() }
    }

    #[test]
    fn runs_that_differ_from_the_most_frequent_way_are_counted() {
        let runs = [run("pass", &[]), run("fail", &["a"]), run("pass", &[]), run("fail", &["b"])];
        let report = FlakyReport::of(&runs);
        assert_eq!((report.run_count, report.is_flaky, report.flake_rate_pct), (4, true, 50.0));
        assert_eq!(report.status_counts, BTreeMap::from([("fail".to_owned(), 2), ("pass".to_owned(), 2)]));
        assert_eq!(report.finding_title_sets, [vec![], vec!["a".to_owned()], vec!["b".to_owned()]]);
        let alike = FlakyReport::of(&[run("fail", &["a"]), run("fail", &["a"])]);
        assert_eq!((alike.is_flaky, alike.flake_rate_pct), (false, 0.0));
    }
}
