//! Every kind of file that a command takes, and everything that can be wrong with a file.
//!
//! ```text
//! plans, settings, traces, states, zips, dictionaries, scenarios, programs
//!      ×  empty, cut, of another type, nested, with two of a key, not UTF-8, huge, a folder, a link to itself, unreadable
//! ```
//!
//! Invariants: one error, exit code 2, in little time; and nothing new lies in the folder.

use super::TINY;
use crate::corpus;
use crate::fozzy::{Fozzy, repository};
use std::fs;
use std::os::unix::fs::symlink;

/// Commands, and what their file may be: nothing in it is a plan too, and `"text"` is a word of a dictionary.
const COMMANDS: &[(&str, &[&str])] = &[
    ("run tiny.wat --plan FILE", &["empty"]),
    ("env --config FILE", &["empty"]),
    ("replay FILE", &[]),
    ("report show FILE", &[]),
    ("artifacts ls FILE", &[]),
    ("artifacts bundle FILE --out bundle.zip", &[]),
    ("explore counter.wasm --runs 1 --resume=FILE", &[]),
    ("corpus import FILE --out inputs", &[]),
    ("fuzz letters.wat --det --runs 2 --dict FILE", &["empty", "text"]),
    ("run scenario:FILE", &[]),
    ("inspect FILE", &[]),
];

fn folder() -> Fozzy {
    let fozzy = Fozzy::new();
    fozzy.write("tiny.wat", TINY);
    let letters = repository().join("tests/programs/letters.wat");
    fozzy.write("letters.wat", fs::read(letters).expect("it is committed"));
    fozzy.write("counter.wasm", fs::read(corpus::scenario("counter", false)).expect("it is built"));
    fozzy
}

fn refused(fozzy: &Fozzy, command: &str, file: &str) {
    let command = command.replace("FILE", file);
    let ran = fozzy.run(&command.split(' ').collect::<Vec<_>>());
    // What leads nowhere is named as it was given, or as nothing that could have been meant.
    ran.refuses(&[file]);
}

#[test]
fn whatever_a_file_is_instead_is_refused_by_name() {
    let fozzy = folder();
    fs::create_dir(fozzy.path("a-folder")).expect("a folder");
    // As root, too, these cannot be read.
    symlink("loop", fozzy.path("loop")).expect("a link");
    symlink("gone", fozzy.path("dangling")).expect("a link");
    symlink("/proc/self/mem", fozzy.path("unreadable")).expect("a link");
    let twice = r#"{"format": "fozzy-explore-state", "version": 1, "version": 1, "name": "a", "steps": []}"#;
    let contents: [(&str, Vec<u8>); 8] = [
        ("empty", Vec::new()),
        ("cut", br#"{"version": 1, "name": "a", "ste"#.to_vec()),
        ("list", b"[1]".to_vec()),
        ("text", b"\"text\"".to_vec()),
        ("nested", "[".repeat(100_000).into_bytes()),
        ("twice", twice.as_bytes().to_vec()),
        ("twice-toml", b"[limits]\nfuel = 1\nfuel = 2\n".to_vec()),
        ("bytes", b"\xff\xfe{\"name\": \"\xff\"}".to_vec()),
    ];
    for (name, content) in &contents {
        fozzy.write(name, content);
    }
    let before = fozzy.names();
    let names = contents.iter().map(|(name, _)| *name).chain(["a-folder", "loop", "dangling", "unreadable"]);
    for file in names {
        for (command, _) in COMMANDS.iter().filter(|(_, fine)| !fine.contains(&file)) {
            refused(&fozzy, command, file);
        }
        for command in [["validate", file, "--json"].as_slice(), &["trace", "verify", file, "--json"]] {
            let ran = fozzy.run(command);
            let code = if command[0] == "validate" && file == "empty" { 0 } else { 2 };
            assert!(ran.code == Some(code) && ran.json().is_object(), "{ran}");
        }
    }
    for file in ["a-folder", "loop", "dangling", "unreadable"] {
        refused(&fozzy, "run tiny.wat --stdin FILE", file);
    }
    assert_eq!(fozzy.names(), before, "nothing is left behind");
}

#[test]
fn a_hundred_megabytes_are_refused_where_nobody_writes_that_much() {
    let fozzy = folder();
    fozzy.write("huge", format!(r#"{{"version": 1, "name": "{}"}}"#, "x".repeat(100 << 20)));
    let before = fozzy.names();
    for (command, _) in COMMANDS.iter().filter(|(command, _)| !command.contains("bundle") && !command.contains("ls")) {
        refused(&fozzy, command, "huge");
    }
    assert_eq!(fozzy.names(), before, "nothing is left behind");
}
