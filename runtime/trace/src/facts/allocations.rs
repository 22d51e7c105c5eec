//! What a program's allocator did.
//!
//! Invariant: what is in use is what was allocated and not freed; the peak was in use at one moment.

use std::collections::BTreeMap;

/// Allocations that can be in use at once. One more ends the program.
pub const ALLOCATIONS_MAX: usize = 1 << 20;

/// What a program's allocator did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// How many there were.
    pub allocated: u64,
    /// How many were freed.
    pub freed: u64,
    /// How many were refused.
    pub refused: u64,
    /// Bytes in use.
    pub in_use_bytes: u64,
    /// The most bytes that were in use.
    pub peak_bytes: u64,
    /// How many may be in use at the end, as the plan says; `None` is no bound.
    pub leak_budget_bytes: Option<u64>,
    live: BTreeMap<u64, u64>,
}

/// There are [`ALLOCATIONS_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {ALLOCATIONS_MAX} allocations at once")]
pub struct TooManyAllocations;

/// Nothing is allocated there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownAllocation;

impl Allocations {
    /// Whether anything was told.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.allocated + self.freed + self.refused > 0
    }

    /// Whether more is in use than may be at the end.
    #[must_use]
    #[inline]
    pub fn is_over_budget(&self) -> bool {
        self.leak_budget_bytes.is_some_and(|budget| self.in_use_bytes > budget)
    }

    /// How many are in use.
    #[must_use]
    pub fn in_use(&self) -> u64 {
        self.live.len() as u64
    }

    /// What is in use: addresses and bytes.
    pub fn live(&self) -> impl Iterator<Item = (u64, u64)> {
        self.live.iter().map(|(address, bytes)| (*address, *bytes))
    }

    /// So many bytes at an address. An address in use is moved: the old bytes are freed.
    ///
    /// # Errors
    /// When there are too many.
    pub fn allocate(&mut self, address: u64, bytes: u64) -> Result<(), TooManyAllocations> {
        if self.live.len() == ALLOCATIONS_MAX {
            return Err(TooManyAllocations);
        }
        if let Some(old) = self.live.insert(address, bytes) {
            self.freed += 1;
            self.in_use_bytes -= old;
        }
        self.allocated += 1;
        self.in_use_bytes = self.in_use_bytes.saturating_add(bytes);
        self.peak_bytes = self.peak_bytes.max(self.in_use_bytes);
        Ok(())
    }

    /// What is at an address goes.
    ///
    /// # Errors
    /// When nothing is there.
    pub fn free(&mut self, address: u64) -> Result<(), UnknownAllocation> {
        let bytes = self.live.remove(&address).ok_or(UnknownAllocation)?;
        self.freed += 1;
        self.in_use_bytes = self.in_use_bytes.saturating_sub(bytes);
        Ok(())
    }

    /// So many bytes were refused.
    pub fn refuse(&mut self) {
        self.refused += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted() {
        let mut allocations = Allocations::default();
        allocations.allocate(8, 100).expect("room");
        allocations.allocate(16, 50).expect("room");
        assert_eq!(allocations.free(8), Ok(()));
        assert_eq!(allocations.free(8), Err(UnknownAllocation));
        allocations.allocate(24, 10).expect("room");
        assert_eq!((allocations.in_use_bytes, allocations.peak_bytes, allocations.in_use()), (60, 150, 2));
        assert_eq!((allocations.allocated, allocations.freed), (3, 1));
        let over = |budget| Allocations { leak_budget_bytes: budget, ..allocations.clone() }.is_over_budget();
        assert_eq!([None, Some(60), Some(59)].map(over), [false, false, true]);
    }
}
