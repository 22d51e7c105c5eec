//! `fozzy clean`: the run store made smaller.

use crate::args::CleanArgs;
use crate::context::Context;
use crate::error::CliError;
use fozzy_campaign::store::{PrunedRuns, Retention};
use fozzy_report::document::CleanDocument;
use std::process::ExitCode;

pub(crate) fn clean(context: &Context, args: &CleanArgs) -> Result<ExitCode, CliError> {
    let Retention { runs, bytes } = context.project.config.store.retention();
    let retention = match args.all {
        true => Retention { runs: 0, bytes: 0 },
        false => Retention { runs: args.runs.unwrap_or(runs), bytes: args.bytes.map_or(bytes, |size| size.0) },
    };
    let PrunedRuns { runs, leftovers, bytes } = context.runs.prune(retention, args.dry_run)?;
    let half_written = context.runs.sweep(args.dry_run)?;
    let leftovers = leftovers.iter().chain(&half_written).map(|path| path.display().to_string()).collect();
    let kept = context.runs.finished().len() as u64 - if args.dry_run { runs.len() as u64 } else { 0 };
    let document = CleanDocument { dry_run: args.dry_run, runs, leftovers, bytes, kept };
    context.printer.document(&document)?;
    Ok(ExitCode::SUCCESS)
}
