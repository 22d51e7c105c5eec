//! The library `fozzy` as somebody else's program uses it, beside the pipeline under it: runs, a replay, a campaign.
//!
//! What the library adds is a plan read and a program looked up in the compile cache, once a run: whoever runs a program a thousand
//! times in a test pays it a thousand times. A campaign pays it once.

use crate::measure::{Pair, thread_clock};
use crate::table::{Bound, Row, Unit};
use fozzy::{FuzzOptions, Plan, Program, Status};
use fozzy_campaign::fuzz::component_target::ComponentTarget;
use fozzy_campaign::pipeline::{LoadedTarget, PreparedProgram, RunPlan, session_of};
use fozzy_engine::{Build, EntryPoint};
use fozzy_report::RunMode;
use fozzy_search::FailureRecord;
use fozzy_search::fuzz::{Campaign, Dictionary, FuzzObserver, Options, Stats, Testcase};
use fozzy_trace::file::Recording;
use fozzy_trace::plan::{Inputs, PlannedCall};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Executor, HarnessError, Seed, Verdict};

const ROUNDS: usize = 11;
/// Runs of one round: a single one takes less than a millisecond.
const RUNS: u64 = 100;
/// Executions of one campaign.
const EXECUTIONS: u64 = 20_000;

/// Draws eight bytes and ends.
const DRAWS: &[u8] = br#"(module
    (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
    (memory (export "memory") 1)
    (func (export "_start") (drop (call $random (i32.const 8) (i32.const 8)))))"#;

/// Fails on no input that is found in so short a time.
const PARSER: &[u8] = br#"(module
    (memory (export "memory") 2)
    (func (export "LLVMFuzzerTestOneInput") (param $data i32) (param $size i32) (result i32)
      (if (i32.eq (local.get $size) (i32.const 8)) (then
        (if (i64.eq (i64.load (local.get $data)) (i64.const 0x1122334455667788)) (then unreachable))))
      (i32.const 0)))"#;

/// The group.
pub(crate) fn library() -> Vec<Row> {
    vec![runs(), replays(), campaigns()]
}

fn loaded(name: &str, bytes: &[u8]) -> LoadedTarget {
    LoadedTarget::of_bytes(name, bytes).expect("a program")
}

fn planned() -> RunPlan {
    RunPlan::of(fozzy_trace::Plan::default(), Inputs::default())
}

fn timed(act: impl FnOnce()) -> f64 {
    let before = thread_clock();
    act();
    thread_clock() - before
}

fn runs() -> Row {
    let program = Program::from_bytes("draws.wat", DRAWS).expect("a program");
    let loaded = loaded("draws.wat", DRAWS);
    let by_library = || {
        timed(|| {
            for seed in 0..RUNS {
                let run = program.run(&Plan::new(), seed).expect("the machine is well");
                assert_eq!(run.status(), Status::Pass);
            }
        })
    };
    let by_pipeline = || {
        timed(|| {
            let prepared = PreparedProgram::compile(loaded.clone(), planned()).expect("it compiles");
            let mut session = prepared.session().expect("a plain plan");
            for seed in (0..RUNS).map(Seed) {
                let execution = session.execute(Box::new(SeededSource::new(seed)), 0..1_000);
                let execution = execution.expect("the machine is well");
                std::hint::black_box(prepared.record(&execution, seed, RunMode::Run));
            }
        })
    };
    let pair = Pair::of(ROUNDS, by_library, by_pipeline);
    Row::times("100 short runs by the library, beside one session", &pair, Unit::Milliseconds, Bound::None)
}

fn replays() -> Row {
    let program = Program::from_bytes("draws.wat", DRAWS).expect("a program");
    let trace = program.run(&Plan::new(), 0).expect("the machine is well").trace();
    let recording = Recording::read(&trace.to_bytes().expect("it is small")).expect("it was just written");
    let by_library = || timed(|| assert!(trace.replay().expect("the machine is well").is_equal()));
    let by_search = || {
        timed(|| {
            let mut session = session_of(&recording).expect("its own program");
            let replayed = fozzy_search::replay(&recording, &mut session, 0..0).expect("the machine is well");
            assert!(replayed.difference.is_none());
        })
    };
    let pair = Pair::of(ROUNDS, by_library, by_search);
    Row::times("a replay by the library, beside search's", &pair, Unit::Microseconds, Bound::Ratio(1.2))
}

/// Keeps nothing.
struct NoObserver;

impl FuzzObserver for NoObserver {
    fn on_execution(&mut self, _: &Stats) -> bool {
        true
    }

    fn on_testcase(&mut self, _: &Testcase) -> Result<(), HarnessError> {
        Ok(())
    }

    fn on_failure(&mut self, _: &FailureRecord) -> Result<(), HarnessError> {
        Ok(())
    }

    fn on_minimized(&mut self, _: &[u8], _: &Verdict) -> Result<(), HarnessError> {
        Ok(())
    }
}

fn campaigns() -> Row {
    let program = Program::from_bytes("parser.wat", PARSER).expect("a program");
    let loaded = loaded("parser.wat", PARSER);
    let by_library = || {
        timed(|| {
            let options = FuzzOptions::new().executions(EXECUTIONS);
            let found = program.fuzz(&Plan::new(), &options).expect("it is fuzzed");
            assert_eq!(found.executions(), EXECUTIONS);
        })
    };
    let by_search = || {
        timed(|| {
            let prepared = PreparedProgram::to_call(loaded.clone(), planned(), &Build::default()).expect("it compiles");
            let functions =
                fozzy_engine::functions(&prepared.program, &prepared.planned.plan, &Inputs::default(), Seed(0));
            let name = functions.expect("it can be called").fuzz[0].clone();
            let entry = EntryPoint::Call(PlannedCall::Fuzz(name));
            let mut target = ComponentTarget::open(&prepared, &entry, Seed(0), false).expect("it can be called");
            let options = Options { executions_max: EXECUTIONS, ..Options::default() };
            let mut campaign = Campaign::new(options, Dictionary::default());
            campaign.run(&mut target, &mut std::iter::empty(), &mut NoObserver).expect("the machine is well");
            assert_eq!(campaign.stats().executions, EXECUTIONS);
        })
    };
    let pair = Pair::of(ROUNDS, by_library, by_search);
    Row::times("20,000 executions by the library, beside search's", &pair, Unit::Milliseconds, Bound::Ratio(1.2))
}
