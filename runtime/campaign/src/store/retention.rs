//! Bounds of the run store: how many runs are kept, and how many bytes of them.
//!
//! ```text
//! newest ── kept ──▶ │ bound │ ── older: removed, but for the last run that passed and the last that failed
//! no manifest, and locked by no process   ─▶  what a killed process has left: removed, unless it has traces (`adoption`)
//! ```
//!
//! Invariants: a run goes whole, its manifest first, so that none is seen in part; a run in progress is never touched; only folders
//! whose names are ids of runs are.
//! Not here: saved failures and corpora, which are the user's.

use super::adoption::has_findings;
use super::{RunManifest, RunStore, latest_first, manifest_of, store_error};
use crate::error::CampaignError;
use crate::wall_clock::is_older_than;
use fozzy_trace::Status;
use fozzy_trace::file::store::{StoreError, is_temporary};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Folders inside of each other whose files are counted: a run has one.
const DEPTH_MAX: usize = 8;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Runs.
    pub runs: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Default for Retention {
    /// Some weeks of work on a project, and less than a build folder has.
    fn default() -> Retention {
        Retention { runs: 500, bytes: 2 << 30 }
    }
}

/// What was removed, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrunedRuns {
    /// Runs, by their ids, the newest first.
    pub runs: Vec<String>,
    /// Folders that killed processes have left.
    pub leftovers: Vec<PathBuf>,
    /// Bytes of both.
    pub bytes: u64,
}

/// What lies in the store, by one look at each folder of a run: their manifests are most of what a short run reads.
#[derive(Debug, Default)]
struct StoreContents {
    /// The finished runs, the latest first.
    finished: Vec<(PathBuf, RunManifest)>,
    /// Folders of runs that never came to an end, and whose processes are gone, in the order of their names.
    abandoned: Vec<PathBuf>,
}

impl RunStore {
    /// Removes what is beyond `retention`, and what killed processes have left. With `dry`, nothing is removed.
    ///
    /// # Errors
    /// When the store cannot be read or changed.
    pub fn prune(&self, retention: Retention, dry: bool) -> Result<PrunedRuns, CampaignError> {
        if !dry {
            let _ = self.adopt();
        }
        self.prune_adopted(retention, dry)
    }

    /// The same, where the runs of killed processes were adopted just now.
    pub(super) fn prune_adopted(&self, retention: Retention, dry: bool) -> Result<PrunedRuns, CampaignError> {
        let mut removed = PrunedRuns::default();
        if !self.path().is_dir() {
            return Ok(removed);
        }
        let locked = self.lock()?;
        let StoreContents { finished, abandoned } = self.contents();
        for folder in abandoned.into_iter().filter(|folder| !has_findings(folder)) {
            removed.bytes += bytes_of(&folder, DEPTH_MAX, &mut BTreeSet::new());
            remove(&folder, dry)?;
            removed.leftovers.push(folder);
        }
        for (folder, manifest, bytes) in beyond(finished, retention) {
            removed.bytes += bytes;
            remove(&folder, dry)?;
            removed.runs.push(manifest.run_id);
        }
        drop(locked);
        Ok(removed)
    }

    /// Removes the files beside and below the runs (saved failures, corpora) that killed processes were writing, and traces that were fetched from the store
    /// of a fleet, which has them. With `dry`, nothing is removed.
    ///
    /// # Errors
    /// When one of them cannot be removed.
    pub fn sweep(&self, dry: bool) -> Result<Vec<PathBuf>, CampaignError> {
        let mut found = half_written(self.path().parent().unwrap_or(self.path()), DEPTH_MAX);
        for entry in fs::read_dir(self.fetched_folder()).into_iter().flatten().flatten() {
            let is_trace = entry.path().extension().is_some_and(|ending| ending == "fozzy");
            let file = entry.metadata().ok().filter(fs::Metadata::is_file);
            if is_trace && file.is_some_and(|file| is_older_than(&file, HALF_WRITTEN_AGE)) {
                found.push(entry.path());
            }
        }
        found.sort();
        let remove = |path: &PathBuf| fs::remove_file(path).map_err(|error| StoreError::io("remove", path, error));
        let removed = if dry { Ok(()) } else { found.iter().try_for_each(remove) };
        removed.map(|()| found).map_err(store_error)
    }

    /// What lies in it.
    fn contents(&self) -> StoreContents {
        let mut contents = StoreContents::default();
        for folder in self.run_folders() {
            match manifest_of(&folder) {
                Some(manifest) => contents.finished.push((folder, manifest)),
                // Its process may have come to its end in between.
                None if is_free(&folder) && manifest_of(&folder).is_none() => contents.abandoned.push(folder),
                None => {}
            }
        }
        contents.finished.sort_by(latest_first);
        contents.abandoned.sort();
        contents
    }

    /// Folders of runs that have no manifest, not even a damaged one, and whose processes are gone.
    pub(super) fn without_manifest(&self) -> Vec<PathBuf> {
        let has_none = |folder: &PathBuf| folder.join("manifest.json").symlink_metadata().is_err();
        self.run_folders().filter(|folder| has_none(folder) && is_free(folder)).collect()
    }

    /// Folders with the names of runs; links to some are none, as they would lead out of the store.
    fn run_folders(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(self.path()).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.map(|entry| entry.path()).filter(|folder| has_name_of_run(folder))
    }
}

/// Those of the finished runs, the latest first, that are too many, with their bytes.
fn beyond(finished: Vec<(PathBuf, RunManifest)>, retention: Retention) -> Vec<(PathBuf, RunManifest, u64)> {
    let (mut count, mut total) = (0, 0u64);
    let (mut has_passed, mut has_failed) = (false, false);
    let (mut beyond, mut seen) = (Vec::new(), BTreeSet::new());
    for (folder, manifest) in finished {
        let has_one = if manifest.status == Status::Pass { &mut has_passed } else { &mut has_failed };
        // What `last-pass` and `last-fail` name stays, unless nothing is to stay.
        let is_last = manifest.has_verdict() && !std::mem::replace(has_one, true) && retention.runs > 0;
        let bytes = bytes_of(&folder, DEPTH_MAX, &mut seen);
        (count, total) = (count + 1, total.saturating_add(bytes));
        if !is_last && (count > retention.runs || total > retention.bytes) {
            beyond.push((folder, manifest, bytes));
        }
    }
    beyond
}

/// Whether no process holds the folder of its run.
fn is_free(folder: &Path) -> bool {
    File::open(folder).is_ok_and(|folder| folder.try_lock().is_ok())
}

/// Real time after which a file is no longer being written, or read: each is in a moment.
const HALF_WRITTEN_AGE: Duration = Duration::from_secs(600);

/// Files in a folder, and in folders inside of it to that depth, that killed processes were writing. Links are not followed.
pub(crate) fn half_written(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(it) = entry.metadata() else { continue };
        if it.is_dir() && depth > 1 {
            found.extend(half_written(&entry.path(), depth - 1));
        } else if it.is_file() && is_temporary(&entry.file_name()) && is_older_than(&it, HALF_WRITTEN_AGE) {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

fn has_name_of_run(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| uuid::Uuid::try_parse(name).is_ok())
}

fn remove(folder: &Path, dry: bool) -> Result<(), CampaignError> {
    if dry {
        return Ok(());
    }
    // Without its manifest it is no finished run any more, whatever interrupts this.
    let _ = fs::remove_file(folder.join("manifest.json"));
    fs::remove_dir_all(folder).map_err(|error| store_error(StoreError::io("remove", folder, error)))
}

/// Bytes of the files in a folder; links are not followed. A file with several names, such as a trace that was replayed, is counted at
/// the first of them that is met.
fn bytes_of(folder: &Path, depth: usize, seen: &mut BTreeSet<(u64, u64)>) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(it) if it.is_dir() && depth > 1 => bytes_of(&entry.path(), depth - 1, seen),
        Ok(it) if it.is_file() && is_first(&it, seen) => it.len(),
        _ => 0,
    });
    sizes.sum()
}

/// Whether no other name of the file was met before.
fn is_first(file: &fs::Metadata, seen: &mut BTreeSet<(u64, u64)>) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        file.nlink() < 2 || seen.insert((file.dev(), file.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = (file, seen);
        true
    }
}

#[cfg(test)]
mod tests;
