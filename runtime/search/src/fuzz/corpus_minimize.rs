//! The few inputs that together reach everything that all of them reach: set cover.
//!
//! ```text
//! a  1 2          ┐
//! b    2 3        ├─▶ c, and a for 1        greedy: most that is new first, of equals the shorter
//! c    2 3 4      ┘                         then: what the others reach anyway is left out, the last first
//! ```
//!
//! Invariants: the answer reaches everything; without any one of it something is missing; it depends on the order of inputs in
//! ties only. The smallest cover is hard to find; greedy is within a factor of the logarithm of what one input reaches
//! (Chvátal 1979), and mostly exact.
//! Not here: what an input reaches, and files (`fozzy`).

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// What is known of one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputCoverage {
    /// Its length in bytes.
    pub bytes: u64,
    /// What it reaches, by number, each once.
    pub reached: Vec<u32>,
}

/// Places of the inputs that are enough, in order.
#[must_use]
pub fn minimize_corpus(inputs: &[InputCoverage]) -> Vec<usize> {
    let mut missing: BTreeSet<u32> = inputs.iter().flat_map(|input| input.reached.iter().copied()).collect();
    let gain =
        |input: &InputCoverage, missing: &BTreeSet<u32>| input.reached.iter().filter(|it| missing.contains(it)).count();
    let row = |gain: usize, place: usize| (gain, Reverse((inputs[place].bytes, place)));
    // What an input adds only ever becomes less, so that only the first row must be counted anew.
    let mut heap: BinaryHeap<_> = (0..inputs.len()).map(|place| row(inputs[place].reached.len(), place)).collect();
    let mut chosen = Vec::new();
    while let Some((known, Reverse((_, place)))) = heap.pop() {
        if missing.is_empty() {
            break;
        }
        let now = gain(&inputs[place], &missing);
        if now < known {
            heap.push(row(now, place));
        } else if now > 0 {
            for it in &inputs[place].reached {
                missing.remove(it);
            }
            chosen.push(place);
        }
    }
    without_spare(inputs, chosen)
}

/// `chosen` without inputs whose coverage the others reach too.
fn without_spare(inputs: &[InputCoverage], mut chosen: Vec<usize>) -> Vec<usize> {
    let largest = chosen.iter().flat_map(|place| &inputs[*place].reached).max().map_or(0, |it| *it as usize + 1);
    let mut times = vec![0u32; largest];
    chosen.iter().flat_map(|place| &inputs[*place].reached).for_each(|it| times[*it as usize] += 1);
    for place in chosen.clone().into_iter().rev() {
        let reached = &inputs[place].reached;
        if reached.iter().all(|it| times[*it as usize] > 1) {
            reached.iter().for_each(|it| times[*it as usize] -= 1);
            chosen.retain(|other| *other != place);
        }
    }
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(inputs: &[(u64, &[u32])], expected: &[usize]) {
        let inputs: Vec<InputCoverage> =
            inputs.iter().map(|(bytes, reached)| InputCoverage { bytes: *bytes, reached: reached.to_vec() }).collect();
        assert_eq!(minimize_corpus(&inputs), expected);
    }

    #[test]
    fn what_others_reach_is_left_out_and_of_equals_the_shorter_stays() {
        check(&[], &[]);
        check(&[(3, &[])], &[]);
        check(&[(9, &[1, 2]), (4, &[1, 2]), (4, &[2, 1])], &[1]);
        check(&[(1, &[1, 2]), (1, &[2, 3]), (1, &[2, 3, 4])], &[0, 2]);
        // Greedy takes the middle one first, which the other two make spare.
        check(&[(1, &[1, 2, 5]), (1, &[2, 3, 5, 6]), (1, &[3, 4, 6])], &[0, 2]);
    }

    /// All sets of up to six inputs over eight numbers, drawn: beside brute force.
    #[test]
    fn it_is_a_cover_without_spare_ones_and_about_as_small_as_can_be() {
        let mut state = 1u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut ours, mut best_possible) = (0, 0);
        for _ in 0..500 {
            let inputs: Vec<InputCoverage> = (0..1 + draw(6))
                .map(|_| {
                    let bits = draw(256);
                    InputCoverage { bytes: draw(4), reached: (0..8).filter(|bit| bits >> bit & 1 == 1).collect() }
                })
                .collect();
            let union = |places: &[usize]| -> BTreeSet<u32> {
                places.iter().flat_map(|place| inputs[*place].reached.iter().copied()).collect()
            };
            let all: Vec<usize> = (0..inputs.len()).collect();
            let found = minimize_corpus(&inputs);
            assert_eq!(union(&found), union(&all));
            for place in &found {
                let rest: Vec<usize> = found.iter().copied().filter(|other| other != place).collect();
                assert_ne!(union(&rest), union(&all), "{place} is spare in {found:?} of {inputs:?}");
            }
            let subsets = (0..1usize << inputs.len())
                .map(|bits| all.iter().copied().filter(|place| bits >> place & 1 == 1).collect::<Vec<usize>>());
            let best = subsets.filter(|subset| union(subset) == union(&all)).map(|subset| subset.len()).min();
            ours += found.len();
            best_possible += best.expect("all of them are a cover");
        }
        assert!(ours * 100 <= best_possible * 105, "{ours} where {best_possible} are enough");
    }
}
