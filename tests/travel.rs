//! Going back to a moment of a run, and asking what could have become of it.
//!
//! ```text
//! trace ─replay --until, --step, --call▶ the state at that moment
//!       ─causality▶ the decision that made the failure likely      ─findability▶ clean runs that make a fix believable
//! scenario ─explore --generate-tests▶ a test file that fails, and passes on the repaired program
//! ```
//!
//! Not here: the statistics by themselves (`fozzy-search`).

use crate::corpus::{self, Target};
use crate::fozzy::{self, Fozzy};
use crate::wait;
use serde_json::Value;

/// Draws twenty bytes one by one, and traps at the end if the eighth one was below 16.
const FATAL: &str = r#"(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start") (local $n i32)
    (loop $next
      (drop (call $random (i32.const 16) (i32.const 1)))
      (if (i32.and (i32.eq (local.get $n) (i32.const 7)) (i32.lt_u (i32.load8_u (i32.const 16)) (i32.const 16)))
        (then (i32.store (i32.const 32) (i32.const 77))))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $n) (i32.const 20))))
    (if (i32.load (i32.const 32)) (then unreachable))))"#;
/// A seed with which it traps.
const FATAL_SEED: &str = "16";

fn fatal() -> Fozzy {
    let fozzy = Fozzy::new();
    fozzy.write("fatal.wat", FATAL);
    fozzy.run(&["run", "fatal.wat", "--seed", FATAL_SEED, "--record", "fatal.fozzy"]).exits(4);
    fozzy
}

#[test]
fn the_moment_at_which_a_failure_became_likely_is_named() {
    let fozzy = fatal();
    let args = ["causality", "fatal.fozzy", "--runs", "40", "--svg", "chart.svg", "--json"];
    let found = fozzy.run(&args).exits(0).json();
    let turn = &found["turn"];
    assert_eq!((&turn["decision"], &turn["clear"]), (&7.into(), &Value::Bool(true)), "{found:#}");
    assert_eq!((&turn["after"]["failed"], &turn["call"]["index"]), (&40.into(), &7.into()), "{turn:#}");
    // One byte of sixteen is fatal.
    let (low, high) = (turn["before"]["low"].as_f64(), turn["before"]["high"].as_f64());
    assert!(low < Some(1.0 / 16.0) && high > Some(1.0 / 16.0), "{turn:#}");
    let svg = String::from_utf8(fozzy.read("chart.svg")).expect("it is text");
    assert!(svg.starts_with("<svg") && svg.contains("decision 7"), "{svg}");
    let in_jobs = fozzy.run(&[&args[..], &["--jobs", "3"]].concat()).exits(0).json();
    assert_eq!(in_jobs, found);
    let text = fozzy.run(&args[..4]).exits(0).out();
    assert!(
        text.contains("it became likely at decision 7") && text.contains("fozzy replay fatal.fozzy --call 7"),
        "{text}"
    );
    // The page of the run has it when it is asked for.
    let page = |more: &[&str]| {
        let show = [&["report", "show", "fatal.fozzy", "--format", "html"][..], more].concat();
        fozzy.run(&show).exits(0).out()
    };
    let with = page(&["--causality"]);
    assert!(with.contains("it became likely at decision 7") && with.contains("<svg"), "{with}");
    assert!(!page(&[]).contains("became likely"));
    // One seed in sixteen is fatal; this one is among them, and counts once.
    let with = page(&["--suspects"]);
    let parts = ["what goes with the failure", " of 100 runs fail: trap at wasm `unreachable`", "decision random "];
    assert!(parts.iter().all(|part| with.contains(part)), "{with}");
    fozzy.run(&["report", "show", "fatal.fozzy", "--suspects"]).refuses(&["--suspects: only a page has it"]);
    fozzy.run(&["report", "show", "fatal.fozzy", "--causality"]).refuses(&["--causality: only a page has it"]);
}

#[test]
fn a_step_of_a_scenario_is_named_as_the_moment() {
    let fozzy = Fozzy::new();
    let bank = corpus::scenario("bank", false).display().to_string();
    let args = ["explore", &bank, "--runs", "100", "--stop", "failure", "--no-shrink", "--record", "bank.fozzy"];
    fozzy.run(&args).exits(1);
    let found = fozzy.run(&["causality", "bank.fozzy", "--moments", "5", "--runs", "12", "--json"]).exits(0).json();
    let points = found["points"].as_array().expect("a list");
    assert_eq!(points.last().expect("the end")["chance"], 1.0, "{found:#}");
    assert!(points.len() >= 5 && found["turn"]["position"].as_str().is_some(), "{found:#}");
    assert!(found["findability"]["runs"] == 12, "{found:#}");
}

#[test]
fn clean_runs_that_make_a_fix_believable_follow_from_how_often_it_comes() {
    let fozzy = fatal();
    let found = fozzy.run(&["findability", "fatal.fozzy", "--runs", "200", "--json"]).exits(0).json();
    let number = |key: &str| found[key].as_f64().unwrap_or(f64::NAN);
    assert!(number("low") < 1.0 / 16.0 && 1.0 / 16.0 < number("high"), "{found:#}");
    assert!(number("atLeast") < number("chance") && number("chance") < number("atMost"), "{found:#}");
    // ln 0.05 / ln (15/16) is 46.4.
    assert!(
        (25.0..100.0).contains(&number("cleanRuns")) && number("cleanRunsCautious") > number("cleanRuns"),
        "{found:#}"
    );
    fozzy.run(&["run", "fatal.wat", "--seed", "0", "--record", "passed.fozzy"]).exits(0);
    fozzy.run(&["findability", "passed.fozzy"]).refuses(&["there is no failure to look for"]);
    fozzy.run(&["causality", "passed.fozzy"]).refuses(&["passed.fozzy", "there is no failure to look for"]);
}

/// A failure that no fresh run shows, of a scenario and of a program, each with how long a guided search takes.
#[test]
fn of_what_only_a_guided_search_meets_the_guided_steps_are_said() {
    let (fozzy, puzzles) = (Fozzy::new(), corpus::scenario("puzzles", false).display().to_string());
    let explore = ["--runs", "100000", "--stop", "failure", "--no-shrink", "--no-seeds", "--record"];
    let hanoi = [&["explore", &puzzles, "--env", "PUZZLE=hanoi-4"][..], &explore, &["hanoi.fozzy"]].concat();
    fozzy.run(&hanoi).exits(1);
    let found = |jobs: &str| {
        let args = ["findability", "hanoi.fozzy", "--runs", "20", "--guided-seeds", "3", "--jobs", jobs, "--json"];
        fozzy.run(&args).exits(0).json()
    };
    let one = found("1");
    let guided = &one["guided"];
    assert_eq!((&one["failed"], &guided["found"], &guided["unit"]), (&0.into(), &3.into(), &"steps".into()), "{one:#}");
    let (least, median, most) = (&guided["least"].as_u64(), &guided["median"].as_u64(), &guided["most"].as_u64());
    assert!(*least >= Some(15) && least <= median && median <= most && *most <= Some(20_000), "{one:#}");
    assert_eq!(found("2"), one, "the jobs change nothing");
    let few = ["findability", "hanoi.fozzy", "--runs", "2", "--guided-seeds", "2", "--guided-steps", "14"];
    let said = fozzy.run(&few).exits(0).out();
    assert!(said.contains("0 of 2 fresh seeds meet it; the others not within 14 steps"), "{said}");
    let guest = corpus::component("faults").display().to_string();
    let faulty =
        [&["explore", &guest, "--faults", "write-error@/tmp/*:0.01%"][..], &explore, &["faulty.fozzy"]].concat();
    fozzy.run(&[&faulty[..], &["--", "write"]].concat()).exits(1);
    let said = fozzy.run(&["findability", "faulty.fozzy", "--runs", "20"]).exits(0).out();
    assert!(said.contains("fresh runs: 0 of 20") && said.contains("5 of 5 fresh seeds meet it, after "), "{said}");
    // Where fresh runs show it, nothing is searched unless that is asked for.
    let fatal = fatal();
    let found = fatal.run(&["findability", "fatal.fozzy", "--runs", "200", "--json"]).exits(0).json();
    assert!(found["guided"].is_null(), "{found:#}");
}

#[test]
fn a_replay_stops_at_a_moment_and_shows_what_is_there() {
    let fozzy = fatal();
    let look = |args: &[&str]| fozzy.run(&[&["replay", "fatal.fozzy", "--json"], args].concat()).exits(0).json();
    let state = look(&["--call", "9", "--memory", "32:4", "--memory", "0x10:1", "--events", "2"]);
    assert_eq!((&state["calls"], &state["decisions"]), (&9.into(), &9.into()), "{state:#}");
    let symbols = &state["memory"][0]["symbols"];
    assert_eq!((&symbols[0]["number"], &symbols[1]["address"]), (&77.into(), &16.into()), "{symbols:#}");
    let indices: Vec<&Value> =
        state["events"].as_array().expect("a list").iter().map(|entry| &entry["index"]).collect();
    assert_eq!(indices, [7, 8]);
    assert_eq!(look(&["--call", "7", "--memory", "32:4"])["memory"][0]["symbols"][0]["number"], 0);
    assert_eq!(look(&["--until", "0s"])["calls"], 0);
    let refused = |args: &[&str], words: &[&str]| {
        fozzy.run(&[&["replay", "fatal.fozzy"], args].concat()).refuses(words);
    };
    refused(&["--call", "21"], &["there is no moment call 21", "after 20 calls"]);
    refused(&["--step", "0"], &["there is no moment step 0"]);
    refused(&["--call", "3", "--memory", "TOTAL"], &["no static variable of this name"]);
    refused(&["--call", "3", "--memory", "0xffffffff:9"], &["are not all in the program's memory"]);
    fozzy.run(&["replay", "fatal.fozzy", "--step", "1:2:3"]).exits(2);
    let dumped = fozzy.run(&["replay", "fatal.fozzy", "--call", "3", "--dump-events"]).exits(0);
    assert_eq!(dumped.err().lines().count(), 3, "{}", dumped.err());
}

#[test]
fn a_moment_in_the_middle_of_a_sleep_shows_who_waits_and_until_when() {
    let fozzy = Fozzy::new();
    let probe = corpus::probe(Target::Wasip2).display().to_string();
    fozzy.run(&["run", &probe, "--record", "sleep.fozzy", "--", "sleep-hour"]).exits(0);
    let state = fozzy.run(&["replay", "sleep.fozzy", "--until", "30m", "--json"]).exits(0).json();
    assert_eq!(state["virtualTimeNs"], 1_800_000_000_000_u64, "{state:#}");
    assert_eq!(
        (&state["tasks"][0]["node"], &state["tasks"][0]["state"]),
        (&"main".into(), &"waits".into()),
        "{state:#}"
    );
    let at = state["timers"][0]["virtualTimeNs"].as_u64().unwrap_or_default();
    assert!((3_600_000_000_000..3_601_000_000_000).contains(&at), "{state:#}");
    fozzy.run(&["replay", "sleep.fozzy", "--until", "2h"]).refuses(&["there is no moment 7200s"]);
}

#[test]
fn a_step_of_a_scenario_is_a_moment() {
    let fozzy = Fozzy::new();
    let counter = corpus::scenario("counter", true).display().to_string();
    let args = ["run", &counter, "--sequences", "3", "--flows", "5", "--record", "counter.fozzy"];
    fozzy.run(&args).exits(0);
    let position = |step: &str| {
        let state = fozzy.run(&["replay", "counter.fozzy", "--step", step, "--json"]).exits(0).json();
        (state["position"].clone(), state["calls"].clone(), state["memory"].clone())
    };
    assert_eq!(position("7").0, "step 3 of sequence 2");
    assert_eq!(position("7"), position("1:2"));
    fozzy.run(&["replay", "counter.fozzy", "--step", "15"]).refuses(&["there is no moment step 15"]);
}

#[test]
fn generated_tests_fail_until_the_program_is_repaired() {
    let fozzy = Fozzy::new();
    let build = |fixed| fozzy.write("bank.wasm", std::fs::read(corpus::scenario("bank", fixed)).expect("it is built"));
    build(false);
    let explore = ["explore", "bank.wasm", "--runs", "40", "--generate-tests"];
    fozzy.run(&[&explore[..], &["found.rs"]].concat()).refuses(&["there is no Cargo.toml"]);
    fozzy.write("Cargo.toml", "[package]\nname = \"found\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n");
    std::fs::create_dir_all(fozzy.path("src")).expect("it can be made");
    fozzy.write("src/lib.rs", "");
    std::fs::create_dir_all(fozzy.path("tests")).expect("it can be made");
    fozzy.run(&[&explore[..], &["tests/found.rs"]].concat()).exits(1);
    let text = String::from_utf8(fozzy.read("tests/found.rs")).expect("it is text");
    assert!(text.contains("fn assertion_") && text.contains("fn covers_"), "{text}");
    let test = || {
        let mut cargo = fozzy.command(std::path::Path::new("cargo"));
        cargo.args(["test", "--offline", "--quiet", "--test", "found"]).env("FOZZY", fozzy::binary());
        wait::build(&mut cargo)
    };
    let failed = test();
    let said = String::from_utf8_lossy(&failed.stdout).into_owned() + &String::from_utf8_lossy(&failed.stderr);
    assert!(!failed.status.success() && said.contains("assertion_"), "{said}");
    assert!(!said.contains("covers_") || !said.contains("covers_ ... FAILED"), "{said}");
    build(true);
    let passed = test();
    assert!(passed.status.success(), "{}", String::from_utf8_lossy(&passed.stdout));
}

#[test]
fn a_suite_tries_what_explorations_have_kept() {
    let fozzy = Fozzy::new();
    let build = |fixed| fozzy.write("bank.wasm", std::fs::read(corpus::scenario("bank", fixed)).expect("it is built"));
    build(false);
    fozzy.run(&["explore", "bank.wasm", "--runs", "100", "--stop", "failure"]).exits(1);
    let seeds = fozzy.run(&["seeds", "--json"]).exits(1).json();
    assert_eq!(seeds["seeds"][0]["shrunk"], true, "{seeds:#}");
    let suite =
        |code| fozzy.run(&["test", "bank.wasm", "--sequences", "1", "--flows", "1", "--json"]).exits(code).json();
    let first = suite(1)["regressions"][0].take();
    assert_eq!(first["regression"], "regression", "{first:#}");
    build(true);
    let first = suite(0)["regressions"][0].take();
    assert_eq!(first["regression"], "fixed", "{first:#}");
}

#[test]
fn a_benchmark_measures_and_tells_no_law_of_too_little() {
    let fozzy = Fozzy::new();
    let counter = corpus::scenario("counter", true).display().to_string();
    let args = ["benchmark", &counter, "--max-workers", "2", "--time", "300ms", "--json"];
    let found = fozzy.run(&args).exits(0).json();
    let workers: Vec<&Value> =
        found["trials"].as_array().expect("a list").iter().map(|trial| &trial["workers"]).collect();
    assert_eq!(workers, [1, 2], "{found:#}");
    assert!(found["trials"][0]["stepsPerSecond"].as_f64() > Some(0.0), "{found:#}");
    assert!(
        found["refused"].as_str().is_some_and(|why| why.contains("too few")) && found["law"].is_null(),
        "{found:#}"
    );
    fozzy.run(&["benchmark", "not-there.wasm", "--time", "1ms"]).refuses(&["not-there.wasm"]);
}

#[test]
fn an_explanation_tells_what_matters_from_what_may_be_any() {
    let fozzy = fatal();
    let found = fozzy.run(&["shrink", "fatal.fozzy", "--explain", "--json"]).exits(4).json();
    let explained = found["shrink"]["explained"].as_array().expect("a list");
    let matters: Vec<usize> =
        (0..explained.len()).filter(|place| explained[*place]["free"] == Value::Bool(false)).collect();
    assert_eq!((explained.len(), matters), (20, vec![7]), "{explained:#?}");
    // Each has its call, by which `replay --call` looks there, and they follow each other.
    let calls: Vec<Option<u64>> = explained.iter().map(|row| row["call"].as_u64()).collect();
    assert!(calls.iter().all(Option::is_some) && calls.is_sorted(), "{calls:?}");
}
