//! The findings of a run as SARIF 2.1.0 (OASIS), which code hosts and editors show beside the source.
//!
//! ```text
//! run ─ tool: fozzy, a rule for each kind of finding
//!     └ results: level error, message, location of the source line, stack, signature as fingerprint, trace attached
//! ```
//!
//! Invariant: equal findings have equal fingerprints, whatever input shows them.

use crate::findings::trace_of;
use crate::summary::RunSummary;
use fozzy_trace::outcome::SourceLocation;
use fozzy_trace::{Finding, FindingKind};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The document; `version` is that of the tool, and `file` tells under which name the project has a path, if it has it.
#[must_use]
pub fn sarif(summary: &RunSummary, version: &str, file: impl Fn(&str) -> Option<String>) -> String {
    let kinds: BTreeSet<FindingKind> = summary.findings.iter().map(|finding| finding.kind).collect();
    let rule = |kind: &FindingKind| json!({ "id": kind.name(), "shortDescription": { "text": format!("fozzy found: {}", kind.name()) } });
    let results = summary.findings.iter().enumerate().map(|(place, finding)| result(summary, place, finding, &file));
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "fozzy",
                "version": version,
                "rules": kinds.iter().map(rule).collect::<Vec<Value>>(),
            } },
            "automationDetails": { "id": category(summary) },
            "columnKind": "unicodeCodePoints",
            "results": results.collect::<Vec<Value>>(),
        }],
    });
    format!("{document:#}\n")
}

/// What tells this analysis from others of the commit. Code scanning refuses two of one category, as two functions of one program would be.
fn category(summary: &RunSummary) -> String {
    let function = summary.fuzz.iter().map(|fuzz| &fuzz.function).find(|function| !function.is_empty());
    let function = function.map(|function| format!("{function}/")).unwrap_or_default();
    format!("fozzy/{}/{function}", summary.target.name)
}

fn result(summary: &RunSummary, place: usize, finding: &Finding, file: impl Fn(&str) -> Option<String>) -> Value {
    let own = finding.location.clone().unwrap_or_default();
    let mut result = json!({
        "ruleId": finding.kind.name(),
        "level": "error",
        "message": { "text": finding.message },
        // Without a source line, the program itself is what can be shown.
        "locations": [location(&own, &file).unwrap_or_else(|| of_file(&summary.target.name, None))],
    });
    let signature = match &summary.fuzz {
        Some(fuzz) => fuzz.findings.get(place).and_then(|finding| finding.signature.as_ref()),
        None => summary.signature.as_ref(),
    };
    if let Some(signature) = signature {
        result["partialFingerprints"] = json!({ "fozzySignature/v1": signature.to_string() });
    }
    if !finding.backtrace.is_empty() {
        let frame = |frame: &fozzy_trace::outcome::StackFrame| {
            let mut at = location(&frame.source, &file).unwrap_or_else(|| json!({}));
            at["message"] = json!({ "text": frame.function });
            json!({ "location": at, "module": frame.module })
        };
        let frames: Vec<Value> = finding.backtrace.iter().map(frame).collect();
        result["stacks"] = json!([{ "message": { "text": finding.title }, "frames": frames }]);
    }
    if let Some(trace) = trace_of(summary, place) {
        let description = format!("replay it: fozzy replay {}", crate::pretty::shell_word(trace));
        result["attachments"] =
            json!([{ "description": { "text": description }, "artifactLocation": { "uri": uri(trace) } }]);
    }
    result
}

fn location(source: &SourceLocation, file: impl Fn(&str) -> Option<String>) -> Option<Value> {
    let path = source.file.as_deref()?;
    let region = source.line.map(|line| match source.col {
        Some(col) => json!({ "startLine": line, "startColumn": col }),
        None => json!({ "startLine": line }),
    });
    Some(of_file(&file(path).unwrap_or_else(|| path.to_owned()), region))
}

fn of_file(path: &str, region: Option<Value>) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri(path) } });
    if let Some(region) = region {
        physical["region"] = region;
    }
    json!({ "physicalLocation": physical })
}

/// A path as a URI reference (RFC 3986): an absolute one names its scheme.
fn uri(path: &str) -> String {
    let mut text = String::from(if path.starts_with('/') { "file://" } else { "" });
    for (place, byte) in path.replace('\\', "/").bytes().enumerate() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte);
        // A colon in the first name would end a scheme.
        if plain || (byte == b':' && path[..place].contains('/')) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        assert_eq!(uri("src/a b.rs"), "src/a%20b.rs");
        assert_eq!(uri("/x/c:d.rs"), "file:///x/c:d.rs");
        assert_eq!(uri("c:d#é"), "c%3Ad%23%C3%A9");
    }
}
