//! Leaves some answers out of a run, so that the others come more often: what suppresses a failure is sometimes missing.
//!
//! ```text
//! all        every answer                       coin       each answer with a chance of 1/2
//! energy     a mask of before that found        directed   what something new came after: 4 of 5 of it, 3 of 10 of the rest
//! ```
//!
//! An answer is one flow of a step, one of a few alternatives that the program draws from, or one planned fault.
//!
//! Invariant: a mask is a function of its number, so that leaving one answer out shifts no other.
//! Source: Groce and others, Swarm Testing, 2012; the layers are those of ordeal.

use super::bandit::Bandit;
use crate::rng::Rng;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// Alternatives of a question whose answers are left out one by one; of those that have more, none is.
pub(crate) const ALTERNATIVES_MAX: u64 = 64;
/// Most masks that found something and are kept, so that one of them is tried again.
const MASKS_MAX: usize = 64;
/// What is left of a mask's energy after a run that found nothing, and the energy at which it is given up.
const BARREN: f64 = 0.9;
const ENERGY_MIN: f64 = 0.1;
/// Answers after which something new came, as many as are remembered.
const CREDITED_MAX: usize = 64;
/// Chances in parts of 256: of any answer; of one after which something new came; of another one.
const COIN: u64 = 128;
const OF_CREDITED: u64 = 205;
const OF_OTHERS: u64 = 77;

/// The share of runs that may give every answer, whatever the layers have earned.
const ALL_SHARE: f64 = 0.65;

/// The layers, by their names in the report.
pub(crate) const LAYERS: [&str; 4] = ["all", "coin", "energy", "directed"];

/// Which answers a run may give.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum AnswerMask {
    /// Every one.
    #[default]
    All,
    /// About half of them.
    Coin(u64),
    /// Most of these, and few of the others.
    Directed(u64, Arc<BTreeSet<u64>>),
}

/// Names an answer: a site, and which of its alternatives.
pub(crate) fn answer(site: &str, alternative: u64) -> u64 {
    answer_at(self::site(site), alternative)
}

/// Names a site, for [`answer_at`].
pub(crate) fn site(site: &str) -> u64 {
    // FNV-1a, finished as SplitMix64 does: sites are short, and no adversary chooses them.
    site.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Names one of the alternatives of a site, which has a name already.
pub(crate) fn answer_at(site: u64, alternative: u64) -> u64 {
    mixed(site ^ alternative.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn mixed(mut number: u64) -> u64 {
    number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

impl AnswerMask {
    /// Whether this answer may be given.
    #[inline]
    pub(crate) fn allows(&self, answer: u64) -> bool {
        match self {
            AnswerMask::All => true,
            AnswerMask::Coin(number) => mixed(number ^ answer) & 255 < COIN,
            AnswerMask::Directed(number, credited) => {
                let least = if credited.contains(&answer) { OF_CREDITED } else { OF_OTHERS };
                mixed(number ^ answer) & 255 < least
            }
        }
    }
}

/// Chooses masks, by what they have found.
pub(crate) struct Swarm {
    layers: Bandit<4>,
    /// Masks that found something, with their energy.
    masks: Vec<(u64, f64)>,
    credited: VecDeque<u64>,
    /// The same, as masks have them, once one needed them.
    directed: Option<Arc<BTreeSet<u64>>>,
    /// Which of `masks` was tried last.
    tried: Option<usize>,
    mask: AnswerMask,
}

impl Swarm {
    pub(crate) fn new() -> Swarm {
        let (masks, credited) = (Vec::new(), VecDeque::new());
        let (layers, mask) = (Bandit::new(LAYERS), AnswerMask::All);
        Swarm { layers, masks, credited, directed: None, tried: None, mask }
    }

    pub(crate) fn layers(&self) -> &Bandit<4> {
        &self.layers
    }

    /// The mask of the next run.
    pub(crate) fn next(&mut self, rng: &mut Rng) -> AnswerMask {
        let can = [true, true, !self.masks.is_empty(), !self.credited.is_empty()];
        self.tried = None;
        // What is left out may be what is needed.
        let layer = if rng.happens(ALL_SHARE) { self.layers.choose(0) } else { self.layers.pick(can, rng) };
        self.mask = match layer {
            0 => AnswerMask::All,
            1 => AnswerMask::Coin(rng.below(u64::MAX)),
            2 => {
                let sum: f64 = self.masks.iter().map(|(_, energy)| energy).sum();
                let mut left = rng.share() * sum;
                let at = self.masks.iter().position(|(_, energy)| {
                    left -= energy;
                    left < 0.0
                });
                let at = at.unwrap_or(self.masks.len() - 1);
                self.tried = Some(at);
                AnswerMask::Coin(self.masks[at].0)
            }
            _ => {
                let credited = self.directed.get_or_insert_with(|| Arc::new(self.credited.iter().copied().collect()));
                AnswerMask::Directed(rng.below(u64::MAX), Arc::clone(credited))
            }
        };
        self.mask.clone()
    }

    /// What came of it: how much was new, in how many steps, after which answers.
    pub(crate) fn learn(&mut self, fresh: u32, steps: u64, credited: &[u64]) {
        self.layers.learn(fresh, steps);
        if !credited.is_empty() {
            self.directed = None;
        }
        self.credited.extend(credited);
        self.credited.drain(..self.credited.len().saturating_sub(CREDITED_MAX));
        match (self.tried.take(), &self.mask) {
            (Some(at), _) => {
                let energy = &mut self.masks[at].1;
                *energy = if fresh > 0 { (*energy * 2.0).min(16.0) } else { *energy * BARREN };
                if *energy < ENERGY_MIN {
                    self.masks.remove(at);
                }
            }
            (None, AnswerMask::Coin(number)) if fresh > 0 => {
                if self.masks.len() == MASKS_MAX {
                    self.masks.remove(0);
                }
                self.masks.push((*number, 1.0));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directed_masks_are_of_what_is_credited() {
        let (mut swarm, mut rng) = (Swarm::new(), Rng::new(fozzy_trace::Seed(2), 0));
        let mut directed = 0;
        for run in 0..2_000 {
            if let AnswerMask::Directed(_, credited) = swarm.next(&mut rng) {
                assert_eq!(*credited, swarm.credited.iter().copied().collect::<BTreeSet<u64>>(), "run {run}");
                directed += 1;
            }
            let credited: Vec<u64> =
                (0..run % 3).filter(|_| run % 7 == 0).map(|place| answer("flow", run + place)).collect();
            swarm.learn(credited.len() as u32, 10, &credited);
        }
        assert!(directed > 20, "{directed}");
    }

    #[test]
    fn a_mask_allows_the_same_half_each_time() {
        let allowed = |mask: &AnswerMask| (0..64).filter(|place| mask.allows(answer("flow", *place))).count();
        for number in 0..20 {
            let mask = AnswerMask::Coin(mixed(number));
            assert!((12..=52).contains(&allowed(&mask)), "{}", allowed(&mask));
            assert_eq!(allowed(&mask), allowed(&mask.clone()));
        }
        assert_eq!(allowed(&AnswerMask::All), 64);
        let credited = Arc::new((0..8).map(|place| answer("flow", place)).collect());
        let directed: Vec<AnswerMask> =
            (0..50).map(|number| AnswerMask::Directed(mixed(number), Arc::clone(&credited))).collect();
        let of = |places: std::ops::Range<u64>| {
            let allows = |mask: &AnswerMask| places.clone().filter(|place| mask.allows(answer("flow", *place))).count();
            directed.iter().map(allows).sum::<usize>() as f64 / 50.0 / (places.end - places.start) as f64
        };
        assert!(of(0..8) > 0.7 && of(8..64) < 0.4, "{} {}", of(0..8), of(8..64));
    }
}
