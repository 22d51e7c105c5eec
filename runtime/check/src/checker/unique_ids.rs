//! Generated ids, of any type: no id twice.

use super::{CallHistory, CheckerRow, CheckerVerdict};
use crate::history::{DatumId, HistoryError};
use std::collections::BTreeMap;

pub(super) const UNIQUE_IDS: CheckerRow = CheckerRow {
    name: "unique-ids",
    summary: "no id is generated twice",
    functions: &["generate"],
    by_key: true,
    check,
};

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    let mut ids: BTreeMap<DatumId, Vec<u32>> = BTreeMap::new();
    for call in calls.ok("generate") {
        ids.entry(calls.completed(call).value).or_default().push(call.invocation);
    }
    verdict.count("attempted-count", calls.of("generate").count());
    verdict.count("acknowledged-count", ids.values().map(Vec::len).sum());
    let mut repeated: Vec<(DatumId, Vec<u32>)> = ids.into_iter().filter(|(_, calls)| calls.len() > 1).collect();
    verdict.count("duplicated-count", repeated.len());
    repeated.sort_by_key(|(_, calls)| std::cmp::Reverse(calls.len()));
    for (id, positions) in repeated {
        let message = format!("{} was generated {} times", calls.edn(id), positions.len());
        verdict.wrong("duplicated", message, &positions);
    }
    Ok(())
}
