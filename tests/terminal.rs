//! What a person sees and types: the line that says how long work goes, and programs that are talked to; through a terminal of our own.
//!
//! ```text
//! fozzy explore … ── standard error is a terminal ─▶ `12s  3,456 runs, 2880/s … Ctrl-C stops`, in place, and gone at the end
//! ```
//!
//! Not here: what the line says of which numbers (`campaign/src/progress.rs`).
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "the standard library opens no terminals")]

use crate::corpus;
use crate::fozzy::{Fozzy, binary};
use crate::fuzz::module;
use crate::wait;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

/// Takes the line away.
const CLEAR: &str = "\r\x1b[2K";

/// A new terminal: the side that shows, and the side that programs write to.
fn terminal() -> (File, OwnedFd) {
    let (mut master, mut slave) = (-1, -1);
    let size = libc::winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the two numbers are written before it returns, and the other pointers may be null or are read only.
    let opened = unsafe {
        libc::openpty(&raw mut master, &raw mut slave, std::ptr::null_mut(), std::ptr::null(), &raw const size)
    };
    assert_eq!(opened, 0, "no terminal: {}", std::io::Error::last_os_error());
    // SAFETY: both were just opened, and nobody else has them.
    unsafe { (File::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) }
}

/// The command on a terminal, and what that shows.
fn start(fozzy: &Fozzy, words: &[&str]) -> (Child, Arc<Mutex<Vec<u8>>>) {
    let (screen, side) = terminal();
    let other = side.try_clone().expect("a file descriptor");
    let mut command = fozzy.command(binary());
    command.args(words).stdin(Stdio::null()).stdout(Stdio::from(other)).stderr(Stdio::from(side));
    let child = command.spawn().expect("it starts");
    (child, watched(screen))
}

/// What a terminal shows, as far as it has come.
fn watched(mut screen: File) -> Arc<Mutex<Vec<u8>>> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&seen);
    std::thread::spawn(move || {
        let mut chunk = [0; 4096];
        // When the last program has closed its side, reading fails.
        while let Ok(read @ 1..) = screen.read(&mut chunk) {
            into.lock().expect("nobody panicked").extend_from_slice(&chunk[..read]);
        }
    });
    seen
}

fn text(seen: &Mutex<Vec<u8>>) -> String {
    String::from_utf8_lossy(&seen.lock().expect("nobody panicked")).into_owned()
}

/// Runs it until the line is seen, and then stops it as Ctrl-C does; what was shown in all.
fn watch(fozzy: &Fozzy, words: &[&str], line: &str) -> String {
    let (mut child, seen) = start(fozzy, words);
    wait::while_running(&mut child, &format!("`{line}` of {words:?}"), || text(&seen).contains(line));
    fozzy.shell(&format!("kill -INT {}", child.id())).exits(0);
    wait::until("the end", || !wait::runs(&mut child));
    wait::until("the summary", || text(&seen).contains("report    "));
    text(&seen)
}

#[test]
fn a_campaign_shows_how_it_goes_and_how_to_stop_it() {
    let fozzy = Fozzy::new();
    let program = fozzy.write("calm.wat", module("")).display().to_string();
    let puzzles = corpus::scenario("puzzles", true).display().to_string();
    let fuzz = ["fuzz", &program, "--corpus", "corpus"];
    let explore = ["explore", &puzzles, "--env", "PUZZLE=maze-8", "--no-seeds", "--time", "10m"];
    for words in
        [fuzz.to_vec(), [&fuzz[..], &["--jobs", "2"]].concat(), explore.to_vec(), [&explore[..], &["-w", "2"]].concat()]
    {
        let shown = watch(&fozzy, &words, "Ctrl-C stops");
        let (before, summary) = shown.rsplit_once(CLEAR).expect("the line");
        assert!(before.contains("/s  "), "{words:?}: {shown:?}");
        assert!(summary.contains("INTERRUPTED") && !summary.contains("Ctrl-C"), "{words:?}: {shown:?}");
        // Without a bound it is said at once how it ends.
        assert_eq!(shown.contains("it has no bound"), words[0] == "fuzz", "{words:?}: {shown:?}");
    }
}

#[test]
fn a_suite_shows_what_it_runs_and_shrinking_how_small_it_is() {
    let fozzy = Fozzy::new();
    let till = crate::fozzy::repository().join("scenarios/till/till.fozzy.json").display().to_string();
    let ended = |words: &[&str]| {
        let (mut child, seen) = start(&fozzy, words);
        wait::until("the end", || !wait::runs(&mut child));
        wait::until("the summary", || text(&seen).contains("report    "));
        text(&seen)
    };
    let suite = ended(&["test", &till, "--jobs", "2"]);
    assert!(suite.contains(&format!("{CLEAR}0/1  ")), "{suite:?}");
    fozzy.run(&["explore", &till, "--runs", "50", "--no-seeds", "--no-shrink", "--record", "lost.fozzy"]).exits(1);
    let shrunk = ended(&["shrink", "lost.fozzy"]);
    assert!(shrunk.contains("s left"), "{shrunk:?}");
    assert!(!shrunk.rsplit(CLEAR).next().expect("a part").contains("s left"), "{shrunk:?}");
}

/// A program on a terminal that is talked to: what it shows, and where a person types.
fn talk(fozzy: &Fozzy, words: &[&str]) -> (Child, Arc<Mutex<Vec<u8>>>, File) {
    let (screen, side) = terminal();
    let other = || side.try_clone().expect("a file descriptor");
    let mut command = fozzy.command(binary());
    command.args(words).stdin(Stdio::from(other())).stdout(Stdio::from(other())).stderr(Stdio::from(side));
    let child = command.spawn().expect("it starts");
    let keyboard = screen.try_clone().expect("a file descriptor");
    (child, watched(screen), keyboard)
}

fn types(keyboard: &mut File, keys: &str) {
    keyboard.write_all(keys.as_bytes()).expect("somebody reads");
}

/// Each key is typed when what it answers is seen: a prompt has no line end.
#[test]
fn a_program_is_talked_to_by_hand_and_replayed_without_a_terminal() {
    let fozzy = Fozzy::new();
    let program = crate::fozzy::repository().join("tests/programs/repl.wat").display().to_string();
    let (mut child, seen, mut keyboard) = talk(&fozzy, &["run", "-i", &program, "--record", "talk.fozzy"]);
    wait::while_running(&mut child, "the prompt", || text(&seen).contains("> "));
    types(&mut keyboard, "hello\n");
    wait::while_running(&mut child, "the answer", || text(&seen).contains("you said: hello\r\n> "));
    // Its colours are passed on; what sets a title is shown as text.
    types(&mut keyboard, "\x1b[1mbold\x1b]0;t\n");
    wait::while_running(&mut child, "the colour", || text(&seen).contains("you said: \x1b[1mbold\\u{1b}]0;t\r\n> "));
    // Ctrl-D is the end of input.
    types(&mut keyboard, "\x04");
    wait::until("the end", || !wait::runs(&mut child));
    wait::until("the summary", || text(&seen).contains("report    "));
    assert!(text(&seen).contains("bye") && text(&seen).contains("PASS"), "{}", text(&seen));
    let replay = fozzy.run(&["replay", "talk.fozzy"]).exits(0);
    assert_eq!(replay.out(), "> you said: hello\n> you said: \x1b[1mbold\x1b]0;t\n> bye\n");
    assert!(replay.err().contains("the same run"), "{}", replay.err());
}

#[test]
fn a_dialogue_that_is_interrupted_is_kept() {
    let fozzy = Fozzy::new();
    let program = crate::fozzy::repository().join("tests/programs/repl.wat").display().to_string();
    let (mut child, seen, mut keyboard) = talk(&fozzy, &["run", "-i", &program, "--record", "cut.fozzy"]);
    wait::while_running(&mut child, "the prompt", || text(&seen).contains("> "));
    types(&mut keyboard, "hello\n");
    wait::while_running(&mut child, "the answer", || text(&seen).contains("you said: hello\r\n> "));
    fozzy.shell(&format!("kill -INT {}", child.id())).exits(0);
    let ended = wait::exit(&mut child);
    wait::until("the summary", || text(&seen).contains("report    "));
    wait::until("who ended it", || text(&seen).contains("interrupted: the run ends"));
    assert_eq!(ended.code(), Some(130));
    // It is no failure, and says so.
    assert!(text(&seen).contains("fozzy run INTERRUPTED"), "{}", text(&seen));
    let report = fozzy.run(&["report", "show", "latest", "--format", "json"]).exits(0).json();
    assert_eq!(
        (&report["interrupted"], &report["status"], &report["findings"]),
        (&true.into(), &"pass".into(), &serde_json::Value::Null)
    );
    for alias in ["last-fail", "last-pass"] {
        fozzy.run(&["replay", alias]).refuses(&["names no run"]);
    }
    let replay = fozzy.run(&["replay", "cut.fozzy"]).exits(130);
    assert_eq!(replay.out(), "> you said: hello\n> ");
    let said = replay.err();
    assert!(said.contains("the same run") && said.contains("INTERRUPTED"), "{said}");
}

#[test]
fn a_run_without_an_end_says_how_it_ends() {
    let fozzy = Fozzy::new();
    fozzy.write("spin.wat", r#"(module (memory (export "memory") 1) (func (export "_start") (loop (br 0))))"#);
    let (mut child, seen, _) = talk(&fozzy, &["run", "spin.wat", "--fuel", "1000000000000"]);
    wait::while_running(&mut child, "the line", || text(&seen).contains("at work for"));
    assert!(text(&seen).contains("Ctrl-C stops it, --fuel N ends it earlier"), "{}", text(&seen));
    fozzy.shell(&format!("kill -INT {}", child.id())).exits(0);
    assert_eq!(wait::exit(&mut child).code(), Some(130));
}
