//! Long fork: two reads of the same keys that saw writes in different orders.
//!
//! ```text
//! read [[:r 1 1] [:r 2 nil]]      read [[:r 1 nil] [:r 2 1]]      neither was before the other
//! ```
//!
//! Each key is written at most once, so a read is a set of writes, and two reads of the same keys must be comparable.

use super::{CallHistory, CheckerRow, CheckerVerdict};
use crate::history::{DatumId, HistoryError};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const LONG_FORK: CheckerRow = CheckerRow {
    name: "long-fork",
    summary: "reads of the same keys saw writes in one order",
    functions: &[],
    by_key: false,
    check,
};

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    let pool = &calls.history.pool;
    let mut written: BTreeSet<DatumId> = BTreeSet::new();
    // Reads by their keys: which of these each has seen, and one read that has.
    let mut groups: BTreeMap<Vec<DatumId>, BTreeMap<Vec<bool>, u32>> = BTreeMap::new();
    for call in calls.all() {
        let operation = calls.completed(call);
        let is_ok = call.outcome == crate::history::OperationType::Ok;
        let value = if is_ok { operation.value } else { calls.invoked(call).value };
        let parts =
            pool.elements(value).ok_or_else(|| calls.unfit(operation, "[[:w key value]] or [[:r key value] …]"))?;
        let mut reads = BTreeMap::new();
        for part in parts {
            let Some(&[name, key, value]) = pool.elements(*part) else {
                return Err(calls.unfit(operation, "[[:w key value]] or [[:r key value] …]"));
            };
            match pool.name(name) {
                Some("w") if !written.insert(key) => {
                    verdict.unknown("written-twice", "a key is written twice, so reads do not tell an order");
                    return Ok(());
                }
                Some("w") => {}
                _ => _ = reads.insert(key, !value.is_nil()),
            }
        }
        if is_ok && reads.len() > 1 {
            let (keys, seen): (Vec<DatumId>, Vec<bool>) = reads.into_iter().unzip();
            groups.entry(keys).or_default().entry(seen).or_insert(call.invocation);
        }
    }
    verdict.count("group-count", groups.len());
    for seen in groups.values() {
        // By how much they saw: each must have seen all that the one before it saw.
        let mut chain: Vec<(&Vec<bool>, &u32)> = seen.iter().collect();
        chain.sort_by_key(|(seen, _)| seen.iter().filter(|one| **one).count());
        for pair in chain.windows(2) {
            let ((fewer, first), (more, second)) = (pair[0], pair[1]);
            if fewer.iter().zip(more).any(|(fewer, more)| *fewer && !more) {
                let message = "two reads saw writes in different orders".to_owned();
                verdict.wrong("fork", message, &[*first, *second]);
            }
        }
    }
    Ok(())
}
