//! `fozzy mine`: properties that held in all runs, proposed as code.

use super::run_seeds::seed_runs;
use crate::args::{MineArgs, request};
use crate::context::Context;
use crate::error::CliError;
use crate::interrupt::EXIT_INTERRUPTED;
use crate::progress;
use fozzy_campaign::mine::PropertyMining;
use std::process::ExitCode;

pub(crate) fn mine(context: &Context, args: &MineArgs) -> Result<ExitCode, CliError> {
    let request = request(&args.args, &args.limits, &args.world);
    let runs = seed_runs(context, &args.target, &args.seeds, &args.size, &request)?;
    let document = PropertyMining { runs }.run(progress::show);
    progress::clear();
    let document = document?;
    context.printer.document(&document)?;
    Ok(if document.interrupted { ExitCode::from(EXIT_INTERRUPTED) } else { ExitCode::SUCCESS })
}
