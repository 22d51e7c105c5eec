//! Messages of the protocol as bytes: a header with the length, and JSON.

use serde_json::Value;
use std::io::{self, BufRead, Read, Write};

/// Longest message of a client, in bytes.
const MESSAGE_BYTES_MAX: u64 = 16 << 20;
/// Longest line of a header, in bytes, and most lines.
const HEADER_BYTES_MAX: u64 = 1024;
const HEADER_LINES_MAX: usize = 16;

/// What came from a client.
#[derive(Debug)]
pub(super) enum ClientMessage {
    /// A message.
    Message(Value),
    /// Bytes of the right length that are no message.
    Unreadable(String),
    /// Nothing can be read any more, for this reason; none when the client has left.
    Closed(Option<String>),
}

/// The next message.
pub(super) fn receive(input: &mut impl BufRead) -> ClientMessage {
    match length(input) {
        Ok(Some(length)) => {
            let mut body = Vec::new();
            match input.take(length).read_to_end(&mut body) {
                Ok(_) if body.len() as u64 == length => match serde_json::from_slice(&body) {
                    Ok(message) => ClientMessage::Message(message),
                    Err(error) => ClientMessage::Unreadable(format!("a message is no JSON: {error}")),
                },
                _ => ClientMessage::Closed(None),
            }
        }
        Ok(None) => ClientMessage::Closed(None),
        Err(error) => ClientMessage::Closed(Some(error.to_string())),
    }
}

/// The length that a header gives; `None` at the end of the input.
fn length(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let refused = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let mut length = None;
    for _ in 0..HEADER_LINES_MAX {
        let mut line = Vec::new();
        input.by_ref().take(HEADER_BYTES_MAX).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        if text.is_empty() {
            return length.map(Some).ok_or_else(|| refused("a header has no Content-Length".to_owned()));
        }
        let Some((name, value)) = text.split_once(':') else {
            return Err(refused(format!("expected a header such as `Content-Length: 120`, found `{text}`")));
        };
        if name.eq_ignore_ascii_case("content-length") {
            let bytes: u64 = value.trim().parse().map_err(|_| refused(format!("`{text}` gives no length")))?;
            if bytes > MESSAGE_BYTES_MAX {
                return Err(refused(format!("a message of {bytes} bytes is longer than {MESSAGE_BYTES_MAX}")));
            }
            length = Some(bytes);
        }
    }
    Err(refused("a header has too many lines".to_owned()))
}

/// Writes a message.
pub(super) fn send(output: &mut dyn Write, message: &Value) -> io::Result<()> {
    let body = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(bytes: &[u8]) -> String {
        match receive(&mut io::BufReader::new(bytes)) {
            ClientMessage::Message(message) => message.to_string(),
            ClientMessage::Unreadable(why) => format!("unreadable: {why}"),
            ClientMessage::Closed(why) => format!("closed: {}", why.unwrap_or_default()),
        }
    }

    #[test]
    fn messages_are_read_and_nonsense_is_refused() {
        let mut sent = Vec::new();
        send(&mut sent, &serde_json::json!({"seq": 1})).expect("to memory");
        assert_eq!(received(&sent), r#"{"seq":1}"#);
        assert_eq!(received(b""), "closed: ");
        assert_eq!(received(b"Content-Length: 5\r\n\r\n{}"), "closed: ");
        assert!(received(b"Content-Length: 2\r\n\r\n{]").starts_with("unreadable: "));
        assert!(received(b"Content-Length: 99999999999\r\n\r\n").contains("longer than"));
        assert!(received(b"Content-Length: many\r\n\r\n").contains("gives no length"));
        assert!(received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").contains("Content-Length: 120"));
        assert!(received(b"Host: x\r\n\r\n").contains("no Content-Length"));
        assert!(received(&[b'x'; 5000]).starts_with("closed: expected a header"));
    }
}
