//! `fozzy mine`: properties that held in all runs, proposed as code.

use super::run_seeds::range;
use crate::args::{MineArgs, request};
use crate::context::Context;
use crate::error::CliError;
use crate::interrupt::{self, EXIT_INTERRUPTED};
use crate::progress;
use fozzy_campaign::diff::ScenarioSize;
use fozzy_campaign::mine::PropertyMining;
use fozzy_campaign::pipeline::load;
use fozzy_trace::Seed;
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) fn mine(context: &Context, args: &MineArgs) -> Result<ExitCode, CliError> {
    let Some(seeds) = range(Some(&args.seeds), Seed(0))? else { unreachable!("seeds were named") };
    let loaded = load(&args.target, &context.project.remarks)?;
    interrupt::ask_me_to_stop();
    let mining = PropertyMining {
        project: &context.project,
        loaded,
        request: &request(&args.args, &args.limits, &args.world),
        size: ScenarioSize { sequences: args.size.sequences, flows: args.size.flows },
        seeds,
        stop: Arc::new(interrupt::is_asked_to_stop),
    };
    let document = mining.run(progress::show);
    progress::clear();
    let document = document?;
    context.printer.document(&document)?;
    Ok(if document.interrupted { ExitCode::from(EXIT_INTERRUPTED) } else { ExitCode::SUCCESS })
}
