//! Executions a second of whole campaigns from an empty corpus, as the command makes them.
//!
//! ```text
//! fuzz-rates     fozzy fuzz               libFuzzer without a sanitizer     a CPU second of the whole process
//! fuzz-workers   fozzy fuzz --jobs 2      fozzy fuzz --jobs 1               a second
//! ```
//!
//! All that a campaign does beside calling the target is in it: start, mutations, comparisons, the folder of the corpus. Two workers
//! are timed by real time, as that is what a user has them for: it needs a machine of two processors with nothing else to do.

use super::targets::{Native, components, natives};
use super::{empty_corpus, executed_units, is_chosen, number};
use crate::Bench;
use crate::measure::{Clock, Pair, process_output, process_seconds_each};
use crate::table::{Least, Row};
use std::path::Path;
use std::process::Command;

/// Interleaved campaigns, each round with a seed of its own.
const ROUNDS: usize = 5;
/// Real seconds of each, unless FOZZY_BENCH_SECONDS says otherwise.
const SECONDS: u64 = 10;
/// Targets, and our executions a CPU second over those of libFuzzer.
const TARGETS: [(&str, f64); 3] = [("http", 1.0), ("json", 1.0), ("png", 0.6)];
/// One that returns, and one that fails often.
const SHARED: [&str; 2] = ["json", "hjson"];
/// Executions a second of two workers over those of one.
const WORKERS_LEAST: f64 = 1.9;

/// The rows beside libFuzzer.
pub(crate) fn rates() -> Vec<Row> {
    let (bench, components, native) = (Bench::new(), components(), natives(Native::Plain, false));
    let row = |(name, least): (&str, f64)| {
        let row = format!("{name}, campaign ({} without sanitizer)", Native::Plain.name());
        let Some(native) = &native else { return Row::missing(&row, "it cannot be built here") };
        let (module, program) = (components.join(format!("{name}.wasm")), native.join(name));
        let pair = Pair::of_seeds(
            ROUNDS,
            |seed| campaign(&bench, &module, seed, 1, Clock::Cpu),
            |seed| libfuzzer(&program, seed, bench.folder.path()),
        );
        Row::rates(&row, &pair, 1, "executions/CPU s", Least::Ratio(least))
    };
    TARGETS.into_iter().filter(|(name, _)| is_chosen(name)).map(row).collect()
}

/// The rows of two workers.
pub(crate) fn workers() -> Vec<Row> {
    let (bench, components) = (Bench::new(), components());
    let row = |name: &str| {
        let module = components.join(format!("{name}.wasm"));
        let pair = Pair::of_seeds(
            ROUNDS,
            |seed| campaign(&bench, &module, seed, 2, Clock::Wall),
            |seed| campaign(&bench, &module, seed, 1, Clock::Wall),
        );
        Row::rates(
            &format!("{name}, campaign of two workers (one)"),
            &pair,
            1,
            "executions/s",
            Least::Ratio(WORKERS_LEAST),
        )
    };
    SHARED.into_iter().map(row).collect()
}

fn seconds() -> u64 {
    number("FOZZY_BENCH_SECONDS", SECONDS)
}

/// Seconds of one execution in a campaign of the command.
fn campaign(bench: &Bench, module: &Path, seed: u64, workers: u32, clock: Clock) -> f64 {
    let mut command = bench.fozzy();
    command.arg("fuzz").arg(module).arg("--corpus").arg(empty_corpus(bench.folder.path()));
    command.arg(format!("--time={}s", seconds())).arg(format!("--seed={seed}")).arg(format!("--jobs={workers}"));
    process_seconds_each(clock, &mut command, "/fuzz/executions")
}

/// CPU seconds of one execution in a campaign of libFuzzer.
fn libfuzzer(program: &Path, seed: u64, folder: &Path) -> f64 {
    let mut command = Command::new(program);
    command.arg(format!("-max_total_time={}", seconds())).arg(format!("-seed={seed}"));
    command.args(["-max_len=4096", "-print_final_stats=1"]).arg(empty_corpus(folder)).current_dir(folder);
    let (output, seconds) = process_output(Clock::Cpu, &mut command);
    seconds / executed_units(&output).expect("it ends by itself") as f64
}
