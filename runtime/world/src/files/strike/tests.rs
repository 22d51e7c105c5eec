//! Each kind alone: which acts it strikes, and what is left of them.

use super::*;
use crate::{Chance, Faults};
use fozzy_trace::plan::FaultPlan;
use fozzy_trace::{Instant, NodeId, Question};

/// Always the same answer; counts the questions.
struct Constant(u64, u32);

impl Chance for Constant {
    fn below(&mut self, _: Question<'_>, bound: u64) -> u64 {
        self.1 += 1;
        self.0.min(bound - 1)
    }
}

const ACTS: [Act; 6] = [Act::Read, Act::Write, Act::Create, Act::Change, Act::Sync, Act::Look];

fn plan(kind: &str, target: &str) -> FaultPlan {
    FaultPlan {
        kind: kind.to_owned(),
        target: target.to_owned(),
        rate_ppm: 1_000_000,
        start: Duration(0),
        length: None,
        strength: None,
        times: None,
    }
}

fn struck(plans: &[FaultPlan], act: Act, chance: &mut Constant) -> Strike {
    let mut faults = Faults::new(plans).expect("kinds that there are");
    let mut moment = Moment { now: Instant::START, node: NodeId(0), faults: &mut faults, chance };
    strike(act, "main", "/data/log", &mut moment)
}

/// The acts that a kind strikes, and what becomes of each of them.
fn check(kind: &str, target: &str, acts: &[Act], expected: Strike) {
    for act in ACTS {
        let expected = if acts.contains(&act) { expected } else { Strike::default() };
        assert_eq!(struck(&[plan(kind, target)], act, &mut Constant(0, 0)), expected, "{kind} at {act:?}");
        let elsewhere = struck(&[plan(kind, "/other*")], act, &mut Constant(0, 0));
        assert_eq!(elsewhere, Strike::default(), "{kind} strikes its target only");
    }
}

#[test]
fn each_kind_strikes_its_acts() {
    let error = |errno| Strike { error: Some(errno), ..Strike::default() };
    let short = Strike { bytes_max: Some(1), ..Strike::default() };
    check("io-error", "/data/*", &ACTS, error(Errno::Io));
    check("read-error", "/data/*", &[Act::Read], error(Errno::Io));
    check("write-error", "/data/*", &[Act::Write], error(Errno::Io));
    check("disk-full", "/data/*", &[Act::Write, Act::Create], error(Errno::InsufficientSpace));
    check("sync-error", "/data/*", &[Act::Sync], error(Errno::Io));
    check("short-read", "/data/*", &[Act::Read], short);
    check("short-write", "/data/*", &[Act::Write], short);
    check("bit-flip", "/data/*", &[Act::Read], Strike { flips: true, ..Strike::default() });
    check("slow-disk", "/data/*", &ACTS, Strike { delay: Duration::from_millis(10), ..Strike::default() });
    let second = Some(Duration::from_millis(1000));
    check("power-loss", "main", &ACTS, Strike { power_loss: second, ..Strike::default() });
    // These only say what a loss of power takes.
    check("lost-write", "/data/*", &[], Strike::default());
    check("torn-write", "/data/*", &[], Strike::default());
}

#[test]
fn nothing_is_asked_after_an_end() {
    let all = ["power-loss", "slow-disk", "io-error", "read-error", "short-read"].map(|kind| plan(kind, "*"));
    let mut chance = Constant(0, 0);
    struck(&all, Act::Read, &mut chance);
    assert_eq!(chance.1, 1, "without power there is no operation");
    let mut chance = Constant(0, 0);
    struck(&all[1..], Act::Read, &mut chance);
    assert_eq!(chance.1, 2, "an error has no length");
}

#[test]
fn zero_is_no_fault() {
    let seldom = FaultPlan { rate_ppm: 999_999, ..plan("io-error", "*") };
    assert_eq!(struck(&[seldom], Act::Read, &mut Constant(0, 0)), Strike::default());
}

#[test]
fn one_bit_is_flipped() {
    let mut bytes = *b"AAAA";
    let (mut faults, mut chance) = (Faults::default(), Constant(26, 0));
    let mut moment = Moment { now: Instant::START, node: NodeId(0), faults: &mut faults, chance: &mut chance };
    flip_bit(&mut bytes, &mut moment);
    assert_eq!(&bytes, b"AAAE");
    flip_bit(&mut [], &mut moment);
    assert_eq!(chance.1, 1, "nothing has no bits");
}
