//! Real HTTP: one request on one connection, and the whole response.
//!
//! ```text
//! Ask ──secrets in──▶ resolve, connect, TLS ──▶ send ──▶ head ──▶ body ──placeholders in──▶ Answer
//!                     └────────── until the ask's timeout ─────┘   └─ until HTTP_TIME_MAX
//! ```
//!
//! HTTP/1.1 (RFC 9112), and exactly what the guest asked: redirects are answers, bodies stay compressed as they
//! came, no header is added but `host`, `content-length` and `connection: close`, none is taken from a settings
//! file or the environment, and there is no proxy. Headers that concern one connection and not the message
//! (RFC 9110, section 7.6.1) are ours in both directions.
//!
//! What cannot be an answer is a failure: `dns` for a name without address, `refused` when no server can be connected
//! to, `timeout` for silence, and `reset` for everything after which we hang up: a broken connection, a failed TLS
//! handshake, something that is no HTTP, a request that cannot be written as one, and a response beyond
//! [`HTTP_BODY_BYTES_MAX`] or [`HTTP_HEAD_BYTES_MAX`]. A body that breaks off keeps what came of it (`cut`).
//!
//! Invariants: every wait has a deadline; memory is bounded; a header's bytes are the server's, in its order.
//! Not here: HTTP/2, connections for several requests (each observation stands for itself), trailers (read over).

mod connection;
mod response;
#[cfg(all(test, target_os = "linux"))]
mod tests;
mod url;

use crate::LiveError;
use crate::deadline::{AnswerTimer, Deadline};
use crate::secrets::{SecretRevealer, Secrets};
use connection::HttpConnection;
use fozzy_trace::observation::{HttpBackendRequest, HttpBackendResponse};
use fozzy_trace::plan::{HttpFailure, Inputs, LivePolicy};
use fozzy_world::live_bounds::allows_host;
use response::{ResponseHead, read_body, read_head};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// Bytes of a response's body. It stands in the trace whole; beyond it we hang up, and the answer is `reset`.
pub const HTTP_BODY_BYTES_MAX: usize = 64 << 20;
/// Bytes of a response's status line and headers together; beyond it we hang up, and the answer is `reset`.
pub const HTTP_HEAD_BYTES_MAX: usize = 256 << 10;
/// Headers of a response; beyond it we hang up, and the answer is `reset`.
pub const HTTP_HEADERS_MAX: usize = 1024;
/// Time until the head of the response, where the ask allows more or says nothing; then the answer is `timeout`.
pub const HTTP_HEAD_TIME_MAX: Duration = Duration::from_secs(60);
/// Time of the whole exchange; then the body is cut where it is.
pub const HTTP_TIME_MAX: Duration = Duration::from_secs(300);

/// Headers of one connection, in small letters: not passed on, in neither direction.
const HOP_BY_HOP: [&str; 7] =
    ["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"];

/// See the module.
pub(crate) struct HttpBackend {
    tls: Arc<ClientConfig>,
    bounds: Bounds,
    policy: LivePolicy,
    /// Whether servers that may be asked are given secrets.
    is_trusted: bool,
    /// How long the head of the last response took, if there was one.
    head_took: Cell<Option<fozzy_trace::Duration>>,
}

/// The constants above, except in tests.
#[derive(Clone, Copy)]
struct Bounds {
    body: usize,
    head: usize,
    head_time: Duration,
    time: Duration,
}

impl HttpBackend {
    /// A client that trusts Mozilla's certificates and these, and asks whom `policy` allows.
    ///
    /// # Errors
    /// For a certificate that is none.
    pub(crate) fn new(certificates: &[Vec<u8>], policy: &LivePolicy) -> Result<HttpBackend, LiveError> {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        for (index, certificate) in certificates.iter().enumerate() {
            let added = roots.add(CertificateDer::from(certificate.as_slice()));
            added.map_err(|error| LiveError::Certificate { index, problem: error.to_string() })?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring knows the versions that are built in")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let bounds = Bounds {
            body: HTTP_BODY_BYTES_MAX,
            head: HTTP_HEAD_BYTES_MAX,
            head_time: HTTP_HEAD_TIME_MAX,
            time: HTTP_TIME_MAX,
        };
        // Who bounds commands alone has trusted no host with anything.
        let is_trusted = policy.hosts.is_some() || policy.commands.is_none();
        Ok(HttpBackend { tls: Arc::new(tls), bounds, policy: policy.clone(), is_trusted, head_took: Cell::new(None) })
    }

    /// How long the head of the last response took, if there was one.
    pub(crate) fn head_took(&self) -> Option<fozzy_trace::Duration> {
        self.head_took.get()
    }

    /// Performs one request.
    ///
    /// # Errors
    /// One sentence, when the ask names bytes that are not there or the response has too many secrets.
    pub(crate) fn answer(
        &self,
        ask: &HttpBackendRequest,
        secrets: &mut Secrets,
        bytes: &mut Inputs,
    ) -> Result<Result<HttpBackendResponse, HttpFailure>, String> {
        let body = bytes.get(&ask.body).ok_or("the body of a live request is not among the inputs")?;
        let (mut head, body, cut) = match self.exchange(ask, &body, secrets.revealing(self.is_trusted)) {
            Ok(response) => response,
            Err(failure) => return Ok(Err(failure)),
        };
        head.headers.retain(|(name, _)| !HOP_BY_HOP.contains(&name.as_str()));
        secrets.hide_headers(&mut head.headers)?;
        let body = match secrets.hide(&body) {
            Cow::Borrowed(_) => bytes.add(body),
            Cow::Owned(hidden) => {
                // The guest counts the bytes that it gets, not those that the server sent.
                for (_, value) in head.headers.iter_mut().filter(|(name, _)| name == "content-length" && !cut) {
                    *value = hidden.len().to_string().into_bytes();
                }
                bytes.add(hidden)
            }
        };
        Ok(Ok(HttpBackendResponse { status: head.status, headers: head.headers, body, cut }))
    }

    fn exchange(
        &self,
        ask: &HttpBackendRequest,
        body: &[u8],
        secrets: SecretRevealer<'_>,
    ) -> Result<(ResponseHead, Vec<u8>, bool), HttpFailure> {
        let watch = AnswerTimer::start();
        self.head_took.set(None);
        let mut url = Url::parse(&ask.url).ok_or(HttpFailure::Reset)?;
        // Not in the host: the lookup of a name is visible to everybody on the way.
        url.target = secrets.text(&url.target);
        if url.target.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return Err(HttpFailure::Reset);
        }
        // The world has asked the same of the guest's words; here it is asked of what is connected to.
        if !allows_host(&self.policy, &url.authority, url.port) {
            return Err(HttpFailure::Refused);
        }
        let request = request(ask, &url, &secrets.bytes(body), secrets).ok_or(HttpFailure::Reset)?;
        let asked = ask.timeout.map_or(self.bounds.head_time, |time| Duration::from_nanos(time.0));
        let all = Deadline::after(self.bounds.time);
        let until_head = Deadline::after(asked.min(self.bounds.head_time)).or_earlier(all);
        // What a server may say before it reads: no more than a whole response.
        let mut line = HttpConnection::connect(&url, &self.tls, self.bounds.body + self.bounds.head, until_head)?;
        line.send(&request, until_head)?;
        let head = read_head(&mut line, self.bounds.head, until_head)?;
        self.head_took.set(Some(watch.elapsed()));
        let (body, cut) = read_body(&mut line, &ask.method, &head, self.bounds.body, all)?;
        Ok((head, body, cut))
    }
}

/// The request as it is written; `None` if it cannot be.
fn request(ask: &HttpBackendRequest, url: &Url, body: &[u8], secrets: SecretRevealer<'_>) -> Option<Vec<u8>> {
    if !is_token(&ask.method) {
        return None;
    }
    let mut text = format!("{} {} HTTP/1.1\r\nhost: {}\r\n", ask.method, url.target, url.authority).into_bytes();
    for (name, value) in &ask.headers {
        let name = name.to_ascii_lowercase();
        // `expect` asks to be told before the body is sent, and here it is sent anyway.
        let ours = HOP_BY_HOP.contains(&name.as_str()) || ["host", "content-length", "expect"].contains(&name.as_str());
        if ours {
            continue;
        }
        let value = secrets.header(value);
        if !is_token(&name) || value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
            return None;
        }
        text.extend_from_slice(name.as_bytes());
        text.extend_from_slice(b": ");
        text.extend_from_slice(&value);
        text.extend_from_slice(b"\r\n");
    }
    // RFC 9110, section 8.6: said of methods that are expected to have a body even where it is empty.
    if !body.is_empty() || ["POST", "PUT", "PATCH"].contains(&ask.method.as_str()) {
        text.extend_from_slice(format!("content-length: {}\r\n", body.len()).as_bytes());
    }
    text.extend_from_slice(b"connection: close\r\n\r\n");
    text.extend_from_slice(body);
    Some(text)
}

/// RFC 9110, section 5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
