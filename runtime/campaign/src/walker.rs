//! One sequence of a scenario, taken step by step from checkpoints: what shrinking replays candidates with.
//!
//! Invariant: whatever cannot be walked (several guests, no flows, a component that does not compile so) is no error; it is
//! run whole, which says what is wrong with it.

use fozzy_engine::{Cache, Program, Walker};
use fozzy_search::shrink::SequenceTarget;
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::plan::Inputs;
use fozzy_trace::{
    CheckpointId, DecisionSource, Execution, ExecutionEnd, HarnessError, Plan, StepId, StepOutcome, StepTarget,
};
use std::sync::{Arc, OnceLock};

/// A component that several walk through: compiled when the first of them needs it; `None` when it cannot be.
pub struct SequenceProgram {
    component: Arc<[u8]>,
    cache: Option<Cache>,
    program: OnceLock<Option<Program>>,
}

impl SequenceProgram {
    /// A component, with the cache that it is compiled with.
    pub fn new(component: Arc<[u8]>, cache: Option<Cache>) -> Arc<SequenceProgram> {
        Arc::new(SequenceProgram { component, cache, program: OnceLock::new() })
    }

    fn program(&self, plan: &Plan, inputs: &Inputs) -> Option<Program> {
        let component = Arc::clone(&self.component);
        let compile = || Walker::program_of(component, plan, inputs, self.cache.as_ref()).ok();
        self.program.get_or_init(compile).clone()
    }
}

/// Walks through one sequence at a time.
pub struct SequenceWalker {
    program: Arc<SequenceProgram>,
    walker: Option<Walker>,
}

impl SequenceWalker {
    /// Walks through sequences of that program.
    pub fn new(program: Arc<SequenceProgram>) -> SequenceWalker {
        SequenceWalker { program, walker: None }
    }

    fn opened(&self) -> &Walker {
        self.walker.as_ref().expect(OPENED)
    }

    fn opened_mut(&mut self) -> &mut Walker {
        self.walker.as_mut().expect(OPENED)
    }
}

/// What the one who shrinks ensures.
const OPENED: &str = "a sequence is opened before its steps are taken";

impl SequenceTarget for SequenceWalker {
    fn open(
        &mut self,
        plan: &Plan,
        inputs: &Inputs,
        sequence: u32,
        source: Box<dyn DecisionSource>,
    ) -> Result<bool, HarnessError> {
        self.walker = None;
        let Some(program) = self.program.program(plan, inputs) else { return Ok(false) };
        let Ok(walker) = Walker::of(program, plan, inputs, sequence, source) else { return Ok(false) };
        // Without checkpoints each restore would execute everything again.
        if walker.obstacles().is_empty() {
            self.walker = Some(walker);
        }
        Ok(self.walker.is_some())
    }

    fn execution(&self, end: ExecutionEnd, backtrace: Vec<StackFrame>) -> Execution {
        self.opened().execution(end, backtrace)
    }

    fn state(&self) -> Option<u64> {
        self.opened().facts().states.digest()
    }

    fn memory_state(&mut self) -> Option<u64> {
        self.opened_mut().memory_state()
    }
}

impl StepTarget for SequenceWalker {
    fn start(&self) -> CheckpointId {
        self.opened().start()
    }

    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        self.opened_mut().restore(checkpoint, source)
    }

    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        self.opened_mut().step(step)
    }

    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        self.opened_mut().capture()
    }

    fn release(&mut self, checkpoint: CheckpointId) {
        self.opened_mut().release(checkpoint);
    }
}
