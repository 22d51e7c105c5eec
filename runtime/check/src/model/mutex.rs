//! Locks: plain, with an owner, taken several times by one owner, with fencing tokens.
//!
//! ```text
//! owner ─ how often it is held ─ token of the holder ─ highest token
//! ```
//!
//! A plain mutex is free or held. The others know who holds them: only the owner releases. A fencing token, which an acquisition
//! returns, grows with each change of hands; a lock that is taken again by its owner keeps its token. An acquisition whose
//! token is not known proves nothing about tokens.

use super::{CallRecord, ModelAction, ModelCall, ModelRow, NextStates, SequentialModel, functions};
use crate::history::{DatumId, DatumPool, OperationType};

const FUNCTIONS: &[&str] = &["acquire", "release"];

pub(super) const MUTEX: ModelRow<'static> = ModelRow {
    name: "mutex",
    summary: "a lock: acquire, release",
    functions: FUNCTIONS,
    model: &Mutex { has_owner: false, is_reentrant: false, has_tokens: false },
};

pub(super) const OWNER_MUTEX: ModelRow<'static> = ModelRow {
    name: "owner-mutex",
    summary: "a lock that only its holder releases",
    functions: FUNCTIONS,
    model: &Mutex { has_owner: true, is_reentrant: false, has_tokens: false },
};

pub(super) const REENTRANT_MUTEX: ModelRow<'static> = ModelRow {
    name: "reentrant-mutex",
    summary: "a lock that its holder may take again",
    functions: FUNCTIONS,
    model: &Mutex { has_owner: true, is_reentrant: true, has_tokens: false },
};

pub(super) const FENCED_MUTEX: ModelRow<'static> = ModelRow {
    name: "fenced-mutex",
    summary: "a lock whose acquisitions return growing tokens",
    functions: FUNCTIONS,
    model: &Mutex { has_owner: true, is_reentrant: false, has_tokens: true },
};

pub(super) const REENTRANT_FENCED_MUTEX: ModelRow<'static> = ModelRow {
    name: "reentrant-fenced-mutex",
    summary: "both: taken again with the same token",
    functions: FUNCTIONS,
    model: &Mutex { has_owner: true, is_reentrant: true, has_tokens: true },
};

struct Mutex {
    has_owner: bool,
    is_reentrant: bool,
    has_tokens: bool,
}

/// The state of a lock. Tokens are -1 where they are not known.
struct LockState {
    owner: i64,
    holds: i64,
    token: i64,
    highest: i64,
}

impl LockState {
    fn read(state: &[u8]) -> LockState {
        let mut words = state.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes));
        let mut word = || words.next().unwrap_or_default();
        LockState { owner: word(), holds: word(), token: word(), highest: word() }
    }

    fn bytes(&self) -> Vec<u8> {
        [self.owner, self.holds, self.token, self.highest].iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

impl SequentialModel for Mutex {
    fn initial(&self) -> Vec<u8> {
        LockState { owner: 0, holds: 0, token: -1, highest: -1 }.bytes()
    }

    fn call(&self, pool: &DatumPool, record: &CallRecord<'_>) -> Result<Option<ModelCall>, String> {
        let action = match record.function {
            "acquire" => ModelAction::Acquire,
            "release" => ModelAction::Release,
            _ => return Err(functions(FUNCTIONS)),
        };
        if record.outcome == OperationType::Fail {
            return Ok(None);
        }
        let is_token = |id: &DatumId| pool.as_integer(*id).is_some_and(|token| token >= 0);
        let token = record.result().filter(|_| self.has_tokens && action == ModelAction::Acquire).filter(is_token);
        Ok(Some(record.call(action, DatumId::NIL, token)))
    }

    fn step(&self, pool: &DatumPool, state: &[u8], call: &ModelCall, next: &mut NextStates) {
        let before = LockState::read(state);
        let token = call.result.and_then(|token| pool.as_integer(token));
        let owner = if self.has_owner { call.process } else { 0 };
        match call.action {
            ModelAction::Acquire if before.holds == 0 && token.is_none_or(|token| token > before.highest) => {
                let (token, highest) = (token.unwrap_or(-1), token.unwrap_or(before.highest));
                next.push(&LockState { owner, holds: 1, token, highest }.bytes());
            }
            ModelAction::Acquire if self.is_reentrant && before.holds > 0 && before.owner == owner => {
                // Whose token was not known has the one that it is taken again with, if that is a new one.
                let fits = |token: i64| token == before.token || before.token == -1 && token > before.highest;
                if token.is_none_or(fits) {
                    let (held, highest) = (token.unwrap_or(before.token), token.unwrap_or(before.highest));
                    let highest = highest.max(before.highest);
                    next.push(&LockState { owner, holds: before.holds + 1, token: held, highest }.bytes());
                }
            }
            ModelAction::Release if before.holds > 0 && before.owner == owner => {
                let holds = before.holds - 1;
                let (owner, token) = if holds == 0 { (0, -1) } else { (owner, before.token) };
                next.push(&LockState { owner, holds, token, highest: before.highest }.bytes());
            }
            _ => {}
        }
    }

    fn answers(&self, call: &ModelCall) -> Option<&'static str> {
        let has_token = self.has_tokens && call.action == ModelAction::Acquire;
        has_token.then_some("a token, a number from 0, as what an `acquire` returns")
    }

    fn knows_processes(&self) -> bool {
        self.has_owner
    }

    fn describe(&self, _pool: &DatumPool, state: &[u8]) -> String {
        let state = LockState::read(state);
        let words = match (state.holds, self.has_owner) {
            (0, _) => "free".to_owned(),
            (_, false) => "held".to_owned(),
            (1, true) => format!("held by process {}", state.owner),
            (holds, true) => format!("held {holds} times by process {}", state.owner),
        };
        match (state.holds, state.token, state.highest) {
            _ if !self.has_tokens => words,
            (1.., token @ 0.., _) => format!("{words}, token {token}"),
            (_, _, highest @ 0..) => format!("{words}, last token {highest}"),
            _ => format!("{words}, no token yet"),
        }
    }
}
