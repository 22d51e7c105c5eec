//! `fozzy mutants`: which small changes of a program no run notices.

use super::run_seeds::seed_runs;
use crate::args::{MutantsArgs, request};
use crate::context::Context;
use crate::error::CliError;
use crate::interrupt::EXIT_INTERRUPTED;
use crate::progress;
use fozzy_campaign::mutants::MutationTest;
use fozzy_trace::Seed;
use std::process::ExitCode;

pub(crate) fn mutants(context: &Context, args: &MutantsArgs) -> Result<ExitCode, CliError> {
    let request = request(&args.args, &args.limits, &args.world);
    let test = MutationTest {
        runs: seed_runs(context, &args.target, &args.seeds, &args.size, &request)?,
        limit: Some(args.limit).filter(|limit| *limit > 0),
        choice: Seed(args.choice),
        own: args.own.clone(),
        jobs: args.jobs as usize,
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
