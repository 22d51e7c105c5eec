//! Checks of memory: planted errors are found where they are, their mended twins and correct programs are not complained about.
//!
//! ```text
//! planted program, and the same mended ─▶ fozzy run --memcheck ─▶ the class of the error with its stacks, and a pass
//! ```

use crate::corpus;
use crate::fozzy::{Fozzy, Ran};
use serde_json::Value;

/// An allocator that hands out one block behind the other, and takes nothing back.
const BUMP: &str = "(global $next (mut i32) (i32.const 65536))
    (func $malloc (param i32) (result i32) (local i32)
      global.get $next local.set 1
      global.get $next local.get 0 i32.const 15 i32.add i32.const -16 i32.and i32.add global.set $next local.get 1)
    (func $free (param i32))";

fn write(fozzy: &Fozzy, program: &str) {
    let text = format!(
        "(module (import \"wasi_snapshot_preview1\" \"random_get\" (func $random (param i32 i32) (result i32)))
           (memory (export \"memory\") 600) (global $sp (mut i32) (i32.const 8192)) {BUMP} {program})"
    );
    fozzy.write("program.wat", text);
}

fn checked(fozzy: &Fozzy, more: &[&str]) -> Ran {
    fozzy.run(&[&["run", "program.wat", "--memcheck", "--no-store", "--json"], more].concat())
}

/// The one finding of a run.
fn finding(ran: &Ran) -> Value {
    let document = ran.json();
    let findings = document["findings"].as_array().unwrap_or_else(|| panic!("a finding in {document:#}"));
    assert_eq!((findings.len(), &findings[0]["kind"]), (1, &"memory_error".into()), "{document:#}");
    findings[0].clone()
}

#[test]
fn each_access_is_held_to_its_block() {
    for (what, body, expected) in [
        ("the last bytes", "i32.const 20 call $malloc local.tee 0 i32.const 7 i32.store offset=16", None),
        ("no block", "i32.const 0 call $malloc call $free", None),
        (
            "one behind",
            "i32.const 19 call $malloc local.tee 0 i32.const 7 i32.store offset=16",
            Some("heap-buffer-overflow: write of 4 bytes"),
        ),
        (
            "unaligned",
            "i32.const 10 call $malloc i64.load offset=6 align=1 drop",
            Some("heap-buffer-overflow: read of 8 bytes"),
        ),
        (
            "before",
            "i32.const 10 call $malloc i32.const 1 i32.sub i32.load8_u drop",
            Some("heap-buffer-underflow: read of 1 byte"),
        ),
        (
            "a vector",
            "i32.const 24 call $malloc v128.load offset=16 drop",
            Some("heap-buffer-overflow: read of 16 bytes"),
        ),
        (
            "a range",
            "i32.const 100 call $malloc i32.const 0 i32.const 101 memory.fill",
            Some("heap-buffer-overflow: write of 1"),
        ),
        ("a copied range", "i32.const 64 call $malloc i32.const 2048 i32.const 64 memory.copy", None),
        ("the host", "i32.const 8 call $malloc i32.const 9 call $random drop", Some("the host writes 9 bytes")),
        ("the host, inside", "i32.const 8 call $malloc i32.const 8 call $random drop", None),
        (
            "after the free",
            "i32.const 8 call $malloc local.tee 0 call $free local.get 0 i32.load drop",
            Some("heap-use-after-free"),
        ),
        ("nothing", "i32.const 0 i32.load offset=4 drop", Some("null-dereference: read of 4 bytes at 0x4")),
        ("nothing is freed", "i32.const 0 call $free", None),
        (
            "less aligned than its instruction says",
            "i32.const 16 call $malloc local.tee 0 i32.const 7 i32.store offset=13",
            Some("heap-buffer-overflow: write of 4 bytes"),
        ),
        ("less aligned, inside", "i32.const 16 call $malloc local.tee 0 i64.const 7 i64.store offset=3", None),
        ("behind a frame whose size is computed", "i32.const 16 call $dynamic", Some("stack-buffer-overflow")),
        ("inside of such a frame", "i32.const 16 call $dynamic_within", None),
        ("the inside of a block", "i32.const 64 call $malloc i32.const 16 i32.add call $free", Some("invalid-free")),
        ("what is no block", "i32.const 4096 call $free", Some("invalid-free: free of 0x1000, which no allocation")),
        ("out of bounds", "i32.const -4 i32.load drop", Some("")),
    ] {
        let fozzy = Fozzy::new();
        // Frames as `alloca` makes them, and a callee that fills them.
        let frames = "(func $fill (param i32 i32) local.get 0 i32.const 1 local.get 1 memory.fill)
            (func $dynamic (param i32) (local i32 i32)
              global.get $sp local.tee 1 local.get 0 i32.sub local.tee 2 global.set $sp
              local.get 2 i32.const 40 call $fill local.get 1 global.set $sp)
            (func $dynamic_within (param i32) (local i32 i32)
              global.get $sp local.tee 1 local.get 0 i32.sub local.tee 2 global.set $sp
              local.get 2 i32.const 16 call $fill local.get 1 global.set $sp)";
        write(&fozzy, &format!("{frames} (func $start (local i32) {body}) (func (export \"_start\") call $start)"));
        let ran = checked(&fozzy, &[]);
        match expected {
            None => assert_eq!(ran.json()["status"], "pass", "{what}: {}", ran.out()),
            Some("") => assert_eq!(ran.json()["findings"][0]["kind"], "trap", "{what}"),
            Some(words) => {
                let found = finding(&ran);
                let message = found["message"].as_str().expect("a text");
                assert!(message.contains(words), "{what}: {message}");
                assert_eq!(
                    found["backtrace"][0]["function"].as_str().map(|name| name != "_start"),
                    Some(true),
                    "{found:#}"
                );
            }
        }
    }
}

#[test]
fn many_calls_of_an_allocator_leave_nothing_behind() {
    // As many blocks as would not fit into memory, if what is freed stayed in the queue for ever.
    let fozzy = Fozzy::new();
    let module = "(memory (export \"memory\") 2) (global $sp (mut i32) (i32.const 8192)) (global $free_block (mut i32) (i32.const 0))
        (func $malloc (param i32) (result i32)
          global.get $free_block if (result i32) global.get $free_block i32.const 0 global.set $free_block
          else i32.const 1 memory.grow i32.const 65536 i32.mul end)
        (func $free (param i32) local.get 0 global.set $free_block)
        (func (export \"_start\") (local i32)
          loop i32.const 60000 call $malloc call $free local.get 0 i32.const 1 i32.add local.tee 0 i32.const 300000 i32.lt_u br_if 0 end)";
    fozzy.write("program.wat", format!("(module {module})"));
    assert_eq!(checked(&fozzy, &["--mem-limit-mb", "64"]).json()["status"], "pass");
}

#[test]
fn output_that_was_never_written_is_a_warning_with_its_allocation() {
    let fozzy = Fozzy::new();
    let module = |body: &str| {
        format!(
            "(module (import \"wasi_snapshot_preview1\" \"fd_write\" (func $write (param i32 i32 i32 i32) (result i32)))
               (memory (export \"memory\") 600) (global $sp (mut i32) (i32.const 8192)) {BUMP}
               (func $calloc (param i32 i32) (result i32) local.get 1 call $malloc)
               (func $makes (result i32) {body})
               (func (export \"_start\") (local i32)
                 call $makes local.set 0
                 (i32.store (local.get 0) (i32.const 0x0a0a0a0a))
                 ;; A copy, elsewhere.
                 (memory.copy (i32.const 4099) (local.get 0) (i32.const 40))
                 (i32.store (i32.const 2048) (i32.const 4099))
                 (i32.store (i32.const 2052) (i32.const 40))
                 (drop (call $write (i32.const 1) (i32.const 2048) (i32.const 1) (i32.const 2056)))))"
        )
    };
    for (body, expected) in [
        ("i32.const 40 call $malloc", true),
        ("i32.const 1 i32.const 40 call $calloc", false),
        ("(local i32) i32.const 40 call $malloc local.tee 0 i32.const 1 i32.const 40 memory.fill local.get 0", false),
    ] {
        fozzy.write("program.wat", module(body));
        let ran = checked(&fozzy, &[]).exits(0).json();
        let warnings: Vec<&str> = ran["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let has = |words: &str| warnings.iter().any(|line| line.contains(words));
        assert_eq!(has("lets out 36 bytes that the program has never written"), expected, "{body}: {warnings:?}");
        assert_eq!(has("is of makes"), expected, "{body}: {warnings:?}");
    }
}

#[test]
fn blocks_that_have_leaked_are_as_long_as_the_program_asked_for() {
    let fozzy = Fozzy::new();
    let leaks = "(func $leaks i32.const 40 call $malloc drop i32.const 100 call $malloc call $free i32.const 40 call $malloc drop)";
    write(&fozzy, &format!("{leaks} (func (export \"_start\") call $leaks)"));
    for (budget, expected) in [("80", "pass"), ("79", "fail")] {
        let ran = checked(&fozzy, &["--leak-budget", budget, "--record", "a.fozzy", "--record-collision", "overwrite"]);
        assert_eq!(ran.json()["status"], expected, "{}", ran.out());
    }
    let top = fozzy.run(&["memory", "top", "a.fozzy", "--json"]).json();
    assert_eq!((&top["leakedAllocs"], &top["leakedBytes"]), (&2.into(), &80.into()), "{top:#}");
    assert_eq!(top["entries"][0]["label"], "leaks", "{top:#}");
}

#[test]
fn a_trace_with_checks_replays_with_them_and_one_without_is_another_run() {
    let fozzy = Fozzy::new();
    let body = "i32.const 8 call $malloc local.tee 0 call $free local.get 0 i32.load drop";
    write(&fozzy, &format!("(func $start (local i32) {body}) (func (export \"_start\") call $start)"));
    let ran = checked(&fozzy, &["--record", "checked.fozzy"]).exits(4);
    let replayed = fozzy.run(&["replay", "checked.fozzy", "--json"]).exits(4);
    assert_eq!(replayed.json()["replay"]["equal"], true, "{}", replayed.out());
    assert_eq!(finding(&replayed), finding(&ran));
    let whats: Vec<String> = finding(&ran)["related"]
        .as_array()
        .expect("stacks")
        .iter()
        .map(|one| format!("{} {}", one["what"].as_str().expect("a text"), one["backtrace"][1]["function"]))
        .collect();
    assert_eq!(whats, ["the block was freed here \"start\"", "the block was allocated here \"start\""]);

    fozzy.run(&["run", "program.wat", "--record", "plain.fozzy", "--no-store"]).exits(0);
    fozzy.run(&["replay", "plain.fozzy"]).exits(0);
    let other = fozzy.run(&["replay", "plain.fozzy", "--memcheck", "--json"]).exits(4);
    assert_eq!(finding(&other)["title"], "heap-use-after-free");
    assert!(other.err().contains("another run than the recorded one"), "{}", other.err());
}

/// Of a program without names no block is known, so that its pass says less.
#[test]
fn a_stripped_program_is_said_to_be_checked_in_part() {
    let fozzy = Fozzy::new();
    write(
        &fozzy,
        "(func (export \"_start\") i32.const 60000 i32.const 4 call $random drop i32.const 10 call $malloc i32.const 7 i32.store offset=10)",
    );
    assert_eq!(finding(&checked(&fozzy, &[]).exits(4))["title"], "heap-buffer-overflow");
    let text = std::fs::read_to_string(fozzy.path("program.wat")).expect("it was written");
    let module = wat::parse_str(text).expect("a module");
    fozzy.write("stripped.wasm", crate::map::without_custom_sections(&module));
    let heap = "was stripped of the names of its functions; --memcheck looks at its stack and at null pointers only";
    for command in [
        &["run", "stripped.wasm"][..],
        &["test", "stripped.wasm"],
        &["fuzz", "stripped.wasm", "--input-file", "/input", "--runs", "2"],
        &["explore", "stripped.wasm", "--runs", "2"],
    ] {
        let with = |more: &[&str]| fozzy.run(&[command, &["--no-store"], more].concat()).exits(0);
        let told = with(&["--memcheck", "--json"]).json();
        let run = if command[0] == "test" { &told["scenarios"][0]["run"] } else { &told };
        assert!(run["warnings"].to_string().contains(heap), "{command:?}: {told:#}");
        let unchecked = with(&["--json"]).json();
        assert!(!unchecked.to_string().contains("--memcheck looks"), "{command:?}: {unchecked:#}");
    }
    let shown = fozzy.run(&["test", "stripped.wasm", "--memcheck", "--no-store"]).exits(0);
    assert!(
        format!("{}{}", shown.out(), shown.err()).contains("note: stripped.wasm: no allocator was recognised in main")
    );
}

/// In each command that runs it, and in what was recorded of that.
#[test]
fn a_stripped_program_whose_allocator_is_named_is_checked_as_a_whole() {
    let fozzy = Fozzy::new();
    write(&fozzy, "(func (export \"_start\") i32.const 10 call $malloc i32.const 7 i32.store offset=10)");
    let text = std::fs::read_to_string(fozzy.path("program.wat")).expect("it was written");
    let module = wat::parse_str(text).expect("a module");
    fozzy.write("stripped.wasm", crate::map::without_custom_sections(&module));
    let named = ["--allocator", "malloc=func[1]", "--allocator", "free=func[2]", "--no-store"];
    let with = |command: &[&str], more: &[&str]| fozzy.run(&[command, &named, more].concat());
    let checks = ["--memcheck", "--record", "a.fozzy", "--json"];
    let found = with(&["run", "stripped.wasm"], &checks).exits(4);
    assert_eq!(finding(&found)["title"], "heap-buffer-overflow");
    assert_eq!(fozzy.run(&["replay", "a.fozzy", "--json"]).exits(4).json()["replay"]["equal"], true);
    with(&["test", "stripped.wasm"], &["--memcheck"]).exits(4);
    with(&["fuzz", "stripped.wasm"], &["--memcheck", "--input-file", "/input", "--runs", "2"]).exits(4);
    with(&["explore", "stripped.wasm"], &["--memcheck", "--runs", "2"]).exits(4);
    // A recording without checks is executed with them.
    fozzy.run(&["run", "stripped.wasm", "--no-store", "--record", "plain.fozzy"]).exits(0);
    fozzy.run(&["replay", "plain.fozzy", "--memcheck"]).exits(0);
    let other = fozzy.run(&[&["replay", "plain.fozzy", "--memcheck", "--json"], &named[..4]].concat()).exits(4);
    assert_eq!(finding(&other)["title"], "heap-buffer-overflow");
}

#[test]
fn planted_errors_in_unsafe_rust_are_found_and_mended_ones_are_not() {
    let program = corpus::component("memcheck");
    let fozzy = Fozzy::new();
    std::fs::copy(program, fozzy.path("program.wasm")).expect("it is built");
    for (case, expected) in [
        ("use-after-free", "heap-use-after-free"),
        ("set-len", "heap-buffer-overflow"),
        ("layout", "wrong-layout"),
        ("double-free", "double-free"),
    ] {
        planted(&fozzy, case, expected);
    }
}

#[test]
fn planted_errors_in_c_are_found_and_mended_ones_are_not() {
    let program = corpus::program_in_c("memcheck");
    let fozzy = Fozzy::new();
    std::fs::copy(program, fozzy.path("program.wasm")).expect("it is built");
    for (case, expected) in [
        ("overflow", "heap-buffer-overflow"),
        ("underflow", "heap-buffer-underflow"),
        ("use-after-free", "heap-use-after-free"),
        ("double-free", "double-free"),
        ("invalid-free", "invalid-free"),
        ("overlap", "overlapping-copy"),
        ("stack", "stack-buffer-overflow"),
        ("null", "null-dereference"),
        ("host", "heap-buffer-overflow"),
        ("reused", "heap-use-after-free"),
    ] {
        planted(&fozzy, case, expected);
    }
}

/// Runs a planted case and its mended twin.
fn planted(fozzy: &Fozzy, case: &str, expected: &str) {
    fozzy.write("input", "x".repeat(64));
    let run = |args: &[&str]| {
        let common = ["run", "program.wasm", "--memcheck", "--no-store", "--json", "--stdin", "input", "--"];
        fozzy.run(&[&common, args].concat())
    };
    let found = finding(&run(&[case]).exits(4));
    assert_eq!(found["title"], expected, "{case}: {found:#}");
    let function = case.replace('-', "_");
    let frames = found["backtrace"].as_array().expect("a stack");
    let names = frames.iter().filter_map(|frame| frame["function"].as_str());
    assert!(names.clone().any(|name| name.ends_with(&function)), "{case}: {found:#}");
    let twin = run(&[case, "mended"]);
    assert_eq!(twin.json()["status"], "pass", "{case}, mended: {}", twin.out());
}
