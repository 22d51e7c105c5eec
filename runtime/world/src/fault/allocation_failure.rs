//! Allocation failure: the program's allocator has no memory for a block.
//!
//! ```text
//! malloc, calloc, aligned_alloc ─▶ NULL      realloc ─▶ NULL, and the old block stays      posix_memalign ─▶ ENOMEM
//! __rust_alloc ─▶ null, which Rust's library reports (`try_reserve`) or ends with (`handle_alloc_error`)
//! ```
//!
//! Each call of the outermost function of an allocator is a chance; blocks of no bytes are always had. What may not answer that it has
//! none, as `operator new`, asks the allocator below it, and does then what it does.
//! Not here: which functions those are (`fozzy-instrument`, which has to put the question in).

use super::{FaultKind, FaultTarget};

/// See the module.
pub const ALLOCATION_FAILURE: FaultKind = FaultKind {
    name: "allocation-failure",
    summary: "An allocation of the program fails: `malloc` returns NULL.",
    target: FaultTarget::Node,
    unit: "",
    strength: 0,
    rate_ppm: 10_000,
};
