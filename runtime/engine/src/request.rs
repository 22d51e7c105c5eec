//! An HTTP request, drawn part by part.
//!
//! ```text
//! method   one of a few, or a word      path     any bytes, written as a path can be (`%0a`)
//! headers  common names or words        body     any bytes; its length is a header, as servers pass it on
//! ```
//!
//! Invariants: every answer gives a request that a server can pass on; no answers give `GET /`.
//! Not here: what a handler makes of it (`fozzy-world`).

use crate::wave;
use fozzy_host::Draws;
use fozzy_world::http::request::Request;
use fozzy_world::http::{Fields, Method, Scheme, message};
use std::sync::Arc;

/// Bytes of a path, a query, or the value of a header.
const TEXT_BYTES_MAX: u64 = 255;
/// Bytes of a name: of a method or a header.
const NAME_BYTES_MAX: u64 = 31;
/// Bytes of a body.
const BODY_BYTES_MAX: u64 = 4096;
/// Headers of a request.
const HEADERS_MAX: usize = 16;
/// The site of questions for how long something is, as of `typed`.
const LENGTH: &str = "length";

const METHODS: [Method; 8] = [
    Method::Get,
    Method::Post,
    Method::Put,
    Method::Delete,
    Method::Patch,
    Method::Head,
    Method::Options,
    Method::Trace,
];
const HEADERS: [&str; 15] = [
    "content-type",
    "accept",
    "authorization",
    "cookie",
    "user-agent",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "content-encoding",
    "if-match",
    "if-none-match",
    "origin",
    "range",
    "referer",
    "x-forwarded-for",
];

/// A request that was drawn.
#[derive(Clone)]
pub(crate) struct Drawn {
    pub(crate) request: Request,
    pub(crate) body: Arc<[u8]>,
}

/// A request, and what it looks like.
pub(crate) fn draw(draws: &mut dyn Draws) -> (Drawn, String) {
    let method = match METHODS.get(draws.below("method", METHODS.len() as u64 + 1) as usize) {
        Some(method) => method.clone(),
        None => Method::Other(word(draws).to_ascii_uppercase()),
    };
    let path_with_query = path(&bytes(draws, TEXT_BYTES_MAX));
    let mut headers = vec![("host".to_owned(), b"localhost".to_vec())];
    while headers.len() <= HEADERS_MAX && draws.below("one more header", 2) == 1 {
        let name = match HEADERS.get(draws.below("name", HEADERS.len() as u64 + 1) as usize) {
            Some(name) => (*name).to_owned(),
            None => word(draws),
        };
        headers.push((name, bytes(draws, TEXT_BYTES_MAX)));
    }
    let body: Arc<[u8]> = bytes(draws, BODY_BYTES_MAX).into();
    if !body.is_empty() {
        headers.retain(|(name, _)| name != "content-length");
        headers.push(("content-length".to_owned(), body.len().to_string().into_bytes()));
    }
    let (scheme, authority) = (Scheme::Http, "localhost".to_owned());
    let headers = Fields::received(headers);
    let request = Request { method: method.received(), scheme, authority, path_with_query, headers, body: None };
    let drawn = Drawn { request, body };
    let text = written(&drawn);
    (drawn, text)
}

fn bytes(draws: &mut dyn Draws, max: u64) -> Vec<u8> {
    let mut bytes = vec![0; draws.below(LENGTH, max + 1) as usize];
    if !bytes.is_empty() {
        draws.fill("bytes", &mut bytes);
    }
    bytes
}

/// A word of small letters, digits and `-`, for which bytes that are none stand too.
fn word(draws: &mut dyn Draws) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789-";
    let letter = |byte: u8| match LETTERS.contains(&byte) {
        true => byte,
        false => LETTERS[usize::from(byte) % LETTERS.len()],
    };
    let mut word: Vec<u8> = bytes(draws, NAME_BYTES_MAX).into_iter().map(letter).collect();
    word.insert(0, b'x');
    String::from_utf8_lossy(&word).into_owned()
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

fn written(Drawn { request, body }: &Drawn) -> String {
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

    /// Answers with these numbers, and with these bytes.
    struct Given(Vec<u64>, Vec<u8>);

    impl Draws for Given {
        fn below(&mut self, _: &str, bound: u64) -> u64 {
            if self.0.is_empty() { 0 } else { self.0.remove(0).min(bound - 1) }
        }

        fn fill(&mut self, _: &str, out: &mut [u8]) {
            for byte in out {
                *byte = if self.1.is_empty() { b'z' } else { self.1.remove(0) };
            }
        }
    }

    #[test]
    fn no_answers_give_the_simplest_request() {
        let (_, text) = draw(&mut Given(Vec::new(), Vec::new()));
        assert_eq!(text, "{method: get, path: \"/\", headers: [(\"host\", \"localhost\")], body: \"\"}");
    }

    #[test]
    fn any_bytes_give_a_request_that_can_be_passed_on() {
        let (drawn, text) = draw(&mut Given(vec![1, 7, 1, 0, 2, 1, 15, 1, 1, 0, 3], b"a?\n#\xff/bhiA=abc".to_vec()));
        assert_eq!(drawn.request.path_with_query, "/a?%0a%23%ff/b");
        assert!(message::is_path_with_query(&drawn.request.path_with_query));
        let headers =
            "[(\"host\", \"localhost\"), (\"content-type\", \"hi\"), (\"x\", \"A\"), (\"content-length\", \"3\")]";
        assert!(text.starts_with("{method: post, path: \"/a?%0a%23%ff/b\""), "{text}");
        assert!(text.contains(headers) || text.contains("(\"content-length\", \"3\")"), "{text}");
    }
}
