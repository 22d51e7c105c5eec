//! What the workers of one exploration leave for each other, and for their supervisor, on the disk.
//!
//! ```text
//! <run>/workers/stories/0-17.json   a way worth taking, for the others; read now and then
//!               edges/0.json        the edges that worker 0 has taken, which are not new to the others any more
//!               0/assertion-….fozzy a finding, at once
//!               0/found-0.json      the way to it, for the state that is saved meanwhile
//!               0/explored.json     what worker 0 came to, at its end
//! ```
//!
//! A path is a list of answers from time zero: who reads one takes its way, and keeps where it leads if that is new there.
//!
//! Invariants: a file is whole or absent, so that a worker that is killed takes nothing with it; a worker is named by its
//! stream, which no other one of the campaign has.

use super::result::ExplorationResult;
use super::settings::ExploreSettings;
use crate::error::{CampaignError, ErrorKind, at_path};
use crate::workers::WorkerRole;
use fozzy_search::explore::{DecisionPath, EdgeClasses, PeerDiscoveries};
use fozzy_trace::file::store::{Durability, write_atomic};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Stories that one worker gives to the others.
const STORIES_GIVEN_MAX: u32 = 4096;
/// Stories that are taken at one look.
const STORIES_TAKEN_MAX: usize = 64;
/// Between two looks at what the others have given.
const LOOK_EVERY_NS: u64 = 1_000_000_000;

const EXPLORED: &str = "explored.json";
/// How files with the way to a finding begin.
const FOUND: &str = "found-";

/// One worker's end of the exchange.
pub struct WorkerExchange {
    folder: PathBuf,
    stream: u32,
    shares_edges: bool,
    shares_stories: bool,
    given: u32,
    /// Stories that were taken, or are its own.
    known: BTreeSet<PathBuf>,
    looked_ns: u64,
}

impl WorkerExchange {
    /// Opens the exchange of a worker's campaign.
    ///
    /// # Errors
    /// When its folders cannot be made.
    pub fn open(role: &WorkerRole, settings: &ExploreSettings) -> Result<WorkerExchange, CampaignError> {
        let exchange = WorkerExchange {
            folder: role.folder.clone(),
            stream: role.stream,
            shares_edges: settings.share_edges,
            shares_stories: settings.share_checkpoints,
            given: 0,
            known: BTreeSet::new(),
            looked_ns: 0,
        };
        for folder in [exchange.own(), stories(&role.folder), edges(&role.folder)] {
            make(&folder)?;
        }
        Ok(exchange)
    }

    /// Where the worker's own findings go.
    #[must_use]
    pub fn own(&self) -> PathBuf {
        own(&self.folder, self.stream)
    }

    /// Gives a way to the others.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn give(&mut self, story: &DecisionPath) -> Result<(), CampaignError> {
        if !self.shares_stories || self.given == STORIES_GIVEN_MAX {
            return Ok(());
        }
        let path = stories(&self.folder).join(format!("{}-{}.json", self.stream, self.given));
        self.given += 1;
        write(&path, story)?;
        self.known.insert(path);
        Ok(())
    }

    /// Leaves the way to a finding of this number, for the state that the supervisor saves.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn give_finding(&self, number: usize, story: &DecisionPath) -> Result<(), CampaignError> {
        write(&self.own().join(format!("{FOUND}{number}.json")), story)
    }

    /// Some of what the others have given since the last look; `own_edges` are given to them.
    pub fn take(&mut self, now_ns: u64, own_edges: &dyn Fn() -> EdgeClasses) -> PeerDiscoveries {
        if now_ns - self.looked_ns < LOOK_EVERY_NS {
            return PeerDiscoveries::default();
        }
        self.looked_ns = now_ns;
        let mut taken = PeerDiscoveries::default();
        if self.shares_edges {
            let own = edges_path(&self.folder, self.stream);
            // What cannot be written is found by the others themselves.
            let _ = write(&own, &own_edges());
            taken.edges =
                files(&edges(&self.folder)).filter(|path| *path != own).filter_map(|path| read(&path)).collect();
        }
        let new: Vec<PathBuf> = files(&stories(&self.folder)).filter(|path| !self.known.contains(path)).collect();
        for path in new.into_iter().take(STORIES_TAKEN_MAX) {
            taken.paths.extend(read(&path));
            self.known.insert(path);
        }
        taken
    }

    /// Leaves what the worker came to.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn conclude(&self, explored: &ExplorationResult) -> Result<(), CampaignError> {
        write(&self.own().join(EXPLORED), explored)
    }
}

/// What a worker came to; `None` when it was lost before its end.
pub(super) fn explored_by(folder: &Path, stream: u32) -> Option<ExplorationResult> {
    read(&own(folder, stream).join(EXPLORED))
}

/// The edges that a worker had taken when it wrote them last.
pub(super) fn edges_of(folder: &Path, stream: u32) -> EdgeClasses {
    read(&edges_path(folder, stream)).unwrap_or_default()
}

/// The ways that a worker has given to the others.
pub(super) fn stories_of(folder: &Path, stream: u32) -> Vec<DecisionPath> {
    paths_of(&stories(folder), &format!("{stream}-"))
}

/// The ways to the findings of a worker.
pub(super) fn findings_of(folder: &Path, stream: u32) -> Vec<DecisionPath> {
    paths_of(&own(folder, stream), FOUND)
}

/// The ways in files whose names begin so.
fn paths_of(folder: &Path, prefix: &str) -> Vec<DecisionPath> {
    let is_one = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
    files(folder).filter(is_one).filter_map(|path| read(&path)).collect()
}

/// The traces that a worker has written.
pub(super) fn traces_of(folder: &Path, stream: u32) -> Vec<PathBuf> {
    listed(&own(folder, stream), "fozzy").collect()
}

fn own(folder: &Path, stream: u32) -> PathBuf {
    folder.join(stream.to_string())
}

fn stories(folder: &Path) -> PathBuf {
    folder.join("stories")
}

fn edges(folder: &Path) -> PathBuf {
    folder.join("edges")
}

fn edges_path(folder: &Path, stream: u32) -> PathBuf {
    edges(folder).join(format!("{stream}.json"))
}

pub(super) fn make(folder: &Path) -> Result<(), CampaignError> {
    std::fs::create_dir_all(folder).map_err(|error| at_path(ErrorKind::Store, "cannot make", folder, &error))
}

fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), CampaignError> {
    let bytes =
        serde_json::to_vec(value).map_err(|error| CampaignError::new(ErrorKind::Internal, error.to_string()))?;
    write_atomic(path, &bytes, Durability::Cached)
        .map_err(|error| at_path(ErrorKind::Store, "cannot write", path, &error))
}

/// `None` when it is not there.
fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn files(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    listed(folder, "json")
}

/// The files with this ending, by name.
fn listed(folder: &Path, ending: &'static str) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == ending)).collect();
    paths.sort();
    paths.into_iter()
}
