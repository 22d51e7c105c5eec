//! Text to values of known types, in the notation of WAVE.
//!
//! ```text
//! ("key", {sizes: [1, 2], mode: %none}, some(circle(1.5)))      and the types of a function's parameters ─▶ values
//! ```
//!
//! An optional value may be written without `some`, an `ok` of a result without `ok`, and optional fields of a record may be
//! left out, as the notation says: <https://github.com/bytecodealliance/wasm-tools/tree/main/crates/wasm-wave>.
//!
//! Invariants: no text makes it panic; recursion ends with the type, whose depth is bounded by who asks.
//! Not here: comments and strings of several lines, which no one-line text has.

use wasmtime::component::{Type, Val};

/// Reads the arguments of a function: as many as there are types.
pub(crate) fn arguments(text: &str, types: &[Type]) -> Result<Vec<Val>, String> {
    let mut reader = WaveReader { text, at: 0 };
    if types.is_empty() && text.trim().is_empty() {
        return Ok(Vec::new());
    }
    reader.take('(')?;
    let values = reader.items(')', types)?;
    reader.end()?;
    Ok(values)
}

/// Reads one value.
pub(crate) fn value(text: &str, of: &Type) -> Result<Val, String> {
    let mut reader = WaveReader { text, at: 0 };
    let value = reader.value(of)?;
    reader.end()?;
    Ok(value)
}

struct WaveReader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> WaveReader<'a> {
    fn peek(&mut self) -> Option<char> {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest.chars().next()
    }

    fn next_is(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn expected<T>(&mut self, what: &str) -> Result<T, String> {
        let found = self.peek().map_or_else(|| "the end".to_owned(), |c| format!("`{}`", c.escape_debug()));
        let column = self.text[..self.at].chars().count() + 1;
        Err(format!("character {column}: expected {what}, found {found}"))
    }

    fn take(&mut self, c: char) -> Result<(), String> {
        if self.next_is(c) { Ok(()) } else { self.expected(&format!("`{c}`")) }
    }

    fn end(&mut self) -> Result<(), String> {
        if self.peek().is_none() { Ok(()) } else { self.expected("the end") }
    }

    /// A word, as keywords and the names of cases and fields are; and whether it was escaped.
    fn word(&mut self) -> Option<(&'a str, bool)> {
        self.peek();
        let rest = &self.text[self.at..];
        let bare = rest.strip_prefix('%').unwrap_or(rest);
        let end = bare.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(bare.len());
        if !bare.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        let is_escaped = bare.len() < rest.len();
        self.at += rest.len() - bare.len() + end;
        Some((&bare[..end], is_escaped))
    }

    /// The word that comes next, if it is this one.
    fn keyword(&mut self, word: &str) -> bool {
        let before = self.at;
        let found = self.word() == Some((word, false));
        if !found {
            self.at = before;
        }
        found
    }

    /// Values of these types with commas between them, up to the end.
    fn items(&mut self, end: char, types: &[Type]) -> Result<Vec<Val>, String> {
        let mut values = Vec::new();
        for (place, of) in types.iter().enumerate() {
            if self.peek() == Some(end) {
                return self.expected(&format!("{} values, {place} given", types.len()));
            }
            values.push(self.value(of)?);
            if place + 1 < types.len() && !self.next_is(',') {
                return self.expected(&format!("`,` and {} more values", types.len() - place - 1));
            }
        }
        self.next_is(',');
        self.take(end)?;
        Ok(values)
    }

    fn payload(&mut self, of: Option<Type>) -> Result<Option<Box<Val>>, String> {
        let Some(of) = of else { return Ok(None) };
        self.take('(')?;
        let value = self.value(&of)?;
        self.take(')')?;
        Ok(Some(Box::new(value)))
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, String> {
        self.peek();
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(rest.len());
        match rest[..end].parse() {
            Ok(number) => {
                self.at += end;
                Ok(number)
            }
            Err(_) => self.expected(what),
        }
    }

    fn value(&mut self, of: &Type) -> Result<Val, String> {
        Ok(match of {
            Type::Bool if self.keyword("true") => Val::Bool(true),
            Type::Bool if self.keyword("false") => Val::Bool(false),
            Type::Bool => return self.expected("true or false"),
            Type::S8 => Val::S8(self.number("a number from -128 to 127")?),
            Type::U8 => Val::U8(self.number("a number from 0 to 255")?),
            Type::S16 => Val::S16(self.number("a number of 16 bits")?),
            Type::U16 => Val::U16(self.number("a number from 0 to 65535")?),
            Type::S32 => Val::S32(self.number("a number of 32 bits")?),
            Type::U32 => Val::U32(self.number("a number from 0, of 32 bits")?),
            Type::S64 => Val::S64(self.number("a number of 64 bits")?),
            Type::U64 => Val::U64(self.number("a number from 0, of 64 bits")?),
            Type::Float32 => Val::Float32(self.number("a number, `inf`, `-inf` or `nan`")?),
            Type::Float64 => Val::Float64(self.number("a number, `inf`, `-inf` or `nan`")?),
            Type::Char => {
                let text = self.quoted('\'', "a character in single quotes")?;
                let mut chars = text.chars();
                match (chars.next(), chars.next()) {
                    (Some(c), None) => Val::Char(c),
                    _ => return self.expected("one character in single quotes before this"),
                }
            }
            Type::String => Val::String(self.quoted('"', "a string in double quotes")?),
            Type::List(of) => {
                self.take('[')?;
                let (of, mut values) = (of.ty(), Vec::new());
                while !self.next_is(']') {
                    values.push(self.value(&of)?);
                    if !self.next_is(',') {
                        self.take(']')?;
                        break;
                    }
                }
                Val::List(values)
            }
            Type::Tuple(of) => {
                self.take('(')?;
                Val::Tuple(self.items(')', &of.types().collect::<Vec<_>>())?)
            }
            Type::Record(of) => self.record(&of.fields().map(|it| (it.name.to_owned(), it.ty)).collect::<Vec<_>>())?,
            Type::Variant(of) => {
                let cases: Vec<(String, Option<Type>)> = of.cases().map(|it| (it.name.to_owned(), it.ty)).collect();
                let name = self.case(cases.iter().map(|(name, _)| name.as_str()))?;
                let payload = cases.into_iter().find(|(case, _)| *case == name).and_then(|(_, of)| of);
                Val::Variant(name, self.payload(payload)?)
            }
            Type::Enum(of) => Val::Enum(self.case(of.names())?),
            Type::Option(_) if self.keyword("none") => Val::Option(None),
            Type::Option(of) if self.keyword("some") => Val::Option(self.payload(Some(of.ty()))?),
            Type::Option(of) => Val::Option(Some(Box::new(self.value(&of.ty())?))),
            Type::Result(of) if self.keyword("ok") => Val::Result(Ok(self.payload(of.ok())?)),
            Type::Result(of) if self.keyword("err") => Val::Result(Err(self.payload(of.err())?)),
            Type::Result(of) => match of.ok() {
                Some(of) => Val::Result(Ok(Some(Box::new(self.value(&of)?)))),
                None => return self.expected("ok or err"),
            },
            Type::Flags(of) => self.flags(&of.names().map(str::to_owned).collect::<Vec<_>>())?,
            _ => return self.expected("a value of a type that can be written"),
        })
    }

    fn case<'b>(&mut self, known: impl Iterator<Item = &'b str>) -> Result<String, String> {
        let known: Vec<&str> = known.collect();
        let before = self.at;
        match self.word() {
            Some((name, _)) if known.contains(&name) => Ok(name.to_owned()),
            _ => {
                self.at = before;
                self.expected(&format!("one of {}", known.join(", ")))
            }
        }
    }

    fn record(&mut self, fields: &[(String, Type)]) -> Result<Val, String> {
        self.take('{')?;
        let mut found: Vec<Option<Val>> = vec![None; fields.len()];
        while !self.next_is('}') {
            // A record without any of its optional fields.
            if self.next_is(':') {
                self.take('}')?;
                break;
            }
            let name = self.case(fields.iter().map(|(name, _)| name.as_str()))?;
            self.take(':')?;
            let place = fields.iter().position(|(field, _)| *field == name).unwrap_or_default();
            found[place] = Some(self.value(&fields[place].1)?);
            if !self.next_is(',') {
                self.take('}')?;
                break;
            }
        }
        let mut values = Vec::new();
        for ((name, of), value) in fields.iter().zip(found) {
            let value = match (value, of) {
                (Some(value), _) => value,
                (None, Type::Option(_)) => Val::Option(None),
                (None, _) => return self.expected(&format!("the field `{name}` before this")),
            };
            values.push((name.clone(), value));
        }
        Ok(Val::Record(values))
    }

    fn flags(&mut self, known: &[String]) -> Result<Val, String> {
        self.take('{')?;
        let mut set = Vec::new();
        while !self.next_is('}') {
            set.push(self.case(known.iter().map(String::as_str))?);
            if !self.next_is(',') {
                self.take('}')?;
                break;
            }
        }
        // In the order of the type, as they come back.
        Ok(Val::Flags(known.iter().filter(|name| set.contains(name)).cloned().collect()))
    }

    fn quoted(&mut self, quote: char, what: &str) -> Result<String, String> {
        if !self.next_is(quote) {
            return self.expected(what);
        }
        let mut out = String::new();
        let mut chars = self.text[self.at..].char_indices();
        while let Some((at, c)) = chars.next() {
            if c == quote {
                self.at += at + c.len_utf8();
                return Ok(out);
            }
            if c != '\\' {
                out.push(c);
                continue;
            }
            let escaped = match chars.next().map(|(_, c)| c) {
                Some('n') => Some('\n'),
                Some('r') => Some('\r'),
                Some('t') => Some('\t'),
                Some(c @ ('\\' | '"' | '\'')) => Some(c),
                Some('u') => {
                    let digits: String = chars.by_ref().map(|(_, c)| c).skip(1).take_while(|c| *c != '}').collect();
                    u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)
                }
                _ => None,
            };
            match escaped {
                Some(c) => out.push(c),
                None => {
                    self.at += at;
                    return self.expected("one of \\n, \\r, \\t, \\\\, \\\", \\' and \\u{…}");
                }
            }
        }
        self.at = self.text.len();
        self.expected(&format!("`{quote}`"))
    }
}
