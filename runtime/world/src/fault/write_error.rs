//! Write error: writing data to a file fails with `io`, and nothing is written.
//!
//! Example: `write-error` on `/data/log`: a bad sector. Reading still works.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const WRITE_ERROR: FaultKind = FaultKind {
    name: "write-error",
    summary: "Writing data to a file fails with `io`, and nothing is written.",
    target: FaultTarget::Path,
    unit: "",
    strength: 0,
    rate_ppm: 10_000,
};
