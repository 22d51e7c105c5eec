//! The fleet at work: some jobs, each of which takes the target whose turn it is, works on it for a slice, and keeps what that came to.
//!
//! ```text
//! job   choose (division) ─ lease ─ changed? rebuild, verify failures ─ slice ─ records ─ lease ends ─ choose …
//! ```
//!
//! Invariants: what a slice has found is in the store before its lease ends; a target without a result `TROUBLES_MAX` times in a row is set
//! aside until it changes; when the store takes nothing any more, all jobs end, and that is the fleet's error.

use super::discovery::{FleetCollection, FleetTarget};
use super::division::{DiscoveryEstimate, TimeDivision};
use super::exchange::CorpusExchange;
use super::records::{FailureState, FleetFailureRecord, FleetRecords, FleetWorkerRecord, TargetRecord};
use super::shared_store::{SharedStore, StoreKey, StoreLease, shared_store_error as store_error};
use super::slice::{SliceOutcome, SliceRequest, SliceResult};
use super::view::FleetView;
use crate::error::{CampaignError, ErrorKind};
use crate::explore::regression_status::RegressionStatus;
use crate::explore::retrial::Retrial;
use crate::options::StopFlag;
use crate::pipeline::{LoadedTarget, MachinesOfToday, PlanOfToday, load};
use crate::project::Project;
use crate::wall_clock::{Stopwatch, pause, unix_seconds};
use fozzy_report::RunSummary;
use fozzy_report::fleet::{FleetDocument, FleetMoment, FleetSliceRow};
use fozzy_trace::file::Recording;
use fozzy_trace::{Digest, FailureSignature, Seed, Status, counted};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Real time of the first slice of a target, so that all are soon known.
const FIRST_SLICE: Duration = Duration::from_secs(5);
/// Bounds of the others. They take ten times what their start does.
const SLICE_MIN: Duration = Duration::from_secs(10);
const SLICE_MAX: Duration = Duration::from_secs(60);
/// In a short time, at least.
const SHORTEST_SLICE: Duration = Duration::from_millis(500);
/// With less time left no slice is begun.
const SLICE_TIME_MIN: Duration = Duration::from_millis(300);
/// Slices in a row without a result after which a target is set aside.
const TROUBLES_MAX: u32 = 3;
/// Failures that are kept of one target.
const FAILURES_MAX: usize = 500;
/// Until a target that another fleet works on is asked for again.
const AWAY: Duration = Duration::from_secs(1);
/// Between two looks whether what is set aside has changed.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// Between two looks of a job that has nothing to do, and of who tells how it goes.
const TICK: Duration = Duration::from_millis(100);
/// Between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Stack of a job: kept failures are executed on it.
const STACK_BYTES: usize = fozzy_engine::STACK_BYTES + (8 << 20);
/// Signs of a line of progress.
const LINE_CHARS: usize = 80;

/// A fleet.
pub struct FleetRun<'a> {
    /// The project.
    pub project: &'a Project,
    /// Where everything is kept.
    pub store: &'a dyn SharedStore,
    /// What is searched.
    pub collection: &'a FleetCollection,
    /// Slices at a time.
    pub jobs: u32,
    /// Real time; `None` for no bound.
    pub time: Option<Duration>,
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
    is_busy: bool,
    /// Another fleet works on it until then, at least.
    away_until: Duration,
    /// What its last slice took to begin.
    overhead: Duration,
    /// The state of its exploration that the store has, too.
    shared_state: Option<Digest>,
}

impl TargetState {
    fn is_set_aside(&self) -> bool {
        self.record.troubles >= TROUBLES_MAX
    }
}

/// What all jobs share.
struct FleetState {
    targets: Vec<TargetState>,
    division: TimeDivision,
    failure: Option<CampaignError>,
    warnings: Vec<String>,
    looked_at: Duration,
    slices: u64,
    cpu: Duration,
    executions: u64,
    discoveries: u64,
    failures: usize,
    recent: Vec<FleetSliceRow>,
}

/// The place of a target, and the right to work on it.
type LeasedTarget = (usize, Box<dyn StoreLease>);

/// A fleet that runs.
struct Dispatcher<'a> {
    run: &'a FleetRun<'a>,
    program: PathBuf,
    clock: Stopwatch,
    worker: String,
    state: Mutex<FleetState>,
    is_over: Arc<AtomicBool>,
}

impl FleetRun<'_> {
    /// Works until the time is over or a stop is requested.
    ///
    /// # Errors
    /// When the store does not take what is found.
    pub fn run(&self) -> Result<FleetDocument, CampaignError> {
        let collection = self.collection;
        let view = FleetView { store: self.store, collection };
        if collection.targets.is_empty() {
            return view.document().map_err(store_error);
        }
        let mut warnings = Vec::new();
        let records = FleetRecords { store: self.store };
        let mut targets = Vec::new();
        for target in &collection.targets {
            let (mut record, refused) = records.target(&target.id).map_err(store_error)?;
            warnings.extend(refused);
            // Whoever starts a fleet has mended what was wrong with the machine.
            record.troubles = 0;
            let (target, stamp) = (target.clone(), None);
            let (is_busy, away_until, overhead) = (false, Duration::ZERO, Duration::ZERO);
            let shared_state = None;
            targets.push(TargetState { target, record, stamp, is_busy, away_until, overhead, shared_state });
        }
        let found = targets.len() as u64;
        self.project.remarks.text(&format!("fleet of {}, in {}\n", counted(found, "target"), self.store.place()));
        for refused in &collection.uncollected {
            let why = refused.why.lines().next().unwrap_or_default();
            self.project.remarks.text(&format!("not collected: {}: {why}\n", refused.name));
        }
        let state = FleetState {
            targets,
            division: TimeDivision::new(self.seed),
            failure: None,
            warnings: Vec::new(),
            looked_at: Duration::ZERO,
            slices: 0,
            cpu: Duration::ZERO,
            executions: 0,
            discoveries: 0,
            failures: 0,
            recent: Vec::new(),
        };
        let program = std::env::current_exe().map_err(|error| {
            CampaignError::new(ErrorKind::Harness, format!("cannot find fozzy's own binary: {error}"))
        })?;
        let clock = Stopwatch::start();
        let started_at = clock.facts().started_at;
        let worker = worker_name(&started_at);
        let is_over = Arc::new(AtomicBool::new(false));
        let dispatcher = Dispatcher { run: self, program, clock, worker, state: Mutex::new(state), is_over };
        dispatcher.work(&started_at)?;
        let elapsed = dispatcher.clock.elapsed();
        let mut state = dispatcher.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut document = view.document().map_err(store_error)?;
        warnings.append(&mut state.warnings);
        // What could not be read is said once.
        warnings.retain(|warning| !document.warnings.contains(warning));
        document.warnings.append(&mut warnings);
        document.jobs = self.jobs;
        document.interrupted = (self.stop)();
        document.elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        (document.slices, document.cpu_s) = (state.slices, state.cpu.as_secs_f64());
        if document.slices == 0 && document.status == Status::Pass && !document.interrupted {
            document.status = Status::Error;
            document.warnings.push("no slice was finished: give it more --time".to_owned());
        }
        match state.failure {
            Some(error) => Err(error),
            None => Ok(document),
        }
    }
}

impl Dispatcher<'_> {
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

    /// Runs all jobs to their end, and says how it goes.
    fn work(&self, started_at: &str) -> Result<(), CampaignError> {
        let jobs = (self.run.jobs as usize).min(self.lock().targets.len());
        self.put_worker(started_at, false)?;
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for number in 0..jobs {
                let builder = std::thread::Builder::new().name(format!("job {number}")).stack_size(STACK_BYTES);
                match builder.spawn_scoped(scope, || self.job()) {
                    Ok(thread) => threads.push(thread),
                    Err(error) => {
                        self.is_over.store(true, Ordering::SeqCst);
                        let message = format!("cannot start a thread for --jobs {jobs}: {error}");
                        return Err(CampaignError::new(ErrorKind::Harness, message));
                    }
                }
            }
            let mut told = Duration::ZERO;
            while !threads.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                pause(TICK);
                let now = self.clock.elapsed();
                let is_live = self.run.project.remarks.is_live();
                if now - told >= if is_live { Duration::from_secs(1) } else { LINE_EVERY } {
                    told = now;
                    let line = self.line(now);
                    match is_live {
                        true => self.run.project.remarks.live(&line),
                        false => self.run.project.remarks.text(&format!("{line}\n")),
                    }
                    if let Err(error) = self.put_worker(started_at, false) {
                        self.fail(error);
                    }
                }
            }
            self.run.project.remarks.live("");
            Ok(())
        })?;
        if self.lock().failure.is_none() { self.put_worker(started_at, true) } else { Ok(()) }
    }

    fn put_worker(&self, started_at: &str, has_ended: bool) -> Result<(), CampaignError> {
        let (slices, cpu_s, recent) = {
            let state = self.lock();
            (state.slices, state.cpu.as_secs_f64(), state.recent.clone())
        };
        let (version, pid) = (self.run.version.to_owned(), std::process::id());
        let (started_at, seen_at) = (started_at.to_owned(), self.clock.facts().finished_at);
        let record = FleetWorkerRecord { version, pid, started_at, seen_at, slices, cpu_s, has_ended, recent };
        FleetRecords { store: self.run.store }.put_worker(&self.worker, &record).map_err(store_error)
    }

    /// One line of at most 80 signs.
    fn line(&self, now: Duration) -> String {
        let state = self.lock();
        let seconds = now.as_secs();
        let busy: Vec<&str> =
            state.targets.iter().filter(|target| target.is_busy).map(|target| target.target.name.as_str()).collect();
        let line = format!(
            "{}:{:02}:{:02}  {}  {}  {}  {} new  {}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60,
            counted(state.slices, "slice"),
            counted(state.executions, "run"),
            counted(state.failures as u64, "failure"),
            state.discoveries,
            busy.join(", ")
        );
        line.chars().filter(|c| !c.is_control()).take(LINE_CHARS).collect()
    }

    /// The first error ends all.
    fn fail(&self, error: CampaignError) {
        self.lock().failure.get_or_insert(error);
        self.is_over.store(true, Ordering::SeqCst);
    }

    fn job(&self) {
        while !self.is_over() {
            if self.time_left().is_some_and(|left| left < SLICE_TIME_MIN) {
                return;
            }
            match self.take() {
                Ok(Some((place, lease))) => {
                    let lease = Mutex::new(lease);
                    let worked = self.slice(place, &lease);
                    drop(lease);
                    self.lock().targets[place].is_busy = false;
                    if let Err(error) = worked {
                        self.fail(error);
                    }
                }
                Ok(None) if self.has_nothing_left() => return,
                Ok(None) => pause(TICK),
                Err(error) => self.fail(error),
            }
        }
    }

    /// Whether all targets are set aside, in a fleet whose time is bounded; another one waits until they change.
    fn has_nothing_left(&self) -> bool {
        self.run.time.is_some() && self.lock().targets.iter().all(TargetState::is_set_aside)
    }

    /// The target whose turn it is, and the right to it.
    fn take(&self) -> Result<Option<LeasedTarget>, CampaignError> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let now = self.clock.elapsed();
        if now.saturating_sub(state.looked_at) > LOOK_AGAIN {
            state.looked_at = now;
            for target in state.targets.iter_mut().filter(|target| target.is_set_aside()) {
                if target.stamp != Some(target.target.source_stamp()) {
                    target.record.troubles = 0;
                }
            }
        }
        let is_free = |target: &TargetState| !target.is_busy && !target.is_set_aside() && target.away_until <= now;
        let mut free: Vec<usize> = (0..state.targets.len()).filter(|place| is_free(&state.targets[*place])).collect();
        let all: f64 = state.targets.iter().map(|target| target.record.estimate.total_cpu_s).sum();
        while !free.is_empty() {
            let estimates: Vec<DiscoveryEstimate> =
                free.iter().map(|place| state.targets[*place].record.estimate).collect();
            let Some(chosen) = state.division.next(&estimates, (all, state.targets.len())) else { break };
            let place = free.swap_remove(chosen);
            let target = &mut state.targets[place];
            let key = StoreKey::new(&["targets", &target.target.id]);
            match self.run.store.acquire(&key, &self.worker).map_err(store_error)? {
                Some(lease) => {
                    target.is_busy = true;
                    return Ok(Some((place, lease)));
                }
                None => target.away_until = now + AWAY,
            }
        }
        Ok(None)
    }

    /// How long the next slice of a target is.
    fn slice_time(&self, state: &TargetState, targets: usize) -> Duration {
        let wanted = match state.record.estimate.slices {
            0 => FIRST_SLICE,
            _ => (state.overhead * 10).clamp(SLICE_MIN, SLICE_MAX),
        };
        let (Some(time), Some(left)) = (self.run.time, self.time_left()) else { return wanted };
        // In a short time each target has its turn.
        let fair = time * self.run.jobs / u32::try_from(targets.max(1) * 3).unwrap_or(u32::MAX);
        wanted.min(fair.max(SHORTEST_SLICE)).min(left)
    }

    /// One slice of a target that this job has the right to.
    fn slice(&self, place: usize, lease: &Mutex<Box<dyn StoreLease>>) -> Result<(), CampaignError> {
        let records = FleetRecords { store: self.run.store };
        let (mut target, mut stamp, mut shared_state, time, workers) = {
            let state = self.lock();
            let TargetState { target, stamp, shared_state, .. } = &state.targets[place];
            let targets = state.targets.len();
            let workers = (self.run.jobs / u32::try_from(targets).unwrap_or(u32::MAX)).max(1);
            (target.clone(), *stamp, *shared_state, self.slice_time(&state.targets[place], targets), workers)
        };
        let troubles = self.lock().targets[place].record.troubles;
        // Another fleet may have worked on it since.
        let (record, refused) = records.target(&target.id).map_err(store_error)?;
        let mut record = TargetRecord { troubles, name: target.name.clone(), ..record };
        let now = target.source_stamp();
        let prepared = match stamp == Some(now) {
            true => Ok(()),
            false => self.prepare(&records, &mut target, &mut record),
        };
        stamp = Some(now);
        let state_file = self.state_file(&target)?;
        let (base_dir, exchanged, program) = (&self.run.project.config.base_dir, target.clone(), record.program);
        let exchange =
            CorpusExchange { store: self.run.store, base_dir, target: &exchanged, program, state: &state_file };
        let prepared = prepared.and_then(|()| exchange.take(shared_state));
        let began = self.clock.elapsed();
        let mut news = 0;
        let mut found = Vec::new();
        let mut overhead = Duration::ZERO;
        match prepared {
            Err(error) if error.kind == ErrorKind::Store => return Err(error),
            Err(error) => trouble(&mut record, &error.to_string()),
            Ok(mut taken) => {
                let request = SliceRequest {
                    program: &self.program,
                    globals: &self.run.globals,
                    target: &target,
                    time,
                    seed: self.slice_seed(&target, &record),
                    workers,
                    state: state_file.clone(),
                    stop: self.slice_stop(),
                    // A store that does not answer is no reason to end: what is found is kept by signature, whoever finds it.
                    renew: &|| lease.lock().unwrap_or_else(PoisonError::into_inner).renew().unwrap_or(true),
                };
                let SliceResult { outcome, cpu, overhead: took } = request.run()?;
                overhead = took;
                let is_held = lease.lock().unwrap_or_else(PoisonError::into_inner).renew().unwrap_or(true);
                if let SliceOutcome::Ran(summary) = &outcome {
                    exchange.share(&mut taken, summary, is_held)?;
                }
                shared_state = taken.state;
                self.warn(taken.warnings);
                if !is_held {
                    return self.keep_late(&records, &target, &record, &outcome);
                }
                let executions = match &outcome {
                    SliceOutcome::Ran(summary) => {
                        let before = record.executions;
                        news = observe(&mut record, summary);
                        found = self.keep(&records, &target, &record, summary)?;
                        news += found.len() as u64;
                        record.estimate.observe(news, cpu);
                        record.executions - before
                    }
                    SliceOutcome::Trouble(why) => {
                        trouble(&mut record, why);
                        record.estimate.observe(0, cpu);
                        0
                    }
                    SliceOutcome::Stopped => 0,
                };
                let mut state = self.lock();
                state.slices += u64::from(!matches!(outcome, SliceOutcome::Stopped));
                state.cpu += cpu;
                state.executions += executions;
                state.discoveries += news;
                state.failures += found.len();
            }
        }
        if news > 0 {
            record.news_at = Some(self.clock.facts().finished_at);
        }
        records.put_target(&target.id, &record).map_err(store_error)?;
        self.put_moment(&records, &target, &record)?;
        let slice = FleetSliceRow {
            target: target.name.clone(),
            ended_at_s: unix_seconds(),
            took_s: self.clock.elapsed().saturating_sub(began).as_secs_f64(),
            news,
        };
        FleetWorkerRecord::remember(&mut self.lock().recent, slice);
        if record.troubles == TROUBLES_MAX {
            let why = record.trouble.as_deref().and_then(|why| why.lines().next()).unwrap_or_default();
            self.run.project.remarks.text(&format!("set aside until it changes: {}: {why}\n", target.name));
        }
        let mut state = self.lock();
        state.warnings.extend(refused);
        let kept = &mut state.targets[place];
        (kept.target, kept.record, kept.stamp, kept.overhead) = (target, record, stamp, overhead);
        kept.shared_state = shared_state;
        Ok(())
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

    /// Keeps what a slice has found whose lease another worker has got meanwhile, as this one was away for too long: failures are the same whoever
    /// finds them; what the slice has cost is not counted, as the other one's estimate is of another target's state.
    fn keep_late(
        &self,
        records: &FleetRecords<'_>,
        target: &FleetTarget,
        record: &TargetRecord,
        outcome: &SliceOutcome,
    ) -> Result<(), CampaignError> {
        if let SliceOutcome::Ran(summary) = outcome {
            let found = self.keep(records, target, record, summary)?;
            self.lock().failures += found.len();
        }
        let what =
            format!("{}: another worker took it over, as this one was silent; the slice is not counted", target.name);
        self.lock().warnings.push(what);
        Ok(())
    }

    /// Keeps how a target stands after a slice.
    fn put_moment(
        &self,
        records: &FleetRecords<'_>,
        target: &FleetTarget,
        record: &TargetRecord,
    ) -> Result<(), CampaignError> {
        let failures = records.failures(&target.id).map_err(store_error)?;
        let moment = FleetMoment {
            at_s: unix_seconds(),
            cpu_s: record.estimate.total_cpu_s,
            executions: record.executions,
            features: record.features,
            edges: record.edges,
            corpus: record.corpus,
            failures: failures.iter().filter(|(state, ..)| *state != FailureState::Fixed).count() as u64,
            worker: self.worker.clone(),
        };
        records.add_moment(&target.id, moment).map_err(store_error)
    }

    /// Builds a target that may have changed; if it has, tries its failures again.
    fn prepare(
        &self,
        records: &FleetRecords<'_>,
        target: &mut FleetTarget,
        record: &mut TargetRecord,
    ) -> Result<(), CampaignError> {
        target.file = target.rebuild(&self.run.project.remarks)?;
        let loaded = load(&target.file, &self.run.project.remarks)?;
        let plans = target.flags.chunks(2).filter_map(|flag| std::fs::read(flag.get(1)?).ok());
        let parts: Vec<u8> = plans.fold(loaded.target.source.to_string().into_bytes(), |mut all, plan| {
            all.extend(Digest::of(&plan).to_string().into_bytes());
            all
        });
        let program = Digest::of(&parts);
        if record.program == Some(program) {
            return Ok(());
        }
        let is_known = record.program.replace(program).is_some();
        (record.features, record.edges, record.edges_total) = (0, 0, 0);
        (record.troubles, record.trouble) = (0, None);
        if is_known {
            self.verify(records, target, &loaded, program)?;
        }
        Ok(())
    }

    /// Tries the kept failures of a target that has changed.
    fn verify(
        &self,
        records: &FleetRecords<'_>,
        target: &FleetTarget,
        loaded: &LoadedTarget,
        program: Digest,
    ) -> Result<(), CampaignError> {
        let failures = records.failures(&target.id).map_err(store_error)?;
        let mut words = Vec::new();
        for (state, _, mut failure) in failures {
            let status = match self.retry(target, loaded, &failure) {
                Ok(status) => status,
                Err(error) => {
                    let what = format!("{}: {} cannot be tried: {error}", target.name, failure.signature);
                    self.lock().warnings.push(what);
                    RegressionStatus::Stale
                }
            };
            status.word().clone_into(&mut failure.status);
            failure.program = Some(program);
            let state = match (status, state) {
                (RegressionStatus::Fixed, _) => FailureState::Fixed,
                (_, FailureState::Fixed) if status.is_failure() => FailureState::Shrunk,
                (_, state) => state,
            };
            records.put_failure(&target.id, state, &failure).map_err(store_error)?;
            words.push(format!("  {}: {}\n", status.word(), failure.signature));
        }
        if !words.is_empty() {
            let line = format!("{} has changed; its failures:\n{}", target.name, words.concat());
            self.run.project.remarks.text(&line);
        }
        Ok(())
    }

    fn retry(
        &self,
        target: &FleetTarget,
        loaded: &LoadedTarget,
        failure: &FleetFailureRecord,
    ) -> Result<RegressionStatus, CampaignError> {
        let bytes = self.run.store.get_blob(&failure.trace).map_err(store_error)?;
        let missing = || CampaignError::new(ErrorKind::Trace, "its trace is not in the store");
        let recording = Recording::read(&bytes.ok_or_else(missing)?)
            .map_err(|error| CampaignError::new(ErrorKind::Trace, error.to_string()))?;
        let flag = |name: &str| {
            target.flags.chunks(2).find(|flag| flag[0] == name).and_then(|flag| flag.get(1)).map(PathBuf::from)
        };
        let machines = match recording.plan.nodes.is_empty() || loaded.scenario.is_some() {
            true => MachinesOfToday::default(),
            false => MachinesOfToday::planned(self.run.project, loaded, flag("--plan").as_deref())?,
        };
        let remarks = &self.run.project.remarks;
        let judged = flag("--target").map(|path| load(&path, remarks)).transpose()?.map(|judged| judged.component);
        let plan = PlanOfToday::new(&recording, loaded, judged, &machines)?;
        Ok(Retrial::new(&recording, loaded, &plan)?.state)
    }

    /// Keeps what a slice has found; the signatures that are new.
    fn keep(
        &self,
        records: &FleetRecords<'_>,
        target: &FleetTarget,
        record: &TargetRecord,
        summary: &RunSummary,
    ) -> Result<Vec<FailureSignature>, CampaignError> {
        let fuzz = summary.fuzz.iter().flat_map(|fuzz| &fuzz.findings);
        let fuzz = fuzz.map(|it| (&it.signature, &it.trace_path, &it.minimized_trace_path, it.times));
        let explored = summary.explore.iter().flat_map(|explore| &explore.failures);
        let explored = explored.map(|it| (&it.signature, &it.trace_path, &it.minimized_trace_path, it.times));
        let mut known = records.failures(&target.id).map_err(store_error)?;
        let mut new = Vec::new();
        for (signature, trace, smaller, times) in fuzz.chain(explored) {
            let Some(signature) = signature.clone().filter(|_| !trace.is_empty()) else { continue };
            let is_shrunk = smaller.is_some();
            let path = smaller.as_ref().unwrap_or(trace);
            let old = known.iter_mut().find(|(.., failure)| failure.signature == signature);
            let state = if is_shrunk { FailureState::Shrunk } else { FailureState::Unshrunk };
            if let Some((was, _, failure)) = old {
                failure.times += times;
                let is_back = *was == FailureState::Fixed;
                let is_better = *was == FailureState::Unshrunk && is_shrunk;
                if is_back || is_better {
                    let before = failure.trace;
                    failure.trace = self.keep_trace(Path::new(path))?;
                    (*was, failure.status) = (state, RegressionStatus::StillThere.word().to_owned());
                    records.put_failure(&target.id, *was, failure).map_err(store_error)?;
                    if before != failure.trace {
                        self.run.store.delete_blob(&before).map_err(store_error)?;
                    }
                } else {
                    records.put_failure(&target.id, *was, failure).map_err(store_error)?;
                }
                if is_back {
                    new.push(signature);
                }
                continue;
            }
            if known.len() >= FAILURES_MAX {
                let what = format!("{}: more than {FAILURES_MAX} failures; later ones are not kept", target.name);
                self.warn(vec![what]);
                continue;
            }
            let failure = FleetFailureRecord {
                target: target.name.clone(),
                signature: signature.clone(),
                trace: self.keep_trace(Path::new(path))?,
                status: RegressionStatus::StillThere.word().to_owned(),
                program: record.program,
                times,
                found_at: summary.finished_at.clone(),
            };
            records.put_failure(&target.id, state, &failure).map_err(store_error)?;
            let place = self.run.store.blob_path(&failure.trace).map(|path| path.display().to_string());
            let command = place.map(|path| format!("  fozzy replay {}\n", fozzy_report::shell_word(&path)));
            self.run.project.remarks.text(&format!(
                "found {signature} in {}\n{}",
                target.name,
                command.unwrap_or_default()
            ));
            known.push((state, String::new(), failure));
            new.push(signature);
        }
        Ok(new)
    }

    fn keep_trace(&self, path: &Path) -> Result<Digest, CampaignError> {
        let bytes = crate::selector::bytes(path)?;
        self.run.store.put_blob(&bytes).map_err(store_error)
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
        let folder = self.run.project.config.base_dir.join("explore").join("fleet");
        std::fs::create_dir_all(&folder)
            .map_err(|error| crate::error::at_path(ErrorKind::Store, "cannot make", &folder, &error))?;
        Ok(folder.join(format!("{}.json", target.id)))
    }

    /// When a slice is to end before its time.
    fn slice_stop(&self) -> StopFlag {
        let (stop, is_over) = (StopFlag::clone(&self.run.stop), Arc::clone(&self.is_over));
        Arc::new(move || stop() || is_over.load(Ordering::SeqCst))
    }
}

/// Counts what a slice came to; how many behaviours are new.
fn observe(record: &mut TargetRecord, summary: &RunSummary) -> u64 {
    let mut features = 0;
    if let Some(fuzz) = &summary.fuzz {
        record.executions += fuzz.executions;
        record.corpus = fuzz.corpus;
        record.chance_if_doubled = Some(fuzz.coverage.chance_if_doubled);
        features = fuzz.coverage.features;
        record.edges = record.edges.max(fuzz.coverage.unique_edges);
        record.edges_total = fuzz.coverage.total_edges;
    }
    if let Some(explore) = &summary.explore {
        // Runs of a continued exploration are those of all slices.
        record.executions = record.executions.max(explore.runs);
        record.corpus = explore.checkpoints;
        features = explore.features + explore.states;
        record.edges = record.edges.max(explore.edges);
        record.edges_total = explore.edges_total;
    }
    let news = features.saturating_sub(record.features);
    record.features = record.features.max(features);
    (record.troubles, record.trouble) = (0, None);
    news
}

fn trouble(record: &mut TargetRecord, why: &str) {
    record.troubles += 1;
    record.trouble = Some(why.to_owned());
}

/// What this process is called in the store.
fn worker_name(started_at: &str) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host: String = host.trim().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    let digits: String = started_at.chars().filter(char::is_ascii_digit).take(17).collect();
    format!("{}-{}-{digits}", host.to_ascii_lowercase(), std::process::id())
}
