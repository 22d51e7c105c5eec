//! The fleet at work: some jobs, each of which takes the target whose turn it is, works on it for a slice, and keeps what that came to.
//!
//! ```text
//! job         choose ─ lease ─ changed? rebuild, try its failures ─┬─ slice ─┬─ records ─ lease ends ─ choose …
//!             └ failures that stand, a build they were not tried on: no slice ┘
//! collector   look for targets: new ones join, those whose files are gone leave ─ wait ─ look …
//! ```
//!
//! Invariants: failures that stand are tried on a new build before anything is searched; a target whose present build has no run goes first
//! then, and is no pass at the end; what a slice has found is on the disk of this machine before its lease ends, and in the store, if that
//! answers; a target without a result `TROUBLES_MAX` times in a row is set aside until it changes, and a fleet with none but such waits for
//! that, unless it is to end at a risk, of which nothing would say more. While the store is away, all goes on, by what is known here; while the
//! disk of this machine is full, what slices come to waits in memory, and slices that fail by
//! it count for nothing; when the disk fails otherwise, all jobs end, and that is the fleet's error.

use super::collector::FleetCollector;
use super::discovery::{FleetCollection, FleetTarget, build_of};
use super::division::{DiscoveryEstimate, TimeDivision, first_slice_max};
use super::exchange::CorpusExchange;
use super::records::{FleetFailureRecord, FleetRecords, FleetWorkerRecord, TargetRecord};
use super::shared_store::{
    SharedStore, StoreKey, StoreLease, WatchedStore, is_on_server, shared_store_error as store_error,
};
use super::slice::{SliceOutcome, SliceRequest};
use super::spool::{HeldRecords, MergedSlice, RecordsLock, Spool, SpooledSlice};
use super::view::{BroughtFailure, FleetView, UNSEARCHED};
use crate::error::{CampaignError, ErrorKind, says_full_disk};
use crate::explore::regression_status::RegressionStatus;
use crate::explore::retrial::Retrial;
use crate::options::StopFlag;
use crate::pipeline::{LoadedTarget, MachinesOfToday, PlanOfToday, RunPlan, load};
use crate::project::Project;
use crate::risk_bound::RiskBound;
use crate::search_clock::SearchClock;
use crate::wall_clock::{Stopwatch, pause, unix_seconds};
use fozzy_engine::Interrupt;
use fozzy_report::fleet::{FOUND_WITHOUT_REPORT, FleetDocument, FleetSliceRow, FleetWorkerRow, WaitingSlices};
use fozzy_report::{WallFacts, printable_line};
use fozzy_trace::file::Recording;
use fozzy_trace::{Digest, FailureSignature, Seed, Status, counted};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

/// Real time of the first slice of a target, so that all are soon known.
const FIRST_SLICE: Duration = Duration::from_secs(5);
/// Bounds of the others. They take ten times what their start does.
const SLICE_MIN: Duration = Duration::from_secs(10);
const SLICE_MAX: Duration = Duration::from_secs(60);
/// In a short time, at least.
const SHORTEST_SLICE: Duration = Duration::from_millis(500);
/// With less time left no slice is begun but the first one of a build.
const SLICE_TIME_MIN: Duration = Duration::from_millis(300);
/// Slices in a row without a result after which a target is set aside.
const TROUBLES_MAX: u32 = 3;
/// How long a fleet that is to end at a risk waits at least, with nothing to work on, for what changes: a linker may be writing it.
const CHANGE_WAIT: Duration = Duration::from_secs(10);
/// Until a target that another fleet works on is asked for again.
const AWAY: Duration = Duration::from_secs(1);
/// To try a failure on changed code takes one part in this many of the time that a fleet has left, at the most.
const TRIAL_SHARE: u32 = 4;
/// Slices of a build that go first, one after the other, until one of them comes to a verdict.
const FIRST_SLICES: u32 = 3;
/// Until a target is tried again whose slice has found no room on the disk.
const NO_ROOM: Duration = Duration::from_secs(5);
/// Between two looks whether what is set aside has changed.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// Between two looks for targets: so many times what one takes, within bounds.
const COLLECT_SHARE: u32 = 20;
const COLLECT_MIN: Duration = Duration::from_secs(5);
const COLLECT_MAX: Duration = Duration::from_secs(60);
/// Between two looks whether a store that is away is there again, and whether a disk that is full has room.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// Between two looks of a job that has nothing to do, and of who tells how it goes.
const TICK: Duration = Duration::from_millis(100);
/// Between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Stack of a job: kept failures are executed on it.
const STACK_BYTES: usize = fozzy_engine::STACK_BYTES + (8 << 20);
/// Characters of why a failure cannot be tried that are kept: a value of a store is bounded.
const UNTRIED_CHARS_MAX: usize = 1024;
/// Signs of a line of progress.
const LINE_CHARS: usize = 80;

/// A fleet.
pub struct FleetRun<'a> {
    /// The project.
    pub project: &'a Project,
    /// Where everything is kept.
    pub store: &'a dyn SharedStore,
    /// What is searched, and where more of it is looked for.
    pub collector: &'a FleetCollector,
    /// What names the store in the environment of a command; `None` where a command finds it without.
    pub named: Option<&'a str>,
    /// Slices at a time.
    pub jobs: u32,
    /// Real time; `None` for no bound.
    pub time: Option<Duration>,
    /// The risk at which it ends, if one is named.
    pub until: Option<RiskBound>,
    /// The seed of all slices.
    pub seed: Seed,
    /// Flags that each slice has from us.
    pub globals: Vec<OsString>,
    /// Whether a stop was requested.
    pub stop: StopFlag,
    /// The version of fozzy.
    pub version: &'a str,
}

/// A target at work.
struct TargetState {
    target: FleetTarget,
    record: TargetRecord,
    /// What its sources looked like when it was built last.
    stamp: Option<Digest>,
    /// What was built then.
    build: Option<Digest>,
    /// Whether its failures were not tried on that yet, since the store was away or it could not be built.
    untried: bool,
    /// The present build when they were to be tried last, whether they could be or not.
    trial: Option<Digest>,
    /// Its build as it was when it was looked for last.
    collected: Option<Digest>,
    /// The build of the last slice, whether that had a result or not.
    tried: Option<Digest>,
    /// How often that goes first once more, as its slices were too short for a verdict.
    more_tries: u32,
    is_busy: bool,
    /// Whether another fleet worked on it when it was asked for last.
    is_held: bool,
    /// Whether its files are gone.
    is_gone: bool,
    /// Another fleet works on it until then, at least.
    away_until: Duration,
    /// Slices in a row that have found no room on a disk.
    rests: u32,
    /// What its last slice took to begin.
    overhead: Duration,
    /// The state of its exploration that the store has, too.
    shared_state: Option<Digest>,
}

impl TargetState {
    fn new(target: &FleetTarget) -> TargetState {
        TargetState {
            target: target.clone(),
            record: TargetRecord::default(),
            stamp: None,
            build: None,
            untried: false,
            trial: None,
            collected: target.build,
            tried: None,
            more_tries: 0,
            is_busy: false,
            is_held: false,
            is_gone: false,
            away_until: Duration::ZERO,
            rests: 0,
            overhead: Duration::ZERO,
            shared_state: None,
        }
    }

    fn is_set_aside(&self) -> bool {
        self.record.troubles >= TROUBLES_MAX
    }

    /// Whether it can be asked for.
    fn is_free(&self, now: Duration) -> bool {
        !self.is_busy && !self.is_gone && !self.is_set_aside() && self.away_until <= now
    }

    /// Whether its present build has no run, as far as is known, and no slice of this fleet has tried that, or too short ones only: it goes first.
    fn is_due(&self) -> bool {
        let is_tried = self.tried == self.target.build && self.more_tries == 0;
        self.target.build.is_some() && !is_tried && !self.record.has_run_of(self.target.build)
    }

    /// Whether failures of it stand that were not tried on its present build, as far as is known: it has a turn for that, and no slice.
    fn has_untried(&self) -> bool {
        let present = self.target.build;
        present.is_some()
            && self.record.estimate.failures > 0
            && self.record.program != present
            && self.trial != present
    }

    /// Whether it goes before those that are searched for long.
    fn goes_first(&self) -> bool {
        self.has_untried() || self.is_due()
    }

    /// What it was when it was looked for now. The same as at the look before says nothing: a slice may have built it since.
    fn take_look(&mut self, found: &FleetTarget) {
        self.target.flags.clone_from(&found.flags);
        if self.collected != found.build {
            (self.collected, self.target.build) = (found.build, found.build);
        }
    }

    /// Why its present build has no run at the end of this fleet, and what to do. `held_by` says who worked on it until then.
    fn why_unsearched(&self, is_interrupted: bool, lacked_room: Option<&str>, held_by: Option<&str>) -> String {
        let is_tried = self.tried.is_some() && self.tried == self.target.build;
        match (held_by, lacked_room) {
            (_, lacked) if self.rests > 0 => {
                format!("no slice of it was finished: {}", lacked.unwrap_or("there was no room on a disk"))
            }
            (Some(held_by), _) => format!("another fleet works on it{held_by}: wait for that, or end it"),
            _ if is_tried && self.record.trouble.is_some() => "no slice of it had a result".to_owned(),
            _ if is_interrupted => "the fleet was stopped before that".to_owned(),
            _ if is_tried => "no slice of it came to a verdict: a longer --time; its own command says why".to_owned(),
            _ => "the time was over before its turn: a longer --time".to_owned(),
        }
    }

    /// Whether it has had a slice, and none of its runs was at its end: that of a program which never ends takes all its instructions, which
    /// may be longer than other slices.
    fn is_unjudged(&self) -> bool {
        self.record.estimate.slices > 0 && self.record.executions == 0
    }

    /// Why its last slice had no result, for who reads that after its files have changed.
    fn trouble_of_before(&self, why: &str) -> Option<String> {
        let has_changed = self.stamp.is_some_and(|stamp| stamp != self.target.source_stamp());
        has_changed.then(|| {
            format!("it has changed since its last slice, and its turn has not come yet; that one had none: {why}")
        })
    }

    /// How long its next slice is where time has no bound.
    fn wanted_time(&self) -> Duration {
        match self.record.estimate.slices {
            0 => FIRST_SLICE,
            _ if self.is_unjudged() => SLICE_MAX,
            _ if self.is_due() => FIRST_SLICE,
            _ => (self.overhead * 10).clamp(SLICE_MIN, SLICE_MAX),
        }
    }
}

/// What all jobs share.
struct FleetState {
    targets: Vec<TargetState>,
    division: TimeDivision,
    failure: Option<CampaignError>,
    warnings: Vec<String>,
    /// Why there is nothing to do at the moment, as it was said.
    idle_told: Option<&'static str>,
    /// Since when there is nothing to work on.
    idle_since: Option<Duration>,
    /// Which disk had no room for a slice, and for what, when that was met last.
    lacked_room: Option<String>,
    looked_at: Duration,
    slices: u64,
    cpu: Duration,
    executions: u64,
    discoveries: u64,
    /// Failures that this fleet has brought to the store: target, signature, trace.
    found: Vec<BroughtFailure>,
    /// Failures that slices have met and whose traces are lost, by the names of their targets: the next slice that meets one keeps it.
    lost: BTreeSet<(String, FailureSignature)>,
    recent: Vec<FleetSliceRow>,
}

impl FleetState {
    /// At the beginning of a fleet with these targets.
    fn new(targets: Vec<TargetState>, seed: Seed) -> FleetState {
        FleetState {
            targets,
            division: TimeDivision::new(seed),
            failure: None,
            warnings: Vec::new(),
            idle_told: None,
            idle_since: None,
            lacked_room: None,
            looked_at: Duration::ZERO,
            slices: 0,
            cpu: Duration::ZERO,
            executions: 0,
            discoveries: 0,
            found: Vec::new(),
            lost: BTreeSet::new(),
            recent: Vec::new(),
        }
    }

    /// Whether a failure of a target that is there was met and is not in the document, since its trace is lost and no later slice has
    /// kept it.
    fn has_lost(&self, document: &FleetDocument) -> bool {
        self.lost.iter().any(|(target, signature)| {
            let signature = signature.to_string();
            self.targets_there().any(|known| known.target.name == *target)
                && !document.failures.iter().any(|row| row.target == *target && row.signature == signature)
        })
    }

    /// Says of each target whose present build has no run why that is so. Of those that another fleet has, `holders` says which one.
    fn say_unsearched(&self, document: &mut FleetDocument, holders: &BTreeMap<String, String>) {
        let FleetDocument { targets, workers, interrupted, .. } = document;
        let (workers, is_interrupted) = (&*workers, *interrupted);
        for row in targets.iter_mut().filter(|row| row.unsearched.is_some()) {
            let Some(known) = self.targets.iter().find(|known| known.target.id == row.id) else { continue };
            let held_by = holders.get(&row.id).map(|name| named_worker(name, workers));
            // Slices that wait are not in the store.
            row.unsearched = (!known.record.has_run_of(known.target.build)).then(|| {
                let why = known.why_unsearched(is_interrupted, self.lacked_room.as_deref(), held_by.as_deref());
                format!("{UNSEARCHED}: {why}")
            });
        }
        document.settle();
    }

    /// Whether one that can be asked for has untried failures, or waits for the first slice of its present build.
    fn has_due(&self, now: Duration) -> bool {
        self.targets.iter().any(|target| target.is_free(now) && target.goes_first())
    }

    /// How many targets wait for the first slice of their present build, with the one at this place, and the most that a slice has taken beside its
    /// own time.
    fn first_slices(&self, place: usize) -> (usize, Duration) {
        let waits = |target: &&TargetState| !target.is_busy && !target.is_held && target.is_due();
        let others = self.targets_at_work().filter(|target| target.target.id != self.targets[place].target.id);
        let overhead = self.targets.iter().map(|target| target.overhead).max().unwrap_or_default();
        (others.filter(waits).count() + 1, overhead)
    }

    /// Targets that are there.
    fn targets_there(&self) -> impl Iterator<Item = &TargetState> {
        self.targets.iter().filter(|target| !target.is_gone)
    }

    /// Targets that are worked on: what is set aside is not, until it changes.
    fn targets_at_work(&self) -> impl Iterator<Item = &TargetState> {
        self.targets_there().filter(|target| !target.is_set_aside())
    }

    /// Why there is nothing to do until something changes; nothing while a target is worked on, and nothing that was said before.
    fn idle_reason(&mut self) -> Option<&'static str> {
        let why = match (self.targets_there().next().is_some(), self.targets_at_work().next().is_some()) {
            (_, true) => None,
            (true, false) => Some("all targets are set aside: waiting until one changes; Ctrl-C ends the fleet\n"),
            (false, false) => {
                Some("the files of all targets are gone: waiting until some are there; Ctrl-C ends the fleet\n")
            }
        };
        let is_new = why != std::mem::replace(&mut self.idle_told, why);
        why.filter(|_| is_new)
    }

    /// Whether nothing has been worked on for [`CHANGE_WAIT`]: until somebody changes something, no slice says what is left. What is there meanwhile
    /// has joined when a look for targets has ended that began at `collected_at`, in this time.
    fn is_stuck(&mut self, now: Duration, collected_at: Duration) -> bool {
        if self.targets_at_work().next().is_some() {
            self.idle_since = None;
            return false;
        }
        let since = *self.idle_since.get_or_insert(now);
        now.saturating_sub(since) >= CHANGE_WAIT && collected_at >= since
    }

    /// Which of the free targets has its turn, as a place in their list. First are those with failures that were not tried on their present
    /// build, then those whose present build has no run; of these, such of which no run was ever at its end come last, as their slices are
    /// long. A fleet that ends at a risk waits for those whose last slice had no result, until they have one or are set aside: they go next, so
    /// that it soon knows.
    fn choose(&mut self, free: &[usize], ends_at_risk: bool) -> Option<usize> {
        if let Some(first) = free.iter().position(|place| self.targets[*place].has_untried()) {
            return Some(first);
        }
        let due = |is_unjudged: bool| {
            let is_it = |target: &TargetState| target.is_due() && target.is_unjudged() == is_unjudged;
            free.iter().position(|place| is_it(&self.targets[*place]))
        };
        if let Some(first) = due(false).or_else(|| due(true)) {
            return Some(first);
        }
        let is_in_trouble = |place: &usize| self.targets[*place].record.troubles > 0;
        if ends_at_risk && let Some(first) = free.iter().position(is_in_trouble) {
            return Some(first);
        }
        let all: f64 = self.targets_there().map(|target| target.record.estimate.total_cpu_s).sum();
        let there = self.targets_there().count();
        let estimates: Vec<DiscoveryEstimate> = free.iter().map(|place| self.targets[*place].record.estimate).collect();
        self.division.next(&estimates, (all, there))
    }

    /// A slice of the target at this place has ended. What there is to do may be other than what was said.
    fn leave(&mut self, place: usize) {
        self.targets[place].is_busy = false;
        self.idle_told = None;
    }

    /// Whether of each target that is worked on little enough is to be expected. What fleets before this one have found may be of other code: each
    /// has one slice at the least. Of one whose files are gone there will be none. Where none is worked on, nothing was tried of late that
    /// says so: one that is set aside may change, and others may join.
    fn is_settled(&self, until: RiskBound) -> bool {
        let is_low = |target: &TargetState| {
            target.tried.is_some()
                && !target.goes_first()
                && target.record.chance_in_minute.is_some_and(|it| until.allows(it))
        };
        self.targets_at_work().next().is_some() && self.targets_at_work().all(is_low)
    }
}

/// A target as it is today, by which its kept failures are judged: read once for all of them.
struct TargetOfToday {
    loaded: LoadedTarget,
    /// The plan that it is searched under, if it has one.
    planned: Option<RunPlan>,
    /// The programs of that plan's machines.
    machines: MachinesOfToday,
    /// The component that its scenario judges, if a flag names one.
    judged: Option<Arc<[u8]>>,
}

impl TargetOfToday {
    fn read(target: &FleetTarget, project: &Project, loaded: LoadedTarget) -> Result<TargetOfToday, CampaignError> {
        let planned = target.plan_of_today(project, &loaded)?;
        let machines = planned.as_ref().map(MachinesOfToday::of).unwrap_or_default();
        let judged = target.flags.chunks(2).find(|flag| flag[0] == "--target").and_then(|flag| flag.get(1));
        let judged = judged.map(|path| load(Path::new(path), &project.remarks)).transpose()?;
        Ok(TargetOfToday { loaded, planned, machines, judged: judged.map(|judged| judged.component) })
    }

    /// How a recorded failure stands. It was found under the plan of the target, and no flag has asked for more.
    fn retry(&self, recording: &Recording, interrupt: &Interrupt) -> Result<RegressionStatus, CampaignError> {
        let mut plan = PlanOfToday::new(recording, &self.loaded, self.judged.clone(), &self.machines)?;
        self.planned.iter().for_each(|planned| plan.judge_by(planned));
        Ok(Retrial::until(recording, &self.loaded, &plan, interrupt)?.state)
    }
}

/// The place of a target, which stays, and the right to work on it.
type LeasedTarget = (usize, Box<dyn StoreLease>);

/// A fleet that runs.
struct Dispatcher<'a> {
    run: &'a FleetRun<'a>,
    store: WatchedStore<'a>,
    spool: Spool,
    /// Whether it was said that the store is away.
    is_told: AtomicBool,
    /// Whether it was said that the disk of this machine is full.
    is_disk_full: AtomicBool,
    program: PathBuf,
    clock: Stopwatch,
    worker: String,
    /// Held by who writes the row of this worker, so that an older one never takes the place of a newer one.
    row: Mutex<()>,
    state: Mutex<FleetState>,
    /// When the last look for targets that has ended had begun, in milliseconds of the clock.
    collected_at_ms: AtomicU64,
    /// Read by jobs that build, written by who looks for targets, which builds all that has changed: a folder's command runs once at a time.
    building: RwLock<()>,
    is_over: Arc<AtomicBool>,
}

impl FleetRun<'_> {
    /// Works until the time is over or a stop is requested.
    ///
    /// # Errors
    /// When the store does not take what is found.
    pub fn run(&self) -> Result<FleetDocument, CampaignError> {
        let collection = self.collector.current().get();
        if collection.targets.is_empty() {
            let view = FleetView { store: self.store, collection: &collection, named: self.named };
            return view.document().map_err(store_error);
        }
        let targets: Vec<TargetState> = collection.targets.iter().map(TargetState::new).collect();
        let found = targets.len() as u64;
        self.project.remarks.text(&format!("fleet of {}, in {}\n", counted(found, "target"), self.store.place()));
        for refused in &collection.uncollected {
            let why = refused.why.lines().next().unwrap_or_default();
            self.project.remarks.text(&format!("not collected: {}: {why}\n", printable_line(&refused.name)));
        }
        let state = FleetState::new(targets, self.seed);
        let program = std::env::current_exe().map_err(|error| {
            CampaignError::new(ErrorKind::Harness, format!("cannot find fozzy's own binary: {error}"))
        })?;
        let clock = Stopwatch::start();
        let started_at = clock.facts().started_at;
        let worker = worker_name(&started_at);
        let is_over = Arc::new(AtomicBool::new(false));
        let dispatcher = Dispatcher {
            run: self,
            store: WatchedStore::new(self.store),
            spool: Spool::open(&self.project.config.base_dir, self.store, &worker)?,
            is_told: AtomicBool::new(false),
            is_disk_full: AtomicBool::new(false),
            program,
            clock,
            worker,
            row: Mutex::default(),
            state: Mutex::new(state),
            collected_at_ms: AtomicU64::new(0),
            building: RwLock::new(()),
            is_over,
        };
        let mut warnings = dispatcher.remember_targets()?;
        if let Err(error) = dispatcher.work() {
            dispatcher.unkept().iter().for_each(|unkept| self.project.remarks.text(&format!("{unkept}\n")));
            return Err(error);
        }
        let elapsed = dispatcher.clock.elapsed();
        let (collection, holders) = (dispatcher.collection(), dispatcher.holders());
        let view = FleetView { store: self.store, collection: &collection, named: self.named };
        let seen = dispatcher.view(&collection).document().map_err(store_error);
        let document = match dispatcher.unless_away(seen)? {
            // One whose disk is full is read all the same: what stands there is no pass.
            None if !is_on_server(self.store) && self.store.present().is_ok() => view.document().ok(),
            document => document,
        };
        let build_of = |id: &str| {
            let state = dispatcher.lock();
            state.targets.iter().find(|target| target.target.id == id).and_then(|target| target.build)
        };
        let (failures, slices) = (dispatcher.spool.failures_waiting(build_of)?, dispatcher.spool.len()? as u64);
        let (slices, unkept) = (slices.saturating_sub(dispatcher.spool.unwritten()?.0), dispatcher.unkept());
        let waiting = (slices > 0).then(|| WaitingSlices { slices, place: dispatcher.spool.place() });
        let mut state = dispatcher.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        // What of a target that is gone was found is in the store, and no row.
        state.found.retain(|failure| collection.targets.iter().any(|target| target.name == failure.target));
        let unknown = TargetRecord::default();
        let record = |target: &FleetTarget| {
            let known = state.targets.iter().find(|known| known.target.id == target.id);
            known.map_or(&unknown, |known| &known.record)
        };
        let records = collection.targets.iter().map(record);
        let mut document = match document {
            Some(document) => FleetView::with_waiting(FleetView::with_lost(document, &state.found), failures),
            None => view.alone(records, failures, &state.found),
        };
        document.waiting = waiting;
        for row in &mut document.targets {
            let known = state.targets.iter().find(|known| known.target.id == row.id);
            let before = known.zip(row.trouble.as_deref()).and_then(|(known, why)| known.trouble_of_before(why));
            row.trouble = before.or(row.trouble.take());
        }
        warnings.append(&mut state.warnings);
        // What could not be read is said once.
        warnings.retain(|warning| !document.warnings.contains(warning));
        document.warnings.append(&mut warnings);
        document.jobs = self.jobs;
        document.interrupted = (self.stop)();
        document.elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        (document.slices, document.cpu_s) = (state.slices, state.cpu.as_secs_f64());
        state.say_unsearched(&mut document, &holders);
        if state.has_lost(&document) {
            document.refuse();
        }
        let would_pass = document.status == Status::Pass || document.lacks_runs_only;
        if document.slices == 0 && would_pass && !document.interrupted {
            document.refuse();
            let held = state.targets.iter().filter(|target| target.away_until > Duration::ZERO).count() as u64;
            document.warnings.push(match held {
                _ if state.lacked_room.is_some() => {
                    format!("no slice was finished: {}", state.lacked_room.as_deref().unwrap_or_default())
                }
                0 => "no slice was finished: give it more --time".to_owned(),
                _ => format!(
                    "no slice was finished: another fleet works on {}, or was killed less than half a minute ago",
                    counted(held, "target")
                ),
            });
        }
        if let Some(unkept) = unkept {
            // Who is told of an error has no document.
            if state.failure.is_some() {
                self.project.remarks.text(&format!("{unkept}\n"));
            }
            (document.status, document.lacks_runs_only) = (Status::Error, false);
            document.warnings.push(unkept);
        }
        match state.failure {
            Some(error) => Err(error),
            None => Ok(document),
        }
    }
}

impl Dispatcher<'_> {
    fn view<'v>(&'v self, collection: &'v FleetCollection) -> FleetView<'v> {
        FleetView { store: &self.store, collection, named: self.run.named }
    }

    /// What was found at the last look, with what slices have built since.
    fn collection(&self) -> FleetCollection {
        let mut collection = FleetCollection::clone(&self.run.collector.current().get());
        let state = self.lock();
        for target in &mut collection.targets {
            let known = state.targets.iter().find(|known| known.target.id == target.id);
            target.build = known.map_or(target.build, |known| known.target.build);
        }
        collection
    }

    /// Which workers have the targets that were asked for in vain, by the ids of these; no name where that is not known.
    fn holders(&self) -> BTreeMap<String, String> {
        let held = |known: &TargetState| known.is_held.then(|| known.target.id.clone());
        let held: Vec<String> = self.lock().targets.iter().filter_map(held).collect();
        let holder = |id: &str| self.store.holder(&StoreKey::new(&["targets", id])).ok().flatten();
        held.into_iter().map(|id| (holder(&id).unwrap_or_default(), id)).map(|(name, id)| (id, name)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, FleetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no further slice is begun.
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst) || (self.run.stop)()
    }

    fn time_left(&self) -> Option<Duration> {
        self.run.time.map(|time| time.saturating_sub(self.clock.elapsed()))
    }

    /// Takes what the store knows of the targets; the texts say what cannot be read. Of a store that is away, nothing is known.
    fn remember_targets(&self) -> Result<Vec<String>, CampaignError> {
        let records = FleetRecords { store: &self.store };
        let (mut state, mut warnings) = (self.lock(), Vec::new());
        for target in &mut state.targets {
            let known = records.target_named(&target.target.id, &target.target.name).map_err(store_error);
            let Some((record, refused)) = self.unless_away(known)? else { break };
            warnings.extend(refused);
            // Whoever starts a fleet has mended what was wrong with the machine.
            target.record = TargetRecord { troubles: 0, ..record };
        }
        Ok(warnings)
    }

    /// Runs all jobs to their end, and says how it goes.
    fn work(&self) -> Result<(), CampaignError> {
        self.put_worker(false)?;
        // What fleets have left here that were killed, or whose store was away.
        self.merge()?;
        let has_ended = AtomicBool::new(false);
        let refused = |error: std::io::Error| {
            self.is_over.store(true, Ordering::SeqCst);
            let message = format!("cannot start a thread for --jobs {}: {error}", self.run.jobs);
            CampaignError::new(ErrorKind::Harness, message)
        };
        std::thread::scope(|scope| -> Result<(), CampaignError> {
            let thread = |name: String| std::thread::Builder::new().name(name).stack_size(STACK_BYTES);
            let mut threads = Vec::new();
            // With fewer targets than jobs, some have nothing to do until others join.
            for number in 0..self.run.jobs {
                let started = thread(format!("job {number}")).spawn_scoped(scope, || self.job());
                threads.push(started.map_err(refused)?);
            }
            let started = thread("collector".to_owned()).spawn_scoped(scope, || self.collect(&has_ended));
            started.map_err(refused)?;
            let (mut told, mut asked) = (Duration::ZERO, Duration::ZERO);
            while !threads.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                pause(TICK);
                let now = self.clock.elapsed();
                let is_waiting = self.store.is_away() || self.is_disk_full.load(Ordering::SeqCst);
                if is_waiting && now - asked >= ASK_AGAIN {
                    asked = now;
                    if let Err(error) = self.try_disk().and_then(|()| self.come_back()) {
                        self.fail(error);
                    }
                }
                let is_live = self.run.project.remarks.is_live();
                if now - told >= if is_live { Duration::from_secs(1) } else { LINE_EVERY } {
                    told = now;
                    let line = self.line(now);
                    match is_live {
                        true => self.run.project.remarks.live(&line),
                        false => self.run.project.remarks.text(&format!("{line}\n")),
                    }
                    if let Err(error) = self.put_worker(false) {
                        self.fail(error);
                    }
                }
            }
            has_ended.store(true, Ordering::SeqCst);
            self.run.project.remarks.live("");
            Ok(())
        })?;
        self.try_disk()?;
        // Also where there is room for less than a fleet needs to go on.
        if self.spool.is_overflowing() {
            self.spool.write_again()?;
        }
        self.come_back()?;
        if self.lock().failure.is_some() {
            return Ok(());
        }
        // Records that another worker has held may be free by now. What still waits is in the last line, and not said twice.
        if !self.store.is_away() && self.spool.len()? > 0 {
            self.spool.forget_held();
            self.bring()?;
        }
        self.put_worker(true)
    }

    /// What a request came to; `None` when the store does not answer: the fleet goes on alone.
    fn unless_away<T>(&self, answer: Result<T, CampaignError>) -> Result<Option<T>, CampaignError> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if error.kind == ErrorKind::Store && self.store.is_away() => {
                if !self.is_told.swap(true, Ordering::SeqCst) {
                    let place = self.spool.place();
                    let line =
                        format!("{error}; going on alone: what is found waits in {place} until the store answers\n");
                    self.run.project.remarks.text(&line);
                    self.note();
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// What something came to that is written to the disk of this machine, too; `None` also when that is full.
    fn unless_full<T>(&self, answer: Result<T, CampaignError>) -> Result<Option<T>, CampaignError> {
        match self.unless_away(answer) {
            Err(error) if error.is_full_disk() => {
                self.say_full();
                Ok(None)
            }
            other => other,
        }
    }

    /// Whether an error, or why a slice has no result, is that the disk has no room. The lines behind the first may be anybody's.
    fn lacks_room(&self, why: &str) -> bool {
        why.lines().next().is_some_and(says_full_disk) || says_full_disk(why) && !self.spool.has_room()
    }

    /// Whether it is for a disk that a slice of a target has no result. While ours is full, that is so whatever it says: linkers, say, die of a
    /// signal. Another one that stays full comes to be the trouble of the target.
    fn is_by_full_disk(&self, place: usize, why: &str) -> bool {
        let is_told = full_disk_line(why).is_some();
        let is_early = self.lock().targets[place].rests < TROUBLES_MAX;
        is_told && is_early || !self.spool.has_room()
    }

    /// What becomes of slices that are kept nowhere when this process ends now; `None` when there are none.
    fn unkept(&self) -> Option<String> {
        let (_, unkept) = self.spool.unwritten().ok().filter(|(_, unkept)| *unkept > 0)?;
        Some(format!(
            "the disk of {} is full: what {} came to could not be kept, with the traces of failures that have no command here; \
             free it, and the next fleet finds them again",
            self.spool.place(),
            counted(unkept, "slice")
        ))
    }

    /// Says once that the disk of this machine is full.
    fn say_full(&self) {
        if !self.is_disk_full.swap(true, Ordering::SeqCst) {
            self.run.project.remarks.text(&format!("{}\n", self.full_disk()));
            self.note();
        }
    }

    fn full_disk(&self) -> String {
        format!("the disk of {} is full: what is found waits in memory until there is room", self.spool.place())
    }

    /// Has pages say what is wrong at the moment. They see themselves that a server is away, and read a folder whose disk is full.
    fn note(&self) {
        let mut notes = Vec::new();
        if self.is_told.load(Ordering::SeqCst) && !is_on_server(&self.store) {
            notes.push(format!("{} takes nothing at the moment: what is found waits", self.store.place()));
        }
        if self.is_disk_full.load(Ordering::SeqCst) {
            notes.push(self.full_disk());
        }
        self.run.collector.current().note(notes);
    }

    /// Writes what has waited in memory, if a disk that was full has room for it.
    fn try_disk(&self) -> Result<(), CampaignError> {
        let is_full = self.is_disk_full.load(Ordering::SeqCst);
        if is_full && self.spool.has_room() && self.spool.write_again()? {
            self.is_disk_full.store(false, Ordering::SeqCst);
            self.run.project.remarks.text(&format!("the disk of {} has room again\n", self.spool.place()));
            self.note();
        }
        Ok(())
    }

    /// A slice has found no room on a disk: nothing of it counts, and its target is tried again a little later.
    fn rest(&self, place: usize, why: &str) {
        let is_ours = !self.spool.has_room();
        let why = match is_ours {
            true => format!("the disk of {} is full", self.spool.place()),
            // That of temporary files, say.
            false => {
                let line = full_disk_line(why).or_else(|| why.lines().next()).unwrap_or_default();
                printable_line(line).into_owned()
            }
        };
        let until = self.clock.elapsed() + NO_ROOM;
        let line = {
            let mut state = self.lock();
            let target = &mut state.targets[place];
            (target.away_until, target.rests) = (until, target.rests.saturating_add(1));
            let line = format!("{}: {why}; it is tried again", printable_line(&target.target.name));
            let is_new = target.rests == 1;
            state.lacked_room = Some(why);
            (is_new && !is_ours).then_some(line)
        };
        if is_ours {
            self.say_full();
        }
        if let Some(line) = line {
            self.run.project.remarks.text(&format!("{line}\n"));
            self.warn(vec![line]);
        }
    }

    /// Asks a store that is away whether it is there again, and brings it what has waited.
    fn come_back(&self) -> Result<(), CampaignError> {
        if !self.store.is_back() {
            return Ok(());
        }
        self.is_told.store(false, Ordering::SeqCst);
        self.note();
        let waiting = counted(self.spool.len()? as u64, "slice");
        self.run.project.remarks.text(&format!("{} answers again: {waiting} waited for it\n", self.store.place()));
        self.merge()
    }

    /// Brings the store what waits for it, if it answers, and says whose records are held.
    fn merge(&self) -> Result<(), CampaignError> {
        self.bring()?.iter().for_each(|records| self.say_held(records));
        Ok(())
    }

    /// Brings the store what waits for it, if it answers; the records that other workers hold.
    fn bring(&self) -> Result<Vec<HeldRecords>, CampaignError> {
        let merged = self.spool.merge(&self.store, |slice, merged| self.on_merged(slice, merged));
        Ok(self.unless_away(merged)?.unwrap_or_default())
    }

    /// Says whose end is waited for, meanwhile or by the next fleet.
    fn say_held(&self, HeldRecords { target, holder }: &HeldRecords) {
        let (place, seconds) = (self.spool.place(), 3 * super::LEASE_RENEWAL.as_secs());
        let after_kill = match is_on_server(&self.store) {
            true => format!(" (for {seconds} s, if it was killed)"),
            false => String::new(),
        };
        self.run.project.remarks.text(&format!(
            "{}: {holder} holds its records{after_kill}; what is found waits in {place} until then\n",
            printable_line(target)
        ));
    }

    fn on_merged(&self, slice: &SpooledSlice, merged: MergedSlice) {
        let collection = self.run.collector.current().get();
        for (signature, trace) in &merged.found {
            let command = self.view(&collection).replay_command(trace);
            let (what, name) = (signature.to_string(), printable_line(&slice.name));
            self.run.project.remarks.text(&format!("found {} in {name}\n  {command}\n", printable_line(&what)));
        }
        self.warn(merged.warnings);
        let mut state = self.lock();
        // What has made room is not lost.
        let is_kept =
            |known: &BroughtFailure| known.target != slice.name || !merged.forgotten.contains(&known.signature);
        state.found.retain(is_kept);
        state.found.extend(merged.found.into_iter().map(|(signature, trace)| BroughtFailure {
            target: slice.name.clone(),
            signature,
            trace,
            found_at: slice.ended_at.clone(),
            times: 0,
        }));
        for (signature, times) in slice.seen() {
            let is_it = |known: &&mut BroughtFailure| known.target == slice.name && known.signature == *signature;
            state.found.iter_mut().find(is_it).into_iter().for_each(|known| known.times += times);
        }
        state.lost.extend(merged.lost.into_iter().map(|signature| (slice.name.clone(), signature)));
        state.discoveries += merged.news;
        if let Some(target) = state.targets.iter_mut().find(|target| target.target.id == slice.target) {
            // Troubles are of this machine.
            target.record = TargetRecord { troubles: target.record.troubles, ..merged.record };
        }
    }

    /// Keeps what this process has done.
    fn put_worker(&self, has_ended: bool) -> Result<(), CampaignError> {
        let _row = self.row.lock().unwrap_or_else(PoisonError::into_inner);
        let (slices, cpu_s, recent) = {
            let state = self.lock();
            (state.slices, state.cpu.as_secs_f64(), state.recent.clone())
        };
        let (version, pid) = (self.run.version.to_owned(), std::process::id());
        let WallFacts { started_at, finished_at: seen_at, .. } = self.clock.facts();
        let record = FleetWorkerRecord { version, pid, started_at, seen_at, slices, cpu_s, has_ended, recent };
        let put = FleetRecords { store: &self.store }.put_worker(&self.worker, &record).map_err(store_error);
        match self.unless_away(put)? {
            Some(()) => Ok(()),
            None => self.spool.put_worker(&record),
        }
    }

    /// One line of at most 80 signs.
    fn line(&self, now: Duration) -> String {
        let state = self.lock();
        let seconds = now.as_secs();
        let busy: Vec<&str> =
            state.targets.iter().filter(|target| target.is_busy).map(|target| target.target.name.as_str()).collect();
        let standing = state.targets_there().map(|target| target.record.estimate.failures).sum::<u64>();
        let line = format!(
            "{}:{:02}:{:02}  {}  {}  {} found, {standing} standing  {} new  {}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60,
            counted(state.slices, "slice"),
            counted(state.executions, "run"),
            counted(state.found.len() as u64, "failure"),
            state.discoveries,
            busy.join(", ")
        );
        line.chars().filter(|c| !c.is_control()).take(LINE_CHARS).collect()
    }

    /// Looks for targets, again and again, until all jobs have ended.
    fn collect(&self, has_ended: &AtomicBool) {
        let mut next = self.clock.elapsed() + COLLECT_MIN;
        while !has_ended.load(Ordering::SeqCst) {
            pause(TICK);
            let began = self.clock.elapsed();
            if self.is_over() || began < next {
                continue;
            }
            if let Err(error) = self.collect_again() {
                self.fail(error);
            }
            self.collected_at_ms.store(u64::try_from(began.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
            let now = self.clock.elapsed();
            next = now + ((now - began) * COLLECT_SHARE).clamp(COLLECT_MIN, COLLECT_MAX);
        }
    }

    /// Takes what is there now: new targets join, and those whose files are gone leave. Each is said.
    fn collect_again(&self) -> Result<(), CampaignError> {
        let looked = {
            let _building = self.building.write().unwrap_or_else(PoisonError::into_inner);
            self.run.collector.look_again(self.run.project)
        };
        let (before, now) = match looked {
            Ok(looked) => looked,
            Err(error) => {
                self.warn(vec![format!("looking for new tests: {}", error.one_line())]);
                return Ok(());
            }
        };
        let say = |line: String| self.run.project.remarks.text(&format!("{line}\n"));
        for row in now.uncollected.iter().filter(|row| !before.uncollected.contains(row)) {
            let why = row.why.lines().next().unwrap_or_default();
            say(format!("not collected: {}: {why}", printable_line(&row.name)));
        }
        let mut new: BTreeMap<&str, &FleetTarget> =
            now.targets.iter().map(|target| (target.id.as_str(), target)).collect();
        for known in &mut self.lock().targets {
            let found = new.remove(known.target.id.as_str());
            match (known.is_gone, found) {
                (false, None) => say(format!("gone, and searched no more: {}", printable_line(&known.target.name))),
                (true, Some(_)) => say(format!("there again: {}", printable_line(&known.target.name))),
                _ => {}
            }
            known.is_gone = found.is_none();
            if let Some(found) = found {
                known.take_look(found);
            }
        }
        for target in new.into_values() {
            let known = FleetRecords { store: &self.store }.target_named(&target.id, &target.name).map_err(store_error);
            let (record, refused) = self.unless_away(known)?.unwrap_or_default();
            self.warn(refused.into_iter().collect());
            say(format!("new: {}", printable_line(&target.name)));
            let record = TargetRecord { troubles: 0, ..record };
            self.lock().targets.push(TargetState { record, ..TargetState::new(target) });
        }
        Ok(())
    }

    /// The first error ends all.
    fn fail(&self, error: CampaignError) {
        self.lock().failure.get_or_insert(error);
        self.is_over.store(true, Ordering::SeqCst);
    }

    fn job(&self) {
        while !self.is_over() {
            if self.time_left().is_some_and(|left| left < SLICE_TIME_MIN && !(left > Duration::ZERO && self.has_due()))
            {
                return;
            }
            if self.is_settled() {
                // The slices of other jobs are on targets of which little is to be expected, too.
                if !self.is_over.swap(true, Ordering::SeqCst) {
                    let aside = self.lock().targets_there().filter(|target| target.is_set_aside()).count() as u64;
                    let aside = match aside {
                        0 => String::new(),
                        aside => format!("; {} set aside", counted(aside, "target")),
                    };
                    self.run.project.remarks.text(&format!(
                        "no target is more likely to find something new than --until-risk says{aside}\n"
                    ));
                }
                return;
            }
            match self.take() {
                Ok(Some((place, lease))) => {
                    let lease = Mutex::new(lease);
                    let worked = self.slice(place, &lease);
                    drop(lease);
                    self.lock().leave(place);
                    match worked {
                        Ok(()) => {}
                        Err(error) if self.lacks_room(&error.message) => self.rest(place, &error.message),
                        Err(error) => self.fail(error),
                    }
                }
                Ok(None) if self.has_nothing_left() => return,
                Ok(None) if self.is_stuck() => {
                    if !self.is_over.swap(true, Ordering::SeqCst) {
                        let reason = "all targets are set aside or gone: no slice can say how much is left, as --until-risk asks\n";
                        self.run.project.remarks.text(reason);
                    }
                    return;
                }
                Ok(None) => {
                    let reason = self.lock().idle_reason();
                    reason.into_iter().for_each(|reason| self.run.project.remarks.text(reason));
                    pause(TICK);
                }
                Err(error) => self.fail(error),
            }
        }
    }

    /// Whether the failures of a target are untried, or it waits for the first slice of its present build.
    fn has_due(&self) -> bool {
        self.lock().has_due(self.clock.elapsed())
    }

    /// Whether it has come to the risk at which it is to end, if one is named.
    fn is_settled(&self) -> bool {
        self.run.until.is_some_and(|until| self.lock().is_settled(until))
    }

    /// Whether it is to end at a risk, and nothing is worked on by which that would come to be known.
    fn is_stuck(&self) -> bool {
        let collected_at = Duration::from_millis(self.collected_at_ms.load(Ordering::SeqCst));
        self.run.until.is_some() && self.lock().is_stuck(self.clock.elapsed(), collected_at)
    }

    /// Whether the files of all targets are gone, in a fleet whose time is bounded. What is set aside is waited for: a linker may be writing it.
    fn has_nothing_left(&self) -> bool {
        self.run.time.is_some() && self.lock().targets_there().next().is_none()
    }

    /// The target whose turn it is, and the right to it.
    fn take(&self) -> Result<Option<LeasedTarget>, CampaignError> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let now = self.clock.elapsed();
        if now.saturating_sub(state.looked_at) > LOOK_AGAIN {
            state.looked_at = now;
            // Several targets may be of one folder.
            let mut stamps = BTreeMap::new();
            for target in state.targets.iter_mut().filter(|target| target.is_set_aside() && !target.is_gone) {
                let FleetTarget { source, flags, .. } = &target.target;
                let stamp =
                    stamps.entry((source.clone(), flags.clone())).or_insert_with(|| target.target.source_stamp());
                if target.stamp != Some(*stamp) {
                    target.record.troubles = 0;
                }
            }
        }
        let is_late = self.time_left().is_some_and(|left| left < SLICE_TIME_MIN);
        let is_free = |target: &TargetState| target.is_free(now) && (!is_late || target.goes_first());
        let mut free: Vec<usize> = (0..state.targets.len()).filter(|place| is_free(&state.targets[*place])).collect();
        while !free.is_empty() {
            let Some(chosen) = state.choose(&free, self.run.until.is_some()) else { break };
            let place = free.swap_remove(chosen);
            let target = &mut state.targets[place];
            let key = StoreKey::new(&["targets", &target.target.id]);
            let lease = self.unless_away(self.store.acquire(&key, &self.worker).map_err(store_error))?;
            match lease.map_or_else(|| self.spool.acquire(&key), Ok)? {
                Some(lease) => {
                    (target.is_busy, target.is_held) = (true, false);
                    return Ok(Some((place, lease)));
                }
                None => (target.away_until, target.is_held) = (now + AWAY, true),
            }
        }
        Ok(None)
    }

    /// How long the next slice of the target at this place is.
    fn slice_time(&self, state: &FleetState, place: usize) -> Duration {
        let (known, targets) = (&state.targets[place], state.targets_there().count());
        let wanted = known.wanted_time();
        let (Some(time), Some(left)) = (self.run.time, self.time_left()) else { return wanted };
        if known.is_unjudged() {
            // The others have their turns in the other half.
            return wanted.min((left / 2).max(SHORTEST_SLICE)).min(left);
        }
        // In a short time each target has its turn.
        let fair = time * self.run.jobs / u32::try_from(targets.max(1) * 3).unwrap_or(u32::MAX);
        let fair = wanted.min(fair.max(SHORTEST_SLICE));
        if known.is_due() {
            let (waiting, overhead) = state.first_slices(place);
            return fair.min(first_slice_max(left, self.run.jobs, waiting, overhead));
        }
        fair.min(left)
    }

    /// One turn of a target that this job has the right to: its untried failures, or a slice.
    fn slice(&self, place: usize, lease: &Mutex<Box<dyn StoreLease>>) -> Result<(), CampaignError> {
        let records = FleetRecords { store: &self.store };
        let (mut target, mut record, mut stamp, mut build, mut untried, mut shared_state, time, workers, is_trial) = {
            let mut state = self.lock();
            let known = &mut state.targets[place];
            let is_trial = known.has_untried();
            known.trial = known.target.build;
            let known = &state.targets[place];
            let targets = state.targets_there().count().max(1);
            let workers = (self.run.jobs / u32::try_from(targets).unwrap_or(u32::MAX)).max(1);
            let time = self.slice_time(&state, place);
            let TargetState { target, record, stamp, build, untried, shared_state, .. } = known;
            (target.clone(), record.clone(), *stamp, *build, *untried, *shared_state, time, workers, is_trial)
        };
        // Another fleet may have worked on it since. The store does not have the slices that wait for a held record.
        if !self.spool.is_held(&target.id)
            && let Some((known, refused)) =
                self.unless_away(records.target_named(&target.id, &target.name).map_err(store_error))?
        {
            record = TargetRecord { troubles: record.troubles, ..known };
            self.warn(refused.into_iter().collect());
        }
        let (id, name) = (target.id.clone(), target.name.clone());
        let mut slice = SpooledSlice { target: id, name, troubles: record.troubles, ..SpooledSlice::default() };
        let now = target.source_stamp();
        // What this job's fleet has built is searched only if it is what stands there now: that may be another build, or cannot be built.
        let is_present = stamp == Some(now) && build == target.build;
        let is_prepared = !is_trial && is_present && (!untried || self.store.is_away());
        let prepared = match is_prepared {
            true => Ok(()),
            false => self.prepare(&records, (&mut target, &mut build, &mut untried), &record, &mut slice),
        };
        if is_trial && matches!(&prepared, Err(error) if error.kind != ErrorKind::Store) {
            // Its next slice says why.
            return Ok(());
        }
        let is_built = prepared.is_ok();
        untried |= !is_built;
        // Nothing has been run of what cannot be built.
        let present = if is_built { build.or(target.build) } else { Some(now) };
        if is_built && !is_prepared {
            self.lock().targets[place].target.build = present;
        }
        slice.has_changed = stamp.is_some_and(|before| before != now);
        stamp = Some(now);
        if record.program == build {
            slice.program = build;
        }
        slice.build = build;
        let state_file = self.state_file(&target)?;
        let (store, base_dir) = (&self.store, &*self.run.project.config.base_dir);
        let exchange = CorpusExchange { store, base_dir, target: &target, program: build, state: &state_file };
        let taken = prepared.and_then(|()| match is_trial {
            true => Ok(None),
            false => self.unless_away(exchange.take(shared_state)),
        });
        let renew = || store.is_away() || lease.lock().unwrap_or_else(PoisonError::into_inner).renew().unwrap_or(true);
        let began = self.clock.elapsed();
        let (mut overhead, mut cpu) = (Duration::ZERO, Duration::ZERO);
        match taken {
            Err(error) if error.kind == ErrorKind::Store => return Err(error),
            Err(error) if self.is_by_full_disk(place, &error.message) => {
                self.rest(place, &error.message);
                return Ok(());
            }
            Err(error) => slice.fail(&error.to_string()),
            Ok(_) if is_trial => {}
            Ok(taken) => {
                let mut taken = taken.unwrap_or_default();
                let request = SliceRequest {
                    program: &self.program,
                    globals: &self.run.globals,
                    target: &target,
                    time,
                    seed: self.slice_seed(&target, &record),
                    workers,
                    state: state_file.clone(),
                    log: target.log_path(base_dir),
                    stop: self.slice_stop(),
                    // A store that does not answer is no reason to end: what is found is kept by signature, whoever finds it.
                    renew: &renew,
                };
                let result = request.run()?;
                (overhead, cpu) = (result.overhead, result.cpu);
                slice.is_slice = !matches!(result.outcome, SliceOutcome::Stopped);
                slice.failures = self.spool.traced_failures(&slice.target, &result.traces)?;
                match &result.outcome {
                    SliceOutcome::Ran(summary) => {
                        (slice.troubles, slice.trouble) = (0, None);
                        slice.observe(summary);
                        slice.failures = self.spool.failures(&slice.target, summary)?;
                        self.unless_full(exchange.share(&mut taken, summary, renew()))?;
                    }
                    SliceOutcome::Trouble(why) if self.is_by_full_disk(place, why) => {
                        self.rest(place, why);
                        if !why.contains(FOUND_WITHOUT_REPORT) {
                            return Ok(());
                        }
                        // Nothing of it counts, and it is no pass.
                        let troubles = slice.troubles;
                        slice.fail(why);
                        (slice.troubles, slice.is_slice) = (troubles, false);
                    }
                    SliceOutcome::Trouble(why) => slice.fail(why),
                    SliceOutcome::Stopped => {}
                }
                shared_state = taken.state;
                self.warn(taken.warnings);
            }
        }
        slice.cpu_s = cpu.as_secs_f64();
        (slice.ended_at, slice.ended_at_s) = (self.clock.facts().finished_at, unix_seconds());
        if slice.troubles == TROUBLES_MAX {
            let why = slice.trouble.as_deref().and_then(|why| why.lines().next()).unwrap_or_default();
            let line = format!("set aside until it changes: {}: {why}\n", printable_line(&target.name));
            self.run.project.remarks.text(&line);
        }
        let found_before = {
            // While the store is away, the division goes by what is known here.
            slice.count(&mut record, 0);
            let mut state = self.lock();
            state.slices += u64::from(slice.is_slice);
            state.cpu += cpu;
            state.executions += slice.executions;
            let kept = &mut state.targets[place];
            // Its flags may be others by now.
            kept.target.file.clone_from(&target.file);
            if !is_trial {
                kept.overhead = overhead;
            }
            if !is_built {
                kept.target.build = present;
            }
            kept.trial = present;
            let has_result = slice.is_slice && slice.trouble.is_none();
            if slice.is_slice || slice.trouble.is_some() {
                let is_in_vain = has_result && !record.has_run_of(present);
                kept.more_tries = match is_in_vain {
                    true if kept.tried == present => kept.more_tries.saturating_sub(1),
                    true => FIRST_SLICES - 1,
                    false => 0,
                };
                kept.tried = present;
            }
            kept.rests = if has_result { 0 } else { kept.rests };
            (kept.record, kept.stamp) = (record, stamp);
            (kept.build, kept.untried, kept.shared_state) = (build, untried, shared_state);
            state.discoveries
        };
        self.spool.put(&slice)?;
        if self.spool.is_overflowing() {
            self.say_full();
        }
        // Whatever ends this process from here on, its row has all slices that are counted.
        self.put_worker(false)?;
        self.merge()?;
        if is_trial {
            return Ok(());
        }
        let mut state = self.lock();
        let row = FleetSliceRow {
            target: target.name,
            ended_at_s: slice.ended_at_s,
            took_s: self.clock.elapsed().saturating_sub(began).as_secs_f64(),
            news: state.discoveries.saturating_sub(found_before),
        };
        FleetWorkerRecord::remember(&mut state.recent, row);
        drop(state);
        self.put_worker(false)
    }

    /// Says each thing once.
    fn warn(&self, warnings: Vec<String>) {
        let mut state = self.lock();
        for warning in warnings {
            if !state.warnings.contains(&warning) {
                state.warnings.push(warning);
            }
        }
    }

    /// Builds a target that may have changed; if it has, tries its failures again.
    fn prepare(
        &self,
        records: &FleetRecords<'_>,
        (target, build, untried): (&mut FleetTarget, &mut Option<Digest>, &mut bool),
        record: &TargetRecord,
        slice: &mut SpooledSlice,
    ) -> Result<(), CampaignError> {
        let building = self.building.read().unwrap_or_else(PoisonError::into_inner);
        target.file = target.rebuild(&self.run.project.remarks)?;
        let loaded = load(&target.file, &self.run.project.remarks)?;
        // Those of the plan's other machines are built, too.
        let today = TargetOfToday::read(target, self.run.project, loaded)?;
        drop(building);
        let program = build_of(&today.loaded, &target.flags, today.planned.as_ref());
        let has_changed = record.program != Some(program);
        // Until its failures were tried, it is not the build that the records are of. While the store is away, it is not known whether it has some.
        let has_failures = has_changed || record.estimate.failures > 0;
        let is_verified = !has_failures
            || self.unless_away(self.verify(records, target, &today, (program, has_changed), &mut slice.met_before))?
                == Some(true);
        (*build, *untried) = (Some(program), !is_verified);
        if has_changed {
            slice.troubles = 0;
            if is_verified {
                (slice.program, slice.replaces) = (Some(program), record.program);
            }
        }
        Ok(())
    }

    /// Tries those failures of a target on its present build that were neither tried nor met on that; whether all were. One that could not be
    /// tried is not tried again until the build is another one. What another worker that holds the records, and the end of the time, leave over
    /// is tried before the next slice. Other builds on which they were met are added to `met_before`.
    fn verify(
        &self,
        records: &FleetRecords<'_>,
        target: &FleetTarget,
        today: &TargetOfToday,
        (program, has_changed): (Digest, bool),
        met_before: &mut BTreeSet<Digest>,
    ) -> Result<bool, CampaignError> {
        let mut words = Vec::new();
        let mut is_whole = true;
        for (_, _, failure) in records.failures(&target.id).map_err(store_error)? {
            let is_known = match &failure.untried {
                Some(_) => !has_changed,
                None => failure.program == Some(program),
            };
            if is_known {
                continue;
            }
            if self.is_over() || self.time_left() == Some(Duration::ZERO) {
                is_whole = false;
                break;
            }
            let tried = match self.retry(today, &failure) {
                Err(error) if error.kind == ErrorKind::Store => return Err(error),
                Err(error) if error.kind == ErrorKind::Interrupted => {
                    is_whole = false;
                    break;
                }
                tried => tried.map_err(|error| error.to_string()),
            };
            let signature = failure.signature.to_string();
            words.push(match &tried {
                Ok(status) => format!("  {}: {}\n", status.word(), printable_line(&signature)),
                Err(why) => format!("  cannot be tried: {}: {why}\n", printable_line(&signature)),
            });
            if tried != Ok(RegressionStatus::StillThere) {
                self.spool.forget_failure(&target.id, &failure.signature);
            }
            // Another worker may have found it again meanwhile.
            let _lease = match self.spool.lock_records(&self.store, &target.id)? {
                RecordsLock::Taken(lease) => lease,
                RecordsLock::Held(holder) => {
                    let held = holder.map(|holder| HeldRecords { target: target.name.clone(), holder });
                    held.iter().for_each(|records| self.say_held(records));
                    return Ok(false);
                }
            };
            let known = records.failures(&target.id).map_err(store_error)?;
            let known = known.into_iter().find(|(.., known)| known.signature == failure.signature);
            let Some((state, _, mut failure)) = known else { continue };
            let state = match (tried, state) {
                // Nothing says that it is mended.
                (Err(why), state) => {
                    failure.untried = Some(why.chars().take(UNTRIED_CHARS_MAX).collect());
                    state
                }
                (Ok(status), state) => {
                    let is_met_on = |build: &Digest| *build != program && failure.stands(state);
                    met_before.extend(failure.program.filter(is_met_on));
                    status.word().clone_into(&mut failure.status);
                    (failure.program, failure.untried) = (Some(program), None);
                    failure.tried_at_s = Some(unix_seconds());
                    failure.state_after(status, state)
                }
            };
            records.put_failure(&target.id, state, &failure).map_err(store_error)?;
        }
        if !words.is_empty() {
            let why =
                if has_changed { "has changed; its failures" } else { "has failures that were met on other code" };
            let line = format!("{} {why}:\n{}", printable_line(&target.name), words.concat());
            self.run.project.remarks.text(&line);
        }
        Ok(is_whole)
    }

    fn retry(&self, today: &TargetOfToday, failure: &FleetFailureRecord) -> Result<RegressionStatus, CampaignError> {
        let bytes = self.store.get_blobs(&[failure.trace]).map_err(store_error)?.pop().flatten();
        let missing = || CampaignError::new(ErrorKind::Trace, "its trace is not in the store, or is damaged there");
        let recording = Recording::read(&bytes.ok_or_else(missing)?)
            .map_err(|error| CampaignError::new(ErrorKind::Trace, error.to_string()))?;
        // It may take all its instructions, as the run of a hang does, and others are to have their turn.
        let time = self.time_left().map(|left| nanoseconds(left / TRIAL_SHARE));
        let (clock, interrupt) = (SearchClock::start(time, self.slice_stop()), Interrupt::default());
        clock.bound(&interrupt);
        today.retry(&recording, &interrupt)
    }

    /// Seeds stay below 2^53, so that all readers of JSON have them exactly.
    fn slice_seed(&self, target: &FleetTarget, record: &TargetRecord) -> Seed {
        let text = format!("fozzy fleet 1\n{}\n{}\n{}", self.run.seed, target.id, record.estimate.slices);
        let digest = Digest::of(text.as_bytes()).0;
        let bytes = <[u8; 8]>::try_from(&digest[..8]).unwrap_or_default();
        Seed(u64::from_le_bytes(bytes) >> 11)
    }

    /// The saved state of an exploration, beside corpora and other things of the project.
    fn state_file(&self, target: &FleetTarget) -> Result<PathBuf, CampaignError> {
        let path = target.state_path(&self.run.project.config.base_dir);
        let folder = path.parent().unwrap_or(&path);
        std::fs::create_dir_all(folder)
            .map_err(|error| crate::error::at_path(ErrorKind::Store, "cannot make", folder, &error))?;
        Ok(path)
    }

    /// When a slice is to end before its time.
    fn slice_stop(&self) -> StopFlag {
        let (stop, is_over) = (StopFlag::clone(&self.run.stop), Arc::clone(&self.is_over));
        Arc::new(move || stop() || is_over.load(Ordering::SeqCst))
    }
}

fn nanoseconds(time: Duration) -> fozzy_trace::Duration {
    fozzy_trace::Duration(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// The line of a reason that says that a disk has no room: its first one, or an error of the process. Others may be anybody's.
fn full_disk_line(why: &str) -> Option<&str> {
    let is_ours = |(number, line): &(usize, &str)| *number == 0 || line.starts_with("error: ");
    why.lines().enumerate().filter(is_ours).map(|(_, line)| line).find(|line| says_full_disk(line))
}

/// What this process is called in the store.
fn worker_name(started_at: &str) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host: String = host.trim().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    let digits: String = started_at.chars().filter(char::is_ascii_digit).take(17).collect();
    format!("{}-{}-{digits}", host.to_ascii_lowercase(), std::process::id())
}

/// A worker in brackets, with since when it works, as far as that is known.
fn named_worker(name: &str, workers: &[FleetWorkerRow]) -> String {
    let known = workers.iter().find(|worker| worker.name == name);
    let since = known.map(|it| format!(", since {}, last heard of at {}", it.started_at, it.seen_at));
    match name {
        "" => String::new(),
        name => format!(" ({}{})", printable_line(name), since.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::discovery::FleetTargetKind;
    use super::super::records::FailureState;
    use super::super::shared_store::DirectoryStore;
    use super::*;
    use crate::config::Config;
    use crate::options::{BackendOptions, RunRequest};
    use crate::pipeline::PreparedProgram;
    use crate::remarks::Remarks;
    use fozzy_report::RunMode;
    use fozzy_report::fleet::UNTRIED;
    use fozzy_trace::source::SeededSource;
    use fozzy_trace::{Executor, FindingKind};
    use std::process::Command;

    fn target(chance_in_minute: Option<f64>, is_gone: bool) -> TargetState {
        let tried = chance_in_minute.map(|_| Digest::of(b"a build"));
        let record = TargetRecord { chance_in_minute, ..TargetRecord::default() };
        TargetState { record, tried, is_gone, ..TargetState::new(&FleetTarget::app(FleetTargetKind::Explore)) }
    }

    fn project(folder: &Path, remarks: Remarks) -> Project {
        let mut config = Config::default();
        config.base_dir = folder.to_owned();
        Project { config, backends: BackendOptions::default(), keep_passing: false, remarks }
    }

    fn run<'a>(
        project: &'a Project,
        store: &'a dyn SharedStore,
        collector: &'a FleetCollector,
        time: Option<Duration>,
    ) -> FleetRun<'a> {
        FleetRun {
            project,
            store,
            collector,
            named: None,
            jobs: 1,
            time,
            until: None,
            seed: Seed(1),
            globals: Vec::new(),
            stop: Arc::new(|| false),
            version: "0",
        }
    }

    /// One whose slices are runs of `program`.
    fn dispatcher<'a>(run: &'a FleetRun<'a>, worker: &str, program: &Path) -> Dispatcher<'a> {
        let targets = run.collector.current().get().targets.iter().map(TargetState::new).collect();
        Dispatcher {
            run,
            store: WatchedStore::new(run.store),
            spool: Spool::open(&run.project.config.base_dir, run.store, worker).expect("a spool"),
            is_told: AtomicBool::new(false),
            is_disk_full: AtomicBool::new(false),
            program: program.to_owned(),
            clock: Stopwatch::start(),
            worker: worker.to_owned(),
            row: Mutex::default(),
            state: Mutex::new(FleetState::new(targets, Seed(1))),
            collected_at_ms: AtomicU64::new(0),
            building: RwLock::new(()),
            is_over: Arc::default(),
        }
    }

    const FAILS: &str = r#"(module (memory (export "memory") 1) (func (export "_start") unreachable))"#;
    const PASSES: &str = r#"(module (memory (export "memory") 1) (func (export "_start")))"#;

    /// The target of a program, as it is looked for, and the trace of its run.
    fn searched(project: &Project, program: &str) -> (FleetTarget, Vec<u8>) {
        let file = project.config.base_dir.join("app.wat");
        std::fs::write(&file, program).expect("written");
        let loaded = load(&file, &project.remarks).expect("a program");
        let target = FleetTarget { source: file.clone(), file, ..FleetTarget::app(FleetTargetKind::Explore) };
        let planned = target.plan_of_today(project, &loaded).expect("a plan");
        let build = Some(build_of(&loaded, &target.flags, planned.as_ref()));
        let prepared = PreparedProgram::new(project, loaded, &RunRequest::default()).expect("it compiles");
        let source = Box::new(SeededSource::new(Seed(0)));
        let execution = prepared.session().expect("a session").execute(source, 0..0).expect("it runs");
        let trace = prepared.record(&execution, Seed(0), RunMode::Explore).to_bytes().expect("a trace");
        (FleetTarget { build, ..target }, trace)
    }

    /// Keeps a trap that was met on this build of `app.wasm`.
    fn keep_failure(records: &FleetRecords<'_>, site: &str, trace: Digest, program: Option<Digest>) {
        let signature = FailureSignature { kind: FindingKind::Trap, site: site.to_owned() };
        let failure = FleetFailureRecord { signature, program, ..FleetFailureRecord::app(site, trace) };
        records.put_failure("app-1", FailureState::Shrunk, &failure).expect("kept");
    }

    /// One turn of the only target; whether there was one.
    fn has_turn(fleet: &Dispatcher<'_>) -> bool {
        let Some((place, lease)) = fleet.take().expect("it answers") else { return false };
        fleet.slice(place, &Mutex::new(lease)).expect("it goes on");
        fleet.lock().leave(place);
        true
    }

    fn set_aside(target: TargetState) -> TargetState {
        TargetState { record: TargetRecord { troubles: TROUBLES_MAX, ..target.record }, ..target }
    }

    #[test]
    fn a_target_none_of_whose_runs_was_at_its_end_gets_the_longest_slice() {
        let mut target = target(None, false);
        assert_eq!((target.is_unjudged(), target.wanted_time()), (false, FIRST_SLICE));
        target.record.estimate.slices = 1;
        assert_eq!((target.is_unjudged(), target.wanted_time()), (true, SLICE_MAX));
        target.record.executions = 1;
        assert_eq!((target.is_unjudged(), target.wanted_time()), (false, SLICE_MIN));
    }

    #[test]
    fn full_disks_are_said_once_and_on_pages_and_nobody_is_set_aside_for_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(&folder.path().join("store"), "shop").expect("a store");
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&heard);
        let remarks = Remarks::to(move |bytes| hears.lock().expect("no panic").extend_from_slice(bytes));
        let lines = |words: &str| {
            let text = String::from_utf8(heard.lock().expect("no panic").clone()).expect("text");
            text.lines().filter(|line| line.contains(words)).count()
        };
        let project = project(folder.path(), remarks);
        let targets = vec![FleetTarget::app(FleetTargetKind::Explore)];
        let collector = FleetCollector::of(FleetCollection { targets, ..FleetCollection::default() });
        let run = run(&project, &store, &collector, None);
        let fleet = dispatcher(&run, "one", Path::new(""));
        let notes = || collector.current().get().notes.len();
        let full = |is_full| [&store, fleet.spool.disk()].iter().for_each(|disk| disk.set_full(is_full));
        full(true);
        fleet.put_worker(false).expect("it goes on");
        let (target, name) = ("app-1".to_owned(), "app.wasm".to_owned());
        let slice = SpooledSlice { target, name, executions: 7, is_slice: true, ..SpooledSlice::default() };
        fleet.spool.put(&slice).expect("it waits");
        fleet.merge().expect("it goes on");
        let why = "cannot write a: No space left on device";
        let behind = format!("its process has ended\n{why}");
        assert!(fleet.lacks_room(why) && fleet.lacks_room(&behind) && !fleet.lacks_room("a trap"));
        assert!(fleet.is_by_full_disk(0, "its process ended without a report (signal: 7)") && fleet.unkept().is_some());
        (0..2).for_each(|_| fleet.rest(0, why));
        fleet.try_disk().expect("it is full");
        fleet.come_back().expect("it is full");
        assert_eq!((notes(), lines("going on alone"), lines("waits in memory")), (2, 1, 1));
        {
            let state = fleet.lock();
            assert!(state.targets[0].away_until >= NO_ROOM && state.targets[0].record.troubles == 0);
        }
        full(false);
        assert!(!fleet.lacks_room(&behind), "what a process has said is not believed of a disk with room");
        // Another disk is named as it was told, once, and is the trouble of who never has room there.
        assert!(fleet.is_by_full_disk(0, why) && !fleet.is_by_full_disk(0, "a trap"));
        let told = "error: cannot write to standard output: No space left on device (os error 28)";
        let ended = format!("its process ended without a report (exit status: 2)\nfound trap\n{told}\nmore of this: a");
        assert!(fleet.is_by_full_disk(0, &ended) && full_disk_line(&ended) == Some(told));
        assert!(!fleet.is_by_full_disk(0, "its process ended without a report\na program: No space left on device"));
        fleet.lock().targets[0].rests = 0;
        (0..TROUBLES_MAX).for_each(|_| fleet.rest(0, why));
        assert_eq!((lines("app.wasm: cannot write a: No space"), lines("waits in memory")), (1, 1));
        assert!(!fleet.is_by_full_disk(0, why));
        {
            let state = fleet.lock();
            assert_eq!((state.lacked_room.as_deref(), state.warnings.len()), (Some(why), 1));
        }
        fleet.try_disk().expect("there is room");
        fleet.come_back().expect("it answers");
        assert_eq!((notes(), lines("has room again"), fleet.spool.len().expect("listed")), (0, 1, 0));
        assert_eq!(fleet.unkept(), None);
        assert_eq!(FleetRecords { store: &store }.target("app-1").expect("read").0.executions, 7);
    }

    #[test]
    fn a_folder_whose_disk_is_full_is_read_at_the_end_and_what_stands_there_is_no_pass() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(&folder.path().join("store"), "shop").expect("a store");
        let signature = FailureSignature { kind: FindingKind::Panic, site: "src/lib.rs:7".to_owned() };
        let failure = serde_json::json!({
            "target": "app.wasm", "signature": signature, "trace": Digest::of(b"a trace"), "status": "still there",
            "times": 1, "foundAt": "2026"
        });
        let key = StoreKey::new(&["failures", "shrunk", "app-1", "3f2a"]);
        store.put(&key, failure.to_string().as_bytes()).expect("kept");
        store.set_full(true);
        let project = project(folder.path(), Remarks::none());
        let targets = vec![FleetTarget::app(FleetTargetKind::Explore)];
        let collector = FleetCollector::of(FleetCollection { targets, ..FleetCollection::default() });
        // There is no time for a slice.
        let document = run(&project, &store, &collector, Some(Duration::ZERO)).run().expect("it goes on without it");
        assert_eq!((document.status, document.failures.len()), (Status::Fail, 1));
        let says = |words: &str| document.warnings.iter().any(|warning| warning.contains(words));
        assert!(says("takes nothing at the moment"), "{:?}", document.warnings);
    }

    #[test]
    fn a_reason_is_of_before_where_the_files_have_changed_since() {
        let mut target = target(None, false);
        assert_eq!(target.trouble_of_before("torn"), None, "it had no slice");
        target.stamp = Some(target.target.source_stamp());
        assert_eq!(target.trouble_of_before("torn"), None);
        target.stamp = Some(Digest::of(b"other sources"));
        assert!(
            target
                .trouble_of_before("torn")
                .is_some_and(|why| why.starts_with("it has changed since") && why.ends_with(": torn"))
        );
    }

    #[test]
    fn a_fleet_ends_at_its_risk_whatever_was_known_of_targets_that_are_gone() {
        let is_settled = |targets: Vec<TargetState>| {
            FleetState::new(targets, Seed(1)).is_settled(RiskBound::parse("5%").expect("a share"))
        };
        assert!(is_settled(vec![target(Some(0.04), false)]));
        assert!(!is_settled(vec![target(Some(0.04), false), target(Some(0.06), false)]));
        assert!(!is_settled(vec![target(Some(0.04), false), target(None, false)]), "it had no slice");
        assert!(is_settled(vec![target(Some(0.04), false), target(Some(0.06), true), target(None, true)]));
        assert!(!is_settled(vec![target(Some(0.04), true)]));
        let aside = || set_aside(target(Some(0.04), false));
        assert!(is_settled(vec![target(Some(0.04), false), set_aside(target(Some(0.06), false))]));
        assert!(!is_settled(vec![aside()]), "nothing is worked on, so that nothing says how it stands");
        assert!(!is_settled(vec![aside(), target(Some(0.04), true)]));
    }

    #[test]
    fn a_fleet_that_is_to_end_at_a_risk_waits_a_while_for_what_is_set_aside_and_no_longer() {
        let at = Duration::from_secs;
        let mut state = FleetState::new(vec![set_aside(target(None, false)), target(None, true)], Seed(1));
        assert!(!state.is_stuck(at(1), at(1)) && !state.is_stuck(at(10), at(10)));
        // One has changed meanwhile, and is set aside again.
        state.targets[0].record.troubles = 0;
        assert!(!state.is_stuck(at(30), at(30)));
        state.targets[0].record.troubles = TROUBLES_MAX;
        assert!(!state.is_stuck(at(31), at(31)) && !state.is_stuck(at(40), at(40)));
        // What was added since the last look, or is being built by this one, has not joined yet.
        assert!(!state.is_stuck(at(90), at(30)) && state.is_stuck(at(90), at(31)));
    }

    #[test]
    fn a_fleet_that_is_to_end_at_a_risk_soon_knows_whether_a_target_has_results() {
        let searched = |troubles, total_cpu_s| {
            let estimate = DiscoveryEstimate { slices: 1, total_cpu_s, ..DiscoveryEstimate::default() };
            let record = TargetRecord { troubles, estimate, ..TargetRecord::default() };
            TargetState { record, ..target(None, false) }
        };
        // The first one has had less than its floor, so that it would be its turn.
        let mut state = FleetState::new(vec![searched(0, 0.001), searched(1, 1000.0)], Seed(1));
        assert_eq!([state.choose(&[0, 1], true), state.choose(&[0, 1], false)], [Some(1), Some(0)]);
        assert_eq!([state.choose(&[1, 0], true), state.choose(&[0], true)], [Some(0), Some(0)]);
        state.targets[1].record.troubles = 0;
        assert_eq!(state.choose(&[0, 1], true), Some(0), "it has had a result");
    }

    #[test]
    fn a_failure_whose_trace_is_lost_is_no_pass_until_a_slice_has_kept_it() {
        let signature = FailureSignature { kind: FindingKind::Panic, site: "src/lib.rs:7".to_owned() };
        let mut state = FleetState::new(vec![target(None, false)], Seed(1));
        let document = FleetDocument::new("a store".to_owned(), 1, Vec::new());
        assert!(!state.has_lost(&document));
        state.lost.insert(("app.wasm".to_owned(), signature.clone()));
        assert!(state.has_lost(&document));
        let kept = BroughtFailure {
            target: "app.wasm".to_owned(),
            signature,
            trace: Digest::of(b"a trace"),
            found_at: "2026".to_owned(),
            times: 1,
        };
        assert!(!state.has_lost(&FleetView::with_lost(document.clone(), &[kept])));
        state.targets[0].is_gone = true;
        assert!(!state.has_lost(&document), "its files are gone");
    }

    #[test]
    fn a_target_whose_present_build_has_no_run_is_no_pass_and_says_why() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(folder.path(), "shop").expect("a store");
        let (present, before) = (Some(Digest::of(b"the present build")), Digest::of(b"the build before"));
        let [searched, tried] = ["app-1", "app-2"].map(|id| FleetTarget {
            id: id.to_owned(),
            name: id.to_owned(),
            build: present,
            ..FleetTarget::app(FleetTargetKind::Explore)
        });
        let mut state = FleetState::new([&searched, &tried].map(TargetState::new).into(), Seed(1));
        let collection = FleetCollection { targets: vec![searched, tried], ..FleetCollection::default() };
        let view = FleetView { store: &store, collection: &collection, named: None };
        state.targets[0].record.note_run_of(present.expect("a build"), 1.0);
        (state.targets[1].record.executions, state.targets[1].record.estimate.slices) = (1010, 2);
        state.targets[1].record.note_run_of(before, 1.0);
        let holder = BTreeMap::from([("app-2".to_owned(), "host-7-2026".to_owned())]);
        let judged = |state: &FleetState, interrupted, holders: &BTreeMap<String, String>| {
            let records = state.targets.iter().map(|target| &target.record);
            let mut document = view.alone(records, Vec::new(), &[]);
            document.interrupted = interrupted;
            document.workers = vec![FleetWorkerRow {
                name: "host-7-2026".to_owned(),
                version: String::new(),
                pid: 7,
                started_at: "2026-01".to_owned(),
                seen_at: "2026-02".to_owned(),
                slices: 0,
                cpu_s: 0.0,
                has_ended: false,
                is_at_work: true,
                recent: Vec::new(),
            }];
            state.say_unsearched(&mut document, holders);
            assert_eq!((document.targets[0].unsearched.as_ref(), document.status), (None, Status::Error));
            document.targets.remove(1).unsearched.expect("a reason")
        };
        let none = BTreeMap::new();
        let says = |state: &FleetState, interrupted, holders, words: &str| {
            let why = judged(state, interrupted, holders);
            assert!(why.starts_with("no run of its present build: ") && why.ends_with(words), "{why}");
        };
        says(&state, false, &none, "the time was over before its turn: a longer --time");
        says(&state, true, &none, "the fleet was stopped before that");
        let held = "another fleet works on it (host-7-2026, since 2026-01, last heard of at 2026-02): wait for that, or end it";
        says(&state, false, &holder, held);
        state.targets[1].rests = 2;
        state.lacked_room = Some("the disk of x is full".to_owned());
        says(&state, false, &none, "no slice of it was finished: the disk of x is full");
        (state.targets[1].rests, state.targets[1].tried) = (0, present);
        says(&state, false, &none, "no slice of it came to a verdict: a longer --time; its own command says why");
        state.targets[1].record.trouble = Some("its process ended without a report".to_owned());
        says(&state, false, &none, "no slice of it had a result");
        // A slice whose result waits has made one.
        let unknown = TargetRecord::default();
        let mut document = view.alone([&unknown; 2].into_iter(), Vec::new(), &[]);
        assert_eq!(document.status, Status::Error);
        state.targets[1].record.note_run_of(present.expect("a build"), 2.0);
        state.say_unsearched(&mut document, &none);
        assert_eq!((document.status, document.lacks_runs_only), (Status::Pass, false));
    }

    #[test]
    fn a_build_without_a_run_goes_first_once_and_by_a_short_slice() {
        let build = |name: &str| Some(Digest::of(name.as_bytes()));
        let searched = |id: &str| {
            let target =
                FleetTarget { id: id.to_owned(), build: build("old"), ..FleetTarget::app(FleetTargetKind::Explore) };
            let mut state = TargetState::new(&target);
            (state.record.executions, state.record.estimate.slices) = (9, 1);
            state.record.estimate.total_cpu_s = 1000.0;
            state.record.note_run_of(build("old").expect("a build"), 1.0);
            state
        };
        let mut state = FleetState::new(["a", "b", "c"].map(searched).into(), Seed(1));
        // By what they have had, it is the turn of the first one.
        state.targets[0].record.estimate.total_cpu_s = 0.001;
        assert_eq!((state.choose(&[0, 1, 2], false), state.has_due(Duration::ZERO)), (Some(0), false));
        let look = |build| FleetTarget { build, ..FleetTarget::app(FleetTargetKind::Explore) };
        state.targets[2].take_look(&look(build("new")));
        assert_eq!([state.choose(&[0, 1, 2], false), state.choose(&[0, 2], true)], [Some(2), Some(1)]);
        assert!(state.has_due(Duration::ZERO) && state.targets[2].wanted_time() == FIRST_SLICE);
        assert_eq!(state.first_slices(2).0, 1);
        state.targets[1].take_look(&look(build("newer")));
        assert_eq!(state.first_slices(2).0, 2);
        // Those of which no run was at its end have long slices, after the others.
        state.targets[1].record.executions = 0;
        assert_eq!(state.choose(&[0, 1, 2], false), Some(2));
        state.targets[1].is_held = true;
        assert_eq!(state.first_slices(2).0, 1, "another fleet works on it");
        // A slice without a result is one, too.
        (state.targets[1].tried, state.targets[2].tried) = (build("newer"), build("new"));
        assert_eq!((state.choose(&[0, 1, 2], false), state.has_due(Duration::ZERO)), (Some(0), false));
        // One that was too short for a verdict is made again.
        state.targets[2].more_tries = 1;
        assert_eq!((state.choose(&[0, 1, 2], false), state.has_due(Duration::ZERO)), (Some(2), true));
        state.targets[2].more_tries = 0;
        // A slice may have built it since, and a look that has found nothing else does not know of that.
        state.targets[2].target.build = build("newest");
        state.targets[2].take_look(&look(build("new")));
        assert_eq!(state.targets[2].target.build, build("newest"));
        state.targets[2].record.note_run_of(build("newest").expect("a build"), 2.0);
        assert!(!state.targets[2].is_due());
        let until = RiskBound::parse("5%").expect("a share");
        for target in &mut state.targets {
            (target.tried, target.record.chance_in_minute) = (target.target.build, Some(0.01));
        }
        assert!(state.is_settled(until));
        state.targets[0].take_look(&look(build("new")));
        assert!(!state.is_settled(until), "it has changed since");
    }

    #[test]
    fn failures_that_stand_are_tried_on_a_new_build_before_all_else_and_once() {
        let build = |name: &str| Some(Digest::of(name.as_bytes()));
        let target = |id: &str, failures| {
            let app = FleetTarget::app(FleetTargetKind::Explore);
            let mut state = TargetState::new(&FleetTarget { id: id.to_owned(), build: build("old"), ..app });
            (state.record.executions, state.record.program) = (9, build("old"));
            (state.record.estimate.slices, state.record.estimate.failures) = (1, failures);
            state.record.note_run_of(build("old").expect("a build"), 1.0);
            state
        };
        let mut state = FleetState::new(vec![target("a", 0), target("b", 0), target("c", 1)], Seed(1));
        assert!(!state.targets[2].has_untried(), "they were tried on that build");
        let look = |build| FleetTarget { build, ..FleetTarget::app(FleetTargetKind::Explore) };
        state.targets.iter_mut().for_each(|target| target.take_look(&look(build("new"))));
        let untried: Vec<bool> = state.targets.iter().map(TargetState::has_untried).collect();
        assert_eq!((untried, state.choose(&[0, 1, 2], true)), (vec![false, false, true], Some(2)));
        state.targets.iter_mut().for_each(|target| target.tried = build("new"));
        assert!(state.has_due(Duration::ZERO) && state.targets[2].goes_first() && !state.targets[2].is_due());
        // Whether they could be tried or not.
        state.targets[2].trial = build("new");
        assert!(!state.has_due(Duration::ZERO));
        state.targets[2].take_look(&look(build("newer")));
        assert!(state.targets[2].has_untried());
        // Another fleet has tried them on it.
        state.targets[2].record.program = build("newer");
        assert!(!state.targets[2].has_untried());
    }

    #[test]
    fn a_failure_is_tried_on_new_code_without_a_slice_and_one_that_could_not_be_is_no_word_of_today() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(&folder.path().join("store"), "shop").expect("a store");
        let (project, records) = (project(folder.path(), Remarks::none()), FleetRecords { store: &store });
        let (before, trace) = searched(&project, FAILS);
        keep_failure(&records, "unreachable", store.put_blob(&trace).expect("kept"), before.build);
        keep_failure(&records, "whose trace is gone", Digest::of(b"gone"), before.build);
        let mut record = TargetRecord { program: before.build, executions: 9, ..TargetRecord::default() };
        (record.estimate.slices, record.estimate.failures) = (1, 2);
        record.note_run_of(before.build.expect("a build"), 1.0);
        records.put_target("app-1", &record).expect("kept");
        let (target, _) = searched(&project, PASSES);
        let present = target.build;
        assert_ne!(present, before.build);
        let collection = FleetCollection { targets: vec![target], ..FleetCollection::default() };
        let collector = FleetCollector::of(collection.clone());
        let seen = || {
            let view = FleetView { store: &store, collection: &collection, named: None };
            let document = view.document().expect("it answers");
            let rows = document.failures.iter();
            let rows: Vec<_> = rows.map(|row| (row.status.clone(), row.last_status.clone())).collect();
            (document.status, rows)
        };
        let untried = || (UNTRIED.to_owned(), Some("still there".to_owned()));
        // Of a slice there would be an error: no program has that name.
        for (worker, time) in [("one", Some(Duration::ZERO)), ("two", None)] {
            let run = run(&project, &store, &collector, time);
            let fleet = dispatcher(&run, worker, Path::new("no such program"));
            fleet.remember_targets().expect("it answers");
            assert!(fleet.lock().targets[0].has_untried());
            assert!(has_turn(&fleet));
            let state = fleet.lock();
            let known = &state.targets[0];
            assert!(!known.has_untried() && known.is_due() && (state.slices, state.recent.len()) == (0, 0));
            match time {
                // There was none for that.
                Some(_) => {
                    assert_eq!((known.record.program, known.untried), (before.build, true));
                    assert!(known.record.has_run_of(before.build));
                    assert_eq!(seen(), (Status::Fail, vec![untried(), untried()]));
                }
                None => {
                    assert_eq!((known.record.program, known.untried), (present, false));
                    // Whoever has that code again is not told that it passes.
                    assert!(!known.record.has_run_of(before.build));
                    assert_eq!(seen(), (Status::Fail, vec![untried(), ("fixed".to_owned(), None)]));
                }
            }
        }
    }

    #[test]
    fn code_that_never_ends_does_not_take_all_of_the_time_when_a_failure_is_tried_on_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(&folder.path().join("store"), "shop").expect("a store");
        let (project, records) = (project(folder.path(), Remarks::none()), FleetRecords { store: &store });
        let (before, trace) = searched(&project, FAILS);
        keep_failure(&records, "unreachable", store.put_blob(&trace).expect("kept"), before.build);
        let mut record = TargetRecord { program: before.build, executions: 9, ..TargetRecord::default() };
        (record.estimate.slices, record.estimate.failures) = (1, 1);
        records.put_target("app-1", &record).expect("kept");
        let (target, _) = searched(&project, PASSES);
        std::fs::write(&target.file, "(module (func (export \"_start\") (loop $again (br $again))))").expect("written");
        let collector = FleetCollector::of(FleetCollection { targets: vec![target], ..FleetCollection::default() });
        let run = run(&project, &store, &collector, Some(Duration::from_secs(2)));
        let fleet = dispatcher(&run, "one", Path::new("no such program"));
        fleet.remember_targets().expect("it answers");
        assert!(has_turn(&fleet) && fleet.lock().targets[0].untried);
        let known = records.failures("app-1").expect("they can be read");
        assert!(known.iter().all(|(.., known)| known.status == "still there" && known.program == before.build));
    }

    #[test]
    fn what_cannot_be_built_is_not_searched_as_it_was_before_also_while_the_store_is_away() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(&folder.path().join("store"), "shop").expect("a store");
        let project = project(folder.path(), Remarks::none());
        let (target, _) = searched(&project, PASSES);
        let (file, build) = (target.file.clone(), target.build);
        let collector = FleetCollector::of(FleetCollection { targets: vec![target], ..FleetCollection::default() });
        let run = run(&project, &store, &collector, None);
        // Of a slice there would be an error: no program has that name.
        let fleet = dispatcher(&run, "one", Path::new("no such program"));
        fleet.lock().targets[0].build = build;
        std::fs::write(&file, "(module (func").expect("written");
        for (troubles, is_away) in [(1, false), (2, true)] {
            store.set_full(is_away);
            fleet.put_worker(false).expect("it goes on");
            assert!(fleet.store.is_away() == is_away && has_turn(&fleet));
            assert_eq!(fleet.lock().targets[0].record.troubles, troubles);
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_trace_that_a_slice_without_a_report_has_named_is_its_failure() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(&folder.path().join("store"), "shop").expect("a store");
        let project = project(folder.path(), Remarks::none());
        let (target, trace) = searched(&project, FAILS);
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("found.fozzy"), &trace).expect("written");
        std::fs::write(path("torn.fozzy"), &trace[..trace.len() / 2]).expect("written");
        let said: String = ["torn", "gone", "found", "found"]
            .map(|name| format!("found {name}\n  run 1, {}\n", path(&format!("{name}.fozzy"))))
            .concat();
        std::fs::write(path("said"), said).expect("written");
        // Not written by this process: a fork of another test would have it open.
        let script =
            format!("printf '#!/bin/sh\ncat {} >&2\nexit 2\n' > {1}; chmod +x {1}", path("said"), path("slice"));
        assert!(Command::new("sh").args(["-c", &script]).status().expect("a shell").success());
        let collection = FleetCollection { targets: vec![target], ..FleetCollection::default() };
        let collector = FleetCollector::of(collection.clone());
        let run = run(&project, &store, &collector, None);
        let fleet = dispatcher(&run, "one", &folder.path().join("slice"));
        assert!(has_turn(&fleet));
        let document = fleet.view(&collection).document().expect("it answers");
        assert_eq!((document.status, document.failures.len()), (Status::Fail, 1));
        assert_eq!((&*document.failures[0].status, document.failures[0].trace_missing), ("still there", false));
        let why = document.targets[0].trouble.as_deref().expect("it had no report");
        assert!(why.starts_with(FOUND_WITHOUT_REPORT), "{why}");
    }

    #[test]
    fn a_fleet_that_has_nothing_to_do_says_why_each_time_that_it_comes_to_it() {
        let mut state = FleetState::new(vec![target(None, false), target(None, false)], Seed(1));
        assert_eq!(state.idle_reason(), None, "others work on these");
        state.targets[0] = set_aside(target(None, false));
        // The files of the other one are gone between two slices.
        state.targets[1].is_gone = true;
        let all_aside = "all targets are set aside: waiting until one changes; Ctrl-C ends the fleet\n";
        assert_eq!([state.idle_reason(), state.idle_reason()], [Some(all_aside), None], "once");
        state.leave(0);
        assert_eq!(state.idle_reason(), Some(all_aside), "it was tried again, in vain");
        state.targets[0].is_gone = true;
        assert!(state.idle_reason().is_some_and(|why| why.starts_with("the files of all targets are gone")));
        state.targets[0] = target(None, false);
        assert_eq!(state.idle_reason(), None);
    }
}
