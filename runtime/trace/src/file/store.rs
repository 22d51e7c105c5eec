//! Files on the real disk: written whole or not at all.
//!
//! ```text
//! bytes ─▶ .fozzy-XXXXXX.tmp ─▶ fsync ─▶ rename to the name ─▶ fsync of the folder
//!                  └ removed on every error, and by `remove_temporaries` on Ctrl-C
//! trace  ─▶ the same, with `<name>.lock` held while the name is chosen and taken
//! ```
//!
//! Invariants: who looks at the name sees the old file or the new one, never a part; a symbolic link stays
//! and its destination is replaced; what is not a regular file (`/dev/null`, a folder) is never replaced.
//! Not here: what the bytes mean; where runs are kept (`fozzy`).

mod error;
mod lock;
mod temporaries;

pub use error::StoreError;
pub use temporaries::{is_temporary, remove_temporaries};

use super::TRACE_BYTES_MAX;
use lock::FileLock;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use temporaries::TemporaryFile;

/// Names tried when others take the numbers of [`CollisionPolicy::Append`] at the same moment, without the
/// lock. At the bound the last error is reported.
const APPEND_TRIES_MAX: u32 = 100;

/// What must have survived when a write returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The file and its name survive a power cut: fsync of the file, then of its folder.
    Synced,
    /// The file is whole for every reader, but a power cut may lose it: for what can be made again.
    Cached,
}

/// What happens when the name is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollisionPolicy {
    /// Refuse; the existing file stays.
    Error,
    /// Replace it.
    Overwrite,
    /// Write `stem.N.ext` beside it, N being one more than the highest there.
    Append,
}

/// Writes a file so that its name shows the old content or the new one, never a part of it.
///
/// The mode is 0644, less what the umask takes. An existing file is replaced.
///
/// # Errors
/// Those of the file system; nothing is left behind. [`StoreError::io`] turns them into a sentence.
pub fn write_atomic(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let target = destination(path)?;
    let temporary = write_temporary(folder(&target), bytes, durability)?;
    temporary.replace(&target)?;
    sync_folder(folder(&target), durability)
}

/// Writes a trace under the name that the policy gives, and returns that name.
///
/// # Errors
/// A name that is taken, a folder that is missing, a lock that another process holds, or what the file
/// system says; nothing is left behind.
pub fn write_trace(path: &Path, bytes: &[u8], collision: CollisionPolicy) -> Result<PathBuf, StoreError> {
    write_trace_as(path, bytes, collision, Durability::Synced)
}

/// The same, as durable as that.
///
/// # Errors
/// As for [`write_trace`].
pub fn write_trace_as(
    path: &Path,
    bytes: &[u8],
    collision: CollisionPolicy,
    durability: Durability,
) -> Result<PathBuf, StoreError> {
    check_target(path, collision)?;
    let failed = |error| StoreError::io("write", path, error);
    let target = destination(path).map_err(failed)?;
    let folder = folder(&target);
    let temporary = write_temporary(folder, bytes, durability).map_err(failed)?;
    // The file just written tells the time by the file system's own clock, which is the one that the
    // lock's age is measured by: no wall clock is read, and a remote disk's own clock does not matter.
    let now = temporary.modified().map_err(failed)?;
    let lock = FileLock::acquire(&target, now)?;
    let written = match collision {
        CollisionPolicy::Overwrite => temporary.replace(&target).map(|()| target.clone()).map_err(failed)?,
        CollisionPolicy::Error => match temporary.create(&target) {
            Ok(()) => target.clone(),
            Err((error, _)) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(StoreError::Exists { path: path.to_owned() });
            }
            Err((error, _)) => return Err(failed(error)),
        },
        CollisionPolicy::Append => append(temporary, &target).map_err(failed)?,
    };
    sync_folder(folder, durability).map_err(failed)?;
    drop(lock);
    // Named as the user named it, not as a link resolved.
    Ok(if written == target { path.to_owned() } else { written })
}

/// Checks before a long execution whether a trace can probably be written at `path`, so that a wrong name is found at
/// once.
///
/// # Errors
/// The same as [`write_trace`] would give for a name that is taken or not a file's, or a missing folder.
pub fn check_target(path: &Path, collision: CollisionPolicy) -> Result<(), StoreError> {
    if path.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(StoreError::NotAFile { path: path.to_owned(), what: "the name of a folder" });
    }
    let folder = folder(path);
    match fs::metadata(folder) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(StoreError::NotAFolder { folder: folder.to_owned(), path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::NoFolder { folder: folder.to_owned(), path: path.to_owned() });
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(StoreError::NotAFolder { folder: folder.to_owned(), path: path.to_owned() });
        }
        Err(error) => return Err(StoreError::io("write", path, error)),
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(StoreError::NotAFile { path: path.to_owned(), what: "a folder" }),
        Ok(found) if !found.is_file() => Err(StoreError::NotAFile { path: path.to_owned(), what: "a device or pipe" }),
        Ok(_) if collision == CollisionPolicy::Error => Err(StoreError::Exists { path: path.to_owned() }),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(StoreError::io("write", path, error)),
    }
}

/// Reads a file that should be a trace, and no more of it than a trace can be long.
///
/// # Errors
/// A missing or unreadable file, a folder, a file that is too large.
pub fn read_trace(path: &Path) -> Result<Vec<u8>, StoreError> {
    let failed = |error| StoreError::io("read", path, error);
    let too_large = |bytes| StoreError::TooLarge { path: path.to_owned(), bytes };
    let file = File::open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if found.is_dir() {
        return Err(StoreError::NotAFile { path: path.to_owned(), what: "a folder" });
    }
    if found.len() > TRACE_BYTES_MAX {
        return Err(too_large(found.len()));
    }
    let mut bytes = Vec::with_capacity(found.len() as usize);
    // A device has no length, and a file may grow while it is read.
    file.take(TRACE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > TRACE_BYTES_MAX {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes)
}

/// Where the bytes go: the end of symbolic links, so that a link stays one.
fn destination(path: &Path) -> io::Result<PathBuf> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(path.to_owned()) };
    let target = if found.is_symlink() { fs::canonicalize(path)? } else { path.to_owned() };
    if fs::metadata(&target)?.is_file() {
        return Ok(target);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

/// The folder of a path; the current one for a bare name.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn write_temporary(folder: &Path, bytes: &[u8], durability: Durability) -> io::Result<TemporaryFile> {
    let mut temporary = TemporaryFile::new_in(folder)?;
    temporary.file().write_all(bytes)?;
    if durability == Durability::Synced {
        temporary.file().sync_all()?;
    }
    Ok(temporary)
}

/// Makes a rename survive a power cut. Only Unix opens a folder as a file; elsewhere the rename does it.
fn sync_folder(folder: &Path, durability: Durability) -> io::Result<()> {
    if durability == Durability::Synced && cfg!(unix) {
        return File::open(folder)?.sync_all();
    }
    Ok(())
}

/// The name itself when it is free, else the next number.
fn append(temporary: TemporaryFile, target: &Path) -> io::Result<PathBuf> {
    let (mut temporary, mut name) = (temporary, target.to_owned());
    for _ in 0..APPEND_TRIES_MAX {
        match temporary.create(&name) {
            Ok(()) => return Ok(name),
            Err((error, back)) if error.kind() == io::ErrorKind::AlreadyExists => temporary = back,
            Err((error, _)) => return Err(error),
        }
        name = next_number(target)?;
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "others keep taking the next number"))
}

/// `stem.N.ext` with N one more than the highest there.
fn next_number(target: &Path) -> io::Result<PathBuf> {
    let bytes = |name: Option<&std::ffi::OsStr>| name.map_or(Vec::new(), |n| n.as_encoded_bytes().to_vec());
    let (mut head, mut tail) = (bytes(target.file_stem()), bytes(target.extension()));
    head.push(b'.');
    if target.extension().is_some() {
        tail.insert(0, b'.');
    }
    let mut highest = 0u64;
    for entry in fs::read_dir(folder(target))? {
        let name = entry?.file_name();
        let number = name.as_encoded_bytes().strip_prefix(&head[..]).and_then(|rest| rest.strip_suffix(&tail[..]));
        let digits = number.filter(|n| n.iter().all(u8::is_ascii_digit)).and_then(|n| std::str::from_utf8(n).ok());
        // A number past 64 bits is not ours, and is left alone.
        highest = highest.max(digits.and_then(|n| n.parse().ok()).unwrap_or(0));
    }
    let next = highest.checked_add(1).ok_or_else(|| io::Error::other("the numbers are used up"))?;
    let mut name = target.file_stem().expect("the target has a name").to_owned();
    name.push(format!(".{next}"));
    if let Some(extension) = target.extension() {
        name.push(".");
        name.push(extension);
    }
    Ok(target.with_file_name(name))
}

#[cfg(test)]
mod tests;
