//! Process delay: the end comes later in virtual time.
//!
//! Invariant: a deadline still holds.
//!
//! The target is the name of the command, or the whole command line: `git`, `git push *`.

use super::{FaultKind, FaultTarget};

/// See the module. What it does is in `process::start`.
pub const PROCESS_DELAY: FaultKind = FaultKind {
    name: "process-delay",
    summary: "The end of a process comes later.",
    target: FaultTarget::Command,
    unit: "ns",
    strength: 1_000_000_000,
    rate_ppm: super::process::RATE_PPM,
};
