//! Clocks that err: each kind alone, and what holds under all of them: the monotonic clock never goes back, and waits are as long as
//! their machine's own clock says.

use super::*;
use crate::files::tests::Lcg;
use crate::{Decider, Faults};
use fozzy_trace::plan::{FaultPlan, Inputs};
use fozzy_trace::{NodeId, Plan, Question};
use std::sync::Arc;

/// Answers from a list, and zero when it is used up.
struct ScriptedAnswers(Vec<u64>);

impl Decider for ScriptedAnswers {
    fn below(&mut self, _: Question<'_>, bound: u64) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.remove(0).min(bound - 1) }
    }
}

struct Random(Lcg);

impl Decider for Random {
    fn below(&mut self, _: Question<'_>, bound: u64) -> u64 {
        self.0.below(bound)
    }
}

fn plan(kind: &str, rate_ppm: u32, strength: u64) -> FaultPlan {
    FaultPlan {
        kind: kind.to_owned(),
        target: "main".to_owned(),
        rate_ppm,
        start: Duration(0),
        length: None,
        strength: Some(strength),
        times: None,
        nemesis: None,
    }
}

const SECOND: u64 = 1_000_000_000;

/// Readings of both clocks after each of some seconds, relative to the start of the wall clock.
fn readings(plans: &[FaultPlan], answers: &[u64], seconds: u64) -> Vec<(u64, u64)> {
    let mut faults = Faults::new(plans).expect("kinds that there are");
    let (mut clock, mut drift, mut decider) =
        (Clock::new(1), ClockDrift::new(Edition::FIRST), ScriptedAnswers(answers.to_vec()));
    let mut read = |second: u64| {
        clock.advance_to(Instant(second * SECOND));
        let mut context = OpContext { now: clock.now(), node: NodeId(0), faults: &mut faults, decider: &mut decider };
        let reading = drift.read(ClockKind::Wall, &clock, "main", &mut context);
        (reading.monotonic_ns, reading.wall_ns - SECOND)
    };
    (1..=seconds).map(&mut read).collect()
}

#[test]
fn without_faults_clocks_are_right() {
    assert_eq!(readings(&[], &[], 2), [(SECOND, SECOND), (2 * SECOND, 2 * SECOND)]);
}

#[test]
fn a_step_moves_the_wall_clock_and_stays() {
    let once = FaultPlan { times: Some(1), ..plan("clock-step", 1_000_000, 5) };
    assert_eq!(readings(std::slice::from_ref(&once), &[0, 0], 2), [(SECOND, SECOND + 5), (2 * SECOND, 2 * SECOND + 5)]);
    assert_eq!(readings(&[once], &[0, 1], 2), [(SECOND, SECOND - 5), (2 * SECOND, 2 * SECOND - 5)]);
}

#[test]
fn drift_gains_or_loses_in_both_clocks() {
    let thousandth = plan("clock-drift", 1_000_000, 1000);
    let fast = SECOND + SECOND / 1000;
    assert_eq!(readings(std::slice::from_ref(&thousandth), &[0, 0], 2), [(fast, fast), (2 * fast, 2 * fast)]);
    let slow = SECOND - SECOND / 1000;
    assert_eq!(readings(&[thousandth], &[0, 1], 2), [(slow, slow), (2 * slow, 2 * slow)]);
}

#[test]
fn a_frozen_clock_repeats_and_then_is_right_again() {
    let frozen = FaultPlan {
        start: Duration(2 * SECOND),
        length: Some(Duration(2 * SECOND)),
        ..plan("clock-freeze", 1_000_000, 0)
    };
    let shown: Vec<u64> = readings(&[frozen], &[], 4).into_iter().map(|(monotonic, _)| monotonic / SECOND).collect();
    assert_eq!(shown, [1, 1, 1, 4]);
}

#[test]
fn a_deadline_is_met_by_the_guests_own_clock() {
    let mut faults = Faults::new(&[plan("clock-drift", 1_000_000, 500_000)]).expect("a kind");
    let (mut clock, mut drift, mut decider) =
        (Clock::new(0), ClockDrift::new(Edition::FIRST), ScriptedAnswers(Vec::new()));
    clock.advance_to(Instant(4 * SECOND));
    let mut context = OpContext { now: clock.now(), node: NodeId(0), faults: &mut faults, decider: &mut decider };
    let now = drift.read(ClockKind::Monotonic, &clock, "main", &mut context).monotonic_ns;
    assert_eq!(now, 6 * SECOND);
    assert_eq!(drift.deadline(now + SECOND, clock.now()), Instant(5 * SECOND));
    assert_eq!(drift.deadline(now - SECOND, clock.now()), clock.now(), "long over");
    assert_eq!(drift.deadline(u64::MAX, clock.now()), Instant::NEVER);
}

#[test]
fn the_monotonic_clock_never_goes_back() {
    let plans = [
        plan("clock-drift", 500_000, 3_000_000),
        plan("clock-drift", 300_000, u64::MAX),
        plan("clock-step", 300_000, u64::MAX),
        plan("clock-freeze", 300_000, 0),
    ];
    for seed in 0..50 {
        let mut faults = Faults::new(&plans).expect("kinds that there are");
        let (mut clock, mut drift) = (Clock::new(1), ClockDrift::new(Edition::FIRST));
        let mut decider = Random(Lcg(seed));
        let mut last = 0;
        for _ in 0..200 {
            clock.advance_to(Instant(clock.now().0 + decider.0.below(1 << 40)));
            let dial = if decider.0.below(2) == 0 { ClockKind::Wall } else { ClockKind::Monotonic };
            let mut context =
                OpContext { now: clock.now(), node: NodeId(0), faults: &mut faults, decider: &mut decider };
            let reading = drift.read(dial, &clock, "main", &mut context);
            assert!(reading.monotonic_ns >= last, "seed {seed}");
            last = reading.monotonic_ns;
        }
    }
}

/// A machine under a plan that is made now, and what its guest sees and does.
struct Sleeper {
    world: World,
    decider: Random,
}

impl Sleeper {
    fn new(faults: Vec<FaultPlan>, seed: u64) -> Sleeper {
        let plan = Plan { faults, edition: Edition::LATEST, ..Plan::default() };
        let world = World::new(Arc::new(plan), &Inputs::default()).expect("a plain plan");
        Sleeper { world, decider: Random(Lcg(seed)) }
    }

    fn with<R>(&mut self, body: impl FnOnce(&mut World, &mut OpContext<'_>) -> R) -> R {
        let mut faults = std::mem::take(&mut self.world.faults);
        let now = self.world.clock.now();
        let mut context = OpContext { now, node: NodeId(0), faults: &mut faults, decider: &mut self.decider };
        let result = body(&mut self.world, &mut context);
        self.world.faults = faults;
        result
    }

    fn read(&mut self, dial: ClockKind) -> ClockReading {
        self.with(|world, context| world.read_clock(dial, context))
    }

    fn wait(&mut self, wait: Wait) {
        self.world.block(&[wait]).expect("every wait ends");
        // As the host does when it finds the wait over.
        if let Wait::OwnClock { monotonic_ns, .. } = wait {
            self.world.node_mut(NodeId(0)).drift.rings(monotonic_ns);
        }
    }

    fn sleep(&mut self, span: u64) {
        let wait = self.with(|world, context| world.wait_for(Duration(span), context));
        self.wait(wait);
    }
}

#[test]
fn a_drifting_clock_is_slept_by() {
    let drift = plan("clock-drift", 1_000_000, 100_000);
    let mut spans = Vec::new();
    for seed in 0..8 {
        let mut sleeper = Sleeper::new(vec![drift.clone()], seed);
        let before = sleeper.read(ClockKind::Monotonic).monotonic_ns;
        sleeper.sleep(9 * SECOND);
        let elapsed = sleeper.read(ClockKind::Monotonic).monotonic_ns - before;
        assert!((9 * SECOND..9 * SECOND + 10_000).contains(&elapsed), "it is its own clock: {elapsed}");
        spans.push(sleeper.world.clock.now().0 / 1_000_000);
    }
    spans.sort_unstable();
    spans.dedup();
    assert_eq!(spans, [8_181, 10_000], "fast and slow clocks, by virtual time in ms");
}

#[test]
fn a_drift_that_is_over_does_not_last() {
    let mut sleeper =
        Sleeper::new(vec![FaultPlan { length: Some(Duration(SECOND)), ..plan("clock-drift", 1_000_000, 500_000) }], 1);
    sleeper.sleep(100 * SECOND);
    let now = sleeper.world.clock.now().0;
    assert!(now.abs_diff(100 * SECOND) == SECOND / 2, "half a second in the one that drifts: {now}");
}

#[test]
fn what_was_slept_has_elapsed_under_every_fault_but_a_step() {
    for seed in 0..200 {
        let mut random = Lcg(seed);
        let plans = vec![
            FaultPlan {
                start: Duration(random.below(9 * SECOND)),
                ..plan("clock-drift", 500_000, 1 << random.below(64))
            },
            FaultPlan {
                length: Some(Duration(random.below(60 * SECOND))),
                ..plan("clock-drift", 300_000, 1 << random.below(24))
            },
            plan("clock-freeze", 400_000, 0),
        ];
        let mut sleeper = Sleeper::new(plans, seed);
        for _ in 0..100 {
            let dial = if random.below(2) == 0 { ClockKind::Wall } else { ClockKind::Monotonic };
            let span = random.below(1 << 34);
            let before = sleeper.read(dial);
            match random.below(2) {
                0 => sleeper.sleep(span),
                _ => {
                    let moment = before.monotonic_ns + span;
                    let wait = sleeper.with(|world, context| world.wait_until(moment, context));
                    sleeper.wait(wait);
                }
            }
            let after = sleeper.read(dial);
            assert!(after.monotonic_ns >= before.monotonic_ns + span, "seed {seed}: {before:?} {after:?} {span}");
            assert!(after.wall_ns >= before.wall_ns + span, "seed {seed}: {before:?} {after:?} {span}");
        }
    }
}
