//! Bit flip: one bit of what is read from a file is wrong; the disk still has the right one.
//!
//! Example: `bit-flip` on `/data/*`: a read of "AAAA" answers "AAAE", and the next one is right again.
//! Which bit is a question. Programs with checksums notice; those without pass it on.
//! Not modelled: damage that stays.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const BIT_FLIP: FaultKind = FaultKind {
    name: "bit-flip",
    summary: "One bit of what is read from a file is wrong; the disk still has the right one.",
    target: FaultTarget::Path,
    unit: "",
    strength: 0,
    rate_ppm: 1_000,
};
