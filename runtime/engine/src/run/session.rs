//! Runs a program under a plan, once for each call of `execute`.
//!
//! ```text
//! Program + Plan ─▶ Session ─execute(source)─▶ World ─▶ guests take turns (schedule) ─▶ Execution
//! ```
//!
//! Invariants: an execution depends on programs, plan, inputs and source only; whatever fails for
//! reasons of the machine is a [`HarnessError`].
//! Not here: checkpoints.

use crate::compile::catalogue;
use crate::compile::link::LinkError;
use crate::compile::program::{Program, ProgramError};
use crate::compile::settings::Switches;
use crate::entry::entry_point::is_plain;
use crate::memory::Region;
use crate::reactor::model_component::planned_models;
use crate::run::block_stop::BlockStop;
use crate::run::callee::{self, TargetInstance};
use crate::run::coverage::{CoverageCollector, ModuleBytes, ProgramCoverage, add_modules};
use crate::run::criteria::CriteriaJudge;
use crate::run::heap;
use crate::run::profile::ProgramProfile;
use crate::run::scenario;
use crate::run::schedule;
use fozzy_host::{CallerKind, Interrupt, LazyInput, OutputTee, Run, RunSlot};
use fozzy_trace::execution::NodeExecution;
use fozzy_trace::facts::{OwnHeap, Refusal};
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::plan::Inputs;
use fozzy_trace::{
    ActivitySink, CmpLogEntry, CopyOnWrite, DecisionSource, Digest, Execution, Executor, Facts, HarnessError,
    HistorySink, HistoryWindow, LiveBackend, NodeId, Plan, Recorder,
};
use fozzy_world::channel::VariedArrival;
use fozzy_world::{Disk, World, WorldError};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Most parts of standard input whose arrival times are reported.
const VARIED_SHOWN_MAX: usize = 64;

/// Finds out what was in the heap of an execution that has come to its end, from the same answers.
pub type HeapObserver =
    Box<dyn FnMut(Box<dyn DecisionSource>, &Execution) -> Result<Option<Box<OwnHeap>>, HarnessError> + Send>;

/// A program with a plan, ready to be executed any number of times.
pub struct Session {
    heap_observer: Option<HeapObserver>,
    program: Program,
    /// The further components of the plan.
    others: BTreeMap<Digest, Program>,
    start: World,
    tee: Option<OutputTee>,
    sink: Option<HistorySink>,
    activity: Option<ActivitySink>,
    is_narrated: bool,
    stdin: Option<Arc<LazyInput>>,
    reality: Option<Box<dyn LiveBackend>>,
    interrupt: Interrupt,
    /// Whether a call of the program took so long that it has to stop for looks in the middle of its calls.
    is_slow: bool,
    /// Whether each step of a scenario is a call, in all executions.
    parts_steps: bool,
    /// How many executions took steps together, and how many of these were begun again for it.
    together: (u64, u64),
    /// How many executions were fit for that.
    fit: u64,
    /// The fuel of each guest is that of the plan times this.
    fuel_times: u64,
    /// Fuel of guests by their machines, instead; all others have as much as there is.
    given_fuel: Option<BTreeMap<NodeId, u64>>,
    /// Of the program's component, once it was asked for.
    digest: OnceLock<Digest>,
    covered: BTreeMap<Digest, ProgramCoverage>,
    profiles: BTreeMap<(NodeId, Digest), ProgramProfile>,
    /// Names of the flows of the last execution, in a build that watches allocators.
    flows: Vec<Arc<str>>,
    /// The coverage bytes of the last execution; `None` when they are not wanted.
    bytes: Option<BTreeMap<Digest, ModuleBytes>>,
    /// What the guests of the last execution have compared; `None` when that is not logged.
    compared: Option<Vec<CmpLogEntry>>,
    /// Arrivals of the last execution whose moments were varied, by machine.
    varied: Vec<(NodeId, VariedArrival)>,
    /// Kinds of messages that machines have read in the last execution, if coverage bytes are wanted.
    messages: Vec<u64>,
    /// Where executions are to stop.
    block_stop: Option<Arc<BlockStop>>,
    /// The planned fault of memory at which they are to stop, by its number from one.
    refusal_stop: Option<u64>,
    /// `None` when the plan has no criteria.
    criteria: Option<Box<CriteriaJudge>>,
}

/// More fuel than any guest uses, in instructions.
const FUEL_MAX: u64 = 1 << 60;

/// The plan cannot be executed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// It cannot be made into a computer.
    #[error(transparent)]
    World(#[from] WorldError),
    /// One of its further components cannot be run.
    #[error("the component {component} of the plan: {error}")]
    Program {
        /// Its SHA-256.
        component: Digest,
        /// Why.
        error: ProgramError,
    },
    /// The scenario and its target do not fit.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The machines that the scenario calls have different components.
    #[error(
        "the plan has machines with different components for the scenario to call; all instances of a target are of one"
    )]
    Targets,
    /// The program imports what the sandbox does not offer, and the plan has no target.
    #[error(transparent)]
    Unlinked(ProgramError),
    /// The properties that the target declares are not fit.
    #[error("the target's properties: {why}")]
    Catalogue {
        /// What is wrong.
        why: String,
    },
    /// What the plan holds runs to cannot be held against any.
    #[error("what the plan expects of runs: {0}")]
    Criteria(String),
    /// The target only handles HTTP requests.
    #[error(
        "the target exports `wasi:http/incoming-handler` and no `wasi:cli/run`: it is called by a rule of a plan (`[[http]] component = \"…\"`)"
    )]
    NoCommand,
}

impl Session {
    /// Prepares the computer that `plan` describes, and the further components that it names.
    ///
    /// # Errors
    /// When the plan cannot be made into a computer, or one of its components cannot be run.
    pub fn new(program: Program, plan: Arc<Plan>, inputs: &Inputs) -> Result<Session, SessionError> {
        let is_called = plan.call.as_ref().is_some_and(is_plain);
        if !program.is_command() && !is_called {
            return Err(SessionError::NoCommand);
        }
        let mut others = BTreeMap::new();
        compile_others(&program, &mut others, &plan, inputs)?;
        let target = plan.target();
        if plan.called().any(|(_, node)| Some(node.program.component) != target) {
            return Err(SessionError::Targets);
        }
        let called = target.map(|target| &others[&target]);
        let program = match called {
            Some(target) => program.linked_to(target, CallerKind::OfSeveral)?,
            None => program.offered().map_err(SessionError::Unlinked)?,
        };
        let declared = called.map(|target| catalogue::read(target.component()));
        let criteria = CriteriaJudge::new(&plan.criteria, &program, inputs)?.map(Box::new);
        let models = planned_models(&plan, inputs, program.cache());
        let mut start = World::new(plan, inputs)?;
        start.facts.operations.models = models;
        for row in catalogue::read(program.component()).into_iter().chain(declared.into_iter().flatten()) {
            let declared = start.facts.properties.declare(row.kind, &row.name, &row.place);
            let wrong = |why: String| SessionError::Catalogue { why };
            match declared {
                Ok(None) => {}
                Ok(Some(failure)) => return Err(wrong(failure.message)),
                Err(error) => return Err(wrong(error.to_string())),
            }
        }
        Ok(Session {
            program,
            others,
            start,
            tee: None,
            sink: None,
            activity: None,
            heap_observer: None,
            is_narrated: false,
            stdin: None,
            reality: None,
            interrupt: Interrupt::default(),
            is_slow: false,
            parts_steps: false,
            together: (0, 0),
            fit: 0,
            fuel_times: 1,
            given_fuel: None,
            digest: OnceLock::new(),
            covered: BTreeMap::new(),
            profiles: BTreeMap::new(),
            flows: Vec::new(),
            bytes: None,
            compared: None,
            varied: Vec::new(),
            messages: Vec::new(),
            block_stop: None,
            refusal_stop: None,
            criteria,
        })
    }

    /// The same program under another plan, which compiles only what the last one did not name.
    ///
    /// # Errors
    /// As for [`Session::new`]; the session is as it was then.
    pub fn replan(&mut self, plan: Arc<Plan>, inputs: &Inputs) -> Result<(), SessionError> {
        let switches = Switches { memory_faults: Switches::of(&plan).memory_faults, ..self.program.switches().clone() };
        if switches != *self.program.switches() {
            // Faults of memory need code in the program, which costs fuel: without them, it is another program.
            let program = self.program.under(switches).map_err(SessionError::Unlinked)?;
            let session = Session::new(program, Arc::clone(&plan), inputs)?;
            (self.program, self.others, self.criteria) = (session.program, session.others, session.criteria);
        }
        compile_others(&self.program, &mut self.others, &plan, inputs)?;
        if !self.criteria.as_ref().map_or(plan.criteria.is_empty(), |criteria| criteria.is_of(&plan.criteria)) {
            self.criteria = CriteriaJudge::new(&plan.criteria, &self.program, inputs)?.map(Box::new);
        }
        let start = World::new(plan, inputs)?;
        let before = std::mem::replace(&mut self.start, start);
        self.start.facts = before.facts;
        Ok(())
    }

    /// Shows what the guests write in the next execution, as they write it.
    pub fn watch(&mut self, tee: OutputTee) {
        self.tee = Some(tee);
    }

    /// Every execution reads standard input from `input` instead of the plan, when its guest first looks at
    /// it. The recorder of the execution adds the bytes of [`LazyInput::taken`] to the plan.
    pub fn read_from(&mut self, input: Arc<LazyInput>) {
        self.stdin = Some(input);
    }

    /// What a source has not observed before, `reality` is asked for, in every execution.
    pub fn observe(&mut self, reality: Box<dyn LiveBackend>) {
        self.reality = Some(reality);
    }

    /// Executions that begin while `interrupt` is armed can be ended by it: they are an error then,
    /// [`HarnessError::is_interruption`].
    pub fn interrupt_by(&mut self, interrupt: Interrupt) {
        self.interrupt = interrupt;
    }

    /// Makes each step of a scenario a call, from now on. Otherwise steps are taken together where that changes nothing but how
    /// long it takes.
    pub fn part_steps(&mut self) {
        self.parts_steps = true;
    }

    /// How many executions took the steps of a scenario together, and how many of these were begun again, with a call for each step.
    #[must_use]
    pub fn taken_together(&self) -> (u64, u64) {
        self.together
    }

    /// Hands the calls of the next execution's window to `sink` as they happen, instead of keeping them.
    pub fn follow(&mut self, sink: HistorySink) {
        self.sink = Some(sink);
    }

    /// Has `observer` find out what was in the heap of each execution that comes to its end.
    pub fn observe_heap(&mut self, observer: HeapObserver) {
        self.heap_observer = Some(observer);
    }

    /// Tells `sink` of turns, waits and bytes of the next execution, as they happen.
    pub fn tell_activity(&mut self, sink: ActivitySink) {
        self.activity = Some(sink);
    }

    /// Tells the next execution to `sink`: its calls, the values that its guests say only then, and the faults that strike. It
    /// is for people, and no recording: calls and fuel differ from those of other executions.
    pub fn narrate(&mut self, sink: HistorySink) {
        self.sink = Some(sink);
        self.is_narrated = true;
    }

    /// Has the next execution stop at an allocation or free, by its number, of one of the instances of the run, counted from one. Without
    /// such a number, the instances are only counted.
    pub fn stop_at_block(&mut self, event: u32, instance: u32) {
        self.block_stop = Some(BlockStop::new(event, instance));
    }

    /// Has executions stop at a planned fault of memory, by its number from one.
    pub fn stop_at_refusal(&mut self, number: u64) {
        self.refusal_stop = Some(number);
    }

    /// How many instances the last execution has made, if it was to stop at a block of one.
    #[must_use]
    pub fn instances(&self) -> u32 {
        self.block_stop.as_ref().map_or(0, |stop| stop.made())
    }

    pub(crate) fn block_stop(&self) -> Option<&Arc<BlockStop>> {
        self.block_stop.as_ref()
    }

    /// Multiplies the fuel of every guest: code that counts its edges uses more of it.
    pub fn fuel_times(&mut self, times: u64) {
        self.fuel_times = times.max(1);
    }

    /// Gives the guests of these machines this much fuel, and all others the maximum. The budget of host calls stays.
    pub fn give_fuel(&mut self, fuel: BTreeMap<NodeId, u64>) {
        self.given_fuel = Some(fuel);
    }

    pub(crate) fn fuel(&self, node: NodeId, planned: u64) -> u64 {
        match &self.given_fuel {
            Some(given) => given.get(&node).copied().unwrap_or(FUEL_MAX),
            None => planned.saturating_mul(self.fuel_times),
        }
    }

    /// What the guests of the last execution have covered, by component; empty when the program was built without
    /// coverage.
    #[must_use]
    pub fn coverage(&self) -> &BTreeMap<Digest, ProgramCoverage> {
        &self.covered
    }

    /// What the guests of the last execution have counted, by machine and component; empty unless the program was built for
    /// profiles.
    #[must_use]
    pub fn profiles(&self) -> &BTreeMap<(NodeId, Digest), ProgramProfile> {
        &self.profiles
    }

    /// The program of a component of the plan, the target included; `None` when there is none of that digest.
    #[must_use]
    pub fn program_named(&self, component: Digest) -> Option<&Program> {
        let target = || (self.digest() == component).then_some(&self.program);
        self.others.get(&component).or_else(target)
    }

    /// Names of the flows of the last execution, by number, in a build that watches allocators.
    #[must_use]
    pub fn flow_names(&self) -> &[Arc<str>] {
        &self.flows
    }

    /// Why frames of a finding have no lines of source, if a tool has emptied the debug information of a component: a
    /// sentence with what to do.
    #[must_use]
    pub fn missing_lines(&self, frames: &[StackFrame]) -> Option<String> {
        if frames.iter().all(|frame| frame.source.line.is_some()) {
            return None;
        }
        [&self.program].into_iter().chain(self.others.values()).find_map(|program| program.missing_lines(frames))
    }

    /// The program that is executed.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The instances of the component that the program calls in a run that begins; none when the plan has no target.
    pub(crate) fn callees(&self, slot: &Arc<RunSlot>) -> Vec<TargetInstance> {
        let planned = self.start.plan.limits.fuel;
        callee::callees(&self.program, &self.start, &|node| self.fuel(node, planned), slot)
    }

    pub(crate) fn start(&self) -> &World {
        &self.start
    }

    pub(crate) fn take_sink(&mut self) -> Option<HistorySink> {
        self.sink.take()
    }

    pub(crate) fn take_tee(&mut self) -> Option<OutputTee> {
        self.tee.take()
    }

    /// The program of a launch: the target, or one of the plan's others.
    pub(crate) fn program_of(&self, component: Option<Digest>) -> &Program {
        match component {
            None => &self.program,
            Some(digest) => self.others.get(&digest).expect("all components of the plan were compiled"),
        }
    }
}

impl Session {
    /// Collects coverage as bytes from now on, which is much cheaper than edges and blocks.
    pub fn collect_bytes(&mut self) {
        self.bytes = Some(BTreeMap::new());
    }

    /// The coverage bytes of the last execution, by component, if they are collected.
    #[must_use]
    pub fn coverage_bytes(&self) -> Option<&BTreeMap<Digest, ModuleBytes>> {
        self.bytes.as_ref()
    }

    /// Has each execution from now on log what its guests compare, in a build that can.
    pub fn log_comparisons(&mut self) {
        self.compared = Some(Vec::new());
    }

    pub(crate) fn logs_comparisons(&self) -> bool {
        self.compared.is_some()
    }

    /// What the guests of the last execution have compared, one guest after the other, if that is logged.
    #[must_use]
    pub fn comparisons(&self) -> &[CmpLogEntry] {
        self.compared.as_deref().unwrap_or_default()
    }

    /// Arrivals of the last execution whose moments were varied, by machine, each machine's in the order of their questions.
    #[must_use]
    pub fn varied(&self) -> &[(NodeId, VariedArrival)] {
        &self.varied
    }

    /// Which kinds of messages the machines of the last execution have read after which others, if coverage bytes are collected.
    #[must_use]
    pub fn messages(&self) -> &[u64] {
        &self.messages
    }

    fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| Digest::of(self.program.component()))
    }

    pub(crate) fn collector(&self) -> CoverageCollector {
        CoverageCollector { bytes: self.bytes.is_some().then(BTreeMap::new), ..CoverageCollector::default() }
    }

    /// What was covered, by digest: a further component of the plan may be the target itself.
    fn by_digest(&self, covered: BTreeMap<Option<Digest>, ProgramCoverage>) -> BTreeMap<Digest, ProgramCoverage> {
        let mut found: BTreeMap<Digest, ProgramCoverage> = BTreeMap::new();
        for (component, covered) in covered {
            let digest = component.unwrap_or_else(|| self.digest());
            found.entry(digest).or_default().merge(&covered, self.program.how().coverage);
        }
        found
    }
}

impl Executor for Session {
    fn execute(&mut self, source: Box<dyn DecisionSource>, keep: HistoryWindow) -> Result<Execution, HarnessError> {
        let (mut source, mut together) = (source, self.takes_steps_together());
        let tee = self.tee.take().map(SharedTee::new);
        loop {
            self.tee = tee.as_ref().map(SharedTee::resumed);
            let tried = CallAttempt { between_calls: self.looks_between_calls(), together };
            let again = if tried == CallAttempt::default() { None } else { source.begun_again() };
            let Some(again) = again else { return self.execute_as(source, keep, CallAttempt::default()) };
            let (was_slow, parted) = (self.is_slow, self.together.1);
            let execution = self.execute_as(source, keep.clone(), tried);
            together &= self.together.1 == parted;
            if self.is_slow == was_slow && self.together.1 == parted {
                return execution;
            }
            // Where calls are to stop in the middle, each is made on a stack of its own.
            together &= !self.is_slow;
            source = again;
        }
    }
}

/// How the calls of an execution are made that is begun again when it turns out that they cannot be made so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CallAttempt {
    /// It is looked for an interruption between calls only.
    between_calls: bool,
    /// Steps of a scenario are taken together.
    together: bool,
}

/// Shows what guests write, also of executions that are begun again: what one has shown that was given up, the next one does not
/// show once more, as it writes the same.
struct SharedTee(Arc<Mutex<ShownOutput>>);

struct ShownOutput {
    tee: OutputTee,
    /// How many writes were shown.
    writes: u64,
}

impl SharedTee {
    fn new(tee: OutputTee) -> SharedTee {
        SharedTee(Arc::new(Mutex::new(ShownOutput { tee, writes: 0 })))
    }

    /// For an execution from its beginning.
    fn resumed(&self) -> OutputTee {
        let (shown, mut writes) = (Arc::clone(&self.0), 0);
        Box::new(move |node, kind, bytes| {
            writes += 1;
            let mut guard = shown.lock().unwrap_or_else(PoisonError::into_inner);
            let shown = &mut *guard;
            if writes > shown.writes {
                shown.writes = writes;
                (shown.tee)(node, kind, bytes);
            }
        })
    }
}

impl Session {
    /// Whether nobody hears twice of what the next execution does when it is given up and begun again.
    fn can_begin_again(&self) -> bool {
        let is_heard = self.sink.is_some() || self.activity.is_some() || self.is_narrated;
        let is_live = self.reality.is_some() || self.stdin.as_ref().is_some_and(|input| input.is_live());
        let is_stopped = self.block_stop.is_some() || self.refusal_stop.is_some();
        let is_observed = self.criteria.is_some() || self.compared.is_some() || self.program.how().heap.is_some();
        !(is_heard || is_live || is_stopped || is_observed)
    }

    /// Whether the next execution, which can be interrupted, is tried without stops in the middle of calls, for each of which a fiber is
    /// made.
    fn looks_between_calls(&self) -> bool {
        let is_wanted = !self.is_slow && self.interrupt.is_armed();
        is_wanted && self.can_begin_again() && scenario::looks_between_calls(&self.program, &self.start.plan)
    }

    /// Whether the next execution is tried with steps of a scenario that are taken together: seldom one of a program for which that
    /// turned out not to be the same, as those that trap.
    fn takes_steps_together(&mut self) -> bool {
        /// Of this many executions, one more may be begun again.
        const EXECUTIONS: u64 = 8;
        let is_wanted = !self.parts_steps && self.program.facts().counted_steps().is_some();
        let has_stack = !(self.is_slow && self.interrupt.is_armed());
        let is_alone = scenario::looks_between_calls(&self.program, &self.start.plan);
        let is_fit = is_wanted && has_stack && self.can_begin_again() && is_alone;
        self.fit += u64::from(is_fit);
        is_fit && self.together.1 <= self.fit / EXECUTIONS
    }

    /// Executes it with calls that are made in one of the ways.
    fn execute_as(
        &mut self,
        source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
        CallAttempt { between_calls, together }: CallAttempt,
    ) -> Result<Execution, HarnessError> {
        // A run that is narrated to people is no recording, and no checker judges it.
        let is_streamed = self.sink.is_some();
        let again = (self.heap_observer.is_some() && !self.is_narrated).then(|| source.fork());
        let wanted = self.criteria.as_ref().map_or(0, |criteria| criteria.history_wanted());
        let window = if is_streamed || wanted == 0 { keep.clone() } else { 0..keep.end.max(wanted) };
        let recorder =
            Recorder::new(window).streaming(self.sink.take()).narrated(std::mem::take(&mut self.is_narrated));
        let mut start = self.start.clone();
        if self.bytes.is_some() {
            start.network.observe_messages();
        }
        let marks = self.program.how().heap.is_some().then(|| {
            let programs = [&self.program].into_iter().chain(self.others.values());
            heap::mark_flows(programs.filter_map(|program| program.facts().tag).collect())
        });
        let run = Run::new(start, source, recorder, self.tee.take())
            .telling(self.activity.take())
            .telling_flows(marks.is_some().then_some(heap::mark_flow))
            .reading(self.stdin.clone())
            .observing_long_output(self.criteria.as_mut().map(|criteria| criteria.observer()))
            .observing(self.reality.take())
            .stopping_at_refusal(self.refusal_stop)
            .interruptible(self.interrupt.is_armed().then(|| self.interrupt.clone()))
            .looking_between_calls(between_calls)
            .taking_steps_together(together);
        let (mut run, ended) = schedule::run(self, Box::new(run));
        drop(marks);
        self.is_slow |= run.as_ref().is_some_and(|run| run.has_given_up());
        self.together.0 += u64::from(together);
        self.together.1 += u64::from(run.as_ref().is_some_and(|run| run.has_parted()));
        self.reality = run.as_mut().and_then(|run| run.take_reality());
        let schedule::ScheduleOutcome { main: ended, mut others, restarts, covered } = ended?;
        let run = run.expect("only an interruption leaves it with a guest");
        self.covered = self.by_digest(covered.programs);
        let profiles = covered.profiles.into_iter();
        let (digest, program) = (&self.digest, &self.program);
        let own = |component: Option<Digest>| {
            component.unwrap_or_else(|| *digest.get_or_init(|| Digest::of(program.component())))
        };
        self.profiles = profiles.map(|((node, component), found)| ((node, own(component)), found)).collect();
        if let Some(bytes) = covered.bytes {
            // A further machine may run the target's component too.
            let mut named: BTreeMap<Digest, ModuleBytes> = BTreeMap::new();
            for (component, modules) in bytes {
                add_modules(named.entry(own(component)).or_default(), modules);
            }
            self.bytes = Some(named);
        }
        self.compared = self.compared.take().map(|_| covered.compared);
        self.varied.clear();
        for node in run.world.nodes.iter().flatten() {
            let varied = node.stdin.channel().map_or(&[][..], |channel| channel.varied());
            self.varied.extend(varied.iter().map(|varied| (node.id, *varied)));
        }
        self.messages.clear();
        self.messages.extend(run.world.network.messages());
        let unmet = run.world.unmet_expectations().into_iter();
        let unmet_input =
            unmet.map(|(node, unmet)| format!("standard input of `{node}`: {unmet}, which was not written"));
        let disk_refusals: Vec<Refusal> = run.world.disk_refusals().collect();
        let unmatched = run.world.unmatched;
        let injected = CopyOnWrite::new(run.world.faults.report());
        let nodes = run.world.nodes.iter().flatten();
        let channels = nodes.filter_map(|node| Some((&node.name, node.stdin.channel()?)));
        let varied_input = channels.flat_map(|(name, channel)| channel.varied_input(name)).take(VARIED_SHOWN_MAX);
        let mut facts = Facts {
            injected,
            unmet_input: unmet_input.collect(),
            varied_input: varied_input.collect(),
            ..run.world.facts
        };
        disk_refusals.into_iter().for_each(|refusal| facts.refusals.note(refusal));
        let disks: Vec<(NodeId, Disk)> = match &self.criteria {
            Some(_) => run.world.nodes.iter().flatten().map(|node| (node.id, node.disk.clone())).collect(),
            None => Vec::new(),
        };
        if self.program.how().heap.is_some() {
            let scenario = facts.scenario.iter();
            self.flows = scenario.flat_map(|scenario| &scenario.flows).map(|flow| Arc::clone(&flow.name)).collect();
        }
        let mut machines = run.world.nodes.into_iter().flatten().map(CopyOnWrite::into_inner);
        let main = machines.next().expect("the target's machine is the first");
        let planned = self.start.plan.nodes.iter().zip(machines);
        let nodes = planned.map(|(plan, node)| {
            let ended = others.remove(&node.id);
            NodeExecution {
                name: plan.name.clone(),
                end: ended.as_ref().and_then(|ended| ended.end.clone()),
                stdout: node.stdout,
                stderr: node.stderr,
                memory: memory_digest(ended.as_ref().map_or(&[], |ended| &ended.memories)),
                ends: plan.ends,
                restarts: restarts.get(&node.id).copied().unwrap_or_default(),
                is_down: ended.as_ref().is_some_and(|ended| ended.is_down),
                backtrace: ended.map(|ended| ended.backtrace).unwrap_or_default(),
            }
        });
        let mut execution = Execution {
            nodes: nodes.collect(),
            unmatched: unmatched.kept().to_vec(),
            unmatched_more: unmatched.more(),
            facts,
            end: ended.end.expect("the target has ended"),
            ended_at: run.world.clock.now(),
            history: run.recorder.finish(),
            stdout: main.stdout,
            stderr: main.stderr,
            fuel_used: ended.fuel_used,
            memory_bytes: ended.memories.iter().map(|region| region.bytes().len() as u64).sum(),
            memory: memory_digest(&ended.memories),
            backtrace: ended.backtrace,
        };
        if let Some(criteria) = &mut self.criteria {
            execution.facts.criteria = criteria.judge(&execution, &disks, !is_streamed)?;
            execution.history.entries.retain(|entry| keep.contains(&entry.index));
        }
        if let (Some(observe), Some(again)) = (&mut self.heap_observer, again) {
            execution.facts.own_heap = observe(again, &execution)?;
        }
        Ok(execution)
    }
}

/// Compiles the further components of a plan that are not in `others`.
fn compile_others(
    program: &Program,
    others: &mut BTreeMap<Digest, Program>,
    plan: &Plan,
    inputs: &Inputs,
) -> Result<(), SessionError> {
    for other in plan.programs() {
        let component = other.component;
        if let Entry::Vacant(place) = others.entry(component) {
            let bytes = inputs.get(&component).ok_or(WorldError::MissingInput(component))?;
            let compiled = program.beside(bytes);
            place.insert(compiled.map_err(|error| SessionError::Program { component, error })?);
        }
    }
    Ok(())
}

/// One digest over all memories, each with its size.
pub(crate) fn memory_digest(memories: &[Arc<Region>]) -> Digest {
    let mut text = String::from("memories 2\n");
    for region in memories {
        text.push_str(&format!("{} {:032x}\n", region.bytes().len(), region.digest()));
    }
    Digest::of(text.as_bytes())
}
