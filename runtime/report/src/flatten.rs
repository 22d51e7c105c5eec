//! A document as `key: value` lines, for people without a JSON reader.
//!
//! ```text
//! {"ok": true, "files": [{"path": "a"}]}   →   ok: true
//!                                              files.0.path: a
//! ```

use serde_json::Value;

/// The document in lines, nested keys joined by dots.
#[must_use]
pub fn flatten(document: &Value) -> String {
    let mut out = String::new();
    lines("", document, &mut out);
    out
}

fn lines(path: &str, value: &Value, out: &mut String) {
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| lines(&join(key), value, out)),
        Value::Array(items) if items.is_empty() => out.push_str(&format!("{path}: none\n")),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| lines(&join(&index.to_string()), value, out));
        }
        Value::String(text) => out.push_str(&format!("{path}: {text}\n")),
        other => out.push_str(&format!("{path}: {other}\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_keys_are_joined_by_dots() {
        let document = serde_json::json!({"ok": true, "files": [{"path": "a"}], "issues": [], "version": null});
        assert_eq!(flatten(&document), "ok: true\nfiles.0.path: a\nissues: none\nversion: null\n");
    }
}
