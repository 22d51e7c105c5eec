//! Operations on descriptors that move no data: attributes, positions, numbers, syncing.
//!
//! Not here: the table itself (`fozzy-world`), reading and writing (`data`), paths (`paths`), what only sockets have (`sockets`).

use super::arguments::{
    self, FDFLAGS, FDFLAGS_APPEND, FDFLAGS_DSYNC, FDFLAGS_NONBLOCK, FDFLAGS_RSYNC, FDFLAGS_SYNC, RIGHT_FD_READ,
    RIGHT_FD_WRITE, RIGHTS, UNSTABLE_RIGHTS,
};
use super::errno::WasiErrno;
use super::{Answer, CallFailure, judged, number};
use crate::call::{Host, Import, disk_call};
use crate::disk_faults::whole;
use fozzy_trace::observation::{FileKind, FileOperation, FileStat};
use fozzy_trace::plan::Edition;
use fozzy_trace::{Record, RunningDigest};
use fozzy_world::files::{DescriptorFlags, DiskOperation, InodeKind, InodeStat};
use fozzy_world::network::SocketId;
use fozzy_world::{OpenFile, Preview1Descriptor};
use std::fmt::Write;
use wasmtime::Result;

const FD_ADVISE: Import = Import::new("wasi_snapshot_preview1.fd_advise");
const FD_ALLOCATE: Import = Import::new("wasi_snapshot_preview1.fd_allocate");
const FD_CLOSE: Import = Import::new("wasi_snapshot_preview1.fd_close");
const FD_DATASYNC: Import = Import::new("wasi_snapshot_preview1.fd_datasync");
const FD_FDSTAT_GET: Import = Import::new("wasi_snapshot_preview1.fd_fdstat_get");
const FD_FDSTAT_SET_FLAGS: Import = Import::new("wasi_snapshot_preview1.fd_fdstat_set_flags");
const FD_FDSTAT_SET_RIGHTS: Import = Import::new("wasi_snapshot_preview1.fd_fdstat_set_rights");
const FD_FILESTAT_GET: Import = Import::new("wasi_snapshot_preview1.fd_filestat_get");
const FD_FILESTAT_SET_SIZE: Import = Import::new("wasi_snapshot_preview1.fd_filestat_set_size");
const FD_FILESTAT_SET_TIMES: Import = Import::new("wasi_snapshot_preview1.fd_filestat_set_times");
const FD_PRESTAT_GET: Import = Import::new("wasi_snapshot_preview1.fd_prestat_get");
const FD_PRESTAT_DIR_NAME: Import = Import::new("wasi_snapshot_preview1.fd_prestat_dir_name");
const FD_RENUMBER: Import = Import::new("wasi_snapshot_preview1.fd_renumber");
const FD_SEEK: Import = Import::new("wasi_snapshot_preview1.fd_seek");
const FD_SYNC: Import = Import::new("wasi_snapshot_preview1.fd_sync");
const FD_TELL: Import = Import::new("wasi_snapshot_preview1.fd_tell");
const UNSTABLE_FD_FDSTAT_GET: Import = Import::new("wasi_unstable.fd_fdstat_get");
const UNSTABLE_FD_FILESTAT_GET: Import = Import::new("wasi_unstable.fd_filestat_get");
const UNSTABLE_FD_SEEK: Import = Import::new("wasi_unstable.fd_seek");

/// `filetype`.
pub(super) const UNKNOWN: u8 = 0;
pub(super) const CHARACTER_DEVICE: u8 = 2;
pub(super) const DIRECTORY: u8 = 3;
pub(super) const REGULAR_FILE: u8 = 4;
const SOCKET_DGRAM: u8 = 5;
const SOCKET_STREAM: u8 = 6;
pub(super) const SYMBOLIC_LINK: u8 = 7;

/// Rights of a preopened directory, which many libraries expect: those of `path_*`, of attributes and of listing.
const PREOPEN_RIGHTS: u64 = rights(&[9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 21, 23, 24, 25, 26]);
/// Rights of what is opened below: those, and what can be done with files.
const PREOPEN_INHERITING: u64 = PREOPEN_RIGHTS | rights(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 21, 22, 23, 27]);
/// What no directory can: `fd_seek`, `fd_filestat_set_size`, `path_filestat_set_size`.
const FILE_RIGHTS: u64 = rights(&[2, 19, 22]);
/// What needs `read`: `fd_read`, `fd_readdir`.
const READING_RIGHTS: u64 = RIGHT_FD_READ | rights(&[14]);

/// What can be done with a socket: `fd_read`, `fd_fdstat_set_flags`, `fd_write`, `fd_filestat_get`, `poll_fd_readwrite`, `sock_shutdown`,
/// `sock_accept`.
const SOCKET_RIGHTS: u64 = rights(&[1, 3, 6, 21, 27, 28, 29]);

const fn rights(bits: &[u32]) -> u64 {
    let (mut all, mut place) = (0, 0);
    while place < bits.len() {
        all |= 1 << bits[place];
        place += 1;
    }
    all
}

/// `fdstat`.
struct FdStat {
    filetype: u8,
    flags: u16,
    rights: u64,
    inheriting: u64,
}

impl Record for FdStat {
    fn fold(&self, fold: &mut RunningDigest) {
        fold.pair(u64::from(self.filetype) << 16 | u64::from(self.flags), self.rights);
        fold.word(self.inheriting);
    }
    fn show(&self, out: &mut String) {
        let _ =
            write!(out, "type {} flags {} rights {:#x} {:#x}", self.filetype, self.flags, self.rights, self.inheriting);
    }
}

/// `filestat`; all zero but the type for a standard stream.
#[derive(Clone, Copy, Default)]
pub(super) struct WasiFileStat {
    device: u64,
    inode: u64,
    filetype: u8,
    links: u64,
    size: u64,
    times: [u64; 3],
}

impl WasiFileStat {
    pub(super) fn of_disk(stat: &InodeStat, inode: u64) -> WasiFileStat {
        let times = [stat.accessed_ns, stat.modified_ns, stat.changed_ns];
        WasiFileStat { device: 1, inode, filetype: filetype(stat.kind), links: stat.links, size: stat.size, times }
    }

    pub(super) fn of_live(stat: &FileStat, inode: u64) -> WasiFileStat {
        let times = [stat.accessed_ns, stat.modified_ns, stat.changed_ns];
        WasiFileStat { device: 1, inode, filetype: live_filetype(stat.kind), links: stat.links, size: stat.size, times }
    }

    /// As it lies in the guest's memory; `wasi_unstable` counts links in 32 bits.
    pub(super) fn put(&self, host: &Host, import: Import, at: u32, unstable: bool) -> Answer<()> {
        let mut bytes = Vec::with_capacity(64);
        bytes.extend(self.device.to_le_bytes());
        bytes.extend(self.inode.to_le_bytes());
        bytes.extend([self.filetype, 0, 0, 0]);
        if unstable {
            bytes.extend((self.links as u32).to_le_bytes());
        } else {
            bytes.extend([0; 4]);
            bytes.extend(self.links.to_le_bytes());
        }
        bytes.extend(self.size.to_le_bytes());
        self.times.iter().for_each(|time| bytes.extend(time.to_le_bytes()));
        Ok(host.put_value(import, at, 8, &bytes)?)
    }
}

impl Record for WasiFileStat {
    fn fold(&self, fold: &mut RunningDigest) {
        fold.pair(self.device << 8 | u64::from(self.filetype), self.inode);
        fold.pair(self.links, self.size);
        self.times.iter().for_each(|time| fold.word(*time));
    }
    fn show(&self, out: &mut String) {
        let WasiFileStat { filetype, links, size, times: [accessed, modified, changed], .. } = self;
        let _ = write!(out, "type {filetype} links {links} size {size} times {accessed} {modified} {changed}");
    }
}

pub(super) fn filetype(kind: InodeKind) -> u8 {
    match kind {
        InodeKind::Directory => DIRECTORY,
        InodeKind::File => REGULAR_FILE,
        InodeKind::Link => SYMBOLIC_LINK,
    }
}

pub(super) fn live_filetype(kind: FileKind) -> u8 {
    match kind {
        FileKind::Directory => DIRECTORY,
        FileKind::File => REGULAR_FILE,
        FileKind::Link => SYMBOLIC_LINK,
        FileKind::Other => UNKNOWN,
    }
}

pub(super) fn fd_advise(host: &mut Host, fd: u32, offset: u64, length: u64, advice: u32) -> Result<u32> {
    host.preview1(FD_ADVISE, (fd, (offset, length), advice), |host| {
        arguments::case(FD_ADVISE, advice, 6, "advice")?;
        match host.file(FD_ADVISE, fd)? {
            OpenFile::Disk(file) => Ok(host.node().disk.advise(&file, offset, length)?),
            // There is nothing that a real disk would have to know.
            OpenFile::Live(_) if i64::try_from(length).is_err() => Err(WasiErrno::INVAL.into()),
            OpenFile::Live(_) => Ok(()),
        }
    })
}

pub(super) fn fd_allocate(host: &mut Host, fd: u32, offset: u64, length: u64) -> Result<u32> {
    host.preview1(FD_ALLOCATE, (fd, offset, length), |host| -> Answer<()> {
        host.file(FD_ALLOCATE, fd)?;
        Err(WasiErrno::NOTSUP.into())
    })
}

pub(super) fn fd_close(host: &mut Host, fd: u32) -> Result<u32> {
    host.preview1(FD_CLOSE, fd, |host| close(host, FD_CLOSE, fd))
}

fn close(host: &mut Host, import: Import, fd: u32) -> Answer<()> {
    let closed = host.preview1_table(import)?.remove(fd).ok_or(WasiErrno::BADF)?;
    Ok(host.let_go(&closed)?)
}

pub(super) fn fd_renumber(host: &mut Host, source: u32, target: u32) -> Result<u32> {
    host.preview1(FD_RENUMBER, (source, target), |host| {
        host.descriptor(FD_RENUMBER, target)?;
        host.descriptor(FD_RENUMBER, source)?;
        if source != target {
            close(host, FD_RENUMBER, target)?;
            host.preview1_table(FD_RENUMBER)?.renumber(source, target);
        }
        Ok(())
    })
}

/// What is synced: a file, or a directory, whose names become durable. Before [`Edition::FOURTH`] a directory was refused.
fn synced(host: &mut Host, import: Import, fd: u32) -> Answer<OpenFile> {
    let has_directories = host.run.world.plan.edition >= Edition::FOURTH;
    match host.descriptor(import, fd)? {
        Preview1Descriptor::File { file, .. } => Ok(*file),
        Preview1Descriptor::Directory { file, .. } if has_directories => Ok(*file),
        _ => Err(WasiErrno::BADF.into()),
    }
}

/// Syncing: the data, or all.
async fn sync(host: &mut Host, import: Import, fd: u32, data: bool) -> Answer<()> {
    match synced(host, import, fd)? {
        OpenFile::Disk(file) => {
            let fault = host.inject_file(&file, DiskOperation::Sync, None).await?;
            whole(&fault)?;
            let disk = &mut host.node_mut().disk;
            Ok(if data { disk.sync_data(&file) } else { disk.sync(&file) }?)
        }
        OpenFile::Live(file) => {
            let operation = if data { FileOperation::SyncData } else { FileOperation::Sync };
            Ok(host.live_done(file, operation)??)
        }
    }
}

pub(super) async fn fd_datasync(host: &mut Host, fd: u32) -> Result<u32> {
    disk_call!(host, FD_DATASYNC, fd, judged(sync(host, FD_DATASYNC, fd, true).await)).map(number)
}

pub(super) async fn fd_sync(host: &mut Host, fd: u32) -> Result<u32> {
    disk_call!(host, FD_SYNC, fd, judged(sync(host, FD_SYNC, fd, false).await)).map(number)
}

pub(super) fn fd_fdstat_get(host: &mut Host, fd: u32, stat: u32) -> Result<u32> {
    fdstat(host, FD_FDSTAT_GET, RIGHTS, fd, stat)
}

pub(super) fn unstable_fd_fdstat_get(host: &mut Host, fd: u32, stat: u32) -> Result<u32> {
    fdstat(host, UNSTABLE_FD_FDSTAT_GET, UNSTABLE_RIGHTS, fd, stat)
}

fn fdstat(host: &mut Host, import: Import, all: u64, fd: u32, at: u32) -> Result<u32> {
    host.preview1(import, fd, |host| {
        let stat = match host.descriptor(import, fd)? {
            Preview1Descriptor::Stdin => {
                let stdin = &host.node().stdin;
                let nonblocking = stdin.channel().is_some_and(fozzy_world::Channel::is_nonblocking);
                let (filetype, flags) = (stream_type(host), if nonblocking { FDFLAGS_NONBLOCK } else { 0 });
                FdStat { filetype, flags, rights: RIGHT_FD_READ, inheriting: RIGHT_FD_READ }
            }
            Preview1Descriptor::Output(_) => {
                FdStat { filetype: stream_type(host), flags: 0, rights: RIGHT_FD_WRITE, inheriting: RIGHT_FD_WRITE }
            }
            Preview1Descriptor::Directory { preopen: Some(_), .. } => {
                FdStat { filetype: DIRECTORY, flags: 0, rights: PREOPEN_RIGHTS, inheriting: PREOPEN_INHERITING }
            }
            Preview1Descriptor::Directory { file, .. } => opened(*file, 0, all),
            Preview1Descriptor::File { file, append, nonblocking, .. } => {
                let flags = if *append { FDFLAGS_APPEND } else { 0 } | if *nonblocking { FDFLAGS_NONBLOCK } else { 0 };
                opened(*file, flags, all)
            }
            Preview1Descriptor::Socket { socket, nonblocking, .. } => {
                let flags = if *nonblocking { FDFLAGS_NONBLOCK } else { 0 };
                let rights = SOCKET_RIGHTS & all;
                FdStat { filetype: socket_type(*socket), flags, rights, inheriting: rights }
            }
        };
        let mut bytes = [0; 24];
        bytes[0] = stat.filetype;
        bytes[2..4].copy_from_slice(&stat.flags.to_le_bytes());
        bytes[8..16].copy_from_slice(&stat.rights.to_le_bytes());
        bytes[16..].copy_from_slice(&stat.inheriting.to_le_bytes());
        host.put_value(import, at, 8, &bytes)?;
        Ok(stat)
    })
}

/// What the standard streams are.
fn stream_type(host: &Host) -> u8 {
    if host.node().stdin.is_terminal() { CHARACTER_DEVICE } else { UNKNOWN }
}

/// What a socket is.
fn socket_type(socket: SocketId) -> u8 {
    match socket {
        SocketId::Tcp(_) => SOCKET_STREAM,
        SocketId::Udp(_) => SOCKET_DGRAM,
    }
}

/// What can be done with something that the guest opened.
fn opened(file: OpenFile, mut flags: u16, all: u64) -> FdStat {
    let (kind, is) = match file {
        OpenFile::Disk(file) => (file.kind, file.flags),
        OpenFile::Live(file) => (file.kind, file.flags),
    };
    let mut rights = all;
    if kind == InodeKind::Directory {
        rights &= !FILE_RIGHTS;
    }
    if !is.read {
        rights &= !READING_RIGHTS;
    }
    if !is.write {
        rights &= !RIGHT_FD_WRITE;
    }
    flags |= sync_flags(is);
    FdStat { filetype: filetype(kind), flags, rights, inheriting: rights }
}

fn sync_flags(is: DescriptorFlags) -> u16 {
    let flag = |set: bool, flag: u16| if set { flag } else { 0 };
    flag(is.data_integrity_sync, FDFLAGS_DSYNC)
        | flag(is.requested_write_sync, FDFLAGS_RSYNC)
        | flag(is.file_integrity_sync, FDFLAGS_SYNC)
}

pub(super) fn fd_fdstat_set_flags(host: &mut Host, fd: u32, flags: u32) -> Result<u32> {
    host.preview1(FD_FDSTAT_SET_FLAGS, (fd, flags), |host| {
        let flags = arguments::flags(FD_FDSTAT_SET_FLAGS, flags, FDFLAGS, "fdflags")?;
        let descriptor = host.descriptor(FD_FDSTAT_SET_FLAGS, fd)?.clone();
        let is_channel = descriptor == Preview1Descriptor::Stdin && host.node().stdin.channel().is_some();
        let has_flags = matches!(descriptor, Preview1Descriptor::File { .. } | Preview1Descriptor::Socket { .. });
        if !is_channel && !has_flags {
            return Err(WasiErrno::BADF.into());
        }
        if flags & (FDFLAGS_DSYNC | FDFLAGS_SYNC | FDFLAGS_RSYNC) != 0 {
            return Err(WasiErrno::INVAL.into());
        }
        let (appends, returns) = (flags & FDFLAGS_APPEND != 0, flags & FDFLAGS_NONBLOCK != 0);
        match host.descriptor(FD_FDSTAT_SET_FLAGS, fd)? {
            Preview1Descriptor::File { append, nonblocking, .. } => (*append, *nonblocking) = (appends, returns),
            Preview1Descriptor::Socket { nonblocking, .. } => *nonblocking = returns,
            _ => {
                if let Some(channel) = host.node_mut().stdin.channel_mut() {
                    channel.set_nonblocking(returns);
                }
            }
        }
        Ok(())
    })
}

pub(super) fn fd_fdstat_set_rights(host: &mut Host, fd: u32, base: u64, inheriting: u64) -> Result<u32> {
    host.preview1(FD_FDSTAT_SET_RIGHTS, (fd, base, inheriting), |host| -> Answer<()> {
        arguments::rights(FD_FDSTAT_SET_RIGHTS, base)?;
        arguments::rights(FD_FDSTAT_SET_RIGHTS, inheriting)?;
        host.descriptor(FD_FDSTAT_SET_RIGHTS, fd)?.file().ok_or(WasiErrno::BADF)?;
        Err(WasiErrno::NOTSUP.into())
    })
}

pub(super) async fn fd_filestat_get(host: &mut Host, fd: u32, stat: u32) -> Result<u32> {
    filestat(host, FD_FILESTAT_GET, fd, stat, false).await
}

pub(super) async fn unstable_fd_filestat_get(host: &mut Host, fd: u32, stat: u32) -> Result<u32> {
    filestat(host, UNSTABLE_FD_FILESTAT_GET, fd, stat, true).await
}

async fn filestat(host: &mut Host, import: Import, fd: u32, at: u32, unstable: bool) -> Result<u32> {
    disk_call!(host, import, fd, {
        let answer = async {
            let stat = filestat_of(host, import, fd).await?;
            stat.put(host, import, at, unstable)?;
            Ok::<_, CallFailure>(stat)
        };
        judged(answer.await)
    })
    .map(number)
}

async fn filestat_of(host: &mut Host, import: Import, fd: u32) -> Answer<WasiFileStat> {
    let descriptor = host.descriptor(import, fd)?;
    let socket = match descriptor {
        Preview1Descriptor::Socket { socket, .. } => Some(*socket),
        _ => None,
    };
    let file = descriptor.file();
    Ok(match file {
        None if let Some(socket) = socket => WasiFileStat { filetype: socket_type(socket), ..WasiFileStat::default() },
        None => WasiFileStat { filetype: stream_type(host), ..WasiFileStat::default() },
        Some(OpenFile::Disk(file)) => {
            whole(&host.inject_file(&file, DiskOperation::Look, None).await?)?;
            let disk = &host.node().disk;
            WasiFileStat::of_disk(&disk.stat(&file), disk.metadata_hash(&file).lower)
        }
        Some(OpenFile::Live(file)) => {
            let stat = host.live_stat(file, FileOperation::Stat)??;
            let inode = host.live_hash(file, FileOperation::MetadataHash { path: None, follow: false })??;
            WasiFileStat::of_live(&stat, inode.lower)
        }
    })
}

pub(super) async fn fd_filestat_set_size(host: &mut Host, fd: u32, size: u64) -> Result<u32> {
    disk_call!(host, FD_FILESTAT_SET_SIZE, (fd, size), judged(set_size(host, fd, size).await)).map(number)
}

async fn set_size(host: &mut Host, fd: u32, size: u64) -> Answer<()> {
    match host.file(FD_FILESTAT_SET_SIZE, fd)? {
        OpenFile::Disk(file) => {
            whole(&host.inject_file(&file, DiskOperation::Change, None).await?)?;
            let now = host.wall_ns();
            Ok(host.node_mut().disk.set_size(&file, size, now)?)
        }
        OpenFile::Live(file) => Ok(host.live_set_size(file, size)??),
    }
}

pub(super) async fn fd_filestat_set_times(
    host: &mut Host,
    fd: u32,
    accessed: u64,
    modified: u64,
    fstflags: u32,
) -> Result<u32> {
    let asked = (fd, (accessed, modified), fstflags);
    disk_call!(host, FD_FILESTAT_SET_TIMES, asked, judged(set_times(host, fd, [accessed, modified], fstflags).await))
        .map(number)
}

async fn set_times(host: &mut Host, fd: u32, [accessed, modified]: [u64; 2], fstflags: u32) -> Answer<()> {
    let fstflags = arguments::flags(FD_FILESTAT_SET_TIMES, fstflags, 15, "fstflags")?;
    let [accessed, modified] = arguments::times(accessed, modified, fstflags)?;
    match host.descriptor(FD_FILESTAT_SET_TIMES, fd)?.file().ok_or(WasiErrno::BADF)? {
        OpenFile::Disk(file) => {
            whole(&host.inject_file(&file, DiskOperation::Change, None).await?)?;
            let now = host.wall_ns();
            Ok(host.node_mut().disk.set_times(&file, accessed, modified, now)?)
        }
        OpenFile::Live(file) => {
            let operation = crate::filesystem::set_times(None, false, accessed, modified);
            Ok(host.live_done(file, operation)??)
        }
    }
}

pub(super) fn fd_prestat_get(host: &mut Host, fd: u32, stat: u32) -> Result<u32> {
    host.preview1(FD_PRESTAT_GET, fd, |host| match host.descriptor(FD_PRESTAT_GET, fd)? {
        Preview1Descriptor::Directory { preopen: Some(path), .. } => {
            let length = path.len() as u32;
            let [a, b, c, d] = length.to_le_bytes();
            host.put_value(FD_PRESTAT_GET, stat, 4, &[0, 0, 0, 0, a, b, c, d])?;
            Ok(length)
        }
        _ => Err(WasiErrno::BADF.into()),
    })
}

pub(super) fn fd_prestat_dir_name(host: &mut Host, fd: u32, path: u32, length: u32) -> Result<u32> {
    host.preview1(FD_PRESTAT_DIR_NAME, (fd, length), |host| {
        let name = match host.descriptor(FD_PRESTAT_DIR_NAME, fd)? {
            Preview1Descriptor::Directory { preopen: Some(name), .. } => name.to_string(),
            _ => return Err(WasiErrno::NOTDIR.into()),
        };
        if name.len() > length as usize {
            return Err(WasiErrno::NAMETOOLONG.into());
        }
        host.put(FD_PRESTAT_DIR_NAME, path, name.as_bytes())?;
        Ok(name)
    })
}

/// A file that has a position, and the position.
fn seekable(host: &mut Host, import: Import, fd: u32) -> Answer<(OpenFile, u64)> {
    match host.descriptor(import, fd)? {
        Preview1Descriptor::File { file, position, .. } => Ok((*file, *position)),
        Preview1Descriptor::Stdin | Preview1Descriptor::Output(_) | Preview1Descriptor::Socket { .. } => {
            Err(WasiErrno::SPIPE.into())
        }
        Preview1Descriptor::Directory { .. } => Err(WasiErrno::BADF.into()),
    }
}

pub(super) async fn fd_seek(host: &mut Host, fd: u32, offset: i64, whence: u32, position: u32) -> Result<u32> {
    let asked = (fd, offset, whence);
    disk_call!(host, FD_SEEK, asked, judged(seek(host, FD_SEEK, asked, [0, 1, 2], position).await)).map(number)
}

pub(super) async fn unstable_fd_seek(host: &mut Host, fd: u32, offset: i64, whence: u32, position: u32) -> Result<u32> {
    let (import, asked) = (UNSTABLE_FD_SEEK, (fd, offset, whence));
    disk_call!(host, import, asked, judged(seek(host, import, asked, [1, 2, 0], position).await)).map(number)
}

/// `places` are the meanings of `whence`: 0 the beginning, 1 the position, 2 the end.
async fn seek(
    host: &mut Host,
    import: Import,
    (fd, offset, whence): (u32, i64, u32),
    places: [u32; 3],
    at: u32,
) -> Answer<u64> {
    let place = places[arguments::case(import, whence, 3, "whence")? as usize];
    let (file, position) = seekable(host, import, fd)?;
    let from = match (place, file) {
        (0, _) => 0,
        (1, _) => position,
        (_, OpenFile::Disk(file)) => {
            whole(&host.inject_file(&file, DiskOperation::Look, None).await?)?;
            host.node().disk.stat(&file).size
        }
        (_, OpenFile::Live(file)) => host.live_stat(file, FileOperation::Stat)??.size,
    };
    let to = from.checked_add_signed(offset).ok_or(WasiErrno::INVAL)?;
    move_to(host, import, fd, to)?;
    host.put_value(import, at, 8, &to.to_le_bytes())?;
    Ok(to)
}

/// Sets the position of a file.
pub(super) fn move_to(host: &mut Host, import: Import, fd: u32, to: u64) -> Answer<()> {
    if let Preview1Descriptor::File { position, .. } = host.descriptor(import, fd)? {
        *position = to;
    }
    Ok(())
}

pub(super) fn fd_tell(host: &mut Host, fd: u32, position: u32) -> Result<u32> {
    host.preview1(FD_TELL, fd, |host| {
        let (_, at) = seekable(host, FD_TELL, fd)?;
        host.put_value(FD_TELL, position, 8, &at.to_le_bytes())?;
        Ok(at)
    })
}
