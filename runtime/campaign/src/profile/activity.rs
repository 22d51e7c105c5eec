//! What the machines of a recorded run did: replays the run, and observes each call, turn, wait and byte.
//!
//! Invariant: what is observed is proved to be the recorded run - calls, output, memory, end - or it is an error.

use crate::error::{CampaignError, ErrorKind};
use crate::pipeline::session_of;
use fozzy_check::judge;
use fozzy_report::MachineNames;
use fozzy_report::profile::{ActivityCollector, NoteKind, RunActivity, RunNote};
use fozzy_search::source_of;
use fozzy_trace::file::{RecordedOutcome, Recording};
use fozzy_trace::{Digest, Executor, NodeId};
use fozzy_world::OutputKind;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Executes the recording at `path` once more and collects what happens in it.
///
/// # Errors
/// When the execution is not the recorded run.
pub fn run_activity(path: &Path, recording: &Recording) -> Result<RunActivity, CampaignError> {
    let mut session = session_of(recording)?;
    let collector = Arc::new(Mutex::new(ActivityCollector::new()));
    let [calls, others, output] = [(); 3].map(|()| Arc::clone(&collector));
    session.follow(Box::new(move |entry| calls.lock().unwrap_or_else(PoisonError::into_inner).call(entry)));
    session.tell_activity(Box::new(move |it| others.lock().unwrap_or_else(PoisonError::into_inner).activity(it)));
    session.watch(Box::new(move |node, kind, bytes| {
        output.lock().unwrap_or_else(PoisonError::into_inner).output(node, kind == OutputKind::Stderr, bytes);
    }));
    let execution = session.execute(source_of(recording), 0..u64::MAX)?;
    let mut outcome = RecordedOutcome::of(&execution, judge(&execution));
    // Criteria are judged when a run is recorded, and not in a replay for a profile.
    outcome.verdict.clone_from(&recording.outcome.verdict);
    if let Some(difference) = fozzy_search::compare(&recording.outcome, &outcome) {
        let (what, left, right) = (difference.what, difference.left, difference.right);
        let message = format!(
            "{}: what was executed is not the recorded run: {what}: recorded {left}, found {right}",
            path.display()
        );
        let refused = CampaignError::new(ErrorKind::Divergence, message);
        return Err(refused.hint(format!("fozzy replay {}", fozzy_report::shell_path(path))));
    }
    let found = std::mem::take(&mut *collector.lock().unwrap_or_else(PoisonError::into_inner));
    let mut activity = found.finish(path.display().to_string(), execution.ended_at, &MachineNames::of(&recording.plan));
    activity.identity = identity(recording);
    activity.operations = execution.facts.operations.all().to_vec();
    activity.is_routed = recording.plan.main.stdin.channel.as_ref().is_some_and(|channel| channel.routed);
    activity.wall_start_ns = recording.plan.wall_start_s.saturating_mul(1_000_000_000);
    let findings = recording.outcome.verdict.findings.iter().map(|finding| RunNote {
        node: NodeId(0),
        at: execution.ended_at,
        kind: NoteKind::Finding,
        text: finding.title.clone(),
    });
    activity.notes.extend(findings);
    Ok(activity)
}

/// What tells a run from others: its seed, its program, its calls and what it wrote.
fn identity(recording: &Recording) -> u128 {
    let RecordedOutcome { history, calls, memory, stdout, stderr, .. } = &recording.outcome;
    let what =
        format!("{:?} {:?} {history} {calls} {memory:?} {stdout:?} {stderr:?}", recording.seed, recording.target);
    let bytes: [u8; 16] = Digest::of(what.as_bytes()).0[..16].try_into().expect("a digest has 32 bytes");
    // No trace of other tools has the number 0.
    u128::from_be_bytes(bytes).max(1)
}
