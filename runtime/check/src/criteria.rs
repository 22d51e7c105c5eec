//! Findings of what a run did not meet of the criteria of its plan.
//!
//! ```text
//! CriteriaReport ─▶ forbidden output, other output, rejected by the checker   fail
//!                   the checker came to no verdict                            error
//! ```
//!
//! Invariant: the site of a finding names the criterion, and of a checker what it says in its first line with numbers masked.

use crate::identity::masked;
use crate::judge::JudgedFinding;
use crate::unmatched::one_line;
use fozzy_trace::facts::{CriteriaReport, UnmetCriterion};
use fozzy_trace::{ExecutionEnd, Finding, FindingKind, Status};

/// The finding of a target that exited with a code that is not allowed; `None` when nothing is said of codes, or it is no exit.
pub(crate) fn of_exit(end: &ExecutionEnd, report: &CriteriaReport) -> Option<Result<(), JudgedFinding>> {
    let ExecutionEnd::Exited { code } = end else { return None };
    if report.exit_codes.is_empty() {
        return None;
    }
    if report.exit_codes.contains(code) {
        return Some(Ok(()));
    }
    let codes: Vec<String> = report.exit_codes.iter().map(u32::to_string).collect();
    let title = format!("the program exited with code {code}");
    // A component only says whether it went well, so that another code of the list is never seen of one.
    let of_component = match *code == 1 && report.exit_codes.iter().any(|code| *code > 1) {
        true => {
            "; a component can only say 0 or 1, whatever it calls `exit` with: a module of WASI preview 1 says its code"
        }
        false => "",
    };
    let message =
        format!("{title}, and {} is expected (--expect-exit, or `exit` of [expect]){of_component}", codes.join(" or "));
    Some(Err(finding(Status::Fail, FindingKind::TargetBehavior, title, message, format!("exit code {code}"))))
}

/// The findings of the criteria that were not met.
pub(crate) fn found(report: &CriteriaReport) -> impl Iterator<Item = JudgedFinding> + '_ {
    report.unmet.iter().map(of_unmet)
}

fn of_unmet(unmet: &UnmetCriterion) -> JudgedFinding {
    match unmet {
        UnmetCriterion::ForbiddenOutput { pattern, machine, stream, line } => {
            let title = format!("`{}` writes what it must not", one_line(machine));
            let message = format!("{title}: on {stream}, matched by `{}`\n{}", one_line(pattern), one_line(line));
            let site = format!("output matches {}", one_line(pattern));
            finding(Status::Fail, FindingKind::TargetBehavior, title, message, site)
        }
        UnmetCriterion::UnjudgedOutput { pattern, machine, stream, match_max } => {
            let title = format!("what `{}` writes cannot be judged", one_line(machine));
            let message = format!(
                "{title}: a line of {stream} has more than {match_max} bytes, and what `{}` matches may be as long; a bound \
                 (`.{{0,1000}}` for `.*`) makes it a pattern that can be judged",
                one_line(pattern)
            );
            let site = format!("output without a verdict on {}", one_line(pattern));
            finding(Status::Error, FindingKind::Checker, title, message, site)
        }
        UnmetCriterion::OtherOutput { line, column, expected, found } => {
            let title = "the output is not as expected".to_owned();
            let shown = |text: &Option<String>| match text {
                Some(text) => format!("`{}`", one_line(text)),
                None => "the end".to_owned(),
            };
            // Of a line that is shown whole, it is seen.
            let is_cut = [expected, found].iter().any(|text| text.as_ref().is_some_and(|text| text.starts_with('…')));
            let at = if is_cut { format!(", column {column}") } else { String::new() };
            let message =
                format!("{title}, from line {line}{at} on\nexpected {}\nfound    {}", shown(expected), shown(found));
            finding(Status::Fail, FindingKind::TargetBehavior, title.clone(), message, title)
        }
        UnmetCriterion::Rejected { code, words } => {
            let first = words.lines().next().unwrap_or_default();
            let title = match first {
                "" => format!("the checker exited with code {code}"),
                first => one_line(first),
            };
            let site = match first {
                "" => "checker".to_owned(),
                first => format!("checker: {}", masked(&one_line(first))),
            };
            let message = format!("the checker exited with code {code}\n{}", printable(words));
            finding(Status::Fail, FindingKind::Checker, title, message.trim_end().to_owned(), site)
        }
        UnmetCriterion::Unjudged { why, words } => {
            let title = "the checker came to no verdict".to_owned();
            let message = format!("{title}: {}\n{}", one_line(why), printable(words));
            let site = format!("checker without a verdict: {}", masked(&one_line(why)));
            finding(Status::Error, FindingKind::Checker, title, message.trim_end().to_owned(), site)
        }
    }
}

/// A program's own words, safe for a terminal; lines stay lines.
fn printable(words: &str) -> String {
    words.lines().map(one_line).collect::<Vec<_>>().join("\n")
}

fn finding(status: Status, kind: FindingKind, title: String, message: String, site: String) -> JudgedFinding {
    let finding =
        Finding { kind, title, message, location: None, backtrace: Vec::new(), peers: Vec::new(), related: Vec::new() };
    JudgedFinding { status, finding, site, words: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(unmet: UnmetCriterion) -> CriteriaReport {
        CriteriaReport { exit_codes: vec![0, 3], unmet: vec![unmet] }
    }

    #[test]
    fn sites_are_those_of_criteria_and_mask_numbers() {
        let site = |unmet| {
            let found = found(&report(unmet)).next().expect("one");
            (found.status, found.site)
        };
        let rejected = |words: &str| UnmetCriterion::Rejected { code: 1, words: words.to_owned() };
        assert_eq!(site(rejected("lost 3 of 17\nmore")), site(rejected("lost 4 of 9")));
        assert_ne!(site(rejected("lost 3 of 17")), site(rejected("twice: 3")));
        let unjudged = UnmetCriterion::Unjudged { why: "it trapped: unreachable".to_owned(), words: String::new() };
        assert_eq!(site(unjudged).0, Status::Error);
        let line = |line: &str| UnmetCriterion::ForbiddenOutput {
            pattern: "^WARN".to_owned(),
            machine: "a".to_owned(),
            stream: "stderr",
            line: line.to_owned(),
        };
        assert_eq!(site(line("WARN 1")), site(line("WARN 2")));
    }

    #[test]
    fn codes_are_those_of_the_plan() {
        let report = CriteriaReport { exit_codes: vec![3], unmet: Vec::new() };
        let of = |code| of_exit(&ExecutionEnd::Exited { code }, &report).map(|allowed| allowed.is_ok());
        assert_eq!((of(3), of(0)), (Some(true), Some(false)));
        assert!(of_exit(&ExecutionEnd::Killed, &CriteriaReport::default()).is_none());
        assert!(of_exit(&ExecutionEnd::Exited { code: 1 }, &CriteriaReport::default()).is_none());
        let message = |code| match of_exit(&ExecutionEnd::Exited { code }, &report) {
            Some(Err(found)) => found.finding.message,
            _ => String::new(),
        };
        assert!(message(4).ends_with("is expected (--expect-exit, or `exit` of [expect])"), "{}", message(4));
        assert!(message(1).contains("a component can only say 0 or 1"), "{}", message(1));
    }
}
