//! Read error: reading data of a file fails with `io`.
//!
//! Example: `read-error` on `/data/*`: a bad sector. Writing and removing still work.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const READ_ERROR: FaultKind = FaultKind {
    name: "read-error",
    summary: "Reading data of a file fails with `io`.",
    target: FaultTarget::Path,
    unit: "",
    strength: 0,
    rate_ppm: 10_000,
};
