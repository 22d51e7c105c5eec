//! What allocations are held to, beside the bound of linear memory in [`Limits`](super::Limits).
//!
//! ```text
//! leak budget                             the program's own heap; or what it tells: a scenario file, or a program by `fozzy:memory`
//! budgets of allocated bytes, of the peak the program's own heap
//! limit, failures, fragmentation, wave    the steps of a scenario file, which have a memory of their own
//! ```
//!
//! Invariant: a plan without any of these has no [`MemoryPlan`], so that it has the digest that it always had.

use serde::{Deserialize, Serialize};

/// What allocations are held to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct MemoryPlan {
    /// Bytes that may be in use at the end; more is a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leak_budget_bytes: Option<u64>,
    /// Bytes that the program's own heap may allocate in all; more is a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heap_alloc_budget_bytes: Option<u64>,
    /// Bytes that its own heap may have in use at once; more is a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heap_in_use_budget_bytes: Option<u64>,
    /// Whether the budgets hold for the program's own heap. Plans of before have a budget for leaks and no word of this: theirs is of what is told.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub own_heap: bool,
    /// Bytes that steps may have in use at once; an allocation beyond it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_bytes: Option<u64>,
    /// Allocations of steps that succeed; the next ones are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_after: Option<u64>,
    /// Each allocation of a step takes up to 30 % more, by this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fragmentation_seed: Option<u64>,
    /// Factors by which allocations of steps are enlarged, in turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pressure_wave: Vec<u64>,
}

impl MemoryPlan {
    /// Whether it says anything that only steps heed.
    #[must_use]
    pub fn is_of_steps(&self) -> bool {
        let MemoryPlan { limit_bytes, fail_after, fragmentation_seed, ref pressure_wave, .. } = *self;
        limit_bytes.is_some() || fail_after.is_some() || fragmentation_seed.is_some() || !pressure_wave.is_empty()
    }

    /// Whether it has a budget that the program's own heap can exceed.
    #[must_use]
    pub fn bounds_heap(&self) -> bool {
        self.leak_budget_bytes.is_some()
            || self.heap_alloc_budget_bytes.is_some()
            || self.heap_in_use_budget_bytes.is_some()
    }
}
