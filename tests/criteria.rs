//! What a run is held to: `--fail-on`, `--expect-output`, `--expect-exit`, `--check`, and `[expect]` of a plan.
//!
//! ```text
//! run ─ fails by a criterion ─▶ trace ─ alone, elsewhere ─▶ the same verdict
//! checkers   pass.wat fine │ exits.wat rejects │ fails.wat traps │ loops.wat never ends │ draws.wat disagrees with itself
//! ```
//!
//! Not here: the notation of plans (`fozzy-plan`), the words of findings (`fozzy-check`).

use crate::corpus;
use crate::fozzy::{Fozzy, repository};
use serde_json::Value;
use std::borrow::Cow;

/// A checker that draws a byte, and exits with its lowest bit.
const DRAWS: &str = r#"(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (drop (call $random (i32.const 8) (i32.const 64)))
    (call $exit (i32.rem_u (i32.load8_u (i32.const 9)) (i32.const 251)))))"#;

/// Prints two lines.
const SAYS: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 32) "one\ntwo\n")
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 32))
    (i32.store (i32.const 4) (i32.const 8))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))))"#;

/// Makes a directory, and exits with the error of that.
const MAKES: &str = r#"(module
  (import "wasi_snapshot_preview1" "path_create_directory" (func $make (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 32) "made")
  (func (export "_start")
    (call $exit (call $make (i32.const 3) (i32.const 32) (i32.const 4)))))"#;

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn program(name: &str) -> String {
    repository().join(format!("tests/programs/{name}.wat")).display().to_string()
}

/// The kind, the site and the status of what a run of a program that passes comes to under these flags.
fn judged(fozzy: &Fozzy, flags: &[&str]) -> (Value, Value) {
    let document = fozzy.run(&[&["run", &program("pass"), "--json"], flags].concat()).json();
    (document["status"].clone(), document["signature"]["site"].clone())
}

#[test]
fn a_checker_judges_a_run_and_one_without_a_verdict_is_an_error() {
    let fozzy = Fozzy::new();
    fozzy.write("draws.wat", DRAWS);
    let of = |checker: &str| judged(&fozzy, &["--check", checker]);
    assert_eq!(of(&program("pass")).0, "pass");
    assert_eq!(of(&program("exits")), ("fail".into(), "checker".into()));
    let unjudged = |why: &str| ("error".into(), format!("checker without a verdict: {why}").into());
    assert_eq!(of(&program("fails")), unjudged("it trapped: wasm `unreachable` instruction executed"));
    assert_eq!(of(&program("loops")), unjudged("it did not come to an end within # instructions"));
    let (status, why) = of("draws.wat");
    assert_eq!(status, "error");
    assert!(why.as_str().is_some_and(|why| why.contains("disagrees with itself")), "{why}");
    let none = fozzy.run(&["run", &program("pass"), "--check", "missing.wasm"]).exits(2);
    assert!(text(&none.stderr).contains("missing.wasm"), "{}", text(&none.stderr));
}

#[test]
fn a_program_that_a_fault_excuses_is_held_to_all_else() {
    let fozzy = Fozzy::new();
    fozzy.write("makes.wat", MAKES);
    let status = |flags: &[&str]| {
        let excused = ["run", "makes.wat", "--faults", "disk-full:100%", "--allow-error-exit", "--json"];
        fozzy.run(&[&excused, flags].concat()).json()["status"].clone()
    };
    assert_eq!((status(&[]), status(&["--check", &program("pass")])), ("pass".into(), "pass".into()));
    assert_eq!(status(&["--expect-output", "made"]), "fail");
    assert_eq!(status(&["--check", &program("exits")]), "fail");
}

/// Writes more `a` to standard output than is kept of a stream, then a last line, then says the same on standard error as one that
/// panics, and traps if it has an argument.
const WRITES_MUCH: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $arguments (param i32 i32) (result i32)))
  (memory (export "memory") 3)
  (data (i32.const 32) "Z\n")
  (data (i32.const 64) "\nthread 'main' (1) panicked at src/main.rs:41:9:\nboom\n")
  (func $put (param $to i32) (param $from i32) (param $bytes i32)
    (i32.store (i32.const 0) (local.get $from))
    (i32.store (i32.const 4) (local.get $bytes))
    (drop (call $write (local.get $to) (i32.const 0) (i32.const 1) (i32.const 16))))
  (func $fill (param $to i32) (local $times i32)
    (local.set $times (i32.const 65))
    (loop $next
      (call $put (local.get $to) (i32.const 65536) (i32.const 65536))
      (br_if $next (local.tee $times (i32.sub (local.get $times) (i32.const 1))))))
  (func (export "_start")
    (memory.fill (i32.const 65536) (i32.const 97) (i32.const 65536))
    (call $fill (i32.const 1))
    (call $put (i32.const 1) (i32.const 32) (i32.const 2))
    (drop (call $arguments (i32.const 20) (i32.const 24)))
    (if (i32.gt_u (i32.load (i32.const 20)) (i32.const 1)) (then
      (call $fill (i32.const 2))
      (call $put (i32.const 2) (i32.const 64) (i32.const 54))
      unreachable))))"#;

#[test]
fn streams_are_judged_to_their_end() {
    let fozzy = Fozzy::new();
    fozzy.write("much.wat", WRITES_MUCH);
    let whole = "a".repeat(65 << 16) + "Z\n";
    fozzy.write("whole.txt", &whole);
    fozzy.write("kept.txt", &whole[..4 << 20]);
    let of = |flags: &[&str]| {
        let document = fozzy.run(
            &[&["run", "much.wat", "--json", "--record", "much.fozzy", "--record-collision", "overwrite"], flags]
                .concat(),
        );
        let document = document.json();
        let (title, message) = (&document["findings"][0]["title"], &document["findings"][0]["message"]);
        let words = [title, message].map(|words| words.as_str().unwrap_or_default()).join("\n");
        (document["status"].clone(), words)
    };
    let (status, message) = of(&["--fail-on", "Z"]);
    assert_eq!(status, "fail");
    assert!(message.ends_with("aaaZ"), "{message}");
    let replayed = fozzy.run(&["replay", "much.fozzy", "--json"]).exits(1).json();
    assert_eq!(replayed["signature"]["site"], "output matches Z");
    assert_eq!(of(&["--fail-on", "Y"]).0, "pass");
    let (status, message) = of(&["--fail-on", "a+Y"]);
    assert_eq!(status, "error");
    assert!(message.contains("262144 bytes"), "{message}");
    assert_eq!(of(&["--expect-output", "@whole.txt"]).0, "pass");
    assert_eq!(of(&["--expect-output", "@kept.txt"]).0, "fail");
    let (status, message) = of(&["--check", &program("pass")]);
    assert_eq!(status, "error");
    assert!(message.contains("stdout of `main` has 4259842 bytes"), "{message}");
    let (status, message) = of(&["--", "panics"]);
    assert_eq!(status, "crash");
    assert!(message.contains("src/main.rs:41:9") && message.contains("boom"), "{message}");
}

#[test]
fn criteria_are_a_part_of_traces() {
    let fozzy = Fozzy::new();
    let plan = "[expect]\nexit = [0, 4]\n";
    fozzy.write("plan.toml", plan);
    let exits = program("exits");
    // A code that is allowed is none that fails, and a flag goes before the plan.
    fozzy.run(&["run", &exits, "--expect-exit", "0,3"]).exits(0);
    fozzy.run(&["run", &exits, "--plan", "plan.toml", "--expect-exit", "3"]).exits(0);
    let run = fozzy.run(&["run", &exits, "--plan", "plan.toml", "--record", "code.fozzy"]).exits(1);
    assert!(
        text(&run.stderr).contains("exited with code 3, and 0 or 4 is expected (--expect-exit"),
        "{}",
        text(&run.stderr)
    );
    let checker = program("exits");
    fozzy.run(&["run", &program("pass"), "--check", &checker, "--record", "checked.fozzy"]).exits(1);
    fozzy.run(&["run", &program("pass"), "--expect-output", "done", "--record", "output.fozzy"]).exits(1);
    let elsewhere = Fozzy::new();
    for (trace, site) in [("code", "exit code 3"), ("checked", "checker"), ("output", "the output is not as expected")]
    {
        let name = format!("{trace}.fozzy");
        elsewhere.write(&name, std::fs::read(fozzy.path(&name)).expect("it was written"));
        let replayed = elsewhere.run(&["replay", &name, "--json"]).exits(1).json();
        assert_eq!(replayed["replay"]["equal"], true, "{trace}");
        assert_eq!(replayed["signature"]["site"], site);
    }
}

#[test]
fn patterns_match_lines_of_any_machine() {
    let fozzy = Fozzy::new();
    fozzy.write("says.wat", SAYS);
    let run = |flags: &[&str]| fozzy.run(&[&["run", "says.wat", "--json"], flags].concat());
    let found = run(&["--fail-on", "^two$"]).exits(1).json();
    assert_eq!(found["signature"]["site"], "output matches ^two$");
    assert_eq!(run(&["--fail-on", "^wo"]).exits(0).json()["status"], "pass");
    assert_eq!(run(&["--expect-output", "one\ntwo"]).exits(0).json()["status"], "pass");
    fozzy.write("expected", "one\ntwo\n");
    assert_eq!(run(&["--expect-output", "@expected"]).exits(0).json()["status"], "pass");
    fozzy.write("plan.toml", "[[node]]\nname = \"other\"\ncomponent = \"says.wat\"\n");
    let peer = ["run", "says.wat", "--plan", "plan.toml", "--fail-on", "two", "--json"];
    assert_eq!(fozzy.run(&peer).exits(1).json()["status"], "fail");
    let refused = fozzy.run(&["run", "says.wat", "--fail-on", "a(b"]).exits(2);
    assert!(text(&refused.stderr).contains("unclosed group at character 2"), "{}", text(&refused.stderr));
    let scenario = corpus::scenario("counter", false).display().to_string();
    let refused = fozzy.run(&["explore", &scenario, "--runs", "1", "--fail-on", "x"]).exits(2);
    assert!(text(&refused.stderr).contains("which judges itself"), "{}", text(&refused.stderr));
}

#[test]
fn seeds_and_explorations_judge_as_runs_do() {
    let fozzy = Fozzy::new();
    // Whatever it draws, another program says that it failed.
    let (recorded, rejects) = (program("recorded"), program("exits"));
    let seeds = fozzy.run(&["run", &recorded, "--seeds", "3", "--check", &rejects, "--json"]).exits(1).json();
    assert_eq!(seeds["tests"]["failed"], 3, "{seeds:#}");
    let explore = ["explore", &recorded, "--runs", "3", "--check", &rejects, "--no-shrink", "--no-seeds", "--json"];
    let found = fozzy.run(&explore).exits(1).json();
    assert_eq!(found["signature"]["site"], "checker", "{found:#}");
}

/// In every run, in what was recorded of one and carried elsewhere, and in what searches find.
#[test]
fn operations_are_held_to_a_model_of_ones_own() {
    let fozzy = Fozzy::new();
    let model =
        std::fs::read_to_string(repository().join("tests/cli/check-model-component/last.wat")).expect("a model");
    let client = program("client");
    let plan = |model: &str| {
        let key = format!("[expect]\nhistory = [{{ checker = \"linearizable\", model = \"./models/{model}\" }}]\n");
        fozzy.write("plan.toml", key);
    };
    std::fs::create_dir(fozzy.path("models")).expect("a folder");
    fozzy.write("models/last.wat", &model);
    plan("last.wat");
    let run = |more: &[&str]| fozzy.run(&[&["run", &client, "--plan", "plan.toml", "--json"], more].concat());
    let seeds = run(&["--seeds", "0..20"]).exits(1).json();
    assert_eq!((&seeds["tests"]["passed"], &seeds["tests"]["failed"]), (&17.into(), &4.into()), "{seeds:#}");
    let failed = run(&["--seed", "1", "--record", "a.fozzy"]).exits(1).json();
    let site = "linearizable last.wat: not-linearizable";
    assert_eq!(failed["signature"]["site"], site, "{failed:#}");
    run(&["--seed", "0"]).exits(0);

    // The recording has the model with it.
    let other = Fozzy::new();
    std::fs::copy(fozzy.path("a.fozzy"), other.path("a.fozzy")).expect("a copy");
    let again = other.run(&["replay", "a.fozzy", "--json"]).exits(1).json();
    assert_eq!((&again["replay"]["equal"], &again["signature"]["site"]), (&true.into(), &site.into()), "{again:#}");
    let small = other.run(&["shrink", "a.fozzy", "--budget", "5s", "--json"]).exits(1).json();
    assert_eq!(small["signature"]["site"], site, "{small:#}");
    let explored = fozzy.run(&["explore", &client, "--plan", "plan.toml", "--runs", "60", "--json"]).exits(1).json();
    assert_eq!(explored["signature"]["site"], site, "{explored:#}");

    // What fails itself is no verdict; what is no model is none.
    let at = model.find("#readonly\")").expect("it is there");
    let at = at + model[at..].find("(result i32)").expect("its result") + "(result i32)".len();
    fozzy.write("models/traps.wat", format!("{} (unreachable){}", &model[..at], &model[at..]));
    plan("traps.wat");
    let trapped = run(&["--seed", "1"]).exits(2).json();
    assert_eq!(trapped["signature"]["site"], "linearizable traps.wat: failed model", "{trapped:#}");
    for (wrong, why) in [("none.wat", "cannot read"), ("client.wat", "fozzy:model/sequential@0.1.0#init")] {
        std::fs::copy(&client, fozzy.path("models/client.wat")).expect("a copy");
        plan(wrong);
        fozzy.run(&["run", &client, "--plan", "plan.toml"]).refuses(&[wrong, why]);
    }
}

#[test]
fn a_bank_is_held_to_what_its_plan_says_of_it() {
    let fozzy = Fozzy::new();
    let program = program("accounts");
    for (keys, code, site) in [
        ("", 0, Value::Null),
        ("total = 9", 0, Value::Null),
        ("accounts = [\"0\", \"1\"], total = 9", 0, Value::Null),
        ("total = 10", 1, "bank: wrong-total".into()),
        ("accounts = [\"0\"]", 1, "bank: unexpected-key".into()),
        // Texts are no numbers.
        ("accounts = [0, 1]", 1, "bank: unexpected-key".into()),
    ] {
        fozzy.write(
            "plan.toml",
            format!(
                "[expect]\nhistory = [{{ checker = \"bank\"{}{keys} }}]\n",
                if keys.is_empty() { "" } else { ", " }
            ),
        );
        let ran = fozzy.run(&["run", &program, "--plan", "plan.toml", "--json", "--no-store"]).exits(code).json();
        assert_eq!(ran["signature"]["site"], site, "{keys}: {ran:#}");
    }
    fozzy.write("plan.toml", "[expect]\nhistory = [{ checker = \"set-full\", total = 9 }]\n");
    fozzy.run(&["run", &program, "--plan", "plan.toml"]).refuses(&["set-full has no accounts and no total"]);
}
