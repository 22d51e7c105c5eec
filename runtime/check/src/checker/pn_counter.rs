//! A counter that grows and shrinks: each final read is the sum of all additions that succeeded, and of some that may have.
//!
//! ```text
//! add 5 ok · add -2 info · read 3 final      5, or 5 - 2
//! ```
//!
//! Final reads carry `:final? true`: the counter may converge at any time, so others say nothing. Possible sums are kept
//! as ranges, so that many additions with an unknown end cost little.

use super::{CallHistory, CheckerRow, CheckerVerdict};
use crate::history::{ClientCall, HistoryError, OperationType};

pub(super) const PN_COUNTER: CheckerRow = CheckerRow {
    name: "pn-counter",
    summary: "final reads are a possible sum of the additions",
    functions: &["add", "read"],
    by_key: true,
    check,
};

/// The same by the name of the workload whose counter only grows, so that its findings name it.
pub(super) const G_COUNTER: CheckerRow = CheckerRow { name: "g-counter", ..PN_COUNTER };

/// Ranges of possible sums. More make the verdict unknown.
const RANGES_MAX: usize = 1 << 16;
/// Ranges that are put together for all additions, some seconds. More make the verdict unknown.
const MERGES_MAX: usize = 1 << 25;

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    let mut sum = 0i64;
    let mut unknown = Vec::new();
    for call in calls.of("add") {
        let number = calls.number(calls.invoked(call))?;
        match call.outcome {
            OperationType::Ok => sum = sum.saturating_add(number),
            OperationType::Info => unknown.push(number),
            OperationType::Fail | OperationType::Invoke => {}
        }
    }
    let is_marked = |position: u32| calls.is_final(position);
    let is_final = |call: &&ClientCall| is_marked(call.invocation) || call.completion.is_some_and(is_marked);
    verdict.count("unknown-count", unknown.len());
    let Some(sums) = possible_sums(calls, sum, &unknown) else {
        verdict.unknown("too-many-sums", "the additions whose end is unknown have too many possible sums");
        return Ok(());
    };
    let mut reads = 0;
    for call in calls.ok("read").filter(is_final) {
        reads += 1;
        let read = calls.number(calls.completed(call))?;
        let after = sums.partition_point(|(from, _)| *from <= read);
        if after == 0 || sums[after - 1].1 < read {
            let ranges: Vec<String> = sums.iter().take(4).map(|(from, to)| range_words(*from, *to)).collect();
            let more = if sums.len() > 4 { " and others" } else { "" };
            let message = format!("{read} was read at the end, expected {}{more}", ranges.join(" or "));
            verdict.wrong("impossible", message, &[call.invocation]);
        }
    }
    verdict.count("final-read-count", reads);
    if reads == 0 {
        verdict.unknown("never-read", "there is no final read, marked `:final? true`");
    }
    Ok(())
}

fn range_words(from: i64, to: i64) -> String {
    if from == to { from.to_string() } else { format!("{from} to {to}") }
}

/// All sums of a number and some of others, as ranges in order; `None` if there are too many, or no time is left.
fn possible_sums(calls: &CallHistory<'_>, sum: i64, others: &[i64]) -> Option<Vec<(i64, i64)>> {
    let (mut ranges, mut merges) = (vec![(sum, sum)], 0);
    for other in others.iter().filter(|other| **other != 0) {
        if !calls.has_time() {
            return None;
        }
        let shifted = ranges.iter().map(|(from, to)| (from.saturating_add(*other), to.saturating_add(*other)));
        let mut all: Vec<(i64, i64)> = ranges.iter().copied().chain(shifted).collect();
        all.sort_unstable();
        let mut merged: Vec<(i64, i64)> = Vec::with_capacity(all.len());
        for (from, to) in all {
            match merged.last_mut() {
                Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        merges += merged.len();
        if merged.len() > RANGES_MAX || merges > MERGES_MAX {
            return None;
        }
        ranges = merged;
    }
    Some(ranges)
}
