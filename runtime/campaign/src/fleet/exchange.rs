//! What slices of a target have found as inputs and paths, between the folders of a machine and the store.
//!
//! ```text
//! .fozzy/corpora/app.parse/e3b0…         ◀──▶  corpus/<target>/<sha-256>            its size; the testcase is a blob
//! .fozzy/explore/fleet/<target>.known    ◀──▶  explored/<target>/<program>-known    ExploredRecord; the state is a blob, deflated
//! .fozzy/explore/fleet/<target>           ──▶  explored/<target>/<program>          the same of older versions, which is read only
//! ```
//!
//! Before a slice, what others have added comes into the folder, and the slice begins with it. After it, those testcases are shared by which the
//! slice has reached something, and that the store did not have: what adds nothing to what was there stays where it is.
//!
//! Invariants: nothing that is in a folder is changed or removed; a testcase is what its name says, or is not taken; what is damaged in the store
//! loses its name there, so that whoever has it shares it again. Not shared, and said: testcases larger than [`TESTCASE_BYTES_MAX`], more than
//! [`TESTCASES_MAX`] of one target, states larger than [`STATE_BYTES_MAX`].
//! Not here: when a slice begins, and who may work on a target (`dispatch`).

use super::discovery::FleetTarget;
use super::named_blobs::delete_unnamed;
use super::shared_store::{SharedStore, SharedStoreError, StoreKey, shared_store_error as store_error};
use crate::error::{CampaignError, ErrorKind, at_path};
use crate::explore::state::{ExploreState, FLEET_NAME};
use crate::fuzz::corpus::CorpusFolder;
use crate::fuzz::summary::TESTCASES_FILE;
use fozzy_report::RunSummary;
use fozzy_trace::Digest;
use fozzy_trace::file::store::{Durability, write_atomic};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of a testcase that is shared: all workers hold each in memory.
pub const TESTCASE_BYTES_MAX: usize = 1 << 20;
/// Testcases of one target that are shared: half of the names that a folder of a store may have.
pub const TESTCASES_MAX: usize = 50_000;
/// Bytes of the saved state of an exploration that is shared, before it is deflated.
pub const STATE_BYTES_MAX: usize = 64 << 20;
/// Builds of one target whose states are kept.
const PROGRAMS_MAX: usize = 4;
/// Testcases that are moved at a time, and their bytes: what one request to a server holds.
const CHUNK: usize = 64;
const CHUNK_BYTES: usize = 8 << 20;
/// Bytes of it that are read.
const LIST_BYTES_MAX: u64 = 64 << 20;
/// How hard a state is deflated: most of what can be saved, in a tenth of the time.
const DEFLATE_LEVEL: u8 = 3;

/// The saved state of an exploration of one build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExploredRecord {
    /// The deflated state, a blob.
    pub(super) state: Digest,
    /// Its content.
    pub(super) content: Digest,
    /// Seconds since 1970 when it was kept: of many builds, the oldest go.
    kept_at_s: u64,
}

impl ExploredRecord {
    /// Keeps a state in a store.
    fn keep(store: &dyn SharedStore, state: &[u8], kept_at_s: u64) -> Result<ExploredRecord, SharedStoreError> {
        let packed = miniz_oxide::deflate::compress_to_vec(state, DEFLATE_LEVEL);
        Ok(ExploredRecord { state: store.put_blob(&packed)?, content: Digest::of(state), kept_at_s })
    }

    /// Its state; `None` when that is not in the store, or is damaged there.
    pub(super) fn state_in(&self, store: &dyn SharedStore) -> Result<Option<Vec<u8>>, SharedStoreError> {
        let packed = store.get_blobs(&[self.state])?.pop().flatten();
        let unpacked =
            packed.and_then(|packed| miniz_oxide::inflate::decompress_to_vec_with_limit(&packed, STATE_BYTES_MAX).ok());
        Ok(unpacked.filter(|state| Digest::of(state) == self.content))
    }

    /// Of the records of two stores, one with the paths of both, whose blob the second store has. Where they are too large together, it is the later
    /// one; one whose blob is gone or damaged gives way to the other.
    pub(super) fn joined(
        (from, theirs): (&dyn SharedStore, &ExploredRecord),
        (to, own): (&dyn SharedStore, &ExploredRecord),
    ) -> Result<ExploredRecord, SharedStoreError> {
        let own_state = own.state_in(to)?;
        if own_state.is_some() && theirs.content == own.content {
            return Ok(own.clone());
        }
        let Some(state) = theirs.state_in(from)? else { return Ok(own.clone()) };
        let Some(own_state) = own_state else { return ExploredRecord::keep(to, &state, theirs.kept_at_s) };
        let joined = ExploreState::joined(&own_state, &state).filter(|state| state.len() <= STATE_BYTES_MAX);
        match joined {
            Some(joined) if Digest::of(&joined) == own.content => Ok(own.clone()),
            Some(joined) => ExploredRecord::keep(to, &joined, theirs.kept_at_s.max(own.kept_at_s)),
            None if theirs.kept_at_s > own.kept_at_s => ExploredRecord::keep(to, &state, theirs.kept_at_s),
            None => Ok(own.clone()),
        }
    }
}

/// The folder of the store with the names of a target's testcases.
pub(super) fn corpus_key(target: &FleetTarget) -> StoreKey {
    StoreKey::new(&["corpus", &target.id])
}

/// One target, on this machine and in the store.
pub(super) struct CorpusExchange<'a> {
    pub(super) store: &'a dyn SharedStore,
    pub(super) base_dir: &'a Path,
    pub(super) target: &'a FleetTarget,
    /// The build that is searched.
    pub(super) program: Option<Digest>,
    /// The file of an exploration's state.
    pub(super) state: &'a Path,
}

/// What was in the store when a slice began.
#[derive(Default)]
pub(super) struct TakenCorpus {
    testcases: BTreeSet<Digest>,
    /// The content of the state that both have.
    pub(super) state: Option<Digest>,
    /// What could not be taken or shared.
    pub(super) warnings: Vec<String>,
}

impl CorpusExchange<'_> {
    /// Takes what others have added. `before` is the state that both had after the last slice.
    ///
    /// # Errors
    /// When the store does not answer, or a folder cannot be written.
    pub(super) fn take(&self, before: Option<Digest>) -> Result<TakenCorpus, CampaignError> {
        let mut taken = TakenCorpus::default();
        match self.target.corpus(self.base_dir) {
            Some(folder) => self.take_testcases(&folder, &mut taken)?,
            None => self.take_state(before, &mut taken)?,
        }
        Ok(taken)
    }

    /// Shares what a slice has found. The state of an exploration is shared by who holds the target only: another one goes on from its own.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(super) fn share(
        &self,
        taken: &mut TakenCorpus,
        summary: &RunSummary,
        is_held: bool,
    ) -> Result<(), CampaignError> {
        match &summary.fuzz {
            Some(fuzz) => self.share_testcases(Path::new(&fuzz.corpus_dir), &testcases_of(summary), taken),
            None if is_held => self.share_state(taken),
            None => Ok(()),
        }
    }

    fn take_testcases(&self, folder: &Path, taken: &mut TakenCorpus) -> Result<(), CampaignError> {
        let key = corpus_key(self.target);
        let names = self.store.list(&key).map_err(store_error)?;
        let names: Vec<Digest> = names.iter().filter_map(|name| Digest::parse(name)).take(TESTCASES_MAX).collect();
        let is_missing = |name: &&Digest| !folder.join(name.to_string()).exists();
        let missing: Vec<Digest> = names.iter().filter(is_missing).copied().collect();
        taken.testcases.extend(names);
        if missing.is_empty() {
            return Ok(());
        }
        let mut corpus = CorpusFolder::open(folder)?;
        // What they have is known when they are here.
        for names in missing.chunks(CHUNK_BYTES / TESTCASE_BYTES_MAX) {
            let blobs = self.store.get_blobs(names).map_err(store_error)?;
            for (name, bytes) in names.iter().zip(blobs) {
                match bytes {
                    Some(bytes) if bytes.len() <= TESTCASE_BYTES_MAX => corpus.add(&bytes, name)?,
                    _ => {
                        self.store.delete(&key.join(&name.to_string())).map_err(store_error)?;
                        taken.testcases.remove(name);
                        let what = format!(
                            "{}: the testcase {name} in the store is damaged, and was left out",
                            self.target.name
                        );
                        taken.warnings.push(what);
                    }
                }
            }
        }
        Ok(())
    }

    fn share_testcases(&self, folder: &Path, names: &[Digest], taken: &mut TakenCorpus) -> Result<(), CampaignError> {
        let (mut chunk, mut bytes_of_chunk) = (Vec::new(), 0);
        let key = corpus_key(self.target);
        let put = |chunk: &mut Vec<Vec<u8>>| {
            let put = self.store.put_named_blobs(&key, chunk).map_err(store_error);
            chunk.clear();
            put
        };
        let (mut has_beyond, mut has_elsewhere) = (false, false);
        for name in names {
            if taken.testcases.contains(name) {
                continue;
            }
            let path = folder.join(name.to_string());
            let is_large = fs::metadata(&path).is_ok_and(|file| file.len() > TESTCASE_BYTES_MAX as u64);
            if is_large || taken.testcases.len() >= TESTCASES_MAX {
                has_beyond = true;
                continue;
            }
            let Some(input) = fs::read(&path).ok().filter(|input| Digest::of(input) == *name) else {
                has_elsewhere = true;
                continue;
            };
            taken.testcases.insert(*name);
            bytes_of_chunk += input.len();
            chunk.push(input);
            if chunk.len() >= CHUNK || bytes_of_chunk >= CHUNK_BYTES {
                put(&mut chunk)?;
                bytes_of_chunk = 0;
            }
        }
        if !chunk.is_empty() {
            put(&mut chunk)?;
        }
        let bounds = format!("a store has at most {TESTCASES_MAX} of a target, of {TESTCASE_BYTES_MAX} bytes each");
        let names =
            "its corpus has them under no name of their own: seeds of another folder, or changed or removed since";
        for (is_so, why) in [(has_beyond, &*bounds), (has_elsewhere, names)] {
            if is_so {
                let what = format!("{}: not all of its testcases are shared: {why}", self.target.name);
                taken.warnings.push(what);
            }
        }
        Ok(())
    }

    /// The record of this build; `None` where the build is not known.
    fn state_key(&self) -> Option<StoreKey> {
        Some(StoreKey::new(&["explored", &self.target.id, &format!("{}-{FLEET_NAME}", self.program?.short())]))
    }

    /// The same, as an older version names it.
    fn older_state_key(&self) -> Option<StoreKey> {
        Some(StoreKey::new(&["explored", &self.target.id, &self.program?.short()]))
    }

    fn record(&self, key: &StoreKey) -> Result<Option<ExploredRecord>, CampaignError> {
        let value = self.store.get(key).map_err(store_error)?;
        Ok(value.and_then(|value| serde_json::from_slice(&value).ok()))
    }

    fn take_state(&self, before: Option<Digest>, taken: &mut TakenCorpus) -> Result<(), CampaignError> {
        let Some(key) = self.state_key() else { return Ok(()) };
        let Some(record) = self.record(&key)? else { return self.take_older_state() };
        let own = fs::read(self.state).ok();
        if own.as_deref().map(Digest::of) == Some(record.content) {
            taken.state = Some(record.content);
            return Ok(());
        }
        let Some(theirs) = record.state_in(self.store).map_err(store_error)? else {
            self.store.delete(&key).map_err(store_error)?;
            let what = format!("{}: the saved exploration in the store is damaged, and was left out", self.target.name);
            taken.warnings.push(what);
            return Ok(());
        };
        // What this machine has found while it was alone is kept.
        let has_own_paths = own.is_some() && own.as_deref().map(Digest::of) != before;
        let joined = own.filter(|_| has_own_paths).and_then(|own| ExploreState::joined(&own, &theirs));
        write_atomic(self.state, joined.as_deref().unwrap_or(&theirs), Durability::Cached)
            .map_err(|error| at_path(ErrorKind::Store, "cannot write", self.state, &error))?;
        taken.state = Some(record.content);
        Ok(())
    }

    /// No state of this version is in the store: this machine goes on from what an older one has kept, in the store or here. That stays
    /// where it is: the older one may still be at work, and would begin anew instead of a state of this version.
    fn take_older_state(&self) -> Result<(), CampaignError> {
        let Some(key) = self.older_state_key() else { return Ok(()) };
        let theirs = match self.record(&key)? {
            Some(record) => record.state_in(self.store).map_err(store_error)?,
            None => None,
        };
        let older = self.state.with_file_name(format!("{}.json", self.target.id));
        let own = fs::read(self.state).or_else(|_| fs::read(older)).ok();
        let state = match (own, theirs) {
            (Some(own), Some(theirs)) => ExploreState::joined(&own, &theirs).unwrap_or(theirs),
            (Some(state), None) | (None, Some(state)) => state,
            (None, None) => return Ok(()),
        };
        write_atomic(self.state, &state, Durability::Cached)
            .map_err(|error| at_path(ErrorKind::Store, "cannot write", self.state, &error))
    }

    fn share_state(&self, taken: &mut TakenCorpus) -> Result<(), CampaignError> {
        let own = || fs::read(self.state).map(|state| (Digest::of(&state), state));
        let (Some(key), Ok((mut content, mut state))) = (self.state_key(), own()) else { return Ok(()) };
        if taken.state == Some(content) {
            return Ok(());
        }
        // Another worker may have shared its paths meanwhile, while the store was away for this one: all are kept.
        if self.record(&key)?.is_some_and(|record| Some(record.content) != taken.state) {
            self.take_state(taken.state, taken)?;
            (content, state) = own().map_err(|error| at_path(ErrorKind::Store, "cannot read", self.state, &error))?;
            if taken.state == Some(content) {
                return Ok(());
            }
        }
        if state.len() > STATE_BYTES_MAX {
            let (name, bytes) = (&self.target.name, state.len());
            taken.warnings.push(format!(
                "{name}: its saved exploration is not shared: it has {bytes} bytes, and {STATE_BYTES_MAX} are shared at most"
            ));
            return Ok(());
        }
        let before = self.record(&key)?;
        let kept_at_s = crate::wall_clock::unix_seconds() as u64;
        let record = ExploredRecord::keep(self.store, &state, kept_at_s).map_err(store_error)?;
        let value = serde_json::to_vec_pretty(&record).expect("our own types are JSON");
        self.store.put(&key, &value).map_err(store_error)?;
        if let Some(before) = before.filter(|before| before.state != record.state) {
            delete_unnamed(self.store, &before.state).map_err(store_error)?;
        }
        taken.state = Some(content);
        self.forget_old_builds()
    }

    fn forget_old_builds(&self) -> Result<(), CampaignError> {
        let folder = StoreKey::new(&["explored", &self.target.id]);
        let names = self.store.list(&folder).map_err(store_error)?;
        if names.len() <= PROGRAMS_MAX {
            return Ok(());
        }
        let mut builds = Vec::new();
        for name in names {
            let key = folder.join(&name);
            let record = self.record(&key)?;
            builds.push((record.as_ref().map(|record| record.kept_at_s), key, record));
        }
        builds.sort_by(|left, right| (left.0, &left.1).cmp(&(right.0, &right.1)));
        for (_, key, record) in &builds[..builds.len() - PROGRAMS_MAX] {
            self.store.delete(key).map_err(store_error)?;
            if let Some(record) = record {
                delete_unnamed(self.store, &record.state).map_err(store_error)?;
            }
        }
        Ok(())
    }
}

/// The testcases by which a campaign has reached what it has reached; none where it says none.
fn testcases_of(summary: &RunSummary) -> Vec<Digest> {
    let folder = summary.identity.artifacts_dir.as_ref().map(PathBuf::from);
    let file = folder.and_then(|folder| File::open(folder.join(TESTCASES_FILE)).ok());
    let mut text = String::new();
    let read = file.map(|file| file.take(LIST_BYTES_MAX).read_to_string(&mut text));
    if !matches!(read, Some(Ok(_))) {
        return Vec::new();
    }
    text.lines().filter_map(Digest::parse).collect()
}

#[cfg(test)]
mod tests;
