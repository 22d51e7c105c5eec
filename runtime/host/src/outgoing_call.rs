//! A component whose exports a guest imports: its target.
//!
//! ```text
//! scenario ─ get("k") ─▶ linked function ─ lends the run ─▶ Called::call: its own store, machine, fuel
//!     ▲                        │ recorded like any import             │ answers, or comes to its end
//!     └──────── "v" ◀──────────┴──────── the run again ◀──────────────┘
//! ```
//!
//! The caller waits in its call, as it does in any that may wait: other guests can have turns meanwhile. There may be several
//! instances of the component, on a machine each; a call is of the one that the caller has selected.
//!
//! Invariants: the run is with exactly one of both; while the target is called, its machine stands for the caller's where
//! it is asked which guests are ready. What crosses are values; a handle crosses as a number (`handles`).
//! Not here: instances of the target, and how their ends are read (`fozzy-engine`).

use crate::bindings::fozzy::target::control;
use crate::call::{GuestStop, Host, Import};
use crate::handles::{StaleHandle, handles, instance_of, numbers, proxy};
use crate::import_numbers::history_name;
use crate::run::Run;
use crate::sync_linker::now;
use crate::values::{ValueList, simplest};
use fozzy_trace::{DecisionPart, NodeId, Record, RunningDigest};
use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use wasmtime::component::types::ComponentFunc;
use wasmtime::component::{Linker, Val};
use wasmtime::{Result, StoreContextMut};

const OUTLIVE: Import = Import::new("fozzy:target/control.outlive");
const INSTANCES: Import = Import::new("fozzy:target/control.instances");
const SELECT: Import = Import::new("fozzy:target/control.select");
const DOWN: Import = Import::new("fozzy:target/control.down");
const RESTART: Import = Import::new("fozzy:target/control.restart");
const CALL: Import = Import::new("fozzy:target/control.call");
const LOSE_POWER: Import = Import::new("fozzy:target/control.lose-power");

/// The result of a call of the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallResult {
    /// It has answered.
    Yes,
    /// The target has ended, now or before; the run can continue.
    Down,
    /// The target has ended, and the run with it.
    Over,
    /// The target was not called: a handle is stale.
    Gone(StaleHandle),
    /// The real machine failed.
    Machine(String),
    /// The run was ended from outside in the middle of the call.
    Interrupted,
}

/// How the target is restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartMode {
    /// Its machine is as it was at the start of the run.
    FromStart,
    /// Its disk stays.
    Program,
    /// Its disk keeps what was durable.
    PowerLoss,
}

/// A call in progress; it resolves to the run and the result.
pub type CallFuture<'a> = Pin<Box<dyn Future<Output = (Box<Run>, CallResult)> + Send + 'a>>;

/// A call of a function by its name.
#[derive(Debug)]
pub struct NamedCall {
    /// Its place among the linked functions.
    pub place: usize,
    /// Its type.
    pub of: ComponentFunc,
    /// Its arguments.
    pub arguments: Vec<Val>,
    /// Space for its results.
    pub results: Vec<Val>,
    /// What is expected of it.
    pub expected: Option<Val>,
}

pub use control::Answer;

/// A component that can be called.
pub trait TargetHost: Send + Any {
    /// Gets a call ready of a function that is known by its name, with arguments and what is expected in WAVE.
    ///
    /// # Errors
    /// When there is no such function, or a text does not fit its type: in words.
    fn name(
        &mut self,
        function: &str,
        arguments: &str,
        expected: Option<&str>,
    ) -> std::result::Result<NamedCall, String>;
    /// The answer of a call by name, as text.
    fn tell(&self, results: &[Val], expected: Option<&Val>) -> Answer;
    /// Its machine.
    fn node(&self) -> NodeId;
    /// Calls the function at this place of those that were linked.
    fn call<'a>(
        &'a mut self,
        run: Box<Run>,
        part: DecisionPart,
        function: usize,
        arguments: &'a [Val],
        results: &'a mut [Val],
    ) -> CallFuture<'a>;
    /// Drops the resource of a handle.
    fn drop_handle(&mut self, run: Box<Run>, part: DecisionPart, number: u32) -> CallFuture<'_>;
    /// Ends the instance; the next call starts another one.
    fn restart(&mut self, run: &mut Run, how: RestartMode);
    /// Why the target is down; `None` while it is up.
    fn down(&self) -> Option<String>;
}

/// The name of a function in the history, and its number.
fn recorded(interface: &str, function: &str) -> (Arc<str>, u32) {
    let name: Arc<str> = history_name(interface, function).into();
    let id = Import::number(&name);
    (name, id)
}

/// The caller for which a target is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallerKind {
    /// One of several guests that take turns.
    OfSeveral,
    /// A guest that is alone, and called from outside.
    Alone,
}

/// Defines a function of an interface: calls go to the function at `place` of the called component. Its type has no handles.
///
/// # Errors
/// When wasmtime refuses the definition.
pub fn link(
    linker: &mut Linker<Host>,
    caller: CallerKind,
    interface: &str,
    function: &str,
    place: usize,
) -> Result<()> {
    let (name, id) = recorded(interface, function);
    if caller == CallerKind::Alone {
        return linker.instance(interface)?.func_new(function, move |mut store, of, arguments, results| {
            now(store.data_mut().call_other(id, &name, place, &of, arguments, results))
        });
    }
    linker.instance(interface)?.func_new_async(function, move |mut store, of, arguments, results| {
        let name = Arc::clone(&name);
        Box::new(async move { store.data_mut().call_other(id, &name, place, &of, arguments, results).await })
    })
}

/// The same for a function whose type has handles.
///
/// # Errors
/// When wasmtime refuses the definition.
pub fn link_with_handles(
    linker: &mut Linker<Host>,
    caller: CallerKind,
    interface: &str,
    function: &str,
    place: usize,
) -> Result<()> {
    let (name, id) = recorded(interface, function);
    if caller == CallerKind::Alone {
        return linker.instance(interface)?.func_new(function, move |store, of, arguments, results| {
            now(call_with_handles(store, (id, &name, place), of, arguments, results))
        });
    }
    linker.instance(interface)?.func_new_async(function, move |store, of, arguments, results| {
        let name = Arc::clone(&name);
        Box::new(async move { call_with_handles(store, (id, &name, place), of, arguments, results).await })
    })
}

async fn call_with_handles(
    mut store: StoreContextMut<'_, Host>,
    (id, name, place): (u32, &str, usize),
    of: ComponentFunc,
    arguments: &[Val],
    results: &mut [Val],
) -> Result<()> {
    let asked = numbers(&mut store, of.params().map(|(_, of)| of), arguments)?;
    let mut answers = results.to_vec();
    store.data_mut().call_other(id, name, place, &of, &asked, &mut answers).await?;
    for ((result, answer), of) in results.iter_mut().zip(answers).zip(of.results()) {
        *result = handles(&mut store, &of, answer)?;
    }
    Ok(())
}

/// Defines a resource of an interface: to drop a handle of it drops the resource in the called component.
///
/// # Errors
/// When wasmtime refuses the definition.
pub fn link_resource(linker: &mut Linker<Host>, caller: CallerKind, interface: &str, resource: &str) -> Result<()> {
    let (name, id) = recorded(interface, &format!("[drop]{resource}"));
    if caller == CallerKind::Alone {
        return linker
            .instance(interface)?
            .resource(resource, proxy(), move |mut store, number| now(store.data_mut().drop_other(id, &name, number)));
    }
    linker.instance(interface)?.resource_async(resource, proxy(), move |mut store, number| {
        let name = Arc::clone(&name);
        Box::new(async move { store.data_mut().drop_other(id, &name, number).await })
    })
}

impl Host {
    /// A call of another component, recorded as what it is: a call of an import.
    async fn call_other(
        &mut self,
        id: u32,
        name: &str,
        place: usize,
        of: &ComponentFunc,
        arguments: &[Val],
        results: &mut [Val],
    ) -> Result<()> {
        let asked = ValueList(arguments);
        let outcome = match self.begin(&asked) {
            Ok(()) => self.pass_on(place, of, arguments, results).await,
            Err(stop) => Err(stop),
        };
        self.end_as(id, name, &asked, outcome.map(|()| ValueList(results)))?;
        Ok(())
    }

    /// Lends the run to the target for the length of the call.
    async fn pass_on(
        &mut self,
        place: usize,
        of: &ComponentFunc,
        arguments: &[Val],
        results: &mut [Val],
    ) -> std::result::Result<(), GuestStop> {
        let called = self.called.get_mut(self.selected).ok_or_else(unlinked)?;
        self.run.world.node_mut(self.node).calling = Some(called.node());
        let (run, answered) = called.call(self.run.take(), self.part, place, arguments, results).await;
        self.run.put(run);
        self.node_mut().calling = None;
        match answered {
            CallResult::Yes => Ok(()),
            CallResult::Down if self.outlives => {
                for (result, of) in results.iter_mut().zip(of.results()) {
                    *result =
                        simplest(&of).ok_or_else(|| misused("it is down, and nothing can stand for a resource"))?;
                }
                Ok(())
            }
            CallResult::Down | CallResult::Over => Err(GuestStop::CalledEnded),
            CallResult::Gone(gone) => Err(misused(&gone.to_string())),
            CallResult::Machine(what) => Err(GuestStop::Machine { what }),
            CallResult::Interrupted => Err(GuestStop::Interrupted),
        }
    }

    /// A call of a function by its name.
    async fn call_named(
        &mut self,
        function: &str,
        arguments: &str,
        expected: Option<&str>,
    ) -> std::result::Result<std::result::Result<Answer, String>, GuestStop> {
        let Some(called) = self.called.get_mut(self.selected) else {
            return Ok(Err("the run has no target; give it one with --target".to_owned()));
        };
        let mut named = match called.name(function, arguments, expected) {
            Ok(named) => named,
            Err(what) => return Ok(Err(what)),
        };
        self.pass_on(named.place, &named.of, &named.arguments, &mut named.results).await?;
        let called = self.called.get(self.selected).ok_or_else(unlinked)?;
        Ok(Ok(called.tell(&named.results, named.expected.as_ref())))
    }

    /// The guest drops a handle of the other component's.
    async fn drop_other(&mut self, id: u32, name: &str, number: u32) -> Result<()> {
        let asked = [Val::U32(number)];
        let outcome = match self.begin(&ValueList(&asked)) {
            Ok(()) => self.pass_on_drop(number).await,
            Err(stop) => Err(stop),
        };
        self.end_as(id, name, &ValueList(&asked), outcome)
    }

    async fn pass_on_drop(&mut self, number: u32) -> std::result::Result<(), GuestStop> {
        let place = instance_of(number, self.called.len());
        let called = self.called.get_mut(place).ok_or_else(unlinked)?;
        self.run.world.node_mut(self.node).calling = Some(called.node());
        let (run, answered) = called.drop_handle(self.run.take(), self.part, number).await;
        self.run.put(run);
        self.node_mut().calling = None;
        match answered {
            CallResult::Yes | CallResult::Gone(_) => Ok(()),
            CallResult::Down if self.outlives => Ok(()),
            CallResult::Down | CallResult::Over => Err(GuestStop::CalledEnded),
            CallResult::Machine(what) => Err(GuestStop::Machine { what }),
            CallResult::Interrupted => Err(GuestStop::Interrupted),
        }
    }

    /// A sequence begins: what the guest calls is as it was at the start.
    pub fn begin_called_again(&mut self) {
        (self.outlives, self.selected) = (false, 0);
        for called in &mut self.called {
            called.restart(&mut self.run, RestartMode::FromStart);
        }
    }

    fn restart_called(&mut self, import: Import, how: RestartMode) -> Result<()> {
        self.call(import, (), |host| {
            let called = host.called.get_mut(host.selected).ok_or_else(|| without(import))?;
            called.restart(&mut host.run, how);
            Ok(())
        })
    }
}

fn unlinked() -> GuestStop {
    GuestStop::Machine { what: "a component was linked with one that is not there".to_owned() }
}

/// A call that the target cannot answer.
fn misused(what: &str) -> GuestStop {
    GuestStop::Misuse { import: "the target", what: what.to_owned() }
}

fn without(import: Import) -> GuestStop {
    GuestStop::Misuse { import: import.name, what: "the run has no target; give it one with --target".to_owned() }
}

impl Record for Answer {
    fn fold(&self, fold: &mut RunningDigest) {
        self.wave.fold(fold);
        self.as_expected.fold(fold);
    }

    fn show(&self, out: &mut String) {
        self.wave.show(out);
        out.push_str(if self.as_expected { "" } else { ", which was not expected" });
    }

    fn payload_bytes(&self) -> u64 {
        (self.wave.len() + self.json.len()) as u64
    }
}

impl control::Host for Host {
    fn outlive(&mut self, yes: bool) -> Result<()> {
        self.call(OUTLIVE, yes, |host| {
            host.outlives = yes;
            Ok(())
        })
    }

    fn instances(&mut self) -> Result<u32> {
        self.call(INSTANCES, (), |host| Ok(host.called.len() as u32))
    }

    fn select(&mut self, instance: u32) -> Result<()> {
        self.call(SELECT, instance, |host| {
            let there = host.called.len();
            if instance as usize >= there {
                let what =
                    format!("there is no instance {instance}: the run has {there}; more come with --target-instances");
                return Err(GuestStop::Misuse { import: SELECT.name, what });
            }
            host.selected = instance as usize;
            Ok(())
        })
    }

    fn down(&mut self) -> Result<Option<String>> {
        self.call(DOWN, (), |host| {
            host.called.get(host.selected).map(|called| called.down()).ok_or_else(|| without(DOWN))
        })
    }

    fn restart(&mut self) -> Result<()> {
        self.restart_called(RESTART, RestartMode::Program)
    }

    fn lose_power(&mut self) -> Result<()> {
        self.restart_called(LOSE_POWER, RestartMode::PowerLoss)
    }

    async fn call(
        &mut self,
        function: String,
        arguments: String,
        expected: Option<String>,
    ) -> Result<std::result::Result<Answer, String>> {
        let asked = (&*function, &*arguments, expected.as_deref());
        let outcome = match self.begin(&asked) {
            Ok(()) => self.call_named(&function, &arguments, expected.as_deref()).await,
            Err(stop) => Err(stop),
        };
        self.end_as(Import::number(CALL.name), CALL.name, &asked, outcome)
    }
}
