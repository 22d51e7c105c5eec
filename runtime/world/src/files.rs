//! The disk of the simulated computer: a tree of files, directories and symbolic links in memory.
//!
//! ```text
//! captured directories ──mount──▶ Disk ◀──open_at, read, write, rename_at, …── host (wasi:filesystem)
//!                                  │
//!                                clone ──▶ a checkpoint: shares all, copies what changes
//! ```
//!
//! The operations are those of `wasi:filesystem/types`, with the answers that wasmtime-wasi gives on Linux;
//! `fozzy-live` compares the two, operation by operation, on random trees.
//!
//! Invariants: the state is a function of the operations and of the times that callers pass in; names
//! are sorted by their bytes; identities and sizes are derived, never the host's; memory is bounded by
//! [`DiskLimits`]; a clone takes constant time.
//! Not here: handles and streams (`fozzy-host`), the real disk (`fozzy-live`).

mod content;
mod contents;
mod crash;
mod damage;
mod data;
mod disk_faults;
mod durable;
mod entries;
mod journal;
mod listing;
mod live;
mod mount;
mod node;
mod open;
mod path;
mod radix;
mod sdk_file;
mod sdk_output;
mod stat;
#[cfg(test)]
pub(crate) mod tests;

pub use contents::DiskContent;
pub use crash::SECTOR_BYTES;
pub use data::{FILE_BYTES_MAX, READ_BYTES_MAX};
pub use disk_faults::{DiskFault, DiskOperation, flip_bit, inject, room};
pub use durable::{PENDING_BYTES_MAX, PENDING_CHANGES_MAX};
pub use entries::{DirectoryCursor, LINKS_MAX};
pub use fozzy_trace::Errno;
pub use journal::JOURNAL_OPERATIONS_MAX;
pub use live::{LiveFile, LiveFiles};
pub use mount::MountError;
pub use node::{DIRECTORY_BYTES, InodeIndex, InodeKind, InodeStat};
pub use open::{DescriptorFlags, FileDescriptor, OpenFlags, PathFlags};
pub use path::{LINKS_FOLLOWED_MAX, NAME_BYTES_MAX, PATH_BYTES_MAX};
pub use sdk_output::{SdkLine, SdkText, WHOLE_LINE_BYTES_MAX as SDK_WHOLE_LINE_BYTES_MAX};
pub use stat::{FileTimeChange, MetadataHash, wall_ns};

use content::CHUNK_BYTES;
use durable::DurabilityTracker;
use fozzy_trace::plan::NameDurability;
use node::{Directory, Inode, InodeBody};
use radix::RadixTree;
use rpds::RedBlackTreeMapSync;
use sdk_output::SdkOutput;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Size of a disk. What exceeds it gets `insufficient-space`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskLimits {
    /// Bytes of file contents and link texts; holes cost nothing.
    pub bytes: u64,
    /// Files, directories and links; and as many names, hard links included. At least two, for `/` and
    /// `/tmp`.
    pub nodes: u64,
}

/// What of a disk is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskUsage {
    /// Bytes of file contents and link texts, removed files that are still open included.
    pub bytes: u64,
    /// Files, directories and links, removed ones that are still open included.
    pub nodes: u64,
    /// Names in directories.
    pub names: u64,
    /// Chunks of content written since they were captured.
    chunks: u64,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Disk {
    nodes: RadixTree<Arc<Inode>>,
    /// Indices to use again, the latest first.
    free: Option<Arc<FreeIndex>>,
    /// The lowest index that was never used.
    fresh: u32,
    /// Nodes made so far.
    serial: u64,
    usage: DiskUsage,
    limits: DiskLimits,
    /// What a crash could take; `None` when none is planned.
    durability: Option<Box<DurabilityTracker>>,
    /// Which syncs make names durable.
    names: NameDurability,
    /// Bytes of link texts that paths have led through since they were taken.
    followed: LinkBytes,
    /// Bytes that it would have had after the first write for which it had no room at all.
    refused: Option<u64>,
    /// The file whose lines are taken as they come.
    sdk_output: Option<Box<(InodeIndex, SdkOutput)>>,
}

/// A count that a look changes, too: paths are walked by those who only read.
#[derive(Debug, Default)]
struct LinkBytes(AtomicU64);

impl LinkBytes {
    fn add(&self, text: &str) {
        self.0.fetch_add(text.len() as u64, Ordering::Relaxed);
    }
}

impl Clone for LinkBytes {
    fn clone(&self) -> LinkBytes {
        LinkBytes(AtomicU64::new(self.0.load(Ordering::Relaxed)))
    }
}

/// A list that clones share: its head is replaced, never changed.
#[derive(Debug)]
struct FreeIndex {
    index: InodeIndex,
    next: Option<Arc<FreeIndex>>,
}

impl Drop for FreeIndex {
    /// Unlinks iteratively: a list of a million would overflow the stack.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut one) = next.and_then(Arc::into_inner) {
            next = one.next.take();
        }
    }
}

impl Disk {
    /// A disk with `/` and `/tmp`, whatever its limits.
    #[must_use]
    pub fn new(limits: DiskLimits, now_wall_ns: u64) -> Disk {
        let mut disk = Disk::bare(limits, now_wall_ns);
        let root = disk.root();
        let body = InodeBody::Directory(Directory { parent: root, entries: RedBlackTreeMapSync::new_sync() });
        disk.make(root, "tmp".into(), body, now_wall_ns).expect("the second node fits");
        disk
    }

    /// A disk with `/` alone, whatever its limits.
    #[must_use]
    pub fn bare(limits: DiskLimits, now_wall_ns: u64) -> Disk {
        let usage = DiskUsage::default();
        let mut disk = Disk {
            nodes: RadixTree::default(),
            free: None,
            fresh: 0,
            serial: 0,
            usage,
            limits,
            durability: None,
            names: NameDurability::default(),
            followed: LinkBytes::default(),
            refused: None,
            sdk_output: None,
        };
        disk.limits.nodes = disk.limits.nodes.clamp(2, u64::from(u32::MAX));
        let empty = |parent| InodeBody::Directory(Directory { parent, entries: RedBlackTreeMapSync::new_sync() });
        let root = disk.add(empty(InodeIndex(0)), now_wall_ns).expect("the first node fits");
        assert_eq!(root, disk.root(), "the root is the first node");
        disk.node_mut(root).links = 2;
        disk
    }

    /// The root directory. It is never removed.
    #[must_use]
    pub const fn root(&self) -> InodeIndex {
        InodeIndex(0)
    }

    /// What is taken.
    #[must_use]
    pub const fn usage(&self) -> DiskUsage {
        self.usage
    }

    /// What there is.
    #[must_use]
    pub const fn limits(&self) -> DiskLimits {
        self.limits
    }

    /// Bytes that it would have had after the first write for which it had no room at all.
    #[must_use]
    pub const fn refused(&self) -> Option<u64> {
        self.refused
    }

    /// Sets the size of the disk in bytes; what is on it stays.
    pub fn bound(&mut self, bytes: u64) {
        self.limits.bytes = bytes;
    }

    /// Bytes of the texts of symbolic links that paths have led through since the last time this was asked. A path can make the disk
    /// walk far more of them than it has bytes itself.
    pub fn take_followed(&mut self) -> u64 {
        std::mem::take(self.followed.0.get_mut())
    }

    fn node(&self, index: InodeIndex) -> &Inode {
        self.nodes.get(u64::from(index.0)).expect("a node that is linked or held is there")
    }

    fn node_mut(&mut self, index: InodeIndex) -> &mut Inode {
        Arc::make_mut(self.nodes.get_mut(u64::from(index.0)).expect("a node that is linked or held is there"))
    }

    /// What still fits. Chunks are bounded too, or one byte in each of many chunks would take far more
    /// memory than the disk has bytes; contents without holes never meet that bound.
    fn room(&self) -> content::ContentUsage {
        let chunks_max = (self.limits.bytes / CHUNK_BYTES).saturating_add(self.limits.nodes);
        content::ContentUsage {
            bytes: self.limits.bytes.saturating_sub(self.usage.bytes),
            chunks: chunks_max.saturating_sub(self.usage.chunks),
        }
    }

    /// A node without names yet.
    fn add(&mut self, body: InodeBody, now_ns: u64) -> Result<InodeIndex, Errno> {
        let bytes = bytes_of(&body);
        let fits = |disk: &Disk| disk.usage.nodes < disk.limits.nodes && bytes <= disk.room().bytes;
        if !fits(self) {
            self.commit_names();
        }
        if !fits(self) {
            return Err(Errno::InsufficientSpace);
        }
        let index = match self.free.take() {
            Some(free) => {
                self.free = free.next.clone();
                free.index
            }
            None => {
                self.fresh += 1;
                InodeIndex(self.fresh - 1)
            }
        };
        self.serial += 1;
        self.usage.nodes += 1;
        self.usage.bytes += bytes;
        let node = Inode {
            serial: self.serial,
            links: 0,
            holders: 0,
            accessed_ns: now_ns,
            modified_ns: now_ns,
            changed_ns: now_ns,
            named_in: self.root(),
            name: "".into(),
            sealed: false,
            body,
        };
        let old = self.nodes.insert(u64::from(index.0), Arc::new(node));
        assert!(old.is_none(), "a free index holds no node");
        Ok(index)
    }

    /// Removes a node without links and without open descriptors.
    fn collect(&mut self, index: InodeIndex) {
        let node = self.node(index);
        if node.links > 0 || node.holders > 0 {
            return;
        }
        let node = self.nodes.remove(u64::from(index.0)).expect("it was just seen");
        self.usage.nodes -= 1;
        self.usage.bytes -= bytes_of(&node.body);
        if let InodeBody::File(content) = &node.body {
            self.usage.chunks -= content.usage().chunks;
        }
        self.free = Some(Arc::new(FreeIndex { index, next: self.free.take() }));
        if let Some(durability) = &mut self.durability {
            durability.forget(index);
            durability.written.remove(u64::from(index.0));
        }
    }
}

fn bytes_of(body: &InodeBody) -> u64 {
    match body {
        InodeBody::File(content) => content.usage().bytes,
        InodeBody::Directory(_) => 0,
        InodeBody::Link(text) => text.len() as u64,
    }
}
