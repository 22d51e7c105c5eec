//! From the tree with places to types, by serde.
//!
//! ```text
//! {"type": "set_kv", "key": "a", "vlaue": "1"}      Step::SetKv needs `value`: unknown field `vlaue` @31
//! ```
//!
//! An object with a `type` is read as the enum's variant of that name, and the object's other keys as its fields. (serde has
//! this too, as "internally tagged", but copies the object first and forgets the places.)
//!
//! A step of version 2 is read twice: with its variables still in it, when anything that such a string can become will do, and
//! each time that it is done, filled in.

use crate::json::{JsonKey, JsonNode, JsonNumber, JsonValue};
use crate::payload::PAYLOAD;
use crate::problem::{ScenarioProblem, SourcePosition};
use crate::template::{is_one, is_template};
use crate::time::SPAN;
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};
use std::fmt;

/// What is wrong, and the byte at which.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReadProblem {
    at: Option<usize>,
    what: String,
}

impl ReadProblem {
    pub(crate) fn at(at: usize, what: impl Into<String>) -> ReadProblem {
        ReadProblem { at: Some(at), what: what.into() }
    }

    /// At this place, unless it was said better already.
    fn or(mut self, at: usize) -> ReadProblem {
        self.at.get_or_insert(at);
        self
    }

    pub(crate) fn locate(self, text: &str) -> ScenarioProblem {
        ScenarioProblem { place: self.at.map(|at| SourcePosition::of(text.as_bytes(), at)), message: self.what }
    }
}

impl fmt::Display for ReadProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for ReadProblem {}

impl de::Error for ReadProblem {
    fn custom<T: fmt::Display>(what: T) -> ReadProblem {
        ReadProblem { at: None, what: what.to_string() }
    }

    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> ReadProblem {
        de::Error::custom(format!("expected {}, found {found}", plain(expected)))
    }

    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> ReadProblem {
        de::Error::custom(format!("expected {}, found {found}", plain(expected)))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> ReadProblem {
        if FIELDS_OF_2.contains(&field) {
            return de::Error::custom(needs_2(&format!("`{field}`")));
        }
        de::Error::custom(unknown("field", field, expected))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> ReadProblem {
        if crate::program::StepShape::KINDS.contains(&variant) {
            return de::Error::custom(needs_2(&format!("`{variant}`")));
        }
        de::Error::custom(unknown("kind", variant, expected))
    }

    fn missing_field(field: &'static str) -> ReadProblem {
        de::Error::custom(format!("`{field}` is missing"))
    }
}

/// Fields that only version 2 has.
const FIELDS_OF_2: [&str; 3] = ["save_as", "vars", "functions"];

fn needs_2(what: &str) -> String {
    format!("{what} needs version 2: `\"version\": 2`")
}

/// What was expected, in words of JSON instead of Rust.
fn plain(expected: &dyn de::Expected) -> String {
    let words = expected.to_string();
    match words.as_str() {
        "u16" => "a whole number from 0 to 65535".to_owned(),
        "u32" | "u64" => "a whole number from 0".to_owned(),
        "i32" | "i64" => "a whole number".to_owned(),
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        _ => words,
    }
}

/// Words up to which all known ones are listed.
const LISTED_MAX: usize = 12;
/// Longest word that is compared.
const WORD_BYTES_MAX: usize = 64;

/// An unknown word, and the nearest known one, or all.
pub(crate) fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let shown = quoted(word);
    // In the sandbox no message is needed: the command has read the file before.
    if cfg!(target_arch = "wasm32") {
        return format!("unknown {what} {shown}");
    }
    let distance = |known: &&str| strsim::damerau_levenshtein(&word.to_ascii_lowercase(), known);
    let nearest = match word.len() <= WORD_BYTES_MAX {
        true => known.iter().map(|known| (distance(known), *known)).min(),
        false => None,
    };
    match nearest {
        Some((distance, nearest)) if distance <= (word.chars().count() / 3).max(1) => {
            format!("unknown {what} {shown}; did you mean `{nearest}`?")
        }
        _ if known.is_empty() => format!("unknown {what} {shown}: there are none here"),
        _ if known.len() <= LISTED_MAX => {
            let known: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
            format!("unknown {what} {shown}; known are {}", known.join(", "))
        }
        _ => format!("unknown {what} {shown}; `fozzy schema` lists all"),
    }
}

/// Longest piece of a user's text that a message repeats, in characters.
const QUOTED_CHARS_MAX: usize = 60;

/// A piece of the user's text for a message.
pub(crate) fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(QUOTED_CHARS_MAX).flat_map(char::escape_debug).collect();
    let rest = if text.chars().nth(QUOTED_CHARS_MAX).is_some() { "…" } else { "" };
    format!("`{}{rest}`", shown.replace("\\\"", "\"").replace("\\'", "'"))
}

/// How strings with variables in them are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VariableMode {
    /// Version 1: there are none.
    One,
    /// Version 2, and nothing is filled in yet: one that is a variable fits everywhere.
    Template,
    /// Version 2, filled in: a number may stand for its text, and a text for the number that it is.
    Filled,
}

/// Reads a value of a type, of version 1.
pub(crate) fn read<T: DeserializeOwned>(node: &JsonNode) -> Result<T, ReadProblem> {
    read_as(node, VariableMode::One)
}

/// Reads a value of a type.
pub(crate) fn read_as<T: DeserializeOwned>(node: &JsonNode, mode: VariableMode) -> Result<T, ReadProblem> {
    T::deserialize(Reader::of(node, mode))
}

/// The key by which kinds are told apart.
const TAG: &str = "type";

/// Beside the node this is one scalar, so that a reader travels in registers: that is a tenth of the player's code.
#[derive(Clone, Copy)]
struct How(u8);

impl How {
    /// Set when the tag was read already.
    const TAGGED: u8 = 0x80;

    fn of(mode: VariableMode) -> How {
        How(mode as u8)
    }

    fn mode(self) -> VariableMode {
        match self.0 & !How::TAGGED {
            0 => VariableMode::One,
            1 => VariableMode::Template,
            _ => VariableMode::Filled,
        }
    }

    fn is_tagged(self) -> bool {
        self.0 & How::TAGGED != 0
    }
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    node: &'a JsonNode,
    how: How,
}

impl<'a> Reader<'a> {
    fn of(node: &'a JsonNode, mode: VariableMode) -> Reader<'a> {
        Reader { node, how: How::of(mode) }
    }

    fn members(self) -> Option<Members<'a>> {
        let (mode, skips_tag) = (self.how.mode(), self.how.is_tagged());
        match &self.node.value {
            JsonValue::Object(members) => Some(Members { rest: members.iter(), value: None, mode, skips_tag }),
            _ => None,
        }
    }

    /// Whether anything may come of it when it is filled in.
    fn is_open(&self) -> bool {
        self.how.mode() == VariableMode::Template && matches!(&self.node.value, JsonValue::Text(text) if is_one(text))
    }

    /// The number that it is, or that its text is.
    fn number(&self) -> Option<JsonNumber> {
        match &self.node.value {
            _ if self.is_open() => Some(JsonNumber::Unsigned(1)),
            JsonValue::Text(text) if self.how.mode() == VariableMode::Filled => {
                let unsigned = text.parse().map(JsonNumber::Unsigned);
                unsigned.or_else(|_| text.parse().map(JsonNumber::Signed)).ok()
            }
            _ => None,
        }
    }

    /// A number is read as one, and as what may become one.
    fn read_number<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadProblem> {
        let read = match self.number() {
            Some(JsonNumber::Unsigned(number)) => visitor.visit_u64(number),
            Some(JsonNumber::Signed(number)) => visitor.visit_i64(number),
            Some(JsonNumber::Float(_)) | None => return self.deserialize_any(visitor),
        };
        read.map_err(|found: ReadProblem| found.or(self.node.at))
    }

    /// A string is read as one, and, filled in, from any value.
    fn read_text<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadProblem> {
        let text = match &self.node.value {
            JsonValue::Bool(value) if self.how.mode() == VariableMode::Filled => value.to_string(),
            JsonValue::Number(number) if self.how.mode() == VariableMode::Filled => number.to_string(),
            _ => return self.deserialize_any(visitor),
        };
        visitor.visit_str(&text).map_err(|found: ReadProblem| found.or(self.node.at))
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = ReadProblem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadProblem> {
        let read = match &self.node.value {
            JsonValue::Null => visitor.visit_unit(),
            JsonValue::Bool(value) => visitor.visit_bool(*value),
            JsonValue::Number(JsonNumber::Unsigned(number)) => visitor.visit_u64(*number),
            JsonValue::Number(JsonNumber::Signed(number)) => visitor.visit_i64(*number),
            JsonValue::Number(JsonNumber::Float(number)) => visitor.visit_f64(*number),
            JsonValue::Text(text) => visitor.visit_str(text),
            JsonValue::List(elements) => visitor.visit_seq(Elements(elements.iter(), self.how.mode())),
            JsonValue::Object(members) => {
                let (mode, skips_tag) = (self.how.mode(), self.how.is_tagged());
                visitor.visit_map(Members { rest: members.iter(), value: None, mode, skips_tag })
            }
        };
        read.map_err(|found| found.or(self.node.at))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadProblem> {
        match &self.node.value {
            JsonValue::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadProblem> {
        match (name, &self.node.value) {
            (SPAN, _) if self.is_open() => {
                let any: StrDeserializer<'_, ReadProblem> = "1ms".into_deserializer();
                visitor.visit_newtype_struct(any)
            }
            (PAYLOAD, JsonValue::Object(_)) if self.how.mode() == VariableMode::One => {
                Err(ReadProblem::at(self.node.at, needs_2("a payload of bytes")))
            }
            (PAYLOAD, JsonValue::Object(members)) if self.how.mode() == VariableMode::Filled => {
                let open =
                    members.iter().find(|(_, node)| matches!(&node.value, JsonValue::Text(text) if is_template(text)));
                match open {
                    Some((_, node)) => {
                        Err(ReadProblem::at(node.at, format!("expected bytes, found {}", node.value.shown())))
                    }
                    None => visitor.visit_newtype_struct(self),
                }
            }
            (PAYLOAD, JsonValue::Bool(_) | JsonValue::Number(_)) if self.how.mode() == VariableMode::Filled => {
                self.read_text(visitor)
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadProblem> {
        let value = match &self.node.value {
            _ if self.is_open() => true,
            JsonValue::Text(text) if self.how.mode() == VariableMode::Filled && (text == "true" || text == "false") => {
                text == "true"
            }
            _ => return self.deserialize_any(visitor),
        };
        visitor.visit_bool(value)
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadProblem> {
        self.read_number(visitor)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadProblem> {
        self.read_number(visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadProblem> {
        self.read_number(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadProblem> {
        self.read_number(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadProblem> {
        self.read_number(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadProblem> {
        self.read_number(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadProblem> {
        self.read_text(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadProblem> {
        self.read_text(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadProblem> {
        match self.is_open() {
            true => {
                visitor.visit_map(Members { rest: [].iter(), value: None, mode: self.how.mode(), skips_tag: false })
            }
            false => self.deserialize_any(visitor),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadProblem> {
        match self.is_open() {
            true => visitor.visit_seq(Elements([].iter(), self.how.mode())),
            false => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadProblem> {
        let read = match &self.node.value {
            JsonValue::Text(_) if self.is_open() && !variants.is_empty() => {
                visitor.visit_enum(IntoDeserializer::<ReadProblem>::into_deserializer(variants[0]))
            }
            JsonValue::Text(text) => {
                visitor.visit_enum(IntoDeserializer::<ReadProblem>::into_deserializer(text.as_str()))
            }
            JsonValue::Object(_) => match self.node.member(TAG) {
                Some(JsonNode { at, value: JsonValue::Text(text) }) => {
                    visitor.visit_enum(Variant { at: *at, name: text, node: self.node, mode: self.how.mode() })
                }
                Some(other) => {
                    let what = format!("type: expected a string, found {}", other.value.kind());
                    Err(ReadProblem::at(other.at, what))
                }
                None => Err(ReadProblem::at(self.node.at, "`type` is missing: it says which kind this is")),
            },
            other => {
                Err(ReadProblem::at(self.node.at, format!("expected an object with a `type`, found {}", other.kind())))
            }
        };
        read.map_err(|found| found.or(self.node.at))
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i128 u8 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct struct identifier ignored_any
    }
}

struct Elements<'a>(std::slice::Iter<'a, JsonNode>, VariableMode);

impl<'de> de::SeqAccess<'de> for Elements<'_> {
    type Error = ReadProblem;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, ReadProblem> {
        let mode = self.1;
        self.0
            .next()
            .map(|node| seed.deserialize(Reader::of(node, mode)).map_err(|found| found.or(node.at)))
            .transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Members<'a> {
    rest: std::slice::Iter<'a, (JsonKey, JsonNode)>,
    value: Option<&'a JsonNode>,
    mode: VariableMode,
    skips_tag: bool,
}

impl<'de> de::MapAccess<'de> for Members<'_> {
    type Error = ReadProblem;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadProblem> {
        let skips_tag = self.skips_tag;
        let Some((key, node)) = self.rest.find(|(key, _)| !(skips_tag && key.text == TAG)) else { return Ok(None) };
        self.value = Some(node);
        let text: StrDeserializer<'_, ReadProblem> = key.text.as_str().into_deserializer();
        seed.deserialize(text).map(Some).map_err(|found| found.or(key.at))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadProblem> {
        match self.value.take() {
            Some(node) => seed.deserialize(Reader::of(node, self.mode)).map_err(|found| found.or(node.at)),
            None => Err(de::Error::custom("a value without its key")),
        }
    }
}

/// An object that is a variant of an enum.
struct Variant<'a> {
    at: usize,
    name: &'a str,
    node: &'a JsonNode,
    mode: VariableMode,
}

impl<'de, 'a> de::EnumAccess<'de> for Variant<'a> {
    type Error = ReadProblem;
    type Variant = Reader<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Reader<'a>), ReadProblem> {
        let name: StrDeserializer<'_, ReadProblem> = self.name.into_deserializer();
        let variant = seed.deserialize(name).map_err(|found| found.or(self.at))?;
        Ok((variant, Reader { node: self.node, how: How(self.mode as u8 | How::TAGGED) }))
    }
}

impl<'de> de::VariantAccess<'de> for Reader<'_> {
    type Error = ReadProblem;

    fn unit_variant(self) -> Result<(), ReadProblem> {
        let Some(members) = self.members() else { return Ok(()) };
        match members.rest.clone().find(|(key, _)| key.text != TAG) {
            None => Ok(()),
            Some((key, _)) => Err(ReadProblem::at(key.at, unknown("field", &key.text, &[]))),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, ReadProblem> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, ReadProblem> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, ReadProblem> {
        self.deserialize_any(visitor)
    }
}
