//! What a fleet's store says, for people: while fleets work on it, and when none does.
//!
//! ```text
//! collection + targets, failures, workers   ─▶ FleetDocument          `fozzy fleet`, the dashboard
//!              one target, its moments, its corpus ─▶ FleetTargetDocument    a page of the dashboard
//! ```
//!
//! Invariants: nothing is written; what cannot be read is a warning; a target that was searched and is not collected any more is no row.
//! Not here: how it looks (`fozzy-report`), and who serves it.

use super::LEASE_RENEWAL;
use super::discovery::{FleetCollection, FleetTarget, FleetTargetKind, UncollectedTarget};
use super::page_command::{FailureMeasure, TargetMeasure};
use super::patches::FailurePatch;
use super::records::{FailureState, FleetFailureRecord, FleetRecords, TargetRecord};
use super::shared_store::{SharedStore, SharedStoreError, StoreKey, with_masked_password};
use super::spool::WaitingFailure;
use super::testcases::{TargetTestcases, TestcaseBytes, TestcasePage};
use super::trace_name::STORED;
use crate::explore::regression_status::RegressionStatus;
use crate::wall_clock::is_recent;
use fozzy_report::fleet::{
    FleetDocument, FleetFailureRow, FleetTargetDocument, FleetTargetRow, FleetWorkerRow, UNTRIED, UncollectedRow,
};
use fozzy_report::{shell_path, shell_word};
use fozzy_search::stats::detectable_one_in;
use fozzy_trace::{Digest, FailureSignature};
use std::path::Path;
use std::time::Duration;

/// Begins why a target is no pass.
pub(super) const UNSEARCHED: &str = "no run of its present build";
/// A fleet that is at work was heard of in this time: its leases last as long.
const HEARD_WITHIN: Duration = Duration::from_secs(3 * LEASE_RENEWAL.as_secs());

/// A store, looked at.
pub struct FleetView<'a> {
    /// Where everything is kept.
    pub store: &'a dyn SharedStore,
    /// What is searched.
    pub collection: &'a FleetCollection,
    /// What names the store in the environment of a command; `None` where a command finds it without.
    pub named: Option<&'a str>,
}

impl FleetView<'_> {
    /// All that is known.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn document(&self) -> Result<FleetDocument, SharedStoreError> {
        let mut document = FleetDocument::new(self.store.place(), 0, self.uncollected());
        document.warnings.clone_from(&self.collection.notes);
        let records = FleetRecords { store: self.store };
        for target in &self.collection.targets {
            let (record, refused) = records.target_named(&target.id, &target.name)?;
            document.warnings.extend(refused);
            let (known, unreadable) = records.failures_and_refused(&target.id)?;
            let unreadable_failures = may_stand(&unreadable);
            document.unreadable_failures += unreadable_failures;
            for (_, key, why) in unreadable {
                let command = self.store_command("dismiss", &key.to_string());
                document.warnings.push(format!(
                    "{why}; a failure that is found again is written anew, and who knows that it is mended forgets it: {command}"
                ));
            }
            for (_, _, FleetFailureRecord { signature, untried, trace, .. }) in &known {
                let why = untried.iter().map(|why| {
                    let (name, command) = (&target.name, self.store_command("dismiss", &format!("{STORED}{trace}")));
                    format!(
                        "{name}: {signature} cannot be tried, and stands as before until it is met again: {why}; who knows that it is \
                         mended forgets it: {command}"
                    )
                });
                document.warnings.extend(why);
            }
            let failures = self.failure_rows(target, known)?;
            let row = target_row(target, &record, &failures);
            document.targets.push(FleetTargetRow { unreadable_failures, ..row });
            document.failures.extend(failures);
        }
        document.slices = document.targets.iter().map(|target| target.slices).sum();
        document.cpu_s = document.targets.iter().fold(0.0, |sum, target| sum + target.cpu_s);
        document.workers.extend(records.workers()?.into_iter().map(|(name, record)| FleetWorkerRow {
            name,
            is_at_work: !record.has_ended && is_recent(&record.seen_at, HEARD_WITHIN),
            version: record.version,
            pid: record.pid,
            started_at: record.started_at,
            seen_at: record.seen_at,
            slices: record.slices,
            cpu_s: record.cpu_s,
            has_ended: record.has_ended,
            recent: record.recent,
        }));
        document.settle();
        Ok(document)
    }

    /// What one fleet knows whose store does not answer: the records of its targets, in their order, the failures that wait, and those that it has brought to the store before.
    pub(super) fn alone<'r>(
        &self,
        records: impl Iterator<Item = &'r TargetRecord>,
        waiting: Vec<WaitingFailure>,
        brought: &[BroughtFailure],
    ) -> FleetDocument {
        let mut document = FleetDocument::new(self.store.place(), 0, self.uncollected());
        document.warnings.clone_from(&self.collection.notes);
        for (target, record) in self.collection.targets.iter().zip(records) {
            document.targets.push(target_row(target, record, &[]));
        }
        document = FleetView::with_waiting(document, waiting);
        for failure in brought {
            match document.failures.iter_mut().find(|row| failure.is(row)) {
                Some(waiting) => {
                    waiting.times = waiting.times.saturating_add(failure.times);
                    waiting.found_at.clone_from(&failure.found_at);
                }
                None => {
                    let row = failure.row(Some(self.replay_command(&failure.trace)));
                    count_failure(&mut document.targets, &row);
                    document.failures.push(row);
                }
            }
        }
        document.settle();
        document
    }

    /// A document with the failures of its targets that wait on this machine. One that the store has as fixed or stale is there again, if
    /// it was met on the build of today. Of one that stands, the slices that wait may be counted already: a fleet that was killed has left
    /// them after its last request.
    pub(super) fn with_waiting(mut document: FleetDocument, waiting: Vec<WaitingFailure>) -> FleetDocument {
        for failure in waiting {
            if !document.targets.iter().any(|row| row.name == failure.target) {
                continue;
            }
            let is_of_today = failure.is_of_today;
            let row = waiting_row(failure);
            let is_it =
                |known: &&mut FleetFailureRow| (&known.target, &known.signature) == (&row.target, &row.signature);
            match document.failures.iter_mut().find(is_it) {
                // The trace that waits is the one that there is.
                Some(known) if (known.stands() || !is_of_today) && known.trace_missing && !row.trace_missing => {
                    let FleetFailureRow { trace, command, trace_path, status, .. } = row;
                    (known.trace, known.command, known.trace_path) = (trace, command, trace_path);
                    known.trace_missing = false;
                    if is_of_today && known.status == UNTRIED {
                        (known.status, known.last_status) = (status, None);
                    }
                }
                // It was met on the code of today.
                Some(known) if is_of_today && known.status == UNTRIED => {
                    (known.status, known.last_status) = (row.status, None);
                }
                Some(known) if known.stands() || !is_of_today => {}
                Some(known) => {
                    count_failure(&mut document.targets, &row);
                    *known = row;
                }
                None => {
                    count_failure(&mut document.targets, &row);
                    document.failures.push(row);
                }
            }
        }
        document.settle();
        document
    }

    /// What the store knows, with the failures that one fleet has brought there and that are there no more: a server without persistence that was
    /// started again, say. They were found all the same.
    pub(super) fn with_lost(mut document: FleetDocument, brought: &[BroughtFailure]) -> FleetDocument {
        for failure in brought {
            if !document.failures.iter().any(|row| failure.is(row)) {
                let row = failure.row(None);
                count_failure(&mut document.targets, &row);
                document.failures.push(row);
                let BroughtFailure { target, signature, .. } = failure;
                document.warnings.push(format!(
                    "{target}: the store has lost {signature}, which was found here; the next fleet finds it again"
                ));
            }
        }
        document.settle();
        document
    }

    fn uncollected(&self) -> Vec<UncollectedRow> {
        let rows = self.collection.uncollected.iter();
        let row = |row: &UncollectedTarget| UncollectedRow {
            name: row.name.clone(),
            reason: row.reason.to_owned(),
            why: row.why.clone(),
        };
        rows.map(row).collect()
    }

    /// One target by its id, with the corpora below `base_dir`, and its testcases from this place on; `None` when no target has it.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn target(
        &self,
        id: &str,
        base_dir: &Path,
        from: usize,
    ) -> Result<Option<FleetTargetDocument>, SharedStoreError> {
        let Some(target) = self.collected(id) else { return Ok(None) };
        let records = FleetRecords { store: self.store };
        let (known, unreadable) = records.failures_and_refused(id)?;
        let failures = self.failure_rows(target, known)?;
        let testcases = TargetTestcases { store: self.store, target, base_dir };
        let TestcasePage { rows, total, folder } = testcases.page(from)?;
        let (record, _) = records.target_named(id, &target.name)?;
        Ok(Some(FleetTargetDocument {
            schema_version: "fozzy.fleet_target.v1".to_owned(),
            target: FleetTargetRow {
                unreadable_failures: may_stand(&unreadable),
                ..target_row(target, &record, &failures)
            },
            failures,
            properties: record.properties,
            history: records.history(id)?,
            testcases: rows,
            testcases_total: total,
            measures: TargetMeasure::ALL
                .into_iter()
                .filter(|measure| measure.words(target, base_dir).is_some())
                .map(|measure| measure.word().to_owned())
                .collect(),
            corpus_path: folder.map(|folder| folder.display().to_string()),
        }))
    }

    /// The bytes of a testcase of a target; `None` when no target has the id, or none of its testcases the name.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn testcase(&self, id: &str, base_dir: &Path, name: &str) -> Result<Option<TestcaseBytes>, SharedStoreError> {
        let Some(target) = self.collected(id) else { return Ok(None) };
        TargetTestcases { store: self.store, target, base_dir }.bytes(name)
    }

    fn collected(&self, id: &str) -> Option<&FleetTarget> {
        self.collection.targets.iter().find(|target| target.id == id)
    }

    fn failure_rows(
        &self,
        target: &FleetTarget,
        failures: Vec<(FailureState, String, FleetFailureRecord)>,
    ) -> Result<Vec<FleetFailureRow>, SharedStoreError> {
        let traces: Vec<Digest> = failures.iter().map(|(.., failure)| failure.trace).collect();
        let there = self.store.has_blobs(&traces)?;
        let rows = failures.into_iter().zip(there);
        Ok(rows.map(|((state, _, failure), has_trace)| self.failure_row(target, (state, failure), has_trace)).collect())
    }

    fn failure_row(
        &self,
        target: &FleetTarget,
        (state, failure): (FailureState, FleetFailureRecord),
        has_trace: bool,
    ) -> FleetFailureRow {
        let command = has_trace.then(|| self.replay_command(&failure.trace));
        let path = self.store.blob_path(&failure.trace).filter(|_| has_trace);
        let signature = failure.signature.to_string();
        let is_of_other = failure.program.is_some_and(|tried| target.build.is_some_and(|present| tried != present));
        let (status, last_status) = match is_of_other && failure.stands(state) {
            true => (UNTRIED.to_owned(), Some(failure.status)),
            false => (failure.status, None),
        };
        let measures = FailureMeasure::ALL.into_iter();
        // All of them are made of the trace.
        let measures = measures.filter(|measure| has_trace && measure.is_of(target));
        let patches = FailurePatch::of(target).iter().filter(|_| has_trace);
        FleetFailureRow {
            measures: measures.map(|measure| measure.word().to_owned()).collect(),
            patches: patches.map(|patch| patch.word().to_owned()).collect(),
            target: target.name.clone(),
            trace: failure.trace.to_string(),
            trace_missing: !has_trace,
            build: failure.program.map(|build| build.to_string()),
            signature,
            state: state.word().to_owned(),
            status,
            last_status,
            times: failure.times,
            found_at: failure.found_at,
            command,
            trace_path: path.map(|path| path.display().to_string()),
        }
    }

    /// What to type to have something done with the store. In place of a password it says `PASSWORD`.
    fn store_command(&self, what: &str, word: &str) -> String {
        let store = self.named.map(|named| format!("FOZZY_STORE={} ", shell_word(&with_masked_password(named))));
        format!("{}fozzy store {what} {}", store.unwrap_or_default(), shell_word(word))
    }

    /// What to type to see a trace of the store. In place of a password it says `PASSWORD`.
    pub(super) fn replay_command(&self, trace: &Digest) -> String {
        match (self.store.blob_path(trace), self.named) {
            (Some(path), _) => replay_of(&path),
            (None, None) => format!("fozzy replay {STORED}{trace}"),
            (None, Some(address)) => {
                let address = with_masked_password(address);
                format!("FOZZY_STORE={} fozzy replay {STORED}{trace}", shell_word(&address))
            }
        }
    }
}

fn replay_of(path: &Path) -> String {
    format!("fozzy replay {}", shell_path(path))
}

/// A failure that a fleet has brought to the store.
#[derive(Clone)]
pub(super) struct BroughtFailure {
    /// The name of its target.
    pub(super) target: String,
    pub(super) signature: FailureSignature,
    pub(super) trace: Digest,
    /// When the slice ended that has found it.
    pub(super) found_at: String,
    /// How often this fleet has seen it.
    pub(super) times: u64,
}

impl BroughtFailure {
    /// Whether the row is of it.
    fn is(&self, row: &FleetFailureRow) -> bool {
        row.target == self.target && row.signature == self.signature.to_string()
    }

    fn row(&self, command: Option<String>) -> FleetFailureRow {
        FleetFailureRow {
            target: self.target.clone(),
            trace: self.trace.to_string(),
            trace_missing: command.is_none(),
            build: None,
            signature: self.signature.to_string(),
            state: FailureState::Unshrunk.word().to_owned(),
            status: RegressionStatus::StillThere.word().to_owned(),
            last_status: None,
            times: self.times,
            found_at: self.found_at.clone(),
            command,
            trace_path: None,
            measures: Vec::new(),
            patches: Vec::new(),
        }
    }
}

fn waiting_row(
    WaitingFailure { target, signature, path, is_written, is_shrunk, times, found_at, .. }: WaitingFailure,
) -> FleetFailureRow {
    let state = if is_shrunk { FailureState::Shrunk } else { FailureState::Unshrunk };
    FleetFailureRow {
        target,
        trace: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        trace_missing: !is_written,
        build: None,
        signature: signature.to_string(),
        state: state.word().to_owned(),
        status: RegressionStatus::StillThere.word().to_owned(),
        last_status: None,
        times,
        found_at,
        command: is_written.then(|| replay_of(&path)),
        trace_path: is_written.then(|| path.display().to_string()),
        measures: Vec::new(),
        patches: Vec::new(),
    }
}

/// How many of some records that cannot be read may be of failures that stand.
fn may_stand(unreadable: &[(FailureState, StoreKey, String)]) -> u64 {
    unreadable.iter().filter(|(state, ..)| *state != FailureState::Fixed).count() as u64
}

fn target_row(target: &FleetTarget, record: &TargetRecord, failures: &[FleetFailureRow]) -> FleetTargetRow {
    FleetTargetRow {
        name: target.name.clone(),
        id: target.id.clone(),
        kind: kind_word(&target.kind).to_owned(),
        build: record.program.map(|build| build.to_string()),
        slices: record.estimate.slices,
        cpu_s: record.estimate.total_cpu_s,
        executions: record.executions,
        features: record.features,
        edges: record.edges,
        edges_total: record.edges_total,
        corpus: record.corpus,
        rate: record.estimate.rate(),
        chance_if_doubled: record.chance_if_doubled,
        chance_if_doubled_range: record.chance_if_doubled_range,
        chance_in_minute: record.chance_in_minute,
        estimated_undiscovered_edges: record
            .undiscovered_edges
            .map(|edges| edges.min(record.edges_total.saturating_sub(record.edges) as f64)),
        detectable_one_in: detectable_one_in(record.program_executions),
        failures: failures.iter().filter(|row| row.stands()).count() as u64,
        unreadable_failures: 0,
        news_at: record.news_at.clone(),
        trouble: record.trouble.clone(),
        unsearched: (!record.has_run_of(target.build)).then(|| {
            let why = match &record.trouble {
                Some(_) => "no slice of it had a result",
                None if record.executions > 0 => {
                    "those that are counted are of others, or came to no verdict; `fozzy fleet` begins with it"
                }
                None => "no slice of it has ended; `fozzy fleet` begins with it",
            };
            format!("{UNSEARCHED}: {why}")
        }),
    }
}

/// One more failure of a target that stands.
fn count_failure(targets: &mut [FleetTargetRow], failure: &FleetFailureRow) {
    targets.iter_mut().filter(|row| row.name == failure.target).for_each(|row| row.failures += 1);
}

fn kind_word(kind: &FleetTargetKind) -> &'static str {
    match kind {
        FleetTargetKind::Explore => "explore",
        FleetTargetKind::Fuzz(_) => "fuzz",
        FleetTargetKind::Property(_) => "property",
        FleetTargetKind::Http => "http",
        FleetTargetKind::CargoFuzz(_) => "cargo-fuzz",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::shared_store::DirectoryStore;
    use fozzy_trace::{FindingKind, Status};

    #[test]
    fn failures_that_wait_fail_a_fleet_whose_store_does_not_have_them_yet() {
        let failure = |site: &str| WaitingFailure {
            target: "app.wasm".to_owned(),
            signature: FailureSignature { kind: FindingKind::Panic, site: site.to_owned() },
            path: "spool/3f.fozzy".into(),
            is_written: true,
            is_shrunk: true,
            times: 2,
            found_at: "2026".to_owned(),
            is_of_today: true,
        };
        let row = |site, state: &str| FleetFailureRow { state: state.to_owned(), ..waiting_row(failure(site)) };
        let target = FleetTarget::app(FleetTargetKind::Explore);
        let mut document = FleetDocument::new("a store".to_owned(), 1, Vec::new());
        let stale = |site| FleetFailureRow { status: "stale".to_owned(), ..row(site, "shrunk") };
        let known = [row("1", "shrunk"), row("2", "fixed"), stale("5"), row("6", "fixed"), stale("7")];
        document.targets.push(target_row(&target, &TargetRecord::default(), &known));
        document.failures.extend(known);
        let of_another = WaitingFailure { target: "other.wasm".to_owned(), ..failure("4") };
        assert_eq!(document.targets[0].failures, 1, "neither what is fixed nor what is stale");
        let of_older = |site| WaitingFailure { is_of_today: false, ..failure(site) };
        let waiting =
            vec![failure("1"), failure("2"), failure("3"), failure("5"), of_older("6"), of_older("7"), of_another];
        let document = FleetView::with_waiting(document, waiting);
        let found: Vec<_> = document.failures.iter().map(|row| (&*row.signature, &*row.state, row.times)).collect();
        let there = ["panic at 1", "panic at 2", "panic at 3", "panic at 5"].map(|it| (it, "shrunk", 2));
        let expected = [&there[..], &[("panic at 6", "fixed", 2), ("panic at 7", "shrunk", 2)]].concat();
        assert_eq!((document.status, found), (Status::Fail, expected));
        assert_eq!(document.failures[5].status, "stale", "an older build says nothing of it");
        assert_eq!(document.targets[0].failures, 4, "the row counts those that stand");
        // One that waits was met on the code of today, which the store does not know yet.
        let untried = |site| {
            let last_status = Some("still there".to_owned());
            FleetFailureRow { status: UNTRIED.to_owned(), last_status, ..row(site, "shrunk") }
        };
        let known = FleetDocument { failures: vec![untried("1"), untried("6")], ..document.clone() };
        let known = FleetView::with_waiting(known, vec![failure("1"), of_older("6")]);
        let met: Vec<_> = known.failures.iter().map(|row| (&*row.status, row.last_status.is_some())).collect();
        assert_eq!(met, [("still there", false), (UNTRIED, true)]);
        // So it is where the store has lost its trace, too.
        let lost = FleetFailureRow { trace_missing: true, command: None, ..untried("1") };
        let known = FleetDocument { failures: vec![lost], ..document.clone() };
        let known = FleetView::with_waiting(known, vec![failure("1")]).failures.remove(0);
        assert_eq!((&*known.status, known.last_status, known.trace_missing), ("still there", None, false));
        // One whose trace the store has lost has that which waits.
        let mut document = document;
        let lost = FleetFailureRow { trace_missing: true, command: None, trace: "9c".to_owned(), ..row("1", "fixed") };
        document.failures = vec![lost];
        let unwritten = WaitingFailure { is_written: false, ..of_older("1") };
        let mut known = FleetView::with_waiting(document, vec![unwritten]);
        let of = |document: &FleetDocument| {
            let row = &document.failures[0];
            (row.trace_missing, row.command.is_some(), row.trace.clone(), row.state.clone())
        };
        assert_eq!(of(&known), (true, false, "9c".to_owned(), "fixed".to_owned()));
        known = FleetView::with_waiting(known, vec![of_older("1")]);
        assert_eq!(of(&known), (false, true, "3f".to_owned(), "fixed".to_owned()));
    }

    #[test]
    fn a_failure_whose_trace_is_gone_has_no_command_measures_and_patches_and_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(folder.path(), "shop").expect("a store");
        let target = FleetTarget::app(FleetTargetKind::Explore);
        let collection = FleetCollection { targets: vec![target], ..FleetCollection::default() };
        let spoken = || {
            let view = FleetView { store: &store, collection: &collection, named: None };
            let of_target = view.target("app-1", folder.path(), 0).expect("it answers").expect("it is collected");
            let row = view.document().expect("it answers").failures.remove(0);
            assert_eq!(of_target.failures, std::slice::from_ref(&row));
            assert_eq!((row.measures.is_empty(), row.patches.is_empty()), (row.trace_missing, row.trace_missing));
            (row.trace_missing, row.command.is_some(), row.trace_path.is_some(), row.build)
        };
        let (trace, build) = (store.put_blob(b"a trace").expect("kept"), Digest::of(b"a build"));
        let signature = FailureSignature { kind: FindingKind::Panic, site: "x".to_owned() };
        let failure = serde_json::json!({
            "target": "app.wasm", "signature": signature,
            "trace": trace, "status": "still there", "program": build, "times": 1, "foundAt": "2026"
        });
        let key = StoreKey::new(&["failures", "shrunk", "app-1", "3f2a"]);
        store.put(&key, failure.to_string().as_bytes()).expect("kept");
        assert_eq!(spoken(), (false, true, true, Some(build.to_string())));
        store.delete_blob(&trace).expect("it goes");
        assert_eq!(spoken(), (true, false, false, Some(build.to_string())));
    }

    #[test]
    fn a_failure_that_was_seen_on_another_build_is_not_tried_yet_and_no_pass() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(folder.path(), "shop").expect("a store");
        let (records, before) = (FleetRecords { store: &store }, Digest::of(b"the build before"));
        let mut record = TargetRecord { executions: 9, ..TargetRecord::default() };
        record.note_run_of(Digest::of(b"the present build"), 1.0);
        records.put_target("app-1", &record).expect("kept");
        let signature = FailureSignature { kind: FindingKind::Panic, site: "x".to_owned() };
        let of = |build: Option<Digest>, program: Option<Digest>, (state, status): (&str, &str)| {
            let failure = serde_json::json!({
                "target": "app.wasm", "signature": signature, "trace": Digest::of(b"a trace"), "status": status,
                "program": program, "times": 1, "foundAt": "2026"
            });
            let key = StoreKey::new(&["failures", state, "app-1", "3f2a"]);
            store.put(&key, failure.to_string().as_bytes()).expect("kept");
            let target = FleetTarget { build, ..FleetTarget::app(FleetTargetKind::Explore) };
            let collection = FleetCollection { targets: vec![target], ..FleetCollection::default() };
            let view = FleetView { store: &store, collection: &collection, named: None };
            let mut document = view.document().expect("it answers");
            let row = document.failures.remove(0);
            store.delete(&key).expect("it goes");
            (document.status, row.status, row.last_status)
        };
        let (present, there) = (Some(Digest::of(b"the present build")), ("shrunk", "still there"));
        let as_seen = |status, (_, word): (&str, &str)| (status, word.to_owned(), None::<String>);
        let untried = (Status::Fail, UNTRIED.to_owned(), Some("still there".to_owned()));
        assert_eq!(of(present, Some(before), there), untried);
        // Tried on it, or nothing is known of one of both.
        assert_eq!(of(present, present, there), as_seen(Status::Fail, there));
        assert_eq!(of(present, None, there), as_seen(Status::Fail, there));
        assert_eq!(of(None, Some(before), there), as_seen(Status::Fail, there));
        for idle in [("fixed", "fixed"), ("shrunk", "stale")] {
            assert_eq!(of(present, Some(before), idle), as_seen(Status::Pass, idle));
        }
    }

    #[test]
    fn a_store_passes_when_the_present_build_of_each_target_has_a_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(folder.path(), "shop").expect("a store");
        let (records, present) = (FleetRecords { store: &store }, Digest::of(b"the present build"));
        let of = |build: &Digest| {
            let target = FleetTarget { build: Some(*build), ..FleetTarget::app(FleetTargetKind::Explore) };
            let collection = FleetCollection { targets: vec![target], ..FleetCollection::default() };
            let view = FleetView { store: &store, collection: &collection, named: None };
            let mut document = view.document().expect("it answers");
            (document.status, document.targets.remove(0).unsearched)
        };
        let (status, why) = of(&present);
        assert!(status == Status::Error && why.as_ref().is_some_and(|why| why.contains("no slice of it has ended")));
        // One that was changed, and the copy of somebody else.
        let mut record = TargetRecord { executions: 9, ..TargetRecord::default() };
        record.note_run_of(Digest::of(b"the build before"), 1.0);
        records.put_target("app-1", &record).expect("kept");
        let (status, why) = of(&present);
        assert!(status == Status::Error && why.as_ref().is_some_and(|why| why.contains("are of others")), "{why:?}");
        record.note_run_of(present, 2.0);
        records.put_target("app-1", &record).expect("kept");
        assert_eq!([of(&present), of(&Digest::of(b"the build before"))], [(Status::Pass, None), (Status::Pass, None)]);
        // A reason of a build that has had none is no pass, and one of a build that had runs before is.
        record.trouble = Some("its process ended without a report".to_owned());
        records.put_target("app-1", &record).expect("kept");
        assert!(of(&Digest::of(b"another")).1.is_some_and(|why| why.contains("had a result")));
        assert_eq!(of(&present).1, None);
    }

    #[test]
    fn a_command_names_the_store_where_it_would_ask_another_one_and_no_password() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(folder.path(), "shop").expect("a store");
        let (collection, trace) = (FleetCollection::default(), Digest::of(b"a trace"));
        let view = |named| FleetView { store: &store, collection: &collection, named };
        let path = store.blob_path(&trace).expect("a file");
        assert_eq!(view(Some("elsewhere")).replay_command(&trace), replay_of(&path), "a file is found without");
        #[cfg(feature = "redis")]
        {
            use crate::fleet::shared_store::RedisStore;
            let address = "redis://fozzy:secret@127.0.0.1:1/0?prefix=shop";
            let store = RedisStore::open_or_later(address, "shop").expect("an address");
            let view = |named| FleetView { store: &store, collection: &collection, named };
            assert_eq!(view(None).replay_command(&trace), format!("fozzy replay fozzy://{trace}"));
            assert_eq!(
                view(Some(address)).replay_command(&trace),
                format!("FOZZY_STORE='redis://fozzy:PASSWORD@127.0.0.1:1/0?prefix=shop' fozzy replay fozzy://{trace}")
            );
        }
    }

    #[test]
    fn a_failure_that_the_store_has_lost_fails_the_fleet_all_the_same_and_is_listed_once() {
        let signature = FailureSignature { kind: FindingKind::Panic, site: "src/lib.rs:7".to_owned() };
        let (target, trace, found_at) = ("app.wasm".to_owned(), Digest::of(b"a trace"), "2026".to_owned());
        let failure = BroughtFailure { target, signature, trace, found_at, times: 3 };
        let empty = || FleetDocument::new("a store".to_owned(), 1, Vec::new());
        let found = FleetView::with_lost(empty(), &[failure.clone(), failure.clone()]);
        let [row] = &found.failures[..] else { panic!("expected one failure, found {}", found.failures.len()) };
        assert_eq!((found.status, &row.command, row.times, found.warnings.len()), (Status::Fail, &None, 3, 1));
        let known = FleetView::with_lost(found, &[failure]);
        assert_eq!((known.failures.len(), known.warnings.len()), (1, 1), "what is there is not lost");
    }
}
