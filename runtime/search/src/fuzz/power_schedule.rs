//! Which testcase is changed next: those that are the best for edges that few executions take, small and rarely picked.
//!
//! ```text
//! weight = Σ over features it is best for: rarity      less for long inputs, less for each doubling of picks
//!
//! drawn:  half    the latest that was never picked, as long as there is one, else by weight
//!         quarter any, each as likely as the next
//!         quarter by weight
//! ```
//!
//! Invariant: every testcase has a weight above zero.
//! Sources: AFLFast (rarely taken paths get more), FairFuzz (rare branches), Entropic.

use super::corpus::Corpus;
use crate::feedback::Feedback;
use crate::rng::Rng;

/// Picks between two looks at all weights. They change slowly, and looking at them costs as much as some executions.
const PICKS_UNTIL_STALE: u32 = 256;
/// What the rarest edge is worth.
const RAREST: u64 = 256;
/// The weight of a testcase that is the best for nothing.
const LEAST: u64 = 16;

/// Picks testcases.
#[derive(Clone, Debug, Default)]
pub(crate) struct PowerSchedule {
    /// Sums of weights up to each testcase.
    sums: Vec<u64>,
    picks: u32,
    /// All testcases from this place on were picked.
    unpicked: usize,
}

impl PowerSchedule {
    /// The place of the next testcase of `corpus`, which is not empty.
    pub(crate) fn pick(&mut self, corpus: &mut Corpus, feedback: &Feedback, rng: &mut Rng) -> usize {
        self.picks += 1;
        if corpus.testcases().len() != self.sums.len() {
            self.unpicked = corpus.testcases().len();
        }
        if self.picks >= PICKS_UNTIL_STALE {
            self.picks = 0;
            self.sums.clear();
        }
        self.weigh(corpus, feedback);
        let len = self.sums.len();
        while self.unpicked > 0 && corpus.testcases()[self.unpicked - 1].picks > 0 {
            self.unpicked -= 1;
        }
        let drawn = rng.below(4);
        let place = match (drawn, self.unpicked) {
            (0, _) => rng.index(len),
            (1 | 2, unpicked @ 1..) => unpicked - 1,
            _ => {
                let drawn = rng.below(self.sums[len - 1]);
                self.sums.partition_point(|sum| *sum <= drawn)
            }
        };
        corpus.entry(place).picks += 1;
        place
    }

    /// Adds the weights of the testcases that have none.
    fn weigh(&mut self, corpus: &Corpus, feedback: &Feedback) {
        let mut sum = self.sums.last().copied().unwrap_or(0);
        for place in self.sums.len()..corpus.testcases().len() {
            sum += weight(corpus, feedback, place);
            self.sums.push(sum);
        }
    }
}

fn weight(corpus: &Corpus, feedback: &Feedback, place: usize) -> u64 {
    let testcase = &corpus.testcases()[place];
    let rarity = |feature| RAREST / (1 + u64::from(feedback.frequency(feature)).max(1).ilog2() as u64);
    let budget: u64 = LEAST + corpus.best_features(place).map(rarity).sum::<u64>();
    let length = testcase.input.len() as u64;
    let length_share = 1 + u64::from((length / 16).max(1).ilog2());
    let pick_share = 1 + u64::from(testcase.picks).max(1).ilog2() as u64;
    (budget * 16 / (length_share * pick_share)).max(1)
}
