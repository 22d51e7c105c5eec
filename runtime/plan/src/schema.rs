//! The JSON Schema of plan files, made from the types that they are read into.
//!
//! Invariant: the reader walks this schema, so the schema refuses what the reader refuses. Only rules across keys
//! (`status` beside `fail`) are in `check.rs`.

use crate::file::PlanFile;
use fozzy_world::fault::FAULTS;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};
use std::sync::LazyLock;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<PlanFile>().to_value();
    tidy(&mut schema);
    schema["title"] = "Plan of a Fozzy run".into();
    schema
});

/// The JSON Schema (draft 2020-12) of plan files.
#[must_use]
pub fn schema() -> Value {
    SCHEMA.clone()
}

/// The same, without a copy.
pub(crate) fn shared() -> &'static Value {
    &SCHEMA
}

/// The names of all kinds of faults, each with its sentence.
pub(crate) fn fault_kinds(_: &mut SchemaGenerator) -> Schema {
    let kinds = FAULTS.iter().map(|kind| serde_json::json!({ "const": kind.name, "description": kind.summary }));
    match FAULTS.is_empty() {
        // `oneOf` must not be empty; without kinds every name is refused by the check.
        true => json_schema!({ "type": "string" }),
        false => json_schema!({ "type": "string", "oneOf": kinds.collect::<Vec<_>>() }),
    }
}

/// TOML has no null, so an optional key is one that need not stand; unknown keys are refused everywhere; and
/// what Rust starts a field with is no news to a reader, who finds defaults in the descriptions.
fn tidy(schema: &mut Value) {
    let Value::Object(schema) = schema else { return };
    schema.remove("default");
    if let Some(Value::String(sentence)) = schema.get_mut("description") {
        // Line ends are those of the source.
        *sentence = sentence.replace('\n', " ");
    }
    if schema.get("format").is_some_and(|format| format != "date-time") {
        schema.remove("format");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            schema["type"] = only.clone();
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = &choices[..] {
            let only = only.clone();
            schema.remove("anyOf");
            for (key, value) in only {
                schema.entry(key).or_insert(value);
            }
        }
    }
    if schema.contains_key("properties") && !schema.contains_key("additionalProperties") {
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    for key in ["properties", "$defs"] {
        let inner = schema.get_mut(key).and_then(Value::as_object_mut);
        inner.into_iter().flat_map(Map::values_mut).for_each(tidy);
    }
    for key in ["items", "additionalProperties"] {
        schema.get_mut(key).into_iter().for_each(tidy);
    }
    for key in ["anyOf", "oneOf"] {
        let inner = schema.get_mut(key).and_then(Value::as_array_mut);
        inner.into_iter().flatten().for_each(tidy);
    }
}
