//! A scenario that is wrong in whatever way its argument says. Made on the bindings, as the SDK's attributes refuse much
//! of it at once.
#![cfg(target_arch = "wasm32")]

use fozzy_sdk::bindings::stateful::export_stateful;
use fozzy_sdk::bindings::stateful::exports::fozzy::scenario::stateful::{Flow, Guest, Info, Invariant, Skip, StepResult};
use fozzy_sdk::bindings::tools::fozzy::choices::draws;
use fozzy_sdk::bindings::tools::fozzy::events::journal;
use fozzy_sdk::bindings::tools::fozzy::history::operations;
use fozzy_sdk::bindings::tools::fozzy::http::rules as http_rules;
use fozzy_sdk::bindings::tools::fozzy::memory::allocations;
use fozzy_sdk::bindings::tools::fozzy::process::rules as process_rules;
use fozzy_sdk::bindings::tools::fozzy::properties::assertions;
use fozzy_sdk::prelude::*;
use std::hint::black_box;

struct Misfit;

fn how() -> String {
    std::env::args().nth(1).expect("it is told how")
}

fn flow(name: &str, weight: u32) -> Flow {
    Flow { name: name.to_owned(), weight, max_times: None }
}

fn deeper(n: u64) -> u64 {
    if black_box(n) == u64::MAX { 0 } else { black_box(deeper(n + 1)) + 1 }
}

impl Guest for Misfit {
    fn describe() -> Info {
        let how = how();
        let flows = match how.as_str() {
            "weights-0" => vec![flow("f", 0), flow("g", 0)],
            "no-flow" => vec![],
            "two-names" => vec![flow("f", 1), flow("f", 1)],
            "no-name" => vec![flow("", 1)],
            _ => vec![flow("f", 1)],
        };
        let period = u32::from(how != "period-0");
        Info { name: "Misfit".to_owned(), flows, invariants: vec![Invariant { name: "i".to_owned(), period }] }
    }

    fn begin_sequence(_: u32) {}

    fn step(step: u32) -> StepResult {
        match how().as_str() {
            "stuck" => return StepResult::Stuck("whatever".to_owned()),
            "wrong-flow" => return StepResult::Ran(9),
            "two-kinds" => {
                assertions::always("p", true, None);
                assertions::sometimes("p", true, None);
            }
            "choose-0" => drop(draws::choose("site", 0)),
            "min-max" => drop(draws::int("site", 2, 1)),
            "weighted-0" => drop(draws::weighted("site", &[0, 0])),
            "probability" => drop(draws::bool("site", 2.0)),
            "empty-alphabet" => drop(draw::string_of("", 1..=1)),
            "never-true" => drop(draw::such_that(draw::any::<u8>, |_| false)),
            "panic" => panic!("the flow panics"),
            "for-ever" => loop {
                black_box(step);
            },
            "recursion" => drop(black_box(deeper(0))),
            "allocation" => {
                let mut all: Vec<Vec<u8>> = Vec::new();
                loop {
                    all.push(black_box(Vec::with_capacity(1 << 20)));
                }
            }
            "deadlock" => task::block_on(async { task::Notify::new().notified().await }),
            "operation-twice" => {
                let operation = operations::invoke(1, "read", "x");
                operations::ok(operation, "");
                operations::info(operation, "");
            }
            "adds" => operations::ok(operations::invoke(1, "add", "1"), "1"),
            "leak" => allocations::allocated(8, 16, "site"),
            "free-twice" => {
                allocations::allocated(8, 16, "site");
                allocations::freed(8);
                allocations::freed(8);
            }
            "span-twice" => {
                let span = journal::enter("span");
                journal::leave(span);
                journal::leave(span);
            }
            "always" => always_at_most!(3, 2, "p"),
            "http-status" => drop(http::rule("/").responds(99, b"").add()),
            "http-1025" => (0..1025).for_each(|_| drop(http::rule("/").add())),
            "http-unknown" => drop(http_rules::answered(7)),
            "process-1025" => (0..1025).for_each(|_| drop(process::rule("x").add())),
            "process-unknown" => {
                process::rule("x").add();
                process::clear_rules();
                drop(process_rules::answered(0));
            }
            "skips" => return StepResult::Skipped(Skip { flow: 0, label: "nothing to do".to_owned() }),
            _ => {}
        }
        StepResult::Ran(0)
    }

    fn end_sequence(_: u32) {}
}

export_stateful!(Misfit with_types_in fozzy_sdk::bindings::stateful);
