//! Targets that misbehave, and campaigns that cannot begin: clear words, and nothing lost.

use super::{campaign, module, signatures};
use crate::corpus;
use crate::fozzy::Fozzy;
use serde_json::Value;

/// A campaign on `code`, and its exit code.
fn fuzz(code: &str, runs: u64, more: &[&str], exit: i32) -> Value {
    let fozzy = Fozzy::new();
    let target = fozzy.write("odd.wat", module(code));
    campaign(&fozzy, &target, 3, runs, more).exits(exit).json()
}

fn number(summary: &Value, key: &str) -> u64 {
    summary["fuzz"][key].as_u64().unwrap_or_else(|| panic!("no `{key}` in {summary}"))
}

#[test]
fn a_target_that_always_fails_one_that_never_does_and_one_that_fails_on_nothing() {
    let always = fuzz("unreachable", 60, &[], 4);
    assert_eq!((number(&always, "failures"), signatures(&always).len(), number(&always, "corpus")), (60, 1, 0));
    let never = fuzz("nop", 60, &[], 0);
    assert_eq!((number(&never, "failures"), number(&never, "corpus")), (0, 1));
    let empty = fuzz("(if (i32.eqz (local.get $len)) (then unreachable))", 60, &[], 4);
    assert!(number(&empty, "failures") < 60 && signatures(&empty).len() == 1, "{empty}");
    assert_eq!(empty["fuzz"]["findings"][0]["inputBytes"], 0);
}

#[test]
fn memory_that_grows_and_globals_that_change_are_as_before_for_the_next_input() {
    let code = "
        (if (i32.ne (global.get $sp) (i32.const 65536)) (then unreachable))
        (if (i32.load (i32.const 100000)) (then unreachable))
        (global.set $sp (i32.const 1))
        (i32.store (i32.const 100000) (i32.const 7))
        (drop (memory.grow (i32.const 3)))";
    let summary = fuzz(code, 200, &[], 0);
    assert_eq!(number(&summary, "failures"), 0);
}

#[test]
fn what_loops_on_some_inputs_is_a_timeout_and_what_recurses_a_crash() {
    let loops = "(if (i32.and (i32.gt_u (local.get $len) (i32.const 0))
                              (i32.eq (i32.load8_u (local.get $at)) (i32.const 76)))
                     (then (loop $ever (local.set $n (i32.add (local.get $n) (i32.const 1))) (br $ever))))";
    let summary = fuzz(loops, 400, &["--fuel", "300000000", "--crash-only"], 3);
    assert!(signatures(&summary)[0].starts_with("timeout at instructions"), "{summary}");
    let recurses = "(if (i32.gt_u (local.get $len) (i32.const 2))
                        (then (drop (call $fuzz (local.get $at) (local.get $len)))))";
    let summary = fuzz(recurses, 200, &["--crash-only"], 4);
    assert!(signatures(&summary)[0].starts_with("trap at call stack exhausted"), "{summary}");
    // The same with frames in memory, which are used up first: that is a stack too, and not a wild address.
    let frames = "(if (i32.gt_u (local.get $len) (i32.const 2))
                      (then (global.set $sp (i32.sub (global.get $sp) (i32.const 4096)))
                            (i32.store (global.get $sp) (local.get $len))
                            (drop (call $fuzz (local.get $at) (local.get $len)))))";
    let summary = fuzz(frames, 200, &["--crash-only"], 4);
    assert!(signatures(&summary)[0].starts_with("trap at call stack exhausted"), "{summary}");
    let wild = "(if (i32.gt_u (local.get $len) (i32.const 2)) (then (i32.store (i32.const -16) (local.get $len))))";
    let summary = fuzz(wild, 200, &["--crash-only"], 4);
    assert!(signatures(&summary)[0].starts_with("trap at out of bounds memory access"), "{summary}");
}

#[test]
fn libfuzzers_exit_codes_are_given_when_asked_for() {
    fuzz("unreachable", 10, &["--exit-codes", "libfuzzer"], 77);
    fuzz("nop", 10, &["--exit-codes", "libfuzzer"], 0);
}

/// What is said when a campaign cannot begin.
fn refused(fozzy: &Fozzy, args: &[&str]) -> String {
    fozzy.run(args).exits(2).err()
}

#[test]
fn what_has_no_function_to_fuzz_is_refused_with_what_it_has() {
    let fozzy = Fozzy::new();
    fozzy.write("run.wat", r#"(module (memory (export "memory") 1) (func (export "_start")))"#);
    let said = refused(&fozzy, &["fuzz", "run.wat"]);
    assert!(said.contains("wasi:cli/run") && said.contains("--stdin"), "{said}");
    fozzy.write("no.wat", r#"(module (memory (export "memory") 1) (func (export "parse")))"#);
    let said = refused(&fozzy, &["fuzz", "no.wat"]);
    assert!(said.contains("LLVMFuzzerTestOneInput") && said.contains("parse"), "{said}");
    fozzy.write("type.wat", r#"(module (memory (export "memory") 1) (func (export "LLVMFuzzerTestOneInput")))"#);
    let said = refused(&fozzy, &["fuzz", "type.wat"]);
    assert!(said.contains("(param i32 i32)"), "{said}");
    let bare = r#"(module (func (export "LLVMFuzzerTestOneInput") (param i32 i32) (result i32) (i32.const 0)))"#;
    fozzy.write("bare.wat", bare);
    let said = refused(&fozzy, &["fuzz", "bare.wat"]);
    assert!(said.contains("no `memory`"), "{said}");
    let parser = corpus::scenario("parser", false).display().to_string();
    let said = refused(&fozzy, &["fuzz", &parser, "other"]);
    assert!(said.contains("the fuzz target `parse_anything`, the property `round_trip`"), "{said}");
    assert!(refused(&fozzy, &["fuzz", "scenario:a.fozzy.json"]).contains("cannot read a.fozzy.json"));
}

#[test]
fn flags_files_and_folders_that_are_wrong_are_named() {
    let fozzy = Fozzy::new();
    fozzy.write("odd.wat", module("nop"));
    fozzy.write("words.dict", "# words\nkw=\"GET\"\nkw2=\"POST\n");
    let said = refused(&fozzy, &["fuzz", "odd.wat", "--dict", "words.dict"]);
    assert!(said.contains("words.dict: line 3: the word has no closing quote"), "{said}");
    assert!(
        refused(&fozzy, &["fuzz", "odd.wat", "--mutator", "magic"]).contains("there is no `magic`; there are bit,")
    );
    assert!(refused(&fozzy, &["fuzz", "odd.wat", "--det"]).contains("--runs"));
    assert!(refused(&fozzy, &["fuzz", "odd.wat", "--det", "--runs", "1", "--time", "1s"]).contains("--time"));
    fozzy.write("file", "");
    assert!(refused(&fozzy, &["fuzz", "odd.wat", "--corpus", "file"]).contains("corpus"));
}

#[cfg(unix)]
#[test]
fn what_is_too_long_and_links_are_left_out_of_a_corpus() {
    let fozzy = Fozzy::new();
    fozzy.write("odd.wat", module("nop"));
    std::fs::create_dir_all(fozzy.path("corpus/folder")).expect("the temporary folder can be written");
    fozzy.write("corpus/long", vec![b'x'; 5000]);
    fozzy.write("corpus/short", b"short");
    let ran = fozzy.run(&["fuzz", "odd.wat", "--corpus", "corpus", "--det", "--runs", "5"]).exits(0);
    let said = ran.err();
    assert!(said.contains("longer than --max-input 4096: 1") && said.contains("with 1 to begin with"), "{said}");
    std::os::unix::fs::symlink("nowhere", fozzy.path("corpus/dangling")).expect("a link");
    let said = fozzy.run(&["fuzz", "odd.wat", "--corpus", "corpus", "--det", "--runs", "5"]).exits(0).err();
    assert!(said.contains("as links, which are not followed: 1"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_told_and_leaves_nothing_half_written() {
    let fozzy = Fozzy::new();
    fozzy.write("odd.wat", module("(if (i32.gt_u (local.get $len) (i32.const 2)) (then unreachable))"));
    // Compiled before, as the cache of compiled programs has no room either.
    fozzy.run(&["fuzz", "odd.wat", "--corpus", "corpus", "--det", "--runs", "1"]).exits(0);
    let limited = "ulimit -f 1; fozzy fuzz odd.wat --corpus corpus --det --runs 300";
    let said = fozzy.shell(limited).exits(2).err();
    assert!(said.contains("cannot write") || said.contains("File too large"), "{said}");
    for entry in std::fs::read_dir(fozzy.path("corpus")).expect("it was made").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let digest = fozzy_trace::Digest::of(&fozzy.read(&format!("corpus/{name}"))).to_string();
        assert_eq!(name, digest, "a file is whole or absent");
    }
    // With room again, the campaign goes on from there.
    fozzy.run(&["fuzz", "odd.wat", "--corpus", "corpus", "--det", "--runs", "300"]).exits(4);
}

#[test]
fn what_reads_the_clock_and_random_numbers_is_the_same_each_time() {
    let fozzy = Fozzy::new();
    let target = fozzy.write(
        "clock.wat",
        r#"(module
            (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
            (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            (memory (export "memory") 1)
            (func (export "_start")
                (drop (call $clock (i32.const 0) (i64.const 1) (i32.const 64)))
                (drop (call $random (i32.const 72) (i32.const 1)))
                (call $exit (i32.and (i32.xor (i32.load (i32.const 64)) (i32.load8_u (i32.const 72))) (i32.const 63)))))"#,
    );
    let run = || campaign(&fozzy, &target, 4, 50, &["--arg", "--fail-on-exit", "--corpus", "corpus"]).json();
    let (one, other) = (run(), run());
    assert_eq!(signatures(&one), signatures(&other));
    assert!(signatures(&one).len() <= 1, "no input has an influence: {one}");
}

#[test]
fn a_corpus_of_many_files_is_read_in_the_same_order_each_time() {
    let fozzy = Fozzy::new();
    fozzy.write("odd.wat", module("(local.set $n (i32.load8_u (local.get $at)))"));
    std::fs::create_dir_all(fozzy.path("corpus")).expect("the temporary folder can be written");
    for number in 0..3000 {
        fozzy.write(&format!("corpus/{number}"), number.to_string());
    }
    let ran = fozzy.run(&["fuzz", "odd.wat", "--corpus", "corpus", "--det", "--runs", "3001", "--json"]).exits(0);
    assert!(ran.err().contains("with 3000 to begin with"), "{}", ran.err());
    assert_eq!(number(&ran.json(), "corpus"), 3001);
}
