//! Loss of power: the machine loses power at a file operation; strength is the time until it is up again.
//!
//! ```text
//! operation n ─▶ strikes: the guest is gone, unsynced data too, perhaps ─▶ 1 s later it starts again on its disk
//! ```
//!
//! Standard input starts from its beginning again; what was written to the standard outputs stays written.
//! Not here: what is left on the disk (`files/crash.rs`).

use super::{FaultKind, FaultTarget};

/// See the module.
pub const POWER_LOSS: FaultKind = FaultKind {
    name: "power-loss",
    summary: "The machine loses power at a file operation; strength is the time until it is up again.",
    target: FaultTarget::Node,
    unit: "ns",
    strength: 1_000_000_000,
    rate_ppm: 1_000,
};
