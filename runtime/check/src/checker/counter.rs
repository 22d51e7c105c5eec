//! A counter that only grows: each read lies between what had been added for certain when it began, and what may have been
//! added when it ended.
//!
//! ```text
//! add 1 ok · [ read … add 2 invoked … ] 3 ok      between 1 and 3
//! ```
//!
//! An addition that failed counts nowhere. Numbers below zero are refused: bounds would not hold (see `pn-counter`).

use super::{CallHistory, CheckerRow, CheckerVerdict};
use crate::history::{HistoryError, OperationType};
use std::collections::BTreeMap;

pub(super) const COUNTER: CheckerRow = CheckerRow {
    name: "counter",
    summary: "reads lie between what was added and what may have been",
    functions: &["add", "read"],
    by_key: true,
    check,
};

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    // Sums of additions up to a position: those that may have, and those that have taken effect.
    let (mut attempted, mut certain) = (BTreeMap::new(), BTreeMap::new());
    for call in calls.of("add").filter(|call| call.outcome != OperationType::Fail) {
        let number = calls.number(calls.invoked(call))?;
        if number < 0 {
            return Err(calls.unfit(calls.invoked(call), "a number from 0 (pn-counter has others)"));
        }
        attempted.insert(call.invocation, number);
        if let (OperationType::Ok, Some(at)) = (call.outcome, call.completion) {
            certain.insert(at, number);
        }
    }
    for sums in [&mut attempted, &mut certain] {
        let mut sum = 0i64;
        for number in sums.values_mut() {
            sum = sum.saturating_add(*number);
            *number = sum;
        }
    }
    let until =
        |sums: &BTreeMap<u32, i64>, position: u32| sums.range(..position).next_back().map_or(0, |(_, sum)| *sum);
    let mut reads = 0;
    for call in calls.ok("read") {
        reads += 1;
        let read = calls.number(calls.completed(call))?;
        let lowest = until(&certain, call.invocation);
        let highest = until(&attempted, call.completion.unwrap_or(call.invocation));
        if !(lowest..=highest).contains(&read) {
            let message = format!("{read} was read, expected from {lowest} to {highest}");
            verdict.wrong("out-of-bounds", message, &[call.invocation]);
        }
    }
    verdict.count("read-count", reads);
    Ok(())
}
