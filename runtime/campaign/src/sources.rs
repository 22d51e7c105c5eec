//! Texts of source files that debug information names, for reports.
//!
//! ```text
//! /home/ada/p/src/a.rs      below a named folder: read
//! /home/ada/p/src/a.rs      not there, the project's own, and FOLDER/src/a.rs is: read that
//! /etc/passwd               below none: never read, whatever a program's debug information says
//! ```
//!
//! Invariant: only regular files below the folders that the user has named are read; a report is something that people
//! pass on.

use crate::error::{CampaignError, ErrorKind, at_path};
use fozzy_report::coverage::CoverageDocument;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Bytes of a source that is shown. Longer ones, which only generators write, are not.
const SOURCE_BYTES_MAX: u64 = 8 << 20;

/// Bytes of all sources of a report together; what comes after is not shown.
const SOURCES_BYTES_MAX: u64 = 256 << 20;

/// Folders that sources are read from.
pub struct Sources {
    folders: Vec<PathBuf>,
}

impl Sources {
    /// Sources below these folders.
    pub fn below(folders: &[PathBuf]) -> Result<Sources, CampaignError> {
        let found = folders.iter().map(|folder| {
            folder.canonicalize().map_err(|error| at_path(ErrorKind::Sources, "--sources: cannot find", folder, &error))
        });
        Ok(Sources { folders: found.collect::<Result<_, _>>()? })
    }

    /// The texts of all files that a report shows, by the path that the compiler saw.
    pub fn of(&self, document: &CoverageDocument, all: bool) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        let mut room = SOURCES_BYTES_MAX;
        for (_, file) in document.files().filter(|(_, file)| file.has_source && (all || file.own)) {
            let Some(text) = self.find(&file.path, file.own).and_then(|path| read(&path)) else { continue };
            let Some(left) = room.checked_sub(text.len() as u64) else { break };
            room = left;
            texts.insert(file.path.clone(), text);
        }
        texts
    }

    /// The text of a file of the project's own, by the path that the compiler saw.
    pub fn text(&self, path: &str) -> Option<String> {
        self.find(path, true).and_then(|path| read(&path))
    }

    fn find(&self, path: &str, own: bool) -> Option<PathBuf> {
        let path = Path::new(path);
        if let Some(found) = self.folders.iter().find_map(|folder| self.inside(&folder.join(path))) {
            return Some(found);
        }
        // Elsewhere, or compiled on another machine: the longest end of the path that lies below a folder.
        let parts: Vec<Component<'_>> = path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
        let ends = (1..parts.len()).map(|from| parts[from..].iter().collect::<PathBuf>());
        let candidates = ends.flat_map(|end| self.folders.iter().map(move |folder| folder.join(&end)));
        if own && !path.exists() { candidates.into_iter().find_map(|candidate| self.inside(&candidate)) } else { None }
    }

    /// The file that a path leads to, when it lies below one of the folders.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let real = path.canonicalize().ok()?;
        let below = self.folders.iter().any(|folder| real.starts_with(folder));
        (below && real.is_file()).then_some(real)
    }
}

fn read(path: &Path) -> Option<String> {
    let short = fs::metadata(path).is_ok_and(|found| found.len() <= SOURCE_BYTES_MAX);
    if short { fs::read_to_string(path).ok() } else { None }
}
