//! Steps of a scenario that are taken in one call: as with a call for each of them, to the last instruction.
//!
//! ```text
//! session    steps together      ─▶ Execution ─┐
//! another    a call for each     ─▶ Execution ─┴─ equal: end, history, memory, facts, instructions, stacks
//! recorded   of the first's history, in both ways ─▶ the same again
//! shown      what is written, once, also by an execution that is begun again
//! ```
//!
//! Not here: interruptions between steps (`settings`), the loop (`fozzy-instrument`).

use crate::corpus;
use fozzy_engine::{Cache, Program, Session, Switches};
use fozzy_trace::plan::{FaultPlan, Inputs, Limits, MachinePlan, ScenarioPlan};
use fozzy_trace::source::{RecordedSource, SeededSource};
use fozzy_trace::{DecisionSource, Duration, Execution, ExecutionEnd, Executor, Plan, Seed};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Calls whose entries are compared, beside the digest of all.
const KEPT: u64 = 5000;

fn compiled(file: &Path) -> Program {
    let bytes = std::fs::read(file).expect("the scenario is built");
    let component = fozzy_engine::load(&bytes, None).expect("a component").component;
    let cache = Cache::open(&crate::fozzy::cache_folder()).expect("the target folder can be written");
    Program::new(component.into(), Switches::of(&Plan::default()), Some(&cache)).expect("it compiles")
}

fn steps(sequences: u32, flows: u32) -> Plan {
    Plan { scenario: Some(ScenarioPlan::all(sequences, flows)), ..Plan::default() }
}

/// A session of each way: with steps together, and with a call for each.
fn both(program: &Program, plan: &Plan) -> [Session; 2] {
    let session = || Session::new(program.clone(), Arc::new(plan.clone()), &Inputs::default()).expect("a plain plan");
    let (together, mut apart) = (session(), session());
    apart.part_steps();
    [together, apart]
}

fn seeded(seed: u64) -> Box<dyn DecisionSource> {
    Box::new(SeededSource::new(Seed(seed)))
}

/// What an execution is in both ways.
fn executed(sessions: &mut [Session; 2], source: &dyn Fn() -> Box<dyn DecisionSource>, what: &str) -> Execution {
    let [one, other] =
        sessions.each_mut().map(|session| session.execute(source(), 0..KEPT).expect("the machine is fit"));
    assert_eq!(format!("{one:?}"), format!("{other:?}"), "{what}");
    one
}

/// The same for a seed, and for a recording of it.
fn same(sessions: &mut [Session; 2], seed: u64, what: &str) -> Execution {
    let what = format!("{what} with seed {seed}");
    let first = executed(sessions, &|| seeded(seed), &what);
    let recorded =
        || -> Box<dyn DecisionSource> { Box::new(RecordedSource::new(Seed(seed), first.history.explicit.clone())) };
    let again = executed(sessions, &recorded, &what);
    assert_eq!((again.history.digest, again.fuel_used), (first.history.digest, first.fuel_used), "{what}, again");
    first
}

#[test]
fn scenarios_are_the_same_with_their_steps_in_one_call() {
    let mut skipped = 0;
    for name in ["bank", "queue", "cache", "parser", "counter"] {
        for fixed in [false, true] {
            let mut sessions = both(&compiled(&corpus::scenario(name, fixed)), &steps(3, 60));
            for seed in 0..4 {
                let execution = same(&mut sessions, seed, name);
                let stats = execution.facts.scenario.iter().flat_map(|scenario| &scenario.flows);
                skipped += stats.flat_map(|flow| flow.skipped.values()).sum::<u64>();
            }
            let [together, apart] = &sessions;
            assert_eq!(apart.taken_together(), (0, 0));
            // The parser has no steps: rounds of a fuzz target and a property.
            let expected = if name == "parser" { 0 } else { 8 };
            let (taken, parted) = together.taken_together();
            assert!(!fixed || (taken, parted) == (expected, 0), "{name}: {taken} together, {parted} parted");
        }
    }
    assert!(skipped > 0, "flows of the bank find nothing to do");
}

#[test]
fn whatever_ends_a_step_ends_it_in_one_call_too() {
    let program = compiled(&corpus::component("misfits"));
    let limits = Limits { fuel: 5_000_000, memory_bytes: 64 << 20, ..Limits::default() };
    for how in [
        "fine",
        "stuck",
        "wrong-flow",
        "choose-0",
        "probability",
        "empty-alphabet",
        "panic",
        "for-ever",
        "recursion",
        "allocation",
        "deadlock",
        "operation-twice",
        "free-twice",
        "http-status",
        "skips",
        "always",
    ] {
        let main = MachinePlan { args: vec!["misfits".to_owned(), how.to_owned()], ..MachinePlan::default() };
        let mut sessions = both(&program, &Plan { main, limits: limits.clone(), ..steps(2, 5) });
        same(&mut sessions, 7, how);
        assert!(sessions[0].taken_together().0 > 0, "{how}");
    }
}

#[test]
fn what_an_execution_writes_that_is_begun_again_is_shown_once() {
    let main = MachinePlan { args: vec!["misfits".to_owned(), "panic".to_owned()], ..MachinePlan::default() };
    let [mut session, _] = both(&compiled(&corpus::component("misfits")), &Plan { main, ..steps(2, 5) });
    let shown = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&shown);
    session.watch(Box::new(move |_, _, bytes| seen.lock().expect("one thread").extend_from_slice(bytes)));
    let execution = session.execute(seeded(7), 0..0).expect("the machine is fit");
    assert_eq!(session.taken_together(), (1, 1));
    let shown = String::from_utf8_lossy(&shown.lock().expect("one thread")).into_owned();
    assert!(shown.contains("the flow panics"), "{shown}");
    assert_eq!(shown, String::from_utf8_lossy(execution.stderr.kept()));
}

#[test]
fn bounds_and_outages_meet_steps_in_one_call_where_they_do_others() {
    let (bank, cache) = (compiled(&corpus::scenario("bank", true)), compiled(&corpus::scenario("cache", true)));
    let all = Limits::default();
    for (limits, what) in [
        (Limits { fuel: 100_000, ..all.clone() }, "instructions"),
        (Limits { time: Some(Duration(u64::MAX)), calls: Some(57), ..all }, "calls"),
    ] {
        same(&mut both(&bank, &Plan { limits, ..steps(3, 60) }), 1, what);
    }
    let (kind, target, start) = ("power-loss".to_owned(), "*".to_owned(), Duration(0));
    let fault =
        FaultPlan { kind, target, rate_ppm: 20_000, start, length: None, strength: None, times: None, nemesis: None };
    let mut sessions = both(&cache, &Plan { faults: vec![fault], ..steps(8, 40) });
    same(&mut sessions, 7, "losses of power");
    assert_eq!(sessions[0].taken_together(), (2, 0), "what the host ends is the same");
}

/// A scenario of one flow, whose every second step finds nothing to do; a function frees its results.
const SKIPPING: &str = r#"(module
    (memory (export "memory") 1)
    ;; The name, the flows (one), the invariants (none); its name, and its weight; letters; two results.
    (data (i32.const 0) "\40\00\00\00\01\00\00\00\20\00\00\00\01\00\00\00")
    (data (i32.const 32) "\40\00\00\00\01\00\00\00\01")
    (data (i32.const 64) "full")
    (data (i32.const 160) "\01\00\00\00\00\00\00\00\40\00\00\00\04\00\00\00")
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
    (func $work (param $n i32)
      (loop $more (br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
    (func (export "fozzy:scenario/stateful@0.1.0#describe") (result i32) i32.const 0)
    (func (export "fozzy:scenario/stateful@0.1.0#begin-sequence") (param i32))
    (func (export "fozzy:scenario/stateful@0.1.0#step") (param i32) (result i32)
      (call $work (i32.const 100))
      (select (i32.const 160) (i32.const 128) (i32.and (local.get 0) (i32.const 1))))
    (func (export "cabi_post_fozzy:scenario/stateful@0.1.0#step") (param i32)
      (i32.store (i32.const 300) (i32.add (i32.load (i32.const 300)) (local.get 0)))
      (call $work (i32.const 3)))
    (func (export "fozzy:scenario/stateful@0.1.0#end-sequence") (param i32)
      (call $work (i32.const 3))))"#;

#[test]
fn instructions_run_out_where_they_do_with_a_call_for_each_step() {
    let component = fozzy_engine::load(SKIPPING.as_bytes(), None).expect("a program").component;
    let program = Program::new(component.into(), Switches::default(), None).expect("it compiles");
    let plan = |fuel: u64| Plan { limits: Limits { fuel, ..Limits::default() }, ..steps(2, 4) };
    let mut sessions = both(&program, &plan(Limits::default().fuel));
    let whole = same(&mut sessions, 7, "all of it");
    assert_eq!((whole.end, sessions[0].taken_together()), (ExecutionEnd::Exited { code: 0 }, (2, 0)));
    let scenario = whole.facts.scenario.expect("it is a scenario");
    let flow = &scenario.flows[0];
    assert!((flow.run, flow.skipped.get("full")) == (4, Some(&4)), "{flow:?}");
    // Each instruction of a step, and what is around it.
    let mut parted = 0;
    for fuel in whole.fuel_used - 1000..whole.fuel_used + 3 {
        let mut sessions = both(&program, &plan(fuel));
        let ended = executed(&mut sessions, &|| seeded(7), &format!("{fuel} instructions"));
        let is_out = matches!(ended.end, ExecutionEnd::FuelExhausted { .. });
        assert!(is_out || ended.end == ExecutionEnd::Exited { code: 0 }, "{fuel} instructions: {:?}", ended.end);
        assert!(is_out || fuel >= whole.fuel_used - 500, "{fuel} instructions are too few");
        parted += sessions[0].taken_together().1;
    }
    assert!(parted > 500, "{parted} were begun again");
}

#[test]
fn a_result_that_is_none_is_refused_in_one_call_too() {
    const RESULT: &str = "(select (i32.const 160) (i32.const 128) (i32.and (local.get 0) (i32.const 1)))";
    for (what, place, data) in [
        ("not at a multiple of four", 129, ""),
        ("its end is behind the memory", 65_524, ""),
        ("behind the memory", 70_000, ""),
        ("of another case", 400, r#"(data (i32.const 400) "\07")"#),
        ("of a flow that is not there", 400, r#"(data (i32.const 404) "\09")"#),
        ("its label is behind the memory", 400, r#"(data (i32.const 400) "\01\00\00\00\00\00\00\00\00\00\ff\00\04")"#),
        (
            "its label is no text",
            400,
            r#"(data (i32.const 400) "\01\00\00\00\00\00\00\00\a0\01\00\00\01\00\00\00\ff")"#,
        ),
        ("as it may be", 160, ""),
    ] {
        let result = format!("(if (result i32) (local.get 0) (then (i32.const {place})) (else (i32.const 128)))");
        let text = SKIPPING.replace(RESULT, &result).replace("(func $work", &format!("{data} (func $work"));
        let component = fozzy_engine::load(text.as_bytes(), None).expect("a program").component;
        let program = Program::new(component.into(), Switches::default(), None).expect("it compiles");
        let mut sessions = both(&program, &steps(1, 4));
        let ended = executed(&mut sessions, &|| seeded(7), what);
        let is_fine = what == "as it may be";
        assert_eq!(ended.end == ExecutionEnd::Exited { code: 0 }, is_fine, "{what}: {:?}", ended.end);
        assert_eq!(sessions[0].taken_together(), (1, u64::from(!is_fine)), "{what}");
    }
}
