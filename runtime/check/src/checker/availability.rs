//! How many of the calls that were made succeeded, in millionths. It judges nothing: what is enough is for the test to say.

use super::{CallHistory, CheckerRow, CheckerVerdict};
use crate::history::{HistoryError, OperationType};

pub(super) const AVAILABILITY: CheckerRow = CheckerRow {
    name: "availability",
    summary: "the share of calls that succeed, which is only reported",
    functions: &[],
    by_key: false,
    check,
};

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    let ok = calls.all().filter(|call| call.outcome == OperationType::Ok).count();
    verdict.count("invoked", calls.calls.len());
    verdict.count("ok", ok);
    if !calls.calls.is_empty() {
        verdict.count("ok-millionths", ok * 1_000_000 / calls.calls.len());
    }
    Ok(())
}
