//! `fozzy shrink` and `fozzy ablate`: a recorded failure made smaller, and what it needs.

use super::run::conclude;
use super::worker::stop_flag;
use crate::args::{AblateArgs, MinimizeArg, ReportFormatArg, ShrinkArgs};
use crate::context::{Context, exit};
use crate::error::{CliError, ErrorKind};
use fozzy_campaign::block_stacks::related_stacks;
use fozzy_campaign::error::DeferredError;
use fozzy_campaign::pipeline::{self, identity, kept};
use fozzy_campaign::scenario_steps::write_smaller;
use fozzy_campaign::search_clock::SearchClock;
use fozzy_campaign::selector;
use fozzy_campaign::sequence::failing_sequence;
use fozzy_campaign::shrink::{
    self as campaign, ProgramReplayTarget, explained_decisions, keep_slips, keeps_stdin, message_of, shown_stdin,
    shrink_error, states_document,
};
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_report::{
    AblationDocument, AblationRow, FailureSize, RunMode, RunSummary, ShrinkSummary, TargetSummary, ablation_lines,
};
use fozzy_search::shrink::{self, CandidateSize, Dimension, Options, ShrinkProgress};
use fozzy_trace::Status;
use fozzy_trace::file::Recording;
use fozzy_trace::file::store::CollisionPolicy;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

pub(crate) fn shrink(context: &Context, args: &ShrinkArgs) -> Result<ExitCode, CliError> {
    let watch = Stopwatch::start();
    let clock = SearchClock::start(Some(args.budget), stop_flag());
    let (path, recording) = selector::recording(&args.trace, &context.runs)?;
    let out = args.out.clone().unwrap_or_else(|| path.with_extension("min.fozzy"));
    let format = context.format(args.reporter);
    if recording.outcome.verdict.status == Status::Pass {
        return passing(context, (&path, &recording), (&out, format), &watch);
    }
    let mut engines = ProgramReplayTarget::several(&recording, args.jobs)?;
    let (only, keeps_stdin) = (dimension(args.minimize), keeps_stdin(&recording));
    let options = Options { only, aggressive: args.aggressive, keeps_stdin, shortest: args.shortest };
    let remarks = &context.project.remarks;
    let every = campaign::progress_every(remarks);
    let mut next = if remarks.is_live() { Duration::ZERO } else { every };
    let mut go_on = |progress: &ShrinkProgress| {
        let elapsed = Duration::from_nanos(clock.elapsed_ns());
        if format == ReportFormatArg::Pretty && elapsed >= next {
            next = elapsed + every;
            campaign::show_progress(remarks, elapsed, progress, args.budget.0);
        }
        !clock.is_over()
    };
    let shrunk = campaign::shrink(&recording, &mut engines, options, Some(&clock), &mut go_on)
        .map_err(|error| shrink_error("shrink", &path, &error))?;
    let engine = &mut engines[0];

    let explained = if args.explain {
        clock.end_after(fozzy_trace::Duration(args.budget.0.saturating_mul(2)));
        let explained = campaign::explain(&recording, engine, &shrunk.smallest, options, &clock);
        explained.map_err(|error| shrink_error("shrink", &path, &error))?
    } else {
        Vec::new()
    };
    let (smallest, execution) = engine.record(&recording, &shrunk.smallest)?;
    let explained = explained_decisions(&smallest, &explained)?;
    let written = pipeline::write(&smallest, &out, CollisionPolicy::Overwrite)?;
    let folder = context.runs.begin()?;
    let slips = keep_slips(engine, &recording, &shrunk, &folder)?;
    let identity = identity(&folder, recording.seed, Some(&written));
    let target = TargetSummary::of(&recording.target);
    let mut summary =
        RunSummary::of(RunMode::Run, identity, target, &smallest.outcome, kept(&execution), watch.facts())
            .telling(&execution.facts)
            .with_steps(failing_sequence(&smallest))
            .with_related(related_stacks(&smallest));
    summary.shrink = Some(ShrinkSummary {
        source: path.display().to_string(),
        executions: shrunk.tries,
        minimal: shrunk.is_minimal,
        exceeds_log: shrunk.exceeds_log,
        before: size(shrunk.before),
        after: size(shrunk.after),
        scenario_path: write_smaller(&context.project, &smallest, &written)?.map(|path| path.display().to_string()),
        message_before: message_of(&recording.outcome.verdict),
        message_after: message_of(&smallest.outcome.verdict),
        states: states_document(&shrunk.states, args.shortest),
        input: shown_stdin(&smallest),
        slips,
        explained,
    });
    conclude(context, &folder, format, &summary, DeferredError::default())?;
    Ok(exit(summary.status))
}

/// A run that passed has no failure to make smaller: the smallest trace is the same run.
fn passing(
    context: &Context,
    (path, recording): (&Path, &Recording),
    (out, format): (&Path, ReportFormatArg),
    watch: &Stopwatch,
) -> Result<ExitCode, CliError> {
    let written = pipeline::write(recording, out, CollisionPolicy::Overwrite)?;
    let folder = context.runs.begin()?;
    let (identity, target) = (identity(&folder, recording.seed, Some(&written)), TargetSummary::of(&recording.target));
    let output = (&recording.stdout[..], &recording.stderr[..]);
    let summary = RunSummary::of(RunMode::Run, identity, target, &recording.outcome, output, watch.facts());
    conclude(context, &folder, format, &summary, DeferredError::default())?;
    let (path, written) = (path.display(), written.display());
    context
        .printer
        .remark(&format!("{path}: the run passed, so there is nothing to make smaller; {written} is the same run\n"));
    Ok(exit(summary.status))
}

pub(super) const fn dimension(argument: MinimizeArg) -> Option<Dimension> {
    match argument {
        MinimizeArg::All => None,
        MinimizeArg::Input => Some(Dimension::Input),
        MinimizeArg::Schedule => Some(Dimension::Schedule),
        MinimizeArg::Faults => Some(Dimension::Faults),
    }
}

const fn size(size: CandidateSize) -> FailureSize {
    let CandidateSize { steps, machines, faults, strikes, decisions, input_bytes } = size;
    FailureSize { steps, machines, faults, strikes, decisions, input_bytes }
}

pub(crate) fn ablate(context: &Context, args: &AblateArgs) -> Result<ExitCode, CliError> {
    let (path, recording) = selector::recording(&args.trace, &context.runs)?;
    if recording.plan.faults.is_empty() {
        let message = format!("{}: no fault was planned, so none can be left out", path.display());
        return Err(CliError::new(ErrorKind::Target, message).hint("fozzy run TARGET --faults disk,http"));
    }
    let mut engines = ProgramReplayTarget::several(&recording, 1)?;
    let rows = shrink::ablate(&recording, &mut engines[0]).map_err(|error| shrink_error("ablate", &path, &error))?;
    let name = |fault: &fozzy_trace::plan::FaultPlan| format!("{}@{}", fault.kind, fault.target);
    let rows = rows.into_iter().map(|row| AblationRow {
        without: row.without,
        still_fails: row.still_fails,
        tries: row.tries,
        passed: row.passed,
        signature: row.signature,
    });
    let document = AblationDocument {
        schema_version: "fozzy.ablation.v1".to_owned(),
        trace: path.display().to_string(),
        signature: recording.outcome.verdict.signature.clone(),
        faults: recording.plan.faults.iter().map(name).collect(),
        rows: rows.collect(),
    };
    match context.printer.json {
        true => context.printer.document(&document)?,
        false => context.printer.lines(&ablation_lines(&document)),
    }
    Ok(ExitCode::SUCCESS)
}
