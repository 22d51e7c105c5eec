//! `fozzy fuzz`: searches for inputs that make a function of a program fail.
//!
//! ```text
//! target ─▶ which function? ─▶ one run on the empty input ─▶ campaign ─▶ summary, coverage.json
//!                                                             │ └─▶ corpus, at once
//!                                                             └───▶ findings, at once
//! ```
//!
//! Invariant: what is found depends on target, plan, seed, corpus and flags; the clock only ends it.

use super::run::{print, say_other_name, seed};
use super::test::{is_on_github, source_here};
use super::worker::{Worker, failed_workers, stop_flag};
use crate::args::{ExitCodesArg, FuzzArgs};
use crate::context::{Context, exit};
use crate::error::{CliError, ErrorKind, at_path};
use crate::output::{self, EXIT_ERROR};
use fozzy_campaign::fuzz::campaign_sink::{CampaignSink, Place, SinkConfig};
use fozzy_campaign::fuzz::cargo::CargoFuzz;
use fozzy_campaign::fuzz::choose::{EntryPointChoice, TargetWords, listed};
use fozzy_campaign::fuzz::corpus::CorpusFolder;
use fozzy_campaign::fuzz::kept_name::KeptName;
use fozzy_campaign::fuzz::known::KnownFindings;
use fozzy_campaign::fuzz::settings::{dictionary, mutator};
use fozzy_campaign::fuzz::single_inputs::run_inputs;
use fozzy_campaign::fuzz::summary::{CampaignReport, Subject, execution_of, word_of};
use fozzy_campaign::fuzz::target::{FUEL_OF_A_CALL, FindingConfirmer, campaign_target, functions_of, made_up};
use fozzy_campaign::fuzz::workers::{FuzzProtocol, FuzzWorkers};
use fozzy_campaign::options::{RunRequest, StopFlag, WorldOptions};
use fozzy_campaign::pipeline::{PreparedProgram, identity, kept, load, plan};
use fozzy_campaign::selector;
use fozzy_campaign::store::{self, RunFolder, store_error};
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_campaign::workers::{WorkerEvent, WorkerRole};
use fozzy_check::judge;
use fozzy_engine::{Build, EntryPoint, ExportedFunctions};
use fozzy_report::{FuzzFinding, FuzzSummary, RunMode, RunSummary, finding_annotations, sarif};
use fozzy_search::fuzz::{Campaign, CampaignEnd, Options};
use fozzy_trace::file::RecordedOutcome;
use fozzy_trace::file::store::{CollisionPolicy, Durability, check_target, write_atomic};
use fozzy_trace::{Execution, Finding, FindingKind, Seed, Status};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) fn fuzz(context: &Context, args: &FuzzArgs) -> Result<ExitCode, CliError> {
    match Worker::of_process()? {
        Some(worker) => Ok(worker.run(|worker| campaign(context, args, Some(worker)).map(|_| ()))),
        None => campaign(context, args, None),
    }
}

/// All of it, or the part of one worker.
fn campaign(context: &Context, args: &FuzzArgs, worker: Option<&Worker<FuzzProtocol>>) -> Result<ExitCode, CliError> {
    let watch = Stopwatch::start();
    let say = |text: &str| {
        if worker.is_none() {
            context.printer.remark(text);
        }
    };
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
    let only = args.mutator.as_deref().map(mutator).transpose()?;
    let cargo = args.cargo_fuzz.as_ref().map(|folder| CargoFuzz::new(folder, &args.target)).transpose()?;
    let words = args.dict.clone().or_else(|| cargo.as_ref()?.dictionary());
    let dictionary = words.as_deref().map(dictionary).transpose()?.unwrap_or_default();
    let loaded = match &cargo {
        Some(cargo) => load(&cargo.build(&context.project.remarks)?, &context.project.remarks)?,
        None => load(&args.target, &context.project.remarks)?,
    };
    let name = loaded.target.name.clone();
    let (world, by_stdin) = stdin(args)?;
    let limits = args.limits.options();
    let request = RunRequest {
        args: args.args.clone(),
        limits,
        world,
        criteria: args.criteria.options(),
        fuel_default: Some(FUEL_OF_A_CALL),
    };
    let planned = plan(&context.project, &loaded, &request)?;
    if planned.plan.target().is_some() {
        let message = format!(
            "{name} calls another component, but an execution of a campaign has no instance of it: it begins at a checkpoint of \
             one program"
        );
        return Err(CliError::new(ErrorKind::Usage, message).hint(format!("fozzy explore {}", args.target.display())));
    }
    let prepared = PreparedProgram::to_call(loaded, planned, &Build::default())?;
    let PreparedProgram { planned, program, .. } = &prepared;
    let functions = functions_of(&prepared, seed)?;
    let flows = planned.plan.scenario.as_ref().map_or(args.flows, |own| own.flows);
    let words = TargetWords::of(&args.words, &functions)?;
    let searched = choose(&functions, args, words.function, by_stdin, flows, &name)?;

    let mut keeping = FindingConfirmer::new(program.clone(), &searched, &planned.plan, &planned.inputs, seed)?;
    // With fuel, so that a program that does not end before its function is called is found out here.
    let probe = keeping.execute(&[], 0..0)?.execution;
    if !words.inputs.is_empty() {
        return inputs(context, args, &prepared, (&words.inputs, &searched, seed), keeping, &watch);
    }
    let corpus = args.corpus.clone().or(words.corpus).or_else(|| Some(cargo.as_ref()?.corpus()));
    let corpus = corpus
        .unwrap_or_else(|| KeptName::of(&context.project.config.base_dir, &prepared.loaded).corpus(searched.name()));
    let mut corpus = CorpusFolder::open(&corpus)?;
    let mut seeds = corpus.seeds(args.max_input as usize)?;
    if seeds.too_long > 0 {
        let (number, most) = (seeds.too_long, args.max_input);
        say(&format!("left out of the corpus, as longer than --max-input {most}: {number}\n"));
    }
    if seeds.links > 0 {
        say(&format!("left out of the corpus, as links, which are not followed: {}\n", seeds.links));
    }
    say(&format!(
        "fuzzing `{}` of {name}: seed {seed}, corpus {} with {} to begin with\n",
        searched.name(),
        corpus.path().display(),
        seeds.number,
    ));
    if args.runs.is_none() && args.time.is_none() {
        let end =
            if args.crash_only { "the first finding or Ctrl-C ends it" } else { "Ctrl-C ends it, with its summary" };
        say(&format!("it has no bound (--runs, --time): {end}\n"));
    }
    if let EntryPoint::Program(_) = searched {
        say("each execution runs the program again, from its instantiation\n");
    }
    let artifacts = match cargo {
        Some(cargo) => Some(cargo.artifacts().map(|folder| (cargo, folder))?),
        None => None,
    };
    let own = if worker.is_none() { Some(context.runs.begin()?) } else { None };
    let folder = match (role, &own) {
        (Some(role), _) => role.folder.clone(),
        (None, own) => own.as_ref().expect("it has begun").path.clone(),
    };
    let stop: StopFlag = worker.map_or_else(stop_flag, Worker::stop_flag);

    let report = if args.jobs > 1 && worker.is_none() {
        let workers = FuzzWorkers {
            workers: args.jobs,
            seed,
            runs: args.runs,
            time: args.time,
            first_only: args.crash_only,
            folder: &folder,
            record: args.record.as_deref().map(|path| (path, collision)),
            cargo: artifacts.as_ref().map(|(cargo, _)| cargo),
            stop,
            remarks: context.project.remarks.clone(),
        };
        workers.run()?
    } else {
        let mut target = campaign_target(&prepared, &searched, seed, args.fail_on_exit)?;
        for obstacle in target.obstacles() {
            say(&format!("each execution begins with a new instance, because {obstacle}\n"));
        }
        let subject = Subject {
            function: searched.name().to_owned(),
            execution: execution_of(&searched),
            total_edges: target.edges_total(),
            corpus_dir: corpus.path().display().to_string(),
        };
        let mut keeper = CampaignSink::new(SinkConfig {
            corpus,
            confirmer: keeping,
            origin: prepared.origin(seed, RunMode::Fuzz),
            place: Place {
                folder,
                // What several workers find, the main process puts where it was asked for.
                record: args.record.clone().filter(|_| worker.is_none()),
                collision,
                artifacts,
            },
            subject: subject.clone(),
            runs: args.runs,
            // The time of all workers is their supervisor's.
            time: args.time.filter(|_| worker.is_none()),
            stop: Arc::clone(&stop),
            supervisor: worker.map(|worker| worker.channel.clone()),
            remarks: context.project.remarks.clone(),
            input_bytes_max: args.max_input as usize,
        });
        let options = Options {
            seed,
            stream: role.map_or(0, |role| role.stream),
            executions_max: role.map_or(args.runs, |role| role.runs).unwrap_or(u64::MAX),
            input_bytes_max: args.max_input as usize,
            only,
            minimize: !args.no_minimize,
            first_only: args.crash_only,
        };
        let mut campaign = Campaign::new(options, dictionary);
        let made_up = made_up(&searched, seed, args.max_input as usize);
        if let Some(worker) = worker {
            worker.channel.send(&WorkerEvent::Ready);
        }
        let ended = campaign.run(&mut *target, &mut made_up.into_iter().chain(&mut seeds), &mut keeper)?;
        if let Some(error) = seeds.failed {
            return Err(error);
        }
        let found = campaign.findings().all();
        let word = if ended == CampaignEnd::Stopped && stop() { "interrupted" } else { word_of(ended) };
        let mut report = CampaignReport::of(&subject, campaign.stats(), found, &keeper.kept, word);
        (report.fuzz.repeated, report.fuzz.skipped) = (target.repeated(), target.skipped());
        report
    };
    let (Some(own), None) = (own, worker) else {
        let progress = FuzzSummary { findings: Vec::new(), ..report.fuzz.clone() };
        worker.inspect(|worker| worker.end(progress, report));
        return Ok(ExitCode::SUCCESS);
    };
    if report.fuzz.executions == 0
        && let Some(why) = &report.failure
    {
        return Err(failed_workers(why));
    }

    show(context, args, &prepared, (own, seed), (report, &probe), &watch)
}

/// Runs the inputs that were named, once each.
fn inputs(
    context: &Context,
    args: &FuzzArgs,
    prepared: &PreparedProgram,
    (files, searched, seed): (&[PathBuf], &EntryPoint, Seed),
    mut confirmer: FindingConfirmer,
    watch: &Stopwatch,
) -> Result<ExitCode, CliError> {
    let own = context.runs.begin()?;
    let execution = execution_of(searched);
    let subject = Subject { function: searched.name().to_owned(), execution, ..Subject::default() };
    let origin = prepared.origin(seed, RunMode::Fuzz);
    let runs =
        run_inputs(&mut confirmer, &origin, &subject, (files, &own.path), args.fail_on_exit, &context.project.remarks)?;
    let last = runs.last.expect("an input was named");
    show(context, args, prepared, (own, seed), (runs.report, &last), watch)
}

/// The report, and the exit code. Figures are those of the first finding; without one, of `run`.
fn show(
    context: &Context,
    args: &FuzzArgs,
    prepared: &PreparedProgram,
    (own, seed): (RunFolder, Seed),
    (mut report, run): (CampaignReport, &Execution),
    watch: &Stopwatch,
) -> Result<ExitCode, CliError> {
    let name = KeptName::of(&context.project.config.base_dir, &prepared.loaded);
    let known = KnownFindings::of(name, &report.fuzz.function);
    known.mark(&mut report.fuzz.findings);
    let smallest = |finding: &FuzzFinding| finding.minimized_trace_path.clone().unwrap_or(finding.trace_path.clone());
    let trace = report.fuzz.findings.first().map(|finding| PathBuf::from(smallest(finding)));
    let keeps = context.keeps(args.record.as_deref());
    let identity = identity(&own, seed, trace.as_deref().filter(|_| keeps));
    let found = trace.as_deref().map(selector::read).transpose()?;
    let (outcome, output) = match &found {
        Some(found) => (found.outcome.clone(), (&*found.stdout, &*found.stderr).into()),
        None => (RecordedOutcome::of(run, judge(run)), kept(run)),
    };
    let target = prepared.loaded.summary();
    let mut summary = RunSummary::of(RunMode::Fuzz, identity, target, &outcome, output, watch.facts());
    summary.status = report.status();
    summary = summary.finding(report.findings.iter().map(|(finding, _)| finding.clone()).collect());
    summary.signature = report.fuzz.findings.first().and_then(|finding| finding.signature.clone());
    store::write_json(&own.path.join("coverage.json"), &report.fuzz.coverage)?;
    let asked = report.fuzz.findings.first().map(|finding| PathBuf::from(&finding.trace_path));
    if keeps {
        known.remember(&report.fuzz.findings);
    } else {
        report.fuzz.findings = std::mem::take(&mut report.fuzz.findings).into_iter().map(FuzzFinding::unkept).collect();
    }
    summary.fuzz = Some(report.fuzz.clone());
    context.runs.finish(&own, &summary)?;
    tell_tools(args, &summary)?;
    let format = context.format(args.reporter);
    print(context, format, &summary)?;
    say_other_name(context, args.record.as_deref(), asked.as_deref());
    report.failure.iter().for_each(|why| context.printer.remark(&format!("error: {}\n", failed_workers(why))));
    Ok(match args.exit_codes {
        ExitCodesArg::Fozzy => exit(summary.status),
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

/// What is meant.
fn choose(
    functions: &ExportedFunctions,
    args: &FuzzArgs,
    named: Option<&str>,
    by_stdin: bool,
    flows: u32,
    name: &str,
) -> Result<EntryPoint, CliError> {
    let others = [args.exported.is_some(), args.http, args.input_file.is_some(), args.arg, by_stdin];
    if let Some(named) = named.filter(|_| others.contains(&true) || args.cargo_fuzz.is_some()) {
        let message =
            format!("`{named}` is no file, and as a function it cannot be used with a flag that says what is called");
        return Err(CliError::new(ErrorKind::Usage, message));
    }
    let wanted = EntryPointChoice {
        stdin: by_stdin,
        file: args.input_file.as_deref(),
        argument: args.arg,
        http: args.http,
        function: args.exported.as_deref().or(named),
        mode: args.mode.map(Into::into),
        flows,
    };
    let mut all = wanted.of(functions, name)?;
    if let [first, _, ..] = all.as_slice() {
        let message = format!("{name} has several functions: {}", listed(&all).join(", "));
        let command = format!("name one: fozzy fuzz {} {}", args.target.display(), first.name());
        return Err(CliError::new(ErrorKind::Target, message).hint(command));
    }
    Ok(all.remove(0))
}
