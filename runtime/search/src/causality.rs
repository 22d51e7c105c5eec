//! The moment at which a failure became likely: fresh continuations from moments of the failing run.
//!
//! ```text
//! chance of the failure, if the run continues from there with other randomness
//!   1 ┤                ●──●──●──●
//!     │                │
//!   0 ┤ ●──●──●──●──●──┘            between two moments it leaps: there it is looked again, down to one decision
//!     └─┴──┴──┴──┴──┴──┴──┴──┴──▶ decisions
//! ```
//!
//! Invariants: which continuations are made depends on the numbers of moments and runs and the seed only; the moment that is
//! named is one decision, or none where the chance grows little by little.
//! Not here: who continues (`fozzy`), what a continuation is (`branch`).

use crate::stats::Proportion;
use fozzy_trace::{RunningDigest, Seed};

/// How often continuations from one moment failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CausalitySample {
    /// Decisions that were the recording's.
    pub at: u64,
    /// Continuations that failed in the same way, of all.
    pub failed: Proportion,
}

/// The decision that made it likely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CausalDecision {
    /// Its number: with it drawn anew, the chance is that of `before`; with it as recorded, that of `after`.
    pub decision: u64,
    /// Continuations in which it was drawn anew.
    pub before: Proportion,
    /// Continuations that kept it.
    pub after: Proportion,
}

impl CausalDecision {
    /// Whether the two are apart, with a confidence of 95 % each.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        self.before.interval().1 < self.after.interval().0
    }
}

/// The seed of one continuation.
#[must_use]
pub fn continuation(seed: Seed, at: u64, number: u64) -> Seed {
    let mut fold = RunningDigest::default();
    fold.bytes(b"continuation");
    [seed.0, at, number].into_iter().for_each(|word| fold.word(word));
    Seed(fold.value())
}

/// Moments, spread evenly from before the first decision to after the last one.
#[must_use]
pub fn moments(decisions: u64, wanted: u64) -> Vec<u64> {
    let last = wanted.max(2) - 1;
    let at = |number: u64| (u128::from(decisions) * u128::from(number) / u128::from(last)) as u64;
    let mut moments: Vec<u64> = (0..=last).map(at).collect();
    moments.dedup();
    moments
}

/// Looks at the moments, and again between those with the steepest rise: all points in order, and the turn.
///
/// # Errors
/// Those of `count`, which continues from each of the moments that it is given.
pub fn causality<E>(
    decisions: u64,
    wanted: u64,
    mut count: impl FnMut(&[u64]) -> Result<Vec<CausalitySample>, E>,
) -> Result<(Vec<CausalitySample>, Option<CausalDecision>), E> {
    let mut points = count(&moments(decisions, wanted))?;
    let Some(mut place) = steepest(&points, 0..points.len().saturating_sub(1)) else { return Ok((points, None)) };
    loop {
        let (before, after) = (points[place], points[place + 1]);
        if after.at - before.at <= 1 {
            let turn = CausalDecision { decision: before.at, before: before.failed, after: after.failed };
            return Ok((points, Some(turn)));
        }
        let middle = before.at + (after.at - before.at) / 2;
        let found = count(&[middle])?;
        points.splice(place + 1..place + 1, found);
        // What rose between the two rose in one of the halves.
        place = steepest(&points, place..place + 2).unwrap_or(place);
    }
}

/// The place after which the chance rises most; the first such one, and `None` when it rises nowhere.
fn steepest(points: &[CausalitySample], places: std::ops::Range<usize>) -> Option<usize> {
    let rise = |place: usize| points[place + 1].failed.share() - points[place].failed.share();
    let mut best = None;
    for place in places {
        if rise(place) > best.map_or(0.0, rise) {
            best = Some(place);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// A failing run whose decision `fatal` makes it fail: without that, one continuation of `odds` does.
    fn find(decisions: u64, fatal: u64, odds: u64) -> (usize, Option<CausalDecision>) {
        let count = |moments: &[u64]| {
            let point = |at: &u64| {
                let fails = |number: &u64| *at > fatal || continuation(Seed(1), *at, *number).0.is_multiple_of(odds);
                CausalitySample { at: *at, failed: Proportion { times: (0..40).filter(fails).count() as u64, of: 40 } }
            };
            Ok::<_, Infallible>(moments.iter().map(point).collect())
        };
        let Ok((points, turn)) = causality(decisions, 8, count);
        assert!(points.is_sorted_by_key(|point| point.at));
        (points.len(), turn)
    }

    #[test]
    fn the_fatal_decision_is_named() {
        for (decisions, fatal) in [(1, 0), (2, 1), (1_000, 0), (1_000, 999), (1_000, 617), (1 << 40, 77_777_777)] {
            let (looks, turn) = find(decisions, fatal, 20);
            let turn = turn.expect("it rises");
            assert_eq!(turn.decision, fatal);
            assert!(turn.is_clear() && turn.after.share() == 1.0, "{turn:?}");
            assert!(looks <= 8 + 40, "{looks}");
        }
    }

    #[test]
    fn where_nothing_rises_nothing_is_named() {
        assert_eq!(find(100, 200, u64::MAX).1, None);
        assert_eq!(find(0, 0, 2).1, None);
        let (_, turn) = find(100, 200, 2);
        assert!(turn.is_none_or(|turn| !turn.is_clear()), "{turn:?}");
    }

    #[test]
    fn moments_are_spread_from_the_first_to_the_last() {
        assert_eq!(moments(100, 5), [0, 25, 50, 75, 100]);
        assert_eq!(moments(2, 9), [0, 1, 2]);
        assert_eq!(moments(0, 9), [0]);
        assert_eq!(moments(u64::MAX, 2), [0, u64::MAX]);
    }
}
