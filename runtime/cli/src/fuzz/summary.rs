//! What a campaign has found, as its report says it: while it runs, at its end, and over all workers.
//!
//! Invariant: equal campaigns of one worker have equal reports.
//! Not here: the words of reports (`fozzy-report`).

use super::keeper::Kept;
use crate::output::EXIT_ERROR;
use fozzy_engine::Searched;
use fozzy_report::{FuzzCoverage, FuzzFinding, FuzzSummary};
use fozzy_search::FailureRecord;
use fozzy_search::fuzz::{CampaignEnd, Stats};
use fozzy_trace::{Finding, FindingKind, Status, Verdict};
use serde::{Deserialize, Serialize};
use std::process::ExitCode;

/// What stays the same over a campaign.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) function: String,
    pub(crate) execution: &'static str,
    pub(crate) total_edges: u64,
    pub(crate) corpus_dir: String,
}

/// The numbers of a campaign, and its findings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) fuzz: FuzzSummary,
    /// Of each finding, what it is and how grave.
    pub(crate) findings: Vec<(Finding, Status)>,
}

/// What an execution of `searched` is.
pub(crate) const fn execution_of(searched: &Searched) -> &'static str {
    match searched {
        Searched::Call(_) => "call",
        Searched::Program(_) => "re-execution",
        Searched::Scenario { .. } => "sequence",
    }
}

pub(crate) const fn word_of(ended: CampaignEnd) -> &'static str {
    match ended {
        CampaignEnd::Executions => "runs",
        CampaignEnd::Stopped => "time",
        CampaignEnd::FirstFailure => "finding",
    }
}

impl Report {
    pub(crate) fn of(subject: &Subject, stats: &Stats, found: &[FailureRecord], kept: &[Kept], ended: &str) -> Report {
        let estimate = stats.estimate();
        let both = || found.iter().zip(kept);
        let fuzz = FuzzSummary {
            function: subject.function.clone(),
            execution: subject.execution.to_owned(),
            jobs: 1,
            executions: stats.executions,
            failures: stats.failures,
            repeated: 0,
            coverage: FuzzCoverage {
                unique_edges: stats.edges,
                total_edges: subject.total_edges,
                features: stats.features,
                estimated_undiscovered_edges: estimate.undiscovered,
                chance_of_new_edge: estimate.next_is_new,
            },
            last_new: stats.last_new,
            corpus: stats.corpus,
            corpus_bytes: stats.corpus_bytes,
            corpus_dir: subject.corpus_dir.clone(),
            findings: both().map(finding).collect(),
            ended: ended.to_owned(),
        };
        // A smaller input says more about a failure.
        let shown = |(found, kept): (&FailureRecord, &Kept)| {
            let verdict: &Verdict = kept.smaller.as_ref().map_or(&found.verdict, |smaller| &smaller.verdict);
            Some((verdict.findings.first().cloned()?, found.verdict.status))
        };
        Report { fuzz, findings: both().filter_map(shown).collect() }
    }

    /// The worst that was found.
    pub(crate) fn status(&self) -> Status {
        let statuses = self.findings.iter().map(|(_, status)| *status);
        statuses.max_by_key(|status| status.gravity()).unwrap_or(Status::Pass)
    }

    /// The codes of libFuzzer, of the first finding.
    pub(crate) fn exit_as_libfuzzer(&self) -> ExitCode {
        let code = |(finding, status): &(Finding, Status)| {
            let memory = finding.kind == FindingKind::Trap && finding.title == "out of memory";
            match status {
                Status::Pass => 0,
                Status::Timeout => 70,
                Status::Crash if memory => 71,
                Status::Crash | Status::Fail => 77,
                Status::Error => EXIT_ERROR,
            }
        };
        ExitCode::from(self.findings.first().map_or(0, code))
    }
}

fn finding((found, kept): (&FailureRecord, &Kept)) -> FuzzFinding {
    let smaller = kept.smaller.as_ref();
    FuzzFinding {
        signature: found.verdict.signature.clone(),
        found_at: found.found_at,
        times: found.times,
        input_bytes: found.input.len() as u64,
        arguments: smaller.map_or(&kept.arguments, |smaller| &smaller.arguments).clone(),
        confirmed: found.confirmed,
        trace_path: kept.trace.display().to_string(),
        input_path: kept.input.display().to_string(),
        minimized_trace_path: smaller.map(|smaller| smaller.trace.display().to_string()),
        minimized_input_path: smaller.map(|smaller| smaller.input.display().to_string()),
        minimized_input_bytes: smaller.map(|smaller| smaller.bytes),
    }
}
