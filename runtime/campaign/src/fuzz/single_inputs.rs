//! Inputs that are run once each, instead of a campaign: what a corpus or an artifact does now.
//!
//! ```text
//! fozzy fuzz app.wasm crash-1 crash-2 ─▶ crash-1: 12 bytes, crash (panic at src/a.rs:3:1)
//!                                        crash-2: 4 bytes, pass
//! ```
//!
//! Invariant: each is the run that would confirm a finding with it.
//! Not here: corpora as a whole (`fozzy corpus`, `fozzy coverage`).

use super::confirmer::{ConfirmedRun, FindingConfirmer};
use super::summary::{CampaignReport, SavedFinding, Subject};
use crate::error::{CampaignError, ErrorKind, at_path};
use crate::options::StopFlag;
use crate::pipeline::{self, ENTRIES_KEPT, RecordingOrigin};
use crate::remarks::Remarks;
use fozzy_check::judge;
use fozzy_report::{LiteralLanguage, ShownInput};
use fozzy_search::FailureRecord;
use fozzy_search::fuzz::Stats;
use fozzy_trace::file::store::CollisionPolicy;
use fozzy_trace::{Digest, Execution, ExecutionEnd, HarnessError, Status, counted};
use std::path::{Path, PathBuf};

/// Bytes of an input that is run.
const INPUT_BYTES_MAX: u64 = 64 << 20;

/// What came of the inputs.
pub struct InputRuns {
    /// As of a campaign: the inputs that fail are its findings.
    pub report: CampaignReport,
    /// The run of the last input.
    pub last: Option<Execution>,
}

/// Runs the inputs in `files`, in their order. Traces of those that fail go to `folder`. A program that only exits with a code
/// fails if `exits_fail`.
pub fn run_inputs(
    (confirmer, stop): (&mut FindingConfirmer, &StopFlag),
    origin: &RecordingOrigin,
    subject: &Subject,
    (files, folder): (&[PathBuf], &Path),
    exits_fail: bool,
    remarks: &Remarks,
) -> Result<InputRuns, CampaignError> {
    let language = LiteralLanguage::of(&fozzy_instrument::languages(&origin.component));
    let (mut found, mut kept, mut last) = (Vec::new(), Vec::new(), None);
    for (number, path) in (1..).zip(files) {
        if stop() {
            return Err(HarnessError::interruption().into());
        }
        let input = read(path)?;
        let ConfirmedRun { execution, plan, inputs } = confirmer.execute(&input, 0..ENTRIES_KEPT)?;
        let verdict = judge(&execution);
        let is_exit = matches!(execution.end, ExecutionEnd::Exited { .. }) && verdict.status != Status::Crash;
        let fails = verdict.status != Status::Pass && !(confirmer.is_program() && is_exit && !exits_fail);
        let signature = verdict.signature.as_ref().filter(|_| fails).map(|signature| format!(" ({signature})"));
        let status = if fails { verdict.status } else { Status::Pass };
        let bytes = counted(input.len() as u64, "byte");
        remarks.text(&format!("{}: {bytes}, {}{}\n", path.display(), status.name(), signature.unwrap_or_default()));
        if fails {
            let kind = verdict.signature.as_ref().map_or("failure", |signature| signature.kind.name());
            let recording = origin.record(confirmer.session().program(), plan, &inputs, &execution);
            let trace = folder.join(format!("{kind}-{}.fozzy", Digest::of(&input).short()));
            let trace = pipeline::write(&recording, &trace, CollisionPolicy::Overwrite)?;
            let (shown, arguments) = (ShownInput::of(&input, language), confirmer.written(&input));
            kept.push(SavedFinding { trace, input: path.clone(), shown, arguments, smaller: None, is_minimal: false });
            found.push(FailureRecord { input, found_at: number, times: 1, verdict, is_confirmed: true });
        }
        last = Some(execution);
    }
    let (executions, failures) = (files.len() as u64, found.len() as u64);
    let stats = Stats { executions, failures, findings: failures, ..Stats::default() };
    Ok(InputRuns { report: CampaignReport::of(subject, &stats, &found, &kept, "inputs"), last })
}

fn read(path: &Path) -> Result<Vec<u8>, CampaignError> {
    let failed = |error: std::io::Error| at_path(ErrorKind::Input, "cannot read", path, &error);
    let bytes = std::fs::metadata(path).map_err(failed)?.len();
    if bytes > INPUT_BYTES_MAX {
        let message = format!("{} has {bytes} bytes, an input at most {INPUT_BYTES_MAX}", path.display());
        return Err(CampaignError::new(ErrorKind::Input, message));
    }
    std::fs::read(path).map_err(failed)
}
