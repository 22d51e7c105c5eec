//! A model of a user's own: a component that exports `fozzy:model/sequential`, called in the sandbox.
//!
//! ```text
//! --model counter.wasm ─▶ load ─▶ compile ─▶ Reactor ─▶ init, step, partition, readonly, describe
//! ```
//!
//! Invariants: the component runs on a simulated computer with a fixed seed, without files, under an instruction budget; its state is
//! set back again and again, so that what it keeps between calls is of no use to it.
//! Not here: how its answers become a verdict (`fozzy_check::ProgramModel`).

use crate::error::{CampaignError, ErrorKind};
use crate::pipeline::{cache, load};
use crate::remarks::Remarks;
use fozzy_check::{ModelProgram, ProgramCall};
use fozzy_engine::{Build, CallError, Program, Reactor, ReactorFunction, Switches};
use fozzy_trace::plan::Inputs;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{CheckpointId, ExecutionEnd, Plan, Seed};
use std::path::Path;
use std::sync::Arc;

/// The interface that a model exports.
const INTERFACE: &str = "fozzy:model/sequential@0.1.0";
/// Calls after which it is set back to its beginning.
const CALLS_PER_STATE: u32 = 256;
/// The budget of instructions of all calls: some seconds.
const FUEL: u64 = 10_000_000_000;
/// Endings of files that are models of a user's own.
const ENDINGS: [&str; 2] = [".wasm", ".wat"];

type Init = ReactorFunction<(), (String,)>;
type Step = ReactorFunction<(String, i64, String, Option<String>, String, Option<String>), (Vec<String>,)>;
type Partition = ReactorFunction<(String, Option<String>, String), (Option<String>,)>;
type Readonly = ReactorFunction<(String, Option<String>, String), (bool,)>;
type Describe = ReactorFunction<(String,), (String,)>;

/// Whether the name of a model is the path of a component.
pub(crate) fn is_component(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending)) || name.contains('/')
}

/// A component that is a model.
pub(crate) struct ModelComponent {
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
    /// Loads and starts the component at a path, or of the crate in a folder.
    ///
    /// # Errors
    /// When there is none, or it is no model.
    pub(crate) fn load(path: &Path, remarks: &Remarks) -> Result<ModelComponent, CampaignError> {
        let loaded = load(path, remarks)?;
        let refused = |why: String| {
            CampaignError::new(ErrorKind::Target, format!("{}: {why}", path.display()))
                .hint(format!("a model exports {INTERFACE}; `fozzy inspect` shows what a component exports"))
        };
        let (build, cache) = (Build::exact(), cache());
        let switches = Switches::default();
        let program = Program::build(Arc::clone(&loaded.component), switches, &build, cache.as_ref());
        let program = program.map_err(|error| refused(error.to_string()))?;
        let mut plan = Plan::default();
        plan.limits.fuel = FUEL;
        let source = Box::new(SeededSource::new(Seed(0)));
        let started = Reactor::start(program, Arc::new(plan), &Inputs::default(), source);
        let mut reactor = started.map_err(|error| refused(error.to_string()))?;
        let functions = Functions::of(&mut reactor).map_err(|error| refused(error.to_string()))?;
        let base = reactor.checkpoint().map_err(|error| refused(error.to_string()))?;
        Ok(ModelComponent { reactor, base, calls: 0, functions })
    }

    /// Makes room for one more call.
    fn prepare(&mut self) -> Result<(), String> {
        self.calls += 1;
        if self.calls.is_multiple_of(CALLS_PER_STATE) {
            self.reactor.restore(self.base).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

impl Functions {
    fn of(reactor: &mut Reactor) -> Result<Functions, CallError> {
        let name = |function: &str| format!("{INTERFACE}#{function}");
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
        self.prepare()?;
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
