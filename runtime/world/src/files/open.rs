//! Descriptors: what a guest holds of a node, and how it gets one.
//!
//! Example: `open_at(&root, FOLLOW, "data/log", OpenFlags { create: true, .. }, WRITE, now)`.
//!
//! Invariants: an open descriptor keeps its node; every `open_at`, `open_root`, `open_path` and `opened`
//! is matched by one `closed`. A read-only descriptor opens nothing that can be written.
//! Not here: handles (the host's table), stream positions.

use super::node::{InodeBody, InodeIndex, InodeKind};
use super::path::{PathEndRules, PathTarget};
use super::{Disk, Errno};

/// How paths are resolved: `path-flags` of the WIT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathFlags {
    /// A symbolic link at the end of the path is followed.
    pub symlink_follow: bool,
}

/// How a path is opened: `open-flags` of the WIT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenFlags {
    /// Makes the file if it is missing.
    pub create: bool,
    /// Refuses anything but a directory.
    pub directory: bool,
    /// With `create`: refuses what exists.
    pub exclusive: bool,
    /// Empties the file.
    pub truncate: bool,
}

/// What a descriptor is for: `descriptor-flags` of the WIT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DescriptorFlags {
    /// Data can be read.
    pub read: bool,
    /// Data can be written.
    pub write: bool,
    /// Writes are synchronous, metadata too.
    pub file_integrity_sync: bool,
    /// Writes are synchronous.
    pub data_integrity_sync: bool,
    /// Reads are synchronous like writes.
    pub requested_write_sync: bool,
    /// Entries of the directory can be changed.
    pub mutate_directory: bool,
}

/// An open file or directory: a plain value, from which the disk is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileDescriptor {
    /// The node that it holds.
    pub node: InodeIndex,
    /// What the node is.
    pub kind: InodeKind,
    /// What it can be used for; `get-flags` answers them.
    pub flags: DescriptorFlags,
    /// Whether anything may be changed through it or through what is opened from it. A preopened
    /// directory has it or not; all that is opened below inherits it.
    pub writable: bool,
}

impl FileDescriptor {
    /// Refuses files, in the words of wasmtime-wasi.
    pub(super) fn need_directory(&self) -> Result<InodeIndex, Errno> {
        match self.kind {
            InodeKind::Directory => Ok(self.node),
            _ => Err(Errno::NotDirectory),
        }
    }

    /// Refuses directories, in the words of wasmtime-wasi.
    pub(super) fn need_file(&self) -> Result<InodeIndex, Errno> {
        match self.kind {
            InodeKind::File => Ok(self.node),
            _ => Err(Errno::BadDescriptor),
        }
    }

    /// Refuses changes through a read-only descriptor.
    pub(super) fn need_writable(&self) -> Result<(), Errno> {
        if self.writable { Ok(()) } else { Err(Errno::NotPermitted) }
    }
}

impl Disk {
    /// A descriptor of the root directory, as a preopened directory gets it.
    pub fn open_root(&mut self, writable: bool) -> FileDescriptor {
        let node = self.root();
        self.opened(node);
        preopened(node, writable)
    }

    /// A descriptor of the directory at an absolute path of the guest, as a preopened directory gets it.
    ///
    /// # Errors
    /// As [`Disk::open_at`]; `not-directory` for anything else.
    pub fn open_path(&mut self, path: &str, writable: bool) -> Result<FileDescriptor, Errno> {
        let node = self.directory_at(path)?;
        self.opened(node);
        Ok(preopened(node, writable))
    }

    /// The directory at an absolute path of the guest.
    pub(crate) fn directory_at(&self, path: &str) -> Result<InodeIndex, Errno> {
        let node = match path.trim_start_matches('/') {
            "" => self.root(),
            relative => self.lookup(self.root(), relative, true)?,
        };
        self.node(node).directory()?;
        Ok(node)
    }

    /// Opens what stands at `path` below `base`, making it if asked. The descriptor holds its node until
    /// it is [`Disk::closed`].
    ///
    /// As in wasmtime-wasi: `create` and `truncate` open for writing whatever the flags say; what is not
    /// opened for writing is opened for reading; synchronous modes are `unsupported`; whether entries of
    /// a directory can be changed depends on the preopened directory alone.
    ///
    /// # Errors
    /// Those of `openat` in POSIX, and `not-permitted` where the path leads out of `base`.
    pub fn open_at(
        &mut self,
        base: &FileDescriptor,
        path_flags: PathFlags,
        path: &str,
        open: OpenFlags,
        flags: DescriptorFlags,
        now_ns: u64,
    ) -> Result<FileDescriptor, Errno> {
        let directory = base.need_directory()?;
        if flags.file_integrity_sync || flags.data_integrity_sync || flags.requested_write_sync {
            return Err(Errno::Unsupported);
        }
        if open.directory && (open.create || open.exclusive || open.truncate) {
            return Err(Errno::Invalid);
        }
        let write = flags.write || open.create || open.truncate;
        let read = flags.read || !flags.write;
        if write {
            base.need_writable()?;
        }
        let exclusive = open.create && open.exclusive;
        let ending = PathEndRules { follow: path_flags.symlink_follow && !exclusive, create: open.create };
        let node = match self.walk(directory, path, ending)? {
            PathTarget::Dots(_) if exclusive => return Err(Errno::Exist),
            PathTarget::Dots(_) if write => return Err(Errno::IsDirectory),
            PathTarget::Dots(node) => node,
            PathTarget::Name { entry: Some(entry), slash, .. } => match entry.kind {
                _ if exclusive => return Err(Errno::Exist),
                InodeKind::Directory if write => return Err(Errno::IsDirectory),
                InodeKind::Directory => entry.node,
                _ if slash => return Err(Errno::NotDirectory),
                InodeKind::Link => return Err(Errno::Loop),
                InodeKind::File if open.directory => return Err(Errno::NotDirectory),
                InodeKind::File => {
                    if write {
                        self.need_unsealed(entry.node)?;
                    }
                    if open.truncate {
                        self.resize(entry.node, 0, now_ns);
                        if let Some(output) = self.sdk_output.as_mut().filter(|output| output.0 == entry.node) {
                            output.1.begin();
                        }
                    }
                    entry.node
                }
            },
            PathTarget::Name { directory, name, entry: None, .. } => {
                if !open.create {
                    return Err(Errno::NoEntry);
                }
                self.need_unsealed(directory)?;
                let name = name.into();
                self.make(directory, name, InodeBody::File(Default::default()), now_ns)?
            }
        };
        self.opened(node);
        let kind = self.node(node).kind();
        let flags = match kind {
            InodeKind::Directory => DescriptorFlags { read, mutate_directory: write, ..Default::default() },
            _ => DescriptorFlags { read, write, ..Default::default() },
        };
        // A directory can be changed where another one is mounted below it; a file is as it is.
        let writable = base.writable && (kind == InodeKind::Directory || !self.node(node).sealed);
        Ok(FileDescriptor { node, kind, flags, writable })
    }

    /// Notes one more holder of `node`: a stream, or a copy of a descriptor.
    pub fn opened(&mut self, node: InodeIndex) {
        self.node_mut(node).holders += 1;
    }

    /// Drops one holder. A node without links and holders is removed.
    pub fn closed(&mut self, node: InodeIndex) {
        let held = self.node_mut(node);
        assert!(held.holders > 0, "more was closed than opened");
        held.holders -= 1;
        self.collect(node);
    }
}

fn preopened(node: InodeIndex, writable: bool) -> FileDescriptor {
    let flags = DescriptorFlags { read: true, mutate_directory: writable, ..Default::default() };
    FileDescriptor { node, kind: InodeKind::Directory, flags, writable }
}
