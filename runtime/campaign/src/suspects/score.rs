//! How well something goes with a failure, and how likely that would be by chance.
//!
//! ```text
//!            with it   without        Ochiai = a / √((a + b)(a + c))
//! failing       a         b           Fisher = P(at least a failing runs among those with it), had lots been drawn
//! passing       c         d
//! ```
//!
//! Sources: Abreu, Zoeteweij, van Gemund, "On the accuracy of spectrum-based fault localization" (2007); Fisher's exact test, one-sided.

use std::sync::OnceLock;

/// Up to which number logarithms of factorials are kept.
const TABLE_MAX: u64 = 10_000;

/// In how many runs something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contingency {
    pub(super) failing_with: u64,
    pub(super) failing_without: u64,
    pub(super) passing_with: u64,
    pub(super) passing_without: u64,
}

impl Contingency {
    /// That it is not there.
    pub(super) fn absent(self) -> Contingency {
        Contingency {
            failing_with: self.failing_without,
            failing_without: self.failing_with,
            passing_with: self.passing_without,
            passing_without: self.passing_with,
        }
    }

    /// Whether a larger part of the failing runs has it than of the others.
    pub(super) fn goes_with_failing(self) -> bool {
        let Contingency { failing_with, failing_without, passing_with, passing_without } = self;
        failing_with * (passing_with + passing_without) > passing_with * (failing_with + failing_without)
    }

    /// From 0 to 1; 1 is in all failing runs and in no other.
    pub(super) fn ochiai(self) -> f64 {
        let Contingency { failing_with, failing_without, passing_with, .. } = self;
        let below = (failing_with + failing_without) as f64 * (failing_with + passing_with) as f64;
        if failing_with == 0 { 0.0 } else { failing_with as f64 / below.sqrt() }
    }

    /// How likely it is that as many failing runs have it or more, if it has nothing to do with failing.
    pub(super) fn by_chance(self) -> f64 {
        let Contingency { failing_with, failing_without, passing_with, passing_without } = self;
        let (failing, with) = (failing_with + failing_without, failing_with + passing_with);
        let all = failing + passing_with + passing_without;
        let most = failing.min(with);
        let term = |both: u64| {
            (both + all >= failing + with)
                .then(|| choose(failing, both) + choose(all - failing, with - both) - choose(all, with))
        };
        let sum: f64 = (failing_with..=most).filter_map(term).map(f64::exp).sum();
        sum.min(1.0)
    }
}

/// The logarithm of the number of ways to choose `some` of `all`.
fn choose(all: u64, some: u64) -> f64 {
    ln_factorial(all) - ln_factorial(some) - ln_factorial(all - some)
}

/// The logarithm of the number of orders of so many.
fn ln_factorial(of: u64) -> f64 {
    static TABLE: OnceLock<Vec<f64>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut sum = 0.0;
        let next = (1..=TABLE_MAX).map(|number| {
            sum += (number as f64).ln();
            sum
        });
        std::iter::once(0.0).chain(next).collect()
    });
    let known = of.min(TABLE_MAX);
    table[known as usize] + (known + 1..=of).map(|number| (number as f64).ln()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(failing_with: u64, failing_without: u64, passing_with: u64, passing_without: u64) -> Contingency {
        Contingency { failing_with, failing_without, passing_with, passing_without }
    }

    #[test]
    fn the_coefficient_is_one_only_for_what_is_in_all_failing_runs_and_in_no_other() {
        assert_eq!(table(3, 0, 0, 9).ochiai(), 1.0);
        assert_eq!(table(0, 3, 5, 4).ochiai(), 0.0);
        assert!((table(4, 0, 12, 0).ochiai() - 0.5).abs() < 1e-12);
        assert_eq!(table(0, 3, 9, 0).absent().ochiai(), 1.0);
    }

    #[test]
    fn what_as_many_of_the_others_have_does_not_go_with_failing() {
        assert!(table(1, 2, 2, 7).goes_with_failing() && !table(1, 2, 3, 6).goes_with_failing());
        assert!(!table(0, 3, 0, 9).goes_with_failing() && !table(0, 3, 0, 9).absent().goes_with_failing());
        assert!(!table(1, 2, 4, 5).goes_with_failing() && table(1, 2, 4, 5).absent().goes_with_failing());
    }

    #[test]
    fn chances_are_those_of_drawing_lots() {
        // The lady who tastes tea: all four of eight.
        assert!((table(4, 0, 0, 4).by_chance() - 1.0 / 70.0).abs() < 1e-12);
        assert!((table(3, 1, 1, 3).by_chance() - 17.0 / 70.0).abs() < 1e-12);
        // One failing run says nothing much, however well something goes with it.
        assert!((table(1, 0, 0, 9).by_chance() - 0.1).abs() < 1e-12);
        assert!((table(2, 0, 5, 0).by_chance() - 1.0).abs() < 1e-12);
        // By brute force: all ways to give 3 of 7 runs the thing, 4 of which fail.
        for with in 0..=3 {
            let mut at_least = 0;
            let all = (0u32..1 << 7).filter(|set| set.count_ones() == 3);
            for set in all.clone() {
                at_least += u32::from((set & 0b1111).count_ones() >= with);
            }
            let expected = f64::from(at_least) / all.count() as f64;
            let found = table(u64::from(with), 4 - u64::from(with), 3 - u64::from(with), u64::from(with)).by_chance();
            assert!((found - expected).abs() < 1e-12, "{with}: {found} {expected}");
        }
    }
}
