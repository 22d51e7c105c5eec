//! A model of a user's own: a component that exports `fozzy:model/sequential`, called in the sandbox.
//!
//! ```text
//! counter.wasm ─▶ compile ─▶ Reactor ─▶ init, step, partition, readonly, describe
//! ```
//!
//! Invariants: the component runs on a simulated computer with a fixed seed, without files, under an instruction budget; its state is
//! set back again and again, so that what it keeps between calls is of no use to it.
//! Not here: how its answers become a verdict (`fozzy_check::ProgramModel`).

use crate::compile::build::Build;
use crate::compile::cache::Cache;
use crate::compile::program::Program;
use crate::compile::settings::Switches;
use crate::reactor::{CallError, Reactor, ReactorFunction};
use fozzy_trace::plan::Inputs;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{CheckpointId, ExecutionEnd, ModelProgram, ModelPrograms, Plan, ProgramCall, Seed, SharedModel};
use std::sync::{Arc, Mutex};

/// The interface that a model exports.
pub const MODEL_INTERFACE: &str = "fozzy:model/sequential@0.1.0";
/// Calls after which it is set back to its beginning.
const CALLS_PER_STATE: u32 = 256;
/// The budget of instructions of all calls: some seconds.
const FUEL: u64 = 10_000_000_000;
type Init = ReactorFunction<(), (String,)>;
type Step = ReactorFunction<(String, i64, String, Option<String>, String, Option<String>), (Vec<String>,)>;
type Partition = ReactorFunction<(String, Option<String>, String), (Option<String>,)>;
type Readonly = ReactorFunction<(String, Option<String>, String), (bool,)>;
type Describe = ReactorFunction<(String,), (String,)>;

/// A component that is a model.
pub struct ModelComponent {
    reactor: Reactor,
    base: CheckpointId,
    calls: u32,
    functions: Functions,
}

struct Functions {
    init: Init,
    step: Step,
    partition: Partition,
    readonly: Readonly,
    describe: Describe,
}

impl ModelComponent {
    /// Compiles and starts a component.
    ///
    /// # Errors
    /// When it is no model, in a sentence.
    pub fn start(component: Arc<[u8]>, cache: Option<&Cache>) -> Result<ModelComponent, String> {
        let refused = |error: &dyn std::fmt::Display| error.to_string();
        let program = Program::build(component, Switches::default(), &Build::exact(), cache);
        let program = program.map_err(|error| refused(&error))?;
        let mut plan = Plan::default();
        plan.limits.fuel = FUEL;
        let source = Box::new(SeededSource::new(Seed(0)));
        let started = Reactor::start(program, Arc::new(plan), &Inputs::default(), source);
        let mut reactor = started.map_err(|error| refused(&error))?;
        let functions = Functions::of(&mut reactor).map_err(|error| refused(&error))?;
        let base = reactor.checkpoint().map_err(|error| refused(&error))?;
        Ok(ModelComponent { reactor, base, calls: 0, functions })
    }

    /// Sets it back to its beginning.
    fn begin(&mut self) -> Result<(), String> {
        self.calls = 0;
        self.reactor.restore(self.base).map(drop).map_err(|error| error.to_string())
    }

    /// Makes room for one more call.
    fn prepare(&mut self) -> Result<(), String> {
        self.calls += 1;
        if self.calls < CALLS_PER_STATE { Ok(()) } else { self.begin() }
    }
}

impl Functions {
    fn of(reactor: &mut Reactor) -> Result<Functions, CallError> {
        let name = |function: &str| format!("{MODEL_INTERFACE}#{function}");
        Ok(Functions {
            init: reactor.function(&name("init"))?,
            step: reactor.function(&name("step"))?,
            partition: reactor.function(&name("partition"))?,
            readonly: reactor.function(&name("readonly"))?,
            describe: reactor.function(&name("describe"))?,
        })
    }
}

/// What went wrong in a function, in a sentence.
fn failed(function: &'static str) -> impl Fn(CallError) -> String {
    move |error| match error {
        CallError::Ended { end: ExecutionEnd::FuelExhausted { .. }, .. } => {
            format!("`{function}` did not come to an end within {FUEL} instructions")
        }
        CallError::Ended { end, .. } => format!("`{function}` {}", end.words()),
        other => format!("`{function}`: {other}"),
    }
}

impl ModelProgram for ModelComponent {
    fn init(&mut self) -> Result<String, String> {
        self.begin()?;
        self.reactor.call(&mut self.functions.init, ()).map(|(state,)| state).map_err(failed("init"))
    }

    fn step(&mut self, state: &str, call: &ProgramCall) -> Result<Vec<String>, String> {
        self.prepare()?;
        let ProgramCall { process, name, key, input, output } = call.clone();
        let given = (state.to_owned(), process, name, key, input, output);
        self.reactor.call(&mut self.functions.step, given).map(|(states,)| states).map_err(failed("step"))
    }

    fn partition(&mut self, call: &ProgramCall) -> Result<Option<String>, String> {
        self.prepare()?;
        let given = (call.name.clone(), call.key.clone(), call.input.clone());
        self.reactor.call(&mut self.functions.partition, given).map(|(part,)| part).map_err(failed("partition"))
    }

    fn is_readonly(&mut self, call: &ProgramCall) -> Result<bool, String> {
        self.prepare()?;
        let given = (call.name.clone(), call.key.clone(), call.input.clone());
        self.reactor.call(&mut self.functions.readonly, given).map(|(is,)| is).map_err(failed("readonly"))
    }

    fn describe(&mut self, state: &str) -> Result<String, String> {
        self.prepare()?;
        let given = (state.to_owned(),);
        self.reactor.call(&mut self.functions.describe, given).map(|(words,)| words).map_err(failed("describe"))
    }
}

/// A model that is started when it is asked first: most runs of a search have nothing to judge.
enum PlannedModel {
    Waiting(Arc<[u8]>, Option<Cache>),
    Started(Box<ModelComponent>),
    Refused(String),
}

impl PlannedModel {
    fn started(&mut self) -> Result<&mut ModelComponent, String> {
        if let PlannedModel::Waiting(component, cache) = self {
            *self = match ModelComponent::start(Arc::clone(component), cache.as_ref()) {
                Ok(model) => PlannedModel::Started(Box::new(model)),
                Err(why) => PlannedModel::Refused(format!("it is no model: {why}")),
            };
        }
        match self {
            PlannedModel::Started(model) => Ok(model),
            PlannedModel::Refused(why) => Err(why.clone()),
            PlannedModel::Waiting(..) => unreachable!("it was started"),
        }
    }
}

impl ModelProgram for PlannedModel {
    fn init(&mut self) -> Result<String, String> {
        self.started()?.init()
    }

    fn step(&mut self, state: &str, call: &ProgramCall) -> Result<Vec<String>, String> {
        self.started()?.step(state, call)
    }

    fn partition(&mut self, call: &ProgramCall) -> Result<Option<String>, String> {
        self.started()?.partition(call)
    }

    fn is_readonly(&mut self, call: &ProgramCall) -> Result<bool, String> {
        self.started()?.is_readonly(call)
    }

    fn describe(&mut self, state: &str) -> Result<String, String> {
        self.started()?.describe(state)
    }
}

/// The models of a plan whose components are there.
pub(crate) fn planned_models(plan: &Plan, inputs: &Inputs, cache: Option<&Cache>) -> ModelPrograms {
    let components = plan.history.iter().filter_map(|criterion| criterion.component);
    let model = |digest| {
        let model: SharedModel = Arc::new(Mutex::new(PlannedModel::Waiting(inputs.get(&digest)?, cache.cloned())));
        Some((digest, model))
    };
    components.filter_map(model).collect()
}
