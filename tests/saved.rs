//! Saved failures: tried with the files and programs of today, and not with what stands in their traces.
//!
//! ```text
//! explore ─▶ .fozzy/seeds/till/seed-….fozzy       the file is mended ─▶ seeds: fixed    test, explore: pass
//! ```
//!
//! The programs are modules of preview 1 that draw a word and end by it.

use crate::fozzy::{Fozzy, repository};
use serde_json::Value;

fn text(of: &str) -> String {
    std::fs::read_to_string(repository().join("scenarios/till").join(of)).expect("it is there")
}

/// How the only saved failure stands.
fn seed(fozzy: &Fozzy, code: i32) -> Value {
    let seeds = fozzy.run(&["seeds", "--json"]).exits(code).json();
    assert_eq!(seeds["seeds"].as_array().map(Vec::len), Some(1), "{seeds:#}");
    seeds["seeds"][0].clone()
}

fn regression(fozzy: &Fozzy, file: &str, code: i32) -> Value {
    fozzy.run(&["test", file, "--json"]).exits(code).json()["regressions"][0].clone()
}

#[test]
fn a_file_that_was_mended_is_green_again_without_anything_being_deleted() {
    let fozzy = Fozzy::new();
    fozzy.write("till.fozzy.json", text("till.fozzy.json"));
    fozzy.run(&["explore", "till.fozzy.json", "--runs", "50", "--stop", "failure"]).exits(1);
    assert_eq!(seed(&fozzy, 1)["state"], "still there");
    // Two branches that go one after the other: no deposit is lost.
    let mended = text("till.fozzy.json").replace(
        r#""steps": [
    {"type": "parallel", "branches": [
      [{"type": "run", "function": "deposit", "with": {"amount": "${deposits[0]}"}}],
      [{"type": "run", "function": "deposit", "with": {"amount": "${deposits[1]}"}}]
    ]},"#,
        r#""steps": [
    {"type": "run", "function": "deposit", "with": {"amount": "${deposits[0]}"}},
    {"type": "run", "function": "deposit", "with": {"amount": "${deposits[1]}"}},"#,
    );
    assert_ne!(mended, text("till.fozzy.json"), "the scenario is not written as it was");
    fozzy.write("till.fozzy.json", mended);
    let stale = seed(&fozzy, 0);
    assert_eq!(stale["state"], "stale", "{stale:#}");
    assert!(stale["note"].as_str().is_some_and(|note| note.contains("step 0 of the recorded scenario")), "{stale:#}");
    fozzy.run(&["explore", "till.fozzy.json", "--runs", "20"]).exits(0);
    let regression = regression(&fozzy, "till.fozzy.json", 0);
    assert_eq!(regression["regression"], "stale", "{regression:#}");
    // The same decisions, another assertion.
    let other =
        text("till.fozzy.json").replace("{\"eq\": [\"${till}\", \"${sum}\"]}", "{\"le\": [\"${till}\", \"${sum}\"]}");
    fozzy.write("till.fozzy.json", other);
    assert_eq!(seed(&fozzy, 0)["state"], "fixed");
}

const LATE: &str = r#"{"version": 1, "name": "late", "steps": [
    {"type": "sleep", "duration": "1s"},
    {"type": "set_kv", "key": "a", "value": "1"},
    {"type": "get_kv_assert", "key": "a", "equals": "2"}]}"#;

#[test]
fn steps_that_have_other_numbers_today_are_the_same_steps() {
    let fozzy = Fozzy::new();
    fozzy.write("late.fozzy.json", LATE);
    fozzy.run(&["explore", "late.fozzy.json", "--runs", "5", "--stop", "failure"]).exits(1);
    let first = r#"{"type": "trace_event", "name": "begin"},
    {"type": "sleep""#;
    fozzy.write("late.fozzy.json", LATE.replace(r#"{"type": "sleep""#, first));
    assert_eq!(seed(&fozzy, 1)["state"], "still there");
    let said = fozzy.run(&["explore", "late.fozzy.json", "--runs", "5"]).exits(1).err();
    assert!(said.contains("still there: assertion at steps[2]: get_kv_assert, another value"), "{said}");
    let shown = fozzy.run(&["test", "late.fozzy.json"]).exits(1).out();
    assert!(shown.contains("REGRESSION"), "{shown}");
    let kept = seed(&fozzy, 1)["path"].as_str().expect("a path").to_owned();
    let against = |code| fozzy.run(&["replay", &kept, "--against", "late.fozzy.json", "--json"]).exits(code).json();
    assert_eq!(against(2)["findings"][0]["message"].as_str().map(|words| words.contains("found \"1\"")), Some(true));
    fozzy.write("late.fozzy.json", LATE.replace(r#""value": "1""#, r#""value": "2""#));
    assert_eq!(seed(&fozzy, 0)["state"], "fixed");
    assert_eq!(against(2)["findings"], Value::Null, "the text of today passes");
    assert_eq!(regression(&fozzy, "late.fozzy.json", 0)["regression"], "fixed");
    fozzy.run(&["explore", "late.fozzy.json", "--runs", "5"]).exits(0);
}

const ONE_WRITER: &str = r#"{ "version": 1, "name": "one writer", "distributed": { "node_count": 3,
    "steps": [{ "type": "client_put", "node": "n0", "key": "k", "value": "a" }],
    "invariants": [{ "type": "kv_all_equal", "key": "k" }] } }"#;

#[test]
fn a_failure_under_other_conditions_is_mentioned_and_decides_nothing() {
    for (flags, words) in [
        (&["--checker", "kv_node_equals:n1:k:b"][..], "other checkers (--checker)"),
        (&["--checker", "kv_node_equals:n4:k:b", "--nodes", "5"], "another number of nodes (--nodes)"),
    ] {
        let fozzy = Fozzy::new();
        fozzy.write("one.fozzy.json", ONE_WRITER);
        let found = ["explore", "one.fozzy.json", "--runs", "10", "--stop", "failure"];
        fozzy.run(&[&found[..], flags].concat()).exits(1);
        let plain = fozzy.run(&["explore", "one.fozzy.json", "--runs", "10"]).exits(0);
        assert!(plain.err().contains(words), "{plain}");
        let regression = regression(&fozzy, "one.fozzy.json", 0);
        assert_eq!(regression["result"], "skipped", "{regression:#}");
        assert!(regression["note"].as_str().is_some_and(|note| note.contains(words)), "{regression:#}");
        // With the same flags, it decides, and stands in the first line.
        let again = ["explore", "one.fozzy.json", "--runs", "1", "--json"];
        let again = fozzy.run(&[&again[..], flags].concat()).exits(1).json();
        let titles: Vec<&str> =
            again["findings"].as_array().expect("a list").iter().filter_map(|f| f["title"].as_str()).collect();
        assert!(titles.iter().any(|title| title.starts_with("a saved failure is still there: assertion")), "{again:#}");
    }
}

/// A program that draws words of these lengths, and fails by the last one if `fails` says so.
fn drawing(words: &[u32], fails: &str) -> String {
    let draw = |length: &u32| format!("(drop (call $random (i32.const 0) (i32.const {length})))");
    let draws: String = words.iter().map(draw).collect();
    format!(
        r#"(module
            (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
            (memory (export "memory") 1)
            (func (export "_start") {draws} (if {fails} (then unreachable))))"#
    )
}

/// A program that draws a word, and panics there with these words for one in eight.
fn panicking(place: &str, words: &str, condition: &str) -> String {
    let said = format!("\\nthread 'main' (1) panicked at {place}:\\n{words}\\n");
    let bytes = said.len() - 3;
    format!(
        r#"(module
            (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
            (memory (export "memory") 1)
            (data (i32.const 64) "{said}")
            (func (export "_start")
              (drop (call $random (i32.const 0) (i32.const 8)))
              (if {condition} (then
                (i32.store (i32.const 16) (i32.const 64))
                (i32.store (i32.const 20) (i32.const {bytes}))
                (drop (call $write (i32.const 2) (i32.const 16) (i32.const 1) (i32.const 24)))
                unreachable))))"#
    )
}

#[test]
fn a_failure_at_another_place_is_the_same_and_another_failure_is_no_repair() {
    let fozzy = Fozzy::new();
    fozzy.write("app.wat", panicking("src/a.rs:7:9", "lost 3 updates", RARELY));
    fozzy.run(&["explore", "app.wat", "--runs", "100", "--stop", "failure"]).exits(4);
    // In another file, with another number in its words.
    fozzy.write("app.wat", panicking("src/moved/b.rs:20:5", "lost 2 updates", RARELY));
    let moved = seed(&fozzy, 1);
    assert_eq!(moved["state"], "still there", "{moved:#}");
    assert!(moved["note"].as_str().is_some_and(|note| note.contains("src/moved/b.rs:20:5")), "{moved:#}");
    fozzy.run(&["explore", "app.wat", "--runs", "3", "--stop", "failure"]).exits(4);
    assert_eq!(regression(&fozzy, "app.wat", 4)["regression"], "regression");
    // The same decisions lead to another failure.
    fozzy.write("app.wat", panicking("src/c.rs:3:1", "no such account", RARELY));
    let other = seed(&fozzy, 1);
    assert_eq!(other["state"], "fails otherwise", "{other:#}");
    let explored = fozzy.run(&["explore", "app.wat", "--runs", "3", "--stop", "failure"]).exits(4);
    assert!(explored.err().contains("fails otherwise"), "{explored}");
    assert_eq!(regression(&fozzy, "app.wat", 4)["regression"], "regression");
    fozzy.write("app.wat", panicking("src/a.rs:7:9", "lost 3 updates", NEVER));
    assert_eq!(seed(&fozzy, 0)["state"], "fixed");
}

/// For one word in eight.
const RARELY: &str = "(i32.eqz (i32.and (i32.load (i32.const 0)) (i32.const 7)))";
const NEVER: &str = "(i32.const 0)";

#[test]
fn a_repair_that_shifts_all_decisions_is_seen_by_runs_of_both_programs() {
    let fozzy = Fozzy::new();
    fozzy.write("app.wat", drawing(&[8], RARELY));
    fozzy.run(&["explore", "app.wat", "--runs", "100", "--stop", "failure"]).exits(4);
    assert_eq!(seed(&fozzy, 1)["state"], "still there");
    // It draws one more word before; the failure is where it was.
    for words in [[8, 8], [4, 8]] {
        fozzy.write("app.wat", drawing(&words, RARELY));
        let shifted = seed(&fozzy, 1);
        assert_eq!(shifted["state"], "still there", "{shifted:#}");
        assert!(shifted["note"].as_str().is_some_and(|note| note.contains("it fails so again")), "{shifted:#}");
        assert_eq!(regression(&fozzy, "app.wat", 1)["regression"], "regression");
    }
    // The same, and the failure is mended.
    fozzy.write("app.wat", drawing(&[4, 8], NEVER));
    let mended = seed(&fozzy, 0);
    assert_eq!(mended["state"], "fixed", "{mended:#}");
    assert!(
        mended["note"].as_str().is_some_and(|note| note.contains("the recorded program fails so by 6")),
        "{mended:#}"
    );
    let regression = regression(&fozzy, "app.wat", 0);
    assert_eq!(
        (&regression["regression"], &regression["result"]),
        (&"fixed".into(), &"passed".into()),
        "{regression:#}"
    );
    fozzy.run(&["explore", "app.wat", "--runs", "3"]).exits(0);
    assert_eq!(
        fozzy.run(&["seeds", "--prune-fixed", "--json"]).exits(0).json()["pruned"].as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn a_failure_too_rare_for_other_seeds_is_tried_behind_what_is_drawn_before_it_now() {
    let fozzy = Fozzy::new();
    let rare = "(i32.eq (i32.load (i32.const 0)) (i32.const 1397966163))";
    fozzy.write("app.wat", drawing(&[8], rare));
    fozzy.run(&["explore", "app.wat", "--runs", "1000", "--stop", "failure", "--no-shrink"]).exits(4);
    assert_eq!(seed(&fozzy, 1)["state"], "still there");
    fozzy.write("app.wat", drawing(&[8, 8], rare));
    let shifted = seed(&fozzy, 1);
    assert_eq!(shifted["state"], "still there", "{shifted:#}");
    let note = shifted["note"].as_str().expect("it says how");
    assert!(note.contains("with 1 other decision before decision 0, it fails so again"), "{note}");
    fozzy.write("app.wat", drawing(&[8, 8], NEVER));
    assert_eq!(seed(&fozzy, 0)["state"], "fixed");
}

#[test]
fn a_repair_of_another_machine_of_the_plan_is_seen() {
    let fozzy = Fozzy::new();
    fozzy.write("app.wat", drawing(&[8], NEVER));
    fozzy.write("server.wat", drawing(&[8], RARELY));
    fozzy.write("plan.toml", "[[node]]\nname = \"server\"\ncomponent = \"server.wat\"\n");
    // A failure that is saved ends a search for one.
    let explore = ["explore", "app.wat", "--plan", "plan.toml", "--runs", "100", "--stop", "failure"];
    fozzy.run(&explore).exits(4);
    let again = fozzy.run(&explore).exits(4);
    assert!(again.err().contains("a saved failure is still there, so nothing is explored"), "{again}");
    let path = seed(&fozzy, 1)["path"].as_str().expect("a path").to_owned();
    let trace = fozzy.path("t.fozzy");
    std::fs::copy(fozzy.path(&path), &trace).expect("it is there");
    // Without the plan, it is no failure of the program: it is said and decides nothing.
    fozzy.write("other.toml", "");
    let other = fozzy.run(&["explore", "app.wat", "--plan", "other.toml", "--runs", "3"]).exits(0);
    assert!(other.err().contains("found under another plan"), "{other}");
    fozzy.write("server.wat", drawing(&[8], NEVER));
    assert_eq!(seed(&fozzy, 0)["state"], "fixed");
    fozzy.run(&explore).exits(0);
    fozzy.run(&["replay", &path, "--against", "app.wat"]).exits(0);
    // Another trace does not know its plan.
    let recorded = fozzy.run(&["replay", "t.fozzy", "--against", "app.wat"]).exits(4);
    assert!(recorded.err().contains("recorded programs on server"), "{recorded}");
    let against =
        fozzy.run(&["replay", "t.fozzy", "--against", "app.wat", "--plan", "plan.toml", "--json"]).exits(0).json();
    assert_eq!(
        (&against["findings"], &against["replay"]["recordedMachines"]),
        (&Value::Null, &Value::Null),
        "{against:#}"
    );
}

#[test]
fn two_programs_of_one_file_name_have_failures_and_states_of_their_own() {
    let fozzy = Fozzy::new();
    for (folder, program) in [("a", drawing(&[8], RARELY)), ("b", drawing(&[8, 8], "(i32.const 1)"))] {
        std::fs::create_dir(fozzy.path(folder)).expect("a new folder");
        let file = format!("{folder}/app.wat");
        fozzy.write(&file, program);
        fozzy.run(&["explore", &file, "--runs", "60"]).exits(4);
    }
    let all = fozzy.run(&["seeds", "--json"]).exits(1).json();
    let states: Vec<&Value> = all["seeds"].as_array().expect("a list").iter().map(|seed| &seed["state"]).collect();
    assert_eq!(states, ["still there", "still there"], "{all:#}");
    for file in ["a/app.wat", "b/app.wat"] {
        assert_eq!(fozzy.run(&["seeds", file, "--json"]).exits(1).json()["seeds"].as_array().map(Vec::len), Some(1));
        fozzy.run(&["explore", file, "--resume", "--runs", "3"]).exits(4);
    }
    // A folder of before has no `program`, and names what was explored by its whole path.
    let folder = fozzy.path(".fozzy/seeds/app");
    std::fs::remove_file(folder.join("program")).expect("it is there");
    let whole = format!("{}\n", fozzy.path("a/app.wat").display());
    std::fs::write(folder.join("target"), whole).expect("it is written");
    let all = fozzy.run(&["seeds", "--json"]).exits(1).json();
    assert_eq!(all["seeds"].as_array().map(Vec::len), Some(2), "{all:#}");
    assert_eq!(fozzy.run(&["seeds", "b/app.wat", "--json"]).exits(1).json()["seeds"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_failure_that_a_checker_found_is_one_of_today() {
    let fozzy = Fozzy::new();
    fozzy.write("app.wat", drawing(&[8], NEVER));
    let rejects = repository().join("tests/programs/exits.wat").display().to_string();
    fozzy.run(&["explore", "app.wat", "--runs", "3", "--check", &rejects, "--no-shrink"]).exits(1);
    assert_eq!(seed(&fozzy, 1)["state"], "still there");
}

#[test]
fn another_program_in_the_place_of_one_that_failed_is_no_repair() {
    let fozzy = Fozzy::new();
    let program = |function: &str, body: &str| {
        format!(
            r#"(module (memory (export "memory") 1)
                 (func ${function} (i32.store (i32.const 0) (i32.const 1)) {body})
                 (func (export "_start") (call ${function})))"#
        )
    };
    fozzy.write("app.wat", program("transfer", "unreachable"));
    fozzy.run(&["explore", "app.wat", "--runs", "3", "--no-shrink"]).exits(4);
    fozzy.write("app.wat", program("transfer", ""));
    assert_eq!(seed(&fozzy, 0)["state"], "fixed");
    fozzy.write("app.wat", program("sell", ""));
    let other = seed(&fozzy, 0);
    assert_eq!(other["state"], "stale", "{other:#}");
    assert!(other["note"].as_str().is_some_and(|note| note.contains("another program") && note.contains("transfer")));
    let said = fozzy.run(&["seeds", "app.wat"]).exits(0).err();
    assert!(said.contains("all of them are stale, so that nothing was judged"), "{said}");
}

#[test]
fn a_program_that_is_gone_hides_no_failures_of_others() {
    let fozzy = Fozzy::new();
    for file in ["gone.wat", "app.wat"] {
        fozzy.write(file, drawing(&[8], RARELY));
        fozzy.run(&["explore", file, "--runs", "60", "--no-shrink"]).exits(4);
    }
    std::fs::remove_file(fozzy.path("gone.wat")).expect("it is there");
    let all = fozzy.run(&["seeds", "--json"]).exits(1).json();
    let states = |all: &Value| -> Vec<String> {
        let seeds = all["seeds"].as_array().expect("a list").iter();
        seeds.map(|seed| format!("{} {}", seed["state"].as_str().unwrap_or("?"), seed["note"])).collect()
    };
    let all = states(&all);
    assert!(all.len() == 2 && all[0].starts_with("still there"), "{all:?}");
    assert!(all[1].starts_with("stale") && all[1].contains("gone.wat"), "{all:?}");
    fozzy.write("app.wat", drawing(&[8], NEVER));
    let pruned = fozzy.run(&["seeds", "--prune-fixed", "--json"]).exits(0).json();
    assert_eq!(pruned["pruned"].as_array().map(Vec::len), Some(1), "{pruned:#}");
    // A folder of which nothing is left is nobody's.
    std::fs::remove_file(fozzy.path("app.wat")).expect("it is there");
    assert_eq!(fozzy.run(&["seeds", "--json"]).exits(0).json()["seeds"].as_array().map(Vec::len), Some(1));
}
