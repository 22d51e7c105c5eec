//! Whether two samples differ in their mean, and how sure that is.
//!
//! ```text
//! one value a side    exact: every difference is one
//! pairs               Student's t over the differences of pairs
//! other samples       Welch's t over the means
//! ```
//!
//! Sources: Welch, "The Generalization of 'Student's' Problem when Several Different Population Variances are Involved" (1947); the
//! incomplete beta function by <https://dlmf.nist.gov/8.17#v>.
//!
//! Invariant: equal means differ in nothing.

/// How a difference was tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceMethod {
    /// Nothing varies.
    Exact,
    /// By the differences of pairs.
    Paired,
    /// By the means.
    Welch,
}

/// A difference of two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanDifference {
    /// The mean of each side.
    pub means: [f64; 2],
    /// The standard deviation of each side.
    pub deviations: [f64; 2],
    /// The standard error of the difference.
    pub error: f64,
    /// The chance of as large a difference, if there were none.
    pub by_chance: f64,
    /// How it was tested.
    pub method: DifferenceMethod,
}

impl MeanDifference {
    /// From `left` to `right`, which are pairs or not; `None` when there is no difference.
    #[must_use]
    pub fn of(left: &[f64], right: &[f64], is_paired: bool) -> Option<MeanDifference> {
        let (before, after) = (mean(left), mean(right));
        if left == right || before == after {
            return None;
        }
        let variances = [variance(left), variance(right)];
        let (n, m) = (left.len() as f64, right.len() as f64);
        let deltas: Vec<f64> = left.iter().zip(right).map(|(left, right)| right - left).collect();
        let (method, error, freedom) = if is_paired && left.len() > 1 {
            (DifferenceMethod::Paired, (variance(&deltas) / n).sqrt(), n - 1.0)
        } else if left.len() == 1 && right.len() == 1 {
            (DifferenceMethod::Exact, 0.0, 1.0)
        } else {
            let (a, b) = (variances[0] / n, variances[1] / m);
            let parts = a * a / (n - 1.0).max(1.0) + b * b / (m - 1.0).max(1.0);
            (DifferenceMethod::Welch, (a + b).sqrt(), if parts > 0.0 { (a + b) * (a + b) / parts } else { 1.0 })
        };
        // What does not vary at all differs for a reason.
        let by_chance = if error > 0.0 { two_sided((after - before).abs() / error, freedom) } else { 0.0 };
        let method = if error > 0.0 { method } else { DifferenceMethod::Exact };
        Some(MeanDifference { means: [before, after], deviations: variances.map(f64::sqrt), error, by_chance, method })
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn variance(values: &[f64]) -> f64 {
    let middle = mean(values);
    let squares: f64 = values.iter().map(|value| (value - middle) * (value - middle)).sum();
    if values.len() < 2 { 0.0 } else { squares / (values.len() - 1) as f64 }
}

/// The chance that Student's t is at least as far from 0 as `t`, with `freedom` degrees.
fn two_sided(t: f64, freedom: f64) -> f64 {
    beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// The regularised incomplete beta function, by its continued fraction (Lentz).
fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(1.0 - x, b, a);
    }
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let front = (gamma_ln(a + b) - gamma_ln(a) - gamma_ln(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for step in 1..200 {
        let n = f64::from(step);
        let even = n * (b - n) * x / ((a + 2.0 * n - 1.0) * (a + 2.0 * n));
        let odd = -(a + n) * (a + b + n) * x / ((a + 2.0 * n) * (a + 2.0 * n + 1.0));
        for part in [even, odd] {
            d = 1.0 / away(1.0 + part * d);
            c = away(1.0 + part / c);
            fraction *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-12 {
            break;
        }
    }
    (front * fraction).clamp(0.0, 1.0)
}

/// The logarithm of the gamma function (Lanczos).
fn gamma_ln(x: f64) -> f64 {
    const PARTS: [f64; 6] = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        1.208_650_973_866_179e-3,
        -5.395_239_384_953e-6,
    ];
    let near = x + 5.5;
    let series: f64 = PARTS.iter().zip(1..).map(|(part, n)| part / (x + f64::from(n))).sum();
    (x + 0.5) * near.ln() - near + (2.506_628_274_631_000_5 * (1.000_000_000_190_015 + series) / x).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_is_students() {
        // Tables: t = 2.262 with 9 degrees, and 12.706 with 1, have 5 %.
        for (t, freedom) in [(2.262, 9.0), (12.706, 1.0), (1.960, 1e6)] {
            assert!((two_sided(t, freedom) - 0.05).abs() < 2e-4, "{t}: {}", two_sided(t, freedom));
        }
    }

    #[test]
    fn what_does_not_vary_is_exact_and_pairs_say_more_than_means() {
        let of = |left: &[f64], right: &[f64], is_paired| MeanDifference::of(left, right, is_paired);
        assert_eq!(of(&[1.0, 3.0], &[3.0, 1.0], false), None, "the means are equal");
        let exact = of(&[1.0], &[2.0], true).expect("they differ");
        assert_eq!((exact.method, exact.by_chance, exact.means), (DifferenceMethod::Exact, 0.0, [1.0, 2.0]));
        let (before, after) = ([10.0, 20.0, 30.0, 40.0], [11.0, 21.5, 31.0, 41.5]);
        let paired = of(&before, &after, true).expect("they differ");
        let apart = of(&before, &after, false).expect("they differ");
        assert_eq!((paired.method, apart.method), (DifferenceMethod::Paired, DifferenceMethod::Welch));
        assert!(paired.by_chance < 0.01 && apart.by_chance > 0.8, "{paired:?} {apart:?}");
    }
}
