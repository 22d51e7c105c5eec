//! `wasi:filesystem`: translation only; the disk is in `fozzy-world`.
//!
//! ```text
//! descriptor handle ─▶ Descriptor (plain value) ─▶ Disk::operation ─▶ Errno ─▶ error-code
//! ```
//!
//! Invariant: every descriptor and stream that is opened holds its node until it is dropped.

use crate::bindings::wasi::filesystem::types::{
    Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, MetadataHashValue,
    NewTimestamp, OpenFlags, PathFlags,
};
use crate::bindings::wasi::filesystem::{preopens, types};
use crate::bindings::{Descriptor, DirectoryEntryStream, InputStream, IoError, OutputStream};
use crate::call::{Host, Import, Stop, misuse};
use crate::clocks::datetime;
use crate::record::Shown;
use fozzy_trace::Record;
use fozzy_world::files::{self, Errno, NewTime, NodeKind, Stat};
use fozzy_world::table::{Handle, InputStream as Input, OutputStream as Output};
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
type Answer<T> = std::result::Result<T, Errno>;

impl Host {
    fn descriptor(&self, import: Import, rep: u32) -> std::result::Result<files::Descriptor, Stop> {
        match self.node().table.get(rep) {
            Ok(Handle::Descriptor(descriptor)) => Ok(*descriptor),
            _ => Err(misuse(import)(TableError::WrongHandle)),
        }
    }

    /// One operation of the disk on one descriptor: `body` gets the disk, the descriptor and the wall time.
    fn on_disk<T: Record>(
        &mut self,
        import: Import,
        handle: &Resource<Descriptor>,
        asked: impl Record,
        body: impl FnOnce(&mut Disk, &files::Descriptor, u64) -> Answer<T>,
    ) -> FsResult<T> {
        let rep = handle.rep();
        self.call(import, (rep, asked), |host| {
            let descriptor = host.descriptor(import, rep)?;
            let now = host.wall_ns();
            Ok(body(&mut host.node_mut().disk, &descriptor, now).map_err(code))
        })
    }

    /// The same for operations that name a second descriptor.
    fn on_disk_with<T: Record>(
        &mut self,
        import: Import,
        handles: (&Resource<Descriptor>, &Resource<Descriptor>),
        asked: impl Record,
        body: impl FnOnce(&mut Disk, &files::Descriptor, &files::Descriptor, u64) -> Answer<T>,
    ) -> FsResult<T> {
        let (one, other) = (handles.0.rep(), handles.1.rep());
        self.call(import, (one, other, asked), |host| {
            let (one, other) = (host.descriptor(import, one)?, host.descriptor(import, other)?);
            let now = host.wall_ns();
            Ok(body(&mut host.node_mut().disk, &one, &other, now).map_err(code))
        })
    }

    /// Opens a handle that the disk has granted; `grant` holds the node for it.
    fn on_disk_open<R>(
        &mut self,
        import: Import,
        handle: &Resource<Descriptor>,
        asked: impl Record,
        grant: impl FnOnce(&mut Disk, &files::Descriptor, u64) -> Answer<Handle>,
    ) -> FsResult<Resource<R>> {
        let rep = handle.rep();
        let opened = self.call(import, (rep, asked), |host| {
            let descriptor = host.descriptor(import, rep)?;
            let now = host.wall_ns();
            match grant(&mut host.node_mut().disk, &descriptor, now) {
                Ok(handle) => host.node_mut().table.insert(handle).map(Ok).map_err(misuse(import)),
                Err(errno) => Ok(Err(code(errno))),
            }
        })?;
        Ok(opened.map(Resource::new_own))
    }
}

impl types::Host for Host {
    fn filesystem_error_code(&mut self, error: Resource<IoError>) -> Result<Option<ErrorCode>> {
        self.call(FILESYSTEM_ERROR_CODE, error.rep(), |host| match host.node_mut().table.get(error.rep()) {
            Ok(Handle::Error(failure)) => Ok(Some(code(failure.errno))),
            _ => Err(misuse(FILESYSTEM_ERROR_CODE)(TableError::WrongHandle)),
        })
    }
}

impl types::HostDescriptor for Host {
    fn read_via_stream(&mut self, this: Resource<Descriptor>, offset: u64) -> FsResult<Resource<InputStream>> {
        self.on_disk_open(READ_VIA_STREAM, &this, offset, |disk, file, _| {
            disk.check_read_stream(file)?;
            disk.opened(file.node);
            Ok(Handle::InputStream(Input::File { file: *file, offset }))
        })
    }

    fn write_via_stream(&mut self, this: Resource<Descriptor>, offset: u64) -> FsResult<Resource<OutputStream>> {
        self.on_disk_open(WRITE_VIA_STREAM, &this, offset, |disk, file, _| {
            disk.check_write_stream(file)?;
            disk.opened(file.node);
            Ok(Handle::OutputStream(Output::File { file: *file, offset: Some(offset) }))
        })
    }

    fn append_via_stream(&mut self, this: Resource<Descriptor>) -> FsResult<Resource<OutputStream>> {
        self.on_disk_open(APPEND_VIA_STREAM, &this, (), |disk, file, _| {
            disk.check_write_stream(file)?;
            disk.opened(file.node);
            Ok(Handle::OutputStream(Output::File { file: *file, offset: None }))
        })
    }

    fn advise(&mut self, this: Resource<Descriptor>, offset: u64, length: u64, advice: Advice) -> FsResult<()> {
        self.on_disk(ADVISE, &this, (offset, length, Shown(advice)), |disk, file, _| disk.advise(file, offset, length))
    }

    fn sync_data(&mut self, this: Resource<Descriptor>) -> FsResult<()> {
        self.on_disk(SYNC_DATA, &this, (), |disk, file, _| disk.sync_data(file))
    }

    fn get_flags(&mut self, this: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        self.on_disk(GET_FLAGS, &this, (), |disk, of, _| Ok(flags_out(disk.get_flags(of))))
    }

    fn get_type(&mut self, this: Resource<Descriptor>) -> FsResult<DescriptorType> {
        self.on_disk(GET_TYPE, &this, (), |disk, of, _| Ok(kind(disk.get_type(of))))
    }

    fn set_size(&mut self, this: Resource<Descriptor>, size: u64) -> FsResult<()> {
        self.on_disk(SET_SIZE, &this, size, |disk, file, now| disk.set_size(file, size, now))
    }

    fn set_times(
        &mut self,
        this: Resource<Descriptor>,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.on_disk(SET_TIMES, &this, (Shown(accessed), Shown(modified)), |disk, of, now| {
            disk.set_times(of, new_time(accessed)?, new_time(modified)?, now)
        })
    }

    fn read(&mut self, this: Resource<Descriptor>, length: u64, offset: u64) -> FsResult<(Vec<u8>, bool)> {
        self.on_disk(READ, &this, (length, offset), |disk, file, _| disk.read(file, offset, length))
    }

    fn write(&mut self, this: Resource<Descriptor>, bytes: Vec<u8>, offset: u64) -> FsResult<u64> {
        self.on_disk(WRITE, &this, (&bytes, offset), |disk, file, now| disk.write(file, offset, &bytes, now))
    }

    fn read_directory(&mut self, this: Resource<Descriptor>) -> FsResult<Resource<DirectoryEntryStream>> {
        self.on_disk_open(READ_DIRECTORY, &this, (), |disk, of, _| Ok(Handle::DirectoryStream(disk.list(of)?)))
    }

    fn sync(&mut self, this: Resource<Descriptor>) -> FsResult<()> {
        self.on_disk(SYNC, &this, (), |disk, of, _| disk.sync(of))
    }

    fn create_directory_at(&mut self, this: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.on_disk(CREATE_DIRECTORY_AT, &this, &path, |disk, base, now| disk.create_directory_at(base, &path, now))
    }

    fn stat(&mut self, this: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        self.on_disk(STAT, &this, (), |disk, of, _| Ok(stat(&disk.stat(of))))
    }

    fn stat_at(&mut self, this: Resource<Descriptor>, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        self.on_disk(STAT_AT, &this, (Shown(flags), &path), |disk, base, _| {
            disk.stat_at(base, path_flags(flags), &path).map(|found| stat(&found))
        })
    }

    fn set_times_at(
        &mut self,
        this: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let asked = (Shown(flags), &path, Shown((accessed, modified)));
        self.on_disk(SET_TIMES_AT, &this, asked, |disk, base, now| {
            disk.set_times_at(base, path_flags(flags), &path, new_time(accessed)?, new_time(modified)?, now)
        })
    }

    fn link_at(
        &mut self,
        this: Resource<Descriptor>,
        flags: PathFlags,
        old: String,
        there: Resource<Descriptor>,
        new: String,
    ) -> FsResult<()> {
        self.on_disk_with(LINK_AT, (&this, &there), (Shown(flags), &old, &new), |disk, base, there, now| {
            disk.link_at(base, path_flags(flags), &old, there, &new, now)
        })
    }

    fn open_at(
        &mut self,
        this: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
        open: OpenFlags,
        wanted: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let asked = (Shown(flags), &path, Shown((open, wanted)));
        self.on_disk_open(OPEN_AT, &this, asked, |disk, base, now| {
            let opened = disk.open_at(base, path_flags(flags), &path, open_flags(open), flags_in(wanted), now)?;
            Ok(Handle::Descriptor(opened))
        })
    }

    fn readlink_at(&mut self, this: Resource<Descriptor>, path: String) -> FsResult<String> {
        self.on_disk(READLINK_AT, &this, &path, |disk, base, _| {
            disk.readlink_at(base, &path).map(|text| text.to_string())
        })
    }

    fn remove_directory_at(&mut self, this: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.on_disk(REMOVE_DIRECTORY_AT, &this, &path, |disk, base, now| disk.remove_directory_at(base, &path, now))
    }

    fn rename_at(
        &mut self,
        this: Resource<Descriptor>,
        old: String,
        there: Resource<Descriptor>,
        new: String,
    ) -> FsResult<()> {
        self.on_disk_with(RENAME_AT, (&this, &there), (&old, &new), |disk, base, there, now| {
            disk.rename_at(base, &old, there, &new, now)
        })
    }

    fn symlink_at(&mut self, this: Resource<Descriptor>, text: String, path: String) -> FsResult<()> {
        self.on_disk(SYMLINK_AT, &this, (&text, &path), |disk, base, now| disk.symlink_at(base, &text, &path, now))
    }

    fn unlink_file_at(&mut self, this: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.on_disk(UNLINK_FILE_AT, &this, &path, |disk, base, now| disk.unlink_file_at(base, &path, now))
    }

    fn is_same_object(&mut self, this: Resource<Descriptor>, other: Resource<Descriptor>) -> Result<bool> {
        let (one, other) = (this.rep(), other.rep());
        self.call(IS_SAME_OBJECT, (one, other), |host| {
            let (one, other) = (host.descriptor(IS_SAME_OBJECT, one)?, host.descriptor(IS_SAME_OBJECT, other)?);
            Ok(host.node_mut().disk.is_same_object(&one, &other))
        })
    }

    fn metadata_hash(&mut self, this: Resource<Descriptor>) -> FsResult<MetadataHashValue> {
        self.on_disk(METADATA_HASH, &this, (), |disk, of, _| Ok(hash(disk.metadata_hash(of))))
    }

    fn metadata_hash_at(
        &mut self,
        this: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        self.on_disk(METADATA_HASH_AT, &this, (Shown(flags), &path), |disk, base, _| {
            disk.metadata_hash_at(base, path_flags(flags), &path).map(hash)
        })
    }

    fn drop(&mut self, this: Resource<Descriptor>) -> Result<()> {
        let rep = this.rep();
        self.call(DROP_DESCRIPTOR, rep, |host| {
            let descriptor = host.descriptor(DROP_DESCRIPTOR, rep)?;
            host.node_mut().table.remove(rep).map_err(misuse(DROP_DESCRIPTOR))?;
            host.node_mut().disk.closed(descriptor.node);
            Ok(())
        })
    }
}

impl types::HostDirectoryEntryStream for Host {
    fn read_directory_entry(&mut self, this: Resource<DirectoryEntryStream>) -> FsResult<Option<DirectoryEntry>> {
        let rep = this.rep();
        self.call(READ_DIRECTORY_ENTRY, rep, |host| {
            let node = host.node_mut();
            let Ok(Handle::DirectoryStream(listing)) = node.table.get_mut(rep) else {
                return Err(misuse(READ_DIRECTORY_ENTRY)(TableError::WrongHandle));
            };
            let next = node.disk.next_entry(listing);
            Ok(Ok(next.map(|(name, node)| DirectoryEntry { type_: kind(node), name: name.to_string() })))
        })
    }

    fn drop(&mut self, this: Resource<DirectoryEntryStream>) -> Result<()> {
        self.close(DROP_DIRECTORY_STREAM, this.rep())
    }
}

impl preopens::Host for Host {
    fn get_directories(&mut self) -> Result<Vec<(Resource<Descriptor>, String)>> {
        let rep = self.call(GET_DIRECTORIES, (), |host| {
            let root = host.node_mut().disk.open_root(true);
            host.node_mut().table.insert(Handle::Descriptor(root)).map_err(misuse(GET_DIRECTORIES))
        })?;
        Ok(vec![(Resource::new_own(rep), ROOT.to_owned())])
    }
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

fn kind(kind: NodeKind) -> DescriptorType {
    match kind {
        NodeKind::Directory => DescriptorType::Directory,
        NodeKind::File => DescriptorType::RegularFile,
        NodeKind::Link => DescriptorType::SymbolicLink,
    }
}

fn stat(stat: &Stat) -> DescriptorStat {
    DescriptorStat {
        type_: kind(stat.kind),
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

fn new_time(time: NewTimestamp) -> Answer<NewTime> {
    Ok(match time {
        NewTimestamp::NoChange => NewTime::NoChange,
        NewTimestamp::Now => NewTime::Now,
        NewTimestamp::Timestamp(at) => NewTime::At(files::wall_ns(at.seconds, at.nanoseconds)?),
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
