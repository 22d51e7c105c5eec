//! What stands on a disk, with its bytes: for who judges a run from outside.
//!
//! Invariant: looking changes nothing; paths are sorted as their directories list them; bounded by the caller.

use super::Disk;
use super::node::InodeBody;
use std::sync::Arc;

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskContent {
    /// A directory.
    Directory,
    /// A file with these bytes.
    File(Vec<u8>),
    /// A symbolic link to this path.
    Link(Arc<str>),
}

impl Disk {
    /// Each name below the root, without the slash before it, with what stands there; `None` when there are more names, or more bytes of
    /// paths and files, than these.
    #[must_use]
    pub fn contents(&self, names_max: usize, bytes_max: u64) -> Option<Vec<(String, DiskContent)>> {
        let (mut found, mut left) = (Vec::new(), bytes_max);
        let mut open = vec![(String::new(), self.root())];
        while let Some((path, index)) = open.pop() {
            let content = match &self.node(index).body {
                InodeBody::Directory(directory) => {
                    let base = if path.is_empty() { String::new() } else { format!("{path}/") };
                    let entries: Vec<_> = directory.entries.iter().collect();
                    let paths = entries.iter().map(|(name, _)| (base.len() + name.len()) as u64).sum();
                    left = left.checked_sub(paths)?;
                    let inside = entries.iter().rev().map(|(name, entry)| (format!("{base}{name}"), entry.node));
                    open.extend(inside);
                    DiskContent::Directory
                }
                InodeBody::File(content) => {
                    left = left.checked_sub(content.size())?;
                    let mut bytes = vec![0; content.size() as usize];
                    content.read(0, &mut bytes);
                    DiskContent::File(bytes)
                }
                InodeBody::Link(text) => DiskContent::Link(Arc::from(&**text)),
            };
            if !path.is_empty() {
                if found.len() == names_max {
                    return None;
                }
                found.push((path, content));
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::DiskLimits;
    use super::*;

    #[test]
    fn everything_on_a_disk_is_shown_within_the_bounds() {
        let mut disk = Disk::new(DiskLimits { bytes: 100, nodes: 100 }, 0);
        let root = disk.open_root(true);
        disk.create_directory_at(&root, "a", 0).expect("it is free");
        disk.symlink_at(&root, "a", "link", 0).expect("it is free");
        let all = disk.contents(9, 99).expect("there are three");
        let directory = |path: &str| (path.to_owned(), DiskContent::Directory);
        assert_eq!(all, [directory("a"), ("link".to_owned(), DiskContent::Link("a".into())), directory("tmp")]);
        assert_eq!(disk.contents(2, 99), None);
    }

    #[test]
    fn deep_names_are_bytes_as_files_are() {
        let mut disk = Disk::new(DiskLimits { bytes: 10_000, nodes: 100 }, 0);
        let root = disk.open_root(true);
        let mut path = "d".repeat(100);
        for _ in 0..3 {
            disk.create_directory_at(&root, &path, 0).expect("it is free");
            path += "/e";
        }
        // Three names in the root's folder and below it: `tmp`, and paths of 100, 102 and 104 bytes.
        assert_eq!(disk.contents(9, 309).expect("they fit").len(), 4);
        assert_eq!(disk.contents(9, 308), None);
    }
}
