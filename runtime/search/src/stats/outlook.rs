//! What a search finds if it goes on, from when it found what it has found.
//!
//! ```text
//! discoveries   || | |  |    |       |            |               |
//! effort        1  2    4    8       16           32              64       one more doubling costs twice the last
//!                                                 └── last half ──┘  2 of them
//! ```
//!
//! Each next discovery costs a multiple of the last, so that a doubling of the effort brings about as many as the one before (Böhme and
//! Falk, "Fuzzing: On the Exponential Cost of Vulnerability Discovery", 2020). With `k` discoveries in the last doubling and the prior of
//! Jeffreys, their expected number has the distribution Gamma(k + 1/2, 1), and the chance of one at least in `c` doublings more is
//! 1 − (1 + c)^−(k + 1/2); after `d` doublings without any, 1 − (1 + c/d)^−1/2. A search that has found everything
//! there is finds less than that: the chance is rather too large.
//!
//! Invariants: chances are between 0 and 1 and grow with the effort; nothing here depends on how fast a machine is.
//! Not here: how much is left altogether (`estimate`).

use std::collections::VecDeque;

/// The standard normal's quantile for two-sided 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// When a search has found something, as far back as half of its effort.
#[derive(Clone, Debug, Default)]
pub(crate) struct Discoveries {
    at: VecDeque<u64>,
}

impl Discoveries {
    /// One after `effort` executions, once for each of these; they come in order.
    pub(crate) fn record(&mut self, effort: u64) {
        if self.at.back() != Some(&effort) {
            self.at.push_back(effort);
        }
    }

    /// Those in the second half of `effort` executions.
    pub(crate) fn in_last_half(&mut self, effort: u64) -> u64 {
        while self.at.front().is_some_and(|at| *at <= effort / 2) {
            self.at.pop_front();
        }
        self.at.len() as u64
    }
}

/// What is to be expected of a search that goes on.
///
/// ```
/// use fozzy_search::stats::Outlook;
/// let quiet = Outlook { discoveries: 0 }; // nothing in the second half of all executions
/// assert!((0.29..0.30).contains(&quiet.chance(1.0))); // as many again find something with 29 %
/// assert!(quiet.chance(0.01) < 0.01); // a hundredth of them, with less than 1 %
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// Discoveries in the second half of all that was done.
    pub discoveries: u64,
}

impl Outlook {
    /// The chance that something new is found by `more` times the effort so far.
    #[must_use]
    pub fn chance(self, more: f64) -> f64 {
        1.0 - (1.0 + doublings(more)).powf(-self.shape())
    }

    /// The same of a search that has found nothing in the last `quiet` of `all` its executions, when these are its last doubling or more of them:
    /// each is one more without a discovery.
    ///
    /// ```
    /// use fozzy_search::stats::Outlook;
    /// let chance = |quiet| Outlook::chance_when_quiet(quiet, 1024, 1.0);
    /// assert_eq!(chance(512), Outlook { discoveries: 0 }.chance(1.0));
    /// assert!(chance(1023) < 0.05); // ten doublings
    /// ```
    #[must_use]
    pub fn chance_when_quiet(quiet: u64, all: u64, more: f64) -> f64 {
        1.0 - (1.0 + doublings(more) / quiet_doublings(quiet, all)).powf(-Outlook::default().shape())
    }

    /// Where that chance is with a confidence of 95 %.
    #[must_use]
    pub fn chance_range_when_quiet(quiet: u64, all: u64, more: f64) -> (f64, f64) {
        Outlook::default().range(doublings(more) / quiet_doublings(quiet, all))
    }

    /// Where that chance is with a confidence of 95 %.
    #[must_use]
    pub fn chance_range(self, more: f64) -> (f64, f64) {
        self.range(doublings(more))
    }

    /// The same for a number of doublings, in those that were observed.
    fn range(self, doublings: f64) -> (f64, f64) {
        // The quantiles of a gamma distribution by those of the normal one (Wilson and Hilferty, 1931).
        let shape = self.shape();
        let quantile = |z: f64| shape * (1.0 - 1.0 / (9.0 * shape) + z / (3.0 * shape.sqrt())).max(0.0).powi(3);
        let chance = |expected: f64| 1.0 - (-expected * doublings).exp();
        (chance(quantile(-Z)), chance(quantile(Z)))
    }

    fn shape(self) -> f64 {
        self.discoveries as f64 + 0.5
    }
}

/// Doublings of the effort since the last discovery, one at the least.
fn quiet_doublings(quiet: u64, all: u64) -> f64 {
    let before = all.saturating_sub(quiet).max(1);
    (all.max(1) as f64 / before as f64).log2().max(1.0)
}

fn doublings(more: f64) -> f64 {
    more.max(0.0).ln_1p() / std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn the_last_half_is_counted() {
        let mut found = Discoveries::default();
        [1, 2, 5, 9, 10, 10].into_iter().for_each(|at| found.record(at));
        assert_eq!(found.in_last_half(10), 2);
        assert_eq!(found.in_last_half(18), 1);
        assert_eq!(found.in_last_half(20), 0);
    }

    #[test]
    fn chances_are_chances() {
        for discoveries in [0, 1, 7, 1000, u64::MAX] {
            let outlook = Outlook { discoveries };
            assert_eq!(outlook.chance(0.0), 0.0);
            let (mut before, (low, high)) = (0.0, outlook.chance_range(1.0));
            for more in [0.001, 0.1, 1.0, 1e3, 1e18, f64::INFINITY] {
                let chance = outlook.chance(more);
                assert!((before..=1.0).contains(&chance), "{discoveries}, {more}: {chance}");
                before = chance;
            }
            assert!(
                0.0 <= low && low <= outlook.chance(1.0) && outlook.chance(1.0) <= high && high <= 1.0,
                "{outlook:?}"
            );
        }
        assert_eq!(Outlook::chance_range_when_quiet(512, 1024, 1.0), Outlook::default().chance_range(1.0));
        for quiet in [513, 1000, 1024] {
            let (low, high) = Outlook::chance_range_when_quiet(quiet, 1024, 1.0);
            let chance = Outlook::chance_when_quiet(quiet, 1024, 1.0);
            assert!(0.0 <= low && low <= chance && chance <= high && high < 0.915, "{quiet}: {low} {chance} {high}");
        }
    }

    /// How often a search finds something by `more` times the effort, beside what was foretold: `rate` is that of discoveries.
    fn beside_truth(more: f64, rate: impl Fn(u64) -> f64) -> (f64, f64) {
        const SEARCHES: u64 = 2_000;
        const EFFORT: u64 = 512;
        let (mut foretold, mut true_ones) = (0.0, 0.0);
        for search in 0..SEARCHES {
            let mut rng = Rng::new(fozzy_trace::Seed(search), 0);
            let mut happens = |at: u64| (rng.below(1 << 32) as f64) < rate(at) * f64::from(u32::MAX);
            let mut found = Discoveries::default();
            (1..=EFFORT).filter(|at| happens(*at)).for_each(|at| found.record(at));
            foretold += Outlook { discoveries: found.in_last_half(EFFORT) }.chance(more);
            let end = EFFORT + (EFFORT as f64 * more) as u64;
            true_ones += f64::from(u8::from((EFFORT + 1..=end).any(&mut happens)));
        }
        (foretold / SEARCHES as f64, true_ones / SEARCHES as f64)
    }

    #[test]
    fn what_is_foretold_happens_as_often() {
        // Discoveries that cost a multiple of the last each: about one to a doubling, and about four.
        for (scale, more) in [(1.4, 1.0), (1.4, 0.1), (5.8, 0.25)] {
            let (foretold, truth) = beside_truth(more, |at| (scale / at as f64).min(1.0));
            assert!((foretold - truth).abs() < 0.08, "{scale}, {more}: {foretold} beside {truth}");
        }
        // One that has found everything: rather too much is foretold than too little.
        let (foretold, truth) = beside_truth(1.0, |at| 0.5 * (-(at as f64) / 20.0).exp());
        assert!(truth < 0.01 && (0.2..0.4).contains(&foretold), "{foretold} beside {truth}");
    }
}
