//! Files that are not what was written: damage on the disk itself, as a nemesis does it.
//!
//! ```text
//! sectors   AAAA BBBB CCCC      Zero(1)  AAAA 0000 CCCC      Torn(1)  AAAA BB00 CCCC      Copy(0, 2)  AAAA BBBB AAAA
//! ```
//!
//! Invariants: sizes stay as they are, unless the file is cut; nobody is told.

use super::Disk;
use super::content::FileContent;
use super::node::{InodeBody, InodeIndex};
use crate::glob::matches;
use crate::machine_order::FileDamage;

/// Files that are looked at for one to damage, at most.
const FILES_MAX: usize = 10_000;

/// A file that has bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DamageableFile {
    pub(crate) path: String,
    pub(crate) index: InodeIndex,
    pub(crate) size: u64,
}

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SectorDamage {
    /// The bit of this number is another one.
    Flip(u64),
    /// The sector is zeros.
    Zero(u64),
    /// Its second half is zeros.
    Torn(u64),
    /// The first sector also stands where the second one stood.
    Copy(u64, u64),
    /// So many bytes are left.
    Truncate(u64),
}

impl SectorDamage {
    /// Bytes that a disk writes at once.
    pub(crate) const SECTOR_BYTES: u64 = super::SECTOR_BYTES;
}

impl Disk {
    /// The files that have bytes, in the order of their paths.
    pub(crate) fn files_with_content(&self) -> Vec<DamageableFile> {
        let mut found = Vec::new();
        let mut open = vec![(String::new(), self.root())];
        while let Some((path, index)) = open.pop() {
            if found.len() == FILES_MAX {
                break;
            }
            match &self.node(index).body {
                InodeBody::Directory(directory) => {
                    let entries: Vec<_> = directory.entries.iter().collect();
                    open.extend(entries.iter().rev().map(|(name, entry)| (format!("{path}/{name}"), entry.node)));
                }
                InodeBody::File(content) if content.size() > 0 => {
                    found.push(DamageableFile { path, index, size: content.size() });
                }
                InodeBody::File(_) | InodeBody::Link(_) => {}
            }
        }
        found
    }

    /// Damages a file.
    pub(crate) fn damage(&mut self, file: InodeIndex, damage: SectorDamage) {
        let sector_bytes = SectorDamage::SECTOR_BYTES;
        if let SectorDamage::Truncate(size) = damage {
            return self.resize(file, size, 0);
        }
        let InodeBody::File(content) = &mut self.node_mut(file).body else { return };
        let read = |content: &FileContent, sector: u64| {
            let there = content.size().saturating_sub(sector * sector_bytes).min(sector_bytes);
            let mut bytes = vec![0; there as usize];
            content.read(sector * sector_bytes, &mut bytes);
            bytes
        };
        let (sector, bytes) = match damage {
            SectorDamage::Flip(bit) => {
                let sector = bit / 8 / sector_bytes;
                let mut bytes = read(content, sector);
                bytes[(bit / 8 % sector_bytes) as usize] ^= 1 << (bit % 8);
                (sector, bytes)
            }
            SectorDamage::Zero(sector) => (sector, vec![0; read(content, sector).len()]),
            SectorDamage::Torn(sector) => {
                let mut bytes = read(content, sector);
                let kept = bytes.len() / 2;
                bytes[kept..].fill(0);
                (sector, bytes)
            }
            SectorDamage::Copy(from, to) => {
                let (mut bytes, room) = (read(content, from), read(content, to).len());
                bytes.resize(room, 0);
                (to, bytes)
            }
            SectorDamage::Truncate(_) => unreachable!("it is done above"),
        };
        let grown = content.write(sector * sector_bytes, &bytes);
        self.usage.bytes += grown.bytes;
        self.usage.chunks += grown.chunks;
    }
}

impl Disk {
    /// Damages a file whose path fits a pattern, which one and where as `below` answers; in words, or `None` if there is none.
    pub(crate) fn damage_file(
        &mut self,
        kind: FileDamage,
        pattern: &str,
        below: &mut dyn FnMut(&str, u64) -> u64,
    ) -> Option<String> {
        let mut files = self.files_with_content();
        files.retain(|file| matches(pattern, &file.path));
        if files.is_empty() {
            return None;
        }
        let file = &files[below("file", files.len() as u64) as usize];
        let sectors = file.size.div_ceil(SectorDamage::SECTOR_BYTES);
        let (damage, what) = match kind {
            FileDamage::Truncate => {
                // By halves, so that the last bytes go as often as most of the file.
                let cut = file.size >> below("what remains", 10);
                let left = if cut == file.size { 0 } else { file.size - cut };
                (SectorDamage::Truncate(left), format!("cut to {left} bytes"))
            }
            kind => {
                let sector = below("sector", sectors);
                match kind {
                    FileDamage::Flip => {
                        let bytes = SectorDamage::SECTOR_BYTES.min(file.size - sector * SectorDamage::SECTOR_BYTES);
                        let bit = sector * SectorDamage::SECTOR_BYTES * 8 + below("bit", bytes * 8);
                        (SectorDamage::Flip(bit), format!("bit {} of byte {}", bit % 8, bit / 8))
                    }
                    FileDamage::Torn => (SectorDamage::Torn(sector), format!("sector {sector} is torn")),
                    FileDamage::Misdirect if sectors > 1 => {
                        let other = (sector + 1 + below("other sector", sectors - 1)) % sectors;
                        (
                            SectorDamage::Copy(sector, other),
                            format!("sector {sector} stands in place of sector {other}"),
                        )
                    }
                    _ => (SectorDamage::Zero(sector), format!("sector {sector} is lost")),
                }
            }
        };
        let words = format!("{}: {what}", file.path);
        self.damage(file.index, damage);
        Some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DescriptorFlags, DiskLimits, OpenFlags, PathFlags};
    use super::*;

    fn damaged(damage: SectorDamage) -> Vec<u8> {
        let mut disk = Disk::new(DiskLimits { bytes: 1 << 20, nodes: 100 }, 0);
        let root = disk.open_root(true);
        let create = OpenFlags { create: true, ..OpenFlags::default() };
        let flags = DescriptorFlags { read: true, write: true, ..DescriptorFlags::default() };
        let file = disk.open_at(&root, PathFlags::default(), "log", create, flags, 0).expect("new");
        let bytes: Vec<u8> = [vec![b'a'; 512], vec![b'b'; 512], vec![b'c'; 100]].concat();
        disk.write(&file, 0, &bytes, 0).expect("room");
        let files = disk.files_with_content();
        assert_eq!((files.len(), files[0].path.as_str(), files[0].size), (1, "/log", 1124));
        disk.damage(files[0].index, damage);
        disk.read(&file, 0, 10_000).expect("it is there").0
    }

    /// How often each byte stands there, in order.
    fn runs(bytes: &[u8]) -> String {
        let mut text = String::new();
        for run in bytes.chunk_by(|one, next| one == next) {
            text.push_str(&format!("{}{} ", run.len(), if run[0] == 0 { '0' } else { run[0] as char }));
        }
        text.trim_end().to_owned()
    }

    #[test]
    fn each_damage_changes_its_sector_only() {
        let check = |damage, expected: &str| assert_eq!(runs(&damaged(damage)), expected, "{damage:?}");
        check(SectorDamage::Flip(8 * 512 + 1), "512a 1` 511b 100c");
        check(SectorDamage::Zero(1), "512a 5120 100c");
        check(SectorDamage::Zero(2), "512a 512b 1000");
        check(SectorDamage::Torn(0), "256a 2560 512b 100c");
        check(SectorDamage::Copy(0, 1), "1024a 100c");
        check(SectorDamage::Copy(0, 2), "512a 512b 100a");
        check(SectorDamage::Copy(2, 0), "100c 4120 512b 100c");
        check(SectorDamage::Truncate(600), "512a 88b");
    }
}
