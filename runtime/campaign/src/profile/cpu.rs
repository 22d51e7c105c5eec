//! Where a recorded run spent its instructions: the run once more, counted, and the counts with the names of the source.
//!
//! ```text
//! trace ─▶ executed in the build that counts ─▶ compared with the recording ─▶ counts by path ─┐
//! names, DWARF ───────────────────────────────────────────────────────────────────────────────┴─▶ CallTree
//! ```
//!
//! Code that is inlined stands in the tree as a call of its own, below the function whose code it is part of. What the debug
//! information does not name is called by its name in the module, or by its index.
//!
//! Invariant: equal runs have equal trees.
//! Not here: how a run is executed once more (`counted.rs`), names of the source (`call_tree.rs`), formats (`fozzy-report`).

use super::call_tree::{Namer, TreeDraft};
use super::counted::counted_session;
use crate::error::CampaignError;
use fozzy_report::MachineNames;
use fozzy_report::profile::{CallTree, MERGED_FRAME};
use fozzy_trace::counted;
use fozzy_trace::file::Recording;
use std::path::Path;

/// Executes the recording at `path` once more and counts its instructions.
///
/// # Errors
/// When the execution is not the recorded run, or cannot be counted.
pub fn cpu_profile(path: &Path, recording: &Recording) -> Result<CallTree, CampaignError> {
    let (session, beginning) = counted_session(path, recording, None)?;
    let mut draft = TreeDraft::default();
    let machines = session.profiles().keys().map(|(node, _)| *node).collect::<std::collections::BTreeSet<_>>();
    let names = MachineNames::of(&recording.plan);
    let mut bare = Vec::new();
    let mut merged = 0;
    for ((node, component), counts) in session.profiles() {
        let Some(program) = session.program_named(*component) else { continue };
        // Who is alone need not be named.
        let root = (machines.len() > 1).then(|| draft.machine(&names, *node));
        let mut namer = Namer::new(program);
        draft.add(&mut namer, counts, root);
        bare.extend(namer.missing());
        merged += counts.merged();
    }
    let mut remarks = bare;
    remarks.sort();
    remarks.dedup();
    let is_whole = beginning.is_none();
    remarks.extend(beginning);
    if merged > 0 {
        let calls = counted(merged, "call");
        remarks.push(format!(
            "memory for call paths was used up: {calls} stand below {MERGED_FRAME}, each with its exact count"
        ));
    }
    // Of a beginning, it is not known how much of that it has used.
    let used = if is_whole { recording.outcome.fuel_used } else { 0 };
    Ok(CallTree { used, ..draft.finish(path.display().to_string(), merged, remarks).0 })
}
