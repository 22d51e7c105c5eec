//! Snapshots of a machine's disk, by name.
//!
//! ```text
//! "before" ─▶ Disk      each a clone that shares everything with the disk that it was taken from
//! ```
//!
//! Invariants: in a snapshot nothing is open, so what was removed and still open at that time is not in it;
//! after a restore, the root is held by exactly those handles that held it before.
//! Not here: durability; what was not synced is in a snapshot like everything else.

use crate::files::InodeIndex;
use crate::table::{Handle, StreamSink, StreamSource};
use crate::{Disk, HandleTable};
use std::collections::BTreeMap;

/// Snapshots that a machine may have at once; one more is refused. A snapshot keeps all contents that it saw.
pub const SNAPSHOTS_MAX: usize = 64;
/// Longest name of a snapshot, in bytes: that of a file.
pub const SNAPSHOT_NAME_BYTES_MAX: usize = 255;

/// Why it was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotError {
    /// There is no snapshot of that name.
    NotFound,
    /// Something other than the root is open.
    Busy,
    /// The name is empty or too long.
    InvalidName,
    /// There are [`SNAPSHOTS_MAX`].
    TooMany,
}

/// The snapshots of one machine.
#[derive(Clone, Debug, Default)]
pub struct Snapshots(BTreeMap<String, Disk>);

impl Snapshots {
    /// Keeps `disk`, which the handles of `table` hold, under `name`; an earlier one of that name is replaced.
    /// Takes time for each handle that is open, none for what is on the disk.
    ///
    /// # Errors
    /// A wrong name, or too many snapshots.
    pub fn snapshot(&mut self, name: &str, disk: &Disk, table: &HandleTable) -> Result<(), SnapshotError> {
        if name.is_empty() || name.len() > SNAPSHOT_NAME_BYTES_MAX {
            return Err(SnapshotError::InvalidName);
        }
        if self.0.len() >= SNAPSHOTS_MAX && !self.0.contains_key(name) {
            return Err(SnapshotError::TooMany);
        }
        let mut kept = disk.clone();
        table.iter().filter_map(held).for_each(|node| kept.closed(node));
        self.0.insert(name.to_owned(), kept);
        Ok(())
    }

    /// Makes `disk` what it was at the snapshot, which stays.
    ///
    /// # Errors
    /// When there is none of that name, or something other than the root is open.
    pub fn restore(&self, name: &str, disk: &mut Disk, table: &HandleTable) -> Result<(), SnapshotError> {
        let kept = self.0.get(name).ok_or(SnapshotError::NotFound)?;
        if is_busy(disk, table) {
            return Err(SnapshotError::Busy);
        }
        *disk = kept.clone();
        table.iter().filter_map(held).for_each(|node| disk.opened(node));
        Ok(())
    }

    /// Drops a snapshot.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn forget(&mut self, name: &str) -> Result<(), SnapshotError> {
        self.0.remove(name).map(drop).ok_or(SnapshotError::NotFound)
    }

    /// All names, sorted by their bytes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// Whether the handles of `table` hold something of `disk` other than its root.
#[must_use]
pub fn is_busy(disk: &Disk, table: &HandleTable) -> bool {
    let root = disk.root();
    table.iter().filter_map(held).any(|node| node != root)
}

/// The node that a handle holds on the disk. A listing holds none: it was read when it was opened.
fn held(handle: &Handle) -> Option<InodeIndex> {
    match handle {
        Handle::Descriptor(file)
        | Handle::InputStream(StreamSource::File { file, .. })
        | Handle::OutputStream(StreamSink::File { file, .. }) => Some(file.node),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{DescriptorFlags, DiskLimits, Errno, FileDescriptor, OpenFlags, PathFlags};

    const CREATE: OpenFlags = OpenFlags { create: true, directory: false, exclusive: false, truncate: false };

    struct Guest {
        disk: Disk,
        table: HandleTable,
        root: FileDescriptor,
        snapshots: Snapshots,
    }

    fn guest() -> Guest {
        let mut disk = Disk::new(DiskLimits { bytes: 1 << 20, nodes: 1 << 10 }, 0);
        let root = disk.open_root(true);
        let mut table = HandleTable::default();
        table.insert(Handle::Descriptor(root)).expect("room");
        Guest { disk, table, root, snapshots: Snapshots::default() }
    }

    impl Guest {
        fn write(&mut self, path: &str, bytes: &[u8]) {
            let file = self.open(path, CREATE).expect("room");
            self.disk.write(&file, 0, bytes, 0).expect("room");
            self.disk.closed(file.node);
        }

        fn open(&mut self, path: &str, open: OpenFlags) -> Result<FileDescriptor, Errno> {
            let flags = DescriptorFlags { read: true, write: open.create, ..DescriptorFlags::default() };
            self.disk.open_at(&self.root, PathFlags::default(), path, open, flags, 0)
        }

        fn read(&mut self, path: &str) -> Option<Vec<u8>> {
            let file = self.open(path, OpenFlags::default()).ok()?;
            let bytes = self.disk.read(&file, 0, 100).expect("a file").0;
            self.disk.closed(file.node);
            Some(bytes)
        }

        fn snapshot(&mut self, name: &str) -> Result<(), SnapshotError> {
            self.snapshots.snapshot(name, &self.disk, &self.table)
        }

        fn restore(&mut self, name: &str) -> Result<(), SnapshotError> {
            self.snapshots.restore(name, &mut self.disk, &self.table)
        }
    }

    #[test]
    fn the_tree_comes_back() {
        let mut guest = guest();
        guest.write("a", b"one");
        assert_eq!(guest.snapshot("s"), Ok(()));
        guest.write("a", b"two");
        guest.write("b", b"new");
        for _ in 0..2 {
            assert_eq!(guest.restore("s"), Ok(()));
            assert_eq!((guest.read("a"), guest.read("b")), (Some(b"one".to_vec()), None));
            guest.write("a", b"six");
        }
        assert_eq!(guest.snapshots.names().collect::<Vec<_>>(), ["s"]);
        assert_eq!(guest.snapshots.forget("s"), Ok(()));
        assert_eq!(
            (guest.restore("s"), guest.snapshots.forget("s")),
            (Err(SnapshotError::NotFound), Err(SnapshotError::NotFound))
        );
    }

    #[test]
    fn what_is_open_refuses_a_restore_and_not_a_snapshot() {
        let mut guest = guest();
        guest.write("gone", b"bytes");
        let file = guest.open("gone", OpenFlags::default()).expect("it is there");
        let rep = guest.table.insert(Handle::Descriptor(file)).expect("room");
        guest.disk.unlink_file_at(&guest.root, "gone", 0).expect("it is there");
        assert_eq!(guest.snapshot("s"), Ok(()));
        assert_eq!(guest.restore("s"), Err(SnapshotError::Busy));
        guest.table.remove(rep).expect("open");
        guest.disk.closed(file.node);
        let usage = guest.disk.usage();
        assert_eq!(guest.restore("s"), Ok(()));
        // The removed file that was open is not in the snapshot, and the root is held as before.
        assert_eq!(guest.disk.usage(), usage);
        guest.disk.closed(guest.root.node);
        let held = guest.disk.open_root(true);
        assert_eq!(held.node, guest.disk.root());
    }

    #[test]
    fn names_and_numbers_are_bounded() {
        let mut guest = guest();
        assert_eq!(guest.snapshot(""), Err(SnapshotError::InvalidName));
        assert_eq!(guest.snapshot(&"n".repeat(256)), Err(SnapshotError::InvalidName));
        for n in 0..SNAPSHOTS_MAX {
            assert_eq!(guest.snapshot(&n.to_string()), Ok(()));
        }
        assert_eq!(guest.snapshot("more"), Err(SnapshotError::TooMany));
        assert_eq!(guest.snapshot("0"), Ok(()), "the name is there already");
    }
}
