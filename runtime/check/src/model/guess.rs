//! The model that a history plainly has, from the names of its functions.
//!
//! ```text
//! read, write, cas ──▶ cas-register        enqueue, dequeue ──▶ not plain: which order?
//! ```

use super::{ModelRow, model};
use crate::history::{HistoryFormat, HistoryOperation, OperationHistory, OperationType};
use std::collections::BTreeSet;

/// Functions of histories that have one model, and its name; the first row that has all of a history's functions counts.
const PLAIN: &[(&[&str], &str)] = &[
    (&["read", "write"], "register"),
    (&["read", "write", "cas"], "cas-register"),
    (&["acquire", "release"], "mutex"),
    (&["push", "pop"], "stack"),
    (&["insert", "delete-min"], "priority-queue"),
    (&["get", "put", "append", "cas"], "kv"),
    (&["add", "remove", "contains", "read"], "set"),
];

/// Functions of histories that a checker of its own is for, and its name; the first row that has all of a history's functions counts.
const CHECKED: &[(&[&str], &str)] = &[
    (&["read", "transfer"], "bank"),
    (&["add", "read"], "counter"),
    (&["generate"], "unique-ids"),
    (&["enqueue", "dequeue", "drain"], "total-queue"),
    (&["read", "read-init", "write"], "causal"),
    (&["send", "poll", "subscribe", "assign", "crash", "debug-topic-partitions"], "kafka"),
];

/// The name of the checker that a history without a model of its own is plainly for.
#[must_use]
pub fn guess_checker(history: &OperationHistory) -> Option<&'static str> {
    let functions: BTreeSet<&str> = history.client_operations().map(|one| history.function_name(one)).collect();
    let row = CHECKED.iter().find(|(known, _)| functions.iter().all(|function| known.contains(function)));
    row.map(|(_, name)| *name).filter(|_| !functions.is_empty())
}

/// The model of a history.
///
/// # Errors
/// Why it is not plain, and what may be meant.
///
/// ```
/// use fozzy_check::{OperationHistory, guess_model};
/// let history = OperationHistory::read(b"{:type :invoke, :process 0, :f :acquire}").unwrap();
/// assert_eq!(guess_model(&history).unwrap().name, "mutex");
/// ```
pub fn guess_model(history: &OperationHistory) -> Result<&'static ModelRow<'static>, String> {
    let functions: BTreeSet<&str> = history.client_operations().map(|one| history.function_name(one)).collect();
    let all = functions.iter().copied().collect::<Vec<_>>().join(", ");
    let row = PLAIN.iter().find(|(known, _)| functions.iter().all(|function| known.contains(function)));
    let name = match row.map(|(_, name)| *name) {
        Some("register" | "cas-register") if history.format == HistoryFormat::JepsenLog => "etcd-register",
        Some("set") if has_numbers(history) => {
            return Err(format!("{all}: reads of numbers are those of a counter, not of a set"));
        }
        Some("mutex") if has_tokens(history) => "fenced-mutex",
        Some(name) => name,
        None if functions.iter().all(|one| ["enqueue", "dequeue"].contains(one)) => {
            return Err(format!("{all}: a queue of which order? Say fifo-queue, unordered-queue or priority-queue"));
        }
        None => return Err(format!("the functions are {all}, which no model has by itself{}", first_unknown(history))),
    };
    model(name).ok_or_else(|| format!("there is no model {name}"))
}

/// Where the first function is that no model is told by.
fn first_unknown(history: &OperationHistory) -> String {
    let is_known = |function: &str| PLAIN.iter().any(|(known, _)| known.contains(&function));
    let unknown = history.client_operations().find(|one| !is_known(history.function_name(one)));
    match unknown.filter(|one| one.line > 0) {
        Some(one) => format!(": line {} has the first `{}`", one.line, history.function_name(one)),
        None => String::new(),
    }
}

/// Whether a read returned a number.
fn has_numbers(history: &OperationHistory) -> bool {
    let is_number = |one: &HistoryOperation| history.pool.as_integer(one.value).is_some();
    let mut ended = history.client_operations().filter(|one| one.kind == OperationType::Ok);
    ended.any(|one| history.function_name(one) == "read" && is_number(one))
}

/// Whether acquisitions return numbers that they were not given.
fn has_tokens(history: &OperationHistory) -> bool {
    let is_given = |one: &HistoryOperation| {
        one.kind == OperationType::Invoke && history.function_name(one) == "acquire" && !one.value.is_nil()
    };
    !history.client_operations().any(is_given)
        && history.client_operations().any(|one| {
            one.kind == OperationType::Ok
                && history.function_name(one) == "acquire"
                && history.pool.as_integer(one.value).is_some()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_no_model_has_is_named_with_its_place() {
        let text = "{:type :invoke, :process 0, :f :read}\n{:type :invoke, :process 1, :f :launch}";
        let history = OperationHistory::read(text.as_bytes()).expect("it is a history");
        let why = guess_model(&history).map(|row| row.name).expect_err("no model");
        assert_eq!(why, "the functions are launch, read, which no model has by itself: line 2 has the first `launch`");
    }

    #[test]
    fn a_history_without_a_model_has_a_checker_where_its_functions_say_so() {
        let of = |functions: &[&str]| {
            let lines = functions.iter().map(|function| format!("{{:type :invoke, :process 0, :f :{function}}}\n"));
            let history = OperationHistory::read(lines.collect::<String>().as_bytes()).expect("it is a history");
            guess_checker(&history)
        };
        assert_eq!(of(&["read", "transfer"]), Some("bank"));
        assert_eq!(of(&["generate"]), Some("unique-ids"));
        assert_eq!(of(&["read", "launch"]), None);
    }

    #[test]
    fn values_say_what_the_functions_leave_open() {
        let of = |text: &str| guess_model(&OperationHistory::read(text.as_bytes()).expect("EDN")).map(|row| row.name);
        let read = |value: &str| {
            of(&format!(
                "{{:type :invoke :process 0 :f :add :value 1}} {{:type :invoke :process 1 :f :read}} {{:type :ok :process 1 :f :read :value {value}}}"
            ))
        };
        assert_eq!(read("[1]"), Ok("set"));
        assert_eq!(read("1"), Err("add, read: reads of numbers are those of a counter, not of a set".to_owned()));
        let acquire = |given: &str| {
            of(&format!(
                "{{:type :invoke :process 0 :f :acquire :value {given}}} {{:type :ok :process 0 :f :acquire :value 1}}"
            ))
        };
        assert_eq!((acquire("nil"), acquire("1")), (Ok("fenced-mutex"), Ok("mutex")), "what was given is no token");
    }
}
