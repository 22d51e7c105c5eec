//! The calls of a history as a model reads them, parted by key.
//!
//! ```text
//! {:f :write, :value [3 7]}              key 3, value 7: Jepsen's independent keys
//! {:f :get, :key "a", :value nil}        key "a": Porcupine's key-value logs
//! ```
//!
//! A history is keyed if its operations have a `key`, or if the value of each is a pair where it would not be one without a key:
//! `[k nil]` of a read, `[k [from to]]` of a compare-and-set. A call that asks `[k nil]` and is answered `[k 3]` beside one whose value
//! is no pair is an error: neither reading of such a history is certain. So is an answer for another key than the one that was asked.
//! `contains [element nil]` of a set says nothing of keys.

use super::timeline::TimedCall;
use crate::history::error::{HistoryError, quoted};
use crate::history::{
    ClientCall, DatumId, HistoryOperation, HistoryOrder, OperationHistory, OperationType, pair_calls,
};
use crate::model::{CallRecord, SequentialModel};
use std::collections::BTreeMap;

/// The calls of one key, in the order of their invocations.
pub(super) struct CallPartition {
    pub(super) key: Option<DatumId>,
    pub(super) calls: Vec<TimedCall>,
}

/// Parts the calls of a history; whether that is by elements of one collection, as the history has no keys.
pub(super) fn partitions(
    history: &OperationHistory,
    model: &dyn SequentialModel,
) -> Result<(Vec<CallPartition>, bool), HistoryError> {
    if history.order == HistoryOrder::Sessions && !history.operations.is_empty() {
        let found = format!("{} without an order in time", history.format.name());
        return Err(HistoryError::at_line(0, found, "a history in the order of time, as linearizability needs"));
    }
    Ok(by_element(model, program_partitions(history, model)?))
}

/// Elements of a collection that do not depend on each other, each as a part of its own.
fn by_element(model: &dyn SequentialModel, partitions: Vec<CallPartition>) -> (Vec<CallPartition>, bool) {
    let [CallPartition { key: None, calls }] = partitions.as_slice() else { return (partitions, false) };
    let elements: Option<Vec<DatumId>> = calls.iter().map(|one| model.element(&one.call)).collect();
    let Some(elements) = elements else { return (partitions, false) };
    let mut places: BTreeMap<DatumId, usize> = BTreeMap::new();
    let mut parts: Vec<CallPartition> = Vec::new();
    for (call, element) in calls.iter().zip(elements) {
        let place = *places.entry(element).or_insert_with(|| {
            parts.push(CallPartition { key: Some(element), calls: Vec::new() });
            parts.len() - 1
        });
        parts[place].calls.push(*call);
    }
    (parts, true)
}

/// Parts the calls of a history by key, whatever the order of the history says of time.
pub(super) fn program_partitions(
    history: &OperationHistory,
    model: &dyn SequentialModel,
) -> Result<Vec<CallPartition>, HistoryError> {
    let calls = pair_calls(history)?;
    let keying = if model.parts_itself() { KeyPlace::None } else { keying(history, &calls)? };
    let mut places: BTreeMap<Option<DatumId>, usize> = BTreeMap::new();
    let mut partitions: Vec<CallPartition> = Vec::new();
    for call in &calls {
        let invoked = &history.operations[call.invocation as usize];
        check_answer(history, call, keying)?;
        let (key, record) = record(history, call, keying);
        let read = model.call(&history.pool, &record).map_err(|expected| {
            // What would fit without its answer has a wrong one.
            let asked = CallRecord { answered: None, outcome: OperationType::Info, ..record };
            let answer = call.completion.filter(|_| model.call(&history.pool, &asked).is_ok());
            let shown = answer.map_or(invoked, |at| &history.operations[at as usize]);
            let found = format!("{} with value {}", quoted(record.function), quoted(&history.pool.edn(shown.value)));
            HistoryError::at_line(shown.line, found, expected)
        })?;
        let place = *places.entry(key).or_insert_with(|| {
            partitions.push(CallPartition { key, calls: Vec::new() });
            partitions.len() - 1
        });
        if let Some(read) = read {
            // What failed has been seen by its client, like what succeeded.
            let completion = call.completion.filter(|_| call.outcome != OperationType::Info);
            partitions[place].calls.push(TimedCall {
                call: read,
                invocation: call.invocation,
                completion,
                is_optional: false,
            });
        }
    }
    Ok(partitions)
}

/// Where the key of an operation stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyPlace {
    None,
    /// First of a pair.
    Pair,
    /// A key of its own.
    Field,
}

fn keying(history: &OperationHistory, calls: &[ClientCall]) -> Result<KeyPlace, HistoryError> {
    let pool = &history.pool;
    let invoked = |call: &ClientCall| &history.operations[call.invocation as usize];
    if calls.is_empty() {
        return Ok(KeyPlace::None);
    }
    if calls.iter().all(|call| pool.entry(invoked(call).extra, "key").is_some()) {
        return Ok(KeyPlace::Field);
    }
    let mut is_plain = false;
    for operation in calls.iter().map(invoked) {
        let Some((_, second)) = pool.pair(operation.value) else { return without_key(history, calls, operation) };
        let is_cas = history.function_name(operation) == "cas";
        if is_cas && pool.pair(second).is_none() {
            return Ok(KeyPlace::None);
        }
        let has_key = ["put", "append"].contains(&history.function_name(operation));
        is_plain |= is_cas || has_key || second.is_nil() && !asks_for_element(history, operation);
    }
    Ok(if is_plain { KeyPlace::Pair } else { KeyPlace::None })
}

/// No keys, unless a call shows that there are some, which the operation then lacks.
fn without_key(
    history: &OperationHistory,
    calls: &[ClientCall],
    operation: &HistoryOperation,
) -> Result<KeyPlace, HistoryError> {
    if !calls.iter().any(|call| fills_in_pair(history, call)) {
        return Ok(KeyPlace::None);
    }
    let value = quoted(&history.pool.edn(operation.value));
    let found = format!("{} with value {value}", quoted(history.function_name(operation)));
    Err(HistoryError::at_line(operation.line, found, "a value [key value], as other operations have"))
}

/// Whether the pair of an operation is an element of a set, and whether it is there: `contains [element nil]`.
fn asks_for_element(history: &OperationHistory, operation: &HistoryOperation) -> bool {
    history.function_name(operation) == "contains"
}

/// Whether a call asked `[key nil]` and was answered `[key value]`.
pub(crate) fn fills_in_pair(history: &OperationHistory, call: &ClientCall) -> bool {
    if asks_for_element(history, &history.operations[call.invocation as usize]) {
        return false;
    }
    let value = |at: u32| history.pool.pair(history.operations[at as usize].value);
    let answered = call.completion.filter(|_| call.outcome == OperationType::Ok).and_then(value);
    match (value(call.invocation), answered) {
        (Some((key, asked)), Some((same, answer))) => key == same && asked.is_nil() && !answer.is_nil(),
        _ => false,
    }
}

/// Holds an answer to the key that was asked.
fn check_answer(history: &OperationHistory, call: &ClientCall, keying: KeyPlace) -> Result<(), HistoryError> {
    let pool = &history.pool;
    let invoked = &history.operations[call.invocation as usize];
    let Some(completed) = call.completion.map(|at| &history.operations[at as usize]) else { return Ok(()) };
    let (asked, answered) = match keying {
        KeyPlace::None => return Ok(()),
        // What did not happen may have any value, such as why.
        KeyPlace::Pair if call.outcome != OperationType::Ok || completed.value.is_nil() => return Ok(()),
        KeyPlace::Pair => (pool.pair(invoked.value), pool.pair(completed.value)),
        KeyPlace::Field => {
            let key = |one: &HistoryOperation| pool.entry(one.extra, "key").map(|key| (key, DatumId::NIL));
            (key(invoked), key(completed).or_else(|| key(invoked)))
        }
    };
    if asked.map(|one| one.0) == answered.map(|one| one.0) {
        return Ok(());
    }
    let shown = if keying == KeyPlace::Pair { completed.value } else { answered.map_or(DatumId::NIL, |one| one.0) };
    let found = format!("{} as what {} returned", quoted(&pool.edn(shown)), quoted(history.function_name(invoked)));
    let key = asked.map_or_else(String::new, |one| pool.edn(one.0));
    Err(HistoryError::at_line(completed.line, found, format!("an answer for key {}, which was asked", quoted(&key))))
}

/// The key of a call, and the call without it.
fn record<'a>(history: &'a OperationHistory, call: &ClientCall, keying: KeyPlace) -> (Option<DatumId>, CallRecord<'a>) {
    let pool = &history.pool;
    let whole = CallRecord::whole(history, call);
    match keying {
        KeyPlace::None => (None, whole),
        KeyPlace::Field => (whole.key, CallRecord { key: None, ..whole }),
        KeyPlace::Pair => {
            let strip = |value: DatumId| pool.pair(value).map_or(DatumId::NIL, |(_, value)| value);
            let key = pool.pair(whole.asked).map(|(key, _)| key);
            (key, CallRecord { asked: strip(whole.asked), answered: whole.answered.map(strip), ..whole })
        }
    }
}
