//! `fozzy run --seeds`: one program under one plan, with many seeds.

use super::report::rendered;
use super::shown_output::show_output;
use crate::args::{ReportFormatArg, SizeArgs};
use crate::context::{Context, exit_as_told};
use crate::error::{CliError, ErrorKind, at_path};
use crate::{interrupt, output, progress};
use fozzy_campaign::options::RunRequest;
use fozzy_campaign::pipeline::{PreparedProgram, RecordPolicy, load};
use fozzy_campaign::profile::unchecked_heap;
use fozzy_campaign::seed_runs::{ScenarioSize, SeedRuns};
use fozzy_campaign::suite::records::identity;
use fozzy_campaign::suite::seeds::{SeedList, SeedSweep, SweepEvent, SweepResult};
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_check::is_own;
use fozzy_report::RunMode;
use fozzy_report::suite::{CaseSummary, SuiteSummary, seed_line, sweep_details, sweep_heading};
use fozzy_trace::file::store::CollisionPolicy;
use fozzy_trace::{Seed, Status, counted, grouped};
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The seeds that were asked for.
pub(super) fn range(seeds: Option<&str>, first: Seed) -> Result<Option<SeedList>, CliError> {
    let range = seeds.map(|seeds| SeedList::parse(seeds, first.0)).transpose();
    range.map_err(|what| CliError::new(ErrorKind::Usage, format!("--seeds: {what}")))
}

/// A program and its seeds, for what is learned from many runs. The first Ctrl-C from here on ends these, and what they came to is shown.
pub(super) fn seed_runs<'a>(
    context: &'a Context,
    target: &'a Path,
    seeds: &str,
    size: &SizeArgs,
    request: &'a RunRequest,
) -> Result<SeedRuns<'a>, CliError> {
    let Some(seeds) = range(Some(seeds), Seed(0))? else { unreachable!("seeds were named") };
    let (project, loaded) = (&context.project, load(target, &context.project.remarks)?);
    let size = ScenarioSize { sequences: size.sequences, flows: size.flows };
    interrupt::ask_me_to_stop();
    Ok(SeedRuns { project, path: target, loaded, request, size, seeds, stop: Arc::new(interrupt::is_asked_to_stop) })
}

/// What flags say of a run with many seeds.
pub(super) struct SweepRequest<'a> {
    pub(super) jobs: usize,
    pub(super) until_failure: bool,
    pub(super) record: Option<&'a Path>,
    pub(super) collision: CollisionPolicy,
    pub(super) reporter: Option<ReportFormatArg>,
    /// Where what the programs print goes.
    pub(super) logs: Option<&'a Path>,
    /// Whether that of the first seed is shown.
    pub(super) passive: bool,
    /// Whether a person is asked at each failure.
    pub(super) ask: bool,
    /// The exit code where a checker did not decide a run, and nothing was found in the others; that of the worst status otherwise.
    pub(super) exit_undecided: Option<u8>,
}

/// What a person wants to do about a failure.
enum FailureChoice {
    Continue,
    Stop,
}

/// Asks it; the trace is debugged as often as it is wanted.
fn ask(case: &CaseSummary) -> Result<FailureChoice, CliError> {
    let trace = case.run.as_ref().and_then(|run| run.identity.trace_path.as_deref());
    progress::clear();
    progress::allow_silence();
    loop {
        let debug = if trace.is_some() { "d debugs it, " } else { "" };
        output::say(&format!("{}: {debug}Enter goes on, q stops: ", case.name));
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line);
        match (read, line.trim(), trace) {
            (Ok(0) | Err(_), ..) | (_, "", _) => return Ok(FailureChoice::Continue),
            (_, "q", _) => return Ok(FailureChoice::Stop),
            (_, "d", Some(trace)) => {
                let debugger =
                    std::env::current_exe().and_then(|own| Command::new(own).args(["debug", trace]).status());
                debugger.map_err(|error| {
                    CliError::new(ErrorKind::Internal, format!("cannot start the debugger: {error}"))
                })?;
            }
            _ => {}
        }
    }
}

/// Runs a program with many seeds.
pub(super) fn sweep(
    context: &Context,
    args: &SweepRequest<'_>,
    prepared: &PreparedProgram,
    seeds: SeedList,
    watch: Stopwatch,
) -> Result<ExitCode, CliError> {
    let folder = context.runs.begin()?;
    interrupt::ask_me_to_stop();
    let format = context.format(args.reporter);
    let is_document = format != ReportFormatArg::Pretty;
    let style = context.printer.style();
    if let Some(folder) = args.logs {
        let made = std::fs::create_dir_all(folder);
        made.map_err(|error| at_path(ErrorKind::Store, "cannot create", folder, &error))?;
    }
    let stopped = Arc::new(AtomicBool::new(false));
    let is_stopped = Arc::clone(&stopped);
    let first_output = (args.passive && !is_document).then(|| show_output(&prepared.planned.plan, false));
    let sweep = SeedSweep {
        prepared,
        seeds: seeds.clone(),
        logs: args.logs,
        first_output: Mutex::new(first_output),
        jobs: args.jobs,
        until_failure: args.until_failure,
        stop: Arc::new(move || interrupt::is_asked_to_stop() || is_stopped.load(Ordering::Relaxed)),
        folder: &folder,
        record: RecordPolicy {
            path: args.record,
            collision: args.collision,
            keep_passing: context.project.keep_passing,
        },
    };
    let name = &prepared.loaded.target.name;
    if !is_document {
        context.printer.remark(&sweep_heading(name, &seeds.to_string(), style));
    }
    if let Some(why) = unchecked_heap(&prepared.program) {
        context.printer.remark(&format!("note: {why}\n"));
    }
    let mut unasked = Ok(());
    let result = sweep.run(|event| match event {
        SweepEvent::Found(case) => {
            if !is_document {
                context.printer.remark(&seed_line(case, style));
            }
            if args.ask && unasked.is_ok() && !stopped.load(Ordering::Relaxed) {
                match ask(case) {
                    Ok(FailureChoice::Continue) => {}
                    Ok(FailureChoice::Stop) => stopped.store(true, Ordering::Relaxed),
                    Err(error) => unasked = Err(error),
                }
            }
        }
        SweepEvent::Progress(line) => progress::show(&line),
    });
    progress::clear();
    unasked?;
    let SweepResult { cases, asks_seed, is_interrupted, faults, overlaps, together, mut lost } =
        result.inspect_err(|_| folder.discard())?;
    // The trace that it names is that of the first failure, and so is the seed.
    let failing = cases.iter().find_map(|case| Some(case.run.as_ref()?.identity.seed));
    let identity = identity(&folder, failing.unwrap_or(seeds.first()), cases.iter());
    let summary = SuiteSummary::of(identity, watch.facts(), Vec::new(), cases);
    let (mode, interrupted) = (RunMode::Run, is_interrupted);
    let mut summary = SuiteSummary { mode, interrupted, faults, overlaps, together, ..summary };
    if lost.note(context.runs.finish(&folder, &summary)).is_none() {
        (summary.identity.report_path, summary.identity.artifacts_dir) = (None, None);
    }
    if is_document && !lost.is_set() {
        context.printer.data(&rendered(format, &summary)?);
    } else if !is_document {
        context.printer.remark(&sweep_details(&summary, style, is_own));
        if !asks_seed && !summary.scenarios.is_empty() {
            context
                .printer
                .remark("note: the program asked for nothing that a seed decides, so that all seeds are one run\n");
        }
        if is_interrupted {
            context.printer.remark(&format!(
                "note: stopped after {} of {}\n",
                grouped(summary.scenarios.len() as u64),
                counted(seeds.count(), "seed")
            ));
        }
    }
    if let (false, Some(seed)) = (is_document || summary.identity.trace_path.is_some(), failing) {
        context.say_how_to_keep(RunMode::Run, seed);
    }
    if lost.is_set() {
        folder.discard();
    }
    lost.settle()?;
    if let (Some(undecided), Some(others)) = (args.exit_undecided, summary.beside_undecided()) {
        let code = if others == Status::Pass { undecided } else { others.exit_code() };
        return Ok(ExitCode::from(code));
    }
    // Without a single seed there is nothing that it could have told.
    let told = if summary.scenarios.is_empty() { Status::Pass } else { summary.status };
    Ok(exit_as_told(told, is_interrupted))
}
