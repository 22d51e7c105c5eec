//! Sync error: a sync fails with `io`, and what it was to make durable never will be.
//!
//! A later sync succeeds and does not write what the first one lost, as on ext4 (Rebello et al., "Can Applications
//! Recover from fsync Failures?", ATC 2020). Reads still see it until power is lost.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const SYNC_ERROR: FaultKind = FaultKind {
    name: "sync-error",
    summary: "A sync fails with `io`, and what it was to make durable never will be.",
    target: FaultTarget::Path,
    unit: "",
    strength: 0,
    rate_ppm: 10_000,
};
