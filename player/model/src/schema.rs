//! The JSON Schema of scenario files, made from the types that they are read into.

use crate::{ClusterFile, StepsFile, SuitesFile};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

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
