//! A test for each setting that makes wasmtime deterministic (`runtime/engine/src/compile/settings.rs`).
//!
//! ```text
//! (func $answer (result i32) …)  ─▶  component that exits with the answer  ─▶  Execution
//! ```

use fozzy_engine::{Interrupt, Program, Session, Switches};
use fozzy_trace::plan::{Inputs, ScenarioPlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Execution, ExecutionEnd, Executor, Plan, Seed};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A component whose exit code is what `$answer` computes; `declarations` may hold anything of a module.
fn component(declarations: &str) -> String {
    format!(
        r#"(component
            (import "wasi:cli/exit@0.2.12" (instance $exit
                (export "exit-with-code" (func (param "status-code" u8)))))
            (import "wasi:io/poll@0.2.12" (instance $poll (export "pollable" (type (sub resource)))))
            (alias export $poll "pollable" (type $pollable))
            (import "wasi:clocks/monotonic-clock@0.2.12" (instance $clock
                (alias outer 1 $pollable (type $p))
                (export "pollable" (type (eq $p)))
                (export "subscribe-duration" (func (param "when" u64) (result (own 1))))))
            (core func $exit-core (canon lower (func $exit "exit-with-code")))
            (core func $subscribe-core (canon lower (func $clock "subscribe-duration")))
            (core module $m
                (import "host" "exit" (func $exit (param i32)))
                (import "host" "subscribe" (func $subscribe (param i64) (result i32)))
                {declarations}
                (func (export "run") (result i32) (call $exit (call $answer)) (i32.const 0)))
            (core instance $i (instantiate $m (with "host" (instance
                (export "exit" (func $exit-core))
                (export "subscribe" (func $subscribe-core))))))
            (func $run (result (result)) (canon lift (core func $i "run")))
            (instance $cli (export "run" (func $run)))
            (export "wasi:cli/run@0.2.12" (instance $cli)))"#
    )
}

fn program(declarations: &str, plan: &Plan) -> Result<Program, String> {
    let loaded = fozzy_engine::load(component(declarations).as_bytes(), None).map_err(|error| error.to_string())?;
    Program::new(loaded.component.into(), Switches::of(plan), None).map_err(|error| error.to_string())
}

fn run_with(declarations: &str, plan: Plan) -> Execution {
    let program = program(declarations, &plan).expect("a valid component");
    let mut session = Session::new(program, Arc::new(plan), &Inputs::default()).expect("a plain plan");
    session.execute(Box::new(SeededSource::new(Seed(7))), 0..0).expect("the machine is fit")
}

fn run(declarations: &str) -> Execution {
    run_with(declarations, Plan::default())
}

fn trap_of(execution: &Execution) -> &str {
    match &execution.end {
        ExecutionEnd::Trapped { trap } => trap,
        other => panic!("expected a trap, found {other:?}"),
    }
}

#[test]
fn nans_have_one_bit_pattern() {
    // A NaN with a payload goes in; the canonical one comes out.
    let bits = "(func $answer (result i32)
        (i32.eq (i32.const 0x7fc00000)
            (i32.reinterpret_f32 (f32.add (f32.const nan:0x200001) (f32.const 1)))))";
    assert_eq!(run(bits).end, ExecutionEnd::Exited { code: 1 });
    if cfg!(target_arch = "x86_64") {
        // The switch does something: without it this processor keeps the payload.
        let plan = Plan { canonical_nans: false, ..Plan::default() };
        assert_eq!(run_with(bits, plan).end, ExecutionEnd::Exited { code: 0 });
    }
}

#[test]
fn relaxed_simd_has_one_answer() {
    // Lane 0 selects index 16: zero by the deterministic rule, lane 0 (9) by x86's own instruction.
    let swizzle = "(func $answer (result i32)
        (i8x16.extract_lane_u 0 (i8x16.relaxed_swizzle
            (v128.const i8x16 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9)
            (v128.const i8x16 16 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0))))";
    assert_eq!(run(swizzle).end, ExecutionEnd::Exited { code: 0 });
}

#[test]
fn threads_are_refused() {
    let shared = "(memory 1 1 shared) (func $answer (result i32) (i32.const 0))";
    let error = program(shared, &Plan::default()).err().expect("refused");
    assert!(error.contains("threads") || error.contains("shared"), "{error}");
}

#[test]
fn endless_loops_end_at_the_same_instruction() {
    let endless = "(func $answer (result i32) (loop $l (br $l)) (i32.const 0))";
    let limits = fozzy_trace::plan::Limits { fuel: 1_000_000, ..Default::default() };
    let plan = Plan { limits, ..Plan::default() };
    let (one, two) = (run_with(endless, plan.clone()), run_with(endless, plan));
    assert_eq!(one.end, ExecutionEnd::FuelExhausted { fuel: 1_000_000 });
    assert_eq!((one.end, one.fuel_used, one.memory), (two.end, two.fuel_used, two.memory));
}

#[test]
fn recursion_ends_at_the_same_call() {
    let deep = "(global $depth (mut i32) (i32.const 0)) (memory (export \"memory\") 1)
        (func $down (global.set $depth (i32.add (global.get $depth) (i32.const 1)))
            (i32.store (i32.const 0) (global.get $depth)) (call $down))
        (func $answer (result i32) (call $down) (i32.const 0))";
    let (one, two) = (run(deep), run(deep));
    assert_eq!(trap_of(&one), "call stack exhausted");
    // The depth reached stands in memory, so equal memory is equal depth.
    assert_eq!(one.memory, two.memory);
    let own = "(func $answer (result i32) (unreachable))";
    assert_eq!(trap_of(&run(own)), "wasm `unreachable` instruction executed");
}

#[test]
fn memory_ends_at_the_same_page() {
    // Grows page by page until -1 and answers the pages it got.
    let grow = "(memory 1) (func $answer (result i32)
        (block $full (loop $more (br_if $full (i32.eq (memory.grow (i32.const 1)) (i32.const -1))) (br $more)))
        (memory.size))";
    let limits = fozzy_trace::plan::Limits { memory_bytes: 37 * 65_536, ..Default::default() };
    let execution = run_with(grow, Plan { limits, ..Plan::default() });
    assert_eq!(execution.end, ExecutionEnd::Exited { code: 37 });
    assert_eq!(execution.memory_bytes, 37 * 65_536);
}

#[test]
fn growth_beyond_what_a_memory_can_be_is_refused_to_the_guest() {
    // Beyond four gigabytes, beyond the declared maximum, by as many pages as a number can say.
    for (memory, pages) in [("1", "65536"), ("1", "-1"), ("1 2", "5"), ("1 2", "-1")] {
        let grow = format!(
            "(memory {memory}) (func $answer (result i32)
                (i32.eq (memory.grow (i32.const {pages})) (i32.const -1)))"
        );
        let limits = fozzy_trace::plan::Limits { memory_bytes: 8 << 30, ..Default::default() };
        let plan = Plan { limits, ..Plan::default() };
        assert_eq!(run_with(&grow, plan).end, ExecutionEnd::Exited { code: 1 }, "{memory} by {pages}");
    }
}

#[test]
fn a_program_that_starts_too_large_is_an_error_of_the_plan() {
    let limits = fozzy_trace::plan::Limits { memory_bytes: 65_536, ..Default::default() };
    let plan = Plan { limits, ..Plan::default() };
    let program = program("(memory 2) (func $answer (result i32) (i32.const 0))", &plan).expect("valid");
    let mut session = Session::new(program, Arc::new(plan), &Inputs::default()).expect("a plain plan");
    let error = session.execute(Box::new(SeededSource::new(Seed(7))), 0..0).expect_err("too little memory");
    assert!(error.what.contains("--mem-limit-mb"), "{}", error.what);
}

#[test]
fn handles_are_bounded() {
    let hoard = "(func $answer (result i32)
        (loop $more (drop (call $subscribe (i64.const 1))) (br $more)) (i32.const 0))";
    let (one, two) = (run(hoard), run(hoard));
    assert!(trap_of(&one).contains("handle"), "{}", trap_of(&one));
    assert_eq!(one.history.calls, two.history.calls);
}

#[test]
fn tables_are_bounded() {
    let grow = "(table $t 1 funcref) (func $answer (result i32)
        (i32.eq (i32.const -1) (table.grow $t (ref.null func) (i32.const 0x7fffffff))))";
    assert_eq!(run(grow).end, ExecutionEnd::Exited { code: 1 });
}

#[test]
fn asynchronous_components_are_refused_not_scheduled_by_chance() {
    let text = "(component (core func (canon waitable-set.new)))";
    let loaded = fozzy_engine::load(text.as_bytes(), None).expect("it assembles");
    let error = Program::new(loaded.component.into(), Switches::default(), None).err().expect("refused");
    assert!(error.to_string().contains("async"), "{error}");
}

#[test]
fn the_configuration_digest_names_the_switches() {
    let (on, off) = (Switches::default(), Switches { canonical_nans: false, ..Switches::default() });
    assert_ne!(on.configuration(), off.configuration());
}

#[test]
fn looks_for_an_interruption_change_nothing_and_an_interruption_leaves_nothing() {
    /// Some looks of a guest, each after many instructions.
    const LOOKS: u32 = 2;
    let answer = r#"
        (memory (export "memory") 1)
        (func $answer (result i32) (local $n i32)
            (loop $more
                (i32.store (i32.const 8) (local.tee $n (i32.add (local.get $n) (i32.const 1))))
                (br_if $more (i32.lt_u (local.get $n) (i32.const 8_000_000))))
            (local.get $n))"#;
    for fuel in [Plan::default().limits.fuel, 50_000_001] {
        let mut plan = Plan::default();
        plan.limits.fuel = fuel;
        let program = program(answer, &plan).expect("a valid component");
        let mut session = Session::new(program, Arc::new(plan), &Inputs::default()).expect("a plain plan");
        let mut execute = |interrupt: &Interrupt| {
            session.interrupt_by(interrupt.clone());
            session.execute(Box::new(SeededSource::new(Seed(7))), 0..100)
        };
        let quiet = execute(&Interrupt::default()).expect("the machine is fit");
        let (interrupt, looks) = (Interrupt::default(), Arc::new(AtomicU32::new(0)));
        let counted = Arc::clone(&looks);
        interrupt.arm(Arc::new(move || counted.fetch_add(1, Ordering::Relaxed) == u32::MAX));
        let watched = execute(&interrupt).expect("the machine is fit");
        assert!(looks.load(Ordering::Relaxed) >= LOOKS, "{looks:?}");
        assert_eq!(format!("{watched:?}"), format!("{quiet:?}"), "the same to the last instruction");
        interrupt.arm(Arc::new(|| true));
        assert!(execute(&interrupt).is_err_and(|error| error.is_interruption()) && interrupt.has_struck());
        interrupt.disarm();
        assert_eq!(format!("{:?}", execute(&interrupt).expect("the machine is fit")), format!("{quiet:?}"));
    }
}

/// A scenario whose steps go around a loop so many times in one of its sequences, and once in the others; in all of them if there is none
/// of that number.
fn looping_scenario(rounds: u32, one: Option<u32>) -> String {
    let is_long =
        one.map_or("(i32.const 1)".to_owned(), |one| format!("(i32.eq (global.get $sequence) (i32.const {one}))"));
    format!(
        r#"(module
          (memory (export "memory") 1)
          (global $sequence (mut i32) (i32.const 0))
          ;; The name, the flows (one), the invariants (none); its name, and its weight.
          (data (i32.const 0) "\40\00\00\00\01\00\00\00\20\00\00\00\01\00\00\00")
          (data (i32.const 32) "\40\00\00\00\01\00\00\00\01")
          (data (i32.const 64) "f")
          (func (export "fozzy:scenario/stateful@0.1.0#describe") (result i32) i32.const 0)
          (func (export "fozzy:scenario/stateful@0.1.0#begin-sequence") (param i32)
            (global.set $sequence (local.get 0)))
          (func (export "fozzy:scenario/stateful@0.1.0#step") (param i32) (result i32) (local $n i32)
            (local.set $n (select (i32.const {rounds}) (i32.const 1) {is_long}))
            (loop $more (br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
            (i32.store (i32.const 200) (i32.add (i32.load (i32.const 200)) (i32.const 1)))
            i32.const 128)
          (func (export "fozzy:scenario/stateful@0.1.0#end-sequence") (param i32)))"#
    )
}

#[test]
fn a_scenario_that_can_be_interrupted_is_the_same_however_long_its_steps_are() {
    let default = Plan::default().limits.fuel;
    // Steps that are looked at between them, and some that take too long for that; to their end, and to that of their instructions.
    for (rounds, fuel) in
        [(1, default), (1_000_000, default), (1_000_000, 30_000_001), (6_000_000, default), (6_000_000, 25_000_001)]
    {
        let mut plan = Plan { scenario: Some(ScenarioPlan::all(4, 12)), ..Plan::default() };
        plan.limits.fuel = fuel;
        let loaded = fozzy_engine::load(looping_scenario(rounds, Some(2)).as_bytes(), None).expect("a program");
        let program = Program::new(loaded.component.into(), Switches::of(&plan), None).expect("it compiles");
        let mut session = Session::new(program, Arc::new(plan), &Inputs::default()).expect("a plain plan");
        let mut execute = |interrupt: &Interrupt| {
            session.interrupt_by(interrupt.clone());
            session.execute(Box::new(SeededSource::new(Seed(7))), 0..100)
        };
        let quiet = execute(&Interrupt::default()).expect("the machine is fit");
        assert_eq!(quiet.end == ExecutionEnd::Exited { code: 0 }, fuel == default, "{:?}", quiet.end);
        let (interrupt, looks) = (Interrupt::default(), Arc::new(AtomicU32::new(0)));
        let counted = Arc::clone(&looks);
        interrupt.arm(Arc::new(move || counted.fetch_add(1, Ordering::Relaxed) == u32::MAX));
        for again in [false, true] {
            let watched = execute(&interrupt).expect("the machine is fit");
            assert_eq!(format!("{watched:?}"), format!("{quiet:?}"), "{rounds} rounds, {fuel} fuel, again {again}");
        }
        if rounds == 1 {
            continue;
        }
        assert!(looks.load(Ordering::Relaxed) > 0, "{rounds} rounds, {fuel} fuel");
        interrupt.arm(Arc::new(|| true));
        assert!(execute(&interrupt).is_err_and(|error| error.is_interruption()), "{rounds} rounds, {fuel} fuel");
        interrupt.disarm();
        assert_eq!(format!("{:?}", execute(&interrupt).expect("the machine is fit")), format!("{quiet:?}"));
    }
}

#[test]
fn instructions_that_a_call_used_beyond_what_it_was_given_are_not_forgiven() {
    const DESCRIBE: &str = "(result i32) i32.const 0)";
    // A long loop, in which it is looked at what is left, and a long way without a look behind it: in a call after which none follows
    // in its instance.
    let described = |rounds: u32| {
        let way = "(local.set $n (i32.add (local.get $n) (i32.const 1)))".repeat(500);
        let long = format!(
            "(result i32) (local $n i32) (local.set $n (i32.const {rounds}))
             (loop $more (br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1))))) {way} i32.const 0)"
        );
        let text = looping_scenario(1, Some(2));
        assert_eq!(text.matches(DESCRIBE).count(), 1);
        text.replace(DESCRIBE, &long)
    };
    let mut ends = Vec::new();
    for rounds in [3_999_500, 3_999_700, 3_999_800, 3_999_900] {
        let mut plan = Plan { scenario: Some(ScenarioPlan::all(1, 2)), ..Plan::default() };
        plan.limits.fuel = 20_000_800;
        let loaded = fozzy_engine::load(described(rounds).as_bytes(), None).expect("a program");
        let program = Program::new(loaded.component.into(), Switches::of(&plan), None).expect("it compiles");
        let execute = |interrupt: Interrupt| {
            let mut session =
                Session::new(program.clone(), Arc::new(plan.clone()), &Inputs::default()).expect("a plan");
            session.interrupt_by(interrupt);
            session.execute(Box::new(SeededSource::new(Seed(7))), 0..100).expect("the machine is fit")
        };
        let quiet = execute(Interrupt::default());
        let armed = Interrupt::default();
        armed.arm(Arc::new(|| false));
        assert_eq!(format!("{:?}", execute(armed)), format!("{quiet:?}"), "{rounds} rounds");
        ends.push(quiet.end == ExecutionEnd::Exited { code: 0 });
    }
    assert!(ends.contains(&true) && ends.contains(&false), "{ends:?}");
}

#[test]
fn a_scenario_of_many_sequences_is_looked_at_between_them() {
    // No sequence has as many instructions as there are between two looks.
    let plan = Plan { scenario: Some(ScenarioPlan::all(20, 1)), ..Plan::default() };
    let loaded = fozzy_engine::load(looping_scenario(1_000_000, None).as_bytes(), None).expect("a program");
    let program = Program::new(loaded.component.into(), Switches::of(&plan), None).expect("it compiles");
    let mut session = Session::new(program, Arc::new(plan), &Inputs::default()).expect("a plain plan");
    let interrupt = Interrupt::default();
    session.interrupt_by(interrupt.clone());
    let mut execute = || session.execute(Box::new(SeededSource::new(Seed(7))), 0..100);
    let quiet = format!("{:?}", execute().expect("the machine is fit"));
    let looks = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&looks);
    interrupt.arm(Arc::new(move || counted.fetch_add(1, Ordering::Relaxed) == u32::MAX));
    assert_eq!(format!("{:?}", execute().expect("the machine is fit")), quiet);
    assert!(looks.load(Ordering::Relaxed) > 1, "{looks:?}");
    interrupt.arm(Arc::new(|| true));
    assert!(execute().is_err_and(|error| error.is_interruption()) && interrupt.has_struck());
}
