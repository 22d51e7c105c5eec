//! Probabilistic concurrency testing.
//!
//! ```text
//! depth 3, 8 points     priorities   a: 71  b: 90  c: 14         change points, in the order of their draw: 5, 2
//! point 2               b would run, and is lowered to 1
//! point 5               a would run, and is lowered to 0       the one that was drawn first is lowered furthest
//! ```
//!
//! Source: Burckhardt and others (ASPLOS 2010), figure 5. As there, which change point lowers how far is drawn with the points:
//! with priorities that only sink in the order of time, faults of depth 3 and more lose their bound.
//!
//! How many points a run has is what earlier runs of its kind had at most. The first run of a kind does not know that, and
//! the bound could not be reached then: `1/k` for every point of every length `k` sums up to more than 1. Its length is guessed,
//! each power of two as likely as the next, which costs a factor of about twice [`GUESS_BITS`].
//!
//! Invariants: change points are distinct; without them, one task runs as long as it can.

use super::ReadyTask;
use super::draws::Draws;
use std::collections::BTreeMap;

/// The deepest faults that are looked for. At ten tasks and a hundred steps, no campaign reaches even depth 8.
pub const DEPTH_MAX: u32 = 64;
/// Lengths below 2 to this power are guessed where none is known.
const GUESS_BITS: u64 = 12;
/// Points after which tasks are chosen at random, in multiples of the length, and at least [`FAIR_AFTER`]: a task that goes
/// round until another has done something would otherwise go round for ever.
const FAIR_AFTER_TIMES: u64 = 4;
/// See [`FAIR_AFTER_TIMES`].
const FAIR_AFTER: u64 = 4096;

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Pct {
    /// The higher one runs. Lowered ones are below `changes.len()`.
    priorities: BTreeMap<u64, u64>,
    /// Points at which priorities change; the first lowers to 0, the second to 1, and so on.
    changes: Vec<u64>,
    points: u64,
    fair_after: u64,
}

impl Pct {
    pub(super) fn new(depth: u32, length: Option<u64>, draws: &mut Draws) -> Pct {
        let length = length.unwrap_or_else(|| guess(draws)).max(1);
        let count = u64::from(depth.clamp(1, DEPTH_MAX) - 1).min(length);
        let mut changes = Vec::new();
        while (changes.len() as u64) < count {
            let point = draws.below(length);
            if !changes.contains(&point) {
                changes.push(point);
            }
        }
        let fair_after = length.saturating_mul(FAIR_AFTER_TIMES).max(FAIR_AFTER);
        Pct { priorities: BTreeMap::new(), changes, points: 0, fair_after }
    }

    pub(super) fn pick(&mut self, ready: &[ReadyTask], draws: &mut Draws) -> usize {
        let lowest = self.changes.len() as u64;
        for task in ready {
            self.priorities.entry(task.number).or_insert_with(|| lowest + (draws.next() >> 1));
        }
        let point = self.points;
        self.points += 1;
        if point >= self.fair_after {
            return draws.below(ready.len() as u64) as usize;
        }
        if let Some(lowered) = self.changes.iter().position(|change| *change == point) {
            let next = ready[self.highest(ready)].number;
            self.priorities.insert(next, lowered as u64);
        }
        self.highest(ready)
    }

    #[cfg(test)]
    pub(super) fn changes(&self) -> &[u64] {
        &self.changes
    }

    fn highest(&self, ready: &[ReadyTask]) -> usize {
        let priority = |at: &usize| self.priorities.get(&ready[*at].number);
        // Of equals, which a draw of 63 bits hardly ever gives, the first.
        (0..ready.len()).rev().max_by_key(priority).expect("somebody can go on")
    }
}

/// A length, each power of two as likely as the next.
fn guess(draws: &mut Draws) -> u64 {
    let least = 1 << draws.below(GUESS_BITS);
    least + draws.below(least)
}
