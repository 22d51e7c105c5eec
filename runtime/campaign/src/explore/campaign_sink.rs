//! Keeps what an exploration finds, at once, and says how it goes.
//!
//! ```text
//! failure ─▶ <run>/assertion-5e1f0c22a9d4.fozzy        replays alone
//!            <run>/assertion-5e1f0c22a9d4.min.fozzy    the same, made smaller, at the end
//! ```
//!
//! Invariants: nothing here has an influence on the exploration but that it ends when its time is over, or its risk
//! is met; a disk that takes no trace and no state hides no finding.

use super::exchange::WorkerExchange;
use super::result::{ExploreProtocol, FailureTrace, UnkeptFailure};
use super::shrink_time::reserved;
use super::state_saver::StateSaver;
use super::stateful_target::PathConfirmer;
use super::status_line::{live_line, status_line};
use crate::disk_sync::DiskSync;
use crate::error::{CampaignError, ErrorKind};
use crate::options::StopFlag;
use crate::progress::{LIVE_EVERY_NS, QUIET_EVERY_NS};
use crate::remarks::Remarks;
use crate::risk_bound::RiskBound;
use crate::search_clock::{SearchClock, unconfirmed_error};
use crate::store;
use crate::trace_destination::TraceDestination;
use crate::workers::{WorkerChannel, WorkerEvent};
use fozzy_engine::Interrupt;
use fozzy_search::FailureRecord;
use fozzy_search::explore::{DecisionPath, EdgeClasses, ExplorationObserver, PeerDiscoveries, SavedProgress, Stats};
use fozzy_trace::file::Recording;
use fozzy_trace::file::store::Durability;
use fozzy_trace::{Digest, Duration, HarnessError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Between two lines that say how it goes.
const STATUS_EVERY_NS: u64 = 2_000_000_000;
/// Between two reports of a worker to its supervisor.
const REPORT_EVERY_NS: u64 = 200_000_000;
/// Going to the places of the exploration that is continued takes one part in this many of the time, at the most, and the run that is at work then: a short
/// one is to search, too.
const RESTORE_SHARE: u64 = 4;
/// The same in a worker, which does not know how much time there is.
const WORKER_RESTORE_NS: u64 = 1_000_000_000;
/// Steps between two looks at the clock, where that number takes less than [`LOOK_EVERY_NS`].
const LOOK_EVERY: u64 = 16;
const LOOK_EVERY_NS: u64 = 10_000_000;

/// Keeps, and says.
pub struct ExplorationSink {
    /// Whether a stop was requested.
    pub stop: StopFlag,
    /// Repeats a finding as a run, to record it.
    pub confirmer: PathConfirmer,
    /// Where findings go.
    pub destination: TraceDestination,
    /// Real time since the start, and when it is over.
    pub clock: Arc<SearchClock>,
    /// `None` when its runs are bounded instead.
    pub time: Option<Duration>,
    /// The budget of runs, if there is one.
    pub runs: Option<u64>,
    /// The risk at which it ends, if one is named.
    pub until: Option<RiskBound>,
    /// Whether it has come to it.
    pub is_settled: bool,
    /// Whether a line says every two seconds how it goes.
    pub verbose: bool,
    /// In the order of findings.
    pub kept: Vec<FailureTrace>,
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

/// What a worker of several is connected to.
pub struct WorkerEnds {
    /// Hears how it goes, instead of a person.
    pub supervisor: WorkerChannel<ExploreProtocol>,
    /// Exchanges finds with the other workers.
    pub exchange: WorkerExchange,
    /// Runs and steps that were made before this exploration; they belong to no worker's share.
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

impl WorkerEnds {
    /// The numbers of the worker's own share.
    pub fn own(&self, stats: &Stats) -> Stats {
        let (runs, steps) = self.before;
        Stats { runs: stats.runs - runs, steps: stats.steps - steps, last_new: stats.last_new - steps, ..*stats }
    }
}

impl ExplorationSink {
    /// How much of its time an exploration searches.
    fn searched(&self, time: Duration) -> Duration {
        let has_more_to_do = self.shrinks && !self.kept.is_empty();
        if has_more_to_do { Duration(time.0 - reserved(time).0) } else { time }
    }

    /// Says how it goes.
    fn say(&mut self, stats: &Stats, now: u64) {
        self.remarks.text(&status_line(stats, now, (self.said.at_ns, self.said.runs)));
        (self.said.at_ns, self.said.runs) = (now, stats.runs);
    }

    /// Says how it went, where it was said all along.
    pub(super) fn say_last(&mut self, stats: &Stats) {
        if self.verbose {
            self.say(stats, self.clock.elapsed_ns());
        }
    }

    /// Runs that the end of the exploration has cut off and that may never end.
    pub(super) fn given_up(&self, interrupt: &Interrupt) -> u64 {
        self.clock.given_up(interrupt, self.said.looked_ns)
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

    /// The run of a failure that another run has confirmed.
    fn confirmed(&mut self, found: &FailureRecord<DecisionPath>) -> Result<Recording, CampaignError> {
        if found.is_confirmed { self.record(&found.input) } else { Err(unconfirmed_error()) }
    }

    fn write(&mut self, recording: &Recording) -> Result<PathBuf, CampaignError> {
        let (bytes, name) = named(recording)?;
        let (path, collision) = self.destination.of(self.kept.len(), Path::new(&name));
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
        let now = self.clock.elapsed_ns();
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
        let searched_ns = self.clock.searched_ns();
        let is_met = |until: RiskBound| searched_ns.is_some_and(|searched| until.is_met(stats.outlook(), searched));
        self.is_settled = self.until.is_some_and(is_met);
        !self.is_settled && self.time.is_none_or(|time| now < self.searched(time).0)
    }

    fn has_time_to_restore(&mut self) -> bool {
        let most_ns = match (self.time, &self.worker) {
            (Some(time), _) => self.searched(time).0 / RESTORE_SHARE,
            (None, Some(_)) => WORKER_RESTORE_NS,
            (None, None) => return true,
        };
        self.clock.elapsed_ns() < most_ns
    }

    fn on_search(&mut self) {
        self.clock.begin_search();
        if let Some(worker) = &self.worker {
            worker.supervisor.send(&WorkerEvent::Searching);
        }
    }

    fn on_captured(&mut self, story: &dyn Fn() -> DecisionPath) -> Result<(), HarnessError> {
        let Some(worker) = &mut self.worker else { return Ok(()) };
        // Others find it by themselves.
        if let Err(error) = worker.exchange.give(&story()) {
            tracing::debug!(%error, "a path is not given to the other workers");
        }
        Ok(())
    }

    fn on_run(&mut self, stats: &Stats, progress: &dyn Fn() -> SavedProgress) -> Result<(), HarnessError> {
        let clock = &self.clock;
        let saved = self.state.save(&|| clock.elapsed_ns(), (stats.runs, stats.steps), stats.findings, progress);
        if let Err(error) = saved {
            self.remarks.text(&format!("the state of the exploration is not saved: {error}\n"));
            self.state = StateSaver::default();
        }
        Ok(())
    }

    fn peer_discoveries(&mut self, edges: &dyn Fn() -> EdgeClasses) -> PeerDiscoveries {
        let Some(worker) = &mut self.worker else { return PeerDiscoveries::default() };
        worker.exchange.take(self.clock.elapsed_ns(), edges)
    }

    fn on_failure(&mut self, found: &FailureRecord<DecisionPath>) {
        // What was found is worth all the time that there is.
        self.time.iter().for_each(|time| self.clock.end_after(*time));
        let recording = self.confirmed(found);
        self.keep(found, recording);
    }
}

impl ExplorationSink {
    /// Keeps a failure with its recording, or the reason why it has none, and says it.
    pub(super) fn keep(&mut self, found: &FailureRecord<DecisionPath>, recording: Result<Recording, CampaignError>) {
        let (path, unkept) = match recording.and_then(|recording| self.write(&recording)) {
            Ok(path) => (path, None),
            Err(error) => {
                let error = if error.kind == ErrorKind::Interrupted { unconfirmed_error() } else { error };
                let (verdict, steps) = (found.verdict.clone(), found.input.steps);
                (PathBuf::new(), Some(UnkeptFailure { verdict, steps, why: error.to_string() }))
            }
        };
        let (signature, found_at) = (found.verdict.signature.clone(), found.found_at);
        let finding = FailureTrace { path, unkept, signature, found_at, times: 1 };
        if let Some(worker) = &self.worker {
            if let Err(error) = worker.exchange.give_finding(self.kept.len(), &found.input) {
                tracing::warn!(%error, "the path of a finding is not given to the supervisor");
            }
            worker.supervisor.send(&WorkerEvent::Found { finding: finding.clone() });
        } else {
            let title = finding.signature.as_ref().map(ToString::to_string).unwrap_or_default();
            let has_steps = self.confirmer.has_steps();
            let step = if has_steps { format!(", step {}", found.input.steps) } else { String::new() };
            self.remarks.text(&format!("found {title}\n  run {found_at}{step}, {}\n", finding.place()));
        }
        self.kept.push(finding);
        self.time.iter().for_each(|time| self.clock.end_after(self.searched(*time)));
    }
}

/// The bytes of a finding's trace, and its name.
pub(super) fn named(recording: &Recording) -> Result<(Vec<u8>, String), CampaignError> {
    let bytes = recording.to_bytes().map_err(|error| CampaignError::new(ErrorKind::Trace, error.to_string()))?;
    let kind = recording.outcome.verdict.signature.as_ref().map_or("failure", |signature| signature.kind.name());
    let name = format!("{kind}-{}.fozzy", Digest::of(&bytes).short());
    Ok((bytes, name))
}
