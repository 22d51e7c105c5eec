//! Real programs, compiled from what others published: every seed gives one run, and its trace gives that run again.
//!
//! ```text
//! program, seed ─run─▶ trace ─run again─▶ the same bytes
//!                        └─replay, in an empty folder, the program deleted─▶ the same output, calls, end, memory
//! ```
//!
//! Invariant of both tests: no program is left out, of either target. Not here: whether a program's output is *right*
//! (`corpus` chooses invocations that end well).

mod seeds;

use crate::corpus::{self, MOUNT, Program};
use crate::fozzy::{Fozzy, Ran};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Runs a copy of the program, recorded under `trace`, and deletes the copy.
fn record(fozzy: &Fozzy, program: &Program, seed: u64, trace: &str) -> Ran {
    let module = fozzy.path(program.module.file_name().expect("a module is a file").to_str().expect("plain names"));
    fs::copy(&program.module, &module).expect("the corpus is built");
    let mut args = vec!["run".to_owned(), module.display().to_string(), "--json".to_owned()];
    args.extend(["--seed".to_owned(), seed.to_string(), "--record".to_owned(), trace.to_owned()]);
    if let Some(dir) = program.dir {
        args.extend(["--dir".to_owned(), format!("{}::{MOUNT}", corpus::data_folder().join(dir).display())]);
    }
    args.push("--".to_owned());
    args.extend(program.args.iter().map(|arg| (*arg).to_owned()));
    let ran = fozzy.run_with_stdin(&args, program.stdin);
    fs::remove_file(&module).expect("it was just copied");
    ran.exits(0)
}

/// What a replay must repeat.
fn what_happened(summary: &Value) -> Value {
    const KEYS: [&str; 10] = [
        "status",
        "exitCode",
        "virtualTimeNs",
        "calls",
        "decisions",
        "fuelUsed",
        "memoryBytes",
        "memoryDigest",
        "historyDigest",
        "output",
    ];
    KEYS.iter().map(|key| ((*key).to_owned(), summary[key].clone())).collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn a_trace_of_every_program_repeats_its_run() {
    for program in corpus::programs() {
        let name = format!("{} for {:?}", program.name, program.target);
        let fozzy = Fozzy::new();
        let first = record(&fozzy, program, 7, "first.fozzy").json();
        record(&fozzy, program, 7, "second.fozzy");
        assert!(fozzy.read("first.fozzy") == fozzy.read("second.fozzy"), "{name}: two runs with one seed, two traces");

        let other = record(&fozzy, program, 8, "other.fozzy").json();
        let same_output = first["output"]["stdout"] == other["output"]["stdout"];
        assert_eq!(same_output, !program.stdout_follows_seed, "{name}: what another seed changes on stdout");

        let elsewhere = Fozzy::new();
        fs::copy(fozzy.path("first.fozzy"), elsewhere.path("moved.fozzy")).expect("it was recorded");
        drop(fozzy);
        let verified = elsewhere.run(&["trace", "verify", "moved.fozzy", "--strict", "--json"]).exits(0).json();
        assert_eq!(verified["ok"], true, "{name}: {verified}");
        let replayed = elsewhere.run(&["replay", "moved.fozzy", "--json"]).exits(0).json();
        assert_eq!(replayed["replay"]["equal"], true, "{name}: {replayed}");
        assert_eq!(what_happened(&replayed), what_happened(&first), "{name}");
        assert_eq!(elsewhere.names(), ["moved.fozzy"], "{name}: a replay writes nothing but its run");
    }
}

#[test]
fn recording_changes_nothing_on_the_real_disk() {
    // `sort-in-place` rewrites a file of the folder that it is given.
    let program = corpus::programs().iter().find(|program| program.name == "sort-in-place").expect("in the corpus");
    let file = corpus::data_folder().join("lines/readings.txt");
    let before = fs::read(&file).expect("it is committed");
    record(&Fozzy::new(), program, 1, "a.fozzy");
    assert_eq!(fs::read(&file).expect("it is committed"), before, "{}", Path::new(&file).display());
}
