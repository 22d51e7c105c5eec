//! An exploration by several worker processes: what they report, and what it comes to together.
//!
//! ```text
//! worker ─ progress, Found { trace } ─▶ supervisor ─▶ each failure once, where traces of the run are
//!        └ explored.json ─────────────▶ sums, unions; of a lost worker, what it had left in the exchange
//! ```
//!
//! Invariants: a finding of a worker that is killed is a finding of the exploration; runs are counted once, and together are
//! those that were asked for. What several find together depends on who was quicker, and each finding replays alone all
//! the same.
//! Not here: who starts and replaces workers (`crate::workers`), and what they give to each other (`exchange`).

use super::campaign_sink::named;
use super::exchange;
use super::first_run::FirstRun;
use super::result::{ExplorationResult, ExploreProtocol, FailureTrace, UnkeptFailure, without_doubles};
use super::shrink_time::ShrinkTime;
use super::state::StateFile;
use super::state_saver::StateSaver;
use super::status_line::{live_line, status_line};
use crate::error::{CampaignError, ErrorKind, at_path};
use crate::options::StopFlag;
use crate::progress::QUIET_EVERY_NS;
use crate::remarks::Remarks;
use crate::risk_bound::RiskBound;
use crate::selector;
use crate::trace_destination::TraceDestination;
use crate::wall_clock::Stopwatch;
use crate::workers::{
    Direction, STOP_GRACE, SearchBegin, Supervisor, SupervisorEnd, SupervisorObserver, SupervisorReport, WorkerLoss,
    WorkerRecord, WorkerSlot, own_command,
};
use fozzy_report::FaultOverlap;
use fozzy_search::explore::{DecisionPath, SavedProgress, Stats};
use fozzy_trace::facts::OPERATION_NAMES_MAX;
use fozzy_trace::file::Recording;
use fozzy_trace::{Duration, FailureSignature, HarnessError, Seed};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// An exploration by several workers.
pub struct ExploreWorkers<'a> {
    /// Where findings go.
    pub destination: &'a TraceDestination,
    /// Workers at a time.
    pub workers: u32,
    /// The seed of all.
    pub seed: Seed,
    /// Runs of all together; `None` for no bound.
    pub runs: Option<u64>,
    /// Runs and steps of the exploration that is continued; they are not made again.
    pub before: (u64, u64),
    /// Real time for all.
    pub time: Option<Duration>,
    /// The risk at which it ends, if one is named.
    pub until: Option<RiskBound>,
    /// The part of it that is left for making findings smaller, once there are some.
    pub reserved: Duration,
    /// Whether the first failure ends it.
    pub first_only: bool,
    /// Whether a line says every two seconds how it goes.
    pub verbose: bool,
    /// Whether a stop was requested.
    pub stop: StopFlag,
    /// Who hears how it goes.
    pub remarks: Remarks,
    /// What the exploration that is continued has kept, found and seen.
    pub progress_before: SavedProgress,
    /// Where its state is saved while it runs; `None` when it is not.
    pub state: Option<StateFile>,
    /// The run that was made before, if it is one of them; it belongs to no worker's share.
    pub first: Option<AdoptedRun>,
}

/// A run that was made before workers begin.
pub struct AdoptedRun {
    path: DecisionPath,
    /// What it found.
    failure: Option<FailureTrace>,
    /// Whether it came to no verdict.
    is_undecided: bool,
}

impl AdoptedRun {
    /// The first run; its failure is kept.
    pub(super) fn keep(first: FirstRun, destination: &TraceDestination) -> Result<AdoptedRun, CampaignError> {
        let FirstRun { path, judged, recording } = first;
        let steps = path.steps;
        let failure = recording.map(|recording| {
            let signature = recording.outcome.verdict.signature.clone();
            let (path, unkept) = match trace_of(&recording, destination) {
                Ok(path) => (path, None),
                Err(error) => {
                    let why = error.to_string();
                    (PathBuf::new(), Some(UnkeptFailure { verdict: recording.outcome.verdict, steps, why }))
                }
            };
            FailureTrace { path, unkept, signature, found_at: 1, times: 1 }
        });
        Ok(AdoptedRun { path, failure, is_undecided: judged.is_undecided })
    }
}

impl ExploreWorkers<'_> {
    /// Explores, and puts together what all have found.
    ///
    /// # Errors
    /// When workers cannot be started, or what they found cannot be kept.
    pub fn run(&self) -> Result<ExplorationResult, CampaignError> {
        let folder = self.destination.folder.join("workers");
        exchange::make(&folder)?;
        let found = self.first.iter().filter_map(|first| first.failure.clone()).collect::<Vec<_>>();
        for found in &found {
            let title = found.signature.as_ref().map(ToString::to_string).unwrap_or_default();
            self.remarks.text(&format!("found {title}\n  run {}, {}\n", found.found_at, found.place()));
        }
        let supervisor = Supervisor {
            workers: self.workers,
            runs: self.runs.map(|runs| runs.saturating_sub(self.before.0)),
            time: self.time.map(|time| std::time::Duration::from_nanos(time.0)),
            grace: STOP_GRACE,
            seed: self.seed,
            folder: folder.clone(),
            command: &own_command,
        };
        let mut collector = Collector {
            plan: self,
            by_signature: found.iter().map(|found| (found.signature.clone(), 0)).collect(),
            failures: found,
            known: BTreeSet::new(),
            watch: Stopwatch::start(),
            search: SearchBegin::default(),
            is_settled: false,
            shown: (0, 0),
            saver: StateSaver::new(self.state.clone()),
        };
        let is_over = self.first_only && !collector.failures.is_empty();
        if is_over || supervisor.runs == Some(0) && self.first.is_some() {
            let ended = if is_over { "finding" } else { "runs" }.to_owned();
            let (end, worked) = (SupervisorEnd::Complete, std::time::Duration::ZERO);
            let nobody = SupervisorReport { slots: Vec::new(), end, worked, lost: 0, restarted: 0 };
            return Ok(ExplorationResult { has_run: true, ended, ..collector.merge(&folder, nobody) });
        }
        let report = supervisor.run(&mut collector)?;
        collector.show(&report.slots);
        self.remarks.live("");
        collector.adopt(&folder, &report)?;
        Ok(collector.merge(&folder, report))
    }
}

impl ExploreWorkers<'_> {
    /// The way to what was found before workers began.
    fn first_finding(&self) -> impl Iterator<Item = DecisionPath> {
        self.first.iter().filter(|first| first.failure.is_some()).map(|first| first.path.clone())
    }
}

/// Collects failures while workers run.
struct Collector<'a> {
    plan: &'a ExploreWorkers<'a>,
    /// Each failure once, in the order in which they were reported.
    failures: Vec<FailureTrace>,
    by_signature: BTreeMap<Option<FailureSignature>, usize>,
    /// Traces of workers that were reported.
    known: BTreeSet<PathBuf>,
    watch: Stopwatch,
    /// Since when all search.
    search: SearchBegin,
    /// Whether the risk is low enough, so that all end.
    is_settled: bool,
    /// When the last line was shown, and of how many runs.
    shown: (u64, u64),
    saver: StateSaver,
}

impl SupervisorObserver<ExploreProtocol> for Collector<'_> {
    fn is_stop_requested(&self) -> bool {
        self.is_settled || (self.plan.stop)()
    }

    fn reserved_time(&self) -> std::time::Duration {
        let has_more_to_do = !self.failures.is_empty();
        if has_more_to_do { std::time::Duration::from_nanos(self.plan.reserved.0) } else { std::time::Duration::ZERO }
    }

    fn on_found(&mut self, worker: u32, found: FailureTrace) -> Result<Direction, HarnessError> {
        self.keep(worker, found)?;
        Ok(if self.plan.first_only { Direction::Stop } else { Direction::Continue })
    }

    fn on_status(&mut self, slots: &[WorkerSlot<ExploreProtocol>]) {
        self.show(slots);
        let stats = sum(slots.iter().flat_map(WorkerSlot::records).filter_map(|record| record.progress));
        let searched_ns = self.search.searched_ns(slots, self.watch.elapsed_ns());
        let is_met = |until: RiskBound| searched_ns.is_some_and(|searched| until.is_met(stats.outlook(), searched));
        // Before the first report, nothing is known. What workers find while they end does not change why they end.
        self.is_settled |= !(self.plan.stop)() && stats.runs > 0 && self.plan.until.is_some_and(is_met);
        if let Err(error) = self.save(slots) {
            self.plan.remarks.text(&format!("the state of the exploration is not saved: {error}\n"));
            self.saver = StateSaver::default();
        }
    }

    fn on_loss(&mut self, loss: &WorkerLoss) {
        self.plan.remarks.text(&format!("{loss}\n"));
    }

    fn on_stray_line(&mut self, worker: u32, line: &str) {
        self.plan.remarks.text(&format!("worker {worker}: {line}\n"));
    }
}

impl Collector<'_> {
    /// Keeps a failure that is not known; the trace is copied to where traces of the run are.
    fn keep(&mut self, worker: u32, found: FailureTrace) -> Result<(), CampaignError> {
        self.known.insert(found.path.clone());
        if let Some(known) = self.by_signature.get(&found.signature) {
            self.failures[*known].times += found.times;
            return Ok(());
        }
        let found = match found.unkept {
            Some(_) => found,
            None => placed(found, self.plan.destination, self.failures.len())?,
        };
        let title = found.signature.as_ref().map(ToString::to_string).unwrap_or_default();
        self.plan.remarks.text(&format!(
            "found {title}\n  run {} of worker {worker}, {}\n",
            found.found_at,
            found.place()
        ));
        self.by_signature.insert(found.signature.clone(), self.failures.len());
        self.failures.push(found);
        Ok(())
    }

    /// The line of the contract, for all workers.
    fn show(&mut self, slots: &[WorkerSlot<ExploreProtocol>]) {
        let is_live = self.plan.remarks.is_live() && !self.plan.verbose;
        let is_quiet = !self.plan.verbose && !is_live;
        if is_quiet && self.watch.elapsed_ns() - self.shown.0 < QUIET_EVERY_NS {
            return;
        }
        let stats = sum(slots.iter().flat_map(WorkerSlot::records).filter_map(|record| record.progress));
        let (now, (shown_ns, shown_runs)) = (self.watch.elapsed_ns(), self.shown);
        if !is_live {
            self.plan.remarks.text(&status_line(&stats, now, (shown_ns, shown_runs)));
        } else {
            let since = (stats.runs.saturating_sub(shown_runs), now - shown_ns);
            self.plan.remarks.live(&live_line(&stats, now, since, self.plan.time, self.plan.runs));
        }
        self.shown = (now, stats.runs);
    }

    /// Saves what all have left for each other, so that an exploration that is killed can be continued.
    fn save(&mut self, slots: &[WorkerSlot<ExploreProtocol>]) -> Result<(), CampaignError> {
        let records = || slots.iter().flat_map(WorkerSlot::records);
        let folder = self.plan.destination.folder.join("workers");
        let stats = sum(records().filter_map(|record| record.progress));
        let (runs, steps) = self.plan.before;
        let watch = &self.watch;
        self.saver.save(
            &|| watch.elapsed_ns(),
            (runs + stats.runs, steps + stats.steps),
            self.failures.len() as u64,
            &|| {
                let streams = || records().map(|record| record.stream);
                let given = streams().flat_map(|stream| exchange::stories_of(&folder, stream));
                let found = streams().flat_map(|stream| exchange::findings_of(&folder, stream));
                let SavedProgress { places, findings, known } = &self.plan.progress_before;
                SavedProgress {
                    // Not all of these were taken again by then.
                    places: without_doubles(places.iter().cloned().chain(given)),
                    findings: without_doubles(self.plan.first_finding().chain(found).chain(findings.iter().cloned())),
                    known: known.clone(),
                }
            },
        )
    }

    /// Keeps the findings that a lost worker has written and not reported.
    fn adopt(&mut self, folder: &Path, report: &SupervisorReport<ExploreProtocol>) -> Result<(), CampaignError> {
        for slot in &report.slots {
            for record in slot.records().iter().filter(|record| record.is_lost) {
                for path in exchange::traces_of(folder, record.stream) {
                    if !self.known.contains(&path) {
                        let signature = selector::read(&path)?.outcome.verdict.signature;
                        self.keep(
                            slot.number(),
                            FailureTrace { path, unkept: None, signature, found_at: 0, times: 1 },
                        )?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Sums and unions.
    fn merge(mut self, folder: &Path, report: SupervisorReport<ExploreProtocol>) -> ExplorationResult {
        let mut all = ExplorationResult::default();
        let (mut numbers, mut has_lost) = (Vec::new(), false);
        for record in report.slots.iter().flat_map(WorkerSlot::records) {
            let concluded = record.report.as_ref().and_then(|_| exchange::explored_by(folder, record.stream));
            has_lost |= concluded.is_none();
            let explored = concluded.unwrap_or_else(|| left_by(folder, record));
            numbers.push(explored.stats);
            all.edges_total = all.edges_total.max(explored.edges_total);
            unite(&mut all.taken, &explored.taken);
            unite_overlaps(&mut all.overlaps, explored.overlaps);
            all.properties.merge(&explored.properties);
            all.has_run |= explored.has_run;
            all.given_up += explored.given_up;
            all.stories.extend(explored.stories);
            all.findings.extend(explored.findings);
            all.known.unite(&explored.known);
            for (dial, name, earned) in explored.earned {
                match all.earned.iter_mut().find(|known| (&known.0, &known.1) == (&dial, &name)) {
                    Some((_, _, sum)) => *sum = sum.and(earned),
                    None => all.earned.push((dial, name, earned)),
                }
            }
            for seen in explored.traces {
                // The first time was reported when it was found.
                if let Some(known) = self.by_signature.get(&seen.signature) {
                    self.failures[*known].times += seen.times.saturating_sub(1);
                }
            }
            if all.ended.is_empty() {
                all.ended = explored.ended;
            }
        }
        let (runs, steps) = self.plan.before;
        all.findings.extend(self.plan.first_finding());
        all.stats = sum(numbers.into_iter());
        if let Some(first) = &self.plan.first {
            all.first_runs += 1;
            all.stats.runs += 1;
            all.stats.steps += u64::from(first.path.steps);
            all.stats.failures += u64::from(first.failure.is_some());
            all.stats.undecided += u64::from(first.is_undecided);
            all.stats.passed += u64::from(!first.is_undecided && first.failure.is_none());
        }
        (all.stats.runs, all.stats.steps) = (all.stats.runs + runs, all.stats.steps + steps);
        all.stats.last_new += steps;
        all.stats.edges = all.taken.iter().flatten().map(|taken| u64::from(*taken)).sum::<u64>().max(all.stats.edges);
        all.stats.findings = self.failures.len() as u64;
        all.traces = self.failures;
        let before = &self.plan.progress_before;
        all.findings = without_doubles(all.findings.into_iter().chain(before.findings.iter().cloned()));
        all.stories = places_of_all(all.stories, &before.places, has_lost);
        all.known.unite(&before.known);
        (all.workers_lost, all.workers_restarted) = (report.lost, report.restarted);
        let worked = Duration(u64::try_from(report.worked.as_nanos()).unwrap_or(u64::MAX));
        all.shrink_time = ShrinkTime::after(self.plan.time, worked);
        match report.end {
            // Each has ended for the same reason, or for several: the first says it.
            SupervisorEnd::Complete if !all.ended.is_empty() => {}
            // The last one was lost after its last run.
            SupervisorEnd::Complete => all.ended = "runs".to_owned(),
            SupervisorEnd::Time => all.ended = "time".to_owned(),
            SupervisorEnd::Directed => all.ended = "finding".to_owned(),
            SupervisorEnd::Requested if self.is_settled => all.ended = "risk".to_owned(),
            SupervisorEnd::Requested => all.ended = "interrupted".to_owned(),
            SupervisorEnd::Failed(why) | SupervisorEnd::Blocked(why) => {
                all.ended = "workers".to_owned();
                all.failure = Some(why);
            }
        }
        all
    }
}

/// The places of all, each once. A worker that was lost has left those that it had come to: the others of before are to be gone to again,
/// and so they are where no worker was left.
fn places_of_all(own: Vec<DecisionPath>, before: &[DecisionPath], has_lost: bool) -> Vec<DecisionPath> {
    let before: &[DecisionPath] = if has_lost || own.is_empty() { before } else { &[] };
    without_doubles(own.into_iter().chain(before.iter().cloned()))
}

/// What a worker has left that was lost.
fn left_by(folder: &Path, record: &WorkerRecord<ExploreProtocol>) -> ExplorationResult {
    let stats = record.progress.unwrap_or_default();
    let taken = |edges: Vec<u8>| edges.into_iter().map(|classes| u8::from(classes != 0)).collect();
    ExplorationResult {
        stats,
        has_run: stats.steps > 0,
        taken: exchange::edges_of(folder, record.stream).into_iter().map(taken).collect(),
        stories: exchange::stories_of(folder, record.stream),
        findings: exchange::findings_of(folder, record.stream),
        ..ExplorationResult::default()
    }
}

/// What one of them has taken is taken.
fn unite(all: &mut Vec<Vec<u8>>, more: &[Vec<u8>]) {
    all.resize(all.len().max(more.len()), Vec::new());
    for (into, from) in all.iter_mut().zip(more) {
        into.resize(into.len().max(from.len()), 0);
        into.iter_mut().zip(from).for_each(|(into, from)| *into |= from);
    }
}

/// Adds combinations of nemeses and operations. Two nemeses may have one name: their rows stand in the same order. Of more names of operations
/// than are counted the first ones by the alphabet stay, which each side has counted as a whole.
pub(super) fn unite_overlaps(all: &mut Vec<FaultOverlap>, more: Vec<FaultOverlap>) {
    let mut is_added = vec![false; all.len()];
    for cell in more {
        let is_same = |known: &FaultOverlap| {
            (&known.nemesis, &known.with, known.is_operation) == (&cell.nemesis, &cell.with, cell.is_operation)
        };
        match (0..is_added.len()).find(|place| !is_added[*place] && is_same(&all[*place])) {
            Some(place) => {
                is_added[place] = true;
                all[place].times += cell.times;
            }
            None => all.push(cell),
        }
    }
    let names: BTreeSet<&String> = all.iter().filter(|cell| cell.is_operation).map(|cell| &cell.with).collect();
    let first_left = names.into_iter().nth(OPERATION_NAMES_MAX).cloned();
    if let Some(first_left) = first_left {
        all.retain(|cell| !cell.is_operation || cell.with < first_left);
    }
}

fn sum(all: impl Iterator<Item = Stats>) -> Stats {
    all.fold(Stats::default(), |sum, stats| Stats {
        runs: sum.runs + stats.runs,
        steps: sum.steps + stats.steps,
        // What several have seen is counted once; the sums know the largest only.
        edges: sum.edges.max(stats.edges),
        features: sum.features.max(stats.features),
        states: sum.states.max(stats.states),
        checkpoints: sum.checkpoints + stats.checkpoints,
        failures: sum.failures + stats.failures,
        findings: sum.findings.max(stats.findings),
        lost: sum.lost + stats.lost,
        cut: sum.cut + stats.cut,
        undecided: sum.undecided + stats.undecided,
        passed: sum.passed + stats.passed,
        last_new: sum.last_new.max(stats.last_new),
        edges_once: sum.edges_once.max(stats.edges_once),
        edges_twice: sum.edges_twice.max(stats.edges_twice),
        discoveries_last_half: sum.discoveries_last_half + stats.discoveries_last_half,
    })
}

/// The trace of the first failure, written.
fn trace_of(recording: &Recording, destination: &TraceDestination) -> Result<PathBuf, CampaignError> {
    let (bytes, name) = named(recording)?;
    let (path, collision) = destination.of(0, Path::new(&name));
    crate::store::write_trace(&path, &bytes, collision)
}

/// A worker's finding, with its trace where traces of the run are. One that is not written there is a finding all the same.
fn placed(found: FailureTrace, destination: &TraceDestination, number: usize) -> Result<FailureTrace, CampaignError> {
    let path = &found.path;
    let bytes = std::fs::read(path).map_err(|error| at_path(ErrorKind::Store, "cannot read", path, &error))?;
    let name = path.file_name().map(PathBuf::from).unwrap_or_default();
    let (to, collision) = destination.of(number, &name);
    match crate::store::write_trace(&to, &bytes, collision) {
        Ok(path) => Ok(FailureTrace { path, ..found }),
        Err(error) => {
            let Recording { outcome, plan, .. } = selector::read(path)?;
            let steps = plan.scenario.as_ref().map_or(0, |scenario| scenario.flows);
            let unkept = UnkeptFailure { verdict: outcome.verdict, steps, why: error.to_string() };
            Ok(FailureTrace { unkept: Some(unkept), ..found })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_before_stay_where_a_worker_was_lost_that_had_not_come_to_them() {
        let paths = |steps: &[u32]| -> Vec<DecisionPath> {
            steps.iter().map(|steps| DecisionPath { answers: Vec::new(), steps: *steps }).collect()
        };
        let of_all = |own: &[u32], has_lost| places_of_all(paths(own), &paths(&[1, 2, 3]), has_lost);
        assert_eq!(of_all(&[2, 4, 2], true), paths(&[2, 4, 1, 3]));
        assert_eq!(of_all(&[2, 4, 2], false), paths(&[2, 4]), "they have chosen what is worth to be kept");
        assert_eq!(of_all(&[], false), paths(&[1, 2, 3]));
    }

    #[test]
    fn names_of_operations_of_several_workers_are_bounded_and_those_that_stay_are_the_first() {
        let cells = |numbers: std::ops::Range<usize>| -> Vec<FaultOverlap> {
            let name = |number: usize| format!("op{number:03}");
            let of =
                |number| FaultOverlap { nemesis: "kill".to_owned(), with: name(number), is_operation: true, times: 1 };
            numbers.map(of).collect()
        };
        let pair = FaultOverlap { nemesis: "kill".to_owned(), with: "pause".to_owned(), is_operation: false, times: 1 };
        let united = |parts: [Vec<FaultOverlap>; 2]| {
            let mut all = vec![pair.clone()];
            parts.into_iter().for_each(|part| unite_overlaps(&mut all, part));
            all.sort_by(|left, right| left.with.cmp(&right.with));
            all
        };
        let (forth, back) = (united([cells(0..60), cells(30..90)]), united([cells(30..90), cells(0..60)]));
        assert_eq!((&forth, forth.len()), (&back, OPERATION_NAMES_MAX + 1));
        let times = |with: &str| forth.iter().find(|cell| cell.with == with).map(|cell| cell.times);
        assert_eq!([times("op000"), times("op030"), times("op064"), times("pause")], [Some(1), Some(2), None, Some(1)]);
    }
}
