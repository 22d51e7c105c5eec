//! A program with Antithesis' own SDK for Rust, unchanged from the registry: what it says is understood.
//!
//! ```text
//! tests/guests/antithesis ─▶ run      properties, events, each random number a decision
//!                            explore  the planted failure, by its decisions; the trace replays
//! ```

use crate::corpus;
use crate::fozzy::Fozzy;
use serde_json::Value;

fn prepared() -> Fozzy {
    let fozzy = Fozzy::new();
    std::fs::copy(corpus::component("antithesis"), fozzy.path("a.wasm")).expect("it is built");
    fozzy
}

fn properties(document: &Value) -> Vec<(String, String, String)> {
    let text = |property: &Value, key: &str| property[key].as_str().unwrap_or_default().to_owned();
    let rows = document["properties"].as_array().expect("there are some").iter();
    rows.map(|row| (text(row, "name"), text(row, "kind"), text(row, "state"))).collect()
}

#[test]
fn its_assertions_are_properties_and_its_events_are_in_the_history() {
    let fozzy = prepared();
    let ran = fozzy.run(&["run", "a.wasm", "--seed", "1", "--json", "--record", "a.fozzy"]).exits(0).json();
    let row = |name: &str, kind: &str, state: &str| (name.to_owned(), kind.to_owned(), state.to_owned());
    assert_eq!(
        properties(&ran),
        [
            row("an impossible mix", "sometimes", "never-true"),
            row("beyond the range", "unreachable", "passed"),
            row("left is in range", "always", "passed"),
            row("left is large", "sometimes", "never-true"),
            row("left is out of range", "sometimes", "never-true"),
            row("no blue jackpot", "always", "passed"),
            row("right is below its bound", "always", "passed"),
            row("right is in range", "always-or-unreachable", "passed"),
            row("the end of the range", "reachable", "never-reached"),
        ]
    );
    assert_eq!(ran["warnings"], Value::Null, "every line is understood");
    let history = fozzy.run(&["trace", "show", "a.fozzy"]).exits(0).out();
    for event in ["(\"setup_complete\", \"{\\\"rounds\\\":1}\")", "(\"drawn\", \"{\\\"colour\\\""] {
        assert!(history.contains(event), "{event} in\n{history}");
    }
    fozzy.run(&["replay", "a.fozzy"]).exits(0);
    let lines = fozzy.run(&["report", "show", "latest", "--format", "antithesis"]).exits(0).out();
    let declared = lines.lines().filter(|line| line.contains("\"hit\":false")).count();
    assert_eq!(declared, 9, "{lines}");
}

#[test]
fn its_random_numbers_are_searched_one_by_one() {
    let fozzy = prepared();
    let one = fozzy.run(&["run", "a.wasm", "--seed", "1", "--json"]).exits(0).json();
    assert_eq!(one["decisions"].as_u64(), Some(3), "two numbers and a choice: {one:#}");
    let explored =
        fozzy.run(&["explore", "a.wasm", "--runs", "1000", "--stop", "failure", "--no-shrink", "--record", "f.fozzy"]);
    let said = format!("{}{}", explored.exits(1).out(), fozzy.run(&["replay", "f.fozzy"]).exits(1).err());
    assert!(said.contains("`no blue jackpot` does not hold"), "{said}");
}
