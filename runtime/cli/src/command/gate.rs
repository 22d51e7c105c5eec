//! `fozzy gate`: the checks before a change is let in.
//!
//! Not here: the steps themselves (`gates`).

use super::run::seed;
use crate::args::{GateArgs, GateProfileArg};
use crate::context::Context;
use crate::error::CliError;
use crate::gates::{passed_on, teller};
use fozzy_campaign::gates::chain::{self, Options};
use fozzy_campaign::gates::scope;
use fozzy_campaign::gates::steps::Steps;
use fozzy_campaign::gates::subprocess::CommandRunner;
use fozzy_campaign::suite::project::ProjectScenarios;
use fozzy_report::document::{GATE_SCHEMA, GateDocument};
use std::process::ExitCode;

pub(crate) fn gate(context: &Context, args: &GateArgs) -> Result<ExitCode, CliError> {
    let seed = seed(context, args.seed);
    let own = CommandRunner::new(&context.project.config.base_dir, passed_on(&context.globals))?;
    let mut steps = Steps::new(teller(context, false));
    chain::clean_tree(&mut steps, context.strict);
    let root = args.scenario_root.as_deref();
    let project = chain::discover(&mut steps, "discover", ProjectScenarios::discover(root, &[]));
    let since = args.since.as_deref();
    let scoped = scope::scope(&mut steps, &own, project.as_ref(), root, &args.scope, since);
    let options = Options {
        seed,
        doctor_runs: args.doctor_runs,
        suite_name: "test_det_strict",
        expect: args.allow_expected_failures,
    };
    let chain = chain::run(&mut steps, &own, scoped.as_ref(), &options);
    chain::profile(&mut steps, &own, &chain);
    let document = GateDocument {
        schema_version: GATE_SCHEMA.to_owned(),
        profile: match args.profile {
            GateProfileArg::Targeted => "targeted".to_owned(),
        },
        strict: context.strict,
        scenario_root: scoped
            .as_ref()
            .or(project.as_ref())
            .map_or_else(|| shown_root(root), |found| found.root.clone()),
        scopes: args.scope.clone(),
        matched_scenarios: scoped.map(|scoped| scoped.paths()).unwrap_or_default(),
        steps: steps.rows.clone(),
    };
    let any_failed = steps.any_failed();
    if any_failed {
        context.printer.remark(&format!("the files of the steps are in {}\n", own.keep().display()));
    }
    context.printer.document(&document)?;
    Ok(ExitCode::from(u8::from(any_failed)))
}

/// The root of a project in which nothing was found.
pub(super) fn shown_root(root: Option<&std::path::Path>) -> String {
    root.map_or_else(|| ".".to_owned(), |root| root.display().to_string())
}
