//! Scenarios of steps: the state that they share, and which file does which kind.
//!
//! ```text
//! Step ─▶ State ─┬─ store       keys and values
//!                ├─ files       WASI
//!                ├─ http        wasi:http, fozzy:http rules
//!                ├─ processes   fozzy:process and its rules
//!                ├─ network     messages between named nodes
//!                ├─ memory      allocations that are counted
//!                └─ time        wasi:clocks, fozzy:time
//! ```
//!
//! Invariant: what `assert_throws` runs leaves the state as it was; choices, events and time that passed stay.

mod files;
mod http;
mod memory;
mod network;
mod processes;
mod store;
mod time;

use crate::ScenarioPlayer;
use crate::failure::StepFailure;
use fozzy_scenario_file::{Payload, Step, StepsFile};
use fozzy_sdk::bindings::tools::fozzy::choices::draws;
use fozzy_sdk::tools;
use serde_json::{Value, json};

pub use store::KeyValueStore;

/// Who answers a request or a command that no step of the scenario answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answerer {
    /// No answer: the step fails.
    Nobody,
    /// The rules of the plan.
    Plan,
    /// The real computer, whatever steps say.
    Host,
}

impl Answerer {
    fn of(argument: &str) -> Answerer {
        match crate::told(argument).as_str() {
            "host" => Answerer::Host,
            "nobody" => Answerer::Nobody,
            _ => Answerer::Plan,
        }
    }
}

/// What steps do something to. Cheap to keep and to bring back but for files, which the host keeps.
#[derive(Clone, Default)]
pub struct StepState {
    pub store: store::KeyValueStore,
    pub files: files::FilesState,
    http: http::HttpState,
    processes: processes::ProcessState,
    network: network::NetworkState,
    memory: memory::AllocationState,
    pub time: time::StepClock,
}

/// A file with steps, on its way.
pub struct StepsPlayer {
    steps: Vec<Step>,
    /// The names of all kinds of the file.
    kinds: Vec<String>,
    state: StepState,
}

impl StepsPlayer {
    pub fn new(file: StepsFile) -> StepsPlayer {
        StepsPlayer { steps: file.steps, kinds: crate::kinds(), state: StepState::default() }
    }
}

impl ScenarioPlayer for StepsPlayer {
    fn step(&mut self, number: u32) -> Result<Option<u32>, StepFailure> {
        let place = number as usize;
        let Some(step) = self.steps.get(place) else { return Ok(None) };
        self.state.run(step).map_err(|failure| failure.at(|| format!("steps[{number}]: {}", step.kind())))?;
        Ok(self.kinds.iter().position(|kind| kind == step.kind()).map(|flow| flow as u32))
    }

    fn end(&mut self) -> Result<(), StepFailure> {
        Ok(())
    }
}

impl StepState {
    /// Does a step, and says what it yields: `null` where that is nothing.
    pub fn run_for_value(&mut self, step: &Step) -> Result<Value, StepFailure> {
        Ok(match step {
            Step::RandU64 { key } => self.draw(key.as_deref()).into(),
            Step::GetKvAssert(read) => {
                self.store.check(read)?;
                self.store.get(&read.key).into()
            }
            Step::FsReadAssert { path, equals } => {
                self.files.check(path, equals)?;
                equals.clone().into_json()
            }
            Step::HttpRequest(request) => {
                let http::HttpResponse { status, headers, body } = self.http.request(request, &mut self.store)?;
                let json: Value = serde_json::from_slice(&body).unwrap_or_default();
                let header = |(name, value): (String, Vec<u8>)| {
                    (name.to_ascii_lowercase(), String::from_utf8_lossy(&value).into_owned().into())
                };
                let headers: serde_json::Map<String, Value> = headers.into_iter().map(header).collect();
                json!({ "status": status, "headers": headers, "body": Payload::of(body).into_json(), "json": json })
            }
            Step::ProcSpawn(spawn) => {
                use fozzy_sdk::process::{Output, Status};
                let Output { status, stdout, stderr, .. } = self.processes.spawn(spawn, &mut self.store)?;
                let (code, signal) = match status {
                    Status::Code(code) => (Some(code), None),
                    Status::Signal(signal) => (None, Some(signal)),
                };
                let [stdout, stderr] = [stdout, stderr].map(|bytes| Payload::of(bytes).into_json());
                json!({ "exit_code": code, "signal": signal, "stdout": stdout, "stderr": stderr })
            }
            Step::NetDeliverOne { strategy } => match self.network.deliver(*strategy)? {
                Some(network::NetworkMessage { from, to, payload }) => {
                    json!({ "from": from, "to": to, "payload": payload.into_json() })
                }
                None => Value::Null,
            },
            Step::MemoryAlloc { bytes, key, tag } => self.memory.alloc(*bytes, key.as_deref(), tag.as_deref())?.into(),
            step => {
                self.run(step)?;
                Value::Null
            }
        })
    }

    fn draw(&mut self, key: Option<&str>) -> u64 {
        // The simplest answer is the smallest number, which is to be 0.
        let drawn = draws::int("rand_u64", i64::MIN, i64::MAX).cast_unsigned() ^ (1 << 63);
        if let Some(key) = key {
            self.store.set(key, &drawn.to_string());
        }
        drawn
    }

    pub fn run(&mut self, step: &Step) -> Result<(), StepFailure> {
        match step {
            Step::TraceEvent { name, fields } => {
                let fields =
                    if fields.is_empty() { String::new() } else { serde_json::to_string(fields).unwrap_or_default() };
                tools::event(name, &fields);
                Ok(())
            }
            Step::RandU64 { key } => {
                self.draw(key.as_deref());
                Ok(())
            }
            Step::AssertOk { value, msg } => holds(*value, msg, || "the value is false".to_owned()),
            Step::AssertEqInt { a, b, msg } => holds(a == b, msg, || format!("{a} and {b} differ")),
            Step::AssertNeInt { a, b, msg } => holds(a != b, msg, || format!("both are {a}")),
            Step::AssertEqStr { a, b, msg } => holds(a == b, msg, || format!("{a:?} and {b:?} differ")),
            Step::AssertNeStr { a, b, msg } => holds(a != b, msg, || format!("both are {a:?}")),
            Step::Sleep { duration } => self.time.sleep(*duration),
            Step::Advance { duration } => self.time.advance(*duration),
            Step::Freeze { at_ms } => self.time.freeze(*at_ms),
            Step::Unfreeze {} => self.time.unfreeze(),
            Step::SetKv { key, value } => {
                self.store.set(key, value);
                Ok(())
            }
            Step::GetKvAssert(read) => self.store.check(read),
            Step::AssertEventuallyKv(poll) => self.store.eventually(poll, &mut self.time),
            Step::AssertNeverKv(poll) => self.store.never(poll, &mut self.time),
            Step::FsWrite { path, data } => self.files.write(path, data),
            Step::FsReadAssert { path, equals } => self.files.check(path, equals),
            Step::FsSnapshot { name } => self.files.snapshot(name),
            Step::FsRestore { name } => self.files.restore(name),
            Step::HttpWhen(when) => self.http.when(when),
            Step::HttpRequest(request) => self.http.request(request, &mut self.store).map(drop),
            Step::ProcWhen(when) => {
                self.processes.when(when);
                Ok(())
            }
            Step::ProcSpawn(spawn) => self.processes.spawn(spawn, &mut self.store).map(drop),
            Step::NetPartition { a, b } => {
                self.network.partition(a, b);
                Ok(())
            }
            Step::NetHeal { a, b } => {
                self.network.heal(a, b);
                Ok(())
            }
            Step::NetSetDropRate { rate } => {
                self.network.drop_rate = *rate;
                Ok(())
            }
            Step::NetSetReorder { enabled } => {
                self.network.reorders = *enabled;
                Ok(())
            }
            Step::NetSend { from, to, payload } => {
                self.network.send(from, to, payload);
                Ok(())
            }
            Step::NetDeliverOne { strategy } => self.network.deliver(*strategy).map(drop),
            Step::NetRecvAssert { node, from, payload } => self.network.receive(node, from.as_deref(), payload),
            Step::MemoryAlloc { bytes, key, tag } => {
                self.memory().alloc(*bytes, key.as_deref(), tag.as_deref()).map(drop)
            }
            Step::MemoryFree(which) => self.memory().free(which),
            Step::MemoryLimitMb { mb } => {
                self.memory().limit = Some(mb.saturating_mul(1 << 20));
                Ok(())
            }
            Step::MemoryFailAfterAllocs { count } => {
                self.memory().last = Some(*count);
                Ok(())
            }
            Step::MemoryFragmentation { seed } => {
                self.memory().fragmentation = Some(*seed);
                Ok(())
            }
            Step::MemoryPressureWave { pattern } => {
                self.memory().wave = Step::wave(pattern).unwrap_or_default();
                Ok(())
            }
            Step::MemoryCheckpoint { name } => {
                tools::event("memory_checkpoint", &format!("{name}: bytes in use: {}", self.memory().in_use()));
                Ok(())
            }
            Step::MemoryAssertInUseBytes { equals } => {
                let found = self.memory().in_use();
                holds(found == *equals, &None, || format!("bytes in use: expected {equals}, found {found}"))
            }
            Step::AssertThrows { steps } | Step::AssertRejects { steps } => self.throws(steps),
            Step::Fail { message } => Err(StepFailure::new(message)),
            Step::Panic { message } => Err(StepFailure::panic(message)),
        }
    }

    fn memory(&mut self) -> &mut memory::AllocationState {
        self.memory.begin();
        &mut self.memory
    }

    /// One of the steps must fail; what they did to the state is taken back.
    fn throws(&mut self, steps: &[Step]) -> Result<(), StepFailure> {
        let keeps_files = steps.iter().any(touches_files);
        let before = self.keep(keeps_files)?;
        let failed = steps.iter().find_map(|step| self.run(step).err().map(|failure| (step.kind(), failure)));
        self.bring_back(before, keeps_files)?;
        match failed {
            Some((kind, failure)) => {
                tools::event("threw", &format!("{kind}: {}", failure.what));
                Ok(())
            }
            None => Err(StepFailure::new("expected a failure, and every step passed")),
        }
    }
}

impl StepState {
    /// What steps that must fail are going to change.
    pub fn keep(&mut self, keeps_files: bool) -> Result<StepState, StepFailure> {
        let before = self.clone();
        if keeps_files {
            self.files.keep()?;
        }
        Ok(before)
    }

    /// Afterwards everything is as it was.
    pub fn bring_back(&mut self, before: StepState, keeps_files: bool) -> Result<(), StepFailure> {
        self.memory.give_back(&before.memory);
        let now = std::mem::replace(self, before);
        if keeps_files {
            self.files.bring_back(now.files)?;
        }
        self.time.go_on(now.time);
        Ok(())
    }
}

fn touches_files(step: &Step) -> bool {
    matches!(step, Step::FsWrite { .. } | Step::FsRestore { .. } | Step::FsSnapshot { .. })
        || step.inner().iter().any(touches_files)
}

fn holds(holds: bool, msg: &Option<String>, what: impl FnOnce() -> String) -> Result<(), StepFailure> {
    if holds { Ok(()) } else { Err(StepFailure::said(msg.as_deref(), what())) }
}
