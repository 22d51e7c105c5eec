//! The JSON Schema of scenario files, made from the types that they are read into.

use crate::payload::PAYLOAD;
use crate::program::{FileShape, YIELDS};
use crate::{ClusterFile, StepsFile, SuitesFile};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// Any file of version 1.
#[derive(JsonSchema)]
#[schemars(untagged, rename = "Scenario")]
#[allow(dead_code, reason = "its shape is what it is for")]
enum ScenarioV1 {
    /// A list of steps.
    Steps(StepsFile),
    /// Nodes of a replicated store.
    Distributed(ClusterFile),
    /// A list of scenarios.
    Suites(SuitesFile),
}

/// The JSON Schema (draft 2020-12) of scenario files of version 1. Kinds of steps are told apart by `type`; `$defs` holds
/// `Step`, `ClusterStep` and `ClusterInvariant`, each a `oneOf` with all fields of every kind.
#[must_use]
pub fn schema_v1() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<ScenarioV1>().to_value();
    tidy(&mut schema);
    schema["title"] = "Scenario of Fozzy, version 1".into();
    schema
}

/// The JSON Schema of scenario files of version 2, which have `steps`. `$defs` holds `Step`, the kinds of version 1 with what
/// version 2 adds to them, and `StepShape`, the kinds that are new.
#[must_use]
pub fn schema_v2() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<FileShape>().to_value();
    for definition in ["Step", "StepShape"] {
        let kinds = schema["$defs"][definition]["oneOf"].as_array_mut();
        kinds.into_iter().flatten().for_each(widen);
    }
    schema["$defs"]["Variable"] = json!({
        "description": "The value of a variable, or a part of it.", "type": "string", "pattern": "^\\$\\{[^}]+\\}$"
    });
    tidy(&mut schema);
    schema["title"] = "Scenario of Fozzy, version 2".into();
    schema
}

/// Fields whose value the reader has to know.
const FIXED: [&str; 10] = ["type", "save_as", "steps", "do", "then", "else", "branches", "when", "that", "max"];

/// Lets variables stand for the values of a kind's fields, bytes for payloads, and what it yields be saved.
fn widen(kind: &mut Value) {
    let name = kind["properties"]["type"]["const"].as_str().unwrap_or_default().to_owned();
    let Some(fields) = kind["properties"].as_object_mut() else { return };
    for (field, schema) in fields.iter_mut() {
        if field == "steps" {
            schema["items"]["$ref"] = "#/$defs/AnyStep".into();
        }
        if FIXED.contains(&field.as_str()) || *schema == Value::Bool(true) {
            continue;
        }
        // Where bounds stand, text was never allowed; a text without bounds is open already.
        let is_payload = schema["format"] == PAYLOAD;
        let is_text =
            schema["type"] == "string" && schema["pattern"].is_null() || schema["type"] == json!(["string", "null"]);
        let forms = |form: &str| json!({ "type": "object", "properties": { form: { "type": "string" } }, "required": [form], "additionalProperties": false });
        let description = schema["description"].take();
        if let Some(members) = schema.as_object_mut() {
            members.remove("description");
        }
        *schema = match (is_payload, is_text) {
            (true, _) => json!({ "anyOf": [schema.take(), forms("base64"), forms("hex")] }),
            (false, true) => schema.take(),
            (false, false) => json!({ "anyOf": [schema.take(), { "$ref": "#/$defs/Variable" }] }),
        };
        if !description.is_null() {
            schema["description"] = description;
        }
    }
    if YIELDS.contains(&name.as_str()) {
        fields.insert(
            "save_as".to_owned(),
            json!({ "type": "string", "description": "The variable that has what it yields." }),
        );
    }
}

/// Line ends in sentences are those of the source; ranges of Rust's integers are said by bounds.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(sentence)) = members.get_mut("description") {
                *sentence = sentence.replace('\n', " ");
            }
            members.remove("format");
            members.values_mut().for_each(tidy);
        }
        Value::Array(elements) => elements.iter_mut().for_each(tidy),
        _ => {}
    }
}
