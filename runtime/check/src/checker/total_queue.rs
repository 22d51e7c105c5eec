//! A queue that is drained at the end: what goes in comes out, and nothing else does.
//!
//! ```text
//! enqueue 1 ok · enqueue 2 info · dequeue 2 · dequeue 2        lost 1, recovered 2, duplicated 2
//! ```
//!
//! A `drain` stands for the dequeues of all elements that it returns. Duplicates are reported, and allowed.

use super::{CallHistory, CheckerRow, CheckerVerdict};
use crate::history::{DatumId, HistoryError, OperationType};
use std::collections::BTreeMap;

pub(super) const TOTAL_QUEUE: CheckerRow = CheckerRow {
    name: "total-queue",
    summary: "what is enqueued is dequeued, and nothing else",
    functions: &["enqueue", "dequeue", "drain"],
    by_key: true,
    check,
};

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    /// How often an element was tried to be put in, was put in, and came out.
    #[derive(Default)]
    struct Tally {
        attempts: usize,
        enqueued: usize,
        dequeued: usize,
    }
    let mut tallies: BTreeMap<DatumId, Tally> = BTreeMap::new();
    for call in calls.of("enqueue") {
        let tally = tallies.entry(calls.invoked(call).value).or_default();
        tally.attempts += 1;
        tally.enqueued += usize::from(call.outcome == OperationType::Ok);
    }
    for call in calls.ok("dequeue") {
        tallies.entry(calls.completed(call).value).or_default().dequeued += 1;
    }
    for call in calls.of("drain") {
        match call.outcome {
            OperationType::Ok => {
                for element in calls.elements(call)? {
                    tallies.entry(*element).or_default().dequeued += 1;
                }
            }
            OperationType::Info => {
                return Err(calls
                    .unfit(calls.completed(call), "a drain that completed: what it took is not known, a collection"));
            }
            OperationType::Fail | OperationType::Invoke => {}
        }
    }
    let mut sums = [0; 4];
    for (element, tally) in &tallies {
        let element = calls.edn(*element);
        let lost = tally.enqueued.saturating_sub(tally.dequeued);
        let known = tally.dequeued.min(tally.attempts);
        let is_unexpected = tally.attempts == 0 && tally.dequeued > 0;
        let duplicated = if is_unexpected { 0 } else { tally.dequeued.saturating_sub(tally.attempts) };
        let recovered = known.saturating_sub(tally.enqueued);
        for (sum, number) in sums.iter_mut().zip([lost, usize::from(is_unexpected), duplicated, recovered]) {
            *sum += number;
        }
        if lost > 0 {
            verdict.wrong("lost", format!("{element} was enqueued and never dequeued"), &[]);
        }
        if is_unexpected {
            verdict.wrong("unexpected", format!("{element} was dequeued and never enqueued"), &[]);
        }
        if duplicated > 0 {
            let message = format!("{element} was dequeued {} times and enqueued {}", tally.dequeued, tally.attempts);
            verdict.note("duplicated", message, &[]);
        }
    }
    verdict.count("attempt-count", tallies.values().map(|tally| tally.attempts).sum());
    verdict.count("acknowledged-count", tallies.values().map(|tally| tally.enqueued).sum());
    for (name, sum) in ["lost-count", "unexpected-count", "duplicated-count", "recovered-count"].into_iter().zip(sums) {
        verdict.count(name, sum);
    }
    Ok(())
}
