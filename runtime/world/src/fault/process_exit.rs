//! Process exit: the process ends when it would have ended, with this code.
//!
//! Invariant: what it wrote stays as it was; an end by a deadline, by `kill` or by `process-signal` comes first.
//!
//! The target is the name of the command, or the whole command line: `git`, `git push *`.

use super::{FaultKind, FaultTarget};

/// See the module. What it does is in `process::start`.
pub const PROCESS_EXIT: FaultKind = FaultKind {
    name: "process-exit",
    summary: "A process ends with another exit code.",
    target: FaultTarget::Command,
    unit: "code",
    strength: 1,
    rate_ppm: super::process::RATE_PPM,
};
