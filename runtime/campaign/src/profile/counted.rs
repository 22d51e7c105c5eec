//! A recorded run once more, in the build that counts its instructions or logs its allocations.
//!
//! ```text
//! trace ─▶ executed in the build that counts ─▶ compared with the recording ─▶ Session
//! ```
//!
//! Invariant: what is counted is the recorded run; of a run whose budget was used up, its beginning.
//! Not here: what is made of the counts (`cpu.rs`, `heap.rs`).

use crate::error::{CampaignError, ErrorKind};
use crate::other_build::other_build_difference;
use crate::pipeline::PreparedProgram;
use fozzy_engine::{Build, Session};
use fozzy_instrument::ProfileCounter;
use fozzy_search::source_of;
use fozzy_trace::file::Recording;
use fozzy_trace::plan::AllocatorChoice;
use fozzy_trace::{Execution, ExecutionEnd, Executor, NodeId, grouped};
use std::collections::BTreeMap;
use std::path::Path;

/// Which share of a budget the beginning of a run has that is counted.
const BEGINNING: std::ops::RangeInclusive<f64> = 0.9..=0.98;
/// And which is aimed at.
const BEGINNING_AIM: f64 = 0.96;
/// The answer of the call of a guest with which calls have used up the budget.
const BUDGET_OF_CALLS: &str = "instruction budget exhausted";
/// How often a budget for it is looked for: each time takes as long as the run.
const BEGINNINGS_MAX: usize = 8;
/// Most fuel that a call costs beside the operators of its function: the check of its depth at its beginning and at its end.
const CALL_FUEL_MAX: u64 = 16;

/// A session that has executed the recorded run in the build that counts, and what a reader has to know of it.
/// With `heap` it logs allocations, too.
pub(super) fn counted_session(
    path: &Path,
    recording: &Recording,
    heap: Option<Vec<AllocatorChoice>>,
) -> Result<(Session, Option<String>), CampaignError> {
    let starved = starved(recording);
    let build = if starved.is_empty() { Build::profile() } else { Build::profile_with_fuel() };
    let build = Build { heap, ..build };
    let mut session = PreparedProgram::built_of_recording(recording, &build)?.session()?;
    if starved.is_empty() {
        let execution = session.execute(source_of(recording), 0..0)?;
        return match difference(recording, execution) {
            None => Ok((session, None)),
            Some(difference) => Err(refused(path, difference)),
        };
    }
    let remark = count_beginning(path, recording, &mut session, &starved)?;
    Ok((session, remark))
}

/// The machines whose budget was used up.
pub(crate) fn starved(recording: &Recording) -> Vec<NodeId> {
    let others = recording.outcome.nodes.iter().map(|node| node.end.as_ref());
    let ends = std::iter::once(Some(&recording.outcome.end)).chain(others);
    let is_starved = |end: Option<&ExecutionEnd>| matches!(end, Some(ExecutionEnd::FuelExhausted { .. }));
    ends.zip(0..).filter(|(end, _)| is_starved(*end)).map(|(_, node)| NodeId(node)).collect()
}

/// In what an execution of the build that counts, whose fuel is another, is not the recorded run.
fn difference(recording: &Recording, execution: Execution) -> Option<String> {
    // What is held against its plan was judged when it was recorded: here it is asked whether this is the same run.
    let verdict = recording.outcome.verdict.clone();
    let found = other_build_difference(recording, execution, verdict)?;
    Some(format!("{}: recorded {}, found {}", found.what, found.left, found.right))
}

fn refused(path: &Path, difference: String) -> CampaignError {
    let message = format!("{}: what was counted is not the recorded run: {difference}", path.display());
    CampaignError::new(ErrorKind::Divergence, message).hint(format!("fozzy replay {}", fozzy_report::shell_path(path)))
}

/// Counts a run that ended because its budget was used up: with other code in it, the same budget is used up at another place, so
/// that it is given one that ends it shortly before its own end. If it was the host's calls that used it up, the run is whole.
fn count_beginning(
    path: &Path,
    recording: &Recording,
    session: &mut Session,
    starved: &[NodeId],
) -> Result<Option<String>, CampaignError> {
    let limit = recording.plan.limits.fuel;
    let mut given: BTreeMap<NodeId, u64> = starved.iter().map(|node| (*node, limit)).collect();
    let mut shares = Vec::new();
    for _ in 0..BEGINNINGS_MAX {
        session.give_fuel(given.clone());
        let calls = recording.outcome.calls;
        let execution = session.execute(source_of(recording), calls.saturating_sub(1)..calls)?;
        let mut marks = execution.history.marks.iter().zip(&recording.marks);
        if let Some((found, recorded)) = marks.find(|(found, recorded)| found != recorded) {
            let (recorded, found) = (recorded.digest, found.digest);
            return Err(refused(path, format!("calls: recorded {recorded:016x}, found {found:016x}")));
        }
        let is_by_calls = execution.history.entries.last().is_some_and(|entry| entry.answer == BUDGET_OF_CALLS);
        if is_by_calls && difference(recording, execution).is_none() {
            return Ok(None);
        }
        shares = starved.iter().map(|node| fuel_of(session, *node) as f64 / limit.max(1) as f64).collect();
        if shares.iter().all(|share| BEGINNING.contains(share)) {
            break;
        }
        for (node, share) in starved.iter().zip(&shares) {
            let fuel = given.get_mut(node).expect("it was given some");
            *fuel = (*fuel as f64 * (BEGINNING_AIM / share.max(f64::EPSILON)).clamp(0.1, 10.0)) as u64;
        }
    }
    let least = shares.iter().copied().fold(1.0, f64::min);
    if shares.iter().any(|share| share > BEGINNING.end()) || least <= 0.0 {
        let what = "the run ended when its budget of instructions was used up, and its beginning cannot be told apart";
        let error = CampaignError::new(ErrorKind::Replay, format!("{}: {what}", path.display()));
        return Err(error.hint(format!("fozzy replay {}", fozzy_report::shell_path(path))));
    }
    Ok(Some(format!(
        "the run ended when its budget of {} instructions was used up: the profile has its beginning, exactly, which is about {:.0} % of that",
        grouped(limit),
        100.0 * least
    )))
}

/// At least as much fuel as the guests of a machine have used in the build without counts, for what they have counted.
fn fuel_of(session: &Session, node: NodeId) -> u64 {
    let programs = session.profiles().iter().filter(|((of, _), _)| *of == node);
    let mut fuel: u64 = 0;
    for ((_, component), counts) in programs {
        let Some(program) = session.program_named(*component) else { continue };
        for path in counts.paths() {
            let sites = program.profile_sites().function(path.step.module, path.step.function).expect("it was counted");
            fuel = fuel.saturating_add(path.counters.first().map_or(0, |calls| calls * CALL_FUEL_MAX));
            for (value, counter) in path.counters.iter().zip(&sites.counters) {
                fuel = fuel.saturating_add(match counter {
                    ProfileCounter::Segment(operators) => value * operators.len() as u64,
                    ProfileCounter::Bytes(_) => *value,
                });
            }
        }
    }
    fuel
}
