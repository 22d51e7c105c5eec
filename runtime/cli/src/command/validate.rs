//! `fozzy validate` and `fozzy schema`: what a file must look like, and whether one does.

use crate::args::{SchemaArgs, ValidateArgs};
use crate::context::Context;
use crate::documents::{DOCUMENTS, DocumentRow};
use crate::error::{CliError, ErrorKind};
use crate::output::EXIT_ERROR;
use fozzy_campaign::pipeline::{component_built, plan_error};
use fozzy_campaign::scenario;
use fozzy_report::document::{PlanProblem, ScenarioDocument, ValidateDocument};
use fozzy_scenario_file::ParsedScenario;
use serde_json::{Map, Value};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn validate(context: &Context, args: &ValidateArgs) -> Result<ExitCode, CliError> {
    if let Some(path) = scenario::named(&args.file) {
        return validate_scenario(context, &path);
    }
    let text = fozzy_plan::read_text(&args.file).map_err(plan_error)?;
    let problems = fozzy_plan::validate_deep(&text, &args.file, &mut component_built);
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
    let document = match ParsedScenario::parse(&text) {
        Ok(read) => {
            let (steps, invariants) = match &read {
                ParsedScenario::Steps(file) => (Some(file.steps.len() as u64), None),
                ParsedScenario::Program(file) => (Some(file.steps.len() as u64), None),
                ParsedScenario::Cluster(file) => {
                    let cluster = &file.distributed;
                    (Some(cluster.steps.len() as u64), Some(cluster.invariants.len() as u64))
                }
                ParsedScenario::Suites(_) => (None, None),
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

/// How the schema of a kind of file is had.
type FileSchema = fn() -> Value;

/// What people write, and its schema.
const FILES: [(&str, FileSchema); 3] = [
    ("plan", fozzy_plan::schema),
    ("scenario", fozzy_scenario_file::schema_v1),
    ("scenario-v2", fozzy_scenario_file::schema_v2),
];

/// Kinds of what stands in a scenario: the key of their names, that of their schemas, and where these stand in the file's.
const KINDS: [(&str, &str, &str); 3] = [
    ("stepTypes", "stepSchemas", "Step"),
    ("distributedStepTypes", "distributedStepSchemas", "ClusterStep"),
    ("distributedInvariantTypes", "distributedInvariantSchemas", "ClusterInvariant"),
];

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
            CliError::new(ErrorKind::Usage, message)
        })?,
    };
    // A schema is printed as JSON, with or without `--json`.
    let text =
        serde_json::to_string_pretty(&schema).map_err(|error| CliError::new(ErrorKind::Internal, error.to_string()))?;
    context.printer.data(&format!("{text}\n"));
    Ok(ExitCode::SUCCESS)
}

/// All schemas in one document, those of scenarios under the keys that scripts know.
fn everything() -> Value {
    let mut all = serde_json::json!({
        "schemaVersion": "fozzy.schema_doc.v4",
        "fileVariants": ["steps", "distributed", "suites"],
    });
    let scenario = fozzy_scenario_file::schema_v1();
    for (names, schemas, definition) in KINDS {
        let kinds = scenario["$defs"][definition]["oneOf"].as_array().into_iter().flatten();
        let named = |kind: &Value| Some((kind["properties"]["type"]["const"].as_str()?.to_owned(), kind.clone()));
        let kinds: Map<String, Value> = kinds.filter_map(named).collect();
        all[names] = kinds.keys().cloned().collect();
        all[schemas] = Value::Object(kinds);
    }
    let document = |row: &DocumentRow| serde_json::json!({ "printedBy": row.by, "schema": (row.schema)().as_value() });
    all["files"] = FILES.iter().map(|(name, schema)| ((*name).to_owned(), schema())).collect();
    all["documents"] = DOCUMENTS.iter().map(|row| (row.name.to_owned(), document(row))).collect();
    all
}
