//! A run that is stopped anywhere: breakpoints, positions, stacks and values, for a debugger.
//!
//! ```text
//! Session::debug(source, debugger) ─▶ the run, in the build for it ─▶ a stop ─▶ debugger.stopped(moment) ─▶ Resume ─┐
//!                                          ▲─────────────────────────────────────────────────────────────────┘
//! ```
//!
//! A position is how many instructions of the program were executed in the whole run, by all of its guests: the program counts them in a memory
//! that all of them share (`fozzy_instrument::PositionSites`). To stop at one, the count is set so that it runs out in the segment of code around
//! it, where wasmtime gets a breakpoint at the one operator.
//!
//! Each store has code of its own, in which breakpoints are patched, and can be reached only while its guest runs. So a guest whose
//! breakpoints are those of before stops at the beginning of its turn, and gets the present ones.
//!
//! Invariants: the run is the recorded one: a stop changes nothing that the program sees. What the rewriter has put in is not shown.
//! Not here: processes, going back, names and expressions (`fozzy-campaign`).

use crate::compile::symbolizer::Symbolizer;
use crate::memory;
use fozzy_host::Host;
use fozzy_instrument::{ModuleOrdinal, OriginalOffset, PositionMemory, RewrittenOffset};
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::{Digest, Instant, NodeId};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, ready};
use std::sync::Arc;
use wasmtime::{AsContextMut, DebugEvent, DebugHandler, FrameHandle, Module, ModulePC, Store, StoreContextMut, Val};

/// How many instructions of the run were executed before a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position(pub u64);

/// An operator of the original program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DebugPlace {
    /// The component.
    pub component: Digest,
    /// Its core module.
    pub module: ModuleOrdinal,
    /// The operator, in bytes from the start of the component.
    pub offset: u32,
}

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopReason {
    /// At the position that was asked for.
    Position,
    /// At a breakpoint.
    Breakpoint,
    /// The next instruction writes to what is watched.
    Watch,
    /// The next instruction traps, in these words.
    Trap(String),
    /// A call of the host ends the guest, in these words.
    HostEnd(String),
}

/// Where and why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Why.
    pub reason: StopReason,
    /// When.
    pub position: Position,
    /// Whose turn it is.
    pub machine: NodeId,
    /// The operator that is next.
    pub place: Option<DebugPlace>,
    /// Calls of the host that were answered so far.
    pub calls: u64,
    /// Decisions so far.
    pub decisions: u64,
    /// The virtual time.
    pub time: Instant,
}

/// A value of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DebugValue {
    /// A 32-bit integer.
    I32(i32),
    /// A 64-bit integer.
    I64(i64),
    /// The bits of a 32-bit float.
    F32(u32),
    /// The bits of a 64-bit float.
    F64(u64),
    /// A vector.
    V128(u128),
    /// A reference, and whether it is one to nothing.
    Reference {
        /// Whether it is null.
        is_null: bool,
    },
}

/// A frame of the stack: a function of the original program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DebugFrame {
    /// Where it is: the next operator, or the call that it waits for.
    pub place: DebugPlace,
    /// The function's index in its module.
    pub function: u32,
    /// The same in words of the source; functions that are inlined here stand first.
    pub source: Vec<StackFrame>,
}

/// How a run goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// Where it stops at the latest, if that is not passed yet.
    pub until: Option<Position>,
    /// Where it stops.
    pub breakpoints: BTreeSet<DebugPlace>,
    /// Bytes of memory 0 that it stops before writing to: first address and length. In a build that looks at stores.
    pub watched: Option<(u32, u32)>,
}

impl Resume {
    fn goal(&self) -> u64 {
        self.until.map_or(FAR, |position| position.0)
    }

    /// What the program reads of what is watched: address and length.
    fn watched_words(&self) -> [i64; 2] {
        let (start, bytes) = self.watched.unwrap_or_default();
        let start = if bytes == 0 { PositionMemory::NOTHING } else { u64::from(start) };
        [start.cast_signed(), i64::from(bytes)]
    }

    /// What the memory begins with that a run counts in.
    fn contents(&self) -> Vec<u8> {
        let [start, bytes] = self.watched_words();
        [self.goal().cast_signed(), start, bytes].into_iter().flat_map(i64::to_le_bytes).collect()
    }
}

/// What decides at stops.
pub trait Debugger {
    /// The run has stopped.
    fn stopped(&mut self, moment: &mut DebugMoment<'_>) -> Resume;
}

thread_local! {
    static ACTIVE: RefCell<Option<ActiveRun>> = const { RefCell::new(None) };
}

/// The run of this thread that is debugged.
struct ActiveRun {
    /// Executed instructions when none is left.
    counted_to: u64,
    resume: Resume,
    /// The one operator that the position is at which was asked for, once its segment is reached.
    target: Option<DebugPlace>,
    /// Goes up when breakpoints change.
    version: u64,
    /// Which version the stores have, by number.
    synced: BTreeMap<u64, u64>,
    /// The breakpoints that they have.
    set: BTreeMap<u64, BTreeSet<(ModuleOrdinal, u32)>>,
    stores: u64,
    digests: BTreeMap<usize, Digest>,
    /// Executed instructions when the last turn of a machine ended: it is in a call of the host, which was the last of them.
    waits: BTreeMap<NodeId, u64>,
    /// Executed instructions when the present life of a machine began.
    lives: BTreeMap<NodeId, u64>,
    /// `None` while it decides.
    debugger: Option<Box<dyn Debugger>>,
}

/// Nothing is left to run to: as far as a run can come.
const FAR: u64 = 1 << 62;

impl ActiveRun {
    fn left(&self) -> i64 {
        let Some(memory) = memory::shared_region() else { return self.counted_to.cast_signed() };
        let at = PositionMemory::LEFT_AT;
        i64::from_le_bytes(memory.bytes()[at..at + 8].try_into().expect("eight bytes"))
    }

    /// How many instructions were begun, those of the present segment included.
    fn counted(&self) -> u64 {
        self.counted_to.wrapping_sub(self.left().cast_unsigned())
    }

    /// Has the program stop in the segment in which `position` is, when `counted` are counted.
    fn run_to(&mut self, position: u64, counted: u64) {
        let left = position.cast_signed().wrapping_sub(counted.cast_signed());
        self.counted_to = position;
        self.write(PositionMemory::LEFT_AT, left);
    }

    fn write(&self, at: usize, value: i64) {
        if let Some(memory) = memory::shared_region() {
            memory.write(at, &value.to_le_bytes());
        }
    }

    fn write_watched(&self) {
        let [start, bytes] = self.resume.watched_words();
        self.write(PositionMemory::WATCHED_AT, start);
        self.write(PositionMemory::WATCHED_BYTES_AT, bytes);
    }

    fn digest(&mut self, component: &Arc<[u8]>) -> Digest {
        *self.digests.entry(Arc::as_ptr(component).cast::<u8>() as usize).or_insert_with(|| Digest::of(component))
    }

    fn goal(&self) -> u64 {
        self.resume.goal()
    }
}

/// A guest has a turn, or is called by another: it is to stop where its own breakpoints can be set.
pub(crate) fn begin_turn() {
    ACTIVE.with_borrow_mut(|active| {
        let Some(active) = active.as_mut().filter(|active| active.synced.len() > 1) else { return };
        if active.synced.values().any(|version| *version != active.version) {
            let counted = active.counted();
            active.run_to(counted, counted);
        }
    });
}

/// A machine has had its turn, or calls another one: it waits for an answer of the host.
pub(crate) fn end_turn(machine: NodeId) {
    ACTIVE.with_borrow_mut(|active| {
        if let Some(active) = active {
            active.waits.insert(machine, active.counted());
        }
    });
}

/// The program of a machine is started: it has had no turn yet.
pub(crate) fn begin_life(machine: NodeId) {
    ACTIVE.with_borrow_mut(|active| {
        if let Some(active) = active {
            active.waits.remove(&machine);
            active.lives.insert(machine, active.counted());
        }
    });
}

/// Lets the store of a component be debugged that was built for it. Its code is not there yet: it stops at its first operator.
pub(crate) fn attach(component: &Arc<[u8]>, symbols: Arc<Symbolizer>, store: &mut Store<Host>) {
    let number = ACTIVE.with_borrow_mut(|active| {
        let active = active.as_mut()?;
        active.stores += 1;
        Some(active.stores)
    });
    let Some(number) = number else { return };
    store.set_debug_handler(StoreDebugger { component: Arc::clone(component), symbols, number });
    if let Some(mut edit) = store.edit_breakpoints() {
        // There is no code yet that it could fail for.
        let _ = edit.single_step(true);
    }
}

/// Hears of the events of one store.
#[derive(Clone)]
struct StoreDebugger {
    component: Arc<[u8]>,
    symbols: Arc<Symbolizer>,
    number: u64,
}

impl DebugHandler for StoreDebugger {
    type Data = Host;

    fn handle(&self, store: StoreContextMut<'_, Host>, event: DebugEvent<'_>) -> impl Future<Output = ()> + Send {
        self.hear(store, &event);
        ready(())
    }
}

/// The innermost frame of the original program, and whether it waits in a function that stops it.
struct InnermostFrame {
    place: Option<DebugPlace>,
    /// Whether the operator is the program's own.
    is_own: bool,
    /// In front of it: the stop in a segment, by its number, or at a store.
    stop: Option<Option<u32>>,
}

impl StoreDebugger {
    fn hear(&self, mut store: StoreContextMut<'_, Host>, event: &DebugEvent<'_>) {
        let Some(mut active) = ACTIVE.take() else { return };
        let is_new = !active.synced.contains_key(&self.number);
        if active.synced.get(&self.number) != Some(&active.version) {
            self.sync(&mut store, &mut active, is_new);
        }
        let reason = match event {
            DebugEvent::Breakpoint => self.breakpoint(&mut store, &mut active),
            DebugEvent::Trap(trap) => {
                let found = self.innermost(&mut store, &mut active);
                let place = found.as_ref().and_then(|found| found.place);
                // What the rewriter has put in traps only where the stack is used up: in front of the function, whose code is not counted yet.
                let (words, position) = match found.is_none_or(|found| found.is_own) {
                    true => (trap.to_string(), self.position(&active, place)),
                    false => (fozzy_trace::STACK_EXHAUSTED.to_owned(), active.counted()),
                };
                let words = words.strip_prefix("wasm trap: ").map_or(words.clone(), str::to_owned);
                Some((StopReason::Trap(words), position, place))
            }
            DebugEvent::HostcallError(error) => {
                let place = self.innermost(&mut store, &mut active).and_then(|found| found.place);
                Some((StopReason::HostEnd(crate::compile::load::one_line(&error.to_string())), active.counted(), place))
            }
            DebugEvent::Exception(_) | DebugEvent::EpochYield => None,
        };
        let Some((reason, position, place)) = reason else {
            ACTIVE.set(Some(active));
            return;
        };
        self.stop(store, active, reason, position, place);
    }

    /// Lets the debugger decide, and does as it says.
    fn stop(
        &self,
        mut store: StoreContextMut<'_, Host>,
        mut active: ActiveRun,
        reason: StopReason,
        position: u64,
        place: Option<DebugPlace>,
    ) {
        let host = store.data();
        let stop = Stop {
            reason,
            position: Position(position),
            machine: host.node,
            place,
            calls: host.run.recorder.calls(),
            decisions: host.run.recorder.decisions(),
            time: host.run.world.clock.now(),
        };
        let Some(mut debugger) = active.debugger.take() else {
            ACTIVE.set(Some(active));
            return;
        };
        let counted = active.counted();
        let digest = active.digest(&self.component);
        let mut moment = DebugMoment {
            stop: &stop,
            store: store.as_context_mut(),
            debugger: self,
            component: digest,
            waits: &active.waits,
            lives: &active.lives,
        };
        let resume = debugger.stopped(&mut moment);
        active.debugger = Some(debugger);
        // The one operator of the last position has no breakpoint any more: in a loop it would stop the program each time.
        active.version += u64::from(active.target.take().is_some());
        if resume.breakpoints != active.resume.breakpoints {
            active.version += 1;
        }
        active.resume = Resume { until: resume.until.filter(|until| until.0 > position), ..resume };
        active.write_watched();
        let goal = active.goal();
        active.run_to(goal, counted);
        // The rest of the segment is counted already.
        if goal > position && goal < counted {
            let segment = place.and_then(|place| self.segment(place));
            active.target = segment.and_then(|(operators, inside)| {
                let ahead = usize::try_from(goal - position).ok()?;
                operators.get(inside + ahead).map(|offset| self.place_of(digest, place, *offset))
            });
            active.version += u64::from(active.target.is_some());
        }
        self.sync(&mut store, &mut active, false);
        ACTIVE.set(Some(active));
    }

    fn place_of(&self, component: Digest, beside: Option<DebugPlace>, offset: OriginalOffset) -> DebugPlace {
        let module = beside.map_or(ModuleOrdinal(0), |place| place.module);
        DebugPlace { component, module, offset: offset.0 }
    }

    /// The operators of the segment around a place, and which one it is.
    fn segment(&self, place: DebugPlace) -> Option<(&[OriginalOffset], usize)> {
        let positions = self.symbols.positions().module(place.module)?;
        let (number, inside) = positions.locate(OriginalOffset(place.offset))?;
        Some((positions.segment(number)?, inside))
    }

    /// The position of an operator in the segment that was counted last.
    fn position(&self, active: &ActiveRun, place: Option<DebugPlace>) -> u64 {
        let counted = active.counted();
        let rest = place.and_then(|place| self.segment(place)).map_or(0, |(all, inside)| all.len() - inside);
        counted.saturating_sub(rest as u64)
    }

    /// What a breakpoint of the store means.
    fn breakpoint(
        &self,
        store: &mut StoreContextMut<'_, Host>,
        active: &mut ActiveRun,
    ) -> Option<(StopReason, u64, Option<DebugPlace>)> {
        let found = self.innermost(store, active)?;
        match found.stop {
            Some(None) => {
                let position = self.position(active, found.place);
                return Some((StopReason::Watch, position, found.place));
            }
            Some(Some(segment)) => {
                let counted = active.counted();
                let place = found.place?;
                let operators = self.symbols.positions().module(place.module)?.segment(segment)?;
                let before = counted - operators.len() as u64;
                let goal = active.goal();
                active.run_to(goal, counted);
                if goal >= before && goal < counted {
                    let offset = operators[usize::try_from(goal - before).expect("inside of a segment")];
                    active.target = Some(DebugPlace { offset: offset.0, ..place });
                    active.version += 1;
                    self.sync(store, active, false);
                }
                return None;
            }
            None => {}
        }
        let place = found.place.filter(|_| found.is_own)?;
        let position = self.position(active, Some(place));
        if active.target == Some(place) && position == active.goal() {
            return Some((StopReason::Position, position, Some(place)));
        }
        active.resume.breakpoints.contains(&place).then_some((StopReason::Breakpoint, position, Some(place)))
    }

    /// The innermost frame that is the program's.
    fn innermost(&self, store: &mut StoreContextMut<'_, Host>, active: &mut ActiveRun) -> Option<InnermostFrame> {
        let component = active.digest(&self.component);
        let mut next = store.as_context_mut().debug_exit_frames().next();
        let mut stop = None;
        while let Some(frame) = next {
            match self.locate(store, &frame)? {
                FrameCode::Original { module, offset, is_own } => {
                    let place = Some(DebugPlace { component, module, offset: offset.0 });
                    return Some(InnermostFrame { place, is_own, stop });
                }
                FrameCode::Stop { is_watch } => {
                    // A store names no segment, and its function takes nothing.
                    let named = (!is_watch).then(|| frame.local(store.as_context_mut(), 0).ok()).flatten();
                    stop = Some(named.and_then(|value| value.i32()).map(i32::cast_unsigned));
                }
                FrameCode::Helper => {}
            }
            next = frame.parent(store.as_context_mut()).ok()?;
        }
        None
    }

    fn locate(&self, store: &mut StoreContextMut<'_, Host>, frame: &FrameHandle) -> Option<FrameCode> {
        let (_, pc) = frame.wasm_function_index_and_pc(store.as_context_mut()).ok()??;
        let name = frame.module(store.as_context_mut()).ok()??.name()?.to_owned();
        let module = ModuleOrdinal::from_name(&name)?;
        let map = self.symbols.maps().modules().get(module.0 as usize)?;
        let offset = RewrittenOffset(map.rewritten().start.0 + pc.raw());
        if let Some(is_watch) = map.stop_at(offset) {
            return Some(FrameCode::Stop { is_watch });
        }
        let Some(location) = map.locate(offset) else { return Some(FrameCode::Helper) };
        let is_own = location.kind == fozzy_instrument::CodeOrigin::Original;
        Some(FrameCode::Original { module, offset: location.original, is_own })
    }

    /// Sets the breakpoints of the store as they are now.
    fn sync(&self, store: &mut StoreContextMut<'_, Host>, active: &mut ActiveRun, is_new: bool) {
        if active.synced.get(&self.number) == Some(&active.version) {
            return;
        }
        active.synced.insert(self.number, active.version);
        let component = active.digest(&self.component);
        let mut wanted: BTreeSet<(ModuleOrdinal, u32)> = BTreeSet::new();
        let places = active.resume.breakpoints.iter().chain(&active.target);
        for place in places.filter(|place| place.component == component) {
            let map = self.symbols.maps().modules().get(place.module.0 as usize);
            let found =
                map.and_then(|map| Some(map.rewritten_of(OriginalOffset(place.offset))?.0 - map.rewritten().start.0));
            wanted.extend(found.map(|pc| (place.module, pc)));
        }
        let modules: BTreeMap<ModuleOrdinal, Module> = store
            .as_context_mut()
            .debug_all_modules()
            .into_iter()
            .filter_map(|module| Some((ModuleOrdinal::from_name(module.name()?)?, module)))
            .collect();
        for (ordinal, map) in (0..).map(ModuleOrdinal).zip(self.symbols.maps().modules()) {
            wanted.extend(map.stops().map(|(offset, _)| (ordinal, offset.0 - map.rewritten().start.0)));
        }
        let present = active.set.insert(self.number, wanted.clone()).unwrap_or_default();
        let Some(mut edit) = store.as_context_mut().edit_breakpoints() else { return };
        // Before others are set: wasmtime takes those away with it.
        if is_new {
            let _ = edit.single_step(false);
        }
        // One that is taken away takes those of the other modules at the same offset with it: wasmtime has one table for all code of a component.
        let gone: BTreeSet<u32> = present.difference(&wanted).map(|(_, pc)| *pc).collect();
        for (ordinal, pc) in present.iter().filter(|(_, pc)| gone.contains(pc)) {
            if let Some(module) = modules.get(ordinal) {
                let _ = edit.remove_breakpoint(module, ModulePC::new(*pc));
            }
        }
        for place in wanted.iter().filter(|place| gone.contains(&place.1) || !present.contains(place)) {
            if let Some(module) = modules.get(&place.0) {
                let _ = edit.add_breakpoint(module, ModulePC::new(place.1));
            }
        }
    }
}

/// What the code of a frame is.
enum FrameCode {
    Original {
        module: ModuleOrdinal,
        offset: OriginalOffset,
        is_own: bool,
    },
    /// A function that stops the program.
    Stop {
        is_watch: bool,
    },
    /// Another one that the rewriter has put in.
    Helper,
}

/// A run that has stopped.
pub struct DebugMoment<'a> {
    stop: &'a Stop,
    store: StoreContextMut<'a, Host>,
    debugger: &'a StoreDebugger,
    component: Digest,
    waits: &'a BTreeMap<NodeId, u64>,
    lives: &'a BTreeMap<NodeId, u64>,
}

impl DebugMoment<'_> {
    /// Where and why.
    #[must_use]
    pub fn stop(&self) -> &Stop {
        self.stop
    }

    /// The instruction that a machine waits in whose turn it is not: a call of the host. `None` of one that has had no turn.
    #[must_use]
    pub fn waits_in(&self, machine: NodeId) -> Option<Position> {
        self.waits.get(&machine)?.checked_sub(1).map(Position)
    }

    /// Where the present life of a machine began: its memory is that of its program then.
    #[must_use]
    pub fn began(&self, machine: NodeId) -> Position {
        Position(self.lives.get(&machine).copied().unwrap_or(0))
    }

    /// The virtual computer of the machine whose turn it is.
    #[must_use]
    pub fn world(&self) -> &fozzy_world::World {
        &self.store.data().run.world
    }

    /// The frames of the program, innermost first, each with its code.
    fn handles(&mut self) -> Vec<(FrameHandle, DebugPlace)> {
        let mut found = Vec::new();
        let exits: Vec<FrameHandle> = self.store.as_context_mut().debug_exit_frames().collect();
        for exit in exits {
            let mut next = Some(exit);
            while let Some(frame) = next {
                if let Some(FrameCode::Original { module, offset, .. }) = self.debugger.locate(&mut self.store, &frame)
                {
                    let place = DebugPlace { component: self.component, module, offset: offset.0 };
                    found.push((frame.clone(), place));
                }
                next = frame.parent(self.store.as_context_mut()).ok().flatten();
            }
        }
        found
    }

    /// How many frames there are.
    pub fn depth(&mut self) -> usize {
        self.handles().len()
    }

    /// Operators and indices of the functions on the stack, the innermost first.
    pub fn code(&mut self) -> Vec<(DebugPlace, u32)> {
        self.frames_by(|place, function| (place, function))
    }

    /// The stack, innermost frame first.
    pub fn frames(&mut self) -> Vec<DebugFrame> {
        let symbols = Arc::clone(&self.debugger.symbols);
        self.frames_by(|place, function| {
            let source = symbols.frames_at(place.module, OriginalOffset(place.offset));
            DebugFrame { place, function, source }
        })
    }

    fn frames_by<R>(&mut self, frame: impl Fn(DebugPlace, u32) -> R) -> Vec<R> {
        let sites = self.debugger.symbols.positions();
        let frame = |(_, place): (FrameHandle, DebugPlace)| {
            let positions = sites.module(place.module);
            let function = positions.and_then(|positions| positions.function_at(OriginalOffset(place.offset)));
            frame(place, function.map_or(0, |(index, _)| index))
        };
        self.handles().into_iter().map(frame).collect()
    }

    fn handle(&mut self, frame: usize) -> Option<(FrameHandle, DebugPlace)> {
        self.handles().into_iter().nth(frame)
    }

    /// Parameters and locals of a frame of [`DebugMoment::frames`], as the original function has them.
    pub fn locals(&mut self, frame: usize) -> Option<Vec<DebugValue>> {
        let (handle, place) = self.handle(frame)?;
        let positions = self.debugger.symbols.positions().module(place.module);
        let own = positions.and_then(|positions| positions.locals_at(OriginalOffset(place.offset)));
        let all = handle.num_locals(self.store.as_context_mut()).ok()?;
        let values = (0..own.unwrap_or(all).min(all)).map(|index| {
            let value = handle.local(self.store.as_context_mut(), index).ok()?;
            Some(value_of(&value))
        });
        values.collect()
    }

    /// The operand stack of a frame, the bottom first.
    pub fn operands(&mut self, frame: usize) -> Option<Vec<DebugValue>> {
        let (handle, _) = self.handle(frame)?;
        let count = handle.num_stacks(self.store.as_context_mut()).ok()?;
        let values = (0..count).map(|index| {
            let value = handle.stack(self.store.as_context_mut(), index).ok()?;
            Some(value_of(&value))
        });
        values.collect()
    }

    /// A global of the module of a frame, by its index there.
    pub fn global(&mut self, frame: usize, index: u32) -> Option<DebugValue> {
        let (handle, _) = self.handle(frame)?;
        let instance = handle.instance(self.store.as_context_mut()).ok()?;
        let global = instance.debug_global(self.store.as_context_mut(), index)?;
        Some(value_of(&global.get(self.store.as_context_mut())))
    }

    /// How many bytes a memory of the module of a frame has, and their digest.
    pub fn memory_digest(&mut self, frame: usize, memory: u32) -> Option<(u64, Digest)> {
        let (handle, _) = self.handle(frame)?;
        let instance = handle.instance(self.store.as_context_mut()).ok()?;
        let memory = instance.debug_memory(self.store.as_context_mut(), memory)?;
        let bytes = memory.data(&self.store);
        Some((bytes.len() as u64, Digest::of(bytes)))
    }

    /// Bytes of a memory of the module of a frame: as many as there are, up to `length`.
    pub fn memory(&mut self, frame: usize, memory: u32, address: u64, length: u64) -> Option<Vec<u8>> {
        let (handle, _) = self.handle(frame)?;
        let instance = handle.instance(self.store.as_context_mut()).ok()?;
        let memory = instance.debug_memory(self.store.as_context_mut(), memory)?;
        let bytes = memory.data(&self.store);
        let start = usize::try_from(address).ok().filter(|start| *start < bytes.len())?;
        let end = start.saturating_add(usize::try_from(length).ok()?).min(bytes.len());
        Some(bytes[start..end].to_vec())
    }
}

fn value_of(value: &Val) -> DebugValue {
    match value {
        Val::I32(value) => DebugValue::I32(*value),
        Val::I64(value) => DebugValue::I64(*value),
        Val::F32(bits) => DebugValue::F32(*bits),
        Val::F64(bits) => DebugValue::F64(*bits),
        Val::V128(value) => DebugValue::V128(value.as_u128()),
        Val::FuncRef(reference) => DebugValue::Reference { is_null: reference.is_none() },
        Val::ExternRef(reference) => DebugValue::Reference { is_null: reference.is_none() },
        Val::AnyRef(reference) => DebugValue::Reference { is_null: reference.is_none() },
        Val::ExnRef(reference) => DebugValue::Reference { is_null: reference.is_none() },
        Val::ContRef(_) => DebugValue::Reference { is_null: false },
    }
}

/// From now on, a run of this thread stops as `first` says, and then as `debugger` does.
pub(crate) fn begin(first: Resume, debugger: Box<dyn Debugger>) {
    memory::share(Some(first.contents()));
    ACTIVE.set(Some(ActiveRun {
        counted_to: first.goal(),
        resume: first,
        target: None,
        version: 0,
        synced: BTreeMap::new(),
        set: BTreeMap::new(),
        stores: 0,
        digests: BTreeMap::new(),
        waits: BTreeMap::new(),
        lives: BTreeMap::new(),
        debugger: Some(debugger),
    }));
}

/// The end of that: how many instructions the run has executed.
pub(crate) fn end() -> Position {
    let end = Position(ACTIVE.take().map_or(0, |active| active.counted()));
    memory::share(None);
    end
}
