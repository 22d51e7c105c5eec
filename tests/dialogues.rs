//! Standard input as a channel, in programs of languages with a scheduler of their own.
//!
//! ```text
//! goroutines     one waits for a line, another one for a ticker: the only thread of Go must not wait for either alone
//! ```
//!
//! Not here: scripts and pipes on small programs (goldens `dialogue-…`), terminals (`terminal`).

use crate::corpus;
use crate::fozzy::{Fozzy, Ran};
use crate::wait;
use std::io::{BufRead, BufReader};

const GO: &str = r#"package main

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

func main() {
	start := time.Now()
	go func() {
		for range time.NewTicker(200 * time.Millisecond).C {
			fmt.Println("tick", time.Since(start).Milliseconds())
		}
	}()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println("line", lines.Text())
	}
	fmt.Println("end", lines.Err())
}
"#;

const PLAN: &str = r#"
[[stdin]]
at = "500ms"
line = "one"

[[stdin]]
after = "tick 800"
delay = "50ms"
line = "two"

[[stdin]]
delay = "300ms"
end = true
"#;

#[test]
fn goroutines_go_on_while_one_waits_for_input() {
    let (go, cache) = corpus::go();
    let fozzy = Fozzy::new();
    fozzy.write("main.go", GO);
    fozzy.write("plan.toml", PLAN);
    let settings = "GOOS=wasip1 GOARCH=wasm GOTOOLCHAIN=local GOPROXY=off GOFLAGS=-buildvcs=false";
    let (cache, go) = (cache.display(), go.display());
    fozzy.shell(&format!("{settings} GOCACHE='{cache}' '{go}' build -o app.wasm main.go")).exits(0);
    let lines = fozzy.run(&["run", "app.wasm", "--plan", "plan.toml", "--record", "run.fozzy"]).exits(0).out();
    let expected = "tick 200\ntick 400\nline one\ntick 600\ntick 800\nline two\ntick 1000\nend <nil>\n";
    assert_eq!(lines, expected);
    assert_eq!(fozzy.run(&["replay", "run.fozzy"]).exits(0).out(), expected);
    // The same program as a pipe has it: the end comes with the last line.
    let piped = fozzy.shell("printf 'one\\ntwo\\n' | fozzy run -i app.wasm 2>/dev/null").exits(0).out();
    assert_eq!(piped, "line one\nline two\nend <nil>\n");
}

/// A program of WASI preview 1 that never waits: it polls its input and a clock that has come to its time, until there is input; then it
/// prints that.
const POLLS: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\40\00\00\00\07\00\00\00")
  (data (i32.const 64) "begins\n")
  (data (i32.const 264) "\01")
  (data (i32.const 320) "\01")
  (func $write_all (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16))))
  (func (export "_start")
    (call $write_all)
    (loop $again
      (drop (call $poll (i32.const 256) (i32.const 512) (i32.const 2) (i32.const 600)))
      (br_if $again (i32.eqz (i32.load8_u (i32.const 522)))))
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
    (call $write_all)))"#;

#[test]
fn who_polls_again_and_again_and_never_waits_gets_what_comes() {
    let fozzy = Fozzy::new();
    fozzy.write("polls.wat", POLLS);
    fozzy.write("plan.toml", "[[stdin]]\nat = \"5us\"\nline = \"input!\"\n\n[[stdin]]\nat = \"1h\"\nend = true\n");
    let said = fozzy.run(&["run", "polls.wat", "--plan", "plan.toml"]).exits(0).out();
    assert!(said.starts_with("begins\ninput!\n"), "{said}");
    let said = fozzy.run_with_stdin(&["run", "-i", "polls.wat", "--record", "i.fozzy"], b"typed.\n").exits(0).out();
    assert!(said.starts_with("begins\ntyped.\n"), "{said}");
    fozzy.run(&["replay", "i.fozzy"]).exits(0);
}

#[test]
fn ctrl_c_ends_a_program_that_never_waits_and_its_replay_ends_there() {
    let fozzy = Fozzy::new();
    fozzy.write("polls.wat", POLLS);
    let args = ["run", "-i", "polls.wat", "--fuel", "1000000000000000", "--record", "i.fozzy"];
    let mut child = fozzy.start(&args);
    let keyboard = child.stdin.take();
    let mut said = BufReader::new(child.stdout.take().expect("it is a pipe")).lines().map_while(Result::ok);
    assert!(said.any(|line| line == "begins"), "it is at work");
    fozzy.shell(&format!("kill -INT {}", child.id())).exits(0);
    Ran::of(&args, wait::output(child)).exits(130);
    drop(keyboard);
    let replayed = fozzy.run(&["replay", "i.fozzy"]).exits(130);
    assert!(replayed.err().contains("the same run") && replayed.err().contains("INTERRUPTED"), "{replayed}");
    let document = fozzy.run(&["replay", "i.fozzy", "--json"]).exits(130).json();
    assert_eq!((&document["interrupted"], &document["status"]), (&true.into(), &"pass".into()), "{document}");
}

/// Says that it begins, and computes for ever.
const COMPUTES: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\07\00\00\00")
  (data (i32.const 16) "begins\0a")
  (func (export "_start")
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
    (loop $on (br $on))))"#;

#[test]
fn the_first_ctrl_c_ends_a_program_that_makes_no_calls() {
    let fozzy = Fozzy::new();
    fozzy.write("computes.wat", COMPUTES);
    let args = ["run", "-i", "computes.wat", "--fuel", "1000000000000000"];
    let mut child = fozzy.start(&args);
    let keyboard = child.stdin.take();
    let mut said = BufReader::new(child.stdout.take().expect("it is a pipe")).lines().map_while(Result::ok);
    assert!(said.any(|line| line == "begins"), "it is at work");
    fozzy.shell(&format!("kill -INT {}", child.id())).exits(0);
    let ended = Ran::of(&args, wait::output(child)).exits(130).err();
    assert!(ended.contains("makes no call at which it could end"), "{ended}");
    drop(keyboard);
}
