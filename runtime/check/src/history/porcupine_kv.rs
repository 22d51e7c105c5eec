//! Porcupine's key-value logs, written: EDN with a `:key`, and texts as values.
//!
//! ```text
//! {:process 2, :type :invoke, :f :append, :key "0", :value "x 2 0 y"}
//! {:process 2, :type :ok, :f :append, :key "0", :value "x 2 0 y"}
//! ```
//!
//! Such a log has no failures: calls that failed are left out. A call whose end is unknown has no completion, and its process goes on
//! under another number. Not here: reading, which is that of other EDN (`reader`).

use super::datum::{Datum, DatumId, DatumPool};
use super::error::{HistoryError, quoted};
use super::{OperationHistory, OperationType, Process, pair_calls};
use std::collections::BTreeMap;
use std::fmt::Write;

pub(super) fn write(history: &OperationHistory) -> Result<String, HistoryError> {
    let pool = &history.pool;
    let mut events: BTreeMap<u32, String> = BTreeMap::new();
    let mut names: BTreeMap<i64, i64> = BTreeMap::new();
    let mut next = history.client_operations().filter_map(number).max().map_or(0, |most| most.saturating_add(1));
    for call in pair_calls(history)? {
        let asked = &history.operations[call.invocation as usize];
        if call.outcome == OperationType::Fail {
            continue;
        }
        let name = history.function_name(asked);
        let has_field = pool.entry(asked.extra, "key");
        let split = |value: DatumId| match (has_field, pool.pair(value)) {
            (Some(key), _) => Some((key, value)),
            (None, pair) => pair,
        };
        let known = match name {
            "get" | "read" => Some("get"),
            "put" | "write" => Some("put"),
            "append" => Some("append"),
            _ => None,
        };
        let (Some(name), Some((key, argument))) = (known, split(asked.value)) else {
            let found = format!("{} with value {}", quoted(name), quoted(&pool.edn(asked.value)));
            return Err(HistoryError::at_line(asked.line, found, "get, put and append of a key, as porcupine-kv has"));
        };
        let process = number(asked).map_or_else(
            || {
                next += 1;
                next - 1
            },
            |process| names.get(&process).copied().unwrap_or(process),
        );
        let mut line = |at: u32, kind: &str, value: &str| {
            let text = events.entry(at).or_default();
            // Writing to a text does not fail.
            let _ = write!(text, "{{:process {process}, :type :{kind}, :f :{name}, :key {}", words(pool, key));
            let _ = writeln!(text, ", :value {value}}}");
        };
        let argument = if name == "get" { "nil".to_owned() } else { words(pool, argument) };
        line(call.invocation, "invoke", &argument);
        match (call.outcome, call.completion) {
            (OperationType::Ok, Some(at)) => {
                let answer = split(history.operations[at as usize].value).map_or(DatumId::NIL, |(_, value)| value);
                line(at, "ok", &if name == "get" { words(pool, answer) } else { argument });
            }
            _ => {
                if let Some(process) = number(asked) {
                    names.insert(process, next);
                    next += 1;
                }
            }
        }
    }
    Ok(events.into_values().collect())
}

fn number(operation: &super::HistoryOperation) -> Option<i64> {
    if let Process::Client(process) = operation.process { Some(process) } else { None }
}

/// A value as a text in quotes; nothing is the empty one.
fn words(pool: &DatumPool, value: DatumId) -> String {
    match pool.get(value) {
        Datum::Nil => "\"\"".to_owned(),
        Datum::Text(_) => pool.edn(value),
        _ => format!("\"{}\"", pool.edn(value).replace('\\', "\\\\").replace('"', "\\\"")),
    }
}
