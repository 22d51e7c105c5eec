//! Kill: the program of a machine is gone, as by SIGKILL or the OOM killer, and is not restarted.
//!
//! ```text
//! wait, write, file operation ─▶ strikes: the guest is gone, what it wrote is there     its connections are reset
//! ```
//!
//! The machine's disk keeps everything: the system is up, so unsynced data is not lost. Never strikes the main machine, with which
//! the run would end; a machine whose program is called is down until the scenario restarts it.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const KILL: FaultKind = FaultKind {
    name: "kill",
    summary: "The program of a machine is killed at a wait, a write or a file operation, and stays down.",
    target: FaultTarget::Node,
    unit: "",
    strength: 0,
    rate_ppm: 1_000,
};
