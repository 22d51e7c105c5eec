//! Connection reset: a TCP connection between two machines breaks when something is written to it.
//!
//! ```text
//! write ─▶ connection-reset here at once; there, behind what was sent before, a latency later
//! ```
//!
//! As a firewall does that has forgotten the connection. Not inside a machine.

use super::{FaultKind, FaultTarget};
use fozzy_trace::plan::fault::RATE_ALWAYS_PPM;

/// The row of this kind.
pub(crate) const CONNECTION_RESET: FaultKind = FaultKind {
    name: "connection-reset",
    summary: "a TCP connection is reset when something is written to it",
    target: FaultTarget::Link,
    unit: "",
    strength: 0,
    rate_ppm: RATE_ALWAYS_PPM / 100,
};
