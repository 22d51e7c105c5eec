//! One instance of a reactor: captures its state, and restores it.
//!
//! ```text
//! accessor's memory   [tag │ slot 0 │ slot 1 …]     save: globals ─▶ slots     load: slots ─▶ globals
//! side memories       [tag … pending … slots]       slots ─▶ globals, by the module itself when it is entered
//! accessor's memory   [… │ target, length, bytes]   an input ─▶ the fuzz target, in one call without arguments
//! ```
//!
//! Invariant: an instance whose guest has ended is never used again: its store is poisoned. Its memories are, by the next one.
//! Not here: which checkpoints there are (`checkpoints`).

use super::checkpoints::Snapshot;
use super::handles::GuestHandles;
use super::memories::{GuestMemories, MarkSites};
use super::memory_states::{FoundState, MemoryStates, SharedMemoryStates, lock};
use super::state_learner::StateLearner;
use super::tracker::{TrackerKind, add_marked};
use super::watchdog::{TimeRenewal, Watchdog};
use super::{CallError, again};
use crate::compile::program::Program;
use crate::compile::settings::{HOSTCALL_FUEL, with_stack};
use crate::memory::{self, Region};
use crate::run::callee;
use crate::run::memory_roles::{self, InstanceMemories};
use crate::run::preview1_memory::preview1_memory;
use crate::run::trap::{InstantiationContext, ending, harness};
use fozzy_host::{Host, Run, RunGuard, RunSlot, StepGate, SteppedCall, resource_of};
use fozzy_instrument::{
    ACCESSOR_HEADER_BYTES, AccessorLayout, FUZZ, HEADER_PENDING_AT, INPUT_BYTES_AT, INPUT_BYTES_MAX, INPUT_LENGTH_AT,
    INPUT_REFUSED_AT, INPUT_TARGET_AT, LOAD, ModuleOrdinal, SAVE, SLOT_BYTES,
};
use fozzy_trace::facts::Facts;
use fozzy_trace::plan::ScenarioKind;
use fozzy_trace::{DecisionSource, HarnessError, NodeId, SharedStepJudge, StepId, StepView, StretchLook};
use fozzy_world::World;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use wasmtime::Store;
use wasmtime::component::{ComponentExportIndex, ComponentNamedList, Instance, Lift, Lower, TypedFunc};

/// An exported function of a reactor.
pub struct ReactorFunction<P, R> {
    pub(super) name: Arc<str>,
    found: TypedFunc<P, R>,
    export: ComponentExportIndex,
    /// The instance that it was found in.
    instance: u64,
    types: PhantomData<fn(P) -> R>,
}

impl<P, R> Clone for ReactorFunction<P, R> {
    fn clone(&self) -> Self {
        ReactorFunction {
            name: Arc::clone(&self.name),
            found: self.found,
            export: self.export,
            instance: self.instance,
            types: PhantomData,
        }
    }
}

impl<P, R> ReactorFunction<P, R> {
    /// Whether both were looked up at once.
    #[inline]
    pub(super) fn is(&self, other: &ReactorFunction<P, R>) -> bool {
        Arc::ptr_eq(&self.name, &other.name)
    }
}

/// The globals of one module in its side memory, from which its code sets them at the next entry.
struct GlobalsHandoff {
    side: Arc<Region>,
    /// Where they are in the side memory.
    at: usize,
    /// Where they are among all globals.
    of_all: Range<usize>,
}

impl GlobalsHandoff {
    /// Those of all modules; `None` when one of them has to be told by a call.
    fn all(told: &InstanceMemories, access: &AccessorLayout) -> Option<Vec<GlobalsHandoff>> {
        let mut start = 0;
        let of_module = |(module, count): &(ModuleOrdinal, usize)| {
            let of_all = start..start + count * SLOT_BYTES;
            start = of_all.end;
            let (side, region) = told.sides.iter().find(|(side, _)| side.module == *module)?;
            let slots = memory_roles::bytes(&side.globals);
            (slots.len() == of_all.len()).then(|| GlobalsHandoff { side: Arc::clone(region), at: slots.start, of_all })
        };
        access.globals_of.iter().map(of_module).collect()
    }

    /// Has the module take its part of `globals`.
    fn give(&self, globals: &[u8]) {
        self.side.write(self.at, &globals[self.of_all.clone()]);
        self.side.write(HEADER_PENDING_AT as usize, &1_u32.to_le_bytes());
    }

    /// What was saved of a module that did not run since it was given its globals is what it had before.
    fn correct(&self, globals: &mut [u8]) {
        let side = self.side.bytes();
        if side[HEADER_PENDING_AT as usize] != 0 {
            globals[self.of_all.clone()].copy_from_slice(&side[self.at..self.at + self.of_all.len()]);
        }
    }

    fn forget(&self) {
        self.side.write(HEADER_PENDING_AT as usize, &0_u32.to_le_bytes());
    }
}

/// Stretches of coverage bytes for which there is room from the beginning.
const STRETCHES_FEW: usize = 32;

/// Looks at each of several steps in one call, while the guest waits in a call of the host: at its coverage, and at its memory if that is
/// asked.
struct CoverageGate {
    told: Arc<InstanceMemories>,
    renewal: Option<TimeRenewal>,
    judge: SharedStepJudge,
    /// Tells states by the only memory that there is, if the guest's own code marks what it writes.
    states: Option<SharedMemoryStates>,
    /// Whether they have missed what was written before the marks that there are.
    has_missed: bool,
    /// Which stretches of coverage bytes the step has set, by module; kept to reuse the allocation.
    shown: Vec<(usize, Range<usize>)>,
}

impl CoverageGate {
    /// What the memory says its state is.
    fn memory_state(&self) -> Option<u64> {
        let [region] = &*self.told.guest else { return None };
        lock(self.states.as_ref()?).look(self.has_missed, |pages| {
            add_marked(self.told.marks().map(|(side, range)| (&**side, range)), region, pages);
            Some(&**region)
        })
    }
}

impl StepGate for CoverageGate {
    fn goes_on(&mut self, flow: u32, facts: &Facts) -> bool {
        if self.renewal.as_ref().is_some_and(TimeRenewal::is_long) {
            return false;
        }
        let found = Cell::new(None);
        let (shown, is_shown) = (RefCell::new(std::mem::take(&mut self.shown)), Cell::new(false));
        let coverage = |see: &mut StretchLook<'_>| {
            let mut shown = shown.borrow_mut();
            shown.clear();
            self.told.show_coverage(&mut |module, len, at, bytes| {
                if !bytes.is_empty() {
                    shown.push((module, at..at + bytes.len()));
                }
                see(module, len, at, bytes);
            });
            is_shown.set(true);
        };
        let memory_state = || {
            let state = self.memory_state();
            found.set(Some(FoundState(state)));
            state
        };
        let step = StepView { flow, facts, coverage: &coverage, memory_state: &memory_state };
        let is_dull = self.judge.lock().unwrap_or_else(PoisonError::into_inner).is_dull(&step);
        if is_dull {
            // A judge need not have looked.
            match is_shown.get() {
                true => self.told.clear_shown(&shown.borrow()),
                false => self.told.take_coverage(&mut |_, _, _, _| ()),
            }
            self.renewal.iter().for_each(TimeRenewal::renew);
        } else if let (Some(states), Some(found)) = (&self.states, found.get()) {
            lock(states).keep(found);
        }
        self.shown = shown.into_inner();
        is_dull
    }
}

/// What a call ends with whose guest returns memory for an input that it does not have, in wasmtime's words.
const NO_MEMORY_FOR_INPUT: &str = "realloc return: beyond end of memory";

/// The way of an input through the accessor, in a build without fuel: with it, what the accessor does would be the guest's.
struct InputEntry {
    /// The accessor's memory, and where the input is put there.
    region: Arc<Region>,
    at: usize,
    call: TypedFunc<(), ()>,
}

impl InputEntry {
    fn give(&self, target: u32, input: &[u8]) {
        let length = u32::try_from(input.len()).expect("it was compared with the room that there is");
        for (at, word) in [(INPUT_TARGET_AT, target), (INPUT_LENGTH_AT, length), (INPUT_REFUSED_AT, 0)] {
            self.region.write(self.at + at, &word.to_le_bytes());
        }
        self.region.write(self.at + INPUT_BYTES_AT, input);
    }

    /// Calls the guest with the input that was given.
    fn call(&self, store: &mut Store<Host>) -> wasmtime::Result<()> {
        self.call.call(store, ())?;
        match self.region.bytes()[self.at + INPUT_REFUSED_AT] {
            0 => Ok(()),
            _ => Err(wasmtime::Error::msg(NO_MEMORY_FOR_INPUT)),
        }
    }
}

/// Reaches the state that is not in memories.
struct Accessor {
    region: Arc<Region>,
    save: TypedFunc<(), ()>,
    load: TypedFunc<(), ()>,
    /// Bytes of all slots.
    slots: usize,
    /// The globals of all modules, if these take them without a call. With fuel they do not: it would be theirs that
    /// they use for it.
    handed: Option<Vec<GlobalsHandoff>>,
    input: Option<Arc<InputEntry>>,
    handles: GuestHandles,
    memories: GuestMemories,
    /// What the instance went on from, if nothing but memories and globals can have changed since.
    at: Option<HostStateMark>,
}

impl Accessor {
    /// Sets globals by way of the slots, and has memories look up their size.
    fn load(&self, store: &mut Store<Host>, globals: &[u8]) -> wasmtime::Result<()> {
        self.region.write(ACCESSOR_HEADER_BYTES, globals);
        self.handed.iter().flatten().for_each(GlobalsHandoff::forget);
        self.load.call(store, ())
    }
}

/// Identifies a state of the computer: every call of the host changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HostStateMark {
    state: u64,
    calls: u64,
    work: u64,
}

/// One instance.
pub(super) struct ReactorInstance {
    store: Store<Host>,
    instance: Instance,
    id: u64,
    program: Program,
    /// `None` when the state cannot be reached.
    accessor: Option<Accessor>,
    obstacles: Vec<String>,
    /// All memories, in the order of instantiation.
    regions: Vec<Arc<Region>>,
    told: Arc<InstanceMemories>,
    marks: MarkSites,
    watchdog: Option<Watchdog>,
    /// How long a call may take in real time, if it is watched.
    limit: Option<Duration>,
    /// Pages that were copied in instances before this one.
    copied_before: u64,
}

/// Distinguishes instances, and states, of this process.
fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Why a component that was linked with another one is called again.
const CALLS_ANOTHER: &str = "it calls another component, whose memory is not kept";

/// What an instantiation gives: the store, the instance, and its memories.
type Instantiation = (Store<Host>, Instance, Vec<Arc<Region>>);

/// Instantiates `program` and hands it `run`. It reuses the memories of `offered` that fit. Its calls run on machines
/// in the state of `start`.
fn instantiate(
    program: &Program,
    start: &World,
    run: Run,
    offered: &[Arc<Region>],
) -> Result<Instantiation, CallError> {
    let failed = |error: wasmtime::Error| CallError::Harness(harness(&error));
    let slot = Arc::new(RunSlot::default());
    slot.put(Box::new(run));
    let callees = callee::callees(program, start, &|_| start.plan.limits.fuel, &slot);
    let mut turn = RunGuard::new(slot);
    turn.begin();
    let limits = turn.world.plan.limits.clone();
    drop(memory::collect());
    let memory_bytes = limits.memory_bytes + program.facts().appended_bytes(limits.memory_bytes);
    let mut host = Host::new(turn, NodeId(0), memory_bytes);
    host.called = callees.into_iter().map(|callee| Box::new(callee) as _).collect();
    host.memory = preview1_memory(program);
    let mut store = Store::new(program.engine(), host);
    store.limiter(|host| host);
    store.set_hostcall_fuel(HOSTCALL_FUEL);
    if program.how().fuel {
        store.set_fuel(program.facts().fuel_before_start(limits.fuel)).map_err(failed)?;
    }
    let linked = program.alone().map_err(failed)?;
    memory::offer(offered);
    let instance = memory::untouched(|| with_stack(|| linked.instantiate(&mut store)));
    store.data().settle_memory();
    let regions = memory::collect();
    match instance {
        Ok(instance) => Ok((store, instance, regions)),
        Err(error) => {
            let told = InstanceMemories::apart(regions, program.facts());
            Err(ended(program, &store, &error.context(InstantiationContext), &told))
        }
    }
}

impl ReactorInstance {
    /// Instantiates `program` and hands it `run`.
    pub(super) fn start(program: &Program, start: &World, run: Run) -> Result<ReactorInstance, CallError> {
        let (store, instance, regions) = instantiate(program, start, run, &[])?;
        let told = Arc::new(InstanceMemories::apart(regions.clone(), program.facts()));
        let mut live = ReactorInstance {
            store,
            instance,
            id: next_id(),
            program: program.clone(),
            accessor: None,
            obstacles: program.facts().obstacles.clone(),
            regions,
            told,
            marks: Vec::new(),
            watchdog: None,
            limit: None,
            copied_before: 0,
        };
        match &program.facts().access {
            _ if program.linked().is_some() => live.obstacles.push(CALLS_ANOTHER.to_owned()),
            Some(access) => live.reach(access)?,
            None => {}
        }
        Ok(live)
    }

    /// Finds the accessor among the instance's memories and exports.
    fn reach(&mut self, access: &AccessorLayout) -> Result<(), CallError> {
        let failed = |error: wasmtime::Error| CallError::Harness(harness(&error));
        let missing = || CallError::Harness(HarnessError::new("the accessor's memory is missing"));
        let region = self.told.accessor.clone().ok_or_else(missing)?;
        let regions = self.told.guest.clone();
        if self.program.facts().marks_are_sound && regions.len() == 1 {
            self.marks = self.told.marks().map(|(side, range)| (Arc::clone(side), range)).collect();
        }
        let kind = if self.marks.is_empty() { TrackerKind::Compared } else { TrackerKind::Marks };
        let machine = |what: String| CallError::Harness(HarnessError::new(what));
        let memories = GuestMemories::new(regions, kind, &self.marks).map_err(machine)?;
        let (store, instance) = (&mut self.store, &self.instance);
        let input = input_entry(store, instance, (&self.program, access), &region).map_err(failed)?;
        self.accessor = Some(Accessor {
            region,
            input,
            save: instance.get_typed_func(&mut *store, SAVE).map_err(failed)?,
            load: instance.get_typed_func(&mut *store, LOAD).map_err(failed)?,
            slots: access.globals * SLOT_BYTES,
            handed: GlobalsHandoff::all(&self.told, access).filter(|_| !self.program.how().fuel),
            handles: GuestHandles::new(*instance, access),
            memories,
            at: None,
        });
        Ok(())
    }

    /// The instance's memories.
    pub(super) fn told(&self) -> &InstanceMemories {
        &self.told
    }

    pub(super) fn obstacles(&self) -> &[String] {
        &self.obstacles
    }

    pub(super) fn run(&self) -> &Run {
        &self.store.data().run
    }

    /// Changes the computer from outside.
    pub(super) fn change<R>(&mut self, change: impl FnOnce(&mut World) -> R) -> R {
        if let Some(accessor) = &mut self.accessor {
            accessor.at = None;
        }
        change(&mut self.store.data_mut().run.world)
    }

    pub(super) fn answer_from(&mut self, source: Box<dyn DecisionSource>) {
        self.store.data_mut().run.answer_from(source);
        if let Some(accessor) = &mut self.accessor {
            accessor.at = None;
        }
    }

    pub(super) fn function<P, R>(&mut self, name: &str) -> Result<ReactorFunction<P, R>, CallError>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        let refused = |why: String| CallError::Function { name: name.to_owned(), why };
        let missing = || {
            let names: Vec<String> = self.program.exports().collect();
            refused(format!("not found; the component exports {}", names.join(", ")))
        };
        let index = match name.split_once('#') {
            Some((interface, function)) => {
                let interface = self.instance.get_export_index(&mut self.store, None, interface);
                let interface = interface.ok_or_else(missing)?;
                self.instance.get_export_index(&mut self.store, Some(&interface), function)
            }
            None => self.instance.get_export_index(&mut self.store, None, name),
        };
        let index = index.ok_or_else(missing)?;
        let found = self.instance.get_typed_func(&mut self.store, index);
        let found = found.map_err(|error| refused(crate::compile::load::one_line(&format!("{error:#}"))))?;
        Ok(ReactorFunction { name: name.into(), found, export: index, instance: self.id, types: PhantomData })
    }

    /// Finds a function of another instance in this one.
    fn find_again<P, R>(&mut self, function: &mut ReactorFunction<P, R>) -> Result<(), CallError>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        // In an instance of another build it has to be found by name.
        match self.instance.get_typed_func(&mut self.store, function.export) {
            Ok(found) => (function.found, function.instance) = (found, self.id),
            Err(_) => *function = self.function(&function.name)?,
        }
        Ok(())
    }

    #[inline]
    pub(super) fn call<P, R>(&mut self, function: &mut ReactorFunction<P, R>, arguments: P) -> Result<R, CallError>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        if function.instance != self.id {
            self.find_again(function)?;
        }
        let found = function.found;
        self.act(|store, _| found.call(store, arguments))
    }

    /// Calls a function with which the guest comes to its end as a program does, unless it ends in another way before.
    pub(super) fn run_to_end<P, R>(
        &mut self,
        function: &mut ReactorFunction<P, R>,
        arguments: P,
    ) -> Result<R, CallError>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        if function.instance != self.id {
            self.find_again(function)?;
        }
        let found = function.found;
        self.act(|store, _| {
            let outcome = found.call(&mut *store, arguments);
            store.data_mut().ended(outcome)
        })
    }

    /// Calls the fuzz target of this number with `input` without the component's interface, which takes longer and does the same;
    /// `None` when that cannot be done here.
    #[inline]
    pub(super) fn call_with_input(&mut self, target: u32, input: &[u8]) -> Option<Result<(), CallError>> {
        let entry = self.accessor.as_ref()?.input.as_ref().filter(|_| input.len() <= INPUT_BYTES_MAX)?;
        let entry = Arc::clone(entry);
        entry.give(target, input);
        Some(self.act(|store, _| entry.call(store)))
    }

    /// Lets the guest do something, watched as a call is.
    #[inline]
    pub(super) fn act<R>(
        &mut self,
        act: impl FnOnce(&mut Store<Host>, &Instance) -> wasmtime::Result<R>,
    ) -> Result<R, CallError> {
        if let Some(accessor) = &mut self.accessor {
            accessor.memories.guest_goes_on();
        }
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.begin();
        }
        let (store, instance) = (&mut self.store, &self.instance);
        let result = with_stack(|| act(store, instance));
        let cut = self.watchdog.as_mut().is_some_and(Watchdog::end);
        match result {
            Ok(result) => Ok(result),
            Err(_) if cut => Err(CallError::Runaway),
            Err(error) => Err(ended(&self.program, &self.store, &error, &self.told)),
        }
    }

    /// Tells the host what the next call of a scenario is.
    pub(super) fn announce(&mut self, sequence: u32, next: StepId) -> Result<(), CallError> {
        let stream = ScenarioKind::Stateful.stream(sequence);
        let host = self.store.data_mut();
        let told = match next {
            StepId::Begin => host.begin_sequence(sequence, stream),
            StepId::Step(step) => host.begin_step(sequence, stream, step),
            StepId::End => host.end_sequence(sequence, stream),
        };
        told.map_err(|error| ended(&self.program, &self.store, &error, &self.told))
    }

    /// Takes the steps from `first` to `last` of a sequence in one call, as long as `judge` finds them dull. The first one was
    /// announced; `states` tell them apart by their memory. The answer is how far that came, beside what became of the call.
    pub(super) fn call_steps(
        &mut self,
        function: &mut ReactorFunction<(u32,), (u32,)>,
        (sequence, first, last): (u32, u32, u32),
        (judge, states, has_missed): (&SharedStepJudge, Option<&SharedMemoryStates>, bool),
    ) -> (Option<Box<SteppedCall>>, Result<(u32,), CallError>) {
        let is_marked = self.accessor.as_ref().is_some_and(|accessor| accessor.memories.is_marked());
        let gate = CoverageGate {
            told: Arc::clone(&self.told),
            renewal: self.watchdog.as_ref().map(Watchdog::renewal),
            judge: Arc::clone(judge),
            states: states.filter(|_| is_marked).cloned(),
            has_missed,
            shown: Vec::with_capacity(STRETCHES_FEW),
        };
        let of = (sequence, ScenarioKind::Stateful.stream(sequence));
        self.store.data_mut().begin_steps(SteppedCall::judged(of, first, last, Box::new(gate)));
        let result = self.call(function, (first,));
        (self.store.data_mut().end_steps(), result)
    }

    /// What an error of the host means that no call of the guest has brought about.
    pub(super) fn refused(&self, error: &wasmtime::Error) -> CallError {
        ended(&self.program, &self.store, error, &self.told)
    }

    /// Cuts calls that take longer than `limit` in real time.
    pub(super) fn watch(&mut self, limit: Duration) -> Result<(), String> {
        let covered = self.told.sides.iter().filter(|(side, _)| !side.coverage.is_empty());
        let sides: Vec<Arc<Region>> = covered.map(|(_, region)| Arc::clone(region)).collect();
        if sides.is_empty() {
            return Err("this build of the component has no coverage, by which a runaway could be cut".to_owned());
        }
        self.watchdog = Some(Watchdog::new(sides, limit)?);
        self.limit = Some(limit);
        Ok(())
    }

    /// The fuel that is left; `None` in a build without, whose store is not asked: its answer is an error that it makes each time.
    pub(super) fn fuel(&self) -> Option<u64> {
        if self.program.how().fuel { self.store.get_fuel().ok() } else { None }
    }

    /// Leaves at most `fuel`.
    pub(super) fn limit_fuel(&mut self, fuel: u64) -> Result<(), HarnessError> {
        let left = self.fuel();
        metered(&mut self.store, left.map(|left| left.min(fuel)))
    }

    /// What is kept of the state; without an accessor that is nothing but a digest.
    pub(super) fn capture(&mut self) -> Result<Snapshot, HarnessError> {
        let machine = |what: String| HarnessError::new(what);
        let failed = |error: wasmtime::Error| harness(&error);
        let (id, fuel) = (next_id(), self.fuel());
        let Some(accessor) = &mut self.accessor else { return Ok(Snapshot::unreached(id)) };
        accessor.memories.guest_goes_on();
        unmetered(&mut self.store, fuel)?;
        if !accessor.handles.agree(&mut self.store).map_err(failed)? {
            self.obstacles.push("its table of handles is not as our model of it says".to_owned());
            self.accessor = None;
            metered(&mut self.store, fuel)?;
            return Ok(Snapshot::unreached(id));
        }
        if accessor.slots > 0 {
            accessor.save.call(&mut self.store, ()).map_err(failed)?;
        }
        metered(&mut self.store, fuel)?;
        let slots = ACCESSOR_HEADER_BYTES..ACCESSOR_HEADER_BYTES + accessor.slots;
        let mut globals: Box<[u8]> = accessor.region.bytes()[slots].into();
        accessor.handed.iter().flatten().for_each(|handed| handed.correct(&mut globals));
        accessor.memories.choose().map_err(machine)?;
        let images = accessor.memories.capture().map_err(machine)?;
        let host = self.store.data();
        let run = host.run.fork();
        accessor.at = Some(HostStateMark { state: id, calls: run.recorder.calls(), work: run.work() });
        let limiter = host.limiter.clone();
        Ok(Snapshot::reached(id, images, globals, run, limiter, fuel))
    }

    /// Brings back `state` in this instance. `false` when that cannot be done: the instance is spoilt then.
    pub(super) fn restore(&mut self, state: &Snapshot) -> Result<bool, HarnessError> {
        self.restore_answered(state, &mut None)
    }

    /// The same. If the computer is brought back for that, `source` is taken, and answers from there on instead of its own.
    pub(super) fn restore_answered(
        &mut self,
        state: &Snapshot,
        source: &mut Option<Box<dyn DecisionSource>>,
    ) -> Result<bool, HarnessError> {
        let failed = |error: wasmtime::Error| harness(&error);
        let (Some(accessor), Some(kept)) = (&mut self.accessor, state.kept()) else { return Ok(false) };
        unmetered(&mut self.store, kept.fuel)?;
        let host = self.store.data();
        let moment = HostStateMark { state: state.id(), calls: host.run.recorder.calls(), work: host.run.work() };
        if accessor.at != Some(moment) {
            let now = &host.run.world.node(host.node).table;
            let run = kept.run();
            let target = &run.world.node(NodeId(0)).table;
            accessor.handles.seen(now);
            if !now.same_places(target, resource_of) {
                accessor.memories.guest_goes_on();
                let now = now.clone();
                if !accessor.handles.rebuild(&mut self.store, &now, target).map_err(failed)? {
                    return Ok(false);
                }
            }
            let host = self.store.data_mut();
            let is_answered = source.is_some();
            host.run.go_back(&run, source.take());
            let (calls, work) = (host.run.recorder.calls(), host.run.work());
            // With another source, the next call differs.
            accessor.at = (!is_answered).then(|| HostStateMark { state: state.id(), calls, work });
        }
        let host = self.store.data_mut();
        host.limiter = kept.limiter.clone();
        let resized = accessor.memories.restore(&kept.images).map_err(HarnessError::new)?;
        match &accessor.handed {
            Some(handed) if !resized => handed.iter().for_each(|globals| globals.give(&kept.globals)),
            _ if resized || accessor.slots > 0 => accessor.load(&mut self.store, &kept.globals).map_err(failed)?,
            _ => {}
        }
        metered(&mut self.store, kept.fuel)?;
        Ok(true)
    }

    /// Brings back `state` in a fresh instance.
    pub(super) fn restart(&mut self, program: &Program, start: &World, state: &Snapshot) -> Result<(), HarnessError> {
        let kept = state.kept().expect("a state that is restored was reached");
        let mut run = kept.run().fork();
        run.world = start.clone();
        self.go_on(program, start, run, true)?;
        if self.restore(state)? {
            return Ok(());
        }
        let what = "a checkpoint could not be restored into a fresh instance; this is a fault of fozzy".to_owned();
        Err(HarnessError::new(what))
    }

    /// Goes on with a fresh instance, as the first one was.
    pub(super) fn begin_again(&mut self, program: &Program, start: &World, run: Run) -> Result<(), HarnessError> {
        self.go_on(program, start, run, false)
    }

    /// Goes on with a fresh instance in the memories of this one, which is watched and tracked as this one was. When it is
    /// `restored` before it is called, the memories need not be as new.
    fn go_on(&mut self, program: &Program, start: &World, run: Run, restored: bool) -> Result<(), HarnessError> {
        let machine = |what: String| HarnessError::new(what);
        let failed = |error: wasmtime::Error| harness(&error);
        let (Some(accessor), Some(access)) = (&mut self.accessor, &program.facts().access) else {
            return self.replace(program, start, run);
        };
        accessor.memories.hand_on(restored && !access.starts).map_err(machine)?;
        self.told.clear_coverage();
        self.told.log_comparisons(false);
        accessor.handed.iter().flatten().for_each(GlobalsHandoff::forget);
        let (mut store, instance, regions) = instantiate(program, start, run, &self.regions).map_err(again)?;
        let same =
            regions.len() == self.regions.len() && regions.iter().zip(&self.regions).all(|(a, b)| Arc::ptr_eq(a, b));
        if !same {
            return Err(machine(
                "an instance got other memories than the one before it; this is a fault of fozzy".to_owned(),
            ));
        }
        accessor.save = instance.get_typed_func(&mut store, SAVE).map_err(failed)?;
        accessor.load = instance.get_typed_func(&mut store, LOAD).map_err(failed)?;
        accessor.input = input_entry(&mut store, &instance, (program, access), &accessor.region).map_err(failed)?;
        accessor.handles.begin_again(instance);
        accessor.at = None;
        (self.store, self.instance, self.id) = (store, instance, next_id());
        Ok(())
    }

    /// Goes on with a fresh instance that has nothing of this one.
    fn replace(&mut self, program: &Program, start: &World, run: Run) -> Result<(), HarnessError> {
        let (copied, limit, kind) = (self.pages_copied(), self.limit, self.tracker());
        *self = ReactorInstance::start(program, start, run).map_err(again)?;
        self.copied_before = copied;
        let machine = |what: String| HarnessError::new(what);
        if let Some(limit) = limit {
            self.watch(limit).map_err(machine)?;
        }
        match kind {
            Some(kind) if self.tracker() != Some(kind) => self.track(kind).map_err(machine),
            _ => Ok(()),
        }
    }

    pub(super) fn track(&mut self, kind: TrackerKind) -> Result<(), String> {
        let Some(accessor) = &mut self.accessor else {
            return Err("the component's state cannot be reached".to_owned());
        };
        if kind == TrackerKind::Marks && self.marks.is_empty() {
            return Err("this build of the component has no marks, or not for all that is written".to_owned());
        }
        accessor.memories.track(kind, &self.marks)
    }

    pub(super) fn tracker(&self) -> Option<TrackerKind> {
        self.accessor.as_ref()?.memories.kind()
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.accessor.as_ref().map_or(0, |accessor| accessor.memories.bytes())
    }

    pub(super) fn written_pages(&mut self) -> u64 {
        self.accessor.as_mut().map_or(0, |accessor| accessor.memories.marked())
    }

    /// What is to be found out about states, from here on: the state was just captured.
    pub(super) fn changes(&self) -> Option<StateLearner> {
        let accessor = self.accessor.as_ref().filter(|accessor| accessor.memories.is_marked())?;
        let base = accessor.memories.images().into_iter().next()?;
        let slots = &accessor.region.bytes()[ACCESSOR_HEADER_BYTES..];
        let pointer = slots.first_chunk().filter(|_| accessor.slots > 0).map_or(0, |slot| u64::from_le_bytes(*slot));
        Some(StateLearner::new(base, pointer))
    }

    /// A step was taken; see [`MemoryStates::look`].
    pub(super) fn look_at_changes(&mut self, states: &mut MemoryStates, has_missed: bool) -> Option<u64> {
        let [region] = &*self.told.guest else { return None };
        let memories = &mut self.accessor.as_mut()?.memories;
        states.look(has_missed, |pages| memories.marked_pages(pages).then_some(&**region))
    }

    /// The state was restored; see [`StateLearner::follow`]. When all that was written before was looked at, `in_place`, the pages that
    /// were brought back are all that can differ.
    pub(super) fn follow_changes(&self, changes: &mut StateLearner, in_place: bool) {
        let Some(region) = self.told.guest.first() else { return };
        match &self.accessor {
            Some(accessor) if in_place => changes.follow(region.bytes(), accessor.memories.restored_pages()),
            _ => changes.follow_all(region.bytes()),
        }
    }

    pub(super) fn pages_copied(&self) -> u64 {
        self.copied_before + self.accessor.as_ref().map_or(0, |accessor| accessor.memories.copied)
    }

    /// Whether every page that was written was seen: looks at all of them.
    pub(super) fn verify(&mut self) -> Result<(), HarnessError> {
        self.capture()?;
        let Some(accessor) = &self.accessor else { return Ok(()) };
        accessor.memories.check().map_err(HarnessError::new)
    }

    pub(super) fn digest(&mut self) -> Result<u64, HarnessError> {
        Ok(self.capture()?.digest())
    }
}

/// How inputs go through the accessor of an instance, whose memory is `region`; `None` when they do not.
fn input_entry(
    store: &mut Store<Host>,
    instance: &Instance,
    (program, access): (&Program, &AccessorLayout),
    region: &Arc<Region>,
) -> wasmtime::Result<Option<Arc<InputEntry>>> {
    let Some(at) = access.input_at.filter(|_| !program.how().fuel) else { return Ok(None) };
    let call = instance.get_typed_func(store, FUZZ)?;
    Ok(Some(Arc::new(InputEntry { region: Arc::clone(region), at: at as usize, call })))
}

/// The accessor's code is not the guest's, and runs although the guest's fuel may be used up. `fuel` is what is left
/// of it, if this build has any.
fn unmetered(store: &mut Store<Host>, fuel: Option<u64>) -> Result<(), HarnessError> {
    fuel.map_or(Ok(()), |_| store.set_fuel(u64::MAX).map_err(|error| harness(&error)))
}

/// The guest has `fuel` again.
fn metered(store: &mut Store<Host>, fuel: Option<u64>) -> Result<(), HarnessError> {
    fuel.map_or(Ok(()), |fuel| store.set_fuel(fuel).map_err(|error| harness(&error)))
}

/// What an error of a call means.
fn ended(program: &Program, store: &Store<Host>, error: &wasmtime::Error, told: &InstanceMemories) -> CallError {
    let host = store.data();
    match ending(error, program, &host.run.world.plan.limits, host.limiter.refused(), told) {
        Ok((end, backtrace)) => CallError::Ended { end, backtrace },
        Err(error) => CallError::Harness(error),
    }
}
