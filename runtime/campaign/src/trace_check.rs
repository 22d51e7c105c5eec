//! Is a trace whole, and is it the run that happens here?
//!
//! ```text
//! trace_verify            every byte, by its checksum and structure
//! replay_outcome_class    the replay ends with the same status and signature
//! replay_event_parity     call by call, output, end, time, memory, instructions, words of findings, digest of the target
//! replay_memory_parity    linear memory at the end, byte for byte
//! memory_policy           what was in use at the end is within the leak budget of the plan
//! strict_warning_policy   no warning, in strict mode                                            of a run only
//! artifacts_zip_integrity what would be handed on, zipped and read back                         of a run only
//! ```
//!
//! Invariant: a check for which there is nothing to look at is skipped, with the reason; of a trace that is not whole nothing else
//! is checked.

use crate::artifacts::{self, pack};
use crate::error::{CampaignError, ErrorKind};
use crate::pipeline::session_of;
use crate::selector::{self, SelectedRun};
use fozzy_report::document::{CiCheck, CiDocument};
use fozzy_search::{ReplayResult, replay, source_of};
use fozzy_trace::file::{self, Recording};
use fozzy_trace::{Digest, Duration, Executor, Instant, counted};
use std::io::{Cursor, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// The check of what a run did, beside those of what was kept of it.
pub const MEMORY_POLICY: &str = "memory_policy";

/// A trace that was replayed to be checked.
pub struct CheckedReplay {
    /// What is recorded.
    pub recording: Recording,
    /// The same run, here and now.
    pub replayed: ReplayResult,
}

/// Checks the trace of what was named as `selector`. There is a replay unless the trace is damaged.
///
/// # Errors
/// When no trace was kept, or this machine fails.
pub fn check_run(
    selector: &str,
    named: &SelectedRun,
    strict: bool,
) -> Result<(CiDocument, Option<CheckedReplay>), CampaignError> {
    let files = artifacts::of(named)?;
    let Some(path) = artifacts::trace_among(&files) else {
        let message = format!("`{selector}` kept no trace: it passed and was not recorded");
        return Err(CampaignError::new(ErrorKind::Selector, message).hint("record a run with --record run.fozzy"));
    };
    let bytes = selector::bytes(path)?;
    let found = file::verify(&bytes);
    let (mut checks, checked) = check_trace(&bytes, &found)?;
    if checked.is_some() {
        checks.push(warnings(&found.warnings, strict));
        checks.push(zip(&files)?);
    }
    Ok((document(checks), checked))
}

/// Checks the bytes of a trace; `found` is the result of their verification.
///
/// # Errors
/// When this machine fails.
pub fn check_trace(
    bytes: &[u8],
    found: &file::Verification,
) -> Result<(Vec<CiCheck>, Option<CheckedReplay>), CampaignError> {
    if let Some(error) = &found.error {
        return Ok((vec![row("trace_verify", false, error.to_string())], None));
    }
    let read = Recording::read(bytes);
    let recording = read.map_err(|error| CampaignError::new(ErrorKind::Trace, error.to_string()))?;
    let mut session = session_of(&recording)?;
    let replayed = replay(&recording, &mut session, 0..0)?;
    let (recorded, now) = (&recording.outcome.verdict, &replayed.verdict);
    let signature = |verdict: &fozzy_trace::Verdict| {
        verdict.signature.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)
    };
    let mut checks = vec![
        row("trace_verify", found.ok, "whole and sound".to_owned()),
        row(
            "replay_outcome_class",
            (recorded.status, &recorded.signature) == (now.status, &now.signature),
            format!(
                "recorded {} ({}), replayed {} ({})",
                recorded.status.name(),
                signature(recorded),
                now.status.name(),
                signature(now)
            ),
        ),
        row(
            "replay_event_parity",
            replayed.difference.is_none(),
            replayed.difference.as_ref().map_or_else(
                || {
                    let (calls, decisions) = (recording.outcome.calls, recording.outcome.decisions);
                    format!("{}, {}", counted(calls, "call"), counted(decisions, "decision"))
                },
                |difference| format!("{}: recorded {}, found {}", difference.what, difference.left, difference.right),
            ),
        ),
    ];
    checks.push(memory_parity(&recording, &replayed));
    checks.push(memory_policy(&recording, &replayed));
    Ok((checks, Some(CheckedReplay { recording, replayed })))
}

/// All checks together.
pub fn document(checks: Vec<CiCheck>) -> CiDocument {
    let ok = checks.iter().all(|check| check.ok);
    CiDocument { schema_version: "fozzy.ci_report.v1".to_owned(), ok, checks }
}

/// One check that was made.
pub fn row(name: &str, ok: bool, detail: String) -> CiCheck {
    CiCheck { name: name.to_owned(), ok, skipped: false, detail: Some(detail) }
}

/// Linear memory at the end of both: its size, and its content by digest.
fn memory_parity(recording: &Recording, replayed: &ReplayResult) -> CiCheck {
    let (recorded, now) = (&recording.outcome, &replayed.execution);
    let equal = (recorded.memory_bytes, recorded.memory) == (now.memory_bytes, now.memory);
    let shown = |bytes: u64, digest: Digest| format!("{} with digest {digest}", counted(bytes, "byte"));
    let detail = match equal {
        true => format!("{}, equal in every one", counted(now.memory_bytes, "byte")),
        false => format!(
            "recorded {}, replayed {}",
            shown(recorded.memory_bytes, recorded.memory),
            shown(now.memory_bytes, now.memory)
        ),
    };
    row("replay_memory_parity", equal, detail)
}

/// Whether one step in a hundred takes more virtual time than in the baseline, by more than this percentage.
///
/// # Errors
/// When this machine fails.
pub fn latency(baseline: &Recording, recording: &Recording, delta_max_pct: f64) -> Result<CiCheck, CampaignError> {
    let (then, now) = (p99_of_steps(baseline)?, p99_of_steps(recording)?);
    let detail = format!(
        "p99 of the steps {} of virtual time, of the baseline {}; {delta_max_pct} % more may be",
        Duration(now),
        Duration(then)
    );
    Ok(row("perf_p99_budget", now as f64 <= then as f64 * (1.0 + delta_max_pct / 100.0), detail))
}

/// The virtual time, in nanoseconds, that 99 of 100 steps do not exceed; of a run without steps, that of the run.
fn p99_of_steps(recording: &Recording) -> Result<u64, CampaignError> {
    let begun = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&begun);
    let mut session = session_of(recording)?;
    session.follow(Box::new(move |entry| {
        if entry.call == STEP_CALL {
            into.lock().unwrap_or_else(PoisonError::into_inner).push(entry.at.0);
        }
    }));
    let execution = session.execute(source_of(recording), 0..u64::MAX)?;
    let moments = std::mem::take(&mut *begun.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(p99_of_spans(moments, execution.ended_at))
}

/// The call with which a step of a scenario begins.
pub(crate) const STEP_CALL: &str = "fozzy:scenario/stateful.step";

/// The time, in nanoseconds, that 99 of 100 spans do not exceed that begin at these moments, and end with the next one.
pub(crate) fn p99_of_spans(mut moments: Vec<u64>, ended_at: Instant) -> u64 {
    if moments.is_empty() {
        moments.push(0);
    }
    moments.push(ended_at.0);
    let mut spans: Vec<u64> = moments.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    spans.sort_unstable();
    spans[(spans.len() * 99).div_ceil(100) - 1]
}

/// The budget is in the plan, and so in the trace; what was in use is counted anew.
fn memory_policy(recording: &Recording, replayed: &ReplayResult) -> CiCheck {
    let name = MEMORY_POLICY;
    let told = &replayed.execution.facts.allocations;
    let skipped = |why: &str| CiCheck { skipped: true, ..row(name, true, why.to_owned()) };
    match recording.plan.memory.as_ref().and_then(|memory| memory.leak_budget_bytes) {
        None => skipped("the plan has no leak budget: record with --leak-budget or --fail-on-leak"),
        Some(_) if !told.is_told() => {
            skipped("the program reports no allocations: `fozzy memory top RUN --fail-on-leak` judges its own heap")
        }
        Some(budget) => {
            let detail = format!("{} in use at the end, {budget} may be", counted(told.in_use_bytes, "byte"));
            row(name, !told.is_over_budget(), detail)
        }
    }
}

/// What is worth knowing of a sound trace is wrong in strict mode.
fn warnings(found: &[String], strict: bool) -> CiCheck {
    let detail = if found.is_empty() { "no warnings".to_owned() } else { found.join("; ") };
    row("strict_warning_policy", found.is_empty() || !strict, detail)
}

/// Packs the files, reads them back with a reader that did not write them, and compares.
fn zip(files: &[artifacts::Artifact]) -> Result<CiCheck, CampaignError> {
    let contents = artifacts::contents(files)?;
    let bytes = pack::zipped(&contents)?;
    let read = || -> Result<usize, String> {
        let mut archive = zip::ZipArchive::new(Cursor::new(&bytes)).map_err(|error| error.to_string())?;
        for (name, expected) in &contents {
            let mut found = Vec::new();
            let mut entry = archive.by_name(name).map_err(|error| format!("{name}: {error}"))?;
            entry.read_to_end(&mut found).map_err(|error| format!("{name}: {error}"))?;
            if found != *expected {
                return Err(format!("{name} came back differently"));
            }
        }
        Ok(archive.len())
    };
    Ok(match read() {
        Ok(count) if count == contents.len() => row("artifacts_zip_integrity", true, counted(count as u64, "file")),
        Ok(count) => {
            row("artifacts_zip_integrity", false, format!("{} of {}", counted(count as u64, "file"), contents.len()))
        }
        Err(why) => row("artifacts_zip_integrity", false, why),
    })
}
