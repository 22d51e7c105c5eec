//! Which scripted rule answers a request.
//!
//! ```text
//! GET https://api.test/orders/7  ─▶  rule 0: POST ..        no
//!                                    rule 1: /orders/*      yes, and not used up: it answers
//! ```
//!
//! A rule's URL that begins with `/` is compared with path and query, every other with the whole URL; scheme and host are
//! in small letters in both.
//!
//! Invariant: the first rule that matches and is not used up answers, and only its count goes up.

use super::request::SentRequest;
use crate::glob::matches;
use fozzy_trace::plan::HttpRule;
use std::borrow::Cow;
use std::sync::Arc;

/// How often each rule has answered, and the rules that the target added, which come before those of the plan.
#[derive(Clone, Debug, Default)]
pub struct HttpRules {
    used: Vec<u64>,
    added: Vec<(Arc<HttpRule>, u64)>,
}

impl HttpRules {
    /// One rule more. The answer is its number; `None` when there are [`RULES_MAX`](crate::RULES_MAX).
    pub fn add(&mut self, rule: HttpRule) -> Option<u32> {
        let number = self.added.len();
        if number == crate::RULES_MAX {
            return None;
        }
        self.added.push((Arc::new(rule), 0));
        Some(number as u32)
    }

    /// How many requests an added rule has answered.
    #[must_use]
    pub fn answered(&self, number: u32) -> Option<u64> {
        self.added.get(number as usize).map(|(_, answered)| *answered)
    }

    /// Takes back what was added.
    pub fn clear(&mut self) {
        self.added.clear();
    }

    /// The added rule that answers `request`; it has then been used once more.
    pub(super) fn choose_added(&mut self, request: &SentRequest) -> Option<Arc<HttpRule>> {
        let url = request.url();
        let fresh = |used: u64, rule: &HttpRule| rule.times.is_none_or(|times| used < times);
        let mut added = self.added.iter_mut();
        let (rule, used) = added.find(|(rule, used)| fresh(*used, rule) && describes(rule, request, &url))?;
        *used += 1;
        Some(Arc::clone(rule))
    }

    /// The rule of `rules` that answers `request`; it has then been used once more.
    pub(super) fn choose<'a>(&mut self, rules: &'a [HttpRule], request: &SentRequest) -> Option<&'a HttpRule> {
        self.used.resize(rules.len(), 0);
        let url = request.url();
        let fresh = |used: u64, rule: &HttpRule| rule.times.is_none_or(|times| used < times);
        let mut both = self.used.iter_mut().zip(rules);
        let (used, rule) = both.find(|(used, rule)| fresh(**used, rule) && describes(rule, request, &url))?;
        *used += 1;
        Some(rule)
    }
}

fn describes(rule: &HttpRule, request: &SentRequest, url: &str) -> bool {
    let method = rule.method.as_ref().is_none_or(|method| method == request.method.as_str());
    let path = rule.url.starts_with('/');
    let place =
        if path { matches(&rule.url, &request.path_with_query) } else { matches(&in_small_letters(&rule.url), url) };
    let has = |(name, pattern): &(String, String)| {
        request.headers.get(name).any(|value| matches(pattern, &String::from_utf8_lossy(value)))
    };
    method && place && rule.headers.iter().all(has)
}

/// The pattern of a URL, with scheme and host as [`SentRequest::url`] writes them.
fn in_small_letters(pattern: &str) -> Cow<'_, str> {
    let Some(host) = pattern.find("://").map(|at| at + "://".len()) else { return Cow::Borrowed(pattern) };
    let path = pattern[host..].find('/').map_or(pattern.len(), |at| host + at);
    let user = pattern[..path].rfind('@').map_or(host, |at| at + 1);
    let (scheme, user, host) = (&pattern[..host], &pattern[host..user], &pattern[user..path]);
    Cow::Owned(format!("{}{user}{}{}", scheme.to_ascii_lowercase(), host.to_ascii_lowercase(), &pattern[path..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::fields::HeaderFields;
    use crate::http::message::Method;
    use crate::http::request::OutgoingRequest;
    use fozzy_trace::Duration;
    use fozzy_trace::plan::{HttpFailure, HttpReply};

    fn rule(method: Option<&str>, url: &str) -> HttpRule {
        HttpRule {
            method: method.map(str::to_owned),
            url: url.to_owned(),
            headers: Vec::new(),
            times: None,
            delay: Duration::default(),
            answer: HttpReply::Failure(HttpFailure::Dns),
            others: None,
        }
    }

    fn request(method: Method, path: &str) -> SentRequest {
        let headers = HeaderFields::from_list([("Accept".to_owned(), b"text/html".to_vec())]).expect("valid");
        let (authority, path_with_query) = (Some("API.test".to_owned()), Some(path.to_owned()));
        let request = OutgoingRequest { method, authority, path_with_query, ..OutgoingRequest::new(headers) };
        request.into_request().expect("it can be sent")
    }

    #[test]
    fn the_first_rule_that_describes_the_request_answers() {
        let accepting = |pattern: &str| HttpRule {
            headers: vec![("accept".to_owned(), pattern.to_owned())],
            ..rule(None, "/with")
        };
        let rules = [
            rule(Some("POST"), "https://Api.TEST/a"),
            rule(None, "/a"),
            rule(None, "HTTPS://*.test/b*"),
            accepting("text/*"),
            rule(None, "/with"),
        ];
        let chosen = |method, path| {
            let found = HttpRules::default().choose(&rules, &request(method, path));
            found.map(|rule| rules.iter().position(|other| other == rule).expect("one of them"))
        };
        assert_eq!(chosen(Method::Post, "/a"), Some(0));
        assert_eq!(chosen(Method::Get, "/a"), Some(1));
        assert_eq!(chosen(Method::Get, "/a?x"), None);
        assert_eq!(chosen(Method::Get, "/b/c?x"), Some(2));
        assert_eq!(chosen(Method::Get, "/B"), None);
        assert_eq!(chosen(Method::Put, "/with"), Some(3));
    }

    #[test]
    fn a_rule_that_was_added_counts_its_answers_and_is_used_up() {
        let mut state = HttpRules::default();
        let added = state.add(HttpRule { times: Some(2), ..rule(Some("GET"), "/a") });
        assert_eq!(added, Some(0));
        let mut chosen = |path| state.choose_added(&request(Method::Get, path)).is_some();
        assert_eq!([chosen("/b"), chosen("/a"), chosen("/a"), chosen("/a")], [false, true, true, false]);
        assert_eq!((state.answered(0), state.answered(1)), (Some(2), None));
        state.clear();
        assert_eq!(state.answered(0), None);
        assert!((0..crate::RULES_MAX).all(|_| state.add(rule(None, "/")).is_some()));
        assert_eq!(state.add(rule(None, "/")), None);
    }

    #[test]
    fn a_rule_is_used_up() {
        let rules =
            [HttpRule { times: Some(2), ..rule(None, "/a") }, HttpRule { times: Some(1), ..rule(Some("GET"), "/a") }];
        let mut state = HttpRules::default();
        let mut chosen = || state.choose(&rules, &request(Method::Get, "/a")).map(|rule| rule.method.is_some());
        assert_eq!([chosen(), chosen(), chosen(), chosen()], [Some(false), Some(false), Some(true), None]);
    }
}
