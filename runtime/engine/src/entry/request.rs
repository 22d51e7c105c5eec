//! An HTTP request out of any bytes: it is read as a person would write one.
//!
//! ```text
//! POST /orders?open          method and path; without a space it is the path of a GET
//! content-type: text/plain   headers, until an empty line
//!
//! any bytes                  the body; its length is a header, as servers pass it on
//! ```
//!
//! So inputs can be read, written and kept as text, and whatever a handler compares can be put where it stands.
//!
//! Invariants: all bytes give a request that a server can pass on; none give `GET /`.
//! Not here: what a handler makes of it (`fozzy-world`).

use fozzy_host::{DrawSource, wave};
use fozzy_world::http::request::SentRequest;
use fozzy_world::http::{HeaderFields, Method, Scheme, message};
use std::sync::Arc;

/// Bytes of a request that is drawn.
const BYTES_MAX: u64 = 1 << 20;
/// Headers of a request. More lines are left out.
const HEADERS_MAX: usize = 64;
/// The site of the question how long it is, as of `typed`.
const REST: &str = "rest";

/// A request that was drawn.
#[derive(Clone)]
pub(crate) struct GeneratedRequest {
    pub(crate) request: SentRequest,
    pub(crate) body: Arc<[u8]>,
}

/// A request, and what it looks like.
pub(crate) fn draw(draws: &mut dyn DrawSource) -> (GeneratedRequest, String) {
    let mut bytes = vec![0; draws.below(REST, BYTES_MAX + 1) as usize];
    if !bytes.is_empty() {
        draws.fill("bytes", &mut bytes);
    }
    let drawn = read(&bytes);
    let text = written(&drawn);
    (drawn, text)
}

fn read(bytes: &[u8]) -> GeneratedRequest {
    let mut rest = bytes;
    let first = line(&mut rest);
    let mut words = first.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let (method, path_with_query) = match (words.next(), words.next()) {
        (Some(method), Some(wanted)) => (method, path(wanted)),
        (only, _) => (&b"GET"[..], path(only.unwrap_or_default())),
    };
    let mut headers = Vec::new();
    while !rest.is_empty() {
        let header = line(&mut rest);
        if header.is_empty() {
            break;
        }
        let Some(colon) = header.iter().position(|byte| *byte == b':') else { continue };
        let name = String::from_utf8_lossy(&header[..colon]).trim().to_ascii_lowercase();
        if headers.len() < HEADERS_MAX && name != "content-length" {
            headers.push((name, header[colon + 1..].trim_ascii().to_vec()));
        }
    }
    if !rest.is_empty() {
        headers.push(("content-length".to_owned(), rest.len().to_string().into_bytes()));
    }
    let method = Method::Other(String::from_utf8_lossy(method).into_owned());
    let method = if method.is_valid() { method.received() } else { Method::Get };
    let (scheme, authority) = (Scheme::Http, "localhost".to_owned());
    let headers = HeaderFields::received(headers);
    GeneratedRequest {
        request: SentRequest { method, scheme, authority, path_with_query, headers, body: None },
        body: rest.into(),
    }
}

/// The next line, without its end.
fn line<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let all = *rest;
    let end = all.iter().position(|byte| *byte == b'\n').unwrap_or(all.len());
    *rest = all.get(end + 1..).unwrap_or_default();
    all[..end].strip_suffix(b"\r").unwrap_or(&all[..end])
}

/// Any bytes as a path with query: it begins with a slash, and what cannot stand in one is escaped.
fn path(bytes: &[u8]) -> String {
    let mut path = String::from("/");
    let bytes = bytes.strip_prefix(b"/").unwrap_or(bytes);
    for byte in bytes {
        let before = path.len();
        if byte.is_ascii() && *byte != b'#' {
            path.push(char::from(*byte));
            if message::is_path_with_query(&path) {
                continue;
            }
            path.truncate(before);
        }
        path.push_str(&format!("%{byte:02x}"));
    }
    path
}

fn written(GeneratedRequest { request, body }: &GeneratedRequest) -> String {
    let mut out = format!("{{method: {}, path: ", request.method.as_str().to_ascii_lowercase());
    wave::text(&mut out, &request.path_with_query);
    out.push_str(", headers: [");
    for (place, (name, value)) in request.headers.entries().iter().enumerate() {
        out.push_str(if place > 0 { ", (" } else { "(" });
        wave::text(&mut out, name);
        out.push_str(", ");
        wave::text(&mut out, &String::from_utf8_lossy(value));
        out.push(')');
    }
    out.push_str("], body: ");
    wave::text(&mut out, &String::from_utf8_lossy(body));
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        written(&read(bytes))
    }

    #[test]
    fn no_bytes_are_the_simplest_request() {
        assert_eq!(text(b""), "{method: get, path: \"/\", headers: [], body: \"\"}");
        assert_eq!(text(b"/a"), "{method: get, path: \"/a\", headers: [], body: \"\"}");
    }

    #[test]
    fn any_bytes_are_a_request_that_can_be_passed_on() {
        let all = b"POST a?\x01#\xff/b HTTP/1.1\r\nA: b\nno header\n\xff: c\ncontent-length: 99\n\nh\0i";
        let headers = "[(\"a\", \"b\"), (\"content-length\", \"3\")]";
        let expected = format!("{{method: post, path: \"/a?%01%23%ff/b\", headers: {headers}, body: \"h\\u{{0}}i\"}}");
        assert_eq!(text(all), expected);
        assert!(message::is_path_with_query(&read(all).request.path_with_query));
        assert!(text(b"\x01\x02 / x").starts_with("{method: get, path: \"/\""));
    }
}
