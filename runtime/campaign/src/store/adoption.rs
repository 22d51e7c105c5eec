//! Runs of killed processes that have found something: they are finished for them.
//!
//! ```text
//! explore ─ found …, .fozzy/runs/<id>/panic-….fozzy ─ killed         no manifest, and locked by no process
//! the next command                                                   report and manifest of what the traces say
//! ```
//!
//! Invariants: a sound trace that lies in the store is never taken for a leftover; a run in progress is not touched; who has it adopted holds
//! its lock.
//! Not here: leftovers without a trace, which are removed (`retention`).

use super::{RunStore, TRACE_NAME};
use crate::error::CampaignError;
use crate::selector;
use fozzy_report::{RunIdentity, RunMode, RunSummary, TargetSummary, WallFacts};
use fozzy_trace::file::Recording;
use fozzy_trace::{FailureSignature, Finding, Status};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Traces of one run that are read; the others stay beside them.
const TRACES_MAX: usize = 100;

impl RunStore {
    /// Finishes the runs of killed processes that have left traces, the oldest first, so that selectors name them.
    ///
    /// # Errors
    /// When the store cannot be written to.
    pub fn adopt(&self) -> Result<(), CampaignError> {
        if self.retention.is_none() {
            return Ok(());
        }
        let mut left: Vec<(SystemTime, PathBuf)> =
            self.without_manifest().into_iter().map(|folder| (modified(&folder), folder)).collect();
        left.sort();
        for (_, folder) in left {
            let Ok(held) = File::open(&folder) else { continue };
            // Another process may be about to do the same, or has done it; a manifest that is none was not left so by a kill.
            if held.try_lock().is_err() || folder.join("manifest.json").symlink_metadata().is_ok() {
                continue;
            }
            if let Some(summary) = summary_of_left(&folder) {
                self.conclude(&folder, &summary.identity.run_id.clone(), &summary)?;
            }
        }
        Ok(())
    }
}

/// Whether a folder without a manifest has a sound trace.
pub(super) fn has_findings(folder: &Path) -> bool {
    traces(folder).iter().any(|path| selector::read(path).is_ok())
}

/// The traces in a folder, the oldest first.
fn traces(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_trace = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "fozzy") && path.symlink_metadata().is_ok_and(|it| it.is_file())
    };
    let mut found: Vec<(SystemTime, PathBuf)> = entries.filter(is_trace).map(|path| (modified(&path), path)).collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).take(TRACES_MAX).collect()
}

fn modified(path: &Path) -> SystemTime {
    path.metadata().and_then(|it| it.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// What the traces of a killed run say of it; `None` when none is sound.
fn summary_of_left(folder: &Path) -> Option<RunSummary> {
    let mut first: Option<(PathBuf, Recording)> = None;
    let mut signatures: BTreeSet<Option<FailureSignature>> = BTreeSet::new();
    let mut findings: Vec<Finding> = Vec::new();
    for path in traces(folder) {
        let Ok(recording) = selector::read(&path) else { continue };
        let verdict = &recording.outcome.verdict;
        if signatures.insert(verdict.signature.clone()) {
            findings.extend(verdict.findings.first().cloned());
        }
        // The trace of the run itself, else the first finding.
        let is_own = path.file_name().is_some_and(|name| name == TRACE_NAME);
        let has_passed = |(_, it): &(_, Recording)| it.outcome.verdict.status == Status::Pass;
        if first.as_ref().is_none_or(|first| is_own || has_passed(first)) {
            first = Some((path, recording));
        }
    }
    let (path, recording) = first?;
    let text = |path: &Path| Some(path.display().to_string());
    let identity = RunIdentity {
        run_id: folder.file_name()?.to_str()?.to_owned(),
        seed: recording.seed,
        trace_path: text(&path),
        report_path: text(&folder.join("report.json")),
        artifacts_dir: text(folder),
    };
    let mode = RunMode::of(&recording.mode).unwrap_or(RunMode::Run);
    let output = (&recording.stdout[..], &recording.stderr[..]);
    let target = TargetSummary::of(&recording.target);
    let summary = RunSummary::of(mode, identity, target, &recording.outcome, output, WallFacts::unknown());
    let mut summary = summary.finding(findings);
    summary.warnings.push("its process was killed: this is what it had found by then".to_owned());
    Some(summary)
}
