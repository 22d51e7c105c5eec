//! Latency: packets between two machines are longer on their way, by the strength of the fault.
//!
//! ```text
//! 0.1 ms as planned, 100 ms more ─▶ arrives after 100.1 ms
//! ```
//!
//! Bytes of one connection stay in order: a late packet makes those behind it late. Not inside a machine.

use super::{FaultKind, FaultTarget};
use fozzy_trace::plan::fault::RATE_ALWAYS_PPM;

/// The row of this kind.
pub(crate) const LATENCY: FaultKind = FaultKind {
    name: "latency",
    summary: "packets are longer on their way",
    target: FaultTarget::Link,
    unit: "ns",
    strength: 100_000_000,
    rate_ppm: RATE_ALWAYS_PPM,
};
