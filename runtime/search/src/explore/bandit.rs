//! Divides effort between a few arms by what each has found in a recent step.
//!
//! ```text
//! weight   (found + 1) / (steps + 50), both forgotten slowly │ share   weight / sum of weights, at least 1/20
//! ```
//!
//! Invariants: every arm that can be chosen is, now and then; what each has earned in all is kept for the report.

use crate::rng::Rng;

/// What an arm that was never tried is believed to find, in how many steps.
const PRIOR: (f64, f64) = (1.0, 50.0);
/// What is left of what an arm has found after it was tried once more.
const KEPT: f64 = 0.98;
/// No arm gets less than this.
const SHARE_MIN: f64 = 0.05;
/// What one run can add.
const FOUND_MAX: u32 = 16;

/// What an arm has earned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Reward {
    /// Runs.
    pub runs: u64,
    /// Steps of them.
    pub steps: u64,
    /// What they saw first: edges, states and the like.
    pub found: u64,
}

impl Reward {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Reward) -> Reward {
        Reward { runs: self.runs + other.runs, steps: self.steps + other.steps, found: self.found + other.found }
    }
}

/// A multi-armed bandit of `N` arms.
#[derive(Clone, Debug)]
pub(crate) struct Bandit<const N: usize> {
    names: [&'static str; N],
    /// Recent finds, and the steps that they took.
    lately: [(f64, f64); N],
    rewards: [Reward; N],
    chosen: usize,
}

impl<const N: usize> Bandit<N> {
    pub(crate) fn new(names: [&'static str; N]) -> Bandit<N> {
        Bandit { names, lately: [(0.0, 0.0); N], rewards: [Reward::default(); N], chosen: 0 }
    }

    /// One of those that can be chosen; the first can.
    pub(crate) fn pick(&mut self, can: [bool; N], rng: &mut Rng) -> usize {
        let weight = |at: usize| {
            let (found, steps) = self.lately[at];
            if can[at] { (found + PRIOR.0) / (steps + PRIOR.1) } else { 0.0 }
        };
        let sum: f64 = (0..N).map(weight).sum();
        let share = |at: usize| if can[at] { (weight(at) / sum).max(SHARE_MIN) } else { 0.0 };
        let mut left = rng.share() * (0..N).map(share).sum::<f64>();
        let at = (0..N).find(|at| {
            left -= share(*at);
            left < 0.0 && can[*at]
        });
        self.choose(at.unwrap_or(0))
    }

    /// Another worker has chosen this one.
    pub(crate) fn choose(&mut self, at: usize) -> usize {
        self.chosen = at;
        at
    }

    /// What came of the one that was chosen.
    pub(crate) fn learn(&mut self, found: u32, steps: u64) {
        let (lately, rewards) = (&mut self.lately[self.chosen], &mut self.rewards[self.chosen]);
        *lately = (lately.0 * KEPT + f64::from(found.min(FOUND_MAX)), lately.1 * KEPT + steps as f64);
        *rewards = rewards.and(Reward { runs: 1, steps, found: found.into() });
    }

    /// What each has earned.
    pub(crate) fn rewards(&self) -> impl Iterator<Item = (&'static str, Reward)> {
        self.names.into_iter().zip(self.rewards)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Seed;

    #[test]
    fn the_arm_that_finds_gets_most_and_none_gets_nothing() {
        let mut rng = Rng::new(Seed(3), 0);
        let mut bandit = Bandit::new(["rich", "poor", "barred"]);
        for _ in 0..2000 {
            let at = bandit.pick([true, true, false], &mut rng);
            bandit.learn(u32::from(at == 0 && rng.one_in(4)), 10);
        }
        let runs: Vec<u64> = bandit.rewards().map(|(_, rewards)| rewards.runs).collect();
        assert!(runs[0] > 4 * runs[1] && runs[1] > 50 && runs[2] == 0, "{runs:?}");
    }
}
