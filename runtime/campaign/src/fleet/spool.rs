//! What slices have come to, on the disk of this machine until the store has it.
//!
//! ```text
//! slice ─▶ .fozzy/spool/<store>/values/slices/<worker>/<number>  SpooledSlice      before anything of it is in the store
//!                              /blobs                             its traces
//!            └─ merge, when the store answers ─▶ targets, failures, history; then it leaves the spool
//! ```
//!
//! A store that is away costs nothing but time: slices go on, and what they have come to waits here, also for the next fleet, when this one is
//! killed or ends first. Slices of a target whose records another worker changes wait in the same way: one that was killed holds those on a
//! server until its lease ends.
//!
//! Where the disk of this machine is full, slices and traces wait in memory, up to [`OVERFLOW_BYTES_MAX`], and are written when there is room
//! again; from there, too, they go to a store that takes them.
//!
//! Invariants: a slice leaves the spool after all of it is in the store; the store counts it once, however often it is merged, since records
//! remember the last slice of each worker, and a worker's slices are merged in their order; two workers do not change the records of a
//! target at a time. Said: more than [`SLICES_MAX`] slices that wait.
//! Not here: testcases and explored paths, which their own folders keep (`exchange`).

use super::named_blobs::delete_unnamed;
use super::records::{
    CountedSlices, FailureState, FleetFailureRecord, FleetRecords, FleetWorkerRecord, OtherFields, TargetRecord,
};
use super::shared_store::{
    DirectoryStore, OverflowStore, SharedStore, SharedStoreError, StoreKey, StoreLease,
    shared_store_error as store_error,
};
use crate::error::{CampaignError, ErrorKind};
use crate::explore::regression_status::RegressionStatus;
use fozzy_report::fleet::{FIRST_RUN_WITHOUT_END, FOUND_WITHOUT_REPORT, FleetMoment, NOTHING_VARIES};
use fozzy_report::{ExploreSummary, RunSummary};
use fozzy_search::stats::Outlook;
use fozzy_trace::facts::PropertyTable;
use fozzy_trace::{Digest, FailureSignature, Status};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Failures that are kept of one target. Beyond that, those that are fixed or stale make room, the oldest first; where all stand, it is
/// said that later ones are not kept.
const FAILURES_MAX: usize = 500;
/// Slices that wait for the store: some days of one job. With more, a fleet ends.
const SLICES_MAX: u64 = 50_000;
/// Bytes of slices and traces that wait in memory for room on the disk.
const OVERFLOW_BYTES_MAX: usize = 256 << 20;
/// Real time for which the records of a target are waited for: a worker that is alive holds them for some requests. After that,
/// the slices wait here, and are tried again after the next one.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// Why it is not known of a failure how it stands that a slice has met first which has waited here.
const OF_OLDER_BUILD: &str = "it was met on an older build, by a slice whose result has waited on its machine";

/// CPU seconds in which more is found with [`TargetRecord::chance_in_minute`].
const MINUTE_S: f64 = 60.0;
/// CPU seconds that a slice takes at the least, so that shares of them are numbers.
const CPU_S_MIN: f64 = 1e-3;

/// What one slice has come to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct SpooledSlice {
    /// The target's id, and its name.
    pub(super) target: String,
    pub(super) name: String,
    /// The build that was searched; `None` when its failures were not tried on it yet.
    pub(super) program: Option<Digest>,
    /// The same, whether they were tried or not. `None` of a slice that an older version has left here.
    pub(super) build: Option<Digest>,
    /// Other builds, on which failures were met that were tried on this one before it.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) met_before: BTreeSet<Digest>,
    /// The build before, when this slice is the first of another one.
    pub(super) replaces: Option<Digest>,
    pub(super) cpu_s: f64,
    pub(super) ended_at: String,
    pub(super) ended_at_s: f64,
    /// Its own. Of a slice that an older version has left here they are not known, and of one without a report neither.
    #[serde(rename = "ownExecutions")]
    pub(super) executions: u64,
    /// Whether its command came to no verdict: the time was over after the first run, say.
    pub(super) is_undecided: bool,
    pub(super) features: u64,
    /// Steps of an exploration's second half that have shown something new: lines, messages and faults are no features. What its saved state
    /// has not kept, it sees again soon after its beginning, so that the first half says nothing. 0 of a campaign, whose features have all.
    pub(super) explored_news: u64,
    pub(super) edges: u64,
    pub(super) edges_total: u64,
    pub(super) corpus: u64,
    pub(super) chance_if_doubled: Option<f64>,
    /// What that follows from, and edges that can be taken and were not, at least. `None` of a slice that an older version has left here.
    pub(super) discoveries_last_half: Option<u64>,
    pub(super) undiscovered_edges: Option<f64>,
    /// How the properties of its program stand.
    pub(super) properties: PropertyTable,
    /// Slices without a result until this one, and why it had none.
    pub(super) troubles: u32,
    pub(super) trouble: Option<String>,
    /// Whether it is one: not when it was stopped before it had begun.
    pub(super) is_slice: bool,
    /// Whether the files of the target are others than when the same fleet worked on it last.
    pub(super) has_changed: bool,
    pub(super) failures: Vec<SpooledFailure>,
}

/// A failure of a slice.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SpooledFailure {
    signature: FailureSignature,
    /// Absent when this process has brought the store the same before, and when it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trace: Option<Digest>,
    /// Whether it was made smaller, or is as small as it gets.
    is_shrunk: bool,
    /// Whether it is as small as it gets.
    #[serde(default)]
    is_minimal: bool,
    times: u64,
}

/// A failure of a target whose trace the store has: the target's id, its signature, and how small that trace is.
type BroughtTrace = (String, String, TraceSize);

/// How small the trace of a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TraceSize {
    AsFound,
    Smaller,
    Minimal,
}

impl TraceSize {
    const fn of(is_shrunk: bool, is_minimal: bool) -> TraceSize {
        match (is_shrunk, is_minimal) {
            (_, true) => TraceSize::Minimal,
            (true, false) => TraceSize::Smaller,
            (false, false) => TraceSize::AsFound,
        }
    }
}

/// What the report of a slice says of the traces of a failure.
struct ReportedTraces<'a> {
    /// As it was found.
    found: &'a str,
    /// Made smaller.
    smaller: Option<&'a str>,
    /// Whether the smallest of them is as small as it gets.
    is_minimal: bool,
}

/// The answer to who wants to change the records of a target.
pub(super) enum RecordsLock {
    /// It may; for a few requests.
    Taken(Box<dyn StoreLease>),
    /// Another worker does: its name, unless that was answered for this target before.
    Held(Option<String>),
}

/// The records of a target that another worker holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HeldRecords {
    /// The name of the target.
    pub(super) target: String,
    /// The name of the worker.
    pub(super) holder: String,
}

/// A failure of one or more slices that wait.
pub(super) struct WaitingFailure {
    /// The name of its target.
    pub(super) target: String,
    pub(super) signature: FailureSignature,
    /// A trace of it.
    pub(super) path: PathBuf,
    /// Whether that is there, and not in memory.
    pub(super) is_written: bool,
    pub(super) is_shrunk: bool,
    /// How often it was seen.
    pub(super) times: u64,
    /// When the first of these slices ended.
    pub(super) found_at: String,
    /// Whether one of them, at least, has searched the build of today, or it is not known of one which it has searched.
    pub(super) is_of_today: bool,
}

/// What a merge has changed.
#[derive(Default)]
pub(super) struct MergedSlice {
    pub(super) record: TargetRecord,
    /// Behaviours, or steps that have shown some, and failures that are new.
    pub(super) news: u64,
    /// The failures among them, with their traces.
    pub(super) found: Vec<(FailureSignature, Digest)>,
    pub(super) warnings: Vec<String>,
    /// Failures that could not be kept, since their trace is gone: the next slice that meets one brings it again.
    pub(super) lost: BTreeSet<FailureSignature>,
    /// Failures that have made room for others, and are no more in the store.
    pub(super) forgotten: Vec<FailureSignature>,
}

impl SpooledSlice {
    /// Takes what the report of its process says.
    pub(super) fn observe(&mut self, summary: &RunSummary) {
        if let Some(fuzz) = &summary.fuzz {
            (self.executions, self.corpus) = (fuzz.executions, fuzz.corpus);
            self.chance_if_doubled = Some(fuzz.coverage.chance_if_doubled);
            self.discoveries_last_half = Some(fuzz.coverage.discoveries_last_half);
            self.undiscovered_edges = Some(fuzz.coverage.estimated_undiscovered_edges);
            self.properties.clone_from(&fuzz.properties);
            self.features = fuzz.coverage.features;
            (self.edges, self.edges_total) = (fuzz.coverage.unique_edges, fuzz.coverage.total_edges);
        }
        if let Some(explore) = &summary.explore {
            self.observe_exploration(explore);
        }
        self.is_undecided = self.is_without_verdict(summary.status, summary.interrupted);
    }

    /// Whether its command came to no verdict: an error, or it was stopped after its first execution, in which nothing is varied.
    fn is_without_verdict(&self, status: Status, is_interrupted: bool) -> bool {
        status == Status::Error || status == Status::Pass && is_interrupted && self.executions <= 1
    }

    fn observe_exploration(&mut self, explore: &ExploreSummary) {
        self.executions = explore.runs.saturating_sub(explore.resumed_runs);
        (self.corpus, self.features) = (explore.checkpoints, explore.features + explore.states);
        (self.edges, self.edges_total) = (explore.edges, explore.edges_total);
        self.chance_if_doubled = Some(explore.chance_if_doubled);
        self.discoveries_last_half = Some(explore.discoveries_last_half);
        self.explored_news = explore.discoveries_last_half;
        self.undiscovered_edges = Some(explore.estimated_undiscovered_edges);
        self.properties.clone_from(&explore.properties);
    }

    /// The build that it has searched, whether its failures were tried on that or not: the store may have the counts of another one, which
    /// another working copy has.
    fn searched(&self) -> Option<Digest> {
        self.build.or(self.program)
    }

    /// Whether the failures that it has met are of the program of today: one that has waited may be of an older build.
    fn is_of_today(&self, record: &TargetRecord) -> bool {
        let is_replaced = self.replaces.is_some() && self.replaces == record.program;
        is_replaced || self.program.is_none_or(|it| record.program.is_none_or(|now| now == it))
    }

    /// Whether it says nothing of how a failure stands, since that was tried on another build after this slice had ended. Of a build whose
    /// failures were not tried, nothing else tells whether it is the newer one.
    fn is_before(&self, failure: &FleetFailureRecord) -> bool {
        let is_other = self.program.is_none() && self.build.is_some() && self.build != failure.program;
        is_other && failure.tried_at_s.is_some_and(|tried_at_s| self.ended_at_s < tried_at_s)
    }

    /// The failures that it has seen, and how often.
    pub(super) fn seen(&self) -> impl Iterator<Item = (&FailureSignature, u64)> {
        self.failures.iter().map(|failure| (&failure.signature, failure.times))
    }

    /// It has no result, and why.
    pub(super) fn fail(&mut self, why: &str) {
        /// Characters of why: a value of a store is bounded, and a slice that does not fit ends the fleet.
        const WHY_CHARS_MAX: usize = 4096;
        self.troubles += 1;
        let end = why.char_indices().nth(WHY_CHARS_MAX).map(|(end, _)| end);
        self.trouble = Some(end.map_or_else(|| why.to_owned(), |end| format!("{}…", &why[..end])));
    }

    /// What is to be expected of more slices: as this one says, if it has found something or nothing else is known; when the last half of all
    /// executions has found nothing, as these do.
    fn foresee(&self, record: &mut TargetRecord, news: u64) {
        // It has gone every way that there is.
        if self.trouble.is_none() && self.chance_if_doubled.is_some_and(|chance| chance <= 0.0) {
            (record.chance_if_doubled, record.chance_in_minute) = (Some(0.0), Some(0.0));
            record.chance_if_doubled_range = Some((0.0, 0.0));
            return;
        }
        let (quiet, all) = (record.quiet, record.executions);
        if quiet > all / 2 {
            if record.chance_if_doubled.or(self.chance_if_doubled).is_some() {
                record.chance_if_doubled = Some(Outlook::chance_when_quiet(quiet, all, 1.0));
                record.chance_if_doubled_range = Some(Outlook::chance_range_when_quiet(quiet, all, 1.0));
                let more = MINUTE_S / record.estimate.total_cpu_s.max(CPU_S_MIN);
                record.chance_in_minute = Some(Outlook::chance_when_quiet(quiet, all, more));
            }
            return;
        }
        if self.trouble.is_some() {
            return;
        }
        let Some(discoveries) = self.discoveries_last_half else {
            record.chance_if_doubled = self.chance_if_doubled.or(record.chance_if_doubled);
            record.chance_if_doubled_range = None;
            return;
        };
        let outlook = Outlook { discoveries };
        record.chance_if_doubled = self.chance_if_doubled;
        record.chance_if_doubled_range = Some(outlook.chance_range(1.0));
        // One that has found nothing is no reason to expect less, while those before it are most of the last half.
        if news > 0 || record.chance_in_minute.is_none() {
            record.chance_in_minute = Some(outlook.chance(MINUTE_S / self.cpu_s.max(CPU_S_MIN)));
        }
    }

    /// Counts it; how many behaviours are new.
    pub(super) fn count(&self, record: &mut TargetRecord, found: u64) -> u64 {
        record.name.clone_from(&self.name);
        record.troubles = self.troubles;
        // One that was stopped says nothing of why those before it had no result.
        if self.is_slice || self.trouble.is_some() || self.has_changed && !leaves_unjudged(record) {
            record.trouble.clone_from(&self.trouble);
        }
        let is_next = record.program.is_none() || self.replaces.is_some() && record.program == self.replaces;
        if self.program.is_some() && record.program != self.program && is_next {
            record.program = self.program;
            (record.features, record.edges, record.edges_total) = (0, 0, 0);
            (record.program_executions, record.undiscovered_edges) = (0, None);
            record.properties = PropertyTable::default();
        }
        self.met_before.iter().for_each(|build| record.forget_runs_of(*build));
        if !self.is_slice {
            return 0;
        }
        record.estimate.remember(record.features);
        // One whose runs are all alike has had the one that there is. What comes to no verdict is no pass in its own command, either.
        let has_run = match &self.trouble {
            Some(why) => why.lines().next().is_some_and(|why| why.contains(NOTHING_VARIES)),
            None => self.executions > 0 && !self.is_undecided,
        };
        if let Some(build) = self.searched().filter(|_| has_run) {
            record.note_run_of(build, self.ended_at_s);
        }
        let mut news = found;
        if self.trouble.is_none() {
            record.executions = record.executions.saturating_add(self.executions);
            record.corpus = self.corpus;
            if record.program == self.program {
                record.program_executions = record.program_executions.saturating_add(self.executions);
                record.undiscovered_edges = self.undiscovered_edges.or(record.undiscovered_edges);
                record.properties.merge(&self.properties);
                news += self.features.saturating_sub(record.features).max(self.explored_news);
                record.features = record.features.max(self.features);
                record.edges = record.edges.max(self.edges);
                record.edges_total = self.edges_total;
            }
        }
        record.quiet = if news > 0 { 0 } else { record.quiet.saturating_add(self.executions) };
        record.estimate.observe(news, Duration::from_secs_f64(self.cpu_s.clamp(0.0, 1e9)));
        self.foresee(record, news);
        if news > 0 {
            record.news_at = Some(self.ended_at.clone());
        }
        news
    }
}

/// The slices of this process that the store does not have yet.
pub(super) struct Spool {
    store: OverflowStore,
    /// Slices for which there was no room in memory, either.
    dropped: AtomicU64,
    worker: String,
    /// The number of the last slice, and how many wait.
    counts: Mutex<(u64, u64)>,
    /// What was merged.
    known: Mutex<BTreeSet<BroughtTrace>>,
    /// Targets whose records were another worker's when they were asked for last: these are not waited for again.
    held: Mutex<BTreeSet<String>>,
    /// Held by who merges.
    merging: Mutex<()>,
    /// Failures that are kept of one target: [`FAILURES_MAX`], and fewer in tests.
    failures_max: usize,
    /// Says that this process is alive.
    _lease: Mutex<Option<Box<dyn StoreLease>>>,
}

/// A slice of a spool: whose, and its number.
type SpoolKey = (String, String);

impl Spool {
    /// The spool of a worker on a store.
    ///
    /// # Errors
    /// When its folder cannot be made.
    pub(super) fn open(base_dir: &Path, store: &dyn SharedStore, worker: &str) -> Result<Spool, CampaignError> {
        let folder = base_dir.join("spool").join(Digest::of(store.place().as_bytes()).short());
        let spool = DirectoryStore::open(&folder, store.project()).map_err(store_error)?;
        let lease = spool.acquire(&StoreKey::new(&["workers", worker]), worker).map_err(store_error)?;
        let _lease = Mutex::new(lease);
        Ok(Spool {
            store: OverflowStore::new(spool, OVERFLOW_BYTES_MAX),
            dropped: AtomicU64::new(0),
            worker: worker.to_owned(),
            counts: Mutex::default(),
            known: Mutex::default(),
            held: Mutex::default(),
            merging: Mutex::default(),
            failures_max: FAILURES_MAX,
            _lease,
        })
    }

    /// Where it is, for people.
    pub(super) fn place(&self) -> String {
        self.store.place()
    }

    /// The right to work on something, of the fleets in this folder. A full disk has no place to note it: other fleets of this folder do not
    /// know of it then, and what two have found is kept by signature.
    pub(super) fn acquire(&self, key: &StoreKey) -> Result<Option<Box<dyn StoreLease>>, CampaignError> {
        let lease = unless_full(self.store.acquire(key, &self.worker))?;
        Ok(lease.unwrap_or_else(|| Some(Box::new(UnnotedLease))))
    }

    /// Where it is written.
    #[cfg(test)]
    pub(super) fn disk(&self) -> &DirectoryStore {
        self.store.folder()
    }

    /// Whether something waits in memory, as the disk is full.
    pub(super) fn is_overflowing(&self) -> bool {
        self.store.is_waiting()
    }

    /// Whether the disk takes something.
    pub(super) fn has_room(&self) -> bool {
        self.store.answers()
    }

    /// Writes what waits in memory; whether there was room for all.
    ///
    /// # Errors
    /// When the disk does not work otherwise.
    pub(super) fn write_again(&self) -> Result<bool, CampaignError> {
        Ok(unless_full(self.store.write_again())?.is_some())
    }

    /// Slices that are lost with this process: how many of them wait in memory, and how many there are with those whose traces do, and those for
    /// which there was no room there, either.
    pub(super) fn unwritten(&self) -> Result<(u64, u64), CampaignError> {
        let (mut in_memory, mut unkept) = (0, self.dropped.load(Ordering::SeqCst));
        if !self.store.is_waiting() {
            return Ok((in_memory, unkept));
        }
        for (worker, name) in self.waiting()? {
            let key = StoreKey::new(&["slices", &worker, &name]);
            let text = self.store.get(&key).map_err(store_error)?.unwrap_or_default();
            let slice = serde_json::from_slice::<SpooledSlice>(&text).unwrap_or_default();
            let is_in_memory = self.store.has_waiting(&key);
            // A trace is larger than its slice, for which there may be room.
            let mut traces = slice.failures.iter().filter_map(|failure| failure.trace);
            let is_unkept = is_in_memory || traces.any(|trace| self.store.has_waiting_blob(&trace));
            in_memory += u64::from(is_in_memory);
            unkept += u64::from(is_unkept);
        }
        Ok((in_memory, unkept))
    }

    /// Keeps the failures that a slice reports: their traces stay, whatever becomes of its run.
    pub(super) fn failures(&self, target: &str, summary: &RunSummary) -> Result<Vec<SpooledFailure>, CampaignError> {
        let fuzz = summary.fuzz.iter().flat_map(|fuzz| &fuzz.findings);
        let fuzz = fuzz.map(|it| {
            let smaller = it.minimized_trace_path.as_deref();
            (&it.signature, ReportedTraces { found: &it.trace_path, smaller, is_minimal: it.minimal }, it.times)
        });
        let explored = summary.explore.iter().flat_map(|explore| &explore.failures);
        let explored = explored.map(|it| {
            let smaller = it.minimized_trace_path.as_deref();
            (&it.signature, ReportedTraces { found: &it.trace_path, smaller, is_minimal: it.minimal }, it.times)
        });
        let found =
            fuzz.chain(explored).filter_map(|(signature, traces, times)| Some((signature.as_ref()?, traces, times)));
        found.map(|(signature, traces, times)| self.keep_failure((target, signature), traces, times)).collect()
    }

    /// Keeps the failures of a slice without a report, by the traces that it has named: those that are whole, and of a failure.
    pub(super) fn traced_failures(
        &self,
        target: &str,
        traces: &[PathBuf],
    ) -> Result<Vec<SpooledFailure>, CampaignError> {
        let mut kept: Vec<SpooledFailure> = Vec::new();
        for path in traces {
            let read = crate::selector::read(path).ok();
            let Some(signature) = read.and_then(|recording| recording.outcome.verdict.signature) else { continue };
            if kept.iter().all(|failure| failure.signature != signature) {
                let found = path.display().to_string();
                let traces = ReportedTraces { found: &found, smaller: None, is_minimal: false };
                kept.push(self.keep_failure((target, &signature), traces, 1)?);
            }
        }
        Ok(kept)
    }

    /// Keeps a failure of a target, with the smaller one of its traces. It was met all the same if none of them can be read.
    fn keep_failure(
        &self,
        (target, signature): (&str, &FailureSignature),
        ReportedTraces { found, smaller, is_minimal }: ReportedTraces<'_>,
        times: u64,
    ) -> Result<SpooledFailure, CampaignError> {
        let (signature, is_shrunk) = (signature.clone(), smaller.is_some() || is_minimal);
        let known = (target.to_owned(), signature.to_string(), TraceSize::of(is_shrunk, is_minimal));
        if self.known.lock().unwrap_or_else(PoisonError::into_inner).contains(&known) {
            return Ok(SpooledFailure { signature, trace: None, is_shrunk, is_minimal, times });
        }
        let read = |path: &str| crate::selector::bytes(Path::new(path)).ok();
        let smallest = read(smaller.unwrap_or(found));
        // Where the smallest one is gone, the other one stands for it, as it was found.
        let is_there = smallest.is_some();
        let bytes = smallest.or_else(|| read(found));
        let trace = bytes.map(|bytes| unless_full(self.store.put_blob(&bytes))).transpose()?.flatten();
        let (is_shrunk, is_minimal) = (is_shrunk && is_there, is_minimal && is_there);
        Ok(SpooledFailure { signature, trace, is_shrunk, is_minimal, times })
    }

    /// Keeps a slice.
    pub(super) fn put(&self, slice: &SpooledSlice) -> Result<(), CampaignError> {
        let number = {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            if counts.1 >= SLICES_MAX {
                let message = format!("{SLICES_MAX} slices wait in {} for a store that does not answer", self.place());
                return Err(CampaignError::new(ErrorKind::Store, message).hint("start a fleet when it answers again"));
            }
            *counts = (counts.0 + 1, counts.1 + 1);
            counts.0
        };
        let text = serde_json::to_vec_pretty(slice).expect("our own types are JSON");
        let key = StoreKey::new(&["slices", &self.worker, &format!("{number:08}")]);
        if unless_full(self.store.put(&key, &text))?.is_none() {
            self.dropped.fetch_add(1, Ordering::SeqCst);
            {
                let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
                counts.1 = counts.1.saturating_sub(1);
            }
            self.forget_traces(slice)?;
        }
        Ok(())
    }

    /// Takes the traces of a slice that was not kept out of memory, where no other one names them: nobody comes for them.
    fn forget_traces(&self, slice: &SpooledSlice) -> Result<(), CampaignError> {
        let kept = [StoreKey::new(&["slices", &self.worker])];
        for trace in slice.failures.iter().filter_map(|failure| failure.trace) {
            let is_named = || self.store.has_text(&kept, &trace.to_string()).map_err(store_error);
            if self.store.has_waiting_blob(&trace) && !is_named()? {
                self.store.delete_blob(&trace).map_err(store_error)?;
            }
        }
        Ok(())
    }

    /// What this process has done, for a store that does not answer.
    pub(super) fn put_worker(&self, record: &FleetWorkerRecord) -> Result<(), CampaignError> {
        unless_full(FleetRecords { store: &self.store }.put_worker(&self.worker, record)).map(drop)
    }

    /// Whether what a worker has left here is merged by this process: its own, and that of one that is gone. One that is alive merges its own.
    fn may_take(&self, worker: &str) -> Result<bool, CampaignError> {
        let lease = StoreKey::new(&["workers", worker]);
        Ok(worker == self.worker || unless_full(self.store.acquire(&lease, &self.worker))?.flatten().is_some())
    }

    /// Brings the store what workers have done while it was away, but for what it knows better since.
    fn merge_workers(&self, store: &dyn SharedStore) -> Result<(), CampaignError> {
        for (worker, record) in (FleetRecords { store: &self.store }).workers().map_err(store_error)? {
            if self.may_take(&worker)? {
                let records = FleetRecords { store };
                let known = records.workers().map_err(store_error)?;
                if !known.iter().any(|(name, known)| *name == worker && known.slices > record.slices) {
                    records.put_worker(&worker, &record).map_err(store_error)?;
                }
                self.store.delete(&StoreKey::new(&["workers", &worker])).map_err(store_error)?;
            }
        }
        Ok(())
    }

    /// Slices that wait: those of this process, and of others that are gone, each worker's in their order.
    fn waiting(&self) -> Result<Vec<SpoolKey>, CampaignError> {
        let mut waiting = Vec::new();
        for folder in self.store.folders().map_err(store_error)? {
            let [kind, worker] = folder.parts() else { continue };
            if kind != "slices" {
                continue;
            }
            if !self.may_take(worker)? {
                continue;
            }
            let names = self.store.list(&folder).map_err(store_error)?;
            waiting.extend(names.into_iter().map(|name| (worker.clone(), name)));
        }
        Ok(waiting)
    }

    /// How many slices wait here, of all workers that are gone and of this one.
    pub(super) fn len(&self) -> Result<usize, CampaignError> {
        Ok(self.waiting()?.len())
    }

    /// Merges what waits into the store, the slices of each worker in their order, and hands over what each has changed. What is no slice of ours is
    /// left where it is, and so are all slices of a target whose records another worker holds; who, is returned when it is new.
    ///
    /// # Errors
    /// When the store does not take it; the rest stays.
    pub(super) fn merge(
        &self,
        store: &dyn SharedStore,
        mut on_merged: impl FnMut(&SpooledSlice, MergedSlice),
    ) -> Result<Vec<HeldRecords>, CampaignError> {
        let _merging = self.merging.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut passed_over, mut held) = (BTreeSet::new(), Vec::new());
        for (worker, name) in self.waiting()? {
            let key = StoreKey::new(&["slices", &worker, &name]);
            // Another job of this process may have merged it meanwhile.
            let Some(text) = self.store.get(&key).map_err(store_error)? else { continue };
            let (Ok(slice), Ok(number)) = (serde_json::from_slice::<SpooledSlice>(&text), name.parse()) else {
                continue;
            };
            if passed_over.contains(&slice.target) {
                continue;
            }
            let merged = match self.lock_records(store, &slice.target)? {
                RecordsLock::Taken(_lease) => self.merge_one(store, &slice, (&worker, number))?,
                RecordsLock::Held(holder) => {
                    held.extend(holder.map(|holder| HeldRecords { target: slice.name.clone(), holder }));
                    passed_over.insert(slice.target);
                    continue;
                }
            };
            self.store.delete(&key).map_err(store_error)?;
            merged.lost.iter().for_each(|signature| self.forget_failure(&slice.target, signature));
            for failure in &slice.failures {
                if failure.trace.is_none() || merged.lost.contains(&failure.signature) {
                    continue;
                }
                let size = TraceSize::of(failure.is_shrunk, failure.is_minimal);
                let known = (slice.target.clone(), failure.signature.to_string(), size);
                self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(known);
                failure.trace.map_or(Ok(false), |trace| self.store.delete_blob(&trace)).map_err(store_error)?;
            }
            if worker == self.worker {
                let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
                counts.1 = counts.1.saturating_sub(1);
            }
            on_merged(&slice, merged);
        }
        self.merge_workers(store)?;
        Ok(held)
    }

    /// The right to change the records of a target, or the worker that still has it after [`LOCK_WAIT`].
    pub(super) fn lock_records(&self, store: &dyn SharedStore, target: &str) -> Result<RecordsLock, CampaignError> {
        let held = || self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let records = FleetRecords { store };
        let wait = if held().contains(target) { Duration::ZERO } else { LOCK_WAIT };
        if let Some(lease) = records.lock(target, &self.worker, wait).map_err(store_error)? {
            held().remove(target);
            return Ok(RecordsLock::Taken(lease));
        }
        let holder = records.lock_holder(target).map_err(store_error)?;
        let is_new = held().insert(target.to_owned());
        Ok(RecordsLock::Held(is_new.then_some(holder)))
    }

    /// Whether another worker had the records of a target when they were asked for last.
    pub(super) fn is_held(&self, target: &str) -> bool {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).contains(target)
    }

    /// Targets whose records were held are waited for again.
    pub(super) fn forget_held(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn merge_one(
        &self,
        store: &dyn SharedStore,
        slice: &SpooledSlice,
        (worker, number): (&str, u64),
    ) -> Result<MergedSlice, CampaignError> {
        let records = FleetRecords { store };
        let (mut record, refused) = records.target_named(&slice.target, &slice.name).map_err(store_error)?;
        let mut merged = MergedSlice { warnings: refused.into_iter().collect(), ..MergedSlice::default() };
        let mut known = records.failures(&slice.target).map_err(store_error)?;
        let is_of_today = slice.is_of_today(&record);
        for failure in &slice.failures {
            let old = known.iter_mut().find(|(.., known)| known.signature == failure.signature);
            let state = if failure.is_shrunk { FailureState::Shrunk } else { FailureState::Unshrunk };
            if let Some((was, _, old)) = old {
                if !old.counted.count(worker, number, slice.ended_at_s) {
                    if old.news_of.as_ref().is_some_and(|(by, at)| by == worker && *at == number) {
                        merged.found.push((failure.signature.clone(), old.trace));
                    }
                    continue;
                }
                old.times = old.times.saturating_add(failure.times);
                let is_of_today = is_of_today && !slice.is_before(old);
                let is_back = is_of_today && !old.stands(*was);
                let before = old.trace;
                let is_smallest = failure.is_minimal && !old.is_minimal && failure.trace.is_some();
                let is_smaller = match *was {
                    FailureState::Unshrunk => failure.is_shrunk,
                    FailureState::Shrunk => is_smallest,
                    FailureState::Fixed => false,
                };
                let is_better = is_back || is_smaller;
                // Once in the life of a worker, whose later slices bring no trace.
                let is_lost = !is_better && failure.trace.is_some() && blob(store, before)?.is_none();
                if is_better || is_lost {
                    let moved = self.move_trace(store, failure)?;
                    let again = (is_back && *was == FailureState::Fixed).then(|| old.state_again());
                    old.trace = moved.unwrap_or(before);
                    old.is_minimal = if moved.is_some() { failure.is_minimal } else { old.is_minimal && !is_back };
                    // What is fixed stays so.
                    let is_moved = moved.is_some() && *was != FailureState::Fixed;
                    *was = match again {
                        // Its trace is that of before.
                        Some(again) if moved.is_none() => again,
                        _ if is_better || is_moved => state,
                        _ => *was,
                    };
                }
                if is_of_today {
                    let is_of_other = |met_on: &Digest| slice.searched().is_some_and(|build| build != *met_on);
                    if let Some(met_on) = old.program.filter(is_of_other).filter(|_| !is_back) {
                        record.forget_runs_of(met_on);
                    }
                    RegressionStatus::StillThere.word().clone_into(&mut old.status);
                    (old.program, old.untried) = (slice.searched().or(old.program), None);
                    old.tried_at_s = None;
                }
                if is_back {
                    old.news_of = Some((worker.to_owned(), number));
                }
                records.put_failure(&slice.target, *was, old).map_err(store_error)?;
                if before != old.trace {
                    delete_unnamed(store, &before).map_err(store_error)?;
                }
                if is_back {
                    merged.found.push((failure.signature.clone(), old.trace));
                }
                continue;
            }
            let (is_full, most) = (known.len() >= self.failures_max, self.failures_max);
            if is_full && known.iter().all(|(state, _, failure)| failure.stands(*state)) {
                let name = &slice.name;
                merged.warnings.push(format!("{name}: more than {most} failures; later ones are not kept"));
                continue;
            }
            let Some(trace) = self.move_trace(store, failure)? else {
                merged.lost.insert(failure.signature.clone());
                continue;
            };
            let mut counted = CountedSlices::default();
            counted.count(worker, number, slice.ended_at_s);
            let new = FleetFailureRecord {
                target: slice.name.clone(),
                signature: failure.signature.clone(),
                trace,
                is_minimal: failure.is_minimal,
                was_shrunk: false,
                status: RegressionStatus::StillThere.word().to_owned(),
                program: slice.searched(),
                tried_at_s: None,
                untried: (!is_of_today).then(|| OF_OLDER_BUILD.to_owned()),
                times: failure.times,
                found_at: slice.ended_at.clone(),
                counted,
                news_of: Some((worker.to_owned(), number)),
                others: OtherFields::new(),
            };
            records.put_failure(&slice.target, state, &new).map_err(store_error)?;
            merged.found.push((failure.signature.clone(), trace));
            known.push((state, String::new(), new));
            // After the new one is there: it may have the trace of what goes.
            if is_full {
                merged.forgotten.extend(forget_oldest(store, &slice.target, &mut known)?);
            }
        }
        let (mut news, found) = (0, merged.found.len() as u64);
        let failures = known.iter().filter(|(state, _, failure)| failure.stands(*state)).count() as u64;
        if record.count_slice(worker, (number, slice.ended_at_s), |record| news = slice.count(record, found)) {
            merged.news = news;
            record.estimate.failures = failures;
            records.put_target(&slice.target, &record).map_err(store_error)?;
        }
        if slice.is_slice {
            let moment = FleetMoment {
                at_s: slice.ended_at_s,
                cpu_s: record.estimate.total_cpu_s,
                executions: record.executions,
                features: record.features,
                edges: record.edges,
                corpus: record.corpus,
                failures,
                worker: worker.to_owned(),
            };
            records.add_moment(&slice.target, moment).map_err(store_error)?;
        }
        for signature in &merged.lost {
            let again = "the next slice that meets it brings one";
            merged.warnings.push(format!("{}: the trace of {signature} is lost; {again}", slice.name));
        }
        merged.record = record;
        Ok(merged)
    }

    /// Puts a trace into the store; `None` when it is neither here nor there.
    fn move_trace(&self, store: &dyn SharedStore, failure: &SpooledFailure) -> Result<Option<Digest>, CampaignError> {
        let Some(name) = failure.trace else { return Ok(None) };
        // One that is gone here was moved with an earlier slice that has found the same.
        Ok(match blob(&self.store, name)? {
            Some(bytes) => Some(store.put_blob(&bytes).map_err(store_error)?),
            None => blob(store, name)?.map(|_| name),
        })
    }

    /// Has the next trace of a failure brought to the store, whatever was brought before: that says nothing of the program of today.
    pub(super) fn forget_failure(&self, target: &str, signature: &FailureSignature) {
        let signature = signature.to_string();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(of, known, _)| (of.as_str(), known.as_str()) != (target, signature.as_str()));
    }

    /// The failures that wait, each once, with the first trace of it, or the first that is shrunk. `build_of` has the build of today of the
    /// target with an id, where that is known.
    pub(super) fn failures_waiting(
        &self,
        build_of: impl Fn(&str) -> Option<Digest>,
    ) -> Result<Vec<WaitingFailure>, CampaignError> {
        let mut failures: Vec<WaitingFailure> = Vec::new();
        for (worker, name) in self.waiting()? {
            let text = self.store.get(&StoreKey::new(&["slices", &worker, &name])).map_err(store_error)?;
            let slice = text.and_then(|text| serde_json::from_slice::<SpooledSlice>(&text).ok()).unwrap_or_default();
            let build = slice.build.or(slice.program);
            let is_of_today = build.is_none_or(|build| build_of(&slice.target).is_none_or(|today| today == build));
            for SpooledFailure { signature, trace, is_shrunk, times, .. } in slice.failures {
                let is_written = trace.is_some_and(|trace| !self.store.has_waiting_blob(&trace));
                let Some(path) = trace.and_then(|trace| self.store.blob_path(&trace)) else { continue };
                let (target, is_same) = (&slice.name, |known: &&mut WaitingFailure| {
                    (&known.target, &known.signature) == (&slice.name, &signature)
                });
                match failures.iter_mut().find(is_same) {
                    None => {
                        let (target, found_at) = (target.clone(), slice.ended_at.clone());
                        failures.push(WaitingFailure {
                            target,
                            signature,
                            path,
                            is_written,
                            is_shrunk,
                            times,
                            found_at,
                            is_of_today,
                        });
                    }
                    Some(known) => {
                        known.times += times;
                        known.is_of_today |= is_of_today;
                        if is_shrunk && !known.is_shrunk {
                            (known.path, known.is_written, known.is_shrunk) = (path, is_written, true);
                        }
                    }
                }
            }
        }
        Ok(failures)
    }
}

/// Has the failure of a target that was found first of those that do not stand make room for one that does; which it was.
fn forget_oldest(
    store: &dyn SharedStore,
    target: &str,
    known: &mut Vec<(FailureState, String, FleetFailureRecord)>,
) -> Result<Option<FailureSignature>, CampaignError> {
    let found_at = |place: &usize| known[*place].2.found_at.clone();
    let is_idle = |place: &usize| !known[*place].2.stands(known[*place].0);
    let Some(oldest) = (0..known.len()).filter(is_idle).min_by_key(found_at) else { return Ok(None) };
    let (state, name, FleetFailureRecord { signature, trace, .. }) = known.remove(oldest);
    store.delete(&StoreKey::new(&["failures", state.word(), target, &name])).map_err(store_error)?;
    delete_unnamed(store, &trace).map_err(store_error)?;
    Ok(Some(signature))
}

/// Whether a target is no pass for the reason that it had no result.
fn leaves_unjudged(record: &TargetRecord) -> bool {
    let why = record.trouble.as_deref().unwrap_or_default();
    [FIRST_RUN_WITHOUT_END, FOUND_WITHOUT_REPORT].iter().any(|words| why.contains(words))
}

/// The right to work on something that is noted nowhere.
struct UnnotedLease;

impl StoreLease for UnnotedLease {
    fn renew(&mut self) -> Result<bool, SharedStoreError> {
        Ok(true)
    }

    fn attempt(&self) -> u64 {
        0
    }
}

/// What the disk of this machine came to; `None` when it is full.
fn unless_full<T>(answer: Result<T, SharedStoreError>) -> Result<Option<T>, CampaignError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(SharedStoreError::Away { .. }) => Ok(None),
        Err(error) => Err(store_error(error)),
    }
}

/// The bytes of a blob; `None` when it is gone or damaged.
fn blob(store: &dyn SharedStore, name: Digest) -> Result<Option<Vec<u8>>, CampaignError> {
    Ok(store.get_blobs(&[name]).map_err(store_error)?.pop().flatten())
}

#[cfg(test)]
mod tests;
