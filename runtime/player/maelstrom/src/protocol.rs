//! What nodes may say: the shape of messages and of replies, and what is said of those that have another one.

use crate::body::MessageBody;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Characters of a message that a failure shows.
const SHOWN_CHARS: usize = 500;

/// A line of a node.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct PrintedMessage<'a> {
    #[serde(borrow)]
    pub src: Cow<'a, str>,
    #[serde(borrow)]
    pub dest: Cow<'a, str>,
    #[serde(borrow)]
    pub body: &'a RawValue,
    /// The sender's own number of it, which says nothing.
    #[serde(default, rename = "id")]
    _id: Option<Value>,
}

/// What stands under a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueShape {
    Any,
    Integer,
    List,
    Integers,
    /// Integers by key.
    Offsets,
    /// Pairs of an offset and a message, by key.
    Logs,
}

impl ValueShape {
    pub fn fits(self, value: &Value) -> bool {
        let is_integer = |value: &Value| value.is_i64() || value.is_u64();
        let is_pair = |pair: &Value| pair.as_array().is_some_and(|pair| pair.len() == 2 && is_integer(&pair[0]));
        let is_log = |log: &Value| log.as_array().is_some_and(|log| log.iter().all(is_pair));
        match self {
            ValueShape::Any => true,
            ValueShape::Integer => is_integer(value),
            ValueShape::List => value.is_array(),
            ValueShape::Integers => value.as_array().is_some_and(|all| all.iter().all(is_integer)),
            ValueShape::Offsets => value.as_object().is_some_and(|all| all.values().all(is_integer)),
            ValueShape::Logs => value.as_object().is_some_and(|all| all.values().all(is_log)),
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            ValueShape::Any => "any value",
            ValueShape::Integer => "an integer",
            ValueShape::List => "an array",
            ValueShape::Integers => "an array of integers",
            ValueShape::Offsets => "an object of integers",
            ValueShape::Logs => "an object of arrays of [offset, message]",
        }
    }
}

/// A reply: its type, and its keys beside `type`, `in_reply_to` and perhaps `msg_id`.
pub struct ReplyShape {
    pub kind: &'static str,
    pub keys: &'static [(&'static str, ValueShape)],
}

impl ReplyShape {
    /// The first thing that is wrong with a reply: in words without a value, and with it.
    pub fn problem(&self, reply: &MessageBody<'_>) -> Option<(String, String)> {
        let plain = |what: String| Some((what.clone(), what));
        match reply.get("type") {
            Some(Value::String(kind)) if kind == self.kind => {}
            Some(other) => return Some(("`type` is another one".to_owned(), format!("`type` is {other}"))),
            None => return plain("`type` is missing".to_owned()),
        }
        for (key, shape) in self.keys {
            match reply.get(*key) {
                None => return plain(format!("`{key}` is missing")),
                Some(value) if !shape.fits(value) => {
                    let what = format!("`{key}` is not {}", shape.words());
                    let found = format!("{what}: {}", shown(&value.to_string()));
                    return Some((what, found));
                }
                Some(_) => {}
            }
        }
        if reply.get("msg_id").is_some_and(|id| !ValueShape::Integer.fits(id)) {
            return plain("`msg_id` is not an integer".to_owned());
        }
        let is_known = |key: &str| {
            ["type", "in_reply_to", "msg_id"].contains(&key) || self.keys.iter().any(|(known, _)| *known == key)
        };
        match reply.keys().find(|key| !is_known(key)) {
            Some(surplus) => plain(format!("`{surplus}` is no key of {}", self.kind)),
            None => None,
        }
    }

    /// As an example: `{"type":"read_ok","messages":an array of integers,"in_reply_to":1}`. Of its value may be known more than the shape.
    pub fn example(&self, in_reply_to: u64, value: Option<&str>) -> String {
        let mut text = format!(r#"{{"type":"{}""#, self.kind);
        for (key, shape) in self.keys {
            text.push_str(&format!(r#","{key}":{}"#, value.unwrap_or(shape.words())));
        }
        text.push_str(&format!(r#","in_reply_to":{in_reply_to}}}, and "msg_id" if it likes"#));
        text
    }
}

/// A value as JSON: `to_string` of a value does the same, and takes twice as long.
pub fn json_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("values are JSON")
}

/// The same, behind what is there.
pub fn write_json(text: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(text, value).expect("memory takes it");
}

/// A text, or its beginning.
pub fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

/// What an error reply means.
pub struct ErrorCode {
    /// As histories name it.
    pub name: String,
    /// Whether the operation certainly did not happen.
    pub is_definite: bool,
}

/// The error of a code. Codes that the protocol does not know are indefinite.
pub fn error_code(code: i64) -> ErrorCode {
    const KNOWN: &[(i64, &str, bool)] = &[
        (0, "timeout", false),
        (1, "node-not-found", true),
        (10, "not-supported", true),
        (11, "temporarily-unavailable", true),
        (12, "malformed-request", true),
        (13, "crash", false),
        (14, "abort", true),
        (20, "key-does-not-exist", true),
        (21, "key-already-exists", true),
        (22, "precondition-failed", true),
        (30, "txn-conflict", true),
    ];
    match KNOWN.iter().find(|(known, ..)| *known == code) {
        Some((_, name, is_definite)) => ErrorCode { name: (*name).to_owned(), is_definite: *is_definite },
        None => ErrorCode { name: format!("unknown {code}"), is_definite: false },
    }
}
