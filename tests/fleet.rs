//! `fozzy fleet`: every test of a project, found, searched and kept, whatever happens to the fleet.
//!
//! ```text
//! draws.wat    traps for one byte in sixteen   ─▶ found, kept, replayed; mended ─▶ fixed
//! parse.wat    a fuzz target that traps at "f" ─▶ found by its corpus
//! starts.wat   traps at once                   ─▶ found; takes nothing from the others
//! bank.wasm    fails after many steps          ─▶ made smaller, though its exploration never ends
//! library.wat  broken.wasm                     ─▶ not collected, and why
//! ```
//!
//! fleet/trust  killed workers, a killed server, cut connections
//!
//! Not here: how time is divided, and what a store must do (unit tests of `fozzy-campaign`).

mod trust;

use crate::corpus;
use crate::fozzy::{Fozzy, Ran};
use crate::redis_server::{PASSWORD, RedisServer};
use crate::tier::{self, Requirement};
use crate::wait;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

/// Draws a byte, and traps for some.
fn draws(condition: &str) -> String {
    format!(
        r#"(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (drop (call $random (i32.const 64) (i32.const 1)))
    (if {condition} (then unreachable))))"#
    )
}

const ONE_IN_SIXTEEN: &str = "(i32.eqz (i32.and (i32.load8_u (i32.const 64)) (i32.const 15)))";
const NEVER: &str = "(i32.gt_u (i32.load8_u (i32.const 64)) (i32.const 255))";

const PARSE: &str = r#"(module
  (memory (export "memory") 1)
  (func (export "LLVMFuzzerTestOneInput") (param $at i32) (param $len i32) (result i32)
    (if (i32.gt_u (local.get $len) (i32.const 0))
      (then (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 102)) (then unreachable))))
    (i32.const 0)))"#;

/// Takes another way for each of some bytes.
const PARTS: &str = r#"(module
  (memory (export "memory") 1)
  (func (export "LLVMFuzzerTestOneInput") (param $at i32) (param $len i32) (result i32)
    (if (i32.gt_u (local.get $len) (i32.const 0))
      (then (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 102)) (then nop))
            (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 103)) (then nop))
            (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 104)) (then nop))))
    (i32.const 0)))"#;

const LIBRARY: &str = "(component)";

fn project() -> Fozzy {
    let fozzy = Fozzy::new();
    fozzy.write("draws.wat", draws(ONE_IN_SIXTEEN));
    fozzy
}

fn rows<'a>(document: &'a Value, key: &str, of: &str) -> Vec<&'a str> {
    document[key].as_array().expect("a list").iter().filter_map(|row| row[of].as_str()).collect()
}

#[test]
fn all_is_found_or_said_and_what_is_mended_is_fixed_without_losing_anything() {
    let fozzy = project();
    fozzy.write("parse.wat", PARSE);
    fozzy.write("starts.wat", r#"(module (memory (export "memory") 1) (func (export "_start") unreachable))"#);
    fozzy.write("library.wat", LIBRARY);
    fozzy.write("broken.wasm", "\0asm nonsense");
    let found = fozzy.run(&["fleet", "--time", "3s", "--jobs", "2", "--json"]).exits(1).json();
    assert_eq!(rows(&found, "targets", "name").len(), 3, "{found:#}");
    assert_eq!(rows(&found, "notCollected", "name"), ["broken.wasm", "library.wat"], "{found:#}");
    assert_eq!(rows(&found, "notCollected", "reason"), ["unreadable", "no-entry"], "{found:#}");
    let mut of = rows(&found, "failures", "target");
    of.dedup();
    assert_eq!(of, ["draws.wat", "parse.wat LLVMFuzzerTestOneInput", "starts.wat"], "{found:#}");
    for command in rows(&found, "failures", "command") {
        let replayed = fozzy.shell(command).exits(4);
        assert!(format!("{}{}", replayed.out(), replayed.err()).contains("the same run"), "{command}");
    }
    // What is known outlives the fleet.
    let surveyed = fozzy.run(&["fleet", "--collect", "--json"]).exits(1).json();
    assert_eq!((&surveyed["failures"], &surveyed["slices"]), (&found["failures"], &found["slices"]));
    for (now, then) in
        surveyed["targets"].as_array().expect("all").iter().zip(found["targets"].as_array().expect("all"))
    {
        assert_eq!((&now["executions"], &now["slices"]), (&then["executions"], &then["slices"]));
        assert!(now["slices"].as_u64() > Some(0), "{now:#}");
    }
    let said = fozzy.run(&["fleet", "--collect"]).exits(1).out();
    assert!(said.starts_with("fozzy fleet FAIL  3 targets") && said.contains("no-entry"), "{said}");
    // A target that is mended has its failures tried again; the others keep theirs.
    fozzy.write("draws.wat", draws(NEVER));
    let changed = fozzy.run(&["fleet", "--collect", "--only", "draws", "--json"]).exits(1).json();
    assert_eq!(rows(&changed, "failures", "status"), ["not tried on this code yet"], "{changed:#}");
    let fixed = fozzy.run(&["fleet", "--time", "1s", "--only", "draws", "--json"]).exits(0).json();
    assert_eq!((rows(&fixed, "failures", "state"), rows(&fixed, "failures", "status")), (vec!["fixed"], vec!["fixed"]));
    fozzy.write("draws.wat", draws(ONE_IN_SIXTEEN));
    let again = fozzy.run(&["fleet", "--time", "1s", "--only", "draws", "--json"]).exits(1).json();
    assert_eq!(rows(&again, "failures", "status"), ["still there"], "{again:#}");
}

#[test]
fn failures_of_explorations_that_never_end_are_shrunk_by_the_first_slices_also_those_that_cannot_be_smaller() {
    let fozzy = project();
    fozzy.write("bank.wasm", fs::read(corpus::scenario("bank", false)).expect("it is built"));
    let fleet = || fozzy.run(&["fleet", "--time", "3s", "--no-dashboard", "--json"]).exits(1).json();
    let is_shrunk = |found: &Value| {
        let mut targets = rows(found, "failures", "target");
        targets.dedup();
        targets == ["bank.wasm", "draws.wat"] && rows(found, "failures", "state").iter().all(|state| *state == "shrunk")
    };
    // On a busy machine a slice may come to nothing.
    let found = (0..6).map(|_| fleet()).find(is_shrunk).expect("a few slices are enough");
    for (command, code) in rows(&found, "failures", "command").into_iter().zip([1, 4]) {
        fozzy.shell(command).exits(code);
    }
    // What it is called says so: a draw cannot be left out.
    let seeds = fozzy.run(&["seeds", "draws.wat", "--json"]).exits(1).json();
    let paths = rows(&seeds, "seeds", "path");
    assert!(paths.len() == 1 && paths[0].ends_with(".min.fozzy"), "{seeds:#}");
}

#[test]
fn a_failure_whose_trace_is_lost_fails_every_fleet_until_it_is_met_again() {
    let fozzy = project();
    let fleet = ["fleet", "--time", "1s", "--no-dashboard", "--json"];
    let lose = || fozzy.shell("find .fozzy/fleet/blobs -type f -delete").exits(0);
    fozzy.run(&fleet).exits(1);
    lose();
    fozzy.write("draws.wat", format!("{}\n;; changed", draws(ONE_IN_SIXTEEN)));
    let met = fozzy.run(&fleet).exits(1);
    assert!(met.err().contains("  cannot be tried: trap"), "{}", met.err());
    let met = met.json();
    assert_eq!(rows(&met, "failures", "status"), ["still there"], "{met:#}");
    assert!(!met["warnings"].to_string().contains("cannot be tried"), "{met:#}");
    fozzy.shell(rows(&met, "failures", "command")[0]).exits(4);
    // Mended or not: nothing says so.
    lose();
    fozzy.write("draws.wat", draws(NEVER));
    for _ in 0..2 {
        let lost = fozzy.run(&fleet).exits(1).json();
        assert_eq!(rows(&lost, "failures", "status"), ["not tried on this code yet"], "{lost:#}");
        assert_eq!(rows(&lost, "failures", "lastStatus"), ["still there"], "{lost:#}");
        assert!(lost["warnings"].to_string().contains("cannot be tried"), "{lost:#}");
    }
    // Who knows says so, by the words of the note.
    let lost = fozzy.run(&["fleet", "--collect", "--json"]).exits(1).json();
    let (_, command) =
        lost["warnings"][0].as_str().and_then(|note| note.rsplit_once("forgets it: ")).expect("a command");
    let said = fozzy.shell(command).exits(0).out();
    assert!(said.contains("dismissed trap") && said.contains(" in draws.wat\n"), "{said}");
    let known = fozzy.run(&["fleet", "--collect", "--json"]).exits(0).json();
    assert_eq!((&known["failures"], &known["warnings"]), (&json!([]), &Value::Null), "{known:#}");
    fozzy.shell(command).refuses(&["is no failure of"]);
}

#[test]
fn a_fleet_does_not_pass_while_the_present_build_of_a_target_has_no_run() {
    let fozzy = Fozzy::new();
    fozzy.write("draws.wat", draws(NEVER));
    fozzy.write("parts.wat", PARTS);
    let collect = |code| fozzy.run(&["fleet", "--collect", "--json"]).exits(code).json();
    let unsearched = |document: &Value| rows(document, "targets", "unsearched").join("\n");
    let fresh = collect(2);
    let none = "no run of its present build: no slice of it has ended; `fozzy fleet` begins with it";
    assert_eq!((&fresh["status"], unsearched(&fresh)), (&json!("error"), format!("{none}\n{none}")), "{fresh:#}");
    let fleet = ["fleet", "--time", "4s", "--no-dashboard", "--json"];
    let passed = fozzy.run(&fleet).exits(0).json();
    assert_eq!([unsearched(&passed), unsearched(&collect(0))], [String::new(), String::new()]);
    // Another fleet, which is stopped, has it, and it has changed.
    let id = passed["targets"][0]["id"].as_str().expect("a target");
    let lock = fozzy.write(&format!(".fozzy/fleet/leases/targets/{id}.lock"), "1\nanother\n");
    let held = fs::File::open(lock).expect("it is there");
    held.lock().expect("it is free");
    fozzy.write("draws.wat", draws(ONE_IN_SIXTEEN));
    let found = fozzy.run(&fleet).exits(2).json();
    let why = "no run of its present build: another fleet works on it (another): wait for that, or end it";
    assert_eq!((&found["status"], unsearched(&found)), (&json!("error"), why.to_owned()), "{found:#}");
    assert!(found["slices"].as_u64() > Some(0), "the other one was searched: {found:#}");
    drop(held);
    let said = fozzy.run(&["fleet", "--collect"]).exits(2).out();
    assert!(said.starts_with("fozzy fleet ERROR") && said.contains("unsearched no run of its present build"), "{said}");
    // What was not asked for does not count.
    fozzy.run(&["fleet", "--collect", "--only", "parts"]).exits(0);
    // It has its turn first.
    let found = fozzy.run(&["fleet", "--time", "1s", "--no-dashboard", "--json"]).exits(1).json();
    assert_eq!(
        (rows(&found, "failures", "target"), unsearched(&found)),
        (vec!["draws.wat"], String::new()),
        "{found:#}"
    );
}

#[test]
fn a_test_that_does_not_build_or_cannot_be_read_is_no_pass_and_what_is_no_test_is_none() {
    let fozzy = Fozzy::new();
    fs::create_dir_all(fozzy.path("scenarios/made")).expect("a folder");
    fozzy.write("scenarios/fine.wat", draws(NEVER));
    // Deliberately nothing to be searched: a component without an entry, a test of the real computer, a program beside the scenarios.
    fozzy.write("scenarios/library.wat", LIBRARY);
    fozzy.write("scenarios/core.wat", r#"(module (func (export "add")))"#);
    fozzy.write("scenarios/live.wat", draws(NEVER));
    fozzy.write("scenarios/live.plan.toml", "[backends]\nfiles = \"host\"\n");
    fozzy.write("beside.wat", draws(NEVER));
    fozzy.run(&["fleet", "--time", "4s", "--no-dashboard"]).exits(0);
    let collect = |code| fozzy.run(&["fleet", "--collect", "--json"]).exits(code).json();
    let reason = |document: &Value, name: &str| {
        let rows = document["notCollected"].as_array().expect("a list");
        rows.iter().find(|row| row["name"] == name).map(|row| (row["reason"].clone(), row["why"].clone()))
    };
    let all = collect(0);
    for (name, expected) in [
        ("beside.wat", "not-named"),
        ("scenarios/library.wat", "no-entry"),
        ("scenarios/core.wat", "no-entry"),
        ("scenarios/live.wat", "no-entry"),
    ] {
        assert_eq!(reason(&all, name).map(|(reason, _)| reason), Some(json!(expected)), "{all:#}");
    }
    let (plan, gone) = ("files = ", "files = { \"/data/limit.txt\" = { file = \"gone.txt\" } }");
    let made = "build = \"exit 3\"\nprogram = \"made.wasm\"\n";
    let steps = r#"{"version": 2, "name": "s", "steps": [{"type": "asert"}]}"#;
    let program = draws(NEVER);
    for (name, files, expected) in [
        ("scenarios/bad.wat", vec![("scenarios/bad.wat", "(module (func")], "unreadable"),
        ("scenarios/p.wat", vec![("scenarios/p.wat", &*program), ("scenarios/p.plan.toml", plan)], "unreadable"),
        ("scenarios/p.wat", vec![("scenarios/p.wat", &*program), ("scenarios/p.plan.toml", gone)], "unreadable"),
        ("scenarios/s.fozzy.json", vec![("scenarios/s.fozzy.json", steps)], "unreadable"),
        ("scenarios/made", vec![("scenarios/made/expect.toml", made)], "not-built"),
    ] {
        files.iter().for_each(|(path, text)| _ = fozzy.write(path, text));
        let found = collect(2);
        assert_eq!(reason(&found, name).map(|(reason, _)| reason), Some(json!(expected)), "{found:#}");
        assert_eq!(found["status"], "error");
        files.iter().for_each(|(path, _)| fs::remove_file(fozzy.path(path)).expect("removed"));
    }
    // Nobody writes into this one.
    fozzy.shell("mkfifo scenarios/pipe.wat").exits(0);
    let (reason, why) = reason(&collect(2), "scenarios/pipe.wat").expect("it is listed");
    assert_eq!(reason, "unreadable");
    assert!(why.as_str().is_some_and(|why| why.contains("expected a file, found a pipe")), "{why}");
    fs::remove_file(fozzy.path("scenarios/pipe.wat")).expect("removed");
    collect(0);
}

#[test]
fn a_program_whose_start_never_ends_is_collected_and_found_out_by_its_slice() {
    let fozzy = Fozzy::new();
    let program = r#"(module
      (func $forever (loop $again (br $again)))
      (start $forever)
      (memory (export "memory") 1)
      (func (export "_start")))"#;
    fozzy.write("starts.wat", program);
    // Nothing is executed for that: it would not come to its end.
    let collected = fozzy.run(&["fleet", "--collect", "--json"]).exits(2).json();
    assert_eq!(
        (rows(&collected, "targets", "name"), rows(&collected, "targets", "kind")),
        (vec!["starts.wat"], vec!["explore"])
    );
    assert_eq!(collected["notCollected"], json!([]), "{collected:#}");
    fozzy.write("starts.plan.toml", "[limits]\nfuel = 1000000\n");
    let found = fozzy.run(&["fleet", "--time", "4s", "--no-dashboard", "--json"]).exits(1).json();
    assert_eq!(rows(&found, "failures", "target"), ["starts.wat"], "{found:#}");
    assert!(rows(&found, "failures", "signature")[0].starts_with("timeout"), "{found:#}");
}

#[test]
fn a_fleet_ends_at_its_risk_and_says_of_each_target_what_is_left() {
    let fozzy = Fozzy::new();
    fozzy.write("draws.wat", draws(NEVER));
    fozzy.write("parts.wat", PARTS);
    let fleet = ["fleet", "--until-risk", "95%", "--time", "6s", "--no-dashboard", "--json"];
    let ended = fozzy.run(&fleet).exits(0);
    let found = ended.json();
    // In six seconds each would have several.
    assert!(found["slices"] == 2 && ended.err().contains("than --until-risk says"), "{found:#}\n{}", ended.err());
    let targets = found["targets"].as_array().expect("all");
    assert_eq!(rows(&found, "targets", "kind"), ["explore", "fuzz"], "{found:#}");
    for target in targets {
        let number = |of: &Value| of.as_f64().unwrap_or(f64::NAN);
        let (chance, range) = (number(&target["chanceIfDoubled"]), &target["chanceIfDoubledRange"]);
        assert!(number(&range[0]) < chance && chance < number(&range[1]), "{target:#}");
        assert!(number(&target["chanceInMinute"]) <= 0.95, "{target:#}");
        assert!(number(&target["estimatedUndiscoveredEdges"]) >= 0.0, "{target:#}");
        // A third of all, nearly.
        let thirds = 3.0 * number(&target["detectableOneIn"]) / number(&target["executions"]);
        assert!((0.9..1.1).contains(&thirds), "{target:#}");
    }
    // So does each search.
    for workers in ["1", "2"] {
        let explore = ["explore", "draws.wat", "--until-risk", "70%", "--workers", workers, "--no-store", "--json"];
        let found = fozzy.run(&explore).exits(0).json()["explore"].take();
        assert!(found["ended"] == "risk" && found["chanceIfDoubled"].as_f64() > Some(0.2), "{found:#}");
        assert!(found["detectableOneIn"].as_u64() > Some(0), "{found:#}");
    }
    // The next one may have other code: it looks, whatever is known.
    let again = fozzy.run(&fleet).exits(0).json();
    assert!(again["slices"].as_u64() > Some(0), "{again:#}");
}

#[test]
fn another_machine_of_the_plan_that_is_mended_has_the_failures_tried_again() {
    let fozzy = Fozzy::new();
    fozzy.write("app.wat", draws(NEVER));
    fs::create_dir(fozzy.path("parts")).expect("a new folder");
    fozzy.write("parts/server.wat", draws(ONE_IN_SIXTEEN));
    fozzy.write("app.plan.toml", "[[node]]\nname = \"server\"\ncomponent = \"parts/server.wat\"\n");
    let fleet = ["fleet", "--time", "2s", "--no-dashboard", "--json"];
    let found = fozzy.run(&fleet).exits(1).json();
    assert_eq!(rows(&found, "failures", "status"), ["still there"], "{found:#}");
    fozzy.write("parts/server.wat", draws(NEVER));
    let mended = fozzy.run(&fleet).exits(0);
    assert!(mended.err().contains("app.wat has changed; its failures:"), "{}", mended.err());
    assert_eq!(rows(&mended.json(), "failures", "status"), ["fixed"]);
}

#[test]
fn a_failure_by_an_expectation_is_fixed_once_the_plan_has_it_no_more() {
    let fozzy = Fozzy::new();
    fozzy.write("draws.wat", draws(NEVER));
    let fleet = ["fleet", "--time", "1s", "--no-dashboard", "--json"];
    // Mended, broken again, and gone.
    for (plan, exit, status) in [
        (Some("[expect]\nexit = [3]\n"), 1, "still there"),
        (Some(""), 0, "fixed"),
        (Some("[expect]\nexit = [3]\n"), 1, "still there"),
        (None, 0, "fixed"),
    ] {
        match plan {
            Some(plan) => _ = fozzy.write("draws.plan.toml", plan),
            None => fs::remove_file(fozzy.path("draws.plan.toml")).expect("it is there"),
        }
        let found = fozzy.run(&fleet).exits(exit).json();
        assert_eq!(rows(&found, "failures", "status"), [status], "{plan:?}: {found:#}");
    }
}

#[test]
fn tests_that_come_and_go_join_and_leave_a_fleet_that_works() {
    let fozzy = project();
    let fleet = ["fleet", "--jobs", "2", "--no-dashboard", "--json"];
    let mut child = fozzy.start(&fleet);
    wait::while_running(&mut child, "a slice", || fozzy.path(".fozzy/explore/fleet").is_dir());
    fozzy.write("parse.wat", PARSE);
    // A name has no line of its own, whatever is in it.
    fozzy.write("broken\nfound.wasm", "\0asm nonsense");
    fs::remove_file(fozzy.path("draws.wat")).expect("it is there");
    let corpus = fozzy.path(".fozzy/corpora/parse.LLVMFuzzerTestOneInput");
    wait::while_running(&mut child, "a slice of the new target", || corpus.is_dir());
    fozzy.shell(&format!("kill -TERM {}", child.id())).exits(0);
    let ended = Ran::of(&fleet, wait::output(child));
    for line in [
        "new: parse.wat LLVMFuzzerTestOneInput",
        "gone, and searched no more: draws.wat",
        r"not collected: broken\u{a}found.wasm",
    ] {
        assert!(ended.err().contains(line), "{line}: {}", ended.err());
    }
    let ended = ended.json();
    assert_eq!(rows(&ended, "targets", "name"), ["parse.wat LLVMFuzzerTestOneInput"], "{ended:#}");
    assert_eq!(rows(&ended, "notCollected", "name"), ["broken\nfound.wasm"], "{ended:#}");
}

#[test]
fn a_fleet_whose_targets_are_all_set_aside_waits_until_one_changes() {
    let fozzy = Fozzy::new();
    fozzy.write("draws.wat", draws(NEVER));
    let fleet = ["fleet", "--time", "120s", "--jobs", "1", "--no-dashboard", "--json"];
    let mut child = fozzy.start(&fleet);
    wait::while_running(&mut child, "a slice", || fozzy.path(".fozzy/explore/fleet").is_dir());
    // As a linker leaves it that is still writing.
    fozzy.write("draws.wat", "(module (memory");
    let records = || fozzy.shell("cat .fozzy/fleet/values/targets/* 2>/dev/null || true").out();
    wait::while_running(&mut child, "three slices without a result", || records().contains("\"troubles\": 3"));
    fozzy.shell("rm -rf .fozzy/fleet-logs").exits(0);
    fozzy.write("draws.wat", draws(NEVER));
    wait::while_running(&mut child, "another slice", || fozzy.path(".fozzy/fleet-logs").is_dir());
    fozzy.shell(&format!("kill -TERM {}", child.id())).exits(0);
    let ended = Ran::of(&fleet, wait::output(child));
    for line in ["set aside until it changes: draws.wat", "all targets are set aside: waiting until one changes"] {
        assert!(ended.err().contains(line), "{line}: {}", ended.err());
    }
    let ended = ended.json();
    assert_eq!((&ended["interrupted"], &ended["targets"][0]["trouble"]), (&json!(true), &Value::Null), "{ended:#}");
}

#[test]
fn what_is_not_wanted_of_a_cargo_fuzz_folder_is_not_built() {
    let fozzy = Fozzy::new();
    fozzy.write("draws.wat", draws(NEVER));
    fs::create_dir_all(fozzy.path("fuzz")).expect("the temporary folder can be written");
    let bins = "[[bin]]\nname = \"decode\"\npath = \"decode.rs\"\n";
    let manifest = "[package]\nname = \"f\"\nversion = \"0.1.0\"\nedition = \"2024\"\nmetadata.cargo-fuzz = true\n";
    fozzy.write("fuzz/Cargo.toml", format!("{manifest}{bins}"));
    for choice in [["--only", "draws"], ["--exclude", "fuzz decode"]] {
        let found = fozzy.run(&[&["fleet", "--collect", "--json"][..], &choice[..]].concat()).exits(2).json();
        assert_eq!(rows(&found, "targets", "name"), ["draws.wat"], "{found:#}");
        assert!(!fozzy.path("fuzz/target").exists(), "{choice:?} has built it");
    }
}

#[test]
fn a_fleet_that_is_to_end_at_a_risk_ends_when_no_target_can_say_it() {
    let fozzy = Fozzy::new();
    fozzy.write("draws.wat", draws(NEVER));
    // Without a time. It is not met before an hour.
    let fleet = ["fleet", "--until-risk", "1%", "--jobs", "1", "--no-dashboard", "--json"];
    let mut child = fozzy.start(&fleet);
    wait::while_running(&mut child, "a slice", || fozzy.path(".fozzy/explore/fleet").is_dir());
    fozzy.write("draws.wat", "(module (memory");
    let ended = Ran::of(&fleet, wait::output(child)).exits(2);
    let said = "all targets are set aside or gone: no slice can say how much is left";
    assert!(ended.err().contains(said), "{}", ended.err());
}

#[test]
fn a_second_store_counts_what_was_run_for_it() {
    let fozzy = project();
    let of = |store: &str| {
        let found = fozzy.run(&["fleet", "--time", "2s", "--store", store, "--json"]).exits(1).json();
        found["targets"][0]["executions"].as_u64().expect("a count")
    };
    let (first, second) = (of("a"), of("b"));
    // Both went on from one state, which has the runs of both.
    let states: Vec<_> = fs::read_dir(fozzy.path(".fozzy/explore/fleet")).expect("a folder").flatten().collect();
    let state: Value = serde_json::from_slice(&fs::read(states[0].path()).expect("read")).expect("JSON");
    assert_eq!((states.len(), state["runs"].as_u64()), (1, Some(first + second)), "{first} and {second}");
    assert!(first > 0 && second > 0);
}

#[test]
fn where_no_run_here_has_failed_the_last_failure_is_somebody_elses() {
    let (here, there) = (project(), Fozzy::new());
    here.run(&["fleet", "--time", "1s", "--no-dashboard", "--store", "shared"]).exits(1);
    let store = here.path("shared").display().to_string();
    for command in ["fozzy replay last-fail", "fozzy artifacts ls LAST-FAIL"] {
        let stranger = Fozzy::new();
        let taken = stranger.shell(&format!("FOZZY_STORE='{store}' {command}"));
        let said = format!("{}{}", taken.out(), taken.err());
        assert!(said.contains("last-fail: no run here has failed; this is trap"), "{command}: {said}");
        assert!(
            said.contains(" in draws.wat (a target that is not here), found by ")
                && said.contains(&format!("in {store}")),
            "{command}: {said}"
        );
        assert_eq!(said.contains("the same run"), command.contains("replay"), "{command}: {said}");
    }
    // Of those that stand, the latest one of a target that is here, and not a later one whose file is gone.
    here.write("gone.wat", r#"(module (memory (export "memory") 1) (func (export "_start") unreachable))"#);
    here.run(&["fleet", "--time", "2s", "--only", "gone", "--no-dashboard", "--store", "shared"]).exits(1);
    for (file, expected) in
        [("draws.wat", " in draws.wat, found by "), ("other.wat", "gone.wat (a target that is not here), found by ")]
    {
        let stranger = Fozzy::new();
        stranger.write(file, draws(NEVER));
        let taken = stranger.shell(&format!("FOZZY_STORE='{store}' fozzy artifacts ls last-fail"));
        let said = format!("{}{}", taken.out(), taken.err());
        assert!(said.contains(expected) && said.contains("gone.wat") == (file == "other.wat"), "{file}: {said}");
    }
    there.run(&["replay", "last-fail"]).refuses(&["`last-fail` names no run"]);
    assert!(!there.path(".fozzy/fleet").exists());
    there.write("starts.wat", r#"(module (memory (export "memory") 1) (func (export "_start") unreachable))"#);
    there.run(&["run", "starts.wat"]).exits(4);
    let own = there.shell(&format!("FOZZY_STORE='{store}' fozzy replay last-fail")).exits(4);
    assert!(!own.err().contains("no run here has failed"), "{}", own.err());
    // A run whose files do not agree is passed over, and not for somebody else's.
    let damaged = "for report in .fozzy/runs/*/report.json; do echo '{}' > $report; done";
    let refused = there.shell(&format!("{damaged}; FOZZY_STORE='{store}' fozzy artifacts ls last-fail"));
    refused.refuses(&["`last-fail` names no run"]);
}

#[test]
fn slices_that_wait_for_held_records_are_of_the_build_that_the_first_one_has_searched() {
    let fozzy = project();
    let collected = fozzy.run(&["fleet", "--collect", "--json"]).exits(2).json();
    let id = collected["targets"][0]["id"].as_str().expect("a target");
    fs::create_dir_all(fozzy.path(".fozzy/fleet/leases/records")).expect("made");
    let lock = fozzy.write(&format!(".fozzy/fleet/leases/records/{id}.lock"), "1\nanother\n");
    let held = fs::File::open(lock).expect("it is there");
    held.lock().expect("it is free");
    let ended = fozzy.run(&["fleet", "--time", "3s", "--jobs", "1", "--no-dashboard", "--json"]).exits(1);
    assert!(ended.err().contains("another holds its records; what is found waits"), "{}", ended.err());
    let files = fozzy.shell("find .fozzy/spool -path '*slices*' -name '*.json'").out();
    let slices = files.lines().map(|file| serde_json::from_slice::<Value>(&fozzy.read(file)).expect("JSON"));
    let programs: Vec<Value> = slices.map(|slice| slice["program"].clone()).collect();
    assert!(programs.len() >= 2 && programs.iter().all(Value::is_string), "{programs:?}");
    assert!(programs.iter().all(|program| *program == programs[0]), "{programs:?}");
}

#[test]
fn two_fleets_share_a_store_and_neither_a_signal_nor_a_kill_loses_what_is_kept() {
    let fozzy = project();
    fozzy.write("parse.wat", PARSE);
    let fleet = ["fleet", "--json"];
    let mut killed = fozzy.start(&fleet);
    let mut other = fozzy.start(&fleet);
    let kept = || {
        let states = fs::read_dir(fozzy.path(".fozzy/fleet/values/failures")).into_iter().flatten().flatten();
        let targets = states.flat_map(|state| fs::read_dir(state.path()).into_iter().flatten().flatten());
        targets.flat_map(|target| fs::read_dir(target.path()).into_iter().flatten()).count() >= 2
    };
    wait::while_running(&mut killed, "two failures", kept);
    let before = rows(&fozzy.run(&["fleet", "--collect", "--json"]).exits(1).json(), "failures", "signature").len();
    assert_eq!(before, 2);
    killed.kill().expect("it runs");
    wait::exit(&mut killed);
    // The other one goes on, with all targets.
    let slices = || {
        let known = fozzy.run(&["fleet", "--collect", "--json"]).json();
        known["targets"].as_array().expect("two").iter().filter_map(|row| row["slices"].as_u64()).collect::<Vec<_>>()
    };
    let then = slices();
    wait::while_running(&mut other, "a slice", || slices().iter().sum::<u64>() > then.iter().sum());
    fozzy.shell(&format!("kill -TERM {}", other.id())).exits(0);
    let ended = Ran::of(&fleet, wait::output(other)).exits(1).json();
    assert_eq!((&ended["interrupted"], rows(&ended, "failures", "signature").len()), (&json!(true), 2), "{ended:#}");
}

#[test]
fn the_slices_of_a_fleet_that_is_killed_stand_in_its_row() {
    let fozzy = project();
    let counted = || {
        let known = fozzy.run(&["fleet", "--collect", "--json"]).json();
        known["targets"][0]["slices"].as_u64().unwrap_or_default()
    };
    // A slice takes three seconds, so that the kill comes in the middle of the second one.
    let mut fleet = fozzy.start(&["fleet", "--jobs", "1", "--time", "9s", "--no-dashboard", "--json"]);
    wait::while_running(&mut fleet, "a slice", || counted() > 0);
    fleet.kill().expect("it runs");
    wait::exit(&mut fleet);
    let rows = fs::read_dir(fozzy.path(".fozzy/fleet/values/workers")).expect("they are kept").flatten();
    let rows: Vec<Value> = rows.filter_map(|row| serde_json::from_slice(&fs::read(row.path()).ok()?).ok()).collect();
    assert_eq!((rows.len(), rows[0]["slices"].as_u64()), (1, Some(counted())), "{rows:#?}");
    assert!(rows[0]["cpuS"].as_f64() > Some(0.0), "{rows:#?}");
}

#[test]
fn fleets_share_a_server_whose_failures_anybody_replays_and_a_store_moves_between_homes() {
    tier::require(Requirement::Redis);
    let server = RedisServer::start();
    let address = server.address();
    let (here, there) = (project(), project());
    for fozzy in [&here, &there] {
        fozzy.write("parts.wat", PARTS);
    }
    let fleet = ["fleet", "--time", "2s", "--jobs", "2", "--project", "shop", "--store", &address, "--json"];
    let found = here.run(&fleet).exits(1).json();
    assert_eq!(found["failures"].as_array().map(Vec::len), Some(1), "{found:#}");
    let whole = rows(&found, "failures", "command")[0];
    let (store, command) = whole.split_once(' ').expect("the store, and what is asked of it");
    assert!(store.starts_with("FOZZY_STORE=") && command.starts_with("fozzy replay fozzy://"), "{whole}");
    // On another machine, with nothing but that command.
    let stranger = Fozzy::new();
    let replayed = stranger.shell(whole).exits(4);
    assert!(format!("{}{}", replayed.out(), replayed.err()).contains("the same run"));
    // Where the environment names the store already, it is not said again.
    let listed = here.shell(&format!("{store} fozzy fleet --collect --project shop --json")).exits(1).json();
    assert_eq!(rows(&listed, "failures", "command"), [command]);
    there.shell(command).refuses(&["no store is there"]);
    let again = there.run(&fleet).exits(1).json();
    let slices = |of: &Value| of["targets"][0]["slices"].as_u64().expect("a number");
    // Each has the other's testcases, and the exploration goes on from where the other one was.
    let corpus = |of: &Fozzy| -> BTreeSet<String> {
        let files = fs::read_dir(of.path(".fozzy/corpora/parts.LLVMFuzzerTestOneInput")).expect("a corpus").flatten();
        files.map(|file| file.file_name().to_string_lossy().into_owned()).collect()
    };
    assert!(corpus(&here).len() >= 2 && corpus(&there).is_superset(&corpus(&here)), "{:?}", corpus(&there));
    let runs = |of: &Value| of["targets"][0]["executions"].as_u64().expect("a number");
    assert!(runs(&again) > runs(&found), "{again:#}");
    assert!(slices(&again) > slices(&found) && again["failures"].as_array().map(Vec::len) == Some(1), "{again:#}");
    assert_eq!(again["workers"].as_array().map(Vec::len), Some(2), "{again:#}");

    let copied = there.run(&["store", "copy", &address, "moved", "--json"]).exits(0).json();
    assert!(copied["records"].as_u64() >= Some(4) && copied["traces"].as_u64() >= Some(1), "{copied:#}");
    there.run(&["store", "copy", &address, "moved"]).refuses(&["moved is not empty"]);
    let repeated = there.run(&["store", "copy", &address, "moved", "--merge", "--json"]).exits(0).json();
    let kinds = repeated["kinds"].as_array().expect("kinds of records");
    let is_left = |row: &Value| row["left"].as_u64() > Some(0) && row["merged"] == json!(0);
    assert!(repeated["records"] == json!(0) && !kinds.is_empty() && kinds.iter().all(is_left), "{repeated:#}");
    let shared = fs::read_dir(there.path("moved/values/corpus")).expect("corpora").flatten().next().expect("one");
    assert!(fs::read_dir(shared.path()).expect("names").count() >= 2);
    let moved = there.run(&["fleet", "--collect", "--project", "shop", "--store", "moved", "--json"]).exits(1).json();
    assert_eq!(rows(&moved, "failures", "signature"), rows(&again, "failures", "signature"));
    let moved = there.path("moved").display().to_string();
    let replayed = stranger.shell(&format!("FOZZY_STORE='{moved}' {command}")).exits(4);
    assert!(format!("{}{}", replayed.out(), replayed.err()).contains("the same run"), "of a folder, too");
    there.run(&["fleet", "--collect", "--store", "redis://x:secret@127.0.0.1:1"]).refuses(&["127.0.0.1:1", "refused"]);
    there.run(&["fleet", "--collect", "--store", "http://127.0.0.1"]).refuses(&["it is no address that is known"]);
    there.run(&["replay", "fozzy://12"]).refuses(&["64 hexadecimal digits"]);
    // A failure is taken out of a server as out of a folder.
    let trace = format!("fozzy://{}", rows(&again, "failures", "trace")[0]);
    let named = |trace: &str| stranger.shell(&format!("FOZZY_STORE='{moved}' fozzy replay {trace}"));
    named(&trace[..16]).exits(4);
    named("fozzy://0123456789").refuses(&["no trace in the store", "begins with 0123456789"]);
    let dismissed = there.run(&["store", "dismiss", &trace[..16], "--store", &address, "--json"]).exits(0).json();
    assert_eq!(dismissed["dismissed"].as_array().map(Vec::len), Some(1), "{dismissed:#}");
    there.run(&["fleet", "--collect", "--project", "shop", "--store", &address]).exits(0);
}

#[test]
fn a_server_with_tls_is_known_by_its_certificate() {
    tier::require(Requirement::Redis);
    let (_server, address, authority) = RedisServer::with_tls();
    let (fozzy, authority) = (project(), authority.display());
    let asked = |store: &str, command: &str| fozzy.shell(&format!("FOZZY_STORE='{store}' {command}"));
    let believing = |command: &str| asked(&address, &format!("SSL_CERT_FILE='{authority}' {command}"));
    let ran = believing("fozzy fleet --time 1s --project shop --no-dashboard --json").exits(1);
    let found = ran.json();
    assert_eq!(rows(&found, "failures", "target"), ["draws.wat"], "{found:#}");
    assert_eq!((&found["waiting"], found["store"].to_string().contains("rediss://localhost")), (&Value::Null, true));
    let replayed = believing(rows(&found, "failures", "command")[0]).exits(4);
    assert!(replayed.err().contains("the same run"), "{}", replayed.err());
    let strange = asked(&address, "fozzy fleet --collect --project shop").refuses(&["cannot reach", "certificate"]);
    let plain = address.replace("rediss://", "redis://");
    let plain = asked(&plain, "fozzy fleet --collect --project shop").refuses(&["cannot reach redis://localhost"]);
    for said in [&ran, &replayed, &strange, &plain] {
        assert!(!format!("{}{}", said.out(), said.err()).contains(PASSWORD), "its password is said");
    }
}

#[test]
fn a_fleet_whose_server_is_gone_goes_on_alone_and_brings_what_it_has_found() {
    tier::require(Requirement::Redis);
    let (mut server, fozzy) = (RedisServer::start(), project());
    fozzy.write("parts.wat", PARTS);
    let address = server.address();
    // It is not there yet when the fleet begins.
    server.kill();
    let fleet = ["fleet", "--project", "shop", "--store", &address, "--no-dashboard", "--json"];
    let with = |time: &'static str| [&fleet[..], &["--time", time]].concat();
    let mut child = fozzy.start(&with("8s"));
    let waiting = || fozzy.shell("find .fozzy/spool -path '*slices*' -name '*.json' 2>/dev/null | wc -l").out();
    wait::while_running(&mut child, "slices that wait", || waiting().trim().parse::<u32>().expect("a number") >= 2);
    let ran = Ran::of(&fleet, wait::output(child)).exits(1);
    assert!(ran.err().contains("going on alone"), "{}", ran.err());
    let alone = ran.json();
    let place = alone["waiting"]["place"].as_str().unwrap_or_default();
    assert!(alone["waiting"]["slices"].as_u64() >= Some(2) && place.contains(".fozzy/spool/"), "{alone:#}");
    let command = rows(&alone, "failures", "command")[0];
    assert!(rows(&alone, "failures", "foundAt")[0].starts_with("20"), "{alone:#}");
    assert!(fozzy.shell(command).exits(4).err().contains("the same run"));
    server.restart();
    let again = fozzy.run(&with("1s")).exits(1).json();
    let executions = |of: &Value| {
        of["targets"].as_array().expect("both").iter().map(|row| row["slices"].as_u64()).collect::<Vec<_>>()
    };
    assert!(executions(&again).iter().zip(executions(&alone)).all(|(now, then)| *now >= then), "{again:#}");
    assert_eq!((rows(&again, "failures", "target"), waiting().trim()), (vec!["draws.wat"], "0"), "{again:#}");
    assert_eq!(again["waiting"], Value::Null, "{again:#}");
    // What the first one has done is known, although it had ended without its server.
    let all = |key: &str, of: &str| {
        again[key].as_array().expect("all").iter().filter_map(|row| row[of].as_u64()).sum::<u64>()
    };
    assert_eq!(all("workers", "slices"), all("targets", "slices"), "{again:#}");
    let ended = again["workers"].as_array().expect("both").iter().map(|worker| worker["hasEnded"] == json!(true));
    assert_eq!(ended.collect::<Vec<_>>(), [true, true], "{again:#}");
}

/// No file may be larger than a trace: as on a disk that is full when one comes.
#[test]
fn a_full_disk_is_said_and_what_it_did_not_take_is_found_again() {
    let fozzy = project();
    let full = fozzy.shell("ulimit -f 4; exec fozzy fleet --time 1s --no-dashboard --json").exits(2).json();
    let trouble = full["targets"][0]["trouble"].as_str().unwrap_or_default();
    assert!(trouble.contains("cannot write") && trouble.contains("File too large"), "{full:#}");
    let found = fozzy.run(&["fleet", "--time", "1s", "--no-dashboard", "--json"]).exits(1).json();
    let target = &found["targets"][0];
    assert_eq!(rows(&found, "failures", "target"), ["draws.wat"], "{found:#}");
    assert!(target["slices"].as_u64() > full["targets"][0]["slices"].as_u64(), "what it took stays: {found:#}");
    assert_eq!(target["trouble"], Value::Null, "{found:#}");
}

#[test]
fn what_cannot_be_searched_and_stores_of_others_are_refused() {
    let fozzy = project();
    fozzy.run(&["fleet", "--only", "nothing-has-this.name"]).refuses(&["--only nothing-has-this.name"]);
    fozzy.run(&["fleet", "--only", "["]).refuses(&["the pattern ["]);
    fozzy.run(&["fleet", "--no-store"]).refuses(&["--no-store"]);
    fs::create_dir(fozzy.path("empty")).expect("a folder");
    fozzy.run(&["fleet", "empty"]).refuses(&["no scenario is below empty"]);
    for (dir, hint) in [("gone", "fozzy fleet scenarios"), ("empti", "did you mean `fozzy fleet empty`?")] {
        let said = fozzy.run(&["fleet", dir]).refuses(&[dir]).err();
        assert!(said.contains(hint) && !said.contains("fozzy test"), "{said}");
    }
    let said = Fozzy::new().run(&["fleet"]).refuses(&["no scenario is here"]).err();
    assert!(said.contains("fozzy fleet scenarios") && !said.contains("fozzy test"), "{said}");
    // Nothing was searched yet.
    fozzy.run(&["fleet", "--collect", "--store", "s", "--project", "bank"]).exits(2);
    fozzy
        .run(&["fleet", "--collect", "--store", "s", "--project", "shop"])
        .refuses(&["s is the store of the project `bank`, and this is `shop`"]);
    fozzy.write("s/store.json", r#"{"format": "fozzy-store", "version": 7, "project": "bank"}"#);
    fozzy.run(&["fleet", "--store", "s", "--project", "bank"]).refuses(&["s is a store of version 7"]);
    // Beside scenarios, a program of this folder is no test, and that is said.
    fs::create_dir(fozzy.path("scenarios")).expect("a folder");
    fozzy.write("scenarios/parse.wat", PARSE);
    let collected = fozzy.run(&["fleet", "--collect", "--store", "t", "--json"]).exits(2).json();
    assert_eq!(rows(&collected, "targets", "name"), ["scenarios/parse.wat LLVMFuzzerTestOneInput"]);
    assert_eq!(rows(&collected, "notCollected", "reason"), ["not-named"], "{collected:#}");
    assert!(rows(&collected, "notCollected", "why")[0].ends_with("fozzy fleet draws.wat"), "{collected:#}");
    // In the folder of a crate it is a part of that.
    fozzy.write("Cargo.toml", "[package]\nname = \"shop\"\n");
    let collected = fozzy.run(&["fleet", "--collect", "--store", "t", "--json"]).exits(2).json();
    assert_eq!(collected["notCollected"], json!([]), "{collected:#}");
    fs::remove_file(fozzy.path("Cargo.toml")).expect("removed");
    let whole = fozzy.path("draws.wat").display().to_string();
    let named = fozzy.run(&["fleet", "--collect", "--store", "t", "--json", &whole]).exits(2).json();
    assert_eq!(rows(&named, "targets", "name"), ["draws.wat"], "a file has one name");
    // What a scenario is judged by is a part of it.
    fozzy.write("scenarios/steps.wat", draws(NEVER));
    fozzy.write("scenarios/steps.plan.toml", "[expect]\ncheck = \"../draws.wat\"\n");
    let judged = fozzy.run(&["fleet", "--collect", "--store", "t", "--only", "draws"]);
    judged.refuses(&["--only draws", "nothing is left"]);
    let named = fozzy.run(&["fleet", "--collect", "--store", "t", "--json", "draws.wat"]).exits(2).json();
    assert_eq!((rows(&named, "targets", "name"), &named["notCollected"]), (vec!["draws.wat"], &json!([])));
    // Nothing builds: all that is found is said, and that is no pass.
    fs::create_dir(fozzy.path("only")).expect("a folder");
    fozzy.write("only/a.wasm", "\0asm nonsense");
    let nothing = fozzy.run(&["fleet", "only", "--json"]).exits(2).json();
    assert_eq!((&nothing["status"], rows(&nothing, "notCollected", "name")), (&json!("error"), vec!["only/a.wasm"]));
    // What an assembler says has the picture of the source, in its lines.
    fozzy.write("only/a.wasm", "(module\n\t(func (export 1)))\n");
    let torn = fozzy.run(&["fleet", "only", "--json"]).exits(2).json();
    assert_eq!(rows(&torn, "notCollected", "why")[0].lines().count(), 5, "{torn:#}");
    let said = fozzy.run(&["fleet", "only"]).exits(2).out();
    let place = said.lines().skip_while(|line| !line.contains("-->")).nth(3).unwrap_or_default();
    assert_eq!(place.trim_start_matches([' ', '|']), "^", "{said}");
}
