//! Our side of the measures in process: a session of the pipeline, executed again and again.

use fozzy_campaign::pipeline::{LoadedTarget, PreparedProgram, RunPlan};
use fozzy_engine::Session;
use fozzy_trace::plan::{Inputs, MachinePlan, StdinPlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{ExecutionEnd, Executor, Plan, Seed};

/// A session of a program, made as every command makes one.
pub(crate) fn session(name: &str, program: &[u8], plan: Plan, inputs: Inputs) -> Session {
    let loaded = LoadedTarget::of_bytes(name, program).expect("it is a program");
    let prepared = PreparedProgram::compile(loaded, RunPlan::of(plan, inputs)).expect("it compiles");
    prepared.session().expect("a plain plan")
}

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
        Ours { session: session("guest", guest, plan, inputs) }
    }

    /// Runs it once, from instantiation to drop.
    pub(crate) fn run(&mut self) {
        let execution = self.session.execute(Box::new(SeededSource::new(Seed(0))), 0..0).expect("the machine is well");
        assert_eq!(execution.end, ExecutionEnd::Exited { code: 0 }, "the guest failed");
    }
}
