//! Whether an execution in another build of the program is the recorded run.
//!
//! ```text
//! recorded outcome ─┬─ calls, decisions, output, end, time, memory ─┬─▶ the first difference, or none
//! other build ──────┘                                               └─ not: fuel; contents of the memory of objects that the engine manages
//! ```
//!
//! Not here: how a build differs (`fozzy-engine`).

use fozzy_instrument::has_managed_objects;
use fozzy_search::OutcomeDifference;
use fozzy_trace::file::{RecordedOutcome, Recording};
use fozzy_trace::{Execution, Verdict};

/// In what an execution of another build is not the recorded run. What that uses is not compared, since other code uses other amounts.
pub(crate) fn other_build_difference(
    recording: &Recording,
    mut execution: Execution,
    verdict: Verdict,
) -> Option<OutcomeDifference> {
    let recorded = &recording.outcome;
    execution.fuel_used = recorded.fuel_used;
    let mut found = RecordedOutcome::of(&execution, verdict);
    if programs(recording).any(|program| has_managed_objects(&program)) {
        found.memory = recorded.memory;
        for (found, recorded) in found.nodes.iter_mut().zip(&recorded.nodes) {
            found.memory = recorded.memory;
        }
    }
    fozzy_search::compare(recorded, &found)
}

/// All programs of a recording.
fn programs(recording: &Recording) -> impl Iterator<Item = std::sync::Arc<[u8]>> {
    let others = recording.plan.programs().filter_map(|program| recording.inputs.get(&program.component));
    std::iter::once(recording.component.clone()).chain(others)
}
