//! Clock freeze: the clocks of a machine stand still: readings repeat the last one.
//!
//! When it is over, the clocks are where they would have been. So it looks to a program whose virtual machine was
//! not given the time. Deadlines still come: after a wait, a clock that stands still shows its end.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const CLOCK_FREEZE: FaultKind = FaultKind {
    name: "clock-freeze",
    summary: "The clocks of a machine stand still: readings repeat the last one.",
    target: FaultTarget::Node,
    unit: "",
    strength: 0,
    // Clocks that always stood still would hide what other faults do to them.
    rate_ppm: 250_000,
};
