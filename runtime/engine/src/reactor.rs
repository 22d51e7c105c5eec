//! A component that is called from outside, and whose state can be captured and restored.
//!
//! ```text
//! start ─▶ call ─▶ checkpoint A ─▶ call ─▶ call ─▶ checkpoint B
//!                      ▲                              │
//!                      └────────── restore ───────────┘
//!
//! state of a checkpoint   memories (pages shared) · globals · handles · world, source and history · fuel
//! ways to restore         in place │ into a fresh instance, after a trap │ by calling everything again
//! ```
//!
//! Invariants: after a restore the instance answers each call as it would have then; a component whose state
//! cannot be reached is restored by calling again, never otherwise. Checkpoints are only taken between calls. A
//! trace never depends on a checkpoint.
//! Not here: which calls are worth making (`fozzy-search`).

mod checkpoints;
pub(crate) mod fuzz_executor;
mod handles;
mod image;
mod instance;
mod memories;
mod memory_states;
pub(crate) mod model_component;
mod state_learner;
mod tracker;
pub(crate) mod walker;
mod watchdog;

#[cfg(test)]
mod tests;

pub use instance::ReactorFunction;
pub use tracker::TrackerKind;
pub(crate) use watchdog::time_of;

use crate::compile::program::Program;
use crate::run::coverage::ProgramCoverage;
use checkpoints::Checkpoints;
use fozzy_host::{Host, Run, StepLook, StepReturn};
use fozzy_instrument::{LoggedComparison, ModuleOrdinal, OriginalOffset};
use fozzy_trace::facts::ScenarioStats;
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::plan::{Backends, Inputs};
use fozzy_trace::{
    CheckpointId, CmpLogEntry, CmpLogSites, DecisionSource, ExecutionEnd, HarnessError, History, Instant,
    ModelPrograms, NodeId, Plan, Recorder, SharedStepJudge, StepId, StretchLook,
};
use fozzy_world::{World, WorldError};
use instance::ReactorInstance;
use memory_states::{FoundState, MemoryStates, SharedMemoryStates, lock};
use std::sync::Arc;
use wasmtime::Store;
use wasmtime::component::{ComponentNamedList, Instance, Lift, Lower};

/// Bytes that the checkpoints of one reactor hold, when nothing else is asked for.
pub const CHECKPOINT_BYTES_DEFAULT: u64 = 1 << 30;

/// The plan cannot be used for a component that is called from outside.
#[derive(Debug, thiserror::Error)]
pub enum ReactorError {
    /// It cannot be made into a computer.
    #[error(transparent)]
    World(#[from] WorldError),
    /// It asks for the real computer, or for guests beside this one.
    #[error("a component that is called from outside is alone in a simulated computer, and the plan has {0}")]
    NotAlone(&'static str),
    /// It cannot be started.
    #[error(transparent)]
    Harness(#[from] HarnessError),
    /// It ended while it was started.
    #[error("the component ended while it was instantiated: {0}")]
    Start(String),
}

/// A call that did not return.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The guest ended in it. It can be called again after a restore.
    #[error("the guest ended: {end:?}")]
    Ended {
        /// How.
        end: ExecutionEnd,
        /// Its stack, innermost first.
        backtrace: Vec<StackFrame>,
    },
    /// The guest was cut because it took too long, in a build without fuel. That is no verdict: [`Reactor::repeat_in`] a
    /// build with fuel gives one.
    #[error("the guest was cut because it took too long; repeat it in an exact build")]
    Runaway,
    /// The guest has ended before.
    #[error("the guest has ended; restore a checkpoint first")]
    Over,
    /// There is no such function, or it has another type.
    #[error("the exported function `{name}`: {why}")]
    Function {
        /// Its name.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// The machine, not the guest, failed.
    #[error(transparent)]
    Harness(#[from] HarnessError),
}

/// How a checkpoint was restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreMethod {
    /// The state was restored in the present instance.
    InPlace,
    /// The state was restored in a fresh instance.
    Fresh,
    /// All calls since the nearest state were made again, in a fresh instance.
    Repeated {
        /// The number of calls that were made again.
        calls: u64,
    },
}

/// What checkpoints hold, and how restores went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckpointUsage {
    /// Checkpoints that exist.
    pub checkpoints: u64,
    /// Of these, how many have their state; the others are restored by calling again.
    pub with_state: u64,
    /// Bytes of pages and tables that they hold.
    pub bytes: u64,
    /// Pages that restores have copied so far.
    pub pages_copied: u64,
}

/// A component that is called from outside.
pub struct Reactor {
    program: Program,
    start: World,
    live: ReactorInstance,
    checkpoints: Checkpoints,
    /// The checkpoint from which the instance continued.
    base: CheckpointId,
    /// Whether the guest has ended.
    over: bool,
    /// Whether an action was made that a restore does not repeat.
    finished: bool,
    /// Recognises states, once [`Reactor::find_states`] was called.
    changes: Option<SharedMemoryStates>,
    /// What was found of the last step while the guest still waited.
    found: Option<FoundState>,
    /// Whether it has not looked since the last call, and whether something was captured meanwhile: what it then missed is found in all pages.
    unlooked: bool,
    missed: bool,
}

impl Reactor {
    /// Instantiates `program` on the computer that `plan` describes; `source` answers its questions.
    ///
    /// # Errors
    /// When the plan is not for a guest that is alone, or the component cannot be instantiated.
    pub fn start(
        program: Program,
        plan: Arc<Plan>,
        inputs: &Inputs,
        source: Box<dyn DecisionSource>,
    ) -> Result<Reactor, ReactorError> {
        Reactor::start_judged(program, plan, inputs, ModelPrograms::default(), source)
    }

    /// The same, with the models by which its operations are judged.
    pub(crate) fn start_judged(
        program: Program,
        plan: Arc<Plan>,
        inputs: &Inputs,
        models: ModelPrograms,
        source: Box<dyn DecisionSource>,
    ) -> Result<Reactor, ReactorError> {
        // Those that it was linked with act while they are called, and only then.
        let called = if program.linked().is_some() { plan.called().count() } else { 0 };
        if plan.programs().count() > called {
            return Err(ReactorError::NotAlone("further components"));
        }
        if plan.backends != Backends::default() {
            return Err(ReactorError::NotAlone("backends of the real computer"));
        }
        let mut start = World::new(plan, inputs)?;
        start.facts.operations.models = models;
        start.launches.clear();
        let mut run = Run::new(start.clone(), source, Recorder::new(0..0), None);
        run.guests = 1;
        Reactor::with_run(program, start, run)
    }

    fn with_run(program: Program, start: World, run: Run) -> Result<Reactor, ReactorError> {
        let first = run.fork();
        let mut live = ReactorInstance::start(&program, &start, run).map_err(|error| match error {
            CallError::Harness(error) => ReactorError::Harness(error),
            other => ReactorError::Start(other.to_string()),
        })?;
        let mut checkpoints = Checkpoints::new(CHECKPOINT_BYTES_DEFAULT);
        let state = live.capture()?;
        let base = checkpoints.add_root(state, first);
        Ok(Reactor {
            program,
            start,
            live,
            checkpoints,
            base,
            over: false,
            finished: false,
            changes: None,
            found: None,
            unlooked: false,
            missed: false,
        })
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Why checkpoints are restored by calling again, one sentence each; empty when their state can be reached.
    #[must_use]
    pub fn obstacles(&self) -> &[String] {
        self.live.obstacles()
    }

    /// An exported function, such as `run` or `ns:package/interface@1.0.0#name`.
    ///
    /// # Errors
    /// When there is none of that name and type.
    pub fn function<P, R>(&mut self, name: &str) -> Result<ReactorFunction<P, R>, CallError>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        self.live.function(name)
    }

    /// Calls a function.
    ///
    /// # Errors
    /// When the guest ends in it, or has ended before.
    pub fn call<P, R>(&mut self, function: &mut ReactorFunction<P, R>, arguments: P) -> Result<R, CallError>
    where
        P: ComponentNamedList + Lower + Clone + Send + Sync + 'static,
        R: ComponentNamedList + Lift + 'static,
    {
        if self.over {
            return Err(CallError::Over);
        }
        self.checkpoints.called(function, &arguments);
        self.call_live(function, arguments)
    }

    /// Calls a function after which only a restore may follow; a restore does not repeat it, so that nothing of it is kept.
    ///
    /// # Errors
    /// As for [`Reactor::call`].
    pub(crate) fn call_last<P, R>(&mut self, function: &mut ReactorFunction<P, R>, arguments: P) -> Result<R, CallError>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        if self.over {
            return Err(CallError::Over);
        }
        self.finished = true;
        self.call_live(function, arguments)
    }

    /// The same for a function with whose return the guest comes to its end, as a program does: what it has said and what waits for the
    /// end is taken then, as in a run.
    ///
    /// # Errors
    /// As for [`Reactor::call`].
    pub(crate) fn run_to_end<P, R>(
        &mut self,
        function: &mut ReactorFunction<P, R>,
        arguments: P,
    ) -> Result<R, CallError>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        if self.over {
            return Err(CallError::Over);
        }
        self.finished = true;
        (self.unlooked, self.found) = (true, None);
        let result = self.live.run_to_end(function, arguments);
        self.over = result.is_err();
        result
    }

    #[inline]
    fn call_live<P, R>(&mut self, function: &mut ReactorFunction<P, R>, arguments: P) -> Result<R, CallError>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        (self.unlooked, self.found) = (true, None);
        let result = self.live.call(function, arguments);
        self.over = matches!(result, Err(CallError::Ended { .. } | CallError::Runaway | CallError::Harness(_)));
        result
    }

    /// Takes the steps from `first` to `last` of a sequence in one call of `steps`, as long as `judge` finds them dull. `step` takes
    /// one of them alone. The first one was announced. The answer is the step that came last, whether any flow ran, and how that step
    /// came out.
    pub(crate) fn call_steps<R>(
        &mut self,
        steps: &mut ReactorFunction<(u32,), (u32,)>,
        step: &ReactorFunction<(u32,), R>,
        (sequence, first, last): (u32, u32, u32),
        judge: &SharedStepJudge,
    ) -> (u32, bool, Result<StepReturn, CallError>)
    where
        R: ComponentNamedList + Lift + 'static,
    {
        if self.over {
            return (first, false, Err(CallError::Over));
        }
        self.unlooked = true;
        let (stepped, result) =
            self.live.call_steps(steps, (sequence, first, last), (judge, self.changes.as_ref(), self.missed));
        self.found = self.changes.as_ref().and_then(|states| lock(states).take_kept());
        let missing =
            || CallError::Harness(HarnessError::new("steps in one call have come to no end; this is a fault of fozzy"));
        let Some((reached, StepLook::Judged(judged))) = stepped.map(|stepped| (stepped.step, stepped.look)) else {
            self.over = true;
            return (first, false, Err(missing()));
        };
        let is_begun = judged.refused.is_none();
        let outcome = match (result, judged.refused, judged.outcome) {
            (Err(error), ..) => Err(error),
            (Ok(_), Some(refused), _) => Err(self.live.refused(&refused)),
            (Ok(_), None, Some(outcome)) => Ok(outcome),
            (Ok(_), None, None) => Err(missing()),
        };
        self.over = outcome.is_err();
        self.checkpoints.stepped(step, sequence, first..=reached, is_begun);
        (reached, judged.has_run, outcome)
    }

    /// Tells the host which part of a scenario is called next.
    pub(crate) fn announce(&mut self, sequence: u32, next: StepId) -> Result<(), CallError> {
        if self.over {
            return Err(CallError::Over);
        }
        self.checkpoints.announced(sequence, next);
        let told = self.live.announce(sequence, next);
        self.over = told.is_err();
        told
    }

    /// Starts a new instance on the initial machine, with the history so far: as a sequence of a scenario begins. It has no
    /// checkpoints of this one.
    pub(crate) fn begin_again(self, scenario: ScenarioStats) -> Result<Reactor, ReactorError> {
        let Reactor { program, start, live, .. } = self;
        let mut run = live.run().fork();
        run.with_context(NodeId(0), |world, context| world.begin_again(start.node(NodeId(0)), context));
        for (node, _) in start.plan.called() {
            run.with_context(node, |world, context| world.begin_again(start.node(node), context));
        }
        run.world.facts.scenario = Some(scenario);
        drop(live);
        Reactor::with_run(program, start, run)
    }

    /// Executes guest code after which only a restore may follow; a restore does not repeat it.
    pub(crate) fn finish<R>(
        &mut self,
        act: impl FnOnce(&mut Store<Host>, &Instance) -> wasmtime::Result<R>,
    ) -> Result<R, CallError> {
        if self.over {
            return Err(CallError::Over);
        }
        self.finished = true;
        let result = self.live.act(act);
        self.over = result.is_err();
        result
    }

    /// Calls the fuzz target of this number as a call of `run` with its number and `input` does, in less time; only a restore may follow.
    /// `None` when it has to be called that way, and nothing was done.
    #[inline]
    pub(crate) fn finish_with_input(&mut self, target: u32, input: &[u8]) -> Option<Result<(), CallError>> {
        if self.over {
            return Some(Err(CallError::Over));
        }
        let result = self.live.call_with_input(target, input)?;
        self.finished = true;
        self.over = result.is_err();
        Some(result)
    }

    /// Changes the computer before guest code after which only a restore may follow.
    pub(crate) fn change<R>(&mut self, change: impl FnOnce(&mut World) -> R) -> R {
        self.live.change(change)
    }

    /// Has `source` answer the questions from here on.
    pub fn answer_from(&mut self, source: Box<dyn DecisionSource>) {
        self.checkpoints.answered_from(source.fork());
        self.live.answer_from(source);
    }

    /// The same for a call after which only a restore may follow.
    pub(crate) fn answer_last_from(&mut self, source: Box<dyn DecisionSource>) {
        self.finished = true;
        self.live.answer_from(source);
    }

    /// Captures the present state.
    ///
    /// # Errors
    /// [`CallError::Over`] when the guest has ended; otherwise when the machine fails.
    pub fn checkpoint(&mut self) -> Result<CheckpointId, CallError> {
        if self.over {
            return Err(CallError::Over);
        }
        assert!(!self.finished, "what was done since the last restore cannot be repeated");
        let state = self.live.capture()?;
        self.missed |= self.unlooked;
        self.base = self.checkpoints.add(self.base, state);
        Ok(self.base)
    }

    /// Restores the state of a checkpoint. The answer says how.
    ///
    /// # Errors
    /// When the machine fails, or a repeated call had another result than the first time.
    ///
    /// # Panics
    /// When `checkpoint` is of another reactor.
    pub fn restore(&mut self, checkpoint: CheckpointId) -> Result<RestoreMethod, HarnessError> {
        self.restore_taking(checkpoint, &mut None)
    }

    /// The same, and `source` answers the questions from there on.
    pub(crate) fn restore_answered(
        &mut self,
        checkpoint: CheckpointId,
        source: Box<dyn DecisionSource>,
    ) -> Result<RestoreMethod, HarnessError> {
        let (again, mut source) = (source.fork(), Some(source));
        let restored = self.restore_taking(checkpoint, &mut source)?;
        self.checkpoints.answered_from(again);
        if let Some(source) = source {
            self.live.answer_from(source);
        }
        Ok(restored)
    }

    /// Restores a checkpoint, and takes `source` where it can answer from there on without more.
    fn restore_taking(
        &mut self,
        checkpoint: CheckpointId,
        source: &mut Option<Box<dyn DecisionSource>>,
    ) -> Result<RestoreMethod, HarnessError> {
        self.checkpoints.forget_calls();
        let restored = match self.checkpoints.state(checkpoint) {
            Some(state) if !self.over && self.live.restore_answered(state, source)? => RestoreMethod::InPlace,
            Some(state) => {
                self.live.restart(&self.program, &self.start, state)?;
                RestoreMethod::Fresh
            }
            None => RestoreMethod::Repeated { calls: self.repeat(checkpoint)? },
        };
        self.checkpoints.arrive(checkpoint);
        (self.base, self.over, self.finished) = (checkpoint, false, false);
        if let Some(changes) = &self.changes {
            let in_place = restored == RestoreMethod::InPlace && !self.missed;
            self.live.follow_changes(&mut lock(changes).learner, in_place);
        }
        (self.unlooked, self.missed, self.found) = (false, false, None);
        Ok(restored)
    }

    /// Restores the nearest ancestor that has its state, and repeats all calls since.
    fn repeat(&mut self, checkpoint: CheckpointId) -> Result<u64, HarnessError> {
        let (from, steps) = self.checkpoints.way_to(checkpoint);
        match from {
            Some(state) if !self.over && self.live.restore(&state)? => {}
            Some(state) => self.live.restart(&self.program, &self.start, &state)?,
            None => {
                let run = self.checkpoints.first_run().fork();
                self.live.begin_again(&self.program, &self.start, run)?;
            }
        }
        for step in &steps {
            step.repeat(&mut self.live).map_err(again)?;
        }
        let calls = steps.iter().map(|step| step.calls()).sum();
        let state = self.live.capture()?;
        if self.checkpoints.is_another(checkpoint, &state) {
            let what = "a checkpoint was restored by calling again, and its state came out differently; this is a fault \
                        of fozzy, please report it with the program";
            return Err(HarnessError::new(what.to_owned()));
        }
        self.checkpoints.keep(checkpoint, state);
        Ok(calls)
    }

    /// Cuts calls that take longer than `limit`, in real time: for builds without fuel.
    ///
    /// # Errors
    /// When the build has no coverage, or the machine fails.
    pub fn watch(&mut self, limit: std::time::Duration) -> Result<(), String> {
        self.live.watch(limit)
    }

    /// The fuel that is left; `None` in a build without.
    pub(crate) fn fuel(&self) -> Option<u64> {
        self.live.fuel()
    }

    /// Leaves the guest at most `fuel`, up to the next restore. A build without fuel has no bound.
    pub(crate) fn limit_fuel(&mut self, fuel: u64) -> Result<(), HarnessError> {
        self.live.limit_fuel(fuel)
    }

    /// Repeats all calls since the start in an instance of another build of the same component, up to the first failure
    /// there. The answer is that failure, if there is one.
    ///
    /// # Errors
    /// When the instance cannot be made.
    pub fn repeat_in(&self, program: &Program) -> Result<(Reactor, Option<CallError>), ReactorError> {
        assert_eq!(program.component(), self.program.component(), "another build of the same component");
        let mut other = Reactor::with_run(program.clone(), self.start.clone(), self.checkpoints.first_run().fork())?;
        let failed =
            self.checkpoints.since_start(self.base).into_iter().find_map(|step| step.repeat(&mut other.live).err());
        other.over = failed.is_some();
        Ok((other, failed))
    }

    /// Discards a checkpoint. Its descendants stay, and the calls that lead to them.
    pub fn discard(&mut self, checkpoint: CheckpointId) {
        self.checkpoints.discard(checkpoint);
    }

    /// Bounds the bytes that checkpoints hold; beyond them the longest unused lose their state.
    pub fn hold_at_most(&mut self, bytes: u64) {
        self.checkpoints.hold_at_most(bytes);
    }

    /// What checkpoints hold.
    #[must_use]
    pub fn holdings(&self) -> CheckpointUsage {
        CheckpointUsage { pages_copied: self.live.pages_copied(), ..self.checkpoints.holdings() }
    }

    /// Selects how written pages are found from now on.
    ///
    /// # Errors
    /// When this machine or this component does not have it, in one sentence.
    pub fn track(&mut self, kind: TrackerKind) -> Result<(), String> {
        self.missed |= self.unlooked;
        self.live.track(kind)
    }

    /// How written pages are found; `None` when the component's state cannot be reached or it has no memory.
    #[must_use]
    pub fn tracker(&self) -> Option<TrackerKind> {
        self.live.tracker()
    }

    /// Bytes of linear memory.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.live.memory_bytes()
    }

    /// Pages of linear memory that were written since the last restore, stack and heap alike; 0 where the guest's own code
    /// does not tell ([`TrackerKind::Marks`]).
    #[must_use]
    pub fn written_pages(&mut self) -> u64 {
        self.live.written_pages()
    }

    /// Slots of the stack that were in use at the deepest call of a function that may call itself, since the coverage was cleared; 0
    /// when there was none, and in builds without [`crate::Build::recursion`].
    #[must_use]
    pub fn deepest_call(&self) -> u32 {
        self.live.told().deepest_call()
    }

    /// Has [`Reactor::memory_state`] tell states from here on; a checkpoint was just kept.
    pub(crate) fn find_states(&mut self) {
        self.changes = self.live.changes().map(MemoryStates::shared);
    }

    /// The state of the guest after a step, judged by its memory: equal numbers are equal states. `None` as long as the
    /// relevant words of the memory are not known, and in builds that do not mark what they write.
    pub fn memory_state(&mut self) -> Option<u64> {
        let changes = self.changes.as_ref()?;
        self.unlooked = false;
        match self.found.take() {
            Some(FoundState(state)) => state,
            None => self.live.look_at_changes(&mut lock(changes), self.missed),
        }
    }

    /// The coverage bytes of each module since they were cleared; see [`fozzy_instrument::Sites::hits`].
    pub fn coverage(&self) -> impl Iterator<Item = (ModuleOrdinal, &[u8])> {
        self.live.told().coverage()
    }

    /// What this instance has covered since its coverage was cleared; `ended` is how the last call ended, if it did.
    #[must_use]
    pub fn covered(&self, ended: Option<&CallError>) -> ProgramCoverage {
        ProgramCoverage::of(&self.program, self.live.told(), ended.and_then(|ended| cut(&self.program, ended)))
    }

    /// Switches the log of comparisons on or off, and empties it. A fresh instance begins with it switched off.
    pub fn log_comparisons(&mut self, on: bool) {
        self.live.told().log_comparisons(on);
    }

    /// Switches the log of comparisons on, and empties it. The guest logs the places that are asked for, and may pass over others.
    pub(crate) fn log_comparisons_of(&mut self, sites: CmpLogSites<'_>) {
        match sites {
            CmpLogSites::All => self.live.told().log_comparisons(true),
            CmpLogSites::Only(sites) => self.live.told().log_comparisons_of(sites),
        }
    }

    /// What was compared since the log was switched on, module by module, in the order of execution.
    pub fn comparisons(&self) -> impl Iterator<Item = (ModuleOrdinal, LoggedComparison)> {
        self.live.told().comparisons()
    }

    /// Adds what was compared since the log was switched on to `log`, each with what its place in the program compares, of the
    /// places that are asked for.
    pub fn read_comparisons(&self, sites: CmpLogSites<'_>, log: &mut Vec<CmpLogEntry>) {
        self.program.resolve_comparisons(self.comparisons(), sites, log);
    }

    /// Shows the coverage bytes that are not zero, and sets all of them to zero, and the deepest call: calls `see` with the number of
    /// each module, with its number of coverage bytes, and with each stretch of these that is not all zero, where it begins (a multiple
    /// of eight) and what it holds. Modules are numbered as [`Reactor::coverage`] shows them. Each comes with an empty stretch first.
    pub fn take_coverage(&mut self, see: &mut StretchLook<'_>) {
        self.live.told().take_coverage(see);
    }

    /// Sets all coverage bytes to zero, and the deepest call. Restores do not touch them.
    pub fn clear_coverage(&mut self) {
        self.live.told().clear_coverage();
    }

    /// The simulated computer, to be looked at.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.live.run().world
    }

    /// The virtual time.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.world().clock.now()
    }

    /// The history so far.
    #[must_use]
    pub fn history(&self) -> History {
        self.live.run().recorder.so_far()
    }

    /// Compares all memory for a write that was missed. Captures and restores compare a few pages each, in turn.
    ///
    /// # Errors
    /// When there is one, which is a fault of ours; when the guest has ended, or the machine fails.
    pub fn verify(&mut self) -> Result<(), CallError> {
        if self.over {
            return Err(CallError::Over);
        }
        self.missed |= self.unlooked;
        Ok(self.live.verify()?)
    }

    /// A digest of memories, globals, handles, virtual time and history: equal for equal states.
    ///
    /// # Errors
    /// When the machine fails.
    pub fn digest(&mut self) -> Result<u64, CallError> {
        if self.over {
            return Err(CallError::Over);
        }
        self.missed |= self.unlooked;
        Ok(self.live.digest()?)
    }
}

/// Where a call was cut off inside of code that has edges.
fn cut(program: &Program, ended: &CallError) -> Option<OriginalOffset> {
    let CallError::Ended { end, backtrace } = ended else { return None };
    // A call that was too deep has reached nothing of its function.
    let exhausted = matches!(end, ExecutionEnd::Trapped { trap } if trap == fozzy_trace::STACK_EXHAUSTED);
    let offset = OriginalOffset(u32::try_from(backtrace.first().filter(|_| !exhausted)?.offset).ok()?);
    let module = program.maps().modules().iter().find(|module| module.original().contains(&offset))?;
    (program.sites().kept(module.ordinal()) > 0).then_some(offset)
}

/// A call that succeeded before did not.
fn again(error: CallError) -> HarnessError {
    match error {
        CallError::Harness(error) => error,
        other => HarnessError::new(format!(
            "a call that succeeded before did not when it was made again ({other}); this is a fault of fozzy"
        )),
    }
}
