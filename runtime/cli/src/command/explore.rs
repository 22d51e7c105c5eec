//! `fozzy explore`: goes many ways through the flows of a scenario, guided by what it sees.
//!
//! ```text
//! target ─▶ plan ─▶ walker ─▶ exploration ─▶ findings made smaller ─▶ summary
//!                              └─▶ traces, at once
//! ```
//!
//! Invariant: what is found depends on target, plan, seed and flags; the clock only ends it.

use super::run::{collision, identity, kept, print, seed};
use super::shrink::smaller;
use super::{Context, exit};
use crate::args::{ExploreArgs, ReporterArg, StopArg};
use crate::error::CliError;
use crate::explore::ground::{Confirmer, ScenarioGround, walk_error};
use crate::explore::keeper::{Keeper, Said, Where};
use crate::explore::seeds::{Kept, Seeds, Standing};
use crate::explore::settings::ExploreSettings;
use crate::explore::state::ExploreState;
use crate::explore::unreached::unreached;
use crate::interrupt;
use crate::plan::plan;
use crate::store::store_error;
use crate::target;
use crate::wall::Stopwatch;
use fozzy_check::judge;
use fozzy_engine::Walker;
use fozzy_report::{ExploreFinding, ExploreSummary, Mode, RunSummary};
use fozzy_search::explore::{Answers, Ended, Exploration, Options, Stop, Story, Walk, strategy};
use fozzy_trace::file::Outcome;
use fozzy_trace::file::store::check_target;
use fozzy_trace::plan::ScenarioPlan;
use fozzy_trace::{Seed, Status};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Real time that is spent on making one finding smaller.
const SHRINK_TIME: Duration = Duration::from_secs(30);

pub(crate) fn explore(context: &Context, args: &ExploreArgs) -> Result<ExitCode, CliError> {
    let settings = &context.config.explore;
    let collision = collision(args.record_collision);
    if let Some(path) = &args.record {
        check_target(path, collision).map_err(store_error)?;
    }
    let options = options(context, settings, args);
    let schedule = args.schedule.unwrap_or(settings.schedule);
    let row = strategy(schedule.name()).ok_or_else(|| CliError::new("internal", "a strategy is missing".to_owned()))?;
    let loaded = target::load(&args.target)?;
    let name = loaded.target.name.clone();
    let mut planned = plan(&context.globals, &context.config, &name, &args.args, &args.limits, &args.world)?;
    planned.plan.scenario = Some(ScenarioPlan::all(1, options.steps_per_run));
    let program = target::compile(Arc::clone(&loaded.component), &planned.plan, &name)?;
    let confirmer = || {
        let session = target::session(program.clone(), &planned.plan, &planned.inputs)?;
        Ok::<_, CliError>(Confirmer::new(session, planned.plan.clone(), planned.inputs.clone(), options.seed))
    };
    let (mut keeping, confirming) = (confirmer()?, confirmer()?);
    let start = Answers::default();
    let first = Box::new(Walk::first(options.seed, &start));
    let walker =
        Walker::new(Arc::clone(&loaded.component), &planned.plan, &planned.inputs, target::cache().as_ref(), first);
    let walker = walker.map_err(|error| walk_error(&name, &error))?;
    for obstacle in walker.obstacles() {
        context.printer.remark(&format!("places are reached by calling again, because {obstacle}\n"));
    }
    // What cannot be run at all is found out here, by a run that has the same beginning.
    let probe = keeping.execute(&Story { answers: start.so_far(), steps: 1 }, 0..0)?;
    let summary_target = loaded.summary();
    let has_seeds = settings.seeds && !args.no_seeds;
    let seeds = Seeds::of(&context.config.base_dir, &name);
    let standings = if has_seeds { seeds.standings(&loaded)? } else { Vec::new() };
    for standing in standings.iter().filter(|standing| standing.state == Kept::StillThere) {
        let signature = standing.signature.as_ref().map(ToString::to_string).unwrap_or_default();
        context.printer.remark(&format!("still there: {signature}\n  {}\n", standing.path.display()));
    }
    let default_state = context.config.base_dir.join("explore").join(format!("{name}.json"));
    let resumed = match &args.resume {
        None => None,
        Some(path) => {
            let path = if path.as_os_str().is_empty() { &default_state } else { path };
            Some(ExploreState::read(path, &loaded.component, &planned.plan)?)
        }
    };
    let state_path = args.save_state.clone().unwrap_or(default_state);
    let folder = context.runs.begin()?;
    let mut keeper = Keeper {
        printer: context.printer,
        confirmer: keeping,
        target: loaded.target,
        component: loaded.component,
        inputs: planned.inputs.clone(),
        seed: options.seed,
        place: Where { folder: folder.path.clone(), record: args.record.clone(), collision },
        watch: Stopwatch::start(),
        time: match (args.time, args.runs.or(settings.max_runs)) {
            (Some(time), _) => Some(time),
            (None, Some(_)) => None,
            (None, None) => Some(settings.max_time),
        },
        verbose: args.verbose || settings.report.verbose,
        kept: Vec::new(),
        said: Said::default(),
    };
    let seed = options.seed;
    let mut exploration = Exploration::new(options, row, &start);
    let mut stories = Vec::new();
    if let Some(state) = resumed {
        exploration.resume(state.runs, state.steps);
        stories = state.stories;
    }
    let mut ground = ScenarioGround::new(walker, confirming);
    interrupt::ask_me_to_stop();
    let ended = exploration.run(&mut ground, &mut stories.into_iter(), &mut keeper)?;
    let numbers = (seed.0, exploration.stats().runs, exploration.stats().steps);
    let state = ExploreState::new(&keeper.component, &planned.plan, numbers, exploration.stories().collect());
    state.write(&state_path)?;

    let ended = if interrupt::is_asked_to_stop() { "interrupted" } else { word(ended) };
    let mut explore = summary(&exploration, &ground, schedule.name(), ended);
    explore.not_reached = unreached(ground.walker(), &exploration, &name);
    explore.seeds = standings.iter().map(Standing::document).collect();
    for (number, found) in exploration.findings().all().iter().enumerate() {
        let trace = &keeper.kept[number];
        let mut failure = ExploreFinding {
            signature: found.verdict.signature.clone(),
            found_at: found.found_at,
            times: found.times,
            steps: found.input.steps,
            trace_path: trace.display().to_string(),
            minimized_trace_path: None,
            minimized_steps: None,
        };
        if !args.no_shrink
            && !interrupt::is_asked_to_stop()
            && let Some((path, steps)) = smaller(trace, SHRINK_TIME)?
        {
            failure.minimized_trace_path = Some(path.display().to_string());
            failure.minimized_steps = Some(steps);
        }
        if has_seeds {
            let smallest = failure.minimized_trace_path.as_ref().unwrap_or(&failure.trace_path);
            seeds.keep(Path::new(smallest), failure.signature.as_ref(), &standings, &args.target)?;
        }
        explore.failures.push(failure);
    }

    let outcome = Outcome::of(&probe, judge(&probe));
    let identity = identity(&folder, seed, keeper.kept.first().map(|path| path.as_path()));
    let mut summary =
        RunSummary::of(Mode::Explore, identity, summary_target, &outcome, kept(&probe), keeper.watch.facts());
    let findings = exploration.findings().all();
    let statuses = findings.iter().map(|found| found.verdict.status).chain(standings.iter().map(|seed| seed.status));
    summary.status = statuses.max_by_key(|status| status.gravity()).unwrap_or(Status::Pass);
    summary.findings = findings.iter().filter_map(|found| found.verdict.findings.first().cloned()).collect();
    let still_there = || standings.iter().find(|seed| seed.state == Kept::StillThere)?.signature.clone();
    summary.signature = findings.first().and_then(|found| found.verdict.signature.clone()).or_else(still_there);
    summary.explore = Some(explore);
    context.runs.finish(&folder, &summary)?;
    let json = context.printer.json || args.reporter == ReporterArg::Json;
    print(context, json, &summary)?;
    Ok(exit(summary.status))
}

/// The defaults, the project's settings, the flags.
fn options(context: &Context, settings: &ExploreSettings, args: &ExploreArgs) -> Options {
    let of_project = settings.options();
    let seed = args.seed.map_or(Seed(settings.seed), |argument| seed(context, argument));
    Options {
        seed,
        runs_max: args.runs.unwrap_or(of_project.runs_max),
        steps_per_run: args.steps.unwrap_or(of_project.steps_per_run),
        stop: match args.stop {
            None => Stop::Bounds,
            Some(StopArg::Saturated) => Stop::Saturated,
            Some(StopArg::Failure) => Stop::FirstFinding,
        },
        ..of_project
    }
}

const fn word(ended: Ended) -> &'static str {
    match ended {
        Ended::Runs => "runs",
        Ended::Stopped => "time",
        Ended::Saturated => "saturated",
        Ended::Found => "finding",
        Ended::Exhausted => "exhausted",
    }
}

fn summary(exploration: &Exploration, ground: &ScenarioGround, schedule: &str, ended: &str) -> ExploreSummary {
    let stats = exploration.stats();
    let estimate = stats.estimate();
    ExploreSummary {
        schedule: schedule.to_owned(),
        workers: 1,
        runs: stats.runs,
        steps: stats.steps,
        edges: stats.edges,
        edges_total: ground.walker().coverage().map(|(_, bytes)| bytes.len() as u64).sum(),
        features: stats.features,
        states: stats.states,
        checkpoints: stats.checkpoints,
        fails: stats.failures,
        lost: stats.lost,
        last_new: stats.last_new,
        estimated_undiscovered_edges: estimate.undiscovered,
        chance_of_new_edge: estimate.next_is_new,
        ended: ended.to_owned(),
        ..ExploreSummary::default()
    }
}
