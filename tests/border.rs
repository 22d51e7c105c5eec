//! The border between guest and host, fuzzed: programs of any host calls with any arguments.
//!
//! ```text
//! number ─▶ program (bytes) ─stdin─▶ guest that performs it ─▶ Session ─▶ Execution
//!                                                                 no panic, no error of the harness, memory bounded,
//!                                                                 the same twice, a trace that reads back and replays
//! ```
//!
//! The functions are those of the vendored WIT, so an interface that is added to the world is fuzzed from then on.
//! `FOZZY_LONG=1` runs more of them, `FOZZY_BORDER=<number>` one, and prints its calls.
//!
//! Not here: whether an answer is right (`conformance`), bytes that are no component (`bad_input`).

mod guest;
mod hostile;
mod program;
mod vocabulary;

use crate::alone;
use fozzy_check::judge;
use fozzy_engine::{Program, Session, Switches};
use fozzy_search::replay;
use fozzy_trace::file::{EngineId, RecordedOutcome, RecordedTarget, Recording};
use fozzy_trace::plan::{Backends, FaultPlan, Inputs, Limits, MachinePlan, Mount, MountEntry, MountKind, StdinPlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Digest, Duration, Execution, ExecutionEnd, Executor, HistoryWindow, Plan, Seed};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use vocabulary::Vocabulary;

/// Programs that every run of the tests performs, twice each.
const PROGRAMS: u64 = 400;
/// Programs under `FOZZY_LONG=1`.
const PROGRAMS_LONG: u64 = 20_000;
/// What the process may reach at its height, in bytes, whatever a guest does: a disk, four outputs, and the compiler.
const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Bytes on the disk of a program: so few that it fills up.
const DISK_BYTES: u64 = 256 << 10;
/// Instructions and work of the host for one program.
const FUEL: u64 = 20_000_000;
/// Each kind of fault strikes one in so many operations, in millionths, in every second program.
const FAULT_RATE_PPM: u32 = 30_000;

/// The guest, compiled.
pub(crate) struct Border {
    vocabulary: Vocabulary,
    program: Program,
}

impl Border {
    pub(crate) fn new() -> Border {
        let vocabulary = Vocabulary::new();
        let component = guest::component(&vocabulary);
        let switches = Switches::of(&Plan::default());
        let program = Program::new(component.into(), switches, None).expect("the guest compiles");
        Border { vocabulary, program }
    }

    /// The program of that number: two random ones, then a mutation.
    pub(crate) fn bytes(&self, number: u64) -> Vec<u8> {
        match number % 3 {
            2 => program::mutated(&program::random(&self.vocabulary, number - 1), number),
            _ => program::random(&self.vocabulary, number),
        }
    }

    /// The computer that a program meets, with faults or without.
    fn plan(&self, program: &[u8], faults: bool, inputs: &mut Inputs) -> Plan {
        let entry = |path: &str, kind| MountEntry { path: path.to_owned(), kind };
        let content = inputs.add(b"content\n".repeat(100));
        let entries = vec![
            entry("a", MountKind::File(content)),
            entry("d", MountKind::Directory),
            entry("d/a", MountKind::File(content)),
            entry("link", MountKind::Link("d/a".to_owned())),
        ];
        let main = MachinePlan {
            args: vec!["guest".to_owned(), "argument".to_owned()],
            env: vec![("A".to_owned(), "1".to_owned())],
            stdin: StdinPlan { bytes: inputs.add(program.to_vec()), stays_open: false, channel: None },
            dirs: vec![Mount { guest: "/data".to_owned(), entries }],
            ..MachinePlan::default()
        };
        let fault = |kind: &&fozzy_world::fault::FaultKind| FaultPlan {
            kind: kind.name.to_owned(),
            target: "*".to_owned(),
            rate_ppm: FAULT_RATE_PPM,
            start: Duration(0),
            length: None,
            strength: None,
            times: None,
            nemesis: None,
        };
        let faults = if faults { fozzy_world::fault::FAULTS.iter().map(fault).collect() } else { Vec::new() };
        let limits = Limits { fuel: FUEL, disk_bytes: DISK_BYTES, ..Limits::default() };
        Plan { main, limits, faults, backends: Backends::default(), ..Plan::default() }
    }

    /// A session for one program.
    pub(crate) fn session(&self, program: &[u8], faults: bool) -> (Session, Plan, Inputs) {
        let mut inputs = Inputs::default();
        let plan = self.plan(program, faults, &mut inputs);
        let session = Session::new(self.program.clone(), Arc::new(plan.clone()), &inputs).expect("a plain plan");
        (session, plan, inputs)
    }

    /// Everything that must hold of a program; the execution.
    fn check(&self, number: u64, program: &[u8]) -> Execution {
        let (mut session, plan, inputs) = self.session(program, number % 2 == 1);
        let mut execute = |keep: HistoryWindow| {
            session
                .execute(Box::new(SeededSource::new(Seed(number))), keep)
                .unwrap_or_else(|error| panic!("harness: {error}"))
        };
        let (first, second) = (execute(0..u64::MAX), execute(0..u64::MAX));
        let outcome = |execution: &Execution| RecordedOutcome::of(execution, judge(execution));
        assert_eq!(outcome(&first), outcome(&second), "two executions differ");
        assert_eq!(first.history, second.history, "two histories differ");
        let component = Arc::clone(self.program.component());
        let target =
            RecordedTarget { name: "border".to_owned(), source: Digest::of(&component), kind: "component".to_owned() };
        let (fozzy, wasmtime, configuration) = (String::new(), String::new(), Digest::of(b""));
        let engine = EngineId { fozzy, wasmtime, rewriter: 1, configuration };
        let verdict = judge(&first);
        let recording = Recording::of(target, component, plan, &inputs, engine, &first, verdict, Seed(number), "run");
        let bytes = recording.to_bytes().expect("a small recording is within all bounds");
        let read = Recording::read(&bytes).unwrap_or_else(|error| panic!("its trace does not read: {error}"));
        assert_eq!(read, recording, "its trace reads differently");
        let replayed = replay(&read, &mut session, 0..0).unwrap_or_else(|error| panic!("harness: {error}"));
        assert_eq!(replayed.difference, None, "its replay is another run");
        first
    }
}

fn lines(execution: &Execution) -> String {
    let entries = execution.history.entries.iter();
    let lines = entries.map(|entry| format!("{} {}({}) -> {}\n", entry.index, entry.call, entry.asked, entry.answer));
    lines.collect()
}

/// The height of this process's memory, in bytes.
fn memory_peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux counts it");
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").trim().parse().expect("a number");
    kilobytes << 10
}

/// Which calls were made, and how programs ended.
#[derive(Default)]
struct Seen {
    calls: BTreeMap<String, u64>,
    ends: BTreeMap<&'static str, u64>,
}

impl Seen {
    fn add(&mut self, execution: &Execution) {
        for entry in &execution.history.entries {
            *self.calls.entry(entry.call.clone()).or_default() += 1;
        }
        let end = match execution.end {
            ExecutionEnd::Exited { .. } => "exited",
            ExecutionEnd::Trapped { .. } => "trapped",
            ExecutionEnd::MemoryError { .. } => "memory error",
            ExecutionEnd::Hang { .. } => "hang",
            ExecutionEnd::FuelExhausted { .. } => "fuel",
            ExecutionEnd::TimeExhausted { .. } => "time",
            ExecutionEnd::Failed { .. } => "failed",
            ExecutionEnd::CalledEnded => "called ended",
            ExecutionEnd::PeerEnded { .. } => "peer ended",
            ExecutionEnd::Killed => "killed",
            ExecutionEnd::Diverged { .. } => "diverged",
        };
        *self.ends.entry(end).or_default() += 1;
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "how many programs ran, for a reader of the log, and what one of them did")]
fn child() {
    if alone::role().is_none() {
        return;
    }
    let border = Border::new();
    if let Ok(number) = std::env::var("FOZZY_BORDER") {
        let number = number.parse().expect("FOZZY_BORDER is the number of a program");
        let execution = border.check(number, &border.bytes(number));
        println!("{}{:?}", lines(&execution), execution.end);
        return;
    }
    let long = std::env::var_os("FOZZY_LONG").is_some();
    let programs = if long { PROGRAMS_LONG } else { PROGRAMS };
    let mut seen = Seen::default();
    for number in 0..programs {
        let bytes = border.bytes(number);
        match catch_unwind(AssertUnwindSafe(|| border.check(number, &bytes))) {
            Ok(execution) => seen.add(&execution),
            Err(_) => panic!("program {number}; to see it: FOZZY_BORDER={number} cargo test -p fozzy-tests border"),
        }
    }
    let peak = memory_peak();
    println!("border: {programs} programs, {:?}, {} MiB at the height", seen.ends, peak >> 20);
    assert!(peak < MEMORY_BYTES_MAX, "memory went up to {peak} bytes");
    // That the programs do what they are for: many end by themselves, judged by them or not, and most functions are called. (Some need a handle that
    // only a rule, a network peer or a failure hands out.)
    let by_themselves: u64 = ["exited", "failed"].iter().filter_map(|end| seen.ends.get(end)).sum();
    assert!(by_themselves > programs / 4, "{:?}", seen.ends);
    let names = border.vocabulary.functions().map(|(call, _)| border.vocabulary.calls[usize::from(call)].name());
    let (called, never): (Vec<String>, Vec<String>) = names.partition(|name| seen.calls.contains_key(name));
    println!("border: {} functions called, never: {never:?}", called.len());
    assert!(called.len() > 4 * never.len(), "never called: {never:?}");
}

#[test]
#[allow(clippy::print_stdout, reason = "the child's count, for a reader of the log")]
fn programs_of_any_calls_neither_break_the_host_nor_differ() {
    let output = alone::run("border::child", "border", |_| ());
    assert!(output.status.success(), "{}", alone::said(&output));
    println!("{}", alone::said(&output));
}
