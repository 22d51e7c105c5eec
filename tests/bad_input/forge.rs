//! Takes a trace apart with another zip reader, and puts a changed one together whose digests and checksum are right: what
//! somebody could send who knows the format.
//!
//! ```text
//! trace ─unpack─▶ [(name, bytes)] ─change─▶ rows of the manifest made right ─pack─▶ hostile trace
//! ```

use fozzy_trace::Digest;
use serde_json::{Value, json};
use std::io::{Cursor, Read};

/// Names and stored bytes, in the order of the file.
pub(crate) type Entries = Vec<(String, Vec<u8>)>;

pub(crate) const MANIFEST: &str = "manifest.json";

/// The entries of a trace.
pub(crate) fn unpack(trace: &[u8]) -> Entries {
    let mut zip = zip::ZipArchive::new(Cursor::new(trace)).expect("any zip reader opens a trace");
    (0..zip.len())
        .map(|index| {
            let mut entry = zip.by_index(index).expect("stored");
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("stored");
            (entry.name().expect("plain names").into_owned(), bytes)
        })
        .collect()
}

/// The stored bytes of one entry.
pub(crate) fn entry<'a>(entries: &'a mut Entries, name: &str) -> &'a mut Vec<u8> {
    &mut entries.iter_mut().find(|(found, _)| found == name).expect("an entry of that name").1
}

/// Changes the manifest.
pub(crate) fn manifest(entries: &mut Entries, change: impl FnOnce(&mut Value)) {
    let bytes = entry(entries, MANIFEST);
    let mut document: Value = serde_json::from_slice(bytes).expect("it is JSON");
    change(&mut document);
    *bytes = format!("{document:#}\n").into_bytes();
}

/// The row of one entry in the manifest.
pub(crate) fn row<'a>(manifest: &'a mut Value, name: &str) -> &'a mut Value {
    let rows = manifest["entries"].as_array_mut().expect("rows");
    rows.iter_mut().find(|row| row["name"] == name).expect("a row of that name")
}

/// A trace of these entries; sizes and digests in the manifest are made right first.
pub(crate) fn pack(mut entries: Entries) -> Vec<u8> {
    let stored = entries.clone();
    manifest(&mut entries, |document| {
        for row in document["entries"].as_array_mut().into_iter().flatten() {
            if let Some((_, bytes)) = stored.iter().find(|(name, _)| *name == row["name"]) {
                row["storedBytes"] = json!(bytes.len());
                row["sha256"] = json!(Digest::of(bytes));
            }
        }
    });
    seal(zip(&entries))
}

/// A plain zip, stored, dated 1980, up to the marker of the checksum.
pub(crate) fn zip(entries: &Entries) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in entries {
        let (size, offset) = (bytes.len() as u32, out.len() as u32);
        let mut common = Vec::new();
        // Version needed, flags, method, time, date.
        [10_u16, 0, 0, 0, 0x21].iter().for_each(|field| common.extend(field.to_le_bytes()));
        [crc32(bytes), size, size].iter().for_each(|field| common.extend(field.to_le_bytes()));
        [name.len() as u16, 0].iter().for_each(|field| common.extend(field.to_le_bytes()));
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(bytes);
        directory.extend(b"PK\x01\x02");
        directory.extend((3_u16 << 8 | 30).to_le_bytes());
        directory.extend(&common);
        directory.extend([0; 6]);
        directory.extend((0o100_644_u32 << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (at, count) = (out.len() as u32, entries.len() as u16);
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    [count, count].iter().for_each(|field| out.extend(field.to_le_bytes()));
    [directory.len() as u32, at].iter().for_each(|field| out.extend(field.to_le_bytes()));
    out.extend(77_u16.to_le_bytes());
    out.extend(b"fozzy-sha256:");
    out
}

/// Appends the checksum.
pub(crate) fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let digest = Digest::of(&bytes);
    bytes.extend(digest.to_string().as_bytes());
    bytes
}

/// The zip's own checksum, bit by bit: independent of the one under test, and short.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
    };
    !bytes.iter().fold(u32::MAX, step)
}
