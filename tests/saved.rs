//! Saved failures of scenario files: tried with the file of today, and not with the text that stands in their traces.
//!
//! ```text
//! explore ─▶ .fozzy/seeds/till/seed-….fozzy       the file is mended ─▶ seeds: fixed    test, explore: pass
//! ```
//!
//! Not here: saved failures of programs (`explore`, `travel`).

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
