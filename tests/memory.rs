//! What allocations are held to: leak budgets, limits, failures; in the run, in its trace, and in the checks of it.
//!
//! ```text
//! --leak-budget, [memory], fozzy.toml ─▶ plan ─▶ run │ test │ explore │ fuzz ─▶ trace ─▶ replay, ci: memory_policy
//! ```
//!
//! Not here: the steps about memory one by one (`tests/cli/steps-memory_*`), linear memory of programs (`settings`).

use crate::corpus;
use crate::fozzy::Fozzy;
use serde_json::{Value, json};

/// Allocates so many bytes each time, and frees the first.
const LEAKS: &str = r#"{"version": 1, "name": "leaks", "steps": [
    {"type": "memory_alloc", "bytes": 100, "key": "a"},
    {"type": "memory_alloc", "bytes": 40, "key": "b"},
    {"type": "memory_free", "key": "a"}]}"#;

fn leak() -> Value {
    json!({"kind": "leak", "site": "end"})
}

fn with(file: &str) -> Fozzy {
    let fozzy = Fozzy::new();
    fozzy.write("leaks.fozzy.json", file);
    fozzy
}

/// The check of a name: whether it is ok, whether it was skipped, what it says.
fn check(found: &Value, name: &str) -> (bool, bool, String) {
    let checks = found["checks"].as_array().expect("a list");
    let check = checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no {name}: {found:#}"));
    let detail = check["detail"].as_str().unwrap_or_default().to_owned();
    (check["ok"] == true, check["skipped"] == true, detail)
}

#[test]
fn a_leak_is_a_failure_beyond_the_budget_and_its_trace_says_so_ever_after() {
    let fozzy = with(LEAKS);
    let run = |more: &[&str], code| {
        let args = ["run", "leaks.fozzy.json", "--record", "a.fozzy", "--record-collision", "overwrite", "--json"];
        let ran = fozzy.run(&[&args[..], more].concat()).exits(code).json();
        let replayed = fozzy.run(&["replay", "a.fozzy", "--json"]).exits(code).json();
        assert_eq!((&replayed["replay"]["equal"], &replayed["signature"]), (&json!(true), &ran["signature"]));
        let ci = fozzy.run(&["ci", "a.fozzy", "--json"]).exits(code).json();
        assert!(check(&ci, "replay_memory_parity").0 && check(&ci, "strict_warning_policy").0, "{ci:#}");
        (ran, check(&ci, "memory_policy"))
    };
    // As in version 1, without being asked for.
    let (untold, policy) = run(&[], 1);
    assert_eq!((&untold["memory"]["leakedBytes"], &untold["signature"]), (&json!(40), &leak()), "{untold:#}");
    assert!(!policy.0 && policy.2.contains("40 bytes in use"), "{policy:?}");
    for enough in [&["--leak-budget", "40"][..], &["--leak-budget", "1KiB", "--fail-on-leak"]] {
        assert!(matches!(run(enough, 0).1, (true, false, _)), "{enough:?}");
    }
    for little in [&["--fail-on-leak"][..], &["--leak-budget", "39"]] {
        let (ran, policy) = run(little, 1);
        assert_eq!(ran["signature"], leak(), "{ran:#}");
        assert!(!policy.0 && policy.2.contains("40 bytes in use"), "{policy:?}");
    }
    // It is handed on as any other failure.
    fozzy.run(&["artifacts", "bundle", "a.fozzy", "--out", "b.zip"]).exits(0);
    assert_eq!(fozzy.run(&["replay", "b.zip", "--json"]).exits(1).json()["signature"], leak());
}

#[test]
fn a_leak_is_found_by_suites_and_searches_and_stays_when_it_shrinks() {
    let fozzy = with(LEAKS);
    let first = |args: &[&str]| {
        let found = fozzy.run(&[args, &["--fail-on-leak", "--json"]].concat()).exits(1).json();
        fozzy.run(&[args, &["--leak-budget", "140", "--json"]].concat()).exits(0);
        found
    };
    let suite = first(&["test", "leaks.fozzy.json"]);
    assert_eq!(suite["scenarios"][0]["run"]["signature"], leak(), "{suite:#}");
    let explored = first(&["explore", "leaks.fozzy.json", "--runs", "20", "--no-seeds"]);
    assert_eq!(explored["explore"]["failures"].as_array().map(Vec::len), Some(1), "{explored:#}");
    let fuzzed = first(&["fuzz", "leaks.fozzy.json", "--det", "--runs", "5"]);
    assert_eq!(fuzzed["signature"], leak(), "{fuzzed:#}");
    fozzy.run(&["run", "leaks.fozzy.json", "--fail-on-leak", "--record", "a.fozzy"]).exits(1);
    let small = fozzy.run(&["shrink", "a.fozzy", "--out", "b.fozzy", "--json"]).exits(1).json();
    assert_eq!(small["memory"]["allocCount"], 1, "{small:#}");
}

#[test]
fn allocations_of_steps_fail_as_the_plan_says() {
    let fozzy = with(LEAKS);
    fozzy.write("plan.toml", "[memory]\nfail-after = 1\n");
    fozzy.write("small.toml", "[limits]\nmemory = \"120B\"\n");
    let refused = |more: &[&str], words: &str| {
        let args = ["run", "leaks.fozzy.json", "--record", "a.fozzy", "--record-collision", "overwrite", "--json"];
        let ran = fozzy.run(&[&args[..], more].concat()).exits(1).json();
        let said = ran["findings"][0]["message"].as_str().unwrap_or_default().to_owned();
        assert!(said.contains(words), "{more:?}: {said}");
        assert_eq!(fozzy.run(&["replay", "a.fozzy", "--json"]).exits(1).json()["replay"]["equal"], true);
    };
    refused(&["--mem-fail-after", "0"], "size 100 is refused: the allocations that succeed are used up");
    refused(&["--plan", "plan.toml"], "size 40 is refused");
    refused(&["--plan", "small.toml"], "bytes in use would be 140, and the limit is 120");
    refused(&["--mem-limit-mb", "1", "--mem-pressure-wave", "1,30000"], "the limit is 1048576");
    let peak = |more: &[&str]| {
        let args = ["run", "leaks.fozzy.json", "--leak-budget", "1KiB", "--json"];
        let ran = fozzy.run(&[&args[..], more].concat()).exits(0).json();
        ran["memory"]["peakBytes"].as_u64().expect("a number")
    };
    assert_eq!((peak(&["--mem-track", "--mem-artifacts"]), peak(&["--mem-pressure-wave", "2,3"])), (140, 320));
    // 1 % of 100 and 23 % of 40, by the formula of version 1.
    assert_eq!(peak(&["--mem-fragmentation-seed", "7"]), 101 + 49);
    // Steps have the last word.
    fozzy.write(
        "own.fozzy.json",
        r#"{"version": 1, "name": "own", "steps": [
            {"type": "memory_fail_after_allocs", "count": 9}, {"type": "memory_alloc", "bytes": 1}]}"#,
    );
    fozzy.run(&["run", "own.fozzy.json", "--mem-fail-after", "0", "--leak-budget", "1"]).exits(0);
}

#[test]
fn allocations_have_the_sizes_of_version_1_whenever_what_enlarges_them_is_said() {
    let fozzy = Fozzy::new();
    let run = |steps: Value| {
        fozzy.write("sizes.fozzy.json", json!({"version": 1, "name": "sizes", "steps": steps}).to_string());
        fozzy.run(&["run", "sizes.fozzy.json", "--leak-budget", "100MiB"])
    };
    let alloc = || json!({"type": "memory_alloc", "bytes": 200_000});
    let in_use = |equals: u64| json!({"type": "memory_assert_in_use_bytes", "equals": equals});
    // What version 1 tests of itself.
    let seed = json!({"type": "memory_fragmentation", "seed": 7});
    let wave = json!({"type": "memory_pressure_wave", "pattern": "1,2,4"});
    let sum = 224_000 + 480_000 + 1_008_000;
    run(json!([seed, wave, alloc(), in_use(224_000), alloc(), in_use(704_000), alloc(), in_use(sum)])).exits(0);
    // A wave and a bound count allocations from the first one on.
    run(json!([alloc(), wave, alloc(), in_use(600_000)])).exits(0);
    let last = json!({"type": "memory_fail_after_allocs", "count": 2});
    run(json!([alloc(), last, alloc(), alloc()])).exits(1);
    run(json!([alloc(), last, alloc(), {"type": "assert_throws", "steps": [alloc()]}])).exits(0);
}

#[test]
fn the_keys_of_the_first_configuration_say_the_same_and_wrong_ones_are_refused() {
    let fozzy = with(LEAKS);
    let run = |config: &str| {
        fozzy.write("fozzy.toml", config);
        fozzy.run(&["run", "leaks.fozzy.json"])
    };
    run("mem_track = true\nmem_artifacts = false\nmem_limit_mb = 1\n").exits(1);
    run("mem_track = true\nmem_artifacts = false\nmem_limit_mb = 1\nleak_budget = 40\n").exits(0);
    run("fail_on_leak = true\n").exits(1);
    run("fail_on_leak = true\nleak_budget = 40\n").exits(0);
    run("mem_fail_after = 1\n").exits(1);
    run("mem_limit_mb = 1\nmem_pressure_wave = \"1,30000\"\nmem_fragmentation_seed = 3\n").exits(1);
    let wave = run("mem_pressure_wave = \"1,x\"\n").refuses(&["fozzy.toml", "mem_pressure_wave"]);
    assert!(wave.err().contains("expected factors above 0 such as \"1,2,4\""), "{wave}");
    run("mem_limit_mb = 0\n").refuses(&["fozzy.toml", "mem_limit_mb"]);
    run("mem_fail_afer = 1\n").refuses(&["fozzy.toml", "mem_fail_afer"]);
    fozzy.write("fozzy.toml", "");
    fozzy.run(&["run", "leaks.fozzy.json", "--mem-pressure-wave", "0"]).exits(2);
    fozzy.run(&["run", "leaks.fozzy.json", "--leak-budget", "-1"]).exits(2);
}

#[test]
fn a_program_is_held_to_what_it_tells_and_to_nothing_that_only_steps_heed() {
    let fozzy = Fozzy::new();
    let program = corpus::component("misfits").display().to_string();
    let run = |more: &[&str], how: &str| {
        let args = ["run", &program, "--sequences", "1", "--flows", "1"];
        fozzy.run(&[&args[..], more, &["--", how]].concat())
    };
    run(&[], "leak").exits(0);
    let leaked = run(&["--leak-budget", "15"], "leak").exits(1);
    assert!(leaked.err().contains("memory was never freed"), "{leaked}");
    run(&["--leak-budget", "16"], "leak").exits(0);
    run(&["--mem-fail-after", "3"], "fine").refuses(&["an allocator of its own", "scenario files"]);
    // The configuration of a project with both says it of those that heed it.
    fozzy.write("fozzy.toml", "mem_fail_after = 0\n");
    run(&["--record", "a.fozzy", "--fail-on-leak"], "fine").exits(0);
    let (ok, skipped, why) = check(&fozzy.run(&["ci", "a.fozzy", "--json"]).exits(0).json(), "memory_policy");
    assert!(ok && skipped && why.contains("reports no allocations"), "{why}");
}
