//! Process not found: the command is not there this time, whatever rule there is for it.
//!
//! Invariant: no rule is used up, and nothing is started.
//!
//! The target is the name of the command, or the whole command line: `git`, `git push *`.

use super::{FaultKind, FaultTarget};

/// See the module. What it does is in `process::start`.
pub const PROCESS_NOT_FOUND: FaultKind = FaultKind {
    name: "process-not-found",
    summary: "A command is not there.",
    target: FaultTarget::Command,
    unit: "",
    strength: 0,
    rate_ppm: super::process::RATE_PPM,
};
