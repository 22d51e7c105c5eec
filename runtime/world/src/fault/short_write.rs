//! Short write: a write takes fewer bytes than given, at most the strength.
//!
//! Example: strength 1: a writer that does not look at the count loses the rest.
//!
//! A stream has no word for it: there the beginning is written, and then it fails with `io`, as when a disk breaks in
//! the middle of a write.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const SHORT_WRITE: FaultKind = FaultKind {
    name: "short-write",
    summary: "A write takes fewer bytes than given, at most the strength.",
    target: FaultTarget::Path,
    unit: "bytes",
    strength: 1,
    rate_ppm: 100_000,
};
