//! Replies to transactions: the operations that were asked, in their order, and what the reads have read.
//!
//! ```text
//! [["r",1,null],["append",2,5]]  ─▶  [["r",1,[3,4]],["append",2,5]]
//! ```
//!
//! Not here: whether what was read is possible (`fozzy-check`).

use crate::protocol::{ValueShape, shown};
use serde_json::Value;

/// The first thing that is wrong with a reply's operations: in words without a value, and with it.
pub fn problem(write: &str, asked: &Value, answered: &Value) -> Option<(String, String)> {
    let (asked, answered) = (operations(asked), operations(answered));
    if asked.len() != answered.len() {
        let what = "`txn` has another number of operations";
        return Some((what.to_owned(), format!("{what}: {} instead of {}", answered.len(), asked.len())));
    }
    let wrong = asked.iter().zip(answered).position(|(asked, answered)| !answers(write, asked, answered))?;
    let (number, found) = (wrong + 1, shown(&answered[wrong].to_string()));
    let found = format!("operation {number} of `txn` is {found}, and {} was asked", asked[wrong]);
    Some(("an operation of `txn` is not the one that was asked".to_owned(), found))
}

/// What should be there, in words.
pub fn expected(write: &str, asked: &Value) -> String {
    let one = |asked: &Value| match asked[0] == "r" {
        true => format!(r#"["r",{},null or {}]"#, asked[1], read_shape(write).words()),
        false => asked.to_string(),
    };
    let all: Vec<String> = asked.as_array().into_iter().flatten().map(one).collect();
    format!("[{}]", all.join(","))
}

fn operations(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn answers(write: &str, asked: &Value, answered: &Value) -> bool {
    if asked[0] != "r" {
        return asked == answered;
    }
    let Some([kind, key, value]) = answered.as_array().map(Vec::as_slice) else { return false };
    *kind == asked[0] && *key == asked[1] && (value.is_null() || read_shape(write).fits(value))
}

/// What a read has where something was written.
fn read_shape(write: &str) -> ValueShape {
    if write == "append" { ValueShape::Integers } else { ValueShape::Integer }
}
