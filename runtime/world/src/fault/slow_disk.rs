//! Slow disk: an operation on a file takes the strength in virtual time.
//!
//! The machine waits meanwhile, and others go on.
//!
//! Example: strength 10 ms: a seek of a spinning disk. Deadlines that are shorter than the work show.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const SLOW_DISK: FaultKind = FaultKind {
    name: "slow-disk",
    summary: "An operation on a file takes the strength in virtual time.",
    target: FaultTarget::Path,
    unit: "ns",
    strength: 10_000_000,
    rate_ppm: 100_000,
};
