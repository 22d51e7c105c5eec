//! What a scenario plays in the place of HTTP servers.
//!
//! ```text
//! let orders = rule("/orders").method("POST").times(1).delay(2 s).status(201).add()
//! the target posts an order, over `wasi:http`            ─▶ 201, after two seconds of virtual time
//! orders.answered()                                      ─▶ 1
//! ```
//!
//! ```
//! use fozzy_sdk::prelude::*;
//! use std::time::Duration;
//!
//! let slow = http::rule("https://shop.test/orders*").method("POST").delay(Duration::from_secs(2)).responds(201, b"").add();
//! let gone = http::rule("/health").fails(http::Failure::Refused).add();
//! assert_eq!((slow.answered(), gone.answered()), (0, 0), "nobody asked yet");
//! http::clear_rules();
//! ```
//!
//! Requests are the target's own, by whatever client of `wasi:http` it has. A rule of a scenario holds until its sequence
//! ends, and comes before those of the plan. Natively there is none of this: nothing is ever answered.

use crate::host;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

/// How requests are answered from now on: a whole URL, or path and query when it begins with `/`. Without further
/// settings: all of them, at once, with status 200 and no body.
///
/// ```
/// use fozzy_sdk::prelude::*;
/// use std::time::Duration;
///
/// let order = http::rule("https://shop.test/orders*")
///     .method("POST")
///     .header("content-type", "application/*")
///     .times(1)
///     .delay(Duration::from_secs(2))
///     .responds(201, br#"{"id": 7}"#)
///     .response_header("location", "/orders/7")
///     .reset_after(4)
///     .add();
/// assert_eq!(order.answered(), 0, "nobody has ordered");
/// http::clear_rules();
/// ```
pub fn rule(url: &str) -> Rule {
    let answer = Answer::Response { status: 200, headers: Vec::new(), body: Vec::new(), reset_after: None };
    Rule { method: None, url: url.to_owned(), headers: Vec::new(), times: None, delay: Duration::ZERO, answer }
}

/// See [`rule`]: `*` stands for any characters in the URL and in the values of headers.
///
/// ```
/// use fozzy_sdk::http::{Rule, RuleHandle, rule};
///
/// fn down(host: &str) -> Rule { rule(&format!("https://{host}/*")).responds(503, b"") }
///
/// let handle: RuleHandle = down("shop.test").add();
/// assert_eq!(handle.answered(), 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Rule {
    pub(crate) method: Option<String>,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) times: Option<u64>,
    pub(crate) delay: Duration,
    pub(crate) answer: Answer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Response { status: u16, headers: Vec<(String, String)>, body: Vec<u8>, reset_after: Option<u64> },
    Failure(Failure),
}

/// Why there is no response.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let down = http::rule("/health").fails(http::Failure::Refused).add();
/// # let _ = down;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The name of the host is unknown.
    Dns,
    /// The connection is refused.
    Refused,
    /// The connection breaks before the response.
    Reset,
    /// No response within the time that the request allows, or ever.
    Timeout,
}

impl Rule {
    /// Only of this method, in capitals.
    pub fn method(self, method: &str) -> Rule {
        Rule { method: Some(method.to_owned()), ..self }
    }

    /// Only with a header like this.
    pub fn header(mut self, name: &str, value: &str) -> Rule {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The number of requests that it answers at most.
    pub fn times(self, times: u64) -> Rule {
        Rule { times: Some(times), ..self }
    }

    /// The head of the response takes so long.
    pub fn delay(self, delay: Duration) -> Rule {
        Rule { delay, ..self }
    }

    /// By a response of this status, 100 to 999, and this body.
    pub fn responds(self, status: u16, body: &[u8]) -> Rule {
        let answer = Answer::Response { status, headers: Vec::new(), body: body.to_owned(), reset_after: None };
        Rule { answer, ..self }
    }

    /// With a header; of a failure, nothing.
    pub fn response_header(mut self, name: &str, value: &str) -> Rule {
        if let Answer::Response { headers, .. } = &mut self.answer {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// The connection breaks after this many bytes of the body. A failure is not changed.
    pub fn reset_after(mut self, bytes: u64) -> Rule {
        if let Answer::Response { reset_after, .. } = &mut self.answer {
            *reset_after = Some(bytes);
        }
        self
    }

    /// Not by a response.
    pub fn fails(self, failure: Failure) -> Rule {
        Rule { answer: Answer::Failure(failure), ..self }
    }

    /// From now on. Rules are tried in the order in which they were added.
    pub fn add(self) -> RuleHandle {
        RuleHandle(host::add_http_rule(self))
    }
}

/// A rule that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleHandle(u32);

impl RuleHandle {
    /// How many requests it has answered.
    #[must_use]
    pub fn answered(self) -> u64 {
        host::http_rule_answered(self.0)
    }
}

/// Takes back all rules that were added.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// let busy = http::rule("/orders").responds(503, b"").add();
/// // From here on, the server answers again.
/// http::clear_rules();
/// # let _ = busy;
/// ```
pub fn clear_rules() {
    host::clear_http_rules();
}
