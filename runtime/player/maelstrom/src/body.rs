//! What a message says: an object of few entries, which are looked for one after the other.
//!
//! ```text
//! {"type":"echo","echo":"hi","msg_id":1}  ⇄  [("type", "echo"), ("echo", "hi"), ("msg_id", 1)]
//! ```
//!
//! The maps of `serde_json` have a table of hashes for each object, and to make it for three entries takes longer than to look at them.
//!
//! Invariants: entries are in the order of the text; of two with the same key, the last one counts.
//! Not here: objects within a body (`serde_json`).

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::ops::Index;

/// A body. Keys are those of the text that it was read from, or of the program.
#[derive(Default)]
pub struct MessageBody<'a>(Vec<(Cow<'a, str>, Value)>);

impl<'a> MessageBody<'a> {
    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Whether there is a value under a key.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// All keys, in their order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| &**key)
    }

    /// Adds a value under a key that has none.
    pub fn add(&mut self, key: &'a str, value: Value) {
        self.0.push((Cow::Borrowed(key), value));
    }
}

impl Index<&str> for MessageBody<'_> {
    type Output = Value;

    fn index(&self, key: &str) -> &Value {
        self.get(key).expect("the shape of a body was looked at")
    }
}

impl From<Map<String, Value>> for MessageBody<'_> {
    fn from(map: Map<String, Value>) -> Self {
        MessageBody(map.into_iter().map(|(key, value)| (Cow::Owned(key), value)).collect())
    }
}

impl Serialize for MessageBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for MessageBody<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MessageBody<'a>, D::Error> {
        deserializer.deserialize_map(MessageBodyVisitor)
    }
}

/// A key, of the text if it stands there as it is.
#[derive(Deserialize)]
struct BodyKey<'a>(#[serde(borrow)] Cow<'a, str>);

struct MessageBodyVisitor;

impl<'de> Visitor<'de> for MessageBodyVisitor {
    type Value = MessageBody<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<MessageBody<'de>, A::Error> {
        let mut body = Vec::new();
        while let Some((BodyKey(key), value)) = entries.next_entry()? {
            body.push((key, value));
        }
        Ok(MessageBody(body))
    }
}
