//! A JSON parser and a regular expression over a document, each one export that returns a checksum.

use regex::Regex;
use serde_json::Value;
use std::cell::RefCell;
use std::fmt::Write;

thread_local! {
    static DOCUMENT: RefCell<String> = const { RefCell::new(String::new()) };
    static EXPRESSION: Regex =
        Regex::new(r#""name":"user ([0-9a-f]+)","v":\[(\d+),(\d+\.\d+)"#).expect("the expression is one");
}

/// Makes a document of at least so many bytes, always the same.
#[unsafe(no_mangle)]
pub extern "C" fn prepare(bytes: usize) {
    let mut text = String::from("[");
    let mut state = 12_345u64;
    for id in 0u32.. {
        if text.len() >= bytes {
            break;
        }
        // Knuth's MMIX, for numbers that no parser can foresee.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let comma = if id == 0 { "" } else { "," };
        let (name, whole, fraction) = (state >> 40, (state >> 16) & 0xff, (state >> 24) & 0xfff);
        let (first, last, even) = (state & 0xffff, (state >> 33) as i32, state & 1 == 0);
        write!(
            text,
            r#"{comma}{{"id":{id},"name":"user {name:x}","v":[{first},{whole}.{fraction},{last}],"ok":{even},"nested":{{"a":"\n\u00e9","b":null}}}}"#
        )
        .expect("strings can be written to");
    }
    text.push(']');
    DOCUMENT.with(|document| *document.borrow_mut() = text);
}

/// Parses the document and walks over all of it.
#[unsafe(no_mangle)]
pub extern "C" fn json() -> u32 {
    DOCUMENT.with(|document| sum(&serde_json::from_str(&document.borrow()).expect("it is JSON")))
}

fn sum(value: &Value) -> u32 {
    match value {
        Value::Array(items) => items.iter().map(sum).fold(0, u32::wrapping_add),
        Value::Object(members) => {
            members.iter().map(|(key, value)| sum(value).wrapping_add(key.len() as u32)).fold(0, u32::wrapping_add)
        }
        Value::Number(number) => number.as_f64().map_or(0, |number| number as u32),
        Value::String(text) => text.len() as u32,
        Value::Null | Value::Bool(_) => 1,
    }
}

/// Finds every match with its groups.
#[unsafe(no_mangle)]
pub extern "C" fn regex() -> u32 {
    DOCUMENT.with(|document| {
        EXPRESSION.with(|expression| {
            let document = document.borrow();
            let lengths = expression.captures_iter(&document).map(|found| found[1].len() * 31 + found[2].len());
            lengths.fold(0, |sum: u32, length| sum.wrapping_add(length as u32))
        })
    })
}
