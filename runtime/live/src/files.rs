//! The real disk below one directory: each operation of `wasi:filesystem`, done now and answered once.
//!
//! ```text
//! { on: 0, open-at "log", opened: 3 }  ──▶  openat2(root, "log", RESOLVE_BENEATH)  ──▶  opened file
//! { on: 3, read 0..100 }               ──▶  pread                                  ──▶  bytes 9f86…
//! ```
//!
//! The operations are those of wasmtime-wasi on Linux, through the library that wasmtime-wasi's own file code comes
//! from; `oracle.rs` compares the answers with those of the virtual disk, which has them too.
//!
//! Invariants: nothing outside the root is reached, by `..`, by an absolute path or by a link, because the kernel
//! resolves every path beneath an open directory; devices, pipes and sockets are seen and never opened, so that no
//! operation waits for anybody; the run store does not exist for guests (`hidden.rs`); memory and open files are bounded by the constants below; listings are sorted.
//! Not here: rights of descriptors and positions of streams (`fozzy-host`).

mod errors;
mod hidden;
mod masked;
mod open;
#[cfg(all(test, target_os = "linux"))]
mod oracle;
#[cfg(test)]
mod tests;

use crate::secrets::Secrets;
use cap_primitives::fs::{self, DirOptions, FollowSymlinks, Metadata, MetadataExt, SystemTimeSpec};
use cap_primitives::time::SystemTime;
use errors::errno;
use fozzy_trace::observation::{FileKind, FileOperation, FileRequest, FileResponse, FileStat, TimestampUpdate};
use fozzy_trace::plan::Inputs;
use fozzy_trace::{Errno, RunningDigest};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, FileTimes};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Files and directories that are open at once, besides the root. Half of what a process may commonly have; the
/// next one gets `insufficient-memory`.
pub const OPEN_FILES_MAX: usize = 512;
/// Entries of one directory that are listed. A listing stands in the trace whole; that of a larger directory is
/// refused with `overflow`.
pub const DIRECTORY_ENTRIES_MAX: usize = 100_000;

/// See the module.
pub(crate) struct FileBackend {
    root: OpenHandle,
    /// Below the root, and not there for guests.
    hidden: Option<PathBuf>,
    open: BTreeMap<u32, OpenHandle>,
    /// Files in which a secret was hidden, by their identity.
    masked: BTreeSet<(u64, u64)>,
}

/// Something that was opened.
enum OpenHandle {
    File(File),
    Directory(File),
}

impl OpenHandle {
    fn any(&self) -> &File {
        match self {
            OpenHandle::File(file) | OpenHandle::Directory(file) => file,
        }
    }

    /// Refuses directories, in the words of wasmtime-wasi.
    fn file(&self) -> Result<&File, Errno> {
        match self {
            OpenHandle::File(file) => Ok(file),
            OpenHandle::Directory(_) => Err(Errno::BadDescriptor),
        }
    }

    /// Refuses files, in the words of wasmtime-wasi.
    fn directory(&self) -> Result<&File, Errno> {
        match self {
            OpenHandle::Directory(file) => Ok(file),
            OpenHandle::File(_) => Err(Errno::NotDirectory),
        }
    }
}

impl FileBackend {
    /// The disk below `root`, without what stands at `hidden` below it.
    ///
    /// # Errors
    /// What the operating system says of that directory.
    pub(crate) fn new(root: &Path, hidden: Option<PathBuf>) -> io::Result<FileBackend> {
        let root = fs::open_ambient_dir(root, cap_std::ambient_authority())?;
        Ok(FileBackend { root: OpenHandle::Directory(root), hidden, open: BTreeMap::new(), masked: BTreeSet::new() })
    }

    /// Performs one operation.
    pub(crate) fn answer(
        &mut self,
        ask: &FileRequest,
        secrets: &Secrets,
        bytes: &mut Inputs,
    ) -> Result<FileResponse, Errno> {
        self.refuse_hidden(ask)?;
        self.refuse_masked(ask)?;
        match &ask.operation {
            FileOperation::Close => {
                self.open.remove(&ask.on);
                return Ok(FileResponse::Done);
            }
            FileOperation::OpenAt { path, opened, .. } => {
                let directory = self.get(ask.on)?.directory()?;
                if *opened == 0 || self.open.contains_key(opened) {
                    return Err(Errno::BadDescriptor);
                }
                if self.open.len() >= OPEN_FILES_MAX {
                    return Err(Errno::InsufficientMemory);
                }
                let (open, kind) = open::open_at(directory, path, &ask.operation)?;
                self.open.insert(*opened, open);
                return Ok(FileResponse::Opened(kind));
            }
            FileOperation::Read { offset, length } => return self.read(ask.on, (*offset, *length), secrets, bytes),
            _ => {}
        }
        let on = self.get(ask.on)?;
        match &ask.operation {
            FileOperation::Close | FileOperation::OpenAt { .. } | FileOperation::Read { .. } => {
                unreachable!("they are answered above")
            }
            FileOperation::Write { offset, bytes: digest } => {
                let content = bytes.get(digest).ok_or(Errno::Io)?;
                let written = again(|| on.file()?.write_at(&content, *offset).map_err(|error| errno(&error)))?;
                Ok(FileResponse::Written(written as u64))
            }
            FileOperation::Append { bytes: digest } => {
                let content = bytes.get(digest).ok_or(Errno::Io)?;
                let written = again(|| append(on.file()?, &content).map_err(|error| errno(&error)))?;
                Ok(FileResponse::Written(written as u64))
            }
            FileOperation::Stat => Metadata::from_file(on.any()).map(|of| FileResponse::Stat(stat(&of))).or_errno(),
            FileOperation::StatAt { path, follow } => {
                let found = fs::stat(on.directory()?, path.as_ref(), following(*follow)).or_errno()?;
                Ok(FileResponse::Stat(stat(&found)))
            }
            FileOperation::SetSize { size } => on.file()?.set_len(*size).done(),
            FileOperation::SetTimes { path, follow, accessed, modified } => {
                set_times(on, path.as_deref(), *follow, *accessed, *modified)
            }
            FileOperation::ReadDirectory => {
                let directory = on.directory()?;
                list(directory, self.hidden_in(directory)?.and_then(|hidden| hidden.to_str()))
            }
            FileOperation::CreateDirectoryAt { path } => {
                fs::create_dir(on.directory()?, path.as_ref(), &DirOptions::new()).done()
            }
            FileOperation::RemoveDirectoryAt { path } => fs::remove_dir(on.directory()?, path.as_ref()).done(),
            FileOperation::UnlinkFileAt { path } => fs::remove_file(on.directory()?, path.as_ref()).done(),
            FileOperation::RenameAt { path, to, new_path } => {
                let to = self.get(*to)?;
                // wasmtime-wasi wants a directory when either path ends in a slash; this library looks at the old one.
                let add = new_path.ends_with('/') && !path.ends_with('/') && !path.is_empty();
                let path = if add { format!("{path}/") } else { path.clone() };
                fs::rename(on.directory()?, path.as_ref(), to.directory()?, new_path.as_ref()).done()
            }
            FileOperation::LinkAt { path, follow, to, new_path } => {
                let (from, to) = (on.directory()?, self.get(*to)?.directory()?);
                if *follow {
                    return Err(Errno::Invalid);
                }
                fs::hard_link(from, path.as_ref(), to, new_path.as_ref()).done()
            }
            FileOperation::SymlinkAt { text, path } => {
                fs::symlink(text.as_ref(), on.directory()?, path.as_ref()).done()
            }
            FileOperation::ReadlinkAt { path } => {
                let text = fs::read_link(on.directory()?, path.as_ref()).or_errno()?;
                text.into_os_string().into_string().map(FileResponse::Link).map_err(|_| Errno::IllegalByteSequence)
            }
            FileOperation::Sync => synced(on, File::sync_all),
            FileOperation::SyncData => synced(on, File::sync_data),
            FileOperation::IsSameObject { other } => {
                let one = Metadata::from_file(on.any()).or_errno()?;
                let other = Metadata::from_file(self.get(*other)?.any()).or_errno()?;
                Ok(FileResponse::Same(identity(&one) == identity(&other)))
            }
            FileOperation::MetadataHash { path: None, .. } => {
                Metadata::from_file(on.any()).map(|of| hash(&of)).or_errno()
            }
            FileOperation::MetadataHash { path: Some(path), follow } => {
                fs::stat(on.directory()?, path.as_ref(), following(*follow)).map(|of| hash(&of)).or_errno()
            }
        }
    }

    fn get(&self, number: u32) -> Result<&OpenHandle, Errno> {
        match number {
            0 => Ok(&self.root),
            number => self.open.get(&number).ok_or(Errno::BadDescriptor),
        }
    }
}

/// What the operating system said, in the words of the interface.
trait OrErrno<T> {
    fn or_errno(self) -> Result<T, Errno>;
}

impl<T> OrErrno<T> for io::Result<T> {
    fn or_errno(self) -> Result<T, Errno> {
        self.map_err(|error| errno(&error))
    }
}

/// The answer of an operation that has nothing to tell.
trait UnitResult {
    fn done(self) -> Result<FileResponse, Errno>;
}

impl UnitResult for io::Result<()> {
    fn done(self) -> Result<FileResponse, Errno> {
        self.map(|()| FileResponse::Done).or_errno()
    }
}

fn following(follow: bool) -> FollowSymlinks {
    if follow { FollowSymlinks::Yes } else { FollowSymlinks::No }
}

/// Repeats what a signal to us interrupted: the guest has no signals.
fn again<T>(mut attempt: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match attempt() {
            Err(Errno::Interrupted) => {}
            other => return other,
        }
    }
}

/// At the end, wherever that is when the bytes arrive there.
#[cfg(target_os = "linux")]
fn append(file: &File, content: &[u8]) -> io::Result<usize> {
    let flags = rustix::io::ReadWriteFlags::APPEND;
    match rustix::io::pwritev2(file, &[io::IoSlice::new(content)], 0, flags) {
        // File systems that cannot, as some that live in user space.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP) => append_by_length(file, content),
        other => Ok(other?),
    }
}

#[cfg(not(target_os = "linux"))]
fn append(file: &File, content: &[u8]) -> io::Result<usize> {
    append_by_length(file, content)
}

fn append_by_length(file: &File, content: &[u8]) -> io::Result<usize> {
    file.write_at(content, file.metadata()?.len())
}

fn kind(of: fs::FileType) -> FileKind {
    if of.is_dir() {
        FileKind::Directory
    } else if of.is_file() {
        FileKind::File
    } else if of.is_symlink() {
        FileKind::Link
    } else {
        FileKind::Other
    }
}

fn stat(of: &Metadata) -> FileStat {
    FileStat {
        kind: kind(of.file_type()),
        links: of.nlink(),
        size: of.len(),
        accessed_ns: since_1970(of.atime(), of.atime_nsec()),
        modified_ns: since_1970(of.mtime(), of.mtime_nsec()),
        changed_ns: since_1970(of.ctime(), of.ctime_nsec()),
    }
}

/// Times before 1970 cannot be said in the interface and become 1970; those after 2554 become the last one.
fn since_1970(seconds: i64, nanoseconds: i64) -> u64 {
    let whole = u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000);
    if seconds < 0 { 0 } else { whole.saturating_add(u64::try_from(nanoseconds).unwrap_or(0)) }
}

fn identity(of: &Metadata) -> (u64, u64) {
    (of.dev(), of.ino())
}

fn hash(of: &Metadata) -> FileResponse {
    let mut fold = RunningDigest::default();
    fold.pair(of.dev(), of.ino());
    let lower = fold.value();
    fold.word(0);
    FileResponse::Hash { lower, upper: fold.value() }
}

fn set_times(
    on: &OpenHandle,
    path: Option<&str>,
    follow: bool,
    accessed: TimestampUpdate,
    modified: TimestampUpdate,
) -> Result<FileResponse, Errno> {
    let spec = |time| match time {
        TimestampUpdate::NoChange => None,
        TimestampUpdate::Now => Some(SystemTimeSpec::SymbolicNow),
        TimestampUpdate::At(ns) => Some(SystemTimeSpec::Absolute(SystemTime::from_std(at(ns)))),
    };
    let (accessed_spec, modified_spec) = (spec(accessed), spec(modified));
    match (path, on) {
        (Some(path), on) if follow => {
            fs::set_times(on.directory()?, path.as_ref(), accessed_spec, modified_spec).done()
        }
        (Some(path), on) => fs::set_times_nofollow(on.directory()?, path.as_ref(), accessed_spec, modified_spec).done(),
        // The root is open for paths only, and such a descriptor takes no times itself.
        (None, OpenHandle::Directory(directory)) => {
            fs::set_times(directory, ".".as_ref(), accessed_spec, modified_spec).done()
        }
        (None, OpenHandle::File(file)) => {
            let mut times = FileTimes::new();
            if let Some(time) = file_time(accessed) {
                times = times.set_accessed(time);
            }
            if let Some(time) = file_time(modified) {
                times = times.set_modified(time);
            }
            file.set_times(times).done()
        }
    }
}

fn at(ns: u64) -> std::time::SystemTime {
    std::time::SystemTime::UNIX_EPOCH + Duration::from_nanos(ns)
}

#[allow(clippy::disallowed_methods, reason = "the guest asks the real disk for the real computer's time")]
fn file_time(time: TimestampUpdate) -> Option<std::time::SystemTime> {
    match time {
        TimestampUpdate::NoChange => None,
        TimestampUpdate::Now => Some(std::time::SystemTime::now()),
        TimestampUpdate::At(ns) => Some(at(ns)),
    }
}

/// The entries of a directory, but for `hidden`.
fn list(directory: &File, hidden: Option<&str>) -> Result<FileResponse, Errno> {
    let mut entries = Vec::new();
    for entry in fs::read_base_dir(directory).or_errno()? {
        let entry = entry.or_errno()?;
        if entries.len() == DIRECTORY_ENTRIES_MAX {
            return Err(Errno::Overflow);
        }
        let name = entry.file_name().into_string().map_err(|_| Errno::IllegalByteSequence)?;
        if hidden != Some(name.as_str()) {
            entries.push((name, kind(entry.file_type().or_errno()?)));
        }
    }
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(FileResponse::Entries(entries))
}

fn synced(on: &OpenHandle, sync: fn(&File) -> io::Result<()>) -> Result<FileResponse, Errno> {
    match on {
        OpenHandle::File(file) => sync(file).done(),
        // As wasmtime-wasi does: what is open for paths only cannot be synced itself.
        OpenHandle::Directory(directory) => {
            let mut options = fs::OpenOptions::new();
            let open = fs::open(directory, ".".as_ref(), options.read(true)).or_errno()?;
            sync(&open).done()
        }
    }
}
