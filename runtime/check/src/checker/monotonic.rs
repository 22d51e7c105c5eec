//! Monotonic: a number that only grows is never seen to go back.
//!
//! ```text
//! inc → 1 · read → 2 · read → 1        process 0 went back
//! ```
//!
//! `read` and `inc` (or `add`, `increment`) return the number. What one process gets never goes down; and what was asked for after
//! another answer had come is not below it, which is reported apart: systems that promise the first only may fail it.

use super::{CallHistory, CheckerRow, CheckerVerdict};
use crate::history::{HistoryError, OperationType, Process};
use std::collections::BTreeMap;

pub(super) const MONOTONIC: CheckerRow = CheckerRow {
    name: "monotonic",
    summary: "a number that grows is never seen to go back",
    functions: &[],
    by_key: true,
    check,
};

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    // Answers in the order in which they came: completion, number, call.
    let mut answers: Vec<(u32, i64, u32)> = Vec::new();
    let mut before: BTreeMap<Process, (i64, u32)> = BTreeMap::new();
    for call in calls.all().filter(|call| call.outcome == OperationType::Ok) {
        let operation = calls.completed(call);
        if operation.value.is_nil() {
            continue;
        }
        let number = calls.number(operation)?;
        answers.push((call.completion.unwrap_or(call.invocation), number, call.invocation));
        if operation.process == Process::Unknown {
            continue;
        }
        if let Some((last, other)) = before.insert(operation.process, (number, call.invocation))
            && number < last
        {
            let message = format!("a process got {number} after {last}");
            verdict.wrong("went-back", message, &[other, call.invocation]);
        }
    }
    verdict.count("answer-count", answers.len());
    let mut by_invocation: Vec<(u32, i64)> = answers.iter().map(|(_, number, call)| (*call, *number)).collect();
    answers.sort_unstable();
    by_invocation.sort_unstable();
    let (mut at, mut highest): (usize, Option<(i64, u32)>) = (0, None);
    let mut stale = 0;
    for (invocation, number) in by_invocation {
        while let Some((_, answer, call)) = answers.get(at).filter(|one| one.0 < invocation) {
            highest = highest.max(Some((*answer, *call)));
            at += 1;
        }
        let Some((answer, call)) = highest.filter(|(answer, _)| *answer > number) else { continue };
        stale += 1;
        let message = format!("{number} was returned to a call that began after {answer} had been returned");
        verdict.note("stale", message, &[call, invocation]);
    }
    verdict.count("stale-count", stale);
    Ok(())
}
