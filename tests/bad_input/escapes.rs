//! Names and messages that a terminal would obey: every command shows them as text.

use crate::fozzy::Fozzy;
use std::fs;

/// Clears the screen, sets the title, goes back to the beginning of the line, turns text around; in two encodings.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;t\u{7}\r\u{9b}2J\u{202e}x";

/// A program that traps after it has written a hostile line; its function has a hostile name.
fn program() -> String {
    let escaped: String = HOSTILE.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    let length = HOSTILE.len();
    format!(
        "(module
           (import \"wasi_snapshot_preview1\" \"fd_write\" (func $write (param i32 i32 i32 i32) (result i32)))
           (memory (export \"memory\") 1)
           (data (i32.const 0) \"\\10\\00\\00\\00\\{length:02x}\\00\\00\\00\")
           (data (i32.const 16) \"{escaped}\")
           (func $\"a{escaped}\" unreachable)
           (func (export \"_start\") (drop (call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8))) (call $\"a{escaped}\")))"
    )
}

/// Whether a terminal would obey any of it.
fn obeyed(text: &str) -> Option<char> {
    text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t') || *c == '\u{202e}')
}

#[test]
fn nothing_that_is_shown_is_obeyed_by_a_terminal() {
    let fozzy = Fozzy::new();
    let name = format!("a{HOSTILE}.wat");
    fozzy.write(&name, program());
    let trace = format!("t{HOSTILE}.fozzy");
    fs::create_dir(fozzy.path("corpus")).expect("a folder");
    fozzy.write(&format!("corpus/c{HOSTILE}"), "an input");
    fozzy.write("plan.toml", format!("[limits]\n\"k{}\" = 1\n", HOSTILE.escape_unicode()));
    fozzy.write("plan2.toml", format!("[{HOSTILE}]\n"));
    let missing = format!("missing{HOSTILE}");
    let commands: Vec<Vec<&str>> = vec![
        vec!["run", &name, "--record", &trace],
        vec!["replay", &trace],
        vec!["replay", &trace, "--dump-events"],
        vec!["trace", "show", &trace],
        vec!["trace", "verify", &trace],
        vec!["report", "show", "latest"],
        vec!["report", "show", "latest", "--format", "junit"],
        vec!["report", "query", "latest", "--list-paths"],
        vec!["artifacts", "ls", "latest"],
        vec!["artifacts", "pack", &trace, "--out", "out.zip"],
        vec!["shrink", &trace],
        vec!["ci", &trace],
        vec!["inspect", &name],
        vec!["coverage", &trace],
        vec!["corpus", "list", "corpus"],
        vec!["corpus", "export", "corpus", "--out", "c.zip"],
        vec!["test", &name],
        vec!["validate", "plan.toml"],
        vec!["validate", "plan2.toml"],
        vec!["run", &missing],
        vec![&missing],
        vec!["run", &name, "--seed", &missing],
        vec!["--cwd", &missing, "env"],
    ];
    for command in commands {
        for json in [false, true] {
            let args = if json { [&command[..], &["--json"]].concat() } else { command.clone() };
            let ran = fozzy.run(&args);
            // What the program itself has written is passed on as it is to whoever is no terminal.
            let own = ran.err().replace(HOSTILE, "");
            assert_eq!((obeyed(&ran.out()), obeyed(&own)), (None, None), "\n{ran}");
            if json {
                ran.json();
            }
        }
    }
}
