//! An input of bytes, as people look at it.
//!
//! ```text
//! hex      7b 22 61 5c
//! text     {"a\x5c
//! literal  b"{\"a\\"            as it stands in a test of the program's language
//! ```
//!
//! Not here: the file that it is in, which has it whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes that are shown; the file has all of them.
const SHOWN_BYTES_MAX: usize = 256;

/// Bytes of it that are shown to people.
const LINE_BYTES_MAX: usize = 64;

/// Characters of one line of them, so that it stands beside its key within 80 columns.
const LINE_CHARS: usize = 57;

/// An input, as far as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShownInput {
    /// Bytes of it, as pairs of hexadecimal digits: the first 256.
    pub hex: String,
    /// The same as text; what is not printable ASCII is escaped.
    pub text: String,
    /// The same in the language of the program. Missing when that is not known, or when there are more bytes than are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub literal: Option<String>,
    /// Bytes that are not shown.
    #[serde(default, skip_serializing_if = "crate::pretty::is_zero")]
    pub more_bytes: u64,
}

/// A language in which an input can be written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralLanguage {
    /// `b"\x00"`
    Rust,
    /// `"\000"`
    C,
    /// `[]byte("\x00")`
    Go,
    /// `new Uint8Array([0])`
    JavaScript,
}

impl LiteralLanguage {
    /// By the names that compilers leave in a program. A program of another language that calls C is of that language.
    #[must_use]
    pub fn of(languages: &[String]) -> Option<LiteralLanguage> {
        let any = |start: &str| languages.iter().any(|language| language.starts_with(start));
        match () {
            () if any("Rust") => Some(LiteralLanguage::Rust),
            () if any("Go") => Some(LiteralLanguage::Go),
            () if any("JavaScript") => Some(LiteralLanguage::JavaScript),
            () if any("C") => Some(LiteralLanguage::C),
            () => None,
        }
    }

    fn literal(self, bytes: &[u8]) -> String {
        match self {
            LiteralLanguage::Rust => format!("b\"{}\"", bytes.escape_ascii().to_string().replace("\\'", "'")),
            LiteralLanguage::Go => format!("[]byte(\"{}\")", bytes.escape_ascii().to_string().replace("\\'", "'")),
            // A hexadecimal escape of C extends over all digits that follow; an octal one has at most three.
            LiteralLanguage::C => format!("\"{}\"", bytes.iter().map(|byte| of_c(*byte)).collect::<String>()),
            LiteralLanguage::JavaScript => {
                let numbers: Vec<String> = bytes.iter().map(ToString::to_string).collect();
                format!("new Uint8Array([{}])", numbers.join(", "))
            }
        }
    }
}

fn of_c(byte: u8) -> String {
    match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        // Two of them begin a trigraph.
        b'?' => "\\?".to_owned(),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    }
}

impl ShownInput {
    /// What is shown of `input`.
    #[must_use]
    pub fn of(input: &[u8], language: Option<LiteralLanguage>) -> ShownInput {
        let shown = &input[..input.len().min(SHOWN_BYTES_MAX)];
        let more_bytes = (input.len() - shown.len()) as u64;
        ShownInput {
            hex: shown.iter().map(|byte| format!("{byte:02x}")).collect(),
            text: shown.escape_ascii().to_string(),
            literal: language.filter(|_| more_bytes == 0).map(|language| language.literal(shown)),
            more_bytes,
        }
    }

    /// The lines of an input for people.
    pub(crate) fn lines(&self) -> Vec<String> {
        if self.hex.is_empty() {
            return vec!["  input    empty".to_owned()];
        }
        let pairs: Vec<&str> =
            self.hex.as_bytes().chunks(2).filter_map(|pair| std::str::from_utf8(pair).ok()).collect();
        // A long input says nothing by its hundredth byte; its file has all of them.
        let shown = pairs.len().min(LINE_BYTES_MAX);
        let more = match self.more_bytes + (pairs.len() - shown) as u64 {
            0 => String::new(),
            more => format!(" … {} more", crate::pretty::counted(more, "byte")),
        };
        let byte = |pair: &&str| u8::from_str_radix(pair, 16).unwrap_or(b'?').escape_ascii().to_string();
        let text = pairs[..shown].iter().map(byte);
        let mut lines = folded("hex", pairs[..shown].iter().map(ToString::to_string), " ", &more);
        lines.extend(folded("text", text, "", &more));
        lines.extend(self.literal.iter().map(|literal| format!("  literal  {literal}")));
        lines
    }
}

/// The parts of an input in lines; the first line has the key.
fn folded(key: &str, parts: impl Iterator<Item = String>, separator: &str, more: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in parts {
        let last = lines.last_mut().expect("there is one");
        if last.is_empty() {
            last.push_str(&part);
        } else if last.chars().count() + separator.len() + part.chars().count() > LINE_CHARS {
            lines.push(part);
        } else {
            last.push_str(separator);
            last.push_str(&part);
        }
    }
    lines.last_mut().expect("there is one").push_str(more);
    let key = |index: usize| if index == 0 { key } else { "" };
    lines.iter().enumerate().map(|(index, line)| format!("  {:<7}  {line}", key(index))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_shown_as_its_language_writes_it() {
        let input = b"a\"\\'?\x00\x019\xff\n";
        let literal = |language| ShownInput::of(input, Some(language)).literal.expect("short");
        assert_eq!(literal(LiteralLanguage::Rust), r#"b"a\"\\'?\x00\x019\xff\n""#);
        assert_eq!(literal(LiteralLanguage::Go), r#"[]byte("a\"\\'?\x00\x019\xff\n")"#);
        assert_eq!(literal(LiteralLanguage::C), r#""a\"\\'\?\000\0019\377\012""#);
        assert_eq!(literal(LiteralLanguage::JavaScript), "new Uint8Array([97, 34, 92, 39, 63, 0, 1, 57, 255, 10])");
        let shown = ShownInput::of(input, None);
        assert_eq!((&*shown.hex, shown.literal), ("61225c273f000139ff0a", None));
        let long = ShownInput::of(&[7; 300], Some(LiteralLanguage::Rust));
        assert_eq!((long.hex.len(), long.literal.clone(), long.more_bytes), (512, None, 44));
        let lines = long.lines();
        assert!(lines.iter().all(|line| line.chars().count() <= 68 + " … 236 bytes more".chars().count()), "{lines:?}");
        assert_eq!(lines[0], format!("  hex      {}07", "07 ".repeat(18)));
        assert!(lines[3].starts_with("           07 07") && lines[3].ends_with("07 … 236 bytes more"), "{lines:?}");
        assert_eq!(ShownInput::of(b"", None).lines(), ["  input    empty"]);
    }

    #[test]
    fn the_language_is_that_of_who_calls_c() {
        let of = |names: &[&str]| LiteralLanguage::of(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["C11", "Rust"]), Some(LiteralLanguage::Rust));
        assert_eq!(of(&["C_plus_plus_14"]), Some(LiteralLanguage::C));
        assert_eq!(of(&["Go"]), Some(LiteralLanguage::Go));
        assert_eq!(of(&[]), None);
    }
}
