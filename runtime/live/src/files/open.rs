//! Opening what stands at a path, unless it is something that could make us wait.
//!
//! ```text
//! stat: device, pipe, socket? ──▶ not-permitted        else open, without waiting ──▶ look again at what is open
//! ```
//!
//! Invariant: a device is not even opened (that alone can rewind a tape); if it came there after we looked, it was
//! opened without waiting and is closed before anything was read.

use super::errors::errno;
use super::{OpenHandle, OrErrno, following, kind};
use cap_primitives::fs::{self, Metadata, OpenOptions, OpenOptionsExt};
use fozzy_trace::Errno;
use fozzy_trace::observation::{FileKind, FileOperation};
use rustix::fs::OFlags;
use std::fs::File;

/// Performs a [`FileOperation::OpenAt`].
pub(super) fn open_at(base: &File, path: &str, operation: &FileOperation) -> Result<(OpenHandle, FileKind), Errno> {
    let FileOperation::OpenAt { follow, create, directory, exclusive, truncate, read, write, .. } = *operation else {
        unreachable!("the caller matched it")
    };
    if directory && (create || exclusive || truncate) {
        return Err(Errno::Invalid);
    }
    // What exists is refused by `exclusive`, whatever it is, and not opened for that.
    if !(create && exclusive) {
        let found = fs::stat(base, path.as_ref(), following(follow));
        if found.is_ok_and(|found| kind(found.file_type()) == FileKind::Other) {
            return Err(if directory { Errno::NotDirectory } else { Errno::NotPermitted });
        }
    }
    let options = options(follow, create, exclusive, truncate, read, write);
    let opened = fs::open(base, path.as_ref(), &options).map_err(|error| match errno(&error) {
        // A pipe without a reader, a socket, a device without a driver.
        Errno::NoSuchDevice | Errno::NoDevice => Errno::NotPermitted,
        other => other,
    })?;
    match kind(Metadata::from_file(&opened).or_errno()?.file_type()) {
        FileKind::Directory => Ok((OpenHandle::Directory(opened), FileKind::Directory)),
        _ if directory => Err(Errno::NotDirectory),
        FileKind::File => Ok((OpenHandle::File(opened), FileKind::File)),
        FileKind::Link | FileKind::Other => Err(Errno::NotPermitted),
    }
}

/// How wasmtime-wasi turns flags into options; and never to wait, nor to get a terminal.
fn options(follow: bool, create: bool, exclusive: bool, truncate: bool, read: bool, write: bool) -> OpenOptions {
    let mut options = OpenOptions::new();
    if create {
        if exclusive {
            options.create_new(true);
        } else {
            options.create(true);
        }
        options.write(true);
    }
    if truncate {
        options.truncate(true).write(true);
    }
    if read || !write {
        options.read(true);
    }
    if write {
        options.write(true);
    }
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if !follow {
        flags |= OFlags::NOFOLLOW;
    }
    options.custom_flags(flags.bits() as i32);
    options
}
