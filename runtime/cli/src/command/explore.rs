//! `fozzy explore`: goes many ways through the flows of a scenario, guided by what it sees.
//!
//! ```text
//! target ─▶ plan ─▶ walker ─┬─▶ exploration ───────────────┬─▶ findings made smaller ─▶ summary
//!                           └─▶ one in each of N processes ─┘
//!                                └─▶ traces, at once
//! ```
//!
//! Invariant: with one worker, what is found depends on target, plan, seed and flags; the clock only ends it.

use super::maximize::{self, SearchFacts};
use super::run::{conclude, say_other_name, seed};
use super::worker::{Worker, stop_flag};
use crate::args::{ExploreArgs, StopArg};
use crate::context::{Context, exit_as_told};
use crate::error::{CliError, ErrorKind};
use crate::interrupt;
use fozzy_campaign::error::DeferredError;
use fozzy_campaign::explore::cluster::ClusterRequest;
use fozzy_campaign::explore::exchange::WorkerExchange;
use fozzy_campaign::explore::generated::{COVERING_MAX, GeneratedTests, covering};
use fozzy_campaign::explore::result::{ExploreProtocol, FailureTrace, UnkeptFailure};
use fozzy_campaign::explore::saved_failures::{FoundFailure, RunOfToday, SavedFailure, SavedFailures};
use fozzy_campaign::explore::settings::{ExploreBounds, ExploreSettings};
use fozzy_campaign::explore::setup::{ExplorationSetup, ExploreRequest, ExploreRun, WorkerPart};
use fozzy_campaign::explore::state::ExploreState;
use fozzy_campaign::explore::stateful_target::PathConfirmer;
use fozzy_campaign::inputs::is_trace;
use fozzy_campaign::maximize::CostMetric;
use fozzy_campaign::options::{RunRequest, StopFlag};
use fozzy_campaign::pipeline::{LoadedTarget, PreparedProgram, RunPlan, identity, kept, load, session_of};
use fozzy_campaign::profile::unchecked_heap;
use fozzy_campaign::program_place::ProgramPlace;
use fozzy_campaign::scenario::ScenarioFile;
use fozzy_campaign::scenario_steps::write_smaller;
use fozzy_campaign::search_clock::given_up_warning;
use fozzy_campaign::selector;
use fozzy_campaign::sequence::failing_run;
use fozzy_campaign::shrink::{ShrunkTrace, shrink_beside};
use fozzy_campaign::store::store_error;
use fozzy_campaign::trace_destination::TraceDestination;
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_campaign::workers::{WorkerRole, failed_workers};
use fozzy_check::judge;
use fozzy_engine::Interrupt;
use fozzy_report::{ExploreFinding, RunMode, RunSummary, SeedState};
use fozzy_search::explore::{DecisionPath, Options, StopCondition};
use fozzy_search::source_of;
use fozzy_trace::file::store::{CollisionPolicy, check_target};
use fozzy_trace::file::{RecordedOutcome, Recording};
use fozzy_trace::plan::FUEL_DEFAULT;
use fozzy_trace::{Execution, Executor, Seed, Status, Verdict, counted};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn explore(context: &Context, args: &ExploreArgs) -> Result<ExitCode, CliError> {
    if let Some(worker) = Worker::of_process()? {
        return Ok(worker.run(|worker| part(context, args, worker)));
    }
    let collision: CollisionPolicy = args.record_collision.into();
    if let Some(path) = &args.record {
        check_target(path, collision).map_err(store_error)?;
    }
    let generated = args.generate_tests.as_ref().map(|file| GeneratedTests::new(file, &args.target)).transpose()?;
    let (mut prepared, bounds) = setup(context, args, None, stop_flag)?;
    if bounds.runs != args.runs.or(context.project.config.explore.max_runs) {
        let what = format!("{} by {}", counted(bounds.runs.unwrap_or_default(), "run"), bounds.schedule.name);
        context.printer.remark(&format!("{what}, as version 1 ends; --runs N or --time D explores more\n"));
    }
    let watch = Stopwatch::start();
    if let Some(metric) = &args.maximize {
        return maximize(context, args, metric, (prepared, &bounds), &watch);
    }
    let base = base(&prepared, context, args);
    let has_seeds = context.project.config.explore.seeds && !args.no_seeds;
    let seeds = SavedFailures::of_loaded(&context.project.config.base_dir, &base.prepared.loaded);
    let mut standings = match has_seeds {
        true => {
            let run = RunOfToday { planned: &base.prepared.planned, plan_file: args.world.plan.as_deref() };
            seeds.standings(&context.project, &base.prepared.loaded, Some(&run))?
        }
        false => Vec::new(),
    };
    for standing in standings.iter().filter(|standing| standing.state.is_failure()) {
        let signature = standing.failure().map(ToString::to_string).unwrap_or_default();
        let conditions = standing.other_conditions.as_ref().map(|words| format!(", {words}")).unwrap_or_default();
        context.printer.remark(&format!(
            "{}: {signature}{conditions}\n  {}\n",
            standing.state.word(),
            standing.path.display()
        ));
    }
    if args.stop() == Some(StopArg::Failure) && standings.iter().any(SavedFailure::decides) {
        // It is the failure that was asked for.
        prepared.options.runs_max = 0;
        context
            .printer
            .remark("a saved failure is still there, so nothing is explored; --no-seeds does not try them\n");
    }
    for obstacle in prepared.target.obstacles() {
        context.printer.remark(&format!("places are reached by calling again, because {obstacle}\n"));
    }
    let folder = context.runs.begin()?;
    let destination = TraceDestination { folder: folder.path.clone(), record: args.record.clone(), collision };
    let stop = StopFlag::clone(&prepared.stop);
    let mut run = run_of(context, args, &bounds, destination);
    // Where nothing is kept of the run, nothing is kept beside it either, but for what was asked for by name.
    let is_kept = folder.is_kept();
    run.state = (is_kept || args.save_state.is_some()).then(|| (base.state.clone(), base.place.clone()));
    let mut explored = match base.workers {
        1 => prepared.alone(run, None)?,
        workers => prepared.together(run, workers)?,
    };
    if let (Some(why), 0, true) = (&explored.failure, explored.stats.runs, explored.traces.is_empty()) {
        return Err(failed_workers(why));
    }
    // They are long, and lent to the state until it is written.
    let paths = (std::mem::take(&mut explored.stories), std::mem::take(&mut explored.findings));
    let state = ExploreState::new(
        &base.prepared.loaded.component,
        &base.prepared.planned.plan,
        (base.seed.0, explored.stats.runs, explored.stats.steps),
        paths,
    )
    .knowing(explored.known.clone())
    .at(base.place.as_ref());
    // What was found is kept, whether or not it can be gone on from.
    let state_written = if is_kept || args.save_state.is_some() { state.write(&base.state) } else { Ok(()) };
    (explored.stories, explored.findings) = (state.stories, state.findings);

    let mut document = explored.summary(base.schedule, base.workers, base.before);
    let mut findings: Vec<(Verdict, Option<(Recording, &Path)>)> = Vec::new();
    let (mut unshrunk, mut shrink_time) = (0, explored.shrink_time);
    let mut lost = DeferredError::default();
    lost.note(state_written);
    for (number, found) in explored.traces.iter().enumerate() {
        if let Some(UnkeptFailure { verdict, steps, why }) = &found.unkept {
            lost.note::<()>(Err(CliError::new(ErrorKind::Store, why.clone())));
            document.failures.push(finding(found, *steps).unkept());
            findings.push((verdict.clone(), None));
            continue;
        }
        let recording = selector::read(&found.path)?;
        let steps = recording.plan.scenario.as_ref().map_or(0, |scenario| scenario.flows);
        let (mut failure, mut told) = (finding(found, steps), None);
        let wants = !args.no_shrink && !interrupt::is_asked_to_stop();
        let budget = shrink_time.share(explored.traces.len() - number).filter(|_| wants);
        // Where no time bounds it, what a failure becomes is not to depend on what was kept before.
        let goes_on = bounds.time.is_some() && budget.is_some();
        let is_begun = |saved: &&SavedFailure| goes_on && saved.is_begun_of(&recording);
        let begun = standings.iter().find(is_begun).map(|saved| saved.path.clone());
        let begin = Stopwatch::start();
        // Once nothing could be written, nothing more is tried.
        let smaller = budget.filter(|_| !lost.is_set());
        let smaller = smaller.map(|budget| shrink_beside(&found.path, begun.as_deref(), budget, args.shortest, &stop));
        let ShrunkTrace { written, is_minimal } = smaller.and_then(|smaller| lost.note(smaller)).unwrap_or_default();
        shrink_time = shrink_time.without(begin.elapsed_ns());
        failure.minimal = is_minimal;
        let is_late = wants && !lost.is_set() && !interrupt::is_asked_to_stop();
        unshrunk += u64::from(is_late && written.is_none() && !is_minimal);
        let begun = begun.filter(|_| written.is_some());
        if let Some((path, steps)) = written {
            let smallest = selector::read(&path)?;
            let file = lost.note(write_smaller(&context.project, &smallest, &path)).flatten();
            failure.minimized_scenario_path = file.map(|path| path.display().to_string());
            failure.minimized_trace_path = Some(path.display().to_string());
            failure.minimized_steps = Some(steps);
            told = failing_run(&smallest);
        }
        if let Some((sequence, facts)) = told.or_else(|| failing_run(&recording)) {
            failure.tell(sequence, &facts);
        }
        if has_seeds && is_kept {
            let smallest = failure.minimized_trace_path.as_ref().unwrap_or(&failure.trace_path);
            let (trace, signature) = (Path::new(smallest), failure.signature.as_ref());
            let found = FoundFailure { trace, is_minimal, signature, begun: begun.as_deref() };
            let found_in = (args.target.as_path(), args.world.plan.as_deref());
            lost.note(seeds.keep(&found, &mut standings, found_in));
        }
        document.failures.push(if context.keeps(args.record.as_deref()) { failure } else { failure.unkept() });
        findings.push((recording.outcome.verdict.clone(), Some((recording, &found.path))));
    }

    document.seeds = standings.iter().map(SavedFailure::document).collect::<Vec<SeedState>>();
    if unshrunk > 0 {
        let what = counted(unshrunk, "finding");
        context.printer.remark(&format!("the time is over: {what} not made smaller; fozzy shrink TRACE does it\n"));
    }
    if let Some(generated) = generated {
        let tests = generate(&generated, &base, &document.failures, &explored.stories)?;
        context.printer.remark(&format!(
            "{} in {}\n",
            counted(tests as u64, "test"),
            args.generate_tests.as_deref().unwrap_or(Path::new("")).display()
        ));
    }
    // The worst is reported first. The figures are those of its run, if there is one, and else those of a run from the
    // start.
    findings.sort_by_key(|(verdict, _)| Reverse(verdict.status.gravity()));
    let (verdicts, kept_findings): (Vec<_>, Vec<_>) = findings.into_iter().unzip();
    let worst = kept_findings.iter().flatten().next();
    let shown = match worst {
        Some((first, _)) => executed_again(first, &stop)?,
        None => Some(base.probe.clone()),
    };
    let (outcome, output) = match (&shown, worst) {
        // What is recorded has not what other machines have written.
        (None, Some((first, _))) => (first.outcome.clone(), (&*first.stdout, &*first.stderr).into()),
        (shown, _) => {
            let shown = shown.as_ref().unwrap_or(&base.probe);
            (RecordedOutcome::of(shown, judge(shown)), kept(shown))
        }
    };
    let first = explored.traces.iter().find(|found| found.unkept.is_none()).map(|found| found.path.as_path());
    let trace = worst.map(|(_, path)| *path).filter(|_| context.keeps(args.record.as_deref()));
    let identity = identity(&folder, base.seed, trace);
    let target = base.prepared.loaded.summary();
    let mut summary = RunSummary::of(RunMode::Explore, identity, target, &outcome, output, watch.facts());
    let deciding = || standings.iter().filter(|seed| seed.decides());
    let statuses = verdicts.iter().map(|verdict| verdict.status).chain(deciding().map(|seed| seed.status));
    let statuses = statuses.chain(explored.failure.as_ref().map(|_| Status::Error));
    summary.status = statuses.max_by_key(|status| status.gravity()).unwrap_or(Status::Pass);
    let found = verdicts.iter().filter_map(|verdict| Some((verdict.status, verdict.findings.first()?.clone())));
    let known = deciding().filter_map(|seed| Some((seed.status, seed.finding(&args.target)?)));
    let mut all: Vec<_> = found.chain(known).collect();
    all.sort_by_key(|(status, _)| Reverse(status.gravity()));
    summary = summary.finding(all.into_iter().map(|(_, finding)| finding).collect());
    let still_there = || deciding().next()?.failure().cloned();
    // No exit of the first run is that of a saved failure.
    summary.exit_code = summary.exit_code.filter(|_| !verdicts.is_empty() || deciding().next().is_none());
    summary.signature = verdicts.first().and_then(|verdict| verdict.signature.clone()).or_else(still_there);
    let nothing = explored.nothing_tested(&judge(&base.probe), base.before).filter(|_| summary.status == Status::Pass);
    if let Some(Verdict { status, findings, signature }) = nothing {
        (summary.status, summary.findings, summary.signature) = (status, findings, signature);
    }
    summary.interrupted = document.ended == "interrupted" || interrupt::is_asked_to_stop();
    summary.warnings.extend(given_up_warning(explored.given_up, &base.prepared.planned.plan.limits, FUEL_DEFAULT));
    summary.warnings.extend(unchecked_heap(&base.prepared.program));
    summary.explore = Some(document);
    conclude(context, &folder, context.format(args.reporter), &summary, lost)?;
    say_other_name(context, args.record.as_deref(), first);
    explored.failure.iter().for_each(|why| context.printer.remark(&format!("error: {}\n", failed_workers(why))));
    Ok(exit_as_told(summary.status, summary.interrupted))
}

/// The run of a recording once more; `None` where somebody asks for the end before it has come to its own.
fn executed_again(recording: &Recording, stop: &StopFlag) -> Result<Option<Execution>, CliError> {
    let interrupt = Interrupt::default();
    interrupt.arm(StopFlag::clone(stop));
    let mut session = session_of(recording)?;
    session.interrupt_by(interrupt);
    match session.execute(source_of(recording), 0..0) {
        Err(error) if error.is_interruption() => Ok(None),
        executed => Ok(Some(executed?)),
    }
}

/// Searches for the run that costs most, instead of failures.
fn maximize(
    context: &Context,
    args: &ExploreArgs,
    metric: &CostMetric,
    (prepared, bounds): (ExplorationSetup, &ExploreBounds),
    watch: &Stopwatch,
) -> Result<ExitCode, CliError> {
    let facts = SearchFacts {
        mode: RunMode::Explore,
        target: prepared.prepared.loaded.summary(),
        seed: prepared.options.seed,
        record: args.record.as_deref(),
        reporter: args.reporter,
    };
    let folder = context.runs.begin()?;
    let (record, collision) = (args.record.clone(), args.record_collision.into());
    let destination = TraceDestination { folder: folder.path.clone(), record, collision };
    let found = prepared.maximize(metric, run_of(context, args, bounds, destination));
    let found = found.inspect_err(|_| folder.discard())?;
    maximize::show(context, &folder, facts, found, watch)
}

/// The part of one of several workers.
fn part(context: &Context, args: &ExploreArgs, worker: &Worker<ExploreProtocol>) -> Result<(), CliError> {
    let (prepared, bounds) = setup(context, args, Some(&worker.role), || worker.stop_flag())?;
    let exchange = WorkerExchange::open(&worker.role, &context.project.config.explore)?;
    let destination = TraceDestination { folder: exchange.own(), record: None, collision: CollisionPolicy::Overwrite };
    let part = WorkerPart { channel: worker.channel.clone(), exchange, is_complete: &|| worker.is_complete() };
    // Its supervisor knows the risk of all together.
    let run = ExploreRun { until: None, ..run_of(context, args, &bounds, destination) };
    prepared.alone(run, Some(part)).map(drop)
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
    let kept = failures.iter().filter(|failure| !failure.trace_path.is_empty());
    let mut recordings: Vec<Recording> = kept.map(smallest).collect::<Result<_, _>>()?;
    let mut confirmer = PathConfirmer::new(&base.prepared, base.seed)?;
    for story in covering(stories, COVERING_MAX) {
        let recording = confirmer.record(story)?;
        // What fails is among the failures, smaller.
        if recording.outcome.verdict.status == Status::Pass {
            recordings.push(recording);
        }
    }
    generated.write(&recordings)
}

/// What is still needed when it is over.
struct Base {
    prepared: PreparedProgram,
    probe: Execution,
    seed: Seed,
    schedule: &'static str,
    workers: u32,
    place: Option<ProgramPlace>,
    state: PathBuf,
    /// Runs of the exploration that is continued.
    before: Option<u64>,
}

/// What is explored, as flags and settings say.
fn setup(
    context: &Context,
    args: &ExploreArgs,
    role: Option<&WorkerRole>,
    stop: impl FnOnce() -> StopFlag,
) -> Result<(ExplorationSetup, ExploreBounds), CliError> {
    let settings = &context.project.config.explore;
    let recorded = is_trace(&args.target).then(|| selector::read(&args.target)).transpose()?;
    let loaded = match &recorded {
        Some(recording) => LoadedTarget::of_recording(recording),
        None => load(&args.target, &context.project.remarks)?,
    };
    let is_version_1 = loaded.scenario.as_ref().is_some_and(ScenarioFile::is_version_1);
    let bounds = match args.until_risk {
        Some(_) => settings.bounds_until_risk(args.schedule, args.runs, args.time),
        None => settings.bounds(args.schedule, args.runs, args.time, is_version_1),
    };
    let request = ExploreRequest {
        strategy: bounds.schedule,
        options: options(context, (settings, &bounds), args, role),
        steps: args.steps,
        run: RunRequest {
            args: args.args.clone(),
            limits: args.limits.options(),
            world: args.world.options(),
            criteria: args.criteria.options(),
            fuel_default: None,
        },
        planned: recorded.as_ref().map(RunPlan::of_recording),
        cluster: ClusterRequest { nodes: args.nodes, checkers: &args.checker },
        resume: args.resume.as_ref().map(Option::as_deref),
        seed_of_state: args.seed.is_none() && role.is_none(),
        time: bounds.time.filter(|_| role.is_none()),
        // What is loaded may be built first, which a signal ends.
        stop: stop(),
        only_simulated: false,
    };
    Ok((ExplorationSetup::new(&context.project, loaded, &request)?, bounds))
}

fn base(setup: &ExplorationSetup, context: &Context, args: &ExploreArgs) -> Base {
    Base {
        prepared: setup.prepared.clone(),
        probe: setup.probe.clone(),
        seed: setup.options.seed,
        schedule: setup.strategy.name,
        workers: args.workers.unwrap_or(context.project.config.explore.workers).max(1),
        place: setup.place.clone(),
        state: args.save_state.clone().unwrap_or_else(|| setup.state_path.clone()),
        before: args.resume.as_ref().map(|_| setup.before().0),
    }
}

fn run_of(context: &Context, args: &ExploreArgs, bounds: &ExploreBounds, destination: TraceDestination) -> ExploreRun {
    let verbose = args.verbose || context.project.config.explore.report.verbose;
    let (runs, until, remarks) = (bounds.runs, args.until_risk, context.project.remarks.clone());
    ExploreRun { destination, runs, until, verbose, remarks, state: None, shrinks: !args.no_shrink }
}

/// The defaults, the project's settings, the flags.
fn options(
    context: &Context,
    (settings, bounds): (&ExploreSettings, &ExploreBounds),
    args: &ExploreArgs,
    role: Option<&WorkerRole>,
) -> Options {
    let of_project = settings.options();
    let own_seed = || args.seed.map_or(Seed(settings.seed), |argument| seed(context, argument));
    let runs_max = bounds.runs.unwrap_or(of_project.runs_max);
    Options {
        seed: role.map_or_else(own_seed, |role| role.seed),
        worker: role.map_or(0, |role| role.stream),
        runs_max: role.map_or(runs_max, |role| role.runs.unwrap_or(u64::MAX)),
        steps_per_run: args.steps.unwrap_or(of_project.steps_per_run),
        stop: match args.stop() {
            None => StopCondition::Bounds,
            Some(StopArg::Saturated) => StopCondition::Saturated,
            Some(StopArg::Failure) => StopCondition::FirstFinding,
        },
        ..of_project
    }
}

fn finding(found: &FailureTrace, steps: u32) -> ExploreFinding {
    ExploreFinding {
        signature: found.signature.clone(),
        found_at: found.found_at,
        times: found.times,
        steps,
        trace_path: found.path.display().to_string(),
        minimized_trace_path: None,
        minimized_steps: None,
        minimal: false,
        minimized_scenario_path: None,
        sequence: None,
        faults: Vec::new(),
        power_losses: Vec::new(),
        input: Vec::new(),
    }
}
