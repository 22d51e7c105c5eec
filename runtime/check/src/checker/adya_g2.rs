//! Adya's G2: of two transactions that each insert only if the other has not, at most one succeeds.
//!
//! ```text
//! insert [1 [10 nil]] ok · insert [1 [nil 11]] ok      both saw nothing
//! ```

use super::{CallHistory, CheckerRow, CheckerVerdict};
use crate::history::{DatumId, HistoryError};
use std::collections::BTreeMap;

pub(super) const ADYA_G2: CheckerRow = CheckerRow {
    name: "adya-g2",
    summary: "at most one insert of each key succeeds",
    functions: &["insert"],
    by_key: false,
    check,
};

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    let mut keys: BTreeMap<DatumId, Vec<u32>> = BTreeMap::new();
    for call in calls.of("insert") {
        let operation = calls.invoked(call);
        let pair = calls.history.pool.pair(operation.value);
        let (key, _) = pair.ok_or_else(|| calls.unfit(operation, "[key [a b]]"))?;
        let inserted = keys.entry(key).or_default();
        if call.outcome == crate::history::OperationType::Ok {
            inserted.push(call.invocation);
        }
    }
    verdict.count("key-count", keys.len());
    verdict.count("legal-count", keys.values().filter(|inserted| inserted.len() <= 1).count());
    verdict.count("illegal-count", keys.values().filter(|inserted| inserted.len() > 1).count());
    for (key, inserted) in keys.iter().filter(|(_, inserted)| inserted.len() > 1) {
        let message = format!("{} inserts of key {} succeeded", inserted.len(), calls.edn(*key));
        verdict.wrong("g2", message, inserted);
    }
    Ok(())
}
