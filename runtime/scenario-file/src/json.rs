//! JSON with places: a tree in which each value and each key knows where it stands.
//!
//! ```text
//! {"a": [1, true]}      Object [ (a @1, List @6 [ Number 1 @7, Bool true @10 ]) ]
//! ```
//!
//! RFC 8259 without liberties: no comments, no commas at the end, no key twice in an object (which the RFC leaves open, and
//! which hides mistakes).
//!
//! Invariant: recursion ends at [`DEPTH_MAX`].

use crate::read::ReadProblem;

/// Lists and objects inside of each other; deeper ones are refused, as no scenario has them.
pub const DEPTH_MAX: u32 = 64;

/// Bytes of a file; larger ones are refused before they are read.
pub const TEXT_BYTES_MAX: usize = 32 << 20;

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonNode {
    /// Byte in the text at which it begins.
    pub at: usize,
    /// What it is.
    pub value: JsonValue,
}

/// A key and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonKey {
    /// Byte in the text at which it begins.
    pub at: usize,
    /// The key.
    pub text: String,
}

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonValue {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(JsonNumber),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<JsonNode>),
    /// An object; no key stands twice.
    Object(Vec<(JsonKey, JsonNode)>),
}

/// A number, in the smallest kind that has it exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JsonNumber {
    /// A whole number from 0.
    Unsigned(u64),
    /// A whole number below 0.
    Signed(i64),
    /// Any other.
    Float(f64),
}

impl JsonNode {
    /// The value of a key, if this is an object that has it.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&JsonNode> {
        match &self.value {
            JsonValue::Object(members) => members.iter().find(|(key, _)| key.text == name).map(|(_, node)| node),
            _ => None,
        }
    }

    /// The element of a list, if this is a list that has it.
    #[must_use]
    pub fn element(&self, number: usize) -> Option<&JsonNode> {
        match &self.value {
            JsonValue::List(elements) => elements.get(number),
            _ => None,
        }
    }
}

impl std::fmt::Display for JsonNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JsonNumber::Unsigned(number) => number.fmt(f),
            JsonNumber::Signed(number) => number.fmt(f),
            JsonNumber::Float(number) => number.fmt(f),
        }
    }
}

impl JsonValue {
    /// What kind of value it is, for people.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            JsonValue::Null => "null",
            JsonValue::Bool(_) => "true or false",
            JsonValue::Number(_) => "a number",
            JsonValue::Text(_) => "a string",
            JsonValue::List(_) => "a list",
            JsonValue::Object(_) => "an object",
        }
    }

    /// A short form for messages.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            JsonValue::Number(number) => number.to_string(),
            JsonValue::Bool(value) => value.to_string(),
            JsonValue::Text(text) => crate::read::quoted(text),
            other => other.kind().to_owned(),
        }
    }
}

/// Reads one value, which is all of the text.
pub(crate) fn parse(text: &str) -> Result<JsonNode, ReadProblem> {
    let mut reader = Reader { text: text.as_bytes(), at: 0 };
    let root = reader.value(0)?;
    reader.space();
    match reader.peek() {
        None => Ok(root),
        Some(_) => Err(ReadProblem::at(reader.at, "expected the end of the file after the scenario")),
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// What stands here is not what was expected.
    fn expected<T>(&self, what: &str) -> Result<T, ReadProblem> {
        let found = match self.text[self.at..].utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next()) {
            None => {
                return Err(ReadProblem::at(
                    self.at,
                    format!("the file ends where {what} was expected: it is cut off"),
                ));
            }
            Some(character) => crate::read::quoted(character.encode_utf8(&mut [0; 4])),
        };
        Err(ReadProblem::at(self.at, format!("expected {what}, found {found}")))
    }

    fn value(&mut self, depth: u32) -> Result<JsonNode, ReadProblem> {
        self.space();
        let at = self.at;
        let value = match self.peek() {
            Some(b'{' | b'[') if depth == DEPTH_MAX => {
                return Err(ReadProblem::at(at, format!("nested more than {DEPTH_MAX} levels deep")));
            }
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => JsonValue::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => JsonValue::Number(self.number()?),
            Some(b't') => self.word("true", JsonValue::Bool(true))?,
            Some(b'f') => self.word("false", JsonValue::Bool(false))?,
            Some(b'n') => self.word("null", JsonValue::Null)?,
            _ => return self.expected("a value"),
        };
        Ok(JsonNode { at, value })
    }

    fn word(&mut self, word: &str, value: JsonValue) -> Result<JsonValue, ReadProblem> {
        if self.text[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        self.expected("a value (`true`, `false`, `null`, a number, a string, a list or an object)")
    }

    fn list(&mut self, depth: u32) -> Result<JsonValue, ReadProblem> {
        self.at += 1;
        let mut elements = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(JsonValue::List(elements));
        }
        loop {
            elements.push(self.value(depth + 1)?);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(JsonValue::List(elements));
                }
                _ => return self.expected("`,` or `]`"),
            }
        }
    }

    fn object(&mut self, depth: u32) -> Result<JsonValue, ReadProblem> {
        self.at += 1;
        let mut members: Vec<(JsonKey, JsonNode)> = Vec::new();
        // Of large objects only: small ones are looked through.
        let mut known = std::collections::BTreeSet::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(JsonValue::Object(members));
        }
        loop {
            self.space();
            let at = self.at;
            if self.peek() != Some(b'"') {
                return self.expected("a key in quotation marks");
            }
            let text = self.string()?;
            let is_twice = match members.len() {
                0..=SMALL => members.iter().any(|(key, _)| key.text == text),
                _ => known.contains(&text),
            };
            if is_twice {
                return Err(ReadProblem::at(
                    at,
                    format!("the key {} stands twice in this object", crate::read::quoted(&text)),
                ));
            }
            self.space();
            if self.peek() != Some(b':') {
                return self.expected("`:`");
            }
            self.at += 1;
            let node = self.value(depth + 1)?;
            if members.len() == SMALL {
                known.extend(members.iter().map(|(key, _)| key.text.clone()));
            }
            if members.len() >= SMALL {
                known.insert(text.clone());
            }
            members.push((JsonKey { at, text }, node));
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(JsonValue::Object(members));
                }
                _ => return self.expected("`,` or `}`"),
            }
        }
    }

    /// Digits, at least one.
    fn digits(&mut self) -> Result<(), ReadProblem> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return self.expected("a digit");
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<JsonNumber, ReadProblem> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        let mut whole = true;
        if self.peek() == Some(b'.') {
            whole = false;
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            whole = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        if let (true, Ok(number)) = (whole, text.parse()) {
            return Ok(JsonNumber::Unsigned(number));
        }
        if let (true, Ok(number)) = (whole, text.parse()) {
            return Ok(JsonNumber::Signed(number));
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(JsonNumber::Float(number)),
            _ => Err(ReadProblem::at(start, "the number is too large")),
        }
    }

    fn string(&mut self) -> Result<String, ReadProblem> {
        let start = self.at;
        self.at += 1;
        let mut out: Vec<u8> = Vec::new();
        loop {
            let plain = self.text[self.at..].iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
            let Some(length) = plain else {
                return Err(ReadProblem::at(
                    start,
                    "this string does not end: the file is cut off, or a `\"` is missing",
                ));
            };
            out.extend_from_slice(&self.text[self.at..self.at + length]);
            self.at += length;
            match self.text[self.at] {
                b'"' => {
                    self.at += 1;
                    // Pieces of a text that is UTF-8, cut at ASCII, and characters.
                    return String::from_utf8(out).map_err(|_| ReadProblem::at(start, "this string is not UTF-8"));
                }
                b'\\' => {
                    let character = self.escape()?;
                    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => {
                    return Err(ReadProblem::at(
                        self.at,
                        "a string cannot hold a line end or control character: write `\\n`",
                    ));
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, ReadProblem> {
        let start = self.at;
        self.at += 2;
        Ok(match self.text.get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.four(start)?;
                let is_pair = (0xD800..0xDC00).contains(&first) && self.text[self.at..].starts_with(b"\\u");
                let code = match is_pair {
                    true => {
                        self.at += 2;
                        let second = self.four(start)?;
                        0x10000 + ((first - 0xD800) << 10) + (second.wrapping_sub(0xDC00) & 0x3FF)
                    }
                    false => first,
                };
                let character = char::from_u32(code);
                character
                    .ok_or_else(|| ReadProblem::at(start, "this `\\u` is half of a pair, which is no character"))?
            }
            _ => return Err(ReadProblem::at(start, "expected one of `\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX`")),
        })
    }

    fn four(&mut self, start: usize) -> Result<u32, ReadProblem> {
        let digits = self.text.get(self.at..self.at + 4).filter(|four| four.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|four| std::str::from_utf8(four).ok());
        let code = digits.and_then(|four| u32::from_str_radix(four, 16).ok());
        self.at += 4;
        code.ok_or_else(|| ReadProblem::at(start, "expected four hexadecimal digits after `\\u`"))
    }
}

/// Members up to which an object is looked through.
const SMALL: usize = 16;
