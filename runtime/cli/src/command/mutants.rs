//! `fozzy mutants`: which small changes of a program no run notices.

use super::run_seeds::range;
use crate::args::{MutantsArgs, request};
use crate::context::Context;
use crate::error::CliError;
use crate::interrupt::{self, EXIT_INTERRUPTED};
use crate::progress;
use fozzy_campaign::diff::ScenarioSize;
use fozzy_campaign::mutants::MutationTest;
use fozzy_campaign::pipeline::load;
use fozzy_trace::Seed;
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) fn mutants(context: &Context, args: &MutantsArgs) -> Result<ExitCode, CliError> {
    let Some(seeds) = range(Some(&args.seeds), Seed(0))? else { unreachable!("seeds were named") };
    let loaded = load(&args.target, &context.project.remarks)?;
    interrupt::ask_me_to_stop();
    let test = MutationTest {
        project: &context.project,
        loaded,
        request: &request(&args.args, &args.limits, &args.world),
        size: ScenarioSize { sequences: args.size.sequences, flows: args.size.flows },
        seeds,
        limit: Some(args.limit).filter(|limit| *limit > 0),
        choice: Seed(args.choice),
        own: args.own.clone(),
        jobs: args.jobs as usize,
        stop: Arc::new(interrupt::is_asked_to_stop),
    };
    let document = test.run(progress::show);
    progress::clear();
    let document = document?.at_least(args.min_score.map(|percent| f64::from(percent) / 100.0));
    context.printer.document(&document)?;
    Ok(match (document.passed, document.interrupted) {
        (false, _) => ExitCode::from(1),
        (true, true) => ExitCode::from(EXIT_INTERRUPTED),
        (true, false) => ExitCode::SUCCESS,
    })
}
