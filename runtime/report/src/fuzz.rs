//! What a campaign did, in numbers and in the files that it left.
//!
//! Invariant: no wall facts in it: equal campaigns have equal summaries, but for the paths.

use crate::facts::unhealthy;
use crate::input::ShownInput;
use crate::pretty::{counted, detectable, grouped, is_zero, lost_workers, outlook, unseen};
use fozzy_trace::FailureSignature;
use fozzy_trace::facts::PropertyTable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A campaign.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FuzzSummary {
    /// The function that was called; of a program, where its input went.
    pub function: String,
    /// What an execution is: `call` of a function from a checkpoint, `sequence` of a scenario, or `re-execution` of a
    /// program from its instantiation.
    #[serde(default)]
    pub execution: String,
    /// Workers.
    #[serde(default)]
    pub jobs: u64,
    /// Executions.
    pub executions: u64,
    /// Of these, how many failed.
    pub failures: u64,
    /// Executions in which a property skipped its values.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: u64,
    /// Executions beside these that made inputs of findings smaller.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub minimizing: u64,
    /// Executions that failed in a way that no run of their inputs has: no finding, and no failure.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unconfirmed: u64,
    /// Executions that took so long that they were repeated with fuel; how many depends on the machine.
    #[serde(skip)]
    pub repeated: u64,
    /// Numbers of what was reached.
    pub coverage: FuzzCoverage,
    /// The last execution that found something new.
    pub last_new: u64,
    /// Testcases.
    pub corpus: u64,
    /// Bytes of them.
    pub corpus_bytes: u64,
    /// The folder that they are in.
    pub corpus_dir: String,
    /// The testcase that takes longest, of those that were changed so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest: Option<SlowestInput>,
    /// Testcases that take a hundred times as long as the one in the middle, the slowest first: those that are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow_units: Vec<SlowestInput>,
    /// How the properties of the program stand over all executions; absent when it has none.
    #[serde(default, skip_serializing_if = "PropertyTable::is_empty")]
    pub properties: PropertyTable,
    /// Failures, each once, in the order in which they were found.
    pub findings: Vec<FuzzFinding>,
    /// Why it ended: `runs`, `time`, `risk`, `finding`, `inputs` when these were named and run once each, `interrupted` by a signal, `workers` when too many of them were lost.
    pub ended: String,
    /// Workers that ended before their time; what they had not reported is not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub workers_lost: u32,
    /// Workers that were started in their place.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub workers_restarted: u32,
}

/// A testcase that takes long. Instructions are those of the build that logs comparisons, about twice the program's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlowestInput {
    /// Its name in the folder of the corpus.
    pub name: String,
    /// Bytes of it.
    pub input_bytes: u64,
    /// Instructions of its execution.
    pub instructions: u64,
    /// Those of the testcase in the middle.
    pub median: u64,
    /// Its file beside those of findings, if it is slow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl SlowestInput {
    /// Whether it takes so much longer than a usual one that it is told of, and kept.
    #[must_use]
    pub fn is_slow(&self) -> bool {
        self.instructions / self.median.max(1) >= SLOW_TIMES
    }
}

/// Characters of the name of a testcase that are shown.
const SHORT_NAME: usize = 12;
/// How many times as long as the one in the middle a testcase takes that is told of.
const SLOW_TIMES: u64 = 100;

/// `coverage.json` of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FuzzCoverage {
    /// Kept edges that were taken.
    pub unique_edges: u64,
    /// Kept edges: those that are told apart, also where libraries have them. The others follow from them.
    pub total_edges: u64,
    /// Edges, told apart by how often they were taken in one execution.
    pub features: u64,
    /// Edges that can be taken and were not, at least (Chao).
    pub estimated_undiscovered_edges: f64,
    /// The chance that the next execution takes a new edge (Good-Turing).
    pub chance_of_new_edge: f64,
    /// Executions of the second half of all that found something new: coverage or a failure.
    #[serde(default)]
    pub discoveries_last_half: u64,
    /// The chance that as many executions again find something new.
    #[serde(default)]
    pub chance_if_doubled: f64,
    /// Where that chance is with a confidence of 95 %: at least, at most.
    #[serde(default)]
    pub chance_if_doubled_range: (f64, f64),
    /// A failure that strikes in one of this many executions, or more often, has been met with a chance of 95 %.
    #[serde(default)]
    pub detectable_one_in: u64,
}

/// One failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FuzzFinding {
    /// What it is.
    pub signature: Option<FailureSignature>,
    /// The execution that found it, counted from 1.
    pub found_at: u64,
    /// How often it was seen.
    pub times: u64,
    /// Bytes of its input.
    pub input_bytes: u64,
    /// The input, the smallest that was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<ShownInput>,
    /// What was called, if it was drawn by its type: arguments in the notation of WAVE, or a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The trace of the same failure in a campaign before, if it was found then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// Its trace; empty when it is not kept.
    pub trace_path: String,
    /// Its input; empty when it is not kept, or was never a file.
    pub input_path: String,
    /// The trace with the smallest input that was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimized_trace_path: Option<String>,
    /// That input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimized_input_path: Option<String>,
    /// Bytes of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimized_input_bytes: Option<u64>,
    /// Whether the smallest one is as small as it gets; absent where that is not known, as when the campaign was over before all was tried.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub minimal: bool,
}

impl FuzzFinding {
    /// The same, of a campaign whose traces are not kept.
    #[must_use]
    pub fn unkept(self) -> FuzzFinding {
        FuzzFinding {
            trace_path: String::new(),
            input_path: String::new(),
            minimized_trace_path: None,
            minimized_input_path: None,
            ..self
        }
    }
}

impl FuzzSummary {
    /// The same, of a campaign whose files are not kept.
    #[must_use]
    pub fn unkept(self) -> FuzzSummary {
        let unkept = |slow: SlowestInput| SlowestInput { path: None, ..slow };
        FuzzSummary {
            slowest: self.slowest.map(unkept),
            slow_units: self.slow_units.into_iter().map(unkept).collect(),
            findings: self.findings.into_iter().map(FuzzFinding::unkept).collect(),
            ..self
        }
    }
}

/// How it is said to have ended when inputs were run, and no campaign.
const INPUTS: &str = "inputs";

/// The lines of a campaign for people.
pub(crate) fn fuzz_lines(fuzz: &FuzzSummary) -> Vec<String> {
    let FuzzCoverage { unique_edges, total_edges, features, .. } = fuzz.coverage;
    let mut lines = vec![format!(
        "{} of `{}`, {} failed",
        counted(fuzz.executions, "execution"),
        fuzz.function,
        grouped(fuzz.failures)
    )];
    if fuzz.ended != INPUTS {
        lines.push(format!(
            "{} of {}, {}",
            grouped(unique_edges),
            counted(total_edges, "kept edge"),
            counted(features, "feature")
        ));
        lines.push(format!("{} in {}", counted(fuzz.corpus, "testcase"), fuzz.corpus_dir));
        let FuzzCoverage { estimated_undiscovered_edges, chance_of_new_edge, .. } = fuzz.coverage;
        lines.extend(unseen(estimated_undiscovered_edges, chance_of_new_edge, "execution"));
        let FuzzCoverage { chance_if_doubled, chance_if_doubled_range, detectable_one_in, .. } = fuzz.coverage;
        lines.extend(outlook(chance_if_doubled, chance_if_doubled_range, "execution"));
        lines.extend(detectable(detectable_one_in, "execution"));
        lines.extend(fuzz.slowest.as_ref().filter(|slowest| slowest.is_slow()).map(|slowest| {
            let more = match fuzz.slow_units.len() {
                0 | 1 => String::new(),
                all => format!(", and {} more", all - 1),
            };
            let path = slowest.path.as_ref().map(|path| format!(": {path}")).unwrap_or_default();
            format!(
                "slow: {} of {} take {} times the instructions of a usual one ({}){more}{path}",
                counted(slowest.input_bytes, "byte"),
                slowest.name.get(..SHORT_NAME).unwrap_or(&slowest.name),
                grouped(slowest.instructions / slowest.median.max(1)),
                grouped(slowest.instructions)
            )
        }));
    }
    let name = format!("`{}`", fuzz.function);
    lines.extend(
        unhealthy(&name, fuzz.executions.saturating_sub(fuzz.skipped), fuzz.skipped)
            .map(|what| format!("warning: {what}")),
    );
    if fuzz.unconfirmed > 0 {
        lines
            .push(format!("{} failed as no run of its input does: no finding", counted(fuzz.unconfirmed, "execution")));
    }
    lines.extend(lost_workers(fuzz.workers_lost, fuzz.workers_restarted));
    for finding in &fuzz.findings {
        let signature = finding.signature.as_ref().map(ToString::to_string).unwrap_or_default();
        let path = finding.minimized_trace_path.as_ref().unwrap_or(&finding.trace_path);
        let bytes = counted(finding.minimized_input_bytes.unwrap_or(finding.input_bytes), "byte");
        let smaller = match finding.minimized_input_bytes {
            Some(_) => format!(", found with {}", grouped(finding.input_bytes)),
            None => String::new(),
        };
        let path = if path.is_empty() { "not kept" } else { path };
        lines.push(format!("{signature}, {bytes}{smaller}: {path}"));
        lines.extend(finding.known.iter().map(|trace| format!("  known    from a campaign before: {trace}")));
        let file = finding.minimized_input_path.as_ref().unwrap_or(&finding.input_path);
        lines.extend((!file.is_empty()).then(|| format!("  file     {file}")));
        lines.extend(finding.input.iter().flat_map(ShownInput::lines));
        lines.extend(finding.arguments.iter().map(|arguments| format!("  called with {arguments}")));
    }
    lines
}
