//! From the tree with places to types, by serde.
//!
//! ```text
//! {"type": "set_kv", "key": "a", "vlaue": "1"}      Step::SetKv needs `value`: unknown field `vlaue` @31
//! ```
//!
//! An object with a `type` is read as the enum's variant of that name, and the object's other keys as its fields. (serde has
//! this too, as "internally tagged", but copies the object first and forgets the places.)

use crate::json::{Key, Node, Number, Value};
use crate::problem::{Place, Problem};
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};
use std::fmt;

/// What is wrong, and the byte at which.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    at: Option<usize>,
    what: String,
}

impl Found {
    pub(crate) fn at(at: usize, what: impl Into<String>) -> Found {
        Found { at: Some(at), what: what.into() }
    }

    /// At this place, unless it was said better already.
    fn or(mut self, at: usize) -> Found {
        self.at.get_or_insert(at);
        self
    }

    pub(crate) fn locate(self, text: &str) -> Problem {
        Problem { place: self.at.map(|at| Place::of(text.as_bytes(), at)), message: self.what }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Found {}

impl de::Error for Found {
    fn custom<T: fmt::Display>(what: T) -> Found {
        Found { at: None, what: what.to_string() }
    }

    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Found {
        de::Error::custom(format!("expected {expected}, found {found}"))
    }

    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Found {
        de::Error::custom(format!("expected {expected}, found {found}"))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Found {
        de::Error::custom(unknown("field", field, expected))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Found {
        de::Error::custom(unknown("kind", variant, expected))
    }

    fn missing_field(field: &'static str) -> Found {
        de::Error::custom(format!("`{field}` is missing"))
    }
}

/// Words up to which all known ones are listed.
const LISTED_MAX: usize = 12;
/// Longest word that is compared.
const WORD_BYTES_MAX: usize = 64;

/// An unknown word, and the nearest known one, or all.
pub(crate) fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let shown = quoted(word);
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

/// Reads a value of a type.
pub(crate) fn read<T: DeserializeOwned>(node: &Node) -> Result<T, Found> {
    T::deserialize(Reader { node, is_tagged: false })
}

/// The key by which kinds are told apart.
const TAG: &str = "type";

#[derive(Clone, Copy)]
struct Reader<'a> {
    node: &'a Node,
    /// Whether its tag was read already.
    is_tagged: bool,
}

impl<'a> Reader<'a> {
    fn of(node: &'a Node) -> Reader<'a> {
        Reader { node, is_tagged: false }
    }

    fn members(self) -> Option<Members<'a>> {
        match &self.node.value {
            Value::Object(members) => Some(Members { rest: members.iter(), value: None, skips_tag: self.is_tagged }),
            _ => None,
        }
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Found;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Found> {
        let read = match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(Number::Unsigned(number)) => visitor.visit_u64(*number),
            Value::Number(Number::Signed(number)) => visitor.visit_i64(*number),
            Value::Number(Number::Float(number)) => visitor.visit_f64(*number),
            Value::Text(text) => visitor.visit_str(text),
            Value::List(elements) => visitor.visit_seq(Elements(elements.iter())),
            Value::Object(members) => {
                visitor.visit_map(Members { rest: members.iter(), value: None, skips_tag: self.is_tagged })
            }
        };
        read.map_err(|found| found.or(self.node.at))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Found> {
        match &self.node.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Found> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Found> {
        let read = match &self.node.value {
            Value::Text(text) => visitor.visit_enum(IntoDeserializer::<Found>::into_deserializer(text.as_str())),
            Value::Object(_) => match self.node.member(TAG) {
                Some(Node { at, value: Value::Text(text) }) => {
                    visitor.visit_enum(Variant { at: *at, name: text, node: self.node })
                }
                Some(other) => {
                    let what = format!("type: expected a string, found {}", other.value.kind());
                    Err(Found::at(other.at, what))
                }
                None => Err(Found::at(self.node.at, "`type` is missing: it says which kind this is")),
            },
            other => Err(Found::at(self.node.at, format!("expected an object with a `type`, found {}", other.kind()))),
        };
        read.map_err(|found| found.or(self.node.at))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

struct Elements<'a>(std::slice::Iter<'a, Node>);

impl<'de> de::SeqAccess<'de> for Elements<'_> {
    type Error = Found;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Found> {
        self.0.next().map(|node| seed.deserialize(Reader::of(node)).map_err(|found| found.or(node.at))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Members<'a> {
    rest: std::slice::Iter<'a, (Key, Node)>,
    value: Option<&'a Node>,
    skips_tag: bool,
}

impl<'de> de::MapAccess<'de> for Members<'_> {
    type Error = Found;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Found> {
        let skips_tag = self.skips_tag;
        let Some((key, node)) = self.rest.find(|(key, _)| !(skips_tag && key.text == TAG)) else { return Ok(None) };
        self.value = Some(node);
        let text: StrDeserializer<'_, Found> = key.text.as_str().into_deserializer();
        seed.deserialize(text).map(Some).map_err(|found| found.or(key.at))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Found> {
        match self.value.take() {
            Some(node) => seed.deserialize(Reader::of(node)).map_err(|found| found.or(node.at)),
            None => Err(de::Error::custom("a value without its key")),
        }
    }
}

/// An object that is a variant of an enum.
struct Variant<'a> {
    at: usize,
    name: &'a str,
    node: &'a Node,
}

impl<'de, 'a> de::EnumAccess<'de> for Variant<'a> {
    type Error = Found;
    type Variant = Reader<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Reader<'a>), Found> {
        let name: StrDeserializer<'_, Found> = self.name.into_deserializer();
        let variant = seed.deserialize(name).map_err(|found| found.or(self.at))?;
        Ok((variant, Reader { node: self.node, is_tagged: true }))
    }
}

impl<'de> de::VariantAccess<'de> for Reader<'_> {
    type Error = Found;

    fn unit_variant(self) -> Result<(), Found> {
        let Some(members) = self.members() else { return Ok(()) };
        match members.rest.clone().find(|(key, _)| key.text != TAG) {
            None => Ok(()),
            Some((key, _)) => Err(Found::at(key.at, unknown("field", &key.text, &[]))),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Found> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Found> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Found> {
        self.deserialize_any(visitor)
    }
}
