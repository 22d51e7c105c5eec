//! Names in directories: making, linking, renaming, removing and listing them.
//!
//! ```text
//! rename a/x to b/y     refused when y is below x, when y is a non-empty directory, when kinds differ;
//!                       nothing at all when x and y are one file; else y is replaced at one stroke
//! ```
//!
//! The errors and their order are Linux's as wasmtime-wasi reaches it: every operation first opens the
//! parent of its last name, so `x/` means the entry `.` of the directory x.
//!
//! Invariants: a directory has one name; a removed directory takes no new names; link counts are exact.
//! Not here: opening (`open.rs`), the walk itself (`path.rs`).

use super::journal::JournalEntry;
use super::node::{Directory, DirectoryEntry, InodeBody, InodeIndex, InodeKind};
use super::open::{FileDescriptor, PathFlags};
use super::path::{LastComponent, check_path, without_slashes};
use super::{Disk, Errno};
use rpds::RedBlackTreeMapSync;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

/// Hard links that one file may have; one more is `too-many-links`. As on ext4.
pub const LINKS_MAX: u64 = 65_000;

/// A position in a directory: yields names in order, each present name once, whatever happens to the
/// directory meanwhile. Holds nothing: when the directory is gone, the listing is at its end.
#[derive(Clone, Debug)]
pub struct DirectoryCursor {
    node: InodeIndex,
    serial: u64,
    last: Option<Arc<str>>,
}

impl Disk {
    /// Makes a directory.
    ///
    /// # Errors
    /// Those of `mkdirat`; `not-permitted` for escapes and read-only descriptors.
    pub fn create_directory_at(&mut self, base: &FileDescriptor, path: &str, now_ns: u64) -> Result<(), Errno> {
        let directory = base.need_directory()?;
        base.need_writable()?;
        let place = self.place(directory, without_slashes(path))?;
        let name = self.need_free(&place)?;
        self.need_unsealed(place.directory)?;
        let body =
            InodeBody::Directory(Directory { parent: place.directory, entries: RedBlackTreeMapSync::new_sync() });
        self.make(place.directory, name, body, now_ns)?;
        Ok(())
    }

    /// Removes an empty directory. A path that ends in a slash is `invalid`, as in wasmtime-wasi on Linux.
    ///
    /// # Errors
    /// Those of `unlinkat` with `AT_REMOVEDIR`; `not-permitted` for escapes and read-only descriptors.
    pub fn remove_directory_at(&mut self, base: &FileDescriptor, path: &str, now_ns: u64) -> Result<(), Errno> {
        let directory = base.need_directory()?;
        base.need_writable()?;
        let place = self.place(directory, path)?;
        let name = place.name.ok_or(Errno::Invalid)?;
        let entry = self.entry(place.directory, name).ok_or(Errno::NoEntry)?;
        self.need_unsealed(place.directory)?;
        self.need_unsealed(entry.node)?;
        self.need_empty(entry.node)?;
        self.log_names(|| JournalEntry::Remove { directory: place.directory, name: name.into(), entry });
        self.detach(place.directory, name, now_ns);
        Ok(())
    }

    /// Removes a name of a file or a symbolic link.
    ///
    /// # Errors
    /// Those of `unlinkat`; `is-directory` for a directory; `not-permitted` for escapes and read-only
    /// descriptors.
    pub fn unlink_file_at(&mut self, base: &FileDescriptor, path: &str, now_ns: u64) -> Result<(), Errno> {
        let directory = base.need_directory()?;
        base.need_writable()?;
        let place = self.place(directory, path)?;
        let name = place.name.ok_or(Errno::IsDirectory)?;
        let entry = self.entry(place.directory, name).ok_or(Errno::NoEntry)?;
        match entry.kind {
            InodeKind::Directory => Err(Errno::IsDirectory),
            _ => {
                self.need_unsealed(place.directory)?;
                self.log_names(|| JournalEntry::Remove { directory: place.directory, name: name.into(), entry });
                self.detach(place.directory, name, now_ns);
                Ok(())
            }
        }
    }

    /// Gives a file or a symbolic link one more name.
    ///
    /// # Errors
    /// Those of `linkat`; `invalid` when asked to follow links, as in wasmtime-wasi; `not-permitted` for
    /// directories, escapes and read-only descriptors.
    pub fn link_at(
        &mut self,
        old_base: &FileDescriptor,
        old_flags: PathFlags,
        old_path: &str,
        new_base: &FileDescriptor,
        new_path: &str,
        now_ns: u64,
    ) -> Result<(), Errno> {
        let (old_directory, new_directory) = (old_base.need_directory()?, new_base.need_directory()?);
        old_base.need_writable()?;
        new_base.need_writable()?;
        if old_flags.symlink_follow {
            return Err(Errno::Invalid);
        }
        let old = self.place(old_directory, old_path)?;
        let new = self.place(new_directory, new_path)?;
        let entry = match old.name {
            Some(name) => Some(self.entry(old.directory, name).ok_or(Errno::NoEntry)?),
            None => None,
        };
        let name = self.need_free(&new)?;
        let entry = match entry {
            Some(entry) if entry.kind != InodeKind::Directory => entry,
            _ => return Err(Errno::NotPermitted),
        };
        self.need_unsealed(entry.node)?;
        self.need_unsealed(new.directory)?;
        if self.node(entry.node).links >= LINKS_MAX {
            return Err(Errno::TooManyLinks);
        }
        self.attach(new.directory, Arc::clone(&name), entry, now_ns)?;
        let node = self.node_mut(entry.node);
        node.links += 1;
        node.changed_ns = now_ns;
        self.log_names(|| JournalEntry::Add { directory: new.directory, name, entry });
        Ok(())
    }

    /// Makes a symbolic link at `path` that says `text`.
    ///
    /// # Errors
    /// Those of `symlinkat`; `not-permitted` for an absolute text, escapes and read-only descriptors.
    pub fn symlink_at(&mut self, base: &FileDescriptor, text: &str, path: &str, now_ns: u64) -> Result<(), Errno> {
        let directory = base.need_directory()?;
        base.need_writable()?;
        if text.starts_with('/') {
            return Err(Errno::NotPermitted);
        }
        let place = self.place(directory, path)?;
        check_path(text)?;
        let name = self.need_free(&place)?;
        self.need_unsealed(place.directory)?;
        self.make(place.directory, name, InodeBody::Link(text.into()), now_ns)?;
        Ok(())
    }

    /// What the symbolic link at `path` says.
    ///
    /// # Errors
    /// Those of `readlinkat`; `not-permitted` for escapes and for an absolute text.
    pub fn readlink_at(&self, base: &FileDescriptor, path: &str) -> Result<Arc<str>, Errno> {
        let place = self.place(base.need_directory()?, path)?;
        let name = place.name.ok_or(Errno::Invalid)?;
        let entry = self.entry(place.directory, name).ok_or(Errno::NoEntry)?;
        match &self.node(entry.node).body {
            InodeBody::Link(text) if text.starts_with('/') => Err(Errno::NotPermitted),
            InodeBody::Link(text) => Ok(Arc::clone(text)),
            _ => Err(Errno::Invalid),
        }
    }

    /// Moves a name, replacing what the new one stood for.
    ///
    /// # Errors
    /// Those of `renameat`; `not-permitted` for escapes and read-only descriptors.
    pub fn rename_at(
        &mut self,
        old_base: &FileDescriptor,
        old_path: &str,
        new_base: &FileDescriptor,
        new_path: &str,
        now_ns: u64,
    ) -> Result<(), Errno> {
        let (old_directory, new_directory) = (old_base.need_directory()?, new_base.need_directory()?);
        old_base.need_writable()?;
        new_base.need_writable()?;
        let wants_directory = old_path.ends_with('/') || new_path.ends_with('/');
        let old = self.place(old_directory, without_slashes(old_path))?;
        let new = self.place(new_directory, without_slashes(new_path))?;
        let (Some(old_name), Some(new_name)) = (old.name, new.name) else { return Err(Errno::Busy) };
        let moved = self.entry(old.directory, old_name).ok_or(Errno::NoEntry)?;
        let target = self.entry(new.directory, new_name);
        self.need_alive(new.directory)?;
        for node in [old.directory, new.directory, moved.node].into_iter().chain(target.map(|target| target.node)) {
            self.need_unsealed(node)?;
        }
        if wants_directory && moved.kind != InodeKind::Directory {
            return Err(Errno::NotDirectory);
        }
        if self.is_within(new.directory, moved) {
            return Err(Errno::Invalid);
        }
        if let Some(target) = target {
            if self.is_within(old.directory, target) {
                return Err(Errno::NotEmpty);
            }
            if target.node == moved.node {
                return Ok(());
            }
            match (moved.kind, target.kind) {
                (InodeKind::Directory, InodeKind::Directory) => self.need_empty(target.node)?,
                (InodeKind::Directory, _) => return Err(Errno::NotDirectory),
                (_, InodeKind::Directory) => return Err(Errno::IsDirectory),
                _ => {}
            }
        }
        self.log_names(|| JournalEntry::Move {
            from: (old.directory, old_name.into()),
            to: (new.directory, new_name.into()),
            entry: moved,
            replaced: target,
        });
        if target.is_some() {
            self.detach(new.directory, new_name, now_ns);
        }
        self.take(old.directory, old_name, moved.kind, now_ns);
        self.attach(new.directory, new_name.into(), moved, now_ns).expect("a name was just freed");
        let node = self.node_mut(moved.node);
        node.changed_ns = now_ns;
        if let InodeBody::Directory(directory) = &mut node.body {
            directory.parent = new.directory;
        }
        Ok(())
    }

    /// All entries of a directory, sorted by name, without `.` and `..`.
    ///
    /// # Errors
    /// `not-directory` for a file.
    pub fn read_directory(&self, of: &FileDescriptor) -> Result<Vec<(Arc<str>, InodeKind)>, Errno> {
        let directory = self.node(of.need_directory()?).directory()?;
        Ok(directory.entries.iter().map(|(name, entry)| (Arc::clone(name), entry.kind)).collect())
    }

    /// A position before the first entry of a directory.
    ///
    /// # Errors
    /// `not-directory` for a file.
    pub fn list(&self, of: &FileDescriptor) -> Result<DirectoryCursor, Errno> {
        let node = of.need_directory()?;
        Ok(DirectoryCursor { node, serial: self.node(node).serial, last: None })
    }

    /// The next entry, in the order of names.
    pub fn next_entry(&self, listing: &mut DirectoryCursor) -> Option<(Arc<str>, InodeKind)> {
        let node = self.nodes.get(u64::from(listing.node.0)).filter(|node| node.serial == listing.serial)?;
        let entries = &node.directory().ok()?.entries;
        let from = match &listing.last {
            Some(last) => Bound::Excluded(&**last),
            None => Bound::Unbounded,
        };
        let (name, entry) = entries.range::<str, _>((from, Bound::Unbounded)).next()?;
        listing.last = Some(Arc::clone(name));
        Some((Arc::clone(name), entry.kind))
    }

    /// The name of a place where nothing stands yet.
    fn need_free(&self, place: &LastComponent<'_>) -> Result<Arc<str>, Errno> {
        let name = place.name.ok_or(Errno::Exist)?;
        self.need_alive(place.directory)?;
        match self.entry(place.directory, name) {
            None => Ok(name.into()),
            Some(_) => Err(Errno::Exist),
        }
    }

    /// Makes the directory at `path` and all that is in it unchangeable, but for `except` and what is in those.
    ///
    /// # Errors
    /// As [`Disk::open_path`].
    pub(crate) fn seal(&mut self, path: &str, except: &BTreeSet<u32>) -> Result<(), Errno> {
        let top = self.directory_at(path)?;
        let mut pending = vec![top];
        while let Some(node) = pending.pop() {
            // What is sealed already was so with all that is in it.
            if self.node(node).sealed || node != top && except.contains(&node.0) {
                continue;
            }
            self.node_mut(node).sealed = true;
            if let InodeBody::Directory(directory) = &self.node(node).body {
                pending.extend(directory.entries.iter().map(|(_, entry)| entry.node));
            }
        }
        Ok(())
    }

    /// Refuses changes of what was sealed.
    pub(super) fn need_unsealed(&self, node: InodeIndex) -> Result<(), Errno> {
        if self.node(node).sealed { Err(Errno::ReadOnly) } else { Ok(()) }
    }

    /// Refuses new names in a directory that was removed and is only still open.
    fn need_alive(&self, directory: InodeIndex) -> Result<(), Errno> {
        if self.node(directory).links == 0 { Err(Errno::NoEntry) } else { Ok(()) }
    }

    fn need_empty(&self, node: InodeIndex) -> Result<(), Errno> {
        if self.node(node).directory()?.entries.is_empty() { Ok(()) } else { Err(Errno::NotEmpty) }
    }

    /// Whether `inner` is `outer` or below it. A path is as long as the tree is deep, which the bound on
    /// nodes bounds.
    fn is_within(&self, inner: InodeIndex, outer: DirectoryEntry) -> bool {
        if outer.kind != InodeKind::Directory {
            return false;
        }
        let mut at = inner;
        while at != outer.node {
            let parent = self.node(at).directory().expect("a place is in a directory").parent;
            if parent == at {
                return false;
            }
            at = parent;
        }
        true
    }

    /// Makes a node with one name.
    pub(super) fn make(
        &mut self,
        directory: InodeIndex,
        name: Arc<str>,
        body: InodeBody,
        now_ns: u64,
    ) -> Result<InodeIndex, Errno> {
        self.need_alive(directory)?;
        let node = self.add(body, now_ns)?;
        let kind = self.node(node).kind();
        let entry = DirectoryEntry { node, kind };
        if let Err(error) = self.attach(directory, Arc::clone(&name), entry, now_ns) {
            self.collect(node);
            return Err(error);
        }
        self.node_mut(node).links = if kind == InodeKind::Directory { 2 } else { 1 };
        self.log_names(|| JournalEntry::Add { directory, name, entry });
        Ok(node)
    }

    /// Writes a name into a directory that has none like it.
    pub(super) fn attach(
        &mut self,
        directory: InodeIndex,
        name: Arc<str>,
        entry: DirectoryEntry,
        now_ns: u64,
    ) -> Result<(), Errno> {
        assert!(self.node(directory).links > 0, "callers ask whether the directory is alive");
        if self.usage.names >= self.limits.nodes {
            return Err(Errno::InsufficientSpace);
        }
        let node = self.node_mut(directory);
        node.touch(now_ns);
        if entry.kind == InodeKind::Directory {
            node.links += 1;
        }
        let InodeBody::Directory(at) = &mut node.body else { unreachable!("names are in directories") };
        assert!(!at.entries.contains_key(&*name), "the name is taken");
        at.entries.insert_mut(Arc::clone(&name), entry);
        self.usage.names += 1;
        let named = self.node_mut(entry.node);
        named.named_in = directory;
        named.name = name;
        Ok(())
    }

    /// Takes a name out of a directory; the node keeps its count of links.
    pub(super) fn take(&mut self, directory: InodeIndex, name: &str, kind: InodeKind, now_ns: u64) {
        let node = self.node_mut(directory);
        node.touch(now_ns);
        if kind == InodeKind::Directory {
            node.links -= 1;
        }
        let InodeBody::Directory(at) = &mut node.body else { unreachable!("names are in directories") };
        assert!(at.entries.remove_mut(name), "the name is there");
        self.usage.names -= 1;
    }

    /// Removes a name, and the node with it if that was its last name and no descriptor is open.
    fn detach(&mut self, directory: InodeIndex, name: &str, now_ns: u64) {
        let entry = self.entry(directory, name).expect("the name is there");
        self.take(directory, name, entry.kind, now_ns);
        let node = self.node_mut(entry.node);
        node.changed_ns = now_ns;
        node.links -= if entry.kind == InodeKind::Directory { node.links } else { 1 };
        self.collect(entry.node);
    }
}
