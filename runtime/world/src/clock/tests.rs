//! Clocks that err: each kind alone, and that the monotonic clock never goes back under all of them.

use super::*;
use crate::files::tests::Lcg;
use crate::{Decider, Faults};
use fozzy_trace::plan::FaultPlan;
use fozzy_trace::{NodeId, Question};

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
    }
}

const SECOND: u64 = 1_000_000_000;

/// Readings of both clocks after each of some seconds, relative to the start of the wall clock.
fn readings(plans: &[FaultPlan], answers: &[u64], seconds: u64) -> Vec<(u64, u64)> {
    let mut faults = Faults::new(plans).expect("kinds that there are");
    let (mut clock, mut drift, mut decider) = (Clock::new(1), ClockDrift::default(), ScriptedAnswers(answers.to_vec()));
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
    let (mut clock, mut drift, mut decider) = (Clock::new(0), ClockDrift::default(), ScriptedAnswers(Vec::new()));
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
        let (mut clock, mut drift) = (Clock::new(1), ClockDrift::default());
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
