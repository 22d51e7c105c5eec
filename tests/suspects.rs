//! `fozzy suspects`: what goes with a failure, over many runs.
//!
//! ```text
//! draws two bytes: the first decides which way it goes, the second what it prints; one way leaves a number that a check far behind refuses
//! ```
//!
//! Not here: how likely something is by chance (unit tests of `fozzy-campaign`).

use crate::corpus;
use crate::fozzy::Fozzy;
use serde_json::Value;

/// Bytes above 223 make it fail otherwise. Bytes below 64 make it take a way whose result is refused at the end; the lowest bit of the other byte is printed.
const DRAWS: &str = r#"(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\20\00\00\00\06\00\00\00")
  (data (i32.const 32) "bit a\n")
  (func $spoil (i32.store8 (i32.const 80) (i32.const 1)))
  (func $main (export "_start")
    (drop (call $random (i32.const 64) (i32.const 2)))
    (if (i32.gt_u (i32.load8_u (i32.const 64)) (i32.const 223)) (then unreachable))
    (if (i32.lt_u (i32.load8_u (i32.const 64)) (i32.const 64)) (then (call $spoil)))
    (i32.store8 (i32.const 36) (i32.add (i32.const 97) (i32.and (i32.load8_u (i32.const 65)) (i32.const 1))))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))
    (if (i32.load8_u (i32.const 80)) (then (call $exit (i32.const 1))))))"#;

fn suspects(fozzy: &Fozzy, more: &[&str], code: i32) -> Value {
    fozzy.run(&[&["suspects", "draws.wat", "--json"], more].concat()).exits(code).json()
}

/// The suspect that has such a thing.
fn with_thing(found: &Value, is_it: impl Fn(&Value) -> bool) -> Option<&Value> {
    let suspects = found["suspects"].as_array().expect("a list");
    suspects.iter().find(|it| it["things"].as_array().expect("a list").iter().any(&is_it))
}

#[test]
fn the_way_that_spoils_it_is_the_first_suspect_and_what_is_printed_is_none() {
    let fozzy = Fozzy::new();
    fozzy.write("draws.wat", DRAWS);
    let found = suspects(&fozzy, &["--seeds", "60", "--limit", "100", "--jobs", "2"], 0);
    let number = |value: &Value| value.as_u64().expect("a number");
    let (failing, passing) = (number(&found["failing"]), number(&found["passing"]));
    let otherwise = number(&found["failingOtherwise"]);
    assert!(
        failing + passing + otherwise == 60 && (5..=30).contains(&failing) && otherwise > 0,
        "a quarter of the seeds draw such a byte, an eighth one that traps: {found:#}"
    );
    let first = &found["suspects"][0];
    let is_spoil = |thing: &Value| thing["what"].as_str().is_some_and(|what| what.starts_with("spoil at"));
    assert!(first["things"].as_array().expect("a list").iter().any(is_spoil), "{found:#}");
    assert_eq!((first["score"].as_f64(), number(&first["failingWith"])), (Some(1.0), failing), "{found:#}");
    assert!(first["byChance"].as_f64().is_some_and(|chance| chance < 0.001), "{found:#}");
    // What was drawn is a decision: each such byte spoils it.
    let is_drawn = |thing: &Value| {
        thing["kind"] == "decision" && thing["what"].as_str().is_some_and(|what| what.ends_with("begins with 00 to 1f"))
    };
    let drawn = with_thing(&found, is_drawn);
    assert!(drawn.is_some_and(|it| it["passingWith"] == 0 && number(&it["failingWith"]) > 0), "{found:#}");
    let log = found["suspects"].as_array().expect("a list").iter().find(|it| it["things"][0]["kind"] == "log");
    assert!(log.is_some_and(|it| it["byChance"].as_f64().is_some_and(|chance| chance > 0.05)), "{found:#}");
    assert_eq!(suspects(&fozzy, &["--seeds", "60", "--limit", "100"], 0), found, "also with one run at a time");
    let said = fozzy.run(&["suspects", "draws.wat", "--seeds", "60"]).exits(0);
    assert!(
        said.out().starts_with(&format!("fozzy suspects  {failing} of {} runs fail: ", failing + passing)),
        "{}",
        said.out()
    );
}

const PARSE: &str = r#"(module
  (memory (export "memory") 1)
  (func $refuse unreachable)
  (func (export "LLVMFuzzerTestOneInput") (param $at i32) (param $len i32) (result i32)
    (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 102)) (then (call $refuse)))
    (i32.const 0)))"#;

#[test]
fn inputs_of_a_corpus_are_runs_like_any_other() {
    let fozzy = Fozzy::new();
    fozzy.write("parse.wat", PARSE);
    for folder in ["passing", "failing"] {
        std::fs::create_dir(fozzy.path(folder)).expect("a folder");
        for number in 0..6 {
            fozzy.write(&format!("{folder}/{number}"), format!("{}{number}", &folder[..1]));
        }
    }
    // A trace of a campaign is a run, too.
    let fuzzed = fozzy.run(&["fuzz", "parse.wat", "--runs", "2000", "--no-minimize", "--json"]).exits(4).json();
    let trace = fuzzed["fuzz"]["findings"][0]["tracePath"].as_str().expect("its trace");
    std::fs::copy(fozzy.path(trace), fozzy.path("failing/one.fozzy")).expect("it is kept");
    let args = ["suspects", "parse.wat", "--corpus", "passing", "--corpus", "failing", "--jobs", "2", "--json"];
    let found = fozzy.run(&args).exits(0).json();
    // Copies, under other names and elsewhere, are no further runs.
    for (of, copy) in
        [("failing/one.fozzy", "failing/two.fozzy"), ("failing/0", "passing/copy"), ("passing/0", "passing/7")]
    {
        std::fs::copy(fozzy.path(of), fozzy.path(copy)).expect("it is copied");
    }
    assert_eq!(fozzy.run(&args).exits(0).json(), found);
    ["failing/two.fozzy", "passing/copy", "passing/7"].iter().for_each(|copy| {
        std::fs::remove_file(fozzy.path(copy)).expect("it is there");
    });
    // Named by itself, it is the same run.
    std::fs::remove_file(fozzy.path("failing/one.fozzy")).expect("it is there");
    let named = fozzy.run(&[&args[..], &["--run", trace]].concat()).exits(0).json();
    assert_eq!(named, found);
    assert_eq!((&found["failing"], &found["passing"]), (&7.into(), &6.into()), "{found:#}");
    let first = &found["suspects"][0];
    assert_eq!(first["score"], 1.0, "{found:#}");
    assert!(first["things"].to_string().contains("refuse at"), "{found:#}");
    fozzy.run(&["suspects", "parse.wat", "--corpus", "passing"]).refuses(&["none of 6 runs fails"]);
}

/// A client that has 900 ms: each packet that is lost is sent again after a second.
const LOSSY: &str = r#"
[[node]]
name = "server"
component = "net-server.wasm"
args = ["0.0.0.0:8080"]

[[fault]]
kind = "packet-loss"
target = "main->server"
rate = "10%"
"#;

#[test]
fn a_message_that_is_lost_goes_with_the_failure() {
    let fozzy = Fozzy::new();
    fozzy.write("net.plan.toml", LOSSY);
    for name in ["net-client", "net-server"] {
        std::fs::copy(corpus::component(name), fozzy.path(&format!("{name}.wasm"))).expect("the guest is built");
    }
    let args = ["suspects", "net-client.wasm", "--plan", "net.plan.toml", "--timeout", "900ms", "--seeds", "30"];
    let asks = ["--limit", "100", "--json", "--", "http://server:8080", "--requests", "3", "--connections", "1"];
    let found = fozzy.run(&[&args[..], &asks].concat()).exits(0).json();
    let is_late = |thing: &Value| {
        let is_it = |what: &str| what.starts_with("main -> server: ") && what.ends_with("is not read within 100 ms");
        thing["kind"] == "message" && thing["what"].as_str().is_some_and(is_it)
    };
    let late = with_thing(&found, is_late);
    assert!(late.is_some_and(|it| it["failingWith"].as_u64() > Some(0) && it["passingWith"] == 0), "{found:#}");
}

/// Without the lock, bytes below 64 make it fail at one of eight steps; so no run that fails comes to what is behind them.
const LOCKS: &str = r#"(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func $lock (i32.store8 (i32.const 80) (i32.const 1)))
  (func $finish (i32.store8 (i32.const 81) (i32.const 1)))
  (func $main (export "_start") (local $step i32)
    (drop (call $random (i32.const 64) (i32.const 9)))
    (if (i32.lt_u (i32.load8_u (i32.const 72)) (i32.const 128)) (then (call $lock)))
    (loop $steps
      (if (i32.and (i32.eqz (i32.load8_u (i32.const 80)))
                   (i32.lt_u (i32.load8_u (i32.add (i32.const 64) (local.get $step))) (i32.const 64)))
        (then (call $exit (i32.const 1))))
      (br_if $steps (i32.lt_u (local.tee $step (i32.add (local.get $step) (i32.const 1))) (i32.const 8))))
    (call $finish)))"#;

#[test]
fn what_is_not_reached_before_the_failure_is_no_suspect_and_what_was_left_out_is() {
    let fozzy = Fozzy::new();
    fozzy.write("locks.wat", LOCKS);
    let found = fozzy.run(&["suspects", "locks.wat", "--seeds", "60", "--limit", "100", "--json"]).exits(0).json();
    let absent = |function: &str| {
        let is_it = |thing: &Value| thing["what"].as_str().is_some_and(|what| what.starts_with(function));
        let suspects = found["suspects"].as_array().expect("a list").iter().filter(|it| it["absent"] == true);
        suspects.filter(|it| it["things"].as_array().expect("a list").iter().any(is_it)).collect::<Vec<_>>()
    };
    let chances: Vec<f64> = absent("lock at").iter().filter_map(|it| it["byChance"].as_f64()).collect();
    assert!(matches!(chances[..], [chance] if chance < 0.001), "{found:#}");
    let chances: Vec<f64> = absent("finish at").iter().filter_map(|it| it["byChance"].as_f64()).collect();
    assert!(chances.iter().all(|chance| *chance > 0.05), "{found:#}");
}

/// The carry of a sum: `low == 10` where it should be `low >= 10`, at line 19. Before it stand only what runs for the message of the
/// failure, and the steps that fail.
#[test]
fn the_planted_fault_of_the_counter_is_among_the_first() {
    let fozzy = Fozzy::new();
    let counter = corpus::scenario("counter", false);
    let program = counter.to_str().expect("a path in UTF-8");
    let args = ["suspects", program, "--seeds", "60", "--sequences", "1", "--flows", "12", "--limit", "6", "--json"];
    let found = fozzy.run(&args).exits(0).json();
    assert!(found["failure"].as_str().is_some_and(|failure| failure.contains("the counter counts")), "{found:#}");
    let things =
        found["suspects"].as_array().expect("a list").iter().flat_map(|it| it["things"].as_array().expect("a list"));
    let lines: Vec<u64> = things.filter_map(|thing| thing["line"].as_u64()).collect();
    assert!(lines.contains(&19), "the branch on the carry: {found:#}");
}

/// One exit code is the beginning of the other one, which is the more frequent one.
const CODES: &str = r#"(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func $main (export "_start")
    (drop (call $random (i32.const 64) (i32.const 1)))
    (if (i32.gt_u (i32.load8_u (i32.const 64)) (i32.const 95)) (then (call $exit (i32.const 12))))
    (if (i32.lt_u (i32.load8_u (i32.const 64)) (i32.const 48)) (then (call $exit (i32.const 1))))))"#;

#[test]
fn a_failure_that_is_named_as_a_whole_is_no_part_of_another_one() {
    let fozzy = Fozzy::new();
    fozzy.write("draws.wat", CODES);
    let of = |failure: &str| suspects(&fozzy, &["--seeds", "60", "--failure", failure], 0);
    let is_unclear = |found: &Value| found["warnings"].to_string().contains("is in 2 signatures");
    let part = of("exit code 1");
    assert!(part["failure"] == "target_behavior at exit code 12" && is_unclear(&part), "{part:#}");
    let whole = of("target_behavior at exit code 1");
    assert!(whole["failure"] == "target_behavior at exit code 1" && !is_unclear(&whole), "{whole:#}");
}

#[test]
fn the_recorded_run_of_a_seed_counts_once_and_one_of_another_seed_is_one_more() {
    let fozzy = Fozzy::new();
    fozzy.write("draws.wat", CODES);
    for seed in ["1", "60"] {
        fozzy.run(&["run", "draws.wat", "--seed", seed, "--record", &format!("{seed}.fozzy")]).exits(1);
    }
    let of = |more: &[&str]| suspects(&fozzy, &[&["--seeds", "0..59"], more].concat(), 0);
    let plain = of(&[]);
    assert_eq!(of(&["--run", "1.fozzy"]), plain);
    let runs = |found: &Value| {
        ["failing", "passing", "failingOtherwise"].iter().map(|it| found[*it].as_u64().expect("a number")).sum::<u64>()
    };
    std::fs::copy(fozzy.path("60.fozzy"), fozzy.path("copy.fozzy")).expect("it is copied");
    let with_another = of(&["--run", "60.fozzy", "--run", "copy.fozzy", "--run", "60.fozzy"]);
    assert_eq!((runs(&plain), runs(&with_another)), (60, 61), "{with_another:#}");
}

#[test]
fn few_runs_say_little_and_none_says_nothing() {
    let fozzy = Fozzy::new();
    fozzy.write("draws.wat", DRAWS);
    let found = suspects(&fozzy, &["--seeds", "8"], 0);
    assert!(found["warnings"].to_string().contains("may be chance"), "{found:#}");
    let said = fozzy.run(&["suspects", "draws.wat", "--seeds", "60", "--failure", "deadlock"]).exits(2);
    assert!(said.err().contains("none of 60 runs fails with `deadlock`"), "{}", said.err());
    let sound = DRAWS.replace("(then (call $spoil))", "(then (nop))").replace("(then unreachable)", "(then (nop))");
    fozzy.write("draws.wat", sound);
    let said = fozzy.run(&["suspects", "draws.wat", "--seeds", "5"]).exits(2);
    assert!(said.err().contains("none of 5 runs fails"), "{}", said.err());
    let bound = "these are of the seeds 0 to 4: --seeds takes up to 10,000 runs";
    assert!(said.err().contains(bound), "{}", said.err());
}
