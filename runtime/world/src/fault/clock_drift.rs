//! Clock drift: the clocks of a machine run fast or slow by the strength in millionths.
//!
//! Whether it strikes is asked at each reading and each wait; from there on to the next one both clocks run at that speed, and what was
//! gained stays. The direction is asked once for each machine. 500 is what adjtime may do.
//!
//! A guest waits by its own clock, as a real one does: a second on a clock that is slow by a tenth takes 1.1 s of virtual time, and
//! the clock shows a second more afterwards. In the first [`Edition`](fozzy_trace::plan::Edition) waits took virtual time.

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
