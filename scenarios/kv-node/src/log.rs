//! The node's file: records one after the other, each synced before anybody hears of it.
//!
//! ```text
//! version u64 │ length u32, key │ length u32, value │ the next record …
//! ```
//!
//! Invariant: after a crash the file is a whole number of records; of one that was being written, nothing is left.

use std::fs::{self, File, OpenOptions};
use std::io::Write;

const LOG: &str = "/log";
const FOLDER: &str = "/";

/// A key with its value, as it stands in the file and in messages.
pub(crate) struct Record {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) version: u64,
}

impl Record {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.version.to_le_bytes().to_vec();
        for text in [&self.key, &self.value] {
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        bytes
    }

    /// The first record of `bytes`, and what follows it; `None` when it is not whole.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Record, &[u8])> {
        let (version, rest) = bytes.split_first_chunk()?;
        let (key, rest) = text(rest)?;
        let (value, rest) = text(rest)?;
        Some((Record { key, value, version: u64::from_le_bytes(*version) }, rest))
    }
}

fn text(bytes: &[u8]) -> Option<(String, &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((String::from_utf8(text.to_vec()).ok()?, rest))
}

pub(crate) struct Log(File);

impl Log {
    /// The log, and what stands in it.
    pub(crate) fn open() -> Result<(Log, Vec<Record>), String> {
        let read = || -> std::io::Result<(File, Vec<u8>)> {
            let bytes = if fs::exists(LOG)? { fs::read(LOG)? } else { Vec::new() };
            let file = OpenOptions::new().append(true).create(true).open(LOG)?;
            // A synced file is gone all the same if its name was not synced.
            File::open(FOLDER)?.sync_all()?;
            Ok((file, bytes))
        };
        let (file, bytes) = read().map_err(refused)?;
        let (mut records, mut rest) = (Vec::new(), &bytes[..]);
        while let Some((record, after)) = Record::read(rest) {
            records.push(record);
            rest = after;
        }
        if !rest.is_empty() {
            // It was being written when the machine went down, and nobody was told of it.
            let whole = (bytes.len() - rest.len()) as u64;
            file.set_len(whole).and_then(|()| file.sync_all()).map_err(refused)?;
        }
        Ok((Log(file), records))
    }

    pub(crate) fn append(&mut self, record: &Record) -> Result<(), String> {
        self.0.write_all(&record.bytes()).and_then(|()| self.0.sync_all()).map_err(refused)
    }
}

fn refused(error: std::io::Error) -> String {
    format!("{LOG}: {error}")
}
