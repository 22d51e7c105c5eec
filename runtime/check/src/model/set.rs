//! A set: elements are added and removed; a read returns all of them, `contains` tells of one.
//!
//! A state is the elements in the order of their ids.

use super::{CallRecord, ModelAction, ModelCall, ModelRow, NextStates, SequentialModel, functions, id_bytes, ids};
use crate::history::{DatumId, DatumPool, OperationType};

const FUNCTIONS: &[&str] = &["add", "remove", "read", "contains"];

pub(super) const SET: ModelRow<'static> = ModelRow {
    name: "set",
    summary: "a set: add, remove, read all, contains",
    functions: FUNCTIONS,
    model: &ElementSet,
};

struct ElementSet;

impl SequentialModel for ElementSet {
    fn initial(&self) -> Vec<u8> {
        Vec::new()
    }

    fn call(&self, pool: &DatumPool, record: &CallRecord<'_>) -> Result<Option<ModelCall>, String> {
        let result = record.result().filter(|result| !result.is_nil());
        let changes = record.outcome != OperationType::Fail;
        if ["add", "remove"].contains(&record.function) {
            record.check_echo(pool)?;
        }
        match record.function {
            "add" => Ok(changes.then(|| record.call(ModelAction::Insert, record.asked, None))),
            "remove" => Ok(changes.then(|| record.call(ModelAction::Remove, record.asked, None))),
            "read" => match result {
                Some(result) if pool.elements(result).is_none() => Err("a read that returns a collection".to_owned()),
                Some(result) => Ok(Some(record.call(ModelAction::Read, DatumId::NIL, Some(result)))),
                None => Ok(None),
            },
            "contains" => match result.map(|result| contained(pool, record.asked, result)) {
                Some(Some((element, is_in))) => Ok(Some(record.call(ModelAction::Contains, element, Some(is_in)))),
                Some(None) => Err("true or false of contains, or [element true], [element false]".to_owned()),
                None => Ok(None),
            },
            _ => Err(functions(FUNCTIONS)),
        }
    }

    fn step(&self, pool: &DatumPool, state: &[u8], call: &ModelCall, next: &mut NextStates) {
        let elements = state.as_chunks::<4>().0;
        let at = elements.binary_search_by_key(&call.argument.0, |bytes| u32::from_le_bytes(*bytes));
        match (call.action, at) {
            (ModelAction::Insert, Err(at)) => {
                next.push_pieces(&[&state[..at * 4], &id_bytes(call.argument), &state[at * 4..]]);
            }
            (ModelAction::Remove, Ok(at)) => next.push_pieces(&[&state[..at * 4], &state[at * 4 + 4..]]),
            (ModelAction::Insert | ModelAction::Remove, _) => next.push(state),
            (ModelAction::Contains, at) if call.result == Some(DatumPool::bool(at.is_ok())) => next.push(state),
            (ModelAction::Read, _) if is_same(pool, state, call.result) => next.push(state),
            _ => {}
        }
    }

    fn element(&self, call: &ModelCall) -> Option<DatumId> {
        (call.action != ModelAction::Read).then_some(call.argument)
    }

    fn describe(&self, pool: &DatumPool, state: &[u8]) -> String {
        format!("#{{{}}}", super::describe_ids(pool, ids(state)))
    }
}

/// What was asked for, and whether it is in the set: an answer has both, or only the latter.
fn contained(pool: &DatumPool, asked: DatumId, answer: DatumId) -> Option<(DatumId, DatumId)> {
    let is_truth = |value: DatumId| [DatumId::TRUE, DatumId::FALSE].contains(&value);
    let whole = if is_truth(answer) { (asked, answer) } else { pool.pair(answer)? };
    is_truth(whole.1).then_some(whole)
}

/// Whether a read returned the elements of the state, in whatever order, each once.
fn is_same(pool: &DatumPool, state: &[u8], result: Option<DatumId>) -> bool {
    let Some(read) = result.and_then(|result| pool.elements(result)) else { return true };
    if read.len() != state.len() / 4 {
        return false;
    }
    let mut read = read.to_vec();
    read.sort_unstable();
    ids(state).eq(read)
}
