//! `fozzy validate` and `fozzy schema`: what a file must look like, and whether one does.

use super::Context;
use crate::args::{SchemaArgs, SchemaKind, ValidateArgs};
use crate::error::CliError;
use crate::output::EXIT_ERROR;
use crate::plan::{load, plan_error};
use crate::scenario;
use fozzy_report::document::{PlanProblem, ScenarioDocument, ValidateDocument};
use player_model::Scenario;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn validate(context: &Context, args: &ValidateArgs) -> Result<ExitCode, CliError> {
    if let Some(path) = scenario::named(&args.file) {
        return validate_scenario(context, &path);
    }
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

/// The document of a scenario file says what it is, or the first thing that is wrong with it.
fn validate_scenario(context: &Context, path: &Path) -> Result<ExitCode, CliError> {
    let text = scenario::read_text(path)?;
    let file = ScenarioDocument { scenario: path.display().to_string(), ..ScenarioDocument::default() };
    let document = match Scenario::parse(&text) {
        Ok(read) => {
            let (steps, invariants) = match &read {
                Scenario::Steps(file) => (Some(file.steps.len() as u64), None),
                Scenario::Cluster(file) => {
                    let cluster = &file.distributed;
                    (Some(cluster.steps.len() as u64), Some(cluster.invariants.len() as u64))
                }
                Scenario::Suites(_) => (None, None),
            };
            let (variant, name) = (Some(read.variant().to_owned()), Some(read.name().to_owned()));
            ScenarioDocument { ok: true, variant, name, steps, invariants, ..file }
        }
        Err(problem) => {
            let (line, column) = (problem.place.map(|place| place.line), problem.place.map(|place| place.column));
            ScenarioDocument { error: Some(problem.message), line, column, ..file }
        }
    };
    context.printer.document(&document)?;
    Ok(if document.ok { ExitCode::SUCCESS } else { ExitCode::from(EXIT_ERROR) })
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
