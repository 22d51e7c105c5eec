//! `map suites`: which run covers what, what none covers, and what a change needs.
//!
//! ```text
//! profile    required from            kinds of runs
//! balanced   the risk, and 15 more    a scenario, or a corpus that was named
//! pedantic   the risk, and 5 less     the same
//! overkill   the risk, and 15 less    all that are recommended
//! ```
//!
//! A saved failure, which explorations shrink, is required of functions in which runs have failed: under `failure-only` always, under
//! `exercised-ok` unless any failure is saved, under `no-known-failures` if a scenario of today fails there.

use super::hotspots::{SHRINK_FAILURE, TEST_DET, suites_of};
use super::{CodeMap, MappedFunction};
use crate::error::CampaignError;
use fozzy_report::map::{MAP_SUITES_SCHEMA, MapCoverageEvidence, MapScenario, MapSuite, MapSuites};
use std::collections::BTreeMap;

/// How much is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapProfile {
    /// Less than was asked for.
    Balanced,
    /// What was asked for.
    Pedantic,
    /// More, and by all kinds of runs.
    Overkill,
}

/// When a failure counts as shrunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShrinkPolicy {
    /// When it was saved.
    FailureOnly,
    /// When any failure is saved.
    ExercisedOk,
    /// When no scenario of today fails there.
    NoKnownFailures,
}

/// What is listed.
#[derive(Clone, Debug)]
pub struct SuitesOptions {
    /// The risk from which a function is required.
    pub min_risk: u8,
    /// How much is required.
    pub profile: MapProfile,
    /// When a failure counts as shrunk.
    pub shrink_policy: ShrinkPolicy,
    /// Rows.
    pub limit: u64,
    /// The first row.
    pub offset: u64,
    /// Only functions that are required.
    pub only_required: bool,
    /// Only functions that are not covered.
    pub only_uncovered: bool,
    /// Runs that each row names.
    pub max_matched: u64,
    /// The revision since which changes count.
    pub since: Option<String>,
}

impl MapProfile {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MapProfile::Balanced => "balanced",
            MapProfile::Pedantic => "pedantic",
            MapProfile::Overkill => "overkill",
        }
    }

    fn threshold(self, min_risk: u8) -> u8 {
        match self {
            MapProfile::Balanced => min_risk.saturating_add(15).min(100),
            MapProfile::Pedantic => min_risk.saturating_sub(5),
            MapProfile::Overkill => min_risk.saturating_sub(15),
        }
    }
}

impl ShrinkPolicy {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ShrinkPolicy::FailureOnly => "failure-only",
            ShrinkPolicy::ExercisedOk => "exercised-ok",
            ShrinkPolicy::NoKnownFailures => "no-known-failures",
        }
    }
}

impl CodeMap {
    /// The document.
    pub fn suites(&self, options: &SuitesOptions) -> Result<MapSuites, CampaignError> {
        let threshold = options.profile.threshold(options.min_risk);
        let all: Vec<MapSuite> =
            self.by_risk().into_iter().map(|mapped| self.suite(mapped, options, threshold)).collect();
        let required = all.iter().filter(|row| row.required_by_policy).count() as u64;
        let covered = all.iter().filter(|row| row.required_by_policy && row.covered).count() as u64;
        let wanted = |row: &MapSuite| {
            (row.required_by_policy || !options.only_required) && (!row.covered || !options.only_uncovered)
        };
        let rows: Vec<MapSuite> = all.into_iter().filter(wanted).collect();
        let total = rows.len() as u64;
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let rows: Vec<MapSuite> = rows.into_iter().skip(size(options.offset)).take(size(options.limit)).collect();
        let returned = rows.len() as u64;
        let scenarios = self.scenarios();
        Ok(MapSuites {
            schema_version: MAP_SUITES_SCHEMA.to_owned(),
            root: self.shown_root.clone(),
            scenario_root: self.evidence.scenario_root.clone(),
            scanned_files: self.scanned_files(),
            profile: options.profile.name().to_owned(),
            shrink_policy: options.shrink_policy.name().to_owned(),
            base_min_risk: options.min_risk,
            effective_min_risk: threshold,
            scenario_count: scenarios.iter().filter(|run| run.kind == "scenario").count() as u64,
            unreadable_scenarios: self.evidence.unreadable.iter().map(|(path, _)| path.clone()).collect(),
            warnings: self.remarks.clone(),
            required_hotspot_count: required,
            covered_hotspot_count: covered,
            uncovered_hotspot_count: required - covered,
            total_suites: total,
            returned_suites: returned,
            offset: options.offset,
            limit: options.limit,
            truncated: options.offset.saturating_add(returned) < total,
            suites: rows,
            scenarios,
            frontier: self.frontier(),
            change: options.since.as_ref().map(|since| self.change(since)).transpose()?,
        })
    }

    fn suite(&self, mapped: &MappedFunction, options: &SuitesOptions, threshold: u8) -> MapSuite {
        let mut by_kind: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        for run in &mapped.executed_by {
            let run = &self.evidence.runs[*run];
            for suite in suites_of(run.kind) {
                let known = by_kind.entry(suite).or_default();
                if (known.len() as u64) < options.max_matched {
                    known.push(run.name.clone());
                }
            }
        }
        let recommended = self.recommended(mapped);
        let is_required = mapped.risk.score >= threshold;
        let mut required = match (is_required, options.profile) {
            (false, _) => Vec::new(),
            (true, MapProfile::Overkill) => {
                recommended.iter().filter(|suite| *suite != SHRINK_FAILURE).cloned().collect()
            }
            (true, _) => Vec::new(),
        };
        if is_required && !required.iter().any(|suite| suite == TEST_DET) {
            required.insert(0, TEST_DET.to_owned());
        }
        if is_required && self.needs_shrinking(mapped, options.shrink_policy) {
            required.push(SHRINK_FAILURE.to_owned());
        }
        let missing: Vec<String> =
            required.iter().filter(|suite| !by_kind.contains_key(suite.as_str())).cloned().collect();
        let source = self.source(mapped);
        let score = mapped.risk.score;
        MapSuite {
            hotspot_id: mapped.id.clone(),
            component: self.program(mapped).name.clone(),
            also_in: self.also_in(mapped),
            path: mapped.path.clone(),
            function: source.name.clone(),
            risk_score: score,
            required_by_policy: is_required,
            // What nothing requires is covered when anything has run it.
            covered: missing.is_empty() && !by_kind.is_empty(),
            coverage_hints: missing.iter().map(|suite| hint(suite)).collect(),
            covered_suites: by_kind.keys().map(|suite| (*suite).to_owned()).collect(),
            coverage_evidence: by_kind
                .into_iter()
                .map(|(suite, matched_scenarios)| MapCoverageEvidence {
                    suite: suite.to_owned(),
                    matched_scenarios,
                    reason: "code of it was executed".to_owned(),
                })
                .collect(),
            missing_required_suites: missing,
            why_required: match is_required {
                true => format!("its risk is {score}, and functions of {threshold} and more are required to run"),
                false => format!("not required: its risk is {score}, below {threshold}"),
            },
            required_suites: required,
            reasons: std::iter::once(mapped.risk.why.clone()).chain(self.reasons(mapped)).collect(),
            recommended_suites: recommended,
        }
    }

    /// Whether a function in which runs have failed lacks its shrunk failure.
    fn needs_shrinking(&self, mapped: &MappedFunction, policy: ShrinkPolicy) -> bool {
        let kinds =
            |runs: &[usize]| runs.iter().flat_map(|run| suites_of(self.evidence.runs[*run].kind)).collect::<Vec<_>>();
        let all: Vec<usize> = (0..self.evidence.runs.len()).collect();
        let fails = kinds(&mapped.failures);
        match policy {
            ShrinkPolicy::FailureOnly => !fails.is_empty(),
            ShrinkPolicy::ExercisedOk => !fails.is_empty() && !kinds(&all).contains(&&SHRINK_FAILURE),
            ShrinkPolicy::NoKnownFailures => fails.contains(&&TEST_DET),
        }
    }

    fn scenarios(&self) -> Vec<MapScenario> {
        let reach = |number: usize| {
            let own = self.functions.iter().filter(|mapped| mapped.executed_by.contains(&number));
            own.fold((0, 0), |(all, only), mapped| (all + 1, only + u64::from(mapped.executed_by.len() == 1)))
        };
        let row = |(number, run): (usize, &super::RunEvidence)| {
            let (functions, only_here) = reach(number);
            MapScenario {
                name: run.name.clone(),
                path: run.path.display().to_string(),
                kind: run.kind.name().to_owned(),
                status: run.status.name().to_owned(),
                functions,
                only_here,
            }
        };
        self.evidence.runs.iter().enumerate().map(row).collect()
    }
}

/// What would make a function covered by a kind of runs.
fn hint(suite: &str) -> String {
    match suite {
        TEST_DET => "no scenario reaches it: `frontier` says which branch stands before it",
        SHRINK_FAILURE => {
            "a run fails in it: fozzy explore keeps a failure shrunk, fozzy shrink makes a recorded one smaller"
        }
        super::hotspots::RECORD_REPLAY => "record a run that reaches it: fozzy run --record",
        super::hotspots::FUZZ => "search for inputs that reach it: fozzy fuzz",
        super::hotspots::EXPLORE => "explore orders and faults around it: fozzy explore",
        super::hotspots::HOST => "record a run of it on the real computer: fozzy run --fs-backend host --record",
        super::hotspots::MEMORY => "look at what it allocates: fozzy memory top",
        _ => "run it",
    }
    .to_owned()
}
