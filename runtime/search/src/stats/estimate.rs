//! How much is left to be found, from what was found once or twice only.
//!
//! Sources: the Good-Turing estimator of the chance that the next execution takes a new edge, f1 / n; Chao's lower bound
//! of the number of edges never taken, f1² / 2 f2 (Böhme, STADS, 2018).

/// What the numbers of a campaign say about the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The chance that the next execution takes an edge that none took before.
    pub next_is_new: f64,
    /// Edges that can be taken and were not, at least.
    pub undiscovered: f64,
}

impl Estimate {
    /// From the number of executions, and of edges that were taken in one of them and in two of them only.
    #[must_use]
    pub fn of(executions: u64, once: u64, twice: u64) -> Estimate {
        let (n, f1, f2) = (executions as f64, once as f64, twice as f64);
        let next_is_new = if executions == 0 { 1.0 } else { (f1 / n).min(1.0) };
        // Without any that were taken twice, the form of the bound that is corrected for bias.
        let undiscovered = if twice == 0 { f1 * (f1 - 1.0).max(0.0) / 2.0 } else { f1 * f1 / (2.0 * f2) };
        Estimate { next_is_new, undiscovered }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimates_are_those_of_the_books() {
        let Estimate { next_is_new, undiscovered } = Estimate::of(1000, 10, 5);
        assert_eq!((next_is_new, undiscovered), (0.01, 10.0));
        assert_eq!(Estimate::of(1000, 0, 0), Estimate { next_is_new: 0.0, undiscovered: 0.0 });
        assert_eq!(Estimate::of(0, 0, 0).next_is_new, 1.0);
        assert_eq!(Estimate::of(10, 4, 0).undiscovered, 6.0);
    }

    #[test]
    fn an_urn_of_known_content_is_estimated() {
        // 60 common edges that each execution takes, 40 rare ones that one in a thousand takes: after 500 executions some
        // 24 of the rare ones were not taken.
        use crate::rng::Rng;
        let mut rng = Rng::new(fozzy_trace::Seed(1), 0);
        let mut taken = [0u32; 40];
        for _ in 0..500 {
            taken.iter_mut().for_each(|edge| *edge += u32::from(rng.one_in(1000)));
        }
        let of = |times: u32| taken.iter().filter(|edge| **edge == times).count() as u64;
        let found = Estimate::of(500, of(1), of(2));
        assert!((0.3..3.0).contains(&(found.undiscovered / of(0) as f64)), "{found:?}, {} not taken", of(0));
    }
}
