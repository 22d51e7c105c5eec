//! Short read: a read answers fewer bytes than there are, at most the strength.
//!
//! Example: strength 1: a reader that does not loop sees one byte and takes it for all.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const SHORT_READ: FaultKind = FaultKind {
    name: "short-read",
    summary: "A read answers fewer bytes than there are, at most the strength.",
    target: FaultTarget::Path,
    unit: "bytes",
    strength: 1,
    rate_ppm: 100_000,
};
