//! Messages and errors of the protocol.

use serde_json::{Map, Value};
use std::fmt;
use std::io;

/// Bytes of a line that an error shows.
const SHOWN_BYTES: usize = 300;

/// Codes of errors. Those that are not definite leave open whether something was done.
pub mod error_code {
    /// No answer has come in time. Not definite.
    pub const TIMEOUT: i64 = 0;
    /// There is no node of that name.
    pub const NODE_NOT_FOUND: i64 = 1;
    /// The node does not know this kind of request.
    pub const NOT_SUPPORTED: i64 = 10;
    /// The node cannot do it now.
    pub const TEMPORARILY_UNAVAILABLE: i64 = 11;
    /// The request has the wrong shape.
    pub const MALFORMED_REQUEST: i64 = 12;
    /// Something went wrong. Not definite.
    pub const CRASH: i64 = 13;
    /// It was given up, and nothing was done.
    pub const ABORT: i64 = 14;
    /// There is no such key.
    pub const KEY_DOES_NOT_EXIST: i64 = 20;
    /// There is such a key.
    pub const KEY_ALREADY_EXISTS: i64 = 21;
    /// The value is another one than expected.
    pub const PRECONDITION_FAILED: i64 = 22;
    /// Another transaction was faster.
    pub const TXN_CONFLICT: i64 = 30;
}

/// A message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProtocolMessage {
    /// Who sent it.
    pub src: String,
    /// For whom it is.
    pub dest: String,
    /// What it says.
    pub body: Value,
}

impl ProtocolMessage {
    /// The type of its body, or nothing.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.body["type"].as_str().unwrap_or_default()
    }

    /// Reads a line.
    pub(crate) fn read(line: &[u8]) -> io::Result<ProtocolMessage> {
        let refused = |why: &str| {
            let shown = String::from_utf8_lossy(&line[..line.len().min(SHOWN_BYTES)]).into_owned();
            io::Error::new(io::ErrorKind::InvalidData, format!("expected a message, found {shown}: {why}"))
        };
        let mut parts: Map<String, Value> = serde_json::from_slice(line).map_err(|why| refused(&why.to_string()))?;
        let mut text = |key: &str| match parts.remove(key) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(refused(&format!("`{key}` is no text"))),
        };
        let (src, dest) = (text("src")?, text("dest")?);
        match parts.remove("body") {
            Some(body @ Value::Object(_)) => Ok(ProtocolMessage { src, dest, body }),
            _ => Err(refused("`body` is no object")),
        }
    }
}

/// What an answer says when it is an error, or no answer came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolError {
    /// Its code ([`error_code`]).
    pub code: i64,
    /// It, in words.
    pub text: String,
}

impl ProtocolError {
    /// An error.
    #[must_use]
    pub fn new(code: i64, text: impl Into<String>) -> ProtocolError {
        ProtocolError { code, text: text.into() }
    }

    /// The error that a body is.
    pub(crate) fn of(body: &Value) -> Option<ProtocolError> {
        let is_error = body["type"].as_str() == Some("error");
        let code = body["code"].as_i64().unwrap_or(error_code::CRASH);
        is_error.then(|| ProtocolError::new(code, body["text"].as_str().unwrap_or_default()))
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error {}: {}", self.code, self.text)
    }
}

impl std::error::Error for ProtocolError {}
