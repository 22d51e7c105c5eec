//! Components that are called from outside, and brought back to where they were.
//!
//! ```text
//! walks      every guest that can be called again, in every way of keeping its state     reactors/walk.rs, guests.rs
//! hostile    guests whose state is out of reach: said, and called again                  reactors/hostile.rs
//! kernel     a kernel without what finds written pages                                   reactors/kernel.rs
//! lines      a trap is where the source has it, in every build                           reactors/lines.rs
//! here       branches, many checkpoints, runaways, comparisons
//! ```
//!
//! `FOZZY_LONG=1` makes the 10,000 walks that the issue demands of each way; otherwise it is fewer of them.
#![allow(
    unsafe_code,
    reason = "prctl, which takes the kernel's trackers from one thread; the block carries its argument"
)]

mod guests;
mod hostile;
mod kernel;
mod lines;
mod walk;

use fozzy_engine::{Build, CallError, Program, Reactor, ReactorFunction, RestoreMethod, Switches, TrackerKind};
use fozzy_trace::plan::{self, Inputs};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{ExecutionEnd, Plan, Seed};
use guests::{Guest, LEDGER, SCENARIOS, SCORES, WALKER};
use std::sync::Arc;
use walk::{AFTER_TRAPS, CHOSEN, EVICTED, EXACT, PLAIN, Way, start, tracked, walk, walks};

fn fast() -> Program {
    walk::program(&WALKER, &Build::fast())
}

fn exact() -> Program {
    walk::program(&WALKER, &Build::exact())
}

type Step = ReactorFunction<(u32, u32), (String,)>;

fn step_of(reactor: &mut Reactor) -> (Step, u64) {
    let mut kinds: ReactorFunction<(), (u32,)> = reactor.function("kinds").expect("it exports that");
    let (count,) = reactor.call(&mut kinds, ()).expect("it answers");
    assert_eq!(count, WALKER.kinds);
    (reactor.function("step").expect("it exports that"), u64::from(count))
}

/// Walks the walker and the ledger, with one tracker.
#[allow(clippy::print_stderr, reason = "says what this machine cannot try")]
fn walk_tracked(kind: TrackerKind) {
    if let Err(why) = start(fast(), 0).track(kind) {
        // What this machine does not have cannot be tried on it; comparison works everywhere.
        assert_ne!(kind, TrackerKind::Compared, "{why}");
        eprintln!("not tried: {}: {why}", kind.name());
        return;
    }
    for guest in [WALKER, LEDGER] {
        let restored = walk(&guest, &tracked(kind), walks(20));
        assert!(restored.iter().all(|restored| *restored == RestoreMethod::InPlace), "{}: {restored:?}", guest.name);
    }
}

#[test]
fn walks_come_out_as_straight_calls_with_marks() {
    walk_tracked(TrackerKind::Marks);
}

#[test]
fn walks_come_out_as_straight_calls_with_userfaultfd() {
    walk_tracked(TrackerKind::Protected);
}

#[test]
fn walks_come_out_as_straight_calls_with_pagemap() {
    walk_tracked(TrackerKind::Scanned);
}

#[test]
fn walks_come_out_as_straight_calls_with_comparison() {
    walk_tracked(TrackerKind::Compared);
}

#[test]
fn walks_come_out_as_straight_calls_with_whatever_is_cheapest() {
    for guest in [WALKER, LEDGER] {
        walk(&guest, &CHOSEN, walks(10));
    }
}

#[test]
fn after_a_trap_a_fresh_instance_gets_the_state() {
    for guest in [WALKER, LEDGER] {
        let restored = walk(&guest, &AFTER_TRAPS, walks(20));
        assert!(restored.contains(&RestoreMethod::Fresh) && restored.contains(&RestoreMethod::InPlace), "{restored:?}");
    }
}

#[test]
fn what_was_evicted_is_called_again() {
    for guest in [WALKER, LEDGER] {
        let restored = walk(&guest, &EVICTED, walks(20));
        assert!(
            restored.iter().any(|restored| matches!(restored, RestoreMethod::Repeated { calls: 2.. })),
            "{restored:?}"
        );
    }
}

#[test]
fn the_exact_build_walks_the_same_ways() {
    for guest in [WALKER, LEDGER] {
        walk(&guest, &EXACT, walks(20));
    }
    let digests = [fast(), exact()].map(|program| {
        let mut reactor = start(program, 5);
        let (mut step, kinds) = step_of(&mut reactor);
        let answers: Vec<String> =
            (0..kinds as u32).map(|kind| reactor.call(&mut step, (kind, 77)).expect("it answers").0).collect();
        (answers, reactor.digest().expect("between calls"))
    });
    assert_eq!(digests[0], digests[1]);
}

/// Walks a scenario in one way after the other.
fn walk_scenario(guest: &Guest, ways: &[Way], count: u64) {
    for way in ways {
        let restored = walk(guest, way, count.div_ceil(ways.len() as u64));
        let again = |restored: &RestoreMethod| matches!(restored, RestoreMethod::Repeated { .. });
        assert!(way.evicted || !restored.iter().any(again), "{} {}: {restored:?}", guest.name, way.name);
    }
}

#[test]
fn walks_through_scenarios_come_out_as_straight_calls() {
    let long = walks(0) > 0;
    for guest in SCENARIOS {
        let mut ways = vec![AFTER_TRAPS, EVICTED];
        if long {
            let there = |kind: &TrackerKind| start(walk::program(guest, &Build::fast()), 0).track(*kind).is_ok();
            ways.extend(TrackerKind::ALL.into_iter().filter(there).map(tracked));
            ways.push(EXACT);
        }
        // All of them are compiled in the long form: each costs a second.
        if long || ["cache", "parser"].contains(&guest.name) {
            walk_scenario(guest, &ways, walks(20));
        }
    }
}

#[test]
fn walks_through_javascript_come_out_as_straight_calls() {
    let restored = walk(&SCORES, &PLAIN, walks(3));
    assert!(restored.contains(&RestoreMethod::Fresh) && restored.contains(&RestoreMethod::InPlace), "{restored:?}");
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
        reactor.answer_from(Box::new(SeededSource::new(Seed(seed))));
        let answers: Vec<String> = (0..6).map(|_| reactor.call(&mut step, random).expect("it answers").0).collect();
        let after = reactor.checkpoint().expect("between calls");
        orders.push((answers, after, reactor.digest().expect("between calls")));
    }
    assert!(orders[0].2 != orders[1].2 && orders[1].2 != orders[2].2);
    reactor.hold_at_most(0);
    for (_, after, digest) in &orders {
        assert!(matches!(
            reactor.restore(*after).expect("it comes back"),
            RestoreMethod::Repeated { .. } | RestoreMethod::InPlace
        ));
        assert_eq!(reactor.digest().expect("between calls"), *digest);
    }
}

#[test]
fn many_pages_written_at_once_are_brought_back_with_every_tracker() {
    let open = |tracker: Option<TrackerKind>| {
        let mut reactor = start(fast(), 1);
        let mut reserve = reactor.function::<(u32,), ()>("reserve").expect("it exports that");
        reactor.call(&mut reserve, (8,)).expect("it answers");
        let tracked = tracker.is_none_or(|kind| reactor.track(kind).is_ok());
        let dirty = reactor.function::<(u32, u32), (u32,)>("dirty").expect("it exports that");
        tracked.then_some((reactor, dirty))
    };
    let (mut straight, mut other) = open(None).expect("nothing was asked for");
    let expected = [(700, 0), (2048, 5)].map(|what| straight.call(&mut other, what).expect("it answers"));
    for kind in TrackerKind::ALL {
        let Some((mut reactor, mut dirty)) = open(Some(kind)) else { continue };
        let first = reactor.checkpoint().expect("between calls");
        // Nothing looks at the pages that are not written: they are to stay what they are by themselves.
        for n in 0..4 {
            reactor.call(&mut dirty, (700, n * 600)).expect("it answers");
            reactor.checkpoint().expect("between calls");
            if n % 2 == 1 {
                assert_eq!(reactor.restore(first).expect("it comes back"), RestoreMethod::InPlace);
            }
        }
        let answers = [(700, 0), (2048, 5)].map(|what| reactor.call(&mut dirty, what).expect("it answers"));
        assert_eq!(answers, expected, "{}", kind.name());
        assert_eq!(reactor.digest().ok(), straight.digest().ok(), "{}", kind.name());
        reactor.restore(first).expect("it comes back");
        reactor.verify().expect("every write was seen");
    }
}

#[test]
fn many_checkpoints_of_a_large_guest_share_their_pages() {
    let count = if walks(0) > 0 { 10_000 } else { 500 };
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
        assert_eq!(reactor.restore(checkpoint).expect("it comes back"), RestoreMethod::InPlace);
        reactor.verify().expect("every write was seen");
    }
    all.into_iter().for_each(|checkpoint| reactor.discard(checkpoint));
    // The one that the instance goes on from is discarded too, and a way still.
    let after = reactor.checkpoint().expect("between calls");
    assert_eq!(reactor.restore(first).expect("it comes back"), RestoreMethod::InPlace);
    assert_eq!(reactor.restore(after).expect("it comes back"), RestoreMethod::InPlace);
    reactor.restore(first).expect("it comes back");
    reactor.discard(after);
    assert_eq!(reactor.holdings().checkpoints, base.checkpoints);
}

#[test]
fn a_runaway_is_cut_and_the_exact_build_gives_the_verdict() {
    let limits = plan::Limits { fuel: 30_000_000, ..plan::Limits::default() };
    let plan = Arc::new(Plan { limits, ..Plan::default() });
    let source = Box::new(SeededSource::new(Seed(1)));
    let mut reactor = Reactor::start(fast(), plan, &Inputs::default(), source).expect("the walker starts");
    reactor.watch(std::time::Duration::from_millis(300)).expect("it has coverage");
    let (mut step, kinds) = step_of(&mut reactor);
    reactor.call(&mut step, (0, 5)).expect("it answers");
    let before = reactor.checkpoint().expect("between calls");
    reactor.call(&mut step, (0, 6)).expect("it answers");
    let error = reactor.call(&mut step, (kinds as u32 + 3, 0)).expect_err("it never ends");
    assert!(matches!(error, CallError::Runaway), "{error}");
    let exact = exact();
    let (mut repeated, failed) = reactor.repeat_in(&exact).expect("the exact build starts");
    let failed = failed.expect("the exact build has fuel");
    assert!(matches!(&failed, CallError::Ended { end: ExecutionEnd::FuelExhausted { .. }, .. }), "{failed}");
    assert!(matches!(repeated.checkpoint(), Err(CallError::Over)));
    // The instance that was cut is done with, and the next one is watched too.
    assert_eq!(reactor.restore(before).expect("it comes back"), RestoreMethod::Fresh);
    reactor.call(&mut step, (0, 6)).expect("it answers");
    assert!(matches!(reactor.call(&mut step, (kinds as u32 + 3, 0)), Err(CallError::Runaway)));
    assert_eq!(reactor.restore(before).expect("it comes back"), RestoreMethod::Fresh);
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
    let program = Program::build(loaded.component.into(), Switches::default(), &build, None);
    let mut reactor = start(program.expect("it compiles"), 1);
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
