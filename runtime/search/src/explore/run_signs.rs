//! What can be new of a run beside its edges, in dimensions that are apart.
//!
//! ```text
//! log        a line that was never printed, numbers masked
//! messages   a kind of message, read after a kind that its receiver had not read it after
//! faults     a fault that struck where it had not, and two that struck in one run for the first time
//! ```
//!
//! A dimension may be too fine for a program: if every run shows something new in it, it says nothing about which run is worth more.
//! Then it counts in ever fewer runs, until it is quiet again.
//!
//! Invariants: what was seen stays seen; memory is bounded by [`SEEN_MAX`] a dimension.

use super::known_coverage::told;
use std::collections::BTreeSet;

/// Things that are remembered of a dimension. Beyond, none counts as new.
const SEEN_MAX: usize = 1 << 20;
/// Runs over which it is measured whether a dimension is too fine.
const WINDOW: u32 = 32;
/// Most that a run counts in one dimension: a run that prints a thousand new lines is not a thousand times as new.
const COUNT_MAX: u32 = 4;
/// A dimension that is too fine counts in one of this many runs, at the least.
const THINNED_MAX: u32 = 1 << 10;

/// A kind of thing that can be new of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoveltyDimension {
    /// Lines that programs print.
    Log,
    /// Messages that machines read.
    Messages,
    /// Places where faults strike, and pairs of them.
    Faults,
}

impl NoveltyDimension {
    /// All of them.
    pub const ALL: [NoveltyDimension; 3] =
        [NoveltyDimension::Log, NoveltyDimension::Messages, NoveltyDimension::Faults];

    /// Its word in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            NoveltyDimension::Log => "log",
            NoveltyDimension::Messages => "messages",
            NoveltyDimension::Faults => "faults",
        }
    }
}

/// What was seen in one dimension.
#[derive(Clone, Debug, Default)]
struct DimensionHistory {
    all: BTreeSet<u64>,
    /// Runs of the window, and those that showed something new.
    window: (u32, u32),
    /// It counts in one of this number of runs.
    thinned: u32,
    /// Runs since it counted last.
    since: u32,
}

/// What was seen, by dimension.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunSigns {
    seen: [DimensionHistory; 3],
}

impl DimensionHistory {
    /// A run is over that showed this many new things; the answer is what counts of them.
    fn weigh(&mut self, fresh: u32) -> u32 {
        let (runs, new) = (self.window.0 + 1, self.window.1 + u32::from(fresh > 0));
        self.window = (runs, new);
        if runs == WINDOW {
            self.window = (0, 0);
            self.thinned = match new > WINDOW / 2 {
                true => (self.thinned.max(1) * 2).min(THINNED_MAX),
                false => self.thinned / 2,
            };
        }
        if fresh == 0 {
            return 0;
        }
        self.since += 1;
        if self.since < self.thinned {
            return 0;
        }
        self.since = 0;
        fresh.min(COUNT_MAX)
    }
}

impl RunSigns {
    /// What was seen, as numbers, by dimension.
    pub(crate) fn known(&self) -> Vec<Vec<u64>> {
        self.seen.iter().map(|seen| told(seen.all.iter().copied())).collect()
    }

    /// Takes what the exploration that is continued has seen as seen.
    pub(crate) fn learn_known(&mut self, known: &[Vec<u64>]) {
        self.seen.iter_mut().zip(known).for_each(|(seen, known)| seen.all.extend(known));
    }

    /// Observes the things of a run that `show` passes on; returns how much is new.
    pub(crate) fn observe(
        &mut self,
        dimensions: &[NoveltyDimension],
        show: impl FnOnce(&mut dyn FnMut(NoveltyDimension, u64)),
    ) -> u32 {
        let mut fresh = [0; 3];
        show(&mut |dimension, thing| {
            let seen = &mut self.seen[dimension as usize].all;
            fresh[dimension as usize] += u32::from(seen.len() < SEEN_MAX && seen.insert(thing));
        });
        let of = |dimension: &NoveltyDimension| self.seen[*dimension as usize].weigh(fresh[*dimension as usize]);
        dimensions.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_new_once_and_in_dimensions_that_are_asked_for() {
        let mut novelty = RunSigns::default();
        let mut observe = |dimensions: &[NoveltyDimension], things: &[u64]| {
            novelty.observe(dimensions, |see| things.iter().for_each(|thing| see(NoveltyDimension::Log, *thing)))
        };
        assert_eq!(observe(&NoveltyDimension::ALL, &[1, 2]), 2);
        assert_eq!(observe(&NoveltyDimension::ALL, &[1, 2]), 0);
        assert_eq!(observe(&[NoveltyDimension::Faults], &[3]), 0, "nobody asked for lines");
    }

    #[test]
    fn a_dimension_that_is_always_new_counts_ever_less_and_comes_back() {
        let mut seen = DimensionHistory::default();
        let early: u32 = (0..32).map(|_| seen.weigh(1)).sum();
        let late: u32 = (0..32 * 20).map(|_| seen.weigh(1)).sum();
        assert!(early > 16 && late < 64, "{early} and then {late}");
        (0..32 * 20).for_each(|_| assert_eq!(seen.weigh(0), 0));
        assert_eq!(seen.weigh(1), 1, "it was quiet for long");
    }
}
