//! Text to values of known types: the `wasm-wave` library reads the notation, and here its parts become what the types say.
//!
//! ```text
//! ("key", {sizes: [1, 2], mode: %none}, some(circle(1.5)))      and the types of a function's parameters ─▶ values
//! ```
//!
//! An optional value may be written without `some`, an `ok` of a result without `ok`, and optional fields of a record may be
//! left out, as the notation says: <https://github.com/bytecodealliance/wasm-tools/tree/main/crates/wasm-wave>.
//!
//! The library's own way from its parts to values is not taken: it passes over fields that a record does not have, so that a
//! misspelled one is never noticed; it takes the `%` of a flag for a part of its name, and loses the order of flags, by which
//! answers are compared; and it checks the values of each level again with all below them.
//!
//! Invariants: no text makes it panic; recursion ends with the type, whose depth is bounded by who asks, and the library ends
//! at a hundred levels.

use wasm_wave::ast::{Node, NodeType};
use wasm_wave::parser::{ParserError, ParserErrorKind};
use wasm_wave::untyped::UntypedValue;
use wasmtime::component::{Type, Val};

/// Longest text that is read, in bytes; a longer one is refused. Each byte can become a part of a hundred bytes.
const TEXT_BYTES_MAX: usize = 4 << 20;

/// Reads the arguments of a function: as many as there are types.
pub(crate) fn arguments(text: &str, types: &[Type]) -> Result<Vec<Val>, String> {
    // The notation has no empty tuple.
    if types.is_empty() && ["", "()"].contains(&&*text.split_whitespace().collect::<String>()) {
        return Ok(Vec::new());
    }
    let written = WaveText(text);
    written.values(written.parsed()?.node(), types)
}

/// Reads one value.
pub(crate) fn value(text: &str, of: &Type) -> Result<Val, String> {
    let written = WaveText(text);
    written.value(written.parsed()?.node(), of)
}

struct WaveText<'a>(&'a str);

impl<'a> WaveText<'a> {
    fn parsed(&self) -> Result<UntypedValue<'a>, String> {
        if self.0.len() > TEXT_BYTES_MAX {
            return Err(format!("expected at most {TEXT_BYTES_MAX} bytes, found {}", self.0.len()));
        }
        UntypedValue::parse(self.0).map_err(|error| self.misread(&error))
    }

    fn misread(&self, error: &ParserError) -> String {
        match error.kind() {
            ParserErrorKind::UnexpectedEnd => self.at(self.0.len(), "unexpected"),
            kind => self.at(error.span().start, &kind.to_string()),
        }
    }

    /// What is wrong, and what stands there.
    fn at(&self, start: usize, wrong: &str) -> String {
        let (before, rest) = self.0.split_at_checked(start).unwrap_or((self.0, ""));
        let found = rest.chars().next().map_or_else(|| "the end".to_owned(), |c| format!("`{}`", c.escape_debug()));
        format!("character {}: {wrong}, found {found}", before.chars().count() + 1)
    }

    fn expected<T>(&self, node: &Node, what: &str) -> Result<T, String> {
        Err(self.at(node.span().start, &format!("expected {what}")))
    }

    fn or_expected<T>(&self, node: &Node, read: Result<T, ParserError>, what: &str) -> Result<T, String> {
        read.or_else(|_| self.expected(node, what))
    }

    fn number<T: std::str::FromStr>(&self, node: &Node, what: &str) -> Result<T, String> {
        self.or_expected(node, node.as_number(self.0), what)
    }

    fn value(&self, node: &Node, of: &Type) -> Result<Val, String> {
        Ok(match of {
            Type::Bool => Val::Bool(self.or_expected(node, node.as_bool(), "true or false")?),
            Type::S8 => Val::S8(self.number(node, "a number from -128 to 127")?),
            Type::U8 => Val::U8(self.number(node, "a number from 0 to 255")?),
            Type::S16 => Val::S16(self.number(node, "a number of 16 bits")?),
            Type::U16 => Val::U16(self.number(node, "a number from 0 to 65535")?),
            Type::S32 => Val::S32(self.number(node, "a number of 32 bits")?),
            Type::U32 => Val::U32(self.number(node, "a number from 0, of 32 bits")?),
            Type::S64 => Val::S64(self.number(node, "a number of 64 bits")?),
            Type::U64 => Val::U64(self.number(node, "a number from 0, of 64 bits")?),
            Type::Float32 => Val::Float32(self.number(node, "a number, `inf`, `-inf` or `nan`")?),
            Type::Float64 => Val::Float64(self.number(node, "a number, `inf`, `-inf` or `nan`")?),
            Type::Char => Val::Char(self.or_expected(node, node.as_char(self.0), "a character in single quotes")?),
            Type::String => {
                Val::String(self.or_expected(node, node.as_str(self.0), "a string in double quotes")?.into_owned())
            }
            Type::List(of) => {
                let of = of.ty();
                let items = self.or_expected(node, node.as_list(), "a list in brackets")?;
                Val::List(items.map(|item| self.value(item, &of)).collect::<Result<_, _>>()?)
            }
            Type::Tuple(of) => Val::Tuple(self.values(node, &of.types().collect::<Vec<_>>())?),
            Type::Record(of) => self.record(node, &of.fields().map(|it| (it.name, it.ty)).collect::<Vec<_>>())?,
            Type::Variant(of) => {
                let cases: Vec<(&str, Option<Type>)> = of.cases().map(|it| (it.name, it.ty)).collect();
                let (name, payload) = self.or_expected(node, node.as_variant(self.0), &one_of(&cases))?;
                match cases.iter().find(|(case, _)| *case == name) {
                    Some((_, of)) => Val::Variant(name.to_owned(), self.payload(node, payload, of.as_ref())?),
                    None => return self.expected(node, &one_of(&cases)),
                }
            }
            Type::Enum(of) => {
                let names: Vec<&str> = of.names().collect();
                match node.as_enum(self.0) {
                    Ok(name) if names.contains(&name) => Val::Enum(name.to_owned()),
                    _ => return self.expected(node, &format!("one of {}", names.join(", "))),
                }
            }
            Type::Option(of) => match node.as_option() {
                Ok(None) => Val::Option(None),
                Ok(payload) => Val::Option(self.payload(node, payload, Some(&of.ty()))?),
                Err(_) => Val::Option(Some(Box::new(self.value(node, &of.ty())?))),
            },
            Type::Result(of) => match (node.as_result(), of.ok()) {
                (Ok(Ok(payload)), of) => Val::Result(Ok(self.payload(node, payload, of.as_ref())?)),
                (Ok(Err(payload)), _) => Val::Result(Err(self.payload(node, payload, of.err().as_ref())?)),
                (Err(_), Some(of)) => Val::Result(Ok(Some(Box::new(self.value(node, &of)?)))),
                (Err(_), None) => return self.expected(node, "ok or err"),
            },
            Type::Flags(of) => self.flags(node, &of.names().collect::<Vec<_>>())?,
            _ => return self.expected(node, "a value of a type that can be written"),
        })
    }

    fn values(&self, node: &Node, types: &[Type]) -> Result<Vec<Val>, String> {
        let count = format!("{} values in parentheses", types.len());
        let items = self.or_expected(node, node.as_tuple(), &count)?;
        if items.len() != types.len() {
            return self.expected(node, &format!("{count}, {} given", items.len()));
        }
        items.zip(types).map(|(item, of)| self.value(item, of)).collect()
    }

    fn payload(&self, around: &Node, found: Option<&Node>, of: Option<&Type>) -> Result<Option<Box<Val>>, String> {
        match (found, of) {
            (Some(found), Some(of)) => Ok(Some(Box::new(self.value(found, of)?))),
            (None, None) => Ok(None),
            (None, Some(_)) => self.expected(around, "a value in parentheses after this"),
            (Some(_), None) => self.expected(around, "no value in parentheses after this"),
        }
    }

    fn record(&self, node: &Node, fields: &[(&str, Type)]) -> Result<Val, String> {
        let found: Vec<(&str, &Node)> = match node.ty() {
            // A record without any of its optional fields.
            NodeType::Flags if node.as_flags(self.0).is_ok_and(|mut flags| flags.next().is_none()) => Vec::new(),
            _ => self.or_expected(node, node.as_record(self.0), "a record in braces")?.collect(),
        };
        if let Some((_, value)) = found.iter().find(|(name, _)| !fields.iter().any(|(field, _)| field == name)) {
            return self.expected(value, &format!("{} before this", one_of(fields)));
        }
        let field = |(name, of): &(&str, Type)| match (found.iter().find(|(field, _)| field == name), of) {
            (Some((_, value)), of) => Ok(((*name).to_owned(), self.value(value, of)?)),
            (None, Type::Option(_)) => Ok(((*name).to_owned(), Val::Option(None))),
            (None, _) => self.expected(node, &format!("a record with the field `{name}`")),
        };
        Ok(Val::Record(fields.iter().map(field).collect::<Result<_, _>>()?))
    }

    fn flags(&self, node: &Node, known: &[&str]) -> Result<Val, String> {
        let found = self.or_expected(node, node.as_flags(self.0), "flags in braces")?;
        let found: Vec<&str> = found.map(|name| name.strip_prefix('%').unwrap_or(name)).collect();
        if let Some(other) = found.iter().find(|name| !known.contains(name)) {
            return self.expected(node, &format!("flags of {}, not `{other}`", known.join(", ")));
        }
        // In the order of the type, as they come back.
        Ok(Val::Flags(known.iter().filter(|name| found.contains(name)).map(|name| (*name).to_owned()).collect()))
    }
}

fn one_of<T>(named: &[(&str, T)]) -> String {
    format!("one of {}", named.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "))
}
