//! The library beside the pipeline under it: one short run, from a program that is loaded to a recording.
//!
//! What the library adds is a plan read and a program looked up in the compile cache, once a run: whoever runs a program a thousand
//! times in a test pays it a thousand times.

use crate::measure::{Pair, thread_clock};
use crate::table::{Bound, Row, Unit};
use fozzy::{Plan, Program, Status};
use fozzy_campaign::pipeline::{LoadedTarget, PreparedProgram, RunPlan};
use fozzy_report::RunMode;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Executor, Seed};

const ROUNDS: usize = 11;
/// Draws eight bytes and ends.
const DRAWS: &[u8] = br#"(module
    (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
    (memory (export "memory") 1)
    (func (export "_start") (drop (call $random (i32.const 8) (i32.const 8)))))"#;

/// The group.
pub(crate) fn library() -> Vec<Row> {
    let program = Program::from_bytes("draws.wat", DRAWS).expect("a program");
    let loaded = LoadedTarget::of_bytes("draws.wat", DRAWS).expect("a program");
    let planned = RunPlan::of(fozzy_trace::Plan::default(), fozzy_trace::plan::Inputs::default());
    let by_library = || {
        let before = thread_clock();
        let run = program.run(&Plan::new(), 0).expect("the machine is well");
        assert_eq!(run.status(), Status::Pass);
        thread_clock() - before
    };
    let by_pipeline = || {
        let before = thread_clock();
        let prepared = PreparedProgram::compile(loaded.clone(), planned.clone()).expect("it compiles");
        let mut session = prepared.session().expect("a plain plan");
        let execution = session.execute(Box::new(SeededSource::new(Seed(0))), 0..1_000).expect("the machine is well");
        std::hint::black_box(prepared.record(&execution, Seed(0), RunMode::Run));
        thread_clock() - before
    };
    let pair = Pair::of(ROUNDS, by_library, by_pipeline);
    vec![Row::times("a short run by the library, beside the pipeline", &pair, Unit::Microseconds, Bound::Ratio(1.5))]
}
