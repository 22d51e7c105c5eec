//! Requests, by `wasi:http`, and how they are answered.
//!
//! ```text
//! scripted   http_when is a rule of the run, which answers
//! real       http_when is what the real response must look like
//! ```
//!
//! A path without a host is asked of [`HOST`]: rules name paths only.

use super::Answerer;
use super::store::KeyValueStore;
use crate::failure::StepFailure;
use fozzy_scenario_file::{BodyContent, HttpRequest, HttpRuleStep, Payload};
use fozzy_sdk::http as rules;
use serde_json::Value;
use std::rc::Rc;
use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{Fields, Method, OutgoingBody, OutgoingRequest, Scheme};

/// Who is asked when a scenario names a path only.
const HOST: &str = "localhost";
/// Differences between two JSON bodies that are listed.
const DIFFERENCES_MAX: usize = 64;
/// Bytes of a body that are read at once.
const CHUNK_BYTES: u64 = 64 << 10;
/// Bytes of a response's body; a longer one is a failure.
const BODY_BYTES_MAX: usize = 8 << 20;

#[derive(Clone)]
struct Rule {
    when: Rc<HttpRuleStep>,
    answered: u64,
}

#[derive(Clone)]
pub(super) struct HttpState {
    rules: Vec<Rule>,
    answerer: Answerer,
}

impl Default for HttpState {
    fn default() -> HttpState {
        HttpState { rules: Vec::new(), answerer: Answerer::of("--http=") }
    }
}

pub struct HttpResponse {
    pub status: u16,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
}

impl HttpState {
    pub(super) fn when(&mut self, when: &HttpRuleStep) -> Result<(), StepFailure> {
        self.rules.push(Rule { when: Rc::new(when.clone()), answered: 0 });
        Ok(())
    }

    pub fn request(&mut self, request: &HttpRequest, store: &mut KeyValueStore) -> Result<HttpResponse, StepFailure> {
        let is_real = self.answerer == Answerer::Host;
        let shown = format!("{} {}", request.method, request.path);
        let (host, path) = place(&request.path);
        let fits = |rule: &&mut Rule| {
            let is_left = rule.when.times.is_none_or(|times| rule.answered < times);
            let is_it = rule.when.path == request.path || rule.when.path == path;
            is_left && rule.when.method == request.method && is_it
        };
        let rule = self.rules.iter_mut().find(fits).map(|rule| {
            rule.answered += 1;
            Rc::clone(&rule.when)
        });
        if is_real && rule.is_none() && !self.rules.is_empty() {
            return Err(StepFailure::new(format!(
                "{shown}: of the rules of `http_when` ({}), none is for it",
                self.rules.len()
            )));
        }
        let lent = rule.as_ref().filter(|_| !is_real);
        if let Some(when) = lent {
            lend(when, &path);
        }
        let response = match (&rule, self.answerer) {
            (None, Answerer::Nobody) => Err("no step says how it is answered".to_owned()),
            _ => send(request, host, &path),
        };
        if lent.is_some() {
            rules::clear_rules();
        }
        let response = response.map_err(|why| {
            let hint = if rule.is_none() && !is_real { suggestion(request) } else { String::new() };
            StepFailure::new(format!("{shown}: {why}{hint}")).of("no response")
        })?;
        let wrong = match rule.as_ref().filter(|_| is_real) {
            Some(when) => response.differs(Some(when.status), &when.headers, when.answer()),
            None => Vec::new(),
        };
        let wrong: Vec<String> = wrong
            .into_iter()
            .chain(response.differs(request.expect_status, &request.expect_headers, request.expected()))
            .collect();
        if !wrong.is_empty() {
            return Err(StepFailure::new(format!("{shown}: {}", wrong.join("; "))));
        }
        if let Some(key) = &request.save_body_as {
            let text = std::str::from_utf8(&response.body);
            let text = text.map_err(|_| {
                StepFailure::new(format!("{shown}: the body is no text, and cannot be kept as `{key}`"))
            })?;
            store.set(key, text);
        }
        Ok(response)
    }
}

/// Scheme and host, and the path with its query.
fn place(path: &str) -> ((Scheme, &str), String) {
    let schemes = [("http://", Scheme::Http), ("https://", Scheme::Https)];
    for (start, scheme) in schemes {
        if let Some(rest) = path.strip_prefix(start) {
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            let tail = if rest[end..].starts_with('/') { rest[end..].to_owned() } else { format!("/{}", &rest[end..]) };
            return ((scheme, &rest[..end]), tail);
        }
    }
    ((Scheme::Http, HOST), path.to_owned())
}

/// The rule that fits is lent to the run for the one request: its path is compared letter by letter here.
fn lend(when: &HttpRuleStep, path: &str) {
    let body = match when.answer() {
        Some(BodyContent::Plain(payload)) => payload.bytes().to_vec(),
        Some(BodyContent::Json(value)) => value.to_string().into_bytes(),
        None => Vec::new(),
    };
    let rule = rules::rule(path).method(&when.method).responds(when.status, &body);
    let rule = rule.delay(when.delay.map_or(std::time::Duration::ZERO, |delay| delay.0));
    let says_type = when.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type"));
    let rule = match when.answer() {
        Some(BodyContent::Json(_)) if !says_type => rule.response_header("content-type", "application/json"),
        _ => rule,
    };
    when.headers.iter().fold(rule, |rule, (name, value)| rule.response_header(name, value)).add();
}

fn suggestion(request: &HttpRequest) -> String {
    let text = |text: &str| Value::from(text).to_string();
    format!(
        "; answer it before with {{\"type\":\"http_when\",\"method\":{},\"path\":{},\"status\":200,\"body\":\"\"}}, or ask a real server \
         with --http-backend host",
        text(&request.method),
        text(&request.path)
    )
}

fn method(word: &str) -> Method {
    match word {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "OPTIONS" => Method::Options,
        "PATCH" => Method::Patch,
        other => Method::Other(other.to_owned()),
    }
}

fn send(request: &HttpRequest, (scheme, host): (Scheme, &str), path: &str) -> Result<HttpResponse, String> {
    let headers: Vec<(String, Vec<u8>)> =
        request.headers.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes())).collect();
    let headers = Fields::from_list(&headers).map_err(|error| format!("headers: {error}"))?;
    let outgoing = OutgoingRequest::new(headers);
    let refused = |what: &str| format!("this {what} cannot be sent");
    outgoing.set_method(&method(&request.method)).map_err(|()| refused("method"))?;
    outgoing.set_scheme(Some(&scheme)).map_err(|()| refused("scheme"))?;
    outgoing.set_authority(Some(host)).map_err(|()| refused("host"))?;
    outgoing.set_path_with_query(Some(path)).map_err(|()| refused("path"))?;
    let body = request.body.as_ref().map(|payload| (payload, outgoing.body()));
    let future = handle(outgoing, None).map_err(|error| error.to_string())?;
    if let Some((payload, Ok(body))) = body {
        if let Ok(stream) = body.write() {
            // What is wrong with sending is told by the response.
            let _ = payload.bytes().chunks(4_096).try_for_each(|chunk| stream.blocking_write_and_flush(chunk));
        }
        let _ = OutgoingBody::finish(body, None);
    }
    future.subscribe().block();
    let response = match future.get() {
        Some(Ok(response)) => response.map_err(|error| error.to_string())?,
        Some(Err(())) | None => return Err("the response was taken already".to_owned()),
    };
    let (status, headers) = (response.status(), response.headers().entries());
    let mut body = Vec::new();
    let incoming = response.consume().map_err(|()| "the body was taken already".to_owned())?;
    let stream = incoming.stream().map_err(|()| "the body was taken already".to_owned())?;
    loop {
        use wasip2::io::streams::StreamError;
        match stream.blocking_read(CHUNK_BYTES) {
            Ok(more) => body.extend(more),
            Err(StreamError::Closed) => break,
            Err(StreamError::LastOperationFailed(error)) => {
                return Err(format!("the body broke off after {} bytes: {}", body.len(), error.to_debug_string()));
            }
        }
        if body.len() > BODY_BYTES_MAX {
            return Err(format!("the body has more than {BODY_BYTES_MAX} bytes"));
        }
    }
    Ok(HttpResponse { status, headers, body })
}

impl HttpResponse {
    /// What is not as expected.
    fn differs(
        &self,
        status: Option<u16>,
        headers: &std::collections::BTreeMap<String, String>,
        body: Option<BodyContent<'_>>,
    ) -> Vec<String> {
        let mut wrong = Vec::new();
        if let Some(expected) = status.filter(|expected| *expected != self.status) {
            wrong.push(format!("expected status {expected}, found {}", self.status));
        }
        for (name, expected) in headers {
            let of_name = || self.headers.iter().filter(|(found, _)| found.eq_ignore_ascii_case(name));
            if !of_name().any(|(_, value)| value == expected.as_bytes()) {
                let found: Vec<String> =
                    of_name().map(|(_, value)| format!("{:?}", String::from_utf8_lossy(value))).collect();
                let found = if found.is_empty() { "no such header".to_owned() } else { found.join(", ") };
                wrong.push(format!("header {name}: expected {expected:?}, found {found}"));
            }
        }
        match body {
            Some(BodyContent::Plain(expected)) if expected.bytes() != self.body.as_slice() => {
                wrong.push(format!("body: expected {expected:?}, found {:?}", Payload::of(self.body.clone())));
            }
            Some(BodyContent::Json(expected)) => match serde_json::from_slice::<Value>(&self.body) {
                Ok(found) => {
                    let mut differences = Vec::new();
                    compare("$", expected, &found, &mut differences);
                    wrong.extend(differences);
                }
                Err(error) => {
                    let found = String::from_utf8_lossy(&self.body);
                    wrong.push(format!("body: expected JSON, found {found:?} ({error})"));
                }
            },
            _ => {}
        }
        wrong
    }
}

/// Where two values differ.
fn compare(path: &str, expected: &Value, found: &Value, out: &mut Vec<String>) {
    if out.len() >= DIFFERENCES_MAX {
        return;
    }
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (key, value) in expected {
                match found.get(key) {
                    Some(other) => compare(&format!("{path}.{key}"), value, other, out),
                    None => out.push(format!("missing_key {path}.{key}")),
                }
            }
            out.extend(
                found.keys().filter(|key| !expected.contains_key(*key)).map(|key| format!("extra_key {path}.{key}")),
            );
        }
        (Value::Array(expected), Value::Array(found)) => {
            for (number, (value, other)) in expected.iter().zip(found).enumerate() {
                compare(&format!("{path}[{number}]"), value, other, out);
            }
            out.extend((found.len()..expected.len()).map(|number| format!("missing_index {path}[{number}]")));
            out.extend((expected.len()..found.len()).map(|number| format!("extra_index {path}[{number}]")));
        }
        (expected, found) if expected == found => {}
        (expected, found) => out.push(format!("value_mismatch {path}: expected {expected}, found {found}")),
    }
}
