//! `fozzy diff`: two programs under equal decisions, and the first difference of what they do.
//!
//! ```text
//! adds ─┬─ adds            equal for each seed
//!       └─ adds, but 255   different for the seeds that draw it
//! ```
//!
//! Not here: how lines are compared and laid out (unit tests of `fozzy-campaign` and `fozzy-report`).

use crate::fozzy::{Fozzy, repository};
use serde_json::{Value, json};

/// Draws a byte, does something to the number at 96, writes a line with its lowest bit and a second that never changes, and exits with a code.
fn program(change: &str, tail: &str) -> String {
    format!(
        r#"(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 32) "bit 0\nend\n")
  (func $say (param $to i32) (param $bytes i32)
    (i32.store (i32.const 0) (i32.const 32))
    (i32.store (i32.const 4) (local.get $bytes))
    (drop (call $write (local.get $to) (i32.const 0) (i32.const 1) (i32.const 16))))
  (func (export "_start")
    (drop (call $random (i32.const 96) (i32.const 1)))
    {change}
    (i32.store8 (i32.const 36) (i32.add (i32.const 48) (i32.and (i32.load8_u (i32.const 96)) (i32.const 1))))
    (call $say (i32.const 1) (i32.const 10))
    {tail}))"#
    )
}

/// Bytes of 128 and more are changed.
const CHANGES_HALF: &str = "(if (i32.ge_u (i32.load8_u (i32.const 96)) (i32.const 128))
      (then (i32.store8 (i32.const 96) (i32.xor (i32.load8_u (i32.const 96)) (i32.const 1)))))";

fn both(old: &str, new: &str) -> Fozzy {
    let fozzy = Fozzy::new();
    fozzy.write("old.wat", old);
    fozzy.write("new.wat", new);
    fozzy
}

fn diff(fozzy: &Fozzy, more: &[&str], code: i32) -> Value {
    fozzy.run(&[&["diff", "old.wat", "new.wat", "--json"], more].concat()).exits(code).json()
}

fn whats(found: &Value) -> Vec<&str> {
    found["aspects"].as_array().expect("a list").iter().filter_map(|it| it["what"].as_str()).collect()
}

#[test]
fn the_seeds_in_which_a_change_shows_are_found_and_both_runs_are_kept() {
    let fozzy = both(&program("", ""), &program(CHANGES_HALF, ""));
    let found = diff(&fozzy, &["--seeds", "0..39"], 1);
    let drawn = |seed: &str| fozzy.run(&["run", "old.wat", "--seed", seed]).exits(0).out();
    let different = found["different"].as_u64().expect("a number");
    assert!(found["cases"] == 40 && (8..=32).contains(&different), "half of the seeds draw such a byte: {found:#}");
    assert_eq!(whats(&found), ["stdout", "calls"], "{found:#}");
    let first = &found["first"];
    let stdout = &first["differences"][0];
    assert_eq!((&stdout["line"], &stdout["column"]), (&json!(1), &json!(5)), "{found:#}");
    assert_eq!(format!("{}\nend\n", stdout["old"].as_str().expect("a line")), drawn(&first["seed"].to_string()));
    assert_eq!(first["divergence"]["index"], 1, "the write, after the draw: {found:#}");
    // What is named goes on from there.
    let (old, new) = (first["oldTrace"].as_str().expect("a trace"), first["newTrace"].as_str().expect("a trace"));
    for trace in [old, new] {
        fozzy.run(&["replay", trace]).exits(0);
    }
    for next in found["next"].as_array().expect("commands").iter().filter_map(Value::as_str) {
        let ran = fozzy.shell(next);
        assert!(!ran.out().is_empty() && !ran.err().contains("error"), "{next}: {}{}", ran.out(), ran.err());
    }
    // A recorded run of the one is a case for both.
    assert_eq!(diff(&fozzy, &["--run", old, "--no-store"], 1)["first"]["differences"], first["differences"]);
    let said =
        fozzy.run(&["diff", "old.wat", "new.wat", "--seeds", "40", "--until-difference", "--out", "kept"]).exits(1);
    assert!(
        said.out().contains("fozzy diff DIFFERENT  1 of ") && said.out().contains("kept/new.fozzy"),
        "{}",
        said.out()
    );
    fozzy.run(&["replay", "kept/new.fozzy"]).exits(0);
}

#[test]
fn what_is_declared_is_no_difference() {
    let fozzy = both(&program("", ""), &program(CHANGES_HALF, ""));
    let seeds = ["--seeds", "12", "--no-store"];
    let with = |more: &[&str], code| diff(&fozzy, &[&seeds[..], more].concat(), code);
    assert_eq!(whats(&with(&["--ignore", "stdout"], 1)), ["calls"]);
    assert_eq!(whats(&with(&["--ignore", "calls"], 1)), ["stdout"]);
    assert_eq!(with(&["--ignore", "stdout,calls"], 0)["equal"], true);
    assert_eq!(with(&["--mask", "bit [01]"], 0)["equal"], true);
    assert_eq!(whats(&with(&["--mask", "end"], 1)), ["stdout", "calls"]);
    let equal = fozzy.run(&["diff", "old.wat", "old.wat", "--seeds", "12"]).exits(0);
    assert!(equal.out().starts_with("fozzy diff EQUAL  12 cases\n"), "{}", equal.out());
}

#[test]
fn ends_streams_and_calls_are_told_apart() {
    let exits = program("", "(call $exit (i32.const 3))");
    let fozzy = both(&program("", ""), &exits);
    let found = diff(&fozzy, &[], 1);
    assert_eq!(whats(&found)[0], "exit", "{found:#}");
    let end = &found["first"]["differences"][0];
    assert_eq!(
        (&end["old"], &end["new"]),
        (&json!("pass: exited with code 0"), &json!("fail: exited with code 3 (target_behavior at exit code 3)"))
    );
    let fozzy = both(&program("", ""), &program("(call $say (i32.const 2) (i32.const 4))", ""));
    assert_eq!(whats(&diff(&fozzy, &[], 1)), ["stderr", "calls"]);
    assert_eq!(diff(&fozzy, &["--ignore", "stderr,calls"], 0)["different"], 0);
    // A call more, and nothing that anybody sees.
    let fozzy = both(&program("", ""), &program("(drop (call $random (i32.const 200) (i32.const 4)))", ""));
    let found = diff(&fozzy, &[], 1);
    assert_eq!(whats(&found), ["calls"], "{found:#}");
    assert!(found["warnings"][0].as_str().is_some_and(|said| said.contains("--ignore calls")), "{found:#}");
}

#[test]
fn inputs_of_a_corpus_are_cases() {
    let reads = "(i32.store (i32.const 0) (i32.const 96)) (i32.store (i32.const 4) (i32.const 1))
      (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))";
    let fozzy = both(&program(reads, ""), &program(&format!("{reads} {CHANGES_HALF}"), ""));
    std::fs::create_dir(fozzy.path("corpus")).expect("a folder");
    fozzy.write("corpus/a", "a");
    fozzy.write("corpus/b", [0xf0]);
    let found = diff(&fozzy, &["--corpus", "corpus"], 1);
    assert_eq!((&found["cases"], &found["differentCases"]), (&json!(2), &json!(["corpus/b"])), "{found:#}");
    let trace = found["first"]["newTrace"].as_str().expect("a trace");
    assert_eq!(fozzy.run(&["replay", trace]).exits(0).out(), "bit 1\nend\n", "its input is in the trace");
}

#[test]
fn runs_that_an_exploration_has_kept_are_cases() {
    let coin = std::fs::read_to_string(repository().join("tests/programs/coin.wat")).expect("it is committed");
    let fails = "(if (i32.and (i32.load8_u (i32.const 100)) (i32.const 1)) (then unreachable))";
    assert!(coin.contains(fails), "{coin}");
    let fozzy = both(&coin, &coin.replace(fails, "unreachable"));
    fozzy.run(&["explore", "old.wat", "--runs", "20", "--save-state", "explored.json", "--no-store"]).exits(4);
    // It went both ways.
    let explored = ["--exploration", "explored.json", "--no-store"];
    let same = fozzy.run(&[&["diff", "old.wat", "old.wat", "--json"], &explored[..]].concat()).exits(0).json();
    assert!(same["cases"].as_u64() >= Some(2) && same["equal"] == true, "{same:#}");
    let found = diff(&fozzy, &explored, 1);
    assert_eq!((&found["cases"], whats(&found)[0]), (&same["cases"], "exit"), "{found:#}");
    let case = found["differentCases"][0].as_str().expect("a name");
    assert!(case.starts_with("explored.json run "), "{found:#}");
    // It is one of the other program.
    let other = ["diff", "new.wat", "old.wat", "--exploration", "explored.json"];
    let refused = fozzy.run(&other).refuses(&["explored.json", "another program"]);
    assert!(refused.err().contains("--save-state"), "{}", refused.err());
    let both = fozzy.run(&[&other[..], &["--seeds", "3"]].concat()).exits(2);
    assert!(both.err().contains("'--exploration <FILE>' cannot be used with '--seeds"), "{}", both.err());
}

#[test]
fn a_branch_that_an_exploration_has_reached_is_one_of_its_cases() {
    let odd = |told: &str| {
        format!(
            "(if (i32.and (i32.load8_u (i32.const 96)) (i32.const 1)) (then {told} (call $say (i32.const 1) (i32.const 10))))"
        )
    };
    let fozzy = both(&program("", &odd("")), &program("", &odd("(i32.store8 (i32.const 38) (i32.const 69))")));
    for seed in ["1", "2", "3", "4"] {
        let explore = ["explore", "old.wat", "--runs", "100", "--seed", seed, "--json", "--no-store"];
        let explored = fozzy.run(&[&explore[..], &["--save-state", "explored.json"]].concat()).exits(0).json();
        let edges = &explored["explore"]["edges"];
        assert_eq!(edges, &explored["explore"]["edgesTotal"], "{explored:#}");
        let found = diff(&fozzy, &["--exploration", "explored.json", "--no-store"], 1);
        assert_eq!(whats(&found)[0], "stdout", "seed {seed}: {found:#}");
        let coverage = ["coverage", "explored.json", "--target", "old.wat", "--json"];
        let covered = fozzy.run(&coverage).exits(0).json();
        assert_eq!(&covered["totals"]["edges"]["hit"], edges, "seed {seed}: {covered:#}");
        // An exploration that continues it has them, too.
        let further = ["--resume=explored.json", "--runs", "1", "--save-state", "explored.json"];
        fozzy.run(&[&["explore", "old.wat", "--no-store"], &further[..]].concat()).exits(0);
        diff(&fozzy, &["--exploration", "explored.json", "--no-store"], 1);
    }
}

#[test]
fn programs_that_never_end_are_compared_as_far_as_both_come() {
    let endless =
        |work: &str| program("", &format!("(loop $again {work} (call $say (i32.const 1) (i32.const 4)) (br $again))"));
    let fozzy =
        both(&endless(""), &endless("(drop (i32.const 1)) (drop (i32.mul (i32.load (i32.const 0)) (i32.const 3)))"));
    let found = diff(&fozzy, &["--fuel", "200000"], 0);
    assert!(found["warnings"][0].as_str().is_some_and(|said| said.contains("ran out of instructions")), "{found:#}");
    let fozzy = both(&endless(""), &program("", ""));
    assert_eq!(whats(&diff(&fozzy, &["--fuel", "200000"], 1)), ["exit", "stdout", "calls"]);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let fozzy = both(&program("", ""), &program("", ""));
    fozzy.write("none.wasm", "not a program");
    let scenario = crate::corpus::scenario("counter", false);
    std::fs::copy(scenario, fozzy.path("counter.wasm")).expect("it is built");
    fozzy.run(&["diff", "old.wat", "none.wasm"]).refuses(&["none.wasm"]);
    fozzy.run(&["diff", "gone.wat", "new.wat"]).refuses(&["gone.wat"]);
    fozzy
        .run(&["diff", "old.wat", "counter.wasm"])
        .refuses(&["`old.wat` is a command", "`counter.wasm` is a scenario"]);
    fozzy.run(&["diff", "old.wat", "new.wat", "--mask", "("]).refuses(&["--mask", "`(`"]);
    fozzy.run(&["diff", "old.wat", "new.wat", "--seeds", "5..1"]).refuses(&["--seeds"]);
    let unknown = fozzy.run(&["diff", "old.wat", "new.wat", "--ignore", "weather"]).exits(2);
    assert!(unknown.err().contains("properties"), "{}", unknown.err());
    let both = fozzy.run(&["diff", "old.wat", "new.wat", "--run", "last-fail", "--fuel", "5"]).exits(2);
    assert!(both.err().contains("cannot be used with"), "{}", both.err());
    fozzy.run(&["diff", "old.wat", "new.wat", "--flows", "5"]).refuses(&["the programs are commands"]);
    // A component and a core module are run in the same way; a scenario's steps are told.
    let found = fozzy.run(&["diff", "counter.wasm", "counter.wasm", "--sequences", "1", "--flows", "5", "--json"]);
    assert_eq!(found.exits(0).json()["equal"], true);
}

#[test]
fn hostile_names_and_output_do_not_reach_the_terminal() {
    let fozzy = both(&program("", ""), &program("(i32.store8 (i32.const 33) (i32.const 27))", ""));
    std::fs::copy(fozzy.path("new.wat"), fozzy.path("a\u{1b}[2J.wat")).expect("a name");
    let said = fozzy.run(&["diff", "old.wat", "a\u{1b}[2J.wat"]).exits(1);
    assert!(!said.out().contains('\u{1b}') && said.out().contains("\\u{1b}"), "{}", said.out());
}
