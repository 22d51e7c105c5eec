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
use crate::explore::conditions::FailureConditions;
use crate::pipeline::{LoadedTarget, PlanOfToday, PreparedProgram, session_of};
use crate::selector;
use crate::suite::regressions::decided;
use fozzy_check::judge;
use fozzy_report::SeedState;
use fozzy_trace::file::store::{Durability, write_atomic};
use fozzy_trace::{Digest, FailureSignature, Finding, Status};
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
    /// The same, as the file of today numbers its steps.
    signature_today: Option<FailureSignature>,
    /// Whether that is still so.
    pub state: RegressionStatus,
    /// What it comes to today.
    pub status: Status,
    /// Under what it was found, where that is not what a run of today has: it is then no verdict on such a run.
    pub other_conditions: Option<String>,
    /// Why it says nothing any more, or what it was found under.
    pub note: Option<String>,
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
        let (shrunk, note) = (path.ends_with(".min.fozzy"), self.note.clone());
        SeedState { path, signature, state: self.state.word().to_owned(), shrunk, note }
    }

    /// Whether it decides how a run of today ends.
    pub fn decides(&self) -> bool {
        self.state == RegressionStatus::StillThere && self.other_conditions.is_none()
    }

    /// It, as a finding of a run of `target`.
    pub fn finding(&self, target: &Path) -> Option<Finding> {
        let signature = self.signature.as_ref()?;
        let title = format!("a saved failure is still there: {signature}");
        let path = self.path.display();
        let message = format!("{title}\n{path}\nfozzy replay {path} --against {}", target.display());
        Some(Finding { kind: signature.kind, title, message, location: None, backtrace: Vec::new(), peers: Vec::new() })
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

    /// Tries all of them on the program of today, of which a run has the `conditions`, if they are given. One that is no sound
    /// trace is an error that names it.
    pub fn standings(
        &self,
        today: &LoadedTarget,
        conditions: Option<&FailureConditions>,
    ) -> Result<Vec<SavedFailure>, CampaignError> {
        self.traces().into_iter().map(|path| standing(path, today, conditions)).collect()
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
            let is_of_today = standing.state != RegressionStatus::Stale && standing.other_conditions.is_none();
            is_of_today && standing.signature_today.as_ref() == signature
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
fn standing(
    path: PathBuf,
    today: &LoadedTarget,
    conditions: Option<&FailureConditions>,
) -> Result<SavedFailure, CampaignError> {
    let recording = selector::read(&path)?;
    let signature = recording.outcome.verdict.signature.clone();
    let plan = PlanOfToday::new(&recording, today, None)?;
    let signature_today = signature.as_ref().map(|signature| plan.signature(signature));
    let other_conditions = conditions.and_then(|today| FailureConditions::of_plan(&recording.plan).other_than(today));
    let of = |state, status, note: Option<String>| {
        let note = note.or_else(|| other_conditions.clone());
        let (signature, signature_today) = (signature.clone(), signature_today.clone());
        SavedFailure { path, signature, signature_today, state, status, other_conditions, note }
    };
    let is_same_program = today.component == recording.component && plan.planned.plan == recording.plan;
    let mut session = PreparedProgram::compile(today.clone(), plan.planned.clone())?.session()?;
    let (execution, now) = decided(&recording, &mut session)?;
    let verdict = judge(&execution);
    if verdict.signature == signature_today {
        return Ok(of(RegressionStatus::StillThere, verdict.status, None));
    }
    if let Some(now) = verdict.signature {
        let why = plan.note().unwrap_or_else(|| "the program fails otherwise".to_owned());
        return Ok(of(RegressionStatus::Stale, Status::Pass, Some(format!("{why}: {now}"))));
    }
    if is_same_program {
        let why = "the same program passes now: it was recorded by another version of the engine";
        return Ok(of(RegressionStatus::Stale, Status::Pass, Some(why.to_owned())));
    }
    let (_, then) = decided(&recording, &mut session_of(&recording)?)?;
    // All that was decided must be asked for again; what comes after the failure is new.
    if now.starts_with(&then) {
        return Ok(of(RegressionStatus::Fixed, Status::Pass, None));
    }
    let why = plan.note().unwrap_or_else(|| "the program passes, and decides otherwise than was recorded".to_owned());
    Ok(of(RegressionStatus::Stale, Status::Pass, Some(why)))
}
