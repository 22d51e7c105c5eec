//! What campaigns call a failure: nothing that a run would not confirm, on no machine; each failure once, however it shows.
//!
//! ```text
//! cut, or beyond the budget with what was put in ─▶ a run decides ─▶ timeout │ as any other input
//! ```
//!
//! Not here: how signatures are made (`fozzy-check`).

use super::{campaign, module, signatures};
use crate::corpus;
use crate::fozzy::{Fozzy, Ran};
use fozzy_trace::file::Recording;
use serde_json::Value;

/// Instructions of one turn of the loop.
const TURN: u64 = 11;

/// Code that makes so many turns if its input is the byte `L`, each of which stores, which costs much where it is marked.
fn turns(number: u64) -> String {
    format!(
        "(if (i32.ne (local.get $len) (i32.const 1)) (then (return (i32.const 0))))
         (if (i32.ne (i32.load8_u (local.get $at)) (i32.const 76)) (then (return (i32.const 0))))
         (loop $turn
            (i32.store (i32.const 100) (local.get $n))
            (local.set $n (i32.add (local.get $n) (i32.const 1)))
            (br_if $turn (i32.lt_u (local.get $n) (i32.const {number}))))"
    )
}

fn campaign_from(input: &str, code: &str, more: &[&str]) -> (Fozzy, Ran) {
    let fozzy = Fozzy::new();
    let target = fozzy.write("target.wat", module(code));
    std::fs::create_dir_all(fozzy.path("corpus")).expect("the temporary folder can be written");
    fozzy.write("corpus/seed", input);
    let ran = campaign(&fozzy, &target, 1, 12, &[&["--corpus", "corpus"], more].concat());
    (fozzy, ran)
}

#[test]
fn what_a_run_ends_within_its_budget_is_no_timeout_whatever_lane_it_was_in() {
    // With so little fuel that all calls are made in the exact lane; and with so much that the fast lane is cut.
    for budget in [100_000_000_u64, 1_500_000_000] {
        let fuel = budget.to_string();
        let code = turns(budget * 69 / 100 / TURN);
        let (fozzy, ran) = campaign_from("L", &code, &["--fuel", &fuel]);
        let summary = ran.exits(0).json();
        assert_eq!((&summary["fuzz"]["failures"], signatures(&summary).len()), (&Value::from(0), 0), "{summary}");
        // What is above the budget is a timeout, in the campaign and by itself.
        let code = turns(budget * 105 / 100 / TURN);
        fozzy.write("above.wat", module(&code));
        fozzy.write("input", "L");
        let alone = fozzy.run(&["fuzz", "above.wat", "input", "--fuel", &fuel, "--json"]).exits(3).json();
        assert!(signatures(&alone)[0].starts_with("timeout at instructions"), "{alone}");
        let (_, ran) = campaign_from("L", &code, &["--fuel", &fuel, "--crash-only"]);
        let summary = ran.exits(3).json();
        assert_eq!(signatures(&summary), signatures(&alone));
    }
}

#[test]
fn a_budget_is_as_large_as_its_flag_or_its_help_says() {
    let fuel_of = |more: &[&str]| {
        let fozzy = Fozzy::new();
        let target = fozzy.write("target.wat", module("unreachable"));
        let summary = campaign(&fozzy, &target, 0, 2, more).exits(4).json();
        let trace = summary["fuzz"]["findings"][0]["tracePath"].as_str().expect("a path").to_owned();
        Recording::read(&fozzy.read(&trace)).expect("a trace").plan.limits.fuel
    };
    let help = Fozzy::new().run(&["fuzz", "--help"]).exits(0).out();
    assert!(help.contains("[default: 1000000000, a tenth of a run's]"), "{help}");
    assert_eq!(fuel_of(&[]), 1_000_000_000);
    assert_eq!(fuel_of(&["--fuel", "10000000000"]), 10_000_000_000, "the default of a run is meant when it is said");
    let plan = Fozzy::new();
    plan.write("plan.toml", "[limits]\nfuel = 10000000000\n");
    assert_eq!(fuel_of(&["--plan", &plan.path("plan.toml").display().to_string()]), 10_000_000_000);
}

/// The signatures of what `ends` does with each of `inputs`.
fn ends_of(inputs: &[&str]) -> Vec<String> {
    let fozzy = Fozzy::new();
    let target = corpus::component("ends").display().to_string();
    let mut args = vec!["fuzz", &target, "ends"];
    for input in inputs {
        fozzy.write(input, input);
    }
    args.extend(inputs);
    args.push("--json");
    signatures(&fozzy.run(&args).exits(4).json())
}

#[test]
fn panics_of_std_are_told_apart_by_own_functions() {
    let ends = ends_of(&["n", "nn", "v"]);
    assert_eq!(ends[0], ends[1]);
    assert_ne!(ends[0], ends[2]);
    assert!(ends[0].starts_with("panic at library/alloc/src/raw_vec/mod.rs in names < "), "{}", ends[0]);
    assert!(ends[2].starts_with("panic at library/alloc/src/raw_vec/mod.rs in values < "), "{}", ends[2]);
}

#[test]
fn a_stack_that_is_used_up_is_its_cycle_and_memory_is_who_asked_for_it() {
    let ends = ends_of(&["r", "rr", "l", "ll", "w", "www", "m", "mmm"]);
    assert_eq!(ends[0], "trap at call stack exhausted in list < value");
    assert!(ends[1..4].iter().all(|end| *end == ends[0]), "{ends:?}");
    assert_eq!(ends[4], "trap at call stack exhausted in wide_list < wide_value");
    assert_eq!(ends[4], ends[5]);
    assert!(ends[6].starts_with("trap at out of memory in hoard"), "{ends:?}");
    assert_eq!(ends[6], ends[7]);
}

#[test]
fn an_exported_function_is_called_by_its_short_name() {
    let fozzy = Fozzy::new();
    let peer = corpus::component("peer");
    let summary = campaign(&fozzy, &peer, 0, 20, &["--function", "echo"]).exits(0).json();
    assert_eq!(summary["fuzz"]["function"], "test:pair/peer@0.1.0#echo");
}
