//! Random seeds of a guest that uses everything: traces equal over two runs each, replays equal, with and without faults.
//!
//! ```text
//! even seeds   no fault                      ─▶ exit 0, "… 0 errors"
//! odd seeds    one rule for every kind       ─▶ some runs see errors, no run fails because of the harness
//! ```
//!
//! `FOZZY_LONG=1` does all seeds that the issue demands; otherwise it is fewer of them.

use crate::recorded::{Recorded, machine};
use fozzy_trace::plan::{FaultPlan, Inputs};
use fozzy_trace::{Duration, End, Execution, Plan};
use fozzy_world::fault::{FAULTS, FaultTarget};

/// What the issue demands.
const SEEDS: u64 = 200;
/// In each run of the tests: what a debug build does within a minute.
const SEEDS_SHORT: u64 = 40;
/// One in a hundred operations: most of the guest's hundreds go well, and each run sees some that do not.
const RATE_PPM: u32 = 10_000;

/// One rule for every kind there is.
fn every_fault() -> Vec<FaultPlan> {
    let rule = |kind: &&fozzy_world::fault::FaultKind| {
        let target = match kind.target {
            FaultTarget::Link => "*->*",
            FaultTarget::Path | FaultTarget::Url | FaultTarget::Command | FaultTarget::Node | FaultTarget::Point => "*",
        };
        FaultPlan {
            kind: kind.name.to_owned(),
            target: target.to_owned(),
            rate_ppm: RATE_PPM,
            start: Duration(0),
            length: None,
            strength: None,
            // A machine that loses power again and again never comes to its end.
            times: (kind.name == "power-loss").then_some(1),
        }
    };
    FAULTS.iter().map(rule).collect()
}

/// The number of errors that the guest counted, from its last line.
fn errors(execution: &Execution) -> u64 {
    let stdout = String::from_utf8_lossy(execution.stdout.kept()).into_owned();
    let last = stdout.lines().last().unwrap_or_default();
    let count = last.strip_suffix(" errors").and_then(|line| line.rsplit(' ').next());
    count.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("no last line: {last:?}, {:?}", execution.end))
}

fn seeds() -> u64 {
    if std::env::var_os("FOZZY_LONG").is_some() { SEEDS } else { SEEDS_SHORT }
}

fn everything(faults: Vec<FaultPlan>) -> Recorded {
    let plan = Plan { main: machine("everything"), faults, ..Plan::default() };
    Recorded::new("everything", plan, Inputs::default(), 0..0)
}

#[test]
fn without_faults_every_seed_is_the_same_run_again() {
    let mut guest = everything(Vec::new());
    for seed in (0..seeds()).step_by(2) {
        let execution = guest.check(seed);
        assert_eq!(execution.end, End::Exited { code: 0 }, "seed {seed}");
        assert_eq!(errors(&execution), 0, "seed {seed}");
    }
}

#[test]
fn with_every_kind_of_fault_every_seed_is_the_same_run_again() {
    let mut guest = everything(every_fault());
    let mut struck = 0;
    for seed in (1..seeds()).step_by(2) {
        let execution = guest.check(seed);
        assert_eq!(execution.end, End::Exited { code: 0 }, "seed {seed}");
        struck += u64::from(errors(&execution) > 0);
    }
    assert!(struck > 0, "no run saw an error, so no fault struck");
}
