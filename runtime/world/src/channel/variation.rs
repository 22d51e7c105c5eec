//! How much later than planned an arrival of an exploration comes: one decision, of many answers.
//!
//! ```text
//! answer   0 … 1023        …                                  VARIATION_ANSWERS      + nanoseconds
//!          as planned      ever longer, by halvings and evenly                        exactly that long, if the plan allows it
//! share    a fifth         the rest, but for a sixteenth                              a sixteenth
//! ```
//!
//! A seed draws any of them; a search that has seen when something happens names a nanosecond.
//!
//! Invariant: before the exact ones, a smaller answer is no longer time.
//! Not here: what comes, and when it is planned (`channel`).

use crate::OpContext;
use fozzy_trace::plan::ARRIVAL_SITE;
use fozzy_trace::{Duration, Instant, Purpose};

/// Answers by which an arrival of an exploration comes as planned, of some five thousand.
const AS_PLANNED: u64 = 1 << 10;
/// Halvings of the longest variation that have answers of their own: a second goes down to a microsecond.
const VARIATION_HALVINGS: u32 = 20;
/// Answers of each halving, and those that they have beside them by their length.
const ANSWERS_PER_HALVING: u64 = 100;
const ANSWERS_BY_LENGTH: u64 = 1 << 11;
/// Other answers for each exact one: most draws are of them.
const OTHERS_PER_EXACT: u64 = 15;
/// The longest variation that has exact answers, some years: all of them together are a number.
const EXACT_MAX: u64 = 1 << 58;

/// Answers of a variation without exact ones; no variation has fewer.
pub const VARIATION_ANSWERS: u64 = {
    let (mut all, mut halving) = (AS_PLANNED, 0);
    while halving < VARIATION_HALVINGS {
        all += answers_of(halving);
        halving += 1;
    }
    all
};

/// Answers to a part of the length, by how often that is halved.
const fn answers_of(halving: u32) -> u64 {
    ANSWERS_PER_HALVING + (ANSWERS_BY_LENGTH >> (halving + 1))
}

/// A delay of up to `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variation {
    most: Duration,
    /// How often each answer is there that is not exact, if there are exact ones.
    times: Option<u64>,
}

impl Variation {
    pub(super) fn new(most: Duration, to_the_nanosecond: bool) -> Variation {
        let has_exact = to_the_nanosecond && most.0 <= EXACT_MAX;
        let times = || (OTHERS_PER_EXACT * (most.0 + 1)).div_ceil(VARIATION_ANSWERS);
        Variation { most, times: has_exact.then(times) }
    }

    pub(super) fn ask(self, context: &mut OpContext<'_>) -> Duration {
        let bound = match self.first_exact() {
            Some(first) => first + self.most.0 + 1,
            None => VARIATION_ANSWERS,
        };
        self.duration(context.below(Purpose::Arrival, ARRIVAL_SITE, bound))
    }

    fn first_exact(self) -> Option<u64> {
        self.times.map(|times| times * VARIATION_ANSWERS)
    }

    fn duration(self, answer: u64) -> Duration {
        match self.first_exact().and_then(|first| answer.checked_sub(first)) {
            Some(exact) => Duration(exact),
            None => self.roughly(answer / self.times.unwrap_or(1)),
        }
    }

    /// Some answers mean no delay; half of the others are spread evenly over the length, and half over its halvings,
    /// since it is unknown whether a program is sensitive to microseconds or to seconds.
    fn roughly(self, answer: u64) -> Duration {
        let Some(mut left) = answer.checked_sub(AS_PLANNED) else { return Duration(0) };
        // From the shortest to the longest, so that a smaller answer is a shorter time.
        for halving in (0..VARIATION_HALVINGS).rev() {
            let (here, longest) = (answers_of(halving), self.most.0 >> halving);
            if left < here {
                let shortest = self.most.0 >> (halving + 1);
                let further = u128::from(longest - shortest) * u128::from(left + 1) / u128::from(here);
                return Duration(shortest + further as u64);
            }
            left -= here;
        }
        self.most
    }
}

/// An arrival that may come later than planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariedArrival {
    /// When it comes as planned.
    pub(super) planned: Instant,
    pub(super) variation: Variation,
    /// When it came.
    pub(super) at: Instant,
    /// Its bytes in those of the script.
    pub(super) bytes: (usize, usize),
}

impl VariedArrival {
    /// The answer by which it comes at `at`; `None` if that is no later than planned, or later than it can come.
    #[must_use]
    pub fn answer_for(&self, at: Instant) -> Option<u64> {
        let later = at.0.checked_sub(self.planned.0).filter(|later| *later > 0 && *later <= self.variation.most.0)?;
        Some(self.variation.first_exact()? + later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration(1_000_000_000);

    #[test]
    fn a_nanosecond_can_be_named_and_few_draws_do() {
        let varied = VariedArrival {
            planned: Instant(50),
            variation: Variation::new(SECOND, true),
            at: Instant(50),
            bytes: (0, 0),
        };
        let first = varied.variation.first_exact().expect("it has some");
        for later in [1, 999, 123_456_789, SECOND.0] {
            let answer = varied.answer_for(Instant(50 + later)).expect("it can");
            assert_eq!(varied.variation.duration(answer), Duration(later));
        }
        assert_eq!([50, 49, 51 + SECOND.0].map(|at| varied.answer_for(Instant(at))), [None; 3]);
        assert!((OTHERS_PER_EXACT..OTHERS_PER_EXACT + 1).contains(&(first / (SECOND.0 + 1))));
        let longest = Variation::new(Duration(u64::MAX), true);
        assert_eq!((longest.first_exact(), longest.duration(VARIATION_ANSWERS - 1)), (None, Duration(u64::MAX)));
        assert!(Variation::new(Duration(EXACT_MAX), true).first_exact().is_some());
    }

    #[test]
    fn rough_answers_are_those_of_before() {
        let (before, now) = (Variation::new(SECOND, false), Variation::new(SECOND, true));
        let times = now.times.expect("it has exact answers");
        let durations: Vec<Duration> = (0..VARIATION_ANSWERS).map(|answer| before.duration(answer)).collect();
        assert!((0..).zip(&durations).all(|(answer, duration)| now.duration(answer * times) == *duration));
        assert!(durations.is_sorted() && durations[AS_PLANNED as usize - 1] == Duration(0));
    }
}
