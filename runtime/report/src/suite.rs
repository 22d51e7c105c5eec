//! A suite of scenarios: its document, and what it comes to.
//!
//! ```text
//! regressions/*.fozzy ─▶ cases ─┐
//! scenarios           ─▶ cases ─┴▶ SuiteSummary { tests, regressions[], scenarios[] } ─▶ json │ pretty │ junit │ html
//! ```
//!
//! A case has a result (passed, failed, skipped), which counts, and mostly a run, which says what happened. The two differ
//! where a run is held to an expectation.
//!
//! Invariants: the keys of the first Fozzy's run summary stand at the top; but for wall facts, the run's id and paths that
//! hold it, the document is a function of the suite, its plans and its seed; a suite in which nothing ran has not passed.
//! Not here: how cases are run (`fozzy-cli`).

pub(crate) mod annotations;
mod details;
mod html;
mod junit;
mod pretty;
mod sweep;

pub use annotations::annotations;
pub use details::RunDetails;
pub use html::{html, html_of_run};
pub use junit::{JunitError, junit};
pub use pretty::{case_line, details, heading, pretty, widest};
pub use sweep::{seed_line, sweep_details, sweep_heading};

use crate::document::ErrorDocument;
use crate::facts::{MemorySummary, PropertySummary};
use crate::pretty::shell_word;
use crate::strikes::{FaultOverlap, FaultPair, FaultTotal};
use crate::summary::{RunIdentity, RunMode, RunSummary, WallFacts};
use fozzy_trace::facts::PropertyState;
use fozzy_trace::{Finding, FindingKind, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What counts of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CaseResult {
    /// It is as it should be.
    Passed,
    /// It is not.
    Failed,
    /// Nothing can be said.
    Skipped,
}

/// What became of a failure that was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RegressionState {
    /// The program of today fails with the recorded decisions.
    Regression,
    /// It passes, and comes by the same decisions.
    Fixed,
    /// The trace says nothing about the program of today.
    Stale,
}

/// What a scenario is held to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Expectation {
    /// How its run must end.
    pub status: Status,
    /// One of these must be the identity of its failure; none when it must pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<String>,
}

/// How a case came out, without what is left to say about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CaseSummary {
    /// The name of the scenario, from which its seed follows; of a regression, that of its file.
    pub name: String,
    /// Where it lies, as the user would name it.
    pub path: String,
    /// What counts.
    pub result: CaseResult,
    /// How its run ended; absent when there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// What became of a kept failure; absent for a scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regression: Option<RegressionState>,
    /// The program that a kept failure was tried on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Why it was skipped or is stale, or how it differs from what was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Why it could not be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorDocument>,
    /// What it was held to, when that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expectation>,
    /// The name of the first case that failed in the same way, which says all about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// The command that repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Wall time that it took, in milliseconds.
    pub duration_ms: u64,
    /// Wall time that it took, in nanoseconds.
    pub duration_ns: u64,
    /// What happened; absent when it was not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunSummary>,
}

impl CaseSummary {
    /// A case without results yet.
    #[must_use]
    pub fn skipped(name: &str, path: &str, why: &str) -> CaseSummary {
        CaseSummary {
            name: name.to_owned(),
            path: path.to_owned(),
            result: CaseResult::Skipped,
            status: None,
            regression: None,
            against: None,
            note: Some(why.to_owned()),
            error: None,
            expected: None,
            same_as: None,
            command: None,
            duration_ms: 0,
            duration_ns: 0,
            run: None,
        }
    }

    /// A case that could not be run.
    #[must_use]
    pub fn failed_to_run(name: &str, path: &str, error: ErrorDocument) -> CaseSummary {
        CaseSummary {
            result: CaseResult::Failed,
            status: Some(Status::Error),
            note: None,
            error: Some(error),
            ..CaseSummary::skipped(name, path, "")
        }
    }

    /// A case that was run, judged by its status alone.
    #[must_use]
    pub fn ran(name: &str, path: &str, run: RunSummary) -> CaseSummary {
        if !run.has_verdict() {
            return CaseSummary { run: Some(run), ..CaseSummary::skipped(name, path, "interrupted") };
        }
        let result = if run.status == Status::Pass { CaseResult::Passed } else { CaseResult::Failed };
        let trace = run.identity.trace_path.as_deref();
        CaseSummary {
            result,
            status: Some(run.status),
            note: None,
            command: trace.map(|trace| format!("fozzy replay {}", shell_word(trace))),
            run: Some(run),
            ..CaseSummary::skipped(name, path, "")
        }
    }

    /// One seed of many, with no more than how it ended, and which seed before it failed in the same way.
    #[must_use]
    pub fn of_seed(name: &str, path: &str, status: Status, first: Option<&CaseSummary>) -> CaseSummary {
        let result = if status == Status::Pass { CaseResult::Passed } else { CaseResult::Failed };
        let note = match first {
            Some(first) => Some(format!("as {}: {}", first.name, first.remark())),
            None => (status != Status::Pass).then(|| "fails in yet another way; no more traces are kept".to_owned()),
        };
        let same_as = first.map(|first| first.name.clone());
        CaseSummary { result, status: Some(status), same_as, note, ..CaseSummary::skipped(name, path, "") }
    }

    /// The same, judged by what is expected of it: it passes when its run ended in that way.
    #[must_use]
    pub fn expecting(mut self, expected: Expectation) -> CaseSummary {
        if let Some(run) = &self.run {
            let signature = run.signature.as_ref().map(ToString::to_string).unwrap_or_default();
            let known = expected.signatures.is_empty() || expected.signatures.contains(&signature);
            let is_expected = run.status == expected.status && known;
            let found = format!("{} {signature}", run.status.name());
            self.note = match is_expected {
                true if run.status == Status::Pass => None,
                true => Some(format!("as expected: {}", found.trim_end())),
                false => Some(format!("expected {}, found {}", expected.words(), found.trim_end())),
            };
            self.result = if is_expected { CaseResult::Passed } else { CaseResult::Failed };
        }
        CaseSummary { expected: Some(expected), ..self }
    }

    /// What it makes of the suite.
    fn verdict(&self) -> Status {
        match (self.result, self.status) {
            (CaseResult::Passed | CaseResult::Skipped, _) => Status::Pass,
            // It should have failed, or in another way.
            (CaseResult::Failed, None | Some(Status::Pass)) => Status::Fail,
            (CaseResult::Failed, Some(status)) => status,
        }
    }

    /// What it is called in one word.
    pub(crate) fn word(&self) -> &'static str {
        match (self.regression, self.result, self.verdict()) {
            (Some(RegressionState::Regression), CaseResult::Failed, status) if status != Status::Error => "REGRESSION",
            (Some(RegressionState::Fixed), ..) => "fixed",
            (Some(RegressionState::Stale), ..) => "stale",
            (_, CaseResult::Passed, _) => "PASS",
            (_, CaseResult::Skipped, _) => "skipped",
            (_, CaseResult::Failed, Status::Error) => "ERROR",
            (_, CaseResult::Failed, Status::Timeout) => "TIMEOUT",
            (_, CaseResult::Failed, Status::Crash) => "CRASH",
            (_, CaseResult::Failed, Status::Fail | Status::Pass) => "FAIL",
        }
    }

    /// In one line, why it is not simply passed; empty when there is nothing to say.
    pub(crate) fn remark(&self) -> String {
        let finding = self.run.as_ref().and_then(|run| run.findings.first());
        let error = self.refusal().and_then(|message| message.lines().next());
        let found = error.or(finding.map(|finding| finding.title.as_str()));
        match (&self.note, self.result) {
            (Some(note), _) => note.clone(),
            (None, CaseResult::Failed) => found.unwrap_or_default().to_owned(),
            (None, _) => String::new(),
        }
    }

    /// Why it could not be run. Errors name their file, and here it is known.
    pub(crate) fn refusal(&self) -> Option<&str> {
        let message = self.error.as_ref()?.message.as_str();
        Some(message.strip_prefix(&format!("{}: ", self.path)).unwrap_or(message))
    }

    /// Everything that was found, errors too.
    fn findings(&self) -> Vec<Finding> {
        let refused = |message: &str| Finding {
            kind: FindingKind::InputInvalid,
            title: message.lines().next().unwrap_or_default().to_owned(),
            message: message.to_owned(),
            location: None,
            backtrace: Vec::new(),
            peers: Vec::new(),
            related: Vec::new(),
        };
        let found = self.run.iter().flat_map(|run| run.findings.iter().cloned());
        let mut all: Vec<Finding> = self.refusal().map(refused).into_iter().chain(found).collect();
        if all.is_empty() {
            let note = self.note.clone().unwrap_or_default();
            let (kind, location, backtrace) = (FindingKind::Checker, None, Vec::new());
            all.push(Finding {
                kind,
                title: note.clone(),
                message: note,
                location,
                backtrace,
                peers: Vec::new(),
                related: Vec::new(),
            });
        }
        all
    }

    /// Its properties, of the run that is in it.
    pub(crate) fn properties(&self) -> impl Iterator<Item = &PropertySummary> {
        self.run.iter().flat_map(|run| &run.properties)
    }

    /// Its properties that say nothing, since they were never reached or never true.
    pub(crate) fn silent_properties(&self) -> impl Iterator<Item = &PropertySummary> {
        let silent = |property: &&PropertySummary| {
            matches!(property.state, PropertyState::NeverReached | PropertyState::NeverTrue)
        };
        self.properties().filter(silent)
    }
}

impl Expectation {
    fn words(&self) -> String {
        match self.signatures.as_slice() {
            [] => self.status.name().to_owned(),
            [one] => format!("{} {one}", self.status.name()),
            several => format!("{} and one of: {}", self.status.name(), several.join("; ")),
        }
    }
}

/// How many cases came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestCounts {
    /// As they should be.
    pub passed: usize,
    /// Not as they should be.
    pub failed: usize,
    /// Nothing can be said.
    pub skipped: usize,
}

/// The summary of a suite: `report.json`, and what `--json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuiteSummary {
    /// The worst of all cases.
    pub status: Status,
    /// Whether it was interrupted (Ctrl-C): the status is that of what was done until then, and without a finding there is no verdict.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// test; run of one program with many seeds.
    pub mode: RunMode,
    /// Which run; its trace is that of the first failure.
    pub identity: RunIdentity,
    /// Wall time at the start, RFC 3339.
    pub started_at: String,
    /// Wall time at the end, RFC 3339.
    pub finished_at: String,
    /// Wall time that it took, in milliseconds.
    pub duration_ms: u64,
    /// Wall time that it took, in nanoseconds.
    pub duration_ns: u64,
    /// How many cases came out how.
    pub tests: TestCounts,
    /// What the programs' allocators told, added up; absent when they told nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemorySummary>,
    /// What became of the planned faults over all seeds; absent when none is planned, and in suites, whose cases have their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultTotal>,
    /// Which nemeses were at work together, and with which operations of clients, over all seeds; absent when none is planned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlaps: Vec<FaultOverlap>,
    /// In how many of all seeds two planned faults struck, of those that struck at all; absent with fewer than two of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<FaultPair>,
    /// What was found in failed cases, each after the path of its case; absent when nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Failures that were kept, tried again; absent when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regressions: Vec<CaseSummary>,
    /// The scenarios, by path.
    pub scenarios: Vec<CaseSummary>,
}

impl SuiteSummary {
    /// The properties of all runs that are in it, as the public SDK of Antithesis writes them.
    #[must_use]
    pub fn antithesis_lines(&self) -> String {
        let cases = self.regressions.iter().chain(&self.scenarios);
        crate::antithesis::antithesis_lines(cases.flat_map(CaseSummary::properties))
    }

    /// One run as a suite of one.
    #[must_use]
    pub fn of_run(summary: &RunSummary) -> SuiteSummary {
        let wall = WallFacts {
            started_at: summary.started_at.clone(),
            finished_at: summary.finished_at.clone(),
            duration_ns: summary.duration_ns,
        };
        let (name, mode, identity) = (summary.target.name.clone(), summary.mode, summary.identity.clone());
        let case = CaseSummary {
            duration_ms: summary.duration_ms,
            duration_ns: summary.duration_ns,
            ..CaseSummary::ran(&name, &name, summary.clone())
        };
        let interrupted = summary.interrupted;
        SuiteSummary { mode, interrupted, ..SuiteSummary::of(identity, wall, Vec::new(), vec![case]) }
    }

    /// Whether it was judged: not when it was interrupted before anything was found. Its status says nothing then.
    #[must_use]
    pub fn has_verdict(&self) -> bool {
        !self.interrupted || !self.findings.is_empty()
    }

    /// Where a checker did not decide a run, the worst status of all others: it passes if nothing was found in these.
    #[must_use]
    pub fn beside_undecided(&self) -> Option<Status> {
        let told = |case: &&CaseSummary| case.run.as_ref().is_some_and(RunSummary::is_undecided);
        let undecided: Vec<&str> = self.cases().filter(told).map(|case| case.name.as_str()).collect();
        // Of those that ended in the same way, the first one alone has its run.
        let is_other = |case: &&CaseSummary| !undecided.contains(&case.same_as.as_deref().unwrap_or(&case.name));
        let others = self.cases().filter(is_other).map(CaseSummary::verdict);
        let worst = others.max_by_key(|status| status.gravity()).unwrap_or(Status::Pass);
        (!undecided.is_empty()).then_some(worst)
    }

    /// What the cases come to.
    #[must_use]
    pub fn of(
        identity: RunIdentity,
        wall: WallFacts,
        regressions: Vec<CaseSummary>,
        scenarios: Vec<CaseSummary>,
    ) -> SuiteSummary {
        let cases = || regressions.iter().chain(&scenarios);
        let counted = |result| cases().filter(|case| case.result == result).count();
        let tests = TestCounts {
            passed: counted(CaseResult::Passed),
            failed: counted(CaseResult::Failed),
            skipped: counted(CaseResult::Skipped),
        };
        let worst = cases().map(CaseSummary::verdict).max_by_key(|status| status.gravity());
        let nothing_ran = tests.passed + tests.failed == 0;
        let status = worst.filter(|_| !nothing_ran).unwrap_or(Status::Error);
        let failed = cases().filter(|case| case.result == CaseResult::Failed && case.same_as.is_none());
        let findings = failed.flat_map(|case| {
            let named = |finding: Finding| Finding { title: format!("{}: {}", case.path, finding.title), ..finding };
            case.findings().into_iter().map(named)
        });
        let findings = findings.collect();
        let memory = added(cases().filter_map(|case| case.run.as_ref()?.memory.as_ref()));
        SuiteSummary {
            status,
            interrupted: false,
            mode: RunMode::Test,
            identity,
            started_at: wall.started_at,
            finished_at: wall.finished_at,
            duration_ms: wall.duration_ns / 1_000_000,
            duration_ns: wall.duration_ns,
            tests,
            memory,
            faults: Vec::new(),
            overlaps: Vec::new(),
            together: Vec::new(),
            findings,
            regressions,
            scenarios,
        }
    }

    /// All cases, in the order in which they are shown.
    pub fn cases(&self) -> impl Iterator<Item = &CaseSummary> {
        self.regressions.iter().chain(&self.scenarios)
    }
}

fn added<'a>(all: impl Iterator<Item = &'a MemorySummary>) -> Option<MemorySummary> {
    all.cloned().reduce(|sum, next| MemorySummary {
        alloc_count: sum.alloc_count + next.alloc_count,
        free_count: sum.free_count + next.free_count,
        failed_alloc_count: sum.failed_alloc_count + next.failed_alloc_count,
        in_use_bytes: sum.in_use_bytes.saturating_add(next.in_use_bytes),
        peak_bytes: sum.peak_bytes.saturating_add(next.peak_bytes),
        leaked_bytes: sum.leaked_bytes.saturating_add(next.leaked_bytes),
        leaked_allocs: sum.leaked_allocs + next.leaked_allocs,
    })
}

#[cfg(test)]
mod tests;
