//! Runs a program under a plan, once for each call of `execute`.
//!
//! ```text
//! Program + Plan ─▶ Session ─execute(source)─▶ Store { Host { World } } ─▶ wasi:cli/run ─▶ Execution
//! ```
//!
//! Each execution has a store of its own, because a trap poisons its store. Guests run on a fiber, so
//! that the native stack is ours to size.
//!
//! Invariants: an execution depends on program, plan, inputs and source only; whatever fails for
//! reasons of the machine is a [`HarnessError`].
//! Not here: checkpoints, several nodes.

use crate::memory::{self, Region};
use crate::program::Program;
use crate::settings::HOSTCALL_FUEL;
use fozzy_host::{Host, LazyInput, MachineOutOfMemory, Stop, Tee};
use fozzy_trace::outcome::Frame;
use fozzy_trace::plan::Inputs;
use fozzy_trace::{DecisionSource, Digest, End, Execution, Executor, HarnessError, Keep, Plan, Recorder, Sink};
use fozzy_world::{World, WorldError};
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use wasmtime::{Store, Trap};

/// The trap that the rewriter's depth check stands for.
const STACK_EXHAUSTED: &str = "call stack exhausted";

/// A program with a plan, ready to be executed any number of times.
pub struct Session {
    program: Program,
    start: World,
    tee: Option<Tee>,
    sink: Option<Sink>,
    stdin: Option<Arc<LazyInput>>,
}

impl Session {
    /// Prepares the computer that `plan` describes.
    ///
    /// # Errors
    /// When the plan cannot be made into a computer.
    pub fn new(program: Program, plan: Arc<Plan>, inputs: &Inputs) -> Result<Session, WorldError> {
        let start = World::new(plan, inputs)?;
        Ok(Session { program, start, tee: None, sink: None, stdin: None })
    }

    /// Shows what the guest writes in the next execution, as it writes it.
    pub fn watch(&mut self, tee: Tee) {
        self.tee = Some(tee);
    }

    /// Every execution reads standard input from `input` instead of the plan, when its guest first looks at
    /// it. Whoever records the execution adds what was [`LazyInput::taken`] to the plan.
    pub fn read_from(&mut self, input: Arc<LazyInput>) {
        self.stdin = Some(input);
    }

    /// Hands the calls of the next execution's window to `sink` as they happen, instead of keeping them.
    pub fn follow(&mut self, sink: Sink) {
        self.sink = Some(sink);
    }

    /// The program that is executed.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }
}

impl Executor for Session {
    fn execute(&mut self, source: Box<dyn DecisionSource>, keep: Keep) -> Result<Execution, HarnessError> {
        let fuel = self.start.plan.limits.fuel;
        let recorder = Recorder::new(keep).streaming(self.sink.take());
        let host = Host::new(self.start.clone(), source, recorder, self.tee.take()).reading(self.stdin.clone());
        let mut store = Store::new(self.program.engine(), host);
        store.limiter(|host| &mut host.limiter);
        store.set_fuel(fuel).map_err(|error| harness(&error))?;
        store.set_hostcall_fuel(HOSTCALL_FUEL);
        drop(memory::collect());
        let outcome = complete(run(&self.program, &mut store));
        let memories = memory::collect();
        let fuel_used = fuel - store.get_fuel().map_err(|error| harness(&error))?.min(fuel);
        let (end, backtrace) = match outcome {
            Ok(true) => (End::Exited { code: 0 }, Vec::new()),
            Ok(false) => (End::Exited { code: 1 }, Vec::new()),
            Err(error) => self.ending(&error, store.data())?,
        };
        let host = store.into_data();
        let memory_bytes = memories.iter().map(|region| region.bytes().len() as u64).sum();
        Ok(Execution {
            end,
            ended_at: host.world.clock.now(),
            history: host.recorder.finish(),
            stdout: host.world.stdout,
            stderr: host.world.stderr,
            fuel_used,
            memory_bytes,
            memory: memory_digest(&memories),
            backtrace,
        })
    }
}

/// Marks errors from before the program's `run` was called. Without a frame of the guest on the stack, they are
/// not the guest's.
#[derive(Debug)]
struct Instantiating;

impl fmt::Display for Instantiating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the program cannot be started")
    }
}

/// Instantiates and calls `run`; the answer is whether it reported success.
async fn run(program: &Program, store: &mut Store<Host>) -> wasmtime::Result<bool> {
    let instantiated = program.instance().instantiate_async(&mut *store).await;
    let instance = instantiated.map_err(|error| error.context(Instantiating))?;
    let export = |store: &mut Store<Host>, parent: Option<&wasmtime::component::ComponentExportIndex>, name: &str| {
        let found = instance.get_export_index(&mut *store, parent, name);
        found.ok_or_else(|| wasmtime::Error::msg(format!("the export `{name}` is missing")))
    };
    let interface = export(store, None, program.run_interface())?;
    let function = export(store, Some(&interface), "run")?;
    let function = instance.get_typed_func::<(), (Result<(), ()>,)>(&mut *store, &function)?;
    let (result,) = function.call_async(&mut *store, ()).await?;
    Ok(result.is_ok())
}

/// Drives a future on this thread. Nothing in it waits for the real world, so it never pends for long.
fn complete<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

impl Session {
    /// What an error of wasmtime means: the end of the program, or a failure of the harness.
    fn ending(&self, error: &wasmtime::Error, host: &Host) -> Result<(End, Vec<Frame>), HarnessError> {
        let limits = &self.start.plan.limits;
        if let Some(stop) = error.downcast_ref::<Stop>() {
            let quiet = |end| Ok((end, Vec::new()));
            return match stop.clone() {
                Stop::Exit { code } => quiet(End::Exited { code }),
                Stop::Hang(blocked) => Ok((End::Hang { waiting: blocked.waiting }, self.frames(error))),
                Stop::TimeExhausted => {
                    let limit = limits.time.expect("time ran out, so it was bounded");
                    Ok((End::TimeExhausted { limit }, self.frames(error)))
                }
                Stop::FuelExhausted => Ok((End::FuelExhausted { fuel: limits.fuel }, self.frames(error))),
                Stop::Machine { what } => Err(HarnessError { what }),
                Stop::Unsupported { import } => Ok((End::Unsupported { import }, self.frames(error))),
                Stop::Misuse { import, what } => {
                    Ok((End::Trapped { trap: format!("{import}: {what}") }, self.frames(error)))
                }
            };
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => Ok((End::FuelExhausted { fuel: limits.fuel }, self.frames(error))),
            Some(Trap::StackOverflow) => Err(HarnessError {
                what:
                    "the native stack ran out before the guest's depth counter fired; this is a fault of fozzy, please \
                       report it with the program"
                        .to_owned(),
            }),
            Some(trap) => {
                let exhausted = *trap == Trap::UnreachableCodeReached && self.program.symbols().is_depth_check(error);
                let words = if exhausted { STACK_EXHAUSTED.to_owned() } else { words_of(*trap) };
                Ok((End::Trapped { trap: words }, self.frames(error)))
            }
            None if error.downcast_ref::<MachineOutOfMemory>().is_some() => Err(harness(error)),
            None if error.downcast_ref::<Instantiating>().is_some() && self.frames(error).is_empty() => {
                let why = crate::load::one_line(&error.root_cause().to_string());
                let cap = limits.memory_bytes >> 20;
                Err(HarnessError {
                    what: if host.limiter.refused() {
                        format!(
                            "the program needs more memory to start than the {cap} MiB it is given; raise --mem-limit-mb \
                             ({why})"
                        )
                    } else {
                        format!("{Instantiating} on this machine: {why}")
                    },
                })
            }
            None => {
                let trap = crate::load::one_line(&error.root_cause().to_string());
                Ok((End::Trapped { trap }, self.frames(error)))
            }
        }
    }

    fn frames(&self, error: &wasmtime::Error) -> Vec<Frame> {
        self.program.symbols().frames(error)
    }
}

/// wasmtime's words for a trap, without its prefix.
fn words_of(trap: Trap) -> String {
    let words = trap.to_string();
    words.strip_prefix("wasm trap: ").unwrap_or(&words).to_owned()
}

fn harness(error: &wasmtime::Error) -> HarnessError {
    HarnessError { what: crate::load::one_line(&format!("{error:#}")) }
}

/// One digest over all memories, each with its size.
fn memory_digest(memories: &[Arc<Region>]) -> Digest {
    let mut text = String::from("memories 2\n");
    for region in memories {
        text.push_str(&format!("{} {:032x}\n", region.bytes().len(), region.digest()));
    }
    Digest::of(text.as_bytes())
}
