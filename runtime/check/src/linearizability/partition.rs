//! The calls of a history as a model reads them, parted by key.
//!
//! ```text
//! {:f :write, :value [3 7]}              key 3, value 7: Jepsen's independent keys
//! {:f :get, :key "a", :value nil}        key "a": Porcupine's key-value logs
//! ```
//!
//! A history is keyed if its operations have a `key`, or if the value of each is a pair where it would not be one without a key:
//! `[k nil]` of a read, `[k [from to]]` of a compare-and-set.

use super::timeline::TimedCall;
use crate::history::error::{HistoryError, quoted};
use crate::history::{ClientCall, DatumId, HistoryOrder, OperationHistory, OperationType, pair_calls};
use crate::model::{CallRecord, SequentialModel};
use std::collections::BTreeMap;

/// The calls of one key, in the order of their invocations.
pub(super) struct CallPartition {
    pub(super) key: Option<DatumId>,
    pub(super) calls: Vec<TimedCall>,
}

/// Parts the calls of a history.
pub(super) fn partitions(
    history: &OperationHistory,
    model: &dyn SequentialModel,
) -> Result<Vec<CallPartition>, HistoryError> {
    if history.order == HistoryOrder::Sessions && !history.operations.is_empty() {
        let found = format!("{} without an order in time", history.format.name());
        return Err(HistoryError::at_line(0, found, "a history in the order of time, as linearizability needs"));
    }
    Ok(by_element(model, program_partitions(history, model)?))
}

/// Elements of a collection that do not depend on each other, each as a part of its own.
fn by_element(model: &dyn SequentialModel, partitions: Vec<CallPartition>) -> Vec<CallPartition> {
    let [CallPartition { key: None, calls }] = partitions.as_slice() else { return partitions };
    let elements: Option<Vec<DatumId>> = calls.iter().map(|one| model.element(&one.call)).collect();
    let Some(elements) = elements else { return partitions };
    let mut places: BTreeMap<DatumId, usize> = BTreeMap::new();
    let mut parts: Vec<CallPartition> = Vec::new();
    for (call, element) in calls.iter().zip(elements) {
        let place = *places.entry(element).or_insert_with(|| {
            parts.push(CallPartition { key: Some(element), calls: Vec::new() });
            parts.len() - 1
        });
        parts[place].calls.push(*call);
    }
    parts
}

/// Parts the calls of a history by key, whatever the order of the history says of time.
pub(super) fn program_partitions(
    history: &OperationHistory,
    model: &dyn SequentialModel,
) -> Result<Vec<CallPartition>, HistoryError> {
    let calls = pair_calls(history)?;
    let keying = if model.parts_itself() { KeyPlace::None } else { keying(history, &calls) };
    let mut places: BTreeMap<Option<DatumId>, usize> = BTreeMap::new();
    let mut partitions: Vec<CallPartition> = Vec::new();
    for call in &calls {
        let invoked = &history.operations[call.invocation as usize];
        let (key, record) = record(history, call, keying);
        let read = model.call(&history.pool, &record).map_err(|expected| {
            let value = history.pool.edn(invoked.value);
            let found = format!("{} with value {}", quoted(record.function), quoted(&value));
            HistoryError::at_line(invoked.line, found, expected)
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

fn keying(history: &OperationHistory, calls: &[ClientCall]) -> KeyPlace {
    let pool = &history.pool;
    let invoked = |call: &ClientCall| &history.operations[call.invocation as usize];
    if calls.is_empty() {
        return KeyPlace::None;
    }
    if calls.iter().all(|call| pool.entry(invoked(call).extra, "key").is_some()) {
        return KeyPlace::Field;
    }
    let mut is_plain = false;
    for operation in calls.iter().map(invoked) {
        let Some((_, second)) = pool.pair(operation.value) else { return KeyPlace::None };
        let is_cas = history.function_name(operation) == "cas";
        if is_cas && pool.pair(second).is_none() {
            return KeyPlace::None;
        }
        is_plain |= is_cas || second.is_nil();
    }
    if is_plain { KeyPlace::Pair } else { KeyPlace::None }
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
