//! The log of a node on its disk: entries, and what it has voted.
//!
//! ```text
//! record   length (u32) │ checksum (u32) │ kind (u8) │ an entry or a hard state, as protobuf
//! ```
//!
//! Records are appended only: an entry replaces those of its index and above. What a power loss has torn off at the end was never
//! synchronised, and is left out. Invariant: what [`DiskLog::append`] has returned from is there after a power loss, unless the node is told to
//! forget that.

use protobuf::Message;
use raft::eraftpb::{Entry, HardState};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};

const PATH: &str = "/raft.log";
const ENTRY: u8 = 1;
const STATE: u8 = 2;

/// What was read when the node began.
#[derive(Default)]
pub(crate) struct RestoredLog {
    pub(crate) entries: Vec<Entry>,
    pub(crate) state: HardState,
}

/// The log, open at its end.
pub(crate) struct DiskLog {
    file: File,
    syncs: bool,
}

impl DiskLog {
    /// Opens the log, and reads what is in it.
    pub(crate) fn open(syncs: bool) -> io::Result<(DiskLog, RestoredLog)> {
        let mut bytes = Vec::new();
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(PATH)?;
        file.read_to_end(&mut bytes)?;
        let mut restored = RestoredLog::default();
        let mut whole = 0;
        while let Some((kind, body)) = record(&bytes[whole..]) {
            match kind {
                ENTRY => {
                    let entry = Entry::parse_from_bytes(body).map_err(io::Error::other)?;
                    restored.entries.retain(|known| known.index < entry.index);
                    restored.entries.push(entry);
                }
                _ => restored.state = HardState::parse_from_bytes(body).map_err(io::Error::other)?,
            }
            whole += 9 + body.len();
        }
        file.set_len(whole as u64)?;
        io::Seek::seek(&mut file, io::SeekFrom::End(0))?;
        // A node that was killed may have written what it has not synchronised, and relies on it from here on.
        if syncs {
            file.sync_all()?;
        }
        Ok((DiskLog { file, syncs }, restored))
    }

    /// Appends entries and a state, and waits until they are on the disk.
    pub(crate) fn append(&mut self, entries: &[Entry], state: Option<&HardState>) -> io::Result<()> {
        let mut bytes = Vec::new();
        for entry in entries {
            write_record(ENTRY, &entry.write_to_bytes().map_err(io::Error::other)?, &mut bytes);
        }
        if let Some(state) = state {
            write_record(STATE, &state.write_to_bytes().map_err(io::Error::other)?, &mut bytes);
        }
        if bytes.is_empty() {
            return Ok(());
        }
        self.file.write_all(&bytes)?;
        if self.syncs { self.file.sync_all() } else { Ok(()) }
    }
}

fn write_record(kind: u8, body: &[u8], bytes: &mut Vec<u8>) {
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend(checksum(kind, body).to_le_bytes());
    bytes.push(kind);
    bytes.extend(body);
}

/// The first record of these bytes; none where it is torn.
fn record(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let (length, sum, kind) = (word(0)? as usize, word(4)?, *bytes.get(8)?);
    let body = bytes.get(9..9 + length)?;
    (checksum(kind, body) == sum).then_some((kind, body))
}

/// FNV-1a.
fn checksum(kind: u8, body: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    body.iter().fold(step(0x811C_9DC5, &kind), step)
}
