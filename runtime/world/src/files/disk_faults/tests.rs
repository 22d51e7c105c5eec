//! Each kind alone: which acts it strikes, and what is left of them.

use super::*;
use crate::{Decider, Faults};
use fozzy_trace::plan::FaultPlan;
use fozzy_trace::{Instant, NodeId, Question};

/// Always the same answer; counts the questions.
struct Constant(u64, u32);

impl Decider for Constant {
    fn below(&mut self, _: Question<'_>, bound: u64) -> u64 {
        self.1 += 1;
        self.0.min(bound - 1)
    }
}

const ACTS: [DiskOperation; 7] = [
    DiskOperation::Read,
    DiskOperation::Write,
    DiskOperation::WriteWhole,
    DiskOperation::Create,
    DiskOperation::Change,
    DiskOperation::Sync,
    DiskOperation::Look,
];

fn plan(kind: &str, target: &str) -> FaultPlan {
    FaultPlan {
        kind: kind.to_owned(),
        target: target.to_owned(),
        rate_ppm: 1_000_000,
        start: Duration(0),
        length: None,
        strength: None,
        times: None,
        nemesis: None,
    }
}

fn injected(plans: &[FaultPlan], act: DiskOperation, decider: &mut Constant) -> DiskFault {
    let mut faults = Faults::new(plans).expect("kinds that there are");
    let mut context = OpContext { now: Instant::START, node: NodeId(0), faults: &mut faults, decider };
    inject(act, "main", "/data/log", &mut context)
}

/// The acts that a kind strikes, and what becomes of each of them.
fn check(kind: &str, target: &str, acts: &[DiskOperation], expected: DiskFault) {
    for act in ACTS {
        let expected = if acts.contains(&act) { expected } else { DiskFault::default() };
        assert_eq!(injected(&[plan(kind, target)], act, &mut Constant(0, 0)), expected, "{kind} at {act:?}");
        let elsewhere = injected(&[plan(kind, "/other*")], act, &mut Constant(0, 0));
        assert_eq!(elsewhere, DiskFault::default(), "{kind} strikes its target only");
    }
}

#[test]
fn each_kind_strikes_its_acts() {
    let error = |errno| DiskFault { error: Some(errno), ..DiskFault::default() };
    let short = DiskFault { bytes_max: Some(1), ..DiskFault::default() };
    check("io-error", "/data/*", &ACTS, error(Errno::Io));
    check("read-error", "/data/*", &[DiskOperation::Read], error(Errno::Io));
    let writes = [DiskOperation::Write, DiskOperation::WriteWhole, DiskOperation::Create];
    check("write-error", "/data/*", &writes[..2], error(Errno::Io));
    check("disk-full", "/data/*", &writes, error(Errno::InsufficientSpace));
    check("sync-error", "/data/*", &[DiskOperation::Sync], error(Errno::Io));
    check("short-read", "/data/*", &[DiskOperation::Read], short);
    check("short-write", "/data/*", &[DiskOperation::Write], short);
    check("bit-flip", "/data/*", &[DiskOperation::Read], DiskFault { flips: true, ..DiskFault::default() });
    check("slow-disk", "/data/*", &ACTS, DiskFault { delay: Duration::from_millis(10), ..DiskFault::default() });
    let second = Some(Duration::from_millis(1000));
    check("power-loss", "main", &ACTS, DiskFault { power_loss: second, ..DiskFault::default() });
    // These only say what a loss of power takes.
    check("lost-write", "/data/*", &[], DiskFault::default());
    check("torn-write", "/data/*", &[], DiskFault::default());
}

#[test]
fn nothing_is_asked_after_an_end() {
    let all = ["power-loss", "slow-disk", "io-error", "read-error", "short-read"].map(|kind| plan(kind, "*"));
    let mut decider = Constant(0, 0);
    injected(&all, DiskOperation::Read, &mut decider);
    assert_eq!(decider.1, 1, "without power there is no operation");
    let mut decider = Constant(0, 0);
    injected(&all[1..], DiskOperation::Read, &mut decider);
    assert_eq!(decider.1, 2, "an error has no length");
}

#[test]
fn zero_is_no_fault() {
    let seldom = FaultPlan { rate_ppm: 999_999, ..plan("io-error", "*") };
    assert_eq!(injected(&[seldom], DiskOperation::Read, &mut Constant(0, 0)), DiskFault::default());
}

#[test]
fn one_bit_is_flipped() {
    let mut bytes = *b"AAAA";
    let (mut faults, mut decider) = (Faults::default(), Constant(26, 0));
    let mut context = OpContext { now: Instant::START, node: NodeId(0), faults: &mut faults, decider: &mut decider };
    flip_bit(&mut bytes, &mut context);
    assert_eq!(&bytes, b"AAAE");
    flip_bit(&mut [], &mut context);
    assert_eq!(decider.1, 1, "nothing has no bits");
}
