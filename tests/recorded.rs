//! A guest with its plan, ready for any seed: run twice, recorded, read back and replayed, equal each time.
//!
//! ```text
//! seed n ─▶ run ─▶ bytes      = bytes ◀─ run ◀─ seed n
//!                    └─▶ Recording ─▶ replay = run
//! ```
//!
//! Not here: which guests and plans; those are the callers'.

use crate::corpus;
use crate::fozzy::cache_folder;
use fozzy_check::judge;
use fozzy_engine::{Build, Cache, Program, Session, Switches};
use fozzy_trace::file::{EngineId, RecordedTarget, Recording};
use fozzy_trace::plan::{Inputs, MachinePlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{DecisionSource, Digest, Execution, Executor, HistoryWindow, Plan, Seed};
use std::sync::Arc;

/// A component of the corpus under one plan.
pub(crate) struct RecordedRun {
    session: Session,
    target: RecordedTarget,
    plan: Plan,
    inputs: Inputs,
    keep: HistoryWindow,
}

/// The component of that name.
pub(crate) fn component(name: &'static str) -> Vec<u8> {
    let bytes = std::fs::read(corpus::component(name)).expect("the guest is built");
    fozzy_engine::load(&bytes, None).expect("the guest is a program").component
}

/// A machine with these words on its command line.
pub(crate) fn machine(line: &str) -> MachinePlan {
    MachinePlan { args: line.split(' ').map(str::to_owned).collect(), ..MachinePlan::default() }
}

impl RecordedRun {
    /// Compiles the guest; `keep` says which calls an execution holds.
    pub(crate) fn new(name: &'static str, plan: Plan, inputs: Inputs, keep: HistoryWindow) -> RecordedRun {
        RecordedRun::build(name, component(name), plan, inputs, keep, &Build::default())
    }

    /// A program that is built in another way, alone on its machine.
    pub(crate) fn of(name: &str, component: Vec<u8>, plan: Plan, build: &Build) -> RecordedRun {
        RecordedRun::build(name, component, plan, Inputs::default(), 0..0, build)
    }

    fn build(
        name: &str,
        component: Vec<u8>,
        plan: Plan,
        inputs: Inputs,
        keep: HistoryWindow,
        build: &Build,
    ) -> RecordedRun {
        let target =
            RecordedTarget { name: name.to_owned(), source: Digest::of(&component), kind: "component".to_owned() };
        let cache = Cache::open(&cache_folder()).expect("the target folder can be written");
        let program = Program::new_as(component.into(), Switches::of(&plan), build, Some(&cache)).expect("it compiles");
        let session = Session::new(program, Arc::new(plan.clone()), &inputs).expect("a plan of ours");
        RecordedRun { session, target, plan, inputs, keep }
    }

    fn run(&mut self, seed: u64) -> (Execution, Vec<u8>) {
        let seed = Seed(seed);
        let source = Box::new(SeededSource::new(seed));
        let execution = self.session.execute(source, self.keep.clone()).expect("no guest makes the harness fail");
        let program = self.session.program();
        let engine = EngineId {
            fozzy: "test".into(),
            wasmtime: fozzy_engine::WASMTIME_VERSION.into(),
            rewriter: fozzy_instrument::REWRITER_VERSION,
            configuration: program.configuration(),
        };
        let (target, component, plan) = (self.target.clone(), program.component().clone(), self.plan.clone());
        let verdict = judge(&execution);
        let recording = Recording::of(target, component, plan, &self.inputs, engine, &execution, verdict, seed, "run");
        (execution, recording.to_bytes().expect("it fits"))
    }

    /// One execution as a trace.
    pub(crate) fn trace(&mut self, seed: u64) -> Vec<u8> {
        self.run(seed).1
    }

    /// One execution whose questions `source` answers.
    pub(crate) fn execute(&mut self, source: Box<dyn DecisionSource>) -> Execution {
        self.session.execute(source, 0..0).expect("no guest makes the harness fail")
    }

    /// One execution, after it was shown that a second and a replay are the same.
    #[track_caller]
    pub(crate) fn check(&mut self, seed: u64) -> Execution {
        let (first, bytes) = self.run(seed);
        let (_, again) = self.run(seed);
        assert!(bytes == again, "seed {seed}: two runs, two traces");
        let read = Recording::read(&bytes).expect("written a moment ago");
        let replayed = fozzy_search::replay(&read, &mut self.session, 0..0).expect("no guest makes the harness fail");
        assert_eq!(replayed.difference, None, "seed {seed}: replayed");
        assert_eq!(replayed.execution.stdout.kept(), first.stdout.kept(), "seed {seed}: replayed");
        first
    }
}
