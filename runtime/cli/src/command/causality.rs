//! `fozzy causality` and `fozzy findability`: when a failure became likely, and how often it comes at all.

use super::run::seed;
use crate::args::{CausalityArgs, FindabilityArgs};
use crate::context::Context;
use crate::error::{CliError, ErrorKind, at_path};
use fozzy_campaign::causality::FailingRun;
use fozzy_campaign::explore::guided_rate::GuidedRequest;
use fozzy_campaign::selector;
use fozzy_report::{FindabilityDocument, causality_lines, causality_svg, findability_lines};
use fozzy_trace::file::store::{Durability, write_atomic};
use std::process::ExitCode;

/// Guided explorations of a failure that no fresh run shows.
const GUIDED_SEEDS: u32 = 5;

pub(crate) fn causality(context: &Context, args: &CausalityArgs) -> Result<ExitCode, CliError> {
    let (path, recording) = selector::recording(&args.trace, &context.runs)?;
    let case = FailingRun::of(&path, &recording, args.jobs)?;
    let seed = seed(context, args.seed);
    let mut document = case.causality(&path, seed, args.moments.into(), args.runs)?;
    if let Some(file) = &args.svg {
        let svg = causality_svg(&document);
        write_atomic(file, svg.as_bytes(), Durability::Synced)
            .map_err(|error| at_path(ErrorKind::Store, "cannot write", file, &error))?;
        document.svg = Some(file.display().to_string());
    }
    match context.printer.json {
        true => context.printer.document(&document)?,
        false => context.printer.lines(&causality_lines(&document, context.printer.stdout_style())),
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn findability(context: &Context, args: &FindabilityArgs) -> Result<ExitCode, CliError> {
    let (path, recording) = selector::recording(&args.trace, &context.runs)?;
    let case = FailingRun::of(&path, &recording, args.jobs)?;
    let guided = |failed| {
        let seeds = args.guided_seeds.unwrap_or(if failed == 0 { GUIDED_SEEDS } else { 0 });
        let options = context.project.config.explore.options();
        (seeds > 0).then_some(GuidedRequest { seeds, steps_max: args.guided_steps, options })
    };
    let findability = case.findability(seed(context, args.seed), args.runs, Some(&guided))?;
    if !context.printer.json {
        context.printer.lines(&findability_lines(&findability));
        return Ok(ExitCode::SUCCESS);
    }
    context.printer.document(&FindabilityDocument {
        schema_version: "fozzy.findability.v1".to_owned(),
        trace: path.display().to_string(),
        signature: case.signature,
        findability,
    })?;
    Ok(ExitCode::SUCCESS)
}
