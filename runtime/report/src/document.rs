//! The documents of all other commands, with the keys that scripts know.

use fozzy_trace::{Digest, HistoryEntry, Seed, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An error, on standard output under `--json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorDocument {
    /// Always `error`.
    pub status: String,
    /// A stable word for the kind of error.
    pub code: String,
    /// What, where, expected, found.
    pub message: String,
    /// The next command to type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A report in a format that is not JSON, under `--json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FormattedDocument {
    /// pretty, junit, html.
    pub format: String,
    /// The report.
    pub content: String,
}

/// `fozzy report query --list-paths`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathsDocument {
    /// What can be asked for.
    pub paths: Vec<String>,
}

/// One file of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactEntry {
    /// trace, report, manifest, coverage, min_repro, corpus, logs.
    pub kind: String,
    /// Where it lies.
    pub path: String,
    /// Its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

/// What `fozzy artifacts` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ArtifactsDocument {
    /// `ls`.
    List {
        /// The trace first, the others by name.
        entries: Vec<ArtifactEntry>,
    },
    /// `diff`.
    Diff {
        /// What differs.
        diff: Box<ArtifactsDiff>,
    },
    /// `export`, `pack`, `bundle`.
    Exported {
        /// Where to.
        out: String,
        /// Names of the files there.
        files: Vec<String>,
    },
}

/// Two runs compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactsDiff {
    /// As it was named.
    pub left: String,
    /// As it was named.
    pub right: String,
    /// All files of both, by name.
    pub files: Vec<FileDiff>,
    /// Their reports; absent when one of them is a bare trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<ReportDiff>,
    /// Their traces; absent when one of them kept none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceDiff>,
}

/// A file of two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// Its name among a run's files.
    pub key: String,
    /// Where the left one lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_path: Option<String>,
    /// Where the right one lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right_path: Option<String>,
    /// Size of the left one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_size_bytes: Option<u64>,
    /// Size of the right one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right_size_bytes: Option<u64>,
    /// Whether their bytes differ, or one is missing.
    pub changed: bool,
}

/// Two reports compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportDiff {
    /// Status.
    pub left_status: String,
    /// Status.
    pub right_status: String,
    /// Mode.
    pub left_mode: String,
    /// Mode.
    pub right_mode: String,
    /// How many findings.
    pub left_findings: usize,
    /// How many findings.
    pub right_findings: usize,
    /// Wall time in milliseconds.
    pub left_duration_ms: u64,
    /// Wall time in milliseconds.
    pub right_duration_ms: u64,
    /// Whether they found other things.
    pub finding_titles_changed: bool,
}

/// Two traces compared, by executing both once more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceDiff {
    /// What was done: `run`, `test`, …
    pub left_mode: String,
    /// What was done.
    pub right_mode: String,
    /// How many decisions.
    pub left_decisions: u64,
    /// How many decisions.
    pub right_decisions: u64,
    /// How many calls.
    pub left_events: u64,
    /// How many calls.
    pub right_events: u64,
    /// Which decision is the first that differs, counted from zero; absent when all are equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_decision_diff_index: Option<u64>,
    /// Which call is the first that differs; absent when all are equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_event_diff_index: Option<u64>,
    /// That call, on both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<DivergenceDocument>,
}

/// The format of bundles.
pub const BUNDLE_SCHEMA: &str = "fozzy.bundle_report.v1";

/// `bundle.json` of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BundleDocument {
    /// [`BUNDLE_SCHEMA`].
    pub schema_version: String,
    /// What was bundled, as it was named.
    pub source: String,
    /// The trace's name in it.
    pub trace: String,
    /// Whether every check passed.
    pub ci_ok: bool,
}

/// `fozzy ci`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CiDocument {
    /// `fozzy.ci_report.v1`.
    pub schema_version: String,
    /// Whether every check passed.
    pub ok: bool,
    /// What was checked.
    pub checks: Vec<CiCheck>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CiCheck {
    /// A stable word for scripts.
    pub name: String,
    /// Whether it passed, or was skipped.
    pub ok: bool,
    /// Whether it was not made, for want of what it is about.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// What was seen, or why it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// `fozzy corpus add`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CorpusAddDocument {
    /// The input's file, named by its content.
    pub added: String,
}

/// `fozzy corpus minimize`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CorpusMinimizeDocument {
    /// Always true: what fails is an error.
    pub ok: bool,
    /// The corpus.
    pub dir: String,
    /// Inputs before.
    pub files_before: u64,
    /// Inputs that stayed.
    pub files_after: u64,
    /// Removed as copies of others.
    pub duplicates_removed: u64,
    /// Removed because the others reach all that they reach; absent when no program was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redundant_removed: Option<u64>,
    /// Edges that all of them reach, and so do those that stayed; absent when no program was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<u64>,
    /// Inputs for which the budget was not enough, which stayed; absent when it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_executed: Option<u64>,
    /// Bytes before.
    pub bytes_before: u64,
    /// Bytes of what stayed.
    pub bytes_after: u64,
    /// The difference.
    pub bytes_removed: u64,
    /// Where what would stay was copied to; then nothing was removed from the corpus itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
}

/// `fozzy clean`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CleanDocument {
    /// Whether this is what would be removed.
    pub dry_run: bool,
    /// The ids of the runs that were removed, the newest first.
    pub runs: Vec<String>,
    /// Folders of runs that never ended, whose processes are gone.
    pub leftovers: Vec<String>,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Runs that are kept.
    pub kept: u64,
}

/// `fozzy trace migrate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MigrateDocument {
    /// Always `fozzy.trace_migration.v1`.
    pub schema_version: String,
    /// The trace of version 1.
    pub from: String,
    /// The version of its format.
    pub from_version: u64,
    /// The trace that was written.
    pub out: String,
    /// The seed of both.
    pub seed: Seed,
    /// How the old trace says that its run ended.
    pub recorded_status: String,
    /// How the run ended now.
    pub status: Status,
    /// Whether these are the same.
    pub same: bool,
    /// What the first finding of the run says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// What is other than in the old trace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// `fozzy corpus export`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CorpusExportDocument {
    /// Always true.
    pub ok: bool,
    /// The zip.
    pub zip: String,
}

/// `fozzy corpus import`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CorpusImportDocument {
    /// Always true.
    pub ok: bool,
    /// The corpus.
    pub dir: String,
}

/// The format of what `fozzy gate` prints.
pub const GATE_SCHEMA: &str = "fozzy.gate_report.v1";

/// `fozzy gate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateDocument {
    /// [`GATE_SCHEMA`].
    pub schema_version: String,
    /// `targeted`.
    pub profile: String,
    /// Whether warnings about integrity were errors.
    pub strict: bool,
    /// Where scenarios were looked for; `.` when nothing was said and there is no `tests`.
    pub scenario_root: String,
    /// What was asked for.
    pub scopes: Vec<String>,
    /// Scenarios in scope.
    pub matched_scenarios: Vec<String>,
    /// Steps in their order.
    pub steps: Vec<GateStep>,
}

/// The format of what `fozzy full` prints.
pub const FULL_SCHEMA: &str = "fozzy.full_report.v1";

/// `fozzy full`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FullDocument {
    /// [`FULL_SCHEMA`].
    pub schema_version: String,
    /// Whether warnings about integrity were errors.
    pub strict: bool,
    /// The opposite, under the name that scripts know.
    #[serde(rename = "unsafe_mode")]
    pub unsafe_mode: bool,
    /// Where scenarios were looked for; `.` when nothing was said and there is no `tests`.
    pub scenario_root: String,
    /// What to do about what failed or was skipped.
    pub guidance: Vec<String>,
    /// How the shrunk failure compares with the one that it was made of; absent when nothing was shrunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shrink_classification: Option<String>,
    /// Steps in their order.
    pub steps: Vec<GateStep>,
}

/// One step of `fozzy gate` or `fozzy full`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateStep {
    /// A stable word for scripts.
    pub name: String,
    /// How it went.
    pub status: StepStatus,
    /// What was seen, or why it was skipped; of a failure also the command that repeats it.
    pub detail: String,
}

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepStatus {
    /// It did what it should.
    Passed,
    /// It did not.
    Failed,
    /// It was not done, and the detail says why.
    Skipped,
    /// Something worth knowing, which fails nothing.
    Advisory,
}

impl StepStatus {
    /// The word in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            StepStatus::Passed => "passed",
            StepStatus::Failed => "failed",
            StepStatus::Skipped => "skipped",
            StepStatus::Advisory => "advisory",
        }
    }
}

/// The format of a line on standard error while `fozzy full --json` works.
pub const PROGRESS_SCHEMA: &str = "fozzy.full_progress.v1";

/// One such line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgressDocument {
    /// [`PROGRESS_SCHEMA`].
    pub schema_version: String,
    /// `phase_started`, `step_started`, `step_finished`.
    pub event: String,
    /// The step, or `full`.
    pub step: String,
    /// How it went, of one that is finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<StepStatus>,
    /// What was seen, of one that is finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// `fozzy usage`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageDocument {
    /// One sentence.
    pub title: String,
    /// One for each command.
    pub items: Vec<UsageItem>,
}

/// What a command is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageItem {
    /// Its name.
    pub command: String,
    /// In which situation it is of use.
    pub when: String,
    /// An example.
    pub how: String,
}

/// `fozzy man`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ManDocument {
    /// The folder.
    pub folder: String,
    /// The pages in it.
    pub files: Vec<String>,
}

/// The first thing in which two executions differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceDocument {
    /// Calls, an output, end, virtual time, memory or fuel.
    pub what: String,
    /// As recorded, or in the first execution.
    pub recorded: String,
    /// As found now.
    pub found: String,
}

/// The first call that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DivergenceDocument {
    /// Position in the history.
    pub index: u64,
    /// Virtual time there, in nanoseconds.
    pub virtual_time_ns: u64,
    /// Names of the machines, by their numbers; absent where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<String>,
    /// The recorded call; absent when the recording had ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<HistoryEntry>,
    /// The call made instead; absent when the program had ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<HistoryEntry>,
}

/// `fozzy trace verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifyDocument {
    /// Whether the file is a whole and sound trace.
    pub ok: bool,
    /// The file.
    pub path: String,
    /// Format version, as far as it can be made out.
    pub version: Option<u32>,
    /// Whether it carries a checksum.
    pub checksum_present: bool,
    /// Whether the checksum is right.
    pub checksum_valid: bool,
    /// What is not wrong, but worth knowing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Why it is not ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// `fozzy trace show`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShowDocument {
    /// The trace.
    pub path: String,
    /// The seed of its decisions.
    pub seed: Seed,
    /// All calls of the execution.
    pub calls: u64,
    /// Decisions among them.
    pub decisions: u64,
    /// The machines of the plan, by the numbers that the calls have.
    #[serde(default)]
    pub machines: Vec<String>,
    /// Faults that struck in them; absent when none did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strikes: Vec<ShownStrike>,
    /// The calls that were asked for.
    pub entries: Vec<HistoryEntry>,
}

/// A fault that struck.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShownStrike {
    /// The number of the call that it struck.
    pub index: u64,
    /// Virtual time, in nanoseconds.
    pub virtual_time_ns: u64,
    /// The machine.
    pub machine: String,
    /// The fault and what it struck: `write-error on /data/log`.
    pub fault: String,
    /// How hard, in words; absent when the kind has no strength.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub strength: String,
}

impl ShownStrike {
    /// The strike that an entry tells of.
    #[must_use]
    pub fn of(entry: &HistoryEntry, names: &crate::MachineNames) -> ShownStrike {
        let (fault, strength) = (entry.asked.clone(), entry.answer.clone());
        let machine = names.name(entry.node);
        ShownStrike { index: entry.index, virtual_time_ns: entry.at.0, machine, fault, strength }
    }
}

/// `fozzy version`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VersionDocument {
    /// Version of the package.
    pub version: String,
    /// Commit that it was built from, when the build was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Date of the build, when the build was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_date: Option<String>,
    /// What results depend on besides.
    pub wasmtime: String,
    /// Version of the rewriter.
    pub rewriter: u32,
    /// Version of the trace format that is written.
    pub trace_format: u32,
}

/// What backs a capability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Capability {
    /// The backend's name.
    pub backend: String,
    /// Whether it gives the same answers every time.
    pub deterministic: bool,
}

/// `fozzy env`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvDocument {
    /// Operating system of this machine.
    pub os: String,
    /// Processor family of this machine.
    pub arch: String,
    /// The tool.
    pub fozzy: VersionDocument,
    /// Each capability of a guest.
    pub capabilities: Capabilities,
    /// The groups of faults that `--faults` takes; `all` is all of them.
    #[serde(default)]
    pub faults: Vec<FaultGroup>,
}

/// A group of faults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultGroup {
    /// Its name.
    pub group: String,
    /// The kinds in it.
    pub kinds: Vec<String>,
}

/// Each capability of a guest, and what backs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "each is the capability of its name")]
pub struct Capabilities {
    pub time: Capability,
    pub rng: Capability,
    pub fs: Capability,
    pub http: Capability,
    pub net: Capability,
    pub proc: Capability,
    pub memory: Capability,
}

/// `fozzy doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorDocument {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// What is wrong with this machine or the program.
    pub issues: Vec<DoctorIssue>,
    /// Parts of the environment that could make results differ; the sandbox shows none to a guest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nondeterminism_signals: Vec<DoctorSignal>,
    /// The audit, with `--deep`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub determinism_audit: Option<AuditDocument>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorIssue {
    /// A stable word.
    pub code: String,
    /// What, where, expected, found.
    pub message: String,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// One part of the environment that could make results differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorSignal {
    /// Where it comes from.
    pub source: String,
    /// What it is.
    pub detail: String,
}

/// The determinism audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditDocument {
    /// The program.
    pub scenario: String,
    /// Number of executions.
    pub runs: usize,
    /// The seed of all of them.
    pub seed: Seed,
    /// Whether all were equal.
    pub consistent: bool,
    /// One for each execution, over questions, answers, output, end, time, memory and fuel.
    pub signatures: Vec<Digest>,
    /// The first execution that differs from the first one, counted from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_mismatch_run: Option<usize>,
    /// In what it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<DifferenceDocument>,
    /// The first call that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<DivergenceDocument>,
}

/// `fozzy init`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InitDocument {
    /// Where the files are.
    pub folder: String,
    /// From which template.
    pub template: String,
    /// What was written, relative to the folder.
    pub files: Vec<String>,
    /// The folder of the SDK's sources, when they were written too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sdk: Option<String>,
    /// What to do there next, line by line.
    pub next: Vec<String>,
}

/// `fozzy validate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValidateDocument {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// The file, as it was named.
    pub file: String,
    /// Everything that is wrong with it.
    pub problems: Vec<PlanProblem>,
}

/// `fozzy validate` of a scenario file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScenarioDocument {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// The file, as it was named.
    pub scenario: String,
    /// `steps`, `distributed` or `suites`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The name that it gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its steps; of suites, none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// The invariants of a distributed scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariants: Option<u64>,
    /// The first thing that is wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Where, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// In characters, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

/// One thing that is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanProblem {
    /// From 1; none when it is in no one place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// In characters, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The key in question; empty for the whole file.
    pub key: String,
    /// What was expected, what was found, and often what to write.
    pub message: String,
}
