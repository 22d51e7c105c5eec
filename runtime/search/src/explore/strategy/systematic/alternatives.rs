//! Other possible answers to a question, and the cost of each: how far it is from the simplest one.
//!
//! ```text
//! below 3         1, 2: each costs 1             below 2^64     the last, 1, and some between: 2, 3, 3, 4, 4, 4, 4, …
//! weights 5 0 2   the beginning of the third     bytes          none but zeros
//! ```
//!
//! Invariant: the alternatives of a question come in the order of their costs, and no cost exceeds [`COST_MAX`].

use fozzy_trace::source::Override;
use std::sync::Arc;

/// Alternatives of one question that are listed; of more answers some are tried, evenly spread.
pub(crate) const ANSWERS_MAX: u64 = 64;
/// How many answers are as near as the nearest: flows, and tasks that are ready.
const ANSWERS_NEAR: u64 = 8;
/// What the furthest alternative costs.
pub(super) const COST_MAX: u32 = 2 + ANSWERS_MAX.ilog2();

/// A question with its answer, and what else there is.
#[derive(Clone, Debug)]
pub(crate) struct AskedQuestion {
    pub(crate) answer: Override,
    pub(crate) alternatives: Alternatives,
}

/// The answers that a question has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Alternatives {
    /// All numbers below a bound.
    Below(u64),
    /// Numbers that stand for all that have the same effect, the simplest first.
    Listed(Arc<[u64]>),
    /// Bytes, which the program draws or not.
    Bytes { is_drawn: bool },
}

impl Alternatives {
    /// The answer of this number, and its cost; the simplest is number 0.
    pub(super) fn get(&self, number: u64) -> Option<(u64, u32)> {
        match self {
            Alternatives::Bytes { .. } => None,
            Alternatives::Listed(all) => Some((*all.get(number as usize)?, 1)),
            Alternatives::Below(bound) if *bound <= ANSWERS_MAX => (number < *bound)
                .then(|| (number, 1 + (number / ANSWERS_NEAR).checked_ilog2().map_or(0, |far| far + 1))),
            Alternatives::Below(_) if number > ANSWERS_MAX => None,
            Alternatives::Below(bound) => {
                let answer = match number {
                    0 => 0,
                    1 => bound - 1,
                    2 => 1,
                    _ => spread(*bound, number - 2),
                };
                Some((answer, 2 + number.checked_ilog2().unwrap_or(0)))
            }
        }
    }

    /// Whether an answer is left out however long it is searched.
    pub(super) fn is_sampled(&self) -> bool {
        match self {
            Alternatives::Below(bound) => *bound > ANSWERS_MAX,
            Alternatives::Listed(_) => false,
            Alternatives::Bytes { is_drawn } => *is_drawn,
        }
    }

    /// The costs of all of them but the simplest, a bit for each.
    pub(super) fn costs(&self) -> u16 {
        (1..).map_while(|number| self.get(number)).fold(0, |costs, (_, cost)| costs | 1 << cost)
    }
}

/// A number below `bound`: the first ones halve what is between, the next ones these halves.
fn spread(bound: u64, number: u64) -> u64 {
    let part = number.reverse_bits() >> (u64::BITS - ANSWERS_MAX.ilog2());
    (u128::from(bound) * u128::from(part) / u128::from(ANSWERS_MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(alternatives: &Alternatives) -> Vec<(u64, u32)> {
        (1..).map_while(|number| alternatives.get(number)).collect()
    }

    #[test]
    fn few_answers_are_all_near_and_many_are_spread_and_far() {
        assert_eq!(all(&Alternatives::Below(3)), [(1, 1), (2, 1)]);
        assert_eq!(all(&Alternatives::Below(1)), []);
        assert_eq!(all(&Alternatives::Listed(Arc::from([0, 5]))), [(5, 1)]);
        assert_eq!(all(&Alternatives::Bytes { is_drawn: true }), []);
        for bound in [2, 8, 9, 64, 65, 1000, 1_000_000, u64::MAX] {
            let alternatives = Alternatives::Below(bound);
            let (answers, costs): (Vec<u64>, Vec<u32>) = all(&alternatives).into_iter().unzip();
            assert!(costs.is_sorted() && costs.iter().all(|cost| (1..=COST_MAX).contains(cost)), "{bound}: {costs:?}");
            assert!(answers.iter().all(|answer| (1..bound).contains(answer)), "{bound}: {answers:?}");
            assert_eq!(answers.len() as u64, (bound - 1).min(ANSWERS_MAX), "{bound}");
            assert!(answers.contains(&(bound - 1)), "{bound}: the last one");
            assert_eq!(alternatives.is_sampled(), bound > 64);
        }
        assert_eq!(all(&Alternatives::Below(1 << 20))[..4], [(1048575, 2), (1, 3), (1 << 19, 3), (1 << 18, 4)]);
    }
}
