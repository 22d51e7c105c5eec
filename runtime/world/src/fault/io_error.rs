//! Input or output error: any operation on a file or directory fails with `io`.
//!
//! Example: `io-error` on `/data/log`: opening, reading, writing, syncing or removing it may fail; nothing is done then.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const IO_ERROR: FaultKind = FaultKind {
    name: "io-error",
    summary: "Any operation on a file or directory fails with `io`.",
    target: FaultTarget::Path,
    unit: "",
    strength: 0,
    rate_ppm: 10_000,
};
