//! An exploration from its request to its result: prepared once, then made in this process or in several.
//!
//! ```text
//! LoadedTarget + ExploreRequest ─▶ ExplorationSetup ─┬─ alone ────▶ ExplorationResult
//!   (plan, walker, confirmers, state)                └─ together ─▶ the same, of several workers
//! ```
//!
//! Invariant: with one worker, what is found depends on target, plan, seed and request; the clock only ends it.
//! Not here: which way is tried next (`fozzy-search`), what of it is kept (`campaign_sink`), flags.

use super::campaign_sink::{ExplorationSink, ProgressMark, WorkerEnds};
use super::cluster::{self, ClusterRequest};
use super::exchange::WorkerExchange;
use super::first_run::FirstRun;
use super::generated::covering;
use super::program_target::ProgramTarget;
use super::result::{ExplorationResult, ExploreProtocol, FailureTrace, without_doubles};
use super::shrink_time::{ShrinkTime, reserved};
use super::state::{ExploreState, StateFile};
use super::state_saver::StateSaver;
use super::stateful_target::{ExploredTarget, PathConfirmer, ScenarioTarget, walk_error};
use super::workers::{AdoptedRun, ExploreWorkers, unite_overlaps};
use crate::disk_sync::DiskSync;
use crate::error::{CampaignError, ErrorKind};
use crate::options::{RunRequest, StopFlag};
use crate::pipeline::{LoadedTarget, PreparedProgram, RunPlan, cache, plan};
use crate::program_place::ProgramPlace;
use crate::project::Project;
use crate::remarks::Remarks;
use crate::risk_bound::RiskBound;
use crate::search_clock::{CONFIRM_GRACE, SearchClock, WORKER_CONFIRM_GRACE, first_run_error, unbegun_error};
use crate::trace_destination::TraceDestination;
use crate::workers::{self, WorkerChannel, WorkerEvent};
use fozzy_check::judge;
use fozzy_engine::{Walker, with_stack_for_guests};
use fozzy_report::fleet::NOTHING_VARIES;
use fozzy_report::{ExploreReward, ExploreSummary};
use fozzy_search::explore::{
    AnswerLog, DecisionPath, Exploration, ExplorationEnd, ExplorationObserver, FirstPaths, GuidedSource, Options,
    RestoredPaths, Reward, SavedProgress, Stats, StopCondition, StrategyRow, strategy,
};
use fozzy_search::stats::detectable_one_in;
use fozzy_trace::facts::{PropertyStatuses, PropertyTable};
use fozzy_trace::file::Recording;
use fozzy_trace::plan::ScenarioPlan;
use fozzy_trace::{Duration, Execution, ExecutionEnd, Finding, FindingKind, Seed, Status, Verdict};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much later planned standard input comes at most, unless the plan says it: longer than most programs' own timers, and shorter
/// than the patience that they have with a person.
const INPUT_VARIES: Duration = Duration::from_millis(1000);

/// Kept runs of an exploration that are executed: those of the longest paths. Each begins at the start.
const KEPT_RUNS_MAX: usize = 1_000;
/// A strategy, where nothing is chosen by it.
const ANY_STRATEGY: &str = "coverage_guided";

/// What is asked of an exploration.
pub struct ExploreRequest<'a> {
    /// How ways are chosen.
    pub strategy: &'static StrategyRow,
    /// Bounds and probabilities.
    pub options: Options,
    /// Steps of a run, where the caller says so.
    pub steps: Option<u32>,
    /// How the program is run.
    pub run: RunRequest,
    /// The plan, where it is that of a recording; `run` says nothing then.
    pub planned: Option<RunPlan>,
    /// How a distributed scenario is played.
    pub cluster: ClusterRequest<'a>,
    /// The state of the exploration that is continued; the outer `None` begins anew, the inner one means the file beside the store.
    pub resume: Option<Option<&'a Path>>,
    /// Whether a continued exploration has the seed of its state, and not that of `options`.
    pub seed_of_state: bool,
    /// Real time after which it ends, with its first run; `None` when its runs are bounded instead, and in a worker, whose time is its
    /// supervisor's.
    pub time: Option<Duration>,
    /// Whether a stop was requested.
    pub stop: StopFlag,
    /// Whether a plan that asks the real computer is refused.
    pub only_simulated: bool,
}

/// How an exploration is made.
pub struct ExploreRun {
    /// Where findings go.
    pub destination: TraceDestination,
    /// The budget of runs, if there is one.
    pub runs: Option<u64>,
    /// The risk at which it ends, if one is named.
    pub until: Option<RiskBound>,
    /// Whether a line says every two seconds how it goes.
    pub verbose: bool,
    /// Who hears how it goes.
    pub remarks: Remarks,
    /// The file in which the state of the running exploration is saved; `None` when it is not saved.
    pub state: Option<(PathBuf, Option<ProgramPlace>)>,
    /// Whether its time includes shrinking its findings.
    pub shrinks: bool,
}

/// One worker's part of an exploration by several.
pub struct WorkerPart<'a> {
    /// Its supervisor.
    pub channel: WorkerChannel<ExploreProtocol>,
    /// Exchanges finds with the other workers.
    pub exchange: WorkerExchange,
    /// Whether only the supervisor has ended it.
    pub is_complete: &'a dyn Fn() -> bool,
}

/// Everything that an exploration begins with.
pub struct ExplorationSetup {
    /// Bounds and probabilities.
    pub options: Options,
    /// How ways are chosen.
    pub strategy: &'static StrategyRow,
    /// The program under the plan of one run.
    pub prepared: PreparedProgram,
    /// What is explored.
    pub target: Box<dyn ExploredTarget>,
    /// A run of its beginning: what cannot be run at all is found out by it.
    pub probe: Execution,
    /// Where the program stands, if it is a file.
    pub place: Option<ProgramPlace>,
    /// The file that its state is written to unless another is named.
    pub state_path: PathBuf,
    /// Whether a stop was requested.
    pub stop: StopFlag,
    /// Its clock, since its first run, and its time.
    pub(crate) clock: Arc<SearchClock>,
    pub(crate) time: Option<Duration>,
    /// What that run came to; it is the first one.
    first: FirstRun,
    /// Repeats what is kept.
    pub(crate) confirmer: PathConfirmer,
    start: AnswerLog,
    resumed: Option<ExploreState>,
}

/// Its bounds end it.
struct NoObserver;

impl ExplorationObserver for NoObserver {
    fn on_step(&mut self, _: &Stats) -> bool {
        true
    }

    fn on_failure(&mut self, _: &fozzy_search::FailureRecord<DecisionPath>) {}
}

impl ExplorationSetup {
    /// Plans, compiles and starts what is explored.
    ///
    /// # Errors
    /// When it is no scenario with steps, or the state that it continues is of another program or plan.
    pub fn new(
        project: &Project,
        mut loaded: LoadedTarget,
        request: &ExploreRequest<'_>,
    ) -> Result<ExplorationSetup, CampaignError> {
        let mut options = request.options.clone();
        let world = cluster::take(&mut loaded, &request.cluster, &request.run.world)?;
        let name = loaded.target.name.clone();
        let mut planned = match &request.planned {
            Some(planned) => planned.clone(),
            None => plan(project, &loaded, &RunRequest { world, ..request.run.clone() })?,
        };
        if request.only_simulated {
            planned.check_simulated()?;
        }
        if let Some(own) = &planned.plan.scenario {
            // A scenario file ends after its last step.
            options.steps_per_run = request.steps.unwrap_or(own.flows).min(own.flows);
            options.steps_max = own.flows;
        }
        // Of the streams of a seed the first worker has the first, as who works alone.
        let is_worker = options.worker > 0 || workers::is_this_process();
        if is_worker {
            // A worker's standard input is its supervisor's life line.
            planned.stdin = None;
        }
        let mut prepared = PreparedProgram::compile(loaded, planned)?;
        prepared.grant(if is_worker { WORKER_CONFIRM_GRACE } else { CONFIRM_GRACE }, &request.stop);
        prepared.bound_time();
        let is_program = prepared.planned.plan.scenario.is_none() && !prepared.program.is_scenario();
        let is_whole_run = prepared.is_explored_whole();
        if !is_program && !is_whole_run && !prepared.planned.plan.criteria.is_empty() {
            let message =
                format!("{name} is a scenario, which judges itself; what a plan expects is of whole runs of programs");
            return Err(CampaignError::new(ErrorKind::Usage, message)
                .hint("leave out --fail-on, --expect-output, --expect-exit, --check and [expect] of the plan"));
        }
        if is_whole_run && ["bfs", "dfs"].contains(&request.strategy.name) {
            let message = format!(
                "{name} has no steps that can be called one by one: `{}` goes through every answer of each step, and of a whole run there are too many",
                request.strategy.name
            );
            return Err(CampaignError::new(ErrorKind::Usage, message)
                .hint("--schedule coverage_guided, faults, random, pct, pos, urw or fifo"));
        }
        if is_program {
            let plan = &mut prepared.planned.plan;
            let others = plan.nodes.iter_mut().map(|node| &mut node.program.machine);
            std::iter::once(&mut plan.main).chain(others).for_each(|machine| machine.stdin.vary(INPUT_VARIES));
        } else {
            prepared.planned.plan.scenario = Some(ScenarioPlan::all(1, options.steps_per_run));
        }
        if is_whole_run {
            (options.is_whole_run, options.steps_per_run, options.steps_max) = (true, 1, 2);
        }
        let base_dir = &project.config.base_dir;
        let place = prepared.loaded.file.as_deref().map(|file| ProgramPlace::of(base_dir, file));
        let state_path = ExploreState::path(base_dir, &name, place.as_ref());
        let read = |path: Option<&Path>| {
            ExploreState::read(path.unwrap_or(&state_path), &prepared.loaded.component, &prepared.planned.plan)
        };
        let resumed = request.resume.map(read).transpose()?;
        if let (Some(state), true) = (&resumed, request.seed_of_state) {
            options.seed = Seed(state.seed);
        }
        if !is_whole_run {
            check_start(&prepared, options.seed, request)?;
        }
        let start = AnswerLog::default();
        let ExploredProgram { target, mut confirmer } = explored(&prepared, &options, &start)?;
        let (time, stop) = (request.time, StopFlag::clone(&request.stop));
        let clock = SearchClock::start(time, StopFlag::clone(&stop));
        clock.bound(&prepared.interrupt);
        let first = FirstRun::make(&mut confirmer, &DecisionPath { answers: start.snapshot(), steps: 1 });
        let (probe, first) = first.map_err(|error| first_run_error(&name, error.into()))?;
        // Of a scenario that is walked through it is one step, and no run.
        let open = if is_whole_run { judge(&probe).findings } else { Vec::new() };
        if let (None, Some(open)) = (&first.judged.verdict.signature, open.first()) {
            // Other runs have more operations, or as few: those are no findings.
            project.remarks.text(&format!(
                "warning: the first run comes to no verdict: {}; runs that are too short for one are no findings\n",
                open.title
            ));
        }
        if is_whole_run && probe.history.decisions == 0 {
            // All its runs are one; what that one comes to is said if it is worth saying.
            match &first.judged.verdict.signature {
                Some(_) => options.runs_max = 1,
                None => return Err(nothing_varies(&name)),
            }
        }
        let strategy = request.strategy;
        Ok(ExplorationSetup {
            options,
            strategy,
            prepared,
            target,
            probe,
            first,
            place,
            state_path,
            stop,
            clock,
            time,
            confirmer,
            start,
            resumed,
        })
    }

    /// Runs and steps of the exploration that is continued.
    pub fn before(&self) -> (u64, u64) {
        self.resumed.as_ref().map_or((0, 0), |state| (state.runs, state.steps))
    }

    /// The exploration of a program whose state stands in a file, for who executes what it has kept.
    ///
    /// # Errors
    /// When the state is of another program or plan, or cannot be read.
    pub fn of_state(
        project: &Project,
        loaded: LoadedTarget,
        run: &RunRequest,
        state: &Path,
        stop: StopFlag,
    ) -> Result<ExplorationSetup, CampaignError> {
        let request = ExploreRequest {
            strategy: strategy(ANY_STRATEGY).expect("it is one of the strategies"),
            options: project.config.explore.options(),
            steps: None,
            run: run.clone(),
            planned: None,
            cluster: ClusterRequest { nodes: None, checkers: &[] },
            resume: Some(Some(state)),
            seed_of_state: true,
            time: None,
            stop,
            only_simulated: true,
        };
        ExplorationSetup::new(project, loaded, &request).map_err(|error| match error.kind {
            // Nothing is continued here.
            ErrorKind::State => {
                error.hint("fozzy explore writes one with --save-state; plan and flags must be those of then")
            }
            _ => error,
        })
    }

    /// Runs of the exploration that is continued, one after the other: of its paths those that no other one goes on from, `KEPT_RUNS_MAX` at the
    /// most, and its findings.
    pub fn kept_runs(&mut self) -> impl Iterator<Item = Result<Recording, CampaignError>> {
        let (stories, findings) = self.resumed.take().map(|state| (state.stories, state.findings)).unwrap_or_default();
        let paths: Vec<DecisionPath> =
            covering(&stories, KEPT_RUNS_MAX).into_iter().chain(&findings).cloned().collect();
        paths.into_iter().map(|path| self.confirmer.record(&path))
    }

    /// Explores in this process and keeps nothing: the exploration with its findings, and who records a run of it.
    ///
    /// # Errors
    /// When the machine, not the scenario, fails.
    pub fn in_memory(self) -> Result<(Exploration, PathConfirmer), CampaignError> {
        let is_run = self.first.is_run(&self.options);
        let mut exploration = Exploration::new(self.options, self.strategy, &self.start);
        let mut target = self.target;
        if is_run {
            exploration.adopt(self.first.path, self.first.judged);
        }
        let mut none = std::iter::empty();
        with_stack_for_guests(|| exploration.run(&mut *target, FirstPaths::Found(&mut none), &mut NoObserver))?;
        Ok((exploration, self.confirmer))
    }

    /// Explores in this process; `worker` is its part when it is one of several.
    ///
    /// # Errors
    /// When the machine, not the scenario, fails, or what is found cannot be kept.
    pub fn alone(self, run: ExploreRun, worker: Option<WorkerPart<'_>>) -> Result<ExplorationResult, CampaignError> {
        let before = self.before();
        // That of a worker is one that its supervisor has made, too.
        let is_run = worker.is_none() && self.first.is_run(&self.options);
        let mut options = self.options;
        // Those that were made before are no one's share.
        options.runs_max = options.runs_max.saturating_add(before.0);
        let (ends, is_complete) = match worker {
            Some(WorkerPart { channel, exchange, is_complete }) => {
                (Some(WorkerEnds { supervisor: channel, exchange, before }), Some(is_complete))
            }
            None => (None, None),
        };
        let ExploreRun { destination, runs, until, verbose, remarks, state, shrinks } = run;
        let (component, plan, seed) = (&self.prepared.loaded.component, &self.prepared.planned.plan, options.seed.0);
        let state = state.filter(|_| ends.is_none()).map(|path| StateFile::new(path, component, plan, seed));
        let mut sink = ExplorationSink {
            stop: self.stop,
            confirmer: self.confirmer,
            destination,
            clock: self.clock,
            time: self.time,
            runs,
            until,
            is_settled: false,
            verbose,
            kept: Vec::new(),
            said: ProgressMark::default(),
            worker: ends,
            remarks,
            state: StateSaver::new(state),
            shrinks,
            disk: DiskSync::new(),
        };
        let is_first_only = options.stop == StopCondition::FirstFinding;
        let mut exploration = Exploration::new(options, self.strategy, &self.start);
        let mut target = self.target;
        if is_run {
            target.note_faults(&self.probe.facts.injected);
        }
        if let Some(ends) = &sink.worker {
            ends.supervisor.send(&WorkerEvent::Ready);
        }
        if let Some(state) = &self.resumed {
            exploration.resume(state.runs, state.steps);
        }
        let FirstRun { path, judged, recording } = self.first;
        let failed = if is_run { exploration.adopt(path, judged) } else { None };
        let is_found = failed.is_some();
        if let (Some(found), Some(recording)) = (failed, recording) {
            sink.keep(found, Ok(recording));
        }
        let resumed = self.resumed.map(|state| RestoredPaths::new(state.findings, state.stories).knowing(state.known));
        let mut paths = resumed.unwrap_or_default();
        let ended = match is_found && is_first_only {
            true => ExplorationEnd::FirstFailure,
            false => exploration.run(&mut *target, FirstPaths::Restored(&mut paths), &mut sink)?,
        };
        let shrink_time = ShrinkTime::after(sink.time, Duration(sink.clock.elapsed_ns()));
        sink.remarks.live("");
        if sink.worker.is_none() {
            sink.say_last(exploration.stats());
        }
        let mut explored = result(&exploration, &sink, &*target, &paths, ended);
        explored.shrink_time = shrink_time;
        explored.given_up = sink.given_up(&self.prepared.interrupt);
        explored.first_runs = u64::from(is_run);
        explored.properties.merge(&properties_of(&self.probe));
        self.prepared.interrupt.disarm();
        if let (Some(ends), Some(is_complete)) = (&sink.worker, is_complete) {
            // On a full disk it leaves nothing to the supervisor, which has heard its numbers and findings.
            if let Err(error) = ends.exchange.conclude(&explored) {
                tracing::warn!(%error, "what this worker has reached is not written");
            }
            let (progress, report, complete) = (explored.stats, explored.ended.clone(), is_complete());
            ends.supervisor.send(&WorkerEvent::Ended { progress, report, complete });
        }
        Ok(explored)
    }

    /// Explores in several processes.
    ///
    /// # Errors
    /// When workers cannot be started, or what they found cannot be kept.
    pub fn together(self, run: ExploreRun, workers: u32) -> Result<ExplorationResult, CampaignError> {
        let before = self.before();
        let is_run = self.first.is_run(&self.options);
        let ExploreRun { destination, until, verbose, remarks, shrinks, state, .. } = run;
        let (component, plan) = (&self.prepared.loaded.component, &self.prepared.planned.plan);
        let state = state.map(|path| StateFile::new(path, component, plan, self.options.seed.0));
        let reserved = self.time.filter(|_| shrinks).map_or(Duration(0), reserved);
        let time = self.time.map(|time| Duration(time.0.saturating_sub(self.clock.elapsed_ns())));
        let state_before = self.resumed.map(|ExploreState { stories, findings, known, .. }| SavedProgress {
            places: stories,
            findings,
            known,
        });
        let explorers = ExploreWorkers {
            destination: &destination,
            workers,
            seed: self.options.seed,
            runs: Some(self.options.runs_max).filter(|runs| *runs < u64::MAX).map(|runs| runs - u64::from(is_run)),
            before,
            time,
            until,
            reserved,
            first_only: self.options.stop == StopCondition::FirstFinding,
            verbose,
            stop: self.stop,
            remarks,
            progress_before: state_before.unwrap_or_default(),
            state,
            first: if is_run { Some(AdoptedRun::keep(self.first, &destination)?) } else { None },
        };
        let mut explored = explorers.run()?;
        let mut target = self.target;
        if is_run {
            target.note_faults(&self.probe.facts.injected);
        }
        unite_overlaps(&mut explored.overlaps, target.overlaps());
        explored.edges_total = explored.edges_total.max(target.edges_total());
        explored.properties.merge(&properties_of(&self.probe));
        let taken = &explored.taken;
        let of_module = |module: usize| taken.get(module).cloned().unwrap_or_default();
        explored.not_reached = target.not_reached(&of_module);
        Ok(explored)
    }
}

/// What is explored, and who repeats what is found.
pub(crate) struct ExploredProgram {
    pub(crate) target: Box<dyn ExploredTarget>,
    pub(crate) confirmer: PathConfirmer,
}

/// Starts what is explored: a scenario to be walked through, or a program that is run whole. `start` gets what is answered before
/// the beginning.
pub(crate) fn explored(
    prepared: &PreparedProgram,
    options: &Options,
    start: &AnswerLog,
) -> Result<ExploredProgram, CampaignError> {
    let name = &prepared.loaded.target.name;
    let confirmer = || PathConfirmer::new(prepared, options.seed);
    let target: Box<dyn ExploredTarget> = if options.is_whole_run {
        Box::new(ProgramTarget::new(prepared, confirmer()?)?)
    } else {
        let first = Box::new(GuidedSource::first(options.seed, start));
        let (component, planned) = (Arc::clone(&prepared.loaded.component), &prepared.planned);
        let walker = Walker::new(component, &planned.plan, &planned.inputs, cache().as_ref(), first);
        Box::new(ScenarioTarget::new(walker.map_err(|error| walk_error(name, &error))?, confirmer()?))
    };
    Ok(ExploredProgram { target, confirmer: confirmer()? })
}

/// Runs a scenario to the end of its first step: in the build that is walked through, which has no fuel, nothing would end the start of one that
/// never comes to a step.
///
/// # Errors
/// When its time, a stop or its instructions were over before its first sequence had begun.
fn check_start(prepared: &PreparedProgram, seed: Seed, request: &ExploreRequest<'_>) -> Result<(), CampaignError> {
    let name = &prepared.loaded.target.name;
    // The time of the search begins with its own first run.
    SearchClock::start(request.time, StopFlag::clone(&request.stop)).bound(&prepared.interrupt);
    let first_step = DecisionPath { answers: Vec::new(), steps: 1 };
    let ran = match PathConfirmer::new(prepared, seed)?.execute(&first_step, 0..0) {
        Ok(ran) => ran,
        Err(error) if error.is_interruption() => return Err(first_run_error(name, error.into())),
        // Who walks through it says why it cannot be started.
        Err(_) => return Ok(()),
    };
    let has_begun = ran.facts.scenario.as_ref().is_some_and(|scenario| scenario.sequences > 0);
    match ran.end {
        ExecutionEnd::FuelExhausted { fuel } if !has_begun => Err(unbegun_error(name, fuel)),
        // What else ends it is found by the exploration.
        _ => Ok(()),
    }
}

/// How the properties of a program stand after its first run.
fn properties_of(probe: &Execution) -> PropertyTable {
    let mut statuses = PropertyStatuses::default();
    statuses.observe_all(&probe.facts.properties);
    statuses.table()
}

/// The error for a program whose runs are all the same.
fn nothing_varies(name: &str) -> CampaignError {
    let message = format!(
        "{name} {NOTHING_VARIES}: it draws no random bytes, no planned fault has a chance to strike, no \
         planned input comes at a time, and no other machine is there, so that all its runs are one"
    );
    CampaignError::new(ErrorKind::Target, message)
        .hint("give it faults (--faults disk), other machines, or input that comes at times (--plan)")
}

/// What an exploration has come to in this process.
fn result(
    exploration: &Exploration,
    sink: &ExplorationSink,
    target: &dyn ExploredTarget,
    left: &RestoredPaths,
    ended: ExplorationEnd,
) -> ExplorationResult {
    let findings = exploration.findings().all();
    // The sink cannot fail to take one: it has its trace, or the reason why it has none.
    assert_eq!(findings.len(), sink.kept.len(), "each finding is told once");
    let found = findings.iter().zip(&sink.kept);
    let paths = findings.iter().map(|found| found.input.clone());
    let is_interrupted = ended == ExplorationEnd::Stopped && (sink.stop)();
    ExplorationResult {
        stats: sink.worker.as_ref().map_or(*exploration.stats(), |worker| worker.own(exploration.stats())),
        has_run: target.has_run(),
        edges_total: target.edges_total(),
        taken: exploration.all_taken(),
        traces: found.map(|(found, kept)| FailureTrace { times: found.times, ..kept.clone() }).collect(),
        // Those that were not taken again are still worth it another time.
        stories: without_doubles(exploration.paths().chain(left.places().cloned())),
        findings: without_doubles(paths.chain(left.findings().cloned())),
        known: left.known_with(exploration.known()),
        earned: exploration
            .rewards()
            .into_iter()
            .map(|(dial, name, earned)| (dial.to_owned(), name.to_owned(), earned))
            .collect(),
        overlaps: target.overlaps(),
        properties: exploration.property_table(),
        not_reached: match sink.worker {
            Some(_) => Vec::new(),
            None => target.not_reached(&|module| exploration.taken(module)),
        },
        ended: match ended {
            _ if is_interrupted => "interrupted",
            ExplorationEnd::Stopped if sink.is_settled => "risk",
            ended => word(ended),
        }
        .to_owned(),
        ..ExplorationResult::default()
    }
}

/// Why an exploration ended, as a word in documents.
const fn word(ended: ExplorationEnd) -> &'static str {
    match ended {
        ExplorationEnd::Runs => "runs",
        ExplorationEnd::Stopped => "time",
        ExplorationEnd::Saturated => "saturated",
        ExplorationEnd::FirstFailure => "finding",
        ExplorationEnd::Exhausted => "exhausted",
        ExplorationEnd::Sampled => "sampled",
    }
}

impl ExplorationResult {
    /// What it is when nothing was tested, which is no pass: no flow did anything, as `probe` says, or no run came to its end.
    /// `before` is the number of runs of the exploration that it continues.
    pub fn nothing_tested(&self, probe: &Verdict, before: Option<u64>) -> Option<Verdict> {
        let Stats { runs, steps, cut, undecided, passed, failures, .. } = self.stats;
        let own_runs = runs.saturating_sub(before.unwrap_or(0));
        if own_runs == 0 && self.ended != "interrupted" {
            return Some(error_of(
                "nothing was tried",
                "no run was at its end when the time was over: a longer --time waits for one",
            ));
        }
        let own_runs = own_runs.saturating_sub(self.first_runs);
        if own_runs == 0 && self.ended == "time" {
            return Some(error_of(
                "nothing was searched",
                "only the first run, in which nothing is varied, came to its end before the time was over: a longer --time leaves some \
                 for others",
            ));
        }
        if undecided > 0 && passed + failures == 0 {
            let since = if before.is_some() { " since it was continued" } else { "" };
            let message = format!(
                "a checker of their operations says unknown of all runs that came to their end{since} ({undecided}): a program that does \
                 more operations in a run, or a scenario with more steps (--steps), can be judged"
            );
            return Some(error_of("no run came to a verdict", &message));
        }
        if own_runs == 0 || cut < own_runs {
            let is_idle = !self.has_run && steps > 0 && before.is_none();
            return is_idle.then(|| probe.clone());
        }
        let message = format!(
            "all runs were cut ({own_runs}): a step took too long, or more questions were asked than the answers of one run that \
             are logged; with fewer steps a run (--steps) or fewer draws a step runs come to their end"
        );
        Some(error_of("no run came to its end", &message))
    }

    /// Its numbers as a document, still without its failures. `before` is the number of runs of the exploration that it continues.
    pub fn summary(&self, schedule: &str, workers: u32, before: Option<u64>) -> ExploreSummary {
        let stats = &self.stats;
        let (estimate, outlook) = (stats.estimate(), stats.outlook());
        // Where every way was gone, nothing is left to be found.
        let is_complete = self.ended == "exhausted";
        let is_drawn = !["bfs", "dfs"].contains(&schedule);
        ExploreSummary {
            schedule: schedule.to_owned(),
            workers,
            runs: stats.runs,
            resumed_runs: before.unwrap_or(0),
            steps: stats.steps,
            edges: stats.edges,
            edges_total: self.edges_total,
            features: stats.features,
            states: stats.states,
            checkpoints: stats.checkpoints,
            fails: stats.failures,
            lost: stats.lost,
            cut: stats.cut,
            undecided: stats.undecided,
            last_new: stats.last_new,
            // There are no more than there are.
            estimated_undiscovered_edges: estimate
                .undiscovered
                .min(self.edges_total.saturating_sub(stats.edges) as f64),
            chance_of_new_edge: estimate.next_is_new,
            discoveries_last_half: outlook.discoveries,
            chance_if_doubled: if is_complete { 0.0 } else { outlook.chance(1.0) },
            chance_if_doubled_range: if is_complete { (0.0, 0.0) } else { outlook.chance_range(1.0) },
            detectable_one_in: if is_drawn { detectable_one_in(stats.runs) } else { 0 },
            properties: self.properties.clone(),
            earned: self.earned.iter().map(reward).collect(),
            overlaps: self.overlaps.clone(),
            not_reached: self.not_reached.clone(),
            failures: Vec::new(),
            seeds: Vec::new(),
            ended: self.ended.clone(),
            workers_lost: self.workers_lost,
            workers_restarted: self.workers_restarted,
        }
    }
}

/// No verdict, and why.
fn error_of(title: &str, message: &str) -> Verdict {
    let finding = Finding {
        kind: FindingKind::Checker,
        title: title.to_owned(),
        message: message.to_owned(),
        location: None,
        backtrace: Vec::new(),
        peers: Vec::new(),
        related: Vec::new(),
    };
    Verdict { status: Status::Error, findings: vec![finding], signature: None }
}

fn reward((dial, name, earned): &(String, String, Reward)) -> ExploreReward {
    let Reward { runs, steps, found } = *earned;
    ExploreReward { dial: dial.clone(), name: name.clone(), runs, steps, found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exploration_without_a_whole_run_is_no_pass() {
        let stats = |runs, cut| Stats { runs, cut, steps: runs, ..Stats::default() };
        let explored = |stats| ExplorationResult { stats, has_run: true, ..ExplorationResult::default() };
        let probe = Verdict { status: Status::Pass, findings: Vec::new(), signature: None };
        let of = |stats, before| explored(stats).nothing_tested(&probe, before).map(|verdict| verdict.status);
        assert_eq!(of(stats(3, 3), None), Some(Status::Error));
        assert_eq!(of(stats(3, 2), None), None);
        assert_eq!(of(stats(0, 0), None), Some(Status::Error), "nothing was tried");
        assert_eq!(of(stats(5, 0), Some(5)), Some(Status::Error), "nothing more was tried");
        let first = |stats| ExplorationResult { first_runs: 1, ..explored(stats) };
        assert_eq!(first(stats(1, 0)).nothing_tested(&probe, None), None);
        let over = ExplorationResult { ended: "time".to_owned(), ..first(stats(1, 0)) };
        let found = over.nothing_tested(&probe, None).map(|verdict| verdict.findings[0].title.clone());
        assert_eq!(found.as_deref(), Some("nothing was searched"));
        assert!(first(stats(3, 2)).nothing_tested(&probe, None).is_some(), "all but the first were cut");
        let interrupted = ExplorationResult { ended: "interrupted".to_owned(), ..explored(stats(0, 0)) };
        assert_eq!(interrupted.nothing_tested(&probe, None), None, "that is said otherwise");
        assert_eq!(of(stats(5, 2), Some(3)), Some(Status::Error), "of its own two runs both were cut");
        let idle = ExplorationResult { has_run: false, ..explored(stats(3, 0)) };
        assert_eq!(idle.nothing_tested(&probe, None), Some(probe.clone()), "what the probe says");
        assert_eq!(idle.nothing_tested(&probe, Some(0)), None, "the runs before may have done something");
        let endless = ExplorationResult { has_run: false, ..explored(stats(3, 3)) };
        let found = endless.nothing_tested(&probe, None).map(|verdict| verdict.status);
        assert_eq!(found, Some(Status::Error), "a step that never ended did nothing, and is no pass");
    }
}
