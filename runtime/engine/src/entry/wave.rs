//! Values as text, in the notation of WAVE (WebAssembly Value Encoding).
//!
//! ```text
//! ({name: "a\n", tags: [some(1), none]}, ok, {read, write}, circle(1.5), nan)
//! ```
//!
//! Invariant: the text has one line, and no control characters.
//! Not here: text to values (`read`).

mod read;

pub(crate) use read::{arguments as read_arguments, value as read_value};

use serde_json::{Value, json};
use std::fmt::Write;
use wasmtime::component::Val;

/// Words that have a meaning; a case or field of that name is written with `%` before it.
const KEYWORDS: [&str; 8] = ["true", "false", "some", "none", "ok", "err", "inf", "nan"];

/// The arguments of a function.
pub(crate) fn arguments(values: &[Val]) -> String {
    let mut out = String::new();
    sequence(&mut out, ["(", ")"], values, value);
    out
}

fn sequence<T>(out: &mut String, around: [&str; 2], items: &[T], mut item: impl FnMut(&mut String, &T)) {
    out.push_str(around[0]);
    for (place, each) in items.iter().enumerate() {
        if place > 0 {
            out.push_str(", ");
        }
        item(out, each);
    }
    out.push_str(around[1]);
}

fn label(out: &mut String, name: &str) {
    if KEYWORDS.contains(&name) {
        out.push('%');
    }
    out.push_str(name);
}

fn with(out: &mut String, payload: Option<&Val>) {
    if let Some(payload) = payload {
        out.push('(');
        value(out, payload);
        out.push(')');
    }
}

fn float(out: &mut String, number: f64, shown: String) {
    match number {
        n if n.is_nan() => out.push_str("nan"),
        n if n.is_infinite() => out.push_str(if n > 0.0 { "inf" } else { "-inf" }),
        _ => out.push_str(&shown),
    }
}

fn escaped(out: &mut String, c: char, quote: char) {
    match c {
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c == quote => out.extend(['\\', quote]),
        c if c.is_control() => _ = write!(out, "\\u{{{:x}}}", c as u32),
        c => out.push(c),
    }
}

/// A text in quotes.
pub(crate) fn text(out: &mut String, text: &str) {
    out.push('"');
    text.chars().for_each(|c| escaped(out, c, '"'));
    out.push('"');
}

fn value(out: &mut String, of: &Val) {
    // Writing to a string does not fail.
    match of {
        Val::Bool(v) => _ = write!(out, "{v}"),
        Val::S8(v) => _ = write!(out, "{v}"),
        Val::U8(v) => _ = write!(out, "{v}"),
        Val::S16(v) => _ = write!(out, "{v}"),
        Val::U16(v) => _ = write!(out, "{v}"),
        Val::S32(v) => _ = write!(out, "{v}"),
        Val::U32(v) => _ = write!(out, "{v}"),
        Val::S64(v) => _ = write!(out, "{v}"),
        Val::U64(v) => _ = write!(out, "{v}"),
        Val::Float32(v) => float(out, (*v).into(), v.to_string()),
        Val::Float64(v) => float(out, *v, v.to_string()),
        Val::Char(c) => {
            out.push('\'');
            escaped(out, *c, '\'');
            out.push('\'');
        }
        Val::String(v) => text(out, v),
        Val::List(items) | Val::FixedLengthList(items) => sequence(out, ["[", "]"], items, value),
        Val::Map(items) => sequence(out, ["[", "]"], items, |out, (key, of)| {
            out.push('(');
            value(out, key);
            out.push_str(", ");
            value(out, of);
            out.push(')');
        }),
        Val::Tuple(items) => sequence(out, ["(", ")"], items, value),
        Val::Record(fields) => sequence(out, ["{", "}"], fields, |out, (name, of)| {
            label(out, name);
            out.push_str(": ");
            value(out, of);
        }),
        Val::Variant(name, payload) => {
            label(out, name);
            with(out, payload.as_deref());
        }
        Val::Enum(name) => label(out, name),
        Val::Option(None) => out.push_str("none"),
        Val::Option(Some(of)) => {
            out.push_str("some");
            with(out, Some(of));
        }
        Val::Result(Ok(of)) => {
            out.push_str("ok");
            with(out, of.as_deref());
        }
        Val::Result(Err(of)) => {
            out.push_str("err");
            with(out, of.as_deref());
        }
        Val::Flags(names) => sequence(out, ["{", "}"], names, |out, name| label(out, name)),
        Val::Resource(_) | Val::Future(_) | Val::Stream(_) | Val::ErrorContext(_) => out.push('_'),
    }
}

/// One value.
pub(crate) fn written(of: &Val) -> String {
    let mut out = String::new();
    value(&mut out, of);
    out
}

/// A value as JSON: the simplest form that a program in JSON can deal with.
pub(crate) fn as_json(of: &Val) -> Value {
    let list = |values: &[Val]| Value::Array(values.iter().map(as_json).collect());
    let case = |name: &str, payload: Option<&Val>| match payload {
        Some(payload) => json!({ name: as_json(payload) }),
        None => name.into(),
    };
    match of {
        Val::Bool(v) => (*v).into(),
        Val::S8(v) => (*v).into(),
        Val::U8(v) => (*v).into(),
        Val::S16(v) => (*v).into(),
        Val::U16(v) => (*v).into(),
        Val::S32(v) => (*v).into(),
        Val::U32(v) => (*v).into(),
        Val::S64(v) => (*v).into(),
        Val::U64(v) => (*v).into(),
        // What is no number in JSON is its word.
        Val::Float32(v) if v.is_finite() => f64::from(*v).into(),
        Val::Float64(v) if v.is_finite() => (*v).into(),
        Val::Float32(_)
        | Val::Float64(_)
        | Val::Resource(_)
        | Val::Future(_)
        | Val::Stream(_)
        | Val::ErrorContext(_) => written(of).into(),
        Val::Char(c) => c.to_string().into(),
        Val::String(text) | Val::Enum(text) => text.as_str().into(),
        Val::List(items) | Val::FixedLengthList(items) | Val::Tuple(items) => list(items),
        Val::Map(items) => items.iter().map(|(key, of)| json!([as_json(key), as_json(of)])).collect(),
        Val::Record(fields) => fields.iter().map(|(name, of)| (name.clone(), as_json(of))).collect(),
        Val::Variant(name, payload) => case(name, payload.as_deref()),
        Val::Option(of) => of.as_deref().map_or(Value::Null, as_json),
        Val::Result(Ok(of)) => case("ok", of.as_deref()),
        Val::Result(Err(of)) => case("err", of.as_deref()),
        Val::Flags(names) => names.iter().map(|name| Value::from(name.as_str())).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_in_one_line() {
        let some = |of: Val| Val::Option(Some(Box::new(of)));
        let record = Val::Record(vec![
            ("name".to_owned(), Val::String("a\n\"é\u{1}".to_owned())),
            ("ok".to_owned(), Val::List(vec![some(Val::U8(1)), Val::Option(None)])),
        ]);
        let rest = [
            Val::Result(Ok(None)),
            Val::Result(Err(Some(Box::new(Val::S64(-5))))),
            Val::Flags(vec!["read".to_owned(), "none".to_owned()]),
            Val::Variant("circle".to_owned(), Some(Box::new(Val::Float64(1.5)))),
            Val::Float32(f32::NAN),
            Val::Float64(f64::NEG_INFINITY),
            Val::Char('\''),
            Val::Tuple(vec![Val::Bool(true), Val::Enum("blue".to_owned())]),
        ];
        let all: Vec<Val> = [record].into_iter().chain(rest).collect();
        let expected = "({name: \"a\\n\\\"é\\u{1}\", %ok: [some(1), none]}, ok, err(-5), {read, %none}, circle(1.5), nan, \
                        -inf, '\\'', (true, blue))";
        assert_eq!(arguments(&all), expected);
        assert_eq!(arguments(&[]), "()");
        let json = "[{\"name\":\"a\\n\\\"é\\u0001\",\"ok\":[1,null]},\"ok\",{\"err\":-5},[\"read\",\"none\"],{\"circle\":1.5},\
                    \"nan\",\"-inf\",\"'\",[true,\"blue\"]]";
        assert_eq!(as_json(&Val::Tuple(all)).to_string(), json);
    }
}
