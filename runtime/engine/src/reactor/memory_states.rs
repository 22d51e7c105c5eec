//! States of a guest by its memory, looked at between two calls, or while the guest waits in one that takes several steps.
//!
//! Invariant: each step is looked at once at most. What was found of a step for which the guest then comes back is kept for who asks.
//! Not here: what a state is (`state_learner`), which pages were written (`tracker`).

use super::state_learner::StateLearner;
use super::tracker::MarkedPage;
use crate::memory::Region;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a look has found: a state, if states are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundState(pub(super) Option<u64>);

/// A learner of states, and what its looks need.
pub(super) struct MemoryStates {
    pub(super) learner: StateLearner,
    /// Written pages; kept to reuse the allocation.
    pages: Vec<MarkedPage>,
    /// Of the last step, for which the guest came back.
    kept: Option<FoundState>,
}

/// The same, for the host of a guest that takes several steps.
pub(super) type SharedMemoryStates = Arc<Mutex<MemoryStates>>;

/// The states, which nobody else has meanwhile: the guest runs or its caller does.
pub(super) fn lock(states: &SharedMemoryStates) -> MutexGuard<'_, MemoryStates> {
    states.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryStates {
    pub(super) fn shared(learner: StateLearner) -> SharedMemoryStates {
        Arc::new(Mutex::new(MemoryStates { learner, pages: Vec::new(), kept: None }))
    }

    /// A step was taken; see [`StateLearner::look`]. `marked` adds the pages that were written, and says of which memory; `None` when they
    /// are not known.
    pub(super) fn look<'a>(
        &mut self,
        has_missed: bool,
        marked: impl FnOnce(&mut Vec<MarkedPage>) -> Option<&'a Region>,
    ) -> Option<u64> {
        self.pages.clear();
        let region = marked(&mut self.pages)?;
        self.learner.look(region.bytes(), &self.pages, has_missed)
    }

    /// The guest comes back for a step of which this was found.
    pub(super) fn keep(&mut self, found: FoundState) {
        self.kept = Some(found);
    }

    /// What was found of the step for which the guest came back.
    pub(super) fn take_kept(&mut self) -> Option<FoundState> {
        self.kept.take()
    }
}
