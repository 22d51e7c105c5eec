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
    for (workers, given_up) in [("1", "1 run "), ("2", " still at work")] {
        let args = ["explore", "spin.wat", "--time", "1s", "--fuel", FUEL, "-w", workers, "--json"];
        let document = fozzy.run(&args).exits(0).json();
        assert_eq!(
            (&document["explore"]["ended"], &document["status"]),
            (&"time".into(), &"pass".into()),
            "{document}"
        );
        let warning = document["warnings"][0].as_str().unwrap_or_default();
        assert!(warning.contains(given_up) && warning.contains("before the limits that are given"), "{document}");
    }
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
    let warning = fuzzed.json()["warnings"][0].to_string();
    assert!(warning.contains("1 run still at work at the end, given up"), "{fuzzed}");
}

/// Fails in one run of four, after that many turns of a loop.
fn fails_late(turns: u64) -> String {
    let judge = format!(
        "(if (i32.eqz (i32.and (i32.load8_u (i32.const 64)) (i32.const 3))) (then
            (loop $l (global.set $n (i64.add (global.get $n) (i64.const 1)))
                (br_if $l (i64.lt_u (global.get $n) (i64.const {turns}))))
            unreachable))"
    );
    program(&judge).replace("(memory", "(global $n (mut i64) (i64.const 0)) (memory")
}

#[test]
fn what_was_found_when_the_time_is_over_is_no_pass() {
    let fozzy = Fozzy::new();
    fozzy.write("late.wat", fails_late(20_000_000));
    // Wherever the end is: in the run that fails, in the one that confirms it, or in the one that is recorded.
    for time in ["60ms", "120ms", "180ms", "240ms", "300ms", "400ms", "500ms", "600ms"] {
        let args = ["explore", "late.wat", "--time", time, "--no-seeds", "--no-shrink", "--json"];
        let explored = fozzy.run(&args);
        if explored.code == Some(2) {
            assert!(explored.err().contains("nothing was tried"), "{explored}");
            continue;
        }
        let document = explored.json();
        let told = document["explore"]["failures"].as_array().expect("a list");
        let times: u64 = told.iter().filter_map(|failure| failure["times"].as_u64()).sum();
        assert_eq!(document["explore"]["fails"].as_u64(), Some(times), "{explored}");
        assert_eq!(document["status"] == "pass", told.is_empty(), "{explored}");
        assert_eq!(explored.code == Some(0), told.is_empty(), "{explored}");
    }
}

#[test]
fn a_campaign_of_machines_gives_up_its_first_run() {
    let fozzy = Fozzy::new();
    let reads = r#"(module
        (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
        (memory (export "memory") 1)
        (func (export "_start")
            (i64.store (i32.const 0) (i64.const 0x800000040))
            (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
            (if (i32.eqz (i32.load8_u (i32.const 64))) (then (loop $l (br $l))))))"#;
    fozzy.write("reads.wat", reads);
    fozzy.write("idle.wat", r#"(module (memory (export "memory") 1) (func (export "_start")))"#);
    fozzy.write("plan.toml", "[[node]]\nname = \"other\"\ncomponent = \"idle.wat\"\n");
    for more in [&["--time", "200ms"][..], &["--time", "200ms", "--jobs", "2"]] {
        let flags = ["fuzz", "reads.wat", "--stdin", "--plan", "plan.toml", "--fuel", FUEL];
        let said = fozzy.run(&[&flags, more].concat()).refuses(&["reads.wat", "nothing was tried"]).err();
        assert!(said.contains("--fuel N bounds"), "{said}");
    }
}

#[test]
fn a_run_that_logs_comparisons_is_given_up_too() {
    let fozzy = Fozzy::new();
    // Behind a comparison that only input-to-state meets, half of all runs never end.
    let pin = r#"(if (i32.eq (i32.load (i32.const 64)) (i32.const 0x5eed1234)) (then
        (if (i32.and (i32.load8_u (i32.const 72)) (i32.const 1)) (then (call $for_ever)))))"#;
    fozzy.write("pin.wat", program(pin).replace("(i32.const 4))) ", "(i32.const 12))) "));
    for seed in ["6", "8"] {
        let explored = fozzy.run(&["explore", "pin.wat", "--time", "1s", "--seed", seed, "--fuel", FUEL, "--json"]);
        assert_eq!(explored.exits(0).json()["explore"]["ended"], "time");
    }
}

#[test]
fn a_finding_that_is_not_found_again_in_time_stays_in_the_state() {
    let fozzy = Fozzy::new();
    fozzy.write("late.wat", fails_late(100_000_000));
    let flags = ["explore", "late.wat", "--no-shrink", "--no-seeds", "--save-state", "state.json"];
    fozzy.run(&[&flags[..], &["--runs", "12"]].concat()).exits(4);
    let state = || serde_json::from_slice::<serde_json::Value>(&fozzy.read("state.json")).expect("a state");
    let found = state()["findings"].clone();
    assert_eq!(found.as_array().map(Vec::len), Some(1));
    // Whether it is found once more or not.
    for time in ["30ms", "60ms", "120ms", "200ms"] {
        fozzy.run(&[&flags[..], &["--resume", "state.json", "--time", time]].concat());
        assert_eq!(state()["findings"], found, "after {time}");
    }
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
    // Without a single seed it is no pass, and no failure.
    Ran::of(&args, wait::output(child)).exits(130);
    assert!(rest.iter().any(|line| line == "note: stopped after 0 of 3 seeds"), "{rest:#?}");
}

#[test]
fn ctrl_c_ends_what_is_done_with_a_failure_that_takes_long_and_keeps_it() {
    let fozzy = Fozzy::new();
    fozzy.write("for-ever.wat", program("(call $for_ever)"));
    let args = ["explore", "for-ever.wat", "--runs", "1", "--fuel", "4000000000", "--no-seeds", "--json"];
    let mut child = fozzy.start(&args);
    let mut said = BufReader::new(child.stderr.take().expect("it is a pipe")).lines().map_while(Result::ok);
    assert!(said.any(|line| line.starts_with("found timeout")), "its first run takes all its instructions");
    let stat = format!("/proc/{}/stat", child.id());
    let ticks = || std::fs::read_to_string(&stat).ok()?.split(' ').nth(13)?.parse::<u64>().ok();
    let until_found = ticks().expect("it is at work");
    fozzy.shell(&format!("kill -INT {}", child.id())).exits(0);
    let mut all = until_found;
    wait::until("its end", || {
        all = ticks().unwrap_or(all).max(all);
        !wait::runs(&mut child)
    });
    let ended = Ran::of(&args, wait::output(child)).json();
    assert_eq!((&ended["status"], &ended["interrupted"]), (&"timeout".into(), &true.into()), "{ended:#}");
    let trace = ended["explore"]["failures"][0]["tracePath"].as_str().expect("a trace");
    fozzy.shell(&format!("test -s {trace}")).exits(0);
    // Neither what makes it smaller nor what is shown of it executes it again to its end.
    assert!((all - until_found) * 3 < until_found, "{until_found} ticks until it was found, {all} in all");
}

/// Nothing was learned yet: that is no error of the program's.
#[test]
fn ctrl_c_before_the_first_result_is_an_interruption() {
    let fozzy = Fozzy::new();
    fozzy.write("for-ever.wat", program("(call $for_ever)"));
    let args = ["mutants", "for-ever.wat", "--fuel", FUEL];
    let mut child = fozzy.start(&args);
    // Its first run is at work after as much of a second as all before it takes.
    let stat = format!("/proc/{}/stat", child.id());
    let ticks = || std::fs::read_to_string(&stat).ok()?.split(' ').nth(13)?.parse::<u64>().ok();
    wait::while_running(&mut child, "the first run", || ticks() > Some(40));
    fozzy.shell(&format!("kill -INT {}", child.id())).exits(0);
    Ran::of(&args, wait::output(child)).exits(130);
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
