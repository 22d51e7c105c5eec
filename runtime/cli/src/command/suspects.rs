//! `fozzy suspects`: what goes with a failure, over many runs.

use super::run_seeds::range;
use crate::args::{SuspectsArgs, request};
use crate::context::Context;
use crate::error::CliError;
use crate::interrupt::{self, EXIT_INTERRUPTED};
use crate::progress;
use fozzy_campaign::diff::ScenarioSize;
use fozzy_campaign::pipeline::load;
use fozzy_campaign::suspects::SuspectSearch;
use fozzy_trace::Seed;
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) fn suspects(context: &Context, args: &SuspectsArgs) -> Result<ExitCode, CliError> {
    let Some(seeds) = range(Some(&args.seeds), Seed(0))? else { unreachable!("seeds were named") };
    let loaded = load(&args.target, &context.project.remarks)?;
    interrupt::ask_me_to_stop();
    let search = SuspectSearch {
        project: &context.project,
        loaded,
        request: &request(&args.args, &args.limits, &args.world),
        size: ScenarioSize { sequences: args.size.sequences, flows: args.size.flows },
        seeds,
        failure: args.failure.clone(),
        own: args.own.clone(),
        jobs: args.jobs as usize,
        stop: Arc::new(interrupt::is_asked_to_stop),
    };
    let document = search.run(progress::show);
    progress::clear();
    let mut document = document?;
    document.suspects.truncate(args.limit);
    context.printer.document(&document)?;
    Ok(if document.interrupted { ExitCode::from(EXIT_INTERRUPTED) } else { ExitCode::SUCCESS })
}
