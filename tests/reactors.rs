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
use fozzy_trace::{Plan, Seed};
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
