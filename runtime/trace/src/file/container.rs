//! The zip: stored entries only, written in one way and read in that way only.
//!
//! ```text
//! local header, data │ local header, data │ … │ directory record … │ end record, comment
//! 0 ─────────────────┴──── no gap ────────┴───┴── no gap ──────────┴── end of file
//! ```
//!
//! Both directions are ours, although a zip crate is at hand (the tests read our files with it): a general
//! reader accepts prefixes, gaps, duplicates and disagreeing headers, each a way to show two readers two
//! different traces; a general writer may change its bytes with the next version.
//!
//! Invariant: reading builds the header that we would have written for each entry, and compares.
//! Not here: what the entries mean, the checksum's digits.

use super::error::{TraceError, quote_bytes};
use super::{ENTRIES_MAX, seal};
use std::collections::BTreeSet;

const LOCAL_SIGNATURE: u32 = 0x0403_4B50;
const DIRECTORY_SIGNATURE: u32 = 0x0201_4B50;
const END_SIGNATURE: u32 = 0x0605_4B50;
const LOCAL_BYTES: usize = 30;
const DIRECTORY_BYTES: usize = 46;
const END_BYTES: usize = 22;
/// Version 1.0 of the format unpacks it: stored files, nothing else.
const VERSION_NEEDED: u16 = 10;
/// Written on Unix (3), by version 3.0 of the format: makes the mode count.
const VERSION_MADE_BY: u16 = 3 << 8 | 30;
/// 1980-01-01 in the format's bits, the earliest date it has.
const DATE: u16 = 1 << 5 | 1;
/// A regular file, `rw-r--r--`.
const MODE: u32 = 0o100_644 << 16;

/// One entry of a file that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContainerEntry<'a> {
    /// Its name: printable ASCII without tricks.
    pub(super) name: &'a str,
    /// Its bytes, as they stand in the file.
    pub(super) bytes: &'a [u8],
}

/// What the headers say of one entry.
struct Header<'a> {
    name: &'a [u8],
    crc: u32,
    size: u32,
    offset: u32,
}

impl Header<'_> {
    fn common(&self, out: &mut Vec<u8>) {
        let (flags, method, time, extra): (u16, u16, u16, u16) = (0, 0, 0, 0);
        for field in [VERSION_NEEDED, flags, method, time, DATE] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        for field in [self.crc, self.size, self.size] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        for field in [self.name.len() as u16, extra] {
            out.extend_from_slice(&field.to_le_bytes());
        }
    }

    fn local(&self) -> Vec<u8> {
        let mut out = LOCAL_SIGNATURE.to_le_bytes().to_vec();
        self.common(&mut out);
        out.extend_from_slice(self.name);
        out
    }

    fn directory(&self) -> Vec<u8> {
        let mut out = DIRECTORY_SIGNATURE.to_le_bytes().to_vec();
        out.extend_from_slice(&VERSION_MADE_BY.to_le_bytes());
        self.common(&mut out);
        let (comment, disk, internal): (u16, u16, u16) = (0, 0, 0);
        for field in [comment, disk, internal] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        for field in [MODE, self.offset] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        out.extend_from_slice(self.name);
        out
    }
}

/// The end record with the comment, up to the checksum's digits.
fn end_record(count: u16, directory_bytes: u32, directory_at: u32) -> Vec<u8> {
    let mut out = END_SIGNATURE.to_le_bytes().to_vec();
    let (disk, directory_disk): (u16, u16) = (0, 0);
    for field in [disk, directory_disk, count, count] {
        out.extend_from_slice(&field.to_le_bytes());
    }
    for field in [directory_bytes, directory_at] {
        out.extend_from_slice(&field.to_le_bytes());
    }
    out.extend_from_slice(&(seal::SEAL_BYTES as u16).to_le_bytes());
    out.extend_from_slice(seal::MARKER);
    out
}

/// Length of the file that [`write`] makes of entries with these name and data lengths.
pub(super) fn length(entries: impl Iterator<Item = (usize, usize)>) -> u64 {
    let of_entry = |(name, data): (usize, usize)| (LOCAL_BYTES + DIRECTORY_BYTES + 2 * name + data) as u64;
    entries.map(of_entry).sum::<u64>() + (END_BYTES + seal::SEAL_BYTES) as u64
}

/// Writes the entries in this order, up to the checksum's digits. The caller has checked the bounds.
pub(super) fn write(entries: &[(String, Vec<u8>)]) -> Vec<u8> {
    assert!(entries.len() <= ENTRIES_MAX, "the caller counts the entries");
    let mut out = Vec::with_capacity(length(entries.iter().map(|(name, data)| (name.len(), data.len()))) as usize);
    let mut directory = Vec::new();
    for (name, data) in entries {
        let fit = |n: usize| u32::try_from(n).expect("a trace is smaller than a zip can be");
        let (crc, size, offset) = (crc32fast::hash(data), fit(data.len()), fit(out.len()));
        let header = Header { name: name.as_bytes(), crc, size, offset };
        out.extend_from_slice(&header.local());
        out.extend_from_slice(data);
        directory.extend_from_slice(&header.directory());
    }
    let directory_at = out.len() as u32;
    out.extend_from_slice(&directory);
    out.extend_from_slice(&end_record(entries.len() as u16, directory.len() as u32, directory_at));
    out
}

/// The data of the first entry when it is a stored one of this name, whatever the rest of the file is:
/// so the version is known before anything of that version is asked.
pub(super) fn first<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let stored = u32_at(bytes, 0)? == LOCAL_SIGNATURE && u16_at(bytes, 8)? == 0;
    if !stored || first_name(bytes)? != name.as_bytes() {
        return None;
    }
    let size = u32_at(bytes, 18)? as usize;
    let data_at = LOCAL_BYTES + name.len() + usize::from(u16_at(bytes, 28)?);
    bytes.get(data_at..)?.get(..size)
}

/// The name of the first entry of any zip.
pub(super) fn first_name(bytes: &[u8]) -> Option<&[u8]> {
    let len = usize::from(u16_at(bytes, 26)?);
    bytes.get(LOCAL_BYTES..)?.get(..len)
}

/// Reads a zip of ours that ends with a checksum, and refuses every other.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<ContainerEntry<'_>>, TraceError> {
    let structure = |at: usize, expected: &str, found: String| TraceError::Structure {
        at: at as u64,
        expected: expected.to_owned(),
        found,
    };
    let end = bytes.len().saturating_sub(END_BYTES + seal::SEAL_BYTES);
    let fields = (u16_at(bytes, end + 10), u32_at(bytes, end + 12), u32_at(bytes, end + 16));
    let (Some(count), Some(directory_bytes), Some(directory_at)) = fields else {
        return Err(structure(end, "the zip's end record", "the end of the file".to_owned()));
    };
    if bytes[end..].get(..END_BYTES + seal::MARKER.len())
        != Some(end_record(count, directory_bytes, directory_at).as_slice())
    {
        let found = "another one (comment, disk or entry count differs)".to_owned();
        return Err(structure(end, "the end record of a plain zip", found));
    }
    if usize::from(count) > ENTRIES_MAX {
        return Err(structure(end + 10, "a zip without the 64-bit extension", format!("{count} entries")));
    }
    // Sizes of 0xFFFFFFFF announce the 64-bit extension; here they are just too large.
    if u64::from(directory_at) + u64::from(directory_bytes) != end as u64 {
        let found = format!("{directory_bytes} bytes at {directory_at}");
        return Err(structure(end + 12, &format!("a directory that ends at {end}"), found));
    }

    let (mut at, mut data_at) = (directory_at as usize, 0usize);
    let (mut entries, mut names) = (Vec::new(), BTreeSet::new());
    for _ in 0..count {
        let record = &bytes[at..end];
        let Some(header) = directory_record(record, data_at) else {
            return Err(structure(at, "a directory record", "another thing, or the directory's end".to_owned()));
        };
        let name = plain_name(header.name)?;
        if !names.insert(name) {
            return Err(TraceError::DuplicateEntry { name: name.to_owned() });
        }
        plain_record(record, name)?;
        let expected = header.directory();
        if !record.starts_with(&expected) {
            let found = "fields that differ (times, mode, sizes or offset)".to_owned();
            return Err(structure(at, &format!("the plain directory record of `{name}`"), found));
        }
        at += expected.len();
        let local = header.local();
        let before_directory = &bytes[data_at..directory_at as usize];
        if !before_directory.starts_with(&local) {
            let found = "a header that differs from the directory's, or other bytes".to_owned();
            return Err(structure(data_at, &format!("the local header of `{name}`"), found));
        }
        let Some(data) = before_directory[local.len()..].get(..header.size as usize) else {
            let found = "the directory".to_owned();
            return Err(structure(data_at + local.len(), &format!("{} bytes of `{name}`", header.size), found));
        };
        let crc = crc32fast::hash(data);
        if crc != header.crc {
            let (expected, found) = (format!("CRC-32 {:08x}", header.crc), format!("{crc:08x}"));
            return Err(TraceError::Entry { name: name.to_owned(), expected, found });
        }
        data_at += local.len() + data.len();
        entries.push(ContainerEntry { name, bytes: data });
    }
    if data_at != directory_at as usize {
        return Err(structure(data_at, "the directory right after the last entry", "other bytes".to_owned()));
    }
    if at != end {
        return Err(structure(at, "the end record right after the directory", "other bytes".to_owned()));
    }
    Ok(entries)
}

/// What a directory record says, if it is one; the offset is the one that it should say.
fn directory_record(record: &[u8], offset: usize) -> Option<Header<'_>> {
    let name_bytes = usize::from(u16_at(record, 28)?);
    if u32_at(record, 0)? != DIRECTORY_SIGNATURE {
        return None;
    }
    Some(Header {
        name: record.get(DIRECTORY_BYTES..)?.get(..name_bytes)?,
        crc: u32_at(record, 16)?,
        size: u32_at(record, 20)?,
        offset: offset as u32,
    })
}

/// Names what makes a directory record not plain, where there is a word for it.
fn plain_record(record: &[u8], name: &str) -> Result<(), TraceError> {
    let field = |at| u16_at(record, at).unwrap_or(0);
    let (flags, method, extra, comment) = (field(8), field(10), field(30), field(32));
    let refuse = |expected: &str, found: String| {
        Err(TraceError::Entry { name: name.to_owned(), expected: expected.to_owned(), found })
    };
    if flags & 1 != 0 {
        return refuse("plain bytes", "encryption".to_owned());
    }
    if method != 0 {
        let known = if method == 8 { " (deflate)" } else { "" };
        return refuse("zip method 0 (stored)", format!("method {method}{known}"));
    }
    if flags != 0 {
        return refuse("zip flags 0", format!("{flags:#06x}"));
    }
    if extra != 0 || comment != 0 {
        return refuse("no extra field and no comment", format!("{extra} and {comment} bytes"));
    }
    Ok(())
}

/// The name, when it is one that could stand in a trace.
fn plain_name(name: &[u8]) -> Result<&str, TraceError> {
    let refuse = |why| Err(TraceError::UnknownEntry { name: quote_bytes(name), why });
    let Ok(text) = std::str::from_utf8(name) else { return refuse(": its name is not text") };
    if text.starts_with('/') {
        return refuse(": its name is an absolute path");
    }
    if text.contains('\\') || text.contains(':') {
        return refuse(": its name has a backslash or a colon");
    }
    if text.split('/').any(|part| part == "..") {
        return refuse(": its name leads out of the folder");
    }
    if text.ends_with('/') {
        return refuse(": it is a directory");
    }
    if !text.bytes().all(|b| b.is_ascii_graphic()) {
        return refuse(": its name has blanks, control characters or letters outside ASCII");
    }
    Ok(text)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..)?.first_chunk().copied()?))
}
