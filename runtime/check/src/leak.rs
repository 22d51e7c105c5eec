//! Memory that was never given back.
//!
//! ```text
//! Allocations { in use, budget } ─▶ more than the budget: a failure, of whatever came to its end otherwise
//! OwnHeap { leaked, by site } and the budgets of the plan ─▶ a failure for each site; too many bytes allocated, or in use at once
//! ```
//!
//! Not here: what counts as an allocation (`fozzy:memory`), memory of a program that did not come to its end.

use crate::judge::JudgedFinding;
use fozzy_trace::facts::{Allocations, HeapBudgets, LeakSite, OwnHeap};
use fozzy_trace::outcome::SourceLocation;
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

/// In what the program's own heap exceeds the budgets of its plan.
pub(crate) fn found_in_heap(heap: &OwnHeap) -> Vec<JudgedFinding> {
    let HeapBudgets { leak_bytes, alloc_bytes, in_use_bytes } = heap.budgets;
    if let Some(why) = &heap.unknown {
        let title = "nothing is known of the program's heap".to_owned();
        let message = format!("{title}, which has a budget: {why}");
        return vec![of_heap(FindingKind::InputInvalid, Status::Error, title, message, None)];
    }
    let mut found = Vec::new();
    let is_over = |budget: u64| heap.leaked_bytes > budget || budget == 0 && heap.leaked > 0;
    if let Some(budget) = leak_bytes.filter(|budget| is_over(*budget)) {
        found.extend(heap.leaks.iter().map(|site| of_site(site, heap, budget)));
    }
    let rows = [
        ("heap_alloc_budget", "allocates", heap.allocated_bytes, alloc_bytes),
        ("heap_in_use_budget", "has in use at once", heap.peak_bytes, in_use_bytes),
    ];
    for (title, does, bytes, budget) in rows {
        if let Some(budget) = budget.filter(|budget| bytes > *budget) {
            let (bytes, budget) = (counted(bytes, "byte"), counted(budget, "byte"));
            let message = format!("{title}: the program {does} {bytes}, and the budget is {budget}");
            found.push(of_heap(FindingKind::Checker, Status::Fail, title.to_owned(), message, None));
        }
    }
    found
}

/// What one place of the program has leaked.
fn of_site(site: &LeakSite, heap: &OwnHeap, budget: u64) -> JudgedFinding {
    let title = format!("`{}` allocates what leaks", site.function);
    let (bytes, blocks) = (counted(site.bytes, "byte"), counted(site.blocks, "block"));
    let all = counted(heap.leaked_bytes, "byte");
    let line = (site.line > 0).then_some(site.line);
    let at = site.file.as_ref().zip(line).map(|(file, line)| format!(" at {file}:{line}")).unwrap_or_default();
    let message = format!(
        "{title}{at}: {bytes} in {blocks} that nothing points to; the program leaks {all}, and the leak budget is {}",
        counted(budget, "byte")
    );
    let place =
        site.file.as_ref().map(|file| SourceLocation { file: Some(file.clone()), line, ..SourceLocation::default() });
    JudgedFinding { site: site.function.clone(), ..of_heap(FindingKind::Leak, Status::Fail, title, message, place) }
}

fn of_heap(
    kind: FindingKind,
    status: Status,
    title: String,
    message: String,
    location: Option<SourceLocation>,
) -> JudgedFinding {
    let site = title.clone();
    let (backtrace, peers, related) = (Vec::new(), Vec::new(), Vec::new());
    let finding = Finding { kind, title, message, location, backtrace, peers, related };
    JudgedFinding { status, finding, site, words: String::new() }
}
