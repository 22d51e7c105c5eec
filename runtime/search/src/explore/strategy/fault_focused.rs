//! Always from the start; which chances of faults strike is chosen, not drawn: each alone, in turn, and then a few together.
//!
//! ```text
//! run 1      none, to see how many chances there are        of a fault of 1 % it takes a hundred runs to see the one
//! runs 2…    the first alone, the second alone, …           strike that a failure needs, and here one a chance
//! then       one to three of them, anywhere
//! ```

use super::{CapturePolicy, ExplorationStrategy, RunOrigin, RunSpec};
use crate::explore::frontier::Frontier;
use crate::explore::guided_source::{AnswerLog, AnswerPolicy, FaultChoice, TaskOrder};
use crate::explore::novelty::NewCoverage;
use crate::explore::options::Options;
use crate::explore::swarm::AnswerMask;
use crate::rng::Rng;
use std::sync::Arc;

/// Faults that strike together, at the most: nearly all failures that take several take few.
const TOGETHER_MAX: usize = 3;

pub(super) struct FaultFocusedSearch {
    steps_per_run: u32,
    /// The next one that strikes alone.
    next: u64,
    /// Chances of the run that had most.
    chances: u64,
    has_begun: bool,
}

impl FaultFocusedSearch {
    pub(super) fn new(options: &Options) -> FaultFocusedSearch {
        FaultFocusedSearch { steps_per_run: options.steps_per_run, next: 0, chances: 0, has_begun: false }
    }
}

/// Some of these chances, each another one.
pub(super) fn some_of(chances: u64, together: usize, rng: &mut Rng) -> FaultChoice {
    let mut chosen: Vec<u64> = (0..together).map(|_| rng.below(chances.max(1))).collect();
    chosen.sort_unstable();
    chosen.dedup();
    FaultChoice::At(chosen.into())
}

impl ExplorationStrategy for FaultFocusedSearch {
    fn next(&mut self, _: &mut Frontier, rng: &mut Rng) -> Option<RunSpec> {
        let faults = if !std::mem::replace(&mut self.has_begun, true) {
            FaultChoice::At(Arc::from([]))
        } else if self.next < self.chances {
            self.next += 1;
            FaultChoice::At(Arc::from([self.next - 1]))
        } else {
            let together = rng.between(1, TOGETHER_MAX);
            some_of(self.chances, together, rng)
        };
        let policy =
            AnswerPolicy { mask: AnswerMask::All, order: TaskOrder::Any, simplest: false, toggle: 0.0, faults };
        let (origin, steps) = (RunOrigin::Start, self.steps_per_run);
        Some(RunSpec { origin, steps, script: Arc::from([]), policy, capture: CapturePolicy::Nothing, compares: false })
    }

    fn learn(&mut self, _: NewCoverage, _: u32, answers: &AnswerLog) {
        self.chances = self.chances.max(answers.chances());
    }
}
