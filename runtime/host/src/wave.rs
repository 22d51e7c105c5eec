//! Values as text, in the notation of WAVE (WebAssembly Value Encoding): in histories, in findings, and for guests that
//! call by text.
//!
//! ```text
//! ({name: "a\n", tags: [some(1), none]}, ok, {read, write}, circle(1.5), nan)
//! ```
//!
//! The text of drawn arguments and of a target's answer is folded into the digest of a history, counts in the budget, and
//! reaches guests. So its bytes are part of the determinism contract, and this writer is ours: the `wasm-wave` library leaves
//! out absent fields and escapes more characters, both of which may change with its version, and it panics on a handle. Tests
//! hold both to the same notation: each reads what the other writes (`runtime/engine/src/entry/wave/tests.rs`).
//!
//! Invariants: the text has one line, and no control characters; a change of it is a change of what stored traces replay to.
//! Not here: text to values, and values as JSON (`fozzy-engine`).

use std::fmt::{self, Write};
use wasmtime::component::Val;

/// Words that have a meaning; a case or field of that name is written with `%` before it.
const KEYWORDS: [&str; 8] = ["true", "false", "some", "none", "ok", "err", "inf", "nan"];

/// The arguments of a function.
#[must_use]
pub fn arguments(values: &[Val]) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = sequence(&mut out, ["(", ")"], values, write_value);
    out
}

/// One value.
#[must_use]
pub fn value(of: &Val) -> String {
    let mut out = String::new();
    let _ = write_value(&mut out, of);
    out
}

/// A text in quotes.
pub fn text(out: &mut String, text: &str) {
    let _ = write_text(out, text);
}

/// Values with commas between them. It ends with the first failure of `out`.
pub(crate) fn write_values(out: &mut dyn Write, values: &[Val]) -> fmt::Result {
    sequence(out, ["", ""], values, write_value)
}

fn sequence<T>(
    out: &mut dyn Write,
    around: [&str; 2],
    items: &[T],
    mut item: impl FnMut(&mut dyn Write, &T) -> fmt::Result,
) -> fmt::Result {
    out.write_str(around[0])?;
    for (place, each) in items.iter().enumerate() {
        if place > 0 {
            out.write_str(", ")?;
        }
        item(out, each)?;
    }
    out.write_str(around[1])
}

fn label(out: &mut dyn Write, name: &str) -> fmt::Result {
    if KEYWORDS.contains(&name) {
        out.write_char('%')?;
    }
    out.write_str(name)
}

fn case(out: &mut dyn Write, name: &str, payload: Option<&Val>) -> fmt::Result {
    out.write_str(name)?;
    let Some(payload) = payload else { return Ok(()) };
    out.write_char('(')?;
    write_value(out, payload)?;
    out.write_char(')')
}

fn float(out: &mut dyn Write, number: f64, shown: &dyn fmt::Display) -> fmt::Result {
    match number {
        n if n.is_nan() => out.write_str("nan"),
        n if n.is_infinite() => out.write_str(if n > 0.0 { "inf" } else { "-inf" }),
        _ => write!(out, "{shown}"),
    }
}

fn escaped(out: &mut dyn Write, c: char, quote: char) -> fmt::Result {
    match c {
        '\\' => out.write_str("\\\\"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        c if c == quote => {
            out.write_char('\\')?;
            out.write_char(quote)
        }
        c if c.is_control() => write!(out, "\\u{{{:x}}}", c as u32),
        c => out.write_char(c),
    }
}

fn write_text(out: &mut dyn Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    text.chars().try_for_each(|c| escaped(out, c, '"'))?;
    out.write_char('"')
}

fn write_value(out: &mut dyn Write, of: &Val) -> fmt::Result {
    match of {
        Val::Bool(v) => write!(out, "{v}"),
        Val::S8(v) => write!(out, "{v}"),
        Val::U8(v) => write!(out, "{v}"),
        Val::S16(v) => write!(out, "{v}"),
        Val::U16(v) => write!(out, "{v}"),
        Val::S32(v) => write!(out, "{v}"),
        Val::U32(v) => write!(out, "{v}"),
        Val::S64(v) => write!(out, "{v}"),
        Val::U64(v) => write!(out, "{v}"),
        Val::Float32(v) => float(out, (*v).into(), v),
        Val::Float64(v) => float(out, *v, v),
        Val::Char(c) => {
            out.write_char('\'')?;
            escaped(out, *c, '\'')?;
            out.write_char('\'')
        }
        Val::String(v) => write_text(out, v),
        Val::List(items) | Val::FixedLengthList(items) => sequence(out, ["[", "]"], items, write_value),
        Val::Map(items) => sequence(out, ["[", "]"], items, |out, (key, of)| {
            out.write_char('(')?;
            write_value(out, key)?;
            out.write_str(", ")?;
            write_value(out, of)?;
            out.write_char(')')
        }),
        Val::Tuple(items) => sequence(out, ["(", ")"], items, write_value),
        Val::Record(fields) => sequence(out, ["{", "}"], fields, |out, (name, of)| {
            label(out, name)?;
            out.write_str(": ")?;
            write_value(out, of)
        }),
        Val::Variant(name, payload) => {
            if KEYWORDS.contains(&name.as_str()) {
                out.write_char('%')?;
            }
            case(out, name, payload.as_deref())
        }
        Val::Enum(name) => label(out, name),
        Val::Option(None) => out.write_str("none"),
        Val::Option(Some(of)) => case(out, "some", Some(of)),
        Val::Result(Ok(of)) => case(out, "ok", of.as_deref()),
        Val::Result(Err(of)) => case(out, "err", of.as_deref()),
        Val::Flags(names) => sequence(out, ["{", "}"], names, |out, name| label(out, name)),
        // A handle has no text. In the histories of linked components, its number stands for it.
        Val::Resource(_) | Val::Future(_) | Val::Stream(_) | Val::ErrorContext(_) => out.write_char('_'),
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
            Val::Variant("err".to_owned(), None),
            Val::Float32(f32::NAN),
            Val::Float64(f64::NEG_INFINITY),
            Val::Char('\''),
            Val::Tuple(vec![Val::Bool(true), Val::Enum("blue".to_owned())]),
        ];
        let all: Vec<Val> = [record].into_iter().chain(rest).collect();
        let expected = "({name: \"a\\n\\\"é\\u{1}\", %ok: [some(1), none]}, ok, err(-5), {read, %none}, circle(1.5), %err, \
                        nan, -inf, '\\'', (true, blue))";
        assert_eq!(arguments(&all), expected);
        assert_eq!(arguments(&[]), "()");
    }
}
