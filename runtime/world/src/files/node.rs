//! What stands on the disk: files, directories and symbolic links, each a node with times and links.
//!
//! ```text
//! index  serial  kind        links  holders
//!   0       1    directory     3       1      "/"
//!   1       2    directory     2       0      "/tmp"
//!   2       5    file          0       1      removed, but still open
//! ```
//!
//! Invariants: an index is reused only after its node had neither links nor holders; a serial is never
//! reused. Not here: names (a directory holds them), rights (a descriptor holds them).

use super::Errno;
use super::content::FileContent;
use rpds::RedBlackTreeMapSync;
use std::sync::Arc;

/// The place of a node on the disk. Means something only while the node is linked or held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InodeIndex(pub u32);

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InodeKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
}

/// What `stat` answers. Times are nanoseconds since 1970-01-01T00:00:00Z on the virtual wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InodeStat {
    /// What it is.
    pub kind: InodeKind,
    /// Names that lead to it; a directory has one in its parent, one in itself and one in each
    /// directory below.
    pub links: u64,
    /// Bytes of a file or of a link's text; [`DIRECTORY_BYTES`] for a directory.
    pub size: u64,
    /// Last access. Reading does not change it (as on a disk mounted `noatime`), so that a read is
    /// no change of the world.
    pub accessed_ns: u64,
    /// Last change of the content.
    pub modified_ns: u64,
    /// Last change of the content or of anything above.
    pub changed_ns: u64,
}

/// Size that every directory claims to have, in bytes: what ext4 says of a small one.
pub const DIRECTORY_BYTES: u64 = 4096;

#[derive(Clone, Debug)]
pub(super) struct Inode {
    /// How many nodes were made before this one, plus one: its identity for all time.
    pub(super) serial: u64,
    /// Names that lead here.
    pub(super) links: u64,
    /// Descriptors and streams that hold it.
    pub(super) holders: u64,
    pub(super) accessed_ns: u64,
    pub(super) modified_ns: u64,
    pub(super) changed_ns: u64,
    /// The directory in which it got its latest name, and that name; neither need still be true.
    pub(super) named_in: InodeIndex,
    pub(super) name: Arc<str>,
    /// Nothing of it can be changed.
    pub(super) sealed: bool,
    pub(super) body: InodeBody,
}

#[derive(Clone, Debug)]
pub(super) enum InodeBody {
    File(FileContent),
    Directory(Directory),
    Link(Arc<str>),
}

#[derive(Clone, Debug)]
pub(super) struct Directory {
    pub(super) parent: InodeIndex,
    pub(super) entries: RedBlackTreeMapSync<Arc<str>, DirectoryEntry>,
}

/// What a name in a directory leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DirectoryEntry {
    pub(super) node: InodeIndex,
    /// The node's kind, which never changes: a listing need not visit the node.
    pub(super) kind: InodeKind,
}

impl Inode {
    pub(super) fn kind(&self) -> InodeKind {
        match self.body {
            InodeBody::File(_) => InodeKind::File,
            InodeBody::Directory(_) => InodeKind::Directory,
            InodeBody::Link(_) => InodeKind::Link,
        }
    }

    pub(super) fn stat(&self) -> InodeStat {
        let size = match &self.body {
            InodeBody::File(content) => content.size(),
            InodeBody::Directory(_) => DIRECTORY_BYTES,
            InodeBody::Link(text) => text.len() as u64,
        };
        InodeStat {
            kind: self.kind(),
            links: self.links,
            size,
            accessed_ns: self.accessed_ns,
            modified_ns: self.modified_ns,
            changed_ns: self.changed_ns,
        }
    }

    /// The directory that this is.
    pub(super) fn directory(&self) -> Result<&Directory, Errno> {
        match &self.body {
            InodeBody::Directory(directory) => Ok(directory),
            _ => Err(Errno::NotDirectory),
        }
    }

    /// Notes that content changed.
    pub(super) fn touch(&mut self, now_ns: u64) {
        self.modified_ns = now_ns;
        self.changed_ns = now_ns;
    }
}
