//! Conformance: one guest, two hosts, the same answers.
//!
//! ```text
//! guest ─┬─▶ wasmtime-wasi, a real temporary directory as `/` ─▶ `case: answer` ─┐
//!        └─▶ fozzy,         a virtual disk as `/`             ─▶ `case: answer` ─┴─▶ equal, or in DIFFERENCES
//! ```
//!
//! Invariants: every function of the vendored WIT has a case that really calls it, or a row of `functions::EXEMPT`; a known
//! difference that disappears fails as well as an unknown one. Not here: sequences of file operations nobody thought of
//! (`fozzy-live` compares random ones).

mod differences;
mod functions;
mod http;
mod preview1;
mod sides;

use crate::corpus::{self, Target};
use differences::{DIFFERENCES, Difference, OF_THE_VIRTUAL_DISK};
use sides::{Ours, Seen, Side, TheirModule, Theirs};
use std::collections::{BTreeMap, BTreeSet};

/// Cases that the suite has at least; fewer means that the guest lost a table.
const CASES_MIN: usize = 150;

/// What standard input holds for cases that stand alone.
const STDIN: &[u8] = b"first line\nsecond line\nthe third and last line\n";

/// What follows the name of a case on the command line.
const EXTRA_ARGUMENTS: &[&str] = &["two words", "\"quoted\" and 'single'", "", "gr\u{f6}\u{df}e \u{1f980}"];

/// What each case shows, by its name.
type Answers = BTreeMap<String, String>;

/// The guest's list: each case with whether it stands alone.
fn list(side: &dyn Side) -> Vec<(String, bool)> {
    let listed = side.run(&["--list"], b"").text();
    let row = |line: &str| {
        let (company, name) = line.split_once(' ').expect("two words at least");
        (name.to_owned(), company == "alone")
    };
    listed.lines().map(row).collect()
}

/// What each case answers on one side. What is seen of a case that stands alone is its output and its end.
fn answers(side: &dyn Side) -> Answers {
    let cases = list(side);
    let together = side.run(&[], b"");
    assert_eq!(together.end, "exit 0", "the cases that run together end well:\n{}", together.text());
    let together = together.text();
    let mut answers = Answers::new();
    for line in together.lines() {
        let (name, answer) = line.split_once(": ").unwrap_or_else(|| panic!("no answer in {line:?}"));
        assert!(answers.insert(name.to_owned(), answer.to_owned()).is_none(), "two cases are called `{name}`");
    }
    for (name, _) in cases.iter().filter(|(_, alone)| *alone) {
        let arguments = ["--alone", name.as_str()].iter().chain(EXTRA_ARGUMENTS).copied().collect::<Vec<_>>();
        let seen = side.run(&arguments, STDIN);
        let said = String::from_utf8_lossy(&seen.stderr);
        assert!(!said.contains("panicked"), "`{name}` traps by the guest's own doing:\n{said}");
        assert!(answers.insert(name.clone(), seen.describe()).is_none(), "two cases are called `{name}`");
    }
    assert_eq!(answers.len(), cases.len(), "every case of the list ran");
    answers
}

/// Every way in which the two sides differ otherwise than `known` says.
fn surprises(theirs: &Answers, ours: &Answers, known: &[&[Difference]]) -> Vec<String> {
    let known: Vec<&Difference> = known.iter().copied().flatten().collect();
    let mut surprises = Vec::new();
    for (case, theirs) in theirs {
        let ours = ours.get(case).map_or("(no such case)", String::as_str);
        match known.iter().find(|row| row.case == *case) {
            Some(row) if row.theirs == theirs && row.ours == ours => {}
            None if theirs == ours => {}
            Some(Difference { theirs: t, ours: o, .. }) => {
                surprises.push(format!("{case}\n  theirs {theirs}\n   known {t}\n  ours   {ours}\n   known {o}"));
            }
            None => surprises.push(format!("{case}\n  theirs {theirs}\n  ours   {ours}")),
        }
    }
    let gone = known.iter().filter(|row| !theirs.contains_key(row.case));
    surprises.extend(gone.map(|row| format!("{}\n  is in DIFFERENCES and not among the cases", row.case)));
    surprises
}

#[test]
#[allow(clippy::print_stdout, reason = "the number of cases, for a reader of the log")]
fn every_case_is_answered_as_by_wasmtime_wasi() {
    let guest = corpus::conformance();
    let (their_side, our_side) = (Theirs::of(&guest), Ours::of(&guest));
    input_that_comes_later_is_read_as_by_wasmtime_wasi(&their_side, &our_side);
    let (theirs, ours) = (answers(&their_side), answers(&our_side));
    let surprises = surprises(&theirs, &ours, &[DIFFERENCES, OF_THE_VIRTUAL_DISK]);
    assert!(surprises.is_empty(), "{} of {} cases:\n{}", surprises.len(), theirs.len(), surprises.join("\n"));
    assert!(ours.len() >= CASES_MIN, "{} cases", ours.len());
    println!("conformance: {} cases, {} known differences", ours.len(), DIFFERENCES.len() + OF_THE_VIRTUAL_DISK.len());
}

/// Standard input that comes in pieces, as a channel in virtual time: each case that reads it, with several ways to cut it.
#[allow(clippy::print_stdout, reason = "the number of cases, for a reader of the log")]
fn input_that_comes_later_is_read_as_by_wasmtime_wasi(theirs: &Theirs, ours: &Ours) {
    let reads = |name: &str| name.contains("standard input") || name.starts_with("cli/stdin.");
    let names: Vec<String> =
        list(ours).into_iter().filter(|(name, alone)| *alone && reads(name)).map(|row| row.0).collect();
    let bytes: Vec<&[u8]> = STDIN.chunks(1).collect();
    let lines: Vec<&[u8]> = STDIN.split_inclusive(|byte| *byte == b'\n').collect();
    let later: Vec<&[u8]> = [&[][..]].into_iter().chain(lines.iter().copied()).collect();
    let (halves, threes): (Vec<&[u8]>, Vec<&[u8]>) = (STDIN.chunks(24).collect(), STDIN.chunks(3).collect());
    let cuts: [&[&[u8]]; 7] = [&[STDIN], &[], &bytes, &lines, &later, &halves, &threes];
    let mut surprises = Vec::new();
    for name in &names {
        for (number, pieces) in cuts.iter().enumerate() {
            let arguments = ["--alone", name.as_str()];
            let [theirs, ours] = [theirs.run_in_pieces(&arguments, pieces), ours.run_in_pieces(&arguments, pieces)];
            let (theirs, ours) = (theirs.describe(), ours.describe());
            if theirs != ours {
                surprises.push(format!("{name}, cut {number}\n  theirs {theirs}\n  ours   {ours}"));
            }
        }
    }
    let cases = names.len() * cuts.len();
    assert!(surprises.is_empty(), "{} of {cases} cases:\n{}", surprises.len(), surprises.join("\n"));
    assert!(cases >= 70, "{cases} cases of input that comes later");
    println!("conformance: {cases} cases of input that comes later, no differences");
}

#[test]
fn the_real_disk_answers_as_by_wasmtime_wasi_and_its_capture_replays_without_it() {
    let guest = corpus::conformance();
    let (theirs, live) = (answers(&Theirs::of(&guest)), answers(&Ours::of(&guest).live()));
    let surprises = surprises(&theirs, &live, &[DIFFERENCES]);
    assert!(surprises.is_empty(), "{} of {} cases:\n{}", surprises.len(), theirs.len(), surprises.join("\n"));
}

#[test]
fn every_function_of_the_wit_has_a_case_that_calls_it() {
    let ours = Ours::of(&corpus::conformance());
    let (mut named, mut called) = (BTreeSet::new(), ours.calls(&[], b""));
    for (case, alone) in list(&ours) {
        let function = format!("wasi:{}", case.split(' ').next().unwrap_or_default());
        if alone {
            let calls = ours.calls(&["--alone", &case], STDIN);
            assert!(calls.contains(&function), "`{case}` does not call {function}");
            called.extend(calls);
        }
        named.insert(function);
    }
    let wanted = functions::of_the_wit();
    let missing: Vec<_> =
        wanted.iter().filter(|function| !named.contains(*function) || !called.contains(*function)).collect();
    assert!(missing.is_empty(), "no case in tests/guests/conformance names and calls {missing:#?}");
    let invented: Vec<_> = named.difference(&wanted).collect();
    assert!(invented.is_empty(), "cases name what is no function of the WIT: {invented:#?}");
}

#[test]
fn a_difference_is_seen_whether_it_comes_or_goes() {
    let answers =
        |rows: &[(&str, &str)]| rows.iter().map(|(case, seen)| ((*case).to_owned(), (*seen).to_owned())).collect();
    let known = [Difference { case: "b", theirs: "1", ours: "2", reason: "meant" }];
    let theirs: Answers = answers(&[("a", "1"), ("b", "1")]);
    assert!(surprises(&theirs, &answers(&[("a", "1"), ("b", "2")]), &[&known]).is_empty());
    for (ours, seen) in [
        (answers(&[("a", "2"), ("b", "2")]), "a\n  theirs 1\n  ours   2"),
        (answers(&[("a", "1"), ("b", "1")]), "b\n  theirs 1\n   known 1\n  ours   1\n   known 2"),
        (answers(&[("b", "2")]), "a\n  theirs 1\n  ours   (no such case)"),
    ] {
        assert_eq!(surprises(&theirs, &ours, &[&known]), [seen]);
    }
    let only = answers(&[("a", "1")]);
    assert_eq!(surprises(&only, &only, &[&known]), ["b\n  is in DIFFERENCES and not among the cases"]);
}

#[test]
fn every_exception_still_exempts_something() {
    let all = functions::all();
    for (prefix, reason) in functions::EXEMPT {
        assert!(all.iter().any(|function| function.starts_with(prefix)), "nothing begins with `{prefix}` ({reason})");
    }
    for row in DIFFERENCES.iter().chain(OF_THE_VIRTUAL_DISK) {
        assert!(row.theirs != row.ours && !row.reason.is_empty(), "`{}` is no difference", row.case);
    }
}

/// Invocations of the probe whose output says nothing of time, chance or the network. Through `std`.
const INVOCATIONS: &[&[&str]] = &[
    &["files", "/"],
    &["files", "/tmp"],
    &["write", "/tmp/a", "text"],
    &["write", "/missing/a", "text"],
    &["read", "/missing"],
    &["read", "/tmp"],
    &["ls", "/"],
    &["ls", "/missing"],
    &["args", "two words", "", "gr\u{f6}\u{df}e"],
    &["env"],
    &["stdin"],
    &["stderr"],
    &["thread"],
    &["exit", "0"],
    &["exit", "1"],
    &["exit", "3"],
    &["panic"],
    &["abort"],
    &["unreachable"],
    &["divzero"],
    &["oob"],
    &["alloc", "3"],
    &["stdout-flood", "1"],
    &["no such mode"],
];

#[test]
fn a_program_behaves_as_on_wasmtime_wasi_through_std() {
    for target in Target::ALL {
        let probe = corpus::probe(target);
        let theirs: Box<dyn Side> = match target {
            Target::Wasip1 => Box::new(TheirModule::of(&probe)),
            Target::Wasip2 => Box::new(Theirs::of(&probe)),
        };
        let ours = Ours::of(&probe);
        for arguments in INVOCATIONS {
            let [theirs, ours] = [&*theirs, &ours as &dyn Side].map(|side| sorted(side.run(arguments, STDIN)));
            assert!(
                theirs == ours,
                "{target:?} {arguments:?}\n  theirs {}\n  ours   {}",
                theirs.describe(),
                ours.describe()
            );
        }
    }
}

/// Hosts list directories in any order; the probe prints them in that.
fn sorted(seen: Seen) -> Seen {
    let is_entry = |line: &&[u8]| line.starts_with(b"entry");
    let lines = || seen.stdout.split_inclusive(|byte| *byte == b'\n');
    let mut entries: Vec<&[u8]> = lines().filter(is_entry).collect();
    entries.sort_unstable();
    let rest = lines().filter(|line| !is_entry(line));
    let stdout = rest.chain(entries.iter().copied()).collect::<Vec<_>>().concat();
    Seen { stdout, ..seen }
}

impl Seen {
    /// Standard output of a guest that writes text.
    fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).expect("the guest writes text")
    }

    /// Both outputs and the end, on one line. What a panic says names a line of the guest, which is no answer of the host.
    fn describe(&self) -> String {
        let shown = |bytes: &[u8]| match bytes.len() {
            0..=200 => format!("\"{}\"", bytes.escape_ascii()),
            length => format!("{length} bytes, {}", fozzy_trace::Digest::of(bytes)),
        };
        let stderr = if self.end == "trap" { "(not compared)".to_owned() } else { shown(&self.stderr) };
        format!("{}, stdout {}, stderr {stderr}", self.end, shown(&self.stdout))
    }
}
