//! How often something happens, and how sure that is, by counts.
//!
//! ```text
//! 3 of 32     9.4 %, most likely 3.2 to 24.2 %  (Wilson)     at least 2.6 %  (exact, one side)
//! 0 of 100    none was seen: at most 3.0 %      (rule of three: 3 / 100)
//! ```
//!
//! Sources: Wilson, "Probable Inference, the Law of Succession, and Statistical Inference" (1927); Clopper and Pearson, "The
//! Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial" (1934); Hanley and Lippman-Hand, "If Nothing
//! Goes Wrong, Is Everything All Right?" (1983).
//!
//! Invariant: all bounds are between 0 and 1, and the share that was seen is between them.

/// The standard normal's quantile for two-sided 95 %.
const Z: f64 = 1.959_963_984_540_054;
/// What is left to chance by a one-sided bound of 95 %.
const LEFT: f64 = 0.05;
/// Halvings of the interval in which an exact bound is: as many as a number of 64 bits has digits.
const HALVINGS: u32 = 60;

/// A proportion: a number of successes among a number of trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proportion {
    /// Times that it happened.
    pub times: u64,
    /// Times that it could have.
    pub of: u64,
}

impl Proportion {
    /// The share that was seen; 0 of nothing.
    #[must_use]
    pub fn share(self) -> f64 {
        if self.of == 0 { 0.0 } else { self.times as f64 / self.of as f64 }
    }

    /// Where the true chance is, with a confidence of 95 % (Wilson's score interval).
    #[must_use]
    pub fn interval(self) -> (f64, f64) {
        if self.of == 0 {
            return (0.0, 1.0);
        }
        let (p, n) = (self.share(), self.of as f64);
        let spread = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        let (middle, scale) = (p + Z * Z / (2.0 * n), 1.0 + Z * Z / n);
        let low = if self.times == 0 { 0.0 } else { ((middle - spread) / scale).max(0.0) };
        let high = if self.times == self.of { 1.0 } else { ((middle + spread) / scale).min(1.0) };
        (low, high)
    }

    /// The chance is at least this, with a confidence of 95 % (exact, by the binomial distribution); 0 when it never happened.
    #[must_use]
    pub fn at_least(self) -> f64 {
        if self.times == 0 {
            return 0.0;
        }
        // The largest probability under which this number of successes, or more, is a surprise.
        bisect(|chance| 1.0 - below(self.times, self.of, chance) <= LEFT)
    }

    /// The chance is at most this, with a confidence of 95 % (exact); for none of many, about 3 divided by their number.
    #[must_use]
    pub fn at_most(self) -> f64 {
        if self.times >= self.of {
            return 1.0;
        }
        bisect(|chance| below(self.times + 1, self.of, chance) > LEFT)
    }
}

/// Runs without the failure that make it believable, with a confidence of 95 %, that a chance of at least `chance` is gone:
/// `None` when no number does.
#[must_use]
pub fn clean_runs(chance: f64) -> Option<u64> {
    if chance >= 1.0 {
        return Some(1);
    }
    let runs = (LEFT.ln() / (-chance).ln_1p()).ceil();
    (chance > 0.0 && runs.is_finite() && runs < 1e18).then_some(runs.max(1.0) as u64)
}

/// The rarest failure that `executions` have met with a chance of 95 %, as one in how many of them it strikes, if each is drawn as the others are: the
/// largest N for which 1 − (1 − 1/N)^n is at least that, about n / 3. It is 0 of no execution.
///
/// ```
/// use fozzy_search::stats::detectable_one_in;
/// assert_eq!(detectable_one_in(30_000), 10_014); // what strikes in one of 10,014 executions, or more often, has been met with 95 %
/// ```
#[must_use]
pub fn detectable_one_in(executions: u64) -> u64 {
    if executions == 0 {
        return 0;
    }
    // 1 − 0.05^(1/n), without the loss of digits of that difference.
    let least = -(LEFT.ln() / executions as f64).exp_m1();
    (1.0 / least) as u64
}

/// The chance that fewer than `times` of `of` happen, when each does with `chance`.
fn below(times: u64, of: u64, chance: f64) -> f64 {
    if chance <= 0.0 {
        return if times == 0 { 0.0 } else { 1.0 };
    }
    if chance >= 1.0 {
        return if times > of { 1.0 } else { 0.0 };
    }
    // In logarithms, because single terms are far below what a number can be.
    let odds = chance.ln() - (-chance).ln_1p();
    let mut term = of as f64 * (-chance).ln_1p();
    let mut sum = f64::NEG_INFINITY;
    for happened in 0..times.min(of + 1) {
        let larger = sum.max(term);
        sum = larger + ((sum - larger).exp() + (term - larger).exp()).ln();
        term += ((of - happened.min(of)) as f64).ln() - ((happened + 1) as f64).ln() + odds;
    }
    sum.exp().min(1.0)
}

/// The largest chance for which `holds`, which does so up to some chance.
fn bisect(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounded(value: f64) -> f64 {
        (value * 1e4).round() / 1e4
    }

    #[test]
    fn bounds_are_those_of_the_tables() {
        let rate = |times, of| Proportion { times, of };
        let interval = |times, of| {
            let (low, high) = rate(times, of).interval();
            (rounded(low), rounded(high))
        };
        // Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I, method 3.
        assert_eq!(interval(81, 263), (0.2553, 0.3662));
        assert_eq!(interval(15, 148), (0.0624, 0.1605));
        assert_eq!(interval(0, 20), (0.0, 0.1611));
        assert_eq!(interval(1, 29), (0.0061, 0.1718));
        assert_eq!(interval(0, 0), (0.0, 1.0));
        // One side of 95 % is two sides of 90 %: 1 of 1, 0 of 100 and 10 of 10 have closed forms.
        assert_eq!(rounded(rate(1, 1).at_least()), 0.05);
        assert_eq!(rounded(rate(0, 100).at_most()), rounded(1.0 - 0.05_f64.powf(0.01)));
        assert_eq!(rounded(rate(10, 10).at_least()), rounded(0.05_f64.powf(0.1)));
        assert_eq!((rate(0, 9).at_least(), rate(9, 9).at_most()), (0.0, 1.0));
        assert_eq!((rate(0, 0).at_least(), rate(0, 0).at_most()), (0.0, 1.0));
    }

    #[test]
    fn an_exact_bound_is_where_the_binomial_distribution_says() {
        /// The distribution by its definition, with whole binomial coefficients.
        fn plain(times: u64, of: u64, chance: f64) -> f64 {
            let choose = |k: u64| (0..k).fold(1.0, |product, i| product * (of - i) as f64 / (i + 1) as f64);
            let term = |k: u64| choose(k) * chance.powi(k as i32) * (1.0 - chance).powi((of - k) as i32);
            (0..times).map(term).sum()
        }
        for of in 1..30 {
            for times in 1..of {
                let rate = Proportion { times, of };
                let (least, most) = (rate.at_least(), rate.at_most());
                assert!(least < rate.share() && rate.share() < most);
                assert!((plain(times, of, least) - 0.95).abs() < 1e-9, "{rate:?}");
                assert!((plain(times + 1, of, most) - 0.05).abs() < 1e-9, "{rate:?}");
            }
        }
        assert!(Proportion { times: 0, of: 1_000_000 }.at_most() < 3.1e-6);
    }

    #[test]
    fn a_failure_that_is_rarer_than_the_detectable_one_may_be_missed() {
        assert_eq!([detectable_one_in(0), detectable_one_in(1), detectable_one_in(98)], [0, 1, 33]);
        for executions in [2, 10, 59, 3_000, 1_000_000] {
            let one_in = detectable_one_in(executions) as f64;
            let missed = |rate: f64| (executions as f64 * (-rate).ln_1p()).exp();
            assert!(missed(1.0 / one_in) <= 0.05 && missed(1.0 / (one_in + 1.0)) > 0.05, "{executions}: {one_in}");
            // As the exact bound of none of many has it.
            let most = Proportion { times: 0, of: executions }.at_most();
            assert!((1.0 / one_in + 1e-9 >= most) && (1.0 / (one_in + 1.0) <= most + 1e-9), "{executions}: {most}");
        }
        assert!((3.3e18..3.4e18).contains(&(detectable_one_in(10_000_000_000_000_000_000) as f64)));
    }

    #[test]
    fn so_many_clean_runs_are_needed() {
        assert_eq!([clean_runs(0.5), clean_runs(0.1), clean_runs(0.03)], [Some(5), Some(29), Some(99)]);
        assert_eq!([clean_runs(1.0), clean_runs(0.0), clean_runs(1e-30)], [Some(1), None, None]);
        for chance in [0.9, 0.2, 0.01] {
            let runs = clean_runs(chance).expect("it can be seen") as i32;
            assert!((1.0_f64 - chance).powi(runs) <= 0.05 && (1.0 - chance).powi(runs - 1) > 0.05);
        }
    }
}
