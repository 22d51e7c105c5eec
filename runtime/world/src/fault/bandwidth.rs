//! Bandwidth: the line between two machines is narrow for a while.
//!
//! ```text
//! 1 MiB at 128 KiB/s ─▶ the last byte arrives 8 s later than the first
//! ```
//!
//! The narrower of plan and fault counts. Packets wait for those before them; nothing is lost. Not inside a machine.

use super::{FaultKind, FaultTarget};
use fozzy_trace::plan::fault::RATE_ALWAYS_PPM;

/// The row of this kind.
pub(crate) const BANDWIDTH: FaultKind = FaultKind {
    name: "bandwidth",
    summary: "the line carries no more than this",
    target: FaultTarget::Link,
    unit: "bytes/s",
    strength: 128 * 1024,
    rate_ppm: RATE_ALWAYS_PPM,
};
