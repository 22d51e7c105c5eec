//! Deep faults: the puzzles of `scenarios/puzzles`, solved by explorations, and natively by a plain search for new states.
//!
//! ```text
//! explore-puzzles    the default search, beside the native one on the same source     solved, steps, CPU seconds
//!                    the command in the maze of sixteen, whose end is no failure      steps a CPU second
//! explore-workers    the same by two workers, beside one                              steps a second
//! explore-others     each other way to search: what checkpoints, states and strategies are worth
//!
//! FOZZY_BENCH_SEEDS=20     seeds of each
//! FOZZY_BENCH_SECONDS=10   CPU seconds of each seed; real seconds of an exploration by the command
//! FOZZY_BENCH_PUZZLES=lock,bomb, FOZZY_BENCH_WAYS=memory   some of the puzzles; ways whose names contain that
//! ```
//!
//! The native search keeps every state that it sees first, and takes 16 random steps from any of them: what can be had when
//! a state costs nothing to keep. The other tools are in `bench/beside`.

#![allow(clippy::disallowed_methods, reason = "how long it may take comes from the environment")]

mod ground;
mod native;
mod ours;

use crate::measure::{Clock, Pair, process_seconds_each};
use crate::table::{Least, Row};
use crate::{Bench, guests};
use ours::{Tries, Way};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The puzzles, by the names that the scenario knows.
const PUZZLES: [&str; 12] = [
    "bomb",
    "lock",
    "hanoi-4",
    "hanoi-6",
    "maze-8",
    "maze-16",
    "walls",
    "cache",
    "faults",
    "lost-update",
    "password",
    "password-again",
];

/// The puzzle whose steps are counted.
const MAZE: &str = "maze-16";
/// Interleaved explorations by the command, each round with a seed of its own.
const ROUNDS: usize = 5;
/// Steps that the command makes in a CPU second of its process.
const STEPS_LEAST: f64 = 1e6;
/// Steps a second of two workers over those of one.
const WORKERS_LEAST: f64 = 1.9;

/// The default search.
const DEFAULT: Way =
    Way { name: "coverage_guided", strategy: "coverage_guided", checkpoints: true, states: true, told: true };
/// The other ones.
const OTHERS: [Way; 9] = [
    Way { name: "without checkpoints", checkpoints: false, ..DEFAULT },
    Way { name: "without states", states: false, ..DEFAULT },
    Way { name: "states by memory alone", told: false, ..DEFAULT },
    Way { name: "random", strategy: "random", ..DEFAULT },
    Way { name: "pct", strategy: "pct", ..DEFAULT },
    Way { name: "pos", strategy: "pos", ..DEFAULT },
    Way { name: "urw", strategy: "urw", ..DEFAULT },
    Way { name: "dfs", strategy: "dfs", ..DEFAULT },
    Way { name: "bfs", strategy: "bfs", ..DEFAULT },
];

/// A number of the environment.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn seeds() -> u64 {
    number("FOZZY_BENCH_SEEDS", 3)
}

/// CPU seconds of one seed.
fn seconds() -> f64 {
    number("FOZZY_BENCH_SECONDS", 10) as f64
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/puzzles")
}

fn component() -> Arc<[u8]> {
    std::fs::read(guests::scenario_with(&folder(), "puzzles", true)).expect("it was just built").into()
}

/// Puzzles that are asked for; all of them when none is.
fn chosen() -> Vec<&'static str> {
    let asked = std::env::var("FOZZY_BENCH_PUZZLES").unwrap_or_default();
    PUZZLES.into_iter().filter(|name| asked.is_empty() || asked.split(',').any(|asked| asked == *name)).collect()
}

/// The default search beside the native one.
pub(crate) fn puzzles() -> Vec<Row> {
    let component = component();
    let row = |name: &&str| {
        let (ours, natively) = (ours::solve(&component, name, DEFAULT), native::solve(name));
        let ratio = match &natively {
            Some(natively) if natively.median() > 0 => {
                format!("{:.2} of the steps", ours.median() as f64 / natively.median() as f64)
            }
            _ => String::new(),
        };
        Row::words(name, [ours.shown(), natively.as_ref().map_or_else(String::new, Tries::shown), ratio])
    };
    let mut rows: Vec<Row> = chosen().iter().map(row).collect();
    if chosen().contains(&MAZE) {
        rows.push(steps());
    }
    rows
}

/// Steps a CPU second, beside those of the native search, which ends at each solution and begins anew.
fn steps() -> Row {
    let (bench, program) = (Bench::new(), guests::scenario(&folder(), "puzzles"));
    let natively = || {
        let tries = native::solve(MAZE).expect("it is one of its puzzles");
        tries.seconds / tries.steps as f64
    };
    let pair = Pair::of_seeds(ROUNDS, |seed| exploration(&bench, &program, seed, 1, Clock::Cpu), |_| natively());
    Row::rates(&format!("{MAZE}, explored (natively)"), &pair, 1, "steps/CPU s", Least::Rate(STEPS_LEAST))
}

/// Two workers beside one, in real time: it needs a machine of two processors with nothing else to do.
pub(crate) fn workers() -> Vec<Row> {
    let (bench, program) = (Bench::new(), guests::scenario(&folder(), "puzzles"));
    let pair = Pair::of_seeds(
        ROUNDS,
        |seed| exploration(&bench, &program, seed, 2, Clock::Wall),
        |seed| exploration(&bench, &program, seed, 1, Clock::Wall),
    );
    let name = format!("{MAZE}, explored by two workers (one)");
    vec![Row::rates(&name, &pair, 1, "steps/s", Least::Ratio(WORKERS_LEAST))]
}

/// Seconds of one step in an exploration of the maze by the command.
fn exploration(bench: &Bench, program: &Path, seed: u64, workers: u32, clock: Clock) -> f64 {
    let mut command = bench.fozzy();
    command.arg("explore").arg(program).arg(format!("--env=PUZZLE={MAZE}")).args(["--no-seeds", "--no-shrink"]);
    command.arg(format!("--time={}s", seconds())).arg(format!("--seed={seed}")).arg(format!("--workers={workers}"));
    process_seconds_each(clock, &mut command, "/explore/steps")
}

/// The other searches.
pub(crate) fn others() -> Vec<Row> {
    let component = component();
    let ways = std::env::var("FOZZY_BENCH_WAYS").unwrap_or_default();
    let mut rows = Vec::new();
    for name in chosen() {
        for way in OTHERS.iter().filter(|way| way.name.contains(&ways)) {
            let tries = ours::solve(&component, name, *way);
            rows.push(Row::words(&format!("{name}, {}", way.name), [tries.shown(), String::new(), String::new()]));
        }
    }
    rows
}
