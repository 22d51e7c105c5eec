//! `fozzy validate` and `fozzy schema`: what a file must look like, and whether one does.

use super::Context;
use crate::args::{SchemaArgs, SchemaKind, ValidateArgs};
use crate::error::CliError;
use crate::output::EXIT_ERROR;
use crate::plan::{load, plan_error};
use fozzy_report::document::{PlanProblem, ValidateDocument};
use std::process::ExitCode;

pub(crate) fn validate(context: &Context, args: &ValidateArgs) -> Result<ExitCode, CliError> {
    let text = fozzy_plan::read_text(&args.file).map_err(plan_error)?;
    let problems = fozzy_plan::validate_deep(&text, &args.file, &mut load);
    let ok = problems.is_empty();
    let problems = problems.into_iter().map(|problem| PlanProblem {
        line: problem.place.map(|place| place.line),
        column: problem.place.map(|place| place.column),
        key: problem.key,
        message: problem.message,
    });
    let file = args.file.display().to_string();
    context.printer.document(&ValidateDocument { ok, file, problems: problems.collect() })?;
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(EXIT_ERROR) })
}

pub(crate) fn schema(context: &Context, args: &SchemaArgs) -> Result<ExitCode, CliError> {
    let schema = match args.kind {
        SchemaKind::Plan => fozzy_plan::schema(),
    };
    // A schema is JSON whoever reads it.
    let text = serde_json::to_string_pretty(&schema).map_err(|error| CliError::new("internal", error.to_string()))?;
    context.printer.data(&format!("{text}\n"));
    Ok(ExitCode::SUCCESS)
}
