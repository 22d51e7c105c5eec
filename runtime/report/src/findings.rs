//! The findings of a run, as GitHub shows them beside the lines of a change.
//!
//! ```text
//! ::error file=src/lib.rs,line=23,col=30,title=panic at src/lib.rs%3A23%3A30::index out of bounds%0Areplay it: …
//! ```
//!
//! Invariant: one line for each finding, whatever words a program uses.

use crate::suite::annotations::{escaped, property};
use crate::summary::RunSummary;

/// The workflow commands; `file` tells under which name the project has a path, if it has it.
pub fn finding_annotations(summary: &RunSummary, file: impl Fn(&str) -> Option<String>) -> String {
    let mut text = String::new();
    for (place, finding) in summary.findings.iter().enumerate() {
        let mut keys = Vec::new();
        if let Some(location) = &finding.location
            && let Some(path) = location.file.as_deref().and_then(&file)
        {
            keys.push(format!("file={}", property(&path)));
            keys.extend(location.line.map(|line| format!("line={line}")));
            keys.extend(location.col.map(|col| format!("col={col}")));
        }
        keys.push(format!("title={}", property(&finding.title)));
        let mut message = finding.message.clone();
        if let Some(trace) = trace_of(summary, place) {
            message.push_str(&format!("\nreplay it: fozzy replay {}", crate::pretty::shell_word(trace)));
        }
        text.push_str(&format!("::error {}::{}\n", keys.join(","), escaped(&message)));
    }
    text
}

/// The trace of a finding: of a campaign each has its own, and the smallest says most.
pub(crate) fn trace_of(summary: &RunSummary, place: usize) -> Option<&str> {
    match &summary.fuzz {
        Some(fuzz) => {
            let finding = fuzz.findings.get(place)?;
            Some(finding.minimized_trace_path.as_ref().unwrap_or(&finding.trace_path))
        }
        None => summary.identity.trace_path.as_deref(),
    }
}
