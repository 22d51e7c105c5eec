//! A document against the schema: every unknown key, wrong type and unknown word, not only the first.
//!
//! ```text
//! { "network": { "latensy": "1ms" } }   ─▶  network.latensy: unknown key; did you mean `latency`?
//!                                           and the document without that key
//! ```
//!
//! Understands the part of JSON Schema that `schema.rs` produces: `$ref`, `type`, `properties`,
//! `additionalProperties`, `required`, `items`, `oneOf` of constants, `minimum`, `maximum`, `minProperties`,
//! `maxProperties`, and our `x-notation`. `pattern` and `format` are for others: the notation says it better.
//!
//! Invariant: a document without problems comes out as it went in.

use crate::check::RULES_MAX;
use crate::nearest::{hint, nearest};
use crate::notation;
use crate::problem::{DocumentStep, Problems, quoted};
use serde_json::{Map, Value};

/// Checks `value` against `schema` and takes out what is wrong.
pub(crate) fn walk(root: &Value, value: &mut Value, problems: &mut Problems) {
    let mut walk = Walk { root, path: Vec::new(), problems };
    walk.value(root, value);
}

struct Walk<'a> {
    root: &'a Value,
    path: Vec<DocumentStep>,
    problems: &'a mut Problems,
}

impl<'a> Walk<'a> {
    fn wrong(&mut self, message: impl Into<String>) -> bool {
        self.problems.add(&self.path, message);
        false
    }

    /// Whether the value can stay; what is wrong inside it has been taken out then.
    fn value(&mut self, schema: &'a Value, value: &mut Value) -> bool {
        let schema = self.resolved(schema);
        if let Err(message) = check_type(&schema["type"], value) {
            return self.wrong(message);
        }
        if let Some(choices) = schema.get("oneOf").and_then(Value::as_array) {
            return self.choice(choices, value);
        }
        if let Some(name) = schema.get("x-notation").and_then(Value::as_str) {
            return match notation::check(name, value) {
                Ok(()) => true,
                Err(message) => self.wrong(message),
            };
        }
        match value {
            Value::Object(table) => self.table(schema, table),
            Value::Array(items) => self.array(schema, items),
            Value::Number(number) => match check_range(schema, number) {
                Ok(()) => true,
                Err(message) => self.wrong(message),
            },
            Value::Null | Value::Bool(_) | Value::String(_) => true,
        }
    }

    fn resolved(&self, schema: &'a Value) -> &'a Value {
        match schema.get("$ref").and_then(Value::as_str) {
            Some(pointer) => {
                self.root.pointer(pointer.trim_start_matches('#')).expect("the generator defines what it refers to")
            }
            None => schema,
        }
    }

    fn choice(&mut self, choices: &'a [Value], value: &Value) -> bool {
        let known = choices.iter().filter_map(|choice| choice["const"].as_str());
        let found = value.as_str().unwrap_or_default();
        if known.clone().any(|word| word == found) {
            return true;
        }
        let near = nearest(found, known.clone()).map(|word| format!("; did you mean `{word}`?")).unwrap_or_default();
        let known: Vec<String> = known.map(|word| format!("`{word}`")).collect();
        self.wrong(format!("expected one of {}, found {}{near}", known.join(", "), quoted(found)))
    }

    fn table(&mut self, schema: &'a Value, table: &mut Map<String, Value>) -> bool {
        // A value that may be anything (`json`) has neither; nothing of ours is in it.
        let (known, others) = (schema.get("properties").and_then(Value::as_object), schema.get("additionalProperties"));
        if known.is_none() && others.is_none() {
            return true;
        }
        if table.len() > RULES_MAX {
            return self.wrong(format!("expected at most {RULES_MAX} keys, found {}", table.len()));
        }
        let mut refused = Vec::new();
        for (key, value) in table.iter_mut() {
            self.path.push(DocumentStep::Key(key.clone()));
            let inner = known.and_then(|known| known.get(key)).or(others);
            let stays = match inner {
                Some(Value::Bool(false)) | None => {
                    let known = known.into_iter().flat_map(|known| known.keys().map(String::as_str));
                    self.wrong(format!("unknown key{}", hint(key, known)))
                }
                Some(inner) => self.value(inner, value),
            };
            self.path.pop();
            if !stays {
                refused.push(key.clone());
            }
        }
        for key in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if !table.contains_key(key) {
                self.path.push(key.into());
                self.wrong("this key is missing");
                self.path.pop();
            }
        }
        let count = |key: &str| schema.get(key).and_then(Value::as_u64);
        let len = table.len() as u64;
        let mut stays = true;
        if count("minProperties").is_some_and(|min| len < min) || count("maxProperties").is_some_and(|max| len > max) {
            let known = known.into_iter().flat_map(|known| known.keys()).map(|key| format!("`{key}`"));
            let known = known.collect::<Vec<_>>().join(", ");
            stays = self.wrong(format!("expected exactly one key of {known}, found {len}"));
        } else if count("minProperties").is_some() && !refused.is_empty() {
            stays = false;
        }
        table.retain(|key, _| !refused.contains(key));
        stays
    }

    fn array(&mut self, schema: &'a Value, items: &mut [Value]) -> bool {
        let Some(schema) = schema.get("items") else { return true };
        if items.len() > RULES_MAX {
            return self.wrong(format!("expected at most {RULES_MAX} elements, found {}", items.len()));
        }
        let mut stay = true;
        for (index, item) in items.iter_mut().enumerate() {
            self.path.push(DocumentStep::Index(index));
            stay &= self.value(schema, item);
            self.path.pop();
        }
        stay
    }
}

fn check_type(expected: &Value, value: &Value) -> Result<(), String> {
    let names: Vec<&str> = match expected {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if names.contains(&found) || (found == "integer" && names.contains(&"number")) {
        return Ok(());
    }
    let in_toml = |name: &str| match name {
        "boolean" => "`true` or `false`",
        "number" => "a number",
        "integer" => "an integer",
        "string" => "a string",
        "array" => "an array",
        _ => "a table",
    };
    let expected: Vec<&str> = names.into_iter().map(in_toml).collect();
    let found = match value {
        Value::String(text) => format!("the string {}", quoted(text)),
        Value::Bool(_) | Value::Number(_) => quoted(&value.to_string()),
        _ => in_toml(found).to_owned(),
    };
    Err(format!("expected {}, found {found}", expected.join(" or ")))
}

fn check_range(schema: &Value, number: &serde_json::Number) -> Result<(), String> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let value = number.as_f64().unwrap_or(f64::NAN);
    let (min, max) = (bound("minimum"), bound("maximum"));
    if min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max) {
        return Ok(());
    }
    let expected = match (min, max) {
        (Some(min), Some(max)) => format!("from {min} to {max}"),
        (Some(min), None) => format!("of at least {min}"),
        (None, Some(max)) => format!("of at most {max}"),
        (None, None) => unreachable!("a number was out of a range without ends"),
    };
    Err(format!("expected a number {expected}, found {number}"))
}
