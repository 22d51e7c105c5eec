//! Causal reverse: a write is visible, and one that had been acknowledged before it began is not.
//!
//! ```text
//! write 1 ok · write 2 ok · read [2]        2 is visible without 1
//! ```
//!
//! Strict serializability forbids that; serializability alone does not. Each value is written once; `[key value]` parts by key.

use super::{CallHistory, CheckerRow, CheckerVerdict};
use crate::history::{ClientCall, DatumId, HistoryError, OperationType};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CAUSAL_REVERSE: CheckerRow = CheckerRow {
    name: "causal-reverse",
    summary: "who sees a write sees those that were acknowledged before it began",
    functions: &["write", "read"],
    by_key: false,
    check,
};

/// Most missing writes that are reported of one read.
const MISSING_MAX: usize = 4;

/// Writes of a key: when each was invoked, and when it was acknowledged.
#[derive(Default)]
struct KeyWrites {
    invoked: BTreeMap<DatumId, u32>,
    /// Completion and value of what was acknowledged, in order.
    acknowledged: Vec<(u32, DatumId)>,
}

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    let pool = &calls.history.pool;
    let is_keyed =
        !calls.calls.is_empty() && calls.calls.iter().all(|call| pool.pair(calls.invoked(call).value).is_some());
    let part = |value: DatumId| match pool.pair(value) {
        Some((key, value)) if is_keyed => (key, value),
        _ => (DatumId::NIL, value),
    };
    let mut keys: BTreeMap<DatumId, KeyWrites> = BTreeMap::new();
    for call in calls.of("write") {
        let (key, value) = part(calls.invoked(call).value);
        let writes = keys.entry(key).or_default();
        if writes.invoked.insert(value, call.invocation).is_some() {
            return Err(calls.unfit(calls.invoked(call), "a value that no other write has"));
        }
        let completion = call.completion.filter(|_| call.outcome == OperationType::Ok);
        writes.acknowledged.extend(completion.map(|at| (at, value)));
    }
    keys.values_mut().for_each(|writes| writes.acknowledged.sort_unstable());
    let reads: Vec<&ClientCall> = calls.ok("read").collect();
    verdict.count("write-count", keys.values().map(|writes| writes.invoked.len()).sum());
    verdict.count("read-count", reads.len());
    let none = KeyWrites::default();
    for read in reads.into_iter().filter(|_| calls.has_time()) {
        let operation = calls.completed(read);
        let (key, value) = part(operation.value);
        let seen = pool.elements(value).ok_or_else(|| calls.unfit(operation, "a collection of written values"))?;
        let seen: BTreeSet<DatumId> = seen.iter().copied().collect();
        let writes = keys.get(&key).unwrap_or(&none);
        let last = seen.iter().filter_map(|value| Some((*writes.invoked.get(value)?, *value))).max();
        let Some((begun, latest)) = last else { continue };
        // All that was acknowledged by then must be there.
        let expected = &writes.acknowledged[..writes.acknowledged.partition_point(|one| one.0 < begun)];
        let missing = expected.iter().map(|one| one.1).filter(|value| !seen.contains(value));
        // More than are shown need not be looked for.
        let missing: Vec<DatumId> = missing.take(MISSING_MAX + 1).collect();
        if missing.is_empty() {
            continue;
        }
        let shown: Vec<String> = missing.iter().take(MISSING_MAX).map(|value| calls.edn(*value)).collect();
        let more = if missing.len() > shown.len() { " and others" } else { "" };
        let message = format!(
            "a read saw {} without {}{more}, acknowledged before it was written",
            calls.edn(latest),
            shown.join(", ")
        );
        verdict.wrong("missing", message, &[begun, read.invocation]);
    }
    Ok(())
}
