//! `fozzy run`: a program once, from its bytes to a report.

use super::report::rendered;
use super::run_seeds::{self, SweepRequest};
use super::shown_output::show_output;
use crate::args::{ReportFormatArg, RunArgs, SeedArg, request};
use crate::context::{Context, exit_as_told};
use crate::error::{CliError, ErrorKind};
use crate::interrupt::EXIT_INTERRUPTED;
use crate::progress;
use fozzy_campaign::block_stacks::{origins_of, related_stacks};
use fozzy_campaign::error::DeferredError;
use fozzy_campaign::options::RunRequest;
use fozzy_campaign::pipeline::{ENTRIES_KEPT, PreparedProgram, RecordPolicy, identity, kept, load};
use fozzy_campaign::profile::unchecked_heap;
use fozzy_campaign::sequence::failing_sequence;
use fozzy_campaign::store::{RunFolder, store_error};
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_check::is_own;
use fozzy_report::suite::SuiteSummary;
use fozzy_report::{RunMode, RunSummary, pretty};
use fozzy_trace::file::store::{CollisionPolicy, Durability, StoreError, check_target, write_atomic};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Executor, HarnessError, Seed, Status};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) fn run(context: &Context, args: &RunArgs) -> Result<ExitCode, CliError> {
    let watch = Stopwatch::start();
    let seed = seed(context, args.seed);
    let seeds = run_seeds::range(args.seeds.as_deref(), seed)?;
    let collision: CollisionPolicy = args.record_collision.into();
    if let Some(path) = &args.record {
        check_target(path, collision).map_err(store_error)?;
    }
    let loaded = load(&args.target, &context.project.remarks)?;
    let is_file = loaded.scenario.is_some();
    let criteria = args.criteria.options();
    let mut request = RunRequest { criteria, ..request(&args.args, &args.limits, &args.world) };
    if args.interactive {
        crate::interrupt::ask_me_to_stop_at_a_call();
        progress::allow_silence();
        request.world.interactive = Some(crate::interrupt::is_asked_to_stop);
    }
    let mut prepared = PreparedProgram::new(&context.project, loaded, &request)?;
    if !prepared.drive(args.sequences, args.flows) && (args.sequences.is_some() || args.flows.is_some()) {
        let message = "the program is a command: it exports `wasi:cli/run`, and no interface of `fozzy:scenario`";
        return Err(CliError::new(ErrorKind::Target, message).hint("leave out --sequences and --flows"));
    }
    if let Some(seeds) = seeds {
        let request = SweepRequest {
            jobs: args.jobs as usize,
            until_failure: args.until_failure,
            record: args.record.as_deref(),
            collision,
            reporter: args.reporter,
            logs: args.logs.as_deref(),
            passive: args.passive,
            ask: args.ask,
            exit_undecided: None,
        };
        return run_seeds::sweep(context, &request, &prepared, seeds, watch);
    }
    let mut session = prepared.piped_session(&context.project.config.base_dir)?;
    let format = context.format(args.reporter);
    if format == ReportFormatArg::Pretty {
        session.watch(show_output(&prepared.planned.plan, args.interactive));
    }
    let at_work = progress::of_run(prepared.planned.plan.limits.fuel);
    if args.interactive {
        prepared.interrupt.arm(Arc::new(crate::interrupt::has_been_asked_for_long));
    }
    let execution = session.execute(Box::new(SeededSource::new(seed)), 0..ENTRIES_KEPT);
    drop(at_work);
    if execution.as_ref().is_err_and(HarnessError::is_interruption) {
        context.printer.remark(
            "interrupted: the program computes and makes no call at which it could end, so that there is no trace\n",
        );
        return Ok(ExitCode::from(EXIT_INTERRUPTED));
    }
    let execution = execution?;
    prepared.planned.add_stdin();
    let recording = prepared.record(&execution, seed, RunMode::Run);

    let folder = context.runs.begin()?;
    let policy = RecordPolicy {
        path: args.record.as_deref(),
        collision,
        keep_passing: context.project.keep_passing || args.profile.is_full(),
    };
    let mut lost = DeferredError::default();
    let trace = lost.note(policy.write(&recording, &folder)).flatten();
    let identity = identity(&folder, seed, trace.as_deref());
    let summary = RunSummary::of(
        RunMode::Run,
        identity,
        prepared.loaded.summary(),
        &recording.outcome,
        kept(&execution),
        watch.facts(),
    )
    .telling(&execution.facts);
    // A scenario file has no properties that could be left out, and a program in C or Go declares its own when it runs.
    let evaluates = !summary.properties.is_empty();
    let declares = summary.properties.iter().any(|property| property.place.is_some());
    let catalogue = prepared.program.catalogue().remark(evaluates).filter(|_| !is_file && !declares).map(str::to_owned);
    let summary = RunSummary { catalogue, ..summary }.with_steps(failing_sequence(&recording));
    let mut summary = summary.with_related(related_stacks(&recording));
    summary.warnings.extend(origins_of(&recording, &execution.facts.undefined));
    summary.warnings.extend(unchecked_heap(&prepared.program));
    // A program that waits when a person has had enough does not hang.
    let has_cut = |status| matches!(status, Status::Timeout | Status::Pass);
    let is_cut = args.interactive && crate::interrupt::is_asked_to_stop() && has_cut(summary.status);
    let summary = if is_cut { summary.interrupted() } else { summary };
    conclude(context, &folder, format, &summary, lost)?;
    say_other_name(context, args.record.as_deref(), trace.as_deref());
    if !is_file
        && format == ReportFormatArg::Pretty
        && let Some(why) = summary.findings.iter().find_map(|finding| session.missing_lines(&finding.backtrace))
    {
        context.printer.remark(&format!("note: {why}\n"));
    }
    if is_cut {
        context.printer.remark("interrupted: the run ends where it waited for you, and so does its replay\n");
    }
    Ok(exit_as_told(summary.status, is_cut))
}

/// A fresh seed is drawn only when asked for, and is said before anything else.
pub(super) fn seed(context: &Context, seed: SeedArg) -> Seed {
    match seed {
        SeedArg::Number(number) => Seed(number),
        SeedArg::Random => {
            let number = uuid::Uuid::new_v4().as_u64_pair().0;
            context.printer.remark(&format!("seed {number}\n"));
            Seed(number)
        }
    }
}

/// Says under which name a trace was written, if the one that was asked for was taken.
pub(super) fn say_other_name(context: &Context, asked: Option<&Path>, written: Option<&Path>) {
    if let (Some(asked), Some(written)) = (asked, written)
        && asked != written
    {
        let (asked, written) = (asked.display(), written.display());
        context.printer.remark(&format!("{asked} was there already, and stays: the trace is {written}\n"));
    }
}

/// Puts a run into the store and prints its summary. What could not be written hides no verdict, and ends the command then.
pub(super) fn conclude(
    context: &Context,
    folder: &RunFolder,
    format: ReportFormatArg,
    summary: &RunSummary,
    mut lost: DeferredError,
) -> Result<(), CliError> {
    if lost.is_set() {
        // A run that could not be kept is none: no empty folder stays behind.
        folder.discard();
    }
    if folder.path.exists() {
        lost.note(context.runs.finish(folder, summary));
    }
    if !lost.is_set() {
        return print(context, format, summary);
    }
    folder.discard();
    if format == ReportFormatArg::Pretty && summary.status != Status::Pass {
        let mut identity = summary.identity.clone();
        if !folder.path.join("report.json").exists() {
            (identity.report_path, identity.artifacts_dir) = (None, None);
        }
        print(context, format, &RunSummary { identity, ..summary.clone() })?;
        if summary.identity.trace_path.is_none() && !context.globals.no_store {
            context.say_how_to_keep(summary.mode, summary.identity.seed);
        }
    }
    lost.settle()
}

/// The summary: one document on stdout, or a block for people on stderr, where it does not mix with
/// what the program wrote. A page or a JUnit report is also in the run's folder, as version 1 has them.
fn print(context: &Context, format: ReportFormatArg, summary: &RunSummary) -> Result<(), CliError> {
    let file = match format {
        ReportFormatArg::Json => {
            let text = serde_json::to_string_pretty(summary)
                .map_err(|error| CliError::new(ErrorKind::Internal, error.to_string()))?;
            context.printer.data(&format!("{text}\n"));
            return Ok(());
        }
        ReportFormatArg::Pretty => {
            context.printer.remark(&pretty(summary, context.printer.style(), is_own));
            let is_unkept = context.globals.no_store && summary.identity.trace_path.is_none();
            if is_unkept && summary.status != Status::Pass {
                context.say_how_to_keep(summary.mode, summary.identity.seed);
            }
            return Ok(());
        }
        ReportFormatArg::Junit => "junit.xml",
        ReportFormatArg::Html => "report.html",
        ReportFormatArg::Antithesis => "antithesis.jsonl",
    };
    let content = rendered(format, &SuiteSummary::of_run(summary))?;
    if let Some(folder) = &summary.identity.artifacts_dir {
        let path = Path::new(folder).join(file);
        write_atomic(&path, content.as_bytes(), Durability::Cached)
            .map_err(|error| store_error(StoreError::io("write", &path, error)))?;
    }
    context.printer.data(&content);
    Ok(())
}
