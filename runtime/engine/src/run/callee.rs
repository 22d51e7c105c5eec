//! The component that a scenario calls, in a store of its own.
//!
//! ```text
//!           ┌─ instance, at the first call ─▶ answers … ─▶ restart: gone, the next call begins another
//! Callee ───┤                                   └ traps ─▶ down: answers nothing until it is restarted
//!           └─ fuel, memories and coverage over all of its instances
//! ```
//!
//! Invariants: its first end by a fault of its own is kept, and is the end of its machine in the execution; its budget of
//! instructions is one for all instances.
//! Not here: how its functions come to those that the scenario imports (`link`), and what the history says (`fozzy-host`).

use crate::compile::link::{LinkedFunction, LinkedTarget};
use crate::compile::program::Program;
use crate::entry::typed::TypedExport;
use crate::entry::wave::{as_json, read_arguments, read_value};
use crate::memory::{self, Region};
use crate::run::coverage::ProgramCoverage;
use crate::run::debug;
use crate::run::memory_roles::InstanceMemories;
use crate::run::schedule::{GuestEnd, store};
use crate::run::trap::{InstantiationContext, ending};
use fozzy_host::{
    Answer, CallFuture, CallResult, GuestStop, Host, NamedCall, RestartMode, Run, RunGuard, RunSlot, StaleHandle,
    TargetHandles, TargetHost, wave,
};
use fozzy_trace::facts::Refusal;
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::plan::{Limits, NodePlan};
use fozzy_trace::{DecisionPart, ExecutionEnd, NodeId};
use fozzy_world::{Node, World};
use std::sync::Arc;
use wasmtime::Store;
use wasmtime::component::types::ComponentFunc;
use wasmtime::component::{Instance, Val};

/// A component that is called on one machine, over a whole run.
pub(crate) struct TargetInstance {
    program: Program,
    functions: Arc<[LinkedFunction]>,
    /// Functions that were called by their names, which have the places after those.
    named: Vec<NamedFunction>,
    /// Its machine before anything ran.
    start: Node,
    limits: Limits,
    slot: Arc<RunSlot>,
    /// The store, and the instance in it once there is one.
    live: Option<(Store<Host>, Option<Instance>)>,
    /// Its resources that the scenario has handles of.
    handles: TargetHandles,
    /// What is left of its budget.
    fuel: u64,
    /// Of the last instance.
    memories: Vec<Arc<Region>>,
    covered: ProgramCoverage,
    /// Why it answers nothing.
    down: Option<String>,
    /// How it ended first by its own fault.
    found: Option<(ExecutionEnd, Vec<StackFrame>)>,
}

/// A function that was called by its name.
struct NamedFunction {
    /// As it was asked for.
    name: String,
    found: TypedExport,
    of: ComponentFunc,
}

/// All that a program calls in a run which begins on the machines of `start`: one for each that is called.
pub(crate) fn callees(
    program: &Program,
    start: &World,
    fuel: &dyn Fn(NodeId) -> u64,
    slot: &Arc<RunSlot>,
) -> Vec<TargetInstance> {
    let Some(linked) = program.linked() else { return Vec::new() };
    let plan = &start.plan;
    let instances = plan.called().count() as u32;
    let of_machine = |((node, _), number): ((NodeId, &NodePlan), u32)| {
        let limits = Limits { fuel: fuel(node), ..plan.limits.clone() };
        let handles = TargetHandles::of(number, instances);
        TargetInstance::new(linked, start.node(node).clone(), limits, Arc::clone(slot), handles)
    };
    plan.called().zip(0..).map(of_machine).collect()
}

impl TargetInstance {
    fn new(
        linked: &LinkedTarget,
        start: Node,
        limits: Limits,
        slot: Arc<RunSlot>,
        handles: TargetHandles,
    ) -> TargetInstance {
        let (program, functions) = (linked.target.clone(), Arc::clone(&linked.functions));
        let fuel = limits.fuel;
        let (live, memories, covered, down, found) = (None, Vec::new(), ProgramCoverage::default(), None, None);
        let named = Vec::new();
        TargetInstance {
            program,
            functions,
            named,
            start,
            limits,
            slot,
            live,
            handles,
            fuel,
            memories,
            covered,
            down,
            found,
        }
    }

    /// What it leaves behind.
    pub(crate) fn finish(mut self) -> (GuestEnd, ProgramCoverage) {
        self.cover(None);
        let memories = InstanceMemories::apart(std::mem::take(&mut self.memories), self.program.facts()).guest;
        let (end, backtrace) = self.found.map_or((None, Vec::new()), |(end, frames)| (Some(end), frames));
        (GuestEnd { end, backtrace, fuel_used: self.limits.fuel - self.fuel, is_down: false, memories }, self.covered)
    }

    /// Adds what the instance has covered, which is then gone; it ended by `error`, perhaps.
    fn cover(&mut self, error: Option<&wasmtime::Error>) {
        self.handles.forget();
        if self.live.take().is_some() && self.program.how().observes() {
            let cut = error.and_then(|error| self.program.symbols().cut(error));
            let told = InstanceMemories::apart(self.memories.clone(), self.program.facts());
            self.covered.merge(&ProgramCoverage::of(&self.program, &told, cut), self.program.how().coverage);
        }
    }

    /// Makes sure that there is a store, and gives it the run.
    fn open(&mut self, run: Box<Run>, part: DecisionPart) -> wasmtime::Result<()> {
        debug::end_turn(NodeId(0));
        debug::begin_turn();
        if let Some((store, _)) = &mut self.live {
            let host = store.data_mut();
            host.run.put(run);
            host.part = part;
            return Ok(());
        }
        let mut guard = RunGuard::new(Arc::clone(&self.slot));
        guard.put(run);
        let memory_bytes =
            self.limits.memory_bytes.saturating_add(self.program.facts().appended_bytes(self.limits.memory_bytes));
        let mut host = Host::new(guard, self.start.id, memory_bytes);
        host.part = part;
        let (store, filled) = store(&self.program, host, self.fuel);
        self.live = Some((store, None));
        filled
    }

    async fn attempt(&mut self, function: usize, arguments: &[Val], results: &mut [Val]) -> wasmtime::Result<()> {
        let (store, place) = self.live.as_mut().expect("it was opened");
        let instance = match place {
            Some(instance) => *instance,
            None => {
                let linked = self.program.instance()?;
                let (instance, memories) = memory::apart(async {
                    let instance = linked.instantiate_async(&mut *store).await;
                    store.data().settle_memory();
                    instance
                })
                .await;
                self.memories = memories;
                *place.insert(instance.map_err(|error| error.context(InstantiationContext))?)
            }
        };
        let LinkedFunction { place, handles } = match function.checked_sub(self.functions.len()) {
            None => self.functions[function],
            Some(named) => LinkedFunction { place: self.named[named].found.export, handles: false },
        };
        let function = instance.get_func(&mut *store, place);
        let function = function.ok_or_else(|| wasmtime::Error::msg("a linked function is gone"))?;
        if !handles {
            return function.call_async(&mut *store, arguments, results).await;
        }
        let of = function.ty(&*store);
        let arguments = self.handles.received(of.params().map(|(_, of)| of), arguments)?;
        function.call_async(&mut *store, &arguments, results).await?;
        self.handles.sent(of.results(), results)
    }

    /// Ends a call of the instance, or a drop of its resource: gives the run back, and the result.
    fn close(&mut self, outcome: wasmtime::Result<()>) -> (Box<Run>, CallResult) {
        debug::end_turn(self.start.id);
        let (store, _) = self.live.as_mut().expect("it was opened");
        let mut run = store.data_mut().run.take();
        self.fuel = store.get_fuel().unwrap_or(0);
        let refused = store.data().limiter.refused();
        let answered = match outcome {
            Ok(()) => CallResult::Yes,
            Err(error) => match error.downcast_ref::<StaleHandle>() {
                Some(gone) => CallResult::Gone(*gone),
                None => self.ended(&error, &mut run, refused),
            },
        };
        (run, answered)
    }

    /// The instance ended: what that means for its caller.
    fn ended(&mut self, error: &wasmtime::Error, run: &mut Run, refused: Option<Refusal>) -> CallResult {
        self.cover(Some(error));
        let node = self.start.id;
        if let Some(GuestStop::PowerLoss { up_after }) = error.downcast_ref::<GuestStop>() {
            // A fault of the plan is no finding.
            run.power_loss(node, *up_after);
            run.world.node_mut(node).waiting.clear();
            self.down = Some("its machine lost power".to_owned());
            return CallResult::Down;
        }
        if let Some(GuestStop::Killed { up_after }) = error.downcast_ref::<GuestStop>() {
            run.with_context(node, |world, context| world.program_lost(context));
            // Restarted, it answers the next call.
            self.down = up_after.is_none().then(|| "a planned fault killed it".to_owned());
            return CallResult::Down;
        }
        let told = InstanceMemories::apart(self.memories.clone(), self.program.facts());
        let (end, frames) = match ending(error, &self.program, &self.limits, refused, &told) {
            Ok((ExecutionEnd::Exited { code }, frames)) => {
                (ExecutionEnd::Trapped { trap: format!("it exited with code {code} instead of answering") }, frames)
            }
            Ok(ended) => ended,
            Err(error) if error.is_interruption() => return CallResult::Interrupted,
            Err(error) => return CallResult::Machine(error.what),
        };
        run.with_context(node, |world, context| world.program_lost(context));
        let answered = if matches!(end, ExecutionEnd::Trapped { .. }) { CallResult::Down } else { CallResult::Over };
        self.down = Some(end.words());
        if self.found.is_none() || answered == CallResult::Over {
            self.found = Some((end, frames));
        }
        answered
    }
}

impl TargetHost for TargetInstance {
    fn name(&mut self, function: &str, arguments: &str, expected: Option<&str>) -> Result<NamedCall, String> {
        let place = match self.named.iter().position(|known| known.name == function) {
            Some(place) => place,
            None => {
                let (found, of) = TypedExport::find_written(&self.program, function)?;
                self.named.push(NamedFunction { name: function.to_owned(), found, of });
                self.named.len() - 1
            }
        };
        let NamedFunction { found, of, .. } = &self.named[place];
        let arguments = read_arguments(arguments, found.params())
            .map_err(|what| format!("the arguments of `{}`: {what}", found.name))?;
        let result = of.results().next();
        let expected = match (expected, &result) {
            (None, _) => None,
            (Some(_), None) => return Err(format!("`{}` gives nothing back, so nothing can be expected", found.name)),
            (Some(text), Some(of)) => {
                Some(read_value(text, of).map_err(|what| format!("what is expected of `{}`: {what}", found.name))?)
            }
        };
        let results = vec![Val::Bool(false); of.results().len()];
        Ok(NamedCall { place: self.functions.len() + place, of: of.clone(), arguments, results, expected })
    }

    fn tell(&self, results: &[Val], expected: Option<&Val>) -> Answer {
        let Some(result) = results.first() else {
            return Answer { wave: String::new(), json: "null".to_owned(), as_expected: true };
        };
        let (wave, json) = (wave::value(result), as_json(result).to_string());
        // By their texts, in which not-a-number is itself.
        let as_expected = expected.is_none_or(|expected| wave::value(expected) == wave);
        Answer { wave, json, as_expected }
    }

    fn node(&self) -> NodeId {
        self.start.id
    }

    fn call<'a>(
        &'a mut self,
        run: Box<Run>,
        part: DecisionPart,
        function: usize,
        arguments: &'a [Val],
        results: &'a mut [Val],
    ) -> CallFuture<'a> {
        Box::pin(async move {
            if self.down.is_some() {
                return (run, CallResult::Down);
            }
            let outcome = match self.open(run, part) {
                Ok(()) => self.attempt(function, arguments, results).await,
                Err(error) => Err(error),
            };
            self.close(outcome)
        })
    }

    fn drop_handle(&mut self, run: Box<Run>, part: DecisionPart, number: u32) -> CallFuture<'_> {
        Box::pin(async move {
            let Some(resource) = self.handles.dropped(number) else {
                return (run, CallResult::Gone(StaleHandle(number)));
            };
            let outcome = match self.open(run, part) {
                Ok(()) => {
                    let (store, _) = self.live.as_mut().expect("it was opened");
                    resource.resource_drop_async(&mut *store).await
                }
                Err(error) => Err(error),
            };
            self.close(outcome)
        })
    }

    fn restart(&mut self, run: &mut Run, how: RestartMode) {
        self.cover(None);
        self.down = None;
        let start = &self.start;
        run.with_context(start.id, |world, context| match how {
            RestartMode::FromStart => {
                self.handles.begin_again();
                world.begin_again(start, context);
                world.node_mut(start.id).disk.track_durability(true);
            }
            RestartMode::Program => world.program_lost(context),
            RestartMode::PowerLoss => world.power_loss(context),
        });
    }

    fn down(&self) -> Option<String> {
        self.down.clone()
    }
}
