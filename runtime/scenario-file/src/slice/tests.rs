//! Slices of small files, which are seen at a glance.

use super::*;

fn parsed(text: &str) -> ParsedScenario {
    ParsedScenario::parse(text.as_bytes()).unwrap_or_else(|problem| panic!("{problem}"))
}

/// The required steps and the companions of a file of these steps that fails at the last one.
fn slice(version: u32, head: &str, steps: &[&str]) -> (Vec<u32>, Vec<(u32, u32)>) {
    let text = format!(r#"{{"version": {version}, "name": "n", {head} "steps": [{}]}}"#, steps.join(", "));
    let slice = parsed(&text).slice(FailedPart::Step(steps.len() as u32 - 1));
    (slice.required.into_iter().collect(), slice.companions.into_iter().collect())
}

#[test]
fn writers_of_what_is_read_stay_and_what_they_overwrite_does_not() {
    let (required, _) = slice(
        1,
        "",
        &[
            r#"{"type": "set_kv", "key": "a", "value": "1"}"#,
            r#"{"type": "set_kv", "key": "b", "value": "1"}"#,
            r#"{"type": "rand_u64", "key": "a"}"#,
            r#"{"type": "sleep", "duration": "1s"}"#,
            r#"{"type": "get_kv_assert", "key": "a", "equals": "3"}"#,
        ],
    );
    assert_eq!(required, [2, 4]);
    let (required, _) = slice(
        1,
        "",
        &[
            r#"{"type": "fs_write", "path": "/a", "data": "1"}"#,
            r#"{"type": "fs_write", "path": "/b", "data": "1"}"#,
            r#"{"type": "fs_snapshot", "name": "s"}"#,
            r#"{"type": "fs_write", "path": "/b", "data": "2"}"#,
            r#"{"type": "fs_restore", "name": "s"}"#,
            r#"{"type": "fs_read_assert", "path": "/a", "equals": "3"}"#,
        ],
    );
    assert_eq!(required, [0, 1, 2, 4, 5], "what a restore brings back is not told apart; what it undoes is not read");
    let (required, _) = slice(
        1,
        "",
        &[
            r#"{"type": "proc_when", "cmd": "ls", "exit_code": 0}"#,
            r#"{"type": "proc_when", "cmd": "cat", "exit_code": 0}"#,
            r#"{"type": "proc_spawn", "cmd": "ls", "expect_exit": 1}"#,
        ],
    );
    assert_eq!(required, [0, 2]);
}

#[test]
fn a_computed_sum_keeps_what_computes_it() {
    let (required, _) = slice(
        2,
        r#""vars": {"deposits": [10, 5]}, "functions": {"put": {"params": ["x"], "do": [
            {"type": "set_kv", "key": "till", "value": "${x}"}]}},"#,
        &[
            r#"{"type": "run", "function": "put", "with": {"x": 3}}"#,
            r#"{"type": "set_kv", "key": "other", "value": "1"}"#,
            r#"{"type": "set", "name": "sum", "value": 7}"#,
            r#"{"type": "set", "name": "sum", "value": 0}"#,
            r#"{"type": "for", "in": "${deposits}", "as": "d", "do": [
                {"type": "compute", "op": "add", "a": "${sum}", "b": "${d}", "save_as": "sum"}]}"#,
            r#"{"type": "get_kv", "key": "till", "save_as": "till"}"#,
            r#"{"type": "assert", "that": {"eq": ["${till}", "${sum}"]}}"#,
        ],
    );
    assert_eq!(required, [0, 3, 4, 5, 6]);
}

#[test]
fn functions_that_run_each_other_are_followed_whichever_is_run_first() {
    let functions = r#""functions": {
        "ping": {"params": [], "do": [{"type": "set_kv", "key": "ping", "value": "1"}, {"type": "run", "function": "pong"}]},
        "pong": {"params": [], "do": [{"type": "set_kv", "key": "pong", "value": "1"}, {"type": "run", "function": "ping"}]},
        "tried": {"params": [], "do": [{"type": "assert_throws", "steps": [{"type": "run", "function": "ping"}]}]}},"#;
    let read = |key: &str| format!(r#"{{"type": "get_kv_assert", "key": "{key}", "equals": "2"}}"#);
    let run = |function: &str| format!(r#"{{"type": "run", "function": "{function}"}}"#);
    for key in ["ping", "pong"] {
        let steps = [run("ping"), run("pong"), run("tried"), read(key)];
        let (required, _) = slice(2, functions, &steps.each_ref().map(String::as_str));
        assert_eq!(required, [0, 1, 3], "{key}: what is tried is taken back");
    }
}

#[test]
fn a_key_with_a_variable_in_it_may_be_the_one_that_is_read() {
    let (required, _) = slice(
        2,
        r#""vars": {"i": 1},"#,
        &[
            r#"{"type": "set_kv", "key": "k/1", "value": "0"}"#,
            r#"{"type": "set_kv", "key": "j/${i}", "value": "1"}"#,
            r#"{"type": "set_kv", "key": "k/${i}", "value": "1"}"#,
            r#"{"type": "get_kv_assert", "key": "k/1", "equals": "2"}"#,
        ],
    );
    assert_eq!(required, [0, 2, 3], "it does not overwrite for sure");
}

#[test]
fn what_ends_something_goes_with_its_beginning() {
    let (_, companions) = slice(
        1,
        "",
        &[
            r#"{"type": "net_partition", "a": "n0", "b": "n1"}"#,
            r#"{"type": "net_partition", "a": "n0", "b": "n2"}"#,
            r#"{"type": "net_heal", "a": "n1", "b": "n0"}"#,
            r#"{"type": "net_heal", "a": "n0", "b": "n1"}"#,
            r#"{"type": "freeze"}"#,
            r#"{"type": "unfreeze"}"#,
            r#"{"type": "memory_alloc", "bytes": 8, "key": "m"}"#,
            r#"{"type": "memory_free", "key": "m"}"#,
            r#"{"type": "assert_ok", "value": false}"#,
        ],
    );
    assert_eq!(companions, [(0, 2), (4, 5), (6, 7)]);
}

#[test]
fn a_cluster_keeps_the_puts_of_the_key_that_is_judged() {
    let scenario = parsed(
        r#"{"version": 1, "name": "n", "distributed": {"node_count": 3, "steps": [
            {"type": "client_put", "node": "n0", "key": "a", "value": "1"},
            {"type": "crash", "node": "n1"},
            {"type": "client_put", "node": "n0", "key": "b", "value": "1"},
            {"type": "restart", "node": "n1"},
            {"type": "client_put", "node": "n2", "key": "a", "value": "2"}
        ], "invariants": [{"type": "kv_all_equal", "key": "b"}, {"type": "kv_all_equal", "key": "a"}]}}"#,
    );
    let required = |failed| scenario.slice(failed).required.into_iter().collect::<Vec<_>>();
    assert_eq!(required(FailedPart::Invariant(1, None)), [0, 4]);
    assert_eq!(required(FailedPart::Invariant(0, None)), [2]);
    assert_eq!(required(FailedPart::Invariant(1, Some(3))), [0], "what comes after the failure was not done");
    assert!(required(FailedPart::End).is_empty());
    assert_eq!(scenario.slice(FailedPart::End).companions, BTreeMap::from([(1, 3)]));
}
