//! Lost write: at a loss of power, an unsynced write is gone.
//!
//! ```text
//! write A at 0, write B at 100, crash      B may be there without A: the hole is zeros
//! ```
//!
//! Only at a `power-loss`. With this kind or `torn-write` in a plan, only they decide what a crash does to data;
//! without them it may do anything of it (see `files/crash.rs`).

use super::{FaultKind, FaultTarget};

/// See the module.
pub const LOST_WRITE: FaultKind = FaultKind {
    name: "lost-write",
    summary: "At a loss of power, an unsynced write is gone.",
    target: FaultTarget::Path,
    unit: "",
    strength: 0,
    rate_ppm: 500_000,
};
