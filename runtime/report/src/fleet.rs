//! What `fozzy fleet` prints: what was collected, what was not and why, and what was found.
//!
//! ```text
//! fozzy fleet FAIL  12 targets, 2 failures, 1 not collected
//!   bank           explore  41 slices  1,204 runs  318 of 900 kept edges
//! panic at src/lib.rs:7 in bank: still there
//!   fozzy replay .fozzy/fleet/blobs/3f/3f2a….fozzy
//! ```
//!
//! Invariant: the text says nothing that the document does not.
//! Not here: how it comes about (`fozzy-campaign`).

use crate::Layout;
use crate::pretty::{Style, counted, fit, grouped, is_zero, percents, wrapped};
use crate::strikes::{FaultOverlap, FaultPair, FaultTotal};
use crate::suite::SuiteSummary;
use fozzy_trace::Status;
use fozzy_trace::facts::PropertyTable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

/// `fozzy.fleet.v1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetDocument {
    /// Always `fozzy.fleet.v1`.
    pub schema_version: String,
    /// `fail` when a failure stands; `error` when nothing could be searched, the present build of a target has no run, what was found does not
    /// build or cannot be read, its name cannot be told, the record of a failure cannot be read, the trace of one that a slice has met was lost,
    /// or a full disk took what slices came to, whatever failures stand; else `pass`.
    pub status: Status,
    /// Whether it is an error for no more than that targets have no run of their present build, as their rows say in JSON.
    #[serde(skip)]
    pub lacks_runs_only: bool,
    /// Whether it was stopped by a signal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Where everything is kept.
    pub store: String,
    /// Slices at a time; 0 of a store that is looked at.
    pub jobs: u32,
    /// Real time of this fleet, in milliseconds; 0 of a store that is looked at.
    pub elapsed_ms: u64,
    /// Slices of this fleet; of a store that is looked at, those of all fleets on these targets.
    pub slices: u64,
    /// CPU seconds of these.
    pub cpu_s: f64,
    /// What is searched; counts are those of all fleets on the store.
    pub targets: Vec<FleetTargetRow>,
    /// What was found, and is not searched.
    pub not_collected: Vec<UncollectedRow>,
    /// Failures, those that stand first.
    pub failures: Vec<FleetFailureRow>,
    /// Records of failures that may stand and cannot be read; why, is in `warnings`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreadable_failures: u64,
    /// The fleets of this store, those at work first.
    pub workers: Vec<FleetWorkerRow>,
    /// What is not in the store yet, at the end of a fleet; absent when all is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<WaitingSlices>,
    /// What a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Slices whose results wait on the disk of this machine until the store takes them: the next `fozzy fleet` in this folder with that store
/// brings them there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingSlices {
    /// How many.
    pub slices: u64,
    /// The folder.
    pub place: String,
}

/// One target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetTargetRow {
    /// Its path, and its function.
    pub name: String,
    /// What its records are kept by.
    pub id: String,
    /// How it is searched: `explore`, `fuzz`, `property`, `http`, `cargo-fuzz`.
    pub kind: String,
    /// The SHA-256 of the build that its coverage is of, of the program with its plan; absent before its first slice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Slices.
    pub slices: u64,
    /// CPU seconds of these.
    pub cpu_s: f64,
    /// Executions, or runs.
    pub executions: u64,
    /// Behaviours of the program of today that were seen.
    pub features: u64,
    /// Kept edges that were taken.
    pub edges: u64,
    /// Kept edges: those that are told apart, also where libraries have them. The others follow from them.
    pub edges_total: u64,
    /// Testcases, or kept places.
    pub corpus: u64,
    /// How much slices add to what is known of it, in tenths of that, per CPU second; a quarter of that where a failure stands. Its share of the
    /// time follows it.
    pub rate: f64,
    /// The chance that as many executions again find something new: as in the last slice, if that found something, otherwise as in all of them. Absent
    /// where it is not estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance_if_doubled: Option<f64>,
    /// Where that chance is with a confidence of 95 %: at least, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance_if_doubled_range: Option<(f64, f64)>,
    /// The chance that one more CPU minute on it finds something new, which `--until-risk` bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance_in_minute: Option<f64>,
    /// Edges that can be taken and were not, at least (Chao), by its last slice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_undiscovered_edges: Option<f64>,
    /// A failure of the program of today that strikes in one of this many executions, or more often, has been met with a chance of 95 %; 0 where none
    /// was counted.
    #[serde(default)]
    pub detectable_one_in: u64,
    /// Failures that stand.
    pub failures: u64,
    /// Records of its failures that may stand and cannot be read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreadable_failures: u64,
    /// When something new was found last (RFC 3339); absent when nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub news_at: Option<String>,
    /// Why the last slice had no result; absent when it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// That its present build has no run, why, and what to do: what is counted is of builds before, or nothing is. Absent when it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsearched: Option<String>,
}

impl FleetTargetRow {
    /// Whether nothing says how it stands: none of its runs was at its end, or what its last slice has found is lost.
    fn is_unjudged(&self) -> bool {
        let is_so = |why: &String| {
            why.contains(FOUND_WITHOUT_REPORT) || self.executions == 0 && why.contains(FIRST_RUN_WITHOUT_END)
        };
        self.trouble.as_ref().is_some_and(is_so)
    }
}

/// One fleet, which is a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetWorkerRow {
    /// Its machine, its process, and when it began.
    pub name: String,
    /// Its version of fozzy.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// When it began (RFC 3339).
    pub started_at: String,
    /// When it was last heard of.
    pub seen_at: String,
    /// Slices that it has finished.
    pub slices: u64,
    /// CPU seconds of these.
    pub cpu_s: f64,
    /// Whether it has ended as it should.
    pub has_ended: bool,
    /// Whether it was heard of lately, by the clock of who looks at the store.
    pub is_at_work: bool,
    /// Its last slices, the latest last.
    pub recent: Vec<FleetSliceRow>,
}

/// One slice of a fleet's time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FleetSliceRow {
    /// The target that it was given to.
    pub target: String,
    /// When it ended, in seconds since 1970.
    pub ended_at_s: f64,
    /// Real time that it took, in seconds.
    pub took_s: f64,
    /// Behaviours and failures that it found first; of an exploration, steps of its second half with something new where they are more.
    pub news: u64,
}

/// What is known of one target: `fozzy.fleet_target.v1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetTargetDocument {
    /// Always `fozzy.fleet_target.v1`.
    pub schema_version: String,
    /// The target.
    pub target: FleetTargetRow,
    /// Its failures, those that stand first.
    pub failures: Vec<FleetFailureRow>,
    /// How the properties of the program of today stand over all executions; absent when it has none.
    #[serde(default, skip_serializing_if = "PropertyTable::is_empty")]
    pub properties: PropertyTable,
    /// How it went, the oldest first. Of a long search every second moment is left out, as often as needed.
    pub history: Vec<FleetMoment>,
    /// The folder of its corpus, if it has one here; otherwise its testcases are those of the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corpus_path: Option<String>,
    /// Testcases of it, from the one on that was asked for (`?from=N`): of a folder the latest first, of the store by name.
    pub testcases: Vec<FleetTestcaseRow>,
    /// How many there are.
    #[serde(default)]
    pub testcases_total: u64,
    /// What can be known of it by executing it: `coverage`, `faults`. `/api/targets/ID/coverage` of the dashboard does that.
    #[serde(default)]
    pub measures: Vec<String>,
}

/// What was known of a target after one slice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FleetMoment {
    /// When the slice ended, in seconds since 1970.
    pub at_s: f64,
    /// CPU seconds of all slices until then.
    pub cpu_s: f64,
    /// Executions, or runs.
    pub executions: u64,
    /// Behaviours of the program of that time that were seen.
    pub features: u64,
    /// Kept edges that were taken.
    pub edges: u64,
    /// Testcases, or kept places.
    pub corpus: u64,
    /// Failures that stood.
    pub failures: u64,
    /// Whose slice it was.
    pub worker: String,
}

/// Which faults struck in the same runs of a target: `fozzy.fault_map.v1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FaultMapDocument {
    /// Always `fozzy.fault_map.v1`.
    pub schema_version: String,
    /// Runs.
    pub runs: u64,
    /// Runs that did not pass.
    pub failed: u64,
    /// The planned faults, and in how many runs each struck.
    pub faults: Vec<FaultTotal>,
    /// Pairs of those that struck at all.
    pub together: Vec<FaultPair>,
    /// Which nemeses were at work at the same time, and during which operations of clients.
    pub overlaps: Vec<FaultOverlap>,
}

impl FaultMapDocument {
    /// What runs of a target with many seeds say of its faults.
    #[must_use]
    pub fn of(runs: SuiteSummary) -> FaultMapDocument {
        FaultMapDocument {
            schema_version: "fozzy.fault_map.v1".to_owned(),
            runs: runs.scenarios.len() as u64,
            failed: runs.tests.failed as u64,
            faults: runs.faults,
            together: runs.together,
            overlaps: runs.overlaps,
        }
    }
}

/// What `fozzy dashboard` says: `fozzy.dashboard.v1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DashboardDocument {
    /// Always `fozzy.dashboard.v1`.
    pub schema_version: String,
    /// Where the pages are served, with their token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The first page that was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Files that were written.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What was not written, and why; of an export also what the fleet's document has to say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl DashboardDocument {
    /// One that is served.
    #[must_use]
    pub fn served(url: &str) -> DashboardDocument {
        let schema_version = "fozzy.dashboard.v1".to_owned();
        let url = Some(url.to_owned());
        DashboardDocument { schema_version, url, path: None, files: 0, bytes: 0, warnings: Vec::new() }
    }

    /// One that was written.
    #[must_use]
    pub fn written(path: String, (files, bytes): (u64, u64), warnings: Vec<String>) -> DashboardDocument {
        DashboardDocument { path: Some(path), url: None, files, bytes, warnings, ..DashboardDocument::served("") }
    }
}

impl Layout for DashboardDocument {
    fn lay_out(&self, style: Style) -> String {
        let written = self
            .path
            .iter()
            .map(|path| format!("wrote {path} ({}, {} bytes)\n", counted(self.files, "file"), grouped(self.bytes)));
        let url = self.url.iter().map(|url| format!("{url}\n"));
        url.chain(written).chain([notes(&self.warnings, style)]).collect()
    }
}

/// `fozzy store copy`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreCopyDocument {
    /// Always `fozzy.store_copy.v1`.
    pub schema_version: String,
    /// The store.
    pub from: String,
    /// The other one.
    pub to: String,
    /// Records that were written: new ones, merged ones and replaced ones.
    pub records: u64,
    /// Traces, testcases and saved explorations.
    pub traces: u64,
    /// Bytes of both, as they were read.
    pub bytes: u64,
    /// What became of the records of each kind.
    pub kinds: Vec<CopiedKindRow>,
    /// What a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What became of the records of one kind when a store was copied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CopiedKindRow {
    /// The kind: `targets`, `failures`, `history`, `workers`, `corpus`, `explored`.
    pub kind: String,
    /// Those that the other store did not have.
    pub new: u64,
    /// Those that are made of both now.
    pub merged: u64,
    /// Those that are now as in the first store.
    pub replaced: u64,
    /// Those that have stayed as they were: the other store had all of them already.
    pub left: u64,
    /// Those that could not be copied: they cannot be read, or what they name is gone or damaged. Which, is in `warnings`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u64,
}

impl StoreCopyDocument {
    /// What was copied from one store to another.
    #[must_use]
    pub fn new(from: String, to: String, (traces, bytes): (u64, u64), kinds: Vec<CopiedKindRow>) -> StoreCopyDocument {
        let schema_version = "fozzy.store_copy.v1".to_owned();
        let records = kinds.iter().map(|row| row.new + row.merged + row.replaced).sum();
        StoreCopyDocument { schema_version, from, to, records, traces, bytes, kinds, warnings: Vec::new() }
    }
}

impl Layout for StoreCopyDocument {
    fn lay_out(&self, style: Style) -> String {
        let (records, blobs) = (counted(self.records, "record"), counted(self.traces, "file"));
        let bytes = grouped(self.bytes);
        let mut text = format!("copied {records} and {blobs}, {bytes} bytes, from {}\nto {}\n", self.from, self.to);
        for CopiedKindRow { kind, new, merged, replaced, left, lost } in &self.kinds {
            let counts = [
                (new, "new"),
                (merged, "merged"),
                (replaced, "replaced"),
                (left, "left as they were"),
                (lost, "not copied"),
            ];
            let counts = counts.iter().filter(|(count, _)| **count > 0);
            let counts: Vec<String> = counts.map(|(count, what)| format!("{} {what}", grouped(**count))).collect();
            let _ = writeln!(text, "  {} {}", fit(&format!("{kind:<10}"), style.room(2)), counts.join(", "));
        }
        text.push_str(&notes(&self.warnings, style));
        text
    }
}

/// `fozzy store dismiss`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreDismissDocument {
    /// Always `fozzy.store_dismiss.v1`.
    pub schema_version: String,
    /// The store.
    pub store: String,
    /// What is no more in it.
    pub dismissed: Vec<DismissedFailureRow>,
}

/// A failure that was taken out of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DismissedFailureRow {
    /// The key of its record.
    pub key: String,
    /// The target's name; absent where the record could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What it was; absent where the record could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The SHA-256 of its trace, which is gone with it unless another failure has the same; absent where the record could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

impl StoreDismissDocument {
    /// What was taken out of a store.
    #[must_use]
    pub fn new(store: String, dismissed: Vec<DismissedFailureRow>) -> StoreDismissDocument {
        StoreDismissDocument { schema_version: "fozzy.store_dismiss.v1".to_owned(), store, dismissed }
    }
}

impl Layout for StoreDismissDocument {
    fn lay_out(&self, style: Style) -> String {
        let mut text = String::new();
        for DismissedFailureRow { key, target, signature, .. } in &self.dismissed {
            let what = match (signature, target) {
                (Some(signature), Some(target)) => format!("{signature} in {target}"),
                _ => key.clone(),
            };
            let _ = writeln!(text, "dismissed {}", fit(&what, usize::MAX));
        }
        let _ = writeln!(text, "from {}; what is met again is found anew", fit(&self.store, style.room(38)));
        text
    }
}

/// A testcase, for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetTestcaseRow {
    /// The name of its file.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// The first of them, as text with escapes.
    pub begins: String,
    /// What to type to execute it; absent of one whose name is no text. One of a store on a server is downloaded first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// What was found, and is not searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UncollectedRow {
    /// Its path.
    pub name: String,
    /// An error is `not-built`, `unreadable`: the program, the scenario file, or its plan with what that names, or `not-utf8`: its name is no text.
    /// None is `no-entry`: nothing of it can be searched, or `not-named`: a program that is no test beside scenarios.
    pub reason: String,
    /// The same for people.
    pub why: String,
}

impl UncollectedRow {
    /// Whether it is a test that is broken, so that nothing is known of it. What has nothing to be searched, or is no test here, is as it should be.
    fn is_broken(&self) -> bool {
        [NOT_BUILT, UNREADABLE, NOT_UTF8].contains(&self.reason.as_str())
    }
}

/// One failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetFailureRow {
    /// The target's name.
    pub target: String,
    /// The SHA-256 of its trace, by which the store has it.
    pub trace: String,
    /// Whether that is not there: nothing can be made of it until a slice meets the failure again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trace_missing: bool,
    /// The SHA-256 of the build that it was tried or met on last, of the program with its plan; absent where that is not known. Another one than the
    /// `build` of its target is that of another working copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// What it is.
    pub signature: String,
    /// `unshrunk`, `shrunk` or `fixed`.
    pub state: String,
    /// How it stands on the program of today: `still there`, `fixed`, `fails otherwise`, `stale`, or `not tried on this code yet`, which stands.
    pub status: String,
    /// How it stood when it was seen last, where it was not tried on this code yet; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_status: Option<String>,
    /// How often it was seen.
    pub times: u64,
    /// When it was found first (RFC 3339).
    pub found_at: String,
    /// Its smallest trace, if that is a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_path: Option<String>,
    /// What to type to see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What can be known of it by executing it: `causality`, `suspects`. `/api/failures/TRACE/causality` of the dashboard does that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<String>,
    /// What of it the dashboard makes a patch for git of: `regression`, its trace as a regression test (`/failures/TRACE.patch`), and `seed`, its input as a
    /// testcase (`/failures/TRACE.seed.patch`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<String>,
}

impl FleetFailureRow {
    /// Whether it is a failure of the program of today, as far as is known: neither fixed, nor stale, which says nothing any more.
    #[must_use]
    pub fn stands(&self) -> bool {
        self.state != "fixed" && self.status != "stale"
    }
}

impl FleetDocument {
    /// One without targets, yet.
    #[must_use]
    pub fn new(store: String, jobs: u32, not_collected: Vec<UncollectedRow>) -> FleetDocument {
        FleetDocument {
            schema_version: "fozzy.fleet.v1".to_owned(),
            status: Status::Pass,
            lacks_runs_only: false,
            interrupted: false,
            store,
            jobs,
            elapsed_ms: 0,
            slices: 0,
            cpu_s: 0.0,
            targets: Vec::new(),
            not_collected,
            failures: Vec::new(),
            unreadable_failures: 0,
            workers: Vec::new(),
            waiting: None,
            warnings: Vec::new(),
        }
    }

    /// The same document with those rows only that are not as they were `before`; `None` when rows have come, gone or changed their places, so that
    /// only the whole document says it. Workers have no places.
    #[must_use]
    pub fn changes_since(&self, before: &FleetDocument) -> Option<FleetDocument> {
        let targets = changed(&before.targets, &self.targets, |row| &row.id)?;
        let failures = changed(&before.failures, &self.failures, |row| (&row.trace, &row.target))?;
        let known: BTreeMap<&str, &FleetWorkerRow> = before.workers.iter().map(|row| (&*row.name, row)).collect();
        let is_known =
            self.workers.len() == known.len() && self.workers.iter().all(|row| known.contains_key(&*row.name));
        let is_new = |row: &&FleetWorkerRow| known.get(&*row.name) != Some(row);
        let workers = self.workers.iter().filter(is_new).cloned().collect();
        is_known.then(|| FleetDocument { targets, failures, workers, ..self.head() })
    }

    /// All but its targets, failures and workers.
    fn head(&self) -> FleetDocument {
        let not_collected = self.not_collected.clone();
        FleetDocument {
            status: self.status,
            interrupted: self.interrupted,
            elapsed_ms: self.elapsed_ms,
            slices: self.slices,
            cpu_s: self.cpu_s,
            unreadable_failures: self.unreadable_failures,
            waiting: self.waiting.clone(),
            warnings: self.warnings.clone(),
            ..FleetDocument::new(self.store.clone(), self.jobs, not_collected)
        }
    }

    /// Its status, from what it has; failures that stand go first.
    pub fn settle(&mut self) {
        self.failures.sort_by_key(|row| (!row.stands(), row.target.clone(), row.signature.clone()));
        self.workers.sort_by(|left, right| {
            let key = |row: &FleetWorkerRow| (row.has_ended, std::cmp::Reverse(row.seen_at.clone()));
            key(left).cmp(&key(right)).then_with(|| left.name.cmp(&right.name))
        });
        let is_idle = self.targets.iter().all(|target| target.trouble.is_some());
        let is_unjudged = self.targets.iter().any(FleetTargetRow::is_unjudged);
        let is_broken = self.not_collected.iter().any(UncollectedRow::is_broken);
        let is_error = is_idle || is_unjudged || is_broken || self.unreadable_failures > 0;
        let is_unsearched = self.targets.iter().any(|target| target.unsearched.is_some());
        let is_failed = self.failures.iter().any(FleetFailureRow::stands);
        self.lacks_runs_only = is_unsearched && !is_error && !is_failed;
        self.status = match (is_failed, is_error || is_unsearched) {
            (true, _) => Status::Fail,
            (false, true) => Status::Error,
            (false, false) => Status::Pass,
        };
    }

    /// It is no pass for a reason that no row says.
    pub fn refuse(&mut self) {
        if self.status == Status::Pass || self.lacks_runs_only {
            (self.status, self.lacks_runs_only) = (Status::Error, false);
        }
    }

    /// The status that its exit code says: one that was stopped before each target had its turn has what it has found, as if it had not been.
    #[must_use]
    pub fn exit_status(&self) -> Status {
        if self.interrupted && self.lacks_runs_only { Status::Pass } else { self.status }
    }
}

/// What a reader has to know. What is to be seen to stands at the end of a note: it is not cut.
fn notes(warnings: &[String], style: Style) -> String {
    let note = |warning: &String| wrapped(&fit(&format!("note: {warning}"), usize::MAX), style.room(0));
    warnings.iter().flat_map(note).map(|line| format!("{line}\n")).collect()
}

/// How a failure stands that was neither tried nor met on the present build of its target.
pub const UNTRIED: &str = "not tried on this code yet";
/// Begins why a target has no result whose last slice has found a failure that is not in the store, as its report is not there.
pub const FOUND_WITHOUT_REPORT: &str = "it has found a failure, and its report is lost";
/// Says of a target without a result that its one run is all that there is: it has passed.
pub const NOTHING_VARIES: &str = "asks for nothing that could be varied";
/// Why something is not collected whose sources do not become a program.
pub const NOT_BUILT: &str = "not-built";
/// Why something is not collected that cannot be read: the program, a scenario file, or the plan with what that names.
pub const UNREADABLE: &str = "unreadable";
/// Why something is not collected that has nothing to be searched: a library, say.
pub const NO_ENTRY: &str = "no-entry";
/// Why something is not collected whose name is no text, so that no command and no record can name it.
pub const NOT_UTF8: &str = "not-utf8";
/// Why a target has no result whose first run took longer than its slice. Nothing is known of it then: a program may never end.
pub const FIRST_RUN_WITHOUT_END: &str = "its first run was not at its end when the time was over";

/// Characters before what is said of a target.
const MARGIN: usize = 15;
/// Lines of it that are shown; all are in the document.
const LINES_MAX: usize = 24;

/// The lines of a text, below each other behind the margin, so that a compiler's picture of a source stays one, and none of them looks like a row.
fn picture(text: &str, style: Style) -> String {
    let all = text.trim_end().lines().count();
    let lines = text.lines().take(all.min(LINES_MAX));
    let mut lines: Vec<String> =
        lines.map(|line| fit(&line.trim_end().replace('\t', "    "), style.room(MARGIN))).collect();
    if all > LINES_MAX {
        lines.push(format!("… {} more", counted((all - LINES_MAX) as u64, "line")));
    }
    lines.join(&format!("\n{:MARGIN$}", ""))
}

/// The rows that are not as they were; `None` when they are not the same ones in the same order.
fn changed<'r, R: Clone + PartialEq, K: PartialEq>(
    before: &'r [R],
    now: &'r [R],
    key: impl Fn(&'r R) -> K,
) -> Option<Vec<R>> {
    let is_same = before.len() == now.len() && before.iter().zip(now).all(|(before, now)| key(before) == key(now));
    let pairs = before.iter().zip(now);
    is_same.then(|| pairs.filter(|(before, now)| before != now).map(|(_, now)| now.clone()).collect())
}

impl Layout for FleetDocument {
    fn lay_out(&self, style: Style) -> String {
        let Style { good, bad, faint, end, .. } = style;
        let colour = if self.status == Status::Pass { good } else { bad };
        let standing = self.failures.iter().filter(|row| row.stands()).count() as u64;
        let mut text = format!(
            "fozzy fleet {colour}{}{end}  {}, {}, {} not collected\n",
            self.status.name().to_uppercase(),
            counted(self.targets.len() as u64, "target"),
            counted(standing, "failure"),
            grouped(self.not_collected.len() as u64)
        );
        for row in &self.targets {
            let share = match row.edges_total {
                0 => String::new(),
                total => format!(", {} of {}", grouped(row.edges), counted(total, "kept edge")),
            };
            let left = row.estimated_undiscovered_edges.filter(|edges| edges.round() > 0.0);
            let left = left.map(|edges| format!(", at least {edges:.0} left")).unwrap_or_default();
            let chance = row.chance_if_doubled.map(|chance| {
                let range = row.chance_if_doubled_range;
                let [chance, low, high] = percents(chance, range.unwrap_or((chance, chance)));
                let range = range.map(|_| format!(" ({low} to {high})")).unwrap_or_default();
                format!(", {chance} %{range} if doubled")
            });
            let what = match &row.trouble {
                Some(why) => picture(&format!("no result: {why}"), style),
                None => fit(
                    &format!(
                        "{}, {:.1} CPU s, {}{share}{left}{}",
                        counted(row.slices, "slice"),
                        row.cpu_s,
                        counted(row.executions, "run"),
                        chance.unwrap_or_default()
                    ),
                    style.room(MARGIN),
                ),
            };
            let _ = writeln!(text, "  {}", fit(&row.name, style.room(2)));
            let _ = writeln!(text, "    {faint}{:<10}{end} {what}", row.kind);
            if let Some(why) = &row.unsearched {
                // What to do stands at its end: it is not cut.
                let why = wrapped(&fit(why, usize::MAX), style.room(MARGIN)).join(&format!("\n{:MARGIN$}", ""));
                let _ = writeln!(text, "    {bad}{:<10}{end} {why}", "unsearched");
            }
        }
        for row in &self.not_collected {
            let _ = writeln!(text, "  {}", fit(&row.name, style.room(2)));
            let _ = writeln!(text, "    {bad}{:<10}{end} {}", row.reason, picture(&row.why, style));
        }
        for row in &self.failures {
            let colour = match row.stands() {
                true => bad,
                false if row.state == "fixed" => good,
                false => faint,
            };
            let last =
                row.last_status.as_ref().map(|last| format!(", {last} when it was seen last")).unwrap_or_default();
            let times = counted(row.times, "time");
            let line = format!("{} in {} ({}, {times}{last})", row.signature, row.target, row.state);
            let _ = writeln!(text, "{colour}{}{end}: {}", row.status, fit(&line, style.room(row.status.len() + 2)));
            row.command.iter().for_each(|command| _ = writeln!(text, "  {command}"));
            if row.trace_missing {
                let _ = writeln!(text, "  its trace is not there: fozzy://{}", row.trace);
            }
        }
        text.push_str(&notes(&self.warnings, style));
        let _ = writeln!(text, "{faint}kept in {}{end}", fit(&self.store, style.room(8)));
        if let Some(WaitingSlices { slices, place }) = &self.waiting {
            let slices = counted(*slices, "slice");
            let line = format!(
                "{bad}not there yet{end}: {slices} in {place}; the next `fozzy fleet` in this folder with that store brings them"
            );
            wrapped(&line, style.room(0)).iter().for_each(|line| _ = writeln!(text, "{line}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_compiler_stay_lines_and_forge_no_row() {
        let why = "a.wat: unexpected token\n     --> a.wat:2:9\n 2 |\t(func\n   |     ^\n";
        let row = |name: &str, why: String| UncollectedRow { name: name.into(), reason: "unreadable".into(), why };
        let long = (0..30).map(|line| format!("{line}\n")).collect();
        let document = FleetDocument::new("s".to_owned(), 1, vec![row("a.wat", why.to_owned()), row("b.wat", long)]);
        let text = document.lay_out(Style::PLAIN);
        let margin = " ".repeat(MARGIN);
        let expected = [
            "  a.wat\n    unreadable a.wat: unexpected token\n".to_owned(),
            format!("{margin}     --> a.wat:2:9\n{margin} 2 |    (func\n{margin}   |     ^\n  b.wat\n"),
            format!("    unreadable 0\n{margin}1\n"),
            format!("{margin}23\n{margin}… 6 lines more\nkept in s\n"),
        ];
        expected.iter().for_each(|part| assert!(text.contains(part), "{part} in {text}"));
    }

    #[test]
    fn a_copy_says_what_became_of_the_records_of_each_kind() {
        let row = |kind: &str, [new, merged, replaced, left, lost]: [u64; 5]| CopiedKindRow {
            kind: kind.to_owned(),
            new,
            merged,
            replaced,
            left,
            lost,
        };
        let kinds = vec![row("targets", [0, 2, 1, 1200, 0]), row("workers", [3, 0, 0, 0, 2])];
        let text = StoreCopyDocument::new("a".to_owned(), "b".to_owned(), (1, 7), kinds).lay_out(Style::PLAIN);
        let expected = "copied 6 records and 1 file, 7 bytes, from a\nto b\n\
                        \x20 targets    2 merged, 1 replaced, 1,200 left as they were\n\
                        \x20 workers    3 new, 2 not copied\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_fleet_does_not_pass_while_a_target_was_never_judged() {
        let row = |executions, trouble: Option<&str>| FleetTargetRow {
            executions,
            trouble: trouble.map(str::to_owned),
            ..searched()
        };
        let status = |other| {
            let mut document = FleetDocument::new("s".to_owned(), 1, Vec::new());
            document.targets = vec![row(9, None), other];
            document.settle();
            document.status
        };
        let (endless, other) = (Some(FIRST_RUN_WITHOUT_END), Some("app.wat asks for nothing that could be varied"));
        let rows = [row(0, endless), row(3, endless), row(0, other), row(0, None)];
        assert_eq!(rows.map(status), [Status::Error, Status::Pass, Status::Pass, Status::Pass]);
        let found = format!("{FOUND_WITHOUT_REPORT}: its process ended without a report (exit status: 2)\nfound trap");
        assert_eq!([row(0, Some(found.as_str())), row(3, Some(found.as_str()))].map(status), [Status::Error; 2]);
    }

    /// One that has passed so far.
    fn searched() -> FleetTargetRow {
        FleetTargetRow {
            name: "a.wat".to_owned(),
            id: "a-1".to_owned(),
            kind: "explore".to_owned(),
            build: None,
            slices: 2,
            cpu_s: 1.0,
            executions: 1010,
            features: 0,
            edges: 0,
            edges_total: 0,
            corpus: 0,
            rate: 0.0,
            chance_if_doubled: None,
            chance_if_doubled_range: None,
            chance_in_minute: None,
            estimated_undiscovered_edges: None,
            detectable_one_in: 0,
            failures: 0,
            unreadable_failures: 0,
            news_at: None,
            trouble: None,
            unsearched: None,
        }
    }

    #[test]
    fn a_target_whose_present_build_has_no_run_is_an_error_that_its_row_says() {
        let why = format!("no run of its present build: {}: a longer --time", "the time was over, ".repeat(5));
        let unsearched = FleetTargetRow { name: "b.wat".to_owned(), unsearched: Some(why), ..searched() };
        let mut document = FleetDocument::new("s".to_owned(), 1, Vec::new());
        document.targets = vec![searched()];
        document.settle();
        assert_eq!((document.status, document.lacks_runs_only), (Status::Pass, false));
        document.targets.push(unsearched);
        document.settle();
        assert_eq!((document.status, document.exit_status()), (Status::Error, Status::Error));
        let text = document.lay_out(Style::PLAIN.on(60, ""));
        let expected =
            "  b.wat\n    explore    2 slices, 1.0 CPU s, 1,010 runs\n    unsearched no run of its present build: ";
        assert!(text.starts_with("fozzy fleet ERROR") && text.contains(expected), "{text}");
        assert!(text.contains("--time\n") && text.matches("unsearched").count() == 1, "{text}");
        // One that was stopped says so by its exit code, unless something else is wrong.
        document.interrupted = true;
        assert_eq!((document.status, document.exit_status()), (Status::Error, Status::Pass));
        document.refuse();
        assert_eq!((document.status, document.exit_status()), (Status::Error, Status::Error));
        document.settle();
        document.unreadable_failures = 1;
        document.settle();
        assert_eq!(document.exit_status(), Status::Error);
    }

    #[test]
    fn what_is_broken_or_cannot_be_named_is_no_pass_and_what_is_no_test_is_one() {
        let status = |reason: &str| {
            let row = UncollectedRow { name: "x".to_owned(), reason: reason.to_owned(), why: String::new() };
            let mut document = FleetDocument::new("s".to_owned(), 1, vec![row]);
            document.targets = vec![searched()];
            document.settle();
            document.status
        };
        assert_eq!([NO_ENTRY, "not-named"].map(status), [Status::Pass; 2]);
        assert_eq!([NOT_BUILT, UNREADABLE, NOT_UTF8].map(status), [Status::Error; 3]);
    }

    #[test]
    fn a_failure_that_is_stale_or_fixed_is_listed_and_does_not_stand() {
        let row = |signature: &str, state: &str, status: &str| FleetFailureRow {
            target: "bank".to_owned(),
            trace: String::new(),
            trace_missing: false,
            build: None,
            signature: signature.to_owned(),
            state: state.to_owned(),
            status: status.to_owned(),
            last_status: None,
            times: 1,
            found_at: String::new(),
            trace_path: None,
            command: None,
            measures: Vec::new(),
            patches: Vec::new(),
        };
        let mut document = FleetDocument::new("s".to_owned(), 1, Vec::new());
        document.failures = vec![row("a", "shrunk", "stale"), row("b", "fixed", "fixed")];
        document.settle();
        let text = document.lay_out(Style::PLAIN);
        assert_ne!(document.status, Status::Fail);
        assert!(text.contains("0 failures") && text.contains("stale: a in bank"), "{text}");
        document.failures.push(row("c", "shrunk", "still there"));
        document.settle();
        assert_eq!((document.status, &*document.failures[0].signature), (Status::Fail, "c"));
        assert!(document.lay_out(Style::PLAIN).contains("1 failure,"), "only one stands");
        // What nobody has tried on the code of today is no pass, and no word of today.
        let mut untried =
            FleetFailureRow { last_status: Some("still there".to_owned()), ..row("d", "shrunk", UNTRIED) };
        document.failures = vec![untried.clone()];
        document.settle();
        let text = document.lay_out(Style::PLAIN);
        let expected = "not tried on this code yet: d in bank (shrunk, 1 time, still there when it was seen last)\n";
        assert!(document.status == Status::Fail && text.contains(expected), "{text}");
        untried.state = "fixed".to_owned();
        assert!(!untried.stands());
    }

    #[test]
    fn a_failure_whose_trace_is_gone_has_its_name_in_place_of_a_command() {
        let mut document = FleetDocument::new("s".to_owned(), 1, Vec::new());
        let row = |trace_missing| FleetFailureRow {
            target: "bank".to_owned(),
            trace: "3f2a".to_owned(),
            trace_missing,
            build: None,
            signature: "panic at x".to_owned(),
            state: "shrunk".to_owned(),
            status: "still there".to_owned(),
            last_status: None,
            times: 1,
            found_at: String::new(),
            trace_path: None,
            command: None,
            measures: Vec::new(),
            patches: Vec::new(),
        };
        for is_missing in [false, true] {
            document.failures = vec![row(is_missing)];
            let text = document.lay_out(Style::PLAIN);
            assert_eq!(text.contains("\n  its trace is not there: fozzy://3f2a\n"), is_missing, "{text}");
        }
    }

    #[test]
    fn slices_that_wait_are_said_beside_the_store_and_are_not_cut() {
        let place = format!(".fozzy/spool/{}", "a".repeat(80));
        let waiting = Some(WaitingSlices { slices: 3, place: place.clone() });
        let document = FleetDocument { waiting, ..FleetDocument::new("redis://host/0".to_owned(), 1, Vec::new()) };
        let note = format!("app: {} cannot be tried: fozzy store dismiss fozzy://3f2a", "a failure ".repeat(20));
        let text = FleetDocument { warnings: vec![note], ..document.clone() }.lay_out(Style::PLAIN.on(60, ""));
        assert!(
            text.contains("note: app: a failure") && text.contains("fozzy://3f2a\n"),
            "the command is not cut: {text}"
        );
        let text = document.lay_out(Style::PLAIN.on(60, ""));
        let (_, end) = text.split_once("kept in redis://host/0\n").expect("the store");
        assert!(end.starts_with("not there yet: 3 slices in") && end.contains(&place), "{text}");
    }

    #[test]
    fn what_has_changed_is_a_document_of_those_rows() {
        let worker = |name: &str, slices| FleetWorkerRow {
            name: name.to_owned(),
            version: String::new(),
            pid: 1,
            started_at: String::new(),
            seen_at: String::new(),
            slices,
            cpu_s: 0.0,
            has_ended: false,
            is_at_work: true,
            recent: Vec::new(),
        };
        let failure = |trace: &str, times| FleetFailureRow {
            target: "bank".to_owned(),
            trace: trace.to_owned(),
            trace_missing: false,
            build: None,
            signature: String::new(),
            state: "shrunk".to_owned(),
            status: "still there".to_owned(),
            last_status: None,
            times,
            found_at: String::new(),
            trace_path: None,
            command: None,
            measures: Vec::new(),
            patches: Vec::new(),
        };
        let of = |workers: Vec<FleetWorkerRow>, failures: Vec<FleetFailureRow>| FleetDocument {
            workers,
            failures,
            warnings: vec!["w".to_owned()],
            ..FleetDocument::new("s".to_owned(), 0, Vec::new())
        };
        let before = of(vec![worker("a", 1), worker("b", 1)], vec![failure("1", 1), failure("2", 1)]);
        let later = of(vec![worker("b", 2), worker("a", 1)], vec![failure("1", 1), failure("2", 3)]);
        assert_eq!(later.changes_since(&before), Some(of(vec![worker("b", 2)], vec![failure("2", 3)])));
        let moved = of(before.workers.clone(), vec![failure("2", 1), failure("1", 1)]);
        let more = of(vec![worker("a", 1), worker("c", 1)], before.failures.clone());
        assert_eq!([moved, more].map(|now| now.changes_since(&before)), [None, None]);
    }
}
