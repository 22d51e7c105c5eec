//! Scripted HTTP: which request gets which answer.
//!
//! ```text
//! POST https://api.test/orders ──first rule that matches and is not used up──▶ 201, or a failure
//! ```
//!
//! Rules are tried in their order. A request that none matches is a finding.

use super::{OtherReplies, ProgramPlan};
use crate::{Digest, Duration};
use serde::{Deserialize, Serialize};

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HttpRule {
    /// Method, in capitals; `None` is any.
    pub method: Option<String>,
    /// Whole URL, or the path and query when it begins with `/`; `*` stands for any characters.
    pub url: String,
    /// Headers that the request must have: names in small letters, values with `*`.
    pub headers: Vec<(String, String)>,
    /// How many requests it answers; `None` is all.
    pub times: Option<u64>,
    /// Virtual time from the request to the head of the response.
    pub delay: Duration,
    /// What it answers.
    pub answer: HttpReply,
    /// Further answers, one of which may be given instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<Box<OtherReplies<HttpReply>>>,
}

impl HttpRule {
    /// All answers, the first one first.
    pub fn answers(&self) -> impl Iterator<Item = &HttpReply> {
        let others = self.others.iter().flat_map(|others| &others.replies);
        std::iter::once(&self.answer).chain(others.map(|reply| &reply.answer))
    }

    /// The same, to be changed.
    pub fn answers_mut(&mut self) -> impl Iterator<Item = &mut HttpReply> {
        let others = self.others.iter_mut().flat_map(|others| &mut others.replies);
        std::iter::once(&mut self.answer).chain(others.map(|reply| &mut reply.answer))
    }
}

/// What a rule answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub enum HttpReply {
    /// A response.
    #[serde(rename_all = "camelCase")]
    Response {
        /// 100 to 999.
        status: u16,
        /// Names in small letters.
        headers: Vec<(String, String)>,
        /// The body.
        body: Digest,
        /// The connection breaks after this many bytes of the body.
        reset_after: Option<u64>,
    },
    /// No response.
    Failure(HttpFailure),
    /// A component that exports `wasi:http/incoming-handler` answers, each request in an instance of its own.
    Component(ProgramPlan),
}

/// Why there is no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HttpFailure {
    /// The name of the host is unknown.
    Dns,
    /// The connection is refused.
    Refused,
    /// The connection breaks before the response.
    Reset,
    /// No response within the time that the request allows, or ever.
    Timeout,
}
