//! Files that must not outlive this process: temporary files being written, and locks.
//!
//! A handler of Ctrl-C runs on a thread of its own while others write, and the process ends after it
//! without dropping anything. So each such file is registered in the same moment as it is made.
//!
//! Invariant: a file that exists and is ours is in the registry; after [`remove_temporaries`] there is
//! none, and none is made any more.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use tempfile::NamedTempFile;

/// Those of this process.
static IN_FLIGHT: TemporaryFiles = TemporaryFiles::new();

/// Deletes every temporary file and lock of this process, and lets no new ones be made: writes that are
/// under way or begin later fail. For a handler of Ctrl-C, right before the process exits.
pub fn remove_temporaries() {
    IN_FLIGHT.close();
}

/// The registry of this process.
pub(super) fn in_flight() -> &'static TemporaryFiles {
    &IN_FLIGHT
}

/// A set of files that can be closed for good.
#[derive(Debug)]
pub(super) struct TemporaryFiles {
    /// `None` once closed.
    paths: Mutex<Option<BTreeSet<PathBuf>>>,
}

impl TemporaryFiles {
    pub(super) const fn new() -> TemporaryFiles {
        TemporaryFiles { paths: Mutex::new(Some(BTreeSet::new())) }
    }

    /// Makes the file at `path` by `make` and registers it.
    pub(super) fn create(&self, path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        self.register(|| make(path).map(|()| ((), Some(path.to_owned()))))
    }

    /// Registers the existing file at `path` when `take` makes it ours (answers `None`).
    pub(super) fn adopt<T>(&self, path: &Path, take: impl FnOnce() -> io::Result<Option<T>>) -> io::Result<Option<T>> {
        self.register(|| {
            take().map(|not_ours| {
                let ours = not_ours.is_none().then(|| path.to_owned());
                (not_ours, ours)
            })
        })
    }

    /// Deletes the file and forgets it.
    pub(super) fn remove(&self, path: &Path) {
        let mut paths = self.lock();
        // When closed it is deleted already, and what has the name now may be another process's.
        if paths.as_mut().is_some_and(|paths| paths.remove(path)) {
            let _ = fs::remove_file(path);
        }
    }

    /// Forgets a file that has another name now, or none.
    pub(super) fn forget(&self, path: &Path) {
        if let Some(paths) = self.lock().as_mut() {
            paths.remove(path);
        }
    }

    /// Deletes all of them, for good.
    pub(super) fn close(&self) {
        for path in self.lock().take().unwrap_or_default() {
            let _ = fs::remove_file(path);
        }
    }

    /// Makes and registers under the lock, so that closing misses none.
    fn register<T>(&self, make: impl FnOnce() -> io::Result<(T, Option<PathBuf>)>) -> io::Result<T> {
        let mut paths = self.lock();
        let Some(paths) = paths.as_mut() else {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "the process is being stopped"));
        };
        let (value, path) = make()?;
        paths.extend(path);
        Ok(value)
    }

    fn lock(&self) -> MutexGuard<'_, Option<BTreeSet<PathBuf>>> {
        // A set of paths is as good after a panic elsewhere as before it.
        self.paths.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What names of files that have no final name yet begin and end with.
const MARKS: (&str, &str) = (".fozzy-", ".tmp");

/// Whether a file is called as one without its final name is: it is being written, or its writer was killed.
#[must_use]
pub fn is_temporary(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(MARKS.0) && name.ends_with(MARKS.1))
}

/// The system's error without the temporary name in its message: users do not know that name, and it differs each time.
fn unnamed(error: io::Error) -> io::Error {
    /// Between the system's words and the name, as tempfile writes them.
    const PLACE: &str = " at path \"";
    let told = error.to_string();
    match told.rsplit_once(PLACE) {
        Some((words, _)) => io::Error::new(error.kind(), words),
        None => error,
    }
}

/// A file without its final name yet; deleted when dropped.
#[derive(Debug)]
pub(super) struct TemporaryFile {
    /// `None` only while its name is being given.
    file: Option<NamedTempFile>,
}

impl TemporaryFile {
    /// A new empty file in `folder`, with the mode of an ordinary file, not tempfile's private one.
    pub(super) fn new_in(folder: &Path) -> io::Result<TemporaryFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(MARKS.0).suffix(MARKS.1);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
        let file = IN_FLIGHT.register(|| {
            let file = builder.tempfile_in(folder).map_err(unnamed)?;
            let path = file.path().to_owned();
            Ok((file, Some(path)))
        })?;
        Ok(TemporaryFile { file: Some(file) })
    }

    pub(super) fn file(&mut self) -> &mut File {
        self.file.as_mut().expect("it is there until it has its name").as_file_mut()
    }

    /// When it was written, by the file system's clock.
    pub(super) fn modified(&self) -> io::Result<SystemTime> {
        self.file.as_ref().expect("it is there until it has its name").as_file().metadata()?.modified()
    }

    /// Gives it the name, whatever had it before.
    pub(super) fn replace(mut self, target: &Path) -> io::Result<()> {
        let file = self.file.take().expect("it is there until it has its name");
        let path = file.path().to_owned();
        let done = file.persist(target).map(drop).map_err(|error| error.error);
        IN_FLIGHT.forget(&path);
        done
    }

    /// Gives it the name if that is free; else gives it back.
    pub(super) fn create(mut self, target: &Path) -> Result<(), (io::Error, TemporaryFile)> {
        let file = self.file.take().expect("it is there until it has its name");
        let path = file.path().to_owned();
        match file.persist_noclobber(target) {
            Ok(_) => {
                IN_FLIGHT.forget(&path);
                Ok(())
            }
            Err(error) => Err((error.error, TemporaryFile { file: Some(error.file) })),
        }
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            let path = file.path().to_owned();
            drop(file);
            IN_FLIGHT.forget(&path);
        }
    }
}
