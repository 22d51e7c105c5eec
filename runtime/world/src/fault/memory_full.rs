//! Memory full: a memory of the program cannot grow.
//!
//! ```text
//! memory.grow ─▶ -1      the allocator has no more than it has; one with free blocks goes on
//! ```
//!
//! Not here: the limit of a plan, which is met without any fault.

use super::{FaultKind, FaultTarget};

/// See the module.
pub const MEMORY_FULL: FaultKind = FaultKind {
    name: "memory-full",
    summary: "A memory of the program cannot grow: `memory.grow` answers -1.",
    target: FaultTarget::Node,
    unit: "",
    strength: 0,
    rate_ppm: 100_000,
};
