//! What `fozzy mutants` prints: which small changes of a program no run notices.
//!
//! ```text
//! fozzy mutants 80.0 %  8 of 10 mutants are noticed
//!   comparison  3 of 4
//! not noticed:
//!   src/lib.rs:14  comparison  < became <=
//!       if taken < limit {
//! ```
//!
//! Invariant: the text says nothing that the document does not.
//! Not here: how mutants are made and executed (`fozzy-campaign`).

use crate::pretty::{Style, counted, fit, grouped};
use crate::{Layout, TargetSummary};
use fozzy_trace::Seed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Whether a run of a mutant did not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MutantResult {
    /// One did not.
    Noticed,
    /// All passed.
    Missed,
}

/// `fozzy.mutants.v1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MutantsDocument {
    /// Always `fozzy.mutants.v1`.
    pub schema_version: String,
    /// The program.
    pub target: TargetSummary,
    /// The seeds of the runs that the program passes, and that each mutant is executed with until one notices it.
    pub seeds: Vec<Seed>,
    /// How many further seeds the program fails with; they do not count.
    pub failing_seeds: u64,
    /// How many mutants can be made of the code that those runs cover.
    pub made: u64,
    /// How many further changes of that code, or of what it is inlined into, were not looked at, since the program has too many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutMutations>,
    /// How many were executed.
    pub mutants: u64,
    /// How many of these some run did not pass.
    pub noticed: u64,
    /// `noticed` of `mutants`, from 0 to 1.
    pub score: f64,
    /// What the score is to be at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_score: Option<f64>,
    /// Whether it is.
    pub passed: bool,
    /// Whether it was stopped before its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// The seed by which some of the mutants were chosen; absent when all were executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Seed>,
    /// By what is changed.
    pub kinds: Vec<MutantKindCount>,
    /// Each of them.
    pub all: Vec<MutantDocument>,
    /// What a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Mutants of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MutantKindCount {
    /// `comparison`, `condition`, `arithmetic`, `constant`, `store`, `call` or `body`.
    pub kind: String,
    /// How many were executed.
    pub mutants: u64,
    /// How many of them were noticed.
    pub noticed: u64,
}

/// Changes of one kind that were not looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutMutations {
    /// As in `kinds`.
    pub kind: String,
    /// How many.
    pub changes: u64,
}

/// One mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MutantDocument {
    /// The source file, or the core module where there is no debug information.
    pub file: String,
    /// Its line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Its column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The function.
    pub function: String,
    /// The operator, from the beginning of the component; present where no line is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
    /// What is changed.
    pub kind: String,
    /// The change in words, of the compiled code: `< became <=`.
    pub change: String,
    /// In how many places of the compiled code that line stands.
    pub places: u64,
    /// Whether some run did not pass.
    pub result: MutantResult,
    /// The seed of that run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// In what its runs differ from those of the program although they pass: `stdout`, `stderr`, `properties`, `calls`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<String>,
    /// The line of the source, of one that is not noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Mutants that are printed; documents have all.
const SHOWN_MAX: usize = 50;

impl MutantsDocument {
    /// Those that no run notices.
    pub fn missed(&self) -> impl Iterator<Item = &MutantDocument> {
        self.all.iter().filter(|mutant| mutant.result == MutantResult::Missed)
    }

    /// Holds the score against a bound.
    #[must_use]
    pub fn at_least(mut self, min_score: Option<f64>) -> MutantsDocument {
        self.min_score = min_score;
        // Of a test that was interrupted, the score is not known.
        self.passed = self.interrupted || min_score.is_none_or(|bound| self.score >= bound);
        self
    }
}

fn percent(score: f64) -> String {
    format!("{:.1} %", (score * 1000.0).floor() / 10.0)
}

impl Layout for MutantsDocument {
    fn lay_out(&self, style: Style) -> String {
        let Style { good, bad, faint, end, .. } = style;
        let colour = if self.passed { good } else { bad };
        let (score, run) = (percent(self.score), counted(self.mutants, "mutant"));
        let mut text = format!("fozzy mutants {colour}{score}{end}  {} of {run} noticed\n", grouped(self.noticed));
        let mut row = |key: &str, value: &str| {
            let _ = writeln!(text, "  {faint}{key:<10}{end}  {}", fit(value, style.room(14)));
        };
        let target = &self.target;
        row("target", &format!("{} ({}, {})", target.name, target.kind, &target.digest.to_string()[..12]));
        let failing = match self.failing_seeds {
            0 => String::new(),
            more => format!("; {} more fail, and do not count", grouped(more)),
        };
        let verb = if self.seeds.len() == 1 { "passes" } else { "pass" };
        row("runs", &format!("{} {verb}{failing}", counted(self.seeds.len() as u64, "seed")));
        if let Some(seed) = self.choice {
            row("mutants", &format!("{} of {}, chosen by seed {seed}", grouped(self.mutants), grouped(self.made)));
        }
        for MutantKindCount { kind, mutants, noticed } in &self.kinds {
            row(kind, &format!("{} of {}", grouped(*noticed), grouped(*mutants)));
        }
        if self.noticed < self.mutants {
            text.push_str("not noticed:\n");
        }
        for mutant in self.missed().take(SHOWN_MAX) {
            mutant.lay_out(&mut text, style);
        }
        let more = self.missed().count().saturating_sub(SHOWN_MAX) as u64;
        if more > 0 {
            let _ = writeln!(text, "  and {} more; --json has all", grouped(more));
        }
        if let Some(bound) = self.min_score.filter(|_| !self.passed) {
            let _ = writeln!(text, "note: the score is to be {} at least", percent(bound));
        }
        if !self.left_out.is_empty() {
            let all: u64 = self.left_out.iter().map(|it| it.changes).sum();
            let kinds = self.left_out.iter().map(|it| format!("{} {}", it.kind, grouped(it.changes)));
            let kinds = kinds.collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "note: not looked at: {} of code ({kinds})", counted(all, "further change"));
        }
        if self.interrupted {
            text.push_str("note: interrupted; other mutants were not executed\n");
        }
        self.warnings.iter().for_each(|warning| _ = writeln!(text, "note: {warning}"));
        text
    }
}

impl MutantDocument {
    /// `src/lib.rs:14`, or the function and the place in the component.
    #[must_use]
    pub fn place(&self) -> String {
        match (self.line, self.offset) {
            (Some(line), _) => format!("{}:{line}", self.file),
            (None, Some(offset)) => format!("{} at {offset:#x} in {}", self.function, self.file),
            (None, None) => self.file.clone(),
        }
    }

    fn lay_out(&self, text: &mut String, style: Style) {
        let Style { faint, end, .. } = style;
        let (place, kind) = (self.place(), &self.kind);
        let room = style.room(6 + place.chars().count() + kind.chars().count());
        let _ = writeln!(text, "  {place}  {kind}  {}", fit(&self.change, room));
        if let Some(source) = &self.source {
            let _ = writeln!(text, "      {faint}{}{end}", fit(source, style.room(6)));
        }
        if !self.differs.is_empty() {
            let differs = format!("other {}, which no check looks at", self.differs.join(", "));
            let _ = writeln!(text, "      {}", fit(&differs, style.room(6)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Digest;

    fn mutant(line: u32, result: MutantResult) -> MutantDocument {
        MutantDocument {
            file: "src/lib.rs".to_owned(),
            line: Some(line),
            column: None,
            function: "pay".to_owned(),
            offset: None,
            kind: "comparison".to_owned(),
            change: "< became <=".to_owned(),
            places: 1,
            result,
            seed: None,
            how: None,
            differs: vec!["stdout".to_owned()],
            source: Some("if taken < limit {".to_owned()),
        }
    }

    fn document(all: Vec<MutantDocument>) -> MutantsDocument {
        let noticed = all.iter().filter(|it| it.result == MutantResult::Noticed).count() as u64;
        MutantsDocument {
            schema_version: "fozzy.mutants.v1".to_owned(),
            target: TargetSummary {
                name: "till.wasm".to_owned(),
                digest: Digest::of(b"till"),
                kind: "component".to_owned(),
            },
            seeds: vec![Seed(0), Seed(1)],
            failing_seeds: 1,
            made: 40,
            left_out: vec![
                LeftOutMutations { kind: "comparison".to_owned(), changes: 1_200 },
                LeftOutMutations { kind: "call".to_owned(), changes: 3 },
            ],
            mutants: all.len() as u64,
            noticed,
            score: noticed as f64 / all.len() as f64,
            min_score: None,
            passed: true,
            interrupted: false,
            choice: Some(Seed(0)),
            kinds: Vec::new(),
            all,
            warnings: Vec::new(),
        }
    }

    #[test]
    fn those_that_no_run_notices_are_shown_with_their_lines() {
        let all = [MutantResult::Noticed, MutantResult::Noticed, MutantResult::Missed];
        let all = all.into_iter().zip(1..).map(|(result, line)| mutant(line, result)).collect();
        let found = document(all);
        let text = found.lay_out(Style::PLAIN.on(80, ""));
        // Rounded down: a score that is below a bound never looks like it.
        assert!(text.starts_with("fozzy mutants 66.6 %  2 of 3 mutants noticed\n"), "{text}");
        assert!(text.contains("  src/lib.rs:3  comparison  < became <=\n      if taken < limit {\n"), "{text}");
        assert!(
            text.contains("note: not looked at: 1,203 further changes of code (comparison 1,200, call 3)"),
            "{text}"
        );
        assert!(text.contains("other stdout, which no check looks at") && !text.contains("lib.rs:1 "), "{text}");
        assert!(found.clone().at_least(Some(0.66)).passed && !found.at_least(Some(0.67)).passed);
    }
}
