//! Always from the start: `random`, `fifo` and `pct`, which differ in who goes on.
//!
//! Source of `pct`: Burckhardt and others, A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs, 2010. The
//! priorities are those of a task over all others as long as it runs; the change points are drawn as there, for each step: its
//! tasks are its own.

use super::{Attempt, Keeps, Origin, Strategy};
use crate::explore::frontier::Pool;
use crate::explore::guided_source::{Answers, Manner, Order};
use crate::explore::options::Options;
use crate::explore::swarm::Mask;
use crate::rng::Chance;
use std::sync::Arc;

pub(super) struct Fresh {
    steps_per_run: u32,
    manner: Manner,
}

impl Fresh {
    pub(super) fn new(options: &Options, order: Order) -> Fresh {
        let manner = Manner { mask: Mask::All, order, simplest: false, toggle: options.fault_toggle_prob };
        Fresh { steps_per_run: options.steps_per_run, manner }
    }
}

impl Strategy for Fresh {
    fn next(&mut self, _: &mut Pool, _: &mut Chance) -> Option<Attempt> {
        let (script, manner) = (Arc::from([]), self.manner.clone());
        Some(Attempt { origin: Origin::Start, steps: self.steps_per_run, script, manner, keeps: Keeps::Nothing })
    }

    fn learn(&mut self, _: u32, _: u32, answers: &Answers) {
        if let Order::Changes { among, .. } = &mut self.manner.order {
            *among = answers.ordered().max(*among);
        }
    }
}
