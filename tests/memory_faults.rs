//! Planned faults of memory: allocations that fail and memories that do not grow, in programs of any allocator.
//!
//! ```text
//! explore finds the allocation whose failure nobody looks at ─▶ shrink keeps that one ─▶ replay is the same, and says where it is
//! ```

use crate::fozzy::Fozzy;
use serde_json::Value;

/// An allocator in two layers that gets its pages from the machine.
const ALLOCATOR: &str = "(global $next (mut i32) (i32.const 65536))
    (func $dlmalloc (param i32) (result i32) (local i32)
      global.get $next local.set 1
      global.get $next local.get 0 i32.const 15 i32.add i32.const -16 i32.and i32.add global.set $next
      (if (i32.gt_u (global.get $next) (i32.shl (memory.size) (i32.const 16)))
        (then (if (i32.eq (memory.grow (i32.const 1)) (i32.const -1))
          (then (global.set $next (local.get 1)) (return (i32.const 0))))))
      local.get 1)
    (func $malloc (param i32) (result i32) local.get 0 call $dlmalloc)
    (func $operator_new (param i32) (result i32) local.get 0 call $malloc)
    (func $free (param i32))";

/// A program of two allocations: `$careful` looks at what it gets and exits with 3, `$careless` ends with a trap without it.
fn program(names: &str) -> String {
    format!(
        "(module (import \"wasi_snapshot_preview1\" \"proc_exit\" (func $exit (param i32)))
           (memory (export \"memory\") 2) (global $sp (mut i32) (i32.const 8192)) {ALLOCATOR} {names}
           (func $careful (if (i32.eqz (call $malloc (i32.const 24))) (then (call $exit (i32.const 3)))))
           (func $careless (if (i32.eqz (call $malloc (i32.const 40))) (then unreachable)))
           (func (export \"_start\") call $careful call $careful call $careless call $careful call $careless))"
    )
}

fn related(document: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let stacks = document["findings"][0]["related"].as_array().cloned().unwrap_or_default();
    stacks.iter().map(|one| (text(&one["what"]), text(&one["backtrace"][1]["function"]))).collect()
}

#[test]
fn the_allocation_whose_failure_is_not_looked_at_is_found_and_kept_alone() {
    let fozzy = Fozzy::new();
    fozzy.write("program.wat", program(""));
    let faults = ["--faults", "allocation-failure:30%", "--allow-error-exit"];
    let explored = fozzy.run(
        &[&["explore", "program.wat", "--runs", "200", "--seed", "1", "--record", "found.fozzy"], &faults[..]].concat(),
    );
    assert!(explored.err().contains("in careless"), "{explored}");
    fozzy.run(&["shrink", "found.fozzy", "--out", "small.fozzy", "--budget", "20s"]);
    let small = fozzy.run(&["replay", "small.fozzy", "--json"]).exits(4).json();
    assert_eq!(small["replay"]["equal"], true, "{small:#}");
    let again = fozzy.run(&[
        "run",
        "program.wat",
        "--seed",
        "3",
        "--no-store",
        "--json",
        "--faults",
        "allocation-failure@main:100%",
    ]);
    let again = again.exits(1).json();
    assert_eq!((&again["faults"][0]["strikes"], &again["exitCode"]), (&1.into(), &3.into()), "{again:#}");
    // One plan for all: the third allocation fails.
    for seed in 0..60 {
        let seed = seed.to_string();
        let ran = fozzy.run(
            &[
                &[
                    "run",
                    "program.wat",
                    "--seed",
                    &seed,
                    "--record",
                    "a.fozzy",
                    "--no-store",
                    "--json",
                    "--record-collision",
                    "overwrite",
                ],
                &faults[..],
            ]
            .concat(),
        );
        let ran = ran.json();
        let first = &ran["faults"][0]["first"][0];
        if ran["faults"][0]["strikes"] == 1 && first["target"] == "main, allocation 3" {
            assert_eq!(ran["status"], "crash", "{ran:#}");
            assert_eq!(
                related(&ran),
                [("main, allocation 3 failed here".to_owned(), "careless".to_owned())],
                "{ran:#}"
            );
            let replayed = fozzy.run(&["replay", "a.fozzy", "--json"]).json();
            assert_eq!(replayed["replay"]["equal"], true, "{replayed:#}");
            // The same decisions in the builds that count and that log allocations.
            let heap = fozzy.run(&["profile", "top", "a.fozzy", "--cpu", "--heap", "--json"]).exits(0).json();
            assert_eq!(heap["heap"]["allocBytes"], 48, "{heap:#}");
            return;
        }
    }
    panic!("no seed has the third allocation fail alone");
}

#[test]
fn memory_that_does_not_grow_is_no_end_of_the_program_and_a_stripped_one_is_told_of() {
    let fozzy = Fozzy::new();
    let grows = "(func (export \"more\") (drop (memory.grow (i32.const 1))))";
    fozzy.write("program.wat", program(grows));
    let run =
        |program: &str, faults: &str| fozzy.run(&["run", program, "--faults", faults, "--no-store", "--json"]).json();
    // Nothing grows: no chance.
    assert_eq!(run("program.wat", "memory-full:100%")["status"], "pass");
    let grower = format!(
        "(module (import \"wasi_snapshot_preview1\" \"proc_exit\" (func $exit (param i32)))
           (memory (export \"memory\") 1) {ALLOCATOR}
           (func (export \"_start\")
             (drop (memory.grow (i32.const 0)))
             (if (i32.eqz (call $malloc (i32.const 24))) (then (call $exit (i32.const 5))))))"
    );
    fozzy.write("grower.wat", grower);
    assert_eq!(run("grower.wat", "allocation-failure:0%")["status"], "pass");
    let full = run("grower.wat", "memory-full:100%");
    assert_eq!((&full["exitCode"], &full["faults"][0]["chances"]), (&5.into(), &1.into()), "{full:#}");
    let bare = "(module (memory (export \"memory\") 1) (func (result i32) i32.const 64) (func (export \"_start\") call 0 drop))";
    fozzy.write("bare.wat", bare);
    let note = run("bare.wat", "memory")["faults"][0]["note"].as_str().expect("a note").to_owned();
    assert!(note.contains("recognised by names"), "{note}");
    let named =
        bare.replace("(func (result i32)", "(func (param i32) (result i32)").replace("call 0", "i32.const 7 call 0");
    fozzy.write("named.wat", named);
    let named =
        ["named.wat", "--allocator", "malloc=func[0]", "--faults", "allocation-failure:100%", "--no-store", "--json"];
    let asked = fozzy.run(&[&["run"], &named[..]].concat()).exits(0).json();
    assert_eq!(asked["faults"][0]["strikes"], 1, "{asked:#}");
}

#[test]
fn a_smaller_plan_without_faults_of_memory_replays_as_the_program_that_it_is() {
    let fozzy = Fozzy::new();
    // Fails whatever is refused.
    fozzy.write(
        "program.wat",
        program("").replace("(export \"_start\")", "(export \"_start\") call $careless call $careless unreachable"),
    );
    let run = ["run", "program.wat", "--faults", "memory:1%", "--record", "a.fozzy", "--no-store"];
    fozzy.run(&run).exits(4);
    fozzy.run(&["shrink", "a.fozzy", "--out", "small.fozzy", "--budget", "20s"]);
    let small = fozzy.run(&["replay", "small.fozzy", "--json"]).exits(4).json();
    assert_eq!(
        (&small["replay"]["equal"], small["faults"].as_array().map_or(0, Vec::len)),
        (&true.into(), 0),
        "{small:#}"
    );
}
