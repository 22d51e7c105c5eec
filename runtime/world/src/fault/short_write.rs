//! Short write: a write takes fewer bytes than given, at most the strength.
//!
//! Example: strength 1: a writer that does not look at the count loses the rest.
//!
//! A stream has no word for it when it is written to, but is asked before how much it takes, and says it there: so a C library makes a
//! short count of it. Who writes without asking is not struck. In the first [`Edition`](fozzy_trace::plan::Edition) the beginning was
//! written, and then the stream failed with `io`.

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
