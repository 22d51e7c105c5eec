//! Counts of completions, in total and by function; a function without any success makes the history invalid.
//!
//! Functions of clients of a log that never succeed, as their crashes, are not counted among those.
//! The reference's text says that such a history is unknown; its code, which counts, says invalid.

use super::{CallHistory, CheckerRow, CheckerVerdict, NO_SUCCESS};
use crate::history::{DatumId, HistoryError, OperationType};
use crate::unmatched::one_line;
use std::collections::BTreeMap;

pub(super) const STATS: CheckerRow =
    CheckerRow { name: "stats", summary: "each function succeeds at least once", functions: &[], by_key: false, check };

/// What a client of a log does to itself.
const NEVER_OK: [&str; 2] = ["crash", "debug-topic-partitions"];

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    let mut by_function: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let mut errors: BTreeMap<&str, DatumId> = BTreeMap::new();
    let mut all = [0; 3];
    for call in calls.all().filter(|call| call.completion.is_some()) {
        let at = match call.outcome {
            OperationType::Ok => 0,
            OperationType::Fail => 1,
            OperationType::Info | OperationType::Invoke => 2,
        };
        all[at] += 1;
        let function = calls.history.function_name(calls.invoked(call));
        by_function.entry(function).or_default()[at] += 1;
        let error = calls.completed(call).error;
        if !error.is_nil() {
            errors.entry(function).or_insert(error);
        }
    }
    let mut count = |prefix: &str, [ok, fail, info]: [usize; 3]| {
        verdict.count(&format!("{prefix}count"), ok + fail + info);
        verdict.count(&format!("{prefix}ok-count"), ok);
        verdict.count(&format!("{prefix}fail-count"), fail);
        verdict.count(&format!("{prefix}info-count"), info);
    };
    count("", all);
    by_function.iter().for_each(|(function, counts)| count(&format!("{function} "), *counts));
    for (function, [ok, fail, info]) in by_function {
        if ok == 0 && !NEVER_OK.contains(&function) {
            let mut message = format!("none of {} completions of {function} is ok", fail + info);
            if let Some(error) = errors.get(function) {
                let why = one_line(calls.history.pool.name(*error).unwrap_or(&calls.edn(*error)));
                message.push_str(&format!("; the first: {why}"));
            }
            verdict.wrong(NO_SUCCESS, message, &[]);
        }
    }
    Ok(())
}
