//! A hundred seeds of every program, in this process: run, write the trace, read it back, replay, compare.
//!
//! ```text
//! seed n ─▶ Execution ─▶ Recording ─▶ bytes ─▶ Recording' = Recording ─▶ replay' = Execution
//! ```
//!
//! `FOZZY_SEEDS=1000 cargo test -p fozzy-tests seeds` does more of them.

use crate::corpus::{self, MOUNT, Program};
use crate::fozzy::cache_folder;
use fozzy_check::judge;
use fozzy_engine::{Cache, Session, Switches};
use fozzy_trace::file::{EngineId, RecordedTarget, Recording, verify};
use fozzy_trace::plan::{Inputs, MachinePlan, StdinPlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Digest, ExecutionEnd, Executor, Plan, Seed, Status};
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

/// What the issue demands.
const SEEDS: u64 = 100;

/// Programs that draw until a number suits them, so that how often they draw follows from the seed too.
const DRAWS_AGAIN: [&str; 1] = ["genpass"];

/// All calls: none of these programs makes so many that they do not fit into memory.
const ALL: fozzy_trace::HistoryWindow = 0..u64::MAX;

/// A program, ready to be run under any seed.
struct Sample {
    session: Session,
    target: RecordedTarget,
    plan: Plan,
    inputs: Inputs,
}

/// What one seed gave.
struct Seen {
    stdout: Digest,
    stderr: Digest,
    end: ExecutionEnd,
    /// The names of all calls in order.
    calls: Vec<String>,
}

impl Sample {
    fn of(program: &Program) -> Sample {
        let bytes = std::fs::read(&program.module).expect("the corpus is built");
        let loaded = fozzy_engine::load(&bytes, None).expect("a real program");
        let mut inputs = Inputs::default();
        let dirs = program.dir.iter().map(|dir| {
            let host = corpus::data_folder().join(dir);
            fozzy_live::capture_directory(&host, MOUNT, &mut inputs).expect("it is committed")
        });
        let dirs = dirs.collect();
        let stdin = StdinPlan { bytes: inputs.add(program.stdin), stays_open: false, channel: None };
        let words = [program.name].into_iter().chain(program.args.iter().copied()).map(str::to_owned);
        let main = MachinePlan { args: words.collect(), stdin, dirs, ..MachinePlan::default() };
        let plan = Plan { main, ..Plan::default() };
        let cache = Cache::open(&cache_folder()).expect("the target folder can be written");
        let component: Arc<[u8]> = loaded.component.into();
        let compiled = fozzy_engine::Program::new(component, Switches::of(&plan), Some(&cache)).expect("it compiles");
        let session = Session::new(compiled, Arc::new(plan.clone()), &inputs).expect("a plan of ours");
        let target = RecordedTarget {
            name: program.name.into(),
            source: Digest::of(&bytes),
            kind: loaded.kind.name().to_owned(),
        };
        Sample { session, target, plan, inputs }
    }

    /// Runs, records, replays and compares.
    fn check(&mut self, seed: u64) -> Seen {
        let seed = Seed(seed);
        let execution = self.session.execute(Box::new(SeededSource::new(seed)), ALL).expect("this machine is fit");
        let verdict = judge(&execution);
        assert_eq!(verdict.status, Status::Pass, "seed {seed}: {verdict:?}");
        let program = self.session.program();
        let engine = EngineId {
            fozzy: "test".into(),
            wasmtime: fozzy_engine::WASMTIME_VERSION.into(),
            rewriter: fozzy_instrument::REWRITER_VERSION,
            configuration: program.configuration(),
        };
        let recorded = Recording::of(
            self.target.clone(),
            program.component().clone(),
            self.plan.clone(),
            &self.inputs,
            engine,
            &execution,
            verdict,
            seed,
            "run",
        );
        let bytes = recorded.to_bytes().expect("it fits");
        assert!(verify(&bytes).ok, "seed {seed}: written and not sound");
        let read = Recording::read(&bytes).expect("just verified");
        assert!(read == recorded, "seed {seed}: read otherwise than it was written");

        let replayed = fozzy_search::replay(&read, &mut self.session, ALL).expect("this machine is fit");
        assert_eq!(replayed.difference, None, "seed {seed}");
        assert_eq!(replayed.execution.history.entries, execution.history.entries, "seed {seed}");
        assert_eq!(replayed.execution.stdout.kept(), execution.stdout.kept(), "seed {seed}");
        assert_eq!(replayed.execution.stderr.kept(), execution.stderr.kept(), "seed {seed}");
        let calls = execution.history.entries.iter().map(|entry| entry.call.clone()).collect();
        Seen { stdout: execution.stdout.digest(), stderr: execution.stderr.digest(), end: execution.end, calls }
    }
}

#[test]
fn every_seed_of_every_wasip1_program_is_replayed_exactly() {
    check(corpus::Target::Wasip1);
}

#[test]
fn every_seed_of_every_wasip2_program_is_replayed_exactly() {
    check(corpus::Target::Wasip2);
}

fn check(target: corpus::Target) {
    let seeds = std::env::var("FOZZY_SEEDS").map_or(SEEDS, |text| text.parse().expect("FOZZY_SEEDS is a number"));
    let programs: Vec<&Program> = corpus::programs().iter().filter(|program| program.target == target).collect();
    for program in &programs {
        let mut sample = Sample::of(program);
        let seen: Vec<Seen> = (0..seeds).map(|seed| sample.check(seed)).collect();
        let distinct = |of: &dyn Fn(&Seen) -> String| seen.iter().map(of).collect::<BTreeSet<_>>().len() as u64;
        let name = format!("{} for {:?}", program.name, program.target);
        // Another seed changes what the program sees of randomness, and nothing else.
        let outputs = distinct(&|seen| seen.stdout.to_string());
        let expected = if program.stdout_follows_seed { seeds } else { 1 };
        assert_eq!(outputs, expected, "{name}: different outputs of {seeds} seeds");
        assert_eq!(distinct(&|seen| seen.stderr.to_string()), 1, "{name}: stderr");
        assert_eq!(distinct(&|seen| format!("{:?}", seen.end)), 1, "{name}: end");
        let draws_again = DRAWS_AGAIN.contains(&program.name);
        let calls = |seen: &Seen| {
            let kinds: BTreeSet<&String> = seen.calls.iter().collect();
            if draws_again { format!("{kinds:?}") } else { seen.calls.join("\n") }
        };
        assert_eq!(distinct(&calls), 1, "{name}: sequences of calls");
    }
    let told = format!(
        "{} programs for {target:?}, {seeds} seeds of each: run, recorded, read back, replayed, equal\n",
        programs.len()
    );
    let _ = std::io::stderr().write_all(told.as_bytes());
}
