//! `<target>.lock`: held while a trace's name is chosen and taken.
//!
//! Invariant: of two processes that find the same stale lock, one gets it. Taking it over happens under the
//! system's advisory lock on that file, and makes its time new, which the second one sees.
//! Not here: protection against processes that do not ask for the lock; the rename does not need any.

use super::StoreError;
use super::temporaries::{self, TemporaryFiles};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Age in seconds from which a lock is that of a process that died: writing under it takes milliseconds.
/// Younger ones are respected.
pub(super) const LOCK_STALE_S: u64 = 300;
/// Times that the lock is asked for when it appears and disappears meanwhile. At the bound it is taken
/// for held.
const TRIES_MAX: u32 = 16;

/// Holds the lock until dropped.
#[derive(Debug)]
pub(super) struct FileLock {
    path: PathBuf,
}

impl FileLock {
    /// Takes the lock of `target`. `now` is the present by the clock of the file system it is on.
    pub(super) fn acquire(target: &Path, now: SystemTime) -> Result<FileLock, StoreError> {
        let mut name = target.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        let failed = |error| StoreError::io("lock", target, error);
        let mut age = Duration::ZERO;
        for _ in 0..TRIES_MAX {
            match temporaries::in_flight().create(&path, create) {
                Ok(()) => return Ok(FileLock { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
            match take_over(&path, now, temporaries::in_flight()) {
                Ok(None) => return Ok(FileLock { path }),
                Ok(Some(young)) => {
                    age = young;
                    break;
                }
                // Released meanwhile: ask again.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Err(StoreError::Locked { path: target.to_owned(), lock: path, age_s: age.as_secs() })
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        temporaries::in_flight().remove(&self.path);
    }
}

fn create(path: &Path) -> io::Result<()> {
    let mut lock = OpenOptions::new().write(true).create_new(true).open(path)?;
    // An empty lock is one too: a full disk is reported by the write of the trace, not here.
    let _ = lock.write_all(b"fozzy\n");
    Ok(())
}

/// Makes a stale lock ours; `Some(age)` when it is not stale.
fn take_over(path: &Path, now: SystemTime, registry: &TemporaryFiles) -> io::Result<Option<Duration>> {
    let age = age_of(fs::metadata(path)?.modified()?, now);
    if age < Duration::from_secs(LOCK_STALE_S) {
        return Ok(Some(age));
    }
    let mut file = OpenOptions::new().write(true).open(path)?;
    #[allow(clippy::incompatible_msrv, reason = "only the command has stores, and it needs a newer Rust than the SDK")]
    if file.try_lock().is_err() {
        return Ok(Some(Duration::ZERO));
    }
    registry.adopt(path, || {
        // Again, now that no other process can take it: this handle may be of a lock that was just taken over.
        let age = age_of(file.metadata()?.modified()?, now);
        if age < Duration::from_secs(LOCK_STALE_S) {
            return Ok(Some(age));
        }
        renew(&mut file)?;
        Ok(None)
    })
}

/// Gives the lock the present time, which writing does even for who does not own the file.
fn renew(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all(b"fozzy\n")
}

/// A lock from the future has no age: only a person can tell what it is.
fn age_of(modified: SystemTime, now: SystemTime) -> Duration {
    now.duration_since(modified).unwrap_or(Duration::ZERO)
}
