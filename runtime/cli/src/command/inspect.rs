//! `fozzy inspect`: what a program is, needs and can be used for, without running it.
//!
//! Invariants: a file that is no program is refused as `fozzy run` refuses it. Nothing is started, not even a build: an
//! inspected folder is not trusted yet.

use crate::args::InspectArgs;
use crate::context::Context;
use crate::error::CliError;
use fozzy_campaign::inspection::of_program;
use fozzy_campaign::pipeline::load_built;
use fozzy_report::inspect::inspection;
use std::process::ExitCode;

pub(crate) fn inspect(context: &Context, args: &InspectArgs) -> Result<ExitCode, CliError> {
    let loaded = load_built(&args.target)?;
    let document = of_program(&loaded, &args.target.display().to_string())?;
    if context.printer.json {
        context.printer.document(&document)?;
    } else {
        context.printer.data(&inspection(&document, context.printer.stdout_style()));
    }
    Ok(ExitCode::SUCCESS)
}
