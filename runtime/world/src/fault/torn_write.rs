//! Torn write: at a loss of power, an unsynced write is there in part; strength is what the disk writes whole.
//!
//! ```text
//! write 1000 bytes at 0, crash      bytes 0 to 511 are there, or 512 to 999
//! ```
//!
//! Only at a `power-loss`; see `lost-write`. A write inside one unit is never torn: it is there.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const TORN_WRITE: FaultKind = FaultKind {
    name: "torn-write",
    summary: "At a loss of power, an unsynced write is there in part; strength is what the disk writes whole.",
    target: FaultTarget::Path,
    unit: "bytes",
    strength: 512,
    rate_ppm: 500_000,
};
