//! `fozzy ci`: is a trace whole, and is it the run that happens here?
//!
//! ```text
//! trace_verify            every byte, by its checksum and structure
//! replay_outcome_class    the replay ends with the same status and signature
//! replay_event_parity     call by call, output, end, time, memory, instructions
//! replay_memory_parity    linear memory at the end, byte for byte
//! memory_policy           what was in use at the end is within the leak budget of the plan
//! strict_warning_policy   no warning, in strict mode
//! artifacts_zip_integrity what would be handed on, zipped and read back
//! flake_budget            the runs that were named, when they were
//! ```
//!
//! Invariant: a check for which there is nothing to look at is skipped, with the reason; of a trace that is not whole nothing else is checked.

use super::Context;
use super::report::signatures;
use crate::args::CiArgs;
use crate::error::{CliError, at_path};
use fozzy_campaign::artifacts::{self, pack};
use fozzy_campaign::pipeline::session_of;
use fozzy_campaign::selector::{self, SelectedRun};
use fozzy_report::FlakyReport;
use fozzy_report::document::{CiCheck, CiDocument};
use fozzy_search::{ReplayResult, replay};
use fozzy_trace::Digest;
use fozzy_trace::file::{self, Recording};
use std::io::{Cursor, Read};
use std::process::ExitCode;

/// The check of what a run did, beside those of what was kept of it.
pub(super) const MEMORY_POLICY: &str = "memory_policy";

pub(crate) fn ci(context: &Context, args: &CiArgs) -> Result<ExitCode, CliError> {
    let named = selector::named(&args.trace, &context.runs)?;
    let (mut found, _) = check(context, &args.trace, &named)?;
    if !args.flake_runs.is_empty() {
        found.checks.push(flakes(context, args)?);
        found = document(found.checks);
    }
    context.printer.document(&found)?;
    Ok(if found.ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Checks the trace of what was named; the replay is for who wants to keep it.
pub(super) fn check(
    context: &Context,
    selector: &str,
    named: &SelectedRun,
) -> Result<(CiDocument, Option<(Recording, ReplayResult)>), CliError> {
    let files = artifacts::of(named)?;
    let Some(path) = artifacts::trace_among(&files) else {
        let message = format!("`{selector}` kept no trace: it passed and was not recorded");
        return Err(CliError::new("selector", message).hint("record a run with --record run.fozzy"));
    };
    let bytes = selector::bytes(path)?;
    let found = file::verify(&bytes);
    if let Some(error) = &found.error {
        return Ok((document(vec![row("trace_verify", false, error.to_string())]), None));
    }
    let recording = selector::read(path)?;
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
                || format!("{} calls, {} decisions", recording.outcome.calls, recording.outcome.decisions),
                |difference| format!("{}: recorded {}, found {}", difference.what, difference.left, difference.right),
            ),
        ),
    ];
    checks.push(memory_parity(&recording, &replayed));
    checks.push(memory_policy(&recording, &replayed));
    checks.push(warnings(&found.warnings, context.strict));
    checks.push(zip(&files)?);
    Ok((document(checks), Some((recording, replayed))))
}

fn document(checks: Vec<CiCheck>) -> CiDocument {
    let ok = checks.iter().all(|check| check.ok);
    CiDocument { schema_version: "fozzy.ci_report.v1".to_owned(), ok, checks }
}

fn row(name: &str, ok: bool, detail: String) -> CiCheck {
    CiCheck { name: name.to_owned(), ok, skipped: false, detail: Some(detail) }
}

/// Linear memory at the end of both: its size, and its content by digest.
fn memory_parity(recording: &Recording, replayed: &ReplayResult) -> CiCheck {
    let (recorded, now) = (&recording.outcome, &replayed.execution);
    let equal = (recorded.memory_bytes, recorded.memory) == (now.memory_bytes, now.memory);
    let shown = |bytes: u64, digest: Digest| format!("{bytes} bytes with digest {digest}");
    let detail = match equal {
        true => format!("{} bytes, equal in every one", now.memory_bytes),
        false => format!(
            "recorded {}, replayed {}",
            shown(recorded.memory_bytes, recorded.memory),
            shown(now.memory_bytes, now.memory)
        ),
    };
    row("replay_memory_parity", equal, detail)
}

/// The budget is in the plan, and so in the trace; what was in use is counted anew.
fn memory_policy(recording: &Recording, replayed: &ReplayResult) -> CiCheck {
    let name = MEMORY_POLICY;
    let told = &replayed.execution.facts.allocations;
    let skipped = |why: &str| CiCheck { skipped: true, ..row(name, true, why.to_owned()) };
    match recording.plan.memory.as_ref().and_then(|memory| memory.leak_budget_bytes) {
        None => skipped("the plan has no leak budget: record with --leak-budget or --fail-on-leak"),
        Some(_) if !told.is_told() => skipped("the program reported no allocations, so there is no leak to check"),
        Some(budget) => {
            let detail = format!("{} bytes were in use at the end, {budget} may be", told.in_use_bytes);
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
fn zip(files: &[artifacts::Artifact]) -> Result<CiCheck, CliError> {
    let contents = contents(files)?;
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
        Ok(count) if count == contents.len() => row("artifacts_zip_integrity", true, format!("{count} files")),
        Ok(count) => row("artifacts_zip_integrity", false, format!("{count} files of {}", contents.len())),
        Err(why) => row("artifacts_zip_integrity", false, why),
    })
}

/// Bytes of all files of a run that are handed on: they are held in memory, and a plain zip has no more than twice as many.
const CONTENTS_BYTES_MAX: u64 = 2 << 30;

/// The bytes of files.
pub(super) fn contents(files: &[artifacts::Artifact]) -> Result<Vec<pack::Content>, CliError> {
    let all = files.iter().fold(0u64, |sum, file| sum.saturating_add(file.bytes));
    if all > CONTENTS_BYTES_MAX {
        let message = format!("the files of the run have {all} bytes, at most {CONTENTS_BYTES_MAX} are handed on");
        return Err(CliError::new("artifacts", message).hint("move away what is not the run's: fozzy artifacts ls"));
    }
    let read = |file: &artifacts::Artifact| {
        let bytes = std::fs::read(&file.path);
        let bytes = bytes.map_err(|error| at_path("artifacts", "cannot read", &file.path, &error))?;
        Ok((file.name.clone(), bytes))
    };
    files.iter().map(read).collect()
}

fn flakes(context: &Context, args: &CiArgs) -> Result<CiCheck, CliError> {
    if args.flake_runs.len() < 2 {
        return Err(CliError::new("usage", "--flake-run is given at least twice: one run cannot differ from itself"));
    }
    let report = FlakyReport::of(&signatures(context, &args.flake_runs)?);
    let budget = args.flake_budget.unwrap_or(0);
    let detail = format!("{:.2} % of {} runs differ, {budget} % may", report.flake_rate_pct, report.run_count);
    Ok(row("flake_budget", report.flake_rate_pct <= f64::from(budget), detail))
}
