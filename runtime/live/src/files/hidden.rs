//! What stands below the root and is not there for guests: our own run store, which grows with every run.
//!
//! ```text
//! open-at ".fozzy/runs", "sub/../.fozzy", "link-to-it"   no-entry        read-directory of the root   without it
//! mkdir ".fozzy"                                         no-entry
//! ```
//!
//! Whatever a path says is looked up as the operation will look it up, so that links do not lead there.
//!
//! Not here: a store several directories below the root is hidden from paths that begin at the root, not from one that
//! begins at a directory between them.

use super::{FileBackend, identity};
use cap_primitives::fs::{self, Metadata};
use fozzy_trace::Errno;
use fozzy_trace::observation::{FileOperation, FileRequest};
use std::fs::File;
use std::path::{Path, PathBuf};

impl FileBackend {
    /// What is hidden below `directory`, if that is the root.
    pub(super) fn hidden_in(&self, directory: &File) -> Result<Option<&Path>, Errno> {
        let Some(hidden) = &self.hidden else { return Ok(None) };
        let of = |file: &File| Metadata::from_file(file).map(|of| identity(&of)).map_err(|error| super::errno(&error));
        Ok((of(directory)? == of(self.root.any())?).then_some(hidden))
    }

    /// Refuses operations on what is hidden: it does not exist.
    pub(super) fn refuse_hidden(&self, ask: &FileRequest) -> Result<(), Errno> {
        let (path, second) = paths(&ask.operation);
        for (on, path) in path.map(|path| (ask.on, path)).into_iter().chain(second) {
            let Ok(base) = self.get(on).and_then(|base| base.directory()) else { continue };
            if let Some(hidden) = self.hidden_in(base)?
                && [whole(base, path), without_last_link(base, path)]
                    .into_iter()
                    .flatten()
                    .any(|at| at.starts_with(hidden))
            {
                return Err(Errno::NoEntry);
            }
        }
        Ok(())
    }
}

/// The paths of an operation: the one below its own directory, and the one below another.
fn paths(operation: &FileOperation) -> (Option<&str>, Option<(u32, &str)>) {
    match operation {
        FileOperation::OpenAt { path, .. }
        | FileOperation::StatAt { path, .. }
        | FileOperation::CreateDirectoryAt { path }
        | FileOperation::RemoveDirectoryAt { path }
        | FileOperation::UnlinkFileAt { path }
        | FileOperation::SymlinkAt { path, .. }
        | FileOperation::ReadlinkAt { path } => (Some(path), None),
        FileOperation::SetTimes { path, .. } | FileOperation::MetadataHash { path, .. } => (path.as_deref(), None),
        FileOperation::RenameAt { path, to, new_path } | FileOperation::LinkAt { path, to, new_path, .. } => {
            (Some(path), Some((*to, new_path)))
        }
        FileOperation::Close
        | FileOperation::Read { .. }
        | FileOperation::Write { .. }
        | FileOperation::Append { .. }
        | FileOperation::Stat
        | FileOperation::SetSize { .. }
        | FileOperation::ReadDirectory
        | FileOperation::Sync
        | FileOperation::SyncData
        | FileOperation::IsSameObject { .. } => (None, None),
    }
}

/// Where a path leads that exists, all links followed.
fn whole(base: &File, path: &str) -> Option<PathBuf> {
    fs::canonicalize(base, path.as_ref()).ok()
}

/// Where a path leads whose last name is taken as it is, and need not exist.
fn without_last_link(base: &File, path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let name = path.file_name()?;
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => {
            let parent = fs::canonicalize(base, parent).ok()?;
            Some(if parent == Path::new(".") { name.into() } else { parent.join(name) })
        }
        None => Some(name.into()),
    }
}
