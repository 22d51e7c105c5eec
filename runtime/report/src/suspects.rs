//! What `fozzy suspects` prints: what goes with a failure, over many runs.
//!
//! ```text
//! fozzy suspects 23 of 200 runs fail  assertion at total is constant
//!   score failing   passing   by chance
//!   1.00  23 of 23  0 of 177  < 0.0001  line src/lib.rs:47
//! ```
//!
//! Invariant: the text says nothing that the document does not; what goes with a failure need not be its cause, and nothing here says so.
//! Not here: how runs are compared (`fozzy-campaign`).

use crate::pretty::{Style, counted, fit, fit_ends, grouped, wrapped};
use crate::{Layout, TargetSummary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// `fozzy.suspects.v1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuspectsDocument {
    /// Always `fozzy.suspects.v1`.
    pub schema_version: String,
    /// The program.
    pub target: TargetSummary,
    /// The failure that is looked into.
    pub failure: String,
    /// Runs that fail so.
    pub failing: u64,
    /// Runs that pass.
    pub passing: u64,
    /// Runs that fail otherwise, which do not count.
    #[serde(default, skip_serializing_if = "is_none")]
    pub failing_otherwise: u64,
    /// Their failures, the most frequent ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherFailure>,
    /// Whether it was stopped before its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// What goes with the failure, the closest first.
    pub suspects: Vec<Suspect>,
    /// How many there are in all.
    pub compared: u64,
    /// What a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A failure that is not looked into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OtherFailure {
    /// Its signature.
    pub failure: String,
    /// Runs that have it.
    pub runs: u64,
}

/// Something that is in some runs and not in others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suspect {
    /// What it is. Several that are in the very same runs are one suspect.
    pub things: Vec<SuspectThing>,
    /// How many more are in the same runs.
    #[serde(default, skip_serializing_if = "is_none")]
    pub more: u64,
    /// It is that these are not there that goes with the failure. Passing runs are then compared up to where a failing one has failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub absent: bool,
    /// Ochiai's coefficient, from 0 to 1: failing runs with it, by the square root of failing runs times runs with it.
    pub score: f64,
    /// Failing runs with it.
    pub failing_with: u64,
    /// Failing runs without it.
    pub failing_without: u64,
    /// Passing runs with it; of what is absent, those in which it is absent by then.
    pub passing_with: u64,
    /// Passing runs without it; of what is absent, those in which it is there by then.
    pub passing_without: u64,
    /// At the most how likely it is that something of all that was compared goes so well with the failures although none has to do with them: Fisher's
    /// exact test, times the number of suspects.
    pub by_chance: f64,
}

/// One thing of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuspectThing {
    /// `line`, `branch`, `fault`, `flow`, `property`, `call`, `log`, `decision` or `message`.
    pub kind: SuspectKind,
    /// The source file, of a line or a branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// In words: the way of a branch, the fault, the line of a log with `#` for numbers, who decides what, a message with its machines.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub what: String,
}

/// What kind of thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SuspectKind {
    /// A line of the program's own code ran.
    Line,
    /// A branch of it went this way.
    Branch,
    /// A planned fault struck.
    Fault,
    /// A flow of the scenario ran, or had nothing to do.
    Flow,
    /// A property was evaluated, or held.
    Property,
    /// A machine asked this of its computer.
    Call,
    /// A line of output.
    Log,
    /// Something was decided so: by chance, by an input.
    Decision,
    /// A message between machines, or that it was late or lost, or came twice.
    Message,
}

impl SuspectKind {
    /// Its name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SuspectKind::Line => "line",
            SuspectKind::Branch => "branch",
            SuspectKind::Fault => "fault",
            SuspectKind::Flow => "flow",
            SuspectKind::Property => "property",
            SuspectKind::Call => "call",
            SuspectKind::Log => "log",
            SuspectKind::Decision => "decision",
            SuspectKind::Message => "message",
        }
    }
}

/// Things of one suspect that are printed.
const THINGS_SHOWN: usize = 6;

fn is_none(number: &u64) -> bool {
    *number == 0
}

impl SuspectThing {
    /// One that stands in no source.
    #[must_use]
    pub fn new(kind: SuspectKind, what: String) -> SuspectThing {
        SuspectThing { kind, file: None, line: None, what }
    }

    /// `line src/lib.rs:47`.
    #[must_use]
    pub fn shown(&self) -> String {
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!(" {file}:{line}"),
            (Some(file), None) => format!(" {file}"),
            (None, _) => String::new(),
        };
        let what = if self.what.is_empty() { String::new() } else { format!(" {}", self.what) };
        format!("{}{place}{what}", self.kind.name())
    }
}

fn chance(by_chance: f64) -> String {
    match by_chance {
        ..0.0001 => "< 0.0001".to_owned(),
        ..0.995 => format!("{by_chance:.4}"),
        _ => "1".to_owned(),
    }
}

impl Layout for SuspectsDocument {
    fn lay_out(&self, style: Style) -> String {
        let Style { faint, end, .. } = style;
        let runs = self.failing + self.passing;
        let heading = format!("fozzy suspects  {} of {} fail: ", grouped(self.failing), counted(runs, "run"));
        let mut text = format!("{heading}{}\n", fit_ends(&self.failure, style.room(heading.chars().count())));
        let of = |number: u64, all: u64| format!("{} of {}", grouped(number), grouped(all));
        // As wide as the largest numbers, so that a row fits a terminal of 80 characters.
        let column = |all: u64| of(all, all).chars().count().max("failing".len()) + 2;
        let (failing_column, passing_column) = (column(self.failing), column(self.passing));
        let numbers_width = 6 + failing_column + passing_column + 10;
        if !self.suspects.is_empty() {
            let header = format!("{:<6}{:<failing_column$}{:<passing_column$}by chance", "score", "failing", "passing");
            let _ = writeln!(text, "  {faint}{header}{end}");
        }
        for suspect in &self.suspects {
            let Suspect { things, more, absent, score, failing_with, passing_with, by_chance, .. } = suspect;
            let (failing, passing) = (of(*failing_with, self.failing), of(*passing_with, self.passing));
            // Rounded down: only what is in all failing runs and no other has 1.00.
            let score = (score * 100.0).floor() / 100.0;
            let numbers =
                format!("{score:<6.2}{failing:<failing_column$}{passing:<passing_column$}{:<10}", chance(*by_chance));
            let not = if *absent { "without " } else { "" };
            for (place, thing) in things.iter().take(THINGS_SHOWN).enumerate() {
                let numbers = if place == 0 { numbers.clone() } else { " ".repeat(numbers.chars().count()) };
                let _ = writeln!(
                    text,
                    "  {numbers}{}",
                    fit_ends(&format!("{not}{}", thing.shown()), style.room(2 + numbers_width))
                );
            }
            let left = things.len().saturating_sub(THINGS_SHOWN) as u64 + more;
            if left > 0 {
                let more = format!("and {} more in the same runs", grouped(left));
                let _ = writeln!(text, "  {}{}", " ".repeat(numbers_width), fit(&more, style.room(2 + numbers_width)));
            }
        }
        if self.failing_otherwise > 0 {
            let runs = counted(self.failing_otherwise, "more run");
            let _ = writeln!(text, "note: {runs} failed otherwise, and do not count; --failure asks about:");
        }
        for OtherFailure { failure, runs } in &self.others {
            let _ = writeln!(text, "{}", fit_ends(&format!("  {}: {failure}", counted(*runs, "run")), style.room(0)));
        }
        if self.interrupted {
            text.push_str("note: interrupted; other runs were not executed\n");
        }
        for warning in &self.warnings {
            for line in wrapped(&format!("note: {warning}"), style.room(0)) {
                let _ = writeln!(text, "{line}");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Digest;

    #[test]
    fn what_goes_with_the_failure_stands_with_its_numbers() {
        let thing = |line| SuspectThing {
            kind: SuspectKind::Line,
            file: Some("src/lib.rs".to_owned()),
            line: Some(line),
            what: String::new(),
        };
        let suspect = Suspect {
            things: vec![thing(47), thing(48)],
            more: 0,
            absent: false,
            score: 0.979,
            failing_with: 23,
            failing_without: 0,
            passing_with: 1,
            passing_without: 176,
            by_chance: 1e-9,
        };
        let absent = Suspect { absent: true, by_chance: 0.25, more: 2, ..suspect.clone() };
        let document = SuspectsDocument {
            schema_version: "fozzy.suspects.v1".to_owned(),
            target: TargetSummary {
                name: "bank.wasm".to_owned(),
                digest: Digest::of(b"bank"),
                kind: "component".to_owned(),
            },
            failure: "assertion at total is constant".to_owned(),
            failing: 23,
            passing: 177,
            failing_otherwise: 2,
            others: vec![OtherFailure { failure: "hang at main".to_owned(), runs: 2 }],
            interrupted: false,
            suspects: vec![suspect, absent],
            compared: 40,
            warnings: Vec::new(),
        };
        let text = document.lay_out(Style::PLAIN.on(100, ""));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "fozzy suspects  23 of 200 runs fail: assertion at total is constant");
        assert_eq!(lines[2], "  0.97  23 of 23  1 of 177    < 0.0001  line src/lib.rs:47");
        assert_eq!(lines[3].trim(), "line src/lib.rs:48");
        assert!(lines[4].ends_with("0.2500    without line src/lib.rs:47"), "{text}");
        assert!(lines[6].ends_with("and 2 more in the same runs"), "{text}");
        assert!(lines[7].starts_with("note: 2 more runs failed otherwise"), "{text}");
        assert_eq!(lines[8], "  2 runs: hang at main");
        let mut large = document;
        (large.failing, large.passing) = (5_000, 5_000);
        large.suspects[0].things[0].what = "a".repeat(200);
        large.suspects[0].things[1].file = Some(format!("{}/lib.rs", "deep/".repeat(20)));
        large.warnings.push("of 12 runs ".repeat(20));
        large.failure = format!("panic at {}/bank.rs:12", "deep/".repeat(20));
        large.others[0].failure = format!("panic at {}/till.rs:13", "deep/".repeat(20));
        for width in [80, 100] {
            let text = large.lay_out(Style::PLAIN.on(width, ""));
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            let whole = text.lines().filter(|line| line.contains('…') && line.ends_with("/lib.rs:48")).count();
            assert_eq!(whole, 1, "its line is not what is cut off: {text}");
            let ends = |end: &str| text.lines().any(|line| line.ends_with(end));
            assert!(ends("/bank.rs:12") && ends("/till.rs:13"), "nor that of a failure: {text}");
        }
    }
}
