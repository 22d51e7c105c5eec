//! A set that is read at the end: what was added is there, and nothing else.
//!
//! ```text
//! add 1 ok · add 2 info · add 3 ok · read #{2 3}      lost 1, recovered 2
//! ```

use super::{CallHistory, CheckerRow, CheckerVerdict};
use crate::history::{DatumId, HistoryError};
use std::collections::BTreeSet;

pub(super) const SET: CheckerRow = CheckerRow {
    name: "set",
    summary: "the last read has all added elements, and no other",
    functions: &["add", "read"],
    by_key: true,
    check,
};

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    let attempted: BTreeSet<DatumId> = calls.of("add").map(|call| calls.invoked(call).value).collect();
    let added: BTreeSet<DatumId> = calls.ok("add").map(|call| calls.invoked(call).value).collect();
    verdict.count("attempt-count", attempted.len());
    verdict.count("acknowledged-count", added.len());
    let Some(last) = calls.ok("read").max_by_key(|call| call.completion) else {
        verdict.unknown("never-read", "the set was never read");
        return Ok(());
    };
    let read: BTreeSet<DatumId> = calls.elements(last)?.iter().copied().collect();
    let shown = [last.invocation];
    verdict.count("ok-count", read.intersection(&attempted).count());
    verdict.count("lost-count", added.difference(&read).count());
    verdict.count("recovered-count", read.intersection(&attempted).filter(|one| !added.contains(one)).count());
    verdict.count("unexpected-count", read.difference(&attempted).count());
    for lost in added.difference(&read) {
        verdict.wrong("lost", format!("{} was added and is not in the last read", calls.edn(*lost)), &shown);
    }
    for unexpected in read.difference(&attempted) {
        verdict.wrong("unexpected", format!("{} was read and never added", calls.edn(*unexpected)), &shown);
    }
    Ok(())
}
