//! Failures that explorations have found, kept in the project, and how they stand today.
//!
//! ```text
//! .fozzy/seeds/bank/seed-5e1f0c22a9d4.fozzy     named by its content, one a failure signature
//!                   seed-77ab3c0912de.min.fozzy the same, made as small as it gets
//!                   target                      what was explored, for `fozzy seeds`
//! ```
//!
//! Invariants: a kept failure is an ordinary trace; it is only deleted when that was asked for, and only one that is fixed.
//! Not here: `regressions/`, which belong to a suite (`suite`).

use crate::error::{CampaignError, ErrorKind, at_path};
use crate::pipeline::{LoadedTarget, PreparedProgram, session_of};
use crate::selector;
use crate::suite::regressions::decided;
use fozzy_check::judge;
use fozzy_report::SeedState;
use fozzy_trace::file::store::{Durability, write_atomic};
use fozzy_trace::{Digest, FailureSignature, Status};
use std::path::{Path, PathBuf};

/// The file that names what was explored.
const TARGET_FILE: &str = "target";

/// The kept failures of one scenario.
pub struct SavedFailures {
    /// Where they are.
    pub folder: PathBuf,
}

/// A kept failure, and how it stands.
pub struct SavedFailure {
    /// Its trace.
    pub path: PathBuf,
    /// What failed when it was kept.
    pub signature: Option<FailureSignature>,
    /// Whether that is still so.
    pub state: RegressionStatus,
    /// What it comes to today.
    pub status: Status,
}

/// How a kept failure stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegressionStatus {
    /// The program of today fails so.
    StillThere,
    /// It passes by the same decisions.
    Fixed,
    /// It decides otherwise, or fails in another way: the trace says nothing any more.
    Stale,
}

impl RegressionStatus {
    /// The word in documents.
    pub const fn word(self) -> &'static str {
        match self {
            RegressionStatus::StillThere => "still there",
            RegressionStatus::Fixed => "fixed",
            RegressionStatus::Stale => "stale",
        }
    }
}

impl SavedFailure {
    /// The failure as documents list it.
    pub fn document(&self) -> SeedState {
        let (path, signature) = (self.path.display().to_string(), self.signature.clone());
        let shrunk = path.ends_with(".min.fozzy");
        SeedState { path, signature, state: self.state.word().to_owned(), shrunk }
    }
}

impl SavedFailures {
    /// Those of the program of this file name.
    pub fn of(base_dir: &Path, name: &str) -> SavedFailures {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        SavedFailures { folder: base_dir.join("seeds").join(stem) }
    }

    /// All scenarios that have some.
    pub fn all(base_dir: &Path) -> Vec<SavedFailures> {
        let entries = std::fs::read_dir(base_dir.join("seeds")).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        folders.sort();
        folders.into_iter().map(|folder| SavedFailures { folder }).collect()
    }

    fn traces(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut traces: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "fozzy")).collect();
        traces.sort();
        traces
    }

    /// What was explored when the first of them was kept.
    pub fn target(&self) -> Result<PathBuf, CampaignError> {
        let path = self.folder.join(TARGET_FILE);
        let text = std::fs::read_to_string(&path).map_err(|error| {
            at_path(ErrorKind::Seeds, "cannot read what was explored from", &path, &error).hint("fozzy seeds TARGET")
        })?;
        Ok(PathBuf::from(text.trim_end()))
    }

    /// Tries all of them on the program of today. One that is no sound trace is an error that names it.
    pub fn standings(&self, today: &LoadedTarget) -> Result<Vec<SavedFailure>, CampaignError> {
        self.traces().into_iter().map(|path| standing(path, today)).collect()
    }

    /// Keeps a failure, unless one of its signature is there.
    pub fn keep(
        &self,
        trace: &Path,
        shrunk: bool,
        signature: Option<&FailureSignature>,
        known: &[SavedFailure],
        target: &Path,
    ) -> Result<(), CampaignError> {
        let is_known = |standing: &SavedFailure| {
            standing.state != RegressionStatus::Stale && standing.signature.as_ref() == signature
        };
        if known.iter().any(is_known) {
            return Ok(());
        }
        let bytes = std::fs::read(trace).map_err(|error| at_path(ErrorKind::Seeds, "cannot read", trace, &error))?;
        std::fs::create_dir_all(&self.folder)
            .map_err(|error| at_path(ErrorKind::Seeds, "cannot make", &self.folder, &error))?;
        let place = std::path::absolute(target).unwrap_or_else(|_| target.to_owned());
        let ending = if shrunk { "min.fozzy" } else { "fozzy" };
        let files = [
            (self.folder.join(format!("seed-{}.{ending}", Digest::of(&bytes).short())), bytes),
            (self.folder.join(TARGET_FILE), format!("{}\n", place.display()).into_bytes()),
        ];
        for (path, bytes) in files {
            write_atomic(&path, &bytes, Durability::Synced)
                .map_err(|error| at_path(ErrorKind::Seeds, "cannot write", &path, &error))?;
        }
        Ok(())
    }
}

/// Tries one.
fn standing(path: PathBuf, today: &LoadedTarget) -> Result<SavedFailure, CampaignError> {
    let recording = selector::read(&path)?;
    let signature = recording.outcome.verdict.signature.clone();
    let mut session = PreparedProgram::against(&recording, today.clone())?.session()?;
    let (execution, now) = decided(&recording, &mut session)?;
    let verdict = judge(&execution);
    let of = |state, status| Ok(SavedFailure { path, signature: signature.clone(), state, status });
    if verdict.signature == signature {
        return of(RegressionStatus::StillThere, verdict.status);
    }
    if verdict.status != Status::Pass || today.component == recording.component {
        return of(RegressionStatus::Stale, Status::Pass);
    }
    let (_, then) = decided(&recording, &mut session_of(&recording)?)?;
    // All that was decided must be asked for again; what comes after the failure is new.
    of(if now.starts_with(&then) { RegressionStatus::Fixed } else { RegressionStatus::Stale }, Status::Pass)
}
