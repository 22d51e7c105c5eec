//! A campaign by several worker processes on one corpus.
//!
//! ```text
//!            ┌─ worker 0 ─┐  testcases, by content   ┌──────────────┐
//! supervisor ┤            ├◀───────────────────────▶│ corpus folder │
//!   ▲        └─ worker 1 ─┘  written atomically      └──────────────┘
//!   └── progress, Found { trace, input } ──┘
//! ```
//!
//! Workers look into the corpus for what others have added.
//!
//! Invariants: a failure that several workers find is one finding; a finding of a worker that is killed is a finding of the
//! campaign; executions are counted once, and together are those that were asked for.
//! Not here: who starts and replaces workers (`crate::workers`), the campaign of one worker (`fozzy-search`).

use super::cargo::CargoFuzz;
use super::protocol::FuzzProtocol;
use super::summary::{CampaignReport, FindingReport, SLOW_UNITS_MAX};
use crate::error::{CampaignError, DeferredError, ErrorKind, at_path};
use crate::options::StopFlag;
use crate::progress::CampaignLine;
use crate::remarks::Remarks;
use crate::risk_bound::RiskBound;
use crate::selector;
use crate::store;
use crate::wall_clock::Stopwatch;
use crate::workers::{
    Direction, STOP_GRACE, SearchBegin, Supervisor, SupervisorEnd, SupervisorObserver, SupervisorReport, WorkerLoss,
    WorkerRecord, WorkerSlot, own_command,
};
use fozzy_report::{FuzzCoverage, FuzzFinding, FuzzSummary, ShownInput, SlowestInput, TimeSpent};
use fozzy_search::stats::{Outlook, detectable_one_in};
use fozzy_trace::facts::PropertyTable;
use fozzy_trace::file::store::{CollisionPolicy, Durability, write_atomic};
use fozzy_trace::{Digest, Duration, FailureSignature, HarnessError, Seed, counted};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A campaign by several workers.
pub struct FuzzWorkers<'a> {
    /// Workers at a time.
    pub workers: u32,
    /// The seed of all.
    pub seed: Seed,
    /// Executions of all together; `None` for no bound.
    pub runs: Option<u64>,
    /// Real time for all.
    pub time: Option<Duration>,
    /// The risk at which all end.
    pub until: Option<RiskBound>,
    /// Whether the first failure ends it.
    pub first_only: bool,
    /// The run's folder.
    pub folder: &'a Path,
    /// The file that was asked for.
    pub record: Option<(&'a Path, CollisionPolicy)>,
    /// The cargo-fuzz target that is searched.
    pub cargo: Option<&'a CargoFuzz>,
    /// Whether a stop was requested.
    pub stop: StopFlag,
    /// Who hears how it goes.
    pub remarks: Remarks,
}

impl FuzzWorkers<'_> {
    /// Fuzzes, and puts together what all have found.
    ///
    /// # Errors
    /// When workers cannot be started, or what they found cannot be kept.
    pub fn run(&self) -> Result<CampaignReport, CampaignError> {
        let supervisor = Supervisor {
            workers: self.workers,
            runs: self.runs,
            time: self.time.map(|time| std::time::Duration::from_nanos(time.0)),
            grace: STOP_GRACE,
            seed: self.seed,
            folder: self.folder.to_owned(),
            command: &own_command,
        };
        let mut collector = Collector {
            plan: self,
            findings: Vec::new(),
            by_signature: BTreeMap::new(),
            known: BTreeSet::new(),
            watch: Stopwatch::start(),
            search: SearchBegin::default(),
            is_settled: false,
            shown: (0, 0),
            unkept: DeferredError::default(),
        };
        let report = supervisor.run(&mut collector)?;
        collector.show(&report.slots);
        if report.lost > 0 {
            collector.adopt()?;
        }
        Ok(collector.merge(report))
    }
}

/// A finding, and where the worker had put its trace.
struct CollectedFinding {
    report: FindingReport,
    trace_of_worker: String,
}

/// Collects findings while workers run.
struct Collector<'a> {
    plan: &'a FuzzWorkers<'a>,
    /// Each failure once, in the order in which they were reported.
    findings: Vec<CollectedFinding>,
    by_signature: BTreeMap<Option<FailureSignature>, usize>,
    /// Traces of workers that were reported.
    known: BTreeSet<PathBuf>,
    watch: Stopwatch,
    /// Since when all search.
    search: SearchBegin,
    /// Whether the risk is low enough, so that all end.
    is_settled: bool,
    /// When the last line was shown, and of how many executions.
    shown: (u64, u64),
    /// What of the findings could not be written.
    unkept: DeferredError,
}

impl SupervisorObserver<FuzzProtocol> for Collector<'_> {
    fn is_stop_requested(&self) -> bool {
        self.is_settled || (self.plan.stop)()
    }

    fn on_found(&mut self, worker: u32, found: FindingReport) -> Result<Direction, HarnessError> {
        self.keep(worker, found).map_err(|error| HarnessError::new(error.to_string()))?;
        Ok(if self.plan.first_only { Direction::Stop } else { Direction::Continue })
    }

    fn on_status(&mut self, slots: &[WorkerSlot<FuzzProtocol>]) {
        self.show(slots);
        let latest = slots.iter().flat_map(WorkerSlot::records).filter_map(|record| record.progress.as_ref());
        let discoveries = latest.map(|fuzz| fuzz.coverage.discoveries_last_half).sum();
        let searched_ns = self.search.searched_ns(slots, self.watch.elapsed_ns());
        let is_met =
            |until: RiskBound| searched_ns.is_some_and(|searched| until.is_met(Outlook { discoveries }, searched));
        // What workers find while they end does not change why they end.
        self.is_settled |= !(self.plan.stop)() && self.plan.until.is_some_and(is_met);
    }

    fn on_loss(&mut self, loss: &WorkerLoss) {
        self.plan.remarks.text(&format!("{loss}\n"));
    }

    fn on_stray_line(&mut self, worker: u32, line: &str) {
        self.plan.remarks.text(&format!("worker {worker}: {line}\n"));
    }
}

impl Collector<'_> {
    /// Keeps a finding that is new, or more of a known one; removes the files of one that another worker has found too.
    fn keep(&mut self, worker: u32, found: FindingReport) -> Result<(), CampaignError> {
        let trace_of_worker = found.told.trace_path.clone();
        self.known.insert(PathBuf::from(&trace_of_worker));
        let Some(known) = self.by_signature.get(&found.told.signature) else {
            return self.add(worker, found, trace_of_worker);
        };
        let known = &mut self.findings[*known];
        let is_smaller = found.told.minimized_input_bytes.is_some();
        if found.unkept.is_some() && !is_smaller {
            known.report.told.times += found.told.times;
            return Ok(());
        }
        if known.trace_of_worker != trace_of_worker {
            known.report.told.times += found.told.times;
            forget(&found.told);
            return Ok(());
        }
        // The same one again, smaller.
        let FuzzFinding { trace_path, input_path, times, .. } = known.report.told.clone();
        known.report = FindingReport { told: FuzzFinding { trace_path, input_path, times, ..found.told }, ..found };
        Ok(())
    }

    fn add(&mut self, worker: u32, mut found: FindingReport, trace_of_worker: String) -> Result<(), CampaignError> {
        let unkept = found.unkept.clone();
        if let (Some((path, collision)), None) = (self.plan.record, &unkept) {
            let collision = if self.findings.is_empty() { collision } else { CollisionPolicy::Append };
            record(&mut found.told, path, collision)?;
        }
        let told = &found.told;
        let title = told.signature.as_ref().map(ToString::to_string).unwrap_or_default();
        let (at, bytes) = (told.found_at, counted(told.input_bytes, "byte"));
        let place = match &unkept {
            Some(why) => format!("its trace is not kept: {}", why.lines().next().unwrap_or_default()),
            None => told.trace_path.clone(),
        };
        self.plan.remarks.text(&format!("found {title}\n  execution {at} of worker {worker}, {bytes}, {place}\n"));
        let kept = unkept.map_or(Ok(()), |why| Err(store_error(&why)));
        if let (Some(()), Some(cargo)) = (self.unkept.note(kept), self.plan.cargo) {
            self.plan.remarks.text(&cargo.lines(Path::new(&told.input_path)));
        }
        self.by_signature.insert(told.signature.clone(), self.findings.len());
        self.findings.push(CollectedFinding { report: found, trace_of_worker });
        Ok(())
    }

    /// Keeps the findings that a lost worker has written and not reported.
    fn adopt(&mut self) -> Result<(), CampaignError> {
        // Artifacts of cargo-fuzz lie beside those of campaigns before.
        if self.plan.cargo.is_some() {
            return Ok(());
        }
        let entries = std::fs::read_dir(self.plan.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_trace = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            name.ends_with(".fozzy") && !name.ends_with(".min.fozzy")
        };
        let mut paths: Vec<PathBuf> = entries.filter(is_trace).filter(|path| !self.known.contains(path)).collect();
        paths.sort();
        for path in paths {
            let verdict = selector::read(&path)?.outcome.verdict;
            let input = path.with_extension("input");
            let told = FuzzFinding {
                signature: verdict.signature.clone(),
                found_at: 0,
                times: 1,
                input_bytes: std::fs::metadata(&input).map_or(0, |input| input.len()),
                input: std::fs::read(&input).ok().map(|bytes| ShownInput::of(&bytes, None)),
                arguments: None,
                known: None,
                trace_path: path.display().to_string(),
                input_path: input.display().to_string(),
                minimized_trace_path: None,
                minimized_input_path: None,
                minimized_input_bytes: None,
                minimal: false,
            };
            let shown = verdict.findings.first().cloned().map(|finding| (finding, verdict.status));
            self.keep(0, FindingReport { told, shown, unkept: None })?;
        }
        Ok(())
    }

    /// One line, as of a single worker.
    fn show(&mut self, slots: &[WorkerSlot<FuzzProtocol>]) {
        let (now, (shown_ns, shown_executions)) = (self.watch.elapsed_ns(), self.shown);
        let latest = || slots.iter().flat_map(WorkerSlot::records).filter_map(|record| record.progress.as_ref());
        let most = |of: fn(&FuzzCoverage) -> u64| latest().map(|fuzz| of(&fuzz.coverage)).max().unwrap_or(0);
        let executions: u64 = latest().map(|fuzz| fuzz.executions).sum();
        let rate = (executions - shown_executions) as f64 * 1e9 / (now - shown_ns).max(1) as f64;
        if self.plan.remarks.is_live() {
            let (time_ns, budget) = (self.plan.time.map(|time| time.0), self.plan.runs);
            let edges = Some(most(|coverage| coverage.unique_edges));
            let line = CampaignLine {
                elapsed_ns: now,
                time_ns,
                unit: "execution",
                done: executions,
                budget,
                since: (executions.saturating_sub(shown_executions), now - shown_ns),
                edges,
                found: (self.findings.len() as u64, "finding"),
            };
            self.plan.remarks.live(&line.text());
            self.shown = (now, executions);
            return;
        }
        self.plan.remarks.text(&format!(
            "#{executions}  {rate:.0} exec/s of {}  edges {}  features {}  corpus {}  finds {}  since last new {}\n",
            counted(slots.len() as u64, "worker"),
            most(|coverage| coverage.unique_edges),
            most(|coverage| coverage.features),
            latest().map(|fuzz| fuzz.corpus).max().unwrap_or(0),
            self.findings.len(),
            latest().map(|fuzz| fuzz.executions - fuzz.last_new).min().unwrap_or(0),
        ));
        self.shown = (now, executions);
    }

    /// The slowest inputs of all workers; what others there are is not kept.
    fn slow_units(&self, mut units: Vec<SlowestInput>) -> Vec<SlowestInput> {
        units.sort_by(|one, other| other.instructions.cmp(&one.instructions).then_with(|| one.name.cmp(&other.name)));
        // Each name is one file, whoever has met it, and however long it took there.
        let mut known = BTreeSet::new();
        units.retain(|unit| known.insert(unit.name.clone()));
        let more = units.split_off(units.len().min(SLOW_UNITS_MAX));
        // Among artifacts of cargo-fuzz it may be a file of before.
        if self.plan.cargo.is_none() {
            for path in more.iter().filter_map(|unit| unit.path.as_ref()) {
                // What is not there is gone already.
                let _ = std::fs::remove_file(path);
            }
        }
        units
    }

    /// The report of all. Coverage is that of the worker that reached most: they share what they find.
    fn merge(mut self, report: SupervisorReport<FuzzProtocol>) -> CampaignReport {
        let records = || report.slots.iter().flat_map(WorkerSlot::records);
        for told in records().filter_map(|record| record.report.as_ref()).flat_map(|report| &report.fuzz.findings) {
            // The first time was reported when it was found.
            if let Some(known) = self.by_signature.get(&told.signature) {
                self.findings[*known].report.told.times += told.times.saturating_sub(1);
            }
        }
        let given_up = records().filter_map(|record| record.report.as_ref()).map(|report| report.given_up).sum();
        let mut spent = TimeSpent::default();
        records().filter_map(|record| record.report.as_ref()).for_each(|report| spent.add(&report.spent));
        let latest = || records().filter_map(progress);
        let mut fuzz = latest().max_by_key(|fuzz| fuzz.coverage.features).cloned().unwrap_or_default();
        fuzz.jobs = self.plan.workers.into();
        fuzz.executions = latest().map(|fuzz| fuzz.executions).sum();
        fuzz.failures = latest().map(|fuzz| fuzz.failures).sum();
        fuzz.skipped = latest().map(|fuzz| fuzz.skipped).sum();
        fuzz.minimizing = latest().map(|fuzz| fuzz.minimizing).sum();
        fuzz.unconfirmed = latest().map(|fuzz| fuzz.unconfirmed).sum();
        fuzz.last_new = latest().map(|fuzz| fuzz.last_new).max().unwrap_or(0);
        let outlook = Outlook { discoveries: latest().map(|fuzz| fuzz.coverage.discoveries_last_half).sum() };
        fuzz.coverage.discoveries_last_half = outlook.discoveries;
        fuzz.coverage.chance_if_doubled = outlook.chance(1.0);
        fuzz.coverage.chance_if_doubled_range = outlook.chance_range(1.0);
        fuzz.coverage.detectable_one_in = detectable_one_in(fuzz.executions);
        fuzz.slow_units = self.slow_units(latest().flat_map(|fuzz| fuzz.slow_units.iter().cloned()).collect());
        let slowest = latest().filter_map(|fuzz| fuzz.slowest.as_ref());
        let slowest = slowest.max_by_key(|slowest| slowest.instructions);
        fuzz.slowest = fuzz.slow_units.first().or(slowest).cloned();
        let mut properties = PropertyTable::default();
        latest().for_each(|fuzz| properties.merge(&fuzz.properties));
        fuzz.properties = properties;
        (fuzz.workers_lost, fuzz.workers_restarted) = (report.lost, report.restarted);
        let (ended, failure) = match report.end {
            SupervisorEnd::Complete => ("runs", None),
            SupervisorEnd::Time => ("time", None),
            SupervisorEnd::Directed => ("finding", None),
            SupervisorEnd::Requested if self.is_settled => ("risk", None),
            SupervisorEnd::Requested => ("interrupted", None),
            SupervisorEnd::Failed(why) => ("workers", Some(why)),
            SupervisorEnd::Blocked(why) => {
                self.unkept.note::<()>(Err(store_error(&why)));
                ("workers", None)
            }
        };
        fuzz.ended = ended.to_owned();
        fuzz.findings = self.findings.iter().map(|found| found.report.told.clone()).collect();
        let reports = records().filter_map(|record| record.report.as_ref());
        let testcases: BTreeSet<Digest> = reports.flat_map(|report| report.testcases.iter().copied()).collect();
        CampaignReport {
            fuzz,
            testcases: testcases.into_iter().collect(),
            findings: self.findings.into_iter().filter_map(|found| found.report.shown).collect(),
            given_up,
            spent,
            failure,
            lost: self.unkept,
        }
    }
}

/// What a worker could not write, in its words.
fn store_error(why: &str) -> CampaignError {
    CampaignError::new(ErrorKind::Store, why)
}

fn progress(record: &WorkerRecord<FuzzProtocol>) -> Option<&FuzzSummary> {
    record.progress.as_ref()
}

/// A failure that another worker has found too: its files are not needed.
fn forget(told: &FuzzFinding) {
    let smaller = told.minimized_trace_path.iter().chain(&told.minimized_input_path);
    for path in [&told.trace_path, &told.input_path].into_iter().chain(smaller) {
        // What is not there is gone already.
        let _ = std::fs::remove_file(path);
    }
}

/// Keeps the trace where it was asked for, and the input beside it.
fn record(told: &mut FuzzFinding, path: &Path, collision: CollisionPolicy) -> Result<(), CampaignError> {
    let read = |path: &str| {
        std::fs::read(path).map_err(|error| at_path(ErrorKind::Jobs, "cannot read", Path::new(path), &error))
    };
    let (trace, input) = (read(&told.trace_path)?, read(&told.input_path)?);
    let trace: PathBuf = store::write_trace(path, &trace, collision)?;
    let beside = trace.with_extension("input");
    write_atomic(&beside, &input, Durability::Synced)
        .map_err(|error| at_path(ErrorKind::Store, "cannot write", &beside, &error))?;
    (told.trace_path, told.input_path) = (trace.display().to_string(), beside.display().to_string());
    Ok(())
}
