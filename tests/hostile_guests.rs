//! Programs that try to get out of their bounds: each ends with a status of its own, never with an error of ours.
//!
//! ```text
//! asks for too much     random bytes, memory, handles      refused, or the program's own end
//! never ends            computing, calling, waiting, writing, recursing     timeout, hang, crash
//! misuses an interface  a poll of nothing, a handle that it has not         a trap, as the interface says
//! ```

use crate::corpus::{self, Target};
use crate::fozzy::{Fozzy, Ran};
use fozzy_engine::{Program, Session, Switches};
use fozzy_trace::plan::Inputs;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{ExecutionEnd, Executor, Plan, Seed};
use serde_json::Value;
use std::sync::Arc;

/// A component around core code that lowers `get-random-bytes` and `poll`.
/// `body` is what `run` does; it leaves the result, 0 for ok, on the stack.
fn component(body: &str) -> String {
    format!(
        r#"(component
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $pollable (sub resource)))
    (export "poll" (func (param "in" (list (borrow $pollable))) (result (list u32))))
    (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (alias outer 1 $pollable (type $pollable'))
    (export "pollable" (type $p (eq $pollable')))
    (export "now" (func (result u64)))
    (export "subscribe-instant" (func (param "when" u64) (result (own $p))))))
  (import "wasi:random/random@0.2.0" (instance $random
    (export "get-random-bytes" (func (param "len" u64) (result (list u8))))))
  (core module $Libc
    (memory (export "memory") 2)
    (global $next (mut i32) (i32.const 1024))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (local $at i32)
      (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
      (global.set $next (i32.add (local.get $at) (local.get 3)))
      (local.get $at)))
  (core instance $libc (instantiate $Libc))
  (core func $poll (canon lower (func $poll "poll") (memory $libc "memory") (realloc (func $libc "realloc"))))
  (core func $block (canon lower (func $poll "[method]pollable.block")))
  (core func $now (canon lower (func $clock "now")))
  (core func $subscribe (canon lower (func $clock "subscribe-instant")))
  (core func $bytes (canon lower (func $random "get-random-bytes") (memory $libc "memory") (realloc (func $libc "realloc"))))
  (core module $Main
    (import "host" "poll" (func $poll (param i32 i32 i32)))
    (import "host" "block" (func $block (param i32)))
    (import "host" "now" (func $now (result i64)))
    (import "host" "subscribe" (func $subscribe (param i64) (result i32)))
    (import "host" "bytes" (func $bytes (param i64 i32)))
    (func (export "run") (result i32) {body}))
  (core instance $main (instantiate $Main (with "host" (instance
    (export "poll" (func $poll)) (export "block" (func $block)) (export "now" (func $now))
    (export "subscribe" (func $subscribe)) (export "bytes" (func $bytes))))))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $cli (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $cli)))"#
    )
}

/// Runs `target` and asserts its status, its exit code, and words of its finding. The replay of its trace must be the same run.
#[track_caller]
fn check(target: &str, args: &[&str], status: &str, words: &[&str]) -> Value {
    let fozzy = Fozzy::new();
    let path =
        if target.starts_with('(') { fozzy.write("hostile.wat", target).display().to_string() } else { target.into() };
    let mut all = vec!["run", &path, "--json", "--record", "a.fozzy"];
    all.extend(args);
    let ran: Ran = fozzy.run(&all);
    let summary = ran.json();
    assert_eq!(summary["status"], status, "{ran}");
    let code = match status {
        "pass" => 0,
        "fail" => 1,
        "error" => 2,
        "timeout" => 3,
        _ => 4,
    };
    let ran = ran.exits(code);
    let finding = summary["findings"][0]["message"].as_str().unwrap_or_default().to_owned();
    words.iter().for_each(|word| assert!(finding.contains(word), "expected `{word}` in `{finding}`\n{ran}"));
    let replayed = fozzy.run(&["replay", "a.fozzy", "--json"]).exits(code).json();
    assert_eq!(replayed["replay"]["equal"], true, "{replayed}");
    summary
}

fn probe() -> String {
    corpus::probe(Target::Wasip2).display().to_string()
}

#[test]
fn the_frame_around_hostile_code_is_harmless() {
    check(&component("(drop (call $now)) (i32.const 0)"), &[], "pass", &[]);
    check(&component("(drop (call $now)) (i32.const 1)"), &[], "fail", &["code 1"]);
    check(&component("(call $bytes (i64.const 64) (i32.const 0)) (i32.const 0)"), &[], "pass", &[]);
}

#[test]
fn a_demand_for_endless_random_bytes_is_the_programs_own_end() {
    for length in ["0xffffffffffffffff", "0x7fffffffffffffff", "0x100000000", "0xffffffff"] {
        check(
            &component(&format!("(call $bytes (i64.const {length}) (i32.const 0)) (i32.const 0)")),
            &[],
            "crash",
            &["get-random-bytes"],
        );
    }
}

#[test]
fn a_poll_of_nothing_is_a_trap() {
    check(&component("(call $poll (i32.const 0) (i32.const 0) (i32.const 8)) (i32.const 0)"), &[], "crash", &["poll"]);
}

#[test]
fn a_list_that_is_not_in_memory_is_a_trap() {
    check(
        &component("(call $poll (i32.const 0) (i32.const 0x3fffffff) (i32.const 8)) (i32.const 0)"),
        &[],
        "crash",
        &[],
    );
    check(&component("(call $poll (i32.const -4) (i32.const 1) (i32.const 8)) (i32.const 0)"), &[], "crash", &[]);
}

#[test]
fn a_handle_that_it_has_not_is_a_trap() {
    check(&component("(call $block (i32.const 77)) (i32.const 0)"), &[], "crash", &["77"]);
}

#[test]
fn a_wait_for_the_end_of_time_is_a_hang() {
    let waiting = component("(call $block (call $subscribe (i64.const -1))) (i32.const 0)");
    check(&waiting, &[], "timeout", &["every task is blocked"]);
}

#[test]
fn a_loop_is_bounded_by_fuel_whatever_it_does() {
    let fuel = ["--fuel", "20000000"];
    let out = "instruction budget ran out";
    check(&component("(loop $again (br $again)) (i32.const 0)"), &fuel, "timeout", &[out]);
    // Calls of the host cost too, so a loop of them ends, and soon.
    check(&component("(loop $again (drop (call $now)) (br $again)) (i32.const 0)"), &fuel, "timeout", &[out]);
    // Handles without end: they are bounded too, and that bound is nearer.
    let handles = "(loop $again (drop (call $subscribe (i64.const 1))) (br $again)) (i32.const 0)";
    check(&component(handles), &fuel, "crash", &["handles are open"]);
    // Random bytes without end: the program's own allocator runs out of memory first, which is a trap of its own.
    let bytes = "(loop $again (call $bytes (i64.const 4096) (i32.const 0)) (br $again)) (i32.const 0)";
    check(&component(bytes), &fuel, "crash", &[]);
}

#[test]
fn output_without_end_is_bounded_by_fuel() {
    let summary =
        check(&probe(), &["--fuel", "1000000", "--", "stdout-flood", "1000000"], "timeout", &["instruction budget"]);
    // Each byte counts one, so the output cannot be longer than the budget.
    let bytes = summary["output"]["stdout"]["bytes"].as_u64().expect("a number");
    assert!((500_000..=1_000_000).contains(&bytes), "{bytes}");
}

#[test]
fn memory_without_end_is_the_programs_own_out_of_memory() {
    let grow = "(module (memory (export \"memory\") 1) (func (export \"_start\")
        (loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable))";
    let summary = check(grow, &["--mem-limit-mb", "64"], "crash", &["unreachable"]);
    let bytes = summary["memoryBytes"].as_u64().expect("a number");
    assert!((32 << 20..=64 << 20).contains(&bytes), "{bytes}");
}

#[test]
fn a_machine_without_room_for_a_memory_is_no_verdict_on_the_program() {
    let fozzy = Fozzy::new();
    fozzy.write("small.wat", "(module (memory (export \"memory\") 1) (func (export \"_start\")))");
    fozzy.run(&["run", "small.wat"]).exits(0);
    // Each memory reserves four gigabytes of address space; two are not enough, whatever the program is.
    fozzy.shell("ulimit -v 2000000; exec fozzy run small.wat").refuses(&["cannot be started on this machine", "mmap"]);
}

#[test]
fn a_program_that_needs_more_memory_to_start_is_told_so() {
    let fozzy = Fozzy::new();
    fozzy.write("large.wat", "(module (memory (export \"memory\") 2048) (func (export \"_start\")))");
    let ran = fozzy.run(&["run", "large.wat", "--mem-limit-mb", "64"]);
    ran.refuses(&["needs more to start", "--mem-limit-mb"]);
    fozzy.run(&["run", "large.wat", "--mem-limit-mb", "256"]).exits(0);
}

#[test]
fn a_recursion_without_end_is_a_crash_at_the_same_depth() {
    let ours =
        "(module (memory (export \"memory\") 1) (func $down (call $down)) (func (export \"_start\") (call $down)))";
    let once = check(ours, &[], "crash", &["call stack exhausted"]);
    let twice = check(ours, &[], "crash", &["call stack exhausted"]);
    assert_eq!(once["fuelUsed"], twice["fuelUsed"]);
    check(&probe(), &["--", "recurse"], "crash", &["call stack exhausted"]);
    // Frames in memory are used up before the calls are: that is a stack too.
    check(&probe(), &["--", "recurse-big"], "crash", &["call stack exhausted"]);
    // Tail position does not help, and mutual recursion neither.
    let mutual = "(module (memory (export \"memory\") 1) (func $a (call $b)) (func $b (call $a)) (func (export \"_start\") (call $a)))";
    check(mutual, &[], "crash", &["call stack exhausted"]);
}

#[test]
fn what_traps_is_a_crash_that_names_the_trap() {
    for (mode, words) in [
        ("unreachable", "unreachable"),
        ("oob", "out of bounds memory access"),
        ("divzero", "integer divide by zero"),
        ("abort", "unreachable"),
        ("panic", "boom 7"),
    ] {
        for target in Target::ALL {
            check(&corpus::probe(target).display().to_string(), &["--", mode], "crash", &[words]);
        }
    }
}

#[test]
fn what_the_sandbox_has_not_is_answered_and_not_a_crash() {
    for target in Target::ALL {
        let path = corpus::probe(target).display().to_string();
        check(&path, &["--", "thread"], "pass", &[]);
        check(&path, &["--", "connect", "127.0.0.1:7"], "pass", &[]);
    }
}

/// A program with many tables, each grown as far as one can be; it traps unless as many as said could be.
fn tables(expected: usize) -> String {
    let tables: String = (0..40).map(|n| format!("(table $t{n} 0 funcref)")).collect();
    let grow = |n| {
        format!(
            "(local.set 0 (i32.add (local.get 0) (i32.ne (table.grow $t{n} (ref.null func) (i32.const 1048576)) (i32.const -1))))"
        )
    };
    let grown: String = (0..40).map(grow).collect();
    format!(
        "(module {tables} (memory (export \"memory\") 1) (func (export \"_start\") (local i32) {grown}
           (if (i32.ne (local.get 0) (i32.const {expected})) (then unreachable))))"
    )
}

#[test]
fn tables_of_a_program_have_a_bound_together() {
    let fozzy = Fozzy::new();
    fozzy.write("tables.wat", tables(8));
    fozzy.run(&["run", "tables.wat"]).exits(0);
    fozzy.write("two.wat", tables(2));
    fozzy.run(&["run", "two.wat", "--mem-limit-mb", "16"]).exits(0);
    fozzy.write("none.wat", tables(0));
    fozzy.write("total.toml", "[limits]\ntotal = \"4MiB\"\n");
    fozzy.run(&["run", "none.wat", "--plan", "total.toml"]).exits(0);
}

#[test]
fn memory_and_disk_have_a_bound_together() {
    let fozzy = Fozzy::new();
    let data = "x".repeat(256 << 10);
    let write = format!(r#"{{"type": "fs_write", "path": "/f${{i}}", "data": "{data}"}}"#);
    let steps = format!(r#"[{{"type": "repeat", "times": 40, "as": "i", "do": [{write}]}}]"#);
    fozzy.write("disk.fozzy.json", format!(r#"{{"version": 2, "name": "n", "steps": {steps}}}"#));
    fozzy.run(&["run", "disk.fozzy.json"]).exits(0);
    fozzy.write("total.toml", "[limits]\ntotal = \"9MiB\"\n");
    let failed = fozzy.run(&["run", "disk.fozzy.json", "--plan", "total.toml", "--record", "t.fozzy"]).exits(1).err();
    assert!(failed.contains("cannot write"), "{failed}");
    fozzy.run(&["replay", "t.fozzy"]).exits(1);
}

#[test]
fn what_a_bound_refuses_is_named_with_the_bound() {
    let fozzy = Fozzy::new();
    let program = |head: &str, start: &str| format!("(module {head} (func (export \"_start\") {start}))");
    let memory = "(memory (export \"memory\") 1)";
    let grow = "(if (i32.eq (memory.grow (i32.const 320)) (i32.const -1)) (then unreachable))";
    fozzy.write("grows.wat", program(memory, grow));
    fozzy.write("starts.wat", program("(memory (export \"memory\") 321)", ""));
    fozzy.write("table.wat", program(&format!("{memory} (table 10000000 funcref)"), ""));
    let tables = format!("{memory} {}", "(table 1000000 funcref)".repeat(2));
    fozzy.write("tables.wat", program(&tables, ""));
    fozzy.write("total.toml", "[limits]\ntotal = \"10MiB\"\n");
    let memories = "memories of 21037056 bytes, and 10485760 bytes may be (--mem-limit-mb)";
    let total =
        "memories, tables, disk and kept output together of 21037056 bytes, and 10485760 bytes may be (`total` of";
    let table = "a table of 10000000 elements, and 1048576 elements may be";
    let of_tables = "tables of 16000000 bytes, and 10485760 bytes may be (tables have 64 MiB, or --mem-limit-mb";
    for (target, limit, code, words) in [
        ("grows.wat", ["--mem-limit-mb", "10"], 4, memories),
        ("grows.wat", ["--plan", "total.toml"], 4, total),
        ("starts.wat", ["--mem-limit-mb", "10"], 2, memories),
        ("starts.wat", ["--plan", "total.toml"], 2, total),
        ("table.wat", ["--mem-limit-mb", "100"], 2, table),
        ("tables.wat", ["--mem-limit-mb", "10"], 2, of_tables),
    ] {
        let args = [&["run", target][..], &limit].concat();
        let said = fozzy.run(&args).exits(code).err();
        let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ").replace(',', "");
        assert!(said.contains(&words.replace(',', "")), "{target} {limit:?}: {said}");
    }
}

#[test]
fn output_has_a_bound() {
    let fozzy = Fozzy::new();
    fozzy.write(
        "chatter.wat",
        r#"(module
          (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
          (memory (export "memory") 2)
          (data (i32.const 0) "\10\00\00\00\00\00\01\00")
          (func (export "_start") (local i32)
            (loop (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
              (local.set 0 (i32.add (local.get 0) (i32.const 1)))
              (br_if 0 (i32.lt_u (local.get 0) (i32.const 40))))))"#,
    );
    fozzy.run(&["run", "chatter.wat", "--output-limit", "4MiB"]).exits(0);
    let args = ["run", "chatter.wat", "--output-limit", "2MiB", "--record", "t.fozzy"];
    let failed = fozzy.run(&args).exits(1).err();
    assert!(failed.contains("have more than 2097152 bytes"), "{failed}");
    fozzy.run(&["replay", "t.fozzy"]).exits(1);
}

/// A module of garbage-collected objects: `count` arrays of `bytes`, each in place of the last.
fn collected(count: u64, bytes: u32) -> String {
    format!(
        r#"(module (type $bytes (array (mut i8))) (memory (export "memory") 1)
  (func (export "_start") (local $left i64) (local $last (ref null $bytes))
    (local.set $left (i64.const {count}))
    (loop $next
      (local.set $last (array.new $bytes (i32.const 7) (i32.const {bytes})))
      (if (i32.ne (array.get_u $bytes (local.get $last) (i32.const {last})) (i32.const 7)) (then unreachable))
      (br_if $next (i64.ne (local.tee $left (i64.sub (local.get $left) (i64.const 1))) (i64.const 0))))))"#,
        last = bytes - 1
    )
}

#[test]
fn objects_that_are_never_freed_are_out_of_memory_by_name() {
    let limit = ["--mem-limit-mb", "8"];
    check(&collected(100, 1 << 10), &limit, "pass", &[]);
    check(
        &collected(100_000, 1 << 10),
        &limit,
        "crash",
        &["out of memory for garbage-collected objects", "--mem-limit-mb"],
    );
    check(&collected(1, 128 << 20), &[], "crash", &["garbage-collected object of 64 MiB or more"]);
}

#[test]
fn of_two_names_that_are_no_text_the_first_ends_the_guest() {
    let text = r#"(component
  (import "fozzy:events/journal@0.1.0" (instance $journal
    (export "event" (func (param "name" string) (param "details" string)))))
  (core module $Libc
    (memory (export "memory") 1)
    (data (i32.const 0) "ab\ff"))
  (core instance $libc (instantiate $Libc))
  (core func $event (canon lower (func $journal "event") (memory $libc "memory")))
  (core module $Main
    (import "host" "event" (func $event (param i32 i32 i32 i32)))
    (func (export "run") (result i32)
      (call $event (i32.const 1) (i32.const 2) (i32.const 0) (i32.const 3))
      (i32.const 0)))
  (core instance $main (instantiate $Main (with "host" (instance (export "event" (func $event))))))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $cli (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $cli)))"#;
    let loaded = fozzy_engine::load(text.as_bytes(), None).expect("a component");
    let plan = Plan::default();
    let program = Program::new(loaded.component.into(), Switches::of(&plan), None).expect("it compiles");
    let mut session = Session::new(program, Arc::new(plan), &Inputs::default()).expect("a plain plan");
    let ran = session.execute(Box::new(SeededSource::new(Seed(7))), 0..100).expect("the machine is fit");
    // The name is `b` and a byte that begins nothing; the details have one more letter before it.
    let trap = "invalid utf-8 sequence of 1 bytes from index 1".to_owned();
    assert_eq!((ran.end, ran.history.calls), (ExecutionEnd::Trapped { trap }, 0));
}
