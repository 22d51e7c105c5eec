//! `fozzy explore`: goes many ways through the flows of a scenario, guided by what it sees.
//!
//! ```text
//! target ─▶ plan ─▶ walker ─┬─▶ exploration ───────────────┬─▶ findings made smaller ─▶ summary
//!                           └─▶ one in each of N processes ─┘
//!                                └─▶ traces, at once
//! ```
//!
//! Invariant: with one worker, what is found depends on target, plan, seed and flags; the clock only ends it.

use super::run::{print, seed};
use super::worker::{Worker, failed_workers, stop_flag};
use super::{Context, exit};
use crate::args::{ExploreArgs, ReporterArg, StopArg};
use crate::error::CliError;
use crate::interrupt;
use fozzy_campaign::explore::campaign_sink::{ExplorationSink, ProgressMark, Where, WorkerEnds};
use fozzy_campaign::explore::cluster::{self, ClusterRequest};
use fozzy_campaign::explore::exchange::WorkerExchange;
use fozzy_campaign::explore::generated::{GeneratedTests, covering};
use fozzy_campaign::explore::saved_failures::{RegressionStatus, SavedFailure, SavedFailures};
use fozzy_campaign::explore::settings::ExploreSettings;
use fozzy_campaign::explore::state::ExploreState;
use fozzy_campaign::explore::stateful_target::{PathConfirmer, ScenarioTarget, walk_error};
use fozzy_campaign::explore::unreached::unreached;
use fozzy_campaign::explore::workers::{ExplorationResult, ExploreProtocol, ExploreWorkers, FailureTrace};
use fozzy_campaign::options::RunRequest;
use fozzy_campaign::pipeline::{PreparedProgram, cache, identity, kept, load, plan};
use fozzy_campaign::selector;
use fozzy_campaign::shrink::shrink_beside;
use fozzy_campaign::store::store_error;
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_campaign::workers::{WorkerEvent, WorkerRole};
use fozzy_check::judge;
use fozzy_engine::Walker;
use fozzy_report::{ExploreFinding, ExploreReward, ExploreSummary, RunMode, RunSummary, SeedState};
use fozzy_search::explore::{
    AnswerLog, DecisionPath, Exploration, ExplorationEnd, GuidedSource, Options, Reward, StopCondition, StrategyRow,
    strategy,
};
use fozzy_trace::file::store::{CollisionPolicy, check_target};
use fozzy_trace::file::{RecordedOutcome, Recording};
use fozzy_trace::plan::ScenarioPlan;
use fozzy_trace::{Execution, Seed, Status};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Real time that is spent on making one finding smaller.
const SHRINK_TIME: Duration = Duration::from_secs(30);

pub(crate) fn explore(context: &Context, args: &ExploreArgs) -> Result<ExitCode, CliError> {
    if let Some(worker) = Worker::of_process()? {
        return Ok(worker.run(|worker| part(context, args, worker)));
    }
    let collision: CollisionPolicy = args.record_collision.into();
    if let Some(path) = &args.record {
        check_target(path, collision).map_err(store_error)?;
    }
    let generated = args.generate_tests.as_ref().map(|file| GeneratedTests::new(file, &args.target)).transpose()?;
    let prepared = ExplorationSetup::new(context, args, None)?;
    let watch = Stopwatch::start();
    let base = prepared.base(context, args);
    let has_seeds = context.project.config.explore.seeds && !args.no_seeds;
    let seeds = SavedFailures::of(&context.project.config.base_dir, &base.prepared.loaded.target.name);
    let standings = if has_seeds { seeds.standings(&prepared.prepared.loaded)? } else { Vec::new() };
    for standing in standings.iter().filter(|standing| standing.state == RegressionStatus::StillThere) {
        let signature = standing.signature.as_ref().map(ToString::to_string).unwrap_or_default();
        context.printer.remark(&format!("still there: {signature}\n  {}\n", standing.path.display()));
    }
    for obstacle in prepared.walker.obstacles() {
        context.printer.remark(&format!("places are reached by calling again, because {obstacle}\n"));
    }
    let folder = context.runs.begin()?;
    let place = Where { folder: folder.path.clone(), record: args.record.clone(), collision };
    let explored = match base.workers {
        1 => prepared.alone(context, args, place, None)?,
        workers => prepared.together(context, args, place, workers)?,
    };
    if let (Some(why), 0) = (&explored.failure, explored.stats.runs) {
        return Err(failed_workers(why));
    }
    let state = ExploreState::new(
        &base.prepared.loaded.component,
        &base.prepared.planned.plan,
        (base.seed.0, explored.stats.runs, explored.stats.steps),
        explored.stories.clone(),
    );
    // What was found is kept, whether or not it can be gone on from.
    let state_written = state.write(&base.state);

    let mut document = summary(&explored, &base);
    document.seeds = standings.iter().map(SavedFailure::document).collect::<Vec<SeedState>>();
    let mut recordings: Vec<Recording> = Vec::new();
    for found in &explored.traces {
        let recording = selector::read(&found.path)?;
        let mut failure = finding(found, &recording);
        if !args.no_shrink
            && !interrupt::is_asked_to_stop()
            && let Some((path, steps)) = shrink_beside(&found.path, SHRINK_TIME)?
        {
            failure.minimized_trace_path = Some(path.display().to_string());
            failure.minimized_steps = Some(steps);
        }
        if has_seeds {
            let smallest = failure.minimized_trace_path.as_ref().unwrap_or(&failure.trace_path);
            let shrunk = !args.no_shrink && !interrupt::is_asked_to_stop();
            seeds.keep(Path::new(smallest), shrunk, failure.signature.as_ref(), &standings, &args.target)?;
        }
        document.failures.push(failure);
        recordings.push(recording);
    }

    if let Some(generated) = generated {
        let tests = generate(&generated, &base, &document.failures, &explored.stories)?;
        context.printer.remark(&format!(
            "{tests} tests in {}\n",
            args.generate_tests.as_deref().unwrap_or(Path::new("")).display()
        ));
    }
    let outcome = RecordedOutcome::of(&base.probe, judge(&base.probe));
    let identity = identity(&folder, base.seed, explored.traces.first().map(|found| found.path.as_path()));
    let target = base.prepared.loaded.summary();
    let mut summary = RunSummary::of(RunMode::Explore, identity, target, &outcome, kept(&base.probe), watch.facts());
    let verdicts = || recordings.iter().map(|recording| &recording.outcome.verdict);
    let statuses = verdicts().map(|verdict| verdict.status).chain(standings.iter().map(|seed| seed.status));
    let statuses = statuses.chain(explored.failure.as_ref().map(|_| Status::Error));
    summary.status = statuses.max_by_key(|status| status.gravity()).unwrap_or(Status::Pass);
    summary = summary.finding(verdicts().filter_map(|verdict| verdict.findings.first().cloned()).collect());
    let still_there = || standings.iter().find(|seed| seed.state == RegressionStatus::StillThere)?.signature.clone();
    summary.signature = verdicts().next().and_then(|verdict| verdict.signature.clone()).or_else(still_there);
    // Ways on which no flow did anything have tested nothing, as a run that goes one of them says.
    let is_idle = !explored.has_run && explored.stats.steps > 0 && args.resume.is_none();
    if is_idle && summary.status == Status::Pass {
        summary.status = outcome.verdict.status;
        summary.findings.clone_from(&outcome.verdict.findings);
        summary.signature.clone_from(&outcome.verdict.signature);
    }
    summary.explore = Some(document);
    context.runs.finish(&folder, &summary)?;
    state_written?;
    let json = context.printer.json || args.reporter == ReporterArg::Json;
    print(context, json, &summary)?;
    explored.failure.iter().for_each(|why| context.printer.remark(&format!("error: {}\n", failed_workers(why))));
    Ok(exit(summary.status))
}

/// The part of one of several workers.
fn part(context: &Context, args: &ExploreArgs, worker: &Worker<ExploreProtocol>) -> Result<(), CliError> {
    let prepared = ExplorationSetup::new(context, args, Some(&worker.role))?;
    let exchange = WorkerExchange::open(&worker.role, &context.project.config.explore)?;
    let place = Where { folder: exchange.own(), record: None, collision: CollisionPolicy::Overwrite };
    prepared.alone(context, args, place, Some((worker, exchange))).map(|_| ())
}

/// Tests of all failures, and of the ways that cover most.
fn generate(
    generated: &GeneratedTests,
    base: &Base,
    failures: &[ExploreFinding],
    stories: &[DecisionPath],
) -> Result<usize, CliError> {
    let smallest = |failure: &ExploreFinding| {
        selector::read(Path::new(failure.minimized_trace_path.as_ref().unwrap_or(&failure.trace_path)))
    };
    let mut recordings: Vec<Recording> = failures.iter().map(smallest).collect::<Result<_, _>>()?;
    let mut confirmer = PathConfirmer::new(&base.prepared, base.seed)?;
    for story in covering(stories) {
        let recording = confirmer.record(story)?;
        // What fails is among the failures, smaller.
        if recording.outcome.verdict.status == Status::Pass {
            recordings.push(recording);
        }
    }
    generated.write(&recordings)
}

/// Everything that an exploration begins with.
struct ExplorationSetup {
    options: Options,
    row: &'static StrategyRow,
    prepared: PreparedProgram,
    walker: Walker,
    /// One for what is kept, one for what is confirmed.
    confirmers: (PathConfirmer, PathConfirmer),
    start: AnswerLog,
    resumed: Option<ExploreState>,
    default_state: PathBuf,
    probe: Execution,
}

/// What is still needed when it is over.
struct Base {
    prepared: PreparedProgram,
    probe: Execution,
    seed: Seed,
    schedule: &'static str,
    workers: u32,
    state: PathBuf,
}

impl ExplorationSetup {
    fn new(context: &Context, args: &ExploreArgs, role: Option<&WorkerRole>) -> Result<ExplorationSetup, CliError> {
        let settings = &context.project.config.explore;
        let mut options = options(context, settings, args, role);
        let schedule = args.schedule.map_or(settings.schedule, Into::into);
        let missing = || CliError::new("internal", format!("there is no strategy `{}`", schedule.name()));
        let row = strategy(schedule.name()).ok_or_else(missing)?;
        let request = ClusterRequest { nodes: args.nodes, checkers: &args.checker };
        let mut loaded = load(&args.target)?;
        let world = cluster::take(&mut loaded, &request, &args.world.options())?;
        let request = RunRequest { args: args.args.clone(), limits: args.limits.options(), world };
        let name = loaded.target.name.clone();
        let mut planned = plan(&context.project, &loaded, &request)?;
        if let Some(own) = &planned.plan.scenario {
            // A scenario file ends after its last step.
            options.steps_per_run = args.steps.unwrap_or(own.flows).min(own.flows);
            options.steps_max = own.flows;
        }
        planned.plan.scenario = Some(ScenarioPlan::all(1, options.steps_per_run));
        let default_state = context.project.config.base_dir.join("explore").join(format!("{name}.json"));
        let resumed = match &args.resume {
            None => None,
            Some(path) => {
                let path = path.as_ref().unwrap_or(&default_state);
                Some(ExploreState::read(path, &loaded.component, &planned.plan)?)
            }
        };
        if let (Some(state), None, None) = (&resumed, args.seed, role) {
            options.seed = Seed(state.seed);
        }
        let prepared = PreparedProgram::compile(loaded, planned)?;
        let confirmer = || PathConfirmer::new(&prepared, options.seed);
        let mut confirmers = (confirmer()?, confirmer()?);
        let start = AnswerLog::default();
        let first = Box::new(GuidedSource::first(options.seed, &start));
        let (component, planned) = (Arc::clone(&prepared.loaded.component), &prepared.planned);
        let walker = Walker::new(component, &planned.plan, &planned.inputs, cache().as_ref(), first);
        let walker = walker.map_err(|error| walk_error(&name, &error))?;
        // What cannot be run at all is found out here, by a run that has the same beginning.
        let probe = confirmers.0.execute(&DecisionPath { answers: start.snapshot(), steps: 1 }, 0..0)?;
        Ok(ExplorationSetup { options, row, prepared, walker, confirmers, start, resumed, default_state, probe })
    }

    fn base(&self, context: &Context, args: &ExploreArgs) -> Base {
        Base {
            prepared: self.prepared.clone(),
            probe: self.probe.clone(),
            seed: self.options.seed,
            schedule: self.row.name,
            workers: args.workers.unwrap_or(context.project.config.explore.workers).max(1),
            state: args.save_state.clone().unwrap_or_else(|| self.default_state.clone()),
        }
    }

    /// Runs and steps of the exploration that is continued.
    fn before(&self) -> (u64, u64) {
        self.resumed.as_ref().map_or((0, 0), |state| (state.runs, state.steps))
    }

    /// Explores in this process.
    fn alone(
        self,
        context: &Context,
        args: &ExploreArgs,
        place: Where,
        worker: Option<(&Worker<ExploreProtocol>, WorkerExchange)>,
    ) -> Result<ExplorationResult, CliError> {
        let name = self.prepared.loaded.target.name.clone();
        let before = self.before();
        let (worker, exchange) = worker.unzip();
        let supervisor = worker.map(|worker| worker.channel.clone());
        let ends = supervisor.zip(exchange);
        let mut options = self.options;
        if worker.is_some() {
            // Those that were made before are nobody's share.
            options.runs_max = options.runs_max.saturating_add(before.0);
        }
        let mut keeper = ExplorationSink {
            stop: worker.map_or_else(stop_flag, Worker::stop_flag),
            confirmer: self.confirmers.0,
            place,
            watch: Stopwatch::start(),
            // The time of all workers is their supervisor's.
            time: time(context, args).filter(|_| worker.is_none()),
            verbose: is_verbose(context, args),
            kept: Vec::new(),
            said: ProgressMark::default(),
            worker: ends.map(|(supervisor, exchange)| WorkerEnds { supervisor, exchange, before }),
        };
        let mut exploration = Exploration::new(options, self.row, &self.start);
        let mut stories = Vec::new();
        if let Some(state) = self.resumed {
            exploration.resume(state.runs, state.steps);
            stories = state.stories;
        }
        let mut ground = ScenarioTarget::new(self.walker, self.confirmers.1);
        if let Some(worker) = worker {
            worker.channel.send(&WorkerEvent::Ready);
        }
        let mut stories = stories.into_iter();
        let ended = exploration.run(&mut ground, &mut stories, &mut keeper)?;
        let modules = ground.walker().coverage().count();
        let found = exploration.findings().all().iter().zip(&keeper.kept);
        let is_interrupted = ended == ExplorationEnd::Stopped && (keeper.stop)();
        let explored = ExplorationResult {
            stats: keeper.worker.as_ref().map_or(*exploration.stats(), |worker| worker.own(exploration.stats())),
            has_run: ground.walker().has_run(),
            edges_total: ground.walker().coverage().map(|(_, bytes)| bytes.len() as u64).sum(),
            taken: (0..modules).map(|module| exploration.taken(module)).collect(),
            traces: found
                .map(|(found, path)| FailureTrace {
                    path: path.clone(),
                    signature: found.verdict.signature.clone(),
                    found_at: found.found_at,
                    times: found.times,
                })
                .collect(),
            // Those that were not taken again are still worth it another time.
            stories: exploration.paths().chain(stories).collect(),
            earned: exploration
                .rewards()
                .into_iter()
                .map(|(dial, name, earned)| (dial.to_owned(), name.to_owned(), earned))
                .collect(),
            not_reached: match worker {
                Some(_) => Vec::new(),
                None => unreached(ground.walker(), &|module| exploration.taken(module), &name),
            },
            ended: if is_interrupted { "interrupted" } else { word(ended) }.to_owned(),
            ..ExplorationResult::default()
        };
        if let (Some(worker), Some(ends)) = (worker, &keeper.worker) {
            ends.exchange.conclude(&explored)?;
            worker.end(explored.stats, explored.ended.clone());
        }
        Ok(explored)
    }

    /// Explores in several processes.
    fn together(
        self,
        context: &Context,
        args: &ExploreArgs,
        place: Where,
        workers: u32,
    ) -> Result<ExplorationResult, CliError> {
        let explorers = ExploreWorkers {
            place: &place,
            workers,
            seed: self.options.seed,
            runs: Some(self.options.runs_max).filter(|runs| *runs < u64::MAX),
            before: self.before(),
            time: time(context, args),
            first_only: self.options.stop == StopCondition::FirstFinding,
            verbose: is_verbose(context, args),
            stop: stop_flag(),
        };
        let mut explored = explorers.run()?;
        explored.edges_total = self.walker.coverage().map(|(_, bytes)| bytes.len() as u64).sum();
        if explored.stories.is_empty() {
            // No worker was left to take them.
            explored.stories = self.resumed.map(|state| state.stories).unwrap_or_default();
        }
        let taken = &explored.taken;
        let of_module = |module: usize| taken.get(module).cloned().unwrap_or_default();
        explored.not_reached = unreached(&self.walker, &of_module, &self.prepared.loaded.target.name);
        Ok(explored)
    }
}

/// The defaults, the project's settings, the flags.
fn options(context: &Context, settings: &ExploreSettings, args: &ExploreArgs, role: Option<&WorkerRole>) -> Options {
    let of_project = settings.options();
    let own_seed = || args.seed.map_or(Seed(settings.seed), |argument| seed(context, argument));
    let runs_max = args.runs.unwrap_or(of_project.runs_max);
    Options {
        seed: role.map_or_else(own_seed, |role| role.seed),
        worker: role.map_or(0, |role| role.stream),
        runs_max: role.map_or(runs_max, |role| role.runs.unwrap_or(u64::MAX)),
        steps_per_run: args.steps.unwrap_or(of_project.steps_per_run),
        stop: match args.stop {
            None => StopCondition::Bounds,
            Some(StopArg::Saturated) => StopCondition::Saturated,
            Some(StopArg::Failure) => StopCondition::FirstFinding,
        },
        ..of_project
    }
}

/// Real time after which it ends; `None` when its runs are bounded instead.
fn time(context: &Context, args: &ExploreArgs) -> Option<fozzy_trace::Duration> {
    let settings = &context.project.config.explore;
    match (args.time, args.runs.or(settings.max_runs)) {
        (Some(time), _) => Some(time),
        (None, Some(_)) => None,
        (None, None) => Some(settings.max_time),
    }
}

fn is_verbose(context: &Context, args: &ExploreArgs) -> bool {
    args.verbose || context.project.config.explore.report.verbose
}

const fn word(ended: ExplorationEnd) -> &'static str {
    match ended {
        ExplorationEnd::Runs => "runs",
        ExplorationEnd::Stopped => "time",
        ExplorationEnd::Saturated => "saturated",
        ExplorationEnd::FirstFailure => "finding",
        ExplorationEnd::Exhausted => "exhausted",
    }
}

fn finding(found: &FailureTrace, recording: &Recording) -> ExploreFinding {
    ExploreFinding {
        signature: recording.outcome.verdict.signature.clone(),
        found_at: found.found_at,
        times: found.times,
        steps: recording.plan.scenario.as_ref().map_or(0, |scenario| scenario.flows),
        trace_path: found.path.display().to_string(),
        minimized_trace_path: None,
        minimized_steps: None,
    }
}

fn reward((dial, name, earned): &(String, String, Reward)) -> ExploreReward {
    let Reward { runs, steps, found } = *earned;
    ExploreReward { dial: dial.clone(), name: name.clone(), runs, steps, found }
}

fn summary(explored: &ExplorationResult, base: &Base) -> ExploreSummary {
    let stats = &explored.stats;
    let estimate = stats.estimate();
    ExploreSummary {
        schedule: base.schedule.to_owned(),
        workers: base.workers,
        runs: stats.runs,
        steps: stats.steps,
        edges: stats.edges,
        edges_total: explored.edges_total,
        features: stats.features,
        states: stats.states,
        checkpoints: stats.checkpoints,
        fails: stats.failures,
        lost: stats.lost,
        cut: stats.cut,
        last_new: stats.last_new,
        estimated_undiscovered_edges: estimate.undiscovered,
        chance_of_new_edge: estimate.next_is_new,
        earned: explored.earned.iter().map(reward).collect(),
        not_reached: explored.not_reached.clone(),
        failures: Vec::new(),
        seeds: Vec::new(),
        ended: explored.ended.clone(),
        workers_lost: explored.workers_lost,
        workers_restarted: explored.workers_restarted,
    }
}
