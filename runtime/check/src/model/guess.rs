//! The model that a history plainly has, from the names of its functions.
//!
//! ```text
//! read, write, cas ──▶ cas-register        enqueue, dequeue ──▶ not plain: which order?
//! ```

use super::{ModelRow, model};
use crate::history::{HistoryFormat, OperationHistory, OperationType};
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
        Some("mutex") if has_tokens(history) => "fenced-mutex",
        Some(name) => name,
        None if functions.iter().all(|one| ["enqueue", "dequeue"].contains(one)) => {
            return Err(format!("{all}: a queue of which order? Say fifo-queue, unordered-queue or priority-queue"));
        }
        None => return Err(format!("the functions are {all}, which no model has by itself")),
    };
    model(name).ok_or_else(|| format!("there is no model {name}"))
}

/// Whether acquisitions return numbers.
fn has_tokens(history: &OperationHistory) -> bool {
    history.client_operations().any(|one| {
        one.kind == OperationType::Ok
            && history.function_name(one) == "acquire"
            && history.pool.as_integer(one.value).is_some()
    })
}
