//! Operations on what stands at a path below an open directory.
//!
//! Not here: how paths are resolved (`fozzy-world`).

#![allow(clippy::too_many_arguments, reason = "as many as the functions of WASI have")]

use super::arguments::{
    self, FDFLAGS, FDFLAGS_APPEND, FDFLAGS_DSYNC, FDFLAGS_NONBLOCK, FDFLAGS_RSYNC, FDFLAGS_SYNC, OFLAGS, RIGHT_FD_READ,
    RIGHT_FD_WRITE,
};
use super::descriptors::WasiFileStat;
use super::errno::WasiErrno;
use super::guest_memory::GuestRange;
use super::{Answer, CallFailure, judged, number};
use crate::call::{GuestStop, Host, Import, disk_call};
use crate::disk_faults::whole;
use fozzy_trace::observation::FileOperation;
use fozzy_world::files::{
    DescriptorFlags, DiskOperation, Errno, FileDescriptor, InodeKind, LiveFile, OpenFlags, PathFlags,
};
use fozzy_world::{Disk, OpenFile, Preview1Descriptor};
use wasmtime::Result;

const PATH_CREATE_DIRECTORY: Import = Import::new("wasi_snapshot_preview1.path_create_directory");
const PATH_FILESTAT_GET: Import = Import::new("wasi_snapshot_preview1.path_filestat_get");
const PATH_FILESTAT_SET_TIMES: Import = Import::new("wasi_snapshot_preview1.path_filestat_set_times");
const PATH_LINK: Import = Import::new("wasi_snapshot_preview1.path_link");
const PATH_OPEN: Import = Import::new("wasi_snapshot_preview1.path_open");
const PATH_READLINK: Import = Import::new("wasi_snapshot_preview1.path_readlink");
const PATH_REMOVE_DIRECTORY: Import = Import::new("wasi_snapshot_preview1.path_remove_directory");
const PATH_RENAME: Import = Import::new("wasi_snapshot_preview1.path_rename");
const PATH_SYMLINK: Import = Import::new("wasi_snapshot_preview1.path_symlink");
const PATH_UNLINK_FILE: Import = Import::new("wasi_snapshot_preview1.path_unlink_file");
const UNSTABLE_PATH_FILESTAT_GET: Import = Import::new("wasi_unstable.path_filestat_get");

/// A path, or why there is none; what the history shows of it is the path.
#[derive(Clone)]
struct PathArgument(Answer<String>);

impl PathArgument {
    fn of(host: &Host, import: Import, at: u32, length: u32) -> PathArgument {
        PathArgument(host.text(import, at, length))
    }

    fn shown(&self) -> &str {
        self.0.as_deref().unwrap_or("")
    }

    fn get(&self) -> Answer<&str> {
        self.0.as_deref().map_err(Clone::clone)
    }
}

/// A directory and a path below it, once a disk that is slow is ready for `operation` there, and if no fault makes it fail.
async fn reach<'a>(
    host: &mut Host,
    import: Import,
    fd: u32,
    path: &'a PathArgument,
    operation: DiskOperation,
) -> Answer<(OpenFile, &'a str)> {
    let directory = host.directory(import, fd)?;
    let path = path.get()?;
    if let OpenFile::Disk(base) = directory {
        whole(&host.inject_file(&base, operation, Some(path)).await?)?;
    }
    Ok((directory, path))
}

/// One operation below one directory.
fn at_path<R>(
    host: &mut Host,
    (directory, path): (OpenFile, &str),
    body: impl FnOnce(&mut Disk, &FileDescriptor, &str, u64) -> std::result::Result<R, Errno>,
    live: impl FnOnce(&mut Host, LiveFile, String) -> Answer<R>,
) -> Answer<R> {
    match directory {
        OpenFile::Disk(base) => {
            let now = host.wall_ns();
            Ok(host.with_disk(|disk| body(disk, &base, path, now))?)
        }
        OpenFile::Live(base) => live(host, base, path.to_owned()),
    }
}

/// What the real computer does without an answer.
fn done(host: &mut Host, base: LiveFile, operation: FileOperation) -> Answer<()> {
    Ok(host.live_done(base, operation)??)
}

pub(super) async fn path_create_directory(host: &mut Host, fd: u32, path: u32, length: u32) -> Result<u32> {
    let import = PATH_CREATE_DIRECTORY;
    let path = PathArgument::of(host, import, path, length);
    let asked = (fd, path.shown());
    disk_call!(host, import, asked, {
        let answer = async {
            let reached = reach(host, import, fd, &path, DiskOperation::Create).await?;
            let body =
                |disk: &mut Disk, base: &FileDescriptor, path: &str, now| disk.create_directory_at(base, path, now);
            at_path(host, reached, body, |host, base, path| done(host, base, FileOperation::CreateDirectoryAt { path }))
        };
        judged(answer.await)
    })
    .map(number)
}

pub(super) async fn path_remove_directory(host: &mut Host, fd: u32, path: u32, length: u32) -> Result<u32> {
    let import = PATH_REMOVE_DIRECTORY;
    let path = PathArgument::of(host, import, path, length);
    let asked = (fd, path.shown());
    disk_call!(host, import, asked, {
        let answer = async {
            let reached = reach(host, import, fd, &path, DiskOperation::Change).await?;
            let body =
                |disk: &mut Disk, base: &FileDescriptor, path: &str, now| disk.remove_directory_at(base, path, now);
            at_path(host, reached, body, |host, base, path| done(host, base, FileOperation::RemoveDirectoryAt { path }))
        };
        judged(answer.await)
    })
    .map(number)
}

pub(super) async fn path_unlink_file(host: &mut Host, fd: u32, path: u32, length: u32) -> Result<u32> {
    let import = PATH_UNLINK_FILE;
    let path = PathArgument::of(host, import, path, length);
    let asked = (fd, path.shown());
    disk_call!(host, import, asked, {
        let answer = async {
            let reached = reach(host, import, fd, &path, DiskOperation::Change).await?;
            let body = |disk: &mut Disk, base: &FileDescriptor, path: &str, now| disk.unlink_file_at(base, path, now);
            at_path(host, reached, body, |host, base, path| done(host, base, FileOperation::UnlinkFileAt { path }))
        };
        judged(answer.await)
    })
    .map(number)
}

pub(super) async fn path_filestat_get(
    host: &mut Host,
    fd: u32,
    flags: u32,
    path: u32,
    length: u32,
    stat: u32,
) -> Result<u32> {
    filestat(host, PATH_FILESTAT_GET, (fd, flags), GuestRange { at: path, length }, (stat, false)).await
}

pub(super) async fn unstable_path_filestat_get(
    host: &mut Host,
    fd: u32,
    flags: u32,
    path: u32,
    length: u32,
    stat: u32,
) -> Result<u32> {
    filestat(host, UNSTABLE_PATH_FILESTAT_GET, (fd, flags), GuestRange { at: path, length }, (stat, true)).await
}

async fn filestat(
    host: &mut Host,
    import: Import,
    (fd, flags): (u32, u32),
    path: GuestRange,
    (at, unstable): (u32, bool),
) -> Result<u32> {
    let path = PathArgument::of(host, import, path.at, path.length);
    let asked = (fd, flags, path.shown());
    disk_call!(host, import, asked, {
        let answer = async {
            let flags = arguments::lookup(import, flags)?;
            let reached = reach(host, import, fd, &path, DiskOperation::Look).await?;
            let body = |disk: &mut Disk, base: &FileDescriptor, path: &str, _| {
                let inode = disk.metadata_hash_at(base, flags, path)?.lower;
                Ok(WasiFileStat::of_disk(&disk.stat_at(base, flags, path)?, inode))
            };
            let stat = at_path(host, reached, body, |host, base, path| {
                let follow = flags.symlink_follow;
                let stat = host.live_stat(base, FileOperation::StatAt { path: path.clone(), follow })??;
                let inode = host.live_hash(base, FileOperation::MetadataHash { path: Some(path), follow })??;
                Ok(WasiFileStat::of_live(&stat, inode.lower))
            })?;
            stat.put(host, import, at, unstable)?;
            Ok::<_, CallFailure>(stat)
        };
        judged(answer.await)
    })
    .map(number)
}

pub(super) async fn path_filestat_set_times(
    host: &mut Host,
    fd: u32,
    flags: u32,
    path: u32,
    length: u32,
    accessed: u64,
    modified: u64,
    times: u32,
) -> Result<u32> {
    let import = PATH_FILESTAT_SET_TIMES;
    let path = PathArgument::of(host, import, path, length);
    let asked = ((fd, flags, path.shown()), (accessed, modified), times);
    disk_call!(host, import, asked, {
        let answer = async {
            let flags = arguments::lookup(import, flags)?;
            let times = arguments::flags(import, times, 15, "fstflags")?;
            let [accessed, modified] = arguments::times(accessed, modified, times)?;
            let reached = reach(host, import, fd, &path, DiskOperation::Change).await?;
            let body = |disk: &mut Disk, base: &FileDescriptor, path: &str, now| {
                disk.set_times_at(base, flags, path, accessed, modified, now)
            };
            at_path(host, reached, body, |host, base, path| {
                let follow = flags.symlink_follow;
                done(host, base, crate::filesystem::set_times(Some(path), follow, accessed, modified))
            })
        };
        judged(answer.await)
    })
    .map(number)
}

/// Two directories, with a path below each.
type PathPair<'a> = [(OpenFile, &'a str); 2];

/// The same as [`reach`] for an operation on what stands at one path, which names another one: the second directory and path.
async fn reach_two<'a>(
    host: &mut Host,
    import: Import,
    fds: (u32, u32),
    paths: (&'a PathArgument, &'a PathArgument),
    operation: DiskOperation,
) -> Answer<PathPair<'a>> {
    let (one, other) = (host.directory(import, fds.0)?, host.directory(import, fds.1)?);
    let (path, new_path) = (paths.0.get()?, paths.1.get()?);
    if let (OpenFile::Disk(base), OpenFile::Disk(_)) = (one, other) {
        whole(&host.inject_file(&base, operation, Some(path)).await?)?;
    }
    Ok([(one, path), (other, new_path)])
}

/// An operation on what stands at one path, which names another one.
fn between(
    host: &mut Host,
    [(one, path), (other, new_path)]: PathPair<'_>,
    body: impl FnOnce(&mut Disk, [(&FileDescriptor, &str); 2], u64) -> std::result::Result<(), Errno>,
    live: impl FnOnce(String, u32, String) -> FileOperation,
) -> Answer<()> {
    match (one, other) {
        (OpenFile::Disk(one), OpenFile::Disk(other)) => {
            let now = host.wall_ns();
            Ok(host.with_disk(|disk| body(disk, [(&one, path), (&other, new_path)], now))?)
        }
        (OpenFile::Live(one), OpenFile::Live(other)) => {
            done(host, one, live(path.to_owned(), other.number, new_path.to_owned()))
        }
        _ => unreachable!("a machine has files of one kind"),
    }
}

pub(super) async fn path_link(
    host: &mut Host,
    fd: u32,
    flags: u32,
    path: u32,
    length: u32,
    new_fd: u32,
    new_path: u32,
    new_length: u32,
) -> Result<u32> {
    let import = PATH_LINK;
    let path = PathArgument::of(host, import, path, length);
    let new = PathArgument::of(host, import, new_path, new_length);
    let asked = ((fd, flags, path.shown()), new_fd, new.shown());
    disk_call!(host, import, asked, {
        let answer = async {
            let flags = arguments::lookup(import, flags)?;
            let reached = reach_two(host, import, (fd, new_fd), (&path, &new), DiskOperation::Create).await?;
            let body = |disk: &mut Disk, [(base, path), (there, new)]: [(&FileDescriptor, &str); 2], now| {
                disk.link_at(base, flags, path, there, new, now)
            };
            between(host, reached, body, |path, to, new_path| FileOperation::LinkAt {
                path,
                follow: flags.symlink_follow,
                to,
                new_path,
            })
        };
        judged(answer.await)
    })
    .map(number)
}

pub(super) async fn path_rename(
    host: &mut Host,
    fd: u32,
    path: u32,
    length: u32,
    new_fd: u32,
    new_path: u32,
    new_length: u32,
) -> Result<u32> {
    let import = PATH_RENAME;
    let path = PathArgument::of(host, import, path, length);
    let new = PathArgument::of(host, import, new_path, new_length);
    let asked = ((fd, path.shown()), new_fd, new.shown());
    disk_call!(host, import, asked, {
        let answer = async {
            let reached = reach_two(host, import, (fd, new_fd), (&path, &new), DiskOperation::Change).await?;
            let body = |disk: &mut Disk, [(base, path), (there, new)]: [(&FileDescriptor, &str); 2], now| {
                disk.rename_at(base, path, there, new, now)
            };
            between(host, reached, body, |path, to, new_path| FileOperation::RenameAt { path, to, new_path })
        };
        judged(answer.await)
    })
    .map(number)
}

pub(super) async fn path_symlink(
    host: &mut Host,
    text: u32,
    text_length: u32,
    fd: u32,
    path: u32,
    length: u32,
) -> Result<u32> {
    let import = PATH_SYMLINK;
    let text = PathArgument::of(host, import, text, text_length);
    let path = PathArgument::of(host, import, path, length);
    let asked = (text.shown(), fd, path.shown());
    disk_call!(host, import, asked, {
        let answer = async {
            host.directory(import, fd)?;
            let text = text.get()?.to_owned();
            let reached = reach(host, import, fd, &path, DiskOperation::Create).await?;
            let body =
                |disk: &mut Disk, base: &FileDescriptor, path: &str, now| disk.symlink_at(base, &text, path, now);
            at_path(host, reached, body, |host, base, path| {
                done(host, base, FileOperation::SymlinkAt { text: text.clone(), path })
            })
        };
        judged(answer.await)
    })
    .map(number)
}

pub(super) async fn path_readlink(
    host: &mut Host,
    fd: u32,
    path: u32,
    length: u32,
    buffer: u32,
    buffer_length: u32,
    size: u32,
) -> Result<u32> {
    let import = PATH_READLINK;
    let path = PathArgument::of(host, import, path, length);
    let asked = (fd, path.shown(), buffer_length);
    disk_call!(host, import, asked, {
        let answer = async {
            let reached = reach(host, import, fd, &path, DiskOperation::Look).await?;
            let body = |disk: &mut Disk, base: &FileDescriptor, path: &str, _| {
                disk.readlink_at(base, path).map(|text| text.to_string())
            };
            let text = at_path(host, reached, body, |host, base, path| Ok(host.live_link(base, path)??))?;
            let kept = &text.as_bytes()[..text.len().min(buffer_length as usize)];
            host.put(import, buffer, kept)?;
            host.put_size(import, size, kept.len())?;
            Ok::<_, CallFailure>(kept.to_vec())
        };
        judged(answer.await)
    })
    .map(number)
}

/// How a path is to be opened.
struct OpenArguments {
    lookup: PathFlags,
    open: OpenFlags,
    flags: DescriptorFlags,
    append: bool,
    nonblocking: bool,
}

impl OpenArguments {
    fn read(lookup: u32, oflags: u32, rights: [u64; 2], fdflags: u32) -> std::result::Result<OpenArguments, GuestStop> {
        let lookup = arguments::lookup(PATH_OPEN, lookup)?;
        let oflags = arguments::flags(PATH_OPEN, oflags, OFLAGS, "oflags")?;
        let [base, _] = [arguments::rights(PATH_OPEN, rights[0])?, arguments::rights(PATH_OPEN, rights[1])?];
        let fdflags = arguments::flags(PATH_OPEN, fdflags, FDFLAGS, "fdflags")?;
        let open = OpenFlags {
            create: oflags & 1 != 0,
            directory: oflags & 2 != 0,
            exclusive: oflags & 4 != 0,
            truncate: oflags & 8 != 0,
        };
        let flags = DescriptorFlags {
            read: base & RIGHT_FD_READ != 0,
            write: base & RIGHT_FD_WRITE != 0,
            file_integrity_sync: fdflags & FDFLAGS_SYNC != 0,
            data_integrity_sync: fdflags & FDFLAGS_DSYNC != 0,
            requested_write_sync: fdflags & FDFLAGS_RSYNC != 0,
            mutate_directory: false,
        };
        let (append, nonblocking) = (fdflags & FDFLAGS_APPEND != 0, fdflags & FDFLAGS_NONBLOCK != 0);
        Ok(OpenArguments { lookup, open, flags, append, nonblocking })
    }
}

pub(super) async fn path_open(
    host: &mut Host,
    fd: u32,
    flags: u32,
    path: u32,
    length: u32,
    open: u32,
    base: u64,
    inheriting: u64,
    descriptor_flags: u32,
    opened: u32,
) -> Result<u32> {
    let import = PATH_OPEN;
    let path = PathArgument::of(host, import, path, length);
    let asked = ((fd, flags, path.shown()), (open, descriptor_flags), (base, inheriting));
    disk_call!(host, import, asked, {
        let how = OpenArguments::read(flags, open, [base, inheriting], descriptor_flags);
        judged(open_below(host, fd, &path, how, opened).await)
    })
    .map(number)
}

async fn open_below(
    host: &mut Host,
    fd: u32,
    path: &PathArgument,
    how: std::result::Result<OpenArguments, GuestStop>,
    at: u32,
) -> Answer<u32> {
    let (import, how, path) = (PATH_OPEN, how?, path.get()?);
    let directory = match host.descriptor(import, fd)? {
        Preview1Descriptor::Directory { file, .. } => *file,
        Preview1Descriptor::File { .. } => return Err(WasiErrno::NOTDIR.into()),
        _ => return Err(WasiErrno::BADF.into()),
    };
    let file = match directory {
        OpenFile::Disk(base) => {
            let fault = host.inject_open(&base, path, how.lookup, how.open).await?;
            whole(&fault)?;
            let now = host.wall_ns();
            let open = |disk: &mut Disk| disk.open_at(&base, how.lookup, path, how.open, how.flags, now);
            OpenFile::Disk(host.with_disk(open)?)
        }
        OpenFile::Live(base) => {
            OpenFile::Live(host.live_open(base, how.lookup, path.to_owned(), how.open, how.flags)??)
        }
    };
    let kind = match file {
        OpenFile::Disk(file) => file.kind,
        OpenFile::Live(file) => file.kind,
    };
    let (append, nonblocking) = (how.append, how.nonblocking);
    let descriptor = match kind {
        InodeKind::Directory => Preview1Descriptor::Directory { file, preopen: None, listing: None },
        _ => Preview1Descriptor::File { file, position: 0, append, nonblocking },
    };
    let number = host.insert(import, descriptor)?;
    host.put_value(import, at, 4, &number.to_le_bytes())?;
    Ok(number)
}
