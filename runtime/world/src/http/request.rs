//! Requests, and the timeouts that go with them.
//!
//! Invariant: each field of a request is valid; whether it can be sent is decided when it is
//! ([`OutgoingRequest::into_request`]).

use super::body::BodyId;
use super::error::HttpErrorCode;
use super::fields::HeaderFields;
use super::message::{Method, Scheme};
use fozzy_trace::Duration;

/// Timeout of each kind when the guest sets none, as in wasmtime-wasi-http: ten minutes.
pub const TIMEOUT_DEFAULT: Duration = Duration::from_millis(600_000);

/// `wasi:http/types.outgoing-request`: a request that is put together.
#[derive(Clone, Debug, Default)]
pub struct OutgoingRequest {
    /// `GET` at first.
    pub method: Method,
    /// `None` is `https`.
    pub scheme: Option<Scheme>,
    /// Host and port.
    pub authority: Option<String>,
    /// Path and query.
    pub path_with_query: Option<String>,
    /// They cannot be changed.
    pub headers: HeaderFields,
    /// Once it was taken.
    pub body: Option<BodyId>,
}

/// A request as it is sent.
#[derive(Clone, Debug)]
pub struct SentRequest {
    /// A well-known one is never [`Method::Other`].
    pub method: Method,
    /// `http` or `https`.
    pub scheme: Scheme,
    /// Host and port.
    pub authority: String,
    /// Path and query, which begin with `/`.
    pub path_with_query: String,
    /// As the guest wrote them.
    pub headers: HeaderFields,
    /// `None` is an empty one.
    pub body: Option<BodyId>,
}

/// `wasi:http/types.incoming-request`: a request that a handler was given.
#[derive(Clone, Debug)]
pub struct IncomingRequest {
    /// As it was sent.
    pub request: SentRequest,
    /// Its body, until it is consumed.
    pub body: Option<BodyId>,
}

/// `wasi:http/types.request-options`: how long the guest waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestOptions {
    /// Until a connection is there.
    pub connect_timeout: Option<Duration>,
    /// From the request to the head of the response.
    pub first_byte_timeout: Option<Duration>,
    /// From the head of the response to its body.
    pub between_bytes_timeout: Option<Duration>,
}

impl OutgoingRequest {
    /// A request with these headers.
    #[must_use]
    pub fn new(headers: HeaderFields) -> OutgoingRequest {
        OutgoingRequest { headers: headers.frozen(), ..OutgoingRequest::default() }
    }

    /// The request as it is sent. What is refused is what wasmtime-wasi-http refuses, with its codes.
    ///
    /// # Errors
    /// The answer of `handle`.
    pub fn into_request(self) -> Result<SentRequest, HttpErrorCode> {
        if self.body.is_none() && self.headers.content_length().is_some_and(|length| length != 0) {
            return Err(HttpErrorCode::HttpRequestBodySize(Some(0)));
        }
        let scheme = match self.scheme {
            None => Scheme::Https,
            // Schemes are equal whatever their case (RFC 3986, section 3.1).
            Some(scheme) if scheme.as_str().eq_ignore_ascii_case("http") => Scheme::Http,
            Some(scheme) if scheme.as_str().eq_ignore_ascii_case("https") => Scheme::Https,
            Some(_) => return Err(HttpErrorCode::HttpProtocolError),
        };
        let authority = self.authority.ok_or(HttpErrorCode::HttpRequestUriInvalid)?;
        let path = self.path_with_query.ok_or(HttpErrorCode::HttpProtocolError)?;
        let path = path.split('#').next().unwrap_or_default();
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(SentRequest {
            method: self.method.received(),
            scheme,
            authority,
            path_with_query: format!("{slash}{path}"),
            headers: self.headers,
            body: self.body,
        })
    }
}

impl SentRequest {
    /// The port where the authority names none.
    #[must_use]
    pub fn default_port(&self) -> u16 {
        if self.scheme == Scheme::Http { 80 } else { 443 }
    }

    /// Scheme, authority, path and query. The host is in small letters, since its case means nothing.
    #[must_use]
    pub fn url(&self) -> String {
        let host = self.authority.rfind('@').map_or(0, |at| at + 1);
        let (user, host) = self.authority.split_at(host);
        format!("{}://{user}{}{}", self.scheme.as_str(), host.to_ascii_lowercase(), self.path_with_query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(scheme: Option<Scheme>, authority: &str, path: &str) -> OutgoingRequest {
        let (authority, path_with_query) = (Some(authority.to_owned()), Some(path.to_owned()));
        OutgoingRequest { scheme, authority, path_with_query, ..OutgoingRequest::new(HeaderFields::default()) }
    }

    #[test]
    fn a_request_has_one_url() {
        let url = |request: OutgoingRequest| request.into_request().map(|request| request.url());
        assert_eq!(url(to(None, "API.test", "/a?b")), Ok("https://api.test/a?b".to_owned()));
        assert_eq!(url(to(Some(Scheme::Http), "Me@API.test:80", "?b#c")), Ok("http://Me@api.test:80/?b".to_owned()));
        assert_eq!(url(to(Some(Scheme::Other("HTTP".to_owned())), "a", "/")), Ok("http://a/".to_owned()));
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        let refused = |request: OutgoingRequest| request.into_request().expect_err("refused");
        let ftp = Some(Scheme::Other("ftp".to_owned()));
        assert_eq!(refused(to(ftp, "a", "/")), HttpErrorCode::HttpProtocolError);
        assert_eq!(
            refused(OutgoingRequest { authority: None, ..to(None, "", "/") }),
            HttpErrorCode::HttpRequestUriInvalid
        );
        assert_eq!(
            refused(OutgoingRequest { path_with_query: None, ..to(None, "a", "") }),
            HttpErrorCode::HttpProtocolError
        );
        let headers = HeaderFields::from_list([("content-length".to_owned(), b"1".to_vec())]).expect("valid");
        assert_eq!(
            refused(OutgoingRequest { headers, ..to(None, "a", "/") }),
            HttpErrorCode::HttpRequestBodySize(Some(0))
        );
    }
}
