//! Leaving out as much of a list as can go, from the last to the first, in runs of adaptive length.
//!
//! ```text
//! 1 2 3 4 5 6 7 8 9     needed: 3        without 9, 8..9, 6..9: good; 2..9: bad; 4..9: good; 3..9: bad
//!                                        left: 1 2 3     3 is needed; without 2, 1..2: good     left: 3
//! ```
//!
//! Elements that go only together, a push and its pop, are found at the end, in blocks of what is left: of 16, 8, 4 and 2, no more than a half,
//! which overlap by half.

use super::{ShrinkCandidate, ShrinkHalt, Shrinker};

/// Elements up to which blocks are tried: blocks of this number take some fifty executions.
const BLOCK_ITEMS_MAX: usize = 32;

/// What is left of a list, and which run of it is tried next: lengths are doubled, and then halved.
#[derive(Clone, Debug)]
pub(super) struct ChunkRemoval<T> {
    pub(super) left: Vec<T>,
    /// Where the run ends; what stands from here on is needed.
    pub(super) end: usize,
    /// The longest run that can go.
    good: usize,
    /// The shortest one that cannot.
    bad: usize,
}

impl<T: Clone> ChunkRemoval<T> {
    pub(super) fn new(items: &[T]) -> ChunkRemoval<T> {
        ChunkRemoval { left: items.to_vec(), end: items.len(), good: 0, bad: items.len() + 1 }
    }

    /// The length of the run that is tried next; `None` at the end.
    pub(super) fn run(&self) -> Option<usize> {
        let ChunkRemoval { end, good, bad, .. } = *self;
        let run = if bad > end { (good * 2).clamp(1, end.max(1)) } else { good + (bad - good) / 2 };
        (end > 0).then_some(run)
    }

    /// What is left without that run.
    pub(super) fn rest(&self) -> Option<Vec<T>> {
        let run = self.run()?;
        Some([&self.left[..self.end - run], &self.left[self.end..]].concat())
    }

    /// Whether that run could go.
    pub(super) fn record(&mut self, is_superfluous: bool) {
        let Some(run) = self.run() else { return };
        if is_superfluous {
            self.good = run;
        } else {
            self.bad = run;
        }
        if self.bad - self.good <= 1 {
            self.left.drain(self.end - self.good..self.end);
            // What stands before the run was tried with it, and is needed.
            self.end = (self.end - self.good).saturating_sub(1);
            (self.good, self.bad) = (0, self.end + 1);
        }
    }
}

impl Shrinker<'_> {
    /// Leaves out as much of `items` as it can. `without` makes the candidate that has only what is left.
    pub(super) fn remove_chunks<T: Clone>(
        &mut self,
        items: &[T],
        without: impl Fn(&ShrinkCandidate, &[T]) -> ShrinkCandidate,
    ) -> Result<Vec<T>, ShrinkHalt> {
        let mut removal = ChunkRemoval::new(items);
        while let Some(rest) = removal.rest() {
            let candidate = without(&self.smallest, &rest);
            let next = |smallest: &ShrinkCandidate, further: usize| {
                let mut removal = removal.clone();
                (0..further).for_each(|_| removal.record(false));
                Some(without(smallest, &removal.rest()?))
            };
            let is_superfluous = self.attempt_before(candidate, &next)?;
            removal.record(is_superfluous);
        }
        Ok(removal.left)
    }

    /// Leaves out one block of `items`, none of which can be left out alone. Returns whether there was such a block.
    pub(super) fn remove_block<T: Clone>(
        &mut self,
        items: &[T],
        without: impl Fn(&ShrinkCandidate, &[T]) -> ShrinkCandidate,
    ) -> Result<bool, ShrinkHalt> {
        if items.len() > BLOCK_ITEMS_MAX {
            return Ok(false);
        }
        let longest = (items.len() / 2).checked_ilog2().map_or(0, |power| 1 << power).max(2);
        let lengths = std::iter::successors(Some(longest).filter(|_| items.len() >= 2), |length| Some(length / 2));
        for length in lengths.take_while(|length| *length >= 2) {
            for start in (0..=items.len() - length).step_by(length / 2) {
                let rest = [&items[..start], &items[start + length..]].concat();
                let candidate = without(&self.smallest, &rest);
                if self.attempt(candidate)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
