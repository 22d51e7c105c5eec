//! Disk full: a write of data or a new name fails with `insufficient-space`.
//!
//! Example: `disk-full` on `*` from 10s on, rate 100 %: the disk stays full, whatever is removed.
//! Not here: the limits of the disk, which are met without any fault.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const DISK_FULL: FaultKind = FaultKind {
    name: "disk-full",
    summary: "A write of data or a new name fails with `insufficient-space`.",
    target: FaultTarget::Path,
    unit: "",
    strength: 0,
    rate_ppm: 10_000,
};
