//! Tests of programs that speak the Maelstrom protocol: JSON lines over standard input and output.
//!
//! ```text
//! n0 ── stdout ─┐                    ┌─ latency, loss, partitions ──▶ stdin of n0, n1, …
//! n1 ── stdout ─┼─▶ this program ────┤
//! n2 ── stdout ─┘                    └─ clients c3, c4, …: a generator draws what they ask, replies are checked
//! ```
//!
//! It runs on the main machine, and is a scenario like any other: one step is one operation, or one thing that goes wrong. So tests are
//! recorded, replayed, explored and shrunk as scenarios are, and the program travels in each trace.
//!
//! ```text
//! begin-sequence   init of each node · topology            step   moment · which client, which operation │ partition │ heal
//! end-sequence     what is open ends · healed · 10 s · final reads
//! ```
//!
//! Invariants: all that is left to chance is a choice of the run; the moment of a step depends on its own number and on what is drawn in it, so
//! that steps can be left out and the others stay where they were; clients have one request at a time.
//! Not here: which machines there are and how lines come here (`fozzy-campaign`, `fozzy-world`), what judges operations (`fozzy-check`).

mod body;
mod client;
mod generator;
mod log;
mod nemesis;
mod network;
mod packet_faults;
mod partition;
mod protocol;
mod services;
mod test;
mod topology;
mod transaction;
mod wire;
mod workload;

use fozzy_scenario_file::MaelstromOptions;
use fozzy_sdk::bindings::stateful::exports::fozzy::scenario::stateful::{Guest, Info, StepResult};
use fozzy_sdk::bindings::tools::fozzy::properties::assertions;
use std::cell::RefCell;
use test::Test;

/// What the argument that has the options begins with.
const OPTIONS: &str = "--maelstrom=";

thread_local! {
    static TEST: RefCell<Option<Test>> = const { RefCell::new(None) };
}

struct Driver;

impl Guest for Driver {
    fn describe() -> Info {
        test::describe(&options())
    }

    fn begin_sequence(_: u32) {
        let mut test = Test::new(options());
        test.begin();
        TEST.set(Some(test));
    }

    fn step(step: u32) -> StepResult {
        TEST.with_borrow_mut(|test| match test {
            Some(test) => test.step(step),
            None => StepResult::Stuck("the sequence was not begun".to_owned()),
        })
    }

    fn end_sequence(_: u32) {
        if let Some(mut test) = TEST.take() {
            test.end();
        }
    }
}

fozzy_sdk::bindings::stateful::export_stateful!(Driver with_types_in fozzy_sdk::bindings::stateful);

/// The options of the test. The command has written them.
fn options() -> MaelstromOptions {
    let text = std::env::args().find_map(|word| word.strip_prefix(OPTIONS).map(str::to_owned)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_else(|why| {
        assertions::fail(assertions::Failure::Invalid, "the options of the test", &why.to_string());
        unreachable!("the run ends at a failure")
    })
}

/// Ends the run: a node has broken the protocol, or something that must hold does not. The site is the same for each failure of one kind.
fn fail(site: &str, message: &str) -> ! {
    assertions::fail(assertions::Failure::Invariant, site, message);
    unreachable!("the run ends at a failure")
}
