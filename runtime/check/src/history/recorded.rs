//! Operations that a program of ours recorded while it ran.
//!
//! ```text
//! invoke(0, "put x", "7") · ok("")     ──▶   process 0, function put, key "x", value 7
//! invoke(1, "txn", "[[:r 1 nil]]")     ──▶   process 1, function txn, value [[:r 1 nil]]
//! ```
//!
//! The first word of an operation is its function, and what follows its key, or entries such as `:final? true`. Input and output are values in EDN or as JSON writes
//! numbers, texts, arrays and objects; what is neither is a text, and nothing is `nil`. An output that says nothing is the input.
//! An operation that never ends is given up, with an unknown end, when its client begins another one: as those of a sequence that is over do,
//! where the next one begins with the same clients.
//! Not here: how a run is repeated (`fozzy-campaign`).

use super::datum::ItemKind;
use super::syntax::{SyntaxDialect, SyntaxReader};
use super::{DatumId, DatumPool, HistoryFormat, HistoryOperation, OperationHistory, OperationType, Process};
use fozzy_trace::Instant;
use fozzy_trace::facts::{OperationEnd, Operations};
use std::collections::BTreeMap;

/// What histories say of an operation that has no end, and whose client goes on.
const GIVEN_UP: &str = "given up";

impl OperationHistory {
    /// The history of a run's operations, in the order in which they began and ended.
    #[must_use]
    pub fn of_run(operations: &Operations) -> OperationHistory {
        OperationHistory::of_run_by(operations, true)
    }

    /// The same, where an operation that never ends is given up when its client begins another one, or is not, and the history does not fit.
    pub(crate) fn of_run_by(operations: &Operations, gives_up: bool) -> OperationHistory {
        let mut history = OperationHistory { format: HistoryFormat::Run, ..OperationHistory::default() };
        let mut events: Vec<(u64, HistoryOperation)> = Vec::new();
        // What clients have begun that never ends.
        let mut left: BTreeMap<u32, [DatumId; 3]> = BTreeMap::new();
        for one in operations.all() {
            let pool = &mut history.pool;
            let (name, key) = one.operation.split_once(' ').unwrap_or((&one.operation, ""));
            let function = pool.keyword(name);
            let asked = value(pool, &one.input);
            let extra = extra(pool, key.trim());
            if let Some([function, value, extra]) = left.remove(&one.client) {
                let given_up = HistoryOperation {
                    index: 0,
                    time: i64::try_from(one.invoked.1.0).ok(),
                    process: Process::Client(i64::from(one.client)),
                    kind: OperationType::Info,
                    function,
                    value,
                    error: pool.text(GIVEN_UP),
                    extra,
                    line: 0,
                };
                events.push((one.invoked.0, given_up));
            }
            if one.end.is_none() && gives_up {
                left.insert(one.client, [function, asked, extra]);
            }
            let mut event = |(moment, time): (u64, Instant), kind: OperationType, value: DatumId, error: DatumId| {
                let operation = HistoryOperation {
                    index: 0,
                    time: i64::try_from(time.0).ok(),
                    process: Process::Client(i64::from(one.client)),
                    kind,
                    function,
                    value,
                    error,
                    extra,
                    line: 0,
                };
                events.push((moment, operation));
            };
            event(one.invoked, OperationType::Invoke, asked, DatumId::NIL);
            let Some((end, moment, time)) = &one.end else { continue };
            let (kind, answered, error) = match end {
                OperationEnd::Ok(output) if output.trim().is_empty() => (OperationType::Ok, asked, DatumId::NIL),
                OperationEnd::Ok(output) => (OperationType::Ok, value(pool, output), DatumId::NIL),
                OperationEnd::Fail(why) => (OperationType::Fail, asked, pool.text(why)),
                OperationEnd::Info(why) => (OperationType::Info, asked, pool.text(why)),
            };
            event((*moment, *time), kind, answered, error);
        }
        // What is given up stands before what its client does instead, at the same moment.
        events.sort_by_key(|(moment, _)| *moment);
        let numbered = events.into_iter().zip(0..);
        history.operations = numbered.map(|((_, operation), index)| HistoryOperation { index, ..operation }).collect();
        history
    }
}

/// What an operation has beside its function: entries, or a key.
fn extra(pool: &mut DatumPool, words: &str) -> DatumId {
    if words.is_empty() {
        return DatumId::NIL;
    }
    if words.starts_with(':') {
        return value(pool, &format!("{{{words}}}"));
    }
    let (name, key) = (pool.keyword("key"), value(pool, words));
    pool.sequence(ItemKind::Map, &[name, key])
}

/// The value that some words are.
fn value(pool: &mut DatumPool, words: &str) -> DatumId {
    if words.trim().is_empty() {
        return DatumId::NIL;
    }
    // A bare word is a text.
    let found = read(pool, words, SyntaxDialect::Edn);
    let found = found.filter(|value| pool.name(*value).is_none_or(|name| words.trim() != name));
    let is_object = found.is_none() && words.trim_start().starts_with('{');
    let found = if is_object { read(pool, words, SyntaxDialect::Json) } else { found };
    found.unwrap_or_else(|| pool.text(words.trim()))
}

/// The value that is all of a text in a notation.
fn read(pool: &mut DatumPool, words: &str, notation: SyntaxDialect) -> Option<DatumId> {
    let mut reader = SyntaxReader::new(words, notation);
    let value = reader.value(pool).ok()?;
    reader.is_at_end(pool).is_ok_and(|is| is).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CheckLimits, Validity, check_linearizability, model};

    #[test]
    fn operations_of_a_run_are_a_history() {
        let mut operations = Operations::default();
        let mut call = |client: u32, name: &str, input: &str, at: u64| {
            operations.invoke(client, name, input, Instant(at)).expect("it fits")
        };
        let (put, get, broken) = (call(0, "put x", "7", 5), call(1, "get x", "", 6), call(2, "put y", "{:a", 7));
        operations.end(put, OperationEnd::Ok(String::new()), Instant(8)).expect("it runs");
        operations.end(get, OperationEnd::Ok("9".to_owned()), Instant(9)).expect("it runs");
        operations.end(broken, OperationEnd::Info("timeout".to_owned()), Instant(10)).expect("it runs");
        let history = OperationHistory::of_run(&operations);
        let expected = "\
{:index 0, :time 5, :type :invoke, :process 0, :f :put, :value 7, :key \"x\"}
{:index 1, :time 6, :type :invoke, :process 1, :f :get, :value nil, :key \"x\"}
{:index 2, :time 7, :type :invoke, :process 2, :f :put, :value \"{:a\", :key \"y\"}
{:index 3, :time 8, :type :ok, :process 0, :f :put, :value 7, :key \"x\"}
{:index 4, :time 9, :type :ok, :process 1, :f :get, :value 9, :key \"x\"}
{:index 5, :time 10, :type :info, :process 2, :f :put, :value \"{:a\", :error \"timeout\", :key \"y\"}
";
        assert_eq!(history.to_edn(), expected);
        let read = operations.invoke(2, "read :final? true", "", Instant(11)).expect("it fits");
        operations.end(read, OperationEnd::Ok("4".to_owned()), Instant(12)).expect("it runs");
        let marked = OperationHistory::of_run(&operations).to_edn();
        assert!(marked.ends_with(":f :read, :value 4, :final? true}\n"), "{marked}");
        let objects = operations.invoke(3, "read", "{\"a\": [1, {\"b\": null}]}", Instant(13)).expect("it fits");
        operations.end(objects, OperationEnd::Ok("{:a 1}".to_owned()), Instant(14)).expect("it runs");
        let read = OperationHistory::of_run(&operations).to_edn();
        let lines: Vec<&str> = read.lines().rev().take(2).collect();
        assert!(lines[1].contains(":value {\"a\" [1 {\"b\" nil}]}") && lines[0].contains(":value {:a 1}"), "{read}");
        let row = model("kv").expect("a model");
        let verdict = check_linearizability(&history, row, &CheckLimits::default()).expect("it fits");
        assert_eq!((verdict.validity, verdict.partitions.len()), (Validity::Invalid, 2));
    }

    #[test]
    fn an_operation_is_given_up_whose_client_goes_on() {
        let mut operations = Operations::default();
        operations.invoke(1, "put x", "7", Instant(5)).expect("it fits");
        let get = operations.invoke(1, "get x", "", Instant(6)).expect("it fits");
        operations.end(get, OperationEnd::Ok("7".to_owned()), Instant(8)).expect("it runs");
        operations.invoke(1, "put x", "8", Instant(9)).expect("it fits");
        let before = OperationHistory::of_run_by(&operations, false);
        let row = model("kv").expect("a model");
        assert!(check_linearizability(&before, row, &CheckLimits::default()).is_err());
        let history = OperationHistory::of_run(&operations);
        let expected = "\
{:index 0, :time 5, :type :invoke, :process 1, :f :put, :value 7, :key \"x\"}
{:index 1, :time 6, :type :info, :process 1, :f :put, :value 7, :error \"given up\", :key \"x\"}
{:index 2, :time 6, :type :invoke, :process 1, :f :get, :value nil, :key \"x\"}
{:index 3, :time 8, :type :ok, :process 1, :f :get, :value 7, :key \"x\"}
{:index 4, :time 9, :type :invoke, :process 1, :f :put, :value 8, :key \"x\"}
";
        assert_eq!(history.to_edn(), expected);
        let verdict = check_linearizability(&history, row, &CheckLimits::default()).expect("it fits");
        assert_eq!(verdict.validity, Validity::Valid, "the write may have happened");
    }

    #[test]
    fn an_operation_that_ends_while_its_client_does_another_is_refused() {
        let mut operations = Operations::default();
        let put = operations.invoke(1, "put x", "7", Instant(5)).expect("it fits");
        operations.invoke(1, "get x", "", Instant(6)).expect("it fits");
        operations.end(put, OperationEnd::Ok(String::new()), Instant(8)).expect("it runs");
        let row = model("kv").expect("a model");
        let history = OperationHistory::of_run(&operations);
        assert!(check_linearizability(&history, row, &CheckLimits::default()).is_err());
    }
}
