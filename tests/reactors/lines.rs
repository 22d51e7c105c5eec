//! Traps in rewritten code are where they are in the source, whatever was put in.
//!
//! ```text
//! depth · coverage · marks · accessor · comparisons · fuel ─▶ the same frames, and the line that trapped
//! ```

use super::guests::{Guest, LEDGER, WALKER};
use super::walk::{PLAIN, program, start};
use fozzy_engine::{Build, CallError, Coverage};
use fozzy_trace::outcome::Frame;

/// The only line of `source` that holds `words`, from 1.
fn line_of(source: &str, words: &str) -> u32 {
    let lines: Vec<usize> =
        source.lines().enumerate().filter(|(_, line)| line.contains(words)).map(|(number, _)| number + 1).collect();
    assert_eq!(lines.len(), 1, "`{words}` stands in one line");
    lines[0] as u32
}

/// How the guest ends in a step, in every build.
fn backtraces(guest: &Guest, builds: &[Build], kind: u32) -> Vec<Vec<Frame>> {
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
    builds.iter().map(ended).collect()
}

#[track_caller]
fn check(guest: &Guest, builds: &[Build], kind: u32, file: &str, source: &str, words: &str) {
    let line = line_of(source, words);
    let backtraces = backtraces(guest, builds, kind);
    for (backtrace, build) in backtraces.iter().zip(builds) {
        assert_eq!(*backtrace, backtraces[0], "{}, {kind}: another stack under {build:?}", guest.name);
    }
    let places = backtraces[0].iter().filter_map(|frame| Some((frame.source.file.as_deref()?, frame.source.line?)));
    let own: Vec<(&str, u32)> = places.filter(|(path, _)| path.ends_with(file)).collect();
    assert_eq!(own.first().map(|(_, line)| *line), Some(line), "{}, {kind}: {:#?}", guest.name, backtraces[0]);
}

#[test]
fn a_trap_is_at_its_line_in_every_build() {
    let all = Build { comparisons: true, coverage: Coverage::Counters, ..Build::exact() };
    let builds = [(PLAIN.build)(), Build::fast(), Build::exact(), all];
    let ledger = include_str!("../guests/c/ledger.c");
    check(&LEDGER, &builds, 13, "/ledger.c", ledger, "(0xf0000000u + value) = value;");
    check(&LEDGER, &builds, 12, "/ledger.c", ledger, "case 12: abort();");
    let walker = include_str!("../guests/walker/src/lib.rs");
    let builds = [Build::fast(), Build::exact()];
    check(&WALKER, &builds, 15, "walker/src/lib.rs", walker, "panic!(\"asked to panic");
    check(&WALKER, &builds, 16, "walker/src/lib.rs", walker, "core::arch::wasm32::unreachable()");
}
