//! What must be refused: each gives one clear error, exit code 2, no panic, and no half-written file.
//!
//! ```text
//! traces      cut, flipped, forged, newer, older, a zip bomb
//! artifacts   bundles, corpora and the files of runs: cut, empty, huge, not text, of somebody else
//! programs    not wasm, not valid, imports nobody knows, folders, files that cannot be read
//! escapes     names and messages that a terminal would obey
//! disk        full, read-only, no folder, somebody else writes there
//! scenarios   flows that never end, nothing to draw, two of one name, rules that there cannot be
//! kinds       every kind of file, and everything that can be wrong with a file
//! pipes       the reader goes away, Ctrl-C
//! ```

mod artifacts;
mod disk;
mod escapes;
pub(crate) mod forge;
mod kinds;
mod pipes;
mod programs;
mod scenarios;
mod traces;

use crate::fozzy::Fozzy;

/// A program of a few bytes: reads a clock, draws a random number, ends well. Its trace is small enough for a test to change
/// every byte of it.
const TINY: &str = r#"(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start") (drop (call $random (i32.const 8) (i32.const 8)))))"#;

/// A folder with `tiny.wat` and the trace of one run of it.
fn tiny_trace() -> (Fozzy, Vec<u8>) {
    let fozzy = Fozzy::new();
    fozzy.write("tiny.wat", TINY);
    fozzy.run(&["run", "tiny.wat", "--seed", "7", "--record", "tiny.fozzy"]).exits(0);
    let bytes = fozzy.read("tiny.fozzy");
    (fozzy, bytes)
}

#[test]
fn forged_counters_names_and_moments_are_bounded() {
    let fozzy = Fozzy::new();
    let program = "(module (memory (export \"memory\") 1) (func (export \"_start\")))";
    fozzy.write("a.wat", program);
    fozzy.run(&["run", "a.wat"]).exits(0);
    fozzy.write(".fozzy/runs/sequence", u64::MAX.to_string());
    fozzy.run(&["run", "a.wat"]).exits(0);
    fozzy.write("x\nfozzy run PASS.wat", program);
    let ran = fozzy.run(&["run", "x\nfozzy run PASS.wat", "--expect-exit", "3", "--no-store"]).exits(1);
    assert!(!format!("{}{}", ran.out(), ran.err()).contains("\nfozzy run PASS"), "{ran}");
    let refused = fozzy.run(&["run", "a.wat", "--wall-start", "99999999999999"]).exits(2);
    assert!(refused.err().contains("is not in 0..=16725225599"), "{refused}");
    fozzy.write("late.toml", "wall-start = 99999999999999\n");
    fozzy.run(&["run", "a.wat", "--plan", "late.toml"]).refuses(&["before the year 2500"]);
}
