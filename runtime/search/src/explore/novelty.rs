//! How fine each kind of novelty is: one that is new at every step says nothing, and one that is never new any more says no
//! more.
//!
//! ```text
//! named states, new in   3 % of the steps     places are picked by energy, whatever they are of
//!                       70 % of the steps     too fine: a counter in the state. Places are picked by kind, and kinds by the
//!                                             edges and properties that runs from them find; few of the flood are kept
//!                        0 % for long         too coarse: what the memory tells is looked at too
//! ```
//!
//! Invariant: as long as no kind is too fine, nothing is drawn and nothing changes.

use super::bandit::{Bandit, Reward};
use super::frontier::{Frontier, NoveltyKind};
use crate::rng::Rng;

/// Steps over which the share of new states is taken.
const WINDOW_STEPS: u64 = 4096;
/// The share of steps with a new state from which on a kind is too fine, as a divisor.
const FINE_ONE_IN: u64 = 2;
/// Steps without a new named state from which on those are too coarse, at least; and as many as it took to find the last.
const COARSE_STEPS: u64 = 5_000;

/// What a run, or a step, showed that was not seen before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NewCoverage {
    /// Edges and classes of counts.
    pub(crate) features: u32,
    /// Properties that held first, or came nearer; pairs of flows, and of faults; faults with flows and properties.
    pub(crate) cells: u32,
    /// States that the scenario named.
    pub(crate) named: u32,
    /// States that its memory told apart, of a scenario that names none.
    pub(crate) learned: u32,
    /// The same, of one whose named states are too coarse.
    pub(crate) further: u32,
}

impl NewCoverage {
    pub(crate) fn sum(self) -> u32 {
        self.coarse() + self.states()
    }

    pub(crate) fn add(&mut self, other: NewCoverage) {
        self.features += other.features;
        self.cells += other.cells;
        self.named += other.named;
        self.learned += other.learned;
        self.further += other.further;
    }

    pub(crate) fn coarse(self) -> u32 {
        self.features + self.cells
    }

    pub(crate) fn states(self) -> u32 {
        self.named + self.learned + self.further
    }

    /// Which kind a place is of that showed it.
    pub(crate) fn kind(self) -> NoveltyKind {
        match self {
            NewCoverage { named: 0, learned: 0, further: 0, .. } => NoveltyKind::Coarse,
            _ if self.coarse() > 0 => NoveltyKind::Coarse,
            NewCoverage { named: 0, .. } => NoveltyKind::Learned,
            _ => NoveltyKind::Named,
        }
    }
}

/// How often each kind was new recently.
#[derive(Clone, Debug, Default)]
pub(crate) struct NoveltyRates {
    steps: u64,
    /// New ones in the window, by kind.
    new: [u64; 3],
    fine: [bool; 3],
    last_named: u64,
}

impl NoveltyRates {
    /// Counts a step.
    pub(crate) fn count(&mut self, fresh: NewCoverage) {
        self.steps += 1;
        self.new[NoveltyKind::Named as usize] += u64::from(fresh.named.min(1));
        self.new[NoveltyKind::Learned as usize] += u64::from((fresh.learned + fresh.further).min(1));
        if fresh.named > 0 {
            self.last_named = self.steps;
        }
        if self.steps.is_multiple_of(WINDOW_STEPS) {
            self.fine = self.new.map(|new| new * FINE_ONE_IN >= WINDOW_STEPS);
            self.new = [0; 3];
        }
    }

    /// Which kinds are new too often.
    pub(crate) fn fine(&self) -> [bool; 3] {
        self.fine
    }

    /// Whether nothing new was named for long.
    pub(crate) fn is_coarse(&self) -> bool {
        self.steps - self.last_named >= COARSE_STEPS.max(self.last_named)
    }
}

/// Divides runs between the kinds of places, where one of them is too fine.
pub(crate) struct KindChoice {
    kinds: Bandit<3>,
    /// Whether the last run was one of those.
    is_chosen: bool,
    /// Whether any was.
    was_chosen: bool,
}

impl KindChoice {
    pub(crate) fn new() -> KindChoice {
        KindChoice { kinds: Bandit::new(NoveltyKind::NAMES), is_chosen: false, was_chosen: false }
    }

    /// The kind of place that the next run begins at; `None` where any will do.
    pub(crate) fn choose(&mut self, frontier: &Frontier, rng: &mut Rng) -> Option<NoveltyKind> {
        self.is_chosen = frontier.is_flooded();
        if !self.is_chosen {
            return None;
        }
        self.was_chosen = true;
        let kind = NoveltyKind::ALL[self.kinds.pick(NoveltyKind::ALL.map(|kind| frontier.has(kind)), rng)];
        frontier.has(kind).then_some(kind)
    }

    /// What came of it; a flood of states is no reward.
    pub(crate) fn learn(&mut self, fresh: NewCoverage, steps: u64) {
        if std::mem::take(&mut self.is_chosen) {
            self.kinds.learn(fresh.coarse(), steps);
        }
    }

    /// What each kind has earned.
    pub(crate) fn rewards(&self) -> impl Iterator<Item = (&'static str, Reward)> {
        self.kinds.rewards().filter(|_| self.was_chosen)
    }
}
