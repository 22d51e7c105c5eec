//! Operations of clients as calls: an invocation, and its completion if it has one.
//!
//! ```text
//! invoke 1 · invoke 2 · ok 1 · info 2     ──▶   call 1 = (0, ok 2)   call 2 = (1, info 3)
//! ```
//!
//! Invariants: calls stand in the order of their invocations; a process has at most one open call.
//! Not here: operations of the nemesis, which are left out.

use super::error::HistoryError;
use super::writer::operation_edn;
use super::{HistoryOperation, OperationHistory, OperationType, Process};
use std::collections::BTreeMap;

/// A call of a client: positions in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientCall {
    /// Where it was invoked.
    pub invocation: u32,
    /// Where it completed; none when the history ends before.
    pub completion: Option<u32>,
    /// How it completed: `info` also where it did not.
    pub outcome: OperationType,
}

/// The calls of a history.
///
/// # Errors
/// When a process invokes twice, or completes what it did not invoke or has completed.
///
/// ```
/// use fozzy_check::{OperationHistory, pair_calls};
/// let text = "{:type :invoke, :process 0, :f :read} {:type :ok, :process 0, :f :read, :value 3}";
/// let history = OperationHistory::read(text.as_bytes()).unwrap();
/// let calls = pair_calls(&history).unwrap();
/// assert_eq!((calls[0].invocation, calls[0].completion), (0, Some(1)));
/// ```
pub fn pair_calls(history: &OperationHistory) -> Result<Vec<ClientCall>, HistoryError> {
    let mut calls: Vec<ClientCall> = Vec::with_capacity(history.operations.len() / 2);
    let mut open: BTreeMap<i64, u32> = BTreeMap::new();
    for (position, operation) in history.operations.iter().enumerate() {
        let position = position as u32;
        let is_invocation = operation.kind == OperationType::Invoke;
        match operation.process {
            Process::Named(_) => {}
            Process::Unknown if is_invocation => {
                calls.push(ClientCall { invocation: position, completion: None, outcome: OperationType::Info });
            }
            // A completion alone: nothing is known of its beginning.
            Process::Unknown => {
                calls.push(ClientCall { invocation: position, completion: Some(position), outcome: operation.kind });
            }
            Process::Client(process) if is_invocation => {
                if let Some(before) = open.insert(process, calls.len() as u32) {
                    let before = &history.operations[calls[before as usize].invocation as usize];
                    let expected =
                        format!("a completion of process {process}, which invoked {}", describe(history, before));
                    return Err(error(history, operation, expected));
                }
                calls.push(ClientCall { invocation: position, completion: None, outcome: OperationType::Info });
            }
            Process::Client(process) => {
                let Some(at) = open.remove(&process) else {
                    let ended = calls.iter().rev().filter_map(|call| call.completion);
                    let before =
                        ended.map(|at| &history.operations[at as usize]).find(|one| one.process == operation.process);
                    let before = before.map_or_else(String::new, |one| format!("; its last call had {}", place(one)));
                    let expected = format!("an invocation of process {process} before its completion{before}");
                    return Err(error(history, operation, expected));
                };
                let call = &mut calls[at as usize];
                let invoked = &history.operations[call.invocation as usize];
                let (asked, answered) = (history.function_name(invoked), history.function_name(operation));
                if asked != answered && !answered.is_empty() {
                    let expected = format!("a completion of {}", describe(history, invoked));
                    return Err(error(history, operation, expected));
                }
                call.completion = Some(position);
                call.outcome = operation.kind;
            }
        }
    }
    Ok(calls)
}

fn error(history: &OperationHistory, operation: &HistoryOperation, expected: String) -> HistoryError {
    HistoryError::at_line(operation.line, describe(history, operation), expected)
}

/// How an operation ended the call of its process, and where.
fn place(operation: &HistoryOperation) -> String {
    let kind = operation.kind.name();
    match operation.line {
        0 => format!("completed as {kind} at index {}", operation.index),
        line => format!("completed as {kind} at line {line}"),
    }
}

/// An operation in the words of a message.
fn describe(history: &OperationHistory, operation: &HistoryOperation) -> String {
    let mut text = String::new();
    operation_edn(&history.pool, operation, &mut text);
    format!("`{text}`")
}
