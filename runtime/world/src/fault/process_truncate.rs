//! Process truncate: of standard output, only the first bytes arrive.
//!
//! Invariant: the process does not notice; standard error stays whole.
//!
//! The target is the name of the command, or the whole command line: `git`, `git push *`.

use super::{FaultKind, FaultTarget};

/// See the module. What it does is in `process::start`.
pub const PROCESS_TRUNCATE: FaultKind = FaultKind {
    name: "process-truncate",
    summary: "The standard output of a process is cut.",
    target: FaultTarget::Command,
    unit: "bytes kept",
    strength: 0,
    rate_ppm: super::process::RATE_PPM,
};
