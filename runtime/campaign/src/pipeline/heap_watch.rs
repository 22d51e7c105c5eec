//! Budgets of a program's own heap: each run that comes to its end is executed once more, its allocators watched.
//!
//! ```text
//! Session ─execute─▶ Execution ─HeapObserver─▶ the same answers, in the build that logs allocations ─▶ OwnHeap ─▶ judge
//! ```
//!
//! Invariants: only plans that say so ([`MemoryPlan::own_heap`](fozzy_trace::plan::MemoryPlan)) have it, so that runs of before are judged as
//! they were; a run with answers of the real computer has none, as it cannot be executed again; what is watched is proved to be the run.
//! Not here: which blocks have leaked (`profile/heap_tree.rs`), what is too much (`fozzy-check`).

use super::plan::RunPlan;
use crate::error::CampaignError;
use crate::profile::{UNRECOGNISED, heap_of};
use fozzy_engine::{Build, HeapObserver, Session};
use fozzy_report::profile::HeapTree;
use fozzy_trace::facts::{HeapBudgets, LEAK_SITES_MAX, LeakSite, OwnHeap};
use fozzy_trace::plan::MemoryPlan;
use fozzy_trace::{DecisionSource, Execution, ExecutionEnd, Executor, HarnessError, Plan};
use std::sync::Arc;

/// The build that logs allocations.
pub(super) fn watching() -> Build {
    Build { heap: Some(Vec::new()), ..Build::profile() }
}

/// Whether a plan has a budget for the program's own heap.
pub(super) fn is_watched(plan: &Plan) -> bool {
    plan.memory.as_ref().is_some_and(|memory| memory.own_heap)
}

/// Finds out about the heaps of runs under a plan, if that has a budget for them, by sessions of the build that is [`watching`].
pub(super) fn heap_observer(
    planned: &RunPlan,
    mut watched: impl FnMut() -> Result<Session, CampaignError> + Send + 'static,
) -> Option<HeapObserver> {
    let memory = planned.plan.memory.clone().filter(|memory| memory.own_heap)?;
    let planned = planned.clone();
    Some(Box::new(move |source, execution| {
        let is_told = execution.facts.allocations.is_told();
        let is_live = !execution.history.observations.is_empty();
        if execution.end != (ExecutionEnd::Exited { code: 0 }) || is_told || is_live {
            return Ok(None);
        }
        // A dialogue is over, and does not come again.
        if planned.stdin.as_ref().is_some_and(|stdin| stdin.dialogue().is_some()) {
            return Ok(None);
        }
        let mut session = watched().map_err(failed)?;
        planned.stdin.iter().for_each(|stdin| session.read_from(Arc::clone(stdin)));
        Ok(Some(Box::new(observe(session, (&planned.plan, &memory), source, execution)?)))
    }))
}

fn budgets(memory: &MemoryPlan) -> HeapBudgets {
    HeapBudgets {
        leak_bytes: memory.leak_budget_bytes,
        alloc_bytes: memory.heap_alloc_budget_bytes,
        in_use_bytes: memory.heap_in_use_budget_bytes,
    }
}

fn failed(error: CampaignError) -> HarnessError {
    HarnessError::new(error.to_string())
}

fn observe(
    mut session: Session,
    (plan, memory): (&Plan, &MemoryPlan),
    source: Box<dyn DecisionSource>,
    execution: &Execution,
) -> Result<OwnHeap, HarnessError> {
    let again = session.execute(source, 0..0)?;
    if (again.history.digest, again.history.calls, &again.memory)
        != (execution.history.digest, execution.history.calls, &execution.memory)
    {
        return Err(HarnessError::new("the run is another one when its allocators are watched"));
    }
    let heap = heap_of(&session, plan, &[], String::new(), None).map_err(failed)?;
    Ok(own_heap(&heap, memory))
}

fn own_heap(heap: &HeapTree, memory: &MemoryPlan) -> OwnHeap {
    let total = heap.total();
    let (leaked, leaked_bytes) = heap.leaked();
    // Blocks of no bytes leak too.
    let weighs_bytes = leaked_bytes > 0;
    let sites = heap.by_site(|counts| if weighs_bytes { counts.lost_bytes } else { counts.lost_blocks }).into_iter();
    let leaks = sites.take(if leaked > 0 { LEAK_SITES_MAX } else { 0 }).map(|(site, counts)| LeakSite {
        function: site.function,
        file: site.file,
        line: site.line,
        blocks: counts.lost_blocks,
        bytes: counts.lost_bytes,
    });
    // A program without an allocator has no heap; of one without names it is not known.
    let nameless = heap.tree.remarks.iter().find_map(|remark| {
        let why = remark.strip_prefix(UNRECOGNISED).filter(|why| why.contains("was stripped"))?;
        Some(format!("{UNRECOGNISED}{}", why.split(';').next().unwrap_or(why)))
    });
    let asks_use = memory.leak_budget_bytes.is_some() || memory.heap_in_use_budget_bytes.is_some();
    let collected = (heap.is_collected && asks_use).then(|| {
        "its blocks are collected, so that what is in use or has leaked is not known; heap-alloc-budget bounds what it allocates in all"
            .to_owned()
    });
    OwnHeap {
        allocated: total.blocks,
        allocated_bytes: total.bytes,
        freed: heap.frees,
        refused: heap.failures,
        in_use_bytes: total.live_bytes,
        peak_bytes: heap.moments.iter().map(|moment| moment.bytes).max().unwrap_or(0).max(total.live_bytes),
        leaked,
        leaked_bytes,
        leaks: leaks.collect(),
        unknown: nameless.or(collected),
        budgets: budgets(memory),
    }
}
