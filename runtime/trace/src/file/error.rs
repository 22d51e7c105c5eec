//! Why a file is not read as a trace, or a recording not written as one: what, where, expected, found.
//!
//! Names and texts that come from the file are escaped and cut before they stand in a message, so that
//! a hostile trace cannot write to the terminal.

use super::VERSION;
use crate::Digest;

/// Longest text out of a file that a message repeats, in bytes; the rest is cut.
const QUOTED_BYTES_MAX: usize = 120;

/// A trace could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// Something else than a trace.
    #[error("not a Fozzy trace: expected a file that `fozzy run --record` wrote, found {found}")]
    NotATrace {
        /// What it seems to be.
        found: String,
    },
    /// A JSON trace of the first Fozzy.
    #[error(
        "a trace of the first Fozzy (JSON, version {}): it holds the steps of a scenario but no program; `fozzy trace migrate` runs \
         these steps, and writes the run as a trace of this version",
        version.map_or_else(|| "unknown".to_owned(), |v| v.to_string())
    )]
    Original {
        /// Its version, 1 to 4.
        version: Option<u32>,
    },
    /// Written by a later Fozzy.
    #[error(
        "version {version} is newer than this fozzy reads ({VERSION}): update fozzy, or replay it with the version that recorded it"
    )]
    Newer {
        /// The version in the manifest.
        version: u64,
    },
    /// A version that no Fozzy ever wrote in this container.
    #[error("version {version} was never written as a zip: expected {VERSION}; the file was made by something else")]
    NeverWritten {
        /// The version in the manifest.
        version: u64,
    },
    /// The file, or what it claims to unpack to, is past a bound.
    #[error("{what} is too large for a trace: {found} {unit}, at most {max}")]
    TooLarge {
        /// The file or entry.
        what: String,
        /// Its size.
        found: u64,
        /// The bound.
        max: u64,
        /// Of both.
        unit: &'static str,
    },
    /// A trace that does not end with its checksum.
    #[error(
        "the trace does not end with its checksum: it was cut short ({bytes} bytes are here), or rewritten by another tool; copy it again from where it was recorded"
    )]
    ChecksumMissing {
        /// Length of the file.
        bytes: u64,
    },
    /// A trace whose bytes are not those that were written.
    #[error(
        "the trace is damaged: its checksum says {recorded}, its bytes give {computed}; copy it again from where it was recorded"
    )]
    ChecksumWrong {
        /// The digits at the end of the file, escaped when they are not digits.
        recorded: String,
        /// SHA-256 of all bytes before them.
        computed: Digest,
    },
    /// The zip is not the plain one that we write.
    #[error("malformed trace: byte {at}: expected {expected}, found {found}")]
    Structure {
        /// Offset in the file.
        at: u64,
        /// What stands there in every trace.
        expected: String,
        /// What stands there in this one.
        found: String,
    },
    /// An entry that no trace has.
    #[error("malformed trace: unknown entry `{name}`{why}")]
    UnknownEntry {
        /// Its name, escaped.
        name: String,
        /// What is special about the name, as the end of a sentence; may be empty.
        why: &'static str,
    },
    /// Two entries of one name.
    #[error("malformed trace: entry `{name}` stands in it twice")]
    DuplicateEntry {
        /// Its name.
        name: String,
    },
    /// An entry that every trace has, or that this one's plan or observations name.
    #[error("malformed trace: entry `{name}` is missing")]
    MissingEntry {
        /// Its name.
        name: String,
    },
    /// An entry that is not what the rest of the trace says.
    #[error("malformed trace: entry `{name}`: expected {expected}, found {found}")]
    Entry {
        /// Its name, with the line where there are lines.
        name: String,
        /// What the trace or the format says.
        expected: String,
        /// What it is.
        found: String,
    },
    /// An entry that is not the JSON it should be.
    #[error("malformed trace: entry `{name}`: at `{key}`: {problem}")]
    Json {
        /// Its name, with the line where there are lines.
        name: String,
        /// The key, as a path from the root of the document.
        key: String,
        /// What is wrong there.
        problem: String,
    },
}

/// Text out of a file, made safe for a terminal.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::new();
    for character in text.chars() {
        if quoted.len() >= QUOTED_BYTES_MAX {
            quoted.push('…');
            break;
        }
        match character {
            ' '..='~' => quoted.push(character),
            _ => quoted.extend(character.escape_default()),
        }
    }
    quoted
}

/// Bytes out of a file, made safe for a terminal.
pub(super) fn quote_bytes(bytes: &[u8]) -> String {
    quote(&String::from_utf8_lossy(&bytes[..bytes.len().min(2 * QUOTED_BYTES_MAX)]))
}
