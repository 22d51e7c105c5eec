//! Where planned faults of memory struck in a run that failed: the recording is executed once more for each, up to that moment.
//!
//! ```text
//! Recording ─execute─▶ two strikes: allocation 7, allocation 31
//!    ├─▶ Session::stop_at_refusal(1) ─▶ stack of allocation 7
//!    └─▶ Session::stop_at_refusal(2) ─▶ stack of allocation 31
//! ```
//!
//! Not here: whether a fault strikes (`fozzy-world`), how a program asks (`fozzy-instrument`).

use crate::pipeline::session_of;
use fozzy_host::STOPPED_AT_REFUSAL;
use fozzy_search::source_of;
use fozzy_trace::facts::StrikeRecord;
use fozzy_trace::file::Recording;
use fozzy_trace::outcome::{RelatedStack, StackFrame};
use fozzy_trace::{ExecutionEnd, Executor, Status};
use fozzy_world::fault::{ALLOCATION_FAILURE, strikes_memory};

/// Instructions of a recording beyond which it is not executed once more.
const FUEL_MAX: u64 = 5_000_000_000;
/// Most strikes whose stacks are told, the first ones: what a failure needs is few, once it is shrunk.
const STACKS_MAX: usize = 3;

/// The stacks of refused allocations and growths of a recording that failed, the first ones; none for another recording.
pub(crate) fn refusal_stacks(recording: &Recording) -> Vec<RelatedStack> {
    let plans = recording.plan.faults.iter().any(|fault| strikes_memory(&fault.kind));
    if !plans || recording.outcome.verdict.status == Status::Pass || recording.outcome.fuel_used > FUEL_MAX {
        return Vec::new();
    }
    let strikes = strikes(recording).unwrap_or_default();
    let numbered = (1..).zip(strikes).take(STACKS_MAX);
    numbered.filter_map(|(number, what)| Some(RelatedStack { what, backtrace: stack_at(recording, number)? })).collect()
}

/// What struck, in words, in the order in which it did.
fn strikes(recording: &Recording) -> Option<Vec<String>> {
    let mut session = session_of(recording).ok()?;
    let execution = session.execute(source_of(recording), 0..0).ok()?;
    let of_memory = execution.facts.injected.rules.iter().filter(|rule| strikes_memory(&rule.kind));
    let mut strikes: Vec<(&StrikeRecord, &str)> =
        of_memory.flat_map(|rule| rule.first.iter().map(|strike| (strike, rule.kind.as_str()))).collect();
    // Each is a call of its own.
    strikes.sort_by_key(|(strike, _)| strike.call);
    let words = |(strike, kind): (&StrikeRecord, &str)| {
        let failed = if kind == ALLOCATION_FAILURE.name { "failed" } else { "was refused" };
        format!("{} {failed} here", strike.target)
    };
    Some(strikes.into_iter().map(words).collect())
}

/// The stack at a strike.
fn stack_at(recording: &Recording, number: u64) -> Option<Vec<StackFrame>> {
    let mut session = session_of(recording).ok()?;
    session.stop_at_refusal(number);
    let execution = session.execute(source_of(recording), 0..0).ok()?;
    let stopped =
        |end: &ExecutionEnd| matches!(end, ExecutionEnd::Trapped { trap } if trap.ends_with(STOPPED_AT_REFUSAL));
    if stopped(&execution.end) {
        return Some(execution.backtrace);
    }
    execution.nodes.into_iter().find(|node| node.end.as_ref().is_some_and(stopped)).map(|node| node.backtrace)
}
