//! What `fozzy diff` prints: in what two programs differ under equal decisions.
//!
//! ```text
//! fozzy diff DIFFERENT  2 of 3 cases
//!   differ  stdout 2, calls 2
//! seed 1 is the first:
//!   stdout  line 2, column 7
//!     old   total 3
//!     new   total 4
//! ```
//!
//! Invariant: the text says nothing that the document does not.
//! Not here: what is compared, and how (`fozzy-campaign`).

use crate::document::DivergenceDocument;
use crate::pretty::{Style, counted, fit, grouped};
use crate::show::{MachineNames, entry_line};
use crate::{Layout, TargetSummary};
use fozzy_trace::{Duration, HistoryEntry, Seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// In what two runs can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunAspect {
    /// How programs end, and the verdict on that.
    Exit,
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// Which properties there are, and how they stand.
    Properties,
    /// What is asked of the computer, in which order and when, and what it answers.
    Calls,
}

impl RunAspect {
    /// All of them, in the order in which people want to know them.
    pub const ALL: [RunAspect; 5] =
        [RunAspect::Exit, RunAspect::Stdout, RunAspect::Stderr, RunAspect::Properties, RunAspect::Calls];

    /// The word in flags and documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            RunAspect::Exit => "exit",
            RunAspect::Stdout => "stdout",
            RunAspect::Stderr => "stderr",
            RunAspect::Properties => "properties",
            RunAspect::Calls => "calls",
        }
    }
}

/// `fozzy.diff.v1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiffDocument {
    /// Always `fozzy.diff.v1`.
    pub schema_version: String,
    /// The program before.
    pub old: TargetSummary,
    /// The program after.
    pub new: TargetSummary,
    /// Whether no case differs.
    pub equal: bool,
    /// Whether it was stopped before its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Runs of each program that were compared.
    pub cases: u64,
    /// Those of them that differ.
    pub different: u64,
    /// In how many cases what differs, by what.
    pub aspects: Vec<AspectCount>,
    /// What was not compared.
    pub ignored: Vec<RunAspect>,
    /// Patterns of texts that are equal to each other.
    pub masks: Vec<String>,
    /// The first case that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<CaseDifference>,
    /// The first cases that differ, by name.
    pub different_cases: Vec<String>,
    /// What a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Commands that go on from here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
}

/// How often something differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AspectCount {
    /// What.
    pub what: RunAspect,
    /// In how many cases.
    pub cases: u64,
}

/// One case that differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CaseDifference {
    /// Its name.
    pub case: String,
    /// Its seed.
    pub seed: Seed,
    /// In what it differs: of each stream and end of a machine, and of the properties, the first.
    pub differences: Vec<AspectDifference>,
    /// The first call that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<DivergenceDocument>,
    /// The step of a scenario in which that call was made, with its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The recorded run of the program before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_trace: Option<String>,
    /// The recorded run of the program after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_trace: Option<String>,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AspectDifference {
    /// What differs.
    pub what: RunAspect,
    /// The machine, unless it is the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The property.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// The line of the output, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The first character there that differs, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// Before: the text from a little before the difference on; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// After.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

/// Names of cases that are printed; documents have more.
const CASES_SHOWN: usize = 5;

impl Layout for DiffDocument {
    fn lay_out(&self, style: Style) -> String {
        let Style { good, bad, end, .. } = style;
        let (colour, word) = if self.equal { (good, "EQUAL") } else { (bad, "DIFFERENT") };
        let cases = counted(self.cases, "case");
        let how = if self.equal { cases } else { format!("{} of {cases}", grouped(self.different)) };
        let mut text = format!("fozzy diff {colour}{word}{end}  {how}\n");
        for (side, target) in [("old", &self.old), ("new", &self.new)] {
            let name = format!("{} ({}, {})", target.name, target.kind, &target.digest.to_string()[..12]);
            row(&mut text, side, &name, style);
        }
        let aspects: Vec<String> =
            self.aspects.iter().map(|it| format!("{} {}", it.what.name(), grouped(it.cases))).collect();
        row(&mut text, "differ", &aspects.join(", "), style);
        let ignored: Vec<&str> = self.ignored.iter().map(|aspect| aspect.name()).collect();
        row(&mut text, "ignored", &ignored.join(", "), style);
        self.masks.iter().for_each(|mask| row(&mut text, "masked", mask, style));
        if self.different > 1 {
            let shown = self.different_cases.iter().take(CASES_SHOWN).cloned().collect::<Vec<_>>().join(", ");
            let more = if self.different > CASES_SHOWN as u64 { ", …" } else { "" };
            row(&mut text, "cases", &format!("{shown}{more}"), style);
        }
        if let Some(first) = &self.first {
            first.lay_out(&mut text, style);
        }
        let why = if self.interrupted { "note: interrupted; other cases were not compared\n" } else { "" };
        text.push_str(why);
        self.warnings.iter().for_each(|warning| _ = writeln!(text, "note: {warning}"));
        self.next.iter().for_each(|command| _ = writeln!(text, "next: {command}"));
        text
    }
}

/// A key and a value on one line; nothing without a value.
fn row(text: &mut String, key: &str, value: &str, style: Style) {
    if !value.is_empty() {
        let Style { faint, end, .. } = style;
        let _ = writeln!(text, "  {faint}{key:<10}{end} {}", fit(value, style.room(13)));
    }
}

impl CaseDifference {
    fn lay_out(&self, text: &mut String, style: Style) {
        let _ = writeln!(text, "first in {}:", fit(&self.case, style.room(11)));
        for difference in &self.differences {
            let AspectDifference { what, machine, property, line, column, old, new } = difference;
            let place = [
                machine.as_ref().map(|machine| format!("of {machine}")),
                property.as_ref().map(|property| format!("`{property}`")),
                line.map(|line| format!("line {}", grouped(line))),
                column.map(|column| format!("column {}", grouped(column))),
            ];
            let place = place.into_iter().flatten().collect::<Vec<_>>().join(", ");
            let Style { faint, end, .. } = style;
            let line = format!("  {faint}{:<10}{end} {}", what.name(), fit(&place, style.room(13)));
            let _ = writeln!(text, "{}", line.trim_end());
            sides(text, old.as_deref(), new.as_deref(), style);
        }
        if let Some(DivergenceDocument { index, virtual_time_ns, machines, recorded, asked }) = &self.divergence {
            let place = format!("call {}, virtual time {}", grouped(*index), Duration(*virtual_time_ns));
            row(text, "parting at", &place, style);
            self.step.iter().for_each(|step| row(text, "in", step, style));
            let names = MachineNames::listed(machines);
            let call = |entry: &Option<HistoryEntry>| entry.as_ref().map(|entry| entry_line(entry, &names));
            let (old, new) = (call(recorded), call(asked));
            sides(text, old.as_deref().map(str::trim_start), new.as_deref().map(str::trim_start), style);
        }
        for (key, trace) in [("old trace", &self.old_trace), ("new trace", &self.new_trace)] {
            trace.iter().for_each(|trace| row(text, key, trace, style));
        }
    }
}

fn sides(text: &mut String, old: Option<&str>, new: Option<&str>, style: Style) {
    for (key, value) in [("  old", old), ("  new", new)] {
        row(text, key, value.map_or("(nothing)", |value| if value.is_empty() { "(empty)" } else { value }), style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Digest;

    #[test]
    fn a_difference_is_laid_out_in_the_width_of_the_terminal() {
        let target = |name: &str| TargetSummary {
            name: name.to_owned(),
            digest: Digest::of(name.as_bytes()),
            kind: "core-module".to_owned(),
        };
        let difference = AspectDifference {
            what: RunAspect::Stdout,
            machine: Some("n0".to_owned()),
            property: None,
            line: Some(2),
            column: Some(7),
            old: Some(format!("total {}", "3".repeat(100))),
            new: None,
        };
        let first = CaseDifference {
            case: "seed 1".to_owned(),
            seed: Seed(1),
            differences: vec![difference],
            divergence: None,
            step: None,
            old_trace: None,
            new_trace: None,
        };
        let document = DiffDocument {
            schema_version: "fozzy.diff.v1".to_owned(),
            old: target("a.wasm"),
            new: target("b.wasm"),
            equal: false,
            interrupted: false,
            cases: 1200,
            different: 2,
            aspects: vec![AspectCount { what: RunAspect::Stdout, cases: 2 }],
            ignored: vec![RunAspect::Calls],
            masks: vec!["[0-9]+ms".to_owned()],
            first: Some(first),
            different_cases: vec!["seed 1".to_owned(), "seed 9".to_owned()],
            warnings: Vec::new(),
            next: Vec::new(),
        };
        let text = document.lay_out(Style::PLAIN.on(80, ""));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for line in ["fozzy diff DIFFERENT  2 of 1,200 cases", "  differ     stdout 2", "  cases      seed 1, seed 9"] {
            assert!(text.lines().any(|found| found == line), "no `{line}` in {text}");
        }
        assert!(text.contains("  stdout     of n0, line 2, column 7\n    old      total 33"), "{text}");
        assert!(text.contains("    new      (nothing)\n"), "{text}");
    }
}
