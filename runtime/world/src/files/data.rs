//! Reading, writing and resizing an open file.
//!
//! Example: `write(&file, 4090, b"0123456789", now)` touches two chunks and answers 10.
//!
//! Invariants: what a write answered is what a read sees; a full disk takes as much as fits and says
//! how much, and only then refuses; the usage of the disk is the sum over its files.
//! Not here: streams (they call these with their own position), what of it survives a crash (`durable.rs`).

use super::content::{CHUNK_BYTES, ContentUsage};
use super::node::{InodeBody, InodeIndex};
use super::open::FileDescriptor;
use super::{Disk, Errno};

/// Largest size of a file, in bytes (16 TiB, as on ext4); beyond it is `file-too-large`. Holes cost nothing,
/// so this bounds arithmetic and not memory.
pub const FILE_BYTES_MAX: u64 = (1 << 44) - CHUNK_BYTES;
/// Most bytes that one read answers, as in wasmtime-wasi: a guest that asks for more asks again.
pub const READ_BYTES_MAX: u64 = 64 * 1024;
/// Largest offset that the interface can mean: file positions are signed. Beyond it is `invalid`.
const OFFSET_MAX: u64 = i64::MAX as u64;

impl Disk {
    /// Reads up to `length` bytes from `offset` on; the flag says that there were none.
    ///
    /// # Errors
    /// `bad-descriptor` for a directory or a file not opened for reading; `invalid` for an offset beyond
    /// what positions can be.
    pub fn read(&self, file: &FileDescriptor, offset: u64, length: u64) -> Result<(Vec<u8>, bool), Errno> {
        let node = file.need_file()?;
        let length = length.min(READ_BYTES_MAX);
        check_offset(offset, length)?;
        if !file.flags.read {
            return Err(Errno::BadDescriptor);
        }
        let InodeBody::File(content) = &self.node(node).body else { unreachable!("need_file") };
        let there = content.size().saturating_sub(offset).min(length);
        let mut bytes = vec![0; there as usize];
        content.read(offset, &mut bytes);
        Ok((bytes, there == 0))
    }

    /// Writes `bytes` at `offset` and answers how many of them; fewer only when the disk is full or the
    /// file as large as files can be.
    ///
    /// # Errors
    /// `not-permitted` for a read-only descriptor; `bad-descriptor` for a directory or a file not opened
    /// for writing; `invalid` and `file-too-large` for offsets; `insufficient-space` when nothing fits.
    pub fn write(&mut self, file: &FileDescriptor, offset: u64, bytes: &[u8], now_ns: u64) -> Result<u64, Errno> {
        let node = file.need_file()?;
        file.need_writable()?;
        check_offset(offset, bytes.len() as u64)?;
        if !file.flags.write {
            return Err(Errno::BadDescriptor);
        }
        self.put(node, offset, bytes, now_ns)
    }

    /// Writes `bytes` at the end, and answers how many of them, as [`Disk::write`] does.
    ///
    /// # Errors
    /// As [`Disk::write`].
    pub fn append(&mut self, file: &FileDescriptor, bytes: &[u8], now_ns: u64) -> Result<u64, Errno> {
        let end = self.node(file.need_file()?).stat().size;
        self.write(file, end, bytes, now_ns)
    }

    /// Cuts the file, or extends it by zeros.
    ///
    /// # Errors
    /// `bad-descriptor` for a directory; `not-permitted` for a read-only descriptor; `invalid` for a file
    /// not opened for writing or an impossible size; `file-too-large` beyond [`FILE_BYTES_MAX`].
    pub fn set_size(&mut self, file: &FileDescriptor, size: u64, now_ns: u64) -> Result<(), Errno> {
        let node = file.need_file()?;
        file.need_writable()?;
        if size > OFFSET_MAX || !file.flags.write {
            return Err(Errno::Invalid);
        }
        if size > FILE_BYTES_MAX {
            return Err(Errno::FileTooLarge);
        }
        self.resize(node, size, now_ns);
        Ok(())
    }

    /// Whether a stream for reading can be had.
    ///
    /// # Errors
    /// `is-directory`, in the words of wasmtime-wasi. A file that was not opened for reading has a stream
    /// whose first read fails.
    pub fn check_read_stream(&self, file: &FileDescriptor) -> Result<(), Errno> {
        file.need_file().map(drop).map_err(|_| Errno::IsDirectory)
    }

    /// Whether a stream for writing or appending can be had.
    ///
    /// # Errors
    /// `bad-descriptor` for a directory; `not-permitted` for a read-only descriptor. A file that was not
    /// opened for writing has a stream whose first write fails.
    pub fn check_write_stream(&self, file: &FileDescriptor) -> Result<(), Errno> {
        file.need_file()?;
        file.need_writable()
    }

    /// Advice about future accesses: there is nothing to prepare.
    ///
    /// # Errors
    /// `bad-descriptor` for a directory; `invalid` for an impossible length.
    pub fn advise(&self, file: &FileDescriptor, _offset: u64, length: u64) -> Result<(), Errno> {
        file.need_file()?;
        if length > OFFSET_MAX { Err(Errno::Invalid) } else { Ok(()) }
    }

    fn put(&mut self, node: InodeIndex, offset: u64, bytes: &[u8], now_ns: u64) -> Result<u64, Errno> {
        if bytes.is_empty() {
            return Ok(0);
        }
        if offset >= FILE_BYTES_MAX {
            return Err(Errno::FileTooLarge);
        }
        let length = (FILE_BYTES_MAX - offset).min(bytes.len() as u64) as usize;
        if self.durability.is_some() {
            self.before_write(node, length as u64);
        }
        let room = self.room();
        let at = self.node_mut(node);
        let InodeBody::File(content) = &mut at.body else { unreachable!("need_file") };
        let (mut added, mut done) = (ContentUsage::default(), 0);
        while done < length {
            let position = offset + done as u64;
            let step = ((CHUNK_BYTES - position % CHUNK_BYTES) as usize).min(length - done);
            let growth = content.growth(position, step as u64);
            let left = room.bytes - added.bytes;
            if growth.chunks > room.chunks - added.chunks {
                break;
            }
            // A full disk takes the beginning of the step: what of it grows is at its end.
            let step = step.saturating_sub(growth.bytes.saturating_sub(left) as usize);
            if step == 0 {
                break;
            }
            let grown = content.write(position, &bytes[done..done + step]);
            added.bytes += grown.bytes;
            added.chunks += grown.chunks;
            done += step;
        }
        if done == 0 {
            self.refused.get_or_insert(self.usage.bytes + length as u64);
            return Err(Errno::InsufficientSpace);
        }
        at.touch(now_ns);
        self.usage.bytes += added.bytes;
        self.usage.chunks += added.chunks;
        if self.durability.is_some() {
            self.log_write(node, offset, &bytes[..done]);
        }
        Ok(done as u64)
    }

    pub(super) fn resize(&mut self, node: InodeIndex, size: u64, now_ns: u64) {
        if self.durability.is_some() {
            self.log_resize(node, size);
        }
        let at = self.node_mut(node);
        let InodeBody::File(content) = &mut at.body else { unreachable!("only files have a size to set") };
        let before = content.usage();
        content.set_size(size);
        let after = content.usage();
        at.touch(now_ns);
        self.usage.bytes -= before.bytes - after.bytes;
        self.usage.chunks -= before.chunks - after.chunks;
    }
}

fn check_offset(offset: u64, length: u64) -> Result<(), Errno> {
    match offset.checked_add(length) {
        Some(end) if end <= OFFSET_MAX => Ok(()),
        _ => Err(Errno::Invalid),
    }
}
