//! What a campaign has found, as its report says it: while it runs, at its end, and over all workers.
//!
//! Invariant: equal campaigns of one worker have equal reports, but for the time that was spent.
//! Not here: the words of reports (`fozzy-report`).

use crate::error::DeferredError;
use fozzy_engine::EntryPoint;
use fozzy_report::{FuzzCoverage, FuzzFinding, FuzzSummary, ShownInput, SlowestInput, TimeSpent};
use fozzy_search::FailureRecord;
use fozzy_search::fuzz::{Campaign, CampaignEnd, Stats, Testcase};
use fozzy_search::stats::detectable_one_in;
use fozzy_trace::facts::PropertyTable;
use fozzy_trace::{Digest, Finding, Status, Verdict};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// The file of a campaign's run that has the names of its testcases, one a line: those of its corpus that together reach all that was reached.
pub const TESTCASES_FILE: &str = "testcases.txt";

/// Slow inputs that a campaign keeps as files: the slowest. More would say the same.
pub const SLOW_UNITS_MAX: usize = 16;

/// What stays the same over a campaign.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// What it is called.
    pub function: String,
    /// What one execution is: a call, a run, a sequence.
    pub execution: &'static str,
    /// Edges of its code.
    pub total_edges: u64,
    /// The folder of the corpus.
    pub corpus_dir: String,
}

/// The numbers of a campaign, and its findings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CampaignReport {
    /// The numbers.
    pub fuzz: FuzzSummary,
    /// Of each finding, what it is and how grave.
    pub findings: Vec<(Finding, Status)>,
    /// The testcases that together reach all that was reached, in the order in which they were found: each has added something.
    #[serde(default)]
    pub testcases: Vec<Digest>,
    /// Executions that were given up at its end.
    pub given_up: u64,
    /// Where its time went.
    #[serde(default)]
    pub spent: TimeSpent,
    /// Why several workers could not bring it to its end.
    #[serde(skip)]
    pub failure: Option<String>,
    /// What could not be written of the findings.
    #[serde(skip)]
    pub lost: DeferredError,
}

/// One finding.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FindingReport {
    /// What of it is in the summary.
    pub told: FuzzFinding,
    /// What it is and how grave.
    pub shown: Option<(Finding, Status)>,
    /// Why its files are not there, if they are not.
    pub unkept: Option<String>,
}

/// What was kept of one failure.
#[derive(Clone, Debug)]
pub struct SavedFinding {
    /// Its trace.
    pub trace: PathBuf,
    /// The bytes.
    pub input: PathBuf,
    /// The input itself.
    pub shown: ShownInput,
    /// What was called with it, if that was drawn by its type.
    pub arguments: Option<String>,
    /// The same failure by fewer bytes.
    pub smaller: Option<Smaller>,
    /// Whether the smallest of these inputs is as small as it gets.
    pub is_minimal: bool,
}

/// The same failure by a smaller input.
#[derive(Clone, Debug)]
pub struct Smaller {
    /// Its trace.
    pub trace: PathBuf,
    /// The bytes.
    pub input: PathBuf,
    /// How many bytes these are.
    pub bytes: u64,
    /// The bytes themselves, as they are shown.
    pub shown: ShownInput,
    /// What was called with them, if that was drawn by its type.
    pub arguments: Option<String>,
    /// How the run with them ended.
    pub verdict: Verdict,
}

/// What an execution of `searched` is.
pub const fn execution_of(searched: &EntryPoint) -> &'static str {
    match searched {
        EntryPoint::Call(_) => "call",
        EntryPoint::Program(_) => "re-execution",
        EntryPoint::Scenario { .. } => "sequence",
    }
}

/// Why a campaign ended, as a word in documents.
pub const fn word_of(ended: CampaignEnd) -> &'static str {
    match ended {
        CampaignEnd::Executions => "runs",
        CampaignEnd::Stopped => "time",
        CampaignEnd::FirstFailure => "finding",
    }
}

impl CampaignReport {
    /// The report of a campaign as it stands now.
    pub fn of(
        subject: &Subject,
        stats: &Stats,
        found: &[FailureRecord],
        kept: &[SavedFinding],
        ended: &str,
    ) -> CampaignReport {
        let (estimate, outlook) = (stats.estimate(), stats.outlook());
        assert_eq!(
            found.len(),
            kept.len(),
            "each finding is told once, and has its trace or the reason why it has none"
        );
        let both = || found.iter().zip(kept);
        let fuzz = FuzzSummary {
            function: subject.function.clone(),
            execution: subject.execution.to_owned(),
            jobs: 1,
            executions: stats.executions,
            failures: stats.failures,
            skipped: 0,
            minimizing: stats.minimizing,
            unconfirmed: stats.unconfirmed,
            repeated: 0,
            coverage: FuzzCoverage {
                unique_edges: stats.edges,
                total_edges: subject.total_edges,
                features: stats.features,
                estimated_undiscovered_edges: estimate
                    .undiscovered
                    .min(subject.total_edges.saturating_sub(stats.edges) as f64),
                chance_of_new_edge: estimate.next_is_new,
                discoveries_last_half: outlook.discoveries,
                chance_if_doubled: outlook.chance(1.0),
                chance_if_doubled_range: outlook.chance_range(1.0),
                detectable_one_in: detectable_one_in(stats.executions),
            },
            last_new: stats.last_new,
            corpus: stats.corpus,
            corpus_bytes: stats.corpus_bytes,
            corpus_dir: subject.corpus_dir.clone(),
            slowest: None,
            slow_units: Vec::new(),
            properties: PropertyTable::default(),
            findings: both().map(|(found, kept)| finding(found, kept)).collect(),
            ended: ended.to_owned(),
            workers_lost: 0,
            workers_restarted: 0,
        };
        let findings = both().filter_map(|(found, kept)| shown(found, kept)).collect();
        CampaignReport {
            fuzz,
            findings,
            testcases: Vec::new(),
            given_up: 0,
            spent: TimeSpent::default(),
            failure: None,
            lost: DeferredError::default(),
        }
    }

    /// The worst that was found, or that it could not be brought to its end.
    pub fn status(&self) -> Status {
        let statuses =
            self.findings.iter().map(|(_, status)| *status).chain(self.failure.as_ref().map(|_| Status::Error));
        statuses.max_by_key(|status| status.gravity()).unwrap_or(Status::Pass)
    }
}

impl FindingReport {
    /// A finding as it is now.
    pub fn of(found: &FailureRecord, kept: &SavedFinding, unkept: Option<String>) -> FindingReport {
        FindingReport { told: finding(found, kept), shown: shown(found, kept), unkept }
    }
}

/// The testcases of a campaign that take longest, of those that it has changed, with their bytes: the slowest first.
pub fn slowest(campaign: &Campaign) -> Vec<(SlowestInput, Arc<[u8]>)> {
    let Some((testcases, median)) = campaign.slowest(SLOW_UNITS_MAX) else { return Vec::new() };
    let told = |testcase: &Testcase| {
        let told = SlowestInput {
            name: testcase.digest.to_string(),
            input_bytes: testcase.input.len() as u64,
            instructions: testcase.instructions()?,
            median,
            path: None,
        };
        Some((told, Arc::clone(&testcase.input)))
    };
    testcases.into_iter().filter_map(told).collect()
}

/// A smaller input says more about a failure.
fn shown(found: &FailureRecord, kept: &SavedFinding) -> Option<(Finding, Status)> {
    let verdict: &Verdict = kept.smaller.as_ref().map_or(&found.verdict, |smaller| &smaller.verdict);
    Some((verdict.findings.first().cloned()?, found.verdict.status))
}

fn finding(found: &FailureRecord, kept: &SavedFinding) -> FuzzFinding {
    let smaller = kept.smaller.as_ref();
    let written = smaller.filter(|smaller| !smaller.trace.as_os_str().is_empty());
    FuzzFinding {
        signature: found.verdict.signature.clone(),
        found_at: found.found_at,
        times: found.times,
        input_bytes: found.input.len() as u64,
        input: Some(smaller.map_or(&kept.shown, |smaller| &smaller.shown).clone()),
        arguments: smaller.map_or(&kept.arguments, |smaller| &smaller.arguments).clone(),
        known: None,
        trace_path: kept.trace.display().to_string(),
        input_path: kept.input.display().to_string(),
        minimized_trace_path: written.map(|smaller| smaller.trace.display().to_string()),
        minimized_input_path: written.map(|smaller| smaller.input.display().to_string()),
        minimized_input_bytes: smaller.map(|smaller| smaller.bytes),
        // Of files that are not there nothing is said.
        minimal: kept.is_minimal && smaller.is_some() == written.is_some(),
    }
}
