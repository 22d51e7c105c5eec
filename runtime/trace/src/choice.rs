//! What the kinds of questions of `fozzy:choices` mean, in numbers below a bound.
//!
//! ```text
//! weighted [2, 0, 5]   below 7:   0 1 │ 2 3 4 5 6          ─▶ place 0 │ place 2
//! bool 0.25            below 2^53: 0 … 3·2^51 - 1 │ …      ─▶ false   │ true
//! ```
//!
//! The host and the guest SDK, when it runs natively, both answer by these functions: so one seed gives one sequence of
//! values in both.
//!
//! Invariant: the number 0 always gives the simplest answer of its kind.
//! Not here: who answers (`decision`), what is built of these (the guest SDK).

use crate::scheduler::{DEPTH_MAX, SchedulePolicy, SchedulingPoint};

/// Names of sites, properties, flows, labels and the like, in bytes. Longer ones are refused, as they travel in reports
/// and signatures.
pub const NAME_BYTES_MAX: usize = 255;
/// Bytes that one question can ask for: a larger blob is no decision that anybody could simplify.
pub const BYTES_MAX: u64 = 16 << 20;
/// Weights that one question can have.
pub const WEIGHTS_MAX: usize = 1 << 16;
/// Most tasks of one question.
pub const TASKS_MAX: usize = 1 << 16;
/// The resolution of probabilities: that of a float between a half and one.
const PROBABILITIES: u64 = 1 << 53;

/// A question that has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChoiceError {
    /// Nothing to choose from.
    #[error("there is nothing to choose from: the count is 0")]
    Nothing,
    /// The range is empty.
    #[error("the range is empty: the minimum {min} is above the maximum {max}")]
    Range {
        /// Its lower end.
        min: i128,
        /// Its upper end.
        max: i128,
    },
    /// No weight, or none but zeros.
    #[error("nothing can be drawn: all of the {0} weights are 0")]
    Weights(usize),
    /// Too many weights.
    #[error("{0} weights, at most {WEIGHTS_MAX} can be drawn from")]
    ManyWeights(usize),
    /// Not between 0 and 1.
    #[error("{0} is no probability: it is not between 0 and 1")]
    Probability(f64),
    /// Too many bytes.
    #[error("{0} bytes asked for at once, at most {BYTES_MAX} can be drawn")]
    Bytes(u64),
    /// No task, or too many.
    #[error("{0} tasks to choose from, expected 1 to {TASKS_MAX}")]
    Tasks(usize),
    /// No depth of a fault, or one that cannot be found.
    #[error("faults of depth {0} are not looked for, expected 1 to {DEPTH_MAX}")]
    Depth(u32),
    /// A site or a name without or with too many bytes.
    #[error("a name has {0} bytes, expected 1 to {NAME_BYTES_MAX}")]
    Name(usize),
}

/// Checks the name of a site, a property or a flow.
///
/// # Errors
/// When it is empty or too long.
pub fn check_name(name: &str) -> Result<(), ChoiceError> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX { Err(ChoiceError::Name(name.len())) } else { Ok(()) }
}

/// Checks a question for the task that runs next.
///
/// # Errors
/// When there is none, there are too many, or the policy cannot be followed.
pub fn check_tasks(point: &SchedulingPoint<'_>) -> Result<(), ChoiceError> {
    if !(1..=TASKS_MAX).contains(&point.ready.len()) {
        return Err(ChoiceError::Tasks(point.ready.len()));
    }
    match point.policy {
        SchedulePolicy::Pct { depth } if !(1..=DEPTH_MAX).contains(&depth) => Err(ChoiceError::Depth(depth)),
        _ => Ok(()),
    }
}

/// One of `count` things.
///
/// # Errors
/// When `count` is 0.
pub fn choose(count: u64, below: impl FnOnce(u64) -> u64) -> Result<u64, ChoiceError> {
    if count == 0 { Err(ChoiceError::Nothing) } else { Ok(below(count)) }
}

/// A number from `min` to `max`.
///
/// # Errors
/// When `min` is above `max`.
pub fn int(min: i64, max: i64, below: impl FnMut(u64) -> u64) -> Result<i64, ChoiceError> {
    if min > max {
        return Err(ChoiceError::Range { min: min.into(), max: max.into() });
    }
    Ok(min.wrapping_add(offset(max.wrapping_sub(min) as u64, below) as i64))
}

/// A number from 0 to `last`, which may be the largest there is.
pub fn offset(last: u64, mut below: impl FnMut(u64) -> u64) -> u64 {
    match last.checked_add(1) {
        Some(bound) => below(bound),
        // 2^64 is no bound: two halves, the higher one first, so that the simplest is still 0.
        None => below(1 << 32) << 32 | below(1 << 32),
    }
}

/// Whether an event of this probability happens.
///
/// # Errors
/// When it is no probability.
pub fn happens(probability: f64, below: impl FnOnce(u64) -> u64) -> Result<bool, ChoiceError> {
    if !(0.0..=1.0).contains(&probability) {
        return Err(ChoiceError::Probability(probability));
    }
    // Scaling by a power of two is exact; what is below the resolution is dropped.
    let share = (probability * PROBABILITIES as f64) as u64;
    Ok(below(PROBABILITIES) >= PROBABILITIES - share)
}

/// The place of one of `weights`.
///
/// # Errors
/// When all are 0, or there are too many.
pub fn weighted(weights: &[u32], below: impl FnOnce(u64) -> u64) -> Result<u32, ChoiceError> {
    if weights.len() > WEIGHTS_MAX {
        return Err(ChoiceError::ManyWeights(weights.len()));
    }
    let sum: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
    if sum == 0 {
        return Err(ChoiceError::Weights(weights.len()));
    }
    let mut left = below(sum);
    for (place, weight) in weights.iter().enumerate() {
        match left.checked_sub(u64::from(*weight)) {
            Some(rest) => left = rest,
            None => return Ok(place as u32),
        }
    }
    unreachable!("the answer is below the sum of the weights")
}

/// Most made-up inputs of fuzz targets are shorter than 2 to this power. Longer ones are for those who search by coverage.
const INPUT_BITS_MAX: u64 = 12;

/// Where the bytes of a fuzz target's input are asked for, right behind their number.
pub const INPUT_SITE: &str = "input";
/// Where the number of these bytes is asked for.
pub const INPUT_LENGTH_SITE: &str = "input length";

/// The answers by which [`input_length`] gives `length`: of a shrunk input, mostly.
#[must_use]
pub fn answers_of_input_length(length: u64) -> Vec<u64> {
    match length.checked_ilog2() {
        None => vec![0],
        Some(bits) => vec![u64::from(bits) + 1, length - (1 << bits)],
    }
}

/// The length of a made-up input of a fuzz target: each length between two powers of two is as likely as the next.
pub fn input_length(mut below: impl FnMut(u64) -> u64) -> usize {
    match below(INPUT_BITS_MAX + 1).checked_sub(1) {
        None => 0,
        Some(bits) => (1 << bits) + below(1 << bits) as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simplest_answer_comes_first_and_every_one_can_come() {
        assert_eq!(weighted(&[0, 2, 0, 3], |bound| bound - 5), Ok(1));
        let all: Vec<u32> = (0..5).map(|n| weighted(&[0, 2, 0, 3], |_| n).expect("a place")).collect();
        assert_eq!(all, [1, 1, 3, 3, 3]);
        assert_eq!(int(-3, 4, |bound| bound - 1), Ok(4));
        assert_eq!(int(-3, 4, |_| 0), Ok(-3));
        assert_eq!(int(i64::MIN, i64::MAX, |_| 0), Ok(i64::MIN));
        assert_eq!(int(i64::MIN, i64::MAX, |bound| bound - 1), Ok(i64::MAX));
        assert_eq!(choose(9, |bound| bound - 1), Ok(8));
    }

    #[test]
    fn the_answers_of_a_length_give_it() {
        for length in (0..5000).chain([8191]) {
            let mut answers = answers_of_input_length(length).into_iter();
            assert_eq!(input_length(|_| answers.next().expect("as many as are asked for")) as u64, length);
            assert_eq!(answers.next(), None);
        }
    }

    #[test]
    fn a_probability_is_exact() {
        let least_true = |probability: f64| {
            // The first number that gives `true`, by halving.
            let (mut low, mut high) = (0, PROBABILITIES);
            while low < high {
                let middle = low + (high - low) / 2;
                if happens(probability, |_| middle).expect("a probability") { high = middle } else { low = middle + 1 }
            }
            PROBABILITIES - low
        };
        for (probability, share) in [(0.0, 0), (1.0, PROBABILITIES), (0.25, 1 << 51), (2f64.powi(-53), 1)] {
            assert_eq!(least_true(probability), share, "{probability}");
        }
    }

    #[test]
    fn what_has_no_answer_is_said() {
        let never = |_: u64| -> u64 { unreachable!("nobody is asked") };
        let said = |error: ChoiceError| error.to_string();
        assert!(said(choose(0, never).expect_err("nothing")).contains("nothing to choose"));
        assert!(said(int(2, 1, never).expect_err("empty")).contains("minimum 2 is above the maximum 1"));
        assert!(said(weighted(&[0, 0], never).expect_err("zeros")).contains("all of the 2 weights are 0"));
        assert!(said(weighted(&vec![1; WEIGHTS_MAX + 1], never).expect_err("many")).contains("65537 weights"));
        for wrong in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(happens(wrong, never).is_err(), "{wrong}");
        }
        assert!(check_name("").is_err() && check_name(&"n".repeat(256)).is_err() && check_name("n").is_ok());
    }
}
