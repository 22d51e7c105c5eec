//! Duplicate: a datagram between two machines arrives twice, each copy in its own time.
//!
//! ```text
//! sent 1 2 3 ─▶ received 1 2 2 3
//! ```
//!
//! Of the two copies each can be lost. TCP removes duplicates, so no guest would see them there. Not inside a machine.

use super::{FaultKind, FaultTarget};
use fozzy_trace::plan::fault::RATE_ALWAYS_PPM;

/// The row of this kind.
pub(crate) const DUPLICATE: FaultKind = FaultKind {
    name: "duplicate",
    summary: "a datagram arrives twice",
    target: FaultTarget::Link,
    unit: "",
    strength: 0,
    rate_ppm: RATE_ALWAYS_PPM / 10,
};
