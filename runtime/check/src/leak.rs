//! Memory that was never given back.
//!
//! ```text
//! Allocations { in use, budget } ─▶ more than the budget: a failure, of whatever came to its end otherwise
//! ```
//!
//! Not here: what counts as an allocation (`fozzy:memory`), memory of a program that did not come to its end.

use crate::judge::JudgedFinding;
use fozzy_trace::facts::Allocations;
use fozzy_trace::{Finding, FindingKind, Status, counted};

/// What was left behind, if it is more than may be.
pub(crate) fn found(allocations: &Allocations) -> Option<JudgedFinding> {
    let budget = allocations.leak_budget_bytes.filter(|_| allocations.is_over_budget())?;
    let (count, bytes) = (allocations.in_use(), allocations.in_use_bytes);
    let title = "memory was never freed".to_owned();
    let (bytes, allocations) = (counted(bytes, "byte"), counted(count, "allocation"));
    // Of the ways to set the budget none is named: a file of version 1 has one of 0 without any.
    let message = format!("{title}: {bytes} in {allocations}, and the leak budget is {}", counted(budget, "byte"));
    let site = "end".to_owned();
    let finding = Finding {
        kind: FindingKind::Leak,
        title,
        message,
        location: None,
        backtrace: Vec::new(),
        peers: Vec::new(),
        related: Vec::new(),
    };
    Some(JudgedFinding { status: Status::Fail, finding, site, words: String::new() })
}
