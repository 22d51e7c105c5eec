//! Several registers that a call reads and writes at once.
//!
//! ```text
//! {:f :txn, :value [[:r :x 1] [:w :y 2]]}
//! ```
//!
//! A state is keys with values, in the order of keys' ids; a key that was never written is absent, and reads as `nil`. A read of
//! `nil` tells nothing, as in Knossos.

use super::{CallRecord, ModelAction, ModelCall, ModelRow, NextStates, SequentialModel, functions, id_bytes, ids};
use crate::history::{DatumId, DatumPool, OperationType};

pub(super) const MULTI_REGISTER: ModelRow<'static> = ModelRow {
    name: "multi-register",
    summary: "several registers, read and written by transactions",
    functions: &["txn"],
    model: &MultiRegister,
};

struct MultiRegister;

/// A read or a write of a transaction: whether it writes, the key, the value.
fn micro_operation(pool: &DatumPool, id: DatumId) -> Option<(bool, DatumId, DatumId)> {
    let &[name, key, value] = pool.elements(id)? else { return None };
    match pool.name(name)? {
        "r" | "read" => Some((false, key, value)),
        "w" | "write" => Some((true, key, value)),
        _ => None,
    }
}

impl SequentialModel for MultiRegister {
    fn initial(&self) -> Vec<u8> {
        Vec::new()
    }

    fn call(&self, pool: &DatumPool, record: &CallRecord<'_>) -> Result<Option<ModelCall>, String> {
        if !["txn", "read", "write"].contains(&record.function) {
            return Err(functions(&["txn", "read", "write"]));
        }
        if record.outcome == OperationType::Fail {
            return Ok(None);
        }
        // One whose end is unknown may say, too, what it wrote: what depends on what it read is not known before.
        let told =
            record.answered.filter(|answer| record.outcome == OperationType::Ok || pool.elements(*answer).is_some());
        let transaction = told.unwrap_or(record.asked);
        let expected = "a value [[:r key value] [:w key value] …]";
        let all = pool.elements(transaction).ok_or(expected)?;
        let parsed: Option<Vec<_>> = all.iter().map(|one| micro_operation(pool, *one)).collect();
        let tells = parsed.ok_or(expected)?.iter().any(|(writes, _, value)| *writes || !value.is_nil());
        Ok(tells.then(|| record.call(ModelAction::Transaction, transaction, None)))
    }

    fn step(&self, pool: &DatumPool, state: &[u8], call: &ModelCall, next: &mut NextStates) {
        let mut cells: Vec<[DatumId; 2]> = Vec::new();
        let mut parts = ids(state);
        while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
            cells.push([key, value]);
        }
        let transaction = pool.elements(call.argument).unwrap_or_default();
        for (writes, key, value) in transaction.iter().filter_map(|one| micro_operation(pool, *one)) {
            let at = cells.binary_search_by_key(&key, |cell| cell[0]);
            match at {
                Ok(at) if writes => cells[at][1] = value,
                Err(at) if writes => cells.insert(at, [key, value]),
                Ok(at) if !value.is_nil() && cells[at][1] != value => return,
                Err(_) if !value.is_nil() => return,
                _ => {}
            }
        }
        let bytes: Vec<u8> = cells.as_flattened().iter().flat_map(|id| id_bytes(*id)).collect();
        next.push(&bytes);
    }

    fn is_readonly(&self, _call: &ModelCall) -> bool {
        false
    }

    fn describe(&self, pool: &DatumPool, state: &[u8]) -> String {
        format!("{{{}}}", super::describe_ids(pool, ids(state)))
    }
}
