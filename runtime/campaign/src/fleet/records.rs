//! What a fleet keeps in its store, and under which keys.
//!
//! ```text
//! targets/<id>                              TargetRecord: estimate, counts, the program that they are of
//! failures/<state>/<id>.<signature>         FleetFailureRecord; moved from unshrunk to shrunk to fixed, and back
//! history/<id>                              the moments of a target, thinned out as they become many
//! workers/<worker>                          FleetWorkerRecord
//! blobs                                     traces
//! ```
//!
//! Invariants: a record that cannot be read is as one that is not there, and is said; a failure is in one state; fields that a newer version has
//! added stay when an older one writes.
//! Not here: how they come about (`dispatch`), documents for people (`fozzy-report`).

use super::division::DiscoveryEstimate;
use super::shared_store::{SharedStore, SharedStoreError, StoreKey, StoreLease};
use crate::explore::regression_status::RegressionStatus;
use crate::wall_clock::{Stopwatch, pause};
use fozzy_report::fleet::{FleetMoment, FleetSliceRow};
use fozzy_trace::facts::PropertyTable;
use fozzy_trace::{Digest, FailureSignature};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Workers that are remembered after their end.
const WORKERS_MAX: usize = 64;
/// Moments of a target that are kept: what a curve on a wide screen shows, in a quarter of the bytes that a value may have.
const MOMENTS_MAX: usize = 1000;
/// Workers whose last slice is remembered beside a count.
const COUNTED_MAX: usize = 64;
/// Builds of a target whose runs are remembered: those of some working copies, or of some days of one. The oldest is forgotten, and searched
/// once more before it passes.
const BUILDS_MAX: usize = 32;
/// Slices of a worker that are kept.
const RECENT_MAX: usize = 120;

/// Between two looks whether the records of a target are free.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// What is known of one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TargetRecord {
    /// Its name, for people.
    pub name: String,
    /// What its slices have found.
    pub estimate: DiscoveryEstimate,
    /// The program that the coverage is of.
    pub program: Option<Digest>,
    /// Executions or runs of all slices.
    pub executions: u64,
    /// Those of the last slices, since one that found something new.
    pub quiet: u64,
    /// Behaviours that the best slice of this program has seen, those of its corpus included.
    pub features: u64,
    /// Edges among them.
    pub edges: u64,
    /// Edges that there are.
    pub edges_total: u64,
    /// Testcases, or kept places.
    pub corpus: u64,
    /// The chance that as many executions again find something new, where that is estimated.
    pub chance_if_doubled: Option<f64>,
    /// Where that chance is with a confidence of 95 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance_if_doubled_range: Option<(f64, f64)>,
    /// The chance that one more CPU minute finds something new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance_in_minute: Option<f64>,
    /// Edges of the program that can be taken and were not, at least, as its last slice estimates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undiscovered_edges: Option<f64>,
    /// Executions or runs of the program.
    pub program_executions: u64,
    /// Builds that have had a run, the program's among them, the latest last; not those on which a failure was met that was tried or met on
    /// another one since. An older version neither knows nor changes it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub searched: Vec<SearchedBuild>,
    /// How the properties of the program stand over all of them.
    #[serde(skip_serializing_if = "PropertyTable::is_empty")]
    pub properties: PropertyTable,
    /// When something new was found last (RFC 3339).
    pub news_at: Option<String>,
    /// Slices without a result since the last one with one, and why.
    pub troubles: u32,
    /// Why the last slice had none.
    pub trouble: Option<String>,
    /// The last slice of each worker that is in these counts.
    pub counted: CountedSlices,
    /// What the slices of each of these workers have added to the counts. An older version neither knows nor changes it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub shares: BTreeMap<String, WorkerShare>,
    /// What a newer version keeps here.
    #[serde(flatten)]
    pub others: OtherFields,
}

/// A build of a target that has had a run, by whichever fleet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchedBuild {
    pub(super) build: Digest,
    /// When its last slice with a run ended, in seconds since 1970.
    pub(super) at_s: f64,
}

/// What the slices of one worker have added to the counts of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkerShare {
    /// The number of the last of them.
    pub(super) last: u64,
    pub(super) slices: u64,
    pub(super) executions: u64,
    pub(super) cpu_s: f64,
}

impl TargetRecord {
    /// Whether this build has had a run, at least; whether any has, where it is not known which one is meant.
    pub(super) fn has_run_of(&self, build: Option<Digest>) -> bool {
        let Some(build) = build else { return self.executions > 0 };
        // So it is known of slices of an older version.
        let is_program = self.program == Some(build) && self.program_executions > 0;
        is_program || self.searched.iter().any(|known| known.build == build)
    }

    /// This build has had a run, in a slice that ended then.
    pub(super) fn note_run_of(&mut self, build: Digest, at_s: f64) {
        self.note_runs(&[SearchedBuild { build, at_s }]);
    }

    /// These builds have had runs.
    pub(super) fn note_runs(&mut self, builds: &[SearchedBuild]) {
        for new in builds {
            match self.searched.iter_mut().find(|known| known.build == new.build) {
                Some(known) => known.at_s = known.at_s.max(new.at_s),
                None => self.searched.push(*new),
            }
        }
        // The same ones in the same order, whichever of two records was there first.
        self.searched.sort_by(|left, right| left.at_s.total_cmp(&right.at_s).then(left.build.cmp(&right.build)));
        let surplus = self.searched.len().saturating_sub(BUILDS_MAX);
        self.searched.drain(..surplus);
    }

    /// Runs of this build are no pass any more: a failure was met on it, and how that stands is as another build has it from here on.
    pub(super) fn forget_runs_of(&mut self, build: Digest) {
        self.searched.retain(|known| known.build != build);
    }

    /// Counts a slice of a worker, whose number and end these are, unless that was done; whether it was not.
    pub(super) fn count_slice(
        &mut self,
        worker: &str,
        (number, at_s): (u64, f64),
        count: impl FnOnce(&mut TargetRecord),
    ) -> bool {
        if !self.counted.count(worker, number, at_s) {
            return false;
        }
        let (slices, executions, cpu_s) = (self.estimate.slices, self.executions, self.estimate.total_cpu_s);
        count(self);
        let share = self.shares.entry(worker.to_owned()).or_default();
        share.last = number;
        share.slices += self.estimate.slices.saturating_sub(slices);
        share.executions = share.executions.saturating_add(self.executions.saturating_sub(executions));
        share.cpu_s += self.estimate.total_cpu_s - cpu_s;
        let counted = &self.counted;
        self.shares.retain(|worker, _| counted.0.contains_key(worker));
        true
    }

    /// The shares of both records, of each worker that with the later slice.
    pub(super) fn shares_of_both(&self, other: &TargetRecord) -> BTreeMap<String, WorkerShare> {
        let mut all = self.shares.clone();
        for (worker, share) in &other.shares {
            let known = all.entry(worker.clone()).or_insert(*share);
            if share.last > known.last {
                *known = *share;
            }
        }
        all
    }

    /// The counts of the slices of both records, each once; `None` where the shares of one are not all of its counts.
    pub(super) fn total_of_both(&self, other: &TargetRecord) -> Option<WorkerShare> {
        let is_known = self.has_all_shares() && other.has_all_shares();
        is_known.then(|| WorkerShare::total(&self.shares_of_both(other)))
    }

    /// Whether its counts are those of its shares: not where a worker was forgotten, or an older version has counted.
    fn has_all_shares(&self) -> bool {
        let total = WorkerShare::total(&self.shares);
        let is_there = |(worker, (last, _)): (&String, &(u64, f64))| {
            self.shares.get(worker).is_some_and(|share| share.last == *last)
        };
        (total.slices, total.executions) == (self.estimate.slices, self.executions)
            && self.counted.0.iter().all(is_there)
    }
}

impl WorkerShare {
    fn total(shares: &BTreeMap<String, WorkerShare>) -> WorkerShare {
        shares.values().fold(WorkerShare::default(), |sum, share| WorkerShare {
            last: 0,
            slices: sum.slices.saturating_add(share.slices),
            executions: sum.executions.saturating_add(share.executions),
            cpu_s: sum.cpu_s + share.cpu_s,
        })
    }
}

/// Fields of a record that a newer version has written: kept as they are, so that versions may work side by side.
pub type OtherFields = BTreeMap<String, serde_json::Value>;

/// The number of the last slice of each worker that was counted: a slice that is merged again is not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CountedSlices(BTreeMap<String, (u64, f64)>);

impl CountedSlices {
    /// Whether a slice is to be counted, which it is from here on. Workers that were heard of long ago are forgotten.
    pub fn count(&mut self, worker: &str, number: u64, at_s: f64) -> bool {
        if self.0.get(worker).is_some_and(|(last, _)| *last >= number) {
            return false;
        }
        self.0.insert(worker.to_owned(), (number, at_s));
        while self.0.len() > COUNTED_MAX {
            let others = self.0.iter().filter(|(name, _)| *name != worker);
            let oldest = others.min_by(|left, right| left.1.1.total_cmp(&right.1.1)).map(|(name, _)| name.clone());
            oldest.and_then(|oldest| self.0.remove(&oldest));
        }
        true
    }

    /// When the latest of them ended, in seconds since 1970.
    #[must_use]
    pub fn latest(&self) -> f64 {
        self.0.values().fold(0.0, |latest, (_, at_s)| latest.max(*at_s))
    }

    /// The slices of both.
    #[must_use]
    pub fn union(&self, other: &CountedSlices) -> CountedSlices {
        let mut all = self.clone();
        for (worker, last) in &other.0 {
            let known = all.0.entry(worker.clone()).or_insert(*last);
            if last.0 > known.0 {
                *known = *last;
            }
        }
        all
    }

    /// Whether all workers are in it: none was forgotten, and they were noted at all.
    fn is_whole(&self) -> bool {
        !self.0.is_empty() && self.0.len() < COUNTED_MAX
    }

    /// Whether each slice of these, of which none was forgotten, is one of its own.
    fn covers(&self, other: &CountedSlices) -> bool {
        let has = |(worker, (last, _)): (&String, &(u64, f64))| self.0.get(worker).is_some_and(|(own, _)| own >= last);
        other.is_whole() && other.0.iter().all(has)
    }

    /// Whether no slice is in both, which is known where no worker was forgotten: a forgotten one may be older or later than others, as slices that
    /// have waited in a spool are counted late.
    fn is_apart_from(&self, other: &CountedSlices) -> bool {
        self.is_whole() && other.is_whole() && other.0.keys().all(|worker| !self.0.contains_key(worker))
    }
}

/// What the slices that one record has counted are to those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceOverlap {
    /// The other one has all of them.
    Within,
    /// It has all of the other one's, and more.
    Beyond,
    /// None is in both.
    Apart,
    /// Some are in both and each may have others, or it is not known.
    Unknown,
}

impl SliceOverlap {
    /// That of one record to another.
    #[must_use]
    pub fn of(one: &CountedSlices, other: &CountedSlices) -> SliceOverlap {
        if other.covers(one) {
            SliceOverlap::Within
        } else if one.covers(other) {
            SliceOverlap::Beyond
        } else if one.is_apart_from(other) {
            SliceOverlap::Apart
        } else {
            SliceOverlap::Unknown
        }
    }

    /// The count of both sides' slices: each once, or at least the larger number where it is not known which are in both.
    #[must_use]
    pub fn count(self, one: u64, other: u64) -> u64 {
        match self {
            SliceOverlap::Within => other,
            SliceOverlap::Beyond => one,
            SliceOverlap::Apart => one.saturating_add(other),
            SliceOverlap::Unknown => one.max(other),
        }
    }
}

/// One failure, once for its signature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetFailureRecord {
    /// The target's name.
    pub target: String,
    /// What it is.
    pub signature: FailureSignature,
    /// Its smallest trace.
    pub trace: Digest,
    /// Whether that is as small as it gets. One that was made smaller, and may become smaller still, is not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_minimal: bool,
    /// Of one that is fixed: whether it was made smaller before that, which it is again when it comes back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_shrunk: bool,
    /// How it stands on the program of today: `still there`, `fixed`, `fails otherwise`, `stale`.
    pub status: String,
    /// The program that this was seen on.
    pub program: Option<Digest>,
    /// When its trace was tried on that, in seconds since 1970; absent while it is as a slice has met it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried_at_s: Option<f64>,
    /// Why it could not be tried on the program of today: its status is that of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untried: Option<String>,
    /// How often it was seen.
    pub times: u64,
    /// When it was found first (RFC 3339).
    pub found_at: String,
    /// The last slice of each worker that is in `times`.
    #[serde(default)]
    pub counted: CountedSlices,
    /// The slice that has found it, or found it again after it was fixed: its worker and number. A merge that is repeated after a kill says the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub news_of: Option<(String, u64)>,
    /// What a newer version keeps here.
    #[serde(flatten)]
    pub others: OtherFields,
}

impl FleetFailureRecord {
    /// Whether it is a failure of the program of today, of one that is in this state: neither fixed, nor stale, which says nothing any
    /// more.
    #[must_use]
    pub fn stands(&self, state: FailureState) -> bool {
        state != FailureState::Fixed && self.status != RegressionStatus::Stale.word()
    }

    /// Its state from here on, by how its trace, which stays, stands on the program of today.
    pub(super) fn state_after(&mut self, status: RegressionStatus, state: FailureState) -> FailureState {
        match (status, state) {
            (RegressionStatus::Fixed, FailureState::Fixed) => FailureState::Fixed,
            (RegressionStatus::Fixed, _) => {
                self.was_shrunk = state == FailureState::Shrunk;
                FailureState::Fixed
            }
            (_, FailureState::Fixed) if status.is_failure() => self.state_again(),
            _ => state,
        }
    }

    /// The state of one that was fixed, and fails again: what its trace was before that.
    pub(super) fn state_again(&mut self) -> FailureState {
        let is_shrunk = std::mem::take(&mut self.was_shrunk) || self.is_minimal;
        if is_shrunk { FailureState::Shrunk } else { FailureState::Unshrunk }
    }
}

/// A record of a failure in a store.
#[derive(Clone, Debug)]
pub(super) struct StoredFailure {
    /// Its key.
    pub(super) key: StoreKey,
    /// The id of its target.
    pub(super) target: String,
    pub(super) state: FailureState,
    /// What it says; `None` where it cannot be read.
    pub(super) record: Option<FleetFailureRecord>,
}

impl StoredFailure {
    /// Its trace, if that is known.
    pub(super) fn trace(&self) -> Option<Digest> {
        self.record.as_ref().map(|record| record.trace)
    }
}

/// Where a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureState {
    /// As it was found.
    Unshrunk,
    /// Made smaller, or as small as it gets.
    Shrunk,
    /// The program of today passes.
    Fixed,
}

impl FailureState {
    /// All of them.
    pub const ALL: [FailureState; 3] = [FailureState::Unshrunk, FailureState::Shrunk, FailureState::Fixed];

    /// The word in keys and documents.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            FailureState::Unshrunk => "unshrunk",
            FailureState::Shrunk => "shrunk",
            FailureState::Fixed => "fixed",
        }
    }
}

/// What one process has done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetWorkerRecord {
    /// Its version of fozzy.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// When it began (RFC 3339).
    pub started_at: String,
    /// When it last said something.
    pub seen_at: String,
    /// Slices that it has finished.
    pub slices: u64,
    /// CPU seconds of these.
    pub cpu_s: f64,
    /// Whether it has ended as it should.
    pub has_ended: bool,
    /// Its last slices.
    #[serde(default)]
    pub recent: Vec<FleetSliceRow>,
}

impl FleetWorkerRecord {
    /// One more slice; the oldest ones are forgotten.
    pub fn remember(recent: &mut Vec<FleetSliceRow>, slice: FleetSliceRow) {
        recent.push(slice);
        let surplus = recent.len().saturating_sub(RECENT_MAX);
        recent.drain(..surplus);
    }
}

/// The failures of a target that can be read, with their keys' last parts, and for each record that cannot its state, its key and why.
type KnownFailures = (Vec<(FailureState, String, FleetFailureRecord)>, Vec<(FailureState, StoreKey, String)>);

/// The records of one store.
pub struct FleetRecords<'a> {
    /// Where they are.
    pub store: &'a dyn SharedStore,
}

impl FleetRecords<'_> {
    /// What is known of a target; nothing of a new one. The text says why there is nothing to be known.
    pub fn target(&self, id: &str) -> Result<(TargetRecord, Option<String>), SharedStoreError> {
        let key = StoreKey::new(&["targets", id]);
        let (found, refused) = self.read::<TargetRecord>(&key)?;
        let record = found.unwrap_or_default();
        Ok((TargetRecord { estimate: record.estimate.sound(), ..record }, refused))
    }

    /// The same of a target with this name. The record of another one, as of a file that was put in its place, says nothing of it.
    pub(super) fn target_named(
        &self,
        id: &str,
        name: &str,
    ) -> Result<(TargetRecord, Option<String>), SharedStoreError> {
        let (record, refused) = self.target(id)?;
        if record.name.is_empty() || record.name == name {
            return Ok((record, refused));
        }
        let (key, place) = (StoreKey::new(&["targets", id]), self.store.place());
        let why = format!(
            "{key} in {place} is damaged: it is the record of {}, and not of {name}; the next slice begins a new one",
            record.name
        );
        Ok((TargetRecord::default(), Some(why)))
    }

    /// Keeps what is known of a target.
    pub fn put_target(&self, id: &str, record: &TargetRecord) -> Result<(), SharedStoreError> {
        self.write(&StoreKey::new(&["targets", id]), record)
    }

    /// All failures of a target that can be read, with their keys' last parts.
    pub fn failures(&self, id: &str) -> Result<Vec<(FailureState, String, FleetFailureRecord)>, SharedStoreError> {
        Ok(self.failures_and_refused(id)?.0)
    }

    /// The same, and for each record that cannot be read its state, its key and why.
    pub(super) fn failures_and_refused(&self, id: &str) -> Result<KnownFailures, SharedStoreError> {
        let (mut failures, mut refused) = (Vec::new(), Vec::new());
        for state in FailureState::ALL {
            let folder = StoreKey::new(&["failures", state.word(), id]);
            for name in self.store.list(&folder)? {
                let key = folder.join(&name);
                match self.read(&key)? {
                    (Some(record), _) => failures.push((state, name, record)),
                    (None, why) => refused.extend(why.map(|why| (state, key, why))),
                }
            }
        }
        Ok((failures, refused))
    }

    /// The failures of all targets that stand.
    pub fn standing(&self) -> Result<Vec<FleetFailureRecord>, SharedStoreError> {
        let stands = |StoredFailure { state, record, .. }: StoredFailure| record.filter(|record| record.stands(state));
        Ok(self.stored_failures()?.into_iter().filter_map(stands).collect())
    }

    /// All records of failures, of whatever targets.
    pub(super) fn stored_failures(&self) -> Result<Vec<StoredFailure>, SharedStoreError> {
        let mut failures = Vec::new();
        for folder in self.store.folders()? {
            let [kind, state, target] = folder.parts() else { continue };
            let state = FailureState::ALL.into_iter().find(|known| known.word() == state);
            let Some(state) = state.filter(|_| kind == "failures") else { continue };
            for name in self.store.list(&folder)? {
                let key = folder.join(&name);
                let record = self.read(&key)?.0;
                failures.push(StoredFailure { key, target: target.clone(), state, record });
            }
        }
        Ok(failures)
    }

    /// Keeps a failure under its state, and nowhere else.
    pub fn put_failure(
        &self,
        id: &str,
        state: FailureState,
        record: &FleetFailureRecord,
    ) -> Result<(), SharedStoreError> {
        let name = Digest::of(record.signature.to_string().as_bytes()).short();
        let key = |state: FailureState| StoreKey::new(&["failures", state.word(), id, &name]);
        // Moved first: whoever is killed in between leaves it in one state.
        for other in FailureState::ALL.into_iter().filter(|other| *other != state) {
            self.store.rename(&key(other), &key(state))?;
        }
        self.write(&key(state), record)
    }

    /// The moments of a target, the oldest first.
    pub fn history(&self, id: &str) -> Result<Vec<FleetMoment>, SharedStoreError> {
        Ok(self.read(&StoreKey::new(&["history", id]))?.0.unwrap_or_default())
    }

    /// One more moment of a target; that of a slice once.
    pub fn add_moment(&self, id: &str, moment: FleetMoment) -> Result<(), SharedStoreError> {
        let mut history = self.history(id)?;
        if has_moment(&history, &moment) {
            return Ok(());
        }
        history.push(moment);
        self.write(&StoreKey::new(&["history", id]), &thin_out(history))
    }

    /// The right to change the records of a target, for a few requests; `None` when another one still has it after `wait`.
    pub(super) fn lock(
        &self,
        id: &str,
        holder: &str,
        wait: Duration,
    ) -> Result<Option<Box<dyn StoreLease>>, SharedStoreError> {
        let (key, watch) = (StoreKey::new(&["records", id]), Stopwatch::start());
        loop {
            let lease = self.store.acquire(&key, holder)?;
            if lease.is_some() || watch.elapsed() >= wait {
                return Ok(lease);
            }
            pause(LOCK_PAUSE);
        }
    }

    /// Who has it.
    pub(super) fn lock_holder(&self, id: &str) -> Result<String, SharedStoreError> {
        let holder = self.store.holder(&StoreKey::new(&["records", id]))?;
        Ok(holder.unwrap_or_else(|| "another worker".to_owned()))
    }

    /// All workers that are remembered.
    pub fn workers(&self) -> Result<Vec<(String, FleetWorkerRecord)>, SharedStoreError> {
        let folder = StoreKey::new(&["workers"]);
        let mut workers = Vec::new();
        for name in self.store.list(&folder)? {
            workers.extend(self.read(&folder.join(&name))?.0.map(|record| (name, record)));
        }
        Ok(workers)
    }

    /// Keeps what this process has done, and forgets the oldest that have ended.
    pub fn put_worker(&self, worker: &str, record: &FleetWorkerRecord) -> Result<(), SharedStoreError> {
        let folder = StoreKey::new(&["workers"]);
        self.write(&folder.join(worker), record)?;
        let others = self.workers()?.into_iter().filter(|(_, other)| other.has_ended);
        let mut ended: Vec<(String, String)> = others.map(|(name, other)| (other.seen_at, name)).collect();
        ended.sort();
        let surplus = ended.len().saturating_sub(WORKERS_MAX);
        ended.iter().take(surplus).try_for_each(|(_, name)| self.store.delete(&folder.join(name)).map(drop))
    }

    fn read<T: DeserializeOwned>(&self, key: &StoreKey) -> Result<(Option<T>, Option<String>), SharedStoreError> {
        let bytes = match self.store.get(key) {
            Err(error @ SharedStoreError::NoFile { .. }) => return Ok((None, Some(error.to_string()))),
            found => found?,
        };
        let Some(bytes) = bytes else { return Ok((None, None)) };
        Ok(match serde_json::from_slice(&bytes) {
            Ok(record) => (Some(record), None),
            Err(error) => (None, Some(format!("{key} in {} cannot be read: {error}", self.store.place()))),
        })
    }

    /// Keeps a record.
    pub(super) fn write<T: Serialize>(&self, key: &StoreKey, record: &T) -> Result<(), SharedStoreError> {
        let mut text = serde_json::to_vec_pretty(record).expect("our own types are JSON");
        text.push(b'\n');
        self.store.put(key, &text)
    }
}

/// Whether a moment of the same slice is among them.
pub(super) fn has_moment(moments: &[FleetMoment], moment: &FleetMoment) -> bool {
    moments.iter().any(|known| known.worker == moment.worker && known.at_s.total_cmp(&moment.at_s).is_eq())
}

/// Moments as they are kept: while they are too many, every second one goes, and the ends stay.
pub(super) fn thin_out(mut moments: Vec<FleetMoment>) -> Vec<FleetMoment> {
    while moments.len() > MOMENTS_MAX {
        let last = moments.len() - 1;
        let mut place = 0..;
        moments.retain(|_| place.next().is_some_and(|place| place % 2 == 0 || place == last));
    }
    moments
}

#[cfg(test)]
impl FleetFailureRecord {
    /// A failure of tests: a panic of `app.wasm`, which stands.
    pub(super) fn app(site: &str, trace: Digest) -> FleetFailureRecord {
        FleetFailureRecord {
            target: "app.wasm".to_owned(),
            signature: FailureSignature { kind: fozzy_trace::FindingKind::Panic, site: site.to_owned() },
            trace,
            is_minimal: false,
            was_shrunk: false,
            status: RegressionStatus::StillThere.word().to_owned(),
            program: None,
            tried_at_s: None,
            untried: None,
            times: 1,
            found_at: "2026".to_owned(),
            counted: CountedSlices::default(),
            news_of: None,
            others: OtherFields::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::shared_store::DirectoryStore;

    #[test]
    fn the_record_of_a_failure_that_cannot_be_read_is_said_and_is_no_pass() {
        use crate::fleet::discovery::{FleetCollection, FleetTarget, FleetTargetKind};
        use crate::fleet::view::FleetView;
        use fozzy_trace::Status;
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(folder.path(), "shop").expect("a store");
        let target = FleetTarget::app(FleetTargetKind::Explore);
        let collection = FleetCollection { targets: vec![target], ..FleetCollection::default() };
        let record = TargetRecord { executions: 1, ..TargetRecord::default() };
        FleetRecords { store: &store }.put_target("app-1", &record).expect("kept");
        for (state, status) in [("fixed", Status::Pass), ("unshrunk", Status::Error)] {
            store.put(&StoreKey::new(&["failures", state, "app-1", "3f2a"]), b"{\"target\": \"ap").expect("kept");
            let view = FleetView { store: &store, collection: &collection, named: None };
            let document = view.document().expect("it answers");
            let expected = format!("failures/{state}/app-1/3f2a in ");
            assert!(document.warnings.iter().any(|note| note.starts_with(&expected)), "{:?}", document.warnings);
            assert_eq!((document.status, document.failures.len()), (status, 0));
        }
        assert!(FleetRecords { store: &store }.failures("app-1").expect("it answers").is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_as_the_record_of_a_failure_is_no_pass() {
        use crate::fleet::discovery::{FleetCollection, FleetTarget, FleetTargetKind};
        use crate::fleet::view::FleetView;
        use fozzy_trace::Status;
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(folder.path(), "shop").expect("a store");
        let target = FleetTarget::app(FleetTargetKind::Explore);
        let collection = FleetCollection { targets: vec![target], ..FleetCollection::default() };
        let record = TargetRecord { executions: 1, ..TargetRecord::default() };
        FleetRecords { store: &store }.put_target("app-1", &record).expect("kept");
        let view = FleetView { store: &store, collection: &collection, named: None };
        assert_eq!(view.document().expect("it answers").status, Status::Pass);
        let failures = folder.path().join("values/failures/shrunk/app-1");
        std::fs::create_dir_all(&failures).expect("made");
        std::os::unix::fs::symlink("nowhere", failures.join("3f2a.json")).expect("linked");
        let document = view.document().expect("it answers");
        assert_eq!((document.status, document.unreadable_failures), (Status::Error, 1));
        let note = document.warnings.first().expect("a note");
        assert!(note.contains("a link to what is not there") && note.contains("failures/shrunk/app-1/3f2a"), "{note}");
    }

    #[test]
    fn the_record_of_another_target_in_its_place_says_nothing_and_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(folder.path(), "shop").expect("a store");
        let records = FleetRecords { store: &store };
        for (name, executions, is_refused) in [("app.wasm", 7, false), ("", 7, false), ("other.wasm", 0, true)] {
            let record = TargetRecord { name: name.to_owned(), executions: 7, ..TargetRecord::default() };
            records.put_target("app-1", &record).expect("kept");
            let (found, refused) = records.target_named("app-1", "app.wasm").expect("read");
            assert_eq!((found.executions, refused.is_some()), (executions, is_refused), "{name}");
            assert!(refused.is_none_or(|why| why.contains("is damaged: it is the record of other.wasm")));
        }
    }

    #[test]
    fn a_failure_that_comes_back_is_shrunk_only_if_it_was_that_before() {
        for (was, is_minimal) in
            [(FailureState::Unshrunk, false), (FailureState::Shrunk, false), (FailureState::Shrunk, true)]
        {
            let app = FleetFailureRecord::app("x", Digest::of(b"a trace"));
            let mut record = FleetFailureRecord { is_minimal, ..app };
            let mut state = record.state_after(RegressionStatus::StillThere, was);
            assert_eq!(state, was);
            // Twice, as two changes of its program.
            for _ in 0..2 {
                state = record.state_after(RegressionStatus::Fixed, state);
                assert_eq!(state, FailureState::Fixed);
            }
            let text = serde_json::to_vec(&record).expect("JSON");
            let mut record: FleetFailureRecord = serde_json::from_slice(&text).expect("JSON");
            assert_eq!(record.state_after(RegressionStatus::Stale, state), FailureState::Fixed);
            assert_eq!(record.state_after(RegressionStatus::StillThere, state), was);
        }
    }

    #[test]
    fn each_build_that_has_had_a_run_is_known_up_to_a_bound() {
        let build = |number: usize| Digest::of(&number.to_le_bytes());
        let mut record = TargetRecord { program: Some(build(0)), ..TargetRecord::default() };
        assert!(!record.has_run_of(Some(build(0))) && !record.has_run_of(None));
        // As an older version has counted it.
        (record.program_executions, record.executions) = (7, 7);
        assert!(record.has_run_of(Some(build(0))) && record.has_run_of(None) && !record.has_run_of(Some(build(1))));
        (1..=BUILDS_MAX).for_each(|number| record.note_run_of(build(number), number as f64));
        record.note_run_of(build(1), 1000.0);
        record.note_run_of(build(1), 3.0);
        record.note_run_of(build(BUILDS_MAX + 1), 1001.0);
        let known: Vec<bool> = (0..=BUILDS_MAX + 2).map(|number| record.has_run_of(Some(build(number)))).collect();
        let expected: Vec<bool> = (0..=BUILDS_MAX + 2).map(|number| number != 2 && number <= BUILDS_MAX + 1).collect();
        assert_eq!((known, record.searched.len()), (expected, BUILDS_MAX));
        let text = serde_json::to_vec(&record).expect("JSON");
        assert_eq!(serde_json::from_slice::<TargetRecord>(&text).expect("JSON"), record);
    }

    #[test]
    fn records_of_older_versions_are_read_and_what_newer_ones_have_added_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(folder.path(), "shop").expect("a store");
        let (records, key) = (FleetRecords { store: &store }, StoreKey::new(&["targets", "app-1"]));
        store.put(&key, br#"{"name": "app.wasm", "executions": 7}"#).expect("kept");
        assert_eq!(records.target("app-1").expect("read").0.executions, 7);
        let newer = br#"{"name": "app.wasm", "executions": 7, "energy": {"of": [1, 2]}}"#;
        store.put(&key, newer).expect("kept");
        let (record, refused) = records.target("app-1").expect("read");
        assert_eq!(refused, None);
        records.put_target("app-1", &TargetRecord { executions: 8, ..record }).expect("kept");
        let kept = store.get(&key).expect("read").expect("it is there");
        let kept: serde_json::Value = serde_json::from_slice(&kept).expect("JSON");
        assert_eq!((&kept["executions"], &kept["energy"]), (&8.into(), &serde_json::json!({"of": [1, 2]})));
    }
}
