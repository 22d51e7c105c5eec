//! How many executions a testcase is worth: fewer of those that take long, so that a campaign does not sink into its slowest inputs.
//!
//! ```text
//! quick = what a testcase costs, of which a quarter costs no more          cost = instructions of the call that logs comparisons
//!
//! cost up to 8 quick         all executions of a pick                      time of a pick  ≤  8 quick × executions
//!      up to 256 quick       so many that they cost as much
//!      beyond                one, of which (cost / 256 quick) picks are left out for each that is made
//! ```
//!
//! Invariants: a pure function of the costs that it was told, which are counted and not timed; every testcase is changed now and then,
//! and a corpus of equal costs is treated as if costs were unknown.
//! Sources: AFL's `perf_score`, Entropic's `-entropic_scale_per_exec_time`; those measure time.

use crate::rng::Rng;

/// A testcase that costs as many times what a quick one costs is not slow yet.
const SLOW: u64 = 8;
/// One that costs as many times more gets one execution a pick, and is left out of most.
const SLOWEST: u64 = 256;
/// Costs that must be known before any is called slow.
const KNOWN_MIN: usize = 8;

/// What the testcases of a campaign cost.
#[derive(Clone, Debug, Default)]
pub(crate) struct CostControl {
    /// In order.
    costs: Vec<u64>,
}

impl CostControl {
    /// Takes note of what a testcase costs, in instructions.
    pub(crate) fn observe(&mut self, cost: u64) {
        let place = self.costs.partition_point(|known| *known <= cost);
        self.costs.insert(place, cost);
    }

    /// What a quick testcase costs; `None` before that is known.
    fn quick(&self) -> Option<u64> {
        (self.costs.len() >= KNOWN_MIN).then(|| self.costs[self.costs.len() / 4].max(1))
    }

    /// Of as many `executions`, how many an input of that cost gets: one at least.
    pub(crate) fn share(&self, cost: Option<u64>, executions: u64) -> u64 {
        let (Some(quick), Some(cost)) = (self.quick(), cost) else { return executions };
        let affordable = u128::from(quick) * u128::from(SLOW * executions) / u128::from(cost.max(1));
        affordable.clamp(1, u128::from(executions)) as u64
    }

    /// Whether a pick of a testcase of that cost is left out. Nothing is drawn for one that is not among the slowest.
    pub(crate) fn skips(&self, cost: Option<u64>, rng: &mut Rng) -> bool {
        let (Some(quick), Some(cost)) = (self.quick(), cost) else { return false };
        let times = cost / quick.saturating_mul(SLOWEST);
        times > 0 && !rng.one_in(times + 1)
    }

    /// The cost in the middle.
    pub(crate) fn median(&self) -> Option<u64> {
        self.costs.get(self.costs.len() / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Seed;

    fn of(costs: &[u64]) -> CostControl {
        let mut control = CostControl::default();
        costs.iter().for_each(|cost| control.observe(*cost));
        control
    }

    #[test]
    fn an_equal_corpus_and_one_of_unknown_costs_get_all_executions() {
        let (mut rng, equal) = (Rng::new(Seed(1), 0), of(&[700; 20]));
        assert_eq!(equal.share(Some(700), 32), 32);
        assert_eq!(equal.share(None, 32), 32);
        assert_eq!(of(&[1, 1, 1_000_000]).share(Some(1_000_000), 32), 32, "too few are known");
        assert!(!equal.skips(Some(700 * SLOWEST - 1), &mut rng) && !equal.skips(None, &mut rng));
        assert_eq!(rng.number(), Rng::new(Seed(1), 0).number(), "nothing was drawn");
    }

    #[test]
    fn the_cost_of_a_pick_is_bounded_whatever_one_execution_costs() {
        let (mut rng, control) =
            (Rng::new(Seed(1), 0), of(&[100, 100, 100, 100, 100, 100, 100, 5_000, 40_000, 90_000_000]));
        for cost in [0, 1, 100, 799, 801, 5_000, 40_000, 1_000_000, 90_000_000] {
            const PICKS: u64 = 20_000;
            let picks = (0..PICKS).filter(|_| !control.skips(Some(cost), &mut rng));
            let executions: u64 = picks.map(|_| control.share(Some(cost), 32)).sum();
            assert!(executions > 0, "{cost} is never changed");
            let a_pick = executions as f64 * cost as f64 / PICKS as f64;
            // Twice as much, as picks are drawn.
            assert!(a_pick <= 100.0 * 2.0 * (SLOW * 32).max(SLOWEST) as f64, "{cost}: {a_pick}");
        }
        assert_eq!(control.share(Some(u64::MAX), 32), 1);
    }

    #[test]
    fn the_reference_is_a_quick_testcase_and_not_the_mean() {
        let mut control = of(&[10; 8]);
        (0..20).for_each(|_| control.observe(1_000_000));
        assert_eq!(control.share(Some(1_000_000), 32), 1, "a quarter of the corpus is quick");
        assert_eq!((control.share(Some(10), 32), control.median()), (32, Some(1_000_000)));
    }
}
