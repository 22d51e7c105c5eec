//! Files, by WASI. Folders on the way to a file are made, as version 1 knows none.
//!
//! Real files have no snapshots: of those, what the scenario has touched is kept and written back.

use crate::failure::StepFailure;
use fozzy_scenario_file::Payload;
use fozzy_sdk::tools;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// What is kept of real files; `None` is one that was not there.
type FileContents = BTreeMap<String, Option<Vec<u8>>>;

#[derive(Clone, Default)]
pub struct FilesState {
    /// Paths that were written or read.
    touched: BTreeSet<String>,
    /// Snapshots of real files; those of virtual ones the host keeps.
    real: BTreeMap<String, FileContents>,
    /// How many steps that must fail are inside of each other now.
    depth: u32,
}

impl FilesState {
    pub(super) fn write(&mut self, path: &str, data: &Payload) -> Result<(), StepFailure> {
        self.touched.insert(path.to_owned());
        put(path, data.bytes()).map_err(|error| StepFailure::new(format!("{path}: cannot write: {}", reason(&error))))
    }

    pub(super) fn check(&mut self, path: &str, equals: &Payload) -> Result<(), StepFailure> {
        let found = self.read(path)?;
        if found.bytes() == equals.bytes() {
            return Ok(());
        }
        Err(StepFailure::new(format!("{path}: expected {equals:?}, found {found:?}")))
    }

    /// What a file holds.
    pub fn read(&mut self, path: &str) -> Result<Payload, StepFailure> {
        self.touched.insert(path.to_owned());
        let found = fs::read(path);
        let failed = |error| StepFailure::new(format!("{path}: cannot read: {}", reason(&error))).of("cannot be read");
        found.map(Payload::of).map_err(failed)
    }

    pub(super) fn snapshot(&mut self, name: &str) -> Result<(), StepFailure> {
        if tools::snapshot_files(name).is_ok() {
            return Ok(());
        }
        let kept: Result<FileContents, String> =
            self.touched.iter().map(|path| Ok((path.clone(), get(path)?))).collect();
        self.real.insert(name.to_owned(), kept.map_err(StepFailure::new)?);
        Ok(())
    }

    pub(super) fn restore(&mut self, name: &str) -> Result<(), StepFailure> {
        let Some(kept) = self.real.get(name) else {
            return tools::restore_files(name)
                .map_err(|why| StepFailure::new(format!("the snapshot `{name}` cannot be brought back: {why}")));
        };
        for path in &self.touched {
            let done = match kept.get(path) {
                Some(Some(content)) => put(path, content),
                Some(None) | None => match fs::remove_file(path) {
                    Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                    done => done,
                },
            };
            done.map_err(|error| StepFailure::new(format!("{path}: cannot bring back: {}", reason(&error))))?;
        }
        Ok(())
    }

    /// Before steps whose effects are taken back.
    pub(super) fn keep(&mut self) -> Result<(), StepFailure> {
        self.depth += 1;
        let name = self.inner_name();
        self.snapshot(&name)
    }

    /// Afterwards; `self` is as it was before, `later` what they have made of it.
    pub(super) fn bring_back(&mut self, later: FilesState) -> Result<(), StepFailure> {
        let mut later = later;
        let name = later.inner_name();
        later.restore(&name)?;
        self.touched.extend(later.touched);
        Ok(())
    }

    /// A name that no scenario writes by chance.
    fn inner_name(&self) -> String {
        format!("\u{1}before what must fail {}", self.depth)
    }
}

fn put(path: &str, data: &[u8]) -> std::io::Result<()> {
    match fs::write(path, data) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty());
            let Some(folder) = folder else { return Err(error) };
            fs::create_dir_all(folder)?;
            fs::write(path, data)
        }
        done => done,
    }
}

fn get(path: &str) -> Result<Option<Vec<u8>>, String> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{path}: cannot keep: {}", reason(&error))),
    }
}

/// Why an operation on files was refused, without the number that the standard library adds: it is one of WASI's, and reads as one
/// of the system's, where it is another error.
fn reason(error: &std::io::Error) -> String {
    let words = error.to_string();
    words.split_once(" (os error").map_or(words.clone(), |(reason, _)| reason.to_owned())
}
