//! Pause: a machine stands still for a while, as in a long garbage collection or when its virtual machine is moved.
//!
//! ```text
//! server   holds a lease ─ ✗ pause ........ 3 s ........ ─▶ writes, and believes that it still holds it
//! others   continue ─▶ the lease is over, and another has it
//! ```
//!
//! Strikes before a wait and before a write to a stream or a socket: other machines see nothing else of a program. The
//! length is drawn for each strike, up to the strength. The machine's clocks continue meanwhile.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const PAUSE: FaultKind = FaultKind {
    name: "pause",
    summary: "A machine stands still for up to the strength, before a wait or a write; the others go on.",
    target: FaultTarget::Node,
    unit: "ns",
    strength: 12_800_000_000,
    rate_ppm: 10_000,
};
