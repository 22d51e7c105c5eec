//! What is wrong with a history: where, what was found, what was expected.

use std::fmt;

/// Characters of the input that a message quotes.
const FOUND_CHARS_MAX: usize = 40;

/// Why a history could not be read, or cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryError {
    /// The line, from 1; none for a binary file.
    pub line: Option<u64>,
    /// The column in it, from 1, in characters.
    pub column: Option<u64>,
    /// The byte, from 0.
    pub byte: u64,
    /// What stands there.
    pub found: String,
    /// What should.
    pub expected: String,
}

impl HistoryError {
    /// An error at a byte of a text.
    pub(crate) fn at(text: &[u8], byte: usize, found: impl Into<String>, expected: impl Into<String>) -> HistoryError {
        let before = &text[..byte.min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() as u64 + 1;
        let (found, expected) = (found.into(), expected.into());
        HistoryError { line: Some(line), column: Some(column), byte: byte as u64, found, expected }
    }

    /// An error at a line whose text is no longer there.
    pub(crate) fn at_line(line: u32, found: impl Into<String>, expected: impl Into<String>) -> HistoryError {
        let line = (line > 0).then_some(u64::from(line));
        HistoryError { line, column: None, byte: 0, found: found.into(), expected: expected.into() }
    }

    /// An error at a byte of a binary file.
    pub(crate) fn at_byte(byte: usize, found: impl Into<String>, expected: impl Into<String>) -> HistoryError {
        let (found, expected) = (found.into(), expected.into());
        HistoryError { line: None, column: None, byte: byte as u64, found, expected }
    }
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, "line {line}, column {column}: ")?,
            (Some(line), None) => write!(f, "line {line}: ")?,
            (None, _) if self.byte > 0 => write!(f, "byte {}: ", self.byte)?,
            (None, _) => {}
        }
        write!(f, "found {}, expected {}", self.found, self.expected)
    }
}

impl std::error::Error for HistoryError {}

/// A piece of the input in backticks, cut where a line of a message would become too long.
pub(crate) fn quoted(text: &str) -> String {
    let first: String = text.chars().take_while(|c| *c != '\n').take(FOUND_CHARS_MAX).collect();
    let cut = if first.len() < text.len() { "…" } else { "" };
    // Within backticks, quotes need no escape.
    let first: String =
        first.chars().map(|c| if c == '"' || c == '\'' { c.into() } else { c.escape_debug().to_string() }).collect();
    format!("`{first}{cut}`")
}
