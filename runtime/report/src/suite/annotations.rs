//! What failed, as GitHub shows it beside the lines of a change.
//!
//! ```text
//! ::error file=scenarios/bank/src/lib.rs,line=31,title=scenarios/bank: FAIL::customer 0 owes 12%0Areplay it: …
//! ```
//!
//! Invariant: one line for each failed case, and one for each stale trace, whatever words a program uses.

use super::{CaseResult, CaseSummary, RegressionState, SuiteSummary};
use fozzy_trace::outcome::SourceLocation;
use std::path::Path;

/// The workflow commands; `file` tells under which name the project has a path, if it has it.
pub fn annotations(summary: &SuiteSummary, file: impl Fn(&str) -> Option<String>) -> String {
    let mut text = String::new();
    for case in summary.cases() {
        let level = match (case.result, case.regression) {
            (CaseResult::Failed, _) => "error",
            (_, Some(RegressionState::Stale)) => "warning",
            (CaseResult::Passed | CaseResult::Skipped, _) => continue,
        };
        text.push_str(&annotation(level, case, &file));
    }
    text
}

fn annotation(level: &str, case: &CaseSummary, file: impl Fn(&str) -> Option<String>) -> String {
    let location = case.run.iter().flat_map(|run| &run.findings).find_map(|finding| finding.location.as_ref());
    let mut keys = Vec::new();
    match location.and_then(|location| Some((source(case, location, &file)?, location))) {
        Some((file, location)) => {
            keys.push(format!("file={}", property(&file)));
            keys.extend(location.line.map(|line| format!("line={line}")));
            keys.extend(location.col.map(|col| format!("col={col}")));
        }
        None => keys.push(format!("file={}", property(&case.path))),
    }
    keys.push(format!("title={}", property(&format!("{}: {}", case.path, case.word()))));
    let mut message = match case.remark() {
        remark if remark.is_empty() => case.word().to_owned(),
        remark => remark,
    };
    if let Some(finding) = case.run.iter().flat_map(|run| &run.findings).next()
        && finding.message != message
    {
        message.push_str(&format!("\n{}", finding.message));
    }
    if let Some(command) = &case.command {
        message.push_str(&format!("\nreplay it: {command}"));
    }
    format!("::{level} {}::{}\n", keys.join(","), escaped(&message))
}

/// A source as the project names it. Compilers name it from the folder of the scenario's crate, or of the workspace that the crate is in,
/// which is a folder above.
fn source(case: &CaseSummary, location: &SourceLocation, file: impl Fn(&str) -> Option<String>) -> Option<String> {
    let path = location.file.as_ref()?;
    let crate_path = case.against.as_ref().unwrap_or(&case.path);
    let mut folders = Path::new(crate_path).ancestors().map(|folder| folder.join(path));
    folders.find_map(|candidate| file(candidate.to_str()?)).or_else(|| file(path))
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

pub(crate) fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}
