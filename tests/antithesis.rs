//! A program with Antithesis' own SDK for Rust, unchanged from the registry: what it says is understood.
//!
//! ```text
//! tests/guests/antithesis ─▶ run      properties, events, each random number a decision
//!                            explore  the planted failure, by its decisions; the trace replays
//! writes its lines itself    ─▶ run      faults from `setup_complete` on; long lines, broken ones
//! ```

use crate::corpus;
use crate::fozzy::Fozzy;
use serde_json::Value;

fn prepared() -> Fozzy {
    let fozzy = Fozzy::new();
    std::fs::copy(corpus::component("antithesis"), fozzy.path("a.wasm")).expect("it is built");
    fozzy
}

fn properties(document: &Value) -> Vec<(String, String, String)> {
    let text = |property: &Value, key: &str| property[key].as_str().unwrap_or_default().to_owned();
    let rows = document["properties"].as_array().expect("there are some").iter();
    rows.map(|row| (text(row, "name"), text(row, "kind"), text(row, "state"))).collect()
}

#[test]
fn its_assertions_are_properties_and_its_events_are_in_the_history() {
    let fozzy = prepared();
    let ran = fozzy.run(&["run", "a.wasm", "--seed", "1", "--json", "--record", "a.fozzy"]).exits(0).json();
    let row = |name: &str, kind: &str, state: &str| (name.to_owned(), kind.to_owned(), state.to_owned());
    assert_eq!(
        properties(&ran),
        [
            row("an impossible mix", "sometimes", "never-true"),
            row("beyond the range", "unreachable", "passed"),
            row("left is in range", "always", "passed"),
            row("left is large", "sometimes", "never-true"),
            row("left is out of range", "sometimes", "never-true"),
            row("no blue jackpot", "always", "passed"),
            row("right is below its bound", "always", "passed"),
            row("right is in range", "always-or-unreachable", "passed"),
            row("the end of the range", "reachable", "never-reached"),
        ]
    );
    assert_eq!(ran["warnings"], Value::Null, "every line is understood");
    let history = fozzy.run(&["trace", "show", "a.fozzy"]).exits(0).out();
    for event in ["(\"setup_complete\", \"{\\\"rounds\\\":1}\")", "(\"drawn\", \"{\\\"colour\\\""] {
        assert!(history.contains(event), "{event} in\n{history}");
    }
    fozzy.run(&["replay", "a.fozzy"]).exits(0);
    let lines = fozzy.run(&["report", "show", "latest", "--format", "antithesis"]).exits(0).out();
    let declared = lines.lines().filter(|line| line.contains("\"hit\":false")).count();
    assert_eq!(declared, 9, "{lines}");
}

#[test]
fn its_random_numbers_are_searched_one_by_one() {
    let fozzy = prepared();
    let one = fozzy.run(&["run", "a.wasm", "--seed", "1", "--json"]).exits(0).json();
    assert_eq!(one["decisions"].as_u64(), Some(3), "two numbers and a choice: {one:#}");
    let explored =
        fozzy.run(&["explore", "a.wasm", "--runs", "1000", "--stop", "failure", "--no-shrink", "--record", "f.fozzy"]);
    let said = format!("{}{}", explored.exits(1).out(), fozzy.run(&["replay", "f.fozzy"]).exits(1).err());
    assert!(said.contains("`no blue jackpot` does not hold"), "{said}");
}

/// Writes to a file, says that its setup is complete, and writes again: the first is to work, the second is not.
const SETS_UP: &str = r#"(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "ANTITHESIS_SDK_LOCAL_OUTPUT")
  (data (i32.const 96) "antithesis.jsonl")
  (data (i32.const 128) "data")
  (data (i32.const 1024) "{\22antithesis_setup\22:{\22status\22:\22complete\22,\22details\22:{}}}\n")
  (func $file (param $at i32) (param $len i32) (result i32)
    (drop (call $open (i32.const 3) (i32.const 0) (local.get $at) (local.get $len) (i32.const 9)
      (i64.const 64) (i64.const 64) (i32.const 0) (i32.const 16)))
    (i32.load (i32.const 16)))
  (func $say (param $file i32) (param $at i32) (param $len i32) (result i32)
    (i32.store (i32.const 0) (local.get $at)) (i32.store (i32.const 4) (local.get $len))
    (call $write (local.get $file) (i32.const 0) (i32.const 1) (i32.const 8)))
  (func (export "_start") (local $sdk i32) (local $data i32)
    (local.set $sdk (call $file (i32.const 96) (i32.const 16)))
    (local.set $data (call $file (i32.const 128) (i32.const 4)))
    (if (call $say (local.get $data) (i32.const 128) (i32.const 4)) (then (call $exit (i32.const 1))))
    (drop (call $say (local.get $sdk) (i32.const 1024) (i32.const 59)))
    (if (i32.eqz (call $say (local.get $data) (i32.const 128) (i32.const 4))) (then (call $exit (i32.const 2))))))"#;

#[test]
fn faults_begin_when_the_setup_is_complete() {
    let fozzy = Fozzy::new();
    fozzy.write("plan.toml", "[[fault]]\nkind = \"write-error\"\ntarget = \"/data\"\nrate = \"100%\"\n");
    let run = |code| fozzy.run(&["run", "sets-up.wat", "--plan", "plan.toml", "--json"]).exits(code).json();
    fozzy.write("sets-up.wat", SETS_UP);
    run(0);
    // One that has no such line in it does not hold them back.
    fozzy.write("sets-up.wat", SETS_UP.replace("antithesis_setup", "antithesis_other"));
    assert_eq!(run(1)["warnings"], Value::Null);
    fozzy.write("sets-up.wat", SETS_UP.replace("complete", "complexx"));
    assert!(run(1)["warnings"][0].to_string().contains("no fault was injected"), "it never says that it is complete");
}

/// A program that writes to the SDK's file: `head`, a number of times 64 KiB of `v`, and `tail`.
fn writes(head: &[u8], fillers: u32, tail: &[u8]) -> String {
    let data = |bytes: &[u8]| bytes.iter().map(|byte| format!("\\{byte:02x}")).collect::<String>();
    assert!(head.len() < 16 << 10 && tail.len() < 16 << 10, "they have their places in memory");
    format!(
        r#"(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 64) "ANTITHESIS_SDK_LOCAL_OUTPUT")
  (data (i32.const 96) "antithesis.jsonl")
  (data (i32.const 1024) "{head}")
  (data (i32.const 32768) "{tail}")
  (func $say (param $at i32) (param $len i32)
    (i32.store (i32.const 0) (local.get $at)) (i32.store (i32.const 4) (local.get $len))
    (drop (call $write (i32.load (i32.const 16)) (i32.const 0) (i32.const 1) (i32.const 8))))
  (func (export "_start") (local $left i32)
    (drop (call $open (i32.const 3) (i32.const 0) (i32.const 96) (i32.const 16) (i32.const 9)
      (i64.const 64) (i64.const 64) (i32.const 0) (i32.const 16)))
    (memory.fill (i32.const 65536) (i32.const 118) (i32.const 65536))
    (call $say (i32.const 1024) (i32.const {head_bytes}))
    (local.set $left (i32.const {fillers}))
    (block $done (loop $more
      (br_if $done (i32.eqz (local.get $left)))
      (call $say (i32.const 65536) (i32.const 65536))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br $more)))
    (call $say (i32.const 32768) (i32.const {tail_bytes}))))"#,
        head = data(head),
        tail = data(tail),
        head_bytes = head.len(),
        tail_bytes = tail.len(),
    )
}

/// An assertion in which `from` is something else.
fn says(condition: bool, from: &str, to: &[u8]) -> Vec<u8> {
    let line = format!(
        r#"{{"antithesis_assert":{{"assert_type":"always","condition":{condition},"details":{{}},"hit":true,"message":"m","must_hit":true,"location":{{"file":"r.c","begin_line":1}}}}}}"#
    );
    let (before, behind) = line.split_once(from).expect("it is there");
    [before.as_bytes(), to, behind.as_bytes(), b"\n"].concat()
}

#[test]
fn no_assertion_is_lost_whatever_its_bytes_are() {
    let fozzy = Fozzy::new();
    let (message, details) = ("\"message\":\"m\"", "\"details\":{}");
    let fails = says(false, message, message.as_bytes());
    let other_kind = says(true, "\"always\"", b"\"sometimes\"");
    let deep = format!("\"details\":{}{}", "[".repeat(200), "]".repeat(200));
    let split = |line: &[u8]| {
        let at = line.windows(5).position(|bytes| bytes == b"SPLIT").expect("it is there");
        (line[..at].to_vec(), line[at + 5..].to_vec())
    };
    let (long_head, long_tail) = split(&says(false, details, b"\"details\":{\"k\":\"SPLIT\"}"));
    let (name_head, name_tail) = split(&says(false, message, b"\"message\":\"SPLIT\""));
    let alone = |line: Vec<u8>| (line, 0, Vec::new());
    for (name, (head, fillers, tail), code, said) in [
        ("details", (long_head.clone(), 40, long_tail.clone()), 1, "`m` does not hold"),
        ("message", (name_head, 16, name_tail), 1, "` does not hold"),
        ("utf8", alone(says(false, message, b"\"message\":\"a\xff\xfeb\"")), 1, "b` does not hold"),
        ("surrogate", alone(says(false, message, br#""message":"a\ud800b""#)), 1, "b` does not hold"),
        ("control", alone(says(false, message, b"\"message\":\"a\x1b\x01b\"")), 1, "b` does not hold"),
        ("deep", alone(says(false, details, deep.as_bytes())), 1, "`m` does not hold"),
        ("no-end", alone(fails[..fails.len() - 1].to_vec()), 1, "`m` does not hold"),
        ("too-long", (long_head, 260, long_tail), 2, "is longer than 16777216 bytes"),
        ("cut", alone(fails[..fails.len() - 9].to_vec()), 2, "ends in the middle, after "),
        ("unknown", alone(says(false, "\"always\"", b"\"never\"")), 2, "but `never`"),
        ("holds", alone(says(true, message, message.as_bytes())), 0, "PASS"),
        ("kinds", alone([&*other_kind, &*says(true, "m", b"m")].concat()), 2, "two properties are called `m`"),
        ("kinds-fail", alone([&*other_kind, &*says(true, "m", b"m"), &*fails].concat()), 1, "`m` does not hold"),
        ("kinds-both", alone([&*other_kind, &*fails].concat()), 1, "two properties are called `m`"),
    ] {
        let file = format!("{name}.wat");
        fozzy.write(&file, writes(&head, fillers, &tail));
        let trace = format!("{name}.fozzy");
        let ran = fozzy.run(&["run", &file, "--record", &trace]).exits(code);
        let all = format!("{}{}", ran.out(), ran.err());
        assert!(all.contains(said), "{name}: {said} in\n{all}");
        fozzy.run(&["replay", &trace]).exits(code);
    }
}

#[test]
fn a_campaign_tells_what_a_program_has_left_for_its_end() {
    let fozzy = Fozzy::new();
    let message = "\"message\":\"m\"";
    let fails = says(false, message, message.as_bytes());
    let holds = says(true, message, message.as_bytes());
    let kinds = [&*says(true, "\"always\"", b"\"sometimes\""), &*holds].concat();
    for (name, head, said) in [
        ("no-end", fails[..fails.len() - 1].to_vec(), "`m` does not hold"),
        ("kinds", kinds, "two properties are called `m`"),
    ] {
        let file = format!("{name}.wat");
        fozzy.write(&file, writes(&head, 0, b""));
        let fuzzed = fozzy.run(&["fuzz", &file, "--stdin", "--runs", "20", "--seed", "1"]);
        let all = format!("{}{}", fuzzed.out(), fuzzed.err());
        assert!(all.contains(said), "{name}: {said} in\n{all}");
    }
}
