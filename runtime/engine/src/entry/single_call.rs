//! Runs of a single exported function: draws its arguments, then calls it.
//!
//! ```text
//! ask   input │ nothing │ arguments │ request        before the guest begins: its first decisions
//! make  fuzz#run │ property#check │ any function │ incoming-handler#handle
//! ```
//!
//! Invariant: whatever is asked is recorded, so that a trace says what was called with what.
//! Not here: the drawing of values (`typed`, `request`), instances (`scenario`).

use crate::compile::program::Program;
use crate::entry::entry_point::{EntryPoint, NumberedInterface};
use crate::entry::request::{self, GeneratedRequest};
use crate::entry::typed::TypedExport;
use crate::run::scenario::{CallMode, ask, function, invalid};
use crate::run::schedule::export;
use fozzy_host::{DecisionDraws, GuestStop, Host, IncomingRequestResource, ResponseOutparamResource};
use fozzy_trace::DecisionSource;
use fozzy_trace::facts::{FailureKind, ReportedFailure};
use fozzy_trace::plan::PlannedCall;
use wasmtime::Store;
use wasmtime::component::{Instance, Resource, Val};

/// The arguments of a single call.
pub(crate) enum CallInput {
    /// A fuzz target.
    Input(Vec<u8>),
    /// A property, which draws what it needs.
    Nothing,
    /// A function.
    Arguments(TypedExport, Vec<Val>),
    /// A handler.
    Request(GeneratedRequest),
}

impl CallInput {
    pub(crate) fn ask(program: &Program, host: &mut Host, call: &PlannedCall) -> wasmtime::Result<CallInput> {
        let name = call.function();
        Ok(match call {
            PlannedCall::Fuzz(_) => CallInput::Input(host.only_input(name)?),
            PlannedCall::Property(_) => {
                host.only_check(name)?;
                CallInput::Nothing
            }
            PlannedCall::Function(_) => {
                let typed = TypedExport::find(program, name).map_err(|why| invalid("call", &why))?;
                let arguments = host.only_arguments(&typed.name, |draws| typed.draw(draws))?;
                CallInput::Arguments(typed, arguments)
            }
            PlannedCall::Http => CallInput::Request(host.only_arguments(name, request::draw)?),
        })
    }

    pub(crate) async fn make(
        self,
        program: &Program,
        store: &mut Store<Host>,
        way: CallMode,
        instance: &Instance,
        call: &PlannedCall,
    ) -> wasmtime::Result<()> {
        match self {
            CallInput::Input(input) => {
                let (interface, make, place) = listed(program, store, way, instance, call).await?;
                let run = function::<(u32, Vec<u8>), ()>(store, instance, &interface, make)?;
                if store.data().run.world.plan.warm_up {
                    way.call(store, &run, (place, Vec::new())).await?;
                }
                way.call(store, &run, (place, input)).await
            }
            CallInput::Nothing => {
                let (interface, make, place) = listed(program, store, way, instance, call).await?;
                let check = function::<(u32,), ()>(store, instance, &interface, make)?;
                way.call(store, &check, (place,)).await
            }
            CallInput::Arguments(typed, arguments) => typed_call(store, way, instance, &typed, &arguments).await,
            CallInput::Request(drawn) => handle(program, store, way, instance, drawn).await,
        }
    }
}

/// What a call is given that is drawn from `source`, for people: arguments in the notation of WAVE, or a request. `None`
/// when nothing is drawn before it.
#[must_use]
pub fn written(program: &Program, searched: &EntryPoint, source: &mut dyn DecisionSource) -> Option<String> {
    let mut draws = DecisionDraws(source);
    match searched {
        EntryPoint::Call(PlannedCall::Function(name)) => {
            Some(TypedExport::find(program, name).ok()?.draw(&mut draws).1)
        }
        EntryPoint::Call(PlannedCall::Http) => Some(request::draw(&mut draws).1),
        EntryPoint::Call(PlannedCall::Fuzz(_) | PlannedCall::Property(_))
        | EntryPoint::Program(_)
        | EntryPoint::Scenario { .. } => None,
    }
}

/// The interface of a fuzz target or property, its function that makes the call, and the place of the target among those that it
/// lists.
async fn listed(
    program: &Program,
    store: &mut Store<Host>,
    way: CallMode,
    instance: &Instance,
    call: &PlannedCall,
) -> wasmtime::Result<(String, &'static str, u32)> {
    let found = program.entries().scenario.of_call(call);
    let what = found.as_ref().map_or("function", |interface| interface.title);
    let missing = || invalid("call", &format!("it has no {what} `{}`", call.function().escape_debug()));
    let NumberedInterface { name, list, call: make, .. } = found.ok_or_else(missing)?;
    let name = name.ok_or_else(missing)?;
    let (listed,) = ask::<(Vec<String>,)>(store, way, instance, name, list).await?;
    let place = listed.iter().position(|name| name == call.function()).ok_or_else(missing)?;
    Ok((name.to_owned(), make, place as u32))
}

/// Calls a function. What it returns is no judgement: also an error is an answer.
pub(crate) async fn typed_call(
    store: &mut Store<Host>,
    way: CallMode,
    instance: &Instance,
    typed: &TypedExport,
    arguments: &[Val],
) -> wasmtime::Result<()> {
    let missing = || wasmtime::Error::msg(format!("the export `{}` is missing", typed.name));
    let function = instance.get_func(&mut *store, typed.export).ok_or_else(missing)?;
    let mut results = vec![Val::Bool(false); typed.results];
    match way {
        CallMode::Alone => function.call(store, arguments, &mut results),
        CallMode::Turns => function.call_async(store, arguments, &mut results).await,
    }
}

/// Has the handler answer a request. Whatever it answers is an answer; to return without one is a failure.
pub(crate) async fn handle(
    program: &Program,
    store: &mut Store<Host>,
    way: CallMode,
    instance: &Instance,
    drawn: GeneratedRequest,
) -> wasmtime::Result<()> {
    type Handle = (Resource<IncomingRequestResource>, Resource<ResponseOutparamResource>);
    let place = export(store, instance, program.entries().handler.as_deref(), "handle")?;
    let handle = instance.get_typed_func::<Handle, ()>(&mut *store, &place)?;
    let received = store.data_mut().receive(drawn.request, drawn.body)?;
    let handles = (Resource::new_own(received.request), Resource::new_own(received.outparam));
    way.call(store, &handle, handles).await?;
    if store.data_mut().has_answered(&received) {
        return Ok(());
    }
    let message = "the handler returned without a response: it never called `response-outparam.set`";
    Err(wasmtime::Error::new(GuestStop::Failed(Box::new(ReportedFailure::new(
        FailureKind::Assertion,
        "response",
        message,
    )))))
}
