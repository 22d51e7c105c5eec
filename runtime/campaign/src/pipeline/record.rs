//! From an execution to its recording, and to what stays of it in the run store.

use crate::error::{CampaignError, ErrorKind};
use crate::store::{self, RunFolder, TRACE_NAME};
use fozzy_check::judge;
use fozzy_engine::Program;
use fozzy_report::{KeptOutput, RunIdentity};
use fozzy_trace::file::store::CollisionPolicy;
use fozzy_trace::file::{EngineId, RecordedTarget, Recording};
use fozzy_trace::plan::Inputs;
use fozzy_trace::{Execution, Plan, Seed, Status};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Calls at the beginning of an execution that stand in its trace in full, for readers without an
/// engine. `trace show` has all of them, because it executes again.
pub const ENTRIES_KEPT: u64 = 1_000;

/// What a trace says beside plan and execution.
#[derive(Clone, Debug)]
pub struct RecordingOrigin {
    /// The program, as it was named.
    pub target: RecordedTarget,
    /// The component that was executed.
    pub component: Arc<[u8]>,
    /// Where answers came from.
    pub seed: Seed,
    /// The command that made the run.
    pub mode: String,
}

impl RecordingOrigin {
    /// The origin of a recording, for other runs of the same program.
    pub fn of_recording(recording: &Recording) -> RecordingOrigin {
        let (target, component) = (recording.target.clone(), Arc::clone(&recording.component));
        RecordingOrigin { target, component, seed: recording.seed, mode: recording.mode.clone() }
    }

    /// Judges an execution and records it.
    pub fn record(&self, program: &Program, plan: Plan, inputs: &Inputs, execution: &Execution) -> Recording {
        let (target, component) = (self.target.clone(), Arc::clone(&self.component));
        let (engine, verdict) = (engine_id(program), judge(execution));
        Recording::of(target, component, plan, inputs, engine, execution, verdict, self.seed, &self.mode)
    }
}

/// Everything of the engine that results depend on.
pub fn engine_id(program: &Program) -> EngineId {
    EngineId {
        fozzy: env!("CARGO_PKG_VERSION").to_owned(),
        wasmtime: fozzy_engine::WASMTIME_VERSION.to_owned(),
        rewriter: fozzy_instrument::REWRITER_VERSION,
        configuration: program.configuration(),
    }
}

/// The output of an execution that was kept.
pub fn kept(execution: &Execution) -> KeptOutput<'_> {
    KeptOutput::of(execution)
}

/// Writes a recording and says where it is.
pub fn write(recording: &Recording, path: &Path, collision: CollisionPolicy) -> Result<PathBuf, CampaignError> {
    let bytes = recording.to_bytes().map_err(|error| CampaignError::new(ErrorKind::Trace, error.to_string()))?;
    store::write_trace(path, &bytes, collision)
}

/// Whether nothing of a run needs to be kept: a dialogue that a person has ended is kept, since it can be continued.
fn has_passed(recording: &Recording) -> bool {
    recording.outcome.verdict.status == Status::Pass && !recording.plan.limits.interrupted
}

/// Where the recording of a run is written.
#[derive(Clone, Copy, Debug)]
pub struct RecordPolicy<'a> {
    /// The file that was asked for.
    pub path: Option<&'a Path>,
    /// What to do when that is there.
    pub collision: CollisionPolicy,
    /// Whether a run that passed is kept, too, when no file was asked for.
    pub keep_passing: bool,
}

impl RecordPolicy<'_> {
    /// Writes a recorded run where it was asked for; one that did not pass, or was asked for, is kept in the folder of its run.
    pub fn write(&self, recording: &Recording, folder: &RunFolder) -> Result<Option<PathBuf>, CampaignError> {
        self.write_named(recording, folder, TRACE_NAME)
    }

    /// The same, under another name in the folder.
    pub fn write_named(
        &self,
        recording: &Recording,
        folder: &RunFolder,
        name: &str,
    ) -> Result<Option<PathBuf>, CampaignError> {
        match self.path {
            Some(path) => write(recording, path, self.collision).map(Some),
            None if !folder.is_kept() => Ok(None),
            None if has_passed(recording) && !self.keep_passing => Ok(None),
            None => write(recording, &folder.path.join(name), CollisionPolicy::Error).map(Some),
        }
    }
}

/// The identity of a run that has its own folder.
pub fn identity(folder: &RunFolder, seed: Seed, trace: Option<&Path>) -> RunIdentity {
    let text = |path: &Path| path.display().to_string();
    RunIdentity {
        run_id: folder.id.clone(),
        seed,
        trace_path: trace.map(text),
        report_path: folder.is_kept().then(|| text(&folder.path.join("report.json"))),
        artifacts_dir: folder.is_kept().then(|| text(&folder.path)),
    }
}
