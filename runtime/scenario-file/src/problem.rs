//! What is wrong with a scenario file, and where.
//!
//! Example: ``3:17: unknown field `vlaue`; did you mean `value`?``

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioProblem {
    /// Where; `None` when it is the file as a whole.
    pub place: Option<SourcePosition>,
    /// What was expected and found.
    pub message: String,
}

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
}

impl SourcePosition {
    /// The place of a byte.
    pub(crate) fn of(text: &[u8], at: usize) -> SourcePosition {
        let before = &text[..at.min(text.len())];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX - 1) + 1;
        // Bytes that continue a character do not count.
        let characters = before[line_start..].iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        SourcePosition { line: count(before.iter().filter(|byte| **byte == b'\n').count()), column: count(characters) }
    }
}

impl fmt::Display for ScenarioProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(SourcePosition { line, column }) = self.place {
            write!(f, "{line}:{column}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ScenarioProblem {}

/// The text of a file, without the mark that some editors put before it.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, ScenarioProblem> {
    if bytes.len() > crate::TEXT_BYTES_MAX {
        let message = format!(
            "the file has more than the {} MiB that a scenario can have; steps that repeat fit into several scenarios",
            crate::TEXT_BYTES_MAX >> 20
        );
        return Err(ScenarioProblem { place: None, message });
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        let message = "the file is empty: a scenario is `{ \"version\": 1, \"name\": …, \"steps\": [ … ] }`".to_owned();
        return Err(ScenarioProblem { place: None, message });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let place = SourcePosition::of(bytes, error.valid_up_to());
        ScenarioProblem { place: Some(place), message: "the file is not UTF-8: a scenario is JSON text".to_owned() }
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}
