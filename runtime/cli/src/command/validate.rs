//! `fozzy validate` and `fozzy schema`: what a file must look like, and whether one does.

use super::Context;
use crate::args::{SchemaArgs, ValidateArgs};
use crate::documents::{DOCUMENTS, DocumentRow};
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

/// How the schema of a kind of file is had.
type FileSchema = fn() -> serde_json::Value;

/// What people write, and its schema.
const FILES: [(&str, FileSchema); 1] = [("plan", fozzy_plan::schema)];

pub(crate) fn schema(context: &Context, args: &SchemaArgs) -> Result<ExitCode, CliError> {
    let file = |name: &str| FILES.iter().find(|(known, _)| *known == name).map(|(_, schema)| schema());
    let document =
        |name: &str| DOCUMENTS.iter().find(|row| row.name == name).map(|row| (row.schema)().as_value().clone());
    let schema = match args.kind.as_deref() {
        None => everything(),
        Some(name) => file(name).or_else(|| document(name)).ok_or_else(|| {
            let known = FILES.iter().map(|(name, _)| *name).chain(DOCUMENTS.iter().map(|row| row.name));
            let known: Vec<&str> = known.collect();
            let message = format!("there is no schema `{}`; there are {}", name.escape_debug(), known.join(", "));
            CliError::new("usage", message)
        })?,
    };
    // A schema is JSON whoever reads it.
    let text = serde_json::to_string_pretty(&schema).map_err(|error| CliError::new("internal", error.to_string()))?;
    context.printer.data(&format!("{text}\n"));
    Ok(ExitCode::SUCCESS)
}

/// All schemas in one document. Those of JSON scenarios (`stepTypes` and the like) are the player's to add here.
fn everything() -> serde_json::Value {
    let files: serde_json::Map<_, _> = FILES.iter().map(|(name, schema)| ((*name).to_owned(), schema())).collect();
    let document = |row: &DocumentRow| serde_json::json!({ "printedBy": row.by, "schema": (row.schema)().as_value() });
    let documents: serde_json::Map<_, _> = DOCUMENTS.iter().map(|row| (row.name.to_owned(), document(row))).collect();
    serde_json::json!({ "schemaVersion": "fozzy.schema_doc.v4", "files": files, "documents": documents })
}
