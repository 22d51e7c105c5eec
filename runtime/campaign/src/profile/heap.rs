//! What a recorded run allocated: the run once more, its allocators watched.
//!
//! ```text
//! trace ─▶ executed in the build that logs allocations ─▶ compared with the recording ─▶ HeapTree
//! ```
//!
//! Invariants: a profile is of the recorded run, or there is none; the run that is recorded pays nothing for it.
//! Not here: what is made of the log (`heap_tree.rs`).

use super::counted::counted_session;
use super::heap_tree::heap_of;
use crate::error::CampaignError;
use fozzy_report::profile::HeapTree;
use fozzy_trace::file::Recording;
use fozzy_trace::plan::AllocatorChoice;
use std::path::Path;

/// Executes the recording at `path` once more and watches its allocators: those that are recognised, and those that are `chosen`.
///
/// # Errors
/// When the execution is not the recorded run, or a function that was chosen is not there.
pub fn heap_profile(path: &Path, recording: &Recording, chosen: &[AllocatorChoice]) -> Result<HeapTree, CampaignError> {
    let (session, beginning) = counted_session(path, recording, Some(chosen.to_vec()))?;
    heap_of(&session, &recording.plan, chosen, path.display().to_string(), beginning)
}
