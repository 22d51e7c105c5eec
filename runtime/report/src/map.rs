//! `fozzy map`: the documents of hotspots, services and suites, and their text.
//!
//! ```text
//! fozzy map hotspots   24 functions, 5 runs
//!   risk  function         where           ran    why
//!     86  bank::transfer   src/lib.rs:40   3/12   complexity 12, 25 % of its branches ran: CRAP 72.7
//! ```
//!
//! Invariant: the text says nothing that the document does not; keys of version 1 of Fozzy keep their names, and what they count is counted
//! in the program and in what ran.
//! Not here: where it comes from (`fozzy-campaign`).

use crate::Layout;
use crate::coverage::CoverageRatio;
use crate::html::visible;
use crate::pretty::{Style, counted, fit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of [`MapHotspots`].
pub const MAP_HOTSPOTS_SCHEMA: &str = "fozzy.map_hotspots.v2";
/// Version of [`MapServices`].
pub const MAP_SERVICES_SCHEMA: &str = "fozzy.map_services.v2";
/// Version of [`MapSuites`].
pub const MAP_SUITES_SCHEMA: &str = "fozzy.map_suites.v5";

/// `fozzy map hotspots`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapHotspots {
    /// [`MAP_HOTSPOTS_SCHEMA`].
    pub schema_version: String,
    /// The folder that paths count from.
    pub root: String,
    /// Source files of the programs that are the project's own.
    pub scanned_files: u64,
    /// The risk that a function has at least to be listed.
    pub min_risk: u8,
    /// Own functions of all programs.
    pub function_count: u64,
    /// Those with that risk, listed or not.
    pub hotspot_count: u64,
    /// Runs that were executed or replayed.
    pub run_count: u64,
    /// The functions of most risk first.
    pub hotspots: Vec<MapHotspot>,
    /// What a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapHotspot {
    /// The same as long as program, file and function keep their names.
    pub id: String,
    /// The program.
    pub component: String,
    /// Further programs that are built of the same source and have it, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_in: Vec<String>,
    /// Its source file, or its core module.
    pub path: String,
    /// Its first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Its name.
    pub function: String,
    /// From 0 to 100; 60 is the threshold of CRAP.
    pub risk_score: u8,
    /// How the risk came about, in one line.
    pub why: String,
    /// What else is worth knowing of it.
    pub reasons: Vec<String>,
    /// What was counted.
    pub signals: MapSignals,
    /// McCabe's number: decisions, and one.
    pub complexity: u32,
    /// Ways out of its branches that ran; of its code, where it has no branch.
    pub covered: CoverageRatio,
    /// Functions that call it by name.
    pub callers: u64,
    /// Functions that it calls by name.
    pub calls: u64,
    /// Functions that indirect calls in it may mean, by their types.
    pub indirect_candidates: u64,
    /// Places that ask the computer, by kind: `files`, `network`, `clock`, `processes`, `random`, `streams`.
    pub host_calls: BTreeMap<String, u64>,
    /// How often its file changed; absent without a history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub churn: Option<MapChurn>,
    /// Runs that failed in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
    /// Runs that reached it, scenarios first.
    pub executed_by: Vec<String>,
    /// Kinds of runs that would tell more of it.
    pub recommended_suites: Vec<String>,
}

/// Counts of one function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapSignals {
    /// Lines with code.
    pub line_count: u64,
    /// Decisions.
    pub branch_signals: u64,
    /// Atomic accesses.
    pub concurrency_signals: u64,
    /// Places that ask files, the network or processes.
    pub external_signals: u64,
    /// Places that trap or panic.
    pub failure_signals: u64,
    /// Places that allocate.
    pub memory_signals: u64,
    /// Exports that begin in it.
    pub entrypoint_signals: u64,
}

/// Changes of a file in the year before the newest commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapChurn {
    /// Commits.
    pub commits: u32,
    /// Lines added and removed.
    pub lines: u64,
}

/// `fozzy map services`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapServices {
    /// [`MAP_SERVICES_SCHEMA`].
    pub schema_version: String,
    /// The folder that paths count from.
    pub root: String,
    /// Source files of the programs that are the project's own.
    pub scanned_files: u64,
    /// Programs that ran.
    pub services: Vec<MapService>,
    /// What a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapService {
    /// Its name.
    pub name: String,
    /// The folder of most of its sources, or its name.
    pub path: String,
    /// What it can be used as: `command`, `http handler`, `scenario`, `fuzz target`, `properties`, `reactor`.
    pub kind: String,
    /// SHA-256 of the component.
    pub digest: String,
    /// Own source files.
    pub file_count: u64,
    /// Exports.
    pub entrypoint_signals: u64,
    /// Places in own code that ask files, the network or processes.
    pub external_signals: u64,
    /// Atomic accesses in own code.
    pub concurrency_signals: u64,
    /// Machines that run it.
    pub machines: Vec<String>,
    /// Own functions that ran.
    pub functions: CoverageRatio,
    /// Own branches that ran.
    pub branches: CoverageRatio,
    /// What it imports.
    pub imports: Vec<MapPort>,
    /// What it exports.
    pub exports: Vec<MapPort>,
    /// Runs that executed it.
    pub executed_by: Vec<String>,
}

/// An interface or a function of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapPort {
    /// Its name.
    pub name: String,
    /// Whether a run called it.
    pub ran: bool,
}

/// `fozzy map suites`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapSuites {
    /// [`MAP_SUITES_SCHEMA`].
    pub schema_version: String,
    /// The folder that paths count from.
    pub root: String,
    /// Where scenarios were looked for.
    pub scenario_root: String,
    /// Source files of the programs that are the project's own.
    pub scanned_files: u64,
    /// How much is required: `balanced`, `pedantic`, `overkill`.
    pub profile: String,
    /// When shrinking counts as exercised.
    pub shrink_policy: String,
    /// The risk that was asked for.
    pub base_min_risk: u8,
    /// The risk from which a function is required to run, under that profile.
    pub effective_min_risk: u8,
    /// Scenarios that were executed.
    pub scenario_count: u64,
    /// Scenarios that could not be executed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable_scenarios: Vec<String>,
    /// What a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Functions that are required to run.
    pub required_hotspot_count: u64,
    /// Those that a scenario runs.
    pub covered_hotspot_count: u64,
    /// Those that none runs.
    pub uncovered_hotspot_count: u64,
    /// Rows without a limit.
    pub total_suites: u64,
    /// Rows here.
    pub returned_suites: u64,
    /// The first row here.
    pub offset: u64,
    /// Rows here, at most.
    pub limit: u64,
    /// Whether rows are missing here.
    pub truncated: bool,
    /// Functions, those of most risk first, with what runs them.
    pub suites: Vec<MapSuite>,
    /// Runs, and what each has reached.
    pub scenarios: Vec<MapScenario>,
    /// Functions that code leads to and no run has reached, with what stands before them.
    pub frontier: Vec<MapFrontier>,
    /// What a change needs, when one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<MapChange>,
}

/// A function, and what runs it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapSuite {
    /// [`MapHotspot::id`].
    pub hotspot_id: String,
    /// The program.
    pub component: String,
    /// Further programs that are built of the same source and have it, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_in: Vec<String>,
    /// Its source file, or its core module.
    pub path: String,
    /// Its name.
    pub function: String,
    /// From 0 to 100.
    pub risk_score: u8,
    /// Whether it is required to run.
    pub required_by_policy: bool,
    /// Whether all kinds of runs that are required have reached it.
    pub covered: bool,
    /// What would make it covered; empty when it is.
    pub coverage_hints: Vec<String>,
    /// Kinds of runs that are required.
    pub required_suites: Vec<String>,
    /// Kinds of runs that have reached it.
    pub covered_suites: Vec<String>,
    /// Which runs these are.
    pub coverage_evidence: Vec<MapCoverageEvidence>,
    /// Kinds of runs that are required and have not reached it.
    pub missing_required_suites: Vec<String>,
    /// Why it is required, or why not.
    pub why_required: String,
    /// What else is worth knowing of it.
    pub reasons: Vec<String>,
    /// Kinds of runs that would tell more of it.
    pub recommended_suites: Vec<String>,
}

/// Runs of one kind that reached a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapCoverageEvidence {
    /// The kind.
    pub suite: String,
    /// The runs.
    pub matched_scenarios: Vec<String>,
    /// How that is known.
    pub reason: String,
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapScenario {
    /// Its name, or its trace.
    pub name: String,
    /// Where it is.
    pub path: String,
    /// `scenario`, `corpus`, `run` or `saved-failure`.
    pub kind: String,
    /// How it ended.
    pub status: String,
    /// Own functions that it reached.
    pub functions: u64,
    /// Of these, the ones that no other run reached.
    pub only_here: u64,
}

/// A function that no run has reached, though code that ran leads to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapFrontier {
    /// [`MapHotspot::id`].
    pub id: String,
    /// The program.
    pub component: String,
    /// Its name.
    pub function: String,
    /// Its source file, or its core module.
    pub path: String,
    /// Its first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// From 0 to 100.
    pub risk_score: u8,
    /// The function that ran and calls it.
    pub caller: String,
    /// `direct`, or `candidate` of an indirect call of its type.
    pub call: String,
    /// What stands before it.
    pub blocked_by: MapBlock,
    /// The run that came nearest.
    pub nearest: String,
    /// Functions that can be reached only by it, or by others that no run has reached.
    pub behind: u64,
}

/// What stands before a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapBlock {
    /// In words.
    pub what: String,
    /// The file of the branch that was last reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// Which runs a change needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapChange {
    /// The revision that the files of today are compared with.
    pub since: String,
    /// Files that differ.
    pub files: Vec<String>,
    /// Lines with code that differ.
    pub changed_lines: u64,
    /// Functions with such lines.
    pub functions: Vec<MapChangedFunction>,
    /// The fewest scenarios and corpora found that reach all that can be reached of the change, and those that changed themselves; the most telling first.
    pub scenarios: Vec<MapNeededScenario>,
    /// Lines with code that differ and that no run reached: `src/lib.rs:41`.
    pub unexecuted: Vec<String>,
}

/// A function that a change touches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapChangedFunction {
    /// The program.
    pub component: String,
    /// Further programs that are built of the same source and have it, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_in: Vec<String>,
    /// Its name.
    pub function: String,
    /// Its source file.
    pub path: String,
    /// Its first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Runs that reached it.
    pub executed_by: Vec<String>,
}

/// A scenario that a change needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapNeededScenario {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub path: String,
    /// Why it is needed.
    pub why: String,
}

/// Widest name in a table.
const NAME_MAX: usize = 48;

fn name(text: &str) -> String {
    fit(&visible(text), NAME_MAX)
}

fn place(path: &str, line: Option<u32>) -> String {
    let end: Vec<char> = visible(path).chars().rev().take(NAME_MAX).collect();
    let end: String = end.into_iter().rev().collect();
    line.map_or_else(|| end.clone(), |line| format!("{end}:{line}"))
}

/// The programs that a function is in, where there are several.
fn programs(first: &str, also: &[String]) -> String {
    let names: Vec<String> = std::iter::once(first).chain(also.iter().map(String::as_str)).map(visible).collect();
    if also.is_empty() { String::new() } else { format!("; in {}", names.join(", ")) }
}

fn warnings(of: &[String], style: Style) -> String {
    of.iter().map(|warning| crate::show::folded(&format!("note: {}", visible(warning)), style)).collect()
}

/// Rows of cells, each in its column; the last is cut where the line ends.
fn table(rows: &[Vec<String>], style: Style) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let used: usize = widths.iter().take(columns.saturating_sub(1)).map(|width| width + 2).sum::<usize>() + 2;
    let line = |row: &Vec<String>| {
        let mut text = String::from("  ");
        for (column, cell) in row.iter().enumerate() {
            match column + 1 == columns {
                true => text.push_str(&fit(cell, style.room(used))),
                false => text.push_str(&format!("{cell:<0$}  ", widths[column])),
            }
        }
        format!("{}\n", text.trim_end())
    };
    rows.iter().map(line).collect()
}

impl Layout for MapHotspots {
    fn lay_out(&self, style: Style) -> String {
        let Style { faint, end, .. } = style;
        let (functions, runs) = (counted(self.function_count, "function"), counted(self.run_count, "run"));
        let mut text = format!("fozzy map hotspots  {functions} of the project, by {runs}\n");
        if self.function_count == 0 {
            text.push_str("no function of the project is known: what ran is generated, a library's, or fozzy's own\n");
        } else if self.hotspots.is_empty() {
            text.push_str(&format!("none has a risk of {} or more\n", self.min_risk));
        } else {
            let head = ["risk", "ran", "function", "where", "why"].map(str::to_owned).to_vec();
            let row = |spot: &MapHotspot| {
                let ran = format!("{}/{}", spot.covered.hit, spot.covered.total);
                vec![
                    spot.risk_score.to_string(),
                    ran,
                    name(&spot.function),
                    place(&spot.path, spot.line),
                    format!("{}{}", spot.why, programs(&spot.component, &spot.also_in)),
                ]
            };
            let rows: Vec<Vec<String>> = std::iter::once(head).chain(self.hotspots.iter().map(row)).collect();
            let rows = table(&rows, style);
            let (head, rest) = rows.split_once('\n').unwrap_or((&rows, ""));
            text.push_str(&format!("{faint}{head}{end}\n{rest}"));
            let more = self.hotspot_count.saturating_sub(self.hotspots.len() as u64);
            if more > 0 {
                text.push_str(&format!("  {more} more: --limit {}\n", self.hotspot_count));
            }
        }
        text + &warnings(&self.warnings, style)
    }
}

impl Layout for MapServices {
    fn lay_out(&self, style: Style) -> String {
        let Style { faint, good, end, .. } = style;
        let mut text = format!("fozzy map services  {}\n", counted(self.services.len() as u64, "program"));
        for service in &self.services {
            let (functions, branches) = (service.functions, service.branches);
            let machines = service.machines.iter().map(|machine| visible(machine)).collect::<Vec<_>>().join(", ");
            text.push_str(&format!(
                "\n{}  {faint}{}; runs as {machines}{end}\n  {} of {} and {} of {} ran, in {}\n",
                visible(&service.name),
                service.kind,
                functions.hit,
                counted(functions.total, "own function"),
                branches.hit,
                counted(branches.total, "branch"),
                counted(service.executed_by.len() as u64, "run"),
            ));
            for (what, ports) in [("exports", &service.exports), ("imports", &service.imports)] {
                for port in ports {
                    let mark = if port.ran { format!("{good}+{end}") } else { "-".to_owned() };
                    text.push_str(&format!(
                        "  {faint}{what}{end}  {mark} {}\n",
                        fit(&visible(&port.name), style.room(13))
                    ));
                }
            }
        }
        if !self.services.is_empty() {
            text.push_str("\n+ ran, - did not\n");
        }
        text + &warnings(&self.warnings, style)
    }
}

/// Rows of the frontier that a person is shown.
const FRONTIER_SHOWN: usize = 10;

impl Layout for MapSuites {
    fn lay_out(&self, style: Style) -> String {
        let Style { faint, good, bad, end, .. } = style;
        let colour = if self.uncovered_hotspot_count == 0 { good } else { bad };
        let corpora = match self.scenarios.iter().filter(|run| run.kind == "corpus").count() as u64 {
            0 => String::new(),
            1 => " and a corpus".to_owned(),
            many => format!(" and {many} corpora"),
        };
        let mut text = format!(
            "fozzy map suites  {colour}{} of {}{end} of risk {} and more are covered, by {}{corpora}\n",
            self.covered_hotspot_count,
            counted(self.required_hotspot_count, "function"),
            self.effective_min_risk,
            counted(self.scenario_count, "scenario"),
        );
        let runs = self.scenarios.iter().map(|run| {
            let only = if run.only_here > 0 { format!("{} only here", run.only_here) } else { String::new() };
            vec![run.kind.clone(), run.status.clone(), counted(run.functions, "function"), name(&run.name), only]
        });
        text.push_str(&format!("\n{faint}what ran{end}\n{}", table(&runs.collect::<Vec<_>>(), style)));
        if !self.suites.is_empty() {
            let rows = self.suites.iter().map(|row| {
                let how = match row.covered {
                    true => "covered".to_owned(),
                    false if row.missing_required_suites.is_empty() => "no run".to_owned(),
                    false => format!("missing: {}", row.missing_required_suites.join(", ")),
                };
                let how = how + &programs(&row.component, &row.also_in);
                vec![row.risk_score.to_string(), name(&row.function), place(&row.path, None), how]
            });
            text.push_str(&format!("\n{faint}functions{end}\n{}", table(&rows.collect::<Vec<_>>(), style)));
            if self.truncated {
                let next = self.offset + self.returned_suites;
                text.push_str(&format!(
                    "  {} of {}: --offset {next} or --all\n",
                    self.returned_suites, self.total_suites
                ));
            }
        }
        if !self.frontier.is_empty() {
            let rows = self.frontier.iter().take(FRONTIER_SHOWN).map(|row| {
                let behind = if row.behind > 0 { format!("; {} behind it", row.behind) } else { String::new() };
                let what = format!("{}; nearest: {}{behind}", row.blocked_by.what, visible(&row.nearest));
                vec![name(&row.function), place(&row.path, row.line), what]
            });
            text.push_str(&format!(
                "\n{faint}never reached, though code that ran leads there{end}\n{}",
                table(&rows.collect::<Vec<_>>(), style)
            ));
            if self.frontier.len() > FRONTIER_SHOWN {
                text.push_str(&format!("  {} more in --json\n", self.frontier.len() - FRONTIER_SHOWN));
            }
        }
        if let Some(change) = &self.change {
            text.push_str(&change_text(change, style));
        }
        text + &warnings(&self.warnings, style)
    }
}

fn change_text(change: &MapChange, style: Style) -> String {
    let Style { faint, bad, end, .. } = style;
    let mut text = format!(
        "\n{faint}the change since {}{end}  {}, {} with code, {}\n",
        visible(&change.since),
        counted(change.files.len() as u64, "file"),
        counted(change.changed_lines, "line"),
        counted(change.functions.len() as u64, "function"),
    );
    for scenario in &change.scenarios {
        text.push_str(&format!("  needs {}  {faint}{}{end}\n", visible(&scenario.path), visible(&scenario.why)));
    }
    if change.scenarios.is_empty() {
        text.push_str(match (change.files.is_empty(), change.functions.is_empty()) {
            (true, _) => "  needs no scenario: nothing differs\n",
            (false, true) => "  needs no scenario: it changes no code of the programs that ran\n",
            (false, false) => "  no scenario reaches it\n",
        });
    }
    for line in &change.unexecuted {
        text.push_str(&format!("  {bad}not executed{end} {}\n", visible(line)));
    }
    text
}
