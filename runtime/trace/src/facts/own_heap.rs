//! What was in the heap of the programs of a run at its end, where the plan has a budget for it.
//!
//! Invariant: it is of the run itself, by the program's own allocator; not what a program tells of allocations ([`super::Allocations`]).

/// Sites that are told apart. Bytes of all others are in the sums only.
pub const LEAK_SITES_MAX: usize = 8;

/// The heap of a run, and what it is held to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnHeap {
    /// Blocks that were allocated.
    pub allocated: u64,
    /// Bytes of them.
    pub allocated_bytes: u64,
    /// Blocks that were freed.
    pub freed: u64,
    /// Allocations that could not be had.
    pub refused: u64,
    /// Bytes in use at the end.
    pub in_use_bytes: u64,
    /// The most bytes that were in use.
    pub peak_bytes: u64,
    /// Blocks that nothing points to any more.
    pub leaked: u64,
    /// Bytes of them.
    pub leaked_bytes: u64,
    /// Where they come from, most bytes first.
    pub leaks: Vec<LeakSite>,
    /// Why nothing is known of the heap, if that is so.
    pub unknown: Option<String>,
    /// What it may have.
    pub budgets: HeapBudgets,
}

/// What a heap may have; `None` is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapBudgets {
    /// Bytes that have leaked.
    pub leak_bytes: Option<u64>,
    /// Bytes that were allocated in all.
    pub alloc_bytes: Option<u64>,
    /// Bytes in use at once.
    pub in_use_bytes: Option<u64>,
}

/// A place of the program whose blocks have leaked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeakSite {
    /// The function that allocates.
    pub function: String,
    /// The source file.
    pub file: Option<String>,
    /// The line; 0 when that is not known.
    pub line: u32,
    /// Blocks.
    pub blocks: u64,
    /// Bytes of them.
    pub bytes: u64,
}
