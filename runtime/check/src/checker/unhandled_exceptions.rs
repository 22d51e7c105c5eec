//! Groups of operations that carry an exception. Always valid: a test that cares looks at them.

use super::{CallHistory, CheckerRow, CheckerVerdict};
use crate::history::HistoryError;
use std::collections::BTreeMap;

pub(super) const UNHANDLED_EXCEPTIONS: CheckerRow = CheckerRow {
    name: "unhandled-exceptions",
    summary: "operations with an exception, by its class; only reported",
    functions: &[],
    by_key: false,
    check,
};

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    let pool = &calls.history.pool;
    let mut groups: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (position, operation) in calls.history.operations.iter().enumerate().filter(|_| calls.has_time()) {
        let Some(exception) = pool.entry(operation.extra, "exception") else { continue };
        // As Clojure prints it: the class is that of the innermost cause.
        let chain = pool.entry(exception, "via").and_then(|via| pool.elements(via)).unwrap_or_default();
        let class = chain.last().and_then(|cause| pool.entry(*cause, "type")).unwrap_or(exception);
        groups.entry(calls.edn(class)).or_default().push(position as u32);
    }
    verdict.count("exceptions", groups.values().map(Vec::len).sum());
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, positions)| std::cmp::Reverse(positions.len()));
    for (class, positions) in groups {
        verdict.note("exception", format!("{} operations have {class}", positions.len()), &positions[..1]);
    }
    Ok(())
}
