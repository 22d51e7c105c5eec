//! Histories as text: EDN and JSON, one operation a line.
//!
//! ```text
//! {:index 0, :time 12, :type :invoke, :process 1, :f :cas, :value [1 2]}
//! {"index":0,"time":12,"type":"invoke","process":1,"f":"cas","value":[1,2]}
//! ```
//!
//! Invariant: what is written is read back as the same history; JSON has neither keywords nor sets, which become texts and arrays.
//! Not here: reading (`reader`).

use super::datum::{Datum, DatumId, DatumPool};
use super::{HistoryOperation, OperationHistory, Process};
use std::fmt::Write;

impl DatumPool {
    /// A value in EDN.
    #[must_use]
    pub fn edn(&self, id: DatumId) -> String {
        let mut text = String::new();
        write_edn(self, id, &mut text);
        text
    }

    /// A value in JSON.
    #[must_use]
    pub fn json(&self, id: DatumId) -> String {
        let mut text = String::new();
        write_json(self, id, &mut text);
        text
    }
}

impl OperationHistory {
    /// The history in EDN, one operation a line.
    #[must_use]
    pub fn to_edn(&self) -> String {
        let mut text = String::new();
        for operation in &self.operations {
            operation_edn(&self.pool, operation, &mut text);
            text.push('\n');
        }
        text
    }

    /// The history as one array of JSON, an operation a line.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = String::from("[");
        for (at, operation) in self.operations.iter().enumerate() {
            text.push_str(if at > 0 { ",\n" } else { "" });
            operation_json(&self.pool, operation, &mut text);
        }
        text.push_str("]\n");
        text
    }

    /// The history as lines of JSON, one operation each.
    #[must_use]
    pub fn to_json_lines(&self) -> String {
        let mut text = String::new();
        for operation in &self.operations {
            operation_json(&self.pool, operation, &mut text);
            text.push('\n');
        }
        text
    }
}

/// An operation in EDN.
pub(crate) fn operation_edn(pool: &DatumPool, operation: &HistoryOperation, text: &mut String) {
    // Writing to a text does not fail.
    let _ = write!(text, "{{:index {}", operation.index);
    if let Some(time) = operation.time {
        let _ = write!(text, ", :time {time}");
    }
    let _ = write!(text, ", :type :{}", operation.kind.name());
    match operation.process {
        Process::Client(number) => _ = write!(text, ", :process {number}"),
        Process::Named(name) => _ = write!(text, ", :process {}", pool.edn(name)),
        Process::Unknown => {}
    }
    text.push_str(", :f ");
    write_edn(pool, operation.function, text);
    text.push_str(", :value ");
    write_edn(pool, operation.value, text);
    if !operation.error.is_nil() {
        text.push_str(", :error ");
        write_edn(pool, operation.error, text);
    }
    if let Datum::Map(entries) = pool.get(operation.extra) {
        for [key, value] in entries.as_chunks::<2>().0 {
            text.push_str(", ");
            write_edn(pool, *key, text);
            text.push(' ');
            write_edn(pool, *value, text);
        }
    }
    text.push('}');
}

fn operation_json(pool: &DatumPool, operation: &HistoryOperation, text: &mut String) {
    let _ = write!(text, "{{\"index\":{}", operation.index);
    if let Some(time) = operation.time {
        let _ = write!(text, ",\"time\":{time}");
    }
    let _ = write!(text, ",\"type\":\"{}\"", operation.kind.name());
    match operation.process {
        Process::Client(number) => _ = write!(text, ",\"process\":{number}"),
        Process::Named(name) => _ = write!(text, ",\"process\":{}", pool.json(name)),
        Process::Unknown => {}
    }
    text.push_str(",\"f\":");
    write_json(pool, operation.function, text);
    text.push_str(",\"value\":");
    write_json(pool, operation.value, text);
    if !operation.error.is_nil() {
        text.push_str(",\"error\":");
        write_json(pool, operation.error, text);
    }
    if let Datum::Map(entries) = pool.get(operation.extra) {
        for [key, value] in entries.as_chunks::<2>().0 {
            text.push(',');
            write_json_key(pool, *key, text);
            text.push(':');
            write_json(pool, *value, text);
        }
    }
    text.push('}');
}

fn write_edn(pool: &DatumPool, id: DatumId, text: &mut String) {
    match pool.get(id) {
        Datum::Nil => text.push_str("nil"),
        Datum::Bool(value) => text.push_str(if value { "true" } else { "false" }),
        Datum::Integer(value) => _ = write!(text, "{value}"),
        Datum::Float(value) if value.is_nan() => text.push_str("##NaN"),
        Datum::Float(value) if value.is_infinite() => text.push_str(if value > 0.0 { "##Inf" } else { "##-Inf" }),
        Datum::Float(value) => _ = write!(text, "{value:?}"),
        Datum::Number(digits) | Datum::Symbol(digits) => text.push_str(digits),
        Datum::Keyword(name) => _ = write!(text, ":{name}"),
        Datum::Text(words) => {
            text.push('"');
            for character in words.chars() {
                match character {
                    '"' => text.push_str("\\\""),
                    '\\' => text.push_str("\\\\"),
                    '\n' => text.push_str("\\n"),
                    '\t' => text.push_str("\\t"),
                    '\r' => text.push_str("\\r"),
                    other => text.push(other),
                }
            }
            text.push('"');
        }
        Datum::Character(character) => match character {
            '\n' => text.push_str("\\newline"),
            ' ' => text.push_str("\\space"),
            '\t' => text.push_str("\\tab"),
            '\r' => text.push_str("\\return"),
            '\u{8}' => text.push_str("\\backspace"),
            '\u{C}' => text.push_str("\\formfeed"),
            other => _ = write!(text, "\\{other}"),
        },
        Datum::List(items) => write_items(pool, items, ("(", ")"), text),
        Datum::Vector(items) => write_items(pool, items, ("[", "]"), text),
        Datum::Set(items) => write_items(pool, items, ("#{", "}"), text),
        Datum::Map(items) => write_items(pool, items, ("{", "}"), text),
        Datum::Tag(items) => write_items(pool, items, ("#", ""), text),
    }
}

fn write_items(pool: &DatumPool, items: &[DatumId], (open, close): (&str, &str), text: &mut String) {
    text.push_str(open);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            text.push(' ');
        }
        write_edn(pool, *item, text);
    }
    text.push_str(close);
}

fn write_json(pool: &DatumPool, id: DatumId, text: &mut String) {
    match pool.get(id) {
        Datum::Nil => text.push_str("null"),
        Datum::Bool(value) => text.push_str(if value { "true" } else { "false" }),
        Datum::Integer(value) => _ = write!(text, "{value}"),
        Datum::Float(value) if value.is_finite() => _ = write!(text, "{value:?}"),
        Datum::Number(digits) if digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => {
            text.push_str(digits);
        }
        Datum::Keyword(name) | Datum::Text(name) | Datum::Symbol(name) => write_json_text(name, text),
        Datum::Float(_) | Datum::Number(_) | Datum::Character(_) => write_json_text(&pool.edn(id), text),
        Datum::List(items) | Datum::Vector(items) | Datum::Set(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write_json(pool, *item, text);
            }
            text.push(']');
        }
        Datum::Map(items) => {
            text.push('{');
            for (at, [key, value]) in items.as_chunks::<2>().0.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write_json_key(pool, *key, text);
                text.push(':');
                write_json(pool, *value, text);
            }
            text.push('}');
        }
        Datum::Tag(items) => write_json(pool, items[1], text),
    }
}

/// A key of an object: a name, or whatever else it is as a text.
fn write_json_key(pool: &DatumPool, key: DatumId, text: &mut String) {
    match pool.name(key) {
        Some(name) => write_json_text(name, text),
        None => write_json_text(&pool.edn(key), text),
    }
}

fn write_json_text(words: &str, text: &mut String) {
    text.push('"');
    for character in words.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            other if (other as u32) < 0x20 => _ = write!(text, "\\u{:04x}", other as u32),
            other => text.push(other),
        }
    }
    text.push('"');
}
