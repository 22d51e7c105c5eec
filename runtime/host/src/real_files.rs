//! Files of the real computer: each operation is a question, and its answer is checked before it is used.
//!
//! ```text
//! descriptor.read(100, 0) ─▶ Ask::File { on: 3, read 0..100 } ─▶ Run::observe ─▶ bytes 9f86…, at most 100 of them
//! ```
//!
//! The target's machine alone has them; other machines of a run have virtual disks. An operation takes as much virtual
//! time as it took in reality, which is recorded, or as is drawn from the seed.
//!
//! Invariants: an answer that cannot be one (another kind, more bytes than asked for) ends the run as a fault of the
//! machine or of the trace, and never reaches the guest; each open file is closed by its last holder.
//! Not here: performing the operations (`fozzy-live`), their translation from WIT (`filesystem`).

use crate::call::{GuestStop, Host};
use fozzy_trace::NodeId;
use fozzy_trace::observation::{
    BackendRequest, BackendResponse as Observed, FileKind, FileOperation, FileRequest, FileResponse, FileStat,
};
use fozzy_trace::plan::Backend;
use fozzy_world::files::{
    DescriptorFlags, Errno, InodeKind, LiveFile, MetadataHash, OpenFlags, PathFlags, READ_BYTES_MAX,
};
use fozzy_world::latency_model::{FILES, arrival};

/// Who asks for the latency of answers.
const SITE: &str = "wasi:filesystem";
/// Largest offset that the interface can mean.
const OFFSET_MAX: u64 = i64::MAX as u64;

/// An answer of the real computer, or its refusal.
pub(crate) type RealFileResult<T> = Result<Result<T, Errno>, GuestStop>;

/// What a check of ours refuses before anything is asked.
macro_rules! check {
    ($check:expr) => {
        if let Err(errno) = $check {
            return Ok(Err(errno));
        }
    };
}

impl Host {
    /// Whether the guest's files are the real computer's.
    pub(crate) fn has_live_files(&self) -> bool {
        self.run.world.plan.backends.files == Backend::Host && self.node == NodeId(0)
    }

    fn ask_file(&mut self, file: LiveFile, operation: FileOperation) -> RealFileResult<FileResponse> {
        let ask = BackendRequest::File(FileRequest { on: file.number, operation });
        let (answer, took) = self.run.observe(&ask)?;
        let latency = match took {
            Some(took) => took.whole,
            None => self.with_context(|_, context| arrival(context, FILES, SITE, 0)),
        };
        let clock = &mut self.world().clock;
        clock.advance_to(clock.now().after(latency));
        match answer {
            Observed::File(answer) => Ok(answer),
            Observed::Http(_) | Observed::Process(_) => unreachable!("`observe` compares the kinds"),
        }
    }

    /// An operation whose answer `read` understands; what it does not understand cannot be an answer.
    fn ask_file_for<T>(
        &mut self,
        file: LiveFile,
        operation: FileOperation,
        read: impl FnOnce(FileResponse) -> Option<T>,
    ) -> RealFileResult<T> {
        match self.ask_file(file, operation)? {
            Ok(answer) => read(answer).map(Ok).ok_or_else(implausible),
            Err(errno) => Ok(Err(errno)),
        }
    }

    /// An operation that has nothing to tell.
    pub(crate) fn live_done(&mut self, file: LiveFile, operation: FileOperation) -> RealFileResult<()> {
        self.ask_file_for(file, operation, |answer| matches!(answer, FileResponse::Done).then_some(()))
    }

    /// Opens what stands at `path`, by the rules of [`Disk::open_at`](fozzy_world::Disk::open_at); no handle holds it
    /// yet.
    pub(crate) fn live_open(
        &mut self,
        base: LiveFile,
        path_flags: PathFlags,
        path: String,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> RealFileResult<LiveFile> {
        check!(base.need_directory());
        if flags.file_integrity_sync || flags.data_integrity_sync || flags.requested_write_sync {
            return Ok(Err(Errno::Unsupported));
        }
        if open.directory && (open.create || open.exclusive || open.truncate) {
            return Ok(Err(Errno::Invalid));
        }
        let write = flags.write || open.create || open.truncate;
        let read = flags.read || !flags.write;
        let number = match self.world().live.number() {
            Ok(number) => number,
            Err(errno) => return Ok(Err(errno)),
        };
        let operation = FileOperation::OpenAt {
            path,
            follow: path_flags.symlink_follow,
            create: open.create,
            directory: open.directory,
            exclusive: open.exclusive,
            truncate: open.truncate,
            read,
            write,
            opened: number,
        };
        self.ask_file_for(base, operation, |answer| {
            let FileResponse::Opened(kind) = answer else { return None };
            let (kind, flags) = match kind {
                FileKind::Directory => {
                    let flags = DescriptorFlags { read, mutate_directory: write, ..Default::default() };
                    (InodeKind::Directory, flags)
                }
                FileKind::File if open.directory => return None,
                FileKind::File => (InodeKind::File, DescriptorFlags { read, write, ..Default::default() }),
                FileKind::Link | FileKind::Other => return None,
            };
            Some(LiveFile { number, kind, flags })
        })
    }

    /// One holder less; the last one closes.
    pub(crate) fn live_close(&mut self, file: LiveFile) -> Result<(), GuestStop> {
        if self.world().live.closed(file) {
            // That it is closed is all that closing can come to.
            let _ = self.live_done(file, FileOperation::Close)?;
        }
        Ok(())
    }

    /// Up to `length` bytes from `offset` on; the flag says that there were none.
    pub(crate) fn live_read(&mut self, file: LiveFile, offset: u64, length: u64) -> RealFileResult<(Vec<u8>, bool)> {
        let length = length.min(READ_BYTES_MAX);
        check!(file.need_file());
        check!(check_offset(offset, length));
        if !file.flags.read {
            return Ok(Err(Errno::BadDescriptor));
        }
        let read = |answer| if let FileResponse::Bytes { bytes, end } = answer { Some((bytes, end)) } else { None };
        match self.ask_file_for(file, FileOperation::Read { offset, length }, read)? {
            Ok((digest, end)) => {
                let bytes = self.run.kept(digest)?;
                if bytes.len() as u64 > length { Err(implausible()) } else { Ok(Ok((bytes.to_vec(), end))) }
            }
            Err(errno) => Ok(Err(errno)),
        }
    }

    /// Writes bytes at `offset`, or at the end, and answers how many.
    pub(crate) fn live_write(&mut self, file: LiveFile, offset: Option<u64>, bytes: &[u8]) -> RealFileResult<u64> {
        let length = bytes.len() as u64;
        check!(file.need_file());
        check!(check_offset(offset.unwrap_or(0), length));
        if !file.flags.write {
            return Ok(Err(Errno::BadDescriptor));
        }
        let bytes = self.run.keep(bytes);
        let operation = match offset {
            Some(offset) => FileOperation::Write { offset, bytes },
            None => FileOperation::Append { bytes },
        };
        self.ask_file_for(file, operation, |answer| match answer {
            FileResponse::Written(written) if written <= length => Some(written),
            _ => None,
        })
    }

    /// Writes all bytes; what the real disk takes in parts is written in parts.
    pub(crate) fn live_write_all(
        &mut self,
        file: LiveFile,
        mut offset: Option<u64>,
        bytes: &[u8],
    ) -> RealFileResult<()> {
        let mut done = 0;
        while done < bytes.len() {
            match self.live_write(file, offset, &bytes[done..])? {
                Ok(0) => return Ok(Err(Errno::Io)),
                Ok(written) => {
                    done += written as usize;
                    offset = offset.map(|offset| offset + written);
                }
                Err(errno) => return Ok(Err(errno)),
            }
        }
        Ok(Ok(()))
    }

    /// Cuts or extends.
    pub(crate) fn live_set_size(&mut self, file: LiveFile, size: u64) -> RealFileResult<()> {
        check!(file.need_file());
        if size > OFFSET_MAX || !file.flags.write {
            return Ok(Err(Errno::Invalid));
        }
        self.live_done(file, FileOperation::SetSize { size })
    }

    /// `stat` and `stat-at`.
    pub(crate) fn live_stat(&mut self, file: LiveFile, operation: FileOperation) -> RealFileResult<FileStat> {
        self.ask_file_for(
            file,
            operation,
            |answer| if let FileResponse::Stat(stat) = answer { Some(stat) } else { None },
        )
    }

    /// `metadata-hash` and `metadata-hash-at`.
    pub(crate) fn live_hash(&mut self, file: LiveFile, operation: FileOperation) -> RealFileResult<MetadataHash> {
        self.ask_file_for(file, operation, |answer| match answer {
            FileResponse::Hash { lower, upper } => Some(MetadataHash { lower, upper }),
            _ => None,
        })
    }

    /// What a symbolic link says.
    pub(crate) fn live_link(&mut self, base: LiveFile, path: String) -> RealFileResult<String> {
        check!(base.need_directory());
        let read = |answer| if let FileResponse::Link(text) = answer { Some(text) } else { None };
        Ok(self.ask_file_for(base, FileOperation::ReadlinkAt { path }, read)?.and_then(|text| {
            // As on the virtual disk: where it leads is none of the guest's business.
            if text.starts_with('/') { Err(Errno::NotPermitted) } else { Ok(text) }
        }))
    }

    /// Whether two descriptors are one object. The interface has no word for a failure: what cannot be asked is
    /// another object.
    pub(crate) fn live_is_same(&mut self, one: LiveFile, other: LiveFile) -> Result<bool, GuestStop> {
        let read = |answer| if let FileResponse::Same(same) = answer { Some(same) } else { None };
        let same = self.ask_file_for(one, FileOperation::IsSameObject { other: other.number }, read)?;
        Ok(same.unwrap_or(false))
    }

    /// All entries of a directory, the first one last.
    pub(crate) fn live_list(&mut self, directory: LiveFile) -> RealFileResult<Vec<(String, FileKind)>> {
        check!(directory.need_directory());
        self.ask_file_for(directory, FileOperation::ReadDirectory, |answer| {
            let FileResponse::Entries(mut entries) = answer else { return None };
            let plausible = |name: &str| !matches!(name, "" | "." | "..") && !name.contains(['/', '\0']);
            let sorted = entries.is_sorted_by(|(one, _), (next, _)| one < next);
            if !sorted || !entries.iter().all(|(name, _)| plausible(name)) {
                return None;
            }
            entries.reverse();
            Some(entries)
        })
    }
}

fn check_offset(offset: u64, length: u64) -> Result<(), Errno> {
    match offset.checked_add(length) {
        Some(end) if end <= OFFSET_MAX => Ok(()),
        _ => Err(Errno::Invalid),
    }
}

/// An answer that cannot be one.
fn implausible() -> GuestStop {
    GuestStop::Machine { what: "an operation on a file was answered by what cannot be its answer".to_owned() }
}
