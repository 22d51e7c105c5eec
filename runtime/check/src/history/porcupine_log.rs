//! Lines of Jepsen's log, as Porcupine's test data has them.
//!
//! ```text
//! INFO  jepsen.util - 3 :invoke :write 4
//! INFO  jepsen.util - 3 :info :write :timed-out
//! ```
//!
//! Other lines of the log are skipped. Porcupine's key-value logs are EDN (`reader`, `porcupine_kv`).

use super::datum::DatumId;
use super::error::{HistoryError, quoted};
use super::reader::HistoryFormat;
use super::syntax::{SyntaxDialect, SyntaxReader};
use super::{OperationHistory, OperationType, Process};
use std::fmt::Write;

/// What stands before an operation.
const LOGGER: &str = "jepsen.util - ";

pub(super) fn read(text: &str) -> Result<OperationHistory, HistoryError> {
    let mut history = OperationHistory { format: HistoryFormat::JepsenLog, ..OperationHistory::default() };
    let mut start = 0;
    for (number, line) in text.split('\n').enumerate() {
        let here = start;
        start += line.len() + 1;
        let Some(at) = line.find(LOGGER) else { continue };
        let rest = &line[at + LOGGER.len()..];
        let mut words = rest.split_ascii_whitespace();
        let (Some(process), Some(kind), Some(function)) = (words.next(), words.next(), words.next()) else { continue };
        // Operations of the nemesis, and whatever else is logged.
        let (Ok(process), Some(kind)) = (process.parse::<i64>(), kind.strip_prefix(':')) else { continue };
        let wrong = |found: &str, expected: &str| {
            let offset = found.as_ptr() as usize - text.as_ptr() as usize;
            Err(HistoryError::at(text.as_bytes(), offset, quoted(found), expected))
        };
        let Some(kind) = OperationType::named(kind) else {
            return wrong(&rest[rest.find(':').unwrap_or(0)..], "one of :invoke, :ok, :fail, :info");
        };
        let Some(name) = function.strip_prefix(':') else {
            return wrong(function, "the name of a function, as a keyword");
        };
        let value_at = function.as_ptr() as usize - text.as_ptr() as usize + function.len();
        let value = text[value_at..here + line.len()].trim();
        let mut syntax = SyntaxReader::new(value, SyntaxDialect::Edn);
        let value = if value.is_empty() { Ok(DatumId::NIL) } else { syntax.value(&mut history.pool) };
        let value = value.map_err(|error| HistoryError::at(text.as_bytes(), value_at, error.found, error.expected))?;
        let is_error = matches!(kind, OperationType::Fail | OperationType::Info) && history.pool.name(value).is_some();
        history.push(process, kind, name, if is_error { DatumId::NIL } else { value });
        if let Some(last) = history.operations.last_mut() {
            last.line = number as u32 + 1;
            last.error = if is_error { value } else { DatumId::NIL };
        }
    }
    Ok(history)
}

/// The operations as lines of a log, without their times.
pub(super) fn write(history: &OperationHistory) -> Result<String, HistoryError> {
    let (pool, mut text) = (&history.pool, String::new());
    for operation in &history.operations {
        let refused = |found: String, expected: &str| Err(HistoryError::at_line(operation.line, found, expected));
        let process = match operation.process {
            Process::Client(process) => process.to_string(),
            Process::Named(name) => pool.edn(name),
            Process::Unknown => return refused("an operation without a process".to_owned(), "one, as jepsen-log has"),
        };
        if let Some(key) = pool.entry(operation.extra, "key") {
            let found = format!("an operation of key {}", quoted(&pool.edn(key)));
            return refused(found, "operations without `key`; jepsen-log has keys in values, [key value]");
        }
        let function = history.function_name(operation);
        if function.is_empty() || function.contains(char::is_whitespace) {
            return refused(format!("a function named {}", quoted(function)), "a name in one word, as jepsen-log has");
        }
        let tells_why = matches!(operation.kind, OperationType::Fail | OperationType::Info);
        let value = if tells_why && !operation.error.is_nil() { operation.error } else { operation.value };
        // Writing to a text does not fail.
        let _ = writeln!(text, "INFO  {LOGGER}{process}\t:{}\t:{function}\t{}", operation.kind.name(), pool.edn(value));
    }
    Ok(text)
}
