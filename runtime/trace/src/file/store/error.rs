//! Why a file could not be stored or read: what, where, and what to do.

use super::super::TRACE_BYTES_MAX;
use super::folder;
use super::lock::LOCK_STALE_S;
use std::io;
use std::path::{Path, PathBuf};

/// A file could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The name is taken, and the policy is to refuse.
    #[error("`{}` already exists: choose another name, or add `--record-collision append` or `overwrite`", path.display())]
    Exists {
        /// The name.
        path: PathBuf,
    },
    /// Another process is writing under that name.
    #[error(
        "`{}` is being written by another process (its lock `{}` is {age_s} s old): wait for it, or delete the lock if no \
         fozzy is running (after {LOCK_STALE_S} s it is ignored)",
        path.display(), lock.display()
    )]
    Locked {
        /// The name that is wanted.
        path: PathBuf,
        /// The lock's own name.
        lock: PathBuf,
        /// Its age in seconds.
        age_s: u64,
    },
    /// The folder is missing.
    #[error("cannot write `{}`: there is no folder `{}`; create it with `mkdir -p {}`", path.display(), folder.display(), folder.display())]
    NoFolder {
        /// The folder.
        folder: PathBuf,
        /// The name that is wanted.
        path: PathBuf,
    },
    /// What should be the folder is a file.
    #[error("cannot write `{}`: `{}` is not a folder", path.display(), folder.display())]
    NotAFolder {
        /// What should be the folder.
        folder: PathBuf,
        /// The name that is wanted.
        path: PathBuf,
    },
    /// The name stands for something else than a file.
    #[error("`{}` is {what}: expected the name of a trace file", path.display())]
    NotAFile {
        /// The name.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The file is longer than a trace can be.
    #[error("`{}` is too large for a trace: {bytes} bytes or more, at most {TRACE_BYTES_MAX}", path.display())]
    TooLarge {
        /// The name.
        path: PathBuf,
        /// The bytes of it that were read.
        bytes: u64,
    },
    /// The file system refused.
    #[error("cannot {action} `{}`: {source}{}", path.display(), advice(action, path, source))]
    Io {
        /// What was tried: `read`, `write`, `lock`.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl StoreError {
    /// The error of the file system at `path`, as a sentence with advice. `action` is a verb: `write`.
    #[must_use]
    pub fn io(action: &'static str, path: &Path, source: io::Error) -> StoreError {
        StoreError::Io { action, path: path.to_owned(), source }
    }
}

/// What to do about it, as the end of a sentence.
fn advice(action: &str, path: &Path, error: &io::Error) -> String {
    let folder = folder(path).display();
    match error.kind() {
        io::ErrorKind::StorageFull => {
            format!("; the disk of `{folder}` is full: free some space or write elsewhere (nothing was left behind)")
        }
        io::ErrorKind::QuotaExceeded => {
            format!(
                "; your quota on the disk of `{folder}` is used up: free some space or write elsewhere (nothing was left behind)"
            )
        }
        io::ErrorKind::FileTooLarge => {
            "; raise the limit on file sizes (`ulimit -f`) (nothing was left behind)".to_owned()
        }
        io::ErrorKind::ReadOnlyFilesystem => format!("; the disk of `{folder}` is read-only: write elsewhere"),
        io::ErrorKind::PermissionDenied if action == "read" => "; you may not read it: see `ls -l`".to_owned(),
        io::ErrorKind::PermissionDenied => {
            format!("; you may not create files in `{folder}`: see `ls -ld`, or write elsewhere")
        }
        _ => String::new(),
    }
}
