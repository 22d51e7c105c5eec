//! Readers that go away, and people who press Ctrl-C.

use crate::corpus::{self, Target};
use crate::fozzy::{Fozzy, Ran};
use crate::wait;
use fozzy_trace::file::verify;
use std::process::{Child, Command};

fn probe() -> String {
    corpus::probe(Target::Wasip2).display().to_string()
}

/// Reads some bytes of a child's stdout, and closes it.
fn read_a_little(child: &mut Child) -> [u8; 10] {
    wait::first_bytes(child.stdout.take().expect("a pipe")).0
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let fozzy = Fozzy::new();
    let end = |args: &[&str]| {
        let mut child = fozzy.start(args);
        drop(child.stdin.take());
        read_a_little(&mut child);
        Ran::of(args, wait::output(child)).exits(0)
    };
    let flood = end(&["run", &probe(), "--record", "flood.fozzy", "--", "stdout-flood", "8"]);
    assert!(flood.err().contains("PASS"), "the run goes on, and its result is the run's: {flood}");
    assert!(verify(&fozzy.read("flood.fozzy")).ok);
    fozzy.run(&["run", &probe(), "--record", "calls.fozzy", "--", "calls", "200000"]).exits(0);
    end(&["trace", "show", "calls.fozzy"]);
    end(&["trace", "show", "calls.fozzy", "--json"]);
    end(&["replay", "flood.fozzy"]);
    end(&["run", "--help"]);
    end(&["env", "--json"]);
    // The same in a shell, where the exit code of the first command is not lost.
    let ran = fozzy.shell("{ fozzy trace show calls.fozzy; echo $? > code; } | head -n 1; cat code");
    assert!(ran.out().ends_with("\n0\n") && ran.err().is_empty(), "{ran}");
}

/// Presses Ctrl-C.
fn interrupt(child: &Child) {
    let sent = wait::run(Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]));
    assert!(sent.status.success(), "it still runs");
}

#[test]
fn ctrl_c_in_the_middle_of_a_recorded_run_leaves_nothing() {
    let fozzy = Fozzy::new();
    // Prints without end, so its first bytes show that it runs.
    let mut child = fozzy.start(&["run", &probe(), "--record", "a.fozzy", "--", "stdout-flood", "1000000"]);
    drop(child.stdin.take());
    let (_, _stdout) = wait::first_bytes(child.stdout.take().expect("a pipe"));
    interrupt(&child);
    let ran = Ran::of(&["run"], wait::output(child)).exits(130);
    assert!(ran.err().contains("interrupted: no half-written file is left"), "{ran}");
    assert!(fozzy.names().is_empty(), "{:?}", fozzy.names());
    let runs = std::fs::read_dir(fozzy.path(".fozzy/runs")).into_iter().flatten().count();
    assert_eq!(runs, 0, "no half of a run");
}

/// Writes to stderr without end.
const FLOOD: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\00\10\00\00")
  (func (export "_start") (loop $again
    (drop (call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8))) (br $again))))"#;

#[test]
fn ctrl_c_ends_a_run_that_nobody_reads() {
    let fozzy = Fozzy::new();
    fozzy.write("flood.wat", FLOOD);
    let mut child = fozzy.start(&["run", "flood.wat", "--record", "a.fozzy"]);
    drop(child.stdin.take());
    // The pipe stays open and is not emptied any more, so the program gets stuck in a write to it.
    let (_, _stderr) = wait::first_bytes(child.stderr.take().expect("a pipe"));
    interrupt(&child);
    assert_eq!(wait::exit(&mut child).code(), Some(130));
    assert_eq!(fozzy.names(), ["flood.wat"]);
}

#[test]
fn ctrl_c_while_the_trace_is_written_leaves_nothing_or_all() {
    /// Standard input travels in the trace, so this is its size, more or less: writing it takes a while.
    const STDIN_BYTES: usize = 24 << 20;
    let fozzy = Fozzy::new();
    // Bytes that do not compress: a xorshift generator.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    })
    .take(STDIN_BYTES / 8)
    .flatten()
    .collect();
    fozzy.write("noise", noise);
    let mut child = fozzy.start(&["run", &probe(), "--record", "a.fozzy", "--stdin", "noise", "--", "hello"]);
    // Until the temporary file is seen, or it is too late.
    let mut seen = false;
    wait::until("the temporary file, or the end", || {
        seen = fozzy.names().iter().any(|name| name.ends_with(".tmp"));
        seen || !wait::runs(&mut child)
    });
    if seen {
        let _ = wait::run(Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]));
    }
    let ran = Ran::of(&["run"], wait::output(child));
    match ran.code {
        Some(130) if fozzy.names() == ["noise"] => {}
        Some(0 | 130) => {
            assert_eq!(fozzy.names(), ["a.fozzy", "noise"], "no temporary file and no lock: {ran}");
            assert!(verify(&fozzy.read("a.fozzy")).ok, "whole");
        }
        _ => panic!("neither interrupted nor done: {ran}"),
    }
}
