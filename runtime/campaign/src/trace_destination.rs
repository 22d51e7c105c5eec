//! Where the traces of a search's findings go.

use fozzy_trace::file::store::CollisionPolicy;
use std::path::{Path, PathBuf};

/// Where traces of findings go.
#[derive(Clone, Debug)]
pub struct TraceDestination {
    /// The folder of the run.
    pub folder: PathBuf,
    /// The file that was requested.
    pub record: Option<PathBuf>,
    /// The policy for a requested file that exists.
    pub collision: CollisionPolicy,
}

impl TraceDestination {
    /// The file of the finding of this number; unless one was requested, `name` in the folder.
    pub fn of(&self, number: usize, name: &Path) -> (PathBuf, CollisionPolicy) {
        self.requested_or(number, || self.folder.join(name))
    }

    /// The same; unless one was requested, a file wherever it is.
    pub fn requested_or(&self, number: usize, other: impl FnOnce() -> PathBuf) -> (PathBuf, CollisionPolicy) {
        match &self.record {
            // Those after the first stand beside it.
            Some(path) if number == 0 => (path.clone(), self.collision),
            Some(path) => (path.clone(), CollisionPolicy::Append),
            None => (other(), CollisionPolicy::Overwrite),
        }
    }
}
