//! What can be searched beside fuzz targets and properties: programs, functions by their types, handlers of requests,
//! sequences of scenarios. Each finding is an ordinary trace that replays alone.

use super::{campaign, replays_alone, signatures};
use crate::corpus;
use crate::fozzy::Fozzy;
use serde_json::Value;

/// A program of WASI preview 1 that reads its input in the way that `read` says, to address 1024 with its length in `$n`.
fn program(imports: &str, read: &str) -> String {
    format!(
        r#"(module
            (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            {imports}
            (memory (export "memory") 1)
            (data (i32.const 8) "in/a.txt")
            (func (export "_start") (local $n i32)
                {read}
                (if (i32.lt_u (local.get $n) (i32.const 4)) (then (return)))
                (if (i32.eq (i32.load8_u (i32.const 1024)) (i32.const 69)) (then (call $exit (i32.const 3))))
                (if (i32.eq (i32.load (i32.const 1024)) (i32.const 0x21475542)) (then unreachable))))"#
    )
}

const FD_READ: &str =
    r#"(import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))"#;

/// Reads from the descriptor that `$n` holds.
const READ: &str = "
    (i32.store (i32.const 100) (i32.const 1024))
    (i32.store (i32.const 104) (i32.const 4096))
    (if (call $read (local.get $n) (i32.const 100) (i32.const 1) (i32.const 108)) (then unreachable))
    (local.set $n (i32.load (i32.const 108)))";

fn first<'a>(summary: &'a Value, key: &str) -> &'a Value {
    &summary["fuzz"]["findings"][0][key]
}

#[test]
fn a_program_is_run_again_with_each_input_as_its_standard_input_and_may_exit_as_it_likes() {
    let fozzy = Fozzy::new();
    let target = fozzy.write("tool.wat", program(FD_READ, &format!("(local.set $n (i32.const 0)) {READ}")));
    let ran = campaign(&fozzy, &target, 0, 3_000, &["--stdin", "--crash-only", "--minimize"]).exits(4);
    let summary = ran.json();
    assert!(ran.err().contains("runs the program again"), "{}", ran.err());
    assert_eq!(summary["fuzz"]["execution"], "re-execution");
    assert!(signatures(&summary)[0].starts_with("trap at wasm `unreachable`"), "{summary}");
    let smaller = first(&summary, "minimizedInputPath").as_str().or(first(&summary, "inputPath").as_str());
    assert_eq!(fozzy.read(smaller.expect("a path")), b"BUG!");
    // The trace is that of a run: no seed of a search, no decisions.
    replays_alone(&fozzy, first(&summary, "tracePath"), 4);
    fozzy.write("bug", "BUG!");
    fozzy.run(&["run", "tool.wat", "--stdin", "bug"]).exits(4);
    // The corpus of the first campaign is there, and with it an input that makes the program exit.
    let exits = campaign(&fozzy, &target, 0, 400, &["--stdin", "--fail-on-exit"]).exits(4).json();
    let place = signatures(&exits).iter().position(|word| word.ends_with("at exit code 3")).expect("it exits");
    replays_alone(&fozzy, &exits["fuzz"]["findings"][place]["tracePath"], 1);
}

/// `shrink` leaves this many bytes of a finding's input, wherever it stands.
#[track_caller]
fn shrinks_to(fozzy: &Fozzy, trace: &serde_json::Value, bytes: u64) {
    let args = ["shrink", trace.as_str().expect("a path"), "--out", "small.fozzy", "--json"];
    let small = fozzy.run(&args).exits(4).json();
    assert_eq!(small["shrink"]["after"]["inputBytes"], bytes, "{:#}", small["shrink"]);
    assert_eq!(fozzy.run(&["replay", "small.fozzy", "--json"]).exits(4).json()["replay"]["equal"], true);
}

#[test]
fn a_program_is_given_inputs_as_a_file_or_as_an_argument() {
    let fozzy = Fozzy::new();
    let open = r#"(import "wasi_snapshot_preview1" "path_open"
        (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))"#;
    let read = format!(
        "(if (call $open (i32.const 3) (i32.const 0) (i32.const 8) (i32.const 8) (i32.const 0) (i64.const 2)
            (i64.const 0) (i32.const 0) (i32.const 200)) (then unreachable))
         (local.set $n (i32.load (i32.const 200))) {READ}"
    );
    let target = fozzy.write("file.wat", program(&format!("{FD_READ}{open}"), &read));
    let more = ["--input-file", "/in/a.txt", "--crash-only"];
    let summary = campaign(&fozzy, &target, 0, 3_000, &more).exits(4).json();
    assert!(fozzy.read(first(&summary, "inputPath").as_str().expect("a path")).starts_with(b"BUG!"));
    replays_alone(&fozzy, first(&summary, "tracePath"), 4);
    shrinks_to(&fozzy, first(&summary, "tracePath"), 4);

    let args = r#"
        (import "wasi_snapshot_preview1" "args_sizes_get" (func $sizes (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))"#;
    // The last argument, which is copied to where the others expect it.
    let read = "
        (drop (call $sizes (i32.const 100) (i32.const 104)))
        (drop (call $args (i32.const 200) (i32.const 8192)))
        (local.set $n (i32.load (i32.sub (i32.add (i32.const 200) (i32.mul (i32.load (i32.const 100)) (i32.const 4)))
            (i32.const 4))))
        (i32.store (i32.const 1024) (i32.load (local.get $n)))
        (local.set $n (i32.const 4))";
    let target = fozzy.write("arg.wat", program(args, read));
    let summary = campaign(&fozzy, &target, 0, 3_000, &["--arg", "--crash-only"]).exits(4).json();
    replays_alone(&fozzy, first(&summary, "tracePath"), 4);
    shrinks_to(&fozzy, first(&summary, "tracePath"), 4);
    // What was kept is executed by other commands in the same way.
    let folder = summary["fuzz"]["corpusDir"].as_str().expect("a path").to_owned();
    let covered = fozzy.run(&["coverage", &folder, "--target", "arg.wat", "--input-arg", "--json"]).exits(0).json();
    assert!(covered["traces"].as_array().is_some_and(|inputs| !inputs.is_empty()), "{covered}");
}

#[test]
fn an_exported_function_is_called_with_arguments_of_its_types() {
    let fozzy = Fozzy::new();
    let peer = corpus::component("peer");
    fozzy.write("words.dict", "\"panic\"\n");
    let more = ["--function", "test:pair/peer#behave", "--crash-only", "--dict", "words.dict", "--mutator", "word"];
    let ran = campaign(&fozzy, &peer, 0, 2_000, &more).exits(4);
    let summary = ran.json();
    assert!(signatures(&summary)[0].contains(" at "), "{summary}");
    let arguments = first(&summary, "arguments").as_str().expect("they are said");
    assert!(arguments.starts_with("(\"") && arguments.ends_with("\")"), "{arguments}");
    assert!(ran.err().contains("called with (\""), "{}", ran.err());
    replays_alone(&fozzy, first(&summary, "tracePath"), 4);
    let trace = first(&summary, "tracePath").as_str().expect("a path").to_owned();
    let shown = fozzy.run(&["trace", "show", &trace]).exits(0).out();
    assert!(shown.contains("call.arguments") && shown.contains("peer@0.1.0#behave"), "{shown}");

    // Every type of value, there and back.
    let more = ["--function", "test:pair/peer@0.1.0#echo"];
    let summary = campaign(&fozzy, &peer, 0, 300, &more).exits(0).json();
    // The empty one, and one that was found: what was made up to begin with is no testcase.
    assert_eq!(summary["fuzz"]["corpus"], 2, "{summary}");
    let folder = summary["fuzz"]["corpusDir"].as_str().expect("a path").to_owned();
    let target = peer.display().to_string();
    let args = ["coverage", &folder, "--target", &target, "--function", "test:pair/peer#echo", "--json"];
    fozzy.run(&args).exits(0);
    let said = fozzy.run(&["fuzz", &target, "--function", "test:pair/peer#other"]).exits(2).err();
    assert!(said.contains("the function `test:pair/peer@0.1.0#behave`"), "{said}");
    let said = fozzy.run(&["fuzz", &target]).exits(2).err();
    assert!(said.contains("--function 'test:pair/peer@0.1.0#"), "{said}");
}

#[test]
fn a_function_with_a_resource_and_one_of_the_world_itself() {
    let fozzy = Fozzy::new();
    fozzy.write(
        "bare.wat",
        r#"(component
            (core module $m
                (memory (export "memory") 1)
                (func (export "check") (param i32 i32 f64 i32)
                    (if (i32.and (i32.eq (local.get 0) (i32.const 1)) (i32.eq (local.get 3) (i32.const 40000)))
                        (then unreachable))))
            (core instance $i (instantiate $m))
            (type $level' (enum "low" "high"))
            (export $level "level" (type $level'))
            (func (export "check") (param "level" $level) (param "letter" char) (param "size" f64) (param "n" u16)
                (canon lift (core func $i "check"))))"#,
    );
    let args = ["fuzz", "bare.wat", "--function", "check", "--runs", "4000", "--crash-only", "--json"];
    let summary = fozzy.run(&args).exits(4).json();
    let arguments = first(&summary, "arguments").as_str().expect("they are said");
    assert!(arguments.starts_with("(high, '") && arguments.ends_with(", 40000)"), "{arguments}");
    replays_alone(&fozzy, first(&summary, "tracePath"), 4);
    fozzy.write(
        "handle.wat",
        r#"(component
            (type $r' (resource (rep i32)))
            (export $r "r" (type $r'))
            (core module $m (func (export "take") (param i32)))
            (core instance $i (instantiate $m))
            (func (export "take") (param "it" (own $r)) (canon lift (core func $i "take"))))"#,
    );
    let said = fozzy.run(&["fuzz", "handle.wat", "--function", "take"]).exits(2).err();
    assert!(said.contains("the parameter `it` of `take` is or has a resource"), "{said}");
}

#[test]
fn a_handler_of_requests_is_sent_requests() {
    let fozzy = Fozzy::new();
    let handler = corpus::component("http-handler");
    fozzy.write("words.dict", "\"/panic\"\n");
    let more = ["--http", "--crash-only", "--dict", "words.dict", "--mutator", "word"];
    let summary = campaign(&fozzy, &handler, 0, 1_500, &more).exits(4).json();
    let request = first(&summary, "arguments").as_str().expect("it is said");
    assert!(request.starts_with("{method: get, path: \"/panic"), "{request}");
    replays_alone(&fozzy, first(&summary, "tracePath"), 4);
}

#[test]
fn the_sequences_of_a_scenario_are_searched() {
    let fozzy = Fozzy::new();
    let bank = corpus::scenario("bank", false);
    let ran = campaign(&fozzy, &bank, 0, 600, &["stateful", "--crash-only", "--flows", "60"]).exits(1);
    let summary = ran.json();
    assert_eq!(summary["fuzz"]["execution"], "sequence");
    replays_alone(&fozzy, first(&summary, "tracePath"), 1);
}

#[test]
fn findings_are_told_in_sarif_and_to_github_with_their_source_lines() {
    let fozzy = Fozzy::new();
    let parser = corpus::scenario("parser", false).display().to_string();
    let script =
        format!("GITHUB_ACTIONS=true fozzy fuzz {parser} --det --runs 800 --crash-only --sarif out.sarif --json");
    let ran = fozzy.shell(&script).exits(4);
    assert!(ran.err().contains("::error "), "{}", ran.err());
    assert!(ran.err().contains("title=panic at parser/src/lib.rs%3A23%3A30"), "{}", ran.err());
    let sarif: Value = serde_json::from_slice(&fozzy.read("out.sarif")).expect("it is JSON");
    // What the schema of 2.1.0 requires.
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "fozzy");
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"panic".into(), &"error".into()));
    assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()), "{result}");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["region"]["startLine"], 23);
    assert!(place["artifactLocation"]["uri"].as_str().is_some_and(|uri| uri.ends_with("src/lib.rs")), "{place}");
    assert!(run["tool"]["driver"]["rules"].as_array().is_some_and(|rules| rules[0]["id"] == "panic"));
    assert_eq!(result["partialFingerprints"]["fozzySignature/v1"], "panic at parser/src/lib.rs:23:30");
}

/// Reads standard input, and traps if it begins with `NO`.
const READS: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 32))
    (i32.store (i32.const 4) (i32.const 8))
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
    (if (i32.eq (i32.load8_u (i32.const 32)) (i32.const 78))
      (then (if (i32.eq (i32.load8_u (i32.const 33)) (i32.const 79)) (then unreachable))))))"#;

/// Reads standard input, and records an addition to a set that is never read.
const ADDS: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "fozzy:history/operations@0.1.0" "invoke" (func $invoke (param i32 i32 i32 i32 i32) (result i64)))
  (import "fozzy:history/operations@0.1.0" "ok" (func $ok (param i64 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "add1")
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 32))
    (i32.store (i32.const 4) (i32.const 8))
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
    (call $ok
      (call $invoke (i32.const 0) (i32.const 64) (i32.const 3) (i32.const 67) (i32.const 1))
      (i32.const 67) (i32.const 1))))"#;

#[test]
fn a_program_is_fuzzed_beside_the_machines_of_its_plan() {
    let fozzy = Fozzy::new();
    fozzy.write("reads.wat", READS);
    fozzy.write("other.wat", "(module (memory (export \"memory\") 1) (func (export \"_start\")))");
    fozzy.write("plan.toml", "[[node]]\nname = \"other\"\ncomponent = \"other.wat\"\n");
    let bounds = ["--plan", "plan.toml", "--runs", "20000", "--crash-only", "--json"];
    let found = fozzy.run(&[&["fuzz", "reads.wat", "--stdin"], &bounds[..]].concat()).exits(4).json();
    let finding = &found["fuzz"]["findings"][0];
    assert!(finding["input"]["hex"].as_str().is_some_and(|hex| hex.starts_with("4e4f")), "{found:#}");
    let trace = finding["tracePath"].as_str().expect("a path").to_owned();
    let replayed = fozzy.run(&["replay", &trace, "--json"]).exits(4).json();
    assert_eq!(replayed["replay"]["equal"], true);
    assert_eq!(replayed["nodes"][0]["name"], "other", "the other machine is in the trace");
    // What another machine compares guides it: three letters one by one, and a number that has something added to it.
    fozzy.write("sender.wat", include_str!("../programs/sender.wat"));
    fozzy.write("receiver.wat", include_str!("../programs/receiver.wat"));
    let receiver =
        "[[node]]\nname = 'receiver'\ncomponent = 'receiver.wat'\nends = 'never'\nstdin = { from = 'main' }\n";
    fozzy.write("sent.toml", receiver);
    let args = [
        "fuzz",
        "sender.wat",
        "--stdin",
        "--plan",
        "sent.toml",
        "--runs",
        "4000",
        "--crash-only",
        "--no-minimize",
        "--json",
    ];
    let found = fozzy.run(&args).exits(4).json();
    let finding = &found["fuzz"]["findings"][0];
    let wanted = format!("515a37{:08x}", (0x5eed_1234_u32 - 4711).swap_bytes());
    assert!(finding["input"]["hex"].as_str().is_some_and(|hex| hex.starts_with(&wanted)), "{found:#}");
    // Too few operations for a verdict are an error of a run, and no finding of many.
    fozzy.write("adds.wat", ADDS);
    fozzy.write(
        "set.toml",
        "[expect]\nhistory = [{ checker = 'set-full' }]\n[[node]]\nname = 'other'\ncomponent = 'other.wat'\n",
    );
    let run = fozzy.run(&["run", "adds.wat", "--plan", "set.toml", "--json"]).exits(2).json();
    assert_eq!(run["signature"]["site"], "set-full: undecided", "{run:#}");
    let words = ["fuzz", "adds.wat", "--stdin", "--plan", "set.toml", "--runs", "20", "--no-minimize", "--json"];
    let searched = fozzy.run(&words).exits(0).json();
    assert_eq!(searched["fuzz"]["findings"], serde_json::json!([]), "{searched:#}");
    // What a plan expects of runs is judged in each execution, too.
    let silent = ["fuzz", "reads.wat", "--stdin", "--runs", "3", "--expect-output", "done", "--crash-only", "--json"];
    let judged = fozzy.run(&silent).exits(1).json();
    assert_eq!(judged["signature"]["site"], "the output is not as expected", "{judged:#}");
}
