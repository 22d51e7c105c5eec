//! `fozzy doctor`: is this machine fit, and is a program deterministic here?

use super::replay::{difference_document, divergence_document};
use crate::args::{DoctorArgs, request};
use crate::context::Context;
use crate::error::{CliError, ErrorKind};
use crate::output::EXIT_ERROR;
use fozzy_campaign::pipeline::{LoadedTarget, PreparedProgram, RunPlan, load, plan};
use fozzy_report::document::{AuditDocument, DoctorDocument, DoctorIssue};
use fozzy_trace::file::RecordedTarget;
use fozzy_trace::plan::Inputs;
use fozzy_trace::{Digest, Plan, Seed};
use std::process::ExitCode;

/// A component that does nothing: whether it compiles and runs shows whether this machine is fit.
const NOTHING: &str = r#"(component
    (core module $m (func (export "run") (result i32) i32.const 0))
    (core instance $i (instantiate $m))
    (func $run (result (result)) (canon lift (core func $i "run")))
    (instance $cli (export "run" (func $run)))
    (export "wasi:cli/run@0.2.12" (instance $cli)))"#;

pub(crate) fn doctor(context: &Context, args: &DoctorArgs) -> Result<ExitCode, CliError> {
    let mut issues = Vec::new();
    issues.extend(engine_issue());
    issues.extend(store_issue(context));
    let audit = args.scenario.as_deref().map(|scenario| audit(context, args, scenario)).transpose()?;
    if let Some(audit) = audit.as_ref().filter(|audit| !audit.consistent) {
        issues.push(DoctorIssue {
            code: "nondeterminism".to_owned(),
            message: format!(
                "execution {} of {} differs from the first",
                audit.first_mismatch_run.unwrap_or(0),
                audit.runs
            ),
            hint: Some("this is a fault of fozzy: please report it with the program".to_owned()),
        });
    }
    let ok = issues.is_empty();
    let document = DoctorDocument { ok, issues, nondeterminism_signals: Vec::new(), determinism_audit: audit };
    context.printer.document(&document)?;
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(EXIT_ERROR) })
}

fn audit(context: &Context, args: &DoctorArgs, scenario: &std::path::Path) -> Result<AuditDocument, CliError> {
    let loaded = load(scenario, &context.project.remarks)?;
    let planned = plan(&context.project, &loaded, &request(&args.args, &args.limits, &args.world))?;
    if planned.is_live() {
        let message =
            "the real computer may answer otherwise each time, so an audit under a host backend proves nothing";
        return Err(
            CliError::new(ErrorKind::Usage, message).hint("record a run, and replay it: `fozzy run --record …`")
        );
    }
    let names = fozzy_report::MachineNames::of(&planned.plan);
    let prepared = PreparedProgram::compile(loaded, planned)?;
    let mut session = prepared.piped_session(&context.project.config.base_dir)?;
    let seed = Seed(args.seed);
    let found = fozzy_search::audit(&mut session, seed, args.runs as usize)?;
    Ok(AuditDocument {
        scenario: scenario.display().to_string(),
        runs: found.signatures.len(),
        seed,
        consistent: found.is_consistent(),
        signatures: found.signatures,
        first_mismatch_run: found.first_mismatch,
        difference: found.difference.map(difference_document),
        divergence: found.divergence.map(|found| divergence_document(found, &names)),
    })
}

fn engine_issue() -> Option<DoctorIssue> {
    let audit = |component: Vec<u8>| {
        let (name, source) = ("the smallest program".to_owned(), Digest::of(&component));
        let target = RecordedTarget { name, source, kind: "component".to_owned() };
        let loaded = LoadedTarget { target, component: component.into(), source_bytes: 0, scenario: None, file: None };
        let mut session =
            PreparedProgram::compile(loaded, RunPlan::of(Plan::default(), Inputs::default()))?.session()?;
        Ok(fozzy_search::audit(&mut session, Seed(0), 2)?)
    };
    let works = fozzy_engine::load(NOTHING.as_bytes(), None)
        .map_err(|error| CliError::new(ErrorKind::Engine, error.to_string()))
        .and_then(|loaded| audit(loaded.component));
    let error = works.err()?;
    Some(DoctorIssue {
        code: "engine".to_owned(),
        message: format!("the smallest program does not run on this machine: {}", error.message),
        hint: Some("address space may be limited: see `ulimit -v`".to_owned()),
    })
}

fn store_issue(context: &Context) -> Option<DoctorIssue> {
    let folder = context.runs.begin();
    let removed = folder.and_then(|folder| {
        if !folder.is_kept() && !context.globals.no_store {
            let message = format!("runs cannot be kept in {}: it cannot be written to", context.runs.path().display());
            return Err(CliError::new(ErrorKind::Store, message));
        }
        std::fs::remove_dir(&folder.path).map_err(|error| CliError::new(ErrorKind::Store, error.to_string()))
    });
    let error = removed.err()?;
    Some(DoctorIssue {
        code: "store".to_owned(),
        message: error.message,
        hint: Some("name another place with `base_dir` in fozzy.toml".to_owned()),
    })
}
