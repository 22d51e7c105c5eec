//! The universal scaling law, fitted to the rates of several numbers of workers.
//!
//! ```text
//!                 λ N                     λ  what one worker reaches
//! X(N) = ───────────────────────          σ  share of the work that is done one after the other (contention)
//!         1 + σ (N - 1) + κ N (N - 1)     κ  what each pair of workers costs (coherence)
//! ```
//!
//! `N / X(N)` is linear in `1/λ`, `σ/λ` and `κ/λ`, so the fit is one of least squares with three unknowns; the last two
//! must not be negative. Each measurement counts by its relative error.
//!
//! Source: Gunther, "Guerrilla Capacity Planning" (2007), chapter 4.
//!
//! Invariant: a law that misses the measurements by more than [`MISS_MAX`], or rests on fewer than [`MEASURED_MIN`], is refused.

/// Fewer measurements than this always lie on some curve of three numbers.
pub const MEASURED_MIN: usize = 4;
/// Mean relative distance between law and measurements up to which it is believed.
pub const MISS_MAX: f64 = 0.05;

/// The rate of a number of workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// Workers.
    pub workers: u32,
    /// Units of work in a second.
    pub throughput: f64,
}

/// The law, with its three numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalingLaw {
    /// What one worker reaches.
    pub lambda: f64,
    /// Contention.
    pub sigma: f64,
    /// Coherence.
    pub kappa: f64,
    /// Mean relative distance to the measurements (root of the mean of squares).
    pub miss: f64,
}

/// Which of the numbers matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalingRegime {
    /// Each worker adds as much as the first.
    Linear,
    /// Bounded by what is done one after the other.
    Amdahl,
    /// More workers reach less, beyond the optimum.
    Usl,
}

impl ScalingRegime {
    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ScalingRegime::Linear => "linear",
            ScalingRegime::Amdahl => "amdahl",
            ScalingRegime::Usl => "usl",
        }
    }
}

/// Why no law is fitted.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum FitError {
    /// There are too few measurements, or some that are no work at all.
    #[error(
        "{0} measurements of work are too few for a law with three numbers: it takes {MEASURED_MIN}, with one worker among them"
    )]
    Few(usize),
    /// The law does not describe them.
    #[error("the law misses the measurements by {:.0} % on average, and is believed up to {:.0} %", 100.0 * .0.miss, 100.0 * MISS_MAX)]
    Poor(ScalingLaw),
}

impl ScalingLaw {
    /// The law that comes nearest to the measurements.
    ///
    /// # Errors
    /// When they are too few, or it does not come near them.
    pub fn fit(measured: &[Measurement]) -> Result<ScalingLaw, FitError> {
        let sound: Vec<Measurement> = measured
            .iter()
            .copied()
            .filter(|one| one.workers > 0 && one.throughput > 0.0 && one.throughput.is_finite())
            .collect();
        let mut workers: Vec<u32> = sound.iter().map(|one| one.workers).collect();
        workers.sort_unstable();
        workers.dedup();
        if workers.len() < MEASURED_MIN || workers[0] != 1 {
            return Err(FitError::Few(workers.len()));
        }
        // Both numbers, either, none: the best of those that are allowed.
        let laws = [[true, true], [true, false], [false, true], [false, false]].into_iter();
        let laws = laws.filter_map(|with| ScalingLaw::with(&sound, with));
        let best = laws.min_by(|one, other| one.miss.total_cmp(&other.miss)).ok_or(FitError::Few(workers.len()))?;
        if best.miss > MISS_MAX { Err(FitError::Poor(best)) } else { Ok(best) }
    }

    /// The law in which σ and κ are 0, unless they are to be found.
    fn with(measured: &[Measurement], [sigma, kappa]: [bool; 2]) -> Option<ScalingLaw> {
        let used: Vec<usize> =
            [true, sigma, kappa].iter().enumerate().filter_map(|(n, used)| used.then_some(n)).collect();
        let mut sums = vec![vec![0.0; used.len() + 1]; used.len()];
        for Measurement { workers, throughput } in measured {
            let n = f64::from(*workers);
            let terms = [1.0, n - 1.0, n * (n - 1.0)];
            let (wanted, weight) = (n / throughput, (throughput / n).powi(2));
            for (row, of) in used.iter().enumerate() {
                for (column, by) in used.iter().enumerate() {
                    sums[row][column] += weight * terms[*of] * terms[*by];
                }
                sums[row][used.len()] += weight * terms[*of] * wanted;
            }
        }
        let solved = solve(sums)?;
        let mut numbers = [0.0; 3];
        used.iter().zip(solved).for_each(|(place, value)| numbers[*place] = value);
        let [one, sigma, kappa] = numbers;
        if one <= 0.0 || sigma < 0.0 || kappa < 0.0 {
            return None;
        }
        let mut law = ScalingLaw { lambda: 1.0 / one, sigma: sigma / one, kappa: kappa / one, miss: 0.0 };
        let squares = measured.iter().map(|one| (law.at(one.workers) / one.throughput - 1.0).powi(2));
        law.miss = (squares.sum::<f64>() / measured.len() as f64).sqrt();
        Some(law)
    }

    /// The rate of a number of workers.
    #[must_use]
    pub fn at(&self, workers: u32) -> f64 {
        self.lambda * self.speedup(f64::from(workers))
    }

    fn speedup(&self, n: f64) -> f64 {
        n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0))
    }

    /// Which of its numbers matter: a speed-up of a thousand workers that differs by less than a hundredth is the same.
    #[must_use]
    pub fn regime(&self) -> ScalingRegime {
        const ALL_BUT_NONE: f64 = 1e-5;
        match (self.sigma > ALL_BUT_NONE, self.kappa > ALL_BUT_NONE / 1e3) {
            (_, true) => ScalingRegime::Usl,
            (true, false) => ScalingRegime::Amdahl,
            (false, false) => ScalingRegime::Linear,
        }
    }

    /// The number of workers that reaches most; `None` when each further one adds something.
    #[must_use]
    pub fn optimum(&self) -> Option<f64> {
        (self.regime() == ScalingRegime::Usl).then(|| ((1.0 - self.sigma).max(0.0) / self.kappa).sqrt().max(1.0))
    }

    /// How many times as much as one worker the best number of them reaches; `None` without a bound.
    #[must_use]
    pub fn peak(&self) -> Option<f64> {
        match self.regime() {
            ScalingRegime::Linear => None,
            ScalingRegime::Amdahl => Some(1.0 / self.sigma),
            ScalingRegime::Usl => self.optimum().map(|optimum| self.speedup(optimum)),
        }
    }
}

/// Solves linear equations, one a row, the right side last; `None` when they do not determine the unknowns.
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = rows.len();
    for column in 0..size {
        let pivot =
            (column..size).max_by(|one, other| rows[*one][column].abs().total_cmp(&rows[*other][column].abs()))?;
        rows.swap(column, pivot);
        let base = rows[column].clone();
        if base[column].abs() < f64::EPSILON {
            return None;
        }
        for (number, row) in rows.iter_mut().enumerate() {
            if number != column {
                let times = row[column] / base[column];
                row.iter_mut().zip(&base).for_each(|(value, base)| *value -= times * base);
            }
        }
    }
    Some((0..size).map(|place| rows[place][size] / rows[place][place]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKERS: [u32; 6] = [1, 2, 4, 8, 16, 32];

    fn curve(lambda: f64, sigma: f64, kappa: f64, noise: f64) -> Vec<Measurement> {
        let law = ScalingLaw { lambda, sigma, kappa, miss: 0.0 };
        // Up and down in turn.
        let noisy = |(number, workers): (usize, &u32)| Measurement {
            workers: *workers,
            throughput: law.at(*workers) * if number % 2 == 0 { 1.0 + noise } else { 1.0 - noise },
        };
        WORKERS.iter().enumerate().map(noisy).collect()
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-6 * expected.abs().max(1e-3), "{found}, expected {expected}");
    }

    #[test]
    fn known_curves_are_found_again() {
        for (lambda, sigma, kappa) in [(500.0, 0.08, 0.0056), (1e6, 0.3, 0.02), (2.0, 0.0, 0.01), (7.0, 0.05, 0.0)] {
            let law = ScalingLaw::fit(&curve(lambda, sigma, kappa, 0.0)).expect("it is the law");
            near(law.lambda, lambda);
            near(law.sigma, sigma);
            near(law.kappa, kappa);
            assert!(law.miss < 1e-9);
        }
        // The example of the seed document: σ 0.080755, κ 0.005578.
        let law = ScalingLaw::fit(&curve(486.0, 0.080_755, 0.005_578, 0.0)).expect("it is the law");
        assert_eq!((law.regime(), law.optimum().map(f64::round)), (ScalingRegime::Usl, Some(13.0)));
        assert!(law.peak().is_some_and(|peak| (4.0..5.0).contains(&peak)), "{law:?}");
        let amdahl = ScalingLaw::fit(&curve(10.0, 0.1, 0.0, 0.0)).expect("it is the law");
        assert_eq!((amdahl.regime(), amdahl.optimum()), (ScalingRegime::Amdahl, None));
        near(amdahl.peak().expect("it is bounded"), 10.0);
        let linear = ScalingLaw::fit(&curve(10.0, 0.0, 0.0, 0.0)).expect("it is the law");
        assert_eq!((linear.regime(), linear.peak()), (ScalingRegime::Linear, None));
    }

    #[test]
    fn noise_moves_the_law_a_little_and_never_below_zero() {
        let law = ScalingLaw::fit(&curve(500.0, 0.08, 0.0056, 0.02)).expect("it is near");
        assert!((law.sigma - 0.08).abs() < 0.05 && (law.kappa - 0.0056).abs() < 0.002, "{law:?}");
        let faster_than_linear: Vec<Measurement> =
            WORKERS.iter().map(|n| Measurement { workers: *n, throughput: f64::from(*n).powf(1.02) }).collect();
        let law = ScalingLaw::fit(&faster_than_linear).expect("it is near");
        assert_eq!((law.sigma, law.kappa), (0.0, 0.0));
    }

    #[test]
    fn what_does_not_follow_the_law_gets_none() {
        assert!(matches!(ScalingLaw::fit(&curve(500.0, 0.08, 0.0056, 0.2)), Err(FitError::Poor(_))));
        assert_eq!(ScalingLaw::fit(&curve(1.0, 0.0, 0.0, 0.0)[..3]), Err(FitError::Few(3)));
        assert_eq!(ScalingLaw::fit(&curve(1.0, 0.0, 0.0, 0.0)[1..]), Err(FitError::Few(5)));
        let still: Vec<Measurement> = WORKERS.iter().map(|n| Measurement { workers: *n, throughput: 0.0 }).collect();
        assert_eq!(ScalingLaw::fit(&still), Err(FitError::Few(0)));
        let saw: Vec<Measurement> = [1, 2, 4, 8]
            .iter()
            .zip([1.0, 0.2, 3.0, 0.5])
            .map(|(n, throughput)| Measurement { workers: *n, throughput })
            .collect();
        let error = ScalingLaw::fit(&saw).expect_err("it is no such curve");
        assert!(error.to_string().contains("misses the measurements"), "{error}");
    }
}
