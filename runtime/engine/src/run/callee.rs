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

use crate::compile::link::{Linked, LinkedFunction};
use crate::compile::program::Program;
use crate::entry::typed::Typed;
use crate::entry::wave;
use crate::memory::{self, Region};
use crate::run::coverage::Covered;
use crate::run::memory_roles::Told;
use crate::run::schedule::{Ended, store};
use crate::run::trap::{Instantiating, ending};
use fozzy_host::{Answer, Answered, Called, Calling, Gone, Handles, Host, Named, Parking, Restart, Run, Stop, Turn};
use fozzy_instrument::Coverage;
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::plan::{Limits, NodePlan};
use fozzy_trace::{DecisionPart, ExecutionEnd, NodeId};
use fozzy_world::{Node, World};
use std::sync::Arc;
use wasmtime::Store;
use wasmtime::component::types::ComponentFunc;
use wasmtime::component::{Instance, Val};

/// A component that is called on one machine, over a whole run.
pub(crate) struct Callee {
    program: Program,
    functions: Arc<[LinkedFunction]>,
    /// Functions that were called by their names, which have the places after those.
    named: Vec<NamedFunction>,
    /// Its machine before anything ran.
    start: Node,
    limits: Limits,
    parking: Arc<Parking>,
    /// The store, and the instance in it once there is one.
    live: Option<(Store<Host>, Option<Instance>)>,
    /// Its resources that the scenario has handles of.
    handles: Handles,
    /// What is left of its budget.
    fuel: u64,
    /// Of the last instance.
    memories: Vec<Arc<Region>>,
    covered: Covered,
    /// Why it answers nothing.
    down: Option<String>,
    /// How it ended first by its own fault.
    found: Option<(ExecutionEnd, Vec<StackFrame>)>,
}

/// A function that was called by its name.
struct NamedFunction {
    /// As it was asked for.
    name: String,
    found: Typed,
    of: ComponentFunc,
}

/// All that a program calls in a run which begins on the machines of `start`: one for each that is called.
pub(crate) fn callees(program: &Program, start: &World, fuel: u64, parking: &Arc<Parking>) -> Vec<Callee> {
    let Some(linked) = program.linked() else { return Vec::new() };
    let plan = &start.plan;
    let instances = plan.called().count() as u32;
    let of_machine = |((node, _), number): ((NodeId, &NodePlan), u32)| {
        let limits = Limits { fuel, ..plan.limits.clone() };
        let handles = Handles::of(number, instances);
        Callee::new(linked, start.node(node).clone(), limits, Arc::clone(parking), handles)
    };
    plan.called().zip(0..).map(of_machine).collect()
}

impl Callee {
    fn new(linked: &Linked, start: Node, limits: Limits, parking: Arc<Parking>, handles: Handles) -> Callee {
        let (program, functions) = (linked.target.clone(), Arc::clone(&linked.functions));
        let fuel = limits.fuel;
        let (live, memories, covered, down, found) = (None, Vec::new(), Covered::default(), None, None);
        let named = Vec::new();
        Callee {
            program,
            functions,
            named,
            start,
            limits,
            parking,
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
    pub(crate) fn finish(mut self) -> (Ended, Covered) {
        self.cover(None);
        let memories = Told::apart(std::mem::take(&mut self.memories), self.program.facts()).guest;
        let (end, backtrace) = self.found.map_or((None, Vec::new()), |(end, frames)| (Some(end), frames));
        (Ended { end, backtrace, fuel_used: self.limits.fuel - self.fuel, memories }, self.covered)
    }

    /// Adds what the instance has covered, which is then gone; it ended by `error`, perhaps.
    fn cover(&mut self, error: Option<&wasmtime::Error>) {
        self.handles.forget();
        if self.live.take().is_some() && self.program.how().coverage != Coverage::None {
            let cut = error.and_then(|error| self.program.symbols().cut(error));
            let told = Told::apart(self.memories.clone(), self.program.facts());
            self.covered.merge(&Covered::of(&self.program, &told, cut), self.program.how().coverage);
        }
    }

    /// Makes sure that there is a store, and gives it the run.
    fn open(&mut self, run: Box<Run>, part: DecisionPart) -> wasmtime::Result<()> {
        if let Some((store, _)) = &mut self.live {
            let host = store.data_mut();
            host.run.hold(run);
            host.part = part;
            return Ok(());
        }
        let mut turn = Turn::new(Arc::clone(&self.parking));
        turn.hold(run);
        let memory_bytes = self.limits.memory_bytes.saturating_add(self.program.facts().appended_bytes());
        let mut host = Host::new(turn, self.start.id, memory_bytes);
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
                let (instance, memories) = memory::apart(linked.instantiate_async(&mut *store)).await;
                self.memories = memories;
                *place.insert(instance.map_err(|error| error.context(Instantiating))?)
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

    /// The instance was called, or its resource dropped: the run again, and what came of it.
    fn close(&mut self, outcome: wasmtime::Result<()>) -> (Box<Run>, Answered) {
        let (store, _) = self.live.as_mut().expect("it was opened");
        let mut run = store.data_mut().run.lend();
        self.fuel = store.get_fuel().unwrap_or(0);
        let refused = store.data().limiter.refused();
        let answered = match outcome {
            Ok(()) => Answered::Yes,
            Err(error) => match error.downcast_ref::<Gone>() {
                Some(gone) => Answered::Gone(*gone),
                None => self.ended(&error, &mut run, refused),
            },
        };
        (run, answered)
    }

    /// It came to its end: what that means for who called it.
    fn ended(&mut self, error: &wasmtime::Error, run: &mut Run, refused: bool) -> Answered {
        self.cover(Some(error));
        let node = self.start.id;
        if let Some(Stop::PowerLoss { up_after }) = error.downcast_ref::<Stop>() {
            // A fault of the plan is no finding.
            run.power_loss(node, *up_after);
            run.world.node_mut(node).waiting.clear();
            self.down = Some("its machine lost power".to_owned());
            return Answered::Down;
        }
        let (end, frames) = match ending(error, &self.program, &self.limits, refused) {
            Ok((ExecutionEnd::Exited { code }, frames)) => {
                (ExecutionEnd::Trapped { trap: format!("it exited with code {code} instead of answering") }, frames)
            }
            Ok(ended) => ended,
            Err(error) => return Answered::Machine(error.what),
        };
        run.moment(node, |world, moment| world.program_lost(moment));
        let answered = if matches!(end, ExecutionEnd::Trapped { .. }) { Answered::Down } else { Answered::Over };
        self.down = Some(end.words());
        if self.found.is_none() || answered == Answered::Over {
            self.found = Some((end, frames));
        }
        answered
    }
}

impl Called for Callee {
    fn name(&mut self, function: &str, arguments: &str, expected: Option<&str>) -> Result<Named, String> {
        let place = match self.named.iter().position(|known| known.name == function) {
            Some(place) => place,
            None => {
                let (found, of) = Typed::find_written(&self.program, function)?;
                self.named.push(NamedFunction { name: function.to_owned(), found, of });
                self.named.len() - 1
            }
        };
        let NamedFunction { found, of, .. } = &self.named[place];
        let arguments = wave::read_arguments(arguments, found.params())
            .map_err(|what| format!("the arguments of `{}`: {what}", found.name))?;
        let result = of.results().next();
        let expected = match (expected, &result) {
            (None, _) => None,
            (Some(_), None) => return Err(format!("`{}` gives nothing back, so nothing can be expected", found.name)),
            (Some(text), Some(of)) => Some(
                wave::read_value(text, of).map_err(|what| format!("what is expected of `{}`: {what}", found.name))?,
            ),
        };
        let results = vec![Val::Bool(false); of.results().len()];
        Ok(Named { place: self.functions.len() + place, of: of.clone(), arguments, results, expected })
    }

    fn tell(&self, results: &[Val], expected: Option<&Val>) -> Answer {
        let Some(result) = results.first() else {
            return Answer { wave: String::new(), json: "null".to_owned(), as_expected: true };
        };
        let (wave, json) = (wave::written(result), wave::as_json(result).to_string());
        // By their texts, in which not-a-number is itself.
        let as_expected = expected.is_none_or(|expected| wave::written(expected) == wave);
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
    ) -> Calling<'a> {
        Box::pin(async move {
            if self.down.is_some() {
                return (run, Answered::Down);
            }
            let outcome = match self.open(run, part) {
                Ok(()) => self.attempt(function, arguments, results).await,
                Err(error) => Err(error),
            };
            self.close(outcome)
        })
    }

    fn drop_handle(&mut self, run: Box<Run>, part: DecisionPart, number: u32) -> Calling<'_> {
        Box::pin(async move {
            let Some(resource) = self.handles.dropped(number) else { return (run, Answered::Gone(Gone(number))) };
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

    fn restart(&mut self, run: &mut Run, how: Restart) {
        self.cover(None);
        self.down = None;
        let start = &self.start;
        run.moment(start.id, |world, moment| match how {
            Restart::FromStart => {
                self.handles.begin_again();
                world.begin_again(start, moment);
                world.node_mut(start.id).disk.track_durability(true);
            }
            Restart::Program => world.program_lost(moment),
            Restart::PowerLoss => world.power_loss(moment),
        });
    }

    fn down(&self) -> Option<String> {
        self.down.clone()
    }
}
