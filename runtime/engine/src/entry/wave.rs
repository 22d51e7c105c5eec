//! Values of a target's functions as a guest gives and gets them: text in the notation of WAVE, and JSON.
//!
//! ```text
//! text and types ─read─▶ values ─▶ call ─▶ result ─▶ text (`fozzy_host::wave`) and JSON
//! ```
//!
//! Not here: how values are written as text (`fozzy_host::wave`), what is called (`callee`).

mod read;
#[cfg(test)]
mod tests;

pub(crate) use read::{arguments as read_arguments, value as read_value};

use fozzy_host::wave;
use serde_json::{Value, json};
use wasmtime::component::Val;

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
        // A value that JSON has no number for is written as a word.
        Val::Float32(v) if v.is_finite() => f64::from(*v).into(),
        Val::Float64(v) if v.is_finite() => (*v).into(),
        Val::Float32(_)
        | Val::Float64(_)
        | Val::Resource(_)
        | Val::Future(_)
        | Val::Stream(_)
        | Val::ErrorContext(_) => wave::value(of).into(),
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
