//! Reading a response: its head, and then its body by whichever of the three framings it has (RFC 9112, section 6.3).
//!
//! ```text
//! HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n  5\r\nhello\r\n 0\r\n\r\n      Head, b"hello", whole
//! HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n           hello<end>                 Head, b"hello", cut
//! ```
//!
//! Invariants: invalid HTTP is a failure before the body and a cut in it; nothing is allocated because of a
//! length that a server merely claims.

use super::connection::HttpConnection;
use super::{HTTP_HEAD_BYTES_MAX, HTTP_HEADERS_MAX};
use crate::deadline::Deadline;
use fozzy_trace::plan::HttpFailure;

/// Responses before the final one (100, 103) that are read over; one more is no HTTP.
const INTERIM_MAX: usize = 16;
/// Bytes of the line that tells a chunk's size; a longer one is no HTTP.
const CHUNK_LINE_BYTES_MAX: usize = 4096;

/// Status and headers.
#[derive(Debug)]
pub(super) struct ResponseHead {
    pub(super) status: u16,
    /// Names in small letters.
    pub(super) headers: Vec<(String, Vec<u8>)>,
}

impl ResponseHead {
    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.headers.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.as_slice())
    }
}

/// How the end of a body is known.
#[derive(Debug, PartialEq, Eq)]
enum BodyFraming {
    Length(u64),
    Chunked,
    /// The server hangs up.
    Close,
}

/// Reads up to the end of the final head.
pub(super) fn read_head(
    line: &mut HttpConnection,
    max: usize,
    deadline: Deadline,
) -> Result<ResponseHead, HttpFailure> {
    for _ in 0..=INTERIM_MAX {
        let mut searched = 0;
        let end = loop {
            if let Some(end) = head_end(line.input(), searched) {
                break end;
            }
            searched = line.input().len();
            if searched > max || !line.more(deadline)? {
                return Err(HttpFailure::Reset);
            }
        };
        if end > max {
            return Err(HttpFailure::Reset);
        }
        let head = parse_head(&line.input()[..end]).ok_or(HttpFailure::Reset)?;
        line.take(end);
        if !(100..200).contains(&head.status) || head.status == 101 {
            return Ok(head);
        }
    }
    Err(HttpFailure::Reset)
}

/// Where the empty line after the headers ends, if it is there. The first `searched` bytes have none in them.
fn head_end(input: &[u8], searched: usize) -> Option<usize> {
    (searched.saturating_sub(3)..input.len()).find_map(|at| match &input[at..] {
        [b'\n', b'\n', ..] => Some(at + 2),
        [b'\n', b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    })
}

fn parse_head(bytes: &[u8]) -> Option<ResponseHead> {
    let mut headers = vec![httparse::EMPTY_HEADER; HTTP_HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    if !response.parse(bytes).ok()?.is_complete() {
        return None;
    }
    let status = response.code.filter(|status| (100..=999).contains(status))?;
    let header = |header: &httparse::Header<'_>| (header.name.to_ascii_lowercase(), header.value.to_vec());
    Some(ResponseHead { status, headers: response.headers.iter().map(header).collect() })
}

/// How the body of a response to `method` ends; `None` if the head contradicts itself.
fn framing(method: &str, head: &ResponseHead) -> Option<BodyFraming> {
    let status = head.status;
    if method == "HEAD" || status == 204 || status == 304 || status < 200 || (method == "CONNECT" && status < 300) {
        return Some(BodyFraming::Length(0));
    }
    if let Some(last) = head.all("transfer-encoding").last() {
        let last = last.rsplit(|byte| *byte == b',').next().unwrap_or(last).trim_ascii();
        return Some(if last.eq_ignore_ascii_case(b"chunked") { BodyFraming::Chunked } else { BodyFraming::Close });
    }
    // One length, or the same one several times.
    let mut lengths = head.all("content-length").flat_map(|value| value.split(|byte| *byte == b',')).map(digits);
    match lengths.next() {
        None => Some(BodyFraming::Close),
        Some(first) => lengths.all(|other| other == first).then_some(BodyFraming::Length(first?)),
    }
}

fn digits(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text.trim_ascii()).ok()?;
    let length = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    // `u64::MAX` means no length.
    length.filter(|length| *length < u64::MAX)
}

/// Reads the body, and whether it broke off.
pub(super) fn read_body(
    line: &mut HttpConnection,
    method: &str,
    head: &ResponseHead,
    max: usize,
    deadline: Deadline,
) -> Result<(Vec<u8>, bool), HttpFailure> {
    let mut body = Body { line, bytes: Vec::new(), max, deadline };
    let whole = match framing(method, head).ok_or(HttpFailure::Reset)? {
        BodyFraming::Length(length) => body.read(length)?,
        BodyFraming::Chunked => body.read_chunks()?,
        BodyFraming::Close => {
            while body.read(u64::MAX)? {}
            body.line.is_whole()
        }
    };
    Ok((body.bytes, !whole))
}

struct Body<'a> {
    line: &'a mut HttpConnection,
    bytes: Vec<u8>,
    max: usize,
    deadline: Deadline,
}

impl Body<'_> {
    /// Moves `length` bytes of the input to the body; `false` if it ends before.
    fn read(&mut self, mut length: u64) -> Result<bool, HttpFailure> {
        // A length that is too large is not waited for, unless it means no length.
        if length != u64::MAX && length > (self.max - self.bytes.len()) as u64 {
            return Err(HttpFailure::Reset);
        }
        while length > 0 {
            let count = self.line.input().len().min(usize::try_from(length).unwrap_or(usize::MAX));
            if count > self.max - self.bytes.len() {
                return Err(HttpFailure::Reset);
            }
            self.bytes.extend_from_slice(&self.line.input()[..count]);
            self.line.take(count);
            length -= count as u64;
            if length > 0 && !self.more() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads chunks up to the last one and its trailers (RFC 9112, section 7.1).
    fn read_chunks(&mut self) -> Result<bool, HttpFailure> {
        loop {
            let Some(size) = self.chunk_line(CHUNK_LINE_BYTES_MAX).and_then(|line| chunk_size(&line)) else {
                return Ok(false);
            };
            if size == 0 {
                return Ok(self.skip_trailers());
            }
            if !self.read(size)? || self.chunk_line(2).is_none_or(|line| !line.is_empty()) {
                return Ok(false);
            }
        }
    }

    fn skip_trailers(&mut self) -> bool {
        let mut left = HTTP_HEAD_BYTES_MAX;
        loop {
            match self.chunk_line(left) {
                None => return false,
                Some(line) if line.is_empty() => return true,
                // A line is at the most as long as asked for, with its end.
                Some(line) => left -= line.len(),
            }
        }
    }

    /// The next line, without its end, if it ends within `max` bytes.
    fn chunk_line(&mut self, max: usize) -> Option<Vec<u8>> {
        let mut searched = 0;
        loop {
            let input = self.line.input();
            if let Some(end) = input[searched..].iter().position(|byte| *byte == b'\n').map(|at| searched + at) {
                let line = input[..end].strip_suffix(b"\r").unwrap_or(&input[..end]).to_vec();
                self.line.take(end + 1);
                return (end < max).then_some(line);
            }
            searched = input.len();
            if searched >= max || !self.more() {
                return None;
            }
        }
    }

    /// Waits for more; whatever ends the waiting cuts the body.
    fn more(&mut self) -> bool {
        self.line.more(self.deadline).unwrap_or(false)
    }
}

/// Hexadecimal digits, and an optional extension, which is ignored.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| *byte == b';').next()?.trim_ascii();
    let digits = std::str::from_utf8(digits).ok()?;
    let hexadecimal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    // `u64::MAX` means no length.
    hexadecimal.then(|| u64::from_str_radix(digits, 16).ok()).flatten().filter(|size| *size < u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(method: &str, status: u16, headers: &[(&str, &str)]) -> Option<BodyFraming> {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect();
        framing(method, &ResponseHead { status, headers })
    }

    #[test]
    fn the_end_of_a_body_follows_from_the_head() {
        let (length, coding) = ("content-length", "transfer-encoding");
        assert_eq!(framed("GET", 200, &[]), Some(BodyFraming::Close));
        assert_eq!(framed("GET", 200, &[(length, "3")]), Some(BodyFraming::Length(3)));
        assert_eq!(framed("GET", 200, &[(length, "3, 3"), (length, "3")]), Some(BodyFraming::Length(3)));
        assert_eq!(framed("GET", 200, &[(length, "3"), (coding, "gzip, Chunked")]), Some(BodyFraming::Chunked));
        assert_eq!(framed("GET", 200, &[(coding, "gzip")]), Some(BodyFraming::Close));
        for (method, status) in [("HEAD", 200), ("GET", 204), ("GET", 304), ("GET", 101), ("CONNECT", 200)] {
            assert_eq!(framed(method, status, &[(length, "3")]), Some(BodyFraming::Length(0)), "{method} {status}");
        }
        for wrong in ["", "-1", "+1", "x", "3, 4", "99999999999999999999"] {
            assert_eq!(framed("GET", 200, &[(length, wrong)]), None, "{wrong}");
        }
    }

    #[test]
    fn chunks_tell_their_size() {
        assert_eq!(chunk_size(b"1aF ; x=y"), Some(0x1af));
        for wrong in ["", " ", "-1", "+1", "0x1", "g", "ffffffffffffffff", "10000000000000000"] {
            assert_eq!(chunk_size(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn a_head_ends_at_the_first_empty_line() {
        assert_eq!(head_end(b"a\r\n\r\nb\n\n", 0), Some(5));
        assert_eq!(head_end(b"a\n\nb", 2), Some(3));
        assert_eq!(head_end(b"a\r\nb\r\n\r", 0), None);
    }
}
