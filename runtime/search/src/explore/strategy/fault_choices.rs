//! Which chances of faults strike in a run, where that is chosen instead of drawn.
//!
//! ```text
//! passes     1 alone       2 alone, pairs       3 …         a pass tries each chance of the run without faults
//! order      server reset 1st │ disk error 1st │ server reset middle │ disk error middle │ …
//! pairs      one that has shown something new, and any other
//! ```
//!
//! Of a fault of 1 % it takes a hundred runs to see the one strike that a failure needs, and here one a chance. What is alike fails alike:
//! so kinds of faults and machines come in turn, and the chances of one such group as far from each other as possible.
//!
//! Invariant: in each pass every chance strikes once.

use crate::explore::guided_source::{AnswerLog, ChanceGroup, FaultChoice};
use crate::rng::Rng;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Faults that strike together, at the most: nearly all failures that take several take few.
const TOGETHER_MAX: usize = 3;
/// Chances that have shown something new and are remembered, the latest.
const PRODUCTIVE_MAX: usize = 256;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct FaultChoices {
    /// The chances of the run without faults.
    base: Vec<ChanceGroup>,
    /// Those of this pass that have not struck, the next one last.
    left: Vec<u64>,
    passes: u32,
    /// Chances of the run that had most.
    most: u64,
    /// The one that struck alone in the last run.
    alone: Option<u64>,
    /// Those that have shown something new when they struck alone.
    productive: Vec<u64>,
    has_begun: bool,
}

impl FaultChoices {
    /// Whether there are any.
    pub(super) fn are_there(&self) -> bool {
        self.most > 0
    }

    /// Whether each chance has struck alone.
    pub(super) fn has_tried_each(&self) -> bool {
        self.passes > 1 || self.passes == 1 && self.left.is_empty()
    }

    /// None: a run that shows how many there are.
    pub(super) fn first(&mut self) -> Option<FaultChoice> {
        (!std::mem::replace(&mut self.has_begun, true)).then(|| FaultChoice::At(Arc::from([])))
    }

    /// The next one that strikes alone.
    pub(super) fn one(&mut self) -> FaultChoice {
        if self.left.is_empty() {
            self.left = spread(&self.base);
            self.passes += 1;
        }
        self.alone = self.left.pop();
        FaultChoice::At(self.alone.into_iter().collect())
    }

    /// Two or more of them.
    pub(super) fn several(&self, rng: &mut Rng) -> FaultChoice {
        let together = rng.between(2, TOGETHER_MAX);
        let first = match self.productive.len() {
            0 => None,
            some => Some(self.productive[rng.below(some as u64) as usize]).filter(|_| !rng.one_in(4)),
        };
        let any = (0..together).map(|_| rng.below(self.most.max(1)));
        let mut chosen: Vec<u64> = first.into_iter().chain(any).take(together).collect();
        chosen.sort_unstable();
        chosen.dedup();
        FaultChoice::At(chosen.into())
    }

    /// What came of the last run from the start.
    pub(super) fn learn(&mut self, fresh: u32, answers: &AnswerLog) {
        self.most = self.most.max(answers.chances_len());
        if self.base.is_empty() {
            self.base = answers.chances();
        }
        if let Some(alone) = self.alone.take()
            && fresh > 0
        {
            if self.productive.len() == PRODUCTIVE_MAX {
                self.productive.remove(0);
            }
            self.productive.push(alone);
        }
    }
}

/// All chances in an order of their own, the first one last: groups in turn, and within one the farthest from those before.
fn spread(chances: &[ChanceGroup]) -> Vec<u64> {
    let mut groups: BTreeMap<ChanceGroup, Vec<u64>> = BTreeMap::new();
    for (number, group) in (0..).zip(chances) {
        groups.entry(*group).or_default().push(number);
    }
    let mut ranked: Vec<(usize, u64)> = Vec::new();
    for group in groups.values() {
        let bits = usize::BITS - group.len().next_power_of_two().leading_zeros();
        let reversed = |number: usize| number.reverse_bits() >> (usize::BITS - bits);
        let order = (0..1 << bits).map(reversed).filter(|at| *at < group.len());
        ranked.extend(order.map(|at| group[at]).enumerate());
    }
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    ranked.into_iter().map(|(_, number)| number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::swarm;

    #[test]
    fn groups_come_in_turn_and_every_chance_once() {
        let group = |name: &str| ChanceGroup::of(swarm::answer(name, 0));
        let chances: Vec<ChanceGroup> = (0..40).map(|at| group(if at == 7 { "rare" } else { "often" })).collect();
        let order: Vec<u64> = spread(&chances).into_iter().rev().collect();
        assert!(order[..2].contains(&7), "the rare one is among the first: {order:?}");
        let often: Vec<u64> = order.iter().copied().filter(|at| *at != 7).take(4).collect();
        assert!(often.iter().max() > Some(&25) && often.iter().min() < Some(&5), "far apart: {often:?}");
        let mut all = order.clone();
        all.sort_unstable();
        assert_eq!(all, (0..40).collect::<Vec<u64>>());
        assert!(spread(&[]).is_empty());
    }
}
