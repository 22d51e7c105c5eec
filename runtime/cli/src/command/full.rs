//! `fozzy full`: every command once, on the scenarios of a project.
//!
//! Not here: the steps themselves (`fozzy_campaign::gates::full`).

use super::gate::shown_root;
use super::run::seed;
use crate::args::FullArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::gates::{passed_on, teller};
use clap::ValueEnum;
use fozzy_campaign::gates::full::{self, FullOptions, STEPS};
use fozzy_campaign::gates::steps::{Steps, failed};
use fozzy_campaign::gates::subprocess::CommandRunner;
use fozzy_campaign::suite::project::ProjectScenarios;
use fozzy_report::document::{FULL_SCHEMA, FullDocument};
use std::process::ExitCode;

pub(crate) fn full(context: &Context, args: &FullArgs) -> Result<ExitCode, CliError> {
    let options = FullOptions {
        seed: seed(context, args.seed),
        strict: context.strict,
        doctor_runs: args.doctor_runs,
        expect: args.allow_expected_failures,
        needs_topology: args.require_topology_coverage.is_some(),
        topology: topology(args),
        fuzz_time: args.fuzz_time,
        explore_steps: args.explore_steps,
        explore_nodes: args.explore_nodes,
    };
    let own = CommandRunner::new(&context.project.config.base_dir, passed_on(&context.globals))?;
    let mut steps = Steps::new(teller(context, true)).choosing(&args.skip_steps, &args.required_steps, &STEPS)?;
    steps.phase("full");
    let both: Vec<&str> =
        args.skip_steps.iter().filter(|step| args.required_steps.contains(step)).map(String::as_str).collect();
    if !both.is_empty() {
        steps.step("policy_conflict", || Ok(failed(format!("both skipped and required: {}", both.join(", ")))));
    }
    let filter: Vec<String> = args.scenario_filter.iter().cloned().collect();
    let found = ProjectScenarios::discover(args.scenario_root.as_deref(), &filter);
    let (project, shrink_classification) = full::run(&mut steps, &own, found, &options);
    let document = FullDocument {
        schema_version: FULL_SCHEMA.to_owned(),
        strict: context.strict,
        unsafe_mode: !context.strict,
        scenario_root: project.map_or_else(|| shown_root(args.scenario_root.as_deref()), |project| project.root),
        guidance: full::guidance(&steps, own),
        shrink_classification,
        steps: steps.rows.clone(),
    };
    context.printer.document(&document)?;
    Ok(ExitCode::from(u8::from(steps.any_failed())))
}

/// The map that is asked for, as flags.
fn topology(args: &FullArgs) -> Vec<String> {
    let word = |value: Option<clap::builder::PossibleValue>| {
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    };
    let root =
        args.require_topology_coverage.as_ref().map_or_else(|| ".".to_owned(), |root| root.display().to_string());
    let mut flags = vec!["--root".to_owned(), root];
    flags.extend(["--min-risk".to_owned(), args.topology_min_risk.to_string()]);
    flags.extend(["--profile".to_owned(), word(args.topology_profile.to_possible_value())]);
    flags.extend(["--shrink-policy".to_owned(), word(args.topology_shrink_policy.to_possible_value())]);
    if let Some(folder) = &args.scenario_root {
        flags.extend(["--scenario-root".to_owned(), folder.display().to_string()]);
    }
    flags
}
