//! Clock step: the wall clock of a machine jumps forward or back by the strength.
//!
//! ```text
//! 12:00:00 ─▶ 13:00:00 or 11:00:00      at a reading of the wall clock; the direction is a question
//! ```
//!
//! The monotonic clock does not jump. Times of files are the wall clock's.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const CLOCK_STEP: FaultKind = FaultKind {
    name: "clock-step",
    summary: "The wall clock of a machine jumps forward or back by the strength.",
    target: FaultTarget::Node,
    unit: "ns",
    strength: 3_600_000_000_000,
    rate_ppm: 10_000,
};
