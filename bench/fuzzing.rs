//! Fuzzing beside libFuzzer, without a sanitizer and as cargo-fuzz builds by default, on the targets of `bench/fuzz`.
//!
//! ```text
//! fuzz-inputs      the same inputs through each engine: CPU time of an execution, and what ours is spent on
//! fuzz-faults      published faults: executions and CPU seconds until each is found, over seeds
//! fuzz-coverage    edges after some CPU seconds from an empty corpus, all corpora by one ruler
//! fuzz-memory      resident memory of a long campaign, at its quarters
//!
//! FOZZY_BENCH_SEEDS=20     seeds of fuzz-faults
//! FOZZY_BENCH_SECONDS=60   CPU seconds of a campaign, at the most
//! FOZZY_BENCH_TARGET=png   the only target of fuzz-inputs
//! ```

#![allow(
    clippy::disallowed_methods,
    reason = "a bench reads real clocks, and how long it may take from the environment"
)]

mod coverage;
mod faults;
mod inputs;
mod memory;
mod ours;
mod targets;

pub(crate) use coverage::coverage;
pub(crate) use faults::faults;
pub(crate) use inputs::inputs;
pub(crate) use memory::memory;

use std::path::Path;
use std::process::Command;

/// A number of the environment.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A command that is killed after so many CPU seconds, in a folder where it leaves what it finds.
fn limited(seconds: u64, program: &Path, folder: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -t {seconds}; exec \"$@\""), "sh"]).arg(program).current_dir(folder);
    command
}

/// The least, the middle and the largest of some numbers.
fn spread(numbers: &[f64]) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.as_slice() {
        [] => "-".to_owned(),
        [least, .., most] => {
            format!("{} / {} / {}", short(*least), short(sorted[sorted.len() / 2]), short(*most))
        }
        [one] => short(*one),
    }
}

fn short(number: f64) -> String {
    if number >= 1000.0 { format!("{number:.0}") } else { format!("{number:.2}") }
}
