//! The summary of a run: `report.json`, and what `--json` prints.
//!
//! The first group of keys is the contract of the first Fozzy; the rest is added.

use crate::explore::ExploreSummary;
use crate::facts::{MemorySummary, PropertySummary, ScenarioSummary, health_warnings};
use crate::fuzz::FuzzSummary;
use crate::goal::GoalResult;
use crate::input_moment::InputArrival;
use crate::maximize::MaximizeSummary;
use crate::pretty::is_zero;
use crate::sequence::StepSequence;
use crate::strikes::{FaultSummary, PowerLossSummary};
use crate::time_spent::TimeSpent;
use fozzy_trace::facts::ScenarioStats;
use fozzy_trace::file::{NodeOutcome, RecordedOutcome, RecordedTarget, StreamDigest};
use fozzy_trace::outcome::RelatedStack;
use fozzy_trace::{Digest, Execution, ExecutionEnd, Facts, FailureSignature, Finding, FindingKind, Seed, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of an output that stand in the summary as text; longer or binary output is named by digest only.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// What kind of run it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunMode {
    /// A program was run.
    Run,
    /// A trace was replayed.
    Replay,
    /// A suite of scenarios was run.
    Test,
    /// A program was searched for inputs that make it fail.
    Fuzz,
    /// A scenario was explored.
    Explore,
}

impl RunMode {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            RunMode::Run => "run",
            RunMode::Replay => "replay",
            RunMode::Test => "test",
            RunMode::Fuzz => "fuzz",
            RunMode::Explore => "explore",
        }
    }

    /// The mode of a word in reports.
    #[must_use]
    pub fn of(name: &str) -> Option<RunMode> {
        [RunMode::Run, RunMode::Replay, RunMode::Test, RunMode::Fuzz, RunMode::Explore]
            .into_iter()
            .find(|mode| mode.name() == name)
    }
}

/// Which run, and where its files are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunIdentity {
    /// UUID, version 4.
    pub run_id: String,
    /// The seed of all decisions.
    pub seed: Seed,
    /// The trace that was written or replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_path: Option<String>,
    /// This summary as a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_path: Option<String>,
    /// The folder of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifacts_dir: Option<String>,
}

/// What was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetSummary {
    /// File name.
    pub name: String,
    /// SHA-256 of the file as given.
    pub digest: Digest,
    /// `component` or `core-module`.
    pub kind: String,
}

impl TargetSummary {
    /// The target of a recording.
    pub fn of(target: &RecordedTarget) -> TargetSummary {
        TargetSummary { name: target.name.clone(), digest: target.source, kind: target.kind.clone() }
    }
}

/// What the program wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputSummary {
    /// Standard output.
    pub stdout: StreamSummary,
    /// Standard error.
    pub stderr: StreamSummary,
}

/// What the program wrote to one stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamSummary {
    /// Bytes written.
    pub bytes: u64,
    /// SHA-256 of them.
    pub sha256: Digest,
    /// The text, when it is text and not long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl StreamSummary {
    fn of(bytes: u64, sha256: Digest, kept: &[u8]) -> StreamSummary {
        let whole = kept.len() as u64 == bytes && kept.len() <= TEXT_BYTES_MAX;
        let text = whole.then(|| String::from_utf8(kept.to_vec()).ok()).flatten();
        StreamSummary { bytes, sha256, text }
    }
}

/// How another machine went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeSummary {
    /// Its name in the plan.
    pub name: String,
    /// `running` when it was at the end of the target, `down` when it waited to start again then, or how it ended in a few words.
    pub state: String,
    /// The program's exit code, when it exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u32>,
    /// Digest of all its linear memory at the end.
    pub memory_digest: Digest,
    /// How often its program started again after an end; absent when it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restarts: Option<u64>,
    /// What its program wrote.
    pub output: OutputSummary,
}

/// The output of programs that was kept.
#[derive(Clone, Debug, Default)]
pub struct KeptOutput<'a> {
    /// Standard output and standard error of the target.
    pub target: (&'a [u8], &'a [u8]),
    /// Those of the other machines, in the order of the plan; empty when they were not kept.
    pub nodes: Vec<(&'a [u8], &'a [u8])>,
}

impl<'a> From<(&'a [u8], &'a [u8])> for KeptOutput<'a> {
    fn from(target: (&'a [u8], &'a [u8])) -> KeptOutput<'a> {
        KeptOutput { target, nodes: Vec::new() }
    }
}

impl<'a> KeptOutput<'a> {
    /// That of an execution.
    #[must_use]
    pub fn of(execution: &'a Execution) -> KeptOutput<'a> {
        let nodes = execution.nodes.iter().map(|node| (node.stdout.kept(), node.stderr.kept()));
        KeptOutput { target: (execution.stdout.kept(), execution.stderr.kept()), nodes: nodes.collect() }
    }
}

/// What a machine did whose program had not ended.
fn unended(node: &NodeOutcome) -> &'static str {
    if node.is_down { "down" } else { "running" }
}

impl NodeSummary {
    fn of(node: &NodeOutcome, kept: Option<&(&[u8], &[u8])>) -> NodeSummary {
        let stream = |stream: &StreamDigest, kept: Option<&[u8]>| match kept {
            Some(kept) => StreamSummary::of(stream.bytes, stream.sha256, kept),
            None => StreamSummary { bytes: stream.bytes, sha256: stream.sha256, text: None },
        };
        NodeSummary {
            name: node.name.clone(),
            state: node.end.as_ref().map_or_else(|| unended(node).to_owned(), ExecutionEnd::words),
            exit_code: exit_code(node.end.as_ref()),
            memory_digest: node.memory,
            restarts: (node.restarts > 0).then_some(node.restarts),
            output: OutputSummary {
                stdout: stream(&node.stdout, kept.map(|kept| kept.0)),
                stderr: stream(&node.stderr, kept.map(|kept| kept.1)),
            },
        }
    }
}

fn exit_code(end: Option<&ExecutionEnd>) -> Option<u32> {
    match end {
        Some(ExecutionEnd::Exited { code }) => Some(*code),
        _ => None,
    }
}

/// How a replay compares with its recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplaySummary {
    /// Whether it is the same run in calls, output, end, virtual time, memory, fuel, verdict, and all else that the file says.
    pub equal: bool,
    /// What is as the file says, because no replay can tell: `target.name`, `target.digest`, `target.kind`, `findings`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claimed: Vec<String>,
    /// The program that the decisions were replayed against, when it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<TargetSummary>,
    /// Machines of the plan that ran what they ran then, beside that program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorded_machines: Vec<String>,
    /// What differs first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<crate::document::DifferenceDocument>,
    /// The first call that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<crate::document::DivergenceDocument>,
}

/// What came of shrinking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShrinkSummary {
    /// The trace that was made smaller.
    pub source: String,
    /// Executions that it took.
    pub executions: u64,
    /// Whether no single part can be left out; not so when the budget ran out.
    pub minimal: bool,
    /// Whether the failure takes more decisions than are looked at, of which later ones stay as they are; absent when not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exceeds_log: bool,
    /// What the failure took before.
    pub before: FailureSize,
    /// What it takes now.
    pub after: FailureSize,
    /// The scenario file with the steps that are left, when it fails in the same way by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario_path: Option<String>,
    /// What the failure said before.
    #[serde(default)]
    pub message_before: String,
    /// What it says now: the same, but for values.
    #[serde(default)]
    pub message_after: String,
    /// What was done by the states that the story goes through; absent where there is nothing to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<crate::state_search::StateSearchSummary>,
    /// What is left of standard input; absent when the run has none, and for a program whose input is not made smaller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<crate::ShownInput>,
    /// Other failures that were met on the way; absent when there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slips: Vec<ShrinkSlip>,
    /// What of it matters, decision by decision; only when it was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explained: Vec<ExplainedDecision>,
}

/// A decision of the smallest failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedDecision {
    /// The step of the scenario in which it was taken, from 1, among those that are left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// What asked.
    pub site: String,
    /// The answer, as a number or as hexadecimal digits.
    pub answer: String,
    /// The same in words, where it is a moment or text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// Other answers that were tried.
    pub tried: u64,
    /// Whether the failure was the same with each of them.
    pub free: bool,
    /// The call that asked, by its number: `fozzy replay TRACE --call N` looks there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<u64>,
    /// Where the program made it, as `file:line:column`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// How much a failure takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureSize {
    /// Steps of a scenario.
    pub steps: usize,
    /// Machines beside the main one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub machines: usize,
    /// Planned faults.
    pub faults: usize,
    /// How often they strike.
    #[serde(default)]
    pub strikes: usize,
    /// Decisions that are not the simplest of their kind.
    pub decisions: usize,
    /// Bytes of standard input, and of the input that a campaign has given as a file or an argument.
    pub input_bytes: usize,
}

/// Another failure than the one that was made smaller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShrinkSlip {
    /// Its identity.
    pub signature: FailureSignature,
    /// What it says.
    #[serde(default)]
    pub message: String,
    /// A trace of it.
    pub trace_path: String,
}

/// The summary of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// pass, fail, error, timeout or crash.
    pub status: Status,
    /// Whether it was interrupted (Ctrl-C): the status is that of what was done until then, and without a finding there is no verdict.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// run, replay, test, fuzz or explore.
    pub mode: RunMode,
    /// Which run.
    pub identity: RunIdentity,
    /// Wall time at the start, RFC 3339.
    pub started_at: String,
    /// Wall time at the end, RFC 3339.
    pub finished_at: String,
    /// Wall time that it took, in milliseconds.
    pub duration_ms: u64,
    /// Wall time that it took, in nanoseconds.
    pub duration_ns: u64,
    /// Where the time of a campaign went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_spent: Option<TimeSpent>,
    /// What was found; absent when nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Identity of the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<FailureSignature>,
    /// What was run.
    pub target: TargetSummary,
    /// The program's exit code, when it exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u32>,
    /// Virtual time at the end, in nanoseconds.
    pub virtual_time_ns: u64,
    /// Calls of the program to the computer.
    pub calls: u64,
    /// Decisions among them.
    pub decisions: u64,
    /// Instructions used by the first machine, as wasmtime counts fuel.
    pub fuel_used: u64,
    /// Linear memory at the end, in bytes; it never shrinks.
    pub memory_bytes: u64,
    /// Digest of all linear memory at the end.
    pub memory_digest: Digest,
    /// Digest of all calls, arguments and answers.
    pub history_digest: String,
    /// What the program wrote.
    pub output: OutputSummary,
    /// The other machines; absent when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeSummary>,
    /// What became of the planned faults, in the order of the plan; absent when none is planned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultSummary>,
    /// The first losses of power, and what each took; absent when there was none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub power_losses: Vec<PowerLossSummary>,
    /// Further losses of power; absent when there were none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub power_losses_more: u64,
    /// When parts of standard input came, where a search varied that; absent where none did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input: Vec<InputArrival>,
    /// What a scenario did; absent for a plain program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<ScenarioSummary>,
    /// Goals of a Maelstrom test that is replayed; absent when it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<GoalResult>,
    /// The properties of the program, by name; absent when it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<PropertySummary>,
    /// That properties are missing which were never reached, and why; absent when all are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalogue: Option<String>,
    /// What is not wrong and worth knowing: a property or a flow that skips nearly everything, a script of standard input that waits
    /// for output in vain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What the program's allocator told; absent when it told nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemorySummary>,
    /// The steps of the sequence that failed; absent when the run passed or is no scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<StepSequence>,
    /// How a replay compares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplaySummary>,
    /// What came of shrinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shrink: Option<ShrinkSummary>,
    /// What a campaign did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuzz: Option<FuzzSummary>,
    /// What an exploration did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explore: Option<ExploreSummary>,
    /// What a search for the highest cost found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximize: Option<MaximizeSummary>,
}

/// Wall facts of a run, which are in no trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WallFacts {
    /// RFC 3339.
    pub started_at: String,
    /// RFC 3339.
    pub finished_at: String,
    /// Nanoseconds between them, by a monotonic clock.
    pub duration_ns: u64,
}

impl WallFacts {
    /// Of what carries none, because they say nothing about it: a trace.
    #[must_use]
    pub fn unknown() -> WallFacts {
        WallFacts { started_at: String::new(), finished_at: String::new(), duration_ns: 0 }
    }
}

/// What a player of scenario files is made of is nothing to who wrote the file.
fn findings(mut findings: Vec<Finding>, kind: &str) -> Vec<Finding> {
    if kind == "scenario" {
        findings.iter_mut().for_each(|finding| finding.backtrace.clear());
    }
    // Nor is that of the program that tests nodes; those of a node say where it crashed.
    if kind == "maelstrom" {
        let of_test = |finding: &&mut Finding| matches!(finding.kind, FindingKind::Invariant | FindingKind::Checker);
        findings.iter_mut().filter(of_test).for_each(|finding| finding.backtrace.clear());
    }
    findings
}

/// Whether it is one call of a fuzz target or a property that did not return: that has no steps.
fn is_single_call(stats: &ScenarioStats) -> bool {
    let [flow] = &stats.flows[..] else { return false };
    stats.sequences == 1 && stats.position.step.is_none() && flow.run == 0 && flow.skipped.is_empty()
}

impl RunSummary {
    /// The summary of an outcome.
    #[must_use]
    pub fn of<'a>(
        mode: RunMode,
        identity: RunIdentity,
        target: TargetSummary,
        outcome: &RecordedOutcome,
        kept: impl Into<KeptOutput<'a>>,
        wall: WallFacts,
    ) -> RunSummary {
        let kept = kept.into();
        RunSummary {
            status: outcome.verdict.status,
            interrupted: false,
            mode,
            identity,
            started_at: wall.started_at,
            finished_at: wall.finished_at,
            duration_ms: wall.duration_ns / 1_000_000,
            duration_ns: wall.duration_ns,
            time_spent: None,
            findings: findings(outcome.verdict.findings.clone(), &target.kind),
            signature: outcome.verdict.signature.clone(),
            target,
            exit_code: exit_code(Some(&outcome.end)),
            virtual_time_ns: outcome.ended_at.0,
            calls: outcome.calls,
            decisions: outcome.decisions,
            fuel_used: outcome.fuel_used,
            memory_bytes: outcome.memory_bytes,
            memory_digest: outcome.memory,
            history_digest: format!("{:016x}", outcome.history),
            output: OutputSummary {
                stdout: StreamSummary::of(outcome.stdout.bytes, outcome.stdout.sha256, kept.target.0),
                stderr: StreamSummary::of(outcome.stderr.bytes, outcome.stderr.sha256, kept.target.1),
            },
            nodes: {
                let nodes = outcome.nodes.iter().enumerate();
                nodes.map(|(at, node)| NodeSummary::of(node, kept.nodes.get(at))).collect()
            },
            faults: Vec::new(),
            power_losses: Vec::new(),
            power_losses_more: 0,
            input: Vec::new(),
            scenario: None,
            goals: Vec::new(),
            properties: Vec::new(),
            catalogue: None,
            warnings: Vec::new(),
            memory: None,
            sequence: None,
            replay: None,
            shrink: None,
            fuzz: None,
            explore: None,
            maximize: None,
        }
    }

    /// Whether it was judged: not when it was interrupted before anything was found. Its status says nothing then.
    #[must_use]
    pub fn has_verdict(&self) -> bool {
        !self.interrupted || !self.findings.is_empty()
    }

    /// Whether a checker of its operations came to no verdict within its bounds: what ran out was no budget of the program.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        self.status == Status::Timeout && self.findings.iter().any(|finding| finding.kind == FindingKind::Checker)
    }

    /// The same, of a run that ended where a person interrupted it: that it did not come to its end is nothing that was found.
    #[must_use]
    pub fn interrupted(self) -> RunSummary {
        RunSummary { status: Status::Pass, interrupted: true, findings: Vec::new(), signature: None, ..self }
    }

    /// The same, with what a whole campaign has found.
    #[must_use]
    pub fn finding(self, found: Vec<Finding>) -> RunSummary {
        RunSummary { findings: findings(found, &self.target.kind), ..self }
    }

    /// The same, with the steps of the sequence that failed.
    #[must_use]
    pub fn with_steps(mut self, sequence: Option<StepSequence>) -> RunSummary {
        let failed = sequence.iter().flat_map(|sequence| &sequence.steps).find(|step| step.failed);
        if let (Some(scenario), Some(step)) = (&mut self.scenario, failed) {
            scenario.ended_in_flow(&step.flow);
        }
        RunSummary { sequence, ..self }
    }

    /// The same, with stacks of other moments for its memory error.
    #[must_use]
    pub fn with_related(mut self, related: Vec<RelatedStack>) -> RunSummary {
        let is_of_memory = |finding: &Finding| finding.kind == FindingKind::MemoryError;
        let place = self.findings.iter().position(is_of_memory).unwrap_or_default();
        if let Some(finding) = self.findings.get_mut(place) {
            finding.related = related;
        }
        self
    }

    /// The same, with what the program told about itself.
    #[must_use]
    pub fn telling(self, facts: &Facts) -> RunSummary {
        let ended_within = self.status != Status::Pass && self.exit_code.is_none();
        let flow = facts.scenario.as_ref().map(|scenario| scenario.position).filter(|_| ended_within);
        let is_call = facts.scenario.as_ref().is_some_and(is_single_call);
        let flow = flow.and_then(|position| position.flow.filter(|_| position.step.is_some() || is_call));
        let mut scenario = facts.scenario.as_ref().map(ScenarioSummary::of);
        if let (Some(scenario), Some(flow)) = (&mut scenario, flow) {
            scenario.ended_in(flow as usize);
        }
        RunSummary {
            faults: FaultSummary::all(&facts.injected),
            power_losses: PowerLossSummary::all(&facts.injected),
            power_losses_more: facts.injected.losses_more,
            input: InputArrival::all(facts),
            scenario,
            properties: PropertySummary::all(&facts.properties),
            memory: MemorySummary::of(&facts.allocations)
                .or_else(|| facts.own_heap.as_deref().map(MemorySummary::of_heap)),
            warnings: health_warnings(facts),
            ..self
        }
    }
}
