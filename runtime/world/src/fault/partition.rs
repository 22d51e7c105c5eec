//! Partition: nothing arrives from one machine at the other, for as long as the fault lasts.
//!
//! ```text
//! a->b from 2s for 10s ─▶ sent at 3 s, again at 4, 6, 10, 18 ─▶ arrives at 18 s
//! ```
//!
//! What was on its way when it began arrives. One direction is one fault: `a->b` and `b->a` cut both, `*->*` isolates
//! everybody. Not inside a machine.

use super::{FaultKind, FaultTarget};
use fozzy_trace::plan::fault::RATE_ALWAYS_PPM;

/// The row of this kind.
pub(crate) const PARTITION: FaultKind = FaultKind {
    name: "partition",
    summary: "nothing arrives",
    target: FaultTarget::Link,
    unit: "",
    strength: 0,
    rate_ppm: RATE_ALWAYS_PPM,
};
