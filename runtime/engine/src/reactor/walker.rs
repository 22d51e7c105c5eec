//! A scenario that is called step by step, with checkpoints between the steps: the target of explorations.
//!
//! ```text
//! describe ─▶ new instance ─▶ start ─▶ begin ─▶ step 0 ─▶ step 1 ─▶ …  ─▶ end
//!                               ▲                 │keep
//!                               └──── go ─────────┘
//! ```
//!
//! Calls are made in a build without fuel, and cut when they take long: that is no verdict, a run with fuel gives one.
//!
//! Invariants: the guest is asked, told and called as in the first sequence of a run of the same plan (`scenario`), so that
//! the same answers give the same history; a place is the whole computer and the guest's memory.
//! Not here: which way is worth going (`fozzy-search`), runs that can be recorded (`session`).

use crate::compile::build::Build;
use crate::compile::cache::Cache;
use crate::compile::link::LinkError;
use crate::compile::program::{Program, ProgramError};
use crate::compile::settings::Switches;
use crate::reactor::model_component::planned_models;
use crate::reactor::{CallError, CheckpointUsage, Reactor, ReactorError, ReactorFunction, time_of};
use crate::run::coverage::ProgramCoverage;
use crate::run::scenario::{ScenarioInfo, StepResult, check, described, stuck};
use crate::run::trap::POWER_LOST;
use fozzy_host::{CallerKind, StepReturn};
use fozzy_instrument::{CoverageMode, ModuleOrdinal, STEPS};
use fozzy_trace::facts::Facts;
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::plan::Inputs;
use fozzy_trace::{
    CheckpointId, CmpLogEntry, CmpLogSites, CopyOnWrite, DecisionSource, Digest, Execution, ExecutionEnd, HarnessError,
    History, NodeId, Plan, SharedStepJudge, StepId, StepOutcome, StepTarget, StreamOutput, StretchLook,
};
use fozzy_world::WorldError;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The shortest time after which a call is cut: what a busy machine needs to come back to us.
const WATCH_MIN: Duration = Duration::from_millis(500);

/// A scenario that cannot be walked through.
#[derive(Debug, thiserror::Error)]
pub enum WalkerError {
    /// It cannot be compiled.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// It does not fit its target.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// It cannot be started.
    #[error(transparent)]
    Reactor(#[from] ReactorError),
    /// It ended before its first sequence.
    #[error(transparent)]
    Call(#[from] CallError),
    /// It has no steps.
    #[error("it exports no `fozzy:scenario/stateful`, so there are no flows to explore")]
    NoFlows,
    /// What it says about itself does not fit together.
    #[error("the scenario cannot be run: {0}")]
    Description(String),
    /// Its calls cannot be watched.
    #[error("{0}")]
    Watch(String),
}

/// Walks through one sequence of a scenario: the first one, unless another was asked for.
pub struct Walker {
    reactor: Reactor,
    begin: ReactorFunction<(u32,), ()>,
    step: ReactorFunction<(u32,), (StepResult,)>,
    end: ReactorFunction<(u32,), ()>,
    /// Takes several steps in one call, of a component with an accessor.
    several: Option<ReactorFunction<(u32,), (u32,)>>,
    flows: Vec<String>,
    start: CheckpointId,
    sequence: u32,
    has_run: bool,
    /// Whether steps log what they compare.
    logs_comparisons: bool,
}

impl Walker {
    /// Compiles `component` for search and asks it what it has; `source` answers what is asked before the first sequence.
    ///
    /// # Errors
    /// When it cannot be compiled or started, or is no stateful scenario.
    pub fn new(
        component: Arc<[u8]>,
        plan: &Plan,
        inputs: &Inputs,
        cache: Option<&Cache>,
        source: Box<dyn DecisionSource>,
    ) -> Result<Walker, WalkerError> {
        let build = Build { coverage: CoverageMode::Counters, comparisons: true, ..Build::fast() };
        Walker::of(Walker::built_as(&build, component, plan, inputs, cache)?, plan, inputs, 0, source)
    }

    /// Compiles `component` for search, to be walked through under `plan` and those that have the same target.
    ///
    /// # Errors
    /// When it cannot be compiled, or does not fit its target.
    pub fn program_of(
        component: Arc<[u8]>,
        plan: &Plan,
        inputs: &Inputs,
        cache: Option<&Cache>,
    ) -> Result<Program, WalkerError> {
        let build = Build { coverage: CoverageMode::Counters, ..Build::fast() };
        Walker::built_as(&build, component, plan, inputs, cache)
    }

    fn built_as(
        build: &Build,
        component: Arc<[u8]>,
        plan: &Plan,
        inputs: &Inputs,
        cache: Option<&Cache>,
    ) -> Result<Program, WalkerError> {
        match plan.target() {
            None => Ok(Program::build(component, Switches::of(plan), build, cache)?),
            Some(target) => {
                let program = Program::judge_as(component, Switches::of(plan), build, cache)?;
                let bytes = inputs.get(&target).ok_or(ReactorError::from(WorldError::MissingInput(target)))?;
                // With fuel, as nothing else would cut it.
                let target = Program::build(bytes, Switches::of(plan), &Build::default(), cache)?;
                Ok(program.linked_to(&target, CallerKind::Alone)?)
            }
        }
    }

    /// Asks what it has a program that was compiled for search, to walk through its sequence of this number.
    ///
    /// # Errors
    /// When it cannot be started, or is no stateful scenario.
    pub fn of(
        program: Program,
        plan: &Plan,
        inputs: &Inputs,
        sequence: u32,
        source: Box<dyn DecisionSource>,
    ) -> Result<Walker, WalkerError> {
        let interface = program.entries().scenario.stateful.clone().ok_or(WalkerError::NoFlows)?;
        let named = |name: &str| format!("{interface}#{name}");
        let models = planned_models(plan, inputs, program.cache());
        let mut first = Reactor::start_judged(program, Arc::new(plan.clone()), inputs, models, source)?;
        let mut describe = first.function::<(), (ScenarioInfo,)>(&named("describe"))?;
        let (info,) = first.call(&mut describe, ())?;
        check(&info).map_err(WalkerError::Description)?;
        let mut reactor = first.begin_again(described(&info))?;
        reactor.watch(time_of(plan.limits.fuel).max(WATCH_MIN)).map_err(WalkerError::Watch)?;
        let (begin, step, end) = (
            reactor.function(&named("begin-sequence"))?,
            reactor.function(&named("step"))?,
            reactor.function(&named("end-sequence"))?,
        );
        let facts = reactor.program().facts();
        let has_several = facts.access.is_some() && facts.steps.is_some();
        let several = if has_several { Some(reactor.function(STEPS)?) } else { None };
        let start = reactor.checkpoint()?;
        reactor.find_states();
        let flows = info.flows.into_iter().map(|flow| flow.name).collect();
        let (has_run, logs_comparisons) = (false, false);
        Ok(Walker { reactor, begin, step, end, several, flows, start, sequence, has_run, logs_comparisons })
    }

    /// The names of its flows.
    #[must_use]
    pub fn flows(&self) -> &[String] {
        &self.flows
    }

    /// Whether any flow has done anything so far, on whatever way.
    #[must_use]
    pub fn has_run(&self) -> bool {
        self.has_run
    }

    fn call(&mut self, step: StepId) -> Result<Option<u32>, CallError> {
        let sequence = self.sequence;
        if self.logs_comparisons {
            // It begins anew with each step, and an instance may be another one than before.
            self.reactor.log_comparisons(true);
        }
        self.reactor.announce(sequence, step)?;
        match step {
            StepId::Begin => self.reactor.call(&mut self.begin, (sequence,)).map(|()| None),
            StepId::Step(number) => self.take_step(number),
            StepId::End => self.reactor.call(&mut self.end, (sequence,)).map(|()| None),
        }
    }

    /// Takes a step that was announced.
    fn take_step(&mut self, number: u32) -> Result<Option<u32>, CallError> {
        match self.reactor.call(&mut self.step, (number,))? {
            (StepResult::Ran(flow),) => {
                self.has_run = true;
                Ok(Some(flow))
            }
            (StepResult::Skipped(skip),) => Ok(Some(skip.flow)),
            (StepResult::Stuck(why),) => Err(self.stuck_at(number, &why)),
        }
    }

    fn stuck_at(&self, number: u32, why: &str) -> CallError {
        let end = ExecutionEnd::Failed { failure: stuck(self.sequence, number, why) };
        CallError::Ended { end, backtrace: Vec::new() }
    }

    /// Whether [`Walker::steps`] takes more than one step at once.
    #[must_use]
    pub fn takes_several_steps(&self) -> bool {
        self.several.is_some() && !self.logs_comparisons
    }

    /// Takes the steps from `first` on in one call of the guest, to `last` at most, as long as `judge` finds them dull; their coverage
    /// is cleared then. The answer is how the last one came out, which the judge was not asked about if it is `last` or if the call
    /// takes long, and how many dull ones were before it. All of them are as single steps are.
    ///
    /// # Errors
    /// As for [`StepTarget::step`].
    pub fn steps(
        &mut self,
        first: u32,
        last: u32,
        judge: &SharedStepJudge,
    ) -> Result<(StepOutcome, u32), HarnessError> {
        let sequence = self.sequence;
        let Some(several) = self.several.as_mut().filter(|_| first < last && !self.logs_comparisons) else {
            return Ok((self.step(StepId::Step(first))?, 0));
        };
        if let Err(error) = self.reactor.announce(sequence, StepId::Step(first)) {
            return Ok((self.outcome(Err(error))?, 0));
        }
        let (reached, has_run, outcome) = self.reactor.call_steps(several, &self.step, (sequence, first, last), judge);
        self.has_run |= has_run;
        let called = match outcome {
            Ok(StepReturn::Flow(flow)) => Ok(Some(flow)),
            Ok(StepReturn::Stuck(why)) => Err(self.stuck_at(reached, &why)),
            Err(error) => Err(error),
        };
        Ok((self.outcome(called)?, reached - first))
    }

    fn outcome(&self, called: Result<Option<u32>, CallError>) -> Result<StepOutcome, HarnessError> {
        match called {
            Ok(flow) => Ok(StepOutcome::Returned { flow }),
            Err(CallError::Runaway) => Ok(StepOutcome::Cut),
            // Leaving with success is no failure, as it is none of a run; nor is a planned loss of power.
            Err(CallError::Ended { end: ExecutionEnd::Exited { code: 0 }, .. }) => Ok(StepOutcome::Finished),
            Err(CallError::Ended { end: ExecutionEnd::Trapped { trap }, .. }) if trap == POWER_LOST => {
                Ok(StepOutcome::Finished)
            }
            Err(CallError::Ended { end, backtrace }) => {
                let stderr = self.reactor.world().node(NodeId(0)).stderr.last().to_vec();
                Ok(StepOutcome::Ended { end, backtrace, stderr })
            }
            Err(CallError::Harness(error)) => Err(error),
            Err(other @ (CallError::Over | CallError::Function { .. })) => Err(HarnessError::new(other.to_string())),
        }
    }

    /// What a run that has come to `end` here is judged by. There is nothing in it that only a whole run has: no calls, no
    /// fuel, no memory.
    #[must_use]
    pub fn execution(&self, end: ExecutionEnd, backtrace: Vec<StackFrame>) -> Execution {
        let world = self.reactor.world();
        let machine = world.node(NodeId(0));
        Execution {
            end,
            ended_at: world.clock.now(),
            history: History::default(),
            stdout: StreamOutput::default(),
            stderr: machine.stderr.clone(),
            fuel_used: 0,
            memory_bytes: 0,
            memory: Digest::of(b""),
            backtrace,
            nodes: Vec::new(),
            unmatched: world.unmatched.kept().to_vec(),
            unmatched_more: world.unmatched.more(),
            facts: Facts { injected: CopyOnWrite::new(world.faults.report()), ..world.facts.clone() },
        }
    }

    /// The coverage bytes of each module since they were cleared: how often each kept edge was taken, up to 255.
    pub fn coverage(&self) -> impl Iterator<Item = (ModuleOrdinal, &[u8])> {
        self.reactor.coverage()
    }

    /// What was covered, of the bytes of each module that was shown, in that order.
    #[must_use]
    pub fn covered(&self, taken: &dyn Fn(usize) -> Vec<u8>) -> ProgramCoverage {
        let of_module = |(number, (module, bytes)): (usize, (ModuleOrdinal, &[u8]))| {
            let mut taken = taken(number);
            taken.resize(bytes.len(), 0);
            (module, taken)
        };
        let bytes: BTreeMap<ModuleOrdinal, Vec<u8>> = self.coverage().enumerate().map(of_module).collect();
        ProgramCoverage::by(self.program(), &bytes, None)
    }

    /// Has each step from here on log what it compares, or none.
    pub fn log_comparisons(&mut self, on: bool) {
        if self.logs_comparisons && !on {
            self.reactor.log_comparisons(false);
        }
        self.logs_comparisons = on;
    }

    /// Adds what the last step compared to `log`, in order.
    pub fn read_comparisons(&self, log: &mut Vec<CmpLogEntry>) {
        self.reactor.read_comparisons(CmpLogSites::All, log);
    }

    /// Shows the coverage bytes that are not zero, and sets all of them to zero; see [`Reactor::take_coverage`].
    pub fn take_coverage(&mut self, see: &mut StretchLook<'_>) {
        self.reactor.take_coverage(see);
    }

    /// What the guest has said about itself on this way.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.reactor.world().facts
    }

    /// How often each fault of the plan has struck on this way.
    pub fn injected(&self) -> impl Iterator<Item = u64> {
        self.reactor.world().faults.injected()
    }

    /// In which state its memory says that it is, after a step; see [`Reactor::memory_state`].
    pub fn memory_state(&mut self) -> Option<u64> {
        self.reactor.memory_state()
    }

    /// What happened on this way.
    #[must_use]
    pub fn history(&self) -> History {
        self.reactor.history()
    }

    /// The program that the coverage bytes are of.
    #[must_use]
    pub fn program(&self) -> &Program {
        self.reactor.program()
    }

    /// What is kept.
    #[must_use]
    pub fn holdings(&self) -> CheckpointUsage {
        self.reactor.holdings()
    }

    /// Why places are reached by calling again, one sentence each; empty when they are brought back.
    #[must_use]
    pub fn obstacles(&self) -> &[String] {
        self.reactor.obstacles()
    }
}

impl StepTarget for Walker {
    fn start(&self) -> CheckpointId {
        self.start
    }

    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        self.reactor.restore_answered(checkpoint, source).map(drop)
    }

    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        let called = self.call(step);
        self.outcome(called)
    }

    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        self.reactor.checkpoint().map_err(|error| match error {
            CallError::Harness(error) => error,
            other => HarnessError::new(other.to_string()),
        })
    }

    fn release(&mut self, checkpoint: CheckpointId) {
        self.reactor.discard(checkpoint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::plan::ScenarioPlan;
    use fozzy_trace::source::SeededSource;
    use fozzy_trace::{Seed, StepJudge, StepView};
    use std::sync::Mutex;

    /// A scenario with one flow, whose steps add up their numbers.
    const ADDER: &str = r#"(module
      (memory (export "memory") 1)
      ;; The name, the flows (one), the invariants (none); its name, and its weight; the letters of both texts.
      (data (i32.const 0) "\40\00\00\00\01\00\00\00\20\00\00\00\01\00\00\00")
      (data (i32.const 32) "\40\00\00\00\01\00\00\00\01")
      (data (i32.const 64) "full")
      (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
      (func (export "fozzy:scenario/stateful@0.1.0#describe") (result i32) i32.const 0)
      (func (export "fozzy:scenario/stateful@0.1.0#begin-sequence") (param i32))
      (func (export "fozzy:scenario/stateful@0.1.0#step") (param i32) (result i32)
        (i32.store (i32.const 256) (i32.add (i32.load (i32.const 256)) (local.get 0)))
        i32.const 128)
      (func (export "fozzy:scenario/stateful@0.1.0#end-sequence") (param i32)))"#;

    /// Lets all steps be taken.
    struct UnmovedJudge;

    impl StepJudge for UnmovedJudge {
        fn is_dull(&mut self, _: &StepView<'_>) -> bool {
            true
        }
    }

    #[test]
    fn a_place_behind_several_steps_in_a_call_is_reached_again_when_its_state_is_not_held() {
        let (plan, inputs) = (Plan { scenario: Some(ScenarioPlan::all(1, 1)), ..Plan::default() }, Inputs::default());
        let component = crate::load(ADDER.as_bytes(), None).expect("a component").component.into();
        let program = Walker::program_of(component, &plan, &inputs, None).expect("it compiles");
        let source = || Box::new(SeededSource::new(Seed(1)));
        let mut walker = Walker::of(program, &plan, &inputs, 0, source()).expect("it has flows");
        assert!(walker.takes_several_steps());
        let judge = Arc::new(Mutex::new(UnmovedJudge)) as SharedStepJudge;
        let start = walker.start();
        walker.restore(start, source()).expect("it is kept");
        walker.step(StepId::Begin).expect("the machine is well");
        let taken = walker.steps(0, 3, &judge).expect("the machine is well");
        assert!(matches!(taken, (StepOutcome::Returned { flow: Some(0) }, 3)), "{taken:?}");
        let place = walker.capture().expect("it goes on");
        let history = format!("{:?}", walker.history());
        walker.reactor.hold_at_most(0);
        walker.restore(start, source()).expect("the machine is well");
        assert_ne!(format!("{:?}", walker.history()), history);
        walker.restore(place, source()).expect("the same calls lead there");
        assert_eq!(format!("{:?}", walker.history()), history);
    }
}
