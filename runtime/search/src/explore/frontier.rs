//! The places that are kept, and how promising each is.
//!
//! ```text
//! energy   kept: 1 + what was new │ a run from it finds something: + that │ finds nothing: × 0.9
//! ```
//!
//! Invariants: there are at most as many as were asked for, the least promising going first; their order is that in which they
//! were kept.

use super::decision_path::PathNode;
use super::options::CheckpointStrategy;
use crate::rng::Rng;
use fozzy_trace::CheckpointId;
use std::sync::Arc;

/// What is left of a place's energy after a run that found nothing.
const BARREN: f64 = 0.9;
/// Energy never falls below this, so that no place is given up.
const ENERGY_MIN: f64 = 0.01;
/// Energy that one run can add.
const REWARD_MAX: u32 = 3;

/// A kept place.
#[derive(Clone, Debug)]
pub(crate) struct FrontierEntry {
    pub(crate) checkpoint: CheckpointId,
    pub(crate) node: Arc<PathNode>,
    energy: f64,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frontier {
    kept: Vec<FrontierEntry>,
}

impl Frontier {
    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<&FrontierEntry> {
        self.kept.get(at)
    }

    pub(crate) fn position(&self, checkpoint: CheckpointId) -> Option<usize> {
        // In the order of being kept, and so of their numbers.
        self.kept.binary_search_by_key(&checkpoint, |kept| kept.checkpoint).ok()
    }

    /// Adds a place that showed so much new; the answer is the one that had to go for it.
    pub(crate) fn add(
        &mut self,
        checkpoint: CheckpointId,
        node: Arc<PathNode>,
        fresh: u32,
        most: usize,
    ) -> Option<CheckpointId> {
        self.kept.push(FrontierEntry { checkpoint, node, energy: 1.0 + f64::from(fresh.min(REWARD_MAX)) });
        if self.kept.len() <= most {
            return None;
        }
        let least = |(at, kept): (usize, &FrontierEntry)| (kept.energy, at);
        let others = &self.kept[..self.kept.len() - 1];
        let (_, at) = others.iter().enumerate().map(least).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 0));
        Some(self.kept.remove(at).checkpoint)
    }

    /// A run from a place found so much new.
    pub(crate) fn reward(&mut self, checkpoint: CheckpointId, fresh: u32) {
        let Some(at) = self.position(checkpoint) else { return };
        let energy = &mut self.kept[at].energy;
        *energy =
            if fresh > 0 { *energy + f64::from(fresh.min(REWARD_MAX)) } else { (*energy * BARREN).max(ENERGY_MIN) };
    }

    /// A place to begin at; there is one.
    pub(crate) fn pick(&self, how: CheckpointStrategy, rng: &mut Rng) -> usize {
        let weight = |at: usize, kept: &FrontierEntry| match how {
            CheckpointStrategy::Energy => kept.energy,
            CheckpointStrategy::Uniform => 1.0,
            CheckpointStrategy::Recent => at as f64 + 1.0,
        };
        let sum: f64 = self.kept.iter().enumerate().map(|(at, kept)| weight(at, kept)).sum();
        let mut left = rng.share() * sum;
        for (at, kept) in self.kept.iter().enumerate() {
            left -= weight(at, kept);
            if left < 0.0 {
                return at;
            }
        }
        self.kept.len() - 1
    }
}
