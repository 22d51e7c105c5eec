//! Reorder: a datagram between two machines is held back, so that later ones overtake it.
//!
//! ```text
//! sent 1 2 3 ─▶ received 1 3 2
//! ```
//!
//! TCP puts its packets in order again, so that only their time would differ (see `latency`). Not inside a machine.

use super::{FaultKind, FaultTarget};
use fozzy_trace::plan::fault::RATE_ALWAYS_PPM;

/// The row of this kind.
pub(crate) const REORDER: FaultKind = FaultKind {
    name: "reorder",
    summary: "a datagram is held back, so that later ones overtake it",
    target: FaultTarget::Link,
    unit: "ns",
    strength: 10_000_000,
    rate_ppm: RATE_ALWAYS_PPM / 10,
};
