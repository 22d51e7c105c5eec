//! One sequence of a scenario as the trail of those who shrink: walked through with checkpoints.
//!
//! A bench includes this file by its path.
//!
//! Invariant: whatever cannot be walked (several guests, no flows, a component that does not compile so) is no error; it is
//! run whole, which says what is wrong with it.

use fozzy_engine::{Cache, Place, Program, Walked, Walker};
use fozzy_search::explore::CheckpointId;
use fozzy_search::shrink::{Next, SequenceTarget, Stride};
use fozzy_trace::plan::Inputs;
use fozzy_trace::{DecisionSource, ExecutionEnd, HarnessError, Plan};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// A component that several walk through: compiled when the first of them needs it; `None` when it cannot be.
pub(crate) struct Ground {
    component: Arc<[u8]>,
    cache: Option<Cache>,
    program: OnceLock<Option<Program>>,
}

impl Ground {
    pub(crate) fn new(component: Arc<[u8]>, cache: Option<Cache>) -> Arc<Ground> {
        Arc::new(Ground { component, cache, program: OnceLock::new() })
    }

    fn program(&self, plan: &Plan, inputs: &Inputs) -> Option<Program> {
        let component = Arc::clone(&self.component);
        let compile = || Walker::program_of(component, plan, inputs, self.cache.as_ref()).ok();
        self.program.get_or_init(compile).clone()
    }
}

/// Walks through one sequence at a time.
pub(crate) struct Paths {
    ground: Arc<Ground>,
    walker: Option<Walker>,
    places: BTreeMap<CheckpointId, Place>,
    next: u64,
}

impl Paths {
    pub(crate) fn new(ground: Arc<Ground>) -> Paths {
        Paths { ground, walker: None, places: BTreeMap::new(), next: 0 }
    }

    fn walker(&mut self) -> Result<&mut Walker, HarnessError> {
        self.walker.as_mut().ok_or_else(|| gone("nothing is walked"))
    }

    fn added(&mut self, place: Place) -> CheckpointId {
        let id = CheckpointId(self.next);
        self.next += 1;
        self.places.insert(id, place);
        id
    }
}

fn gone(what: &str) -> HarnessError {
    HarnessError { what: format!("{what}; this is a fault of fozzy") }
}

impl SequenceTarget for Paths {
    fn start(
        &mut self,
        plan: &Plan,
        inputs: &Inputs,
        sequence: u32,
        source: Box<dyn DecisionSource>,
    ) -> Result<Option<CheckpointId>, HarnessError> {
        self.walker = None;
        self.places.clear();
        let Some(program) = self.ground.program(plan, inputs) else { return Ok(None) };
        let Ok(walker) = Walker::of(program, plan, inputs, sequence, source) else { return Ok(None) };
        // Without checkpoints each place would be reached by calling everything again.
        if !walker.obstacles().is_empty() {
            return Ok(None);
        }
        let start = self.added(walker.start());
        self.walker = Some(walker);
        Ok(Some(start))
    }

    fn go(&mut self, place: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        let place = self.places.get(&place).copied().ok_or_else(|| gone("a place is gone"))?;
        self.walker()?.go(place, source)
    }

    fn take(&mut self, next: Next) -> Result<Stride, HarnessError> {
        let walker = self.walker()?;
        let walked = match next {
            Next::Beginning => walker.begin(),
            Next::Step(step) => walker.step(step),
            Next::Ending => walker.finish(),
        }?;
        let over = |end, backtrace| Stride::Over(Box::new(walker.execution(end, backtrace)));
        Ok(match walked {
            Walked::On { .. } if next != Next::Ending => Stride::On,
            Walked::On { .. } | Walked::Over => over(ExecutionEnd::Exited { code: 0 }, Vec::new()),
            Walked::Ended { end, backtrace, .. } => over(end, backtrace),
            Walked::Cut => Stride::Cut,
        })
    }

    fn keep(&mut self) -> Result<CheckpointId, HarnessError> {
        let place = self.walker()?.keep()?;
        Ok(self.added(place))
    }

    fn forget(&mut self, place: CheckpointId) {
        if let (Some(place), Some(walker)) = (self.places.remove(&place), &mut self.walker) {
            walker.forget(place);
        }
    }
}
