//! Process signal: the process ends when it would have ended, but by a signal.
//!
//! Invariant: what it wrote stays as it was; an end by a deadline or by `kill` comes first.
//!
//! The target is the name of the command, or the whole command line: `git`, `git push *`.

use super::{FaultKind, FaultTarget};

/// See the module. What it does is in `process::start`.
pub const PROCESS_SIGNAL: FaultKind = FaultKind {
    name: "process-signal",
    summary: "A process is ended by a signal.",
    target: FaultTarget::Command,
    unit: "signal",
    strength: 9,
    rate_ppm: super::process::RATE_PPM,
};
