//! A program that computes for ever does not hold a command beyond its time, and nothing of what was cut off is kept.
//!
//! ```text
//! explore, fuzz   --time, in the middle of a run ─▶ given up, and said so
//! run --seeds     Ctrl-C, the same               ─▶ the seeds before it count
//! shrink          --budget
//! ```
//!
//! Not here: that an interruption has no influence on what is recorded (`settings`).

use crate::fozzy::{Fozzy, Ran};
use crate::wait;
use std::io::{BufRead, BufReader};

/// More instructions than any of these tests could wait for.
const FUEL: &str = "1000000000000000";

/// A program of WASI preview 1: 4 bytes of chance are at 64, and `$judge` does something about them.
fn program(judge: &str) -> String {
    format!(
        r#"(module
            (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
            (memory (export "memory") 1)
            (func $for_ever (local $n i64) (loop $l (local.set $n (i64.add (local.get $n) (i64.const 1))) (br $l)))
            (func (export "_start") (drop (call $random (i32.const 64) (i32.const 4))) {judge}))"#
    )
}

/// One run in sixteen never ends.
const NOW_AND_THEN: &str =
    "(if (i32.eqz (i32.and (i32.load8_u (i32.const 64)) (i32.const 15))) (then (call $for_ever)))";

#[test]
fn an_exploration_gives_up_the_run_that_is_at_work_when_its_time_is_over() {
    let fozzy = Fozzy::new();
    fozzy.write("spin.wat", program(NOW_AND_THEN));
    fozzy.write("for-ever.wat", program("(call $for_ever)"));
    fozzy.write("asks.wat", program("(loop $l (drop (call $random (i32.const 64) (i32.const 1))) (br $l))"));
    let explored = fozzy.run(&["explore", "spin.wat", "--time", "1s", "--fuel", FUEL, "--json"]).exits(0);
    let document = explored.json();
    assert_eq!((&document["explore"]["ended"], &document["status"]), (&"time".into(), &"pass".into()), "{explored}");
    assert!(explored.err().contains("one run was still at work at the end, and was given up"), "{explored}");
    // Whether it computes or calls: what never ends once was not explored.
    for program in ["for-ever.wat", "asks.wat"] {
        let explored = fozzy.run(&["explore", program, "--time", "200ms", "--fuel", FUEL]);
        let said = explored.refuses(&[program, "nothing was tried"]).err();
        assert!(said.contains("--fuel N bounds"), "{said}");
    }
}

#[test]
fn a_campaign_gives_up_the_execution_that_is_at_work_when_its_time_is_over() {
    let fozzy = Fozzy::new();
    let reads = r#"(module
        (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
        (memory (export "memory") 1)
        (func (export "_start")
            (i64.store (i32.const 0) (i64.const 0x800000040))
            (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
            (if (i32.eq (i32.load8_u (i32.const 64)) (i32.const 69)) (then (loop $l (br $l))))))"#;
    fozzy.write("reads.wat", reads);
    fozzy.write("idle.wat", r#"(module (memory (export "memory") 1) (func (export "_start")))"#);
    fozzy.write("plan.toml", "[[node]]\nname = \"other\"\ncomponent = \"idle.wat\"\n");
    std::fs::create_dir(fozzy.path("corpus")).expect("a folder");
    fozzy.write("corpus/first", "E");
    let flags = ["--stdin", "--corpus", "corpus", "--plan", "plan.toml", "--time", "1s", "--fuel", FUEL, "--json"];
    let fuzzed = fozzy.run(&[&["fuzz", "reads.wat"], &flags[..]].concat()).exits(0);
    // Those before it count: none and the first byte.
    assert_eq!(fuzzed.json()["fuzz"]["findings"], serde_json::json!([]), "{fuzzed}");
    assert!(fuzzed.err().contains("was given up"), "{fuzzed}");
}

#[test]
fn a_campaign_without_an_execution_has_no_verdict() {
    let fozzy = Fozzy::new();
    fozzy.write("for-ever.wat", program("(call $for_ever)"));
    let args = ["fuzz", "for-ever.wat", "--stdin", "--time", "1ms", "--fuel", "300000000"];
    fozzy.run(&args).refuses(&["for-ever.wat", "nothing was tried"]);
}

#[test]
fn ctrl_c_ends_a_seed_that_never_does() {
    let fozzy = Fozzy::new();
    fozzy.write("for-ever.wat", program("(call $for_ever)"));
    let args = ["run", "for-ever.wat", "--seeds", "1..3", "--fuel", FUEL];
    let mut child = fozzy.start(&args);
    let mut said = BufReader::new(child.stderr.take().expect("it is a pipe")).lines().map_while(Result::ok);
    assert!(said.any(|line| line.contains("seeds 1 to 3")), "it says what it does");
    fozzy.shell(&format!("kill -INT {}", child.id())).exits(0);
    let rest: Vec<String> = said.collect();
    // Without a single seed it is no pass.
    Ran::of(&args, wait::output(child)).exits(2);
    assert!(rest.iter().any(|line| line == "note: stopped after 0 of 3 seeds"), "{rest:#?}");
}

#[test]
fn an_exploration_that_has_ended_keeps_its_findings_for_the_one_that_continues_it() {
    let fozzy = Fozzy::new();
    fozzy.write("fails.wat", program("(if (i32.and (i32.load8_u (i32.const 64)) (i32.const 1)) (then unreachable))"));
    let explored = |more: &[&str]| {
        let explored = fozzy.run(&[&["explore", "fails.wat", "--no-shrink", "--no-seeds", "--json"], more].concat());
        let explore = explored.exits(4).json()["explore"].take();
        (explore["failures"].as_array().map_or(0, Vec::len), explore["runs"].as_u64())
    };
    assert_eq!(explored(&["--runs", "30"]), (1, Some(30)));
    // The finding is told again, before anything is tried; a run more finds no other.
    let (failures, runs) = explored(&["--resume", "--runs", "1"]);
    assert!(failures == 1 && runs >= Some(31), "{failures} in {runs:?}");
    // Also one that was met behind a place that was kept, as most are.
    let rarely = |bit: u8, fault: &str| {
        format!("(if (i32.eq (i32.and (i32.load8_u (i32.const 64)) (i32.const 31)) (i32.const {bit})) (then {fault}))")
    };
    let two = rarely(7, "unreachable") + &rarely(9, "(drop (i32.div_u (i32.const 1) (i32.const 0)))");
    fozzy.write("fails.wat", program(&two));
    assert_eq!(explored(&["--runs", "300"]), (2, Some(300)));
    assert_eq!(explored(&["--resume", "--runs", "1"]).0, 2);
}

#[test]
fn a_budget_that_is_over_before_the_recorded_run_says_so() {
    let fozzy = Fozzy::new();
    fozzy.write("for-ever.wat", program("(call $for_ever)"));
    fozzy.run(&["run", "for-ever.wat", "--fuel", "200000000", "--record", "t.fozzy"]).exits(3);
    let shrunk = fozzy.run(&["shrink", "t.fozzy", "--budget", "1ms"]);
    let said = shrunk.refuses(&["t.fozzy", "nothing is smaller"]).err();
    assert!(said.contains("fozzy shrink t.fozzy --budget"), "{said}");
}
