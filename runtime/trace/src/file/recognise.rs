//! What a file without our checksum is, in words for the person who gave it.
//!
//! Not here: deciding whether a file is a trace. Only its checksum and its manifest do.

use super::error::{TraceError, quote, quote_bytes};
use super::{container, manifest};
use serde::Deserialize;

/// The format's name in the first Fozzy's JSON traces.
const ORIGINAL: &[u8] = b"fozzy-trace";
/// Where that name is looked for: it was written first, and a file may be huge.
const ORIGINAL_WITHIN_BYTES: usize = 1 << 20;

/// The error for a file that does not end with a checksum.
pub(super) fn without_checksum(bytes: &[u8]) -> TraceError {
    let found = match bytes {
        [] => "an empty file".to_owned(),
        [b'P', b'K', 3, 4, ..] => return of_zip(bytes),
        [b'P', b'K', 5, 6, ..] => "an empty zip archive".to_owned(),
        [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => "a WebAssembly core module; `fozzy run` takes it".to_owned(),
        [0, b'a', b's', b'm', _, 0, 1, 0, ..] => "a WebAssembly component; `fozzy run` takes it".to_owned(),
        [0, b'a', b's', b'm', ..] => "WebAssembly of an unknown version".to_owned(),
        _ if bytes.trim_ascii_start().starts_with(b"{") => return of_json(bytes),
        _ => of_other(bytes),
    };
    TraceError::NotATrace { found }
}

fn of_zip(bytes: &[u8]) -> TraceError {
    let cut = TraceError::ChecksumMissing { bytes: bytes.len() as u64 };
    let Some(name) = container::first_name(bytes) else {
        return TraceError::NotATrace { found: format!("the first {} bytes of a zip archive", bytes.len()) };
    };
    if name != manifest::MANIFEST.as_bytes() {
        let found = format!("a zip archive whose first entry is `{}`", quote_bytes(name));
        return TraceError::NotATrace { found };
    }
    // Other zips begin with a `manifest.json` too; one that ends within it is given the benefit of the doubt.
    let Some(content) = container::first(bytes, manifest::MANIFEST) else { return cut };
    match manifest::parse::<manifest::VersionProbe>(manifest::MANIFEST, content) {
        Ok(probe) if probe.format == manifest::FORMAT => cut,
        _ => TraceError::NotATrace { found: "a zip archive with a `manifest.json` that is not ours".to_owned() },
    }
}

fn of_json(bytes: &[u8]) -> TraceError {
    let head = &bytes[..bytes.len().min(ORIGINAL_WITHIN_BYTES)];
    if head.windows(ORIGINAL.len()).any(|window| window == ORIGINAL) {
        #[derive(Deserialize)]
        struct Version {
            version: Option<u32>,
        }
        let version = serde_json::from_slice::<Version>(bytes).ok().and_then(|found| found.version);
        return TraceError::Original { version };
    }
    TraceError::NotATrace { found: "JSON; a scenario (`*.fozzy.json`) is run, not replayed".to_owned() }
}

fn of_other(bytes: &[u8]) -> String {
    let head = &bytes[..bytes.len().min(24)];
    let cut = match std::str::from_utf8(head) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&head[..error.valid_up_to()]).ok(),
        Err(_) => None,
    };
    match cut.filter(|text| !text.chars().any(|c| c.is_control() && !c.is_whitespace())) {
        Some(text) => format!("text that begins with `{}`", quote(text)),
        None => format!("{} bytes that begin with {}", bytes.len(), crate::digest::hex(&head[..head.len().min(8)])),
    }
}
