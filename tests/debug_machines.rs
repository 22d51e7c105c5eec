//! Machines whose turn it is not, in a debugger: what they wait for, and their stacks.
//!
//! ```text
//! main    work ─ sleep ─ work ▲            the run is here
//! server  serve ─ nap(2) ░░░░░░            and nap, serve are the stack of this one
//! ```

use crate::corpus;
use crate::fozzy::{Fozzy, repository};
use crate::wait;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Sleeps for some nanoseconds in a function with a local, as often as it likes; `work` is called between.
fn sleeper(nanoseconds: u64, times: u32) -> String {
    format!(
        "(module (import \"wasi_snapshot_preview1\" \"poll_oneoff\" (func $poll (param i32 i32 i32 i32) (result i32)))
          (memory (export \"memory\") 1)
          (func $work (param i32) (result i32) (i32.mul (local.get 0) (i32.const 3)))
          (func $nap (param i32)
            (i32.store (i32.const 512) (local.get 0))
            (i32.store (i32.const 16) (i32.const 1))
            (i64.store (i32.const 24) (i64.const {nanoseconds}))
            (drop (call $poll (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 256))))
          (func $run (export \"_start\") (local $turn i32)
            (loop $again
              (drop (call $work (local.get $turn)))
              (call $nap (local.get $turn))
              (br_if $again (i32.lt_u (local.tee $turn (i32.add (local.get $turn) (i32.const 1))) (i32.const {times}))))))"
    )
}

/// Three machines: one ends at once, one sleeps all the time, and the main one works five times, a second apart.
pub(crate) fn recorded() -> Fozzy {
    let fozzy = Fozzy::new();
    fozzy.write("main.wat", sleeper(1_000_000_000, 5));
    fozzy.write("server.wat", sleeper(700_000_000, 100));
    fozzy.write("short.wat", "(module (memory (export \"memory\") 1) (func (export \"_start\")))");
    let node = |name: &str| format!("[[node]]\nname = \"{name}\"\ncomponent = \"{name}.wat\"\nends = \"any\"\n");
    fozzy.write("plan.toml", node("server") + &node("short"));
    fozzy.run(&["run", "main.wat", "--plan", "plan.toml", "--record", "run.fozzy", "--no-store"]).exits(0);
    fozzy
}

/// What each command printed.
fn said(fozzy: &Fozzy, commands: &[&str]) -> Vec<String> {
    fozzy.write("commands", commands.join("\n"));
    let output = fozzy.run(&["debug", "run.fozzy", "--commands", "commands"]).out();
    let parts: Vec<&str> = output.split("(fozzy) ").skip(1).collect();
    assert_eq!(parts.len(), commands.len(), "{output}");
    parts.iter().zip(commands).map(|(part, command)| part[command.len()..].trim().to_owned()).collect()
}

#[test]
fn a_machine_that_waits_has_a_stack_and_values() {
    let fozzy = recorded();
    // At two seconds and a bit, the server naps for the third time.
    let commands = [
        "goto time 2s",
        "info machines",
        "machine server",
        "bt",
        "info wasm",
        "x 512:1",
        "where",
        "machine short",
        "machine nobody",
        "machine main",
        "where",
        "machine 1",
        "stepi",
        "bt",
        "goto time 2200ms",
        "thread 1",
        "info wasm",
        "goto start",
        "machine main",
        "goto end",
        "info machines",
        "machine server",
    ];
    let found = said(&fozzy, &commands);
    assert!(found[1].contains("server: waits for ") && found[1].contains("main: runs"), "{found:#?}");
    assert!(found[1].contains("short: has ended"), "{found:#?}");
    assert!(found[1].lines().any(|line| line.contains("      nap at ")), "{found:#?}");
    assert!(found[2].starts_with("1 server: waits for ") && found[2].contains("#0  nap at "), "{found:#?}");
    assert!(found[3].contains("*#0  nap at ") && found[3].contains(" #1  run at "), "{found:#?}");
    assert_eq!((found[4].as_str(), &found[6]), ("$0 = 2", &found[2]), "{found:#?}");
    assert!(found[5].contains("02"), "{found:#?}");
    assert_eq!(found[7], "short has ended, and has no stack");
    assert!(found[8].starts_with("there is no machine `nobody`"), "{found:#?}");
    assert!(found[9].starts_with("0 main: runs") && found[10].starts_with("position "), "{found:#?}");
    assert!(found[12].starts_with("position ") && found[12].contains(" on main, "), "{found:#?}");
    assert_eq!(found[16], "$0 = 3", "{found:#?}");
    assert!(found[18].starts_with("main has not begun, and has no stack"), "{found:#?}");
    assert_eq!(found[20], "", "{found:#?}");
    assert!(found[21].starts_with("there is no machine"), "{found:#?}");
}

#[test]
fn a_replay_that_stops_shows_the_memory_of_each_machine() {
    let fozzy = recorded();
    let shown = |memory: &[&str]| {
        let words = memory.iter().flat_map(|word| ["--memory", *word]);
        let args: Vec<&str> = ["replay", "run.fozzy", "--until", "1500ms"].into_iter().chain(words).collect();
        fozzy.run(&[&args[..], &["--json"]].concat())
    };
    let state = shown(&["server:512:4", "512:4", "main:512:4"]).exits(0).json();
    let numbers = |place: usize| {
        let symbols = state["memory"][place]["symbols"].as_array().into_iter().flatten();
        symbols.map(|symbol| symbol["number"].as_u64().expect("four bytes")).collect::<Vec<_>>()
    };
    // One naps each second, the other one each 0.7 s.
    assert_eq!(
        (&state["memory"][1]["node"], numbers(0), numbers(1)),
        (&"server".into(), vec![1, 1], vec![2]),
        "{state:#}"
    );
    let refused = |word: &str, words: &[&str]| {
        fozzy.run(&["replay", "run.fozzy", "--until", "1500ms", "--memory", word]).refuses(words).err()
    };
    assert!(refused("serber:512:4", &["no machine is called `serber`"]).contains("did you mean `server:512:4`?"));
    refused("server:TURNS", &["--memory server:TURNS", "no static variable of this name"]);
    refused("server:0xffffffff:9", &["are not all in the program's memory"]);
}

#[test]
fn an_editor_sees_the_stacks_of_all_threads() {
    let modules = corpus::debug_client();
    let fozzy = recorded();
    let mut child = fozzy.start(&["debug", "run.fozzy", "--dap-port", "0"]);
    let mut said = String::new();
    BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut said).expect("text");
    let port = said.trim().rsplit(':').next().expect("a port").to_owned();
    let mut node = Command::new("node");
    node.arg(repository().join("tests/debug_adapter/threads.js")).arg(port);
    let output = wait::run(node.env("NODE_PATH", modules).stdin(Stdio::null()));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let expected = "main: run, wasi:cli/run@0.2.12#run; local 0 = 1\n\
                    server (waits for TIME): nap, run, wasi:cli/run@0.2.12#run; local 0 = 2\n\
                    short (has ended): ; \n";
    let words: Vec<String> = out.lines().map(without_time).collect();
    assert_eq!(words.join("\n") + "\n", expected, "{out}{err}");
    assert!(wait::exit(&mut child).success());
}

/// The line without the moment at which a wait ends.
fn without_time(line: &str) -> String {
    match (line.find("(waits for "), line.find("): ")) {
        (Some(from), Some(to)) => format!("{}(waits for TIME{}", &line[..from], &line[to..]),
        _ => line.to_owned(),
    }
}
