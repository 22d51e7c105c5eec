//! `fozzy mine`: properties that held in all runs, as code.
//!
//! Not here: which properties there are (unit tests of `fozzy-campaign`).

use crate::fozzy::Fozzy;

/// Draws a byte, and reports its lowest bit and a bound.
const REPORTS: &str = r#"(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\20\00\00\00\0e\00\00\00")
  (data (i32.const 32) "bit=0 bound=2\n")
  (func (export "_start")
    (drop (call $random (i32.const 64) (i32.const 1)))
    (i32.store8 (i32.const 36) (i32.add (i32.const 48) (i32.and (i32.load8_u (i32.const 64)) (i32.const 1))))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))))"#;

#[test]
fn what_held_in_all_runs_is_proposed_as_code() {
    let fozzy = Fozzy::new();
    fozzy.write("reports.wat", REPORTS);
    let found = fozzy.run(&["mine", "reports.wat", "--seeds", "40", "--json"]).exits(0).json();
    let codes: Vec<&str> =
        found["properties"].as_array().expect("a list").iter().filter_map(|it| it["code"].as_str()).collect();
    assert_eq!(
        codes,
        [
            r#"always_at_least!(bit, 0, "bit is at least 0");"#,
            r#"always!(bound == 2, "bound is 2");"#,
            r#"always_less!(bit, bound, "bit is less than bound");"#,
        ],
        "{found:#}"
    );
    assert_eq!(found["properties"][0]["values"], 40);
    let said = fozzy.run(&["mine", "reports.wat", "--seeds", "6"]).exits(0);
    assert!(
        said.out().contains("held in all of 6 runs that pass")
            && said.out().contains("6 runs of the seeds 0 to 5 say little"),
        "{}",
        said.out()
    );
    fozzy.write("none.toml", "[expect]\nexit = [3]\n");
    let said =
        fozzy.run(&["mine", "reports.wat", "--plan", "none.toml", "--faults", "clock-step", "--seeds", "3"]).exits(2);
    let command = "fozzy run reports.wat --plan none.toml --faults clock-step --seed 0";
    assert!(said.err().contains(command), "with all that makes the run: {}", said.err());
    fozzy.write("reports.wat", REPORTS.replace("(drop (call $random", "(unreachable) (drop (call $random"));
    let said = fozzy.run(&["mine", "reports.wat"]).exits(2);
    assert!(said.err().contains("passes with none of the seeds 0 to 99"), "{}", said.err());
    // That compares runs that fail with some that pass.
    assert!(
        said.err().contains("fozzy run reports.wat --seed 0") && !said.err().contains("suspects"),
        "{}",
        said.err()
    );
}
