//! Lines of Antithesis' SDK as programs really write them, taken in pieces: what counts is kept, as JSON.
//!
//! ```text
//! {"antithesis_assert":{"details":{2 MB},"message":"a\ud800b",…}}  ─▶  {"antithesis_assert":{"details":"{… 5e0f…","message":"a�b",…}}
//! ```
//!
//! It takes what a strict reader refuses: bytes that are no UTF-8 and halves of characters (each is U+FFFD, as in
//! `String::from_utf8_lossy`), control characters in texts, values of any depth, words that are no JSON (`NaN`), a byte order mark before
//! the object and zeros around it. A value of a field that is long, deep or no JSON is kept as a text: its beginning, and a digest where
//! it is cut. A text keeps the name that it has in a short line.
//!
//! Invariants: what is kept is below 200 KiB, whatever comes; nothing recurses; the pieces in which a line comes change nothing.
//! Not here: what a line means (`antithesis`), where lines end (`fozzy-world`).

use super::cut;
use crate::choice::NAME_BYTES_MAX;
use crate::digest::{Digest, DigestWriter};
use serde_json::Value;
use std::mem::take;

/// Bytes of a line; a longer one cannot be read.
pub const SDK_LINE_BYTES_MAX: u64 = 16 << 20;
/// The key of a line that is an assertion.
pub(super) const ASSERTION_KEY: &str = "antithesis_assert";
/// The fields that lines have which are understood: these are always kept.
const FIELDS: [&str; 12] = [
    "assert_type",
    "condition",
    "details",
    "guidance_data",
    "guidance_type",
    "hit",
    "id",
    "location",
    "maximize",
    "message",
    "must_hit",
    "status",
];
/// Bytes of a value that are kept as they are.
const VALUE_BYTES_MAX: usize = 4096;
/// Bytes that are left of a longer value, and of one that is no JSON.
const VALUE_BEGINNING_BYTES: usize = 1024;
/// Open brackets in a value that is kept as it is.
const VALUE_DEPTH_MAX: usize = 64;
/// Bytes of all further fields that are kept.
const OTHERS_BYTES_MAX: usize = 64 << 10;
/// What each of them counts beside its bytes, so that they are few.
const OTHER_BYTES: usize = 512;
/// Bytes behind what is left of a name that is cut: an ellipsis, a space and the first digits of its digest.
const NAME_END_BYTES: usize = 3 + 1 + 12;
/// What has more than one key, or none.
pub(super) const NOT_ONE_KEY: &str = "has not one key, as the lines of the SDK have";

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadLine {
    /// Whether it begins like an assertion.
    pub is_assertion: bool,
    /// What was expected and found, and where.
    pub problem: String,
}

/// What the next byte of a line belongs to, outside of keys and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Start,
    FirstKey,
    Key,
    Colon,
    Value,
    Behind,
    End,
}

impl Place {
    const fn expected(self) -> &'static str {
        match self {
            Place::Start => "`{`",
            Place::FirstKey => "a key or `}`",
            Place::Key => "a key",
            Place::Colon => "`:`",
            Place::Value => "a value",
            Place::Behind => "`,` or `}`",
            Place::End => "the end of the line",
        }
    }
}

/// The key or value in which the next byte stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Token {
    #[default]
    None,
    Key,
    Text,
    /// A number or a word.
    Word,
    /// An object or array below a field.
    Nested,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct SdkLineReader {
    place: Place,
    token: Token,
    /// Whether it is in the object of fields, below the line's one key.
    has_fields: bool,
    decoder: TextDecoder,
    kept: KeptText,
    /// Open brackets of a nested value, and the most that there were.
    depth: usize,
    deepest: usize,
    /// Whether it is in a text of a nested value.
    in_text: bool,
    /// The line's key.
    key: Option<String>,
    /// The value of that, where it is no object.
    value: Option<String>,
    /// The field whose value comes.
    field: String,
    /// Fields and their values, JSON.
    fields: Vec<(String, String)>,
    others_bytes: usize,
    bytes: u64,
    problem: Option<String>,
}

impl SdkLineReader {
    /// Takes the next bytes of the line.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() && self.problem.is_none() {
            let taken = self.take(rest);
            rest = &rest[taken..];
            self.bytes += taken as u64;
            if self.bytes > SDK_LINE_BYTES_MAX {
                self.problem = Some(format!("is longer than {SDK_LINE_BYTES_MAX} bytes"));
            }
        }
    }

    /// The line has ended: what is kept of it, JSON.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn finish(self) -> Result<String, UnreadLine> {
        let is_assertion = self.key.as_deref() == Some(ASSERTION_KEY);
        let unread = |problem| UnreadLine { is_assertion, problem };
        if let Some(problem) = self.problem {
            return Err(unread(problem));
        }
        match self.key {
            Some(key) if self.place == Place::End => {
                let fields = self.fields.iter().map(|(field, value)| format!("{}:{value}", quoted(field)));
                let fields: Vec<String> = fields.collect();
                let value = self.value.unwrap_or_else(|| format!("{{{}}}", fields.join(",")));
                Ok(format!("{{{}:{value}}}", quoted(&key)))
            }
            _ => Err(unread(format!("ends in the middle, after {} bytes", self.bytes))),
        }
    }

    /// Takes some of the bytes that come, of which there is one at least; how many, which may be none where a word ends.
    fn take(&mut self, rest: &[u8]) -> usize {
        let byte = rest[0];
        match self.token {
            Token::None => {
                self.take_structure(byte);
                1
            }
            Token::Key | Token::Text => self.take_text(rest),
            Token::Nested if self.in_text => self.take_text(rest),
            Token::Word => {
                let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r');
                let length = rest.iter().position(is_end).unwrap_or(rest.len());
                self.kept.put_bytes(&rest[..length]);
                if length < rest.len() {
                    self.end_value();
                }
                length
            }
            Token::Nested => {
                let is_special = |byte: &u8| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']');
                let length = rest.iter().position(is_special).unwrap_or(rest.len());
                if length > 0 {
                    self.kept.put_bytes(&rest[..length]);
                    return length;
                }
                self.kept.put_bytes(&[byte]);
                match byte {
                    b'"' => self.in_text = true,
                    b'{' | b'[' => {
                        self.depth += 1;
                        self.deepest = self.deepest.max(self.depth);
                    }
                    _ => self.depth -= 1,
                }
                if self.depth == 0 {
                    self.end_value();
                }
                1
            }
        }
    }

    fn take_structure(&mut self, byte: u8) {
        match (self.place, byte) {
            (_, b' ' | b'\t' | b'\r' | b'\n') | (Place::Start | Place::End, 0) => {}
            // The bytes of a byte order mark.
            (Place::Start, 0xEF | 0xBB | 0xBF) => {}
            (Place::Start, b'{') => self.place = Place::FirstKey,
            (Place::FirstKey | Place::Key, b'"') => self.token = Token::Key,
            (Place::FirstKey | Place::Behind, b'}') if self.has_fields => {
                self.has_fields = false;
                self.place = Place::Behind;
            }
            (Place::Behind, b'}') => self.place = Place::End,
            (Place::Behind, b',') if self.has_fields => self.place = Place::Key,
            (Place::FirstKey, b'}') | (Place::Behind, b',') => self.problem = Some(NOT_ONE_KEY.to_owned()),
            (Place::Colon, b':') => self.place = Place::Value,
            (Place::Value, b'{') if !self.has_fields => {
                self.has_fields = true;
                self.place = Place::FirstKey;
            }
            (Place::Value, b'"') => self.token = Token::Text,
            (Place::Value, b'{' | b'[') => {
                self.token = Token::Nested;
                (self.depth, self.deepest) = (1, 1);
                self.kept.put_bytes(&[byte]);
            }
            (Place::Value, _) if !matches!(byte, b',' | b':' | b'}' | b']') => {
                self.token = Token::Word;
                self.kept.put_bytes(&[byte]);
            }
            (place, _) => {
                let (at, found) = (self.bytes + 1, byte.escape_ascii());
                self.problem = Some(format!("expected {} at its byte {at}, found `{found}`", place.expected()));
            }
        }
    }

    /// Takes bytes of a key, of a text, or of a text in a nested value.
    fn take_text(&mut self, rest: &[u8]) -> usize {
        if self.decoder.is_between_characters() {
            let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
            let length = rest.iter().position(|byte| !is_plain(byte)).unwrap_or(rest.len());
            if length > 0 {
                self.kept.put_bytes(&rest[..length]);
                return length;
            }
        }
        let mut decoded = String::new();
        let is_end = self.decoder.take(rest[0], &mut decoded);
        match self.in_text {
            true if decoded.is_empty() => {}
            true => self.kept.put(without_quotes(&quoted(&decoded))),
            false => self.kept.put(&decoded),
        }
        match self.token {
            _ if !is_end => {}
            Token::Nested => {
                self.in_text = false;
                self.kept.put("\"");
            }
            Token::Key => {
                let key = take(&mut self.kept).into_name();
                (self.token, self.place) = (Token::None, Place::Colon);
                match self.has_fields {
                    true => self.field = key,
                    false => self.key = Some(key),
                }
            }
            Token::Text | Token::Word | Token::None => self.end_value(),
        }
        1
    }

    fn end_value(&mut self) {
        let kept = take(&mut self.kept);
        let value = match take(&mut self.token) {
            Token::Text => kept.into_text(),
            _ => kept.into_value(take(&mut self.deepest)),
        };
        self.place = Place::Behind;
        if !self.has_fields {
            self.value = Some(value);
            return;
        }
        let field = take(&mut self.field);
        if !FIELDS.contains(&&*field) {
            let bytes = self.others_bytes + OTHER_BYTES + field.len() + value.len();
            if bytes > OTHERS_BYTES_MAX {
                return;
            }
            self.others_bytes = bytes;
        }
        // As everywhere, the last of the same key counts.
        match self.fields.iter_mut().find(|(known, _)| *known == field) {
            Some((_, known)) => *known = value,
            None => self.fields.push((field, value)),
        }
    }
}

/// What is kept of a key or value: its beginning, and a digest of all of it.
#[derive(Clone, Debug, Default)]
struct KeptText {
    beginning: String,
    bytes: usize,
    all: DigestWriter,
}

impl KeptText {
    fn put(&mut self, text: &str) {
        self.bytes = self.bytes.saturating_add(text.len());
        self.all.update(text.as_bytes());
        let room = VALUE_BYTES_MAX.saturating_sub(self.beginning.len()).min(text.len());
        let end = (0..=room).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        self.beginning.push_str(&text[..end]);
    }

    /// Puts bytes that are ASCII, unless the line is broken.
    fn put_bytes(&mut self, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(text) if text.is_ascii() => self.put(text),
            // One for each byte, so that it does not matter in which pieces they come.
            _ => bytes.iter().for_each(|byte| match byte.is_ascii() {
                true => self.put(char::from(*byte).encode_utf8(&mut [0; 4])),
                false => self.put("\u{FFFD}"),
            }),
        }
    }

    fn into_name(self) -> String {
        match self.bytes <= NAME_BYTES_MAX {
            true => self.beginning,
            false => cut_name(&self.beginning, &self.all.finish()),
        }
    }

    /// A text, as JSON.
    fn into_text(self) -> String {
        let whole = (self.bytes <= VALUE_BYTES_MAX).then(|| quoted(&self.beginning));
        // A text has the name that it has in a short line.
        whole.filter(|whole| whole.len() <= VALUE_BYTES_MAX).unwrap_or_else(|| quoted(&self.into_name()))
    }

    /// Another value, as JSON.
    fn into_value(self, deepest: usize) -> String {
        let is_whole = self.bytes <= VALUE_BYTES_MAX;
        if is_whole && deepest <= VALUE_DEPTH_MAX && serde_json::from_str::<Value>(&self.beginning).is_ok() {
            return self.beginning;
        }
        match is_whole && self.bytes <= VALUE_BEGINNING_BYTES {
            true => quoted(&self.beginning),
            false => quoted(&format!("{} {}", cut(&self.beginning, VALUE_BEGINNING_BYTES), self.all.finish().short())),
        }
    }
}

/// Makes characters of the bytes of a text in JSON.
#[derive(Clone, Debug, Default)]
struct TextDecoder {
    /// The beginning of a character of several bytes.
    partial: Vec<u8>,
    escape: Escape,
    /// The first half of a character of two.
    high: Option<u32>,
}

/// What of an escape has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Begun,
    Unicode {
        digits: u8,
        unit: u32,
    },
}

impl TextDecoder {
    fn is_between_characters(&self) -> bool {
        self.partial.is_empty() && self.escape == Escape::None && self.high.is_none()
    }

    /// Takes a byte, and adds the characters that are whole with it. Whether the text ends with it.
    fn take(&mut self, byte: u8, decoded: &mut String) -> bool {
        match take(&mut self.escape) {
            Escape::None => return self.take_plain(byte, decoded),
            Escape::Begun if byte == b'u' => self.escape = Escape::Unicode { digits: 0, unit: 0 },
            Escape::Begun => {
                let meant = match byte {
                    b'b' => '\u{8}',
                    b'f' => '\u{c}',
                    b'n' => '\n',
                    b'r' => '\r',
                    b't' => '\t',
                    b'"' | b'\\' | b'/' => char::from(byte),
                    // No escape is of that: the character itself.
                    _ => return self.take_plain(byte, decoded),
                };
                self.end_half(decoded);
                decoded.push(meant);
            }
            Escape::Unicode { digits, unit } => match char::from(byte).to_digit(16) {
                Some(digit) if digits == 3 => self.take_unit(unit << 4 | digit, decoded),
                Some(digit) => self.escape = Escape::Unicode { digits: digits + 1, unit: unit << 4 | digit },
                None => {
                    self.end_half(decoded);
                    decoded.push(char::REPLACEMENT_CHARACTER);
                    return self.take_plain(byte, decoded);
                }
            },
        }
        false
    }

    fn take_plain(&mut self, byte: u8, decoded: &mut String) -> bool {
        if byte.is_ascii() {
            if !self.partial.is_empty() {
                self.partial.clear();
                decoded.push(char::REPLACEMENT_CHARACTER);
            }
            if byte == b'\\' {
                self.escape = Escape::Begun;
                return false;
            }
            self.end_half(decoded);
            if byte != b'"' {
                decoded.push(char::from(byte));
            }
            return byte == b'"';
        }
        self.end_half(decoded);
        self.partial.push(byte);
        while let Err(error) = std::str::from_utf8(&self.partial) {
            // Nothing where the character may still become whole.
            let Some(wrong) = error.error_len() else { return false };
            self.partial.drain(..wrong);
            decoded.push(char::REPLACEMENT_CHARACTER);
        }
        decoded.push_str(std::str::from_utf8(&self.partial).unwrap_or_default());
        self.partial.clear();
        false
    }

    /// Takes the unit of UTF-16 that an escape is.
    fn take_unit(&mut self, unit: u32, decoded: &mut String) {
        if let (Some(high), 0xDC00..=0xDFFF) = (self.high, unit) {
            self.high = None;
            let whole = 0x1_0000 + ((high - 0xD800) << 10) + (unit - 0xDC00);
            decoded.push(char::from_u32(whole).unwrap_or(char::REPLACEMENT_CHARACTER));
            return;
        }
        self.end_half(decoded);
        match unit {
            0xD800..=0xDBFF => self.high = Some(unit),
            _ => decoded.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)),
        }
    }

    /// The second half of a character does not come.
    fn end_half(&mut self, decoded: &mut String) {
        if self.high.take().is_some() {
            decoded.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// A name that is too long, with the digest of all of it: its beginning, and the first digits of that.
pub(super) fn cut_name(name: &str, all: &Digest) -> String {
    format!("{} {}", cut(name, NAME_BYTES_MAX - NAME_END_BYTES), all.short())
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn without_quotes(quoted: &str) -> &str {
    &quoted[1..quoted.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept of a line, which is the same in whatever pieces it comes.
    fn read(line: &[u8]) -> Result<String, UnreadLine> {
        let of_pieces = |bytes: usize| {
            let mut reader = SdkLineReader::default();
            line.chunks(bytes).for_each(|piece| reader.push(piece));
            reader.finish()
        };
        let whole = of_pieces(line.len().max(1));
        for bytes in [1, 2, 3, 7, 1000] {
            assert_eq!(of_pieces(bytes), whole, "in pieces of {bytes}");
        }
        whole
    }

    #[test]
    fn what_is_json_stays_as_it_is() {
        for line in [
            r#"{"antithesis_assert":{"hit":true,"n":-1.5e3,"message":"a \"b\" \\ é ☃ 😀","details":{"k":[1,{"z":null}],"s":"\n\u0001\"]}"}}}"#,
            r#"{"antithesis_setup":null}"#,
            r#"{"event":[1,2,{"a":"b"}]}"#,
            r#"{"event":"text"}"#,
            r#"{"event":7}"#,
            r#"{"event":{}}"#,
        ] {
            assert_eq!(read(line.as_bytes()).as_deref(), Ok(line));
        }
        // Blanks, marks and zeros around it.
        let blank = b"\xEF\xBB\xBF { \"a\" : { \"b\" : 1 , \"c\" : [ ] } } \r\0";
        assert_eq!(read(blank).as_deref(), Ok(r#"{"a":{"b":1,"c":[ ]}}"#));
        // The last of the same key.
        assert_eq!(read(br#"{"a":{"hit":1,"b":2,"hit":3}}"#).as_deref(), Ok(r#"{"a":{"hit":3,"b":2}}"#));
    }

    #[test]
    fn texts_are_taken_whatever_is_in_them() {
        for (text, taken) in [
            (&b"a\xff\xfeb"[..], "a\u{FFFD}\u{FFFD}b"),
            (b"a\xe2\x98", "a\u{FFFD}"),
            (b"a\xe2\x98b\xc3\xa9", "a\u{FFFD}b\u{e9}"),
            (b"\xe2\xe2\x98\x83", "\u{FFFD}\u{2603}"),
            (br"a\ud800b", "a\u{FFFD}b"),
            (br"\ud83d\ude00", "\u{1F600}"),
            (br"\ud83d\ud83d\ude00\udc00", "\u{FFFD}\u{1F600}\u{FFFD}"),
            (br"\ud800\n", "\u{FFFD}\n"),
            (b"\\ud800\xc3\xa9", "\u{FFFD}\u{e9}"),
            (br"\ud800", "\u{FFFD}"),
            (br"\u00e9\u12", "\u{e9}\u{FFFD}"),
            (br"\u12x", "\u{FFFD}x"),
            (br"\q\/\b\f\n\r\t\\\u0022", "q/\u{8}\u{c}\n\r\t\\\""),
            (b"\x1b[31m\x01\x00\x7f", "\u{1b}[31m\u{1}\u{0}\u{7f}"),
        ] {
            let line = [&b"{\"a\":{\"message\":\""[..], text, b"\",\"details\":{\"k\":\"", text, b"\"}}}"].concat();
            let kept = read(&line).unwrap_or_else(|unread| panic!("{unread:?}"));
            let kept: Value = serde_json::from_str(&kept).expect("JSON");
            assert_eq!(kept["a"]["message"].as_str(), Some(taken), "{}", text.escape_ascii());
            assert_eq!(kept["a"]["details"]["k"].as_str(), Some(taken), "{}", text.escape_ascii());
        }
        // As the standard library replaces it.
        let bytes: Vec<u8> =
            (0x80..=0xFF).chain([0xF0, 0x9F, 0x98]).chain([0xF0, 0x9F, 0x98, 0x80, 0xED, 0xA0]).collect();
        let line = [&b"{\"a\":\""[..], &*bytes, b"\"}"].concat();
        let kept: Value = serde_json::from_str(&read(&line).expect("read")).expect("JSON");
        assert_eq!(kept["a"].as_str(), Some(&*String::from_utf8_lossy(&bytes)));
    }

    #[test]
    fn a_value_that_is_long_deep_or_no_json_is_a_text() {
        let kept = |value: &str| {
            let kept = read(format!("{{\"a\":{{\"details\":{value},\"hit\":true}}}}").as_bytes()).expect("read");
            let kept: Value = serde_json::from_str(&kept).expect("JSON");
            assert_eq!(kept["a"]["hit"], Value::Bool(true), "{kept}");
            kept["a"]["details"].clone()
        };
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(kept(&deep(VALUE_DEPTH_MAX)).is_array());
        assert_eq!(kept(&deep(200)), Value::from(deep(200)));
        assert_eq!(kept("{\"x\":NaN}"), Value::from("{\"x\":NaN}"));
        assert_eq!(kept("True"), Value::from("True"));
        assert_eq!(kept("[}"), Value::from("[}"));
        let long = |end: &str| {
            let kept = kept(&format!("{{\"k\":\"{}{end}\"}}", "v".repeat(5000)));
            kept.as_str().expect("a text").to_owned()
        };
        assert!(long("a").starts_with("{\"k\":\"vvv") && long("a").contains("… "), "{}", long("a"));
        assert!(long("a") != long("b") && long("a").len() < VALUE_BYTES_MAX);
        // A text keeps its name.
        for length in [NAME_BYTES_MAX, NAME_BYTES_MAX + 1, VALUE_BYTES_MAX, VALUE_BYTES_MAX + 1, 100_000] {
            let text = "x".repeat(length);
            let kept = kept(&quoted(&text));
            let kept = kept.as_str().expect("a text");
            assert!(kept == text || kept == cut_name(&text, &Digest::of(text.as_bytes())), "{length}: {kept}");
        }
    }

    #[test]
    fn little_is_kept_whatever_comes() {
        let hostile = [
            "\u{1}".repeat(300_000),
            "{\"a\":{\"details\":[".to_owned() + &"[\"\\u0001".repeat(100_000),
            "{\"a\":{\"message\":\"".to_owned() + &"\u{1}".repeat(300_000),
            "{\"a\":{".to_owned() + &(0..20_000).map(|n| format!("\"k{n}\":{n},")).collect::<String>(),
            "{\"a\":{".to_owned() + &FIELDS.map(|field| format!("\"{field}\":[\"{}\"],", "\\\"".repeat(5000))).concat(),
            "{\"".to_owned() + &"k".repeat(300_000),
            "{\"a\":".to_owned() + &"1".repeat(300_000),
        ];
        for line in hostile {
            let mut reader = SdkLineReader::default();
            reader.push(line.as_bytes());
            let fields: usize = reader.fields.iter().map(|(field, value)| field.len() + value.len()).sum();
            let kept = reader.kept.beginning.len() + reader.key.as_ref().map_or(0, String::len) + fields;
            assert!(kept < 200 << 10, "{kept} of {}", &line[..20]);
            assert!(reader.finish().is_err(), "{}", &line[..20]);
        }
    }

    #[test]
    fn what_cannot_be_read_says_where() {
        for (line, is_assertion, problem) in [
            ("", false, "ends in the middle, after 0 bytes"),
            ("x", false, "expected `{` at its byte 1, found `x`"),
            ("{}", false, NOT_ONE_KEY),
            ("{\"a\":1,\"b\":2}", false, NOT_ONE_KEY),
            ("{\"antithesis_assert\"=", true, "expected `:` at its byte 21, found `=`"),
            ("{\"antithesis_assert\":}", true, "expected a value at its byte 22, found `}`"),
            ("{\"antithesis_assert\":{\"hit\":true", true, "ends in the middle, after 32 bytes"),
            ("{\"antithesis_assert\":{\"hit\":true,}}", true, "expected a key at its byte 34, found `}`"),
            ("{\"antithesis_assert\":{\"hit\":true]}", true, "expected `,` or `}` at its byte 33, found `]`"),
            ("{\"antithesis_assert\":{}}{", true, "expected the end of the line at its byte 25, found `{`"),
            ("{\"antithesis_assert\":{},\"b\":2}", true, NOT_ONE_KEY),
        ] {
            assert_eq!(read(line.as_bytes()), Err(UnreadLine { is_assertion, problem: problem.to_owned() }), "{line}");
        }
        let mut reader = SdkLineReader::default();
        reader.push(b"{\"antithesis_assert\":{\"details\":\"");
        let piece = vec![b'x'; 1 << 20];
        (0..16).for_each(|_| reader.push(&piece));
        let unread = reader.finish().expect_err("it is too long");
        assert_eq!((unread.is_assertion, &*unread.problem), (true, "is longer than 16777216 bytes"));
    }
}
