//! What of the files' contents is durable, and what a crash could still take.
//!
//! ```text
//! durable content   |AAAAAAAA|
//! changes             write 2..4, write 8..12, size 6          since then, in their order
//! what is seen      |AABBAA|
//! ```
//!
//! A write is durable after [`Disk::sync`] or [`Disk::sync_data`] of its file. Both make the size durable too:
//! data that lies beyond the known size would be none.
//!
//! Nothing of this is kept unless [`Disk::track_durability`] asks for it, which is when a loss of power is planned.
//! Then each file with unsynced changes has its durable content here (the chunks are shared until they are
//! written to) and the changes with their bytes.
//!
//! Invariants: a file without entry here is wholly durable; memory is bounded by the `_MAX` below and by the
//! limits of the disk. Not here: names (`journal.rs`), what a crash takes (`crash.rs`).
//! Not modelled: times of files; they stay as they were last seen.

use super::content::{CHUNK_BYTES, ContentUsage, FileContent};
use super::journal::JournalEntry;
use super::node::{InodeBody, InodeIndex, InodeKind};
use super::open::FileDescriptor;
use super::radix::RadixTree;
use super::{Disk, Errno};
use fozzy_trace::RunningDigest;
use fozzy_trace::plan::NameDurability;
use std::sync::Arc;

/// Unsynced writes and changes of size that a disk keeps apart. When there are more, all become durable, as
/// write-back would have made them by then.
pub const PENDING_CHANGES_MAX: u64 = 4096;
/// Bytes of unsynced writes that a disk keeps apart. When there are more, all become durable.
pub const PENDING_BYTES_MAX: u64 = 16 << 20;

/// See the module and `journal.rs`.
#[derive(Clone, Debug, Default)]
pub(super) struct DurabilityTracker {
    /// Files with unsynced changes, by their index.
    files: RadixTree<Arc<PendingFile>>,
    /// Sums over `files`.
    bytes: u64,
    changes: u64,
    durable: ContentUsage,
    /// Writes to each file since then, synced or not, for people.
    pub(super) written: RadixTree<u64>,
    /// Changes of names by their numbers, from `committed` up to `logged`.
    pub(super) journal: RadixTree<Arc<JournalEntry>>,
    pub(super) committed: u64,
    pub(super) logged: u64,
}

/// A file with changes that are not durable.
#[derive(Clone, Debug)]
pub(super) struct PendingFile {
    pub(super) durable: FileContent,
    pub(super) changes: Vec<FileChange>,
    /// A sync failed: some changes are neither durable nor pending.
    pub(super) failed: bool,
}

/// One change of a file.
#[derive(Clone, Debug)]
pub(super) enum FileChange {
    /// Bytes at an offset.
    Write { offset: u64, bytes: Arc<[u8]> },
    /// Cut or extended to this size.
    Size(u64),
}

impl FileChange {
    fn bytes(&self) -> u64 {
        match self {
            FileChange::Write { bytes, .. } => bytes.len() as u64,
            FileChange::Size(_) => 0,
        }
    }

    /// Performs it on a content.
    pub(super) fn apply(&self, content: &mut FileContent) {
        match self {
            FileChange::Size(size) => content.set_size(*size),
            FileChange::Write { offset, bytes } => write(content, *offset, bytes),
        }
    }
}

/// Writes bytes wherever they lie.
pub(super) fn write(content: &mut FileContent, mut offset: u64, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let step = ((CHUNK_BYTES - offset % CHUNK_BYTES) as usize).min(bytes.len());
        content.write(offset, &bytes[..step]);
        offset += step as u64;
        bytes = &bytes[step..];
    }
}

impl DurabilityTracker {
    /// All that is pending of a file is gone: it became durable, or the file is no more.
    pub(super) fn forget(&mut self, file: InodeIndex) -> Option<Arc<PendingFile>> {
        let pending = self.files.remove(u64::from(file.0))?;
        self.bytes -= pending.changes.iter().map(FileChange::bytes).sum::<u64>();
        self.changes -= pending.changes.len() as u64;
        self.durable.bytes -= pending.durable.usage().bytes;
        self.durable.chunks -= pending.durable.usage().chunks;
        Some(pending)
    }

    fn remember(&mut self, file: InodeIndex, pending: Arc<PendingFile>) {
        self.bytes += pending.changes.iter().map(FileChange::bytes).sum::<u64>();
        self.changes += pending.changes.len() as u64;
        self.durable.bytes += pending.durable.usage().bytes;
        self.durable.chunks += pending.durable.usage().chunks;
        let old = self.files.insert(u64::from(file.0), pending);
        assert!(old.is_none(), "a file is remembered once");
    }

    fn log(&mut self, file: InodeIndex, change: FileChange) {
        self.bytes += change.bytes();
        self.changes += 1;
        if matches!(change, FileChange::Write { .. }) {
            let key = u64::from(file.0);
            let before = self.written.get(key).copied().unwrap_or(0);
            self.written.insert(key, before + 1);
        }
        let pending = self.files.get_mut(u64::from(file.0)).expect("a change is announced");
        Arc::make_mut(pending).changes.push(change);
    }

    /// Writes back the changes of a file. After a failed sync what was lost by it stays lost.
    fn write_back(&mut self, file: InodeIndex) {
        let Some(mut pending) = self.forget(file).filter(|pending| pending.failed) else { return };
        let at = Arc::make_mut(&mut pending);
        for change in std::mem::take(&mut at.changes) {
            change.apply(&mut at.durable);
        }
        self.remember(file, pending);
    }

    /// Files with unsynced changes, in the order of their indices.
    fn pending(&self) -> Vec<InodeIndex> {
        let mut all = Vec::new();
        self.files.for_each(&mut |index, _| all.push(InodeIndex(index as u32)));
        all
    }
}

impl Disk {
    /// Whether what is not synced can be lost by [`Disk::crash`]. Off at first, which costs nothing; turned on, all
    /// that there is counts as durable.
    pub fn track_durability(&mut self, on: bool) {
        self.commit_names();
        self.durability = on.then(Box::default);
    }

    /// Which syncs make names durable.
    pub fn keep_names(&mut self, names: NameDurability) {
        self.names = names;
    }

    /// Whether [`Disk::crash`] knows what was durable.
    #[must_use]
    pub fn tracks_durability(&self) -> bool {
        self.durability.is_some()
    }

    /// Makes durable: of a file its content and size, of a directory the names in it and all changes of names
    /// before; on ext4, of a file also its name and all changes of names until now.
    ///
    /// # Errors
    /// None yet; the signature is the interface's.
    pub fn sync(&mut self, of: &FileDescriptor) -> Result<(), Errno> {
        match of.kind {
            InodeKind::Directory => self.sync_directory(of),
            InodeKind::File | InodeKind::Link => {
                self.sync_names_of(of.node, true);
                self.write_back(of.node);
            }
        }
        Ok(())
    }

    fn write_back(&mut self, file: InodeIndex) {
        if let Some(durability) = &mut self.durability {
            durability.write_back(file);
        }
    }

    /// The same as [`Disk::sync`], since there is no metadata without which content could be read; but that a file has another name
    /// is no matter of its data.
    ///
    /// # Errors
    /// None yet; the signature is the interface's.
    pub fn sync_data(&mut self, of: &FileDescriptor) -> Result<(), Errno> {
        if of.kind == InodeKind::Directory {
            return self.sync(of);
        }
        self.sync_names_of(of.node, false);
        self.write_back(of.node);
        Ok(())
    }

    /// A sync that fails: the unsynced changes of a file are still seen, and will never be durable, whatever later
    /// syncs say. So ext4 and others do, which mark the pages clean (Rebello et al., "Can Applications Recover from
    /// fsync Failures?", ATC 2020). Names stay pending.
    pub fn fail_sync(&mut self, of: &FileDescriptor) {
        let Some(durability) = &mut self.durability else { return };
        if let Some(mut pending) = durability.forget(of.node) {
            let at = Arc::make_mut(&mut pending);
            at.changes.clear();
            at.failed = true;
            durability.remember(of.node, pending);
        }
    }

    /// Announces a write: a disk that is full commits what holds removed files, and the durable content is kept.
    pub(super) fn before_write(&mut self, file: InodeIndex, length: u64) {
        let room = self.room();
        if room.bytes < length || room.chunks < length.div_ceil(CHUNK_BYTES) + 1 {
            self.commit_names();
        }
        self.keep_durable(file);
    }

    /// Notes a write that was announced.
    pub(super) fn log_write(&mut self, file: InodeIndex, offset: u64, bytes: &[u8]) {
        self.log_change(file, FileChange::Write { offset, bytes: bytes.into() });
    }

    /// Notes a change of size that is about to be made.
    pub(super) fn log_resize(&mut self, file: InodeIndex, size: u64) {
        self.keep_durable(file);
        self.log_change(file, FileChange::Size(size));
    }

    fn log_change(&mut self, file: InodeIndex, change: FileChange) {
        let durability = self.durability.as_mut().expect("callers ask");
        durability.log(file, change);
        if durability.changes > PENDING_CHANGES_MAX || durability.bytes > PENDING_BYTES_MAX {
            self.write_back_all();
        }
    }

    /// Whether a file has changes of its content that are not durable.
    pub(super) fn has_unsynced(&self, file: InodeIndex) -> bool {
        let pending = self.durability.as_ref().and_then(|durability| durability.files.get(u64::from(file.0)));
        pending.is_some_and(|pending| !pending.changes.is_empty())
    }

    /// Keeps the content that is durable now, if all of it is.
    fn keep_durable(&mut self, file: InodeIndex) {
        let tracked = |disk: &Disk| disk.durability.as_ref().is_some_and(|d| d.files.get(u64::from(file.0)).is_some());
        if tracked(self) {
            return;
        }
        let InodeBody::File(content) = &self.node(file).body else { unreachable!("only files are written") };
        let durable = content.clone();
        // Durable contents may differ from all that is seen, so they are bounded as the disk itself is.
        if self.exceeds(durable.usage()) {
            self.write_back_all();
        }
        let durability = self.durability.as_mut().expect("callers ask");
        if durability.durable != ContentUsage::default() && self.exceeds(durable.usage()) {
            // Only what failed syncs left is still there; at the bound it counts as durable after all.
            self.forget_all();
        }
        let pending = PendingFile { durable, changes: Vec::new(), failed: false };
        self.durability.as_mut().expect("callers ask").remember(file, Arc::new(pending));
    }

    fn exceeds(&self, more: ContentUsage) -> bool {
        let kept = self.durability.as_ref().map_or(ContentUsage::default(), |durability| durability.durable);
        let chunks_max = (self.limits.bytes / CHUNK_BYTES).saturating_add(self.limits.nodes);
        kept.bytes.saturating_add(more.bytes) > self.limits.bytes || kept.chunks + more.chunks > chunks_max
    }

    fn write_back_all(&mut self) {
        let durability = self.durability.as_mut().expect("callers ask");
        for file in durability.pending() {
            durability.write_back(file);
        }
    }

    fn forget_all(&mut self) {
        let durability = self.durability.as_mut().expect("callers ask");
        for file in durability.pending() {
            durability.forget(file);
        }
    }

    /// Takes out everything that is pending of files, in the order of their indices.
    pub(super) fn take_pending(&mut self) -> Vec<(InodeIndex, Arc<PendingFile>)> {
        let Some(durability) = &mut self.durability else { return Vec::new() };
        let files = durability.pending();
        files.into_iter().filter_map(|file| Some((file, durability.forget(file)?))).collect()
    }

    /// Folds in what a crash could take: two disks that look the same may differ in it.
    pub(super) fn fold_pending(&self, fold: &mut RunningDigest) {
        let Some(durability) = &self.durability else { return };
        durability.files.for_each(&mut |index, pending| {
            fold.word(index);
            fold.word(pending.durable.size());
            pending.durable.for_each_piece(&mut |index, bytes| {
                fold.word(index);
                fold.bytes(bytes);
            });
            for change in &pending.changes {
                match change {
                    FileChange::Size(size) => fold.word(*size),
                    FileChange::Write { offset, bytes } => {
                        fold.word(*offset);
                        fold.bytes(bytes);
                    }
                }
            }
        });
        durability.journal.for_each(&mut |_, operation| {
            let (places, entries): (Vec<_>, Vec<_>) = match &**operation {
                JournalEntry::Add { directory, name, entry } | JournalEntry::Remove { directory, name, entry } => {
                    (vec![(*directory, name)], vec![*entry])
                }
                JournalEntry::Move { from, to, entry, replaced } => {
                    let entries = std::iter::once(*entry).chain(*replaced).collect();
                    (vec![(from.0, &from.1), (to.0, &to.1)], entries)
                }
            };
            fold.word(u64::from(matches!(**operation, JournalEntry::Remove { .. })));
            for (directory, name) in places {
                fold.word(u64::from(directory.0));
                fold.bytes(name.as_bytes());
            }
            entries.iter().for_each(|entry| fold.word(u64::from(entry.node.0)));
        });
    }
}
