//! Deep faults: the puzzles of `scenarios/puzzles`, solved by explorations, and natively by a plain search for new states.
//!
//! ```text
//! explore-puzzles    the default search, beside the native one on the same source     solved, steps, CPU seconds
//! explore-others     each other way to search: what checkpoints, states and strategies are worth
//!
//! FOZZY_BENCH_SEEDS=20     seeds of each
//! FOZZY_BENCH_SECONDS=10   CPU seconds of each seed
//! FOZZY_BENCH_PUZZLES=lock,bomb, FOZZY_BENCH_WAYS=memory   some of the puzzles; ways whose names contain that
//! ```
//!
//! The native search keeps every state that it sees first, and takes 16 random steps from any of them: what can be had when
//! a state costs nothing to keep. The other tools are in `bench/beside`.

#![allow(clippy::disallowed_methods, reason = "how long it may take comes from the environment")]

mod ground;
mod native;
mod ours;

use crate::guests;
use crate::table::Row;
use ours::{Tries, Way};
use std::path::Path;
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

fn component() -> Arc<[u8]> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/puzzles");
    std::fs::read(guests::scenario_with(&folder, "puzzles", true)).expect("it was just built").into()
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
    chosen().iter().map(row).collect()
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
