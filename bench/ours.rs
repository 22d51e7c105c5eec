//! Our side of the measures in process: a session, executed again and again.

use fozzy_engine::{Program, Session, Switches};
use fozzy_trace::plan::{Inputs, MachinePlan, StdinPlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{ExecutionEnd, Executor, Plan, Seed};
use std::sync::Arc;

/// A program in the simulated computer.
pub(crate) struct Ours {
    session: Session,
}

impl Ours {
    /// Compiles `guest`, text or binary.
    pub(crate) fn new(guest: &[u8]) -> Ours {
        let mut inputs = Inputs::default();
        let bytes = inputs.add(Vec::new());
        let main =
            MachinePlan { stdin: StdinPlan { bytes, stays_open: false, channel: None }, ..MachinePlan::default() };
        let plan = Plan { main, ..Plan::default() };
        let loaded = fozzy_engine::load(guest, None).expect("the guest is a component");
        let program = Program::new(loaded.component.into(), Switches::of(&plan), None).expect("the guest compiles");
        Ours { session: Session::new(program, Arc::new(plan), &inputs).expect("a plain plan") }
    }

    /// Runs it once, from instantiation to drop.
    pub(crate) fn run(&mut self) {
        let execution = self.session.execute(Box::new(SeededSource::new(Seed(0))), 0..0).expect("the machine is well");
        assert_eq!(execution.end, ExecutionEnd::Exited { code: 0 }, "the guest failed");
    }
}
