//! Clock drift: the clocks of a machine run fast or slow by the strength in millionths.
//!
//! Between two readings, while it strikes, both clocks gain or lose so much; what was gained stays. The direction is
//! asked once for each machine. 500 is what adjtime may do.
//!
//! Deadlines are translated: a guest that waits a second by its own clock waits a little less or more.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const CLOCK_DRIFT: FaultKind = FaultKind {
    name: "clock-drift",
    summary: "The clocks of a machine run fast or slow by the strength in millionths.",
    target: FaultTarget::Node,
    unit: "ppm",
    strength: 500,
    rate_ppm: 1_000_000,
};
