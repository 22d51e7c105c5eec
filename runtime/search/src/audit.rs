//! The determinism audit: the same execution several times, compared in everything.

use crate::compare::{CallDivergence, OutcomeDifference, compare, first_differing_entry};
use fozzy_check::judge;
use fozzy_trace::file::RecordedOutcome;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{DecisionSource, Digest, Executor, HarnessError, HistoryWindow, Seed};

/// Calls at the beginning that are kept in full, so that a difference there can be shown even if it
/// does not come again. Differences later on are named by what they changed.
const KEPT: HistoryWindow = 0..65_536;

/// What the audit found.
#[derive(Clone, Debug)]
pub struct Audit {
    /// One signature for each execution; all equal when the program is deterministic here.
    pub signatures: Vec<Digest>,
    /// The first execution that differs from the first one, counted from one.
    pub first_mismatch: Option<usize>,
    /// In what it differs.
    pub difference: Option<OutcomeDifference>,
    /// The first call that differs, when calls do.
    pub divergence: Option<CallDivergence>,
    /// The outcome of the first execution.
    pub first: RecordedOutcome,
}

impl Audit {
    /// Whether all executions were equal.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        self.first_mismatch.is_none()
    }
}

/// Executes `runs` times (at least twice) and compares questions, answers, output, end, virtual time,
/// memory and fuel.
///
/// # Errors
/// When an execution fails for reasons of the machine.
pub fn audit(executor: &mut dyn Executor, seed: Seed, runs: usize) -> Result<Audit, HarnessError> {
    let mut execute = || {
        let source: Box<dyn DecisionSource> = Box::new(SeededSource::new(seed));
        let execution = executor.execute(source, KEPT)?;
        Ok((RecordedOutcome::of(&execution, judge(&execution)), execution.history.entries))
    };
    let (first, entries) = execute()?;
    let signatures = vec![signature(&first)];
    let mut audit = Audit { signatures, first_mismatch: None, difference: None, divergence: None, first };
    for run in 2..=runs.max(2) {
        let (outcome, again) = execute()?;
        audit.signatures.push(signature(&outcome));
        if audit.is_consistent()
            && let Some(difference) = compare(&audit.first, &outcome)
        {
            audit.first_mismatch = Some(run);
            audit.difference = Some(difference);
            audit.divergence = first_differing_entry(&entries, &again);
        }
    }
    Ok(audit)
}

/// One digest over everything that must be equal.
fn signature(of: &RecordedOutcome) -> Digest {
    let text = format!(
        "{} {:016x} {} {} {:?} {} {} {} {} {:?}",
        of.calls,
        of.history,
        of.stdout.sha256,
        of.stderr.sha256,
        of.end,
        of.ended_at,
        of.memory_bytes,
        of.memory,
        of.fuel_used,
        of.nodes,
    );
    Digest::of(text.as_bytes())
}

#[cfg(test)]
mod tests;
