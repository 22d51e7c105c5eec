//! Fuzzing beside libFuzzer, without a sanitizer and as cargo-fuzz builds by default, on the targets of `bench/fuzz`.
//!
//! ```text
//! fuzz-inputs      the same inputs through each engine: CPU time of an execution, and what ours is spent on
//! fuzz-faults      published faults: executions and CPU seconds until each is found, over seeds
//! fuzz-rates       executions a CPU second of whole campaigns, as the command makes them
//! fuzz-coverage    edges after some CPU seconds from an empty corpus, all corpora by one ruler
//! fuzz-workers     executions a second of two workers, beside those of one
//! fuzz-slow        a parser that takes the square of its input's length: the last tenth of a campaign, beside the first
//! fuzz-memory      resident memory of a long campaign, at its quarters
//!
//! FOZZY_BENCH_SEEDS=20      seeds of fuzz-faults, fuzz-coverage and fuzz-slow
//! FOZZY_BENCH_SECONDS=60    seconds of a campaign: real ones in fuzz-rates and fuzz-workers, else CPU seconds
//! FOZZY_BENCH_TARGET=png    the only target of fuzz-inputs and fuzz-rates
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
mod rates;
mod slow;
mod targets;

pub(crate) use coverage::coverage;
pub(crate) use faults::faults;
pub(crate) use inputs::inputs;
pub(crate) use memory::memory;
pub(crate) use rates::{rates, workers};
pub(crate) use slow::slow;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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

/// Whether a target is asked for: all are, if none is.
fn is_chosen(name: &str) -> bool {
    std::env::var("FOZZY_BENCH_TARGET").ok().is_none_or(|only| only == name)
}

/// An empty corpus in `folder`: what another one left is no part of it.
fn empty_corpus(folder: &Path) -> PathBuf {
    let corpus = folder.join("corpus");
    let _ = std::fs::remove_dir_all(&corpus);
    std::fs::create_dir_all(&corpus).expect("the temporary folder can be written");
    corpus
}

/// Executions that libFuzzer says it has made; `None` of a process that was killed, which has said nothing.
fn executed_units(output: &Output) -> Option<u64> {
    let said = String::from_utf8_lossy(&output.stderr);
    let units = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))?;
    units.trim().parse().ok()
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
