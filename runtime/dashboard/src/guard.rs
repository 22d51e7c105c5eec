//! Who is answered, and what stands above each answer.
//!
//! ```text
//! GET /?token=3f2a…     the cookie, and / without the token in its address
//! GET /api/fleet        with the cookie, or `authorization: Bearer 3f2a…`
//! host: evil.example    403: a page of somebody else that has this machine's address
//! ```
//!
//! Invariants: without the token nothing but a word about it is sent; tokens are compared by their digests, so that time tells nothing; only
//! GET and HEAD are answered, so that no page can change anything.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use fozzy_trace::Digest;

/// What a page may load: our own files.
pub(crate) const OWN_PAGE: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                                   connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The page of a run has everything in itself, and is a stranger to ours: it has no cookie, and can ask nothing.
pub(crate) const RUN_PAGE: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                                   img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                                   sandbox allow-scripts";

/// The token of one server.
#[derive(Clone)]
pub(crate) struct Guard {
    digest: Digest,
    port: u16,
}

impl Guard {
    pub(crate) fn new(token: &str, port: u16) -> Guard {
        Guard { digest: Digest::of(token.as_bytes()), port }
    }

    fn knows(&self, token: &str) -> bool {
        Digest::of(token.as_bytes()) == self.digest
    }

    /// Cookies are shared by all ports of a machine, so each has a name of its own.
    fn cookie(&self) -> String {
        format!("fozzy-{}", self.port)
    }

    fn is_own_host(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| host == format!("{name}:{}", self.port))
    }

    fn admits(&self, headers: &HeaderMap) -> bool {
        let texts = |name| headers.get_all(name).iter().filter_map(|value: &HeaderValue| value.to_str().ok());
        let cookies = texts(header::COOKIE).flat_map(|all| all.split(';')).filter_map(|one| one.trim().split_once('='));
        let cookie = self.cookie();
        let mut kept = cookies.filter(|(name, _)| *name == cookie).map(|(_, value)| value);
        let mut said = texts(header::AUTHORIZATION).filter_map(|value| value.strip_prefix("Bearer "));
        kept.any(|token| self.knows(token)) || said.any(|token| self.knows(token))
    }
}

/// Answers, or says why not.
pub(crate) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let mut response = if !guard.is_own_host(request.headers()) {
        refused(StatusCode::FORBIDDEN, "the dashboard is asked by another name than its own")
    } else if !matches!(*request.method(), Method::GET | Method::HEAD) {
        refused(StatusCode::METHOD_NOT_ALLOWED, "the dashboard is only read")
    } else if guard.admits(request.headers()) {
        next.run(request).await
    } else {
        let given = request.uri().query().unwrap_or_default().split('&').find_map(|word| word.strip_prefix("token="));
        match given.filter(|token| guard.knows(token)) {
            Some(token) if request.uri().path() == "/" => welcome(&guard, token),
            Some(_) => refused(StatusCode::UNAUTHORIZED, "the token is for the first page"),
            None => refused(
                StatusCode::UNAUTHORIZED,
                "the dashboard answers those who have its token: open the address that `fozzy` has printed, whole",
            ),
        }
    };
    let headers = response.headers_mut();
    let always = [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    for (name, value) in always {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(OWN_PAGE));
    response
}

fn refused(status: StatusCode, why: &'static str) -> Response {
    (status, format!("{why}\n")).into_response()
}

/// The browser keeps the token, and its address does not.
fn welcome(guard: &Guard, token: &str) -> Response {
    let cookie = format!("{}={token}; HttpOnly; SameSite=Strict; Path=/", guard.cookie());
    (StatusCode::SEE_OTHER, [(header::SET_COOKIE, cookie), (header::LOCATION, "/".to_owned())]).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(rows: &[(header::HeaderName, &str)]) -> HeaderMap {
        rows.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).expect("a value"))).collect()
    }

    #[test]
    fn the_token_is_known_in_its_cookie_and_its_header_alone() {
        let guard = Guard::new("secret", 8080);
        for (name, value, is_known) in [
            (header::COOKIE, "a=b; fozzy-8080=secret", true),
            (header::COOKIE, "fozzy-8080=secret2", false),
            (header::COOKIE, "fozzy-8081=secret", false),
            (header::COOKIE, "fozzy-8080=", false),
            (header::AUTHORIZATION, "Bearer secret", true),
            (header::AUTHORIZATION, "Basic secret", false),
            (header::AUTHORIZATION, "secret", false),
        ] {
            assert_eq!(guard.admits(&headers(&[(name, value)])), is_known, "{value}");
        }
        assert!(!guard.admits(&HeaderMap::new()));
    }

    #[test]
    fn other_names_of_this_machine_are_not_ours() {
        let guard = Guard::new("secret", 8080);
        for (host, is_own) in [
            ("127.0.0.1:8080", true),
            ("localhost:8080", true),
            ("localhost:80", false),
            ("evil.example:8080", false),
            ("127.0.0.1:8080.evil.example", false),
            ("127.0.0.1", false),
        ] {
            assert_eq!(guard.is_own_host(&headers(&[(header::HOST, host)])), is_own, "{host}");
        }
        assert!(!guard.is_own_host(&HeaderMap::new()));
    }
}
