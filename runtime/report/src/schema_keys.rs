//! The keys of a document in one line, from its JSON Schema.
//!
//! ```text
//! {"properties": {"ok": …, "checks": …}}  ─▶  `ok` `checks[]{name,ok,detail?}`
//! ```
//!
//! Not here: which documents there are (`fozzy-cli`).

use serde_json::Value;

/// The keys of a whole document.
#[must_use]
pub fn keys_of(schema: &Value) -> String {
    match body(schema, schema, &mut Vec::new()).as_str() {
        "[]" => "a list of texts".to_owned(),
        text => top(text),
    }
}

/// `{a,b}` as `a` `b`, so that a table can break the line.
fn top(text: &str) -> String {
    let alternatives = text.split(" or ").map(|alternative| {
        let inner = alternative.trim_start_matches('{').strip_suffix('}').unwrap_or(alternative);
        let (mut depth, mut out) = (0i32, String::from("`"));
        for c in inner.chars() {
            depth += i32::from(c == '{') - i32::from(c == '}');
            if c == ',' && depth == 0 { out.push_str("` `") } else { out.push(c) }
        }
        out + "`"
    });
    alternatives.collect::<Vec<String>>().join("; or ")
}

/// What stands after a key: nothing for plain values, `{…}` for objects, `[]` and what is in it for lists.
fn body(root: &Value, schema: &Value, within: &mut Vec<String>) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default().to_owned();
        if within.contains(&name) {
            return String::new();
        }
        // A run in a suite has its own row.
        if name == "RunSummary" {
            return "{…}".to_owned();
        }
        within.push(name.clone());
        let text = body(root, &root["$defs"][&name], within);
        within.pop();
        return text;
    }
    for several in ["oneOf", "anyOf"] {
        if let Some(several) = schema[several].as_array() {
            let mut texts: Vec<String> = several.iter().map(|one| body(root, one, within)).collect();
            texts.retain(|text| !text.is_empty());
            texts.dedup();
            return texts.join(" or ");
        }
    }
    if schema["items"].is_object() {
        return format!("[]{}", body(root, &schema["items"], within));
    }
    if schema["additionalProperties"].is_object() {
        let text = body(root, &schema["additionalProperties"], within);
        return if text.is_empty() { "{name → value}".to_owned() } else { format!("{{name → {text}}}") };
    }
    let Some(properties) = schema["properties"].as_object() else { return String::new() };
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let key = |(name, value): (&String, &Value)| {
        let mark = if required.contains(&name.as_str()) { "" } else { "?" };
        let word = value["const"].as_str().map(|word| format!(": {word}")).unwrap_or_default();
        format!("{name}{mark}{word}{}", body(root, value, &mut within.clone()))
    };
    format!("{{{}}}", properties.iter().map(key).collect::<Vec<String>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::keys_of;
    use crate::document::{ArtifactsDocument, CiDocument};
    use crate::suite::SuiteSummary;
    use schemars::JsonSchema;
    use schemars::generate::SchemaSettings;

    fn of<T: JsonSchema>() -> String {
        let schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
        keys_of(schema.as_value())
    }

    #[test]
    fn keys_are_written_in_one_line() {
        assert_eq!(of::<CiDocument>(), "`schemaVersion` `ok` `checks[]{name,ok,skipped?,detail?}`");
        assert_eq!(of::<Vec<String>>(), "a list of texts");
        let artifacts = of::<ArtifactsDocument>();
        assert!(artifacts.starts_with("`type: list` `entries[]{kind,path,sizeBytes?}`; or `"), "{artifacts}");
        let suite = of::<SuiteSummary>();
        assert!(suite.contains("`scenarios[]{name,path,result,"), "{suite}");
    }
}
