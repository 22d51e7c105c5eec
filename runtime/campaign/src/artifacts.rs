//! The files that a run has left, and what is made of them for others.
//!
//! ```text
//! .fozzy/runs/<id>/   report.json manifest.json trace.fozzy coverage.json …      the run's own folder
//! run.fozzy           a trace alone
//!      └─▶ ls · diff (compared) · export, pack, bundle (a folder or a zip)
//! ```
//!
//! Invariants: only files inside the folder of a run whose report and manifest agree are taken, or a bare trace, so
//! that a folder from somebody else cannot name files outside of itself. Links are not followed. A file that is called
//! a trace is one.
//! Not here: which run is meant (`selector`), what a report says (`fozzy-report`).

pub mod bundle;
pub mod pack;

use crate::error::{CampaignError, ErrorKind, at_path};
use crate::selector::{self, SelectedRun};
use crate::store::TRACE_NAME;
use fozzy_report::document::ArtifactEntry;
use fozzy_trace::file;
use std::path::{Path, PathBuf};

/// Files of one run; a folder with more is not a run's.
const FILES_MAX: usize = 10_000;
/// Folders inside of each other.
const DEPTH_MAX: usize = 8;

/// One file of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// What it is: `trace`, `report`, …
    pub kind: &'static str,
    /// Its name among the run's files, with `/` between folders.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

impl Artifact {
    /// The file as documents list it.
    pub fn entry(&self) -> ArtifactEntry {
        ArtifactEntry {
            kind: self.kind.to_owned(),
            path: self.path.display().to_string(),
            size_bytes: Some(self.bytes),
        }
    }
}

/// What a file is, by its name.
fn kind_of(name: &str) -> &'static str {
    let last = name.rsplit('/').next().unwrap_or(name);
    match last {
        "report.json" | "report.html" | "junit.xml" | "report.sarif" => "report",
        "manifest.json" => "manifest",
        "coverage.json" => "coverage",
        _ if last.ends_with(".min.fozzy") => "min_repro",
        _ if last.ends_with(".fozzy") => "trace",
        "testcases.txt" => "corpus",
        _ if name.starts_with("corpus/") => "corpus",
        _ => "logs",
    }
}

/// All files of a run, the trace first, the others by name. A path that its manifest names outside of its folder is not read.
pub fn of(named: &SelectedRun) -> Result<Vec<Artifact>, CampaignError> {
    match named {
        SelectedRun::Trace(path) => Ok(vec![artifact("trace", TRACE_NAME.to_owned(), path.clone())?]),
        SelectedRun::Run(run) => {
            let mut found = Vec::new();
            collect(&run.folder, "", DEPTH_MAX, &mut found)?;
            found.sort_by(|left, right| {
                (left.name != TRACE_NAME, &left.name).cmp(&(right.name != TRACE_NAME, &right.name))
            });
            Ok(found)
        }
    }
}

/// The same, to be handed on: a bare file is a trace or a bundle, too.
///
/// # Errors
/// As of [`of`], and when the file is something else.
pub fn to_hand_on(named: &SelectedRun) -> Result<Vec<Artifact>, CampaignError> {
    match named {
        SelectedRun::Trace(path) => Ok(vec![trace(TRACE_NAME.to_owned(), "trace", path.clone())?]),
        SelectedRun::Run(_) => of(named),
    }
}

/// The trace among the files of a run.
pub fn trace_among(artifacts: &[Artifact]) -> Option<&Path> {
    artifacts.iter().find(|artifact| artifact.name == TRACE_NAME).map(|artifact| artifact.path.as_path())
}

/// A file that is packed as a trace: it is one, whole or damaged, and no other file under its name.
fn trace(name: String, kind: &'static str, path: PathBuf) -> Result<Artifact, CampaignError> {
    let found = file::verify(&selector::bytes(&path)?);
    match found.error.filter(|_| !found.checksum_present) {
        Some(error) => Err(CampaignError::new(ErrorKind::Trace, format!("{}: {error}", path.display()))),
        None => artifact(kind, name, path),
    }
}

fn artifact(kind: &'static str, name: String, path: PathBuf) -> Result<Artifact, CampaignError> {
    let metadata =
        std::fs::metadata(&path).map_err(|error| at_path(ErrorKind::Artifacts, "cannot read", &path, &error))?;
    Ok(Artifact { kind, name, path, bytes: metadata.len() })
}

fn collect(folder: &Path, below: &str, depth: usize, found: &mut Vec<Artifact>) -> Result<(), CampaignError> {
    let failed = |error: std::io::Error| at_path(ErrorKind::Artifacts, "cannot list", folder, &error);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (kind, path) = (entry.file_type().map_err(failed)?, entry.path());
        let Some(word) = entry.file_name().to_str().map(str::to_owned) else { continue };
        let name = format!("{below}{word}");
        if kind.is_dir() && depth > 1 {
            collect(&path, &format!("{name}/"), depth - 1, found)?;
        } else if kind.is_file() {
            found.push(match kind_of(&name) {
                kind @ ("trace" | "min_repro") => trace(name, kind, path)?,
                kind => artifact(kind, name, path)?,
            });
        }
        if found.len() > FILES_MAX {
            let message = format!("{} holds more than {FILES_MAX} files, which no run leaves", folder.display());
            return Err(CampaignError::new(ErrorKind::Artifacts, message));
        }
    }
    Ok(())
}

/// Bytes of all files of a run that are handed on: they are held in memory, and a plain zip has no more than twice as many.
const CONTENTS_BYTES_MAX: u64 = 2 << 30;

/// The bytes of files, by name.
///
/// # Errors
/// When they are too many, or one cannot be read.
pub fn contents(files: &[Artifact]) -> Result<Vec<pack::Content>, CampaignError> {
    let all = files.iter().fold(0u64, |sum, file| sum.saturating_add(file.bytes));
    if all > CONTENTS_BYTES_MAX {
        let message = format!("the files of the run have {all} bytes, at most {CONTENTS_BYTES_MAX} are handed on");
        return Err(CampaignError::new(ErrorKind::Artifacts, message)
            .hint("move away what is not the run's: fozzy artifacts ls"));
    }
    let read = |file: &Artifact| {
        let bytes = std::fs::read(&file.path);
        let bytes = bytes.map_err(|error| at_path(ErrorKind::Artifacts, "cannot read", &file.path, &error))?;
        Ok((file.name.clone(), bytes))
    };
    files.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_kind_follows_from_its_name() {
        let kinds =
            ["trace.fozzy", "a.min.fozzy", "report.json", "manifest.json", "coverage.json", "corpus/ab", "x.txt"];
        let expected = ["trace", "min_repro", "report", "manifest", "coverage", "corpus", "logs"];
        assert_eq!(kinds.map(kind_of), expected);
    }
}
