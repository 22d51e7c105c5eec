//! Searches for the run that costs most: what they find replays, has that profile, and is far from the usual.
//!
//! ```text
//! program ─explore --maximize, fuzz --maximize▶ worst.fozzy ─replay▶ the same run ─profile top▶ the same number
//! ```

use crate::fozzy::Fozzy;
use crate::tier::Requirement;
use crate::{corpus, tier};

/// Draws a byte and counts down from its square, a sixteenth of it; beyond 250 it traps.
const SQUARE: &str = r#"(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (memory (export "memory") 4)
  (global $next (mut i32) (i32.const 65536))
  (func $malloc (param i32) (result i32)
    global.get $next global.get $next local.get 0 i32.add global.set $next)
  (func $read (drop (call $clock (i32.const 1) (i64.const 0) (i32.const 8))))
  (func $step (param i32) (drop (call $malloc (i32.const 2))) (if (i32.lt_u (local.get 0) (i32.const 20)) (then (call $read))))
  (func $count (param i32) (local $n i32)
    (local.set $n (local.get 0))
    (block $done
      (loop $again
        (br_if $done (i32.eqz (local.get $n)))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (call $step (local.get $n))
        (br $again))))
  (func (export "_start") (local $n i32)
    (drop (call $random (i32.const 0) (i32.const 1)))
    (local.set $n (i32.load8_u (i32.const 0)))
    (if (i32.gt_u (local.get $n) (i32.const 250)) (then unreachable))
    (call $count (i32.shr_u (i32.mul (local.get $n) (local.get $n)) (i32.const 4)))))"#;

fn square() -> Fozzy {
    let fozzy = Fozzy::new();
    fozzy.write("square.wat", SQUARE);
    fozzy
}

/// The cost of a recorded run by its profile.
fn profiled(fozzy: &Fozzy, trace: &str, key: &str) -> u64 {
    let top = fozzy.run(&["profile", "top", trace, "--limit", "100", "--json"]).exits(0).json();
    match key {
        "cpu" => top["cpu"]["instructions"].as_u64(),
        "heap" => top["heap"]["allocBytes"].as_u64(),
        _ => top["latency"]["durationNs"].as_u64(),
    }
    .unwrap_or_else(|| panic!("{key}: {top:#}"))
}

#[test]
fn the_worst_run_is_recorded_with_what_its_profile_says() {
    let fozzy = square();
    for metric in ["cpu", "heap", "latency", "calls:step", "calls:clock_time_get"] {
        let trace = format!("{}.fozzy", metric.replace(':', "-"));
        let args = ["explore", "square.wat", "--maximize", metric, "--runs", "120", "--record", &trace, "--json"];
        let found = fozzy.run(&args);
        let found = found.exits(4).json();
        let searched = &found["maximize"];
        let number = |key: &str| searched[key].as_u64().unwrap_or_else(|| panic!("{metric}: {key}: {searched:#}"));
        assert_eq!((number("runs"), searched["ended"].as_str()), (120, Some("runs")));
        let best = number("best");
        match metric {
            "calls:step" => assert!(best >= 230 * 230 / 16, "{best}"),
            "calls:clock_time_get" => assert_eq!(best, 20),
            "latency" => assert_eq!(best, profiled(&fozzy, &trace, metric)),
            _ => {
                assert_eq!(best, profiled(&fozzy, &trace, metric), "{metric}");
                assert!(searched["ratio"].as_f64() >= Some(2.0), "{searched:#}");
            }
        }
        fozzy.run(&["replay", &trace]).exits(0);
        // The trap is met on the way, and is a failure of its own.
        let failures = searched["failures"].as_array().expect("a list");
        assert_eq!(failures.len(), 1, "{searched:#}");
        fozzy.run(&["replay", failures[0]["tracePath"].as_str().expect("a path")]).exits(4);
    }
}

#[test]
fn equal_searches_find_equal_runs_and_nothing_that_is_measured_is_no_pass() {
    let fozzy = square();
    let search = |trace: &str| {
        let args = ["explore", "square.wat", "--maximize", "cpu", "--runs", "60", "--seed", "3", "--record", trace];
        fozzy.run(&args);
        fozzy.read(trace)
    };
    assert!(search("a.fozzy") == search("b.fozzy"), "equal bytes");
    let refused = |metric: &str| fozzy.run(&["explore", "square.wat", "--maximize", metric, "--runs", "20"]);
    refused("calls:nobody").refuses(&["nothing called `nobody` was called"]);
    let unknown = refused("time").exits(2).err();
    assert!(unknown.contains("expected cpu, heap, latency, p99_latency or calls:NAME"), "{unknown}");
    let both = ["explore", "square.wat", "--maximize", "cpu", "--schedule", "random", "--runs", "3"];
    fozzy.run(&both).exits(2);
}

#[test]
fn inputs_of_campaigns_are_searched_in_the_same_way() {
    let fozzy = Fozzy::new();
    let program = corpus::component("names").display().to_string();
    let args =
        ["fuzz", &program, "--maximize", "cpu", "--max-input", "48", "--runs", "350", "--record", "w.fozzy", "--json"];
    let found = fozzy.run(&args).exits(0).json();
    let searched = &found["maximize"];
    assert!(searched["ratio"].as_f64() >= Some(50.0), "{searched:#}");
    assert_eq!(searched["best"].as_u64(), Some(profiled(&fozzy, "w.fozzy", "cpu")));
    fozzy.run(&["replay", "w.fozzy"]).exits(0);
}

#[test]
fn planted_quadratic_programs_are_found_fifty_times_above_the_usual() {
    tier::require(Requirement::Registry);
    let fozzy = Fozzy::new();
    for seed in ["1", "2"] {
        let cases: [(&str, &'static str, &[&str]); 3] = [
            ("explore", "arrivals", &["--runs", "300"]),
            ("explore", "costly", &["--steps", "5", "--runs", "1200"]),
            ("fuzz", "names", &["--max-input", "64", "--runs", "800"]),
        ];
        for (command, name, bounds) in cases {
            let program = corpus::component(name).display().to_string();
            let args = [&[command, &program, "--maximize", "cpu", "--seed", seed, "--json"], bounds].concat();
            let found = fozzy.run(&args).exits(0).json();
            assert!(found["maximize"]["ratio"].as_f64() >= Some(50.0), "{name}, seed {seed}: {:#}", found["maximize"]);
        }
    }
}

#[test]
fn a_costly_run_is_made_smaller_and_costs_as_much() {
    let fozzy = Fozzy::new();
    let program = corpus::component("arrivals").display().to_string();
    let worst = ["explore", &program, "--maximize", "cpu", "--runs", "40", "--record", "w.fozzy", "--no-store"];
    fozzy.run(&worst).exits(0);
    let shrink = |args: &[&str]| fozzy.run(&[&["profile", "shrink"], args, &["--budget", "8s", "--json"]].concat());
    for (metric, key) in [("cpu_time", "cpu"), ("alloc_bytes", "heap")] {
        let found = shrink(&["w.fozzy", "--metric", metric, "--keep", "50", "--out", "s.fozzy"]).exits(0).json();
        assert_eq!((found["status"].as_str(), found["metric"].as_str()), (Some("ok"), Some(metric)), "{found:#}");
        let size = |of: &str| found[of]["decisions"].as_u64().unwrap_or_else(|| panic!("{of}: {found:#}"));
        assert!(size("afterSize") < size("beforeSize"), "{found:#}");
        let number = |key: &str| found[key].as_u64().unwrap_or_else(|| panic!("{key}: {found:#}"));
        assert!(number("after") * 2 >= number("baseline") && found["preserved"] == true, "{found:#}");
        assert_eq!(number("after"), profiled(&fozzy, "s.fozzy", key));
        fozzy.run(&["replay", "s.fozzy"]).exits(0);
    }
    // A low cost is kept low; what is as small as it gets stays.
    let low = ["w.fozzy", "--metric", "cpu_time", "--direction", "decrease", "--out", "l.fozzy"];
    assert_eq!(shrink(&low).exits(0).json()["afterSize"]["decisions"], 0);
    let again = shrink(&["l.fozzy", "--metric", "cpu_time", "--out", "t.fozzy"]).exits(0).json();
    assert_eq!(again["status"], "no_feasible_shrink_found", "{again:#}");
    assert!(again["outTrace"].is_null() && !fozzy.path("t.fozzy").exists());
    let timeless = shrink(&["w.fozzy", "--metric", "latency"]).exits(2).out();
    assert!(timeless.contains("no virtual time passed"), "{timeless}");
    // A damaged trace has no profile.
    let bytes = fozzy.read("w.fozzy");
    fozzy.write("cut.fozzy", &bytes[..bytes.len() / 2]);
    shrink(&["cut.fozzy", "--metric", "cpu_time"]).exits(2);
    fozzy.run(&["profile", "top", "cut.fozzy"]).exits(2);
}

#[test]
fn steps_that_cost_nothing_are_left_out_of_a_story() {
    let fozzy = Fozzy::new();
    let program = corpus::component("costly").display().to_string();
    let run = ["run", &program, "--sequences", "1", "--flows", "8", "--seed", "1", "--record", "w.fozzy"];
    fozzy.run(&run).exits(0);
    let shrink =
        ["profile", "shrink", "w.fozzy", "--metric", "cpu_time", "--keep", "40", "--budget", "1500ms", "--json"];
    let found = fozzy.run(&shrink).exits(0).json();
    assert_eq!(found["beforeSize"]["steps"], 8, "{found:#}");
    assert!(found["afterSize"]["steps"].as_u64() < Some(8) && found["preserved"] == true, "{found:#}");
    fozzy.run(&["replay", found["outTrace"].as_str().expect("a path")]).exits(0);
}
