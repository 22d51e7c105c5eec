//! The scheduler: the guests of a run take turns on one thread.
//!
//! ```text
//!   ready            main ─┐            none is ready: virtual time moves to the next deadline or packet;
//!                  server ─┼─question─▶ one of them runs until it waits or ends
//!                   child ─┘            nothing will ever happen: a hang
//! ```
//!
//! Each guest is a store of its own, because a trap poisons its store, and a fiber, so that it can wait in
//! the middle of a call. A guest that is alone never leaves its fiber: it advances virtual time itself.
//!
//! Invariants: which guest runs next is a question, asked only when several are ready; the run ends when the target ends.
//! Not here: what guests wait for (`fozzy-world`).

use crate::compile::program::Program;
use crate::compile::settings::HOSTCALL_FUEL;
use crate::memory::{self, Region};
use crate::run::callee::TargetInstance;
use crate::run::comparison_log::GuestComparisons;
use crate::run::coverage::{CoverageCollector, ProgramCoverage};
use crate::run::debug;
use crate::run::memory_roles::InstanceMemories;
use crate::run::preview1_memory::preview1_memory;
use crate::run::scenario;
use crate::run::session::Session;
use crate::run::trap::{InstantiationContext, ending};
use fozzy_host::{
    ComparisonLog, GuestStop, Host, INTERRUPT_FUEL, IncomingRequestResource, InstanceObserver, Interrupt,
    ResponseOutparamResource, Run, RunGuard, RunSlot, TargetHost,
};
use fozzy_trace::facts::Refusal;
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::plan::{Edition, Limits, NodePlan};
use fozzy_trace::scheduler::MACHINES;
use fozzy_trace::{
    Activity, Duration, ExecutionEnd, HarnessError, NodeId, Plan, Purpose, ReadyTask, SchedulePolicy, SchedulingPoint,
};
use fozzy_world::{Deadlock, GuestEntry, GuestExit, Launch, Wait, World};
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use wasmtime::Store;
use wasmtime::component::{Instance, Resource};

/// How a guest ended.
pub(crate) struct GuestEnd {
    /// `None` when it was still running when the target ended.
    pub(crate) end: Option<ExecutionEnd>,
    pub(crate) backtrace: Vec<StackFrame>,
    pub(crate) fuel_used: u64,
    /// Whether it waited to start again.
    pub(crate) is_down: bool,
    /// Guest memories only.
    pub(crate) memories: Vec<Arc<Region>>,
}

/// A guest that has started and not ended.
struct ScheduledGuest<'a> {
    node: NodeId,
    launch: Launch,
    program: &'a Program,
    life: Pin<Box<dyn Future<Output = GuestOutcome> + 'a>>,
    /// Of the instance that runs, or ran last.
    memories: Vec<Arc<Region>>,
    earlier: EarlierCoverage,
    /// What it compares, if that is logged.
    compared: Option<Arc<GuestComparisons>>,
    /// Turns that it has had.
    turns: u64,
    before: LivesBefore,
}

/// The lives of a guest's program before this one.
#[derive(Clone, Copy, Default)]
struct LivesBefore {
    /// Instructions that they have used, of the budget of all.
    spent: u64,
    /// Why the last of them was over.
    over: Option<Over>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    /// It ended, and is started again.
    Ended,
    /// Its machine lost power, or it was killed.
    Outage,
}

impl LivesBefore {
    /// Those before the next life of `guest`, whose last one has used this many instructions.
    /// Before [`Edition::SIXTH`], each life was as if it were the first.
    fn after(plan: &Plan, guest: &ScheduledGuest<'_>, fuel_used: u64, over: Over) -> LivesBefore {
        match plan.edition >= Edition::SIXTH {
            true => LivesBefore { spent: guest.before.spent.saturating_add(fuel_used), over: Some(over) },
            false => LivesBefore::default(),
        }
    }
}

/// Coverage of the instances of a guest before the last one.
pub(crate) type EarlierCoverage = Rc<RefCell<ProgramCoverage>>;

impl ScheduledGuest<'_> {
    /// Why it is not there, if it waits to start again.
    fn down(&self) -> Option<Over> {
        self.before.over.filter(|_| self.turns == 0)
    }

    /// Guest and side memories. Read only between turns.
    fn told(&self) -> InstanceMemories {
        InstanceMemories::apart(self.memories.clone(), self.program.facts())
    }
}

/// The result of a guest.
struct GuestOutcome {
    outcome: wasmtime::Result<bool>,
    fuel_used: u64,
    /// What it was refused last.
    refused: Option<Refusal>,
    /// The instances of its target.
    called: Vec<Box<dyn TargetHost>>,
}

/// How the target ended, and the guests of other machines that ended before it.
pub(crate) struct ScheduleOutcome {
    pub(crate) main: GuestEnd,
    pub(crate) others: BTreeMap<NodeId, GuestEnd>,
    /// How often their programs were started again.
    pub(crate) restarts: BTreeMap<NodeId, u64>,
    /// By component; the target's is `None`.
    pub(crate) covered: CoverageCollector,
}

/// Lets all guests of `run` take turns until the target ends. An interruption can leave the run with a guest, which is then gone.
pub(crate) fn run(session: &Session, run: Box<Run>) -> (Option<Box<Run>>, Result<ScheduleOutcome, HarnessError>) {
    let slot = Arc::new(RunSlot::default());
    let plan = Arc::clone(&run.world.plan);
    let interrupt = run.interrupt().cloned();
    let mut guests: Vec<ScheduledGuest<'_>> = Vec::new();
    let mut others = BTreeMap::new();
    let mut covered = session.collector();
    let mut restarts = BTreeMap::new();
    let mut run = run;
    // They go with the target, which alone calls them.
    let mut called: Vec<Box<dyn TargetHost>> =
        session.callees(&slot).into_iter().map(|callee| Box::new(callee) as _).collect();
    drop(memory::collect());
    loop {
        for launch in std::mem::take(&mut run.world.launches) {
            let called = if launch.node == NodeId(0) { std::mem::take(&mut called) } else { Vec::new() };
            guests.push(start(session, launch, &plan, &slot, called, LivesBefore::default()));
            run.guests += 1;
        }
        guests.retain(|guest| !end_when_killed(&mut run, guest, &mut covered));
        let next = choose(&mut run, &guests);
        tell_turn(&mut run, &guests, next);
        slot.put(run);
        let guest = &mut guests[next];
        guest.turns += 1;
        debug::begin_turn();
        guest.compared.iter().for_each(|compared| compared.read_out());
        let Some((polled, back)) = take_turn(guest, &slot, interrupt.as_ref()) else {
            return (None, Err(HarnessError::interruption()));
        };
        debug::end_turn(guest.node);
        run = back;
        memory::gather(&mut guest.memories);
        if run.looked.is_some() {
            return (Some(run), Ok(looked_at(guests, next, polled, others)));
        }
        let Poll::Ready(mut life) = polled else { continue };
        let guest = guests.swap_remove(next);
        cover(&mut covered, &guest, life.outcome.as_ref().err());
        let lost = life.outcome.as_ref().err().and_then(outage);
        if let (Some(lost), GuestEntry::Run) = (lost, guest.launch.entry) {
            // It starts again as it did first, on what its disk has kept.
            match lost {
                Outage::Power(up_after) => run.power_loss(guest.node, up_after),
                Outage::Program(up_after) => run.kill(guest.node, up_after),
            }
            let before = LivesBefore::after(&plan, &guest, life.fuel_used, Over::Outage);
            guests.push(start(session, guest.launch, &plan, &slot, life.called, before));
            continue;
        }
        run.guests -= 1;
        let node = guest.node;
        run.tell(|world| Activity::Ended { node, at: world.clock.now() });
        for callee in std::mem::take(&mut life.called).into_iter().filter_map(callee) {
            let (node, coverage) = (callee.node(), session.program().how().coverage);
            let (ended, found) = callee.finish();
            covered.merge(node, plan.target(), found, coverage);
            others.insert(node, ended);
        }
        // A person who has stopped the run has bounded its time.
        let fuel_used = life.fuel_used;
        let ended = end_of(&guest, &run.world.plan.limits, life);
        match ended {
            Err(error) => return (Some(run), Err(error)),
            Ok(main) if guest.node == NodeId(0) => {
                // Who still runs has memories too, as they were at its last turn.
                run.unwinds = is_hang_with_stacks(&main, &plan);
                for mut guest in guests {
                    if let (Some(Over::Ended), Some(times)) = (guest.down(), restarts.get_mut(&guest.node)) {
                        *times -= 1;
                    }
                    cover(&mut covered, &guest, None);
                    let backtrace;
                    (run, backtrace) = where_it_waits(run, &mut guest, &slot);
                    others.insert(guest.node, GuestEnd { backtrace, ..still_running(guest) });
                }
                return (Some(run), Ok(ScheduleOutcome { main, others, restarts, covered }));
            }
            Ok(ended) => {
                let end = ended.end.as_ref().expect("it has ended");
                let planned = planned(&plan, guest.node);
                let is_allowed = planned.and_then(|node| node.ends).is_none_or(|ends| ends.allows(end));
                if let (Some(after), true) = (planned.and_then(|node| node.restart), is_allowed)
                    && run.restart(guest.node, after)
                {
                    run.guests += 1;
                    *restarts.entry(guest.node).or_default() += 1;
                    let before = LivesBefore::after(&plan, &guest, fuel_used, Over::Ended);
                    guests.push(start(session, guest.launch, &plan, &slot, Vec::new(), before));
                    continue;
                }
                // Time ends for all at once.
                if !is_allowed && !matches!(end, ExecutionEnd::TimeExhausted { .. }) {
                    run.end_soon(guest.node);
                }
                let exit = match ended.end {
                    Some(ExecutionEnd::Exited { code }) => GuestExit::Code(code),
                    Some(ExecutionEnd::Killed) => GuestExit::Killed,
                    _ => GuestExit::Crashed,
                };
                run.with_context(guest.node, |world, context| world.guest_ended(guest.node, exit, context));
                // Launched processes are not reported: their parents know how they ended.
                if guest.node.0 as usize <= plan.nodes.len() {
                    others.insert(guest.node, ended);
                }
            }
        }
    }
}

/// One turn of a guest, to its end. `None` when it is interrupted in the middle.
fn take_turn(
    guest: &mut ScheduledGuest<'_>,
    slot: &RunSlot,
    interrupt: Option<&Interrupt>,
) -> Option<(Poll<GuestOutcome>, Box<Run>)> {
    loop {
        let polled = guest.life.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let Some(interrupt) = interrupt else { return Some((polled, slot.take())) };
        // A guest that has used some instructions stops for a look, and keeps the run meanwhile.
        match slot.take_if_free() {
            Some(run) => return Some((polled, run)),
            None if interrupt.strikes() => return None,
            None => {}
        }
    }
}

/// A further machine of the plan; `None` for the target's and those that were launched.
fn planned(plan: &Plan, node: NodeId) -> Option<&NodePlan> {
    plan.nodes.get((node.0 as usize).checked_sub(1)?)
}

/// Whether the plan has one function of the target called.
fn is_called(host: &Host) -> bool {
    host.node == NodeId(0) && host.run.world.plan.call.is_some()
}

/// Adds what a guest has covered that has just ended, by `error` perhaps, or that is not going on.
fn cover(covered: &mut CoverageCollector, guest: &ScheduledGuest<'_>, error: Option<&wasmtime::Error>) {
    let coverage = guest.program.how().coverage;
    if guest.program.how().observes() {
        let cut = error.and_then(|error| guest.program.symbols().cut(error));
        let is_gone = error.and_then(outage).is_some();
        covered.add(guest.node, guest.launch.component, guest.program, &guest.told(), cut, is_gone);
        covered.merge(guest.node, guest.launch.component, guest.earlier.take(), coverage);
    }
    if let Some(compared) = &guest.compared {
        compared.finish(guest.launch.component, &mut covered.compared);
    }
}

/// What was called, as it is: there is one kind.
fn callee(called: Box<dyn TargetHost>) -> Option<Box<TargetInstance>> {
    (called as Box<dyn Any>).downcast().ok()
}

/// Why a guest is gone that starts again, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outage {
    /// Its machine lost power.
    Power(Duration),
    /// It was killed; its disk has everything.
    Program(Duration),
}

/// The outage that a guest ended by, if it was one.
pub(crate) fn outage(error: &wasmtime::Error) -> Option<Outage> {
    match error.downcast_ref::<GuestStop>()? {
        GuestStop::PowerLoss { up_after } => Some(Outage::Power(*up_after)),
        GuestStop::Killed { up_after } => up_after.map(Outage::Program),
        _ => None,
    }
}

/// Whether the run hangs, and says of each machine where it waits.
fn is_hang_with_stacks(main: &GuestEnd, plan: &Plan) -> bool {
    matches!(main.end, Some(ExecutionEnd::Hang { .. })) && plan.edition > Edition::FIRST
}

/// The stack of a guest that waits, if the run asks for it. That is all that becomes of it: nothing is recorded.
fn where_it_waits(run: Box<Run>, guest: &mut ScheduledGuest<'_>, slot: &Arc<RunSlot>) -> (Box<Run>, Vec<StackFrame>) {
    if !run.unwinds || guest.turns == 0 {
        return (run, Vec::new());
    }
    slot.put(run);
    let polled = guest.life.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    let run = slot.take();
    let error = match polled {
        Poll::Ready(life) => life.outcome.err(),
        Poll::Pending => None,
    };
    (run, error.map(|error| guest.program.symbols().frames(&error)).unwrap_or_default())
}

/// The end of a guest that the end of the run cuts off.
fn still_running(guest: ScheduledGuest<'_>) -> GuestEnd {
    let (memories, is_down) = (guest.told().guest, guest.down().is_some());
    drop(guest.life);
    GuestEnd { end: None, backtrace: Vec::new(), fuel_used: 0, is_down, memories }
}

/// All guests as they are when the run is looked at; the stack is that of the guest which came there.
fn looked_at(
    guests: Vec<ScheduledGuest<'_>>,
    next: usize,
    polled: Poll<GuestOutcome>,
    mut others: BTreeMap<NodeId, GuestEnd>,
) -> ScheduleOutcome {
    let mut main = None;
    let mut polled = Some(polled);
    for (number, guest) in guests.into_iter().enumerate() {
        let (node, program) = (guest.node, guest.program);
        let mut seen = still_running(guest);
        if number == next
            && let Some(Poll::Ready(life)) = polled.take()
        {
            seen.backtrace = life.outcome.err().map(|error| program.symbols().frames(&error)).unwrap_or_default();
            for callee in life.called.into_iter().filter_map(callee) {
                others.insert(callee.node(), callee.finish().0);
            }
        }
        match node {
            NodeId(0) => main = Some(seen),
            _ => drop(others.insert(node, seen)),
        }
    }
    let main = main.expect("the target has not ended");
    ScheduleOutcome { main, others, restarts: BTreeMap::new(), covered: CoverageCollector::default() }
}

/// Ends a guest that another one has killed.
fn end_when_killed(run: &mut Run, guest: &ScheduledGuest<'_>, covered: &mut CoverageCollector) -> bool {
    let node = guest.node;
    let killed = run.world.node(node).killed;
    if killed {
        run.tell(|world| Activity::Ended { node, at: world.clock.now() });
        cover(covered, guest, None);
        run.guests -= 1;
        run.with_context(node, |world, context| world.guest_ended(node, GuestExit::Killed, context));
    }
    killed
}

/// Tells an observer whose turn it is, and who else could have had it.
fn tell_turn(run: &mut Run, guests: &[ScheduledGuest<'_>], next: usize) {
    if run.is_told() {
        let mut ready: Vec<NodeId> =
            guests.iter().map(|guest| guest.node).filter(|node| run.world.can_go_on(*node)).collect();
        ready.sort_unstable();
        let node = guests[next].node;
        run.tell(|world| Activity::Turn { node, at: world.clock.now(), ready });
    }
}

/// The index of the next guest. In a deadlock it is the target, whose call reports it.
fn choose(run: &mut Run, guests: &[ScheduledGuest<'_>]) -> usize {
    let main = || guests.iter().position(|guest| guest.node == NodeId(0)).expect("the target has not ended");
    run.world.network.advance(run.world.clock.now());
    run.world.end_overdue();
    run.look_for_input();
    loop {
        run.step_nemeses();
        if run.over().is_some() || run.is_spent() || run.is_stalled() {
            return main();
        }
        let mut ready = (0..guests.len()).filter(|n| run.world.can_go_on(guests[*n].node));
        match (ready.next(), ready.next()) {
            (None, _) => {}
            (Some(only), None) => return only,
            (Some(first), Some(second)) => {
                let mut ready: Vec<usize> = [first, second].into_iter().chain(ready).collect();
                // In the order of nodes, whatever order they stand in here.
                ready.sort_unstable_by_key(|n| guests[*n].node);
                let task = |guest: &ScheduledGuest<'_>| ReadyTask {
                    number: guest.node.0.into(),
                    steps: guest.turns,
                    object: 0,
                };
                let tasks: Vec<ReadyTask> = ready.iter().map(|n| task(&guests[*n])).collect();
                let point = SchedulingPoint {
                    kind: MACHINES,
                    run: 0,
                    policy: SchedulePolicy::Random,
                    touched: &[],
                    ready: &tasks,
                };
                return ready[run.pick(guests[ready[0]].node, Purpose::Schedule, "next guest", &point)];
            }
        }
        let last = run.over_at().into_iter().chain(run.progress_due_at()).min().map(Wait::Until);
        if run.is_fed() {
            let waits: Vec<Wait> = waits(&run.world, guests).map(|(_, wait)| wait).collect();
            run.await_feed(waits.into_iter());
        }
        let next = run.world.next_moment(waits(&run.world, guests).map(|(_, wait)| wait).chain(last));
        if !run.world.pass_time_to(next) {
            if run.world.is_at_its_end() {
                run.look();
                return main();
            }
            let name = |node: NodeId| match guests.len() {
                1 => String::new(),
                _ => format!("{}: ", run.world.node(node).name),
            };
            let words = |(node, wait): (NodeId, Wait)| format!("{}{}", name(node), run.world.wait_words(wait));
            let waiting = waits(&run.world, guests).map(words).collect();
            run.blocked = Some(Deadlock { waiting });
            return main();
        }
    }
}

/// What the guests wait for, with the machine that waits: that of the guest, or of the program that it calls.
fn waits(world: &World, guests: &[ScheduledGuest<'_>]) -> impl Iterator<Item = (NodeId, Wait)> {
    let acting = guests.iter().map(|guest| world.acting(guest.node)).filter(|node| !world.node(*node).stands_still());
    acting.flat_map(|node| world.node(node).waiting.iter().map(move |wait| (node, *wait)))
}

fn start<'a>(
    session: &'a Session,
    launch: Launch,
    plan: &Plan,
    slot: &Arc<RunSlot>,
    called: Vec<Box<dyn TargetHost>>,
    before: LivesBefore,
) -> ScheduledGuest<'a> {
    debug::begin_life(launch.node);
    let program = session.program_of(launch.component);
    let turn = RunGuard::new(Arc::clone(slot));
    let fuel = session.fuel(launch.node, plan.limits.fuel).saturating_sub(before.spent);
    let limits = Limits { fuel, ..plan.limits.clone() };
    let earlier = EarlierCoverage::default();
    let compared = session.logs_comparisons().then(|| Arc::new(GuestComparisons::new(program)));
    let observer = session.block_stop().map(|stop| stop.observer(program.facts()));
    let observed = (Rc::clone(&earlier), compared.clone(), observer);
    let life = Box::pin(live(program, launch, limits, turn, called, observed));
    ScheduledGuest {
        node: launch.node,
        launch,
        program,
        life,
        memories: Vec::new(),
        earlier,
        compared,
        turns: 0,
        before,
    }
}

/// The whole life of a guest, from its first turn to its last.
async fn live(
    program: &Program,
    launch: Launch,
    limits: Limits,
    turn: RunGuard,
    called: Vec<Box<dyn TargetHost>>,
    (earlier, compared, observer): (EarlierCoverage, Option<Arc<GuestComparisons>>, Option<Box<dyn InstanceObserver>>),
) -> GuestOutcome {
    let memory_bytes = limits.memory_bytes.saturating_add(program.facts().appended_bytes(limits.memory_bytes));
    let mut host = Host::new(turn, launch.node, memory_bytes);
    host.called = called;
    host.comparisons = compared.map(|compared| compared as _);
    host.observer = observer;
    host.run.begin();
    let heeds_doom = host.run.world.plan.edition >= Edition::TENTH;
    let machine = host.run.world.node_mut(launch.node);
    // After a loss of power, the guest waited for its machine.
    machine.waiting.clear();
    // Meanwhile it may have been ordered to be gone. Before edition 10 it began all the same, and went when it waited.
    let doomed = if heeds_doom { machine.doomed.take() } else { None };
    let (mut host, outcome, fuel_left) = match (launch.entry, doomed) {
        (_, Some(doom)) => (host, Err(wasmtime::Error::new(GuestStop::from(doom))), limits.fuel),
        (GuestEntry::Run, None) if program.is_scenario() || is_called(&host) => {
            scenario::drive(program, host, limits.fuel, earlier).await
        }
        (entry, None) => {
            let (mut store, filled) = store(program, host, limits.fuel);
            let outcome = match filled {
                Ok(()) => call(program, entry, &mut store).await,
                Err(error) => Err(error),
            };
            let fuel_left = store.get_fuel().unwrap_or(0);
            (store.into_data(), outcome, fuel_left)
        }
    };
    let fuel_used = limits.fuel - fuel_left.min(limits.fuel);
    let outcome = host.ended(outcome);
    host.run.end();
    GuestOutcome { outcome, fuel_used, refused: host.limiter.refused(), called: host.called }
}

/// A store for one instance of `program`, with this amount of fuel.
pub(crate) fn store(program: &Program, host: Host, fuel: u64) -> (Store<Host>, wasmtime::Result<()>) {
    let mut host = host;
    host.memory = preview1_memory(program);
    let stops_for_looks = host.run.interrupt().is_some() && host.run.kept_back().is_none();
    let mut store = Store::new(program.engine(), host);
    store.limiter(|host| host);
    if program.how().positions {
        debug::attach(program.component(), program.shared_symbols(), &mut store);
    }
    store.set_hostcall_fuel(HOSTCALL_FUEL);
    let filled = match program.how().fuel {
        true => store.set_fuel(program.facts().fuel_before_start(fuel)),
        false => Ok(()),
    };
    let filled = match (filled, stops_for_looks && program.how().fuel) {
        (Ok(()), true) => store.fuel_async_yield_interval(Some(INTERRUPT_FUEL)),
        (filled, _) => filled,
    };
    (store, filled)
}

/// Instantiates a program and calls it; the answer is whether it reported success.
async fn call(program: &Program, entry: GuestEntry, store: &mut Store<Host>) -> wasmtime::Result<bool> {
    let instantiated = program.instance()?.instantiate_async(&mut *store).await;
    let instance = instantiated.map_err(|error| error.context(InstantiationContext))?;
    store.data().instance_made();
    match entry {
        GuestEntry::Run => {
            let function = export(store, &instance, program.entries().run.as_deref(), "run")?;
            let function = instance.get_typed_func::<(), (Result<(), ()>,)>(&mut *store, &function)?;
            let (result,) = function.call_async(&mut *store, ()).await?;
            Ok(result.is_ok())
        }
        GuestEntry::Handle { request, outparam } => {
            let function = export(store, &instance, program.entries().handler.as_deref(), "handle")?;
            type Handle = (Resource<IncomingRequestResource>, Resource<ResponseOutparamResource>);
            let function = instance.get_typed_func::<Handle, ()>(&mut *store, &function)?;
            let handles = (Resource::new_own(request), Resource::new_own(outparam));
            function.call_async(&mut *store, handles).await?;
            Ok(true)
        }
    }
}

/// The function `name` of an exported interface.
pub(crate) fn export(
    store: &mut Store<Host>,
    instance: &Instance,
    interface: Option<&str>,
    name: &str,
) -> wasmtime::Result<wasmtime::component::ComponentExportIndex> {
    let missing = || wasmtime::Error::msg(format!("the export `{name}` is missing"));
    let interface = interface.ok_or_else(missing)?;
    let interface = instance.get_export_index(&mut *store, None, interface).ok_or_else(missing)?;
    instance.get_export_index(&mut *store, Some(&interface), name).ok_or_else(missing)
}

fn end_of(guest: &ScheduledGuest<'_>, limits: &Limits, life: GuestOutcome) -> Result<GuestEnd, HarnessError> {
    let (end, backtrace) = match &life.outcome {
        Ok(success) => (ExecutionEnd::Exited { code: u32::from(!success) }, Vec::new()),
        Err(error) => ending(error, guest.program, limits, life.refused, &guest.told())?,
    };
    let fuel_used = guest.before.spent.saturating_add(life.fuel_used);
    Ok(GuestEnd { end: Some(end), backtrace, fuel_used, is_down: false, memories: guest.told().guest })
}
