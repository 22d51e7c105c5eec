//! How long the inputs of a round can become: short ones are executed sooner, and say what matters.
//!
//! ```text
//! of 16 rounds   8   as long as the bound, which grows while nothing new is found
//!                7   half as long again as the testcase
//!                1   as long as an input can be: what is exhausted, and what repeats
//! ```
//!
//! Invariant: a testcase is never cut to be changed.
//! Source: libFuzzer's `-len_control`, whose bound alone keeps formats with a long header out of reach.

use crate::rng::Rng;

/// The first bound.
const FIRST: usize = 16;
/// Executions without anything new, for each bit of the bound, after which it grows.
const PATIENCE: u64 = 100;
/// What a testcase can be lengthened by, at the least.
const STEP: usize = 16;

/// The bound.
#[derive(Clone, Debug)]
pub(crate) struct LengthControl {
    bound: usize,
    /// The execution at which it grew.
    grown_at: u64,
}

impl Default for LengthControl {
    fn default() -> Self {
        LengthControl { bound: FIRST, grown_at: 0 }
    }
}

impl LengthControl {
    /// The bound of a round that changes a testcase of `length` bytes, after a number of executions, the last one that found
    /// something being `last_new`; `most` is what an input can have.
    pub(crate) fn of_round(
        &mut self,
        rng: &mut Rng,
        length: usize,
        most: usize,
        executions: u64,
        last_new: u64,
    ) -> usize {
        let bits = u64::from(self.bound.ilog2());
        if self.bound < most && executions - last_new.max(self.grown_at) > PATIENCE * bits {
            self.bound = most.min(self.bound + bits as usize);
            self.grown_at = executions;
        }
        match rng.below(16) {
            0 => most,
            1..=7 => most.min(length + STEP.max(length / 2)),
            _ => most.min(self.bound.max(length)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Seed;

    #[test]
    fn the_bound_grows_while_nothing_is_found_and_only_then() {
        let (mut length, mut rng) = (LengthControl::default(), Rng::new(Seed(1), 0));
        let mut longest = |length: &mut LengthControl, executions, last_new| {
            (0..200).map(|_| length.of_round(&mut rng, 4, 4096, executions, last_new)).filter(|most| *most < 4096).max()
        };
        assert_eq!(longest(&mut length, 1_000, 900), Some(4 + STEP));
        assert_eq!(length.bound, FIRST, "something was found");
        for round in 1..100 {
            longest(&mut length, 1_000 + round * 5_000, 900);
        }
        assert!((200..4096).contains(&length.bound), "{}", length.bound);
    }

    #[test]
    fn all_that_there_is_room_for_is_used_now_and_then_and_nothing_is_cut() {
        let (mut length, mut rng) = (LengthControl::default(), Rng::new(Seed(1), 0));
        let rounds: Vec<usize> = (0..400).map(|_| length.of_round(&mut rng, 100, 4096, 10, 5)).collect();
        assert!(rounds.iter().all(|most| (100..=4096).contains(most)));
        assert!((10..60).contains(&rounds.iter().filter(|most| **most == 4096).count()));
        assert_eq!(length.of_round(&mut rng, 3, 3, 10, 5), 3);
    }
}
