//! Weights of many places, and a draw of one of them in logarithmic time.
//!
//! ```text
//!          10                 draw 7 of 10: not in the left half (3), so 4 of 7 in the right one, …
//!       3      7
//!     1   2  4   3
//! ```
//!
//! Invariant: an inner sum is that of the two below it, computed anew on each change, so that no error adds up.

use crate::rng::Rng;

/// Weights by slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct SumTree {
    /// Sums, the root at 1; the weights are the last half.
    sums: Vec<f64>,
}

impl SumTree {
    fn slots(&self) -> usize {
        self.sums.len() / 2
    }

    pub(crate) fn sum(&self) -> f64 {
        self.sums.get(1).copied().unwrap_or(0.0)
    }

    /// Gives a slot this weight; zero takes it out.
    pub(crate) fn set(&mut self, slot: usize, weight: f64) {
        while slot >= self.slots() {
            self.grow();
        }
        let mut at = self.slots() + slot;
        self.sums[at] = weight;
        while at > 1 {
            at /= 2;
            self.sums[at] = self.sums[2 * at] + self.sums[2 * at + 1];
        }
    }

    fn grow(&mut self) {
        let weights = self.sums.split_off(self.slots());
        let slots = (weights.len() * 2).max(64);
        self.sums = vec![0.0; 2 * slots];
        self.sums[slots..slots + weights.len()].copy_from_slice(&weights);
        for at in (1..slots).rev() {
            self.sums[at] = self.sums[2 * at] + self.sums[2 * at + 1];
        }
    }

    /// A slot, each as likely as its share of the sum; `None` when there is no weight.
    pub(crate) fn draw(&self, rng: &mut Rng) -> Option<usize> {
        let (mut left, mut at) = (rng.share() * self.sum(), 1);
        if self.sum() <= 0.0 {
            return None;
        }
        while at < self.slots() {
            let lower = self.sums[2 * at];
            // What is rounded away must not lead to where nothing is.
            let is_upper = left >= lower && self.sums[2 * at + 1] > 0.0;
            left -= if is_upper { lower } else { 0.0 };
            at = 2 * at + usize::from(is_upper);
        }
        Some(at - self.slots())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Seed;

    #[test]
    fn each_slot_is_drawn_as_often_as_its_weight_says() {
        let (mut tree, mut rng) = (SumTree::default(), Rng::new(Seed(5), 0));
        assert_eq!(tree.draw(&mut rng), None);
        for slot in 0..1000 {
            tree.set(slot, if slot % 100 == 7 { (slot / 100) as f64 } else { 0.0 });
        }
        let mut drawn = [0u32; 10];
        for _ in 0..45_000 {
            let slot = tree.draw(&mut rng).expect("there is weight");
            assert_eq!(slot % 100, 7);
            drawn[slot / 100] += 1;
        }
        assert_eq!(drawn[0], 0);
        assert!((1..10).all(|at| drawn[at].abs_diff(1000 * at as u32) < 300), "{drawn:?}");
        (0..1000).for_each(|slot| tree.set(slot, 0.0));
        assert_eq!((tree.sum(), tree.draw(&mut rng)), (0.0, None));
    }
}
