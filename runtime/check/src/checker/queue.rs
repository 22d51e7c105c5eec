//! A queue without order: each element that comes out has been put in before.
//!
//! An enqueue counts from its invocation, unless it failed; a dequeue counts when it completes.

use super::{CallHistory, CheckerRow, CheckerVerdict};
use crate::history::{DatumId, HistoryError, OperationType};
use std::collections::BTreeMap;

pub(super) const QUEUE: CheckerRow = CheckerRow {
    name: "queue",
    summary: "each dequeued element was enqueued before",
    functions: &["enqueue", "dequeue"],
    by_key: true,
    check,
};

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    let entered = calls.of("enqueue").filter(|call| call.outcome != OperationType::Fail);
    let left = calls.ok("dequeue");
    let entered = entered.map(|call| (call.invocation, 1i64, calls.invoked(call).value));
    let left = left.map(|call| (call.completion.unwrap_or(call.invocation), -1i64, calls.completed(call).value));
    let mut events: Vec<(u32, i64, DatumId)> = entered.chain(left).collect();
    events.sort_unstable();
    let mut within: BTreeMap<DatumId, i64> = BTreeMap::new();
    for (position, change, element) in events {
        let count = within.entry(element).or_default();
        *count += change;
        if *count < 0 {
            *count = 0;
            verdict.wrong("unexpected", format!("{} came out and was not in", calls.edn(element)), &[position]);
        }
    }
    verdict.count("left", usize::try_from(within.values().sum::<i64>()).unwrap_or_default());
    Ok(())
}
