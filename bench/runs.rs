//! What a run costs, beside plain wasmtime and wasmtime-wasi, in one table.
//!
//! ```text
//! cargo bench -p fozzy-bench                 everything, some minutes
//! cargo bench -p fozzy-bench -- calls short  some groups only: start, calls, short, preview1, record, size, net, flows,
//!                                            coverage, compile, checkpoints (-marks, -kernel, -traps, …),
//!                                            fuzz (-inputs, -faults, -rates, -coverage, -workers, -slow, -memory): an hour,
//!                                            explore (-puzzles, -workers, -others): as long as there are seeds,
//!                                            fleet (-store, -division), shrink, library
//! ```
//!
//! Both sides of a row are measured in turn in the same minutes, so its ratio holds on a busy machine,
//! while its single times do not. The bench always succeeds: whether a bound is met stands in the last
//! column, as noise must not fail a build.

#![allow(clippy::print_stdout, reason = "the table is the result")]

mod checkpoints;
mod classic;
mod compile;
mod explore;
mod fleet;
mod flows;
mod fuzzing;
mod guests;
mod instrumented;
mod library;
mod measure;
mod net;
mod ours;
mod preview1;
mod shrink;
mod table;
mod theirs;

use measure::{Clock, Pair, process_seconds, thread_seconds};
use ours::Ours;
use std::path::{Path, PathBuf};
use std::process::Command;
use table::{Bound, Row, Unit};
use theirs::{Fuel, Theirs};

/// Pairs of processes for start-up: one takes milliseconds, and the scheduler adds some now and then.
const START_PAIRS: usize = 61;
/// Pairs of everything else.
const PAIRS: usize = 11;
/// Pairs of short in-process runs.
const SHORT_PAIRS: usize = 501;
/// Calls of one in-process run: so many that instantiation does not count.
const CALLS: u32 = 200_000;
/// Writes of one in-process run: as many as fit into the four megabytes of output that are kept. What is
/// written beyond costs its SHA-256 as well, some tens of nanoseconds for 64 bytes.
const WRITES: u32 = 50_000;
/// Calls of the run that is recorded.
const RECORDED_CALLS: u32 = 1_000_000;
/// What it may take beside the run that is not recorded.
const RECORDED_MAX: f64 = 1.05;
/// Steps of a scenario file, and CPU seconds that a run of it may take.
const FILE_STEPS: u32 = 10_000;
const FILE_SECONDS_MAX: f64 = 0.054;
/// Decisions of the trace whose size is measured.
const DECISIONS: u32 = 10_000;
/// What such a trace may have.
const DECISIONS_BYTES_MAX: u64 = 100_000;

/// Measures that are made together.
type Group = fn() -> Vec<Row>;

fn main() {
    // As the command does: a stack on which guests can be called as they are.
    let thread = std::thread::Builder::new().stack_size(fozzy_engine::STACK_BYTES + (8 << 20));
    thread.spawn(all).expect("a thread can be had").join().expect("the groups say themselves what is wrong");
}

fn all() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let groups: [(&str, Group); 30] = [
        ("start", start),
        ("record", record),
        ("size", size),
        ("calls", calls),
        ("short", short),
        ("preview1", preview1::preview1),
        ("net", net::net),
        ("flows", flows::flows),
        ("coverage", instrumented::coverage),
        ("compile", compile::compile),
        ("fuzz-inputs", fuzzing::inputs),
        ("fuzz-faults", fuzzing::faults),
        ("fuzz-rates", fuzzing::rates),
        ("fuzz-coverage", fuzzing::coverage),
        ("fuzz-workers", fuzzing::workers),
        ("fuzz-slow", fuzzing::slow),
        ("fuzz-memory", fuzzing::memory),
        ("explore-puzzles", explore::puzzles),
        ("explore-workers", explore::workers),
        ("explore-others", explore::others),
        ("fleet-store", fleet::store),
        ("fleet-division", fleet::division),
        ("shrink", shrink::shrink),
        ("library", library::library),
        ("checkpoints-marks", checkpoints::marks),
        ("checkpoints-kernel", checkpoints::kernel),
        ("checkpoints-traps", checkpoints::traps),
        ("checkpoints-calls", checkpoints::calls),
        ("checkpoints-memory", checkpoints::memory),
        ("checkpoints-forks", checkpoints::forked),
    ];
    let mut rows = Vec::new();
    for (name, group) in groups {
        if chosen.is_empty() || chosen.iter().any(|word| name.starts_with(word.as_str())) {
            rows.extend(group());
        }
    }
    println!("\nMedians of interleaved runs; a ratio is ours over what stands beside it.\n");
    print!("{}", table::table(&rows));
}

/// Runs of the command line tool in a folder of their own, with a cache of their own.
struct Bench {
    folder: tempfile::TempDir,
    fozzy: PathBuf,
}

impl Bench {
    fn new() -> Bench {
        Bench { folder: tempfile::tempdir().expect("a temporary folder"), fozzy: guests::fozzy() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn guest(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("the temporary folder can be written");
        path
    }

    fn fozzy(&self) -> Command {
        let mut command = Command::new(&self.fozzy);
        command.current_dir(self.folder.path()).env("FOZZY_CACHE_DIR", self.path("cache"));
        command
    }

    fn run(&self, guest: &Path) -> Command {
        let mut command = self.fozzy();
        command.arg("run").arg(guest);
        command
    }

    fn recorded(&self, guest: &Path, trace: &Path) -> Command {
        let mut command = self.run(guest);
        command.args(["--record-collision", "overwrite", "--record"]).arg(trace);
        command
    }
}

/// From the shell to the exit code, with the code in the cache.
fn start() -> Vec<Row> {
    let (bench, hello, embedding) = (Bench::new(), guests::hello(), guests::embedding());
    let code = bench.path("hello.cwasm");
    let compile = Command::new(&embedding).arg("compile").arg(&hello).arg(&code).status();
    assert!(compile.is_ok_and(|status| status.success()), "the embedding compiles the guest");
    let pair = |clock| {
        Pair::of(
            START_PAIRS,
            || process_seconds(clock, &mut bench.run(&hello)),
            || process_seconds(clock, Command::new(&embedding).arg("run").arg(&code)),
        )
    };
    let (wall, cpu) = (pair(Clock::Wall), pair(Clock::Cpu));
    vec![
        Row::times("start-up, warm cache (embedding)", &wall, Unit::Milliseconds, Bound::Ratio(1.5)),
        Row::times("  the same, CPU time", &cpu, Unit::Milliseconds, Bound::None),
    ]
}

/// Single calls through the host, in process.
fn calls() -> Vec<Row> {
    let guests: [(&str, String, u32); 4] = [
        ("clock read (wasmtime-wasi)", guests::clock(CALLS), CALLS),
        ("random draw of 64 bits (wasmtime-wasi)", guests::random(CALLS), CALLS),
        ("64-byte write, asked and written (wasmtime-wasi)", guests::write(WRITES), WRITES),
        ("64-byte blocking write (wasmtime-wasi)", guests::blocking_write(WRITES), WRITES),
    ];
    let mut rows = Vec::new();
    for (name, guest, count) in &guests {
        for fuel in [Fuel::Off, Fuel::On] {
            let (mut ours, mut theirs) = (Ours::new(guest.as_bytes()), Theirs::new(guest.as_bytes(), fuel));
            let pair = Pair::of(PAIRS, || thread_seconds(|| ours.run()), || thread_seconds(|| theirs.run()));
            let unit = Unit::NanosecondsPerCall(*count);
            rows.push(match fuel {
                Fuel::Off => Row::times(name, &pair, unit, Bound::Ratio(1.0)),
                Fuel::On => Row::times("  the same, both with fuel", &pair, unit, Bound::None),
            });
        }
    }
    rows
}

/// A whole short command in this process: instantiate, run, drop.
fn short() -> Vec<Row> {
    let guest = std::fs::read(guests::hello()).expect("the guest was built");
    let (mut ours, mut theirs) = (Ours::new(&guest), Theirs::new(&guest, Fuel::Off));
    let pair = Pair::of(SHORT_PAIRS, || thread_seconds(|| ours.run()), || thread_seconds(|| theirs.run()));
    vec![Row::times("short command in process (wasmtime-wasi)", &pair, Unit::Microseconds, Bound::Seconds(150e-6))]
}

/// What recording adds to a run, what verifying and replaying cost beside it, and a scenario file of many steps.
fn record() -> Vec<Row> {
    let bench = Bench::new();
    let (guest, trace) = (bench.guest("random.wat", &guests::random(RECORDED_CALLS)), bench.path("run.fozzy"));
    let cpu = |command: &mut Command| process_seconds(Clock::Cpu, command);
    let beside_run = |ours: &dyn Fn() -> Command| Pair::of(PAIRS, || cpu(&mut ours()), || cpu(&mut bench.run(&guest)));
    let recorded = beside_run(&|| bench.recorded(&guest, &trace));
    let of_trace = |words: &'static [&'static str]| {
        beside_run(&|| {
            let mut command = bench.fozzy();
            command.args(words).arg(&trace);
            command
        })
    };
    let (replayed, verified) = (of_trace(&["replay"]), of_trace(&["trace", "verify"]));
    let file = |name: &str, steps: u32| bench.guest(name, &scenario_file(steps));
    let (many, one) = (file("many.fozzy.json", FILE_STEPS), file("one.fozzy.json", 1));
    let played = Pair::of(PAIRS, || cpu(&mut bench.run(&many)), || cpu(&mut bench.run(&one)));
    let unit = Unit::Milliseconds;
    vec![
        Row::times("a million calls, recorded (not recorded)", &recorded, unit, Bound::Ratio(RECORDED_MAX)),
        Row::times("  replayed (run)", &replayed, unit, Bound::None),
        Row::times("  its trace verified (run)", &verified, unit, Bound::None),
        Row::times("a scenario file of 10,000 steps (of one)", &played, unit, Bound::Seconds(FILE_SECONDS_MAX)),
    ]
}

/// A scenario file of so many steps that do next to nothing.
fn scenario_file(steps: u32) -> String {
    let steps = vec![r#"{"type":"assert_ok","value":true}"#; steps as usize];
    format!(r#"{{"version":1,"name":"steps","steps":[{}]}}"#, steps.join(","))
}

/// What a decision costs on disk.
fn size() -> Vec<Row> {
    let bench = Bench::new();
    let (guest, trace) = (bench.guest("random.wat", &guests::random(DECISIONS)), bench.path("draws.fozzy"));
    process_seconds(Clock::Wall, &mut bench.recorded(&guest, &trace));
    let bytes = std::fs::metadata(&trace).expect("the trace was written").len();
    vec![Row::bytes("trace of ten thousand decisions", bytes, DECISIONS_BYTES_MAX)]
}
