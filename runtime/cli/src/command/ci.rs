//! `fozzy ci`: is a trace whole, and is it the run that happens here?
//!
//! ```text
//! trace_verify, replay_…, memory_policy, …   of the trace and its replay (`fozzy_campaign::trace_check`)
//! flake_budget                               the runs that were named, when they were
//! ```

use super::report::signatures;
use crate::args::CiArgs;
use crate::context::Context;
use crate::error::{CliError, ErrorKind};
use fozzy_campaign::selector;
use fozzy_campaign::trace_check::{check_run, document, latency, row};
use fozzy_report::FlakyReport;
use fozzy_report::document::CiCheck;
use std::process::ExitCode;

pub(crate) fn ci(context: &Context, args: &CiArgs) -> Result<ExitCode, CliError> {
    let named = selector::named(&args.trace, &context.runs)?;
    let (mut found, _) = check_run(&args.trace, &named, context.strict)?;
    if !args.flake_runs.is_empty() {
        found.checks.push(flakes(context, args)?);
        found = document(found.checks);
    }
    if let Some(baseline) = &args.perf_baseline {
        let (_, now) = selector::recording(&args.trace, &context.runs)?;
        let (_, then) = selector::recording(baseline, &context.runs)?;
        found.checks.push(latency(&then, &now, args.max_p99_delta_pct.unwrap_or(0.0))?);
        found = document(found.checks);
    }
    context.printer.document(&found)?;
    Ok(if found.ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn flakes(context: &Context, args: &CiArgs) -> Result<CiCheck, CliError> {
    if args.flake_runs.len() < 2 {
        return Err(CliError::new(
            ErrorKind::Usage,
            "--flake-run is given at least twice: one run cannot differ from itself",
        ));
    }
    let report = FlakyReport::of(&signatures(context, &args.flake_runs)?);
    let budget = args.flake_budget.unwrap_or(0);
    let detail = format!("{:.2} % of {} runs differ, {budget} % may", report.flake_rate_pct, report.run_count);
    Ok(row("flake_budget", report.flake_rate_pct <= f64::from(budget), detail))
}
