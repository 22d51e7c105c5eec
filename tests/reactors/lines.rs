//! Traps in rewritten code are where they are in the source, whatever was put in.
//!
//! ```text
//! depth · coverage · marks · accessor · comparisons · fuel ─▶ the same frames, and the line that trapped
//! ```

use super::guests::{Guest, LEDGER, WALKER};
use super::walk::{PLAIN, program, start};
use fozzy_engine::{Build, CallError, CoverageMode};
use fozzy_trace::outcome::StackFrame;

/// The only line of `source` that holds `words`, from 1.
fn line_of(source: &str, words: &str) -> u32 {
    let lines: Vec<usize> =
        source.lines().enumerate().filter(|(_, line)| line.contains(words)).map(|(number, _)| number + 1).collect();
    assert_eq!(lines.len(), 1, "`{words}` stands in one line");
    lines[0] as u32
}

/// How the guest ends in a step, the same in every build.
fn backtrace(guest: &Guest, builds: &[Build], kind: u32) -> Vec<StackFrame> {
    let ended = |build: &Build| {
        let mut reactor = start(program(guest, build), 1);
        let mut steps = (guest.open)(&mut reactor);
        for kind in 0..guest.kinds {
            steps(&mut reactor, (kind, 70)).expect("it answers");
        }
        match steps(&mut reactor, (kind, 3)) {
            Err(CallError::Ended { backtrace, .. }) => backtrace,
            other => panic!("{} {kind}: {other:?}", guest.name),
        }
    };
    let first = ended(&builds[0]);
    for build in &builds[1..] {
        assert_eq!(ended(build), first, "{}, {kind}: another stack under {build:?}", guest.name);
    }
    first
}

#[track_caller]
fn check(guest: &Guest, builds: &[Build], kind: u32, file: &str, source: &str, words: &str) {
    let backtrace = backtrace(guest, builds, kind);
    let places = backtrace.iter().filter_map(|frame| Some((frame.source.file.as_deref()?, frame.source.line?)));
    let own: Vec<(&str, u32)> = places.filter(|(path, _)| path.ends_with(file)).collect();
    let line = line_of(source, words);
    assert_eq!(own.first().map(|(_, line)| *line), Some(line), "{}, {kind}: {backtrace:#?}", guest.name);
}

#[test]
fn a_trap_is_at_its_line_in_every_build() {
    let all = Build { comparisons: true, coverage: CoverageMode::Counters, ..Build::exact() };
    let builds = [(PLAIN.build)(), Build::fast(), Build::exact(), all];
    let ledger = include_str!("../guests/c/ledger.c");
    check(&LEDGER, &builds, 13, "/ledger.c", ledger, "(0xf0000000u + value) = value;");
    // The compiler keeps one call of `abort` for all places that have one.
    let functions: Vec<String> = backtrace(&LEDGER, &builds, 12).into_iter().map(|frame| frame.function).collect();
    assert_eq!(functions, ["abort", "step"]);
    let walker = include_str!("../guests/walker/src/lib.rs");
    let builds = [Build::fast(), Build::exact()];
    check(&WALKER, &builds, 15, "walker/src/lib.rs", walker, "panic!(\"asked to panic");
    // The compiler has left no line for this one.
    let functions = backtrace(&WALKER, &builds, 16);
    assert!(functions.iter().any(|frame| frame.function == "step"), "{functions:#?}");
}
