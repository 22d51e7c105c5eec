//! A suite for a person: a line for each case as it ends, then how often each flow ran, and what failed.
//!
//! ```text
//! fozzy test  2 scenarios, seed 0
//! PASS        scenarios/a.wat  10 sequences, 1,000 flows
//! FAIL        scenarios/bank   `no customer owes` does not hold
//!
//! scenarios/bank  FAIL  `no customer owes` does not hold
//!   customer 0 owes 12
//! replay it: fozzy replay .fozzy/runs/…/bank.fozzy
//! ```

use super::{CaseResult, CaseSummary, RegressionState, SuiteSummary};
use crate::facts::FlowSummary;
use crate::pretty::{Style, counted, finding_lines, grouped, sequence_rows};
use crate::show::folded;
use crate::strikes::fault_block;
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::{Duration, Seed, Status};
use std::collections::BTreeMap;

/// Characters of a path that lines are aligned to; longer ones stand out.
const PATH_CHARS_MAX: usize = 48;
/// Properties that are listed; the rest is counted, and the document has them all.
const PROPERTIES_SHOWN: usize = 40;

/// Everything.
#[must_use]
pub fn pretty(summary: &SuiteSummary, style: Style, is_own: impl Fn(&StackFrame) -> bool) -> String {
    let mut text = heading(summary.scenarios.len(), summary.regressions.len(), summary.identity.seed, style);
    let width = widest(summary.cases().map(|case| case.path.as_str()));
    for case in summary.cases() {
        text.push_str(&case_line(case, width, style));
    }
    text + &details(summary, style, is_own)
}

/// What is about to be run.
#[must_use]
pub fn heading(scenarios: usize, regressions: usize, seed: Seed, style: Style) -> String {
    let Style { faint, end, .. } = style;
    let kept =
        if regressions == 0 { String::new() } else { format!(", {}", counted(regressions as u64, "regression")) };
    format!("{faint}fozzy test{end}  {}{kept}, seed {seed}\n", counted(scenarios as u64, "scenario"))
}

/// The column after the longest path.
pub fn widest<'a>(paths: impl Iterator<Item = &'a str>) -> usize {
    paths.map(|path| path.chars().count()).max().unwrap_or(0).min(PATH_CHARS_MAX)
}

/// One case in one line.
#[must_use]
pub fn case_line(case: &CaseSummary, width: usize, style: Style) -> String {
    let Style { faint, end, .. } = style;
    let remark = match case.remark() {
        remark if remark.is_empty() => extent(case),
        remark => remark,
    };
    let (mark, word, path) = (mark(case, style), case.word(), printable(&case.path));
    let line = format!("{mark}{word:<10}{end}  {path:<width$}  {faint}{}{end}", printable(&remark));
    format!("{}\n", line.trim_end())
}

fn mark(case: &CaseSummary, style: Style) -> &'static str {
    match (case.regression, case.result) {
        (Some(RegressionState::Stale), _) | (_, CaseResult::Skipped) => style.faint,
        (_, CaseResult::Passed) => style.good,
        (_, CaseResult::Failed) => style.bad,
    }
}

/// A program's own words in one line that does nothing to a terminal.
pub(super) fn printable(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// How far it went.
fn extent(case: &CaseSummary) -> String {
    let Some(run) = &case.run else { return String::new() };
    let time = Duration(run.virtual_time_ns);
    match &run.scenario {
        Some(scenario) => {
            let flows: u64 = scenario.flows.iter().map(|flow| flow.run).sum();
            let sequences = counted(scenario.sequences.into(), "sequence");
            format!("{sequences}, {}, {time} of virtual time", counted(flows, "flow"))
        }
        None => format!("{}, {time} of virtual time", counted(run.calls, "call")),
    }
}

/// What is left to say when each case has had its line.
#[must_use]
pub fn details(summary: &SuiteSummary, style: Style, is_own: impl Fn(&StackFrame) -> bool) -> String {
    let mut text = flows(summary, style) + &properties(summary, style) + &notes(summary, style);
    // What failed comes last, where a terminal is looked at.
    for case in summary.cases().filter(|case| case.result == CaseResult::Failed) {
        text.push('\n');
        text.push_str(&failure(case, &case.path, style, &is_own));
    }
    text + &closing(summary, "test", style)
}

/// What is worth knowing of cases that passed, each thing once.
fn notes(summary: &SuiteSummary, style: Style) -> String {
    let mut known: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for case in summary.cases().filter(|case| case.result == CaseResult::Passed) {
        for warning in case.run.iter().flat_map(|run| &run.warnings) {
            known.entry(warning).or_default().push(&case.path);
        }
    }
    let mut text = String::new();
    for (warning, paths) in known {
        let more = match paths.len() {
            1 => String::new(),
            cases => format!(" and {} more", cases - 1),
        };
        text.push_str(&folded(&format!("note: {}{more}: {}", printable(paths[0]), printable(warning)), style));
    }
    text
}

/// What it comes to, and where its report is.
pub(super) fn closing(summary: &SuiteSummary, command: &str, style: Style) -> String {
    let Style { good, bad, faint, end, .. } = style;
    let mut text = String::new();
    let (colour, word) = match summary.status {
        Status::Pass if summary.interrupted => ("", "interrupted"),
        Status::Pass => (good, Status::Pass.name()),
        other => (bad, other.name()),
    };
    let tests = summary.tests;
    let seconds = summary.duration_ns as f64 / 1e9;
    let counts = format!("{} passed, {} failed, {} skipped", tests.passed, tests.failed, tests.skipped);
    text.push_str(&format!(
        "\nfozzy {command} {colour}{}{end}  {counts}  {faint}{seconds:.2} s of wall time{end}\n",
        word.to_uppercase()
    ));
    let mut row = |key: &str, value: &str| text.push_str(&format!("  {faint}{key:<9}{end} {value}\n"));
    match command {
        // Each case has said which seed it is.
        "run" => row("run", &summary.identity.run_id),
        _ => row("run", &format!("{}  seed {}", summary.identity.run_id, summary.identity.seed)),
    }
    if let Some(report) = &summary.identity.report_path {
        row("report", report);
    }
    text
}

/// Everything about a failed case, which is called so.
pub(super) fn failure(case: &CaseSummary, name: &str, style: Style, is_own: impl Fn(&StackFrame) -> bool) -> String {
    let Style { bad, faint, end, .. } = style;
    let remark = printable(&case.remark());
    let mut text = format!("{}  {bad}{}{end}  {}\n", printable(name), case.word(), style.words(&remark));
    if let Some(error) = &case.error {
        let rest = case.refusal().into_iter().flat_map(|message| message.lines().skip(1));
        rest.chain(error.hint.as_deref()).for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    for (index, finding) in case.run.iter().flat_map(|run| &run.findings).enumerate() {
        // The title of the first stands in the first line, unless something else had to be said there.
        if index > 0 || finding.title != remark {
            text.push_str(&format!(
                "{bad}{}{end} {}\n",
                if index > 0 { "also" } else { "found" },
                style.words(&finding.title)
            ));
        }
        text.push_str(&finding_lines(finding, style, &is_own));
    }
    if let Some(run) = &case.run {
        text.push_str(&sequence_rows(run.sequence.as_ref(), style));
        text.push_str(&fault_block(run, style));
        text.push_str(&format!("  {faint}seed{end} {}  {faint}{}{end}\n", run.identity.seed, extent(case)));
    }
    if let Some(command) = &case.command {
        text.push_str(&format!("replay it: {command}\n"));
    }
    text
}

/// A table for each scenario that has flows.
fn flows(summary: &SuiteSummary, style: Style) -> String {
    let Style { faint, end, .. } = style;
    let mut text = String::new();
    for case in &summary.scenarios {
        let Some(scenario) = case.run.as_ref().and_then(|run| run.scenario.as_ref()) else { continue };
        if scenario.flows.is_empty() {
            continue;
        }
        let name = |flow: &FlowSummary| flow.name.escape_debug().to_string();
        let width = scenario.flows.iter().map(|flow| name(flow).chars().count()).max().unwrap_or(0).min(40);
        let width = width.max(12);
        let title = printable(&case.path);
        text.push_str(&format!(
            "\n{faint}{title}{end}\n  {faint}{:<width$}  {:>9}  {:>9}  a run takes{end}\n",
            "flow", "run", "skipped"
        ));
        for flow in &scenario.flows {
            let skipped: u64 = flow.skipped.values().sum();
            let line = format!(
                "  {:<width$}  {:>9}  {:>9}  {}{}",
                name(flow),
                grouped(flow.run),
                if skipped == 0 { "-".to_owned() } else { grouped(skipped) },
                cost(flow),
                labels(flow)
            );
            text.push_str(&format!("{}\n", line.trim_end()));
        }
    }
    text
}

/// What a run of a flow takes: instructions, and virtual time when it takes any.
pub(super) fn cost(flow: &FlowSummary) -> String {
    let mean = |sum: u64| sum.checked_div(flow.run).unwrap_or(0);
    match (flow.run, mean(flow.virtual_time_ns)) {
        (0, _) if flow.failed > 0 => "failed".to_owned(),
        (0, _) => "never ran".to_owned(),
        (_, 0) => format!("{} instructions", grouped(mean(flow.fuel_used))),
        (_, time) => format!("{} instructions, {}", grouped(mean(flow.fuel_used)), Duration(time)),
    }
}

fn labels(flow: &FlowSummary) -> String {
    let labels: Vec<String> =
        flow.skipped.iter().map(|(label, times)| format!("{} {}", label.escape_debug(), grouped(*times))).collect();
    if labels.is_empty() { String::new() } else { format!("  (skipped: {})", labels.join(", ")) }
}

/// Properties that say nothing about their scenario.
fn properties(summary: &SuiteSummary, style: Style) -> String {
    let Style { faint, end, .. } = style;
    let mut text = String::new();
    let silent = summary.scenarios.iter().flat_map(|case| case.silent_properties().map(move |found| (case, found)));
    let silent: Vec<_> = silent.collect();
    for (case, property) in silent.iter().take(PROPERTIES_SHOWN) {
        let place =
            property.place.as_deref().map_or_else(String::new, |place| format!(", at {}", place.escape_debug()));
        let (path, name) = (printable(&case.path), property.name.escape_debug());
        let (state, kind) = (property.state.name(), property.kind.name());
        text.push_str(&format!("{faint}{state:<13}{end}  {path}: {name}  {faint}{kind}{place}{end}\n"));
    }
    if silent.len() > PROPERTIES_SHOWN {
        text.push_str(&format!("{faint}… and {} more{end}\n", silent.len() - PROPERTIES_SHOWN));
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}
