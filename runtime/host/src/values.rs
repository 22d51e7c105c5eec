//! Values of any type of WIT that go from one component to another: as the history has them, and the simplest of each type.
//!
//! ```text
//! record { name: "a", sizes: [1, 2] }   ─▶ `{name: "a", sizes: [1, 2]}`
//! result<u32, string>, not answered     ─▶ `err("")`
//! ```
//!
//! Invariant: values that differ fold differently, their cases and lengths included.
//! Not here: the notation (`wave`), handles of resources, for which numbers stand (`handles`).

use crate::wave;
use fozzy_trace::{Record, RunningDigest};
use std::fmt::{self, Write};
use wasmtime::component::{Type, Val};

/// Longest rendering of all arguments or results together, in bytes. What is longer is cut, and a digest of it stands there.
const SHOWN_BYTES_MAX: usize = 200;

/// Arguments, or results.
pub(crate) struct ValueList<'a>(pub(crate) &'a [Val]);

impl Record for ValueList<'_> {
    fn fold(&self, fold: &mut RunningDigest) {
        list(self.0, fold);
    }

    fn show(&self, out: &mut String) {
        let mut shown = BoundedText(String::new());
        let is_whole = wave::write_values(&mut shown, self.0).is_ok();
        let BoundedText(text) = shown;
        if is_whole {
            out.push_str(&text);
            return;
        }
        let mut whole = RunningDigest::default();
        self.fold(&mut whole);
        let cut = (0..=SHOWN_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let _ = write!(out, "{}… #{:08x}", &text[..cut], whole.value() as u32);
    }

    fn payload_bytes(&self) -> u64 {
        self.0.iter().map(bytes).sum()
    }
}

fn list(values: &[Val], fold: &mut RunningDigest) {
    fold.word(values.len() as u64);
    values.iter().for_each(|value| fold_value(value, fold));
}

fn fold_value(value: &Val, fold: &mut RunningDigest) {
    let payload = |payload: &Option<Box<Val>>, fold: &mut RunningDigest| {
        fold.word(u64::from(payload.is_some()));
        if let Some(value) = payload {
            fold_value(value, fold);
        }
    };
    match value {
        Val::Bool(value) => fold.word(u64::from(*value)),
        Val::S8(value) => fold.word(*value as u64),
        Val::U8(value) => fold.word(u64::from(*value)),
        Val::S16(value) => fold.word(*value as u64),
        Val::U16(value) => fold.word(u64::from(*value)),
        Val::S32(value) => fold.word(*value as u64),
        Val::U32(value) => fold.word(u64::from(*value)),
        Val::S64(value) => fold.word(*value as u64),
        Val::U64(value) => fold.word(*value),
        Val::Float32(value) => fold.word(u64::from(value.to_bits())),
        Val::Float64(value) => fold.word(value.to_bits()),
        Val::Char(value) => fold.word(u64::from(u32::from(*value))),
        Val::String(text) | Val::Enum(text) => fold.bytes(text.as_bytes()),
        Val::List(values) | Val::FixedLengthList(values) | Val::Tuple(values) => list(values, fold),
        Val::Map(pairs) => {
            fold.word(pairs.len() as u64);
            for (key, value) in pairs {
                fold_value(key, fold);
                fold_value(value, fold);
            }
        }
        Val::Record(fields) => {
            fold.word(fields.len() as u64);
            fields.iter().for_each(|(_, value)| fold_value(value, fold));
        }
        Val::Variant(case, value) => {
            fold.bytes(case.as_bytes());
            payload(value, fold);
        }
        Val::Option(value) => payload(value, fold),
        Val::Result(Ok(value)) => {
            fold.word(0);
            payload(value, fold);
        }
        Val::Result(Err(value)) => {
            fold.word(1);
            payload(value, fold);
        }
        Val::Flags(names) => {
            fold.word(names.len() as u64);
            names.iter().for_each(|name| fold.bytes(name.as_bytes()));
        }
        // These do not go from one component to another.
        Val::Resource(_) | Val::Future(_) | Val::Stream(_) | Val::ErrorContext(_) => fold.word(u64::MAX),
    }
}

/// The cost of moving a value, beside that of the call.
fn bytes(value: &Val) -> u64 {
    let of = |values: &[Val]| values.iter().map(bytes).sum::<u64>() + values.len() as u64;
    let payload = |value: &Option<Box<Val>>| value.as_ref().map_or(0, |value| bytes(value));
    match value {
        Val::String(text) => text.len() as u64,
        Val::List(values) | Val::FixedLengthList(values) | Val::Tuple(values) => of(values),
        Val::Map(pairs) => pairs.iter().map(|(key, value)| bytes(key) + bytes(value) + 1).sum(),
        Val::Record(fields) => fields.iter().map(|(_, value)| bytes(value)).sum(),
        Val::Variant(_, value) | Val::Option(value) | Val::Result(Ok(value) | Err(value)) => payload(value),
        _ => 0,
    }
}

/// Text up to a bound; what goes beyond it fails.
struct BoundedText(String);

impl Write for BoundedText {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.0.push_str(part);
        if self.0.len() > SHOWN_BYTES_MAX { Err(fmt::Error) } else { Ok(()) }
    }
}

/// The simplest value of a type: an error, nothing, an empty list, 0. None of a resource.
pub(crate) fn simplest(of: &Type) -> Option<Val> {
    let payload = |of: Option<Type>| match of {
        Some(of) => simplest(&of).map(|value| Some(Box::new(value))),
        None => Some(None),
    };
    Some(match of {
        Type::Bool => Val::Bool(false),
        Type::S8 => Val::S8(0),
        Type::U8 => Val::U8(0),
        Type::S16 => Val::S16(0),
        Type::U16 => Val::U16(0),
        Type::S32 => Val::S32(0),
        Type::U32 => Val::U32(0),
        Type::S64 => Val::S64(0),
        Type::U64 => Val::U64(0),
        Type::Float32 => Val::Float32(0.0),
        Type::Float64 => Val::Float64(0.0),
        Type::Char => Val::Char('\0'),
        Type::String => Val::String(String::new()),
        Type::List(_) => Val::List(Vec::new()),
        Type::Map(_) => Val::Map(Vec::new()),
        Type::Record(of) => {
            let fields = of.fields().map(|it| Some((it.name.to_owned(), simplest(&it.ty)?)));
            Val::Record(fields.collect::<Option<_>>()?)
        }
        Type::Tuple(of) => Val::Tuple(of.types().map(|of| simplest(&of)).collect::<Option<_>>()?),
        Type::Variant(of) => {
            let first = of.cases().next().expect("a variant has a case");
            Val::Variant(first.name.to_owned(), payload(first.ty)?)
        }
        Type::Enum(of) => Val::Enum(of.names().next().expect("an enum has a case").to_owned()),
        Type::Option(_) => Val::Option(None),
        Type::Result(of) => Val::Result(Err(payload(of.err())?)),
        Type::Flags(_) => Val::Flags(Vec::new()),
        Type::Own(_) | Type::Borrow(_) => return None,
        Type::FixedLengthList(_) | Type::Future(_) | Type::Stream(_) | Type::ErrorContext => {
            unreachable!("no function of these is linked")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(values: &[Val]) -> String {
        let mut out = String::new();
        ValueList(values).show(&mut out);
        out
    }

    fn folded(values: &[Val]) -> u64 {
        let mut fold = RunningDigest::default();
        ValueList(values).fold(&mut fold);
        fold.value()
    }

    fn text(text: &str) -> Val {
        Val::String(text.to_owned())
    }

    #[test]
    fn values_are_shown_in_wave_up_to_a_bound() {
        let sizes = Val::List(vec![Val::U32(1), Val::U32(2)]);
        let record = Val::Record(vec![("name".to_owned(), text("a")), ("sizes".to_owned(), sizes)]);
        assert_eq!(shown(&[record, Val::Bool(true)]), r#"{name: "a", sizes: [1, 2]}, true"#);
        let some = |value| Some(Box::new(value));
        assert_eq!(shown(&[Val::Option(None), Val::Option(some(Val::S8(-1)))]), "none, some(-1)");
        assert_eq!(shown(&[Val::Result(Err(some(text("no"))))]), r#"err("no")"#);
        assert_eq!(shown(&[Val::Result(Ok(None)), Val::Variant("at".to_owned(), some(Val::U8(3)))]), "ok, at(3)");
        assert_eq!(shown(&[Val::List(b"hi".map(Val::U8).to_vec())]), "[104, 105]");
        assert_eq!(shown(&[Val::List(vec![])]), "[]");
        let long = |last| shown(&[Val::List(vec![Val::U32(7); 1000]), Val::U8(last)]);
        assert!(long(1).len() < SHOWN_BYTES_MAX + 20 && long(1).contains("7… #"), "{}", long(1));
        assert_ne!(long(1), long(2), "what is cut looks different when it is different");
        assert_eq!(ValueList(&[text("four"), Val::List(vec![Val::U8(0); 3])]).payload_bytes(), 7);
    }

    #[test]
    fn what_differs_folds_differently() {
        let one = |value| Some(Box::new(value));
        let values = [
            vec![],
            vec![Val::U8(0)],
            vec![Val::U8(1)],
            vec![Val::U8(0), Val::U8(0)],
            vec![Val::List(vec![])],
            vec![Val::List(vec![Val::U8(0)])],
            vec![Val::Option(one(Val::U8(0)))],
            vec![Val::Result(Ok(one(Val::U8(0))))],
            vec![Val::Result(Err(one(Val::U8(0))))],
            vec![text("")],
            vec![text("a")],
            vec![Val::Variant("a".to_owned(), None)],
            vec![Val::Float64(-0.0)],
        ];
        // A list and an option are of different types, which cannot stand in one place.
        let same_place = [1, 2, 3, 7, 8, 9, 10, 11, 12];
        for (a, b) in same_place.iter().flat_map(|a| same_place.iter().map(move |b| (*a, *b))).filter(|(a, b)| a < b) {
            assert_ne!(folded(&values[a]), folded(&values[b]), "{:?} {:?}", values[a], values[b]);
        }
        assert_ne!(folded(&values[4]), folded(&values[5]));
        assert_ne!(folded(&values[0]), folded(&values[1]));
    }
}
