//! Moments of input between what happens in a run: races are there, and nearly nowhere else.
//!
//! ```text
//! run      wait 100 ms │ wait 4 ms │ wait 100 ms │ wait 4 ms │ read      input was read at 731 ms
//! moments  ^     ^    ^^^   ^     ^^^     ^                              behind a beginning, in the middle, at an end: a run each
//! kinds    a     b    cde   f     gha     b                              one of each kind first
//! ```
//!
//! A run keeps the answers of the run that has shown the moment, but for the one, so that what it aims at is still there.
//!
//! Invariants: no moment is tried twice; the runs of the strategy have their share.
//! Not here: when something happens, and which answer means which moment (the target).

use super::stateful_target::InputMoment;
use crate::rng::Rng;
use fozzy_trace::source::Override;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The divisor of runs that try a moment: while there are kinds of which none was tried, and when there are none.
const RUNS_PER_KIND: u64 = 2;
const RUNS_PER_MOMENT: u64 = 6;
/// Moments and kinds that are remembered as tried; beyond, none is tried.
const TRIED_MAX: usize = 1 << 16;
/// Tries after which moments of another run are wanted, whatever that shows.
const TRIES_OF_RUN: u32 = 24;

/// Moments to try.
#[derive(Default)]
pub(super) struct MomentProposals {
    /// The answers of the run that they are of.
    answers: Vec<Override>,
    waiting: Vec<InputMoment>,
    tried: BTreeSet<(usize, u64)>,
    /// How often each kind was tried.
    kinds: BTreeMap<u64, u32>,
    tries_of_run: u32,
    /// The run after which the next one is made.
    after: u64,
}

impl MomentProposals {
    /// Whether moments of any run are wanted, and not only of those that show something new.
    pub(super) fn is_barren(&self) -> bool {
        self.waiting.is_empty() || self.tries_of_run >= TRIES_OF_RUN
    }

    /// The moments of a run of these answers, in the place of those before.
    pub(super) fn learn(&mut self, answers: Vec<Override>, found: Vec<InputMoment>) {
        let mut seen = BTreeSet::new();
        let is_new = |moment: &InputMoment| {
            let named = (moment.answer, moment.other);
            moment.answer < answers.len() && !self.tried.contains(&named) && seen.insert(named)
        };
        let waiting: Vec<InputMoment> = found.into_iter().filter(is_new).collect();
        (self.answers, self.waiting, self.tries_of_run) = (answers, waiting, 0);
    }

    /// The answers of a run for one of them, if it is time.
    pub(super) fn next(&mut self, runs: u64, rng: &mut Rng) -> Option<Arc<[Override]>> {
        if self.waiting.is_empty() || runs < self.after || self.tried.len() >= TRIED_MAX {
            return None;
        }
        let times = |moment: &InputMoment| self.kinds.get(&moment.kind).copied().unwrap_or_default();
        let fewest = self.waiting.iter().map(times).min().unwrap_or_default();
        let rarest: Vec<usize> = (0..self.waiting.len()).filter(|at| times(&self.waiting[*at]) == fewest).collect();
        let InputMoment { answer, other, kind } = self.waiting.swap_remove(rarest[rng.index(rarest.len())]);
        self.after = runs + if fewest == 0 { RUNS_PER_KIND } else { RUNS_PER_MOMENT };
        self.tried.insert((answer, other));
        *self.kinds.entry(kind).or_default() += 1;
        self.tries_of_run += 1;
        let mut script = self.answers.clone();
        script[answer] = Override::Number(other);
        Some(script.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Seed;

    #[test]
    fn each_kind_has_its_try_before_any_has_two_and_others_have_their_runs() {
        let (mut moments, mut rng) = (MomentProposals::default(), Rng::new(Seed(1), 0));
        let answers = vec![Override::Number(3), Override::Number(9)];
        let moment = |answer, other, kind| InputMoment { answer, other, kind };
        let mut found: Vec<InputMoment> = (10..60).map(|other| moment(1, other, 1)).collect();
        found.extend([moment(1, 7, 2), moment(1, 8, 3), moment(5, 1, 4)]);
        moments.learn(answers.clone(), found.clone());
        let tried: Vec<_> = (0..40).filter_map(|run| Some((run, moments.next(run, &mut rng)?))).collect();
        let first: BTreeSet<bool> = tried[..3].iter().map(|(_, script)| script[1] == Override::Number(7)).collect();
        assert_eq!(first.len(), 2, "one of each kind of three; the fourth is of no answer");
        assert_eq!((tried[1].0 - tried[0].0, tried[4].0 - tried[3].0), (RUNS_PER_KIND, RUNS_PER_MOMENT));
        assert!(tried.iter().all(|(_, script)| script.len() == 2 && script[0] == answers[0]));
        let numbers: BTreeSet<String> = tried.iter().map(|(_, script)| format!("{:?}", script[1])).collect();
        assert_eq!(numbers.len(), tried.len(), "none is tried twice");
        moments.learn(answers, vec![moment(1, 7, 2)]);
        assert_eq!((moments.next(100, &mut rng), moments.is_barren()), (None, true), "it was tried");
    }
}
