//! A table in the order in which it was written.
//!
//! Invariant: each name once. Order matters for environments and headers: guests see it.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Values by name, in the order given.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedValues<V>(Vec<(String, V)>);

impl<V> Default for NamedValues<V> {
    fn default() -> NamedValues<V> {
        NamedValues(Vec::new())
    }
}

impl<V> NamedValues<V> {
    /// Sets a value: in the place of an older one of that name, or behind all others.
    pub fn set(&mut self, name: impl Into<String>, value: V) {
        let name = name.into();
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// The value of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&V> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// All, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &V)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// All values, in order.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `self` over `lower`: the lower names first, with our values where we have them.
    #[must_use]
    pub fn over(self, mut lower: NamedValues<V>) -> NamedValues<V> {
        // Large tables come from files and are merged once; the names that both have are few.
        for (name, value) in self.0 {
            lower.set(name, value);
        }
        lower
    }
}

impl<V> FromIterator<(String, V)> for NamedValues<V> {
    fn from_iter<I: IntoIterator<Item = (String, V)>>(pairs: I) -> NamedValues<V> {
        let mut named = NamedValues::default();
        pairs.into_iter().for_each(|(name, value)| named.set(name, value));
        named
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for NamedValues<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NamedValues<V>, D::Error> {
        struct Table<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Table<V> {
            type Value = NamedValues<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NamedValues<V>, A::Error> {
                let mut pairs = Vec::new();
                // Names are unique already: no document that we read can say one twice.
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(NamedValues(pairs))
            }
        }
        deserializer.deserialize_map(Table(PhantomData))
    }
}

impl<V: JsonSchema> JsonSchema for NamedValues<V> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("NamedOf{}", V::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<V>();
        json_schema!({ "type": "object", "additionalProperties": value })
    }
}
