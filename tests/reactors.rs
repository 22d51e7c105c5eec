//! Components that are called from outside, and brought back to where they were.
//!
//! ```text
//! walk       call · checkpoint · call · restore · call …       with one tracker, one budget, or after traps
//! straight   the calls that the walk's end goes back to        on a fresh instance
//!            equal answers, and equal digests: memories, globals, handles, time, history
//! ```
//!
//! `FOZZY_LONG=1` makes the 10,000 walks that the issue demands of each way; otherwise it is fewer of them.

use crate::corpus;
use fozzy_engine::{Build, CallError, CheckpointId, Function, Program, Reactor, Restored, Switches, TrackerKind};
use fozzy_trace::plan::{self, Inputs};
use fozzy_trace::source::Seeded;
use fozzy_trace::{End, Plan, Seed};
use std::sync::{Arc, OnceLock};

const WALKS: u64 = 10_000;
const WALKS_SHORT: u64 = 60;
const CALLS: u64 = 14;

fn walks() -> u64 {
    if std::env::var_os("FOZZY_LONG").is_some() { WALKS } else { WALKS_SHORT }
}

fn component() -> Arc<[u8]> {
    static WALKER: OnceLock<Arc<[u8]>> = OnceLock::new();
    let bytes = || std::fs::read(corpus::component("walker")).expect("the walker was built").into();
    Arc::clone(WALKER.get_or_init(bytes))
}

fn program(component: Arc<[u8]>, build: &Build) -> Program {
    Program::build(component, Switches { canonical_nans: true }, build, None).expect("the walker compiles")
}

fn fast() -> Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| program(component(), &Build::fast())).clone()
}

fn plan() -> Arc<Plan> {
    Arc::new(Plan { main: plan::Machine::default(), ..Plan::default() })
}

fn start(program: Program, seed: u64) -> Reactor {
    let source = Box::new(Seeded::new(Seed(seed)));
    Reactor::start(program, plan(), &Inputs::default(), source).expect("the walker starts")
}

/// A stream of small numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        // Knuth's generator, its upper bits.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

type Step = Function<(u32, u32), (String,)>;

fn step_of(reactor: &mut Reactor) -> (Step, u64) {
    let mut kinds: Function<(), (u32,)> = reactor.function("kinds").expect("it exports that");
    let (count,) = reactor.call(&mut kinds, ()).expect("it answers");
    (reactor.function("step").expect("it exports that"), u64::from(count))
}

/// What a walk leads to: the calls from the start, and their answers.
#[derive(Clone, Default)]
struct Way(Vec<((u32, u32), String)>);

/// Walks at random, and checks that the end is where the same calls lead without any checkpoint.
fn walk(reactor: &mut Reactor, seed: u64, traps: bool) -> Vec<Restored> {
    let mut numbers = Numbers(seed);
    let (mut step, kinds) = step_of(reactor);
    let mut way = Way::default();
    let mut kept: Vec<(CheckpointId, Way)> = vec![(reactor.checkpoint().expect("between calls"), way.clone())];
    let mut restored = Vec::new();
    let mut back = |reactor: &mut Reactor, kept: &[(CheckpointId, Way)], numbers: &mut Numbers| {
        let (checkpoint, way) = &kept[numbers.below(kept.len() as u64) as usize];
        restored.push(reactor.restore(*checkpoint).expect("it can be brought back"));
        reactor.verify().expect("every write was seen");
        way.clone()
    };
    for _ in 0..CALLS {
        match numbers.below(10) {
            0..=1 => kept.push((reactor.checkpoint().expect("between calls"), way.clone())),
            2..=3 => way = back(reactor, &kept, &mut numbers),
            4 if traps => {
                let kind = kinds as u32 + numbers.below(3) as u32;
                let error = reactor.call(&mut step, (kind, 3)).expect_err("it ends");
                assert!(matches!(error, CallError::Ended { .. }), "{error}");
                assert!(matches!(reactor.call(&mut step, (0, 0)), Err(CallError::Over)));
                way = back(reactor, &kept, &mut numbers);
            }
            _ => {
                let arguments = (numbers.below(kinds) as u32, numbers.below(1 << 20) as u32);
                let (answer,) = reactor.call(&mut step, arguments).expect("it answers");
                way.0.push((arguments, answer));
            }
        }
    }
    reactor.verify().expect("every write was seen");
    let mut straight = start(reactor.program().clone(), seed);
    let (mut step, _) = step_of(&mut straight);
    for (arguments, answer) in &way.0 {
        let (again,) = straight.call(&mut step, *arguments).expect("it answered before");
        assert_eq!(again, *answer, "seed {seed}, {arguments:?}");
    }
    assert_eq!(
        reactor.world().node(fozzy_trace::NodeId(0)).stdout,
        straight.world().node(fozzy_trace::NodeId(0)).stdout
    );
    assert_eq!(reactor.digest().expect("between calls"), straight.digest().expect("between calls"), "seed {seed}");
    restored
}

fn walks_with(program: &Program, traps: bool, prepare: impl Fn(&mut Reactor)) -> Vec<Restored> {
    let mut restored = Vec::new();
    for seed in 0..walks() {
        let mut reactor = start(program.clone(), seed);
        prepare(&mut reactor);
        restored.extend(walk(&mut reactor, seed, traps));
    }
    restored
}

#[allow(clippy::print_stderr, reason = "says what this machine cannot try")]
fn tracked(kind: TrackerKind) {
    let probe = start(fast(), 0).track(kind);
    if let Err(why) = probe {
        // What this machine does not have cannot be tried on it; comparison works everywhere.
        assert_ne!(kind, TrackerKind::Compared, "{why}");
        eprintln!("not tried: {}: {why}", kind.name());
        return;
    }
    let restored = walks_with(&fast(), false, |reactor| reactor.track(kind).expect("it was there before"));
    assert!(restored.iter().all(|restored| *restored == Restored::InPlace), "{restored:?}");
}

#[test]
fn walks_come_out_as_straight_calls_with_marks() {
    tracked(TrackerKind::Marks);
}

#[test]
fn walks_come_out_as_straight_calls_with_userfaultfd() {
    tracked(TrackerKind::Protected);
}

#[test]
fn walks_come_out_as_straight_calls_with_pagemap() {
    tracked(TrackerKind::Scanned);
}

#[test]
fn walks_come_out_as_straight_calls_with_comparison() {
    tracked(TrackerKind::Compared);
}

#[test]
fn after_a_trap_a_fresh_instance_gets_the_state() {
    let restored = walks_with(&fast(), true, |_| ());
    assert!(restored.contains(&Restored::Fresh) && restored.contains(&Restored::InPlace), "{restored:?}");
}

#[test]
fn what_was_evicted_is_called_again() {
    let restored = walks_with(&fast(), true, |reactor| reactor.hold_at_most(0));
    assert!(restored.iter().any(|restored| matches!(restored, Restored::Repeated { calls: 2.. })), "{restored:?}");
}

#[test]
fn the_exact_build_walks_the_same_ways() {
    let exact = program(component(), &Build::exact());
    walks_with(&exact, true, |_| ());
    let digests = [fast(), exact].map(|program| {
        let mut reactor = start(program, 5);
        let (mut step, kinds) = step_of(&mut reactor);
        let answers: Vec<String> =
            (0..kinds as u32).map(|kind| reactor.call(&mut step, (kind, 77)).expect("it answers").0).collect();
        (answers, reactor.digest().expect("between calls"))
    });
    assert_eq!(digests[0], digests[1]);
}

/// Components in text that cannot be reached, and what is said of each.
const UNREACHED: &[(&str, &str)] = &[
    (
        r#"(component (core module $m (table 1 funcref) (elem declare func $f) (func $f)
            (func (export "step") (param i32) (result i32)
                (table.set (i32.const 0) (ref.func $f)) (i32.add (local.get 0) (i32.const 1))))
            (core instance $i (instantiate $m))
            (func (export "step") (param "n" u32) (result u32) (canon lift (core func $i "step"))))"#,
        "changes a table",
    ),
    (
        r#"(component (core module $m (memory 1) (data $d "x") (global $n (mut i32) (i32.const 0))
            (func (export "step") (param i32) (result i32)
                (data.drop $d) (global.set $n (i32.add (global.get $n) (local.get 0))) (global.get $n)))
            (core instance $i (instantiate $m))
            (func (export "step") (param "n" u32) (result u32) (canon lift (core func $i "step"))))"#,
        "drops a segment",
    ),
    (
        r#"(component
            (type $r (resource (rep i32)))
            (core func $new (canon resource.new $r))
            (core func $drop (canon resource.drop $r))
            (core module $m (import "r" "new" (func $new (param i32) (result i32)))
                (func (export "step") (param i32) (result i32) (call $new (local.get 0))))
            (core instance $i (instantiate $m (with "r" (instance (export "new" (func $new)) (export "drop" (func $drop))))))
            (func (export "step") (param "n" u32) (result u32) (canon lift (core func $i "step"))))"#,
        "resource types of its own",
    ),
    (
        r#"(component (core module $m (global $n (mut i32) (i32.const 0))
            (func (export "step") (param i32) (result i32)
                (global.set $n (i32.add (global.get $n) (local.get 0))) (global.get $n)))
            (core instance $i (instantiate $m)) (core instance (instantiate $m))
            (func (export "step") (param "n" u32) (result u32) (canon lift (core func $i "step"))))"#,
        "more than once",
    ),
];

#[test]
fn what_cannot_be_reached_is_said_and_called_again() {
    for (text, why) in UNREACHED {
        let loaded = fozzy_engine::load(text.as_bytes(), None).expect("it assembles");
        let program = program(loaded.component.into(), &Build::fast());
        let mut reactor = start(program.clone(), 1);
        assert!(reactor.obstacles().len() == 1 && reactor.obstacles()[0].contains(why), "{:?}", reactor.obstacles());
        let mut step = reactor.function::<(u32,), (u32,)>("step").expect("it exports that");
        let mut straight = start(program, 1);
        let mut other = straight.function::<(u32,), (u32,)>("step").expect("it exports that");
        reactor.call(&mut step, (3,)).expect("it answers");
        straight.call(&mut other, (3,)).expect("it answers");
        let checkpoint = reactor.checkpoint().expect("between calls");
        for n in 0..20 {
            reactor.call(&mut step, (n,)).expect("it answers");
        }
        assert_eq!(reactor.restore(checkpoint).expect("it comes back"), Restored::Repeated { calls: 1 });
        for n in [7, 9, 2] {
            let answers = [reactor.call(&mut step, (n,)), straight.call(&mut other, (n,))];
            let [ours, theirs] = answers.map(|answer| answer.expect("it answers"));
            assert_eq!(ours, theirs, "{why}");
        }
    }
}

#[test]
fn a_branch_draws_from_its_own_seed_and_is_called_again_with_it() {
    let mut reactor = start(fast(), 1);
    let (mut step, _) = step_of(&mut reactor);
    let random = (8, 0);
    let before = reactor.checkpoint().expect("between calls");
    let mut orders = Vec::new();
    for seed in [1, 2, 3] {
        reactor.restore(before).expect("it comes back");
        reactor.answer_from(Box::new(Seeded::new(Seed(seed))));
        let answers: Vec<String> = (0..6).map(|_| reactor.call(&mut step, random).expect("it answers").0).collect();
        let after = reactor.checkpoint().expect("between calls");
        orders.push((answers, after, reactor.digest().expect("between calls")));
    }
    assert!(orders[0].2 != orders[1].2 && orders[1].2 != orders[2].2);
    reactor.hold_at_most(0);
    for (_, after, digest) in &orders {
        assert!(matches!(
            reactor.restore(*after).expect("it comes back"),
            Restored::Repeated { .. } | Restored::InPlace
        ));
        assert_eq!(reactor.digest().expect("between calls"), *digest);
    }
}

#[test]
fn many_checkpoints_of_a_large_guest_share_their_pages() {
    let count = if std::env::var_os("FOZZY_LONG").is_some() { 10_000 } else { 500 };
    let mut reactor = start(fast(), 1);
    let mut reserve = reactor.function::<(u32,), ()>("reserve").expect("it exports that");
    let mut dirty = reactor.function::<(u32, u32), (u32,)>("dirty").expect("it exports that");
    reactor.call(&mut reserve, (10,)).expect("it answers");
    let first = reactor.checkpoint().expect("between calls");
    let base = reactor.holdings();
    let mut all = Vec::new();
    for n in 0..count {
        reactor.call(&mut dirty, (16, n * 37)).expect("it answers");
        all.push(reactor.checkpoint().expect("between calls"));
    }
    let holdings = reactor.holdings();
    assert_eq!(
        (holdings.checkpoints, holdings.with_state),
        (u64::from(count) + base.checkpoints, u64::from(count) + base.with_state)
    );
    let each = (holdings.bytes - base.bytes) / u64::from(count);
    // Sixteen pages, the page of the stack, and the tables over them.
    assert!((16 * 4096..100_000).contains(&each), "{each} bytes for each checkpoint");
    assert!(holdings.bytes < 1 << 30, "{holdings:?}");
    for checkpoint in [all[0], all[count as usize / 2], first, all[count as usize - 1]] {
        assert_eq!(reactor.restore(checkpoint).expect("it comes back"), Restored::InPlace);
        reactor.verify().expect("every write was seen");
    }
    all.into_iter().for_each(|checkpoint| reactor.discard(checkpoint));
    // The one that the instance goes on from is discarded too, and a way still.
    let after = reactor.checkpoint().expect("between calls");
    assert_eq!(reactor.restore(first).expect("it comes back"), Restored::InPlace);
    assert_eq!(reactor.restore(after).expect("it comes back"), Restored::InPlace);
    reactor.restore(first).expect("it comes back");
    reactor.discard(after);
    assert_eq!(reactor.holdings().checkpoints, base.checkpoints);
}

#[test]
fn a_runaway_is_cut_and_the_exact_build_gives_the_verdict() {
    let limits = plan::Limits { fuel: 30_000_000, ..plan::Limits::default() };
    let plan = Arc::new(Plan { limits, ..Plan::default() });
    let source = Box::new(Seeded::new(Seed(1)));
    let mut reactor = Reactor::start(fast(), plan, &Inputs::default(), source).expect("the walker starts");
    reactor.watch(std::time::Duration::from_millis(300)).expect("it has coverage");
    let (mut step, kinds) = step_of(&mut reactor);
    reactor.call(&mut step, (0, 5)).expect("it answers");
    let before = reactor.checkpoint().expect("between calls");
    reactor.call(&mut step, (0, 6)).expect("it answers");
    let error = reactor.call(&mut step, (kinds as u32 + 3, 0)).expect_err("it never ends");
    assert!(matches!(error, CallError::Runaway), "{error}");
    let exact = program(component(), &Build::exact());
    let (mut repeated, failed) = reactor.repeat_in(&exact).expect("the exact build starts");
    let failed = failed.expect("the exact build has fuel");
    assert!(matches!(&failed, CallError::Ended { end: End::FuelExhausted { .. }, .. }), "{failed}");
    assert!(matches!(repeated.checkpoint(), Err(CallError::Over)));
    // The instance that was cut is done with, and the next one is watched too.
    assert_eq!(reactor.restore(before).expect("it comes back"), Restored::Fresh);
    reactor.call(&mut step, (0, 6)).expect("it answers");
    assert!(matches!(reactor.call(&mut step, (kinds as u32 + 3, 0)), Err(CallError::Runaway)));
    assert_eq!(reactor.restore(before).expect("it comes back"), Restored::Fresh);
    // What ends in both builds ends the same in both.
    let trap = reactor.call(&mut step, (kinds as u32 + 1, 0)).expect_err("it traps");
    let (_, again) = reactor.repeat_in(&exact).expect("the exact build starts");
    assert_eq!(format!("{trap:?}"), format!("{:?}", again.expect("it traps there too")));
}

#[test]
fn what_is_compared_can_be_logged() {
    let text = r#"(component
        (core module $m (memory 1)
            (func (export "check") (param i32) (result i32)
                (if (i32.eq (local.get 0) (i32.const 0xfeed)) (then (return (i32.const 1))))
                (i64.lt_u (i64.extend_i32_u (local.get 0)) (i64.const 77))))
        (core instance $i (instantiate $m))
        (func (export "check") (param "n" u32) (result u32) (canon lift (core func $i "check"))))"#;
    let loaded = fozzy_engine::load(text.as_bytes(), None).expect("it assembles");
    let build = Build { comparisons: true, ..Build::fast() };
    let mut reactor = start(program(loaded.component.into(), &build), 1);
    let mut check = reactor.function::<(u32,), (u32,)>("check").expect("it exports that");
    let pairs =
        |reactor: &Reactor| reactor.comparisons().map(|(_, found)| (found.left, found.right)).collect::<Vec<_>>();
    reactor.call(&mut check, (5,)).expect("it answers");
    assert_eq!(pairs(&reactor), []);
    reactor.log_comparisons(true);
    reactor.call(&mut check, (5,)).expect("it answers");
    assert_eq!(pairs(&reactor), [(5, 0xfeed), (5, 77)]);
    reactor.log_comparisons(true);
    assert_eq!(reactor.call(&mut check, (0xfeed,)).expect("it answers"), (1,));
    assert_eq!(pairs(&reactor), [(0xfeed, 0xfeed)]);
    reactor.log_comparisons(false);
    reactor.call(&mut check, (5,)).expect("it answers");
    assert_eq!(pairs(&reactor), []);
}
