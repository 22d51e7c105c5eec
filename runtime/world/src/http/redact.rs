//! Headers that must not stand in a trace.
//!
//! ```text
//! authorization: Bearer abc  ─▶  authorization: <redacted:authorization>
//! ```
//!
//! Invariant: what is redacted depends on the name only, so that a recorded and a replayed call look alike.

use fozzy_trace::observation::HttpBackendRequest;
use fozzy_trace::plan::{REDACTED, RedactionPolicy};

/// The value of a header as it may be recorded.
#[must_use]
pub fn recorded_value(redact: &RedactionPolicy, name: &str, value: &[u8]) -> Vec<u8> {
    match is_secret(redact, name) {
        true => format!("{REDACTED}{}>", name.to_ascii_lowercase()).into_bytes(),
        false => value.to_vec(),
    }
}

/// Headers as they may be recorded.
#[must_use]
pub fn recorded(redact: &RedactionPolicy, headers: &[(String, Vec<u8>)]) -> Vec<(String, Vec<u8>)> {
    headers.iter().map(|(name, value)| (name.clone(), recorded_value(redact, name, value))).collect()
}

/// A question to the real computer as it may be recorded: the real one is asked with the secrets, the recording compared
/// without them.
#[must_use]
pub fn recorded_ask(redact: &RedactionPolicy, ask: &HttpBackendRequest) -> HttpBackendRequest {
    HttpBackendRequest { headers: recorded(redact, &ask.headers), ..ask.clone() }
}

fn is_secret(redact: &RedactionPolicy, name: &str) -> bool {
    redact.headers.iter().any(|secret| secret.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_replaced_by_their_names() {
        let redact = RedactionPolicy::default();
        assert_eq!(recorded_value(&redact, "Authorization", b"Bearer abc"), b"<redacted:authorization>");
        assert_eq!(recorded_value(&redact, "accept", b"a"), b"a");
        let none = RedactionPolicy { headers: Vec::new(), ..RedactionPolicy::default() };
        assert_eq!(recorded_value(&none, "cookie", b"a"), b"a");
    }
}
