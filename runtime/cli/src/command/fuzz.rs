//! `fozzy fuzz`: searches for inputs that make a function of a program fail.
//!
//! ```text
//! target ─▶ which function? ─▶ one run on the empty input ─▶ campaign ─▶ summary, coverage.json
//!                                                             │ └─▶ corpus, at once
//!                                                             └───▶ findings, at once
//! ```
//!
//! Invariant: what is found depends on target, plan, seed, corpus and flags; the clock only ends it.

use super::maximize::{self, SearchFacts};
use super::run::{conclude, say_other_name, seed};
use super::test::{is_on_github, source_here};
use super::worker::{Worker, stop_flag};
use crate::args::{ExitCodesArg, FuzzArgs};
use crate::context::{Context, exit_as_told};
use crate::error::{CliError, ErrorKind, at_path};
use crate::output::{self, EXIT_ERROR};
use fozzy_campaign::Remarks;
use fozzy_campaign::fuzz::cargo::CargoFuzz;
use fozzy_campaign::fuzz::choose::EntryPointChoice;
use fozzy_campaign::fuzz::kept_name::KeptName;
use fozzy_campaign::fuzz::known::KnownFindings;
use fozzy_campaign::fuzz::open::FUEL_OF_A_CALL;
use fozzy_campaign::fuzz::protocol::FuzzProtocol;
use fozzy_campaign::fuzz::settings::{dictionary, mutator};
use fozzy_campaign::fuzz::setup::{CampaignPart, CampaignSetup, FuzzRequest, FuzzRun};
use fozzy_campaign::fuzz::summary::{CampaignReport, TESTCASES_FILE};
use fozzy_campaign::options::{RunRequest, StopFlag, WorldOptions};
use fozzy_campaign::pipeline::{PreparedProgram, identity, kept, load};
use fozzy_campaign::profile::unchecked_heap;
use fozzy_campaign::search_clock::{given_up_warning, nothing_tried};
use fozzy_campaign::selector;
use fozzy_campaign::store::{self, RunFolder, store_error};
use fozzy_campaign::trace_destination::TraceDestination;
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_campaign::workers::{WorkerRole, failed_workers};
use fozzy_check::judge;
use fozzy_report::{FuzzFinding, RunMode, RunSummary, finding_annotations, sarif};
use fozzy_search::fuzz::Options;
use fozzy_trace::file::RecordedOutcome;
use fozzy_trace::file::store::{CollisionPolicy, Durability, check_target, write_atomic};
use fozzy_trace::{Execution, Finding, FindingKind, Seed, Status};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn fuzz(context: &Context, args: &FuzzArgs) -> Result<ExitCode, CliError> {
    match Worker::of_process()? {
        Some(worker) => Ok(worker.run(|worker| campaign(context, args, Some(worker)).map(|_| ()))),
        None => campaign(context, args, None),
    }
}

/// All of it, or the part of one worker.
fn campaign(context: &Context, args: &FuzzArgs, worker: Option<&Worker<FuzzProtocol>>) -> Result<ExitCode, CliError> {
    let watch = Stopwatch::start();
    let role: Option<&WorkerRole> = worker.map(|worker| &worker.role);
    let seed = role.map_or_else(|| seed(context, args.seed), |role| role.seed);
    let collision: CollisionPolicy = args.record_collision.into();
    if args.det && args.jobs > 1 {
        let message = "--det: a campaign with several workers is not reproducible";
        return Err(CliError::new(ErrorKind::Usage, message).hint("leave out --jobs, or --det"));
    }
    if let Some(path) = args.record.as_ref().filter(|_| worker.is_none()) {
        check_target(path, collision).map_err(store_error)?;
    }
    let search = search(args, seed, role)?;
    let cargo = args.cargo_fuzz.as_ref().map(|folder| CargoFuzz::new(folder, &args.target)).transpose()?;
    let words = args.dict.clone().or_else(|| cargo.as_ref()?.dictionary());
    let dictionary = words.as_deref().map(dictionary).transpose()?.unwrap_or_default();
    let loaded = match &cargo {
        Some(cargo) => load(&cargo.build(&context.project.remarks)?, &context.project.remarks)?,
        None => load(&args.target, &context.project.remarks)?,
    };
    let stop = worker.map_or_else(stop_flag, Worker::stop_flag);
    let setup = CampaignSetup::new(&context.project, loaded, &request(args, seed, role.is_none(), stop)?)?;
    let base = Base { prepared: setup.prepared.clone(), probe: setup.probe.clone(), seed };
    if !setup.words.inputs.is_empty() {
        let own = context.runs.begin()?;
        let runs = setup.inputs(&own.path, &context.project.remarks)?;
        let probe = runs.last.expect("an input was named");
        return show(context, args, Base { probe, ..base }, own, runs.report, &watch);
    }
    let mut corpus = setup.corpus(args.corpus.as_deref(), cargo.as_ref(), &context.project.config.base_dir)?;
    let seeds = corpus.seeds(search.input_bytes_max)?;
    let own = if worker.is_none() { Some(context.runs.begin()?) } else { None };
    let folder = role.map(|role| &role.folder).or(own.as_ref().map(|own| &own.path)).expect("it has begun").clone();
    let artifacts = cargo.map(|cargo| cargo.artifacts().map(|folder| (cargo, folder))).transpose()?;
    let run = FuzzRun {
        corpus,
        seeds,
        dictionary,
        search,
        destination: TraceDestination { folder, record: args.record.clone(), collision },
        artifacts,
        runs: args.runs,
        until: args.until_risk.filter(|_| worker.is_none()),
        remarks: if worker.is_none() { context.project.remarks.clone() } else { Remarks::none() },
    };
    setup.announce(&run);
    if let (Some(metric), Some(own)) = (&args.maximize, &own) {
        let facts = SearchFacts {
            mode: RunMode::Fuzz,
            target: base.prepared.loaded.summary(),
            seed,
            record: args.record.as_deref(),
            reporter: args.reporter,
        };
        let found = setup.maximize(metric, run).inspect_err(|_| own.discard())?;
        return maximize::show(context, own, facts, found, &watch);
    }
    let report = match worker {
        None if args.jobs > 1 => setup.together(run, args.jobs)?,
        None => setup.alone(run, None)?,
        Some(worker) => {
            let part = CampaignPart { channel: worker.channel.clone(), is_complete: &|| worker.is_complete() };
            setup.alone(run, Some(part))?
        }
    };
    // What a worker has found, its supervisor shows.
    let Some(own) = own else { return Ok(ExitCode::SUCCESS) };
    if report.fuzz.executions == 0
        && let Some(why) = &report.failure
    {
        return Err(failed_workers(why));
    }
    if report.fuzz.executions == 0 && report.fuzz.ended == "time" {
        own.discard();
        return Err(nothing_tried(&base.prepared.loaded.target.name));
    }
    show(context, args, base, own, report, &watch)
}

/// How inputs are made, and which bounds this process has.
fn search(args: &FuzzArgs, seed: Seed, role: Option<&WorkerRole>) -> Result<Options, CliError> {
    Ok(Options {
        seed,
        stream: role.map_or(0, |role| role.stream),
        executions_max: role.map_or(args.runs, |role| role.runs).unwrap_or(u64::MAX),
        input_bytes_max: args.max_input as usize,
        only: args.mutator.as_deref().map(mutator).transpose()?,
        minimize: !args.no_minimize,
        first_only: args.crash_only,
    })
}

/// What is searched, and how it is run.
fn request(args: &FuzzArgs, seed: Seed, is_timed: bool, stop: StopFlag) -> Result<FuzzRequest<'_>, CliError> {
    let (world, stdin) = stdin(args)?;
    Ok(FuzzRequest {
        target: &args.target,
        words: &args.words,
        choice: EntryPointChoice {
            stdin,
            file: args.input_file.as_deref(),
            argument: args.arg,
            http: args.http,
            function: args.exported.as_deref(),
            mode: args.mode.map(Into::into),
            flows: args.flows,
            is_of_cargo_fuzz: args.cargo_fuzz.is_some(),
        },
        seed,
        run: RunRequest {
            args: args.args.clone(),
            limits: args.limits.options(),
            world,
            criteria: args.criteria.options(),
            fuel_default: None,
        },
        exits_fail: args.fail_on_exit,
        time: args.time.filter(|_| is_timed),
        stop,
        only_simulated: false,
    })
}

/// What is still needed when it is over.
struct Base {
    prepared: PreparedProgram,
    /// A run whose figures are shown when nothing was found.
    probe: Execution,
    seed: Seed,
}

/// The report, and the exit code. Figures are those of the first finding; without one, of the probe.
fn show(
    context: &Context,
    args: &FuzzArgs,
    base: Base,
    own: RunFolder,
    mut report: CampaignReport,
    watch: &Stopwatch,
) -> Result<ExitCode, CliError> {
    let Base { prepared, probe, seed } = base;
    let mut lost = std::mem::take(&mut report.lost);
    let name = KeptName::of(&context.project.config.base_dir, &prepared.loaded);
    let known = KnownFindings::of(name, &report.fuzz.function);
    known.mark(&mut report.fuzz.findings);
    let smallest = |finding: &FuzzFinding| finding.minimized_trace_path.clone().unwrap_or(finding.trace_path.clone());
    let mut traced = report.fuzz.findings.iter().filter(|finding| !finding.trace_path.is_empty());
    let trace = traced.next().map(|finding| PathBuf::from(smallest(finding)));
    let keeps = context.keeps(args.record.as_deref());
    let identity = identity(&own, seed, trace.as_deref().filter(|_| keeps));
    let found = trace.as_deref().map(selector::read).transpose()?;
    let (outcome, output) = match &found {
        Some(found) => (found.outcome.clone(), (&*found.stdout, &*found.stderr).into()),
        None => (RecordedOutcome::of(&probe, judge(&probe)), kept(&probe)),
    };
    let target = prepared.loaded.summary();
    let mut summary = RunSummary::of(RunMode::Fuzz, identity, target, &outcome, output, watch.facts());
    summary.status = report.status();
    summary = summary.finding(report.findings.iter().map(|(finding, _)| finding.clone()).collect());
    summary.signature = report.fuzz.findings.first().and_then(|finding| finding.signature.clone());
    lost.note(store::write_json(&own.path.join("coverage.json"), &report.fuzz.coverage));
    if !report.testcases.is_empty() {
        let lines: String = report.testcases.iter().map(|name| format!("{name}\n")).collect();
        lost.note(store::write_output(&own.path.join(TESTCASES_FILE), lines.as_bytes()));
    }
    let asked = report
        .fuzz
        .findings
        .iter()
        .find(|finding| !finding.trace_path.is_empty())
        .map(|finding| PathBuf::from(&finding.trace_path));
    if keeps {
        known.remember(&report.fuzz.findings);
    } else {
        report.fuzz = report.fuzz.unkept();
    }
    summary.interrupted = report.fuzz.ended == "interrupted";
    summary.warnings.extend(given_up_warning(report.given_up, &prepared.planned.plan.limits, FUEL_OF_A_CALL));
    summary.warnings.extend(unchecked_heap(&prepared.program));
    summary.time_spent = (report.spent.total_ns() > 0).then_some(report.spent);
    summary.fuzz = Some(report.fuzz.clone());
    tell_tools(args, &summary)?;
    conclude(context, &own, context.format(args.reporter), &summary, lost)?;
    say_other_name(context, args.record.as_deref(), asked.as_deref());
    report.failure.iter().for_each(|why| context.printer.remark(&format!("error: {}\n", failed_workers(why))));
    Ok(match args.exit_codes {
        ExitCodesArg::Fozzy => exit_as_told(summary.status, summary.interrupted),
        ExitCodesArg::Libfuzzer => exit_as_libfuzzer(&report),
    })
}

/// The codes of libFuzzer, of the first finding.
fn exit_as_libfuzzer(report: &CampaignReport) -> ExitCode {
    let code = |(finding, status): &(Finding, Status)| {
        let memory = finding.kind == FindingKind::Trap && finding.title == "out of memory";
        match status {
            Status::Pass => 0,
            Status::Timeout => 70,
            Status::Crash if memory => 71,
            Status::Crash | Status::Fail => 77,
            Status::Error => EXIT_ERROR,
        }
    };
    let none = if report.failure.is_some() { EXIT_ERROR } else { 0 };
    ExitCode::from(report.findings.first().map_or(none, code))
}

/// What else wants to know: a file in SARIF, and GitHub.
fn tell_tools(args: &FuzzArgs, summary: &RunSummary) -> Result<(), CliError> {
    if let Some(path) = &args.sarif {
        let text = sarif(summary, env!("CARGO_PKG_VERSION"), source_here);
        write_atomic(path, text.as_bytes(), Durability::Cached)
            .map_err(|error| at_path(ErrorKind::Sarif, "cannot write", path, &error))?;
    }
    if is_on_github() {
        output::say(&finding_annotations(summary, source_here));
    }
    Ok(())
}

/// What the flags say of the world, and whether inputs are standard input.
fn stdin(args: &FuzzArgs) -> Result<(WorldOptions, bool), CliError> {
    let mut world = args.world.options();
    let by_stdin = world.stdin.take_if(|path| path == Path::new("-")).is_some();
    let others = args.input_file.is_some() || args.arg || args.http || args.exported.is_some();
    if by_stdin && (others || args.mode.is_some() || args.cargo_fuzz.is_some()) {
        let message = "--stdin: the input can go to one place only";
        return Err(CliError::new(ErrorKind::Usage, message)
            .hint("`--stdin=FILE` gives the program a file as its standard input"));
    }
    Ok((world, by_stdin))
}
