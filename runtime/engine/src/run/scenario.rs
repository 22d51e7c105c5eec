//! Scenarios: programs that are driven from outside, one exported call at a time.
//!
//! ```text
//! describe ─▶ checked
//! sequence 0   new instance   begin-sequence(0)  step(0) step(1) …  end-sequence(0)
//! sequence 1   new instance, the machine as it was at the start …
//! fuzz, property: the same, rounds of calls instead of sequences of steps, the functions in turn
//! ```
//!
//! Between two calls nothing of the guest is on the stack, so the run could be kept there. A run that can be begun again takes
//! the steps of a sequence in one call instead, which changes nothing of what they do (`stretch`).
//!
//! A guest that is alone, and can start no others, never waits for a turn. It is called on one stack that is large enough
//! for any guest, which saves a fiber for each call:
//!
//! ```text
//! alone        stack [ step step step … ]
//! with others  fiber [ step ]  fiber [ st──waits──ep ]  …
//! ```
//!
//! Invariants: both ways give the same history; what a sequence does depends on its number, and on what earlier ones left
//! outside their machine, never on how many there are; the budget of instructions is one for all of them.
//! Not here: what a call does with its part of the choices (`fozzy-host`), the verdict (`fozzy-check`).

use crate::compile::program::Program;
use crate::compile::settings;
use crate::entry::single_call::CallInput;
use crate::memory::{self, Region};
use crate::run::coverage::ProgramCoverage;
use crate::run::memory_roles::InstanceMemories;
use crate::run::schedule::{EarlierCoverage, Outage, export, outage, store};
use crate::run::stretch::{StretchFunction, hand_out};
use crate::run::trap::InstantiationContext;
use fozzy_host::{GuestStop, Host, INTERRUPT_FUEL};
use fozzy_instrument::OriginalOffset;
use fozzy_trace::choice::check_name;
use fozzy_trace::facts::{Cost, FailureKind, FlowStats, ReportedFailure, ScenarioStats};
use fozzy_trace::plan::{HttpReply, PlannedCall, ProcessReply, ScenarioKind, ScenarioPlan};
use fozzy_trace::{Aside, Duration, Instant, Plan};
use fozzy_world::Node;
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use wasmtime::component::{ComponentNamedList, ComponentType, Instance, InstancePre, Lift, Lower, TypedFunc};
use wasmtime::{Store, Trap};

/// The full names of the exported interfaces of `fozzy:scenario`.
#[derive(Clone, Debug)]
pub(crate) struct ScenarioInterfaces {
    pub(crate) stateful: Option<String>,
    pub(crate) fuzz: Option<String>,
    pub(crate) property: Option<String>,
}

impl ScenarioInterfaces {
    pub(crate) fn is_any(&self) -> bool {
        self.stateful.is_some() || self.fuzz.is_some() || self.property.is_some()
    }
}

/// Flows, invariants, fuzz targets or properties that a scenario can have.
const PARTS_MAX: usize = 4096;

/// `fozzy:scenario/stateful.flow`.
#[derive(Debug, ComponentType, Lift)]
#[component(record)]
pub(crate) struct FlowInfo {
    pub(crate) name: String,
    weight: u32,
    #[component(name = "max-times")]
    max_times: Option<u32>,
}

/// `fozzy:scenario/stateful.invariant`.
#[derive(Debug, ComponentType, Lift)]
#[component(record)]
pub(crate) struct InvariantInfo {
    name: String,
    period: u32,
}

/// `fozzy:scenario/stateful.info`.
#[derive(Debug, ComponentType, Lift)]
#[component(record)]
pub(crate) struct ScenarioInfo {
    pub(crate) name: String,
    pub(crate) flows: Vec<FlowInfo>,
    invariants: Vec<InvariantInfo>,
}

impl ScenarioInfo {
    /// Statistics of a scenario before its first sequence.
    pub(crate) fn stats(&self) -> wasmtime::Result<ScenarioStats> {
        check(self).map_err(|why| invalid("description", &why))?;
        Ok(described(self))
    }
}

/// `fozzy:scenario/stateful.skip`.
#[derive(Debug, ComponentType, Lift)]
#[component(record)]
pub(crate) struct SkippedStep {
    pub(crate) flow: u32,
    label: String,
}

/// `fozzy:scenario/stateful.step-result`.
#[derive(Debug, ComponentType, Lift)]
#[component(variant)]
pub(crate) enum StepResult {
    #[component(name = "ran")]
    Ran(u32),
    #[component(name = "skipped")]
    Skipped(SkippedStep),
    #[component(name = "stuck")]
    Stuck(String),
}

/// Drives the steps of a scenario that the plan says. Returns the host, the result, and the remaining fuel.
pub(crate) async fn drive(
    program: &Program,
    host: Host,
    fuel: u64,
    earlier: EarlierCoverage,
) -> (Host, wasmtime::Result<bool>, u64) {
    let plan = host.run.world.plan.scenario.clone().unwrap_or_default();
    let way = CallMode::of(program, &host);
    let start = host.run.world.node(host.node).clone();
    let (host, looked_at) = (Some(host), fuel);
    let mut drive =
        ScenarioDriver { program, plan, way, start, host, fuel, looked_at, memories: Vec::new(), cut: None, earlier };
    let outcome = match way {
        CallMode::Alone => settings::with_stack(|| now(drive.all())),
        CallMode::Turns => drive.all().await,
    };
    (drive.host.take().expect("it is given back after each instance"), outcome.map(|()| true), drive.fuel)
}

/// How exports are called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallMode {
    /// On one stack: no other guest can have a turn.
    Alone,
    /// Each on a fiber of its own, which may wait in the middle.
    Turns,
}

impl CallMode {
    /// Whether a guest under this plan is, or can start, one of several, as a scenario with a target is. One that may be interrupted
    /// has to stop in the middle of a call, unless it is tried without that.
    fn of(program: &Program, host: &Host) -> CallMode {
        let stops_for_looks = host.run.interrupt().is_some() && host.run.kept_back().is_none();
        if stops_for_looks || !is_alone(program, &host.run.world.plan) { CallMode::Turns } else { CallMode::Alone }
    }

    #[inline]
    pub(crate) async fn call<P, R>(
        self,
        store: &mut Store<Host>,
        function: &TypedFunc<P, R>,
        with: P,
    ) -> wasmtime::Result<R>
    where
        P: ComponentNamedList + Lower + Send + Sync,
        R: ComponentNamedList + Lift + Send + Sync + 'static,
    {
        match self {
            CallMode::Alone => function.call(store, with),
            CallMode::Turns => function.call_async(store, with).await,
        }
    }
}

/// Whether no other guest can be started beside `program` under `plan`.
fn is_alone(program: &Program, plan: &Plan) -> bool {
    let processes = plan.processes.iter().any(|rule| matches!(rule.answer, ProcessReply::Component(_)));
    let handlers = plan.http.iter().any(|rule| matches!(rule.answer, HttpReply::Component(_)));
    let others = !plan.nodes.is_empty() || processes || handlers || program.linked().is_some();
    // wasmtime calls debuggers on fibers only.
    !others && !program.how().positions
}

/// Whether a run of `program` under `plan` is made of calls between which it can be looked for an interruption, with instructions that
/// are counted.
pub(crate) fn looks_between_calls(program: &Program, plan: &Plan) -> bool {
    program.is_scenario() && plan.call.is_none() && program.how().fuel && is_alone(program, plan)
}

/// The value of a future that never waits.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a guest that is alone is called, not awaited"),
    }
}

/// The state of a running scenario.
struct ScenarioDriver<'a> {
    program: &'a Program,
    plan: ScenarioPlan,
    way: CallMode,
    /// The machine before anything ran.
    start: Node,
    /// `None` while an instance has it.
    host: Option<Host>,
    /// What is left of the budget, without what an instance has.
    fuel: u64,
    /// What was left of it when it was last looked for an interruption between two sequences.
    looked_at: u64,
    /// Memories of the last instance.
    memories: Vec<Arc<Region>>,
    /// Where it was cut off, if it was and others follow.
    cut: Option<OriginalOffset>,
    earlier: EarlierCoverage,
}

/// Functions that are called in turn: fuzz targets or properties.
struct CalledFunctions<'a> {
    kind: ScenarioKind,
    interface: &'a str,
    /// The place of the first of them among the flows.
    first: usize,
    number: usize,
}

impl ScenarioDriver<'_> {
    async fn all(&mut self) -> wasmtime::Result<()> {
        if let Some(call) = self.host().run.world.plan.call.clone() {
            return self.one(&call).await;
        }
        let ScenarioInterfaces { stateful, fuzz, property } = self.program.entries().scenario.clone();
        self.host().run.world.facts.scenario = Some(ScenarioStats::default());
        if let Some(interface) = stateful {
            self.describe(&interface).await?;
            for (sequence, stretches) in self.plan.clone().sequences_of(ScenarioKind::Stateful) {
                self.look()?;
                self.sequence(&interface, sequence, &stretches).await?;
            }
        }
        for (kind, names, interface) in
            [(ScenarioKind::Fuzz, "targets", fuzz), (ScenarioKind::Property, "properties", property)]
        {
            let Some(interface) = interface else { continue };
            let functions = self.functions(kind, &interface, names).await?;
            for (round, stretches) in self.plan.clone().sequences_of(kind) {
                self.look()?;
                self.round(&functions, round, &stretches).await?;
            }
        }
        Ok(())
    }

    /// Looks for an interruption now and then, between two sequences: each has an instance of its own, in which it may be too short for a
    /// look.
    fn look(&mut self) -> wasmtime::Result<()> {
        if self.looked_at.saturating_sub(self.fuel) < INTERRUPT_FUEL {
            return Ok(());
        }
        self.looked_at = self.fuel;
        self.host().run.look_between_calls().map_err(wasmtime::Error::new)
    }

    fn host(&mut self) -> &mut Host {
        self.host.as_mut().expect("no instance has it")
    }

    fn stats(host: &mut Host) -> &mut ScenarioStats {
        host.run.world.facts.scenario.get_or_insert_default()
    }

    fn linked(&self) -> wasmtime::Result<&InstancePre<Host>> {
        match self.way {
            CallMode::Alone => self.program.alone(),
            CallMode::Turns => self.program.instance(),
        }
    }

    /// A new instance on the machine as it was at the start.
    async fn instance(&mut self) -> (Store<Host>, wasmtime::Result<Instance>) {
        self.cover();
        // Only the memories of the last instance are part of how the execution ended.
        memory::begin_anew();
        let mut host = self.host.take().expect("no instance has it");
        let (node, start) = (host.node, &self.start);
        host.run.with_context(node, |world, context| world.begin_again(start, context));
        host.begin_called_again();
        host.limiter.begin_again();
        let mut fuel = self.fuel;
        if host.run.kept_back().is_some() {
            fuel = fuel.min(INTERRUPT_FUEL);
            host.run.keep_back(self.fuel - fuel);
        }
        let (mut store, filled) = store(self.program, host, fuel);
        let (instance, memories) = match filled {
            Ok(()) => match self.linked() {
                Ok(instance) if self.way == CallMode::Alone => {
                    memory::apart(async { instance.instantiate(&mut store) }).await
                }
                Ok(instance) => memory::apart(instance.instantiate_async(&mut store)).await,
                Err(error) => (Err(error), Vec::new()),
            },
            Err(error) => (Err(error), Vec::new()),
        };
        memory::put_back(&memories);
        store.data().instance_made();
        self.memories = memories;
        let instance = instance.map_err(|error| error.context(InstantiationContext));
        let instance = unless_kept_back(&mut store, instance);
        (store, instance)
    }

    /// Adds the coverage of the last instance, as another one follows. The coverage of the final instance is read from its memories.
    fn cover(&mut self) {
        let (memories, cut) = (std::mem::take(&mut self.memories), self.cut.take());
        let coverage = self.program.how().coverage;
        if self.program.how().observes() && !memories.is_empty() {
            let told = InstanceMemories::apart(memories, self.program.facts());
            self.earlier.borrow_mut().merge(&ProgramCoverage::of(self.program, &told, cut), coverage);
        }
    }

    /// Takes the host and the fuel back from an instance.
    fn over(&mut self, store: Store<Host>) {
        self.fuel = store.get_fuel().unwrap_or(0);
        let mut host = store.into_data();
        if let Some(kept) = host.run.kept_back() {
            // It may have used more than it had, which would be forgiven.
            if self.fuel == 0 && kept > 0 {
                host.run.give_up();
            }
            self.fuel = self.fuel.saturating_add(kept);
            host.run.keep_back(0);
        }
        self.host = Some(host);
    }

    async fn describe(&mut self, interface: &str) -> wasmtime::Result<()> {
        let (mut store, instance) = self.instance().await;
        let info = match instance {
            Ok(instance) => ask::<(ScenarioInfo,)>(&mut store, self.way, &instance, interface, "describe").await,
            Err(error) => Err(error),
        };
        let info = unless_kept_back(&mut store, info);
        self.over(store);
        let (info,) = info?;
        *Self::stats(self.host()) = info.stats()?;
        Ok(())
    }

    async fn sequence(&mut self, interface: &str, sequence: u32, stretches: &[(u32, u32)]) -> wasmtime::Result<()> {
        let (mut store, instance) = self.instance().await;
        let outcome = match instance {
            Ok(instance) => {
                let together = match self.way {
                    CallMode::Alone => {
                        StretchFunction::find(self.program.facts().counted_steps(), &mut store, &instance)
                    }
                    CallMode::Turns => None,
                };
                let together = together.as_ref();
                steps(&mut store, self.way, &instance, interface, together, sequence, stretches).await
            }
            Err(error) => Err(error),
        };
        let outcome = unless_kept_back(&mut store, outcome);
        self.over(store);
        self.unless_power_was_lost(outcome)
    }

    /// A loss of power ends the sequence, as the model that the guest would judge by was in its memory; the next one begins on
    /// the disk of the start. Time passes at once until the machine is up again.
    fn unless_power_was_lost(&mut self, outcome: wasmtime::Result<()>) -> wasmtime::Result<()> {
        let lost = outcome.as_ref().err().and_then(outage);
        let (Some(lost), Err(error)) = (lost, &outcome) else { return outcome };
        self.cut = self.program.symbols().cut(error);
        let host = self.host();
        let node = host.node;
        let (Outage::Power(up_after) | Outage::Program(up_after)) = lost;
        host.run.with_context(node, |world, context| match lost {
            Outage::Power(_) => world.power_loss(context),
            Outage::Program(_) => world.program_lost(context),
        });
        let clock = &mut host.run.world.clock;
        clock.advance_to(clock.now().after(up_after));
        Ok(())
    }

    /// The functions of an interface, which are then among the flows.
    async fn functions<'n>(
        &mut self,
        kind: ScenarioKind,
        interface: &'n str,
        names: &str,
    ) -> wasmtime::Result<CalledFunctions<'n>> {
        let (mut store, instance) = self.instance().await;
        let listed = match instance {
            Ok(instance) => ask::<(Vec<String>,)>(&mut store, self.way, &instance, interface, names).await,
            Err(error) => Err(error),
        };
        let listed = unless_kept_back(&mut store, listed);
        self.over(store);
        let (listed,) = listed?;
        check_names(names, listed.iter().map(String::as_str)).map_err(|why| invalid(names, &why))?;
        if listed.is_empty() {
            return Err(invalid(names, &format!("`{names}` names nothing to call")));
        }
        let stats = Self::stats(self.host());
        let first = stats.flows.len();
        stats.flows.extend(listed.iter().map(|name| FlowStats::new(name)));
        Ok(CalledFunctions { kind, interface, first, number: listed.len() })
    }

    /// The one function that the plan names, once.
    async fn one(&mut self, call: &PlannedCall) -> wasmtime::Result<()> {
        let name = call.function();
        let flows = vec![FlowStats::new(name)];
        *Self::stats(self.host()) = ScenarioStats { flows, sequences: 1, ..ScenarioStats::default() };
        let program = self.program;
        let given = CallInput::ask(program, self.host(), call)?;
        let (mut store, instance) = self.instance().await;
        let outcome = match instance {
            Ok(instance) => given.make(program, &mut store, self.way, &instance, call).await,
            Err(error) => Err(error),
        };
        self.over(store);
        outcome?;
        Self::stats(self.host()).flows[0].run += 1;
        Ok(())
    }

    async fn round(
        &mut self,
        functions: &CalledFunctions<'_>,
        round: u32,
        stretches: &[(u32, u32)],
    ) -> wasmtime::Result<()> {
        let (mut store, instance) = self.instance().await;
        let outcome = match instance {
            Ok(instance) => calls(&mut store, self.way, &instance, functions, round, stretches).await,
            Err(error) => Err(error),
        };
        let outcome = unless_kept_back(&mut store, outcome);
        self.over(store);
        self.unless_power_was_lost(outcome)
    }
}

/// One sequence of a stateful scenario, whose steps are taken `together` if that can be.
pub(crate) async fn steps(
    store: &mut Store<Host>,
    way: CallMode,
    instance: &Instance,
    interface: &str,
    together: Option<&StretchFunction>,
    sequence: u32,
    stretches: &[(u32, u32)],
) -> wasmtime::Result<()> {
    let stream = ScenarioKind::Stateful.stream(sequence);
    let begin = function::<(u32,), ()>(store, instance, interface, "begin-sequence")?;
    let step = function::<(u32,), (StepResult,)>(store, instance, interface, "step")?;
    let end = function::<(u32,), ()>(store, instance, interface, "end-sequence")?;
    ScenarioDriver::stats(store.data_mut()).sequences += 1;
    store.data_mut().begin_sequence(sequence, stream)?;
    way.call(store, &begin, (sequence,)).await?;
    for (from, to) in stretches {
        let mut from = *from;
        // One step is one call.
        if let Some(together) = together.filter(|_| to.saturating_sub(from) > 1) {
            together.take(store, (sequence, stream), (from, to - 1))?;
            from = *to;
        }
        for number in from..*to {
            hand_out(store)?;
            store.data_mut().begin_step(sequence, stream, number)?;
            let begun = FuelReading::of(store);
            let (result,) = way.call(store, &step, (number,)).await?;
            let cost = begun.until(FuelReading::of(store));
            if let StepResult::Skipped(skip) = &result {
                store.data_mut().aside(Aside::Skipped, || (skip.label.clone(), String::new()));
            }
            let stats = ScenarioDriver::stats(store.data_mut());
            match result {
                StepResult::Ran(flow) => flow_of(stats, flow)?.ran(cost),
                StepResult::Skipped(skip) => flow_of(stats, skip.flow)?.skip(&skip.label),
                StepResult::Stuck(why) => {
                    return Err(wasmtime::Error::new(GuestStop::Failed(Box::new(stuck(sequence, number, &why)))));
                }
            }
        }
    }
    hand_out(store)?;
    store.data_mut().end_sequence(sequence, stream)?;
    way.call(store, &end, (sequence,)).await
}

/// What became of calls: one that has used what it was given, while more of its fuel is kept back, is no end of the guest.
fn unless_kept_back<T>(store: &mut Store<Host>, outcome: wasmtime::Result<T>) -> wasmtime::Result<T> {
    let is_out = |error: &wasmtime::Error| matches!(error.downcast_ref::<Trap>(), Some(Trap::OutOfFuel));
    match outcome {
        Err(error) if store.data().run.kept_back().is_some_and(|kept| kept > 0) && is_out(&error) => {
            Err(wasmtime::Error::new(store.data_mut().run.give_up()))
        }
        outcome => outcome,
    }
}

/// One round of fuzz targets or properties.
async fn calls(
    store: &mut Store<Host>,
    way: CallMode,
    instance: &Instance,
    functions: &CalledFunctions<'_>,
    round: u32,
    stretches: &[(u32, u32)],
) -> wasmtime::Result<()> {
    let CalledFunctions { kind, interface, first, number } = *functions;
    let stream = kind.stream(round);
    enum Call {
        Fuzz(TypedFunc<(u32, Vec<u8>), ()>),
        Check(TypedFunc<(u32,), ()>),
    }
    let call = match kind {
        ScenarioKind::Fuzz => Call::Fuzz(function(store, instance, interface, "run")?),
        ScenarioKind::Stateful | ScenarioKind::Property => Call::Check(function(store, instance, interface, "check")?),
    };
    ScenarioDriver::stats(store.data_mut()).sequences += 1;
    store.data_mut().aside(Aside::Sequence, Default::default);
    for step in stretches.iter().flat_map(|(from, to)| *from..*to) {
        hand_out(store)?;
        let place = step as usize % number;
        let (place, flow) = (place as u32, (first + place) as u32);
        let begun = FuelReading::of(store);
        match &call {
            Call::Fuzz(run) => {
                let input = store.data_mut().begin_input(round, stream, step, flow, place)?;
                way.call(store, run, (place, input)).await?;
            }
            Call::Check(check) => {
                store.data_mut().begin_check(round, stream, step, flow, place)?;
                way.call(store, check, (place,)).await?;
            }
        }
        let cost = begun.until(FuelReading::of(store));
        flow_of(ScenarioDriver::stats(store.data_mut()), flow)?.ran(cost);
    }
    Ok(())
}

/// The remaining fuel, and the virtual time of the reading.
struct FuelReading {
    fuel: u64,
    at: Instant,
}

impl FuelReading {
    fn of(store: &Store<Host>) -> FuelReading {
        FuelReading { fuel: store.get_fuel().unwrap_or(0), at: store.data().run.world.clock.now() }
    }

    fn until(&self, later: FuelReading) -> Cost {
        Cost { fuel: self.fuel.saturating_sub(later.fuel), time: Duration(later.at.0.saturating_sub(self.at.0)) }
    }
}

/// Calls a function without arguments.
pub(crate) async fn ask<R>(
    store: &mut Store<Host>,
    way: CallMode,
    instance: &Instance,
    interface: &str,
    name: &str,
) -> wasmtime::Result<R>
where
    R: ComponentNamedList + Lift + Send + Sync + 'static,
{
    let function = function::<(), R>(store, instance, interface, name)?;
    way.call(store, &function, ()).await
}

/// A function of the interface; one of another type is a fault of the scenario.
pub(crate) fn function<P, R>(
    store: &mut Store<Host>,
    instance: &Instance,
    interface: &str,
    name: &str,
) -> wasmtime::Result<TypedFunc<P, R>>
where
    P: ComponentNamedList + Lower,
    R: ComponentNamedList + Lift,
{
    let found = export(store, instance, Some(interface), name);
    let found = found.and_then(|found| instance.get_typed_func::<P, R>(store, &found));
    found.map_err(|error| {
        let why = crate::compile::load::one_line(&format!("{error:#}"));
        invalid(&format!("{interface}.{name}"), &format!("`{interface}` is not what it is called: `{name}`: {why}"))
    })
}

fn flow_of(stats: &mut ScenarioStats, flow: u32) -> wasmtime::Result<&mut FlowStats> {
    let flows = stats.flows.len();
    let message = || format!("a step answers that it ran the flow {flow}, and there are {flows}");
    stats.flows.get_mut(flow as usize).ok_or_else(|| invalid("step", &message()))
}

/// What is wrong with a description.
pub(crate) fn check(info: &ScenarioInfo) -> Result<(), String> {
    check_names("flows", info.flows.iter().map(|flow| flow.name.as_str()))?;
    check_names("invariants", info.invariants.iter().map(|invariant| invariant.name.as_str()))?;
    if info.flows.is_empty() {
        return Err("the scenario has no flow".to_owned());
    }
    if info.flows.iter().all(|flow| flow.weight == 0 || flow.max_times == Some(0)) {
        return Err("no flow can ever be drawn: each has the weight 0, or may be run 0 times".to_owned());
    }
    match info.invariants.iter().find(|invariant| invariant.period == 0) {
        Some(invariant) => {
            Err(format!("the invariant `{}` has the period 0; 1 checks it after every step", invariant.name))
        }
        None => Ok(()),
    }
}

fn check_names<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut known = BTreeSet::new();
    for name in names {
        check_name(name).map_err(|error| format!("{what} `{}`: {error}", name.escape_debug()))?;
        if !known.insert(name) {
            return Err(format!("two of the {what} are called `{}`", name.escape_debug()));
        }
        if known.len() > PARTS_MAX {
            return Err(format!("{what}: more than {PARTS_MAX}"));
        }
    }
    Ok(())
}

/// Statistics of a scenario before its first sequence.
pub(crate) fn described(info: &ScenarioInfo) -> ScenarioStats {
    let flows = info.flows.iter().map(|flow| FlowStats::new(&flow.name)).collect();
    ScenarioStats { name: FlowStats::new(&info.name).name, flows, ..ScenarioStats::default() }
}

/// No flow can be run, and so the scenario cannot.
pub(crate) fn stuck(sequence: u32, step: u32, why: &str) -> ReportedFailure {
    unfit("no valid flow", &format!("no flow is valid in sequence {sequence} at step {step}: {why}"))
}

/// The scenario cannot be run as it is.
pub(crate) fn invalid(site: &str, message: &str) -> wasmtime::Error {
    wasmtime::Error::new(GuestStop::Failed(Box::new(unfit(site, message))))
}

fn unfit(site: &str, message: &str) -> ReportedFailure {
    ReportedFailure::new(FailureKind::Invalid, site, &format!("the scenario cannot be run: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(name: &str, weight: u32) -> FlowInfo {
        FlowInfo { name: name.to_owned(), weight, max_times: None }
    }

    fn said(flows: Vec<FlowInfo>, periods: &[u32]) -> String {
        let invariants = periods.iter().enumerate();
        let invariants =
            invariants.map(|(number, period)| InvariantInfo { name: number.to_string(), period: *period }).collect();
        check(&ScenarioInfo { name: "s".to_owned(), flows, invariants }).err().unwrap_or_default()
    }

    #[test]
    fn a_description_that_cannot_be_run_is_said() {
        assert_eq!(said(vec![flow("a", 1), flow("b", 0)], &[1, 10]), "");
        assert!(said(vec![], &[]).contains("no flow"));
        assert!(said(vec![flow("a", 0), flow("b", 0)], &[]).contains("weight 0"));
        assert!(said(vec![flow("a", 1), flow("a", 2)], &[]).contains("two of the flows are called `a`"));
        assert!(said(vec![flow("", 1)], &[]).contains("a name has 0 bytes"));
        assert!(said(vec![flow("a", 1)], &[1, 0]).contains("`1` has the period 0"));
    }
}
