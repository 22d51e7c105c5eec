//! `fozzy run --seeds`: one program under one plan, with many seeds.

use super::report::rendered;
use crate::args::ReportFormatArg;
use crate::context::{Context, exit_as_told};
use crate::error::{CliError, ErrorKind};
use crate::{interrupt, progress};
use fozzy_campaign::pipeline::{PreparedProgram, RecordPolicy};
use fozzy_campaign::profile::unchecked_heap;
use fozzy_campaign::suite::records::identity;
use fozzy_campaign::suite::seeds::{SeedRange, SeedSweep, SweepEvent, SweepResult};
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_check::is_own;
use fozzy_report::RunMode;
use fozzy_report::suite::{SuiteSummary, seed_line, sweep_details, sweep_heading};
use fozzy_trace::file::store::CollisionPolicy;
use fozzy_trace::{Seed, Status, counted, grouped};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// The seeds that were asked for.
pub(super) fn range(seeds: Option<&str>, first: Seed) -> Result<Option<SeedRange>, CliError> {
    let range = seeds.map(|seeds| SeedRange::parse(seeds, first.0)).transpose();
    range.map_err(|what| CliError::new(ErrorKind::Usage, format!("--seeds: {what}")))
}

/// What flags say of a run with many seeds.
pub(super) struct SweepRequest<'a> {
    pub(super) jobs: usize,
    pub(super) until_failure: bool,
    pub(super) record: Option<&'a Path>,
    pub(super) collision: CollisionPolicy,
    pub(super) reporter: Option<ReportFormatArg>,
}

/// Runs a program with many seeds.
pub(super) fn sweep(
    context: &Context,
    args: &SweepRequest<'_>,
    prepared: &PreparedProgram,
    seeds: SeedRange,
    watch: Stopwatch,
) -> Result<ExitCode, CliError> {
    let folder = context.runs.begin()?;
    interrupt::ask_me_to_stop();
    let format = context.format(args.reporter);
    let is_document = format != ReportFormatArg::Pretty;
    let style = context.printer.style();
    let sweep = SeedSweep {
        prepared,
        seeds,
        jobs: args.jobs,
        until_failure: args.until_failure,
        stop: Arc::new(interrupt::is_asked_to_stop),
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
    let result = sweep.run(|event| match event {
        SweepEvent::Found(case) if !is_document => context.printer.remark(&seed_line(case, style)),
        SweepEvent::Found(_) => {}
        SweepEvent::Progress(line) => progress::show(&line),
    });
    progress::clear();
    let SweepResult { cases, asks_seed, is_interrupted, faults, overlaps, mut lost } =
        result.inspect_err(|_| folder.discard())?;
    // The trace that it names is that of the first failure, and so is the seed.
    let failing = cases.iter().find_map(|case| Some(case.run.as_ref()?.identity.seed));
    let identity = identity(&folder, failing.unwrap_or(seeds.first()), cases.iter());
    let summary = SuiteSummary::of(identity, watch.facts(), Vec::new(), cases);
    let mut summary = SuiteSummary { mode: RunMode::Run, interrupted: is_interrupted, faults, overlaps, ..summary };
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
    // Without a single seed there is nothing that it could have told.
    let told = if summary.scenarios.is_empty() { Status::Pass } else { summary.status };
    Ok(exit_as_told(told, is_interrupted))
}
