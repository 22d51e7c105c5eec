//! The memory of a recorded run: of its own heap, or what it declared.
//!
//! ```text
//! scenario file, or a program that reports to `fozzy:memory` ─▶ what it said
//! any other program ─▶ its heap (`profile/heap.rs`)
//! ```
//!
//! Not here: documents (`fozzy-report`).

use crate::error::CampaignError;
use crate::pipeline::session_of;
use crate::profile::heap_profile;
use fozzy_report::MemorySummary;
use fozzy_report::memory::MemoryFacts;
use fozzy_search::source_of;
use fozzy_trace::Executor;
use fozzy_trace::file::Recording;
use fozzy_trace::plan::AllocatorChoice;
use std::path::Path;

/// What the recording at `path` says of its memory. What a run declared goes before its heap, unless functions of an allocator are `chosen`.
///
/// # Errors
/// When what is executed is not the recorded run.
pub fn memory_facts(
    path: &Path,
    recording: &Recording,
    chosen: &[AllocatorChoice],
) -> Result<MemoryFacts, CampaignError> {
    if chosen.is_empty() && recording.plan.allocators.is_empty() {
        let execution = session_of(recording)?.execute(source_of(recording), 0..0)?;
        let told = &execution.facts.allocations;
        if let Some(summary) = MemorySummary::of(told) {
            let live = told.live().collect();
            return Ok(MemoryFacts::Declared { run: path.display().to_string(), summary, live });
        }
    }
    Ok(MemoryFacts::Heap(Box::new(heap_profile(path, recording, chosen)?)))
}
