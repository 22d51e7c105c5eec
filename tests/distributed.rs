//! Distributed scenarios, version 1: what the first Fozzy got wrong, each line of the list in a test of its name.
//!
//! ```text
//! two writers ─explore▶ they disagree ─replay, alone, elsewhere▶ they disagree again, by the same messages
//!      └ with a node of the user's own, which settles it ─explore▶ nothing
//! ```
//!
//! Not here: what each step and each invariant does (`tests/cli/distributed-*`).

use crate::corpus;
use crate::fozzy::Fozzy;
use serde_json::Value;

/// Two nodes write the same key. Whatever arrives first, all have the last value; unless both write before they hear of it.
const TWO_WRITERS: &str = r#"{ "version": 1, "name": "two writers", "distributed": {
    "node_count": 3,
    "steps": [
        { "type": "client_put", "node": "n0", "key": "k", "value": "a" },
        { "type": "client_put", "node": "n1", "key": "k", "value": "b" }
    ],
    "invariants": [{ "type": "kv_all_equal", "key": "k" }] } }"#;

/// Explores it.
fn explore(fozzy: &Fozzy, file: &str, more: &[&str]) -> Value {
    let args = ["explore", file, "--no-seeds", "--no-shrink", "--stop", "failure", "--json"];
    fozzy.run(&[&args[..], more].concat()).json()
}

/// What happened between the nodes, in the words of the events.
fn events(fozzy: &Fozzy, trace: &str) -> Vec<String> {
    let shown = fozzy.run(&["trace", "show", trace]).exits(0).out();
    let words = shown.lines().filter_map(|line| line.split_once("journal.event(")).map(|(_, words)| words.to_owned());
    words.collect()
}

#[test]
fn defect_5_a_replay_of_an_exploration_delivers_what_was_delivered_and_fails_as_it_did() {
    let (fozzy, elsewhere) = (Fozzy::new(), Fozzy::new());
    fozzy.write("two.fozzy.json", TWO_WRITERS);
    let found = explore(&fozzy, "two.fozzy.json", &["--schedule", "random", "--runs", "100", "--record", "a.fozzy"]);
    assert_eq!((&found["status"], &found["explore"]["lost"]), (&"fail".into(), &0.into()), "{found:#}");
    elsewhere.write("a.fozzy", fozzy.read("a.fozzy"));
    let replayed = elsewhere.run(&["replay", "a.fozzy", "--json"]).exits(1).json();
    assert_eq!(replayed["replay"]["equal"], Value::Bool(true));
    assert_eq!(replayed["signature"], found["signature"]);
    let delivered = events(&elsewhere, "a.fozzy").iter().filter(|event| event.starts_with("\"deliver\"")).count();
    assert_eq!(delivered, 4, "one message to each peer for each write");
}

#[test]
fn defect_8_faults_begin_and_end_between_messages() {
    let fozzy = Fozzy::new();
    fozzy.write("two.fozzy.json", TWO_WRITERS);
    let between = (0..20).any(|seed| {
        let (seed, trace) = (seed.to_string(), format!("{seed}.fozzy"));
        let flags = ["--schedule", "random", "--runs", "100", "--faults", "partition,crash", "--seed", &seed];
        explore(&fozzy, "two.fozzy.json", &[&flags[..], &["--record", &trace]].concat());
        let events = events(&fozzy, &trace);
        let is_of = |words: &[&str], event: &String| words.iter().any(|word| event.starts_with(&format!("\"{word}\"")));
        let deliveries: Vec<usize> = (0..events.len()).filter(|at| is_of(&["deliver"], &events[*at])).collect();
        let (Some(first), Some(last)) = (deliveries.first(), deliveries.last()) else { return false };
        events[*first..*last].iter().any(|event| is_of(&["crash", "partition"], event))
    });
    assert!(between, "no fault of twenty explorations has begun between two messages");
}

#[test]
fn defect_9_one_call_goes_many_ways_and_schedules_differ() {
    let fozzy = Fozzy::new();
    fozzy.write("two.fozzy.json", TWO_WRITERS);
    let ended = |schedule: &str| {
        let found = explore(&fozzy, "two.fozzy.json", &["--schedule", schedule, "--runs", "60"]);
        let explore = &found["explore"];
        assert!(explore["runs"].as_u64().is_some_and(|runs| runs > 1) || explore["ended"] == "finding", "{explore:#}");
        explore["ended"].as_str().expect("a word").to_owned()
    };
    assert_eq!(ended("fifo"), "runs", "what was sent first arrives first, so that all hear of the first write in time");
    for schedule in ["random", "pct", "pos", "urw", "dfs", "bfs", "coverage_guided"] {
        assert_eq!(ended(schedule), "finding", "{schedule}");
    }
}

#[test]
fn defect_10_nodes_are_a_component_which_may_be_the_users_own() {
    let fozzy = Fozzy::new();
    fozzy.write("two.fozzy.json", TWO_WRITERS);
    let node = corpus::scenario("kv-node", true).display().to_string();
    let found = explore(&fozzy, "two.fozzy.json", &["--schedule", "random", "--runs", "60", "--target", &node]);
    assert_eq!((&found["status"], &found["explore"]["ended"]), (&"pass".into(), &"runs".into()), "{found:#}");
}

#[test]
fn defect_40_what_is_eventually_so_is_so_after_a_message() {
    let fozzy = Fozzy::new();
    let steps = |asked: &str| {
        format!(
            r#"{{ "version": 1, "name": "eventually", "distributed": {{ "node_count": 2, "steps": [
                {{ "type": "client_put", "node": "n0", "key": "k", "value": "a" }},
                {{ "type": "client_get_assert", "node": "n1", "key": "k", {asked} }} ] }} }}"#
        )
    };
    // As messages arrive in turn, it is there; an exploration sees it before that, too.
    for (name, asked, ran, explored) in
        [("there", r#""equals": "a""#, 0, "fail"), ("not-yet", r#""is_null": true"#, 1, "fail")]
    {
        let file = format!("{name}.fozzy.json");
        fozzy.write(&file, steps(asked));
        fozzy.run(&["run", &file]).exits(ran);
        let found = explore(&fozzy, &file, &["--schedule", "random", "--runs", "60"]);
        assert_eq!(found["status"], explored, "{name}: {found:#}");
    }
}

/// Each node writes a key of its own in turn; only at the end is every key on every node.
const THREE_KEYS: &str = r#"{ "version": 1, "name": "in turn", "distributed": { "node_count": 3,
    "steps": [
        { "type": "client_put", "node": "n0", "key": "a", "value": "1" },
        { "type": "client_put", "node": "n1", "key": "b", "value": "2" },
        { "type": "client_put", "node": "n2", "key": "a", "value": "3" }
    ],
    "invariants": [
        { "type": "kv_present_on_all", "key": "a" },
        { "type": "kv_present_on_all", "key": "b" },
        { "type": "kv_node_equals", "node": "n1", "key": "a", "equals": "3" }
    ] } }"#;

#[test]
fn invariants_are_judged_when_what_they_look_at_was_written_and_has_arrived() {
    let fozzy = Fozzy::new();
    fozzy.write("three.fozzy.json", THREE_KEYS);
    fozzy.run(&["run", "three.fozzy.json"]).exits(0);
    let node = corpus::scenario("kv-node", true).display().to_string();
    for seed in ["1", "2", "3"] {
        let flags = ["--schedule", "random", "--runs", "60", "--seed", seed, "--target", &node];
        let found = explore(&fozzy, "three.fozzy.json", &flags);
        assert_eq!(found["status"], "pass", "{found:#}");
    }
    // What is still wrong when everything has arrived is found.
    fozzy.write("never.fozzy.json", THREE_KEYS.replace(r#""equals": "3""#, r#""equals": "1""#));
    fozzy.run(&["run", "never.fozzy.json"]).exits(1);
}
