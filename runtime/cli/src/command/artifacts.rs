//! `fozzy artifacts`: what a run left, compared and handed on.

use super::env::{env_document, version_document};
use super::replay::{difference_document, divergence_document};
use super::report::signature;
use crate::args::{ArtifactsDiffArgs, ArtifactsLsArgs, ArtifactsOutArgs};
use crate::context::Context;
use crate::error::{CliError, ErrorKind, at_path};
use fozzy_campaign::artifacts::pack::{self, Content};
use fozzy_campaign::artifacts::{self, Artifact, bundle::DESCRIPTION};
use fozzy_campaign::pipeline::session_of;
use fozzy_campaign::selector::{self, SelectedRun};
use fozzy_campaign::store::{KeptRun, RunReport};
use fozzy_campaign::trace_check::{CheckedReplay, MEMORY_POLICY, check_run};
use fozzy_report::document::{
    ArtifactsDiff, ArtifactsDocument, BUNDLE_SCHEMA, BundleDocument, FileDiff, ReportDiff, TraceDiff, VerifyDocument,
};
use fozzy_report::{MachineNames, ReplaySummary};
use fozzy_search::{ReplaySide, locate, source_of};
use fozzy_trace::HistoryEntry;
use fozzy_trace::file::{self, Recording};
use serde::Serialize;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) fn ls(context: &Context, args: &ArtifactsLsArgs) -> Result<ExitCode, CliError> {
    let found = artifacts::to_hand_on(&selector::named(&args.run, &context.runs)?)?;
    let entries = found.iter().map(Artifact::entry).collect();
    context.printer.document(&ArtifactsDocument::List { entries })?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn diff(context: &Context, args: &ArtifactsDiffArgs) -> Result<ExitCode, CliError> {
    let (left, right) = (selector::named(&args.left, &context.runs)?, selector::named(&args.right, &context.runs)?);
    let (left_files, right_files) = (artifacts::of(&left)?, artifacts::of(&right)?);
    let report = match (&left, &right) {
        (SelectedRun::Run(left), SelectedRun::Run(right)) => Some(reports(left, right)),
        _ => None,
    };
    let trace = match (artifacts::trace_among(&left_files), artifacts::trace_among(&right_files)) {
        (Some(left), Some(right)) => Some(traces(&selector::read(left)?, &selector::read(right)?)?),
        _ => None,
    };
    let files = files(&left_files, &right_files)?;
    let diff = ArtifactsDiff { left: args.left.clone(), right: args.right.clone(), files, report, trace };
    context.printer.document(&ArtifactsDocument::Diff { diff: Box::new(diff) })?;
    Ok(ExitCode::SUCCESS)
}

fn files(left: &[Artifact], right: &[Artifact]) -> Result<Vec<FileDiff>, CliError> {
    let mut both: BTreeMap<&str, (Option<&Artifact>, Option<&Artifact>)> = BTreeMap::new();
    left.iter().for_each(|file| both.entry(&file.name).or_default().0 = Some(file));
    right.iter().for_each(|file| both.entry(&file.name).or_default().1 = Some(file));
    let read = |file: &Artifact| {
        std::fs::read(&file.path).map_err(|error| at_path(ErrorKind::Artifacts, "cannot read", &file.path, &error))
    };
    let compared = |(key, (left, right)): (&str, (Option<&Artifact>, Option<&Artifact>))| {
        let changed = match (left, right) {
            (Some(left), Some(right)) => left.bytes != right.bytes || read(left)? != read(right)?,
            _ => true,
        };
        let path = |file: Option<&Artifact>| file.map(|file| file.path.display().to_string());
        let (left_size_bytes, right_size_bytes) = (left.map(|file| file.bytes), right.map(|file| file.bytes));
        let (left_path, right_path) = (path(left), path(right));
        Ok(FileDiff { key: key.to_owned(), left_path, right_path, left_size_bytes, right_size_bytes, changed })
    };
    both.into_iter().map(compared).collect()
}

fn reports(left: &KeptRun, right: &KeptRun) -> ReportDiff {
    let (ours, theirs) = (left.report.told(), right.report.told());
    ReportDiff {
        left_status: ours.status.name().to_owned(),
        right_status: theirs.status.name().to_owned(),
        left_mode: ours.mode.name().to_owned(),
        right_mode: theirs.mode.name().to_owned(),
        left_findings: ours.findings,
        right_findings: theirs.findings,
        left_duration_ms: ours.duration_ns / 1_000_000,
        right_duration_ms: theirs.duration_ns / 1_000_000,
        finding_titles_changed: signature(&left.report).1.titles != signature(&right.report).1.titles,
    }
}

/// Executes both once more, and names the first call and the first decision in which they differ.
fn traces(left: &Recording, right: &Recording) -> Result<TraceDiff, CliError> {
    let (mut ours, mut theirs) = (session_of(left)?, session_of(right)?);
    let (of_left, of_right) = (|| source_of(left), || source_of(right));
    let divergence = match left.outcome.history == right.outcome.history {
        true => None,
        false => {
            let mut left = ReplaySide { executor: &mut ours, source: &of_left };
            locate(&mut left, &mut ReplaySide { executor: &mut theirs, source: &of_right })?
        }
    };
    let first_decision_diff_index = match divergence {
        None => None,
        Some(_) => {
            let (left, right) = (decisions(left, &mut ours)?, decisions(right, &mut theirs)?);
            let longer = left.len().max(right.len());
            (0..longer).find(|n| left.get(*n) != right.get(*n)).map(|n| n as u64)
        }
    };
    Ok(TraceDiff {
        left_mode: left.mode.clone(),
        right_mode: right.mode.clone(),
        left_decisions: left.outcome.decisions,
        right_decisions: right.outcome.decisions,
        left_events: left.outcome.calls,
        right_events: right.outcome.calls,
        first_decision_diff_index,
        first_event_diff_index: divergence.as_ref().map(|divergence| divergence.index),
        divergence: divergence.map(|found| divergence_document(found, &MachineNames::of(&right.plan))),
    })
}

/// A digest of each decision of a recording, with what was asked and answered.
fn decisions(recording: &Recording, session: &mut fozzy_engine::Session) -> Result<Vec<String>, CliError> {
    let found = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&found);
    session.follow(Box::new(move |entry: HistoryEntry| {
        if entry.decision {
            let text = format!("{} {} {} {}", entry.node, entry.call, entry.asked, entry.answer);
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(fozzy_trace::Digest::of(text.as_bytes()).short());
        }
    }));
    fozzy_search::replay(recording, session, 0..u64::MAX)?;
    let found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(found)
}

pub(crate) fn export(context: &Context, args: &ArtifactsOutArgs) -> Result<ExitCode, CliError> {
    let found = artifacts::to_hand_on(&selector::named(&args.run, &context.runs)?)?;
    finish(context, args, &artifacts::contents(&found)?)
}

pub(crate) fn pack(context: &Context, args: &ArtifactsOutArgs) -> Result<ExitCode, CliError> {
    let found = artifacts::to_hand_on(&selector::named(&args.run, &context.runs)?)?;
    let mut contents = artifacts::contents(&found)?;
    contents.extend(surroundings(context)?);
    let words: Vec<String> = std::env::args().collect();
    contents.push(("commandline.json".to_owned(), json(&serde_json::json!({ "argv": words }))?));
    finish(context, args, &contents)
}

pub(crate) fn bundle(context: &Context, args: &ArtifactsOutArgs) -> Result<ExitCode, CliError> {
    let named = selector::named(&args.run, &context.runs)?;
    let (checked, replayed) = check_run(&args.run, &named, context.strict)?;
    // A run that leaks is handed on as any other that failed.
    let failed = checked.checks.iter().find(|check| !check.ok && check.name != MEMORY_POLICY);
    if let Some(failed) = failed.filter(|_| context.strict || replayed.is_none()) {
        let detail = failed.detail.as_deref().unwrap_or("no detail");
        let refused =
            CliError::new(ErrorKind::Bundle, format!("{}: the check {} failed: {detail}", args.run, failed.name));
        return Err(if replayed.is_some() { refused.hint("with --unsafe it is bundled as it is") } else { refused });
    }
    let Some(CheckedReplay { recording, replayed }) = replayed else {
        return Err(CliError::new(ErrorKind::Bundle, "the trace was not replayed"));
    };
    let found = artifacts::of(&named)?;
    let kept = |file: &&Artifact| ["trace.fozzy", "report.json", "manifest.json"].contains(&file.name.as_str());
    let kept: Vec<Artifact> = found.iter().filter(kept).cloned().collect();
    let mut contents = artifacts::contents(&kept)?;
    contents.extend(surroundings(context)?);
    let trace = recording.to_bytes().map_err(|error| CliError::new(ErrorKind::Trace, error.to_string()))?;
    let verified = file::verify(&trace);
    let verified = VerifyDocument {
        ok: verified.ok,
        path: "trace.fozzy".to_owned(),
        version: verified.version,
        checksum_present: verified.checksum_present,
        checksum_valid: verified.checksum_valid,
        warnings: verified.warnings,
        error: verified.error.map(|error| error.to_string()),
    };
    let replayed = ReplaySummary {
        equal: replayed.difference.is_none(),
        claimed: replayed.claimed.iter().map(ToString::to_string).collect(),
        against: None,
        recorded_machines: Vec::new(),
        difference: replayed.difference.map(difference_document),
        divergence: None,
    };
    let description = BundleDocument {
        schema_version: BUNDLE_SCHEMA.to_owned(),
        source: args.run.clone(),
        trace: "trace.fozzy".to_owned(),
        ci_ok: checked.ok,
    };
    contents.push(("trace_verify.report.json".to_owned(), json(&verified)?));
    contents.push(("replay.report.json".to_owned(), json(&replayed)?));
    contents.push(("ci.report.json".to_owned(), json(&checked)?));
    contents.push((DESCRIPTION.to_owned(), json(&description)?));
    finish(context, args, &contents)
}

/// What it was made by and on.
fn surroundings(context: &Context) -> Result<[Content; 2], CliError> {
    Ok([
        ("env.json".to_owned(), json(&env_document(context))?),
        ("version.json".to_owned(), json(&version_document())?),
    ])
}

fn json(document: &impl Serialize) -> Result<Vec<u8>, CliError> {
    let text = serde_json::to_string_pretty(document)
        .map_err(|error| CliError::new(ErrorKind::Internal, error.to_string()))?;
    Ok(format!("{text}\n").into_bytes())
}

fn finish(context: &Context, args: &ArtifactsOutArgs, contents: &[Content]) -> Result<ExitCode, CliError> {
    pack::write(&args.out, contents)?;
    let files = contents.iter().map(|(name, _)| name.clone()).collect();
    context.printer.document(&ArtifactsDocument::Exported { out: args.out.display().to_string(), files })?;
    Ok(ExitCode::SUCCESS)
}
