//! Restart: the program of a machine is killed and started again; strength is the time until it is up again.
//!
//! ```text
//! wait, write, file operation ─▶ strikes: the guest is gone ─▶ 1 s later it starts again, on its disk as it was
//! ```
//!
//! As a supervisor restarts a service: unlike a `power-loss`, nothing that was written is lost. What was in memory and in its
//! connections is.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const RESTART: FaultKind = FaultKind {
    name: "restart",
    summary: "The program of a machine is killed and starts again on its disk as it was; strength is the time until then.",
    target: FaultTarget::Node,
    unit: "ns",
    strength: 1_000_000_000,
    rate_ppm: 1_000,
};
