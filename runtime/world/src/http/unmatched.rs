//! Requests that no rule answers, and the rule that would.
//!
//! ```text
//! GET https://api.test/a  ─▶  [[http]]
//!                             method = "GET"
//!                             url = "https://api.test/a"
//!                             status = 200
//!                             body = ""
//! ```
//!
//! Invariants: at most [`UNMATCHED_MAX`] are kept, each once, and all are counted; headers stand here as they may be
//! recorded.

use super::redact;
use super::request::Request;
use fozzy_trace::UnmatchedKind;
use fozzy_trace::execution::UNMATCHED_MAX;
use fozzy_trace::plan::Redact;

/// A request that no rule answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// In capitals, as it was sent.
    pub method: String,
    /// Scheme, authority, path and query.
    pub url: String,
    /// As they may be recorded.
    pub headers: Vec<(String, Vec<u8>)>,
}

impl Unmatched {
    fn of(request: &Request, redact: &Redact) -> Unmatched {
        let headers = redact::recorded(redact, request.headers.entries());
        Unmatched { method: request.method.as_str().to_owned(), url: request.url(), headers }
    }

    /// As it stands in an execution.
    #[must_use]
    pub fn in_execution(&self) -> fozzy_trace::Unmatched {
        let asked = format!("{} {}", self.method, self.url);
        fozzy_trace::Unmatched { kind: UnmatchedKind::Http, asked, rule: self.rule() }
    }

    /// A rule for a plan file that answers this request.
    #[must_use]
    pub fn rule(&self) -> String {
        let (method, url) = (toml_string(&self.method), toml_string(&self.url));
        format!("[[http]]\nmethod = {method}\nurl = {url}\nstatus = 200\nbody = \"\"\n")
    }
}

/// All that were seen.
#[derive(Clone, Debug, Default)]
pub struct UnmatchedRequests {
    kept: Vec<Unmatched>,
    count: u64,
}

impl UnmatchedRequests {
    /// One more.
    pub(super) fn add(&mut self, request: &Request, redact: &Redact) {
        self.count += 1;
        let unmatched = Unmatched::of(request, redact);
        let known = self.kept.iter().any(|other| (&other.method, &other.url) == (&unmatched.method, &unmatched.url));
        if !known && self.kept.len() < UNMATCHED_MAX {
            self.kept.push(unmatched);
        }
    }

    /// Those that are kept: the first of each method and URL, in their order.
    #[must_use]
    pub fn kept(&self) -> &[Unmatched] {
        &self.kept
    }

    /// How many there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }
}

/// A basic string of TOML 1.0.
fn toml_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\0'..='\x1F' | '\x7F' => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::fields::Fields;
    use crate::http::request::OutgoingRequest;

    fn request(path: &str) -> Request {
        let headers = Fields::from_list([("Cookie".to_owned(), b"secret".to_vec())]).expect("valid");
        let (authority, path_with_query) = (Some("api.test".to_owned()), Some(path.to_owned()));
        let request = OutgoingRequest { authority, path_with_query, ..OutgoingRequest::new(headers) };
        request.into_request().expect("it can be sent")
    }

    #[test]
    fn the_rule_is_ready_to_paste() {
        let mut unmatched = UnmatchedRequests::default();
        unmatched.add(&request("/a?q=\"x\""), &Redact::default());
        let rule = "[[http]]\nmethod = \"GET\"\nurl = \"https://api.test/a?q=\\\"x\\\"\"\nstatus = 200\nbody = \"\"\n";
        assert_eq!(unmatched.kept()[0].rule(), rule);
        assert_eq!(unmatched.kept()[0].headers, [("Cookie".to_owned(), b"<redacted:cookie>".to_vec())]);
    }

    #[test]
    fn many_requests_are_counted_and_few_kept() {
        let mut unmatched = UnmatchedRequests::default();
        for i in 0..3 * UNMATCHED_MAX {
            unmatched.add(&request(&format!("/{}", i / 2)), &Redact::default());
        }
        assert_eq!((unmatched.kept().len(), unmatched.count()), (UNMATCHED_MAX, 3 * UNMATCHED_MAX as u64));
    }
}
