//! The value of one key: get, put, append, compare and set.
//!
//! An absent value is the empty text. A state is the bytes of a text, or the id of another value; the first byte says which.
//! Look-ahead: as long as nothing but appends can come, a text grows into what the next get returned only if that begins with it, and a
//! put can bring it only if it begins with what was put. Texts that are put over before any get are one state.

use super::{CallRecord, ModelAction, ModelCall, ModelRow, NextStates, SequentialModel, functions, id_bytes, ids};
use crate::history::{Datum, DatumId, DatumPool, OperationType};

const FUNCTIONS: &[&str] = &["get", "put", "append", "cas"];

pub(super) const KEY_VALUE: ModelRow<'static> = ModelRow {
    name: "kv",
    summary: "keys with values: get, put, append, compare and set",
    functions: FUNCTIONS,
    model: &KeyValue,
};

struct KeyValue;

/// The first byte of a state that is a text, and of one that is not.
const TEXT: u8 = 0;
const OTHER: u8 = 1;

/// A text that no get returns: no text has this byte.
const UNSEEN: &[u8] = &[TEXT, 0xFF];

/// The state that has a value.
fn state_of(pool: &DatumPool, value: DatumId) -> Vec<u8> {
    match pool.get(value) {
        Datum::Nil => vec![TEXT],
        Datum::Text(text) => [&[TEXT], text.as_bytes()].concat(),
        _ => [&[OTHER], id_bytes(value).as_slice()].concat(),
    }
}

/// Whether a value is that of a state.
fn is_value(pool: &DatumPool, state: &[u8], value: DatumId) -> bool {
    match pool.get(value) {
        Datum::Nil => state == [TEXT],
        Datum::Text(text) => state[0] == TEXT && state[1..] == *text.as_bytes(),
        _ => state[0] == OTHER && ids(&state[1..]).eq([value]),
    }
}

impl SequentialModel for KeyValue {
    fn initial(&self) -> Vec<u8> {
        vec![TEXT]
    }

    fn call(&self, pool: &DatumPool, record: &CallRecord<'_>) -> Result<Option<ModelCall>, String> {
        let changes = record.outcome != OperationType::Fail;
        match record.function {
            "get" | "read" => {
                Ok(record.result().map(|result| record.call(ModelAction::Read, DatumId::NIL, Some(result))))
            }
            "put" | "write" => Ok(changes.then(|| record.call(ModelAction::Write, record.asked, None))),
            "append" if !matches!(pool.get(record.asked), Datum::Text(_)) => Err("a text to append".to_owned()),
            "append" => Ok(changes.then(|| record.call(ModelAction::Append, record.asked, None))),
            "cas" => {
                let (from, to) = pool.pair(record.asked).ok_or("a value [from to] of cas")?;
                Ok(changes.then(|| ModelCall { second: to, ..record.call(ModelAction::Cas, from, None) }))
            }
            _ => Err(functions(FUNCTIONS)),
        }
    }

    fn step(&self, pool: &DatumPool, state: &[u8], call: &ModelCall, next: &mut NextStates) {
        match call.action {
            ModelAction::Read if call.result.is_none_or(|result| is_value(pool, state, result)) => next.push(state),
            ModelAction::Write => next.push(&state_of(pool, call.argument)),
            ModelAction::Cas if is_value(pool, state, call.argument) => next.push(&state_of(pool, call.second)),
            ModelAction::Append => {
                if let (TEXT, Datum::Text(text)) = (state[0], pool.get(call.argument)) {
                    next.push_pieces(&[state, text.as_bytes()]);
                }
            }
            _ => {}
        }
    }

    fn prefers_call_order(&self) -> bool {
        true
    }

    fn is_landmark(&self, call: &ModelCall) -> bool {
        call.action == ModelAction::Read
    }

    fn overwrites(&self, call: &ModelCall) -> bool {
        matches!(call.action, ModelAction::Write | ModelAction::Cas)
    }

    fn can_become(&self, pool: &DatumPool, state: &[u8], landmark: &ModelCall) -> bool {
        match landmark.result.map(|result| pool.get(result)) {
            Some(Datum::Text(text)) => state[0] == TEXT && text.as_bytes().starts_with(&state[1..]),
            Some(Datum::Nil) => state == [TEXT],
            Some(_) => landmark.result.is_some_and(|result| is_value(pool, state, result)),
            None => true,
        }
    }

    fn can_bring(&self, pool: &DatumPool, call: &ModelCall, landmark: &ModelCall) -> bool {
        let brought = if call.action == ModelAction::Cas { call.second } else { call.argument };
        self.can_become(pool, &state_of(pool, brought), landmark)
    }

    fn is_blind(&self, call: &ModelCall) -> bool {
        matches!(call.action, ModelAction::Write | ModelAction::Append)
    }

    fn unseen(&self, state: &[u8]) -> Option<&'static [u8]> {
        (state[0] == TEXT).then_some(UNSEEN)
    }

    fn describe(&self, pool: &DatumPool, state: &[u8]) -> String {
        match state[0] {
            TEXT => format!("\"{}\"", String::from_utf8_lossy(&state[1..]).escape_debug()),
            _ => super::describe_ids(pool, ids(&state[1..])),
        }
    }
}
