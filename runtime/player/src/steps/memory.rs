//! Memory of the scenario's own: allocations that are counted, limited and made to fail.
//!
//! ```text
//! effective = bytes × wave[n mod length], and up to 30 % more with fragmentation (`fragmentation.rs`)
//! ```
//!
//! Allocations are counted from the first step on, those that fail too: the wave, the allocations that succeed and
//! fragmentation go by that number, as in version 1, whose files assert what comes of it.
//!
//! The command says how it begins, by `--memory=limit=1048576 fail-after=3 fragmentation=7 wave=1,2`; steps change it. That is
//! read when memory is first used, so that a scenario without memory asks the host for nothing.

mod fragmentation;

use crate::failure::StepFailure;
use fozzy_scenario_file::{AllocKey, Step};
use fozzy_sdk::bindings::tools::fozzy::memory::allocations;
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub(super) struct AllocationState {
    /// What is in use, by number.
    live: BTreeMap<u64, u64>,
    in_use: u64,
    keys: BTreeMap<String, u64>,
    /// Allocations so far, those that failed too.
    count: u64,
    pub(super) limit: Option<u64>,
    /// The number of the last allocation that succeeds.
    pub(super) last: Option<u64>,
    pub(super) fragmentation: Option<u64>,
    pub(super) wave: Vec<u64>,
    /// Whether it was begun as the command says.
    begun: bool,
}

impl AllocationState {
    /// Begins as the command says, once.
    pub(super) fn begin(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        for (name, value) in crate::told("--memory=").split(' ').filter_map(|word| word.split_once('=')) {
            match name {
                "limit" => self.limit = value.parse().ok(),
                "fail-after" => self.last = value.parse().ok(),
                "fragmentation" => self.fragmentation = value.parse().ok(),
                _ => self.wave = Step::wave(value).unwrap_or_default(),
            }
        }
    }

    pub(super) fn in_use(&self) -> u64 {
        self.in_use
    }

    /// The number of the allocation.
    pub fn alloc(&mut self, bytes: u64, key: Option<&str>, tag: Option<&str>) -> Result<u64, StepFailure> {
        self.count += 1;
        let effective = self.effective(bytes);
        let after = self.in_use.checked_add(effective);
        let refused = match (after, self.limit, self.last) {
            (_, _, Some(last)) if self.count > last => Some("the allocations that succeed are used up".to_owned()),
            (None, ..) => Some("more than can be counted".to_owned()),
            (Some(after), Some(limit), _) if after > limit => {
                Some(format!("bytes in use would be {after}, and the limit is {limit}"))
            }
            _ => None,
        };
        if let Some(why) = refused {
            allocations::refused(effective);
            return Err(StepFailure::new(format!("an allocation of size {effective} is refused: {why}")));
        }
        let number = self.count;
        self.live.insert(number, effective);
        self.in_use += effective;
        allocations::allocated(number, effective, tag.or(key).unwrap_or_default());
        if let Some(key) = key {
            self.keys.insert(key.to_owned(), number);
        }
        Ok(number)
    }

    /// What the allocation of this number takes.
    fn effective(&self, bytes: u64) -> u64 {
        let factor = match self.wave.len() as u64 {
            0 => 1,
            length => self.wave[((self.count - 1) % length) as usize],
        };
        let enlarged = bytes.saturating_mul(factor);
        let share = self.fragmentation.map_or(0, |seed| fragmentation::percent(seed, self.count, bytes));
        enlarged.saturating_add(enlarged.saturating_mul(share) / 100)
    }

    pub(super) fn free(&mut self, which: &AllocKey) -> Result<(), StepFailure> {
        let number = match &which.key {
            Some(key) => {
                *self.keys.get(key).ok_or_else(|| StepFailure::new(format!("nothing was allocated as `{key}`")))?
            }
            None => which.alloc_id.unwrap_or_default(),
        };
        let Some(bytes) = self.live.remove(&number) else {
            return Err(StepFailure::new(format!("the allocation {number} is not in use")));
        };
        self.in_use -= bytes;
        allocations::freed(number);
        Ok(())
    }

    /// What was taken since `before` is free again, and what was given back is taken again.
    pub(super) fn give_back(&self, before: &AllocationState) {
        for number in self.live.keys().filter(|number| !before.live.contains_key(number)) {
            allocations::freed(*number);
        }
        for (number, bytes) in before.live.iter().filter(|(number, _)| !self.live.contains_key(number)) {
            allocations::allocated(*number, *bytes, "taken back");
        }
    }
}
