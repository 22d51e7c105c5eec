//! Listing a directory.
//!
//! ```text
//! cookie 0   "." 1  ".." 2  "a" 3  "b" 4 …    the number behind each entry is the cookie of the next one
//! ```
//!
//! A listing is made when the guest begins at cookie 0, and the descriptor keeps it: who removes files while listing them meets
//! each once, as with POSIX. Here wasmtime makes it anew for each call, and then entries are passed over.
//!
//! Invariant: entries come in the order of their names' bytes.

use super::descriptors::{DIRECTORY, filetype, live_filetype};
use super::errno::WasiErrno;
use super::{Answer, judged, number};
use crate::call::{Host, Import, disk_call};
use crate::disk_faults::whole;
use fozzy_trace::observation::FileOperation;
use fozzy_world::files::{DiskOperation, PathFlags};
use fozzy_world::preview1::{DirectoryListing, ListedEntry};
use fozzy_world::{OpenFile, Preview1Descriptor};
use wasmtime::Result;

const FD_READDIR: Import = Import::new("wasi_snapshot_preview1.fd_readdir");

/// Bytes of `dirent`, before the name.
const DIRENT_BYTES: usize = 24;

pub(super) async fn fd_readdir(
    host: &mut Host,
    fd: u32,
    buffer: u32,
    length: u32,
    cookie: u64,
    size: u32,
) -> Result<u32> {
    let into = (buffer, length, size);
    disk_call!(host, FD_READDIR, (fd, length, cookie), judged(read_entries(host, fd, cookie, into).await)).map(number)
}

async fn read_entries(
    host: &mut Host,
    fd: u32,
    cookie: u64,
    (buffer, length, size): (u32, u32, u32),
) -> Answer<Vec<u8>> {
    let directory = host.directory(FD_READDIR, fd)?;
    if let OpenFile::Disk(file) = directory {
        whole(&host.inject_file(&file, DiskOperation::Look, None).await?)?;
    }
    let listing = listing(host, fd, directory, cookie)?;
    let from = usize::try_from(cookie).map_err(|_| WasiErrno::OVERFLOW)?;
    let mut bytes = Vec::new();
    for (entry, next) in listing.iter().zip(1_u64..).skip(from) {
        bytes.extend(next.to_le_bytes());
        bytes.extend(entry.inode.to_le_bytes());
        bytes.extend((entry.name.len() as u32).to_le_bytes());
        bytes.extend([entry.filetype, 0, 0, 0]);
        bytes.extend(entry.name.as_bytes());
        if bytes.len() >= length as usize {
            bytes.truncate(length as usize);
            break;
        }
    }
    host.put(FD_READDIR, buffer, &bytes)?;
    host.put_size(FD_READDIR, size, bytes.len())?;
    Ok(bytes)
}

/// The listing that the descriptor keeps, or a new one.
fn listing(host: &mut Host, fd: u32, directory: OpenFile, cookie: u64) -> Answer<DirectoryListing> {
    if let Preview1Descriptor::Directory { listing: Some(listing), .. } = host.descriptor(FD_READDIR, fd)?
        && cookie > 0
    {
        return Ok(listing.clone());
    }
    let entries = match directory {
        OpenFile::Disk(file) => {
            let disk = &host.node().disk;
            let own = disk.metadata_hash(&file).lower;
            let mut entries = dots(own);
            for (name, kind) in disk.read_directory(&file)? {
                let inode = disk.metadata_hash_at(&file, PathFlags::default(), &name)?.lower;
                entries.push(ListedEntry { name, inode, filetype: filetype(kind) });
            }
            entries
        }
        OpenFile::Live(file) => {
            let mut names = host.live_list(file)??;
            let hash = |path| FileOperation::MetadataHash { path, follow: false };
            let mut entries = dots(host.live_hash(file, hash(None))??.lower);
            while let Some((name, kind)) = names.pop() {
                let inode = host.live_hash(file, hash(Some(name.clone())))??.lower;
                entries.push(ListedEntry { name: name.into(), inode, filetype: live_filetype(kind) });
            }
            entries
        }
    };
    host.moved((entries.len() * DIRENT_BYTES) as u64);
    let made: DirectoryListing = entries.into();
    if let Preview1Descriptor::Directory { listing, .. } = host.descriptor(FD_READDIR, fd)? {
        *listing = Some(made.clone());
    }
    Ok(made)
}

/// The directory and, under the same number as in wasmtime, the one above it.
fn dots(inode: u64) -> Vec<ListedEntry> {
    [".", ".."].map(|name| ListedEntry { name: name.into(), inode, filetype: DIRECTORY }).into()
}
