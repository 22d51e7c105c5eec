//! Strings with variables in them, and how they are filled in.
//!
//! ```text
//! "${n}"                 the value of `n`, of its own type
//! "n is ${n}"            text: `n is 3`
//! "${r.items[0].name}"   a part of a value; an index may be a variable: ${items[i]}
//! "$${n}"                the text `${n}`
//! ```
//!
//! Invariants: a string without `${` is itself; what is filled in is not looked into again.
//! Not here: which variables there are, and when (`program`).

use crate::json::{JsonNode, JsonNumber, JsonValue};
use serde_json::Value as Json;

/// Bytes of a string that was filled in, and of a value that a variable has; a longer one is a failure.
pub const FILLED_BYTES_MAX: usize = 4 << 20;

/// A part of a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TemplatePiece {
    Text(String),
    Path(VariablePath),
}

/// A variable, and the way into its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VariablePath {
    pub(crate) name: String,
    pub(crate) parts: Vec<VariablePathStep>,
}

/// One step of the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum VariablePathStep {
    Key(String),
    Index(usize),
    /// The element whose number a variable has, or the member whose key it has.
    At(String),
}

/// Whether a string has variables in it, or is written as if.
pub(crate) fn is_template(text: &str) -> bool {
    text.contains("${")
}

/// Whether a string is one variable, whose type it takes.
pub(crate) fn is_one(text: &str) -> bool {
    matches!(pieces(text).as_deref(), Ok([TemplatePiece::Path(_)]))
}

/// Whether a name can be a variable's.
pub(crate) fn is_name(word: &str) -> bool {
    let mut chars = word.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    starts && word.len() <= 64 && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Takes a string apart.
pub(crate) fn pieces(text: &str) -> Result<Vec<TemplatePiece>, String> {
    let mut pieces = Vec::new();
    let (mut plain, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            plain.push_str(&rest[..at]);
            plain.push('{');
            rest = &rest[at + 2..];
            continue;
        }
        plain.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        let Some(end) = inside.find('}') else {
            return Err("`${` without its `}`; the text `${` is written `$${`".to_owned());
        };
        if !plain.is_empty() {
            pieces.push(TemplatePiece::Text(std::mem::take(&mut plain)));
        }
        pieces.push(TemplatePiece::Path(path(&inside[..end])?));
        rest = &inside[end + 1..];
    }
    plain.push_str(rest);
    if !plain.is_empty() || pieces.is_empty() {
        pieces.push(TemplatePiece::Text(plain));
    }
    Ok(pieces)
}

fn path(text: &str) -> Result<VariablePath, String> {
    let wrong = || {
        let shown = crate::read::quoted(text);
        format!(
            "expected a variable such as `${{name}}`, `${{name.key}}` or `${{name[0]}}`, found {shown} inside of `${{}}`"
        )
    };
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (name, mut rest) = text.split_at(end);
    if !is_name(name) {
        return Err(wrong());
    }
    let mut parts = Vec::new();
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix('.') {
            let end = tail.find(['.', '[']).unwrap_or(tail.len());
            if end == 0 {
                return Err(wrong());
            }
            parts.push(VariablePathStep::Key(tail[..end].to_owned()));
            rest = &tail[end..];
            continue;
        }
        let inner = rest.strip_prefix('[').and_then(|tail| tail.split_once(']'));
        let Some((index, tail)) = inner else { return Err(wrong()) };
        parts.push(match index.parse() {
            Ok(number) => VariablePathStep::Index(number),
            Err(_) if is_name(index) => VariablePathStep::At(index.to_owned()),
            Err(_) => return Err(wrong()),
        });
        rest = tail;
    }
    Ok(VariablePath { name: name.to_owned(), parts })
}

/// Who knows variables.
pub trait Variables {
    /// The value of one; `None` when it has none now.
    fn value(&self, name: &str) -> Option<Json>;
}

/// The value of a template.
///
/// # Errors
/// In words, when a variable has no value, or not the part that is asked for.
pub fn fill(node: &JsonNode, variables: &dyn Variables) -> Result<Json, String> {
    Ok(match &node.value {
        JsonValue::Null => Json::Null,
        JsonValue::Bool(value) => Json::Bool(*value),
        JsonValue::Number(JsonNumber::Unsigned(number)) => (*number).into(),
        JsonValue::Number(JsonNumber::Signed(number)) => (*number).into(),
        JsonValue::Number(JsonNumber::Float(number)) => (*number).into(),
        JsonValue::Text(text) => fill_text(text, variables)?,
        JsonValue::List(elements) => {
            Json::Array(elements.iter().map(|element| fill(element, variables)).collect::<Result<_, _>>()?)
        }
        JsonValue::Object(members) => {
            let filled = members.iter().map(|(key, node)| Ok((key.text.clone(), fill(node, variables)?)));
            Json::Object(filled.collect::<Result<_, String>>()?)
        }
    })
}

/// The value of a string.
///
/// # Errors
/// As of [`fill`].
pub fn fill_text(text: &str, variables: &dyn Variables) -> Result<Json, String> {
    if !is_template(text) {
        return Ok(text.into());
    }
    let pieces = pieces(text)?;
    if let [TemplatePiece::Path(path)] = &pieces[..] {
        return look_up(path, variables);
    }
    let mut filled = String::new();
    for piece in &pieces {
        match piece {
            TemplatePiece::Text(text) => filled.push_str(text),
            TemplatePiece::Path(path) => filled.push_str(&plain(&look_up(path, variables)?)),
        }
        if filled.len() > FILLED_BYTES_MAX {
            return Err(format!("a string has more than {FILLED_BYTES_MAX} bytes when it is filled in"));
        }
    }
    Ok(filled.into())
}

/// The arguments of a call, in WAVE: inside of quotes a value is put in as a part of that string, elsewhere as a literal.
///
/// # Errors
/// As of [`fill`].
pub fn fill_wave(text: &str, variables: &dyn Variables) -> Result<String, String> {
    let mut filled = String::new();
    let mut quote: Option<char> = None;
    for piece in pieces(text)? {
        match piece {
            TemplatePiece::Text(text) => {
                let mut chars = text.chars();
                while let Some(c) = chars.next() {
                    filled.push(c);
                    match quote {
                        Some(_) if c == '\\' => filled.extend(chars.next()),
                        Some(open) if c == open => quote = None,
                        None if c == '"' || c == '\'' => quote = Some(c),
                        _ => {}
                    }
                }
            }
            TemplatePiece::Path(path) => {
                let value = look_up(&path, variables)?;
                match quote {
                    Some(_) => escape(&plain(&value), &mut filled),
                    None => wave(&value, &mut filled),
                }
            }
        }
    }
    Ok(filled)
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\\' | '"' | '\'' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
}

/// A value in the notation of WAVE.
fn wave(value: &Json, out: &mut String) {
    match value {
        Json::Null => out.push_str("none"),
        Json::Bool(_) | Json::Number(_) => out.push_str(&value.to_string()),
        Json::String(text) => {
            out.push('"');
            escape(text, out);
            out.push('"');
        }
        Json::Array(elements) => {
            out.push('[');
            for (place, element) in elements.iter().enumerate() {
                out.push_str(if place > 0 { ", " } else { "" });
                wave(element, out);
            }
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (place, (key, element)) in members.iter().enumerate() {
                out.push_str(if place > 0 { ", " } else { "" });
                out.push_str(key);
                out.push_str(": ");
                wave(element, out);
            }
            out.push('}');
        }
    }
}

/// A value as a part of a text.
#[must_use]
pub fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn look_up(path: &VariablePath, variables: &dyn Variables) -> Result<Json, String> {
    let known = |name: &str| variables.value(name).ok_or_else(|| format!("the variable `{name}` has no value here"));
    let mut value = known(&path.name)?;
    let mut shown = path.name.clone();
    for part in &path.parts {
        let part = match part {
            VariablePathStep::At(name) => match known(name)? {
                Json::Number(number) if number.is_u64() => {
                    VariablePathStep::Index(number.as_u64().unwrap_or(u64::MAX) as usize)
                }
                Json::String(key) => VariablePathStep::Key(key),
                other => return Err(format!("`{name}` is {}, which is neither an index nor a key", kind(&other))),
            },
            part => part.clone(),
        };
        let found = match (&part, &mut value) {
            (VariablePathStep::Key(key), Json::Object(members)) => members.get_mut(key.as_str()).map(Json::take),
            (VariablePathStep::Index(index), Json::Array(elements)) => elements.get_mut(*index).map(Json::take),
            _ => None,
        };
        let (suffix, what) = match &part {
            VariablePathStep::Index(index) => (format!("[{index}]"), format!("no element {index}")),
            VariablePathStep::Key(key) | VariablePathStep::At(key) => (format!(".{key}"), format!("no `{key}`")),
        };
        value = found.ok_or_else(|| format!("`{shown}` is {}, which has {what}", kind(&value)))?;
        shown.push_str(&suffix);
    }
    Ok(value)
}

/// What kind of value it is, for people.
#[must_use]
pub fn kind(value: &Json) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(value) => value.to_string(),
        Json::Number(number) => format!("the number {number}"),
        Json::String(text) => format!("the string {}", crate::read::quoted(text)),
        Json::Array(elements) => format!("a list of {}", elements.len()),
        Json::Object(_) => "an object".to_owned(),
    }
}

/// A value as a tree with places, all of them one.
pub(crate) fn node(value: Json, at: usize) -> JsonNode {
    let value = match value {
        Json::Null => JsonValue::Null,
        Json::Bool(value) => JsonValue::Bool(value),
        Json::Number(number) => JsonValue::Number(match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => JsonNumber::Unsigned(number),
            (None, Some(number)) => JsonNumber::Signed(number),
            (None, None) => JsonNumber::Float(number.as_f64().unwrap_or_default()),
        }),
        Json::String(text) => JsonValue::Text(text),
        Json::Array(elements) => JsonValue::List(elements.into_iter().map(|element| node(element, at)).collect()),
        Json::Object(members) => JsonValue::Object(
            members.into_iter().map(|(text, value)| (crate::json::JsonKey { at, text }, node(value, at))).collect(),
        ),
    };
    JsonNode { at, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct TestVariables;

    impl Variables for TestVariables {
        fn value(&self, name: &str) -> Option<Json> {
            match name {
                "n" => Some(3.into()),
                "i" => Some(1.into()),
                "s" => Some("a\"b".into()),
                "r" => Some(serde_json::json!({"items": [{"name": "x"}, {"name": "y"}], "none": null})),
                _ => None,
            }
        }
    }

    #[test]
    fn strings_are_filled_in_with_values_or_text() {
        for (text, expected) in [
            ("plain $ {n}", "\"plain $ {n}\""),
            ("${n}", "3"),
            ("n=${n}!", "\"n=3!\""),
            ("$${n} ${n}", "\"${n} 3\""),
            ("${r.items[0].name}${r.items[i].name}", "\"xy\""),
            ("${r.items[i]}", "{\"name\":\"y\"}"),
            ("${r.items[2]}", "error: `r.items` is a list of 2, which has no element 2"),
            ("${n.a}", "error: `n` is the number 3, which has no `a`"),
            ("${later}", "error: the variable `later` has no value here"),
            ("${n", "error: `${` without its `}`"),
            ("${1}", "error: expected a variable such as"),
        ] {
            let filled =
                fill_text(text, &TestVariables).map_or_else(|why| format!("error: {why}"), |value| value.to_string());
            assert!(filled.starts_with(expected), "{text}: {filled}");
        }
    }

    #[test]
    fn in_wave_a_value_is_a_literal_or_a_part_of_a_string() {
        for (text, expected) in [
            ("(${s}, ${n})", r#"("a\"b", 3)"#),
            ("(\"<${s}>\", ${r.none})", r#"("<a\"b>", none)"#),
            ("(\"\\\"${n}\", ${r.items})", r#"("\"3", [{name: "x"}, {name: "y"}])"#),
        ] {
            assert_eq!(fill_wave(text, &TestVariables).as_deref(), Ok(expected), "{text}");
        }
    }
}
