//! Copies a store into another one, which may have records of its own.
//!
//! ```text
//! slices that are counted             the record of both
//! from ⊆ to, or the other way round   the larger one as it is
//! from and to have none in common     the sum of both
//! some in common, each has others     the sum of what each worker's slices have added; of a failure, the larger count
//! not known                           the larger of each count
//! ```
//!
//! Which slices a record has counted is known by the last one of each worker in it, and is not known of workers that it has forgotten, or that an
//! older version has counted. How a target and its failures stand is said by the side
//! whose slice is the latest; how a process went, by its later record; a saved exploration of one build has the paths of both.
//!
//! Invariants: what is copied twice, or there and back, changes nothing the second time; nothing that only the other store has goes; a failure
//! is in one state; each blob goes before the record that names it, and a record that cannot be read, or whose blob is gone or damaged, is not copied
//! and is said, so that no record names what is not there, whoever is stopped in between and whatever fleets change meanwhile; a blob that is there
//! is not sent again; one that a joined record no longer names, and no other one, is deleted.
//! Not here: leases, which stay, sets, which fleets have none of, and blobs that no record names.

use super::division::DiscoveryEstimate;
use super::exchange::ExploredRecord;
use super::named_blobs::delete_unnamed;
use super::records::{
    CountedSlices, FailureState, FleetFailureRecord, FleetRecords, FleetWorkerRecord, OtherFields, SliceOverlap,
    TargetRecord, WorkerShare, has_moment, thin_out,
};
use super::shared_store::{SharedStore, SharedStoreError, StoreKey, StoreLease, is_on_server, shared_store_error};
use crate::error::CampaignError;
use fozzy_report::fleet::{CopiedKindRow, FleetMoment};
use fozzy_trace::Digest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::time::Duration;

/// Who holds records while they are joined.
const HOLDER: &str = "fozzy store copy";
/// Real time for which records are waited for that a worker changes.
const LOCK_WAIT: Duration = Duration::from_secs(2);

/// Records that could not be copied of which each is said; of the others, their number is.
const LOST_SAID_MAX: usize = 20;
/// Attempts to join a record that a worker changes meanwhile. It does so once in a slice.
const ATTEMPTS_MAX: u32 = 3;

/// What was copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopiedStore {
    /// What became of the records of each kind, by name.
    pub kinds: Vec<CopiedKindRow>,
    /// Blobs that the other store did not have.
    pub blobs: u64,
    /// Bytes of records and blobs that were read.
    pub bytes: u64,
    /// Targets whose counts are the larger ones, since it is not known which of their slices are in both stores.
    pub larger: Vec<String>,
    /// The first records that could not be copied, and why, for people.
    pub lost: Vec<String>,
}

impl CopiedStore {
    /// How many records could not be copied.
    #[must_use]
    pub fn lost_total(&self) -> u64 {
        self.kinds.iter().map(|row| row.lost).sum()
    }
}

/// An error of a copy, for people: the other store has a part by now, so that only `--merge` goes on.
pub fn store_copy_error(error: SharedStoreError) -> CampaignError {
    let is_stopped = matches!(error, SharedStoreError::Io { .. } | SharedStoreError::Away { .. });
    let told = shared_store_error(error);
    match is_stopped {
        true => told.hint(
            "what was copied is whole; once there is room and both stores answer, the same command with --merge goes on",
        ),
        false => told,
    }
}

/// Copies values and blobs from one store to another, and joins the records that both have.
///
/// # Errors
/// When one of them does not work, or a worker holds records of the other one.
pub fn copy_store(from: &dyn SharedStore, to: &dyn SharedStore) -> Result<CopiedStore, SharedStoreError> {
    let mut merge = StoreMerge { from, to, copied: CopiedStore::default() };
    let mut kinds = BTreeMap::<String, CopiedKindRow>::new();
    // In their order, a target's record comes after its failures and its history, which ask both records what is the later one.
    for folder in from.folders()? {
        for name in from.list(&folder)? {
            let key = folder.join(&name);
            let value = match from.get(&key) {
                Err(error @ SharedStoreError::NoFile { .. }) => Err(error.to_string()),
                found => match found? {
                    Some(value) => Ok(value),
                    None => continue,
                },
            };
            merge.copied.bytes += value.as_ref().map_or(0, |value| value.len() as u64);
            let kind = key.parts().first().cloned().unwrap_or_default();
            let row = kinds.entry(kind.clone()).or_insert_with(|| CopiedKindRow { kind, ..CopiedKindRow::default() });
            let outcome = match &value {
                Ok(value) => merge.copy(&key, value)?,
                Err(why) => CopyOutcome::Lost(why.clone()),
            };
            let has_changed = match (&outcome, &value) {
                (CopyOutcome::Lost(_), Ok(value)) => from.get(&key)?.as_ref() != Some(value),
                _ => false,
            };
            match outcome {
                // What a fleet has changed meanwhile is for the next copy.
                CopyOutcome::Lost(_) if has_changed => row.left += 1,
                CopyOutcome::Lost(why) => {
                    row.lost += 1;
                    if merge.copied.lost.len() < LOST_SAID_MAX {
                        merge.copied.lost.push(format!("{key} was not copied: {why}"));
                    }
                }
                CopyOutcome::New => row.new += 1,
                CopyOutcome::Merged => row.merged += 1,
                CopyOutcome::Replaced => row.replaced += 1,
                CopyOutcome::Left => row.left += 1,
            }
        }
    }
    Ok(CopiedStore { kinds: kinds.into_values().collect(), ..merge.copied })
}

/// What became of one record.
#[derive(Clone, PartialEq, Eq)]
enum CopyOutcome {
    /// The other store had none.
    New,
    /// It is made of both.
    Merged,
    /// It is now as in the first store.
    Replaced,
    /// It is as it was.
    Left,
    /// It cannot be copied, and why.
    Lost(String),
}

impl CopyOutcome {
    fn unreadable(error: &serde_json::Error) -> CopyOutcome {
        CopyOutcome::Lost(format!("it cannot be read: {error}"))
    }
}

/// Two stores, of which the second takes what the first one has.
struct StoreMerge<'a> {
    from: &'a dyn SharedStore,
    to: &'a dyn SharedStore,
    copied: CopiedStore,
}

impl StoreMerge<'_> {
    fn copy(&mut self, key: &StoreKey, value: &[u8]) -> Result<CopyOutcome, SharedStoreError> {
        let parts: Vec<&str> = key.parts().iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["targets", id] => {
                let (_lease, mut unknown) = (self.lock(id)?, None);
                let outcome = self.join(key, value, |from: &TargetRecord, to: &TargetRecord| {
                    let overlap = SliceOverlap::of(&from.counted, &to.counted);
                    let is_unknown = overlap == SliceOverlap::Unknown && from.total_of_both(to).is_none();
                    unknown = is_unknown.then(|| to.name.clone());
                    join_targets(from, to)
                })?;
                self.copied.larger.extend(unknown.filter(|_| outcome != CopyOutcome::Left));
                Ok(outcome)
            }
            ["history", id] => {
                let _lease = self.lock(id)?;
                let (from, to) = (self.counted(self.from, id)?, self.counted(self.to, id)?);
                self.join(key, value, |own: &Vec<FleetMoment>, other: &Vec<FleetMoment>| {
                    join_histories((own, &from), (other, &to))
                })
            }
            ["failures", state, id, name] => {
                let _lease = self.lock(id)?;
                self.copy_failure((state, id, name), key, value)
            }
            ["workers", _] => self.join(key, value, |from: &FleetWorkerRecord, to: &FleetWorkerRecord| {
                let age = |record: &FleetWorkerRecord| (record.has_ended, record.slices, record.seen_at.clone());
                if age(from) > age(to) { from.clone() } else { to.clone() }
            }),
            ["explored", ..] => self.copy_explored(key, value),
            ["corpus", _, name] => match Digest::parse(name) {
                Some(name) => match self.bring("testcase", &name)? {
                    Some(lost) => Ok(lost),
                    None => self.put(key, value),
                },
                None => Ok(CopyOutcome::Lost("it is no name of a testcase".to_owned())),
            },
            _ => self.put(key, value),
        }
    }

    /// Brings a blob that a record names; what becomes of the record when neither store has it.
    fn bring(&mut self, what: &str, name: &Digest) -> Result<Option<CopyOutcome>, SharedStoreError> {
        if self.has(name)? {
            return Ok(None);
        }
        let Some(bytes) = self.from.get_blobs(&[*name])?.pop().flatten() else {
            return Ok(Some(CopyOutcome::Lost(format!("its {what} is missing or damaged"))));
        };
        self.copied.blobs += 1;
        self.copied.bytes += bytes.len() as u64;
        self.to.put_blob(&bytes)?;
        Ok(None)
    }

    /// Whether the other store has a blob. That of a folder is read, since anybody may have changed it there; to read that of a server takes as
    /// long as to send it.
    fn has(&self, name: &Digest) -> Result<bool, SharedStoreError> {
        match is_on_server(self.to) {
            true => Ok(self.to.has_blobs(&[*name])?.contains(&true)),
            false => Ok(self.to.get_blobs(&[*name])?.pop().flatten().is_some()),
        }
    }

    /// A record of which one side is taken whole.
    fn put(&self, key: &StoreKey, value: &[u8]) -> Result<CopyOutcome, SharedStoreError> {
        Ok(match self.to.get(key)? {
            Some(old) if old == value => CopyOutcome::Left,
            old => {
                self.to.put(key, value)?;
                if old.is_some() { CopyOutcome::Replaced } else { CopyOutcome::New }
            }
        })
    }

    /// A record that is made of both where both have one. One of the second store that cannot be read gives way.
    fn join<T: Serialize + DeserializeOwned + PartialEq>(
        &self,
        key: &StoreKey,
        value: &[u8],
        join: impl FnOnce(&T, &T) -> T,
    ) -> Result<CopyOutcome, SharedStoreError> {
        let from = match serde_json::from_slice::<T>(value) {
            Ok(from) => from,
            Err(error) => return Ok(CopyOutcome::unreadable(&error)),
        };
        let Some(old) = self.to.get(key)? else { return self.put(key, value) };
        let Ok(to) = serde_json::from_slice::<T>(&old) else { return self.put(key, value) };
        let joined = join(&from, &to);
        if joined == to {
            return Ok(CopyOutcome::Left);
        }
        FleetRecords { store: self.to }.write(key, &joined)?;
        Ok(if joined == from { CopyOutcome::Replaced } else { CopyOutcome::Merged })
    }

    fn copy_failure(
        &mut self,
        (state, id, name): (&str, &str, &str),
        key: &StoreKey,
        value: &[u8],
    ) -> Result<CopyOutcome, SharedStoreError> {
        let Some(state) = FailureState::ALL.into_iter().find(|known| known.word() == state) else {
            return Ok(CopyOutcome::Lost(format!("a failure is not known to be {state}")));
        };
        let from = match serde_json::from_slice::<FleetFailureRecord>(value) {
            Ok(from) => from,
            Err(error) => return Ok(CopyOutcome::unreadable(&error)),
        };
        for known in FailureState::ALL {
            let key = StoreKey::new(&["failures", known.word(), id, name]);
            let old = self.to.get(&key)?.and_then(|old| serde_json::from_slice::<FleetFailureRecord>(&old).ok());
            let Some(to) = old else { continue };
            let is_later = self.counted(self.from, id)?.latest() > self.counted(self.to, id)?.latest();
            let (joined_state, joined) = join_failures((state, &from), (known, &to), is_later);
            if joined.trace == from.trace
                && let Some(lost) = self.bring("trace", &from.trace)?
            {
                return Ok(lost);
            }
            if (joined_state, &joined) == (known, &to) {
                return Ok(CopyOutcome::Left);
            }
            FleetRecords { store: self.to }.put_failure(id, joined_state, &joined)?;
            if joined.trace != to.trace {
                delete_unnamed(self.to, &to.trace)?;
            }
            let is_from = (joined_state, &joined) == (state, &from);
            return Ok(if is_from { CopyOutcome::Replaced } else { CopyOutcome::Merged });
        }
        match self.bring("trace", &from.trace)? {
            Some(lost) => Ok(lost),
            None => self.put(key, value),
        }
    }

    /// A saved exploration. Who works on its target may write it at any time: what it has written meanwhile is joined, too.
    fn copy_explored(&mut self, key: &StoreKey, value: &[u8]) -> Result<CopyOutcome, SharedStoreError> {
        let read = |value: &[u8]| serde_json::from_slice::<ExploredRecord>(value).ok();
        let from = match serde_json::from_slice::<ExploredRecord>(value) {
            Ok(from) => from,
            Err(error) => return Ok(CopyOutcome::unreadable(&error)),
        };
        for _ in 0..ATTEMPTS_MAX {
            let old = self.to.get(key)?;
            let Some(to) = old.as_deref().and_then(read) else {
                return match self.bring("state", &from.state)? {
                    Some(lost) => Ok(lost),
                    None => self.put(key, value),
                };
            };
            let joined = ExploredRecord::joined((self.from, &from), (self.to, &to))?;
            if joined == to && from.content != to.content && from.state_in(self.from)?.is_none() {
                return Ok(CopyOutcome::Lost("its state is missing or damaged".to_owned()));
            }
            if joined == to {
                return Ok(CopyOutcome::Left);
            }
            let now = self.to.get(key)?;
            if now != old {
                delete_unnamed(self.to, &joined.state)?;
                continue;
            }
            FleetRecords { store: self.to }.write(key, &joined)?;
            if joined.state != to.state {
                delete_unnamed(self.to, &to.state)?;
            }
            return Ok(if joined == from { CopyOutcome::Replaced } else { CopyOutcome::Merged });
        }
        let (what, path) = ("change", format!("{key} in {}", self.to.place()));
        Err(SharedStoreError::Away { what, path, why: "a worker changes it again and again".to_owned() })
    }

    /// The slices of a target that a store has counted.
    fn counted(&self, store: &dyn SharedStore, id: &str) -> Result<CountedSlices, SharedStoreError> {
        Ok(FleetRecords { store }.target(id)?.0.counted)
    }

    /// The right to change the records of a target.
    fn lock(&self, id: &str) -> Result<Box<dyn StoreLease>, SharedStoreError> {
        let records = FleetRecords { store: self.to };
        if let Some(lease) = records.lock(id, HOLDER, LOCK_WAIT)? {
            return Ok(lease);
        }
        let (what, path) = ("change", format!("the records of {id} in {}", self.to.place()));
        let after_kill = match is_on_server(self.to) {
            true => "; of one that was killed they are free after half a minute",
            false => "",
        };
        let why = format!("{} holds them{after_kill}", records.lock_holder(id)?);
        Err(SharedStoreError::Away { what, path, why })
    }
}

fn join_targets(from: &TargetRecord, to: &TargetRecord) -> TargetRecord {
    let overlap = SliceOverlap::of(&from.counted, &to.counted);
    match overlap {
        SliceOverlap::Within => return to.clone(),
        SliceOverlap::Beyond => return from.clone(),
        SliceOverlap::Apart | SliceOverlap::Unknown => {}
    }
    let is_later = from.counted.latest() > to.counted.latest();
    let (later, earlier) = if is_later { (from, to) } else { (to, from) };
    let (left, right) = (from.estimate.total_cpu_s, to.estimate.total_cpu_s);
    let total = from.total_of_both(to).unwrap_or_else(|| WorkerShare {
        last: 0,
        slices: overlap.count(from.estimate.slices, to.estimate.slices),
        executions: overlap.count(from.executions, to.executions),
        cpu_s: if overlap == SliceOverlap::Apart { left + right } else { left.max(right) },
    });
    // Coverage is of one program.
    let best = |of: fn(&TargetRecord) -> u64| if from.program == to.program { of(from).max(of(to)) } else { of(later) };
    let has_one_program = |record: &TargetRecord| record.program_executions == record.executions;
    let program_executions = match (from.program == to.program, has_one_program(from) && has_one_program(to)) {
        (true, true) => total.executions,
        (true, false) => overlap.count(from.program_executions, to.program_executions),
        (false, _) => later.program_executions,
    };
    let mut properties = later.properties.clone();
    if from.program == to.program {
        properties.merge(&earlier.properties);
    }
    let mut joined = later.clone();
    joined.note_runs(&earlier.searched);
    TargetRecord {
        properties,
        estimate: DiscoveryEstimate { total_cpu_s: total.cpu_s, slices: total.slices, ..later.estimate },
        executions: total.executions,
        features: best(|record| record.features),
        edges: best(|record| record.edges),
        program_executions,
        corpus: from.corpus.max(to.corpus),
        news_at: from.news_at.clone().max(to.news_at.clone()),
        counted: from.counted.union(&to.counted),
        shares: from.shares_of_both(to),
        others: join_others(&earlier.others, &later.others),
        ..joined
    }
}

/// One failure in two stores; `is_later` says that the first one has searched its target last.
fn join_failures(
    from: (FailureState, &FleetFailureRecord),
    to: (FailureState, &FleetFailureRecord),
    is_later: bool,
) -> (FailureState, FleetFailureRecord) {
    let times = match SliceOverlap::of(&from.1.counted, &to.1.counted) {
        SliceOverlap::Within => to.1.times,
        SliceOverlap::Beyond => from.1.times,
        overlap => overlap.count(from.1.times, to.1.times),
    };
    let ((state, later), (before, earlier)) = if is_later { (from, to) } else { (to, from) };
    let (state, smallest) = match (state, before) {
        (FailureState::Unshrunk, FailureState::Shrunk) => (FailureState::Shrunk, earlier),
        (FailureState::Shrunk, FailureState::Shrunk) if earlier.is_minimal && !later.is_minimal => (state, earlier),
        (state, _) => (state, later),
    };
    let joined = FleetFailureRecord {
        trace: smallest.trace,
        is_minimal: smallest.is_minimal,
        times,
        found_at: from.1.found_at.clone().min(to.1.found_at.clone()),
        counted: from.1.counted.union(&to.1.counted),
        others: join_others(&earlier.others, &later.others),
        ..later.clone()
    };
    (state, joined)
}

/// The moments of a target in two stores, with the slices that each has counted.
fn join_histories(
    (from, from_counted): (&[FleetMoment], &CountedSlices),
    (to, to_counted): (&[FleetMoment], &CountedSlices),
) -> Vec<FleetMoment> {
    match SliceOverlap::of(from_counted, to_counted) {
        SliceOverlap::Within => return to.to_vec(),
        SliceOverlap::Beyond => return from.to_vec(),
        // The longer one, since no moment says whose slices are in it.
        SliceOverlap::Unknown => {
            let last = |all: &[FleetMoment]| all.last().map_or(0, |moment| moment.executions);
            return if last(from) > last(to) { from.to_vec() } else { to.to_vec() };
        }
        // A copy that was stopped before it came to the target's record has joined them already.
        SliceOverlap::Apart if from.iter().any(|moment| has_moment(to, moment)) => return to.to_vec(),
        SliceOverlap::Apart => {}
    }
    let mut all: Vec<(usize, &FleetMoment)> = from.iter().map(|moment| (0, moment)).collect();
    all.extend(to.iter().map(|moment| (1, moment)));
    all.sort_by(|left, right| left.1.at_s.total_cmp(&right.1.at_s));
    // At each moment, both sides have what they had at their last one.
    let mut last = [FleetMoment::default(), FleetMoment::default()];
    let both = all.into_iter().map(|(side, moment)| {
        last[side] = moment.clone();
        let other = &last[1 - side];
        FleetMoment {
            cpu_s: moment.cpu_s + other.cpu_s,
            executions: moment.executions.saturating_add(other.executions),
            features: moment.features.max(other.features),
            edges: moment.edges.max(other.edges),
            corpus: moment.corpus.max(other.corpus),
            failures: moment.failures.max(other.failures),
            ..moment.clone()
        }
    });
    thin_out(both.collect())
}

fn join_others(earlier: &OtherFields, later: &OtherFields) -> OtherFields {
    earlier.iter().chain(later).map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests;
