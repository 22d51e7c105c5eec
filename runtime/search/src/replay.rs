//! Replay: the recorded decisions once more, compared with what was recorded.
//!
//! ```text
//! replay    same component      must be equal in calls, output, end, time, memory, fuel
//! against   changed component   the same decisions; where does it first ask something else?
//! ```

use crate::compare::{CallDivergence, OutcomeDifference, ReplaySide, compare, locate};
use fozzy_check::judge;
use fozzy_trace::file::{RecordedOutcome, Recording};
use fozzy_trace::history::first_difference;
use fozzy_trace::source::RecordedSource;
use fozzy_trace::{DecisionSource, Execution, Executor, HarnessError, History, HistoryWindow, Verdict};
use std::ops::Range;

/// A replay of a recording.
#[derive(Clone, Debug)]
pub struct ReplayResult {
    /// The execution.
    pub execution: Execution,
    /// Its own verdict.
    pub verdict: Verdict,
    /// In what it differs from the recording; `None` when it is the same run.
    pub difference: Option<OutcomeDifference>,
    /// The stretch of calls that holds the first difference, as far as the recording tells.
    pub stretch: Option<Range<u64>>,
}

/// The recorded decisions replayed against another program.
#[derive(Clone, Debug)]
pub struct CrossReplay {
    /// The execution of the other program.
    pub execution: Execution,
    /// Its verdict.
    pub verdict: Verdict,
    /// The first call in which it went another way; `None` when it made the same calls.
    pub divergence: Option<CallDivergence>,
}

/// The decisions of a recording and what the real computer answered, as a source.
#[must_use]
pub fn source_of(recording: &Recording) -> Box<dyn DecisionSource> {
    let source = RecordedSource::new(recording.seed, recording.explicit.clone());
    Box::new(source.observing(recording.observations.clone(), recording.inputs.clone()))
}

/// Replays `recording` on an executor of its own component and plan.
///
/// # Errors
/// When the execution fails for reasons of the machine.
pub fn replay(
    recording: &Recording,
    executor: &mut dyn Executor,
    keep: HistoryWindow,
) -> Result<ReplayResult, HarnessError> {
    let execution = executor.execute(source_of(recording), keep)?;
    let verdict = judge(&execution);
    let outcome = RecordedOutcome::of(&execution, verdict.clone());
    let difference = compare(&recording.outcome, &outcome);
    let stretch = first_difference(&recorded_history(recording), &execution.history);
    Ok(ReplayResult { execution, verdict, difference, stretch })
}

/// Replays the decisions of `recording` on `changed`, and names where it leaves the way of `original`.
///
/// # Errors
/// When an execution fails for reasons of the machine.
pub fn replay_against(
    recording: &Recording,
    original: &mut dyn Executor,
    changed: &mut dyn Executor,
) -> Result<CrossReplay, HarnessError> {
    let source = || source_of(recording);
    let execution = changed.execute(source(), 0..0)?;
    let verdict = judge(&execution);
    let mut recorded = ReplaySide { executor: original, source: &source };
    let mut asked = ReplaySide { executor: changed, source: &source };
    let divergence = locate(&mut recorded, &mut asked)?;
    Ok(CrossReplay { execution, verdict, divergence })
}

/// What a recording tells of its history without being executed.
fn recorded_history(recording: &Recording) -> History {
    History {
        calls: recording.outcome.calls,
        decisions: recording.outcome.decisions,
        digest: recording.outcome.history,
        marks: recording.marks.clone(),
        ..History::default()
    }
}
