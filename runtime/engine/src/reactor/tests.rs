//! Small components whose globals and data change with each call: walks over them end where straight calls do.

use super::*;
use crate::compile::build::Build;
use crate::compile::settings::Switches;
use fozzy_trace::Seed;
use fozzy_trace::source::SeededSource;

/// Two modules with globals, the second calling the first. `EXPORTED` and `START` are filled in.
const COMPONENT: &str = r#"(component
    (core module $a (memory (export "memory") 1) (data (i32.const 100) "abc") (data (i32.const 8192) "\00\00")
        (global $n EXPORTED (mut i32) (i32.const 5)) (global $w (mut i64) (i64.const 7)) (global $d (mut f64) (f64.const 0))
        (global $v (mut v128) (v128.const i64x2 1 2))
        START
        (func (export "bump") (param i32) (result i32)
            (global.set $n (i32.add (global.get $n) (local.get 0)))
            (global.set $w (i64.add (i64.mul (global.get $w) (i64.const 3)) (i64.extend_i32_u (global.get $n))))
            (global.set $d (f64.add (global.get $d) (f64.const 1.5)))
            (global.set $v (i64x2.add (global.get $v) (i64x2.splat (global.get $w))))
            (i32.store8 (i32.const 100) (i32.add (i32.load8_u (i32.const 100)) (local.get 0)))
            (i32.store8 (i32.const 8193) (local.get 0))
            (if (i32.eqz (i32.rem_u (local.get 0) (i32.const 7))) (then (drop (memory.grow (i32.const 1)))))
            (i32.store8 (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 9)) (local.get 0))
            (i32.add (i32.add (i32.wrap_i64 (global.get $w)) (i32.trunc_f64_s (global.get $d)))
                (i32.add (i32.wrap_i64 (i64x2.extract_lane 1 (global.get $v)))
                    (i32.add (i32.load8_u (i32.const 100)) (i32.load8_u (i32.const 101))))))
        (func (export "trap") (param i32) (result i32)
            (global.set $n (i32.const -1)) (i32.store8 (i32.const 101) (i32.const 1)) (i32.store8 (i32.const 9999) (i32.const 1))
            (drop (memory.grow (i32.const 2))) (i32.store (i32.const 66000) (local.get 0)) unreachable))
    (core instance $a (instantiate $a))
    (core module $b (import "a" "bump" (func $bump (param i32) (result i32))) (global $m (mut i32) (i32.const 1))
        (func (export "both") (param i32) (result i32)
            (global.set $m (i32.add (i32.mul (global.get $m) (i32.const 31)) (local.get 0)))
            (i32.xor (global.get $m) (call $bump (local.get 0)))))
    (core instance $b (instantiate $b (with "a" (instance $a))))
    (func (export "bump") (param "n" u32) (result u32) (canon lift (core func $a "bump")))
    (func (export "both") (param "n" u32) (result u32) (canon lift (core func $b "both")))
    (func (export "trap") (param "n" u32) (result u32) (canon lift (core func $a "trap"))))"#;

const START: &str = r#"(func $start (global.set $n (i32.add (global.get $n) (i32.load8_u (i32.const 100))))
    (i32.store8 (i32.const 100) (i32.add (i32.load8_u (i32.const 100)) (i32.const 3))) (i32.store8 (i32.const 20000) (i32.const 8)))
    (start $start)"#;

fn program(exported: &str, start: &str, build: &Build) -> Program {
    let text = COMPONENT.replace("EXPORTED", exported).replace("START", start);
    let bytes = wat::parse_str(text).expect("it assembles");
    Program::build(bytes.into(), Switches::default(), build, None).expect("it compiles")
}

fn started(program: &Program) -> Reactor {
    let source = Box::new(SeededSource::new(Seed(1)));
    Reactor::start(program.clone(), Arc::new(Plan::default()), &Inputs::default(), source).expect("it starts")
}

fn call(reactor: &mut Reactor, name: &str, argument: u32) -> u32 {
    let mut function = reactor.function::<(u32,), (u32,)>(name).expect("it exports that");
    reactor.call(&mut function, (argument,)).expect("it answers").0
}

fn end(reactor: &mut Reactor) {
    let mut function = reactor.function::<(u32,), (u32,)>("trap").expect("it exports that");
    assert!(matches!(reactor.call(&mut function, (9,)), Err(CallError::Ended { .. })));
}

/// A stream of small numbers (Knuth's generator, its upper bits).
fn next(state: &mut u64, bound: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % bound
}

fn walks(program: &Program, prepare: impl Fn(&mut Reactor)) {
    for seed in 0..12 {
        let mut state = seed;
        let mut reactor = started(program);
        prepare(&mut reactor);
        let mut way: Vec<(&str, u32, u32)> = Vec::new();
        let mut kept = vec![(reactor.checkpoint().expect("between calls"), way.clone())];
        for _ in 0..40 {
            // A look at what was written changes nothing.
            if way.len() % 2 == 1 {
                let _ = reactor.written_pages();
            }
            match next(&mut state, 8) {
                0 => kept.push((reactor.checkpoint().expect("between calls"), way.clone())),
                one @ 1..=3 => {
                    if one == 3 {
                        end(&mut reactor);
                    }
                    let (at, before) = &kept[next(&mut state, kept.len() as u64) as usize];
                    reactor.restore(*at).expect("it comes back");
                    way.clone_from(before);
                    if one == 2 {
                        reactor.verify().expect("every write was seen");
                    }
                }
                one => {
                    let name = if one < 6 { "bump" } else { "both" };
                    let argument = next(&mut state, 50) as u32;
                    way.push((name, argument, call(&mut reactor, name, argument)));
                }
            }
        }
        let mut straight = started(program);
        for (name, argument, answer) in way {
            assert_eq!(call(&mut straight, name, argument), answer, "seed {seed}");
        }
        assert_eq!(reactor.digest().expect("between calls"), straight.digest().expect("between calls"), "seed {seed}");
        assert_eq!(call(&mut reactor, "both", 3), call(&mut straight, "both", 3), "seed {seed}");
    }
}

#[test]
fn globals_and_data_come_back_however_they_are_set() {
    for build in [Build::fast(), Build::exact(), Build { marks: false, ..Build::fast() }] {
        for exported in ["", "(export \"n\")"] {
            for start in ["", START] {
                let program = program(exported, start, &build);
                assert_eq!(program.facts().access.as_ref().expect("it can be reached").starts, !start.is_empty());
                walks(&program, |_| ());
                walks(&program, |reactor| reactor.hold_at_most(0));
            }
        }
    }
}

#[test]
fn data_comes_back_with_every_tracker() {
    let program = program("", "", &Build::fast());
    for kind in TrackerKind::ALL {
        // What this machine does not have cannot be tried on it.
        if started(&program).track(kind).is_ok() {
            walks(&program, |reactor| reactor.track(kind).expect("it was there before"));
        }
    }
}

#[test]
fn what_is_written_after_a_look_at_the_marks_is_seen_all_the_same() {
    let program = program("", "", &Build::fast());
    let mut reactor = started(&program);
    assert_eq!(reactor.tracker(), Some(TrackerKind::Marks));
    let start = reactor.checkpoint().expect("between calls");
    let before = reactor.digest().expect("between calls");
    // The memory grows in each seventh.
    for arguments in [&[1][..], &[1, 7], &[7, 1, 14]] {
        for is_ended in [false, true] {
            assert_eq!(reactor.written_pages(), 0, "nothing was called");
            let (mut written, mut bytes) = (0, 0);
            for argument in arguments {
                call(&mut reactor, "bump", *argument);
                let (more, larger) = (reactor.written_pages(), reactor.memory_bytes());
                assert!(if larger > bytes { more > written } else { more >= written }, "{arguments:?}: {more}");
                assert_eq!(reactor.written_pages(), more, "nothing was called since");
                (written, bytes) = (more, larger);
            }
            if is_ended {
                end(&mut reactor);
                assert!(reactor.written_pages() > 0);
            }
            reactor.restore(start).expect("it comes back");
            reactor.verify().expect("every write was seen");
            assert_eq!(reactor.digest().expect("between calls"), before, "{arguments:?}, {is_ended}");
        }
    }
}

#[test]
fn a_module_takes_its_globals_only_when_they_are_its_own() {
    let handed = |exported: &str| {
        let program = program(exported, "", &Build::fast());
        program.facts().side_memories.iter().map(|side| side.globals.len()).collect::<Vec<_>>()
    };
    let slot = fozzy_instrument::SLOT_BYTES;
    assert_eq!(handed(""), [4 * slot, slot]);
    assert_eq!(handed("(export \"n\")"), [0, slot]);
}

#[test]
fn a_build_with_fuel_says_what_is_left_of_it_and_one_without_has_none() {
    let fuel = |build: &Build| {
        let mut reactor = started(&program("", "", build));
        let before = reactor.fuel();
        call(&mut reactor, "bump", 1);
        (before, reactor.fuel())
    };
    let (Some(before), Some(after)) = fuel(&Build::exact()) else { panic!("it has fuel") };
    assert!(after < before, "{before}, {after}");
    assert_eq!(fuel(&Build::fast()), (None, None));
}

#[test]
fn calls_are_made_again_with_what_the_host_was_told_before_each() {
    let program = program("", "", &Build::fast());
    let walk = |reactor: &mut Reactor, steps: std::ops::Range<u32>| {
        let mut bump = reactor.function::<(u32,), (u32,)>("bump").expect("it exports that");
        let mut both = reactor.function::<(u32,), (u32,)>("both").expect("it exports that");
        for step in steps {
            reactor.announce(0, StepId::Step(step)).expect("the guest has not ended");
            // One call of either function, none, or several.
            match step % 5 {
                0 => {}
                1 => reactor.call(&mut both, (step,)).map(drop).expect("it answers"),
                calls => (1..calls).for_each(|call| reactor.call(&mut bump, (call,)).map(drop).expect("it answers")),
            }
        }
    };
    let mut reactor = started(&program);
    reactor.hold_at_most(0);
    let root = reactor.checkpoint().expect("between calls");
    let mut kept = Vec::new();
    for round in 1..4 {
        walk(&mut reactor, 0..9 * round);
        kept.push((9 * round, reactor.checkpoint().expect("between calls")));
        // Calls that are forgotten.
        walk(&mut reactor, 3..8);
        reactor.restore(root).expect("it comes back");
    }
    for (steps, checkpoint) in kept {
        let restored = reactor.restore(checkpoint).expect("it comes back");
        assert!(matches!(restored, RestoreMethod::Repeated { calls } if calls > 0), "{restored:?}");
        let mut straight = started(&program);
        walk(&mut straight, 0..steps);
        assert_eq!(reactor.history().digest, straight.history().digest, "{steps} steps");
        assert_eq!(reactor.digest().expect("between calls"), straight.digest().expect("between calls"));
    }
}

#[test]
fn a_call_after_which_only_a_restore_follows_is_as_any_other_and_never_made_again() {
    let program = program("", "", &Build::fast());
    for is_held in [true, false] {
        let mut reactor = started(&program);
        let root = reactor.checkpoint().expect("between calls");
        let mut bump = reactor.function::<(u32,), (u32,)>("bump").expect("it exports that");
        let mut trap = reactor.function::<(u32,), (u32,)>("trap").expect("it exports that");
        call(&mut reactor, "bump", 3);
        let kept = reactor.checkpoint().expect("between calls");
        let expected = reactor.digest().expect("between calls");
        if !is_held {
            reactor.hold_at_most(0);
        }
        for argument in [7, 7, 5] {
            let answer = reactor.call_last(&mut bump, (argument,)).expect("it answers").0;
            let mut straight = started(&program);
            call(&mut straight, "bump", 3);
            assert_eq!(answer, call(&mut straight, "bump", argument), "{argument}");
            assert!(matches!(reactor.call_last(&mut trap, (9,)), Err(CallError::Ended { .. })));
            assert!(matches!(reactor.call_last(&mut bump, (9,)), Err(CallError::Over)));
            // Where states are not held, the way to it is its own call alone.
            reactor.restore(root).expect("it comes back");
            let restored = reactor.restore(kept).expect("it comes back");
            let ways = [RestoreMethod::InPlace, RestoreMethod::Repeated { calls: 1 }];
            assert_eq!(restored, ways[usize::from(!is_held)]);
            assert_eq!(reactor.digest().expect("between calls"), expected, "{argument}");
        }
        // After a restore it can be kept again.
        let again = reactor.checkpoint().expect("between calls");
        reactor.call_last(&mut bump, (2,)).map(drop).expect("it answers");
        reactor.restore(again).expect("it comes back");
        assert_eq!(reactor.digest().expect("between calls"), expected);
    }
}

#[test]
fn the_longest_unused_states_are_evicted_first() {
    let program = program("", "", &Build::fast());
    let mut reactor = started(&program);
    let root = reactor.checkpoint().expect("between calls");
    let mut kept = Vec::new();
    for number in 1..6 {
        reactor.restore(root).expect("it comes back");
        call(&mut reactor, "bump", number);
        kept.push(reactor.checkpoint().expect("between calls"));
    }
    let held = [kept[3], kept[0], root];
    let comes_back = |reactor: &mut Reactor| {
        for checkpoint in held {
            assert_eq!(reactor.restore(checkpoint).expect("it comes back"), RestoreMethod::InPlace);
        }
    };
    comes_back(&mut reactor);
    // No state is beside another one's but the root's, so that each is evicted alone.
    while reactor.holdings().with_state > held.len() as u64 {
        let bytes = reactor.holdings().bytes;
        reactor.hold_at_most(bytes - 1);
    }
    comes_back(&mut reactor);
    let restored = reactor.restore(kept[4]).expect("it comes back");
    assert_eq!(restored, RestoreMethod::Repeated { calls: 1 });
}
