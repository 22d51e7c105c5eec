//! Methods, schemes, authorities and paths: what is valid in a request's first line.
//!
//! ```text
//! POST   https   ://  api.test:8443   /orders?open
//! method scheme       authority       path-with-query
//! ```
//!
//! Invariant: what is accepted here is what the `http` crate accepts, on which the reference builds.

use super::fields::is_token;

/// Longest authority or path with query, in bytes, as in the `http` crate; a longer one is no valid syntax.
const URI_BYTES_MAX: usize = u16::MAX as usize - 1;
/// Longest name of a scheme, in bytes, as in the `http` crate.
const SCHEME_BYTES_MAX: usize = 64;
/// Colons that an authority may have: those of an IPv6 address with a port.
const COLONS_MAX: usize = 8;

/// `wasi:http/types.method`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the cases of the WIT, where the documentation is")]
pub enum Method {
    #[default]
    Get,
    Head,
    Post,
    Put,
    Delete,
    Connect,
    Options,
    Trace,
    Patch,
    Other(String),
}

/// `wasi:http/types.scheme`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the cases of the WIT, where the documentation is")]
pub enum Scheme {
    Http,
    Https,
    Other(String),
}

impl Method {
    /// As it stands in a request.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Delete => "DELETE",
            Method::Connect => "CONNECT",
            Method::Options => "OPTIONS",
            Method::Trace => "TRACE",
            Method::Patch => "PATCH",
            Method::Other(name) => name,
        }
    }

    /// Whether it is a token (RFC 9110, section 9.1).
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let name = self.as_str();
        !name.is_empty() && name.bytes().all(is_token)
    }

    /// The same method as a receiver sees it: a well-known name is never [`Method::Other`].
    #[must_use]
    pub fn received(&self) -> Method {
        const KNOWN: [Method; 9] = [
            Method::Get,
            Method::Head,
            Method::Post,
            Method::Put,
            Method::Delete,
            Method::Connect,
            Method::Options,
            Method::Trace,
            Method::Patch,
        ];
        KNOWN.into_iter().find(|known| known.as_str() == self.as_str()).unwrap_or_else(|| self.clone())
    }
}

impl Scheme {
    /// As it stands in a URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
            Scheme::Other(name) => name,
        }
    }

    /// Whether it has the characters of a scheme.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let valid = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.~".contains(&byte);
        let name = self.as_str();
        name.len() <= SCHEME_BYTES_MAX && name.bytes().all(valid)
    }
}

/// Whether `text` is an authority: user information, host and port (RFC 3986, section 3.2).
#[must_use]
pub fn is_authority(text: &str) -> bool {
    let (mut colons, mut open, mut closed, mut percent, mut at) = (0, false, false, false, None);
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            // What is escaped belongs to the user information; it must not stand in a host.
            b'%' => percent = true,
            b':' if colons == COLONS_MAX => return false,
            b':' => colons += 1,
            b'[' if percent || open => return false,
            b'[' => open = true,
            b']' if !open || closed => return false,
            b']' => (closed, colons, percent) = (true, 0, false),
            b'@' => (at, colons, percent) = (Some(i), 0, false),
            _ if byte.is_ascii_alphanumeric() || b"!$&'()*+,-.;=_~".contains(&byte) => {}
            _ => return false,
        }
    }
    let host_is_empty = at.is_some_and(|at| at + 1 == text.len());
    !text.is_empty() && open == closed && colons <= 1 && !host_is_empty && !percent
}

/// Whether `text` is a path with query (RFC 3986, sections 3.3 and 3.4), more liberal in its characters as browsers are.
#[must_use]
pub fn is_path_with_query(text: &str) -> bool {
    if text.len() > URI_BYTES_MAX || !text.starts_with(['/', '?']) {
        return false;
    }
    // What follows `#` is never sent.
    let text = text.split('#').next().unwrap_or_default();
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    let in_path = |byte: u8| matches!(byte, b'!' | 0x24..=0x3B | b'=' | 0x40..=0x5F | 0x61..=0x7A | b'|' | b'~' | b'"' | b'{' | b'}' | 0x80..);
    let in_query = |byte: u8| matches!(byte, b'!' | 0x24..=0x3B | b'=' | 0x3F..=0x7E | 0x80..);
    path.bytes().all(in_path) && query.bytes().all(in_query)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::http::uri::{Authority, PathAndQuery};
    use std::str::FromStr;

    /// All strings of up to four of these, some hundred thousand.
    fn strings(of: &str) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..4 {
            last = last.iter().flat_map(|head| of.chars().map(move |c| format!("{head}{c}"))).collect();
            all.extend(last.iter().cloned());
        }
        all
    }

    #[test]
    fn an_authority_is_what_the_http_crate_takes() {
        for text in strings("a:@[]%/é.? 1") {
            assert_eq!(is_authority(&text), Authority::from_str(&text).is_ok(), "{text:?}");
        }
        for text in ["[::1]:80", "[FEDC:BA98:7654:3210:FEDC:BA98:7654:3210]:80", "u%40:p@h:1", "a:b:c", "::::::::"] {
            assert_eq!(is_authority(text), Authority::from_str(text).is_ok(), "{text:?}");
        }
        for byte in 0..128u8 {
            let text = format!("a{}", char::from(byte));
            assert_eq!(is_authority(&text), Authority::from_str(&text).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn a_path_is_what_the_http_crate_takes_after_a_slash() {
        let theirs = |text: &str| text.starts_with(['/', '?']) && PathAndQuery::from_str(text).is_ok();
        for text in strings("/?#a %*é\"") {
            assert_eq!(is_path_with_query(&text), theirs(&text), "{text:?}");
        }
        for byte in 0..128u8 {
            for text in [format!("/{}", char::from(byte)), format!("/?{}", char::from(byte))] {
                assert_eq!(is_path_with_query(&text), theirs(&text), "{text:?}");
            }
        }
        for length in [65_533, 65_534, 65_535] {
            let text = format!("/{}", "a".repeat(length - 1));
            assert_eq!(is_path_with_query(&text), theirs(&text), "{length}");
        }
    }

    #[test]
    fn methods_and_schemes_are_what_the_http_crate_takes() {
        for byte in 0..128u8 {
            for text in [char::from(byte).to_string(), format!("A{}", char::from(byte))] {
                let method = Method::Other(text.clone());
                assert_eq!(method.is_valid(), ::http::Method::from_str(&text).is_ok(), "{text:?}");
                let scheme = Scheme::Other(text.clone());
                assert_eq!(scheme.is_valid(), ::http::uri::Scheme::from_str(&text).is_ok(), "{text:?}");
            }
        }
        for length in [0, 64, 65] {
            let text = "a".repeat(length);
            let valid = Scheme::Other(text.clone()).is_valid();
            assert_eq!(valid, ::http::uri::Scheme::from_str(&text).is_ok(), "{length}");
        }
        assert!(!Method::Other(String::new()).is_valid());
        assert_eq!(Method::Other("PUT".to_owned()).received(), Method::Put);
        assert_eq!(Method::Other("put".to_owned()).received(), Method::Other("put".to_owned()));
    }
}
