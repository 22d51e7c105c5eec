//! `fozzy explore`: what it finds is a run of its own, whatever place it was found from.
//!
//! ```text
//! scenarios/puzzles ─explore▶ solved, from checkpoints ─replay, alone, elsewhere▶ the same run
//! scenarios/bank    ─explore▶ a failure, kept ─▶ still there │ fixed │ stale
//! ```
//!
//! Several steps in one call are compared with each alone in `explore/several_steps.rs`.
//!
//! Not here: strategies and places by themselves (`fozzy-search`).

mod several_steps;

use crate::corpus;
use crate::fozzy::{Fozzy, Ran};
#[cfg(target_os = "linux")]
use crate::fuzz::jobs::children_of;
use crate::wait;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

/// Puzzles, and the runs in which each is solved by every seed.
const PUZZLES: &[(&str, &str)] = &[("bomb", "1000"), ("lock", "4000"), ("maze-8", "4000"), ("faults", "4000")];
/// Those that take longer.
const LONG: &[(&str, &str)] = &[
    ("hanoi-4", "20000"),
    ("hanoi-6", "100000"),
    ("maze-16", "50000"),
    ("walls", "50000"),
    ("cache", "50000"),
    ("lost-update", "20000"),
];

fn is_long() -> bool {
    std::env::var_os("FOZZY_LONG").is_some()
}

fn puzzles(fixed: bool) -> String {
    corpus::scenario("puzzles", fixed).display().to_string()
}

#[track_caller]
fn solve(fozzy: &Fozzy, puzzle: &str, seed: u64, runs: &str, more: &[&str]) -> Ran {
    let (program, seed, env) = (puzzles(false), seed.to_string(), format!("PUZZLE={puzzle}"));
    let args = ["explore", &program, "--env", &env, "--seed", &seed, "--runs", runs, "--no-shrink", "--json"];
    fozzy.run(&[&args[..], more].concat())
}

#[test]
fn an_ordinary_program_is_explored_under_the_faults_of_its_plan() {
    let program = corpus::component("faults").display().to_string();
    let explore = |fozzy: &Fozzy, more: &[&str]| {
        let bounds = ["--runs", "400", "--stop", "failure", "--no-shrink", "--no-seeds", "--json"];
        fozzy.run(&[&["explore", &program], &bounds[..], more, &["--", "read"]].concat())
    };
    // One chance in a hundred at each operation: what a fault is needed for is found by choosing where it strikes.
    let faults = ["--faults", "bit-flip@/tmp/*:1%"];
    for (schedule, most) in [("faults", 50), ("coverage_guided", 200)] {
        let (fozzy, elsewhere) = (Fozzy::new(), Fozzy::new());
        let found = explore(&fozzy, &[&faults[..], &["--schedule", schedule]].concat()).exits(1).json();
        let failure = &found["explore"]["failures"][0];
        let at = failure["foundAt"].as_u64().expect("a number");
        assert!(at <= most, "{schedule} took {at} runs");
        let trace = failure["tracePath"].as_str().expect("a path");
        elsewhere.write("found.fozzy", std::fs::read(fozzy.path(trace)).expect("it was written"));
        let replayed = elsewhere.run(&["replay", "found.fozzy", "--json"]).exits(1).json();
        assert_eq!(replayed["replay"]["equal"], Value::Bool(true), "{schedule}");
        assert_eq!(replayed["signature"], found["signature"], "{schedule}");
        let again = explore(&Fozzy::new(), &[&faults[..], &["--schedule", schedule]].concat()).exits(1).json();
        assert_eq!(again["explore"]["failures"][0]["foundAt"], at, "{schedule} is the same again");
    }
    let shared = explore(&Fozzy::new(), &[&faults[..], &["-w", "2"]].concat()).exits(1).json();
    assert_eq!((&shared["status"], &shared["explore"]["workers"]), (&"fail".into(), &2.into()), "{shared:#}");
    let still = explore(&Fozzy::new(), &[]).exits(2).json();
    let why = still["message"].as_str().unwrap_or_default();
    assert!(why.contains("asks for nothing that could be varied"), "{still:#}");
}

#[test]
fn the_first_run_is_that_of_the_seed_and_its_failure_is_a_finding() {
    let fozzy = Fozzy::new();
    fozzy.write("coin.wat", include_str!("programs/coin.wat"));
    let mut statuses = Vec::new();
    for seed in 1..=6 {
        let seed = seed.to_string();
        let ran = fozzy.run(&["run", "coin.wat", "--seed", &seed, "--json"]).json();
        for workers in ["1", "2"] {
            let once = ["--runs", "1", "-w", workers, "--no-seeds", "--no-shrink", "--json"];
            let found = fozzy.run(&[&["explore", "coin.wat", "--seed", &seed], &once[..]].concat()).json();
            assert_eq!((&found["status"], &found["signature"]), (&ran["status"], &ran["signature"]), "{found:#}");
            assert_eq!(found["explore"]["runs"], 1, "{found:#}");
            if let Some(failure) = found["explore"]["failures"].get(0) {
                let replayed = fozzy.run(&["replay", failure["tracePath"].as_str().expect("a path"), "--json"]).json();
                assert_eq!((&replayed["replay"]["equal"], &replayed["status"]), (&true.into(), &ran["status"]));
            }
        }
        statuses.push(ran["status"].clone());
    }
    assert!(statuses.contains(&"pass".into()) && statuses.contains(&"crash".into()), "{statuses:?}");
}

#[test]
fn the_worst_finding_is_the_headline() {
    let fozzy = Fozzy::new();
    fozzy.write(
        "two.wat",
        r#"(module
            (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            (memory (export "memory") 1)
            (func (export "_start") (local $drawn i32)
                (drop (call $random (i32.const 64) (i32.const 1)))
                (local.set $drawn (i32.and (i32.load8_u (i32.const 64)) (i32.const 15)))
                (if (i32.eqz (local.get $drawn)) (then unreachable))
                (if (i32.lt_u (local.get $drawn) (i32.const 8)) (then (call $exit (i32.const 3))))))"#,
    );
    let found =
        fozzy.run(&["explore", "two.wat", "--runs", "200", "--no-seeds", "--no-shrink", "--json"]).exits(4).json();
    let failures = found["explore"]["failures"].as_array().expect("a list");
    assert_eq!(failures.len(), 2, "{found:#}");
    let trap = failures.iter().find(|failure| failure["signature"]["kind"] == "trap").expect("it traps");
    assert_eq!((&found["signature"], &found["findings"][0]["kind"]), (&trap["signature"], &"trap".into()), "{found:#}");
    assert_eq!((&found["identity"]["tracePath"], &found["exitCode"]), (&trap["tracePath"], &Value::Null), "{found:#}");
}

#[test]
fn a_systematic_search_takes_a_scenario_file_apart_and_says_when_it_is_through() {
    let fozzy = Fozzy::new();
    let add = |amount: u32| {
        serde_json::json!([
            { "type": "get_kv", "key": "till", "default": 0, "save_as": "before" },
            { "type": "compute", "op": "add", "a": "${before}", "b": amount, "save_as": "after" },
            { "type": "set_kv", "key": "till", "value": "${after}" },
        ])
    };
    let file = serde_json::json!({ "version": 2, "name": "two clerks", "steps": [
        { "type": "parallel", "branches": [add(10), add(5)] },
        { "type": "get_kv", "key": "till", "save_as": "till" },
        { "type": "assert", "that": { "eq": ["${till}", 15] }, "msg": "a deposit is lost" },
    ] });
    fozzy.write("till.fozzy.json", file.to_string());
    for schedule in ["dfs", "bfs"] {
        let bounds = ["--runs", "2000", "--no-seeds", "--no-shrink", "--json"];
        let found = fozzy.run(&[&["explore", "till.fozzy.json", "--schedule", schedule], &bounds[..]].concat());
        let found = found.exits(1).json()["explore"].take();
        assert_eq!(found["ended"], "exhausted", "{schedule}: {found:#}");
        assert!(found["failures"][0]["foundAt"].as_u64() <= Some(100), "{schedule}: {found:#}");
    }
}

/// The run in which an exploration of a program that draws bytes finds the one value of them that fails.
fn drawn_at(fozzy: &Fozzy, seed: u64, args: &[&str]) -> Option<u64> {
    let seed = seed.to_string();
    let bounds = ["--seed", &seed, "--runs", "600", "--stop", "failure", "--no-shrink", "--no-seeds", "--json"];
    let found = fozzy.run(&[&["explore"], &args[..1], &bounds[..], &args[1..]].concat()).json();
    found["explore"]["failures"][0]["foundAt"].as_u64()
}

#[test]
fn drawn_bytes_become_what_an_ordinary_program_compares_them_with() {
    let fozzy = Fozzy::new();
    for (program, text) in [
        ("drawn.wat", include_str!("programs/drawn.wat")),
        ("sender.wat", include_str!("programs/sender.wat")),
        ("receiver.wat", include_str!("programs/receiver.wat")),
    ] {
        fozzy.write(program, text);
    }
    // Another machine compares what this one draws and sends.
    let receiver =
        "[[node]]\nname = 'receiver'\ncomponent = 'receiver.wat'\nends = 'never'\nstdin = { from = 'main' }\n";
    fozzy.write("sent.toml", receiver);
    let seeds = if is_long() { 20 } else { 2 };
    for (most, args) in [
        (100, &["drawn.wat"][..]),
        (100, &["drawn.wat", "--", "whole"]),
        (300, &["drawn.wat", "--", "one", "by-one"]),
        (300, &["sender.wat", "--plan", "sent.toml"]),
    ] {
        let found: Vec<Option<u64>> = (1..=seeds).map(|seed| drawn_at(&fozzy, seed, args)).collect();
        assert!(found.iter().all(|at| at.is_some_and(|at| at <= most)), "{args:?}: {found:?}");
        assert_eq!(drawn_at(&fozzy, 1, args), found[0], "the same again");
    }
}

#[test]
fn puzzles_are_solved_and_each_solution_replays_alone() {
    let (long, seeds) = if is_long() { (LONG, 20) } else { (&LONG[..0], 1) };
    for (puzzle, runs) in PUZZLES.iter().chain(long) {
        for seed in 0..seeds {
            let (fozzy, elsewhere) = (Fozzy::new(), Fozzy::new());
            let found = solve(&fozzy, puzzle, seed, runs, &["--stop", "failure"]).exits(1).json();
            let explore = &found["explore"];
            assert_eq!((&explore["ended"], &explore["lost"]), (&"finding".into(), &0.into()), "{puzzle}: {explore:#}");
            let trace = explore["failures"][0]["tracePath"].as_str().expect("a path");
            let trace = std::fs::read(fozzy.path(trace)).expect("it was written");
            elsewhere.write("found.fozzy", trace);
            let replayed = elsewhere.run(&["replay", "found.fozzy", "--json"]).exits(1).json();
            assert_eq!(replayed["replay"]["equal"], Value::Bool(true), "{puzzle} with seed {seed}");
            assert_eq!(replayed["signature"], found["signature"], "{puzzle} with seed {seed}");
        }
    }
}

#[test]
fn a_scenario_that_names_no_state_is_told_apart_by_its_memory() {
    let fozzy = Fozzy::new();
    let silent = ["--stop", "failure", "--env", "SILENT=1"];
    let found = solve(&fozzy, "lock", 1, "4000", &silent).exits(1).json();
    let explore = &found["explore"];
    assert_eq!((&explore["ended"], &explore["lost"]), (&"finding".into(), &0.into()), "{explore:#}");
    assert!(explore["states"].as_u64() >= Some(7), "one for each digit: {explore:#}");
    // By edges alone that many runs do not open it, and the same seed sees the same states.
    let again = solve(&Fozzy::new(), "lock", 1, "4000", &silent).exits(1).json();
    assert_eq!(again["explore"]["steps"], explore["steps"]);
}

#[test]
fn every_strategy_goes_the_same_ways_again_and_loses_nothing() {
    for schedule in ["fifo", "bfs", "dfs", "random", "pct", "pos", "urw", "coverage_guided"] {
        let explore = || {
            let fozzy = Fozzy::new();
            let mut found = solve(&fozzy, "lock", 7, "150", &["--schedule", schedule]).json()["explore"].take();
            for failure in found["failures"].as_array_mut().into_iter().flatten() {
                failure["tracePath"] = Value::Null;
            }
            found
        };
        let (once, again) = (explore(), explore());
        assert_eq!(once, again, "{schedule}");
        assert_eq!((&once["lost"], &once["schedule"]), (&0.into(), &schedule.into()), "{schedule}");
        // A systematic search is through when all states of the lock were taken apart.
        let is_through = ["exhausted", "sampled"].iter().any(|word| once["ended"] == *word);
        assert!(is_through || once["steps"].as_u64() > Some(100), "{schedule}: {once:#}");
    }
}

#[test]
fn a_failure_is_kept_tried_first_and_pruned_when_it_is_fixed() {
    let fozzy = Fozzy::new();
    let build = |fixed| {
        fozzy.write("bank.wasm", std::fs::read(corpus::scenario("bank", fixed)).expect("it is built"));
    };
    build(false);
    let found = fozzy.run(&["explore", "bank.wasm", "--runs", "100", "--stop", "failure", "--json"]).exits(1).json();
    assert_eq!(found["signature"]["site"], "no customer owes");
    assert!(found["explore"]["failures"][0]["minimizedSteps"].as_u64() <= Some(2), "{:#}", found["explore"]);
    let state = |args: &[&str]| fozzy.run(&[&["seeds", "--json"], args].concat()).json()["seeds"][0]["state"].take();
    assert_eq!(state(&["bank.wasm"]), "still there");
    let again = fozzy.run(&["explore", "bank.wasm", "--runs", "1", "--seed", "1", "--json"]).exits(1).json();
    assert_eq!(again["explore"]["seeds"][0]["state"], "still there");
    assert_eq!(fozzy.run(&["seeds", "--json"]).exits(1).json()["seeds"].as_array().map(Vec::len), Some(1));
    build(true);
    assert_eq!(state(&["--prune-fixed"]), "fixed");
    assert_eq!(fozzy.run(&["seeds", "--json"]).exits(0).json()["seeds"], Value::Array(Vec::new()));
    let clean = fozzy.run(&["explore", "bank.wasm", "--runs", "60", "--json"]).exits(0).json();
    assert!(clean["explore"]["edges"].as_u64() > Some(50), "{clean:#}");
    // How its properties stand is said over all runs.
    let rows = |found: &Value| found["explore"]["properties"]["rows"].as_array().cloned().unwrap_or_default();
    let total = rows(&clean).into_iter().find(|row| row["name"] == "total is constant").expect("it is one of them");
    assert_eq!((&total["kind"], &total["state"]), (&"always".into(), &"passed".into()), "{clean:#}");
    let worst = &rows(&found)[0];
    assert_eq!((&worst["name"], &worst["state"]), (&found["signature"]["site"], &"failed".into()), "{found:#}");
    assert!(clean["explore"]["notReached"][0]["line"].as_str().is_some_and(|line| line.starts_with("reachable!(")));
}

#[test]
fn an_exploration_goes_on_from_its_state_and_refuses_another_ones() {
    let fozzy = Fozzy::new();
    let explore = |puzzle: &str, runs: &str, more: &[&str]| {
        let (program, puzzle) = (puzzles(true), format!("PUZZLE={puzzle}"));
        let args = ["explore", &program, "--env", &puzzle, "--runs", runs, "--save-state", "s.json"];
        fozzy.run(&[&args[..], more].concat())
    };
    let first = explore("maze-8", "120", &["--json"]).exits(0).json()["explore"].take();
    let further = explore("maze-8", "400", &["--json", "--resume=s.json"]).exits(0).json()["explore"].take();
    let number = |of: &Value, what: &str| of[what].as_u64().unwrap_or_default();
    assert!(number(&further, "states") >= number(&first, "states"), "{first:#} {further:#}");
    assert!(number(&further, "steps") > number(&first, "steps"));
    explore("lock", "9", &["--resume=s.json"]).refuses(&["s.json", "another plan"]);
    fozzy.write("cut.json", &fozzy.read("s.json")[..200]);
    explore("maze-8", "9", &["--resume=cut.json"]).refuses(&["cut.json", "not whole"]);
    fozzy.write("other.json", r#"{"format": "fozzy-explore-state", "version": 9}"#);
    explore("maze-8", "9", &["--resume=other.json"]).refuses(&["expected version 1, found 9"]);
}

#[test]
fn short_explorations_that_continue_each_other_advance() {
    let fozzy = Fozzy::new();
    let program = puzzles(true);
    let explore = |runs: &str, state: &str, more: &[&str]| {
        let args = ["explore", &program, "--env", "PUZZLE=hanoi-6", "--runs", runs, "--save-state", state, "--json"];
        let explored = fozzy.run(&[&args[..], &["--no-shrink", "--no-seeds"], more].concat()).json();
        explored["explore"]["states"].as_u64().unwrap_or_default()
    };
    let long = explore("400", "long.json", &[]);
    let mut states = vec![explore("40", "s.json", &[])];
    states.extend((1..10).map(|_| explore("40", "s.json", &["--resume=s.json"])));
    assert!(states.is_sorted() && states[0] < states[9], "{states:?}");
    assert!(states[9] * 2 >= long, "{states:?} of {long}");
}

#[test]
fn what_cannot_be_explored_is_refused_in_clear_words() {
    let fozzy = Fozzy::new();
    fozzy.write("fozzy.toml", "explore = 3\n");
    let said = fozzy.run(&["explore", "none.wasm"]).exits(2).err();
    assert!(said.contains("invalid type: integer `3`, expected a table"), "{said}");
    fozzy.write("fozzy.toml", "[explore]\nmax_checkpoint = 3\n");
    fozzy.run(&["explore", &puzzles(true), "--runs", "1"]).refuses(&["explore.max_checkpoint"]);
    fozzy.write("fozzy.toml", "[explore]\ncheckpoint_prob = 1.5\n");
    fozzy.run(&["explore", &puzzles(true), "--runs", "1"]).refuses(&["explore.checkpoint_prob"]);
    fozzy.write("fozzy.toml", "[explore]\nmax_checkpoints = 3\nseed = 9\nsteps_per_run = 7\nschedule = \"random\"\n");
    let found = fozzy.run(&["explore", &puzzles(true), "--runs", "20", "--json"]).exits(0).json();
    assert_eq!((&found["identity"]["seed"], &found["explore"]["schedule"]), (&9.into(), &"random".into()));
}

#[test]
fn workers_find_together_and_what_they_find_replays_alone() {
    let (fozzy, elsewhere) = (Fozzy::new(), Fozzy::new());
    let args = ["-w", "2", "--schedule", "random", "--record", "found.fozzy"];
    let found = solve(&fozzy, "bomb", 3, "60", &args).exits(1).json();
    let explore = &found["explore"];
    assert_eq!((&explore["workers"], &explore["lost"]), (&2.into(), &0.into()), "{explore:#}");
    assert_eq!((&explore["runs"], explore["failures"].as_array().map(Vec::len)), (&60.into(), Some(1)), "{explore:#}");
    assert!(explore["edges"].as_u64() > Some(50), "{explore:#}");
    elsewhere.write("found.fozzy", fozzy.read("found.fozzy"));
    let replayed = elsewhere.run(&["replay", "found.fozzy", "--json"]).exits(1).json();
    assert_eq!((&replayed["replay"]["equal"], &replayed["signature"]), (&Value::Bool(true), &found["signature"]));
}

/// Replays each trace in a folder that has nothing else.
fn replay_alone(fozzy: &Fozzy, explore: &Value) -> usize {
    let failures = explore["failures"].as_array().expect("a list");
    for failure in failures {
        let elsewhere = Fozzy::new();
        elsewhere.write("found.fozzy", fozzy.read(failure["tracePath"].as_str().expect("a path")));
        let replayed = elsewhere.run(&["replay", "found.fozzy", "--json"]).exits(1).json();
        assert_eq!(replayed["replay"]["equal"], Value::Bool(true), "{failure}");
        assert_eq!(replayed["signature"], failure["signature"], "{failure}");
    }
    failures.len()
}

#[test]
fn many_failures_from_deep_places_all_replay_alone() {
    let (least, runs) = if is_long() { (500, "20000") } else { (20, "130") };
    let fozzy = Fozzy::new();
    let explore = solve(&fozzy, "stairs", 11, runs, &["--no-seeds"]).exits(1).json()["explore"].take();
    assert_eq!(explore["lost"], 0, "{explore:#}");
    assert!(replay_alone(&fozzy, &explore) >= least, "{explore:#}");
    // Floors below have failed before: the highest are reached from places upon places.
    let deepest =
        explore["failures"].as_array().into_iter().flatten().filter_map(|found| found["steps"].as_u64()).max();
    assert!(deepest >= Some(least as u64), "{deepest:?}");
    let earned = |dial: &str| {
        let of = |what: &&Value| what["dial"] == dial;
        let all = explore["earned"].as_array().into_iter().flatten().filter(of);
        all.map(|what| what["runs"].as_u64().unwrap_or_default()).sum::<u64>()
    };
    let runs = explore["runs"].as_u64().expect("a number");
    assert_eq!([earned("origin"), earned("order"), earned("swarm")], [runs, runs, runs], "{explore:#}");
}

/// The traces that a worker has written so far.
fn traces_of(fozzy: &Fozzy, worker: &str) -> usize {
    let folders = |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let own = folders(fozzy.path(".fozzy/runs")).map(|run| run.join("workers").join(worker));
    own.flat_map(folders).filter(|path| path.extension().is_some_and(|ending| ending == "fozzy")).count()
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_that_is_killed_loses_nothing_that_it_has_found() {
    let fozzy = Fozzy::new();
    let program = puzzles(false);
    let more = ["--no-shrink", "--no-seeds", "--json"];
    let args = [&["explore", &program, "--env", "PUZZLE=stairs", "-w", "2", "--runs", "800"], &more[..]].concat();
    let mut child = fozzy.start(&args);
    wait::while_running(&mut child, "its first trace", || traces_of(&fozzy, "0") > 0);
    let is_first = |pid: &String| {
        let environment = std::fs::read_to_string(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.contains(r#"FOZZY_WORKER={"slot":0,"#)
    };
    if let Some(first) = children_of(child.id()).into_iter().find(is_first) {
        fozzy.shell(&format!("kill -9 {first} || true")).exits(0);
    }
    let kept = traces_of(&fozzy, "0");
    let explore = Ran::of(&args, wait::output(child)).exits(1).json()["explore"].take();
    assert!(replay_alone(&fozzy, &explore) >= kept.max(1), "{kept}: {explore:#}");
}

#[test]
fn ctrl_c_keeps_what_was_found_and_it_can_be_gone_on_from() {
    let fozzy = Fozzy::new();
    let program = puzzles(true);
    let args = ["explore", &program, "--env", "PUZZLE=maze-8", "--time", "10m", "--json", "-v"];
    let mut child = fozzy.start(&args);
    // Kept to the end: who cannot say how it goes ends.
    let mut said = BufReader::new(child.stderr.take().expect("it is a pipe")).lines().map_while(Result::ok);
    assert!(said.any(|line| line.contains("runs=")), "it says how it goes");
    fozzy.shell(&format!("kill -INT {}", child.id())).exits(0);
    let explore = Ran::of(&args, wait::output(child)).json()["explore"].take();
    assert_eq!(explore["ended"], "interrupted", "{explore:#}");
    let states = explore["states"].as_u64().expect("a number");
    let again = ["explore", &program, "--env", "PUZZLE=maze-8", "--resume", "--runs", "1000", "--json"];
    let further = fozzy.run(&again).exits(0).json()["explore"].take();
    assert!(states > 1 && further["states"].as_u64() >= Some(states), "{states}: {further:#}");
}

#[test]
fn an_exploration_that_is_killed_goes_on_with_what_it_had_found() {
    let fozzy = Fozzy::new();
    let program = puzzles(false);
    let stairs = ["explore", &program, "--env", "PUZZLE=stairs", "--no-shrink", "--json", "--save-state", "s.json"];
    let mut child = fozzy.start(&[&stairs[..], &["--time", "10m"]].concat());
    let state = || serde_json::from_str::<Value>(&std::fs::read_to_string(fozzy.path("s.json")).ok()?).ok();
    let found = |state: &Value| state["findings"].as_array().map_or(0, Vec::len);
    wait::while_running(&mut child, "a state with a finding", || state().is_some_and(|state| found(&state) > 0));
    child.kill().expect("it runs");
    wait::output(child);
    let kept = found(&state().expect("a state is whole at any moment"));
    // The file of a state may stand apart from the flag, as that of any other flag.
    let further = fozzy.run(&[&stairs[..], &["--resume", "s.json", "--runs", "1"]].concat()).exits(1);
    let failures = further.json()["explore"]["failures"].as_array().map_or(0, Vec::len);
    assert!(failures >= kept && kept > 0, "{failures} of {kept}");
}

/// Draws a byte, and traps for one in sixteen.
const DRAWS: &str = r#"(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (drop (call $random (i32.const 64) (i32.const 1)))
    (if (i32.eqz (i32.and (i32.load8_u (i32.const 64)) (i32.const 15))) (then unreachable))))"#;

#[test]
fn a_failure_that_was_saved_as_it_was_found_is_made_as_small_as_it_gets_by_the_next_exploration_that_has_time_for_it() {
    let fozzy = Fozzy::new();
    fozzy.write("draws.wat", DRAWS);
    let explore = |seed: &str, flags: &[&str]| {
        let args = ["explore", "draws.wat", "--seed", seed, "--json"];
        let found = fozzy.run(&[&args[..], flags].concat()).exits(4).json()["explore"].take();
        let seeds = fozzy.run(&["seeds", "draws.wat", "--json"]).exits(1).json()["seeds"].take();
        let seeds: Vec<String> =
            seeds.as_array().expect("a list").iter().map(|seed| seed["path"].to_string()).collect();
        assert_eq!(seeds.len(), 1, "{seeds:?}");
        (found["failures"][0].clone(), found["seeds"][0].clone(), seeds)
    };
    let (failure, _, seeds) = explore("1", &["--runs", "200", "--no-shrink"]);
    assert!(failure["minimal"].is_null() && !seeds[0].contains(".min."), "{failure:#}: {seeds:?}");
    let (failure, saved, seeds) = explore("2", &["--time", "2s"]);
    assert!(failure["minimal"] == true && seeds[0].contains(".min."), "{failure:#}: {seeds:?}");
    // It is said where it is now, and the smallest one stands beside the trace of this exploration.
    assert_eq!((saved["path"].to_string(), &saved["shrunk"]), (seeds[0].clone(), &Value::Bool(true)));
    let smallest = failure["minimizedTracePath"].as_str().expect("that of before");
    fozzy.run(&["replay", smallest]).exits(4);
}

#[test]
fn two_explorations_in_one_folder_do_not_disturb_each_other() {
    let fozzy = Fozzy::new();
    let program = puzzles(false);
    let args =
        |seed| ["explore", &program, "--env", "PUZZLE=stairs", "--runs", "60", "--no-shrink", "--json", "--seed", seed];
    let other = fozzy.start(&args("1"));
    let beside = fozzy.run(&args("2")).exits(1).json()["explore"].take();
    let other = Ran::of(&args("1"), wait::output(other)).exits(1).json()["explore"].take();
    let alone = |seed| Fozzy::new().run(&args(seed)).exits(1).json()["explore"]["failures"].as_array().map(Vec::len);
    let number = |of: &Value| of["failures"].as_array().map(Vec::len);
    assert_eq!((number(&other), number(&beside)), (alone("1"), alone("2")));
    assert!(replay_alone(&fozzy, &other) > 0);
}

#[test]
fn a_flow_that_hangs_fails_or_never_does_anything_is_told_so_and_shrinks_to_itself() {
    let fozzy = Fozzy::new();
    let program = corpus::component("misfits").display().to_string();
    for (how, code, signature) in [
        ("for-ever", 3, Some(("timeout", "instructions in step"))),
        ("deadlock", 1, Some(("hang", "deadlock"))),
        ("recursion", 4, Some(("trap", "call stack exhausted"))),
        ("skips", 2, Some(("input_invalid", "no flow ran"))),
        ("fine", 0, None),
    ] {
        let trace = format!("{how}.fozzy");
        let args = ["explore", &program, "--fuel", "20000000", "--runs", "3", "--steps", "3", "--no-shrink"];
        let more = ["--no-seeds", "--json", "--record", &trace, "--", how];
        let found = fozzy.run(&[&args[..], &more].concat()).exits(code).json();
        let Some((kind, site)) = signature else {
            assert!(found["signature"].is_null(), "{how}: {found:#}");
            continue;
        };
        let is_it = |of: &Value| of["kind"] == kind && of["site"].as_str().is_some_and(|found| found.contains(site));
        assert!(is_it(&found["signature"]), "{how}: {found:#}");
        if code != 2 {
            let small = fozzy.run(&["shrink", &trace, "--budget", "5s", "--json"]).exits(code).json();
            assert!(is_it(&small["signature"]), "{how}: {small:#}");
        }
    }
}

/// A set: an addition, and a read in each second run.
const SETS: &str = r#"(module
  (import "fozzy:choices/draws@0.1.0" "choose" (func $choose (param i32 i32 i64) (result i64)))
  (import "fozzy:history/operations@0.1.0" "invoke" (func $invoke (param i32 i32 i32 i32 i32) (result i64)))
  (import "fozzy:history/operations@0.1.0" "ok" (func $ok (param i64 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "add")
  (data (i32.const 32) "read")
  (data (i32.const 48) "1[1]")
  (func (export "_start")
    (call $ok
      (call $invoke (i32.const 0) (i32.const 16) (i32.const 3) (i32.const 48) (i32.const 1))
      (i32.const 48) (i32.const 1))
    (if (i32.wrap_i64 (call $choose (i32.const 32) (i32.const 4) (i64.const 2)))
      (then
        (call $ok
          (call $invoke (i32.const 0) (i32.const 32) (i32.const 4) (i32.const 0) (i32.const 0))
          (i32.const 49) (i32.const 3))))))"#;

#[test]
fn runs_that_come_to_no_verdict_are_counted_and_the_first_one_is_warned_of() {
    let fozzy = Fozzy::new();
    fozzy.write("sets.wat", SETS);
    fozzy.write("plan.toml", "[expect]\nhistory = [{ checker = \"set-full\" }]\n");
    let misfits = corpus::component("misfits").display().to_string();
    let explore = |program: &str, more: &[&str]| {
        let bounds = ["--plan", "plan.toml", "--runs", "12", "--no-seeds"];
        fozzy.run(&[&["explore", program], &bounds[..], more].concat())
    };
    let undecided = |of: &Ran| of.json()["explore"]["undecidedRuns"].as_u64().unwrap_or(0);
    let warning = "warning: the first run comes to no verdict: set-full: no element is known to have stayed";
    for (seed, is_warned) in [("1", false), ("4", true)] {
        let found = explore("sets.wat", &["--seed", seed, "--json"]).exits(0);
        assert_eq!(found.err().contains(warning), is_warned, "{found}");
        let number = undecided(&found);
        assert!((1..12).contains(&number), "some of them read: {found}");
        let told = explore("sets.wat", &["--seed", seed]).exits(0).err();
        let words = format!(" {number} run{} came to no verdict", if number == 1 { "" } else { "s" });
        assert!(told.contains(&words), "{told}");
    }
    let shared = explore("sets.wat", &["--seed", "4", "--workers", "2", "--json"]).exits(0);
    assert!((1..=12).contains(&undecided(&shared)), "that of the first run, at least: {shared}");
    // What a scenario is walked to first is one step, and no run.
    let walked = explore(&misfits, &["--steps", "2", "--json", "--", "adds"]).exits(2);
    assert!(!walked.err().contains("comes to no verdict"), "{walked}");
    assert!(undecided(&walked) > 0 && walked.json()["findings"][0]["title"] == "no run came to a verdict", "{walked}");
    assert_eq!(
        undecided(&explore(&misfits, &["--steps", "2", "--json", "--", "fine"]).exits(0)),
        0,
        "it has no operations"
    );
}

/// Five additions, a second apart.
const SLOW_ADDITIONS: &str = r#"(module
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "fozzy:history/operations@0.1.0" "invoke" (func $invoke (param i32 i32 i32 i32 i32) (result i64)))
  (import "fozzy:history/operations@0.1.0" "ok" (func $ok (param i64 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 512) "add")
  (func (export "_start") (local $turn i32)
    (i32.store (i32.const 16) (i32.const 1))
    (i64.store (i32.const 24) (i64.const 1000000000))
    (loop $again
      (drop (call $poll (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 256)))
      (call $ok
        (call $invoke (i32.const 0) (i32.const 512) (i32.const 3) (i32.const 0) (i32.const 0))
        (i32.const 0) (i32.const 0))
      (br_if $again (i32.lt_u (local.tee $turn (i32.add (local.get $turn) (i32.const 1))) (i32.const 5))))))"#;

#[test]
fn nemeses_that_never_met_each_other_or_an_operation_are_named() {
    let fozzy = Fozzy::new();
    fozzy.write("client.wat", SLOW_ADDITIONS);
    fozzy.write("server.wat", SLOW_ADDITIONS);
    let often =
        |kind: &str| format!("[[nemesis]]\nkind = \"{kind}\"\ninterval = \"1s\"\nlasts = [\"900ms\"]\nrate = 1.0\n");
    let plan = "[[node]]\nname = \"server\"\ncomponent = \"server.wat\"\nends = \"any\"\n".to_owned();
    fozzy
        .write("plan.toml", plan + &often("pause") + &often("slow") + "[[nemesis]]\nkind = \"kill\"\nstart = \"1h\"\n");
    let explore = |more: &[&str]| {
        let args = ["explore", "client.wat", "--plan", "plan.toml", "--runs", "6", "--no-seeds"];
        fozzy.run(&[&args[..], more].concat()).exits(0)
    };
    for workers in ["1", "2"] {
        let found = explore(&["--workers", workers, "--json"]).json();
        let cells = found["explore"]["overlaps"].as_array().into_iter().flatten();
        let cells: Vec<String> = cells
            .map(|cell| {
                let word = |key: &str| cell[key].as_str().unwrap_or_default().to_owned();
                let is_met = cell["times"].as_u64().is_some_and(|times| times > 0);
                format!("{} {} {is_met}", word("nemesis"), word("with"))
            })
            .collect();
        let expected = [
            "pause slow true",
            "pause kill false",
            "pause add true",
            "slow kill false",
            "slow add true",
            "kill add false",
        ];
        assert_eq!(cells, expected, "{found:#}");
    }
    let words = "3 of 6 combinations met; never pause with kill, slow with kill, kill with add";
    let told = explore(&[]).err();
    assert!(told.contains(words), "{told}");
}

#[test]
fn a_kept_failure_that_was_damaged_is_named_and_nothing_is_lost() {
    let fozzy = Fozzy::new();
    fozzy.write("bank.wasm", std::fs::read(corpus::scenario("bank", false)).expect("it is built"));
    fozzy.run(&["explore", "bank.wasm", "--runs", "100", "--stop", "failure"]).exits(1);
    let kept = std::fs::read_dir(fozzy.path(".fozzy/seeds/bank")).expect("it is kept").count();
    let damaged = ".fozzy/seeds/bank/seed-0.fozzy";
    fozzy.write(damaged, "no trace");
    fozzy.run(&["explore", "bank.wasm", "--runs", "3"]).refuses(&[damaged, "not a Fozzy trace"]);
    // A list has the others nevertheless.
    let listed = fozzy.run(&["seeds", "--json"]).exits(2).json();
    let states: Vec<&str> =
        listed["seeds"].as_array().into_iter().flatten().filter_map(|one| one["state"].as_str()).collect();
    assert_eq!(states, ["still there", "damaged"], "{listed:#}");
    let pruned = fozzy.run(&["seeds", "--prune-fixed"]).exits(2).out();
    assert!(pruned.contains("not a Fozzy trace") && pruned.contains("still there"), "{pruned}");
    // A suite has it for a case of its own, and runs the others.
    let suite = fozzy.run(&["test", "bank.wasm", "--json"]).exits(2).json();
    let kept_ones = suite["regressions"].as_array().map(Vec::len);
    assert_eq!((kept_ones, &suite["tests"]["failed"]), (Some(2), &3.into()), "{suite:#}");
    assert_eq!(std::fs::read_dir(fozzy.path(".fozzy/seeds/bank")).expect("it is kept").count(), kept + 1);
}

#[test]
fn what_fails_at_once_always_passes_or_never_ends_is_told_so() {
    let fozzy = Fozzy::new();
    // It ends before its first sequence.
    let nothing = ["explore", &puzzles(false), "--env", "PUZZLE=none", "--runs", "3", "--json"];
    let found = fozzy.run(&nothing).exits(4).json();
    assert_eq!(found["explore"]["failures"].as_array().map(Vec::len), Some(1), "{:#}", found["explore"]);
    let passes =
        ["explore", &puzzles(true), "--env", "PUZZLE=faults", "--stop", "saturated", "--time", "60s", "--json"];
    let passed = fozzy.run(&passes).exits(0).json()["explore"].take();
    assert_eq!(passed["ended"], "saturated", "{passed:#}");
    assert!(passed["estimatedUndiscoveredEdges"].is_number() && passed["chanceOfNewEdge"].as_f64() < Some(0.1));
}

#[test]
fn a_run_goes_on_otherwise_from_any_of_its_decisions() {
    let fozzy = Fozzy::new();
    let bank = corpus::scenario("bank", false).display().to_string();
    let run = |seed: &str, to: &str| {
        let args = ["run", &bank, "--sequences", "1", "--flows", "30", "--seed", seed, "--record", to, "--json"];
        let ran = fozzy.run(&args).json();
        (ran["signature"].clone(), ran["decisions"].clone(), ran["memoryDigest"].clone())
    };
    let (one, other) = (run("1", "one.fozzy"), run("2", "other.fozzy"));
    let branch = |at: &str, to: &str| {
        let ran = fozzy.run(&["branch", "one.fozzy", "--at", at, "--seed", "2", "--record", to, "--json"]).json();
        (ran["signature"].clone(), ran["decisions"].clone(), ran["memoryDigest"].clone())
    };
    // From the beginning it is the other seed's run; from its end it is itself.
    assert_eq!(branch("0", "b0.fozzy"), other);
    let shown = fozzy.run(&["trace", "show", "one.fozzy"]).exits(0).out();
    let decisions = shown.lines().filter(|line| line.contains(" ? ")).count();
    assert_eq!(branch(&decisions.to_string(), "b1.fozzy"), one);
    branch("20", "b20.fozzy");
    for trace in ["b0.fozzy", "b1.fozzy", "b20.fozzy"] {
        assert_eq!(fozzy.run(&["replay", trace, "--json"]).json()["replay"]["equal"], Value::Bool(true), "{trace}");
    }
    fozzy.run(&["branch", "one.fozzy", "--at", "99999"]).refuses(&["no moment 99999"]);
}

#[test]
fn a_scenario_that_never_comes_to_its_first_step_ends_with_its_time_or_its_instructions() {
    let fozzy = Fozzy::new();
    let endless = "(loop $again (br $again))";
    let scenario = |start: &str, describe: &str| {
        format!(
            r#"(module
  (memory (export "memory") 1)
  (func $start {start})
  (start $start)
  (func (export "fozzy:scenario/stateful@0.1.0#describe") (result i32) {describe} i32.const 0)
  (func (export "fozzy:scenario/stateful@0.1.0#begin-sequence") (param i32))
  (func (export "fozzy:scenario/stateful@0.1.0#step") (param i32) (result i32) i32.const 128)
  (func (export "fozzy:scenario/stateful@0.1.0#end-sequence") (param i32)))"#
        )
    };
    for (name, start, describe) in [("start.wat", endless, ""), ("describe.wat", "", endless)] {
        fozzy.write(name, scenario(start, describe));
        let timed = fozzy.run(&["explore", name, "--time", "500ms"]);
        timed.refuses(&[name, "nothing was tried: its first run was not at its end"]);
        let bounded = fozzy.run(&["explore", name, "--runs", "3", "--fuel", "1000000"]);
        bounded.refuses(&[name, "has used up its 1,000,000 instructions before its first step"]);
        // A campaign of its sequences has no other beginning.
        let timed = fozzy.run(&["fuzz", name, "--time", "500ms", "--fuel", "100000000000"]);
        timed.refuses(&[name, "nothing was tried: its first run was not at its end"]);
        fozzy.run(&["fuzz", name, "--runs", "3", "--fuel", "1000000"]).refuses(&[name]);
    }
}
