//! The checksum at the end of the file, in the zip's archive comment.
//!
//! ```text
//! … zip … │ fozzy-sha256: │ 64 digits │ end of file
//! └──── SHA-256 of this ──┘
//! ```
//!
//! Invariant: no byte of the file is outside: the digits are compared, everything else is hashed.

use super::error::{TraceError, quote_bytes};
use crate::Digest;

/// What stands before the digits.
pub(super) const MARKER: &[u8] = b"fozzy-sha256:";
/// Digits of a SHA-256.
const DIGITS: usize = 64;
/// Length of the archive comment.
pub(super) const SEAL_BYTES: usize = MARKER.len() + DIGITS;

/// Appends the digits to bytes that end with [`MARKER`].
pub(super) fn close(bytes: &mut Vec<u8>) {
    assert!(bytes.ends_with(MARKER), "only a zip that ends with the marker is closed");
    let digest = Digest::of(bytes);
    bytes.extend_from_slice(digest.to_string().as_bytes());
}

/// Whether the marker stands where it should.
pub(super) fn present(bytes: &[u8]) -> bool {
    bytes.len().checked_sub(DIGITS).is_some_and(|end| bytes[..end].ends_with(MARKER))
}

/// Checks the digits of a file that has the marker.
pub(super) fn check(bytes: &[u8]) -> Result<(), TraceError> {
    assert!(present(bytes), "asked of files with the marker only");
    let (sealed, digits) = bytes.split_at(bytes.len() - DIGITS);
    let computed = Digest::of(sealed);
    if digits == computed.to_string().as_bytes() {
        return Ok(());
    }
    Err(TraceError::ChecksumWrong { recorded: quote_bytes(digits), computed })
}
