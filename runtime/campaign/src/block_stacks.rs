//! Where the block of a memory error was allocated and freed: the recording is executed once more for each, up to that moment.
//!
//! ```text
//! Recording ─ ends in an error of a block that events 17 and 23 made and freed
//!    ├─▶ Session::stop_at_block(17) ─▶ stack of the allocation
//!    └─▶ Session::stop_at_block(23) ─▶ stack of the free
//! ```
//!
//! Invariant: a stack is told only if the program stopped at that very block; what cannot be told is left out.
//! Not here: how an error is found (`fozzy-instrument`).

use crate::pipeline::session_of;
use crate::refusal_stacks::refusal_stacks;
use fozzy_engine::{STOPPED_AT_BLOCK, stopped_at_block};
use fozzy_search::source_of;
use fozzy_trace::file::Recording;
use fozzy_trace::outcome::{RelatedStack, StackFrame};
use fozzy_trace::{ExecutionEnd, Executor, MemoryError, UndefinedOutputs};

/// Instances of a program, from the last one back, that are tried.
const INSTANCES_TRIED: u32 = 4;
/// Frames of an allocation that are named.
const ORIGIN_FRAMES_MAX: usize = 3;
/// Instructions of a recording beyond which it is not executed once more.
const FUEL_MAX: u64 = 5_000_000_000;

/// Further stacks of a recording that failed: those of the block of a memory error, and those at which memory was refused.
pub fn related_stacks(recording: &Recording) -> Vec<RelatedStack> {
    let mut found = block_stacks(recording);
    found.extend(refusal_stacks(recording));
    found
}

/// The stacks of the block of a recorded memory error, the free first; none for another recording.
fn block_stacks(recording: &Recording) -> Vec<RelatedStack> {
    let ends = std::iter::once(&recording.outcome.end);
    let error =
        ends.chain(recording.outcome.nodes.iter().filter_map(|node| node.end.as_ref())).find_map(|end| match end {
            ExecutionEnd::MemoryError { error: MemoryError { block: Some(block), .. } } => Some(*block),
            _ => None,
        });
    let Some(block) = error.filter(|_| recording.outcome.fuel_used <= FUEL_MAX) else { return Vec::new() };
    let mut found = Vec::new();
    for (event, what) in [(block.freed, "freed"), (Some(block.allocated), "allocated")] {
        let frames = event.and_then(|event| stack_at(recording, event, Some(block.address)));
        found.extend(frames.map(|backtrace| RelatedStack { what: format!("the block was {what} here"), backtrace }));
    }
    found
}

/// Where bytes were allocated that a program has let out and never written, in words: one for each such allocation.
pub fn origins_of(recording: &Recording, outputs: &UndefinedOutputs) -> Vec<String> {
    let mut allocations: Vec<u32> = outputs.first.iter().map(|output| output.found.allocation).collect();
    allocations.dedup();
    let mut words = Vec::new();
    for allocation in allocations {
        let Some(frames) = stack_at(recording, allocation, None) else { continue };
        // The first one is the allocator's.
        let names = frames.iter().skip(1).take(ORIGIN_FRAMES_MAX).map(|frame| {
            let line = frame.source.file.as_deref().zip(frame.source.line);
            let line = line.map_or_else(String::new, |(file, line)| format!(" ({file}:{line})"));
            format!("{}{line}", frame.function)
        });
        words.push(format!("allocation {allocation} is of {}", names.collect::<Vec<_>>().join(", called by ")));
    }
    words
}

/// The stack at an allocation or free of the block at an address, if that is known.
fn stack_at(recording: &Recording, event: u32, address: Option<u32>) -> Option<Vec<StackFrame>> {
    let mut session = session_of(recording).ok()?;
    // A scenario makes an instance for each of its sequences.
    let instances = match &recording.plan.scenario {
        Some(_) => {
            session.stop_at_block(0, 0);
            session.execute(source_of(recording), 0..0).ok()?;
            session.instances()
        }
        None => 1,
    };
    let oldest = instances.saturating_sub(INSTANCES_TRIED) + 1;
    (oldest..=instances).rev().find_map(|instance| {
        session.stop_at_block(event, instance);
        let execution = session.execute(source_of(recording), 0..0).ok()?;
        let stopped = |end: &ExecutionEnd| match (end, address) {
            (ExecutionEnd::Trapped { trap }, Some(address)) => *trap == stopped_at_block(address),
            (ExecutionEnd::Trapped { trap }, None) => trap.starts_with(STOPPED_AT_BLOCK),
            _ => false,
        };
        if stopped(&execution.end) {
            return Some(execution.backtrace);
        }
        execution.nodes.into_iter().find(|node| node.end.as_ref().is_some_and(stopped)).map(|node| node.backtrace)
    })
}
