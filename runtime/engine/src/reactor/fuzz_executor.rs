//! A component that is called again and again from the same state: what a search executes.
//!
//! ```text
//! instantiate, ask for the names, warm up ─▶ checkpoint ─▶ call ─▶ coverage ─▶ restore ─▶ call ─▶ …
//!
//! builds  fast       every call; cut when it takes long
//!         exact      what was cut, with fuel: it decides, and its coverage counts
//!         compared   as fast, and logs what is compared
//! ```
//!
//! A call that takes long in the fast build is repeated in the exact one, so that nothing depends on how quick the
//! machine is. The exact build pays fuel for what was put into the guest too, so it can only acquit: a call that stays within the
//! budget there stays within it in a run. Of any other it says [`CallOutcome::Undecided`]: a run decides, and
//! [`FuzzExecutor::call_to_end`] then shows what a call reaches that a run has seen end. The watchdog's limit is so short
//! that whatever uses up the budget is cut.
//!
//! Invariants: each call begins in the state of the checkpoint; its outcome is a function of its input alone, and that
//! of a run whose plan has the same call.
//! Not here: which inputs are worth a call (`fozzy-search`), runs that can be recorded (`session`).

mod enter;

#[cfg(test)]
mod tests;

use crate::compile::build::Build;
use crate::compile::cache::Cache;
use crate::compile::program::{Program, ProgramError};
use crate::compile::settings::Switches;
use crate::entry::entry_point::{EntryPoint, NumberedInterface, STATEFUL};
use crate::entry::typed;
use crate::reactor::model_component::planned_models;
use crate::reactor::{CallError, Reactor, ReactorError, time_of};
use enter::EntryCall;
use fozzy_instrument::{CoverageMode, ModuleOrdinal};
use fozzy_trace::facts::Facts;
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::plan::{Inputs, PlannedCall};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{
    CheckpointId, CmpLogEntry, CmpLogSites, DecisionSource, ExecutionEnd, HarnessError, NodeId, Plan, Seed,
};
use std::sync::Arc;
use std::time::Duration;

/// The shortest time after which a call is cut. With less fuel than that, all calls are made in the exact build.
const WATCH_MIN: Duration = Duration::from_millis(20);
/// The fuel of a build with coverage and marks, in budgets of the plan: what is put in beside an instruction costs at most a few
/// times that instruction. A call that a run has seen end and that uses more than this is a fault of ours, and said to be one.
const FUEL_TIMES: u64 = 16;
/// Consecutive calls that are cut before a target counts as slow: its next calls begin in the exact build.
const CUTS_IN_A_ROW: u32 = 4;
/// Calls of a slow target that begin in the exact build before the fast one is tried again.
const EXACT_STRETCH: u32 = 64;

/// The functions by which a component can be searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportedFunctions {
    /// Fuzz targets.
    pub fuzz: Vec<String>,
    /// Properties.
    pub properties: Vec<String>,
    /// Any that it exports, by their full names: `ns:package/interface@1.0.0#name` or `name`.
    pub exported: Vec<String>,
    /// Whether it is a program that runs from beginning to end.
    pub runs: bool,
    /// Whether it handles HTTP requests.
    pub handles: bool,
    /// Whether it is a scenario with a state.
    pub is_stateful: bool,
    /// Everything that it exports, for people.
    pub exports: Vec<String>,
}

impl ExportedFunctions {
    /// Its fuzz targets, its properties, and its sequences of this number of flows.
    #[must_use]
    pub fn entry_points(&self, flows: u32) -> Vec<EntryPoint> {
        let fuzz = self.fuzz.iter().cloned().map(PlannedCall::Fuzz);
        let properties = self.properties.iter().cloned().map(PlannedCall::Property);
        let sequences = self.is_stateful.then_some(EntryPoint::Scenario { flows });
        fuzz.chain(properties).map(EntryPoint::Call).chain(sequences).collect()
    }

    /// Its handler of HTTP requests.
    #[must_use]
    pub fn handler(&self) -> Option<EntryPoint> {
        self.handles.then_some(EntryPoint::Call(PlannedCall::Http))
    }

    /// Calls of the exported functions that `name` may mean.
    #[must_use]
    pub fn calls_of(&self, name: &str) -> Vec<EntryPoint> {
        let calls = self.exported(name).into_iter().map(|full| PlannedCall::Function(full.to_owned()));
        calls.map(EntryPoint::Call).collect()
    }

    /// Whether it has a function that `name` may mean; `stateful` are the sequences of a scenario.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        let is_it = |known: &String| known == name;
        let is_sequences = self.is_stateful && name == STATEFUL;
        self.fuzz.iter().chain(&self.properties).any(is_it) || is_sequences || !self.exported(name).is_empty()
    }

    /// The full names of the exported functions that `name` may mean: the version of the interface, its package, or all but the
    /// function's own name may be left out. What fits with less left out goes first, and is then the only one.
    #[must_use]
    pub fn exported(&self, name: &str) -> Vec<&str> {
        let all = || self.exported.iter().map(String::as_str);
        match all().find(|full| typed::is_called(full, name)) {
            Some(full) => vec![full],
            None => all().filter(|full| typed::is_short_for(name, full)).collect(),
        }
    }
}

/// A component whose functions cannot be called.
#[derive(Debug, thiserror::Error)]
pub enum ExecutorError {
    /// It cannot be compiled.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// It cannot be started.
    #[error(transparent)]
    Reactor(#[from] ReactorError),
    /// It ended before the function was called, or has it not.
    #[error(transparent)]
    Call(#[from] CallError),
    /// It has no such function.
    #[error("it has no {what} `{name}`")]
    Missing {
        /// What was looked for.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// The export's type does not fit this entry point; one sentence.
    #[error("{0}")]
    Entry(String),
    /// Its calls cannot be watched.
    #[error("{0}")]
    Watch(String),
}

/// Lists the functions of `program`, which has fuel. It is started in any case: who calls it in a build without fuel knows then that
/// its start comes to an end.
///
/// # Errors
/// When it ends before it has told them.
pub fn functions(
    program: &Program,
    plan: &Plan,
    inputs: &Inputs,
    seed: Seed,
) -> Result<ExportedFunctions, ExecutorError> {
    let mut reactor = start(program.clone(), plan, inputs, seed)?;
    listed(program, |call| names(&mut reactor, call))
}

/// The same, and nothing is executed of a program that has neither fuzz targets nor properties of the SDK, which it would have to name.
///
/// # Errors
/// When it ends before it has told them.
pub fn functions_at_rest(
    program: &Program,
    plan: &Plan,
    inputs: &Inputs,
    seed: Seed,
) -> Result<ExportedFunctions, ExecutorError> {
    let scenario = &program.entries().scenario;
    match scenario.fuzz.is_some() || scenario.property.is_some() {
        true => functions(program, plan, inputs, seed),
        false => listed(program, |_| Ok(Vec::new())),
    }
}

/// The functions of a program, of which `of` names those that have numbers.
fn listed(
    program: &Program,
    mut of: impl FnMut(&PlannedCall) -> Result<Vec<String>, CallError>,
) -> Result<ExportedFunctions, ExecutorError> {
    let (fuzz, properties) = (of(&PlannedCall::Fuzz(String::new()))?, of(&PlannedCall::Property(String::new()))?);
    let entries = program.entries();
    let of_others = |name: &String| !name.starts_with("wasi:") && !name.starts_with("fozzy:");
    Ok(ExportedFunctions {
        fuzz,
        properties,
        exported: typed::functions(program).into_iter().filter(of_others).collect(),
        runs: entries.run.is_some(),
        handles: entries.handler.is_some(),
        is_stateful: entries.scenario.stateful.is_some(),
        exports: program.exports().collect(),
    })
}

fn start(program: Program, plan: &Plan, inputs: &Inputs, seed: Seed) -> Result<Reactor, ReactorError> {
    let models = planned_models(plan, inputs, program.cache());
    let source = Box::new(SeededSource::new(seed));
    Reactor::start_judged(program, Arc::new(plan.clone()), inputs, models, source)
}

fn names(reactor: &mut Reactor, call: &PlannedCall) -> Result<Vec<String>, CallError> {
    let entries = reactor.program().entries();
    let Some(NumberedInterface { name: Some(name), list, .. }) = entries.scenario.of_call(call) else {
        return Ok(Vec::new());
    };
    let list = format!("{name}#{list}");
    let mut function = reactor.function::<(), (Vec<String>,)>(&list)?;
    let (names,) = reactor.call(&mut function, ())?;
    Ok(names)
}

/// How a call ended.
#[derive(Debug)]
pub enum CallOutcome {
    /// It returned.
    Returned,
    /// The guest ended in it.
    Ended {
        /// How.
        end: ExecutionEnd,
        /// Its stack, innermost first.
        backtrace: Vec<StackFrame>,
        /// What it had written to standard error.
        stderr: Vec<u8>,
    },
    /// It used up the budget together with what was put into the guest. That is no verdict: a run gives one.
    Undecided,
}

/// One function of a component, ready to be called.
pub struct FuzzExecutor {
    component: Arc<[u8]>,
    plan: Plan,
    inputs: Inputs,
    searched: EntryPoint,
    seed: Seed,
    cache: Option<Cache>,
    /// How long a call of the fast build may take; `None` when there is none.
    limit: Option<Duration>,
    fast: Option<ExecutorBuild>,
    exact: Option<ExecutorBuild>,
    compared: Option<ExecutorBuild>,
    /// Whether the last call was made in the exact build.
    was_exact: bool,
    /// Calls that were repeated in the exact build.
    repeated: u64,
    /// Calls that were cut since the last one that was not.
    cuts: u32,
    /// Calls that are still to begin in the exact build.
    exact_calls: u32,
}

impl FuzzExecutor {
    /// Compiles `component` for search, and starts it under `plan`; `seed` answers what it asks.
    ///
    /// # Errors
    /// When it cannot be compiled or started, or has no such function.
    pub fn new(
        component: Arc<[u8]>,
        plan: &Plan,
        inputs: &Inputs,
        searched: &EntryPoint,
        seed: Seed,
        cache: Option<&Cache>,
    ) -> Result<FuzzExecutor, ExecutorError> {
        let limit = time_of(plan.limits.fuel);
        let mut caller = FuzzExecutor {
            component,
            plan: plan.clone(),
            inputs: inputs.clone(),
            searched: searched.clone(),
            seed,
            cache: cache.cloned(),
            limit: (limit >= WATCH_MIN).then_some(limit),
            fast: None,
            exact: None,
            compared: None,
            was_exact: limit < WATCH_MIN,
            repeated: 0,
            cuts: 0,
            exact_calls: 0,
        };
        match caller.limit {
            Some(limit) => {
                let build = Build { coverage: CoverageMode::Counters, recursion: true, ..Build::fast() };
                caller.fast = Some(caller.start_build(&build, Some(limit))?);
            }
            None => caller.exact = Some(caller.exact_build()?),
        }
        Ok(caller)
    }

    fn start_build(&self, build: &Build, limit: Option<Duration>) -> Result<ExecutorBuild, ExecutorError> {
        let switches = Switches::of(&self.plan);
        let program = Program::build(Arc::clone(&self.component), switches, build, self.cache.as_ref())?;
        let mut plan = self.plan.clone();
        plan.limits.fuel = plan.limits.fuel.saturating_mul(FUEL_TIMES);
        let mut reactor = start(program, &plan, &self.inputs, self.seed)?;
        let mut entry = EntryCall::find(&mut reactor, &self.searched)?;
        if let Some(limit) = limit {
            reactor.watch(limit).map_err(ExecutorError::Watch)?;
        }
        entry.warm_up(&mut reactor)?;
        let start = reactor.checkpoint()?;
        let used = plan.limits.fuel - reactor.fuel().unwrap_or(plan.limits.fuel);
        let budget = self.plan.limits.fuel.saturating_sub(used);
        Ok(ExecutorBuild { reactor, entry, start, is_fresh: true, budget })
    }

    fn exact_build(&self) -> Result<ExecutorBuild, ExecutorError> {
        let build = Build { coverage: CoverageMode::Counters, recursion: true, ..Build::exact() };
        self.start_build(&build, None)
    }

    /// Calls the function with `input`; where it draws values, `source` answers.
    ///
    /// # Errors
    /// When the machine fails.
    pub fn call(&mut self, input: &[u8], source: Option<Box<dyn DecisionSource>>) -> Result<CallOutcome, HarnessError> {
        let again = source.as_ref().map(|source| source.fork());
        match &mut self.fast {
            Some(_) if self.exact_calls > 0 => self.exact_calls -= 1,
            Some(fast) => {
                self.was_exact = false;
                if let Some(outcome) = fast.call(input, source, FuelBudget::Plan)? {
                    self.cuts = 0;
                    return Ok(outcome);
                }
                self.repeated += 1;
                self.cuts += 1;
                if self.cuts >= CUTS_IN_A_ROW {
                    self.exact_calls = EXACT_STRETCH;
                }
            }
            None => {}
        }
        self.call_exact(input, again, FuelBudget::Plan)
    }

    /// Calls the function with an input whose run stays within the budget, however much what was put into the guest costs.
    ///
    /// # Errors
    /// When the machine fails, or the call does not end although the run has.
    pub fn call_to_end(
        &mut self,
        input: &[u8],
        source: Option<Box<dyn DecisionSource>>,
    ) -> Result<CallOutcome, HarnessError> {
        match self.call_exact(input, source, FuelBudget::Whole)? {
            CallOutcome::Undecided => Err(HarnessError::new(format!(
                "a run of an input stays within its budget, and a call with it uses more than {FUEL_TIMES} times that; \
                     this is a fault of fozzy"
            ))),
            outcome => Ok(outcome),
        }
    }

    fn call_exact(
        &mut self,
        input: &[u8],
        source: Option<Box<dyn DecisionSource>>,
        budget: FuelBudget,
    ) -> Result<CallOutcome, HarnessError> {
        if self.exact.is_none() {
            self.exact = Some(self.exact_build().map_err(unlikely)?);
        }
        self.was_exact = true;
        let outcome = self.exact.as_mut().expect("just made").call(input, source, budget)?;
        outcome.ok_or_else(|| HarnessError::new("a call was cut without a watchdog; this is a fault of fozzy"))
    }

    /// Brings the start state back now, which otherwise the next call does.
    ///
    /// # Errors
    /// When the machine fails.
    pub fn ready(&mut self) -> Result<(), HarnessError> {
        self.fast.as_mut().or(self.exact.as_mut()).map_or(Ok(()), ExecutorBuild::prepare)
    }

    fn last(&self) -> &ExecutorBuild {
        let build = if self.was_exact { &self.exact } else { &self.fast };
        build.as_ref().expect("the last call was made in it")
    }

    fn last_mut(&mut self) -> &mut ExecutorBuild {
        let build = if self.was_exact { &mut self.exact } else { &mut self.fast };
        build.as_mut().expect("the last call was made in it")
    }

    /// The coverage bytes of each module in the last call: how often each kept edge was taken, up to 255.
    pub fn coverage(&self) -> impl Iterator<Item = (ModuleOrdinal, &[u8])> {
        self.last().reactor.coverage()
    }

    /// The program that the coverage bytes are of.
    #[must_use]
    pub fn program(&self) -> &Program {
        self.last().reactor.program()
    }

    /// Bytes of linear memory after the last call.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.last().reactor.memory_bytes()
    }

    /// What the guest has said about itself, up to the end of the last call.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.last().reactor.world().facts
    }

    /// Pages of memory that the last call wrote, where writes are marked; otherwise zero.
    #[must_use]
    pub fn written_pages(&mut self) -> u64 {
        self.last_mut().reactor.written_pages()
    }

    /// How much of the stack the deepest call of a recursive function needed in the last call, in slots; 0 when there was none.
    #[must_use]
    pub fn deepest_call(&self) -> u32 {
        self.last().reactor.deepest_call()
    }

    /// Calls that took so long that they were repeated with fuel.
    #[must_use]
    pub fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Why the state is not brought back in place, one sentence each; empty when it is.
    #[must_use]
    pub fn obstacles(&self) -> &[String] {
        self.last().reactor.obstacles()
    }

    /// Calls the function with `input` and adds what it compares to `log`, in order, at the places that are asked for. The answer is the
    /// instructions that it took, those of the logging of these places among them. A call that uses up the budget ends there.
    ///
    /// # Errors
    /// When the machine fails.
    pub fn compare(
        &mut self,
        input: &[u8],
        source: Option<Box<dyn DecisionSource>>,
        sites: CmpLogSites<'_>,
        log: &mut Vec<CmpLogEntry>,
    ) -> Result<u64, HarnessError> {
        if self.compared.is_none() {
            // With fuel, so that a call that does not end does, and always at the same comparison.
            let build = Build { coverage: CoverageMode::None, comparisons: true, ..Build::exact() };
            self.compared = Some(self.start_build(&build, None).map_err(unlikely)?);
        }
        let compared = self.compared.as_mut().expect("just made");
        compared.prepare()?;
        compared.reactor.log_comparisons_of(sites);
        compared.call(input, source, FuelBudget::Plan)?;
        compared.reactor.read_comparisons(sites, log);
        Ok(compared.budget.saturating_sub(compared.reactor.fuel().unwrap_or(0)))
    }
}

/// The same component was started in another build before.
fn unlikely(error: ExecutorError) -> HarnessError {
    HarnessError::new(format!("another build of the program does not start as the first one did: {error}"))
}

/// A build of the component, at its start.
struct ExecutorBuild {
    reactor: Reactor,
    entry: EntryCall,
    start: CheckpointId,
    /// Nothing was called since the start.
    is_fresh: bool,
    /// The fuel that the budget of the plan has left after the start.
    budget: u64,
}

/// How much fuel a call may use in a build that has any.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FuelBudget {
    /// What the plan allows a run.
    Plan,
    /// [`FUEL_TIMES`] that.
    Whole,
}

impl ExecutorBuild {
    fn prepare(&mut self) -> Result<(), HarnessError> {
        if !self.is_fresh {
            self.reactor.restore(self.start)?;
            self.is_fresh = true;
        }
        Ok(())
    }

    /// `None` when it took too long.
    fn call(
        &mut self,
        input: &[u8],
        source: Option<Box<dyn DecisionSource>>,
        budget: FuelBudget,
    ) -> Result<Option<CallOutcome>, HarnessError> {
        self.prepare()?;
        self.is_fresh = false;
        if budget == FuelBudget::Plan {
            self.reactor.limit_fuel(self.budget)?;
        }
        self.reactor.clear_coverage();
        if let Some(source) = source {
            self.reactor.answer_last_from(source);
        }
        match self.entry.call(&mut self.reactor, input) {
            Ok(None) => Ok(Some(CallOutcome::Returned)),
            Ok(Some(end)) => Ok(Some(self.ended(end, Vec::new()))),
            Err(CallError::Runaway) => Ok(None),
            Err(CallError::Ended { end: ExecutionEnd::FuelExhausted { .. }, .. }) => Ok(Some(CallOutcome::Undecided)),
            Err(CallError::Ended { end, backtrace }) => Ok(Some(self.ended(end, backtrace))),
            Err(CallError::Harness(error)) => Err(error),
            Err(other @ (CallError::Over | CallError::Function { .. })) => Err(HarnessError::new(other.to_string())),
        }
    }

    fn ended(&self, end: ExecutionEnd, backtrace: Vec<StackFrame>) -> CallOutcome {
        let stderr = self.reactor.world().node(NodeId(0)).stderr.last().to_vec();
        CallOutcome::Ended { end, backtrace, stderr }
    }
}
