//! A suite as JUnit XML: one testcase for each case.
//!
//! ```text
//! passed                         <testcase/>
//! failed: fail, timeout, crash   <failure type="timeout" message="…">   counted under `failures`
//! failed: could not be run       <error type="error" message="…">       counted under `errors`
//! skipped, stale                 <skipped message="…"/>
//! ```
//!
//! Invariant: what XML cannot hold (control characters, colours) is left out of a program's words, nothing else.

use super::{CaseResult, CaseSummary, SuiteSummary};
use crate::pretty::{Style, finding_lines, sequence_rows};
use crate::strikes::fault_block;
use crate::summary::{OutputSummary, RunSummary, StreamSummary};
use fozzy_trace::Status;
use fozzy_trace::outcome::StackFrame;
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// It could not be written.
#[derive(Debug)]
pub struct JunitError(String);

impl std::fmt::Display for JunitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for JunitError {}

/// The document.
///
/// # Errors
/// When the writer of XML refuses a word.
pub fn junit(summary: &SuiteSummary, is_own: impl Fn(&StackFrame) -> bool) -> Result<String, JunitError> {
    let mut report = Report::new("fozzy");
    report.set_time(Duration::from_nanos(summary.duration_ns));
    for (name, cases) in [("regressions", &summary.regressions), ("scenarios", &summary.scenarios)] {
        if cases.is_empty() {
            continue;
        }
        let mut suite = TestSuite::new(name);
        suite.set_time(Duration::from_nanos(cases.iter().map(|case| case.duration_ns).sum()));
        suite.add_property(Property::new("seed", summary.identity.seed.to_string()));
        suite.add_property(Property::new("run", &*summary.identity.run_id));
        suite.add_test_cases(cases.iter().map(|case| test_case(case, &is_own)));
        report.add_test_suite(suite);
    }
    report.to_string().map_err(|error| JunitError(error.to_string()))
}

fn test_case(case: &CaseSummary, is_own: impl Fn(&StackFrame) -> bool) -> TestCase {
    let mut written = TestCase::new(&*case.name, status(case, is_own));
    written.set_classname(&*case.path).set_time(Duration::from_nanos(case.duration_ns));
    let Some(run) = &case.run else { return written };
    written.add_property(Property::new("seed", run.identity.seed.to_string()));
    if let Some(trace) = &run.identity.trace_path {
        written.add_property(Property::new("trace", &**trace));
    }
    for property in case.silent_properties() {
        written.add_property(Property::new(property.state.name(), &*property.name));
    }
    if case.result == CaseResult::Failed {
        if let Some(text) = written_by_all(run, |output| &output.stdout) {
            written.set_system_out(text);
        }
        if let Some(text) = written_by_all(run, |output| &output.stderr) {
            written.set_system_err(text);
        }
    }
    written
}

/// What the target wrote, and after it what the other machines wrote, each line after the machine's name.
fn written_by_all(run: &RunSummary, stream: impl Fn(&OutputSummary) -> &StreamSummary) -> Option<String> {
    let text = |output| stream(output).text.as_deref().unwrap_or_default();
    let mut all = text(&run.output).to_owned();
    for node in &run.nodes {
        for line in text(&node.output).lines() {
            if !all.is_empty() && !all.ends_with('\n') {
                all.push('\n');
            }
            all.push_str(&format!("{} | {line}\n", node.name));
        }
    }
    (!all.is_empty()).then_some(all)
}

fn status(case: &CaseSummary, is_own: impl Fn(&StackFrame) -> bool) -> TestCaseStatus {
    let mut status = match case.result {
        CaseResult::Passed => return TestCaseStatus::success(),
        CaseResult::Skipped => TestCaseStatus::skipped(),
        CaseResult::Failed => TestCaseStatus::non_success(match case.verdict() {
            Status::Error => NonSuccessKind::Error,
            Status::Pass | Status::Fail | Status::Timeout | Status::Crash => NonSuccessKind::Failure,
        }),
    };
    status.set_message(case.remark());
    if case.result == CaseResult::Failed {
        status.set_type(case.verdict().name()).set_description(description(case, is_own));
    }
    status
}

fn description(case: &CaseSummary, is_own: impl Fn(&StackFrame) -> bool) -> String {
    let mut text = String::new();
    for finding in case.findings() {
        text.push_str(&format!("{}\n{}", finding.title, finding_lines(&finding, Style::PLAIN, &is_own)));
    }
    text.push_str(&sequence_rows(case.run.as_ref().and_then(|run| run.sequence.as_ref()), Style::PLAIN));
    case.run.iter().for_each(|run| text.push_str(&fault_block(run, Style::PLAIN)));
    if let Some(hint) = case.error.as_ref().and_then(|error| error.hint.as_ref()) {
        text.push_str(&format!("{hint}\n"));
    }
    if let Some(command) = &case.command {
        text.push_str(&format!("replay it: {command}\n"));
    }
    text
}
