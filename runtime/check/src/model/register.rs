//! Registers: one value that is read, written, and compared and set.
//!
//! A read of `nil` tells nothing, as in Knossos: clients note it when they do not know. The register of etcd's logs is another
//! model: there `nil` is what a read of an absent key returns, and a failed compare-and-set has seen another value.

use super::{CallRecord, ModelAction, ModelCall, ModelRow, NextStates, SequentialModel, functions, id_bytes, ids};
use crate::history::{DatumId, DatumPool, OperationType};

pub(super) const REGISTER: ModelRow<'static> = ModelRow {
    name: "register",
    summary: "one value: read, write",
    functions: &["read", "write"],
    model: &Register { has_cas: false, nil_is_value: false, functions: &["read", "write"] },
};

pub(super) const CAS_REGISTER: ModelRow<'static> = ModelRow {
    name: "cas-register",
    summary: "one value: read, write, compare and set",
    functions: &["read", "write", "cas"],
    model: &Register { has_cas: true, nil_is_value: false, functions: &["read", "write", "cas"] },
};

pub(super) const ETCD_REGISTER: ModelRow<'static> = ModelRow {
    name: "etcd-register",
    summary: "the same, where nil means absent and a failed cas has seen another value",
    functions: &["read", "write", "cas"],
    model: &Register { has_cas: true, nil_is_value: true, functions: &["read", "write", "cas"] },
};

struct Register {
    has_cas: bool,
    /// `nil` is what an absent value reads as, and failures of compare-and-set are observations.
    nil_is_value: bool,
    functions: &'static [&'static str],
}

impl SequentialModel for Register {
    fn initial(&self) -> Vec<u8> {
        id_bytes(DatumId::NIL).to_vec()
    }

    fn call(&self, pool: &DatumPool, record: &CallRecord<'_>) -> Result<Option<ModelCall>, String> {
        let has_failed = record.outcome == OperationType::Fail;
        match record.function {
            "read" => {
                let result = record.result().filter(|result| self.nil_is_value || !result.is_nil());
                Ok(result.map(|result| record.call(ModelAction::Read, DatumId::NIL, Some(result))))
            }
            "write" if has_failed => Ok(None),
            "write" => {
                record.check_echo(pool)?;
                Ok(Some(record.call(ModelAction::Write, record.asked, None)))
            }
            "cas" if self.has_cas => {
                if has_failed && !self.nil_is_value {
                    return Ok(None);
                }
                let action = if has_failed { ModelAction::FailedCas } else { ModelAction::Cas };
                let pair = pool.pair(record.asked).or_else(|| pool.pair(record.answered?));
                let (from, to) = pair.ok_or("a value [from to] of cas")?;
                Ok(Some(ModelCall { second: to, ..record.call(action, from, None) }))
            }
            _ => Err(functions(self.functions)),
        }
    }

    fn step(&self, _pool: &DatumPool, state: &[u8], call: &ModelCall, next: &mut NextStates) {
        let value = ids(state).next().unwrap_or(DatumId::NIL);
        match call.action {
            ModelAction::Read if call.result.is_none_or(|result| result == value) => next.push(state),
            ModelAction::Write => next.push(&id_bytes(call.argument)),
            ModelAction::Cas if value == call.argument => next.push(&id_bytes(call.second)),
            ModelAction::FailedCas if value != call.argument => next.push(state),
            _ => {}
        }
    }

    fn shows(&self, call: &ModelCall) -> Option<DatumId> {
        let shown = match call.action {
            ModelAction::Read => call.result,
            ModelAction::Cas => Some(call.argument),
            _ => None,
        };
        // That is what the register has at the beginning.
        shown.filter(|value| !value.is_nil())
    }

    fn brings(&self, call: &ModelCall) -> Option<DatumId> {
        match call.action {
            ModelAction::Write => Some(call.argument),
            ModelAction::Cas => Some(call.second),
            _ => None,
        }
    }

    fn tells(&self, call: &ModelCall, next: &ModelCall) -> bool {
        let Some(value) = self.brings(call) else { return true };
        match next.action {
            ModelAction::Read => next.result.is_none_or(|result| result == value),
            ModelAction::Cas => next.argument == value,
            ModelAction::FailedCas => next.argument != value,
            _ => false,
        }
    }

    fn describe(&self, pool: &DatumPool, state: &[u8]) -> String {
        super::describe_ids(pool, ids(state))
    }
}
