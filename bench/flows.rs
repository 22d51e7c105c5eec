//! Flows of scenarios per second: through the real driver in the sandbox, and natively.
//!
//! ```text
//! ours     one session, many sequences; uninstrumented but for what every run has     thread CPU time of one execution
//! theirs   the same source through `fozzy_sdk::native`, on the same seed              thread CPU time of one run
//! ```
//!
//! The native side answers from the same streams, so both do the same flows with the same values; what is left is the
//! sandbox.

use crate::guests;
use crate::measure::{Pair, thread_seconds};
use crate::ours;
use crate::table::{Bound, Least, Row, Unit};
use fozzy_engine::Session;
use fozzy_sdk::native::{self, Settings};
use fozzy_sdk::scenario::Scenario;
use fozzy_trace::plan::{Inputs, ScenarioPlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{ExecutionEnd, Executor, Plan, Seed};
use std::path::Path;

#[path = "../scenarios/bank/src/lib.rs"]
#[allow(unreachable_pub, reason = "it is a crate of its own in the sandbox")]
mod bank;
#[path = "guests/steps/src/lib.rs"]
#[allow(unreachable_pub, reason = "it is a crate of its own in the sandbox")]
mod steps;

/// Interleaved measurements.
const PAIRS: usize = 11;
/// Sequences of one measurement, and steps of each: as many as a test of a scenario has.
const SEQUENCES: u32 = 200;
const FLOWS: u32 = 500;

pub(crate) fn flows() -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let steps = guests::scenario(&folder.join("guests/steps"), "steps");
    let bank = guests::scenario(&folder.join("../scenarios/bank"), "bank");
    vec![
        row::<steps::Steps>("trivial flows (the same source natively)", &steps, 0.6),
        row::<bank::Bank>("the bank's flows (the same source natively)", &bank, 0.5),
        sequences(&steps),
    ]
}

fn row<S: Scenario>(name: &str, component: &Path, least: f64) -> Row {
    let mut session = session(component, SEQUENCES, FLOWS);
    let settings = Settings { seed: 0, sequences: SEQUENCES, flows: FLOWS };
    let pair = Pair::of(
        PAIRS,
        || thread_seconds(|| run(&mut session)),
        || thread_seconds(|| assert!(!native::run::<S>(settings).steps.is_empty())),
    );
    Row::rates(name, &pair, SEQUENCES * FLOWS, "flows/s", Least::Ratio(least))
}

/// What beginning a sequence costs, beside its steps: a sequence of one step.
fn sequences(component: &Path) -> Row {
    let (mut short, mut one) = (session(component, SEQUENCES, 1), session(component, 1, 1));
    let pair = Pair::of(
        PAIRS,
        || thread_seconds(|| run(&mut short)) / f64::from(SEQUENCES),
        || thread_seconds(|| run(&mut one)),
    );
    Row::times("a sequence of one step, of many (the only one)", &pair, Unit::Microseconds, Bound::None)
}

fn session(component: &Path, sequences: u32, flows: u32) -> Session {
    let bytes = std::fs::read(component).expect("the scenario was built");
    let plan = Plan { scenario: Some(ScenarioPlan::all(sequences, flows)), ..Plan::default() };
    ours::session("scenario", &bytes, plan, Inputs::default())
}

fn run(session: &mut Session) {
    let execution = session.execute(Box::new(SeededSource::new(Seed(0))), 0..0).expect("the machine is well");
    assert_eq!(execution.end, ExecutionEnd::Exited { code: 0 }, "the scenario failed");
}
