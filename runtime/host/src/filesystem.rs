//! `wasi:filesystem`: translation only; the disk is in `fozzy-world`.
//!
//! ```text
//! descriptor handle ─┬▶ Descriptor (plain value) ─▶ faults ─▶ Disk::operation ─▶ Errno ─▶ error-code
//!                    └▶ LiveFile ─▶ a question to the real computer (`real_files`) ────────┘
//! ```
//!
//! Invariant: every descriptor and stream that is opened holds its node until it is dropped.

use crate::bindings::wasi::filesystem::types::{
    Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, MetadataHashValue,
    NewTimestamp, OpenFlags, PathFlags,
};
use crate::bindings::wasi::filesystem::{preopens, types};
use crate::bindings::{
    DescriptorResource, DirectoryEntryStreamResource, InputStreamResource, IoErrorResource, OutputStreamResource,
};
use crate::call::{GuestStop, Host, Import, disk_call, misuse};
use crate::clocks::datetime;
use crate::disk_faults::{part, whole};
use crate::real_files::RealFileResult;
use crate::record::WordRecord;
use fozzy_trace::Record;
use fozzy_trace::observation::{FileKind, FileOperation, FileStat, TimestampUpdate};
use fozzy_trace::plan::Preopen;
use fozzy_world::files::{
    self, DiskFault, DiskOperation, Errno, FileTimeChange, InodeKind, InodeStat, LiveFile, flip_bit,
};
use fozzy_world::table::{Handle, StreamFailure, StreamSink as Output, StreamSource as Input};
use fozzy_world::{Disk, TableError};
use wasmtime::Result;
use wasmtime::component::Resource;

const READ_VIA_STREAM: Import = Import::new("wasi:filesystem/types.descriptor.read-via-stream");
const WRITE_VIA_STREAM: Import = Import::new("wasi:filesystem/types.descriptor.write-via-stream");
const APPEND_VIA_STREAM: Import = Import::new("wasi:filesystem/types.descriptor.append-via-stream");
const ADVISE: Import = Import::new("wasi:filesystem/types.descriptor.advise");
const SYNC_DATA: Import = Import::new("wasi:filesystem/types.descriptor.sync-data");
const GET_FLAGS: Import = Import::new("wasi:filesystem/types.descriptor.get-flags");
const GET_TYPE: Import = Import::new("wasi:filesystem/types.descriptor.get-type");
const SET_SIZE: Import = Import::new("wasi:filesystem/types.descriptor.set-size");
const SET_TIMES: Import = Import::new("wasi:filesystem/types.descriptor.set-times");
const READ: Import = Import::new("wasi:filesystem/types.descriptor.read");
const WRITE: Import = Import::new("wasi:filesystem/types.descriptor.write");
const READ_DIRECTORY: Import = Import::new("wasi:filesystem/types.descriptor.read-directory");
const SYNC: Import = Import::new("wasi:filesystem/types.descriptor.sync");
const CREATE_DIRECTORY_AT: Import = Import::new("wasi:filesystem/types.descriptor.create-directory-at");
const STAT: Import = Import::new("wasi:filesystem/types.descriptor.stat");
const STAT_AT: Import = Import::new("wasi:filesystem/types.descriptor.stat-at");
const SET_TIMES_AT: Import = Import::new("wasi:filesystem/types.descriptor.set-times-at");
const LINK_AT: Import = Import::new("wasi:filesystem/types.descriptor.link-at");
const OPEN_AT: Import = Import::new("wasi:filesystem/types.descriptor.open-at");
const READLINK_AT: Import = Import::new("wasi:filesystem/types.descriptor.readlink-at");
const REMOVE_DIRECTORY_AT: Import = Import::new("wasi:filesystem/types.descriptor.remove-directory-at");
const RENAME_AT: Import = Import::new("wasi:filesystem/types.descriptor.rename-at");
const SYMLINK_AT: Import = Import::new("wasi:filesystem/types.descriptor.symlink-at");
const UNLINK_FILE_AT: Import = Import::new("wasi:filesystem/types.descriptor.unlink-file-at");
const IS_SAME_OBJECT: Import = Import::new("wasi:filesystem/types.descriptor.is-same-object");
const METADATA_HASH: Import = Import::new("wasi:filesystem/types.descriptor.metadata-hash");
const METADATA_HASH_AT: Import = Import::new("wasi:filesystem/types.descriptor.metadata-hash-at");
const DROP_DESCRIPTOR: Import = Import::new("wasi:filesystem/types.descriptor.drop");
const READ_DIRECTORY_ENTRY: Import = Import::new("wasi:filesystem/types.directory-entry-stream.read-directory-entry");
const DROP_DIRECTORY_STREAM: Import = Import::new("wasi:filesystem/types.directory-entry-stream.drop");
const FILESYSTEM_ERROR_CODE: Import = Import::new("wasi:filesystem/types.filesystem-error-code");
const GET_DIRECTORIES: Import = Import::new("wasi:filesystem/preopens.get-directories");

/// Where the disk is preopened: the whole of it, as the one root of the guest.
const ROOT: &str = "/";

type FsResult<T> = Result<std::result::Result<T, ErrorCode>>;
type DiskResult<T> = std::result::Result<T, Errno>;

/// What a descriptor handle stands for.
#[derive(Clone, Copy)]
enum DescriptorTarget {
    Disk(files::FileDescriptor),
    Live(LiveFile),
}

/// What an operation is to planned faults.
#[derive(Clone, Copy)]
enum DiskAccess<'a> {
    /// An act on what the descriptor holds.
    Itself(DiskOperation),
    /// An act on what stands at a path below it.
    At(DiskOperation, &'a str),
    /// Opening a path, which makes something new if nothing is there.
    Open(&'a str, PathFlags, OpenFlags),
}

impl Host {
    fn held(&self, import: Import, rep: u32) -> std::result::Result<DescriptorTarget, GuestStop> {
        match self.node().table.get(rep) {
            Ok(Handle::Descriptor(descriptor)) => Ok(DescriptorTarget::Disk(*descriptor)),
            Ok(Handle::LiveDescriptor(file)) => Ok(DescriptorTarget::Live(*file)),
            _ => Err(misuse(import)(TableError::WrongHandle)),
        }
    }

    /// Tells an observer that bytes of a file were moved.
    fn tell_descriptor(&mut self, rep: u32, is_write: bool, bytes: u64) {
        self.tell_io(is_write, bytes, |world, node| world.channel(node, world.node(node).table.get(rep).ok()?));
    }

    async fn inject(
        &mut self,
        on: &files::FileDescriptor,
        touch: DiskAccess<'_>,
    ) -> std::result::Result<DiskFault, GuestStop> {
        match touch {
            DiskAccess::Itself(act) => self.inject_file(on, act, None).await,
            DiskAccess::At(act, path) => self.inject_file(on, act, Some(path)).await,
            DiskAccess::Open(path, flags, open) => {
                self.inject_open(on, path, path_flags(flags), open_flags(open)).await
            }
        }
    }

    /// Asks what goes wrong with opening a path, which makes something new if nothing is there.
    pub(crate) async fn inject_open(
        &mut self,
        on: &files::FileDescriptor,
        path: &str,
        flags: files::PathFlags,
        open: files::OpenFlags,
    ) -> std::result::Result<DiskFault, GuestStop> {
        if self.run.world.faults.is_empty() {
            return Ok(DiskFault::default());
        }
        let makes = open.create && self.node().disk.stat_at(on, flags, path).is_err();
        let act = match (makes, open.truncate) {
            (true, _) => DiskOperation::Create,
            (false, true) => DiskOperation::Change,
            (false, false) => DiskOperation::Look,
        };
        self.inject_file(on, act, Some(path)).await
    }

    /// What a descriptor stands for, and what goes wrong with `touch` there, once a disk that is slow is ready for it.
    async fn reach(
        &mut self,
        import: Import,
        rep: u32,
        touch: DiskAccess<'_>,
    ) -> std::result::Result<(DescriptorTarget, DiskFault), GuestStop> {
        let target = self.held(import, rep)?;
        let fault = match target {
            DescriptorTarget::Live(_) => DiskFault::default(),
            DescriptorTarget::Disk(descriptor) => self.inject(&descriptor, touch).await?,
        };
        Ok((target, fault))
    }

    /// What the disk or the real computer answers: `body` gets the disk, the descriptor and the wall time.
    fn ask_target<T>(
        &mut self,
        (target, fault): (DescriptorTarget, DiskFault),
        body: impl FnOnce(&mut Disk, &files::FileDescriptor, u64) -> DiskResult<T>,
        live: impl FnOnce(&mut Host, LiveFile) -> RealFileResult<T>,
    ) -> RealFileResult<T> {
        match target {
            DescriptorTarget::Live(file) => live(self, file),
            DescriptorTarget::Disk(descriptor) => {
                let now = self.wall_ns();
                Ok(whole(&fault).and_then(|()| self.with_disk(|disk| body(disk, &descriptor, now))))
            }
        }
    }

    /// One operation on one descriptor: `body` gets the disk, the descriptor and the wall time; `live` asks the real
    /// computer instead.
    async fn on_disk<T: Record>(
        &mut self,
        import: Import,
        rep: u32,
        asked: impl Record,
        touch: DiskAccess<'_>,
        body: impl FnOnce(&mut Disk, &files::FileDescriptor, u64) -> DiskResult<T>,
        live: impl FnOnce(&mut Host, LiveFile) -> RealFileResult<T>,
    ) -> FsResult<T> {
        disk_call!(self, import, (rep, asked), {
            let reached = self.reach(import, rep, touch).await;
            reached.and_then(|reached| Ok(self.ask_target(reached, body, live)?.map_err(code)))
        })
    }

    /// The same for an operation that does not reach the disk, and so meets no fault.
    fn on_descriptor<T: Record>(
        &mut self,
        import: Import,
        rep: u32,
        asked: impl Record,
        body: impl FnOnce(&mut Disk, &files::FileDescriptor, u64) -> DiskResult<T>,
        live: impl FnOnce(&mut Host, LiveFile) -> RealFileResult<T>,
    ) -> FsResult<T> {
        self.call(import, (rep, asked), |host| {
            let reached = (host.held(import, rep)?, DiskFault::default());
            Ok(host.ask_target(reached, body, live)?.map_err(code))
        })
    }

    /// What two descriptors stand for, and what goes wrong with `touch` at the first.
    async fn reach_two(
        &mut self,
        import: Import,
        (one, other): (u32, u32),
        touch: DiskAccess<'_>,
    ) -> std::result::Result<(DescriptorTarget, DescriptorTarget, DiskFault), GuestStop> {
        let (one, other) = (self.held(import, one)?, self.held(import, other)?);
        let fault = match (one, other) {
            (DescriptorTarget::Disk(one), DescriptorTarget::Disk(_)) => self.inject(&one, touch).await?,
            _ => DiskFault::default(),
        };
        Ok((one, other, fault))
    }

    /// The same as [`Host::on_disk`] for operations that name a second descriptor.
    async fn on_disk_with<T: Record>(
        &mut self,
        import: Import,
        handles: (u32, u32),
        asked: impl Record,
        touch: DiskAccess<'_>,
        body: impl FnOnce(&mut Disk, &files::FileDescriptor, &files::FileDescriptor, u64) -> DiskResult<T>,
        live: impl FnOnce(&mut Host, LiveFile, LiveFile) -> RealFileResult<T>,
    ) -> FsResult<T> {
        disk_call!(self, import, (handles.0, handles.1, asked), {
            let reached = self.reach_two(import, handles, touch).await;
            reached.and_then(|(one, other, fault)| {
                let answer = match (one, other) {
                    (DescriptorTarget::Live(one), DescriptorTarget::Live(other)) => live(self, one, other)?,
                    (DescriptorTarget::Disk(one), DescriptorTarget::Disk(other)) => {
                        let now = self.wall_ns();
                        whole(&fault).and_then(|()| self.with_disk(|disk| body(disk, &one, &other, now)))
                    }
                    _ => unreachable!("a machine has files of one kind"),
                };
                Ok(answer.map_err(code))
            })
        })
    }

    /// Opens a handle that the disk or the real computer has granted; `grant` holds the node for it, and a live file
    /// is held here.
    async fn on_disk_open<R: 'static>(
        &mut self,
        import: Import,
        rep: u32,
        asked: impl Record,
        touch: DiskAccess<'_>,
        grant: impl FnOnce(&mut Disk, &files::FileDescriptor, u64) -> DiskResult<Handle>,
        live: impl FnOnce(&mut Host, LiveFile) -> RealFileResult<Handle>,
    ) -> FsResult<Resource<R>> {
        let opened = disk_call!(self, import, (rep, asked), {
            let reached = self.reach(import, rep, touch).await;
            reached.and_then(|reached| {
                let granted = self.ask_target(reached, grant, live)?;
                self.keep_granted(import, granted)
            })
        })?;
        Ok(opened.map(Resource::new_own))
    }

    /// The same for a stream of an open file, for which the disk is not reached.
    fn open_stream<R>(
        &mut self,
        import: Import,
        rep: u32,
        asked: impl Record,
        grant: impl FnOnce(&mut Disk, &files::FileDescriptor, u64) -> DiskResult<Handle>,
        live: impl FnOnce(&mut Host, LiveFile) -> RealFileResult<Handle>,
    ) -> FsResult<Resource<R>> {
        let opened = self.call(import, (rep, asked), |host| {
            let reached = (host.held(import, rep)?, DiskFault::default());
            let granted = host.ask_target(reached, grant, live)?;
            host.keep_granted(import, granted)
        })?;
        Ok(opened.map(Resource::new_own))
    }

    fn keep_granted(
        &mut self,
        import: Import,
        granted: DiskResult<Handle>,
    ) -> std::result::Result<std::result::Result<u32, ErrorCode>, GuestStop> {
        match granted {
            Ok(handle) => {
                if let Some(file) = live_file(&handle) {
                    self.world().live.opened(file);
                }
                self.node_mut().table.insert(handle).map(Ok).map_err(misuse(import))
            }
            Err(errno) => Ok(Err(code(errno))),
        }
    }

    async fn read_at(
        &mut self,
        rep: u32,
        length: u64,
        offset: u64,
    ) -> std::result::Result<std::result::Result<(Vec<u8>, bool), ErrorCode>, GuestStop> {
        let answer = match self.reach(READ, rep, DiskAccess::Itself(DiskOperation::Read)).await? {
            (DescriptorTarget::Live(file), _) => self.live_read(file, offset, length)?,
            (DescriptorTarget::Disk(file), fault) => {
                let read = |()| self.node_mut().disk.read(&file, offset, part(&fault, length));
                let mut answer = whole(&fault).and_then(read);
                if let (true, Ok((bytes, _))) = (fault.flips, &mut answer) {
                    self.with_context(|_, context| flip_bit(bytes, context));
                }
                answer
            }
        };
        self.tell_descriptor(rep, false, answer.as_ref().map_or(0, |(bytes, _)| bytes.len() as u64));
        Ok(answer.map_err(code))
    }

    async fn write_at(
        &mut self,
        rep: u32,
        bytes: &[u8],
        offset: u64,
    ) -> std::result::Result<std::result::Result<u64, ErrorCode>, GuestStop> {
        let answer = match self.held(WRITE, rep)? {
            DescriptorTarget::Live(file) => self.live_write(file, Some(offset), bytes)?,
            DescriptorTarget::Disk(file) if self.takes_sdk_output(&file, bytes)? => Ok(bytes.len() as u64),
            DescriptorTarget::Disk(file) => {
                let fault = self.inject(&file, DiskAccess::Itself(DiskOperation::Write)).await?;
                let now = self.wall_ns();
                let bytes = &bytes[..part(&fault, bytes.len() as u64) as usize];
                whole(&fault).and_then(|()| self.node_mut().disk.write(&file, offset, bytes, now))
            }
        };
        self.tell_descriptor(rep, true, *answer.as_ref().unwrap_or(&0));
        Ok(answer.map_err(code))
    }
}

impl types::Host for Host {
    fn filesystem_error_code(&mut self, error: Resource<IoErrorResource>) -> Result<Option<ErrorCode>> {
        self.call(FILESYSTEM_ERROR_CODE, error.rep(), |host| match host.node_mut().table.get(error.rep()) {
            Ok(Handle::Error(StreamFailure::File(errno))) => Ok(Some(code(*errno))),
            Ok(Handle::Error(_)) => Ok(None),
            _ => Err(misuse(FILESYSTEM_ERROR_CODE)(TableError::WrongHandle)),
        })
    }
}

impl types::HostDescriptor for Host {
    fn read_via_stream(
        &mut self,
        this: Resource<DescriptorResource>,
        offset: u64,
    ) -> FsResult<Resource<InputStreamResource>> {
        let grant = |disk: &mut Disk, file: &files::FileDescriptor, _| {
            disk.check_read_stream(file)?;
            disk.opened(file.node);
            Ok(Handle::InputStream(Input::File { file: *file, offset }))
        };
        self.open_stream(READ_VIA_STREAM, this.rep(), offset, grant, |_, file| {
            let stream = Handle::InputStream(Input::LiveFile { file, offset });
            Ok(file.need_file().map(|()| stream).map_err(|_| Errno::IsDirectory))
        })
    }

    fn write_via_stream(
        &mut self,
        this: Resource<DescriptorResource>,
        offset: u64,
    ) -> FsResult<Resource<OutputStreamResource>> {
        let grant = |disk: &mut Disk, file: &files::FileDescriptor, _| {
            disk.check_write_stream(file)?;
            disk.opened(file.node);
            Ok(Handle::OutputStream(Output::File { file: *file, offset: Some(offset) }))
        };
        self.open_stream(WRITE_VIA_STREAM, this.rep(), offset, grant, |_, file| {
            let stream = Handle::OutputStream(Output::LiveFile { file, offset: Some(offset) });
            Ok(file.need_file().map(|()| stream))
        })
    }

    fn append_via_stream(&mut self, this: Resource<DescriptorResource>) -> FsResult<Resource<OutputStreamResource>> {
        let grant = |disk: &mut Disk, file: &files::FileDescriptor, _| {
            disk.check_write_stream(file)?;
            disk.opened(file.node);
            Ok(Handle::OutputStream(Output::File { file: *file, offset: None }))
        };
        self.open_stream(APPEND_VIA_STREAM, this.rep(), (), grant, |_, file| {
            let stream = Handle::OutputStream(Output::LiveFile { file, offset: None });
            Ok(file.need_file().map(|()| stream))
        })
    }

    fn advise(&mut self, this: Resource<DescriptorResource>, offset: u64, length: u64, advice: Advice) -> FsResult<()> {
        let asked = (offset, length, WordRecord(advice));
        let body = |disk: &mut Disk, file: &files::FileDescriptor, _| disk.advise(file, offset, length);
        // There is nothing that a real disk would have to know.
        self.on_descriptor(ADVISE, this.rep(), asked, body, |_, file| {
            let possible = i64::try_from(length).is_ok();
            Ok(file.need_file().and(if possible { Ok(()) } else { Err(Errno::Invalid) }))
        })
    }

    async fn sync_data(&mut self, this: Resource<DescriptorResource>) -> FsResult<()> {
        let body = |disk: &mut Disk, file: &files::FileDescriptor, _| disk.sync_data(file);
        self.on_disk(SYNC_DATA, this.rep(), (), DiskAccess::Itself(DiskOperation::Sync), body, |host, file| {
            host.live_done(file, FileOperation::SyncData)
        })
        .await
    }

    fn get_flags(&mut self, this: Resource<DescriptorResource>) -> FsResult<DescriptorFlags> {
        let body = |disk: &mut Disk, of: &files::FileDescriptor, _| Ok(flags_out(disk.get_flags(of)));
        self.on_descriptor(GET_FLAGS, this.rep(), (), body, |_, file| Ok(Ok(flags_out(file.flags))))
    }

    fn get_type(&mut self, this: Resource<DescriptorResource>) -> FsResult<DescriptorType> {
        let body = |disk: &mut Disk, of: &files::FileDescriptor, _| Ok(kind(disk.get_type(of)));
        self.on_descriptor(GET_TYPE, this.rep(), (), body, |_, file| Ok(Ok(kind(file.kind))))
    }

    async fn set_size(&mut self, this: Resource<DescriptorResource>, size: u64) -> FsResult<()> {
        let body = |disk: &mut Disk, file: &files::FileDescriptor, now| disk.set_size(file, size, now);
        self.on_disk(SET_SIZE, this.rep(), size, DiskAccess::Itself(DiskOperation::Change), body, |host, file| {
            host.live_set_size(file, size)
        })
        .await
    }

    async fn set_times(
        &mut self,
        this: Resource<DescriptorResource>,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let asked = (WordRecord(accessed), WordRecord(modified));
        let body = |disk: &mut Disk, of: &files::FileDescriptor, now| {
            disk.set_times(of, new_time(accessed)?, new_time(modified)?, now)
        };
        self.on_disk(
            SET_TIMES,
            this.rep(),
            asked,
            DiskAccess::Itself(DiskOperation::Change),
            body,
            |host, file| match (new_time(accessed), new_time(modified)) {
                (Ok(accessed), Ok(modified)) => host.live_done(file, set_times(None, false, accessed, modified)),
                (Err(errno), _) | (_, Err(errno)) => Ok(Err(errno)),
            },
        )
        .await
    }

    async fn read(
        &mut self,
        this: Resource<DescriptorResource>,
        length: u64,
        offset: u64,
    ) -> FsResult<(Vec<u8>, bool)> {
        let rep = this.rep();
        disk_call!(self, READ, (rep, length, offset), self.read_at(rep, length, offset).await)
    }

    async fn write(&mut self, this: Resource<DescriptorResource>, bytes: Vec<u8>, offset: u64) -> FsResult<u64> {
        let rep = this.rep();
        disk_call!(self, WRITE, (rep, &bytes, offset), self.write_at(rep, &bytes, offset).await)
    }

    async fn read_directory(
        &mut self,
        this: Resource<DescriptorResource>,
    ) -> FsResult<Resource<DirectoryEntryStreamResource>> {
        let grant = |disk: &mut Disk, of: &files::FileDescriptor, _| Ok(Handle::DirectoryStream(disk.list(of)?));
        self.on_disk_open(
            READ_DIRECTORY,
            this.rep(),
            (),
            DiskAccess::Itself(DiskOperation::Look),
            grant,
            |host, file| Ok(host.live_list(file)?.map(Handle::LiveDirectoryStream)),
        )
        .await
    }

    async fn sync(&mut self, this: Resource<DescriptorResource>) -> FsResult<()> {
        let body = |disk: &mut Disk, of: &files::FileDescriptor, _| disk.sync(of);
        self.on_disk(SYNC, this.rep(), (), DiskAccess::Itself(DiskOperation::Sync), body, |host, file| {
            host.live_done(file, FileOperation::Sync)
        })
        .await
    }

    async fn create_directory_at(&mut self, this: Resource<DescriptorResource>, path: String) -> FsResult<()> {
        let body = |disk: &mut Disk, base: &files::FileDescriptor, now| disk.create_directory_at(base, &path, now);
        self.on_disk(
            CREATE_DIRECTORY_AT,
            this.rep(),
            &path,
            DiskAccess::At(DiskOperation::Create, &path),
            body,
            |host, base| host.live_done(base, FileOperation::CreateDirectoryAt { path: path.clone() }),
        )
        .await
    }

    async fn stat(&mut self, this: Resource<DescriptorResource>) -> FsResult<DescriptorStat> {
        let body = |disk: &mut Disk, of: &files::FileDescriptor, _| Ok(stat(&disk.stat(of)));
        self.on_disk(STAT, this.rep(), (), DiskAccess::Itself(DiskOperation::Look), body, |host, file| {
            Ok(host.live_stat(file, FileOperation::Stat)?.map(live_stat))
        })
        .await
    }

    async fn stat_at(
        &mut self,
        this: Resource<DescriptorResource>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<DescriptorStat> {
        let body = |disk: &mut Disk, base: &files::FileDescriptor, _| {
            disk.stat_at(base, path_flags(flags), &path).map(|found| stat(&found))
        };
        self.on_disk(
            STAT_AT,
            this.rep(),
            (WordRecord(flags), &path),
            DiskAccess::At(DiskOperation::Look, &path),
            body,
            |host, base| {
                let operation = FileOperation::StatAt { path: path.clone(), follow: path_flags(flags).symlink_follow };
                Ok(host.live_stat(base, operation)?.map(live_stat))
            },
        )
        .await
    }

    async fn set_times_at(
        &mut self,
        this: Resource<DescriptorResource>,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let asked = (WordRecord(flags), &path, WordRecord((accessed, modified)));
        let body = |disk: &mut Disk, base: &files::FileDescriptor, now| {
            disk.set_times_at(base, path_flags(flags), &path, new_time(accessed)?, new_time(modified)?, now)
        };
        self.on_disk(
            SET_TIMES_AT,
            this.rep(),
            asked,
            DiskAccess::At(DiskOperation::Change, &path),
            body,
            |host, base| {
                let follow = path_flags(flags).symlink_follow;
                match (new_time(accessed), new_time(modified)) {
                    (Ok(accessed), Ok(modified)) => {
                        host.live_done(base, set_times(Some(path.clone()), follow, accessed, modified))
                    }
                    (Err(errno), _) | (_, Err(errno)) => Ok(Err(errno)),
                }
            },
        )
        .await
    }

    async fn link_at(
        &mut self,
        this: Resource<DescriptorResource>,
        flags: PathFlags,
        old: String,
        there: Resource<DescriptorResource>,
        new: String,
    ) -> FsResult<()> {
        let asked = (WordRecord(flags), &old, &new);
        let follow = path_flags(flags).symlink_follow;
        let body = |disk: &mut Disk, base: &files::FileDescriptor, there: &files::FileDescriptor, now| {
            disk.link_at(base, path_flags(flags), &old, there, &new, now)
        };
        let touch = DiskAccess::At(DiskOperation::Create, &old);
        self.on_disk_with(LINK_AT, (this.rep(), there.rep()), asked, touch, body, |host, base, there| {
            let (path, new_path) = (old.clone(), new.clone());
            host.live_done(base, FileOperation::LinkAt { path, follow, to: there.number, new_path })
        })
        .await
    }

    async fn open_at(
        &mut self,
        this: Resource<DescriptorResource>,
        flags: PathFlags,
        path: String,
        open: OpenFlags,
        wanted: DescriptorFlags,
    ) -> FsResult<Resource<DescriptorResource>> {
        let asked = (WordRecord(flags), &path, WordRecord((open, wanted)));
        let grant = |disk: &mut Disk, base: &files::FileDescriptor, now| {
            let opened = disk.open_at(base, path_flags(flags), &path, open_flags(open), flags_in(wanted), now)?;
            Ok(Handle::Descriptor(opened))
        };
        self.on_disk_open(OPEN_AT, this.rep(), asked, DiskAccess::Open(&path, flags, open), grant, |host, base| {
            let opened = host.live_open(base, path_flags(flags), path.clone(), open_flags(open), flags_in(wanted))?;
            Ok(opened.map(Handle::LiveDescriptor))
        })
        .await
    }

    async fn readlink_at(&mut self, this: Resource<DescriptorResource>, path: String) -> FsResult<String> {
        let body = |disk: &mut Disk, base: &files::FileDescriptor, _| {
            disk.readlink_at(base, &path).map(|text| text.to_string())
        };
        self.on_disk(READLINK_AT, this.rep(), &path, DiskAccess::At(DiskOperation::Look, &path), body, |host, base| {
            host.live_link(base, path.clone())
        })
        .await
    }

    async fn remove_directory_at(&mut self, this: Resource<DescriptorResource>, path: String) -> FsResult<()> {
        let body = |disk: &mut Disk, base: &files::FileDescriptor, now| disk.remove_directory_at(base, &path, now);
        self.on_disk(
            REMOVE_DIRECTORY_AT,
            this.rep(),
            &path,
            DiskAccess::At(DiskOperation::Change, &path),
            body,
            |host, base| host.live_done(base, FileOperation::RemoveDirectoryAt { path: path.clone() }),
        )
        .await
    }

    async fn rename_at(
        &mut self,
        this: Resource<DescriptorResource>,
        old: String,
        there: Resource<DescriptorResource>,
        new: String,
    ) -> FsResult<()> {
        let body = |disk: &mut Disk, base: &files::FileDescriptor, there: &files::FileDescriptor, now| {
            disk.rename_at(base, &old, there, &new, now)
        };
        let touch = DiskAccess::At(DiskOperation::Change, &old);
        self.on_disk_with(RENAME_AT, (this.rep(), there.rep()), (&old, &new), touch, body, |host, base, there| {
            let (path, new_path) = (old.clone(), new.clone());
            host.live_done(base, FileOperation::RenameAt { path, to: there.number, new_path })
        })
        .await
    }

    async fn symlink_at(&mut self, this: Resource<DescriptorResource>, text: String, path: String) -> FsResult<()> {
        let body = |disk: &mut Disk, base: &files::FileDescriptor, now| disk.symlink_at(base, &text, &path, now);
        self.on_disk(
            SYMLINK_AT,
            this.rep(),
            (&text, &path),
            DiskAccess::At(DiskOperation::Create, &path),
            body,
            |host, base| host.live_done(base, FileOperation::SymlinkAt { text: text.clone(), path: path.clone() }),
        )
        .await
    }

    async fn unlink_file_at(&mut self, this: Resource<DescriptorResource>, path: String) -> FsResult<()> {
        let body = |disk: &mut Disk, base: &files::FileDescriptor, now| disk.unlink_file_at(base, &path, now);
        self.on_disk(
            UNLINK_FILE_AT,
            this.rep(),
            &path,
            DiskAccess::At(DiskOperation::Change, &path),
            body,
            |host, base| host.live_done(base, FileOperation::UnlinkFileAt { path: path.clone() }),
        )
        .await
    }

    fn is_same_object(
        &mut self,
        this: Resource<DescriptorResource>,
        other: Resource<DescriptorResource>,
    ) -> Result<bool> {
        let (one, other) = (this.rep(), other.rep());
        self.call(IS_SAME_OBJECT, (one, other), |host| {
            match (host.held(IS_SAME_OBJECT, one)?, host.held(IS_SAME_OBJECT, other)?) {
                (DescriptorTarget::Live(one), DescriptorTarget::Live(other)) => host.live_is_same(one, other),
                (DescriptorTarget::Disk(one), DescriptorTarget::Disk(other)) => {
                    Ok(host.node().disk.is_same_object(&one, &other))
                }
                _ => unreachable!("a machine has files of one kind"),
            }
        })
    }

    async fn metadata_hash(&mut self, this: Resource<DescriptorResource>) -> FsResult<MetadataHashValue> {
        let body = |disk: &mut Disk, of: &files::FileDescriptor, _| Ok(hash(disk.metadata_hash(of)));
        self.on_disk(METADATA_HASH, this.rep(), (), DiskAccess::Itself(DiskOperation::Look), body, |host, file| {
            let operation = FileOperation::MetadataHash { path: None, follow: false };
            Ok(host.live_hash(file, operation)?.map(hash))
        })
        .await
    }

    async fn metadata_hash_at(
        &mut self,
        this: Resource<DescriptorResource>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let body = |disk: &mut Disk, base: &files::FileDescriptor, _| {
            disk.metadata_hash_at(base, path_flags(flags), &path).map(hash)
        };
        self.on_disk(
            METADATA_HASH_AT,
            this.rep(),
            (WordRecord(flags), &path),
            DiskAccess::At(DiskOperation::Look, &path),
            body,
            |host, base| {
                let follow = path_flags(flags).symlink_follow;
                let operation = FileOperation::MetadataHash { path: Some(path.clone()), follow };
                Ok(host.live_hash(base, operation)?.map(hash))
            },
        )
        .await
    }

    fn drop(&mut self, this: Resource<DescriptorResource>) -> Result<()> {
        let rep = this.rep();
        self.call(DROP_DESCRIPTOR, rep, |host| {
            let held = host.held(DROP_DESCRIPTOR, rep)?;
            host.node_mut().table.remove(rep).map_err(misuse(DROP_DESCRIPTOR))?;
            match held {
                DescriptorTarget::Live(file) => host.live_close(file),
                DescriptorTarget::Disk(descriptor) => {
                    host.node_mut().disk.closed(descriptor.node);
                    Ok(())
                }
            }
        })
    }
}

impl types::HostDirectoryEntryStream for Host {
    fn read_directory_entry(
        &mut self,
        this: Resource<DirectoryEntryStreamResource>,
    ) -> FsResult<Option<DirectoryEntry>> {
        let rep = this.rep();
        self.call(READ_DIRECTORY_ENTRY, rep, |host| {
            let node = host.node_mut();
            let next = match node.table.get_mut(rep) {
                Ok(Handle::DirectoryStream(listing)) => {
                    let next = node.disk.next_entry(listing);
                    next.map(|(name, node)| DirectoryEntry { type_: kind(node), name: name.to_string() })
                }
                Ok(Handle::LiveDirectoryStream(rest)) => {
                    rest.pop().map(|(name, kind)| DirectoryEntry { type_: live_kind(kind), name })
                }
                _ => return Err(misuse(READ_DIRECTORY_ENTRY)(TableError::WrongHandle)),
            };
            Ok(Ok(next))
        })
    }

    fn drop(&mut self, this: Resource<DirectoryEntryStreamResource>) -> Result<()> {
        self.close(DROP_DIRECTORY_STREAM, this.rep())
    }
}

impl preopens::Host for Host {
    fn get_directories(&mut self) -> Result<Vec<(Resource<DescriptorResource>, String)>> {
        if let Some(preopens) = self.node().machine.preopens.clone() {
            return self.named_directories(&preopens);
        }
        let rep = self.call(GET_DIRECTORIES, (), |host| {
            let root = match host.has_live_files() {
                true => Handle::LiveDescriptor(LiveFile::root()),
                false => Handle::Descriptor(host.node_mut().disk.open_root(true)),
            };
            host.node_mut().table.insert(root).map_err(misuse(GET_DIRECTORIES))
        })?;
        Ok(vec![(Resource::new_own(rep), ROOT.to_owned())])
    }
}

impl Host {
    /// The directories that the plan names; the call answers how many.
    fn named_directories(&mut self, preopens: &[Preopen]) -> Result<Vec<(Resource<DescriptorResource>, String)>> {
        let mut opened = Vec::new();
        self.call(GET_DIRECTORIES, (), |host| {
            for Preopen { path, name, read_only } in preopens {
                // It was there at the start; where the guest has removed it, it is given nothing.
                let Ok(directory) = host.node_mut().disk.open_path(path, !read_only) else { continue };
                let rep =
                    host.node_mut().table.insert(Handle::Descriptor(directory)).map_err(misuse(GET_DIRECTORIES))?;
                opened.push((Resource::new_own(rep), name.clone()));
            }
            Ok(opened.len() as u32)
        })?;
        Ok(opened)
    }
}

/// The real file that a new handle holds.
fn live_file(handle: &Handle) -> Option<LiveFile> {
    match handle {
        Handle::LiveDescriptor(file)
        | Handle::InputStream(Input::LiveFile { file, .. })
        | Handle::OutputStream(Output::LiveFile { file, .. }) => Some(*file),
        _ => None,
    }
}

pub(crate) fn set_times(
    path: Option<String>,
    follow: bool,
    accessed: FileTimeChange,
    modified: FileTimeChange,
) -> FileOperation {
    let time = |time| match time {
        FileTimeChange::NoChange => TimestampUpdate::NoChange,
        FileTimeChange::Now => TimestampUpdate::Now,
        FileTimeChange::At(ns) => TimestampUpdate::At(ns),
    };
    FileOperation::SetTimes { path, follow, accessed: time(accessed), modified: time(modified) }
}

fn path_flags(flags: PathFlags) -> files::PathFlags {
    files::PathFlags { symlink_follow: flags.contains(PathFlags::SYMLINK_FOLLOW) }
}

fn open_flags(flags: OpenFlags) -> files::OpenFlags {
    files::OpenFlags {
        create: flags.contains(OpenFlags::CREATE),
        directory: flags.contains(OpenFlags::DIRECTORY),
        exclusive: flags.contains(OpenFlags::EXCLUSIVE),
        truncate: flags.contains(OpenFlags::TRUNCATE),
    }
}

fn flags_in(flags: DescriptorFlags) -> files::DescriptorFlags {
    files::DescriptorFlags {
        read: flags.contains(DescriptorFlags::READ),
        write: flags.contains(DescriptorFlags::WRITE),
        file_integrity_sync: flags.contains(DescriptorFlags::FILE_INTEGRITY_SYNC),
        data_integrity_sync: flags.contains(DescriptorFlags::DATA_INTEGRITY_SYNC),
        requested_write_sync: flags.contains(DescriptorFlags::REQUESTED_WRITE_SYNC),
        mutate_directory: flags.contains(DescriptorFlags::MUTATE_DIRECTORY),
    }
}

fn flags_out(flags: files::DescriptorFlags) -> DescriptorFlags {
    let rows = [
        (flags.read, DescriptorFlags::READ),
        (flags.write, DescriptorFlags::WRITE),
        (flags.file_integrity_sync, DescriptorFlags::FILE_INTEGRITY_SYNC),
        (flags.data_integrity_sync, DescriptorFlags::DATA_INTEGRITY_SYNC),
        (flags.requested_write_sync, DescriptorFlags::REQUESTED_WRITE_SYNC),
        (flags.mutate_directory, DescriptorFlags::MUTATE_DIRECTORY),
    ];
    rows.into_iter().filter(|(set, _)| *set).fold(DescriptorFlags::empty(), |all, (_, flag)| all | flag)
}

fn kind(kind: InodeKind) -> DescriptorType {
    match kind {
        InodeKind::Directory => DescriptorType::Directory,
        InodeKind::File => DescriptorType::RegularFile,
        InodeKind::Link => DescriptorType::SymbolicLink,
    }
}

fn stat(stat: &InodeStat) -> DescriptorStat {
    DescriptorStat {
        type_: kind(stat.kind),
        link_count: stat.links,
        size: stat.size,
        data_access_timestamp: Some(datetime(stat.accessed_ns)),
        data_modification_timestamp: Some(datetime(stat.modified_ns)),
        status_change_timestamp: Some(datetime(stat.changed_ns)),
    }
}

fn live_kind(kind: FileKind) -> DescriptorType {
    match kind {
        FileKind::File => DescriptorType::RegularFile,
        FileKind::Directory => DescriptorType::Directory,
        FileKind::Link => DescriptorType::SymbolicLink,
        FileKind::Other => DescriptorType::Unknown,
    }
}

fn live_stat(stat: FileStat) -> DescriptorStat {
    DescriptorStat {
        type_: live_kind(stat.kind),
        link_count: stat.links,
        size: stat.size,
        data_access_timestamp: Some(datetime(stat.accessed_ns)),
        data_modification_timestamp: Some(datetime(stat.modified_ns)),
        status_change_timestamp: Some(datetime(stat.changed_ns)),
    }
}

fn hash(hash: files::MetadataHash) -> MetadataHashValue {
    MetadataHashValue { lower: hash.lower, upper: hash.upper }
}

fn new_time(time: NewTimestamp) -> DiskResult<FileTimeChange> {
    Ok(match time {
        NewTimestamp::NoChange => FileTimeChange::NoChange,
        NewTimestamp::Now => FileTimeChange::Now,
        NewTimestamp::Timestamp(at) => FileTimeChange::At(files::wall_ns(at.seconds, at.nanoseconds)?),
    })
}

/// The error code of the same name.
fn code(errno: Errno) -> ErrorCode {
    macro_rules! same {
        ($($case:ident),* $(,)?) => {
            match errno {
                $(Errno::$case => ErrorCode::$case,)*
            }
        };
    }
    same!(
        Access,
        WouldBlock,
        Already,
        BadDescriptor,
        Busy,
        Deadlock,
        Quota,
        Exist,
        FileTooLarge,
        IllegalByteSequence,
        InProgress,
        Interrupted,
        Invalid,
        Io,
        IsDirectory,
        Loop,
        TooManyLinks,
        MessageSize,
        NameTooLong,
        NoDevice,
        NoEntry,
        NoLock,
        InsufficientMemory,
        InsufficientSpace,
        NotDirectory,
        NotEmpty,
        NotRecoverable,
        Unsupported,
        NoTty,
        NoSuchDevice,
        Overflow,
        NotPermitted,
        Pipe,
        ReadOnly,
        InvalidSeek,
        TextFileBusy,
        CrossDevice,
    )
}
