//! What an exploration did, in numbers and in the files that it left.
//!
//! Invariant: no wall facts in it: equal explorations have equal summaries, but for the paths.

use crate::input_moment::{InputArrival, input_lines};
use crate::pretty::{Style, counted, detectable, fit, grouped, is_zero, lost_workers, outlook, unseen};
use crate::sequence::{StepSequence, sequence_lines};
use crate::strikes::{FaultOverlap, FaultSummary, PowerLossSummary, fault_rows, overlap_row};
use fozzy_trace::facts::PropertyTable;
use fozzy_trace::{Facts, FailureSignature};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An exploration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExploreSummary {
    /// How ways were chosen.
    pub schedule: String,
    /// Workers.
    pub workers: u32,
    /// Ways that were tried; of an exploration that continues another one, those of both.
    pub runs: u64,
    /// Of these, how many the other one had tried.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resumed_runs: u64,
    /// Steps.
    pub steps: u64,
    /// Kept edges that were taken.
    pub edges: u64,
    /// Kept edges: those that are told apart, also where libraries have them. The others follow from them.
    pub edges_total: u64,
    /// Edges, told apart by how often they were taken in one step.
    pub features: u64,
    /// States that the scenario named.
    pub states: u64,
    /// Places that are kept.
    pub checkpoints: u64,
    /// Runs that failed.
    pub fails: u64,
    /// Failures that their story did not show again. There should be none: each is a fault of ours.
    pub lost: u64,
    /// Runs that were cut because they asked more questions than answers are logged: what they would have met is not known.
    #[serde(default, rename = "cutRuns", skip_serializing_if = "is_zero")]
    pub cut: u64,
    /// Runs without a failure whose operations a checker could not judge: too few of them, or too many that may have happened. They are no
    /// findings.
    #[serde(default, rename = "undecidedRuns", skip_serializing_if = "is_zero")]
    pub undecided: u64,
    /// The last step that showed something new.
    pub last_new: u64,
    /// Edges that can be taken and were not, at least (Chao).
    pub estimated_undiscovered_edges: f64,
    /// The chance that the next step takes a new edge (Good-Turing).
    pub chance_of_new_edge: f64,
    /// Steps of the second half of its own that showed something new or a failure; own steps are those after the ones of an exploration that it
    /// continues.
    #[serde(default)]
    pub discoveries_last_half: u64,
    /// The chance that as many steps again as its own find something new.
    #[serde(default)]
    pub chance_if_doubled: f64,
    /// Where that chance is with a confidence of 95 %: at least, at most.
    #[serde(default)]
    pub chance_if_doubled_range: (f64, f64),
    /// A failure that strikes in one of this many runs, or more often, has been met with a chance of 95 %; 0 where runs are not drawn.
    #[serde(default)]
    pub detectable_one_in: u64,
    /// How the properties of the program stand over all its runs; absent when it has none.
    #[serde(default, skip_serializing_if = "PropertyTable::is_empty")]
    pub properties: PropertyTable,
    /// What each way to search has earned: how much of the effort went into it, and what it saw first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earned: Vec<ExploreReward>,
    /// Which nemeses were at work together, and with which operations of clients, over all runs of programs but those of an exploration
    /// that it continues and those of lost workers; absent when none is planned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlaps: Vec<FaultOverlap>,
    /// Lines that ran, and one way out of which was never taken, with the line that would say so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_reached: Vec<UnreachedBranch>,
    /// Failures, each once, in the order in which they were found.
    pub failures: Vec<ExploreFinding>,
    /// Failures of before that were tried first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<SeedState>,
    /// Why it ended: `runs`, `time`, `saturated`, `finding`, `exhausted` when every way was gone, `sampled` when there
    /// was nothing left to try but answers that a bounded search leaves out, `risk` when little more was to be
    /// expected, `interrupted` by a signal, `workers` when too many of
    /// them were lost.
    pub ended: String,
    /// Workers that ended before their time; what they had not reported is not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub workers_lost: u32,
    /// Workers that were started in their place.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub workers_restarted: u32,
}

/// One of several things that effort is divided between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExploreReward {
    /// What is chosen: where a run begins (`origin`), which guest runs next (`order`), which answers it may give (`swarm`).
    pub dial: String,
    /// One of the choices.
    pub name: String,
    /// Runs.
    pub runs: u64,
    /// Steps of them.
    pub steps: u64,
    /// What they saw first: edges, states, properties.
    pub found: u64,
}

/// A way out of a line that ran, which no step has taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnreachedBranch {
    /// `file:line`.
    pub place: String,
    /// What stands there, if the file is here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What is missing: `went one way only`, or `an arm was not taken`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub missed: String,
    /// A line to put into the way that was not taken, which says in each report whether it was reached; empty for a program without the SDK.
    pub line: String,
}

/// One failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExploreFinding {
    /// What it is.
    pub signature: Option<FailureSignature>,
    /// The run that found it, counted from 1.
    pub found_at: u64,
    /// How often it was seen.
    pub times: u64,
    /// Steps of its story.
    pub steps: u32,
    /// Its trace; empty when it is not kept.
    pub trace_path: String,
    /// The trace of the smallest story that was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimized_trace_path: Option<String>,
    /// Steps of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimized_steps: Option<u64>,
    /// Whether the smallest one is as small as it gets; absent where that is not known, as when the time was over before all was tried.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub minimal: bool,
    /// The scenario file with those steps, when it fails in the same way by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimized_scenario_path: Option<String>,
    /// Those steps, or all when they are not fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<StepSequence>,
    /// What became of the planned faults in them; absent when none is planned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultSummary>,
    /// The first losses of power in them; absent when there was none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub power_losses: Vec<PowerLossSummary>,
    /// When parts of standard input came in them, where that is varied; absent when it is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input: Vec<InputArrival>,
}

impl ExploreFinding {
    /// Adds what its smallest run told.
    pub fn tell(&mut self, sequence: Option<StepSequence>, facts: &Facts) {
        self.sequence = sequence;
        self.faults = FaultSummary::all(&facts.injected);
        self.power_losses = PowerLossSummary::all(&facts.injected);
        self.input = InputArrival::all(facts);
    }
}

impl ExploreFinding {
    /// The same, of an exploration whose traces are not kept.
    #[must_use]
    pub fn unkept(self) -> ExploreFinding {
        ExploreFinding { trace_path: String::new(), minimized_trace_path: None, minimized_scenario_path: None, ..self }
    }
}

/// A failure of before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeedState {
    /// Its file.
    pub path: String,
    /// What it was.
    pub signature: Option<FailureSignature>,
    /// `still there`, `fixed`, `fails otherwise`, `stale`; in the list of all, `damaged`, if the file is no sound trace.
    pub state: String,
    /// Whether it was made as small as it gets.
    pub shrunk: bool,
    /// Why it stands so, where its own decisions do not say it, or under what other conditions it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What it means that a systematic search has ended without reaching a bound.
fn everything_tried(explore: &ExploreSummary) -> Option<String> {
    let is_systematic = ["bfs", "dfs"].contains(&explore.schedule.as_str());
    let line = match explore.ended.as_str() {
        "exhausted" => "every way within these steps was gone",
        "sampled" => "nothing is left to try, but not every way was gone: of very many answers only some are tried",
        _ => return None,
    };
    is_systematic.then(|| line.to_owned())
}

/// What is chosen, in the words of the book's page on searching.
fn dial_words(dial: &str) -> &str {
    match dial {
        "origin" => "where a run begins",
        "place" => "what a checkpoint had shown",
        "order" => "how the next machine or task is drawn",
        "faults" => "which faults strike",
        "swarm" => "which answers are left out",
        "values" => "where random bytes come from",
        other => other,
    }
}

/// One of the choices, in these words.
fn choice_words(earned: &ExploreReward) -> &str {
    match (&*earned.dial, &*earned.name) {
        ("origin", "start") => "at the start",
        ("origin", "checkpoint") => "at a checkpoint",
        ("order", "any") => "evenly",
        ("faults", "chance") => "by chance",
        ("faults", "one") => "one that is chosen",
        ("faults", "several") => "several that are chosen",
        ("swarm", "all") => "none",
        ("swarm", "coin") => "each second one",
        ("swarm", "energy") => "those of a run that found something",
        ("swarm", "directed") => "most after which nothing new came",
        ("values", "strategy") => "chance",
        ("values", "values") => "comparisons",
        (_, name) => name,
    }
}

/// The lines of an exploration for people.
pub(crate) fn explore_lines(explore: &ExploreSummary, style: Style) -> Vec<String> {
    let ExploreSummary { runs, steps, edges, edges_total, checkpoints, .. } = explore;
    let mut lines = vec![
        // A step of an ordinary program is a whole run.
        match runs == steps {
            true => format!("{} by {}", counted(*runs, "run"), explore.schedule),
            false => format!("{}, {} by {}", counted(*runs, "run"), counted(*steps, "step"), explore.schedule),
        },
    ];
    // A search that its first run ended has none.
    if *edges_total > 0 {
        let edges = format!("{} of {}", grouped(*edges), counted(*edges_total, "kept edge"));
        lines.push(format!("{edges}, {}", counted(*checkpoints, "checkpoint")));
    }
    let unit = if runs == steps { "run" } else { "step" };
    lines.extend(everything_tried(explore));
    lines.extend(unseen(explore.estimated_undiscovered_edges, explore.chance_of_new_edge, unit));
    lines.extend(outlook(explore.chance_if_doubled, explore.chance_if_doubled_range, unit));
    lines.extend(detectable(explore.detectable_one_in, "run"));
    if explore.states > 0 {
        lines.push(counted(explore.states, "state"));
    }
    for group in explore.earned.chunk_by(|one, other| one.dial == other.dial) {
        let of = |earned: &ExploreReward| {
            format!("{} {} in {}", choice_words(earned), grouped(earned.found), counted(earned.steps, unit))
        };
        let shown: Vec<String> = group.iter().filter(|earned| earned.runs > 0).map(of).collect();
        // Where nothing was chosen, nothing is said.
        if shown.len() > 1 {
            lines.push(format!("new, by {}: {}", dial_words(&group[0].dial), shown.join(" · ")));
        }
    }
    lines.extend(
        overlap_row(&explore.overlaps).map(|(_, line)| format!("nemeses with each other and with operations: {line}")),
    );
    lines.extend(lost_workers(explore.workers_lost, explore.workers_restarted));
    if explore.lost > 0 {
        let lost = counted(explore.lost, "failure");
        lines.push(format!("{lost} did not come again when run alone: a fault of fozzy, please report it"));
    }
    if explore.cut > 0 {
        lines.push(format!(
            "{} cut: a step took too long, or more questions were asked than the answers of one run that are logged; with \
             fewer steps a run (--steps) or fewer draws a step they come to their end",
            counted(explore.cut, "run")
        ));
    }
    if explore.undecided > 0 {
        lines.push(format!(
            "{} came to no verdict, as a checker of their operations says unknown; they are no findings",
            counted(explore.undecided, "run")
        ));
    }
    let found_again = |seed: &&SeedState| explore.failures.iter().any(|failure| failure.signature == seed.signature);
    for seed in explore.seeds.iter().filter(|seed| seed.state != "still there" || !found_again(seed)) {
        let signature = seed.signature.as_ref().map(ToString::to_string).unwrap_or_default();
        lines.push(format!("{}: {signature}: {}", seed.state, seed.path));
    }
    if !explore.failures.is_empty() {
        lines.push(format!("{}:", counted(explore.failures.len() as u64, "failure")));
    }
    for failure in &explore.failures {
        let signature = failure.signature.as_ref().map(ToString::to_string).unwrap_or_default();
        let path = failure.minimized_trace_path.as_ref().unwrap_or(&failure.trace_path);
        let steps = failure.minimized_steps.unwrap_or(failure.steps.into());
        let steps = if steps == 0 { String::new() } else { format!(" ({})", counted(steps, "step")) };
        let path = if path.is_empty() { "not kept" } else { path };
        lines.push(format!("  {signature}{steps}: {path}"));
        lines.extend(failure.minimized_scenario_path.iter().map(|path| format!("    as a scenario file: {path}")));
        let steps = failure.sequence.iter().flat_map(|sequence| sequence_lines(sequence, style));
        lines.extend(steps.map(|line| format!("  {line}")));
        // What did not strike is no part of the failure.
        let struck: Vec<FaultSummary> = failure.faults.iter().filter(|fault| fault.strikes > 0).cloned().collect();
        let rows = fault_rows(&struck, &failure.power_losses, 0);
        lines.extend(rows.into_iter().map(|(_, line)| format!("    {line}")));
        lines.extend(input_lines(&failure.input).into_iter().map(|line| format!("    {line}")));
    }
    for branch in &explore.not_reached {
        let missed = if branch.missed.is_empty() { "not reached" } else { &branch.missed };
        lines.push(format!("{missed}: {}", style.path(&branch.place)));
        lines.extend(branch.text.iter().map(|text| fit(&format!("    {text}"), style.room(12))));
    }
    let first = explore.not_reached.first().filter(|branch| !branch.line.is_empty());
    lines.extend(
        first.map(|branch| format!("to have it in each report, in the way that was not taken: {}", branch.line)),
    );
    lines
}
