//! What is known of a node besides its content: `stat`, times, identity, and the digest of everything.
//!
//! Example: `set_times(&file, NewTime::NoChange, NewTime::At(0), now)` makes a file look written in 1970.
//!
//! Invariants: identity is the node's serial number, so it is the same on every machine and never used
//! twice; equal trees have equal digests, whatever the indices of their nodes.
//! Not here: rights.

use super::node::{Inode, InodeBody, InodeIndex, InodeKind, InodeStat};
use super::open::{DescriptorFlags, FileDescriptor, PathFlags};
use super::{Disk, Errno};
use fozzy_trace::RunningDigest;
use std::collections::BTreeMap;

/// What a time becomes: `new-timestamp` of the WIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileTimeChange {
    /// What it was.
    NoChange,
    /// The time of the call.
    Now,
    /// This, in nanoseconds since 1970 (see [`wall_ns`]).
    At(u64),
}

/// A `datetime` of the WIT in nanoseconds since 1970-01-01T00:00:00Z.
///
/// # Errors
/// `overflow` beyond the year 2554, where 64 bits of nanoseconds end.
pub fn wall_ns(seconds: u64, nanoseconds: u32) -> Result<u64, Errno> {
    let whole = seconds.checked_mul(1_000_000_000);
    whole.and_then(|ns| ns.checked_add(u64::from(nanoseconds))).ok_or(Errno::Overflow)
}

/// Identity of a node, as `metadata-hash` gives it. It says which node, not which content: wasip1 takes it
/// for the inode number, which must not change when the file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetadataHash {
    /// Lower 64 bits.
    pub lower: u64,
    /// Upper 64 bits.
    pub upper: u64,
}

impl Disk {
    /// Attributes of an open node.
    #[must_use]
    pub fn stat(&self, of: &FileDescriptor) -> InodeStat {
        self.node(of.node).stat()
    }

    /// Attributes of what stands at `path`.
    ///
    /// # Errors
    /// Those of `fstatat`; `not-permitted` for escapes.
    pub fn stat_at(&self, base: &FileDescriptor, path_flags: PathFlags, path: &str) -> Result<InodeStat, Errno> {
        Ok(self.node(self.subject(base, path_flags, path)?).stat())
    }

    /// Sets the times of an open node.
    ///
    /// # Errors
    /// `not-permitted` for a read-only descriptor.
    pub fn set_times(
        &mut self,
        of: &FileDescriptor,
        accessed: FileTimeChange,
        modified: FileTimeChange,
        now_ns: u64,
    ) -> Result<(), Errno> {
        of.need_writable()?;
        self.need_unsealed(of.node)?;
        self.stamp(of.node, accessed, modified, now_ns);
        Ok(())
    }

    /// Sets the times of what stands at `path`.
    ///
    /// # Errors
    /// Those of `utimensat`; `not-permitted` for escapes and read-only descriptors.
    pub fn set_times_at(
        &mut self,
        base: &FileDescriptor,
        path_flags: PathFlags,
        path: &str,
        accessed: FileTimeChange,
        modified: FileTimeChange,
        now_ns: u64,
    ) -> Result<(), Errno> {
        let directory = base.need_directory()?;
        base.need_writable()?;
        let node = if path_flags.symlink_follow {
            self.lookup(directory, path, true)?
        } else {
            // Like every operation on a last name, this one opens its parent first, and so `x/` is the
            // directory x even where x is a link.
            let place = self.place(directory, path)?;
            match place.name {
                None => place.directory,
                Some(_) if accessed == FileTimeChange::NoChange && modified == FileTimeChange::NoChange => {
                    return Ok(());
                }
                Some(name) => self.entry(place.directory, name).ok_or(Errno::NoEntry)?.node,
            }
        };
        self.need_unsealed(node)?;
        self.stamp(node, accessed, modified, now_ns);
        Ok(())
    }

    fn stamp(&mut self, node: InodeIndex, accessed: FileTimeChange, modified: FileTimeChange, now_ns: u64) {
        if accessed == FileTimeChange::NoChange && modified == FileTimeChange::NoChange {
            return;
        }
        let choose = |new: FileTimeChange, old: u64| match new {
            FileTimeChange::NoChange => old,
            FileTimeChange::Now => now_ns,
            FileTimeChange::At(ns) => ns,
        };
        let node = self.node_mut(node);
        node.accessed_ns = choose(accessed, node.accessed_ns);
        node.modified_ns = choose(modified, node.modified_ns);
        node.changed_ns = now_ns;
    }

    /// The kind of an open node.
    #[must_use]
    pub fn get_type(&self, of: &FileDescriptor) -> InodeKind {
        of.kind
    }

    /// The flags of a descriptor.
    #[must_use]
    pub fn get_flags(&self, of: &FileDescriptor) -> DescriptorFlags {
        of.flags
    }

    /// Whether two descriptors hold one node.
    #[must_use]
    pub fn is_same_object(&self, one: &FileDescriptor, other: &FileDescriptor) -> bool {
        one.node == other.node
    }

    /// Identity of an open node.
    #[must_use]
    pub fn metadata_hash(&self, of: &FileDescriptor) -> MetadataHash {
        self.identity(of.node)
    }

    /// Identity of what stands at `path`.
    ///
    /// # Errors
    /// As [`Disk::stat_at`].
    pub fn metadata_hash_at(
        &self,
        base: &FileDescriptor,
        path_flags: PathFlags,
        path: &str,
    ) -> Result<MetadataHash, Errno> {
        Ok(self.identity(self.subject(base, path_flags, path)?))
    }

    /// What `stat_at` is about. wasmtime-wasi looks at a single name without following links and does not
    /// mind what comes after it, be it a slash or `/.`; POSIX would want a directory there. So do we.
    fn subject(&self, base: &FileDescriptor, path_flags: PathFlags, path: &str) -> Result<InodeIndex, Errno> {
        let directory = base.need_directory()?;
        if path_flags.symlink_follow {
            return self.lookup(directory, path, true);
        }
        let mut names = path.split('/').filter(|name| !name.is_empty() && *name != ".");
        let single = match (names.next(), names.next()) {
            (Some(name), None) if name != ".." && path.starts_with(name) => name,
            _ => path,
        };
        self.lookup(directory, single, false)
    }

    fn identity(&self, node: InodeIndex) -> MetadataHash {
        let mut fold = RunningDigest::default();
        fold.word(self.node(node).serial);
        let lower = fold.value();
        fold.word(0);
        MetadataHash { lower, upper: fold.value() }
    }

    /// Folds in all that a guest could find out: names, kinds, link texts, contents, times, which names are
    /// one file, and what is removed but still open. Takes time in proportion to the disk.
    pub fn fold(&self, fold: &mut RunningDigest) {
        // Nodes are named by the order in which the tree shows them first, so that indices do not matter.
        let mut order = BTreeMap::from([(self.root(), 0_u64)]);
        let mut pending = vec![self.root()];
        while let Some(index) = pending.pop() {
            let node = self.node(index);
            fold_node(node, fold);
            let InodeBody::Directory(directory) = &node.body else { continue };
            fold.word(directory.entries.size() as u64);
            for (name, entry) in &directory.entries {
                fold.bytes(name.as_bytes());
                let next = order.len() as u64;
                let place = *order.entry(entry.node).or_insert(next);
                fold.word(place);
                if place == next {
                    pending.push(entry.node);
                }
            }
        }
        self.nodes.for_each(&mut |index, node| {
            if node.links == 0 {
                fold.word(index);
                fold_node(node, fold);
            }
        });
        self.fold_pending(fold);
    }

    /// The digest of [`Disk::fold`] alone.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let mut fold = RunningDigest::default();
        self.fold(&mut fold);
        fold.value()
    }
}

fn fold_node(node: &Inode, fold: &mut RunningDigest) {
    let stat = node.stat();
    let times = [stat.accessed_ns, stat.modified_ns, stat.changed_ns];
    [stat.kind as u64, stat.links, stat.size].into_iter().chain(times).for_each(|word| fold.word(word));
    match &node.body {
        InodeBody::Directory(_) => {}
        InodeBody::Link(text) => fold.bytes(text.as_bytes()),
        InodeBody::File(content) => content.for_each_piece(&mut |index, bytes| {
            fold.word(index);
            fold.bytes(bytes);
        }),
    }
}
