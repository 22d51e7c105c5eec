//! What `fozzy trace verify` says of a file.
//!
//! Invariant: `ok` exactly when [`Recording::read`] succeeds.

use super::{Recording, TRACE_BYTES_MAX, TraceError, VERSION, container, manifest, seal};

/// The result of looking at every byte of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// Whether it is a whole and sound trace.
    pub ok: bool,
    /// Its version, if it can be read; also that of damaged files.
    pub version: Option<u32>,
    /// Whether it ends with a checksum.
    pub checksum_present: bool,
    /// Whether the checksum is that of its bytes.
    pub checksum_valid: bool,
    /// Warnings. Strict mode treats them as errors.
    pub warnings: Vec<String>,
    /// Why it is not ok.
    pub error: Option<TraceError>,
}

/// Reads a file in full and says what is right and wrong about it.
#[must_use]
pub fn verify(bytes: &[u8]) -> Verification {
    let error = Recording::read(bytes).err();
    let small = bytes.len() as u64 <= TRACE_BYTES_MAX;
    let checksum_present = small && seal::present(bytes);
    let checksum_valid = match &error {
        None => true,
        Some(TraceError::ChecksumWrong { .. }) => false,
        Some(_) => checksum_present,
    };
    let version = match &error {
        None => Some(VERSION),
        Some(TraceError::Original { version }) => *version,
        Some(_) => probed_version(bytes),
    };
    Verification { ok: error.is_none(), version, checksum_present, checksum_valid, warnings: Vec::new(), error }
}

fn probed_version(bytes: &[u8]) -> Option<u32> {
    let content = container::first(bytes, manifest::MANIFEST)?;
    let within = content.len() as u64 <= manifest::bytes_max(manifest::MANIFEST);
    let probe: manifest::VersionProbe = within.then(|| manifest::parse(manifest::MANIFEST, content).ok()).flatten()?;
    (probe.format == manifest::FORMAT).then(|| u32::try_from(probe.version).ok()).flatten()
}
