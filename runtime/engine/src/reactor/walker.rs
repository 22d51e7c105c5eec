//! A scenario that is taken step by step, and brought back to where it was: what an exploration walks through.
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
use crate::reactor::{Announced, CallError, CheckpointId, Function, Holdings, Reactor, ReactorError, time_of};
use crate::run::coverage::Covered;
use crate::run::scenario::{Info, StepResult, check, described, stuck};
use crate::run::trap::POWER_LOST;
use fozzy_host::Caller;
use fozzy_instrument::{Coverage, ModuleOrdinal};
use fozzy_trace::facts::Facts;
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::plan::Inputs;
use fozzy_trace::{DecisionSource, Digest, Execution, ExecutionEnd, HarnessError, History, NodeId, Plan, StreamOutput};
use fozzy_world::WorldError;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The shortest time after which a call is cut: what a busy machine needs to come back to us.
const WATCH_MIN: Duration = Duration::from_millis(500);

/// A scenario that cannot be walked through.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
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

/// What came of a call.
#[derive(Debug)]
pub enum Walked {
    /// It returned.
    On {
        /// The flow that ran, or found nothing to do; none at the beginning and at the end.
        flow: Option<u32>,
    },
    /// The sequence is over, and that is no failure: the guest has left, or its machine has lost power.
    Over,
    /// The guest ended in it.
    Ended {
        /// How.
        end: ExecutionEnd,
        /// Its stack, innermost first.
        backtrace: Vec<StackFrame>,
        /// What it had written to standard error.
        stderr: Vec<u8>,
    },
    /// It took so long that it was cut: whether it comes to an end, a run with fuel says.
    Cut,
}

/// Somewhere on the way, kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    checkpoint: CheckpointId,
    /// Steps that were taken to get there; `None` before the beginning.
    steps: Option<u32>,
}

/// Walks through one sequence of a scenario: the first one, unless another was asked for.
pub struct Walker {
    reactor: Reactor,
    begin: Function<(u32,), ()>,
    step: Function<(u32,), (StepResult,)>,
    end: Function<(u32,), ()>,
    flows: Vec<String>,
    start: Place,
    sequence: u32,
    /// As in [`Place`].
    steps: Option<u32>,
    has_run: bool,
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
    ) -> Result<Walker, WalkError> {
        Walker::of(Walker::program_of(component, plan, inputs, cache)?, plan, inputs, 0, source)
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
    ) -> Result<Program, WalkError> {
        let build = Build { coverage: Coverage::Counters, ..Build::fast() };
        match plan.target() {
            None => Ok(Program::build(component, Switches::of(plan), &build, cache)?),
            Some(target) => {
                let program = Program::judge_as(component, Switches::of(plan), &build, cache)?;
                let bytes = inputs.get(&target).ok_or(ReactorError::from(WorldError::MissingInput(target)))?;
                // With fuel, as nothing else would cut it.
                let target = Program::build(bytes, Switches::of(plan), &Build::default(), cache)?;
                Ok(program.linked_to(&target, Caller::Alone)?)
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
    ) -> Result<Walker, WalkError> {
        let interface = program.entries().scenario.stateful.clone().ok_or(WalkError::NoFlows)?;
        let named = |name: &str| format!("{interface}#{name}");
        let mut first = Reactor::start(program, Arc::new(plan.clone()), inputs, source)?;
        let mut describe = first.function::<(), (Info,)>(&named("describe"))?;
        let (info,) = first.call(&mut describe, ())?;
        check(&info).map_err(WalkError::Description)?;
        let mut reactor = first.begin_again(described(&info))?;
        reactor.watch(time_of(plan.limits.fuel).max(WATCH_MIN)).map_err(WalkError::Watch)?;
        let (begin, step, end) = (
            reactor.function(&named("begin-sequence"))?,
            reactor.function(&named("step"))?,
            reactor.function(&named("end-sequence"))?,
        );
        let start = Place { checkpoint: reactor.checkpoint()?, steps: None };
        reactor.find_states();
        let flows = info.flows.into_iter().map(|flow| flow.name).collect();
        Ok(Walker { reactor, begin, step, end, flows, start, sequence, steps: None, has_run: false })
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

    /// Where every way begins: before the sequence.
    #[must_use]
    pub fn start(&self) -> Place {
        self.start
    }

    /// Goes back, or elsewhere. What is asked from there on, `source` answers.
    ///
    /// # Errors
    /// When the machine fails.
    pub fn go(&mut self, place: Place, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        self.reactor.restore(place.checkpoint)?;
        self.reactor.answer_from(source);
        self.steps = place.steps;
        Ok(())
    }

    /// Begins the sequence, or takes its next step.
    ///
    /// # Errors
    /// When the machine fails.
    pub fn forward(&mut self) -> Result<Walked, HarnessError> {
        match self.steps {
            None => self.begin(),
            Some(step) => self.step(step),
        }
    }

    /// Begins the sequence.
    ///
    /// # Errors
    /// When the machine fails.
    pub fn begin(&mut self) -> Result<Walked, HarnessError> {
        self.steps = Some(0);
        let sequence = self.sequence;
        let next = Announced::Beginning(sequence);
        let called = self.announced(next, |walker| walker.reactor.call(&mut walker.begin, (sequence,)));
        self.walked(called.map(|()| None))
    }

    /// Takes the step of this number, whichever was the one before.
    ///
    /// # Errors
    /// When the machine fails.
    pub fn step(&mut self, step: u32) -> Result<Walked, HarnessError> {
        self.steps = Some(step + 1);
        let sequence = self.sequence;
        let next = Announced::Step(sequence, step);
        let called = self.announced(next, |walker| walker.reactor.call(&mut walker.step, (step,)));
        let flow = match called {
            Ok((StepResult::Ran(flow),)) => {
                self.has_run = true;
                Ok(flow)
            }
            Ok((StepResult::Skipped(skip),)) => Ok(skip.flow),
            Ok((StepResult::Stuck(why),)) => {
                let end = ExecutionEnd::Failed { failure: stuck(sequence, step, &why) };
                Err(CallError::Ended { end, backtrace: Vec::new() })
            }
            Err(error) => Err(error),
        };
        self.walked(flow.map(Some))
    }

    /// Ends the sequence.
    ///
    /// # Errors
    /// When the machine fails.
    pub fn finish(&mut self) -> Result<Walked, HarnessError> {
        let sequence = self.sequence;
        let next = Announced::Ending(sequence);
        let called = self.announced(next, |walker| walker.reactor.call(&mut walker.end, (sequence,)));
        self.walked(called.map(|()| None))
    }

    fn announced<R>(
        &mut self,
        next: Announced,
        call: impl FnOnce(&mut Walker) -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        self.reactor.announce(next)?;
        call(self)
    }

    fn walked(&mut self, called: Result<Option<u32>, CallError>) -> Result<Walked, HarnessError> {
        match called {
            Ok(flow) => Ok(Walked::On { flow }),
            Err(CallError::Runaway) => Ok(Walked::Cut),
            // Leaving with success is no failure, as it is none of a run; nor is a planned loss of power.
            Err(CallError::Ended { end: ExecutionEnd::Exited { code: 0 }, .. }) => Ok(Walked::Over),
            Err(CallError::Ended { end: ExecutionEnd::Trapped { trap }, .. }) if trap == POWER_LOST => Ok(Walked::Over),
            Err(CallError::Ended { end, backtrace }) => {
                let stderr = self.reactor.world().node(NodeId(0)).stderr.kept().to_vec();
                Ok(Walked::Ended { end, backtrace, stderr })
            }
            Err(CallError::Harness(error)) => Err(error),
            Err(other @ (CallError::Over | CallError::Function { .. })) => {
                Err(HarnessError { what: other.to_string() })
            }
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
            facts: world.facts.clone(),
        }
    }

    /// Keeps where it is, between two calls.
    ///
    /// # Errors
    /// When the guest has ended, or the machine fails.
    pub fn keep(&mut self) -> Result<Place, HarnessError> {
        let checkpoint = self.reactor.checkpoint().map_err(|error| match error {
            CallError::Harness(error) => error,
            other => HarnessError { what: other.to_string() },
        })?;
        Ok(Place { checkpoint, steps: self.steps })
    }

    /// A place is not needed any more.
    pub fn forget(&mut self, place: Place) {
        self.reactor.discard(place.checkpoint);
    }

    /// The coverage bytes of each module since they were cleared: how often each kept edge was taken, up to 255.
    pub fn coverage(&self) -> impl Iterator<Item = (ModuleOrdinal, &[u8])> {
        self.reactor.coverage()
    }

    /// What was covered, of the bytes of each module that was shown, in that order.
    #[must_use]
    pub fn covered(&self, taken: &dyn Fn(usize) -> Vec<u8>) -> Covered {
        let of_module = |(number, (module, bytes)): (usize, (ModuleOrdinal, &[u8]))| {
            let mut taken = taken(number);
            taken.resize(bytes.len(), 0);
            (module, taken)
        };
        let bytes: BTreeMap<ModuleOrdinal, Vec<u8>> = self.coverage().enumerate().map(of_module).collect();
        Covered::by(self.program(), &bytes, None)
    }

    /// Sets all coverage bytes to zero.
    pub fn clear_coverage(&mut self) {
        self.reactor.clear_coverage();
    }

    /// What the guest has said about itself on this way.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.reactor.world().facts
    }

    /// How often each fault of the plan has struck on this way.
    pub fn struck(&self) -> impl Iterator<Item = u64> {
        self.reactor.world().faults.struck()
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
    pub fn holdings(&self) -> Holdings {
        self.reactor.holdings()
    }

    /// Why places are reached by calling again, one sentence each; empty when they are brought back.
    #[must_use]
    pub fn obstacles(&self) -> &[String] {
        self.reactor.obstacles()
    }
}
