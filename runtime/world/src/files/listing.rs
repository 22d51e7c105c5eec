//! Everything that stands on a disk, by path: for those who look at it from outside.
//!
//! ```text
//! /            directory
//! /tmp         directory
//! /tmp/a.txt   file, 12 bytes
//! ```
//!
//! Invariant: looking changes nothing; paths are sorted as their directories list them.

use super::node::InodeBody;
use super::{Disk, InodeStat};

impl Disk {
    /// Each name on the disk with what stands there, up to a bound; a file with two names comes twice.
    #[must_use]
    pub fn all(&self, most: usize) -> Vec<(String, InodeStat)> {
        let mut found = Vec::new();
        let mut open = vec![(String::from("/"), self.root())];
        while let Some((path, index)) = open.pop() {
            if found.len() == most {
                break;
            }
            let node = self.node(index);
            if let InodeBody::Directory(directory) = &node.body {
                let base = if path == "/" { "" } else { &path };
                let entries: Vec<_> = directory.entries.iter().collect();
                let inside = entries.iter().rev().map(|(name, entry)| (format!("{base}/{name}"), entry.node));
                open.extend(inside);
            }
            found.push((path, node.stat()));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DiskLimits, InodeKind};
    use super::*;

    #[test]
    fn all_names_come_in_order_up_to_the_bound() {
        let mut disk = Disk::new(DiskLimits { bytes: 100, nodes: 100 }, 0);
        let root = disk.open_root(true);
        for path in ["b", "a", "a/x"] {
            disk.create_directory_at(&root, path, 0).expect("it is free");
        }
        disk.symlink_at(&root, "a", "link", 0).expect("it is free");
        let paths = |most| disk.all(most).into_iter().map(|(path, _)| path).collect::<Vec<_>>();
        assert_eq!(paths(99), ["/", "/a", "/a/x", "/b", "/link", "/tmp"]);
        assert_eq!(paths(2), ["/", "/a"]);
        assert_eq!(disk.all(99)[4].1.kind, InodeKind::Link);
    }
}
