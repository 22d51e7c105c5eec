//! `fozzy shrink` and `fozzy ablate`: real failures become small, and stay the same failures.
//!
//! ```text
//! scenarios/bank ─run▶ a failure of many steps ─shrink▶ one of one step ─replay, alone▶ the same run
//! ```
//!
//! Not here: the passes by themselves (`fozzy-search`).

use crate::corpus;
use crate::fozzy::{Fozzy, Ran};
use serde_json::Value;

/// Seeds that each scenario is shrunk with; the long form takes twenty.
fn seeds() -> u64 {
    if std::env::var_os("FOZZY_LONG").is_some() { 20 } else { 3 }
}

/// Shrinks failures of a scenario; eighteen of twenty must come to `steps` at the most, each be the same failure still, and
/// replay in another folder.
#[track_caller]
fn check(name: &str, sequences: u32, flows: u32, steps: u64) {
    let program = corpus::scenario(name, false);
    let mut reached = 0;
    for seed in 0..seeds() {
        let (fozzy, elsewhere) = (Fozzy::new(), Fozzy::new());
        let (program, seed) = (program.display().to_string(), seed.to_string());
        let (sequences, flows) = (sequences.to_string(), flows.to_string());
        let args = ["run", &program, "--seed", &seed, "--sequences", &sequences, "--flows", &flows, "--json"];
        let before = fozzy.run(&args).json();
        let smallest = elsewhere.path("smallest.fozzy").display().to_string();
        let ran = fozzy.run(&["shrink", "last-fail", "--out", &smallest, "--budget", "5m", "--json"]);
        let after = ran.json();
        assert_eq!(after["signature"], before["signature"], "{name} with seed {seed}");
        let shrink = &after["shrink"];
        let number = |of: &str, what: &str| shrink[of][what].as_u64().unwrap_or(u64::MAX);
        assert_eq!(shrink["minimal"], true, "{name} with seed {seed}: {shrink:#}");
        reached += u64::from(number("after", "steps") <= steps);
        assert!(number("after", "decisions") <= number("before", "decisions"), "{name} with seed {seed}: {shrink:#}");
        assert!(shrink["executions"].as_u64() <= Some(350), "{name} with seed {seed}: {shrink:#}");
        let replayed = elsewhere.run(&["replay", "smallest.fozzy", "--json"]).json();
        assert_eq!((&replayed["replay"]["equal"], &replayed["signature"]), (&Value::Bool(true), &before["signature"]));
        // What is smallest stays as it is.
        let again = elsewhere.run(&["shrink", "smallest.fozzy", "--json"]).json();
        assert_eq!(again["shrink"]["after"], shrink["after"], "{name} with seed {seed}");
    }
    assert!(reached * 20 >= seeds() * 18, "{name}: {reached} of {} are as small as can be", seeds());
}

#[test]
fn a_bank_is_overdrawn_by_two_steps_at_the_most() {
    check("bank", 10, 150, 2);
}

#[test]
fn a_cache_is_lost_by_a_write_and_a_loss_of_power() {
    check("cache", 5, 60, 2);
}

#[test]
fn a_parser_fails_at_one_input() {
    check("parser", 4, 600, 1);
}

#[test]
fn two_jobs_come_to_the_same_as_one_and_a_walk_to_the_same_as_runs() {
    let (fozzy, program) = (Fozzy::new(), corpus::scenario("bank", false).display().to_string());
    let of_seed = |seed: &str, steps: u64| {
        let run = ["run", &program, "--seed", seed, "--sequences", "10", "--flows", "150", "--record", "long.fozzy"];
        fozzy.run(&[&run[..], &["--record-collision", "overwrite"]].concat()).exits(1);
        let shrink = |jobs: &str, out: &str| {
            let args = ["shrink", "long.fozzy", "--jobs", jobs, "--out", out, "--budget", "5m", "--json"];
            fozzy.run(&args).exits(1).json()["shrink"].clone()
        };
        let (one, two) = (shrink("1", "one.fozzy"), shrink("2", "two.fozzy"));
        assert!(one["before"]["steps"].as_u64() >= Some(steps), "{one:#}");
        assert_eq!((&one["executions"], &one["after"]), (&two["executions"], &two["after"]), "seed {seed}");
        assert_eq!(fozzy.read("one.fozzy"), fozzy.read("two.fozzy"), "seed {seed}");
    };
    // The first is short, and run whole; the other one is walked.
    of_seed("0", 8);
    of_seed("2", 64);
}

/// Reads standard input, and traps at the first `!`.
const BANG: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\01\00\00\00")
  (func (export "_start")
    (loop $next
      (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
      (if (i32.eqz (i32.load (i32.const 8))) (then (return)))
      (if (i32.eq (i32.load8_u (i32.const 16)) (i32.const 33)) (then unreachable))
      (br $next))))"#;

#[test]
fn standard_input_shrinks_to_the_bytes_that_count() {
    let fozzy = Fozzy::new();
    fozzy.write("bang.wat", BANG);
    let input: Vec<u8> = (b'a'..=b'z').cycle().take(500).chain(*b"! and more").collect();
    fozzy.run_with_stdin(&["run", "bang.wat", "--record", "long.fozzy"], &input).exits(4);
    let document = fozzy.run(&["shrink", "long.fozzy", "--json"]).exits(4).json();
    assert_eq!(document["shrink"]["before"]["inputBytes"], 510);
    assert_eq!(document["shrink"]["after"]["inputBytes"], 1, "{:#}", document["shrink"]);
    fozzy.run(&["replay", "long.min.fozzy"]).exits(4);
}

#[test]
fn an_explanation_varies_standard_input_byte_by_byte() {
    let fozzy = Fozzy::new();
    fozzy.write("bang.wat", BANG);
    fozzy.run_with_stdin(&["run", "bang.wat", "--record", "short.fozzy"], b"ab!").exits(4);
    // There are no faults that could go, so that all three bytes are there.
    let args = ["shrink", "short.fozzy", "--minimize", "faults", "--explain", "--json"];
    let document = fozzy.run(&args).exits(4).json();
    let explained: Vec<(&str, &str, bool)> = document["shrink"]["explained"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| {
            (row["site"].as_str().expect("a text"), row["answer"].as_str().expect("a text"), row["free"] == true)
        })
        .collect();
    let expected = [
        ("standard input, byte 0", "61", true),
        ("standard input, byte 1", "62", true),
        ("standard input, byte 2", "21", false),
    ];
    assert_eq!(explained, expected);
}

/// Traps when its input comes later than after nine tenths of a second.
const LATE: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\08\00\00\00")
  (func (export "_start")
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
    (drop (call $clock (i32.const 1) (i64.const 0) (i32.const 128)))
    (if (i64.gt_u (i64.load (i32.const 128)) (i64.const 900000000)) (then unreachable))))"#;

#[test]
fn an_explanation_says_moments_as_times_and_bytes_as_text() {
    let fozzy = Fozzy::new();
    fozzy.write("late.wat", LATE);
    fozzy.write("plan.toml", "[[stdin]]\nat = \"2ms\"\nline = \"b\"\n");
    let explore =
        "explore late.wat --plan plan.toml --runs 300 --record late.fozzy --no-shrink --no-seeds --stop failure";
    fozzy.run(&explore.split(' ').collect::<Vec<_>>()).exits(4);
    let document = fozzy.run(&["shrink", "late.fozzy", "--explain", "--json"]).exits(4).json();
    let explained = &document["shrink"]["explained"];
    let moment = explained[0]["words"].as_str().unwrap_or_default();
    assert!(moment.starts_with('9') && moment.ends_with("ms, planned for 2ms"), "{explained:#}");
    assert_eq!((&explained[0]["free"], &explained[1]["words"]), (&false.into(), &"'b'".into()), "{explained:#}");
}

/// A run of the guest that writes a file, under these faults.
fn faulty(fozzy: &Fozzy, faults: &str) -> Ran {
    let guest = corpus::component("faults").display().to_string();
    fozzy.run(&["run", &guest, "--faults", faults, "--record", "faulty.fozzy", "--", "write"])
}

#[test]
fn ablation_names_the_fault_that_a_failure_needs() {
    let fozzy = Fozzy::new();
    faulty(&fozzy, "write-error@/tmp/*:100%,slow-disk:100%").exits(1);
    let document = fozzy.run(&["ablate", "faulty.fozzy", "--json"]).exits(0).json();
    let rows: Vec<(u64, bool)> = document["rows"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| (row["without"][0].as_u64().expect("a place"), row["stillFails"] == true))
        .collect();
    assert_eq!(rows, [(0, false), (1, true)]);
    assert!(
        fozzy.run(&["ablate", "faulty.fozzy"]).exits(0).out().contains("needed: passed without it in 10 of 10 tries")
    );
    let document = fozzy.run(&["shrink", "faulty.fozzy", "--minimize", "faults", "--json"]).exits(1).json();
    assert_eq!(document["shrink"]["after"]["faults"], 1, "{:#}", document["shrink"]);
}

#[test]
fn what_cannot_be_shrunk_is_said() {
    let fozzy = Fozzy::new();
    fozzy.write("bang.wat", BANG);
    fozzy.run(&["run", "bang.wat", "--record", "passed.fozzy"]).exits(0);
    let passed = fozzy.run(&["shrink", "passed.fozzy"]).exits(0);
    assert!(passed.err().contains("the run passed, so there is nothing to make smaller"), "{passed}");
    fozzy.run(&["ablate", "passed.fozzy"]).refuses(&["no fault was planned"]);
    fozzy.run(&["shrink", "not-there.fozzy"]).refuses(&["not-there.fozzy"]);
    fozzy.write("damaged.fozzy", &fozzy.read("passed.fozzy")[..200]);
    fozzy.run(&["shrink", "damaged.fozzy"]).refuses(&["damaged.fozzy"]);
    fozzy.run(&["shrink", "passed.fozzy", "--budget", "soon"]).exits(2);
    fozzy.run_with_stdin(&["run", "bang.wat", "--record", "failed.fozzy"], b"ab!").exits(4);
    // Without time, the recorded run is what there is.
    let document = fozzy.run(&["shrink", "failed.fozzy", "--budget", "0ms", "--json"]).exits(4).json();
    assert_eq!((&document["shrink"]["minimal"], &document["shrink"]["executions"]), (&Value::Bool(false), &1.into()));
    fozzy.run(&["shrink", "failed.fozzy", "--out", "no/such/folder.fozzy"]).refuses(&["no/such"]);
}

/// A deposit that is lost when two clerks read the till before either writes: only some orders fail.
fn till() -> String {
    crate::fozzy::repository().join("scenarios/till/till.fozzy.json").display().to_string()
}

#[test]
fn a_scenario_file_keeps_the_steps_that_compute_what_its_assertion_compares() {
    let fozzy = Fozzy::new();
    let args = ["explore", &till(), "--runs", "50", "--stop", "failure", "--no-seeds", "--record", "a.fozzy", "--json"];
    fozzy.run(&args).exits(1);
    let small = fozzy.run(&["shrink", "a.fozzy", "--out", "b.fozzy", "--json"]).exits(1).json();
    let shrink = &small["shrink"];
    assert_eq!((&shrink["before"]["steps"], &shrink["after"]["steps"]), (&5.into(), &5.into()), "{shrink:#}");
    for message in ["messageBefore", "messageAfter"] {
        assert!(shrink[message].as_str().is_some_and(|words| words.contains("== 15")), "{shrink:#}");
    }
    // What is left still depends on the order of the branches.
    let failed = |file: &str| fozzy.run(&["findability", file, "--runs", "40", "--json"]).json()["failed"].as_u64();
    assert_eq!(failed("a.fozzy"), failed("b.fozzy"), "the minimum is as hard to find as the failure");
    assert!(failed("b.fozzy").is_some_and(|failed| (1..40).contains(&failed)));
    let shown = fozzy.run(&["shrink", "a.fozzy", "--out", "c.fozzy"]).exits(1).err();
    let row =
        |name: &str| shown.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default().to_owned();
    assert!(row("before ").contains("== 15") && row("after ").contains("== 15"), "{shown}");
}

/// Three nodes, one of which is cut off for a while and crashes; what it has afterwards is judged.
const CUT_OFF: &str = r#"{ "version": 1, "name": "cut off", "distributed": { "node_count": 3, "steps": [
    { "type": "tick", "duration": "1s" },
    { "type": "client_put", "node": "n0", "key": "other", "value": "x" },
    { "type": "partition", "a": "n0", "b": "n2" },
    { "type": "client_put", "node": "n0", "key": "k", "value": "a" },
    { "type": "crash", "node": "n1" },
    { "type": "heal", "a": "n2", "b": "n0" },
    { "type": "restart", "node": "n1" },
    { "type": "tick", "duration": "1s" } ],
    "invariants": [{ "type": "kv_node_equals", "node": "n2", "key": "k", "equals": "b" }] } }"#;

#[test]
fn a_distributed_file_keeps_its_writes_and_heals_what_it_cuts() {
    let fozzy = Fozzy::new();
    fozzy.write("cut.fozzy.json", CUT_OFF);
    fozzy.run(&["run", "cut.fozzy.json", "--record", "a.fozzy"]).exits(1);
    let small = fozzy.run(&["shrink", "a.fozzy", "--out", "b.fozzy", "--json"]).exits(1).json();
    assert_eq!(small["shrink"]["after"]["steps"], 1, "the write: {:#}", small["shrink"]);
    assert!(small["shrink"]["messageAfter"].as_str().is_some_and(|words| words.contains(r#"n2 "a""#)), "{small:#}");
    // Where the cut and its end matter, both stay; the crash and its restart, which do not, go.
    fozzy.write("overtaken.fozzy.json", OVERTAKEN);
    fozzy.run(&["run", "overtaken.fozzy.json", "--record", "c.fozzy"]).exits(1);
    let small = fozzy.run(&["shrink", "c.fozzy", "--out", "d.fozzy", "--json"]).exits(1).json();
    let shown = fozzy.run(&["trace", "show", "d.fozzy"]).exits(0).out();
    let events = ["partition", "heal", "crash", "restart"];
    let kept = events.map(|word| shown.matches(&format!("journal.event(\"{word}\"")).count());
    assert_eq!(kept, [2, 1, 0, 0], "{:#}\n{shown}", small["shrink"]);
    assert!(shown.contains(r#"journal.event("heal", "n0 n2")"#), "{shown}");
    assert!(small["shrink"]["messageAfter"].as_str().is_some_and(|words| words.contains(r#"n2 "a""#)), "{small:#}");
}

/// A write that is held back by a cut arrives after a later one of the same version, when the cut is healed.
const OVERTAKEN: &str = r#"{ "version": 1, "name": "overtaken", "distributed": { "node_count": 3, "steps": [
    { "type": "client_put", "node": "n0", "key": "other", "value": "x" },
    { "type": "partition", "a": "n0", "b": "n1" },
    { "type": "partition", "a": "n0", "b": "n2" },
    { "type": "client_put", "node": "n0", "key": "k", "value": "a" },
    { "type": "client_put", "node": "n1", "key": "k", "value": "b" },
    { "type": "crash", "node": "n1" },
    { "type": "heal", "a": "n2", "b": "n0" },
    { "type": "restart", "node": "n1" },
    { "type": "tick", "duration": "1s" } ],
    "invariants": [{ "type": "kv_node_equals", "node": "n2", "key": "k", "equals": "b" }] } }"#;

#[test]
fn another_failure_of_the_same_property_is_reported_and_not_taken() {
    let (fozzy, program) = (Fozzy::new(), corpus::component("expiry").display().to_string());
    let (mut checked, mut slips) = (0, 0);
    for seed in 0..12 {
        let seed = seed.to_string();
        let run = ["run", &program, "--seed", &seed, "--sequences", "20", "--flows", "100", "--record", "a.fozzy"];
        let ran = fozzy.run(&[&run[..], &["--record-collision", "overwrite", "--json"]].concat());
        if ran.code == Some(0) {
            continue;
        }
        let ran = ran.exits(1).json();
        let has =
            |found: &Value, side: &str| found["findings"][0]["message"].as_str().unwrap_or_default().contains(side);
        let small = fozzy.run(&["shrink", "a.fozzy", "--out", "b.fozzy", "--json"]).exits(1).json();
        for side in ["got None", "expected None"] {
            assert_eq!(has(&ran, side), has(&small, side), "seed {seed}: {:#}", small["shrink"]);
        }
        checked += 1;
        slips += small["shrink"]["slips"].as_array().map_or(0, Vec::len);
        let of_same = |slip: &Value| slip["signature"] == ran["signature"] && slip["message"].is_string();
        assert!(small["shrink"]["slips"].as_array().is_none_or(|slips| slips.iter().all(of_same)), "seed {seed}");
    }
    assert!(checked >= 6 && slips > 0, "{slips} other failures were met");
}

#[test]
fn the_input_of_a_fuzz_target_gets_shorter_where_it_is_one_of_many_steps() {
    let (fozzy, program) = (Fozzy::new(), corpus::scenario("parser", false).display().to_string());
    let run = ["run", &program, "--seed", "1", "--sequences", "4", "--flows", "600", "--record", "a.fozzy"];
    let ran = fozzy.run(&run).exits(4).err();
    assert!(ran.contains("the len is 768 but the index is 768"), "{ran}");
    let small = fozzy.run(&["shrink", "a.fozzy", "--out", "b.fozzy", "--json"]).exits(4).json();
    let after = small["shrink"]["messageAfter"].as_str().unwrap_or_default();
    assert!(after.contains("the len is 1 but the index is 1"), "{:#}", small["shrink"]);
    let replayed = fozzy.run(&["replay", "b.fozzy"]).exits(4).err();
    assert!(replayed.contains(r#"parse_anything(input="\\" (1 bytes))"#), "{replayed}");
}

/// An input of a campaign comes from no seed, and stays when nothing of it can be left out.
#[test]
fn an_input_that_cannot_get_smaller_is_still_the_failure() {
    let fozzy = Fozzy::new();
    fozzy.write("magic.wat", crate::fuzz::module(crate::fuzz::MAGIC));
    let words = ["fuzz", "magic.wat", "--runs", "200000", "--crash-only", "--record", "find.fozzy", "--json"];
    let found = fozzy.run(&words).exits(4).json();
    let mut trace = "find.fozzy".to_owned();
    for _ in 0..3 {
        let out = format!("{trace}.min");
        let small = fozzy.run(&["shrink", &trace, "--out", &out, "--json"]).exits(4).json();
        assert_eq!(small["signature"], found["signature"], "{:#}", small["shrink"]);
        fozzy.run(&["replay", &out]).exits(4);
        trace = out;
    }
}
