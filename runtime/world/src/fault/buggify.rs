//! Buggify: a point that the guest named takes its rare path.
//!
//! Example: `buggify("cache-miss")` answers true; `buggify-with("buffer")` answers the strength.
//!
//! The word is FoundationDB's, and so is the rate: there a point that is enabled fires once in four times.

use super::{FaultKind, FaultTarget};

/// See the module. What it does is up to the guest (`fozzy:faults/points`).
pub const BUGGIFY: FaultKind = FaultKind {
    name: "buggify",
    summary: "A point that the program names takes its rare path.",
    target: FaultTarget::Point,
    unit: "as the program defines",
    strength: 1,
    rate_ppm: 250_000,
};
