//! The run store: `.fozzy/runs/<id>/`.
//!
//! ```text
//! .fozzy/runs/sequence            "42\n": how many runs were finished here
//! .fozzy/runs/<id>/report.json    RunSummary, or SuiteSummary of a suite
//! .fozzy/runs/<id>/manifest.json  identity, order, where the trace is
//! .fozzy/runs/<id>/trace.fozzy    when the run did not pass, or was recorded: the same file under a second name
//! ```
//!
//! Invariants: runs are ordered by the sequence number that they get when they finish, under a lock, never
//! by wall time; each file is whole or absent; the manifest is written last, so a run with a manifest is
//! a finished one. The folder of a run in progress is locked by its process, which tells it from the rest of a killed
//! run.
//! What of that has traces is finished for it (`adoption`).
//! The store is bounded (`retention`): the oldest runs go, never the last one of each outcome.

mod adoption;
mod retention;

use crate::error::{CampaignError, ErrorKind};
use crate::remarks::Remarks;
use fozzy_report::suite::{SuiteSummary, TestCounts};
use fozzy_report::{MemorySummary, RunIdentity, RunMode, RunSummary};
use fozzy_trace::file::Recording;
use fozzy_trace::file::store::{CollisionPolicy, Durability, StoreError, write_atomic};
use fozzy_trace::{Digest, Seed, Status};
pub(crate) use retention::half_written;
pub use retention::{PrunedRuns, Retention};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

const MANIFEST_SCHEMA: &str = "fozzy.run_manifest.v1";
/// The trace of a run that was not recorded by name.
pub const TRACE_NAME: &str = "trace.fozzy";
const SEQUENCE_NAME: &str = "sequence";
/// Bytes of a report that are read: a suite of ten thousand scenarios has less.
const REPORT_BYTES_MAX: u64 = 256 << 20;
/// Bytes of a manifest that are read.
const MANIFEST_BYTES_MAX: u64 = 1 << 20;

/// `manifest.json` of a run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunManifest {
    /// Always `fozzy.run_manifest.v1`.
    pub schema_version: String,
    /// The id of the run, which is the name of its folder.
    pub run_id: String,
    /// Its number among the runs of the store.
    pub sequence: u64,
    /// The command that made it.
    pub mode: RunMode,
    /// How it ended.
    pub status: Status,
    /// Whether it was interrupted (Ctrl-C); without a finding it has no verdict then, and neither `last-pass` nor `last-fail` names it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Where its answers came from.
    pub seed: Seed,
    /// When it began (RFC 3339).
    pub started_at: String,
    /// When it ended.
    pub finished_at: String,
    /// Real time that it took, in milliseconds.
    pub duration_ms: u64,
    /// Real time that it took, in nanoseconds.
    pub duration_ns: u64,
    /// Its trace, if one was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_path: Option<String>,
    /// Its report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_path: Option<String>,
    /// The folder of its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifacts_dir: Option<String>,
    /// How many failures it has.
    pub findings_count: usize,
    /// Cases of a suite that passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_passed: Option<u64>,
    /// Cases of a suite that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_failed: Option<u64>,
    /// Cases of a suite that were not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_skipped: Option<u64>,
    /// Bytes that were never freed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_leaked_bytes: Option<u64>,
    /// Allocations that were never freed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_leaked_allocs: Option<u64>,
    /// Bytes that were allocated at once, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_peak_bytes: Option<u64>,
}

impl RunManifest {
    /// What a trace from elsewhere says of its run: it has no number and no time, and its id is what it holds.
    pub fn of_trace(path: &Path, recording: &Recording) -> RunManifest {
        RunManifest {
            schema_version: MANIFEST_SCHEMA.to_owned(),
            run_id: format!("{:016x}", recording.outcome.history),
            sequence: 0,
            mode: RunMode::of(&recording.mode).unwrap_or(RunMode::Run),
            status: recording.outcome.verdict.status,
            interrupted: false,
            seed: recording.seed,
            started_at: String::new(),
            finished_at: String::new(),
            duration_ms: 0,
            duration_ns: 0,
            trace_path: Some(path.display().to_string()),
            report_path: None,
            artifacts_dir: None,
            findings_count: recording.outcome.verdict.findings.len(),
            tests_passed: None,
            tests_failed: None,
            tests_skipped: None,
            memory_leaked_bytes: None,
            memory_leaked_allocs: None,
            memory_peak_bytes: None,
        }
    }

    /// Whether it was judged: not when it was interrupted before anything was found.
    pub fn has_verdict(&self) -> bool {
        !self.interrupted || self.findings_count > 0
    }
}

/// What is reported of a run.
pub trait RunReport: Serialize {
    /// What its manifest says of it.
    fn told(&self) -> ReportFacts<'_>;
}

/// `report.json`, read again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum KeptReport {
    /// Of a suite: it has `scenarios`.
    Suite(Box<SuiteSummary>),
    /// Of one program.
    Run(Box<RunSummary>),
}

impl KeptReport {
    /// Whether it was judged: not when it was interrupted before anything was found.
    pub fn has_verdict(&self) -> bool {
        match self {
            KeptReport::Suite(summary) => summary.has_verdict(),
            KeptReport::Run(summary) => summary.has_verdict(),
        }
    }
}

impl RunReport for KeptReport {
    fn told(&self) -> ReportFacts<'_> {
        match self {
            KeptReport::Suite(summary) => summary.told(),
            KeptReport::Run(summary) => summary.told(),
        }
    }
}

/// A finished run, as it lies in its folder.
#[derive(Clone, Debug)]
pub struct KeptRun {
    /// Its folder.
    pub folder: PathBuf,
    /// What its manifest says.
    pub manifest: RunManifest,
    /// Its report.
    pub report: KeptReport,
}

impl KeptRun {
    /// Reads a run whose report and manifest agree.
    pub fn read(folder: &Path) -> Result<KeptRun, CampaignError> {
        let refused = |what: String| {
            let message = format!("{}: {what}", folder.display());
            CampaignError::new(ErrorKind::Identity, message).hint("name its trace instead of the run")
        };
        let manifest = manifest_of(folder);
        let manifest = manifest.ok_or_else(|| refused(format!("no manifest.json of format {MANIFEST_SCHEMA}")))?;
        let path = folder.join("report.json");
        let metadata = fs::symlink_metadata(&path);
        if metadata.as_ref().is_ok_and(fs::Metadata::is_symlink) {
            return Err(refused("report.json is a link, as none of ours".to_owned()));
        }
        if metadata.is_ok_and(|it| it.len() > REPORT_BYTES_MAX) {
            return Err(refused(format!("report.json has more than {REPORT_BYTES_MAX} bytes, as none of ours")));
        }
        let text = fs::read_to_string(&path).map_err(|error| store_error(StoreError::io("read", &path, error)))?;
        let report: KeptReport = serde_json::from_str(&text)
            .map_err(|_| refused("report.json is the summary of no run and of no suite".to_owned()))?;
        let own = ManifestFacts::of_manifest(&manifest);
        let told = ManifestFacts::of_report(&report.told());
        match own.difference(&told) {
            None => Ok(KeptRun { folder: folder.to_owned(), manifest, report }),
            Some(what) => Err(refused(format!("manifest.json and report.json are of different runs: {what}"))),
        }
    }
}

/// What manifest and report must agree in.
struct ManifestFacts([(&'static str, String); 8]);

impl ManifestFacts {
    fn new(identity: [&Option<String>; 3], run: &str, words: [&str; 2], seed: Seed, findings: usize) -> ManifestFacts {
        let text = |path: &Option<String>| path.clone().unwrap_or_else(|| "none".to_owned());
        let [trace, report, artifacts] = identity;
        ManifestFacts([
            ("runId", run.to_owned()),
            ("mode", words[0].to_owned()),
            ("status", words[1].to_owned()),
            ("seed", seed.to_string()),
            ("tracePath", text(trace)),
            ("reportPath", text(report)),
            ("artifactsDir", text(artifacts)),
            ("findings", findings.to_string()),
        ])
    }

    fn of_manifest(manifest: &RunManifest) -> ManifestFacts {
        let paths = [&manifest.trace_path, &manifest.report_path, &manifest.artifacts_dir];
        let words = [manifest.mode.name(), manifest.status.name()];
        ManifestFacts::new(paths, &manifest.run_id, words, manifest.seed, manifest.findings_count)
    }

    fn of_report(told: &ReportFacts<'_>) -> ManifestFacts {
        let RunIdentity { run_id, seed, trace_path, report_path, artifacts_dir } = told.identity;
        let words = [told.mode.name(), told.status.name()];
        ManifestFacts::new([trace_path, report_path, artifacts_dir], run_id, words, *seed, told.findings)
    }

    /// The first fact in which they differ, in words.
    fn difference(&self, report: &ManifestFacts) -> Option<String> {
        let mut both = self.0.iter().zip(&report.0);
        let ((name, manifest), (_, report)) = both.find(|(manifest, report)| manifest != report)?;
        Some(format!("{name} is {manifest} in the manifest and {report} in the report"))
    }
}

/// What a manifest takes from a report.
pub struct ReportFacts<'a> {
    /// The command that made it.
    pub mode: RunMode,
    /// How it ended.
    pub status: Status,
    interrupted: bool,
    identity: &'a RunIdentity,
    started_at: &'a str,
    finished_at: &'a str,
    /// Real time that it took, in nanoseconds.
    pub duration_ns: u64,
    /// How many failures it has.
    pub findings: usize,
    tests: Option<&'a TestCounts>,
    memory: Option<&'a MemorySummary>,
}

macro_rules! report {
    ($($summary:ty, $it:ident => $tests:expr);*) => {
        $(impl RunReport for $summary {
            fn told(&self) -> ReportFacts<'_> {
                let $it = self;
                ReportFacts {
                    mode: self.mode,
                    status: self.status,
                    interrupted: self.interrupted,
                    identity: &self.identity,
                    started_at: &self.started_at,
                    finished_at: &self.finished_at,
                    duration_ns: self.duration_ns,
                    findings: self.findings.len(),
                    tests: $tests,
                    memory: self.memory.as_ref(),
                }
            }
        })*
    };
}

report!(RunSummary, _it => None; SuiteSummary, it => Some(&it.tests));

/// The folder in which runs are kept.
#[derive(Clone, Debug)]
pub struct RunStore {
    runs: PathBuf,
    /// `None` when nothing is to be kept.
    retention: Option<Retention>,
    /// The store of fleets, if it is not in the same folder.
    shared: Option<String>,
    /// Who hears whose failure a selector has taken.
    remarks: Remarks,
}

/// The folder of one run in progress.
#[derive(Clone, Debug)]
pub struct RunFolder {
    /// The run's id.
    pub id: String,
    /// Where its files go.
    pub path: PathBuf,
    place: Arc<FolderPlace>,
}

/// Where the folder of a run is.
#[derive(Debug)]
enum FolderPlace {
    /// Outside of the store, and gone with the run: nothing is to be kept.
    Passing(#[expect(dead_code, reason = "held until the run is over")] tempfile::TempDir),
    /// In the store, and locked as long as the run is in progress.
    Store(#[expect(dead_code, reason = "held for its lock")] File),
    /// Outside of it, and gone with the run unless something was written there.
    Temporary(Mutex<Option<tempfile::TempDir>>),
}

impl RunFolder {
    /// Removes the folder of a run that came to nothing.
    pub fn discard(&self) {
        let _ = fs::remove_dir(&self.path);
    }

    /// Whether the run is going to be in the store.
    pub fn is_kept(&self) -> bool {
        matches!(*self.place, FolderPlace::Store(_))
    }

    /// Puts a run's trace into its folder, if it is elsewhere: the folder has all of the run, so that nothing outside of it need be
    /// believed later. It is a copy: who writes into his file in place leaves the store as it is. Without it, only `artifacts`
    /// misses the trace.
    fn hold(&self, trace: &Path) {
        let held = self.path.join(TRACE_NAME);
        let is_elsewhere =
            trace.parent().is_none_or(|folder| folder.canonicalize().ok() != self.path.canonicalize().ok());
        // A bundle is replayed too, and is no trace.
        let is_bundle = trace.extension().is_some_and(|ending| ending == "zip");
        // Of a link, the file that it leads to.
        let Ok(file) = trace.canonicalize() else { return };
        if is_elsewhere && !is_bundle && !held.exists() {
            let _ = fs::copy(&file, &held);
        }
    }

    /// Leaves a temporary folder where it is, if a campaign has written findings there: they are reported by their paths.
    fn leave(&self) {
        let FolderPlace::Temporary(folder) = &*self.place else { return };
        let is_empty = fs::read_dir(&self.path).is_ok_and(|mut entries| entries.next().is_none());
        if let (false, Some(folder)) = (is_empty, folder.lock().unwrap_or_else(PoisonError::into_inner).take()) {
            let _ = folder.keep();
        }
    }
}

impl RunStore {
    /// The store in the folder of a project.
    pub fn new(base_dir: &Path) -> RunStore {
        let (runs, remarks) = (base_dir.join("runs"), Remarks::none());
        RunStore { runs, retention: Some(Retention::default()), shared: None, remarks }
    }

    /// The same store with other bounds; with `None`, it is read, and nothing is added to it.
    pub fn bounded(self, retention: Option<Retention>) -> RunStore {
        RunStore { retention, ..self }
    }

    /// The same store, where fleets keep what they find elsewhere: in a folder, or at an address.
    pub fn sharing(self, shared: Option<String>) -> RunStore {
        RunStore { shared, ..self }
    }

    /// The same store; what a person should know of what is taken from it is said to `remarks`.
    pub fn telling(self, remarks: Remarks) -> RunStore {
        RunStore { remarks, ..self }
    }

    /// Says something to a person.
    pub(crate) fn tell(&self, text: &str) {
        self.remarks.text(text);
    }

    /// Where fleets keep what they find.
    pub fn shared_place(&self) -> String {
        let own = || self.runs.with_file_name("fleet").display().to_string();
        self.shared.clone().unwrap_or_else(own)
    }

    /// Where a trace of that store is put to be read.
    pub(crate) fn fetched(&self, trace: &Digest) -> PathBuf {
        self.fetched_folder().join(format!("{trace}.fozzy"))
    }

    fn fetched_folder(&self) -> PathBuf {
        self.runs.with_file_name("fetched")
    }

    /// Makes the folder of a new run. Where nothing can be written, the run has a temporary one, and is not kept.
    pub fn begin(&self) -> Result<RunFolder, CampaignError> {
        let id = uuid::Uuid::new_v4().to_string();
        if self.retention.is_none() {
            return temporary(id, FolderPlace::Passing);
        }
        let unkept = |folder| FolderPlace::Temporary(Mutex::new(Some(folder)));
        match self.begin_here(id.clone()) {
            Err(StoreError::Io { source, .. }) if is_read_only(&source) => temporary(id, unkept),
            begun => begun.map_err(store_error),
        }
    }

    fn begin_here(&self, id: String) -> Result<RunFolder, StoreError> {
        let path = self.runs.join(&id);
        fs::create_dir_all(&self.runs).map_err(|error| StoreError::io("create", &self.runs, error))?;
        // Until it is locked, no process takes the new folder for one that a killed process has left.
        let store = self.lock_file()?;
        fs::create_dir(&path).map_err(|error| StoreError::io("create", &path, error))?;
        let folder = File::open(&path).map_err(|error| StoreError::io("open", &path, error))?;
        lock_if_possible(&folder, File::lock);
        drop(store);
        Ok(RunFolder { id, path, place: Arc::new(FolderPlace::Store(folder)) })
    }

    /// Writes report and manifest, and gives the run its place in the order.
    pub fn finish(&self, folder: &RunFolder, report: &impl RunReport) -> Result<(), CampaignError> {
        if !folder.is_kept() {
            folder.leave();
            return Ok(());
        }
        if let Some(trace) = report.told().identity.trace_path.as_deref() {
            folder.hold(Path::new(trace));
        }
        // They came before this one. A store in which that fails still has them.
        let _ = self.adopt();
        self.conclude(&folder.path, &folder.id, report)?;
        if let Some(retention) = self.retention {
            // A store that could not be made smaller is bounded by the next run.
            let _ = self.prune_adopted(retention, false);
        }
        Ok(())
    }

    /// Writes report and manifest of a run, the last one of all.
    fn conclude(&self, folder: &Path, id: &str, report: &impl RunReport) -> Result<(), CampaignError> {
        write_json(&folder.join("report.json"), report)?;
        let locked = self.lock()?;
        let sequence = self.last_sequence().saturating_add(1);
        let text = format!("{sequence}\n");
        write_output(&self.runs.join(SEQUENCE_NAME), text.as_bytes())?;
        drop(locked);
        let ReportFacts { mode, status, interrupted, identity, started_at, finished_at, .. } = report.told();
        let ReportFacts { duration_ns, findings, tests, memory, .. } = report.told();
        let manifest = RunManifest {
            schema_version: MANIFEST_SCHEMA.to_owned(),
            run_id: id.to_owned(),
            sequence,
            mode,
            status,
            interrupted,
            seed: identity.seed,
            started_at: started_at.to_owned(),
            finished_at: finished_at.to_owned(),
            duration_ms: duration_ns / 1_000_000,
            duration_ns,
            trace_path: identity.trace_path.clone(),
            report_path: identity.report_path.clone(),
            artifacts_dir: identity.artifacts_dir.clone(),
            findings_count: findings,
            tests_passed: tests.map(|tests| tests.passed as u64),
            tests_failed: tests.map(|tests| tests.failed as u64),
            tests_skipped: tests.map(|tests| tests.skipped as u64),
            memory_leaked_bytes: memory.map(|memory| memory.leaked_bytes),
            memory_leaked_allocs: memory.map(|memory| memory.leaked_allocs),
            memory_peak_bytes: memory.map(|memory| memory.peak_bytes),
        };
        write_json(&folder.join("manifest.json"), &manifest)
    }

    /// All finished runs, the latest first. Folders without a readable manifest are no finished runs.
    pub fn finished(&self) -> Vec<(PathBuf, RunManifest)> {
        let mut found: Vec<(PathBuf, RunManifest)> = Vec::new();
        for entry in fs::read_dir(&self.runs).into_iter().flatten().flatten() {
            let folder = entry.path();
            if let Some(manifest) = manifest_of(&folder) {
                found.push((folder, manifest));
            }
        }
        found.sort_by(latest_first);
        found
    }

    /// Where its runs are.
    pub fn path(&self) -> &Path {
        &self.runs
    }

    fn lock(&self) -> Result<File, CampaignError> {
        self.lock_file().map_err(store_error)
    }

    fn lock_file(&self) -> Result<File, StoreError> {
        let path = self.runs.join("lock");
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(|error| StoreError::io("open", &path, error))?;
        lock_if_possible(&file, File::lock);
        Ok(file)
    }

    /// The number of the last finished run; a lost or damaged counter is counted anew from the runs.
    fn last_sequence(&self) -> u64 {
        let counted = fs::read_to_string(self.runs.join(SEQUENCE_NAME)).ok();
        let counted = counted.and_then(|text| text.trim().parse().ok());
        counted.unwrap_or_else(|| self.finished().first().map_or(0, |(_, manifest)| manifest.sequence))
    }
}

/// Locks a file, where its file system has locks: on some, of a network, folders or all files have none, and each says that by
/// another error. Without, two runs that end in the same moment may have one number, and nothing is taken for the leftover of a
/// killed process, since it cannot be told from a run in progress.
fn lock_if_possible(file: &File, lock: impl FnOnce(&File) -> io::Result<()>) {
    if let Err(error) = lock(file) {
        tracing::debug!(%error, "the run store works without locks");
    }
}

/// A folder of a run that is not kept.
fn temporary(id: String, place: impl FnOnce(tempfile::TempDir) -> FolderPlace) -> Result<RunFolder, CampaignError> {
    let folder = tempfile::Builder::new().prefix("fozzy-run-").tempdir();
    let folder = folder.map_err(|error| store_error(StoreError::io("create", &std::env::temp_dir(), error)))?;
    let path = folder.path().to_owned();
    Ok(RunFolder { id, path, place: Arc::new(place(folder)) })
}

/// Whether a place cannot be written to, for good.
fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// The order of finished runs: the latest first.
fn latest_first((_, left): &(PathBuf, RunManifest), (_, right): &(PathBuf, RunManifest)) -> Ordering {
    right.sequence.cmp(&left.sequence).then_with(|| left.run_id.cmp(&right.run_id))
}

/// The manifest in a run's folder; `None` when there is none that can be read.
pub fn manifest_of(folder: &Path) -> Option<RunManifest> {
    let path = folder.join("manifest.json");
    let metadata = fs::symlink_metadata(&path).ok()?;
    if !metadata.is_file() || metadata.len() > MANIFEST_BYTES_MAX {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    let manifest: RunManifest = serde_json::from_str(&text).ok()?;
    (manifest.schema_version == MANIFEST_SCHEMA).then_some(manifest)
}

/// Times that a trace is tried to be written while another process is choosing a name beside it, and the pause
/// between two. A lock is held for milliseconds; at the bound the error says whose it is.
const LOCKED_TRIES_MAX: u32 = 500;
const LOCKED_PAUSE: std::time::Duration = std::time::Duration::from_millis(10);

/// Writes a trace. The run is over and cannot be had again for nothing, so a name that another process is taking
/// at this moment is waited for.
pub fn write_trace(path: &Path, bytes: &[u8], collision: CollisionPolicy) -> Result<PathBuf, CampaignError> {
    write_trace_as(path, bytes, collision, Durability::Synced)
}

/// The same, as durable as that.
#[allow(clippy::disallowed_methods, reason = "waits for another process, not for a guest")]
pub fn write_trace_as(
    path: &Path,
    bytes: &[u8],
    collision: CollisionPolicy,
    durability: Durability,
) -> Result<PathBuf, CampaignError> {
    let mut tries = 1;
    loop {
        match fozzy_trace::file::store::write_trace_as(path, bytes, collision, durability) {
            Err(StoreError::Locked { .. }) if tries < LOCKED_TRIES_MAX => std::thread::sleep(LOCKED_PAUSE),
            result => return result.map_err(store_error),
        }
        tries += 1;
    }
}

/// Errors of storing files, as errors of a command.
#[allow(clippy::needless_pass_by_value, reason = "used as a function for map_err")]
pub fn store_error(error: StoreError) -> CampaignError {
    CampaignError::new(ErrorKind::Store, error.to_string())
}

/// Writes a document, whole or not at all.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), CampaignError> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| CampaignError::new(ErrorKind::Internal, error.to_string()))?;
    write_output(path, format!("{text}\n").as_bytes())
}

/// Writes a file that can be made again, whole or not at all.
pub fn write_output(path: &Path, bytes: &[u8]) -> Result<(), CampaignError> {
    // Reports can be made again from the trace, so they need not survive a power cut.
    write_atomic(path, bytes, Durability::Cached).map_err(|error| store_error(StoreError::io("write", path, error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_locks_stops_no_run() {
        let file = tempfile::tempfile().expect("a file");
        let mut asked = 0;
        lock_if_possible(&file, |_| {
            asked += 1;
            Err(io::Error::from(io::ErrorKind::Unsupported))
        });
        lock_if_possible(&file, File::lock);
        assert_eq!(asked, 1);
    }
}
