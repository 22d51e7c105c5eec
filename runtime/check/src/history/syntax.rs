//! Values in the notations of Clojure (EDN) and of JSON.
//!
//! ```text
//! {:f :cas, :value [1 2]} #_skipped ; comment          EDN
//! {"f": "cas", "value": [1, 2]}                        JSON
//! ```
//!
//! One reader for both, because all but the separators is alike. Numbers keep every digit: what does not fit into 64 bits
//! stays text. Invariants: time is linear in the input; nesting is bounded by [`DEPTH_MAX`], so no input exhausts the stack.
//! Not here: what the values mean (`reader`).

use super::datum::{DatumId, DatumPool, ItemKind, TextKind};
use super::error::{HistoryError, quoted};

/// Values inside of values. Histories have a handful; what is deeper is refused.
pub(crate) const DEPTH_MAX: u32 = 128;

/// Which notation a text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyntaxDialect {
    Edn,
    Json,
}

/// A reader of values, at a position of a text.
pub(crate) struct SyntaxReader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    notation: SyntaxDialect,
    depth: u32,
    /// Elements of sequences that are not closed yet.
    open: Vec<DatumId>,
}

impl<'a> SyntaxReader<'a> {
    pub(crate) fn new(text: &'a str, notation: SyntaxDialect) -> SyntaxReader<'a> {
        SyntaxReader { text, bytes: text.as_bytes(), at: 0, notation, depth: 0, open: Vec::new() }
    }

    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Whether nothing but blanks and comments is left.
    pub(crate) fn is_at_end(&mut self, pool: &mut DatumPool) -> Result<bool, HistoryError> {
        self.skip_blanks(pool)?;
        Ok(self.at == self.bytes.len())
    }

    /// The next character's byte, which is not taken.
    pub(crate) fn peek(&mut self, pool: &mut DatumPool) -> Result<Option<u8>, HistoryError> {
        self.skip_blanks(pool)?;
        Ok(self.bytes.get(self.at).copied())
    }

    /// Takes a byte that was seen.
    pub(crate) fn take(&mut self) {
        self.at += 1;
    }

    /// Takes a separator of JSON, where a closing bracket does not stand.
    pub(crate) fn separator(&mut self, pool: &mut DatumPool, close: u8, is_first: bool) -> Result<(), HistoryError> {
        if self.notation == SyntaxDialect::Edn || is_first {
            return Ok(());
        }
        match self.peek(pool)? {
            Some(b',') => {
                self.take();
                if self.peek(pool)? == Some(close) {
                    return Err(self.unexpected("a further element after the comma"));
                }
                Ok(())
            }
            Some(byte) if byte == close => Ok(()),
            _ => Err(self.unexpected(format!("`,` or `{}`", close as char))),
        }
    }

    /// Takes the colon between a key and its value, which JSON has.
    pub(crate) fn colon(&mut self, pool: &mut DatumPool) -> Result<(), HistoryError> {
        if self.notation == SyntaxDialect::Edn {
            return Ok(());
        }
        match self.peek(pool)? {
            Some(b':') => {
                self.take();
                Ok(())
            }
            _ => Err(self.unexpected("`:` after the key")),
        }
    }

    /// Skips a tag such as `#jepsen.history.Op`, where one stands.
    pub(crate) fn skip_tag(&mut self, pool: &mut DatumPool) -> Result<(), HistoryError> {
        let is_tag = self.peek(pool)? == Some(b'#') && self.notation == SyntaxDialect::Edn;
        if is_tag && self.bytes.get(self.at + 1).is_some_and(|byte| byte.is_ascii_alphabetic()) {
            self.at += 1;
            self.word();
        }
        Ok(())
    }

    /// The next value.
    pub(crate) fn value(&mut self, pool: &mut DatumPool) -> Result<DatumId, HistoryError> {
        let Some(byte) = self.peek(pool)? else { return Err(self.unexpected("a value")) };
        match byte {
            b'[' => self.sequence(pool, ItemKind::Vector, b']'),
            b'{' => self.sequence(pool, ItemKind::Map, b'}'),
            b'(' if self.notation == SyntaxDialect::Edn => self.sequence(pool, ItemKind::List, b')'),
            b'"' => self.quoted_text(pool),
            b'-' | b'+' | b'0'..=b'9' if self.starts_number() => self.number(pool),
            _ if self.notation == SyntaxDialect::Json => self.json_word(),
            b':' => {
                let start = self.at;
                self.at += 1;
                let name = self.word();
                if name.is_empty() {
                    return Err(self.error(start, "`:`", "a keyword's name after the colon"));
                }
                Ok(pool.words(TextKind::Keyword, name))
            }
            b'#' => self.dispatch(pool),
            b'\\' => self.character(pool),
            b'\'' | b'^' | b'@' | b'`' | b'~' => Err(self.unexpected("a value; reader macros of Clojure are not data")),
            b']' | b'}' | b')' => Err(self.unexpected("a value")),
            _ => {
                let start = self.at;
                match self.word() {
                    "" => Err(self.error(start, quoted(&self.text[start..]), "a value")),
                    "nil" => Ok(DatumId::NIL),
                    "true" => Ok(DatumId::TRUE),
                    "false" => Ok(DatumId::FALSE),
                    name => Ok(pool.words(TextKind::Symbol, name)),
                }
            }
        }
    }

    /// The whole number of 64 bits that stands here, if one does: fields of operations need no id for it.
    pub(crate) fn plain_integer(&mut self) -> Option<i64> {
        let rest = &self.bytes[self.at..];
        let digits = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        let is_plain = (1..=18).contains(&digits) && (rest[0] != b'0' || digits == 1);
        let is_over = rest.get(digits).is_none_or(|byte| b" ,\n}]\r\t".contains(byte));
        if !is_plain || !is_over {
            return None;
        }
        self.at += digits;
        Some(rest[..digits].iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0')))
    }

    /// An error at the current position.
    pub(crate) fn unexpected(&self, expected: impl Into<String>) -> HistoryError {
        let rest = &self.text[self.at.min(self.text.len())..];
        let found = if rest.is_empty() { "the end of the input".to_owned() } else { quoted(rest) };
        self.error(self.at, found, expected)
    }

    pub(crate) fn error(&self, at: usize, found: impl Into<String>, expected: impl Into<String>) -> HistoryError {
        HistoryError::at(self.bytes, at, found, expected)
    }

    fn skip_blanks(&mut self, pool: &mut DatumPool) -> Result<(), HistoryError> {
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                b',' | 0x0B | 0x0C if self.notation == SyntaxDialect::Edn => self.at += 1,
                b';' if self.notation == SyntaxDialect::Edn => {
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                }
                b'#' if self.notation == SyntaxDialect::Edn && self.bytes.get(self.at + 1) == Some(&b'_') => {
                    self.at += 2;
                    self.nested(pool, |reader, pool| reader.value(pool))?;
                }
                _ => break,
            }
        }
        Ok(())
    }

    /// Reads what is one level further in.
    fn nested<T>(
        &mut self,
        pool: &mut DatumPool,
        read: impl FnOnce(&mut Self, &mut DatumPool) -> Result<T, HistoryError>,
    ) -> Result<T, HistoryError> {
        if self.depth == DEPTH_MAX {
            return Err(self.unexpected(format!("at most {DEPTH_MAX} values inside of values")));
        }
        self.depth += 1;
        let result = read(self, pool);
        self.depth -= 1;
        result
    }

    fn sequence(&mut self, pool: &mut DatumPool, kind: ItemKind, close: u8) -> Result<DatumId, HistoryError> {
        self.nested(pool, |reader, pool| reader.elements(pool, kind, close))
    }

    fn elements(&mut self, pool: &mut DatumPool, kind: ItemKind, close: u8) -> Result<DatumId, HistoryError> {
        let (start, first) = (self.at, self.open.len());
        self.at += 1;
        loop {
            self.separator(pool, close, self.open.len() == first)?;
            match self.peek(pool)? {
                Some(byte) if byte == close => break,
                None => {
                    let expected = format!("`{}`, which closes what opens here", close as char);
                    return Err(self.error(start, "the end of the input", expected));
                }
                Some(_) => {}
            }
            let key = self.at;
            if kind == ItemKind::Map && self.notation == SyntaxDialect::Json && self.bytes[key] != b'"' {
                return Err(self.unexpected("a text as key"));
            }
            let item = self.value(pool)?;
            self.open.push(item);
            if kind == ItemKind::Map {
                self.colon(pool)?;
                if self.peek(pool)? == Some(close) {
                    return Err(self.error(key, quoted(&self.text[key..]), "a key with a value"));
                }
                let value = self.value(pool)?;
                self.open.push(value);
            }
        }
        self.at += 1;
        let id = match kind {
            ItemKind::Map | ItemKind::Set => self.unordered(pool, kind, first, start)?,
            _ => pool.sequence(kind, &self.open[first..]),
        };
        self.open.truncate(first);
        Ok(id)
    }

    /// A map or a set, in the order of ids.
    fn unordered(
        &mut self,
        pool: &mut DatumPool,
        kind: ItemKind,
        first: usize,
        start: usize,
    ) -> Result<DatumId, HistoryError> {
        let items = &mut self.open[first..];
        let repeated = if kind == ItemKind::Map {
            let entries = items.as_chunks_mut::<2>().0;
            entries.sort_unstable_by_key(|[key, _]| *key);
            entries.windows(2).find(|pair| pair[0][0] == pair[1][0]).map(|pair| pair[0][0])
        } else {
            items.sort_unstable();
            items.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
        };
        if let Some(repeated) = repeated {
            let what = if kind == ItemKind::Map { "keys" } else { "elements" };
            let found = format!("{} twice", pool.edn(repeated));
            return Err(self.error(start, found, format!("{what} that differ")));
        }
        Ok(pool.sequence(kind, &self.open[first..]))
    }

    /// What begins with `#`: sets, tags, symbolic numbers.
    fn dispatch(&mut self, pool: &mut DatumPool) -> Result<DatumId, HistoryError> {
        let start = self.at;
        match self.bytes.get(self.at + 1) {
            Some(b'{') => {
                self.at += 1;
                self.sequence(pool, ItemKind::Set, b'}')
            }
            Some(b'#') => {
                self.at += 2;
                match self.word() {
                    "Inf" => Ok(pool.float(f64::INFINITY)),
                    "-Inf" => Ok(pool.float(f64::NEG_INFINITY)),
                    "NaN" => Ok(pool.float(f64::NAN)),
                    _ => Err(self.error(start, quoted(&self.text[start..]), "`##Inf`, `##-Inf` or `##NaN`")),
                }
            }
            Some(byte) if byte.is_ascii_alphabetic() || *byte == b':' => {
                self.at += 1;
                let name = self.word();
                let tag = pool.words(TextKind::Symbol, name);
                let value = self.nested(pool, |reader, pool| reader.value(pool))?;
                Ok(pool.sequence(ItemKind::Tag, &[tag, value]))
            }
            _ => Err(self.unexpected("`#{`, `#_`, `##` or a tag")),
        }
    }

    /// The bytes up to the next delimiter.
    fn word(&mut self) -> &'a str {
        let rest = &self.bytes[self.at..];
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0B || b"()[]{}\",;".contains(byte);
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        let word = &self.text[self.at..self.at + length];
        self.at += length;
        word
    }

    fn json_word(&mut self) -> Result<DatumId, HistoryError> {
        for (word, id) in [("null", DatumId::NIL), ("true", DatumId::TRUE), ("false", DatumId::FALSE)] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(id);
            }
        }
        Err(self.unexpected("a value"))
    }

    fn starts_number(&self) -> bool {
        let sign = matches!(self.bytes[self.at], b'-' | b'+');
        let no_sign = self.notation == SyntaxDialect::Json && self.bytes[self.at] == b'+';
        !no_sign && self.bytes.get(self.at + usize::from(sign)).is_some_and(u8::is_ascii_digit)
    }

    fn number(&mut self, pool: &mut DatumPool) -> Result<DatumId, HistoryError> {
        let start = self.at;
        let negative = self.bytes[start] == b'-';
        let mut value: i64 = 0;
        let mut fits = true;
        self.at += usize::from(!self.bytes[start].is_ascii_digit());
        let digits = self.at;
        while let Some(digit) = self.bytes.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            let digit = i64::from(digit - b'0');
            let next = value.checked_mul(10).and_then(|value| value.checked_sub(digit));
            fits &= next.is_some();
            value = next.unwrap_or(0);
            self.at += 1;
        }
        let zero_first = self.bytes[digits] == b'0' && self.at > digits + 1;
        let whole_end = self.at;
        let is_further = |byte: &u8| byte.is_ascii_alphanumeric() || b".+-/".contains(byte);
        while self.bytes.get(self.at).is_some_and(is_further) {
            self.at += 1;
        }
        let word = &self.text[start..self.at];
        let rest = &self.text[whole_end..self.at];
        let wrong = |reader: &Self| Err(reader.error(start, quoted(word), "a number"));
        match rest {
            _ if zero_first && rest != "N" => wrong(self),
            "" | "N" if rest.is_empty() || self.notation == SyntaxDialect::Edn => {
                let value = if negative { Some(value) } else { value.checked_neg() };
                match value.filter(|_| fits) {
                    Some(value) => Ok(pool.integer(value)),
                    None => Ok(pool.words(TextKind::Number, word.trim_start_matches('+').trim_end_matches('N'))),
                }
            }
            _ if is_fraction(rest) => match word.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(pool.float(value)),
                _ => Ok(pool.words(TextKind::Number, word)),
            },
            _ if self.notation == SyntaxDialect::Edn && is_exact(rest) => Ok(pool.words(TextKind::Number, word)),
            // The address of an object, as Clojure prints it.
            _ if self.notation == SyntaxDialect::Edn && rest.strip_prefix('x').is_some_and(is_hexadecimal) => {
                Ok(pool.words(TextKind::Symbol, word))
            }
            _ => wrong(self),
        }
    }

    fn quoted_text(&mut self, pool: &mut DatumPool) -> Result<DatumId, HistoryError> {
        let start = self.at;
        self.at += 1;
        let plain = self.plain_run();
        if self.bytes.get(self.at) == Some(&b'"') {
            self.at += 1;
            return Ok(pool.words(TextKind::Text, plain));
        }
        let mut text = plain.to_owned();
        loop {
            match self.bytes.get(self.at) {
                None => {
                    return Err(self.error(
                        start,
                        "the end of the input",
                        "`\"`, which closes the text that opens here",
                    ));
                }
                Some(b'"') => break,
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(self.unexpected("a control character as an escape")),
            }
            text.push_str(self.plain_run());
        }
        self.at += 1;
        Ok(pool.words(TextKind::Text, &text))
    }

    /// The part of a text without escapes that begins here.
    fn plain_run(&mut self) -> &'a str {
        let rest = &self.bytes[self.at..];
        let is_json = self.notation == SyntaxDialect::Json;
        let is_end = |byte: &u8| *byte == b'"' || *byte == b'\\' || is_json && *byte < 0x20;
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        let run = &self.text[self.at..self.at + length];
        self.at += length;
        run
    }

    /// A character that is written as an escape.
    fn escape(&mut self) -> Result<char, HistoryError> {
        let start = self.at;
        self.at += 2;
        match self.bytes.get(start + 1) {
            Some(b'n') => Ok('\n'),
            Some(b't') => Ok('\t'),
            Some(b'r') => Ok('\r'),
            Some(b'b') => Ok('\u{8}'),
            Some(b'f') => Ok('\u{C}'),
            Some(b'"') => Ok('"'),
            Some(b'\\') => Ok('\\'),
            Some(b'/') if self.notation == SyntaxDialect::Json => Ok('/'),
            Some(b'u') => self.code_point(start),
            _ => Err(self.error(start, quoted(&self.text[start..]), "an escape such as `\\n`, `\\\"` or `\\u00e9`")),
        }
    }

    /// The character of `\uXXXX`, or of a pair of them.
    fn code_point(&mut self, start: usize) -> Result<char, HistoryError> {
        let wrong = |reader: &Self| {
            reader.error(start, quoted(&reader.text[start..]), "four hexadecimal digits of a character")
        };
        let first = self.four_digits().ok_or_else(|| wrong(self))?;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        if !self.bytes[self.at..].starts_with(b"\\u") {
            return Err(wrong(self));
        }
        self.at += 2;
        let second = self.four_digits().ok_or_else(|| wrong(self))?;
        char::decode_utf16([first as u16, second as u16]).next().and_then(Result::ok).ok_or_else(|| wrong(self))
    }

    fn four_digits(&mut self) -> Option<u32> {
        let digits = self.bytes.get(self.at..self.at + 4)?;
        let digits = std::str::from_utf8(digits).ok().filter(|digits| is_hexadecimal(digits))?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    /// A character of EDN: `\a`, `\newline`, `\u0041`.
    fn character(&mut self, pool: &mut DatumPool) -> Result<DatumId, HistoryError> {
        let start = self.at;
        self.at += 1;
        let Some(first) = self.text[self.at..].chars().next() else {
            return Err(self.error(start, "the end of the input", "a character"));
        };
        self.at += first.len_utf8();
        let word = self.word();
        let name = &self.text[start + 1..self.at];
        let character = match name {
            _ if word.is_empty() => Some(first),
            "newline" => Some('\n'),
            "space" => Some(' '),
            "tab" => Some('\t'),
            "return" => Some('\r'),
            "backspace" => Some('\u{8}'),
            "formfeed" => Some('\u{C}'),
            _ => name
                .strip_prefix('u')
                .filter(|digits| digits.len() == 4 && is_hexadecimal(digits))
                .and_then(|digits| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)),
        };
        match character {
            Some(character) => Ok(pool.character(character)),
            None => Err(self.error(start, quoted(&self.text[start..]), "a character such as `\\a` or `\\newline`")),
        }
    }
}

/// Whether what follows the whole part of a number is a fraction, an exponent, or both.
fn is_fraction(rest: &str) -> bool {
    let (fraction, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let good_fraction = fraction.is_empty() || fraction.strip_prefix('.').is_some_and(is_digits);
    let good_exponent = exponent.is_none_or(|digits| is_digits(digits.strip_prefix(['+', '-']).unwrap_or(digits)));
    good_fraction && good_exponent && !rest.is_empty()
}

/// Whether it is the rest of an exact decimal (`3.14M`) or of a ratio (`1/2`).
fn is_exact(rest: &str) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    rest.strip_prefix('/').is_some_and(is_digits)
        || rest.strip_suffix('M').is_some_and(|rest| rest.is_empty() || is_fraction(rest))
}

fn is_hexadecimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
