//! `fozzy report`: what was kept of runs, shown again, asked, compared.
//!
//! ```text
//! RUN_OR_TRACE ─▶ report.json, believed when manifest.json agrees │ outcome of a trace ─▶ pretty │ json │ junit │ html
//! ```
//!
//! Not here: how reports look (`fozzy-report`).

use crate::args::{ReportFlakyArgs, ReportFormatArg, ReportQueryArgs, ReportShowArgs};
use crate::context::Context;
use crate::error::{CliError, ErrorKind, at_path};
use fozzy_campaign::run_details::{MeasuredDetails, run_details};
use fozzy_campaign::selector::{self, SelectedRun};
use fozzy_campaign::store::KeptReport;
use fozzy_check::is_own;
use fozzy_report::suite::{self, RunDetails, SuiteSummary};
use fozzy_report::{
    FlakyReport, RunIdentity, RunMode, RunSignature, RunSummary, TargetSummary, WallFacts, document, paths, pretty,
    query, shell_path, shell_word,
};
use fozzy_trace::file::store::{Durability, write_atomic};
use std::collections::BTreeSet;
use std::process::ExitCode;

pub(crate) fn show(context: &Context, args: &ReportShowArgs) -> Result<ExitCode, CliError> {
    if let (Some(flag), true) = (args.measured().first(), args.format != ReportFormatArg::Html) {
        let message = format!("--{flag}: only a page has it, and --format is {}", args.format.name());
        let run = shell_word(&args.run);
        let next = match args.causality {
            true => format!("fozzy causality {run}"),
            false => "fozzy suspects TARGET".to_owned(),
        };
        let next = format!("fozzy report show {run} --format html --{flag}, or {next}");
        return Err(CliError::new(ErrorKind::Usage, message).hint(next));
    }
    let report = report_of(context, &args.run)?;
    let style = if args.out.is_some() { fozzy_report::Style::PLAIN } else { context.printer.stdout_style() };
    let content = match (args.format, &report) {
        (ReportFormatArg::Pretty, KeptReport::Run(summary)) => pretty(summary, style, is_own),
        (ReportFormatArg::Pretty, KeptReport::Suite(summary)) => suite::pretty(summary, style, is_own),
        (ReportFormatArg::Json, report) => format!("{:#}\n", value_of(report)?),
        (ReportFormatArg::Html, KeptReport::Run(summary)) => page_of_run(context, args, summary),
        (format, report) => rendered(format, &as_suite(report))?,
    };
    match &args.out {
        Some(path) => {
            let written = write_atomic(path, content.as_bytes(), Durability::Cached);
            written.map_err(|error| at_path(ErrorKind::Report, "cannot write", path, &error))?;
            context.printer.remark(&format!("wrote {}\n", path.display()));
        }
        None if context.printer.json && args.format != ReportFormatArg::Json => {
            context
                .printer
                .document(&document::FormattedDocument { format: args.format.name().to_owned(), content })?;
        }
        None => context.printer.data(&content),
    }
    Ok(ExitCode::SUCCESS)
}

/// The page of one run, with what its trace tells of it, if it has one.
fn page_of_run(context: &Context, args: &ReportShowArgs, summary: &RunSummary) -> String {
    let suite = SuiteSummary::of_run(summary);
    match selector::recording(&args.run, &context.runs) {
        Ok((path, recording)) => {
            let measured = MeasuredDetails { causality: args.causality, suspects: args.suspects };
            suite::html_of_run(&suite, &run_details(&context.project, &path, &recording, measured), is_own)
        }
        Err(error) if !args.measured().is_empty() => {
            let remarks = args.measured().iter().map(|what| format!("no {what}: {}", error.message)).collect();
            suite::html_of_run(&suite, &RunDetails { remarks, ..RunDetails::default() }, is_own)
        }
        Err(_) => suite::html(&suite, is_own),
    }
}

pub(crate) fn ask(context: &Context, args: &ReportQueryArgs) -> Result<ExitCode, CliError> {
    let value = value_of(&report_of(context, &args.run)?)?;
    let Some(path) = &args.path else {
        context.printer.document(&document::PathsDocument { paths: paths(&value) })?;
        return Ok(ExitCode::SUCCESS);
    };
    let found = query(&value, path).map_err(|error| {
        let list = format!("fozzy report query {} --list-paths", shell_word(&args.run));
        CliError::new(ErrorKind::Query, error.to_string()).hint(list)
    })?;
    context.printer.data(&format!("{found:#}\n"));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn flaky(context: &Context, args: &ReportFlakyArgs) -> Result<ExitCode, CliError> {
    let runs = signatures(context, &args.runs)?;
    let report = FlakyReport::of(&runs);
    if let Some(budget) = args.flake_budget.filter(|budget| report.flake_rate_pct > f64::from(*budget)) {
        let differ =
            format!("{:.2} % of {} runs differ from the most frequent outcome", report.flake_rate_pct, runs.len());
        return Err(CliError::new(ErrorKind::Flaky, format!("{differ}, and {budget} % may"))
            .hint("leave out --flake-budget to see how they differ"));
    }
    context.printer.document(&report)?;
    Ok(ExitCode::SUCCESS)
}

/// The report of what a selector names.
fn report_of(context: &Context, selector: &str) -> Result<KeptReport, CliError> {
    match selector::named(selector, &context.runs)? {
        SelectedRun::Run(run) => Ok(run.report),
        SelectedRun::Trace(path) => {
            let recording = selector::read(&path)?;
            let trace_path = Some(path.display().to_string());
            // What identifies a trace is what it holds; the run that made it may be gone.
            let run_id = format!("{:016x}", recording.outcome.history);
            let identity =
                RunIdentity { run_id, seed: recording.seed, trace_path, report_path: None, artifacts_dir: None };
            let mode = RunMode::of(&recording.mode).unwrap_or(RunMode::Run);
            let target = TargetSummary::of(&recording.target);
            let output = (&recording.stdout[..], &recording.stderr[..]);
            let mut summary = RunSummary::of(mode, identity, target, &recording.outcome, output, WallFacts::unknown());
            summary
                .warnings
                .push(format!("as the file says, not compared with a run: fozzy replay {}", shell_path(&path)));
            Ok(KeptReport::Run(Box::new(summary)))
        }
    }
}

fn value_of(report: &KeptReport) -> Result<serde_json::Value, CliError> {
    as_json(report)
}

fn as_json(document: &impl serde::Serialize) -> Result<serde_json::Value, CliError> {
    serde_json::to_value(document).map_err(|error| CliError::new(ErrorKind::Internal, error.to_string()))
}

/// The same as a suite, which a single run is one of.
fn as_suite(report: &KeptReport) -> SuiteSummary {
    match report {
        KeptReport::Suite(summary) => (**summary).clone(),
        KeptReport::Run(summary) => SuiteSummary::of_run(summary),
    }
}

/// A report on one run as JUnit or as a page.
pub(super) fn rendered(format: ReportFormatArg, summary: &SuiteSummary) -> Result<String, CliError> {
    match format {
        ReportFormatArg::Junit => {
            suite::junit(summary, is_own).map_err(|error| CliError::new(ErrorKind::Internal, format!("JUnit: {error}")))
        }
        ReportFormatArg::Html => Ok(suite::html(summary, is_own)),
        ReportFormatArg::Antithesis => Ok(summary.antithesis_lines()),
        ReportFormatArg::Pretty => Ok(suite::pretty(summary, fozzy_report::Style::PLAIN, is_own)),
        ReportFormatArg::Json => Ok(format!("{:#}\n", as_json(summary)?)),
    }
}

/// What is compared of runs; a run may be named once. Those that were interrupted before anything was found have no verdict, and are left
/// out.
pub(super) fn signatures(context: &Context, selectors: &[String]) -> Result<Vec<RunSignature>, CliError> {
    let mut seen = BTreeSet::new();
    let (mut runs, mut left_out) = (Vec::with_capacity(selectors.len()), 0);
    for selector in selectors {
        let report = report_of(context, selector)?;
        let (id, signature) = signature(&report);
        if !seen.insert(id.clone()) {
            return Err(CliError::new(ErrorKind::Usage, format!("`{selector}`: run {id} is named twice")));
        }
        if report.has_verdict() {
            runs.push(signature);
        } else {
            left_out += 1;
            context.printer.remark(&format!("note: run {id} was interrupted, has no verdict, and is left out\n"));
        }
    }
    if left_out > 0 && runs.len() < 2 {
        let message = "fewer than two of these runs have a verdict: one run cannot differ from itself";
        return Err(CliError::new(ErrorKind::Flaky, message));
    }
    Ok(runs)
}

/// The identity of a run, and what is compared of it.
pub(super) fn signature(report: &KeptReport) -> (String, RunSignature) {
    let (identity, status, findings) = match report {
        KeptReport::Run(summary) => (&summary.identity, summary.status, &summary.findings),
        KeptReport::Suite(summary) => (&summary.identity, summary.status, &summary.findings),
    };
    let titles = findings.iter().map(|finding| finding.title.clone()).collect();
    (identity.run_id.clone(), RunSignature { status: status.name().to_owned(), titles })
}
