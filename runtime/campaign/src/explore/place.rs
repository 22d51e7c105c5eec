//! Where the traces of an exploration's findings go.

use fozzy_trace::file::store::CollisionPolicy;
use std::path::{Path, PathBuf};

/// Where findings go.
pub struct Where {
    /// The folder of the run.
    pub folder: PathBuf,
    /// The file that was asked for.
    pub record: Option<PathBuf>,
    /// What to do when that file is there.
    pub collision: CollisionPolicy,
}

impl Where {
    /// The place of the finding of this number, which is called so in the folder.
    pub fn of(&self, number: usize, name: &Path) -> (PathBuf, CollisionPolicy) {
        match &self.record {
            // Those after the first stand beside it.
            Some(path) if number == 0 => (path.clone(), self.collision),
            Some(path) => (path.clone(), CollisionPolicy::Append),
            None => (self.folder.join(name), CollisionPolicy::Overwrite),
        }
    }
}
