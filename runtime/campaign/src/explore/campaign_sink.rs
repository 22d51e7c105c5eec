//! Keeps what an exploration finds, at once, and says how it goes.
//!
//! ```text
//! failure ─▶ <run>/assertion-5e1f0c22a9d4.fozzy        replays alone
//!            <run>/assertion-5e1f0c22a9d4.min.fozzy    the same, made smaller, at the end
//! ```
//!
//! Invariant: nothing here has an influence on the exploration but that it ends when its time is over.

use super::exchange::WorkerExchange;
use super::state::StateFile;
use super::stateful_target::PathConfirmer;
use super::workers::{ExploreProtocol, FailureTrace};
use crate::disk_sync::DiskSync;
use crate::error::{CampaignError, ErrorKind};
use crate::options::StopFlag;
use crate::progress::{CampaignLine, LIVE_EVERY_NS, QUIET_EVERY_NS};
use crate::remarks::Remarks;
use crate::store;
use crate::wall_clock::Stopwatch;
use crate::workers::{WorkerChannel, WorkerEvent};
use fozzy_search::FailureRecord;
use fozzy_search::explore::{DecisionPath, EdgeClasses, ExplorationObserver, PeerDiscoveries, Stats};
use fozzy_trace::file::Recording;
use fozzy_trace::file::store::{CollisionPolicy, Durability};
use fozzy_trace::{Digest, Duration, HarnessError};
use std::path::{Path, PathBuf};

/// Between two lines that say how it goes.
const STATUS_EVERY_NS: u64 = 2_000_000_000;
/// Between two reports of a worker to its supervisor.
const REPORT_EVERY_NS: u64 = 200_000_000;
/// Between two states that are kept, and between one and the first after a finding.
const SAVE_EVERY_NS: u64 = 5_000_000_000;
const SAVE_FOUND_NS: u64 = 1_000_000_000;
/// Keeping the state takes one part in this many of the time, at the most.
const SAVE_SHARE: u64 = 20;
/// What is left of the time for making findings smaller, and for the report: one part in this many.
pub(super) const SHRINK_SHARE: u64 = 4;
/// Steps between two looks at the clock, where so many take less than [`LOOK_EVERY_NS`].
const LOOK_EVERY: u64 = 16;
const LOOK_EVERY_NS: u64 = 10_000_000;

/// Where findings go.
pub struct Where {
    /// The folder of the run.
    pub folder: PathBuf,
    /// The file that was asked for.
    pub record: Option<PathBuf>,
    /// What to do when that file is there.
    pub collision: CollisionPolicy,
}

/// Keeps, and says.
pub struct ExplorationSink {
    /// Whether a stop was requested.
    pub stop: StopFlag,
    /// Repeats a finding as a run, to record it.
    pub confirmer: PathConfirmer,
    /// Where findings go.
    pub place: Where,
    /// Real time since the start.
    pub watch: Stopwatch,
    /// `None` when its runs are bounded instead.
    pub time: Option<Duration>,
    /// The budget of runs, if there is one.
    pub runs: Option<u64>,
    /// Whether a line says every two seconds how it goes.
    pub verbose: bool,
    /// In the order of findings.
    pub kept: Vec<PathBuf>,
    /// When that was said last.
    pub said: ProgressMark,
    /// `None` when it is alone.
    pub worker: Option<WorkerEnds>,
    /// A person, who hears of it when it is alone.
    pub remarks: Remarks,
    /// Where its state is kept, if it is.
    pub state: StateSaver,
    /// Whether its time is also that of making its findings smaller.
    pub shrinks: bool,
    /// Makes what is written durable.
    pub disk: DiskSync,
}

/// Keeps the state of an exploration while it goes on.
#[derive(Debug, Default)]
pub struct StateSaver {
    /// `None` when it is not kept.
    pub file: Option<StateFile>,
    saved_ns: u64,
    took_ns: u64,
    /// Findings in what was saved.
    findings: u64,
}

impl StateSaver {
    /// Keeps it in that file.
    pub fn new(file: Option<StateFile>) -> StateSaver {
        StateSaver { file, ..StateSaver::default() }
    }

    /// Whether it is to be saved: every few seconds, and soon after a finding; seldom where that takes long.
    fn is_due(&self, now_ns: u64, findings: u64) -> bool {
        let wait = if findings > self.findings { SAVE_FOUND_NS } else { SAVE_EVERY_NS };
        self.file.is_some() && now_ns - self.saved_ns >= wait.max(SAVE_SHARE * self.took_ns)
    }

    /// Saves it if that is due: so many runs and steps, so many findings, the paths of places and those of findings.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(
        &mut self,
        watch: &Stopwatch,
        done: (u64, u64),
        findings: u64,
        paths: &dyn Fn() -> (Vec<DecisionPath>, Vec<DecisionPath>),
    ) -> Result<(), CampaignError> {
        let now = watch.elapsed_ns();
        if !self.is_due(now, findings) {
            return Ok(());
        }
        let (stories, found) = paths();
        if let Some(file) = &self.file {
            file.write(done, stories, found)?;
        }
        self.findings = findings;
        self.saved_ns = watch.elapsed_ns();
        self.took_ns = self.saved_ns - now;
        Ok(())
    }
}

/// What a worker of several is connected to.
pub struct WorkerEnds {
    /// Hears how it goes, instead of a person.
    pub supervisor: WorkerChannel<ExploreProtocol>,
    /// Exchanges finds with the other workers.
    pub exchange: WorkerExchange,
    /// Runs and steps that were made before this exploration, which are nobody's share.
    pub before: (u64, u64),
}

/// When something was said last, and of how many runs.
#[derive(Debug, Default)]
pub struct ProgressMark {
    at_ns: u64,
    runs: u64,
    /// When the clock was looked at last, and the calls until the next look.
    looked_ns: u64,
    calls: u64,
}

impl Where {
    /// The place of the finding of this number, which is called so in the folder.
    pub fn of(&self, number: usize, name: &Path) -> (PathBuf, CollisionPolicy) {
        match &self.record {
            // Those after the first stand beside it.
            Some(path) if number == 0 => (path.clone(), self.collision),
            Some(path) => (path.clone(), CollisionPolicy::Append),
            None => (self.folder.join(name), CollisionPolicy::Overwrite),
        }
    }
}

impl WorkerEnds {
    /// The numbers of the worker's own share.
    pub fn own(&self, stats: &Stats) -> Stats {
        let (runs, steps) = self.before;
        Stats { runs: stats.runs - runs, steps: stats.steps - steps, last_new: stats.last_new - steps, ..*stats }
    }
}

/// The line of the contract: numbers, and runs in a second since the last line, which was at this time and of this many runs.
pub(super) fn status_line(stats: &Stats, now_ns: u64, (shown_ns, shown_runs): (u64, u64)) -> String {
    let rate = stats.runs.saturating_sub(shown_runs) as f64 * 1e9 / (now_ns - shown_ns).max(1) as f64;
    let Stats { runs, steps, edges, checkpoints, failures, .. } = stats;
    let seconds = now_ns / 1_000_000_000;
    format!(
        "[{seconds}s] runs={runs} steps={steps} edges={edges} cps={checkpoints} failures={failures} {rate:.0} runs/s\n"
    )
}

/// How an exploration goes, for the line of a terminal.
pub(super) fn live_line(
    stats: &Stats,
    elapsed_ns: u64,
    since: (u64, u64),
    time: Option<Duration>,
    runs: Option<u64>,
) -> String {
    let Stats { runs: done, edges, failures, .. } = *stats;
    let (time_ns, edges, found) = (time.map(|time| time.0), Some(edges), (failures, "failed run"));
    CampaignLine { elapsed_ns, time_ns, unit: "run", done, budget: runs, since, edges, found }.text()
}

impl ExplorationSink {
    /// How much of its time an exploration searches.
    fn searched_ns(&self, time: Duration) -> u64 {
        let has_more_to_do = self.shrinks && !self.kept.is_empty();
        if has_more_to_do { time.0 - time.0 / SHRINK_SHARE } else { time.0 }
    }

    /// Says how it goes.
    fn say(&mut self, stats: &Stats, now: u64) {
        self.remarks.text(&status_line(stats, now, (self.said.at_ns, self.said.runs)));
        (self.said.at_ns, self.said.runs) = (now, stats.runs);
    }

    /// Shows how it goes, in the line of a terminal.
    fn show(&mut self, stats: &Stats, now: u64) {
        let since = (stats.runs.saturating_sub(self.said.runs), now - self.said.at_ns);
        self.remarks.live(&live_line(stats, now, since, self.time, self.runs));
        (self.said.at_ns, self.said.runs) = (now, stats.runs);
    }

    /// Records the run of `path`.
    pub fn record(&mut self, story: &DecisionPath) -> Result<Recording, CampaignError> {
        self.confirmer.record(story)
    }

    fn write(&mut self, story: &DecisionPath) -> Result<PathBuf, CampaignError> {
        let recording = self.record(story)?;
        let bytes = recording.to_bytes().map_err(|error| CampaignError::new(ErrorKind::Trace, error.to_string()))?;
        let kind = recording.outcome.verdict.signature.as_ref().map_or("failure", |signature| signature.kind.name());
        let name = format!("{kind}-{}.fozzy", Digest::of(&bytes).short());
        let (path, collision) = self.place.of(self.kept.len(), Path::new(&name));
        let path = store::write_trace_as(&path, &bytes, collision, Durability::Cached)?;
        self.disk.written(path.clone());
        Ok(path)
    }
}

impl ExplorationObserver for ExplorationSink {
    fn on_step(&mut self, stats: &Stats) -> bool {
        if (self.stop)() {
            return false;
        }
        if self.said.calls > 0 {
            self.said.calls -= 1;
            return true;
        }
        let now = self.watch.elapsed_ns();
        // A step can be a whole run of some seconds.
        self.said.calls = if now - self.said.looked_ns < LOOK_EVERY_NS { LOOK_EVERY - 1 } else { 0 };
        self.said.looked_ns = now;
        let since = now - self.said.at_ns;
        match &self.worker {
            Some(worker) if since >= REPORT_EVERY_NS => {
                worker.supervisor.send(&WorkerEvent::Progress { progress: worker.own(stats) });
                self.said.at_ns = now;
            }
            None if self.verbose && since >= STATUS_EVERY_NS => self.say(stats, now),
            None if !self.verbose && self.remarks.is_live() && since >= LIVE_EVERY_NS => self.show(stats, now),
            None if !self.remarks.is_live() && since >= QUIET_EVERY_NS => self.say(stats, now),
            _ => {}
        }
        self.time.is_none_or(|time| now < self.searched_ns(time))
    }

    fn on_captured(&mut self, story: &dyn Fn() -> DecisionPath) -> Result<(), HarnessError> {
        let Some(worker) = &mut self.worker else { return Ok(()) };
        worker.exchange.give(&story()).map_err(|error| HarnessError { what: error.to_string() })
    }

    fn on_run(
        &mut self,
        stats: &Stats,
        paths: &dyn Fn() -> (Vec<DecisionPath>, Vec<DecisionPath>),
    ) -> Result<(), HarnessError> {
        let saved = self.state.save(&self.watch, (stats.runs, stats.steps), stats.findings, paths);
        saved.map_err(|error| HarnessError { what: error.to_string() })
    }

    fn peer_discoveries(&mut self, edges: &dyn Fn() -> EdgeClasses) -> PeerDiscoveries {
        let now = self.watch.elapsed_ns();
        self.worker.as_mut().map(|worker| worker.exchange.take(now, edges)).unwrap_or_default()
    }

    fn on_failure(&mut self, found: &FailureRecord<DecisionPath>) -> Result<(), HarnessError> {
        let path = self.write(&found.input).map_err(|error| HarnessError { what: error.to_string() })?;
        let (signature, found_at) = (found.verdict.signature.clone(), found.found_at);
        if let Some(worker) = &self.worker {
            let given = worker.exchange.give_finding(self.kept.len(), &found.input);
            given.map_err(|error| HarnessError { what: error.to_string() })?;
            let finding = FailureTrace { path: path.clone(), signature, found_at, times: 1 };
            worker.supervisor.send(&WorkerEvent::Found { finding });
        } else {
            let title = signature.as_ref().map(ToString::to_string).unwrap_or_default();
            let has_steps = self.confirmer.plan_of(&found.input).scenario.is_some();
            let step = if has_steps { format!(", step {}", found.input.steps) } else { String::new() };
            self.remarks.text(&format!("found {title}\n  run {found_at}{step}, {}\n", path.display()));
        }
        self.kept.push(path);
        Ok(())
    }
}
