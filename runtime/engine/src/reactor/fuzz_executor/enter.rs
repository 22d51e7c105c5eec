//! Calls the entry point of a campaign, once for each execution.
//!
//! ```text
//! fuzz             the input is put into the accessor's memory, which calls the target; or as a property
//! property         typed call of the SDK's interfaces
//! function, http   arguments are drawn, recorded, passed
//! program          the input is put onto its computer; `wasi:cli/run`, and the end of a run
//! scenario         begin-sequence, all steps, end-sequence
//! ```
//!
//! Invariant: an entry leaves nothing behind that a restore does not take away.
//! Not here: the runs that can be recorded, which make the same calls (`single_call`, `scenario`, `schedule`).

use super::{ExecutorError, names};
use crate::entry::entry_point::{EntryPoint, InputDelivery, NumberedInterface};
use crate::entry::request;
use crate::entry::single_call::{handle, typed_call};
use crate::entry::typed::TypedExport;
use crate::reactor::{CallError, Reactor, ReactorFunction};
use crate::run::scenario::{CallMode, ScenarioInfo, now, steps};
use crate::run::schedule::outage;
use fozzy_trace::ExecutionEnd;
use fozzy_trace::plan::PlannedCall;
use std::sync::Arc;

/// A way into a component.
pub(super) enum EntryCall {
    Fuzz { run: ReactorFunction<(u32, Arc<[u8]>), ()>, place: u32 },
    Property { check: ReactorFunction<(u32,), ()>, place: u32 },
    Function(TypedExport),
    Http,
    Program { run: ReactorFunction<(), (Result<(), ()>,)>, delivery: InputDelivery },
    Scenario { interface: String, flows: u32 },
}

impl EntryCall {
    /// The way into the component of `reactor`, which has done nothing yet.
    pub(super) fn find(reactor: &mut Reactor, searched: &EntryPoint) -> Result<EntryCall, ExecutorError> {
        let program = reactor.program().clone();
        let entries = program.entries();
        let missing = |what: &str| ExecutorError::Entry(format!("it does not export `{what}`"));
        Ok(match searched {
            EntryPoint::Call(call @ (PlannedCall::Fuzz(_) | PlannedCall::Property(_))) => {
                let listed = names(reactor, call)?;
                let found = entries.scenario.of_call(call);
                let what = found.as_ref().map_or("function", |interface| interface.title);
                let missing = || ExecutorError::Missing { what, name: call.function().to_owned() };
                let place = listed.iter().position(|name| name == call.function()).ok_or_else(missing)? as u32;
                let NumberedInterface { name, call: make, .. } = found.ok_or_else(missing)?;
                let function = format!("{}#{make}", name.ok_or_else(missing)?);
                match call {
                    PlannedCall::Fuzz(_) => EntryCall::Fuzz { run: reactor.function(&function)?, place },
                    _ => EntryCall::Property { check: reactor.function(&function)?, place },
                }
            }
            EntryPoint::Call(PlannedCall::Function(name)) => {
                EntryCall::Function(TypedExport::find(&program, name).map_err(ExecutorError::Entry)?)
            }
            EntryPoint::Call(PlannedCall::Http) => {
                entries.handler.as_ref().ok_or_else(|| missing("wasi:http/incoming-handler"))?;
                EntryCall::Http
            }
            EntryPoint::Program(delivery) => {
                let interface = entries.run.as_ref().ok_or_else(|| missing("wasi:cli/run"))?;
                EntryCall::Program { run: reactor.function(&format!("{interface}#run"))?, delivery: delivery.clone() }
            }
            EntryPoint::Scenario { flows } => {
                let interface = entries.scenario.stateful.clone();
                let interface = interface.ok_or_else(|| missing("fozzy:scenario/stateful"))?;
                let mut describe = reactor.function::<(), (ScenarioInfo,)>(&format!("{interface}#describe"))?;
                let (info,) = reactor.call(&mut describe, ())?;
                let stats = info.stats().map_err(|error| ExecutorError::Entry(error.to_string()))?;
                reactor.change(|world| world.facts.scenario = Some(stats));
                EntryCall::Scenario { interface, flows: *flows }
            }
        })
    }

    /// The call before all others, if the plan has one.
    pub(super) fn warm_up(&mut self, reactor: &mut Reactor) -> Result<(), CallError> {
        match self {
            // A restore may have to repeat it.
            EntryCall::Fuzz { run, place } if reactor.world().plan.warm_up => {
                reactor.call(run, (*place, Arc::default()))
            }
            _ => Ok(()),
        }
    }

    /// Makes the call, after which only a restore may follow. The answer is how the guest ended, if it returned with a result that means
    /// an end.
    pub(super) fn call(&mut self, reactor: &mut Reactor, input: &[u8]) -> Result<Option<ExecutionEnd>, CallError> {
        match self {
            EntryCall::Fuzz { run, place } => {
                let finished = reactor.finish_with_input(*place, input);
                finished.unwrap_or_else(|| reactor.call_last(run, (*place, Arc::from(input)))).map(|()| None)
            }
            EntryCall::Property { check, place } => reactor.call_last(check, (*place,)).map(|()| None),
            EntryCall::Function(typed) => reactor
                .finish(|store, instance| {
                    let arguments = store.data_mut().only_arguments(&typed.name, |draws| typed.draw(draws))?;
                    now(typed_call(store, CallMode::Alone, instance, typed, &arguments))
                })
                .map(|()| None),
            EntryCall::Http => {
                let program = reactor.program().clone();
                let name = PlannedCall::Http;
                reactor
                    .finish(|store, instance| {
                        let drawn = store.data_mut().only_arguments(name.function(), request::draw)?;
                        now(handle(&program, store, CallMode::Alone, instance, drawn))
                    })
                    .map(|()| None)
            }
            EntryCall::Program { run, delivery } => {
                reactor.change(|world| delivery.give(world, input))?;
                let (result,) = reactor.run_to_end(run, ())?;
                Ok(result.is_err().then_some(ExecutionEnd::Exited { code: 1 }))
            }
            EntryCall::Scenario { interface, flows } => reactor
                .finish(|store, instance| {
                    let stretches = [(0, *flows)];
                    let stepped = now(steps(store, CallMode::Alone, instance, interface, None, 0, &stretches));
                    // A loss of power or a restart ends the sequence, and is no failure.
                    stepped.or_else(|error| if outage(&error).is_some() { Ok(()) } else { Err(error) })
                })
                .map(|()| None),
        }
    }
}
