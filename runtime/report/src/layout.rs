//! Documents of commands, laid out for people: what it came to first, then rows under each other.
//!
//! ```text
//! fozzy ci PASS  6 checks, 1 skipped
//!   passed   trace_verify           whole and sound
//!   skipped  memory_policy          the plan has no leak budget: …
//! ```
//!
//! Invariant: nothing stands here that the document does not say.

use crate::document::{
    ArtifactEntry, ArtifactsDiff, ArtifactsDocument, Capability, CiDocument, CleanDocument, CorpusAddDocument,
    CorpusExportDocument, CorpusImportDocument, CorpusMinimizeDocument, DoctorDocument, EnvDocument, FaultGroup,
    FormattedDocument, FullDocument, GateDocument, GateStep, InitDocument, ManDocument, MigrateDocument, PathsDocument,
    ScenarioDocument, StepStatus, ValidateDocument, VerifyDocument, VersionDocument,
};
use crate::flaky::FlakyReport;
use crate::pretty::{Style, bytes, counted, fit, grouped, shell_word};
use serde::Serialize;

/// A document that people can read.
pub trait Layout: Serialize {
    /// Its text; without a layout of its own its keys and values.
    fn lay_out(&self, _style: Style) -> String {
        serde_json::to_value(self).map(|value| crate::flatten(&value)).unwrap_or_default()
    }
}

/// The first line: `fozzy ci PASS  6 checks`.
fn headline(command: &str, ok: bool, what: &str, style: Style) -> String {
    let Style { good, bad, end, .. } = style;
    let (colour, word) = if ok { (good, "PASS") } else { (bad, "FAIL") };
    format!("fozzy {command} {colour}{word}{end}  {what}\n")
}

/// Rows of a word, a name and a text, each in its column; the text is cut where the line ends.
fn rows(rows: &[(&str, &str, &str, String)], style: Style) -> String {
    let width = |of: fn(&(&str, &str, &str, String)) -> usize| rows.iter().map(of).max().unwrap_or(0);
    let (words, names) = (width(|row| row.1.chars().count()), width(|row| row.2.chars().count()));
    let row = |(colour, word, name, text): &(&str, &str, &str, String)| {
        let end = if colour.is_empty() { "" } else { style.end };
        let text = fit(text, style.room(words + names + 6));
        format!("{}\n", format!("  {colour}{word:<words$}{end}  {name:<names$}  {text}").trim_end())
    };
    rows.iter().map(row).collect()
}

/// Lines of a key and a value.
fn pairs(of: &[(&str, String)], style: Style) -> String {
    let width = of.iter().map(|(key, _)| key.chars().count()).max().unwrap_or(0);
    let Style { faint, end, .. } = style;
    of.iter().map(|(key, value)| format!("  {faint}{key:<width$}{end}  {value}\n")).collect()
}

impl Layout for CleanDocument {
    fn lay_out(&self, _style: Style) -> String {
        let CleanDocument { dry_run, runs, leftovers, bytes: size, kept } = self;
        let verb = if *dry_run { "would remove" } else { "removed" };
        let (runs, killed) = (counted(runs.len() as u64, "run"), counted(leftovers.len() as u64, "folder"));
        let (size, kept) = (bytes(*size), counted(*kept, "run"));
        format!("{verb} {runs}, and {killed} that killed processes have left: {size}; {kept} kept\n")
    }
}

impl Layout for CiDocument {
    fn lay_out(&self, style: Style) -> String {
        let skipped = self.checks.iter().filter(|check| check.skipped).count() as u64;
        let failed = self.checks.iter().filter(|check| !check.ok).count() as u64;
        let mut what = counted(self.checks.len() as u64, "check");
        for (number, word) in [(failed, "failed"), (skipped, "skipped")] {
            if number > 0 {
                what.push_str(&format!(", {number} {word}"));
            }
        }
        let checks: Vec<_> = self
            .checks
            .iter()
            .map(|check| {
                let (colour, word) = match (check.ok, check.skipped) {
                    (false, _) => (style.bad, "failed"),
                    (true, true) => (style.faint, "skipped"),
                    (true, false) => (style.good, "passed"),
                };
                (colour, word, check.name.as_str(), check.detail.clone().unwrap_or_default())
            })
            .collect();
        headline("ci", self.ok, &what, style) + &rows(&checks, style)
    }
}

/// How many steps went how: `12 passed, 1 failed, 3 skipped`.
fn step_counts(steps: &[GateStep]) -> String {
    let all = [StepStatus::Passed, StepStatus::Failed, StepStatus::Skipped, StepStatus::Advisory];
    let count = |status: &StepStatus| {
        let number = steps.iter().filter(|step| step.status == *status).count();
        (number > 0).then(|| format!("{number} {}", status.name()))
    };
    all.iter().filter_map(count).collect::<Vec<_>>().join(", ")
}

/// The steps were said when each was done: what is left is what they came to, and what failed.
fn steps_of(command: &str, steps: &[GateStep], style: Style) -> String {
    let failed: Vec<_> = steps
        .iter()
        .filter(|step| step.status == StepStatus::Failed)
        .map(|step| (style.bad, step.status.name(), step.name.as_str(), step.detail.clone()))
        .collect();
    headline(command, failed.is_empty(), &step_counts(steps), style) + &rows(&failed, Style { width: 0, ..style })
}

impl Layout for GateDocument {
    fn lay_out(&self, style: Style) -> String {
        let scope = if self.scopes.is_empty() { "all".to_owned() } else { self.scopes.join(", ") };
        let about = pairs(
            &[
                ("profile", self.profile.clone()),
                ("scope", format!("{scope}, below {}", self.scenario_root)),
                ("about", counted(self.matched_scenarios.len() as u64, "scenario")),
            ],
            style,
        );
        let scenarios: String = self.matched_scenarios.iter().map(|path| format!("           {path}\n")).collect();
        steps_of("gate", &self.steps, style) + &about + &scenarios
    }
}

impl Layout for FullDocument {
    fn lay_out(&self, style: Style) -> String {
        let mut about = vec![("scenarios", format!("below {}", self.scenario_root))];
        about.extend(self.shrink_classification.iter().map(|shrunk| ("shrinking", shrunk.clone())));
        about.extend(self.guidance.iter().map(|line| ("next", line.clone())));
        steps_of("full", &self.steps, style) + &pairs(&about, style)
    }
}

impl Layout for InitDocument {
    fn lay_out(&self, style: Style) -> String {
        let Style { faint, end, .. } = style;
        let files = counted(self.files.len() as u64, "file");
        let mut text = format!("a project from the template `{}`, {files} in {}\n", self.template, self.folder);
        self.files.iter().for_each(|file| text.push_str(&format!("  {faint}{file}{end}\n")));
        if let Some(sdk) = &self.sdk {
            text.push_str(&format!("  {faint}{sdk}/{end}\n"));
        }
        text.push_str("next:\n");
        if self.folder != "." {
            text.push_str(&format!("  cd {}\n", shell_word(&self.folder)));
        }
        self.next.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        text
    }
}

/// Characters of the kinds of a group in one line, so that it fits a terminal.
const GROUP_CHARS_MAX: usize = 66;

impl Layout for EnvDocument {
    fn lay_out(&self, style: Style) -> String {
        let of = &self.capabilities;
        let all = [
            ("clock", &of.time),
            ("random", &of.rng),
            ("files", &of.fs),
            ("http", &of.http),
            ("network", &of.net),
            ("processes", &of.proc),
            ("memory", &of.memory),
        ];
        let row = |(name, capability): &(&str, &Capability)| {
            let how = if capability.deterministic { "the same in every run" } else { "the real computer; recorded" };
            format!("  {name:<10} {:<10} {}{how}{}\n", capability.backend, style.faint, style.end)
        };
        let capabilities: String = all.iter().map(row).collect();
        let row = |group: &FaultGroup| {
            let kinds = crate::pretty::wrapped(&group.kinds.join(" "), GROUP_CHARS_MAX);
            format!("  {:<10} {}\n", group.group, kinds.join("\n           "))
        };
        let faults: String = self.faults.iter().map(row).collect();
        let faults = if faults.is_empty() { faults } else { format!("faults by group, for --faults\n{faults}") };
        format!("fozzy {} on {} {}\na program's\n{capabilities}{faults}", self.fozzy.version, self.os, self.arch)
    }
}

impl Layout for VersionDocument {
    fn lay_out(&self, style: Style) -> String {
        let mut of = vec![
            ("wasmtime", self.wasmtime.clone()),
            ("rewriter", self.rewriter.to_string()),
            ("trace format", self.trace_format.to_string()),
        ];
        of.extend(self.commit.iter().map(|commit| ("commit", commit.clone())));
        of.extend(self.build_date.iter().map(|date| ("built", date.clone())));
        format!("fozzy {}\n{}", self.version, pairs(&of, style))
    }
}

impl Layout for ValidateDocument {
    fn lay_out(&self, style: Style) -> String {
        if self.ok {
            return format!("{}: {}sound{}\n", self.file, style.good, style.end);
        }
        let problems = counted(self.problems.len() as u64, "problem");
        let mut text = format!("{}: {}{problems}{}\n", self.file, style.bad, style.end);
        for problem in &self.problems {
            let place = match (problem.line, problem.column) {
                (Some(line), Some(column)) => format!("{}:{line}:{column}: ", self.file),
                _ => String::new(),
            };
            let key = if problem.key.is_empty() { String::new() } else { format!("{}: ", problem.key) };
            text.push_str(&format!("  {place}{key}{}\n", problem.message));
        }
        text
    }
}

impl Layout for ScenarioDocument {
    fn lay_out(&self, style: Style) -> String {
        if let Some(error) = &self.error {
            let place = match (self.line, self.column) {
                (Some(line), Some(column)) => format!(":{line}:{column}"),
                _ => String::new(),
            };
            return format!("{}{place}: {}not a scenario{}: {error}\n", self.scenario, style.bad, style.end);
        }
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.steps.map(|steps| counted(steps, "step")));
        parts.extend(self.invariants.map(|invariants| counted(invariants, "invariant")));
        let (name, parts) = (self.name.as_deref().unwrap_or_default(), parts.join(", "));
        let variant = self.variant.as_deref().unwrap_or_default();
        let parts = if parts.is_empty() { variant.to_owned() } else { format!("{variant}, {parts}") };
        format!("{}: {}sound{}: `{}`, {parts}\n", self.scenario, style.good, style.end, name.escape_debug())
    }
}

impl Layout for ArtifactsDocument {
    fn lay_out(&self, style: Style) -> String {
        match self {
            ArtifactsDocument::List { entries } => {
                let width = entries.iter().map(|entry| entry.kind.chars().count()).max().unwrap_or(0);
                let row = |entry: &ArtifactEntry| {
                    let size = entry.size_bytes.map(bytes).unwrap_or_default();
                    format!("{:<width$}  {size:>10}  {}\n", entry.kind, entry.path)
                };
                entries.iter().map(row).collect()
            }
            ArtifactsDocument::Diff { diff } => difference(diff, style),
            ArtifactsDocument::Exported { out, files } => {
                let row = |file: &String| format!("  {}{file}{}\n", style.faint, style.end);
                format!(
                    "wrote {} to {out}\n{}",
                    counted(files.len() as u64, "file"),
                    files.iter().map(row).collect::<String>()
                )
            }
        }
    }
}

fn difference(diff: &ArtifactsDiff, style: Style) -> String {
    let changed = diff.files.iter().filter(|file| file.changed).count() as u64;
    let mut text = match changed {
        0 => format!("{} and {} are equal\n", diff.left, diff.right),
        changed => format!("{} and {} differ in {}\n", diff.left, diff.right, counted(changed, "file")),
    };
    for file in &diff.files {
        let (colour, word) = if file.changed { (style.bad, "differs") } else { (style.faint, "equal") };
        let size = |size: Option<u64>| size.map_or_else(|| "missing".to_owned(), bytes);
        let sizes = format!("{} and {}", size(file.left_size_bytes), size(file.right_size_bytes));
        text.push_str(&format!("  {colour}{word:<7}{}  {:<14}  {sizes}\n", style.end, file.key));
    }
    let mut of: Vec<(&str, String)> = Vec::new();
    if let Some(report) = &diff.report {
        of.push(("status", format!("{} and {}", report.left_status, report.right_status)));
        let titles = if report.finding_titles_changed { "with other titles" } else { "with the same titles" };
        of.push(("findings", format!("{} and {}, {titles}", report.left_findings, report.right_findings)));
    }
    if let Some(trace) = &diff.trace {
        of.push(("calls", format!("{} and {}", grouped(trace.left_events), grouped(trace.right_events))));
        of.push(("decisions", format!("{} and {}", grouped(trace.left_decisions), grouped(trace.right_decisions))));
        of.extend(trace.first_decision_diff_index.map(|at| ("first", format!("decision {at} differs"))));
        of.extend(trace.first_event_diff_index.map(|at| ("first", format!("call {at} differs"))));
    }
    text.push_str(&pairs(&of, style));
    if let Some(divergence) = diff.trace.as_ref().and_then(|trace| trace.divergence.as_ref()) {
        text.push_str(&crate::show::folded_lines(&crate::show::divergence_lines(divergence), style));
    }
    text
}

impl Layout for PathsDocument {
    fn lay_out(&self, _: Style) -> String {
        self.paths.iter().map(|path| format!("{path}\n")).collect()
    }
}

impl Layout for CorpusAddDocument {
    fn lay_out(&self, _: Style) -> String {
        format!("{}\n", self.added)
    }
}

impl Layout for CorpusMinimizeDocument {
    fn lay_out(&self, style: Style) -> String {
        let folder = self.out.as_ref().unwrap_or(&self.dir);
        let (before, after) = (counted(self.files_before, "file"), grouped(self.files_after));
        let mut of = vec![
            ("bytes", format!("{} to {}", grouped(self.bytes_before), grouped(self.bytes_after))),
            ("equal", format!("{} left out", counted(self.duplicates_removed, "file"))),
        ];
        of.extend(self.redundant_removed.map(|redundant| {
            ("covered", format!("{} left out, whose edges others take as often", counted(redundant, "file")))
        }));
        of.extend(self.edges.map(|edges| ("edges", format!("{} taken, by what stays too", grouped(edges)))));
        of.extend(self.not_executed.map(|number| ("not run", format!("{}, and kept", counted(number, "file")))));
        format!("{folder}: {before} to {after}\n{}", pairs(&of, style))
    }
}

impl Layout for CorpusExportDocument {
    fn lay_out(&self, _: Style) -> String {
        format!("wrote {}\n", self.zip)
    }
}

impl Layout for CorpusImportDocument {
    fn lay_out(&self, _: Style) -> String {
        format!("wrote to {}\n", self.dir)
    }
}

impl Layout for ManDocument {
    fn lay_out(&self, _: Style) -> String {
        let pages = counted(self.files.len() as u64, "page");
        format!("wrote {pages} to {}: man {}/fozzy.1\n", self.folder, self.folder.trim_end_matches('/'))
    }
}

impl Layout for VerifyDocument {
    fn lay_out(&self, style: Style) -> String {
        let (colour, word) = if self.ok { (style.good, "whole and sound") } else { (style.bad, "not sound") };
        let version = self.version.map(|version| format!(", format {version}")).unwrap_or_default();
        let sum = match (self.checksum_present, self.checksum_valid) {
            (true, true) => ", checksums valid",
            (true, false) => ", checksums wrong",
            (false, _) => ", without checksums",
        };
        let mut text = format!("{}: {colour}{word}{}{version}{sum}\n", self.path, style.end);
        self.error.iter().for_each(|error| text.push_str(&format!("  {error}\n")));
        self.warnings.iter().for_each(|warning| text.push_str(&format!("  warning: {warning}\n")));
        text
    }
}

impl Layout for MigrateDocument {
    fn lay_out(&self, style: Style) -> String {
        let MigrateDocument { from, from_version, out, recorded_status, same, .. } = self;
        let now = self.status.name();
        let (colour, how) = match same {
            true => (style.good, format!("{now}, as then")),
            false => (style.bad, format!("{now}, and then {recorded_status}")),
        };
        let mut text = format!("{from} (format {from_version}): {colour}{how}{}\n", style.end);
        self.finding.iter().flat_map(|finding| finding.lines()).for_each(|line| text.push_str(&format!("  {line}\n")));
        self.notes.iter().for_each(|note| text.push_str(&format!("  note: {note}\n")));
        text + &format!("wrote {out}, of a run of its scenario with seed {}\n", self.seed)
    }
}

impl Layout for FlakyReport {
    fn lay_out(&self, style: Style) -> String {
        let (colour, word) = if self.is_flaky { (style.bad, "FLAKY") } else { (style.good, "STABLE") };
        let statuses: Vec<String> =
            self.status_counts.iter().map(|(status, number)| format!("{number} {status}")).collect();
        let runs = counted(self.run_count as u64, "run");
        let mut text = format!("{colour}{word}{}  {runs}: {}", style.end, statuses.join(", "));
        if self.is_flaky {
            text.push_str(&format!("; {:.2} % differ from the most frequent outcome", self.flake_rate_pct));
        }
        text.push('\n');
        for titles in self.finding_title_sets.iter().filter(|titles| !titles.is_empty()) {
            text.push_str(&format!("  {}\n", titles.join("; ")));
        }
        text
    }
}

impl Layout for DoctorDocument {}
impl Layout for FormattedDocument {}
impl Layout for Vec<String> {}
impl Layout for crate::CausalityDocument {}
impl Layout for crate::FindabilityDocument {}
impl Layout for crate::AblationDocument {}
impl Layout for crate::BenchmarkDocument {}
impl Layout for crate::SeedsDocument {}
impl Layout for crate::document::ShowDocument {}
impl Layout for crate::inspect::InspectDocument {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::CiCheck;

    #[test]
    fn checks_are_a_table_under_what_they_came_to() {
        let check = |name: &str, ok, skipped, detail: &str| CiCheck {
            name: name.to_owned(),
            ok,
            skipped,
            detail: Some(detail.to_owned()),
        };
        let checks = vec![
            check("trace_verify", true, false, "whole and sound"),
            check("memory_policy", true, true, "the plan has no leak budget"),
            check("replay", false, false, "other calls"),
        ];
        let document = CiDocument { schema_version: String::new(), ok: false, checks };
        let expected = "\
fozzy ci FAIL  3 checks, 1 failed, 1 skipped
  passed   trace_verify   whole and sound
  skipped  memory_policy  the plan has no leak budget
  failed   replay         other calls
";
        assert_eq!(document.lay_out(Style::PLAIN), expected);
        let narrow = document.lay_out(Style::PLAIN.on(46, ""));
        assert!(narrow.lines().skip(1).all(|line| line.chars().count() <= 46), "{narrow}");
    }

    #[test]
    fn steps_that_failed_are_said_again_and_the_others_counted() {
        let step = |name: &str, status| GateStep { name: name.to_owned(), status, detail: "why".to_owned() };
        let steps = [step("a", StepStatus::Passed), step("b", StepStatus::Failed), step("c", StepStatus::Passed)];
        assert_eq!(steps_of("full", &steps, Style::PLAIN), "fozzy full FAIL  2 passed, 1 failed\n  failed  b  why\n");
    }
}
