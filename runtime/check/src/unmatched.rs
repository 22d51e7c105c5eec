//! Requests that no rule of the plan answers: each is a finding with the rule to paste.
//!
//! ```text
//! no rule answers GET https://api.test/orders
//! the program was refused; a rule for the plan:
//!
//!     [[http]]
//!     url = "https://api.test/orders"
//!     …
//! ```
//!
//! Invariant: one finding for each different request, in the order of the first; their identity is the
//! request without what varies: the query of a URL, the arguments of a command.
//! Not here: what the program was answered (the host), the notation of rules (`fozzy`).

use crate::judge::JudgedFinding;
use fozzy_trace::execution::UNMATCHED_MAX;
use fozzy_trace::{Finding, FindingKind, RequestKind, Status, UnmatchedRequest};

/// Characters of a request in a title; what follows is cut. The rule has it whole.
const ASKED_CHARS_MAX: usize = 200;

/// A finding for each request; the last one says how often `more` were asked for.
pub(crate) fn found(unmatched: &[UnmatchedRequest], more: u64) -> Vec<JudgedFinding> {
    let mut found: Vec<JudgedFinding> = Vec::new();
    for (index, request) in unmatched.iter().enumerate() {
        if !unmatched[..index].contains(request) {
            found.push(finding(request));
        }
    }
    if more > 0
        && let Some(last) = found.last_mut()
    {
        last.finding
            .message
            .push_str(&format!("\nand {more} more; the first {UNMATCHED_MAX} different ones are shown"));
    }
    found
}

fn finding(request: &UnmatchedRequest) -> JudgedFinding {
    let UnmatchedRequest { kind, asked, rule, allowed_by } = request;
    let what = if allowed_by.is_some() { "it is not allowed to ask the real computer for" } else { "no rule answers" };
    let title = format!("{what} {}", one_line(asked));
    let allow = allowed_by.as_ref().map_or_else(String::new, |flag| format!("`{}` allows it; or ", one_line(flag)));
    let mut message = format!("{title}\nthe program was refused; {allow}a rule for the plan:\n");
    for line in rule.lines() {
        let margin = if line.trim().is_empty() { "" } else { "    " };
        message.push_str(&format!("\n{margin}{}", line.trim_end()));
    }
    let finding = Finding {
        kind: FindingKind::InputInvalid,
        title,
        message,
        location: None,
        backtrace: Vec::new(),
        peers: Vec::new(),
        related: Vec::new(),
    };
    let identity = match kind {
        RequestKind::Http => asked.split(['?', '#']).next(),
        RequestKind::Process => asked.split(' ').next(),
    };
    let site = format!("{what} {}", one_line(identity.unwrap_or(asked)));
    JudgedFinding { status: Status::Fail, finding, site, words: String::new() }
}

/// A guest's own words in one line of bounded length that does nothing to a terminal.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == ASKED_CHARS_MAX {
            line.push('…');
            break;
        }
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge;
    use crate::judge::tests::execution;
    use fozzy_trace::{Execution, ExecutionEnd};

    fn request(kind: RequestKind, asked: &str) -> UnmatchedRequest {
        UnmatchedRequest {
            kind,
            asked: asked.to_owned(),
            rule: "[[http]]\nstatus = 200\n\n[http.headers]\n".to_owned(),
            allowed_by: None,
        }
    }

    #[test]
    fn each_different_request_is_a_finding_with_its_rule() {
        let get = || request(RequestKind::Http, "GET https://api.test/orders?page=7");
        let git = || request(RequestKind::Process, "git rev-parse HEAD");
        let unmatched = vec![get(), git(), get()];
        let verdict = judge(&Execution { unmatched, ..execution(ExecutionEnd::Exited { code: 0 }, "", &[]) });
        assert_eq!((verdict.status, verdict.findings.len()), (Status::Fail, 2));
        assert_eq!(
            verdict.signature.map(|signature| signature.to_string()).as_deref(),
            Some("input_invalid at no rule answers GET https://api.test/orders")
        );
        assert_eq!(
            verdict.findings[0].message,
            "no rule answers GET https://api.test/orders?page=7\nthe program was refused; a rule for the plan:\n\n    \
             [[http]]\n    status = 200\n\n    [http.headers]"
        );
        let verdict =
            judge(&Execution { unmatched: vec![git()], ..execution(ExecutionEnd::Exited { code: 3 }, "", &[]) });
        let titles: Vec<&str> = verdict.findings.iter().map(|finding| &*finding.title).collect();
        assert_eq!(titles, ["the program exited with code 3", "no rule answers git rev-parse HEAD"]);
    }

    #[test]
    fn a_hostile_request_stays_one_short_line() {
        let found = found(&[request(RequestKind::Process, &format!("a\n\u{1b}[31m{}", "b".repeat(1 << 20)))], 0);
        let title = &found[0].finding.title;
        assert!(title.starts_with("no rule answers a\\n\\u{1b}[31mb") && title.ends_with("b…"), "{title}");
        assert!(title.len() < 300 && found[0].site.len() < 300);
    }

    #[test]
    fn that_there_are_more_is_said() {
        let many: Vec<UnmatchedRequest> =
            (0..UNMATCHED_MAX).map(|n| request(RequestKind::Http, &format!("GET /{n}"))).collect();
        let said = |more| found(&many, more)[UNMATCHED_MAX - 1].finding.message.clone();
        assert!(said(7).ends_with("\nand 7 more; the first 32 different ones are shown"), "{}", said(7));
        assert!(!said(0).contains("more") && !found(&many, 7)[0].finding.message.contains("more"));
    }
}
