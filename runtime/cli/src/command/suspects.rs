//! `fozzy suspects`: what goes with a failure, over many runs.

use super::run_seeds::seed_runs;
use crate::args::{SuspectsArgs, request};
use crate::context::Context;
use crate::error::CliError;
use crate::interrupt::EXIT_INTERRUPTED;
use crate::progress;
use fozzy_campaign::selector;
use fozzy_campaign::suspects::SuspectSearch;
use std::process::ExitCode;

pub(crate) fn suspects(context: &Context, args: &SuspectsArgs) -> Result<ExitCode, CliError> {
    let request = request(&args.args, &args.limits, &args.world);
    let traces = args.recorded.iter().map(|run| selector::trace_path(run, &context.runs));
    let search = SuspectSearch {
        runs: seed_runs(context, &args.target, &args.seeds, &args.size, &request)?,
        corpus: args.corpus(),
        traces: traces.collect::<Result<Vec<_>, _>>()?,
        planned_as: None,
        failure: args.failure.clone(),
        own: args.own.clone(),
        jobs: args.jobs as usize,
    };
    let document = search.run(progress::show);
    progress::clear();
    let mut document = document?;
    document.suspects.truncate(args.limit);
    context.printer.document(&document)?;
    Ok(if document.interrupted { ExitCode::from(EXIT_INTERRUPTED) } else { ExitCode::SUCCESS })
}
