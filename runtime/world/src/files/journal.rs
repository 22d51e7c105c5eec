//! The journal of names: which changes of directories a crash can take back.
//!
//! ```text
//! committed ──▶ | mkdir a | create a/x | rename a/x b | unlink c | ◀── logged
//!                          sync(a) commits up to here ▲
//! crash          keeps a prefix: the rename may be there without the unlink, never the other way
//! ```
//!
//! As in ext4, xfs and every file system with one journal of metadata, changes of names become durable in the
//! order in which they were made, over all directories, and each wholly or not at all (a rename is one change).
//! A change is durable after [`Disk::sync`] of a directory that it changed. Whether the sync of a file makes names durable is the
//! plan's choice ([`NameDurability`]). On ext4 it commits the journal, if the file or its name was changed since: so its name and all
//! changes of names before are durable. `fsync(2)` does not promise that, and programs that rely on it lose files elsewhere (Pillai
//! et al., "All File Systems Are Not Created Equal", OSDI 2014, section 4); under `posix` no name is durable by it.
//!
//! The tree holds what the guest sees; an operation here holds what is needed to undo it. A node that lost its
//! name is held until that is durable, as ext4 keeps its blocks; a disk that is full commits first, and so does
//! ext4.
//!
//! Invariants: undoing goes backwards from the last, so each operation meets the tree that it left.
//! Not here: contents (`durable.rs`). Not modelled: times of directories; they stay as they were last seen.

use super::node::{DirectoryEntry, InodeBody, InodeIndex, InodeKind};
use super::{Disk, FileDescriptor};
use fozzy_trace::plan::NameDurability;
use std::sync::Arc;

/// Changes of names that may be pending; before one more, the oldest becomes durable, as a real journal is
/// written back when it fills. Bounds memory to some hundred kilobytes.
pub const JOURNAL_OPERATIONS_MAX: u64 = 4096;

/// One change of names, with what undoing it needs.
#[derive(Clone, Debug)]
pub(super) enum JournalEntry {
    /// A new name: of a new node or of one that had others.
    Add { directory: InodeIndex, name: Arc<str>, entry: DirectoryEntry },
    /// A name is gone. The journal holds the node.
    Remove { directory: InodeIndex, name: Arc<str>, entry: DirectoryEntry },
    /// A name moved. The journal holds what it replaced.
    Move {
        from: (InodeIndex, Arc<str>),
        to: (InodeIndex, Arc<str>),
        entry: DirectoryEntry,
        replaced: Option<DirectoryEntry>,
    },
}

impl JournalEntry {
    fn changes(&self, directory: InodeIndex) -> bool {
        match self {
            JournalEntry::Add { directory: at, .. } | JournalEntry::Remove { directory: at, .. } => *at == directory,
            JournalEntry::Move { from, to, .. } => from.0 == directory || to.0 == directory,
        }
    }

    /// The node that lost a name by it.
    fn holds(&self) -> Option<InodeIndex> {
        match self {
            JournalEntry::Add { .. } => None,
            JournalEntry::Remove { entry, .. } => Some(entry.node),
            JournalEntry::Move { replaced, .. } => replaced.map(|entry| entry.node),
        }
    }
}

impl Disk {
    /// Notes a change of names that is about to be made, or was just made and holds nothing.
    #[inline]
    pub(super) fn log_names(&mut self, operation: impl FnOnce() -> JournalEntry) {
        if self.durability.is_some() {
            self.log_operation(operation());
        }
    }

    fn log_operation(&mut self, operation: JournalEntry) {
        let durability = self.durability.as_ref().expect("callers ask");
        if durability.logged - durability.committed >= JOURNAL_OPERATIONS_MAX {
            self.commit_names_before(durability.committed + 1);
        }
        if let Some(held) = operation.holds() {
            self.opened(held);
        }
        let durability = self.durability.as_mut().expect("callers ask");
        durability.journal.insert(durability.logged, Arc::new(operation));
        durability.logged += 1;
    }

    /// Makes durable what was changed in a directory, and everything before it.
    pub(super) fn sync_directory(&mut self, directory: &FileDescriptor) {
        let Some(durability) = &self.durability else { return };
        let changes = |number: &u64| durability.journal.get(*number).is_some_and(|one| one.changes(directory.node));
        if let Some(last) = (durability.committed..durability.logged).rev().find(changes) {
            self.commit_names_before(last + 1);
        }
    }

    /// The sync of a file: on ext4 it commits the journal if that has something of the file, or the file has content to be placed.
    pub(super) fn sync_names_of(&mut self, file: InodeIndex, with_metadata: bool) {
        let Some(durability) = self.durability.as_ref().filter(|_| self.names == NameDurability::Ext4) else { return };
        let concerns = |number: u64| match durability.journal.get(number).map(|one| &**one) {
            Some(JournalEntry::Add { entry, .. }) => entry.node == file,
            Some(JournalEntry::Remove { entry, .. } | JournalEntry::Move { entry, .. }) => {
                with_metadata && entry.node == file
            }
            None => false,
        };
        if self.has_unsynced(file) || (durability.committed..durability.logged).any(concerns) {
            self.commit_names();
        }
    }

    /// Makes all names durable.
    pub(super) fn commit_names(&mut self) {
        if let Some(durability) = &self.durability {
            self.commit_names_before(durability.logged);
        }
    }

    fn commit_names_before(&mut self, number: u64) {
        while let Some(durability) = self.durability.as_mut().filter(|durability| durability.committed < number) {
            let operation = durability.journal.remove(durability.committed).expect("it was logged");
            durability.committed += 1;
            if let Some(held) = operation.holds() {
                self.closed(held);
            }
        }
    }

    /// How many changes of names are not durable.
    pub(super) fn names_pending(&self) -> u64 {
        self.durability.as_ref().map_or(0, |durability| durability.logged - durability.committed)
    }

    /// The last change of names, in words, as what a crash takes back.
    pub(super) fn last_change(&self) -> String {
        let durability = self.durability.as_ref().expect("something is pending");
        let operation = durability.journal.get(durability.logged - 1).expect("it was logged");
        let at = |directory: InodeIndex, name: &str| match self.path_of(directory) {
            root if root == "/" => format!("/{name}"),
            directory => format!("{directory}/{name}"),
        };
        match &**operation {
            JournalEntry::Add { directory, name, entry } => match &self.node(entry.node).body {
                InodeBody::File(content) => {
                    let writes = durability.written.get(u64::from(entry.node.0)).copied().unwrap_or(0);
                    let with = match (writes, content.size()) {
                        (0, _) => String::new(),
                        (1, size) => format!("; 1 write with it ({size} bytes)"),
                        (writes, size) => format!("; {writes} writes with it ({size} bytes)"),
                    };
                    format!("the name {}: its directory was not synced since{with}", at(*directory, name))
                }
                InodeBody::Directory(_) => format!("the directory {}", at(*directory, name)),
                InodeBody::Link(_) => format!("the link {}", at(*directory, name)),
            },
            JournalEntry::Remove { directory, name, .. } => {
                format!("the removal of {}: it is there again", at(*directory, name))
            }
            JournalEntry::Move { from, to, .. } => {
                format!("the rename of {} to {}", at(from.0, &from.1), at(to.0, &to.1))
            }
        }
    }

    /// Takes back the last change of names.
    pub(super) fn undo_names(&mut self) {
        let durability = self.durability.as_mut().expect("something is pending");
        durability.logged -= 1;
        let operation = durability.journal.remove(durability.logged).expect("it was logged");
        match &*operation {
            JournalEntry::Add { directory, name, entry } => {
                self.unname(*directory, name, *entry);
                let node = self.node_mut(entry.node);
                node.links -= if entry.kind == InodeKind::Directory { node.links } else { 1 };
                self.collect(entry.node);
            }
            JournalEntry::Remove { directory, name, entry } => self.restore(*directory, name, *entry),
            JournalEntry::Move { from, to, entry, replaced } => {
                self.unname(to.0, &to.1, *entry);
                self.name(from.0, &from.1, *entry);
                if let InodeBody::Directory(directory) = &mut self.node_mut(entry.node).body {
                    directory.parent = from.0;
                }
                if let Some(replaced) = replaced {
                    self.restore(to.0, &to.1, *replaced);
                }
            }
        }
    }

    /// Gives back a name that was a node's, and lets go of the node.
    fn restore(&mut self, directory: InodeIndex, name: &Arc<str>, entry: DirectoryEntry) {
        self.name(directory, name, entry);
        self.node_mut(entry.node).links += if entry.kind == InodeKind::Directory { 2 } else { 1 };
        self.closed(entry.node);
    }

    fn name(&mut self, directory: InodeIndex, name: &Arc<str>, entry: DirectoryEntry) {
        self.keeping_times(directory, |disk| {
            disk.attach(directory, Arc::clone(name), entry, 0).expect("it was there before");
        });
    }

    fn unname(&mut self, directory: InodeIndex, name: &str, entry: DirectoryEntry) {
        self.keeping_times(directory, |disk| disk.take(directory, name, entry.kind, 0));
    }

    fn keeping_times(&mut self, directory: InodeIndex, change: impl FnOnce(&mut Disk)) {
        let before = self.node(directory).stat();
        change(self);
        let node = self.node_mut(directory);
        node.modified_ns = before.modified_ns;
        node.changed_ns = before.changed_ns;
    }
}
