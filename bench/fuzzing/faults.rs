//! Published faults: how soon each is found, over seeds, beside libFuzzer.

use super::ours::{Ours, campaign};
use super::targets::{FAULTY, Native, components, natives};
use super::{executed_units, limited, number, spread};
use crate::measure::{Clock, process_output};
use crate::table::Row;
use std::path::Path;

/// Executions and CPU seconds until the fault, of the seeds that found it.
#[derive(Default)]
struct Found {
    executions: Vec<f64>,
    seconds: Vec<f64>,
}

impl Found {
    fn add(&mut self, executions: u64, seconds: f64) {
        self.executions.push(executions as f64);
        self.seconds.push(seconds);
    }

    fn row(&self, name: &str, who: &str, seeds: u64) -> Row {
        let words = [
            format!("{} of {seeds}", self.seconds.len()),
            format!("{} executions", spread(&self.executions)),
            format!("{} CPU s", spread(&self.seconds)),
        ];
        Row::words(&format!("{name}, {who}: least / median / most"), words)
    }
}

/// The rows of the group.
pub(crate) fn faults() -> Vec<Row> {
    let (seeds, seconds) = (number("FOZZY_BENCH_SEEDS", 20), number("FOZZY_BENCH_SECONDS", 60));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let components = components();
    let native = natives(Native::Plain, false);
    let mut rows = Vec::new();
    for name in FAULTY {
        let (mut ours, mut theirs) = (Found::default(), Found::default());
        for seed in 0..seeds {
            let mut target = Ours::new(&components, name);
            let (campaign, watched, _) = campaign(&mut target, seed, u64::MAX, seconds as f64, true);
            let (executions, spent) = (campaign.stats().executions, watched.elapsed());
            match &watched.found {
                Some((_, title)) => println!("{name} seed {seed}: {executions} executions, {spent:.2} s: {title}"),
                None => println!("{name} seed {seed}: NOT FOUND in {executions} executions: {:?}", campaign.stats()),
            }
            if watched.found.is_some() {
                ours.add(executions, spent);
            }
            if let Some(native) = &native
                && let Some((executions, spent)) = libfuzzer(&native.join(name), seed, seconds, folder.path())
            {
                theirs.add(executions, spent);
            }
        }
        rows.push(ours.row(name, "ours", seeds));
        rows.push(theirs.row(name, Native::Plain.name(), seeds));
    }
    rows
}

/// Executions and CPU seconds until libFuzzer finds a fault; `None` when it does not.
fn libfuzzer(program: &Path, seed: u64, seconds: u64, folder: &Path) -> Option<(u64, f64)> {
    let mut command = limited(seconds, program, folder);
    command.args([&format!("-seed={}", seed + 1), "-print_final_stats=1", "-max_len=4096"]);
    let (output, spent) = process_output(Clock::Cpu, &mut command);
    Some((executed_units(&output)?, spent))
}
