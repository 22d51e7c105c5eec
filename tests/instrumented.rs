//! Rewritten programs behave as the originals, whatever is put into them.
//!
//! ```text
//! generated module ─┬─────────────▶ wasmtime ─▶ results, traps, memories ─┐
//!                   └─ instrument ─▶ wasmtime ─▶ results, traps, memories ─┴─▶ equal
//! corpus program   ─┬─────────────▶ fozzy ─▶ calls, output, end ─┐
//!                   └─ instrument ─▶ fozzy ─▶ calls, output, end ─┴─▶ equal
//! ```
//!
//! The generated modules also say whether the side memory tells the truth: the kept edges against a byte for each
//! edge, and the marks against the pages that did change.

mod generated;
mod log;
mod writers;

use crate::corpus::{self, MOUNT, Program};
use crate::fozzy::cache_folder;
use fozzy_engine::{Cache, Session, Switches};
use fozzy_instrument::{CoverageMode, ModuleChoice, Options, instrument};
use fozzy_trace::plan::{Inputs, MachinePlan, StdinPlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Digest, ExecutionEnd, Executor, Plan, Seed};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything at once, in all modules.
fn everything() -> Options {
    Options {
        coverage: CoverageMode::Counters,
        comparisons: true,
        marks: true,
        modules: ModuleChoice::All,
        ..Options::default()
    }
}

/// What can be seen of a run from the outside.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    calls: Vec<String>,
    stdout: Digest,
    stderr: Digest,
    end: ExecutionEnd,
}

fn run(program: &Program, compiled: &fozzy_engine::Program) -> Seen {
    let mut inputs = Inputs::default();
    let dirs = program.dir.iter().map(|dir| {
        let host = corpus::data_folder().join(dir);
        fozzy_live::capture_directory(&host, MOUNT, &mut inputs).expect("it is committed")
    });
    let dirs = dirs.collect();
    let stdin = StdinPlan { bytes: inputs.add(program.stdin), stays_open: false, channel: None };
    let words = [program.name].into_iter().chain(program.args.iter().copied()).map(str::to_owned);
    let plan =
        Plan { main: MachinePlan { args: words.collect(), stdin, dirs, ..MachinePlan::default() }, ..Plan::default() };
    let mut session = Session::new(compiled.clone(), Arc::new(plan), &inputs).expect("a plan of ours");
    let execution = session.execute(Box::new(SeededSource::new(Seed(3))), 0..u64::MAX).expect("this machine is fit");
    let calls = execution.history.entries.iter().map(|entry| entry.call.clone()).collect();
    Seen { calls, stdout: execution.stdout.digest(), stderr: execution.stderr.digest(), end: execution.end }
}

#[test]
fn every_program_of_the_corpus_runs_as_before() {
    let mut compiled: BTreeMap<_, [fozzy_engine::Program; 2]> = BTreeMap::new();
    // The originals are compiled for other tests too.
    let cache = Cache::open(&cache_folder()).expect("the target folder can be written");
    let mut edges = 0;
    for program in corpus::programs() {
        let [before, after] = compiled.entry(program.module.clone()).or_insert_with(|| {
            let bytes = std::fs::read(&program.module).expect("the corpus is built");
            let component = fozzy_engine::load(&bytes, None).expect("a real program").component;
            let output = instrument(&component, &everything()).expect("it is accepted");
            let verdict = output.marks.expect("marks were asked for");
            assert!(verdict.sound(), "{}: {:?}", program.module.display(), verdict.reasons);
            edges += output.sites.len();
            let switches = Switches::of(&Plan::default());
            [component, output.component].map(|bytes| {
                fozzy_engine::Program::new(bytes.into(), switches.clone(), Some(&cache)).expect("it compiles")
            })
        });
        assert_eq!(run(program, before), run(program, after), "{} for {:?}", program.name, program.target);
    }
    assert!(edges > 100_000, "real programs have many edges: {edges}");
}
