//! `fozzy test`: a suite of scenarios, one run.

use super::report::rendered;
use super::run::seed;
use crate::args::{ReportFormatArg, TestArgs, request};
use crate::context::{Context, exit};
use crate::error::{CliError, ErrorKind};
use crate::output;
use crate::progress;
use fozzy_campaign::store::store_error;
use fozzy_campaign::suite::case::{Case, Suite, SuiteOptions};
use fozzy_campaign::suite::entry::{SuiteEntry, shown};
use fozzy_campaign::suite::jobs::{Event, in_order};
use fozzy_campaign::suite::records::{identity, records, trace_names};
use fozzy_campaign::suite::regressions::{self, Regression};
use fozzy_campaign::suite::select::select;
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_check::is_own;
use fozzy_report::suite::{CaseResult, CaseSummary, SuiteSummary, annotations, case_line, details, heading, widest};
use fozzy_trace::file::store::{self, CollisionPolicy, Durability, StoreError, write_atomic};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn test(context: &Context, args: &TestArgs) -> Result<ExitCode, CliError> {
    let watch = Stopwatch::start();
    let selected = select(&args.globs, args.filter.as_deref())?;
    let seed = seed(context, args.seed);
    let records = records(args.record.as_deref(), selected.len());
    let collision: CollisionPolicy = args.record_collision.into();
    for path in records.iter().flatten() {
        store::check_target(path, collision).map_err(store_error)?;
    }
    let folder = context.runs.begin()?;
    let options = SuiteOptions {
        expect: args.expect,
        sequences: args.sequences,
        flows: args.flows,
        request: request(&args.args, &args.limits, &args.world),
    };
    let suite = Suite { project: &context.project, options: &options, seed, folder: &folder, collision };
    let (regressions, scenarios) = all(context, args, &suite, selected, records).inspect_err(|_| folder.discard())?;
    let identity = identity(&folder, seed, scenarios.iter().chain(&regressions));
    let summary = SuiteSummary::of(identity, watch.facts(), regressions, scenarios);
    context.runs.finish(&folder, &summary)?;
    print(context, args, &summary)?;
    if is_on_github() {
        output::say(&annotations(&summary, source_here));
    }
    Ok(exit(summary.status))
}

/// What the report goes to standard output as.
fn format_on_stdout(context: &Context, args: &TestArgs) -> ReportFormatArg {
    match (context.printer.json, &args.out) {
        (true, _) => ReportFormatArg::Json,
        (false, Some(_)) => ReportFormatArg::Pretty,
        (false, None) => context.format(args.reporter),
    }
}

/// One piece of work.
enum Work<'a> {
    Kept(&'a Regression),
    Case(&'a Case),
}

impl Work<'_> {
    fn path(&self) -> String {
        match self {
            Work::Kept(regression) => shown(&regression.path),
            Work::Case(case) => case.shown(),
        }
    }
}

type Cases = (Vec<CaseSummary>, Vec<CaseSummary>);

/// Builds, tries and runs everything.
fn all(
    context: &Context,
    args: &TestArgs,
    suite: &Suite<'_>,
    selected: Vec<SuiteEntry>,
    records: Vec<Option<PathBuf>>,
) -> Result<Cases, CliError> {
    let names = trace_names(&selected);
    let cases: Vec<Case> = selected
        .into_iter()
        .zip(records)
        .zip(names)
        .map(|((selected, record), name)| Case::prepare(selected, record, name, &context.project.remarks))
        .collect();
    let narrowed = !args.globs.is_empty() || args.filter.is_some();
    let kept = regressions::find(&cases, narrowed, &context.project.config.base_dir);
    let work: Vec<Work<'_>> = kept.iter().map(Work::Kept).chain(cases.iter().map(Work::Case)).collect();
    let paths: Vec<String> = work.iter().map(Work::path).collect();
    let width = widest(paths.iter().map(String::as_str));
    let (printer, style) = (context.printer, context.printer.stdout_style());
    let is_live = format_on_stdout(context, args) == ReportFormatArg::Pretty;
    if is_live {
        printer.data(&heading(cases.len(), kept.len(), suite.seed, style));
    }
    // Which cases come before the first failure must not depend on their speed.
    let jobs = if args.fail_fast { 1 } else { args.jobs as usize };
    let is_failure = |case: &CaseSummary| args.fail_fast && case.result == CaseResult::Failed;
    let run = |work: &Work<'_>| match work {
        Work::Kept(regression) => regression.run(suite, &cases),
        Work::Case(case) => case.run(suite),
    };
    let tell = |event: Event<'_, CaseSummary>| match event {
        Event::Next(case) if is_live => {
            printer.data(&case_line(case, width, style));
        }
        Event::Next(_) => {}
        Event::Working { running: [], .. } => progress::clear(),
        Event::Working { done, running } => {
            let names: Vec<&str> = running.iter().map(|index| paths[*index].as_str()).collect();
            progress::show(&format!("{done}/{}  {}", paths.len(), names.join(", ")));
        }
    };
    let results = in_order(&work, jobs, is_failure, run, tell).map_err(|error| {
        CliError::new(ErrorKind::Harness, format!("cannot start a thread for --jobs {jobs}: {error}"))
    })?;
    let mut results = results.into_iter().zip(&work).map(|(result, work)| {
        result.unwrap_or_else(|| {
            let case = not_run(work);
            if is_live {
                printer.data(&case_line(&case, width, style));
            }
            case
        })
    });
    let regressions = results.by_ref().take(kept.len()).collect();
    Ok((regressions, results.collect()))
}

fn not_run(work: &Work<'_>) -> CaseSummary {
    let why = "not run: --fail-fast ended the suite at the first failure";
    let name = match work {
        Work::Kept(_) => work.path(),
        Work::Case(case) => case.name.clone(),
    };
    CaseSummary::skipped(&name, &work.path(), why)
}

/// The report: to the file that was named for it, and to standard output.
fn print(context: &Context, args: &TestArgs, summary: &SuiteSummary) -> Result<(), CliError> {
    if let Some(path) = &args.out {
        let text = rendered(file_format(context, args), summary)?;
        write_atomic(path, text.as_bytes(), Durability::Cached)
            .map_err(|error| store_error(StoreError::io("write", path, error)))?;
    }
    let style = context.printer.stdout_style();
    let text = match format_on_stdout(context, args) {
        // The cases have had their lines.
        ReportFormatArg::Pretty => details(summary, style, is_own),
        other => rendered(other, summary)?,
    };
    context.printer.data(&text);
    Ok(())
}

/// What the report goes to its file as.
fn file_format(context: &Context, args: &TestArgs) -> ReportFormatArg {
    args.reporter.unwrap_or_else(|| context.format(None))
}

/// Whether GitHub runs us, and shows lines of a certain form beside the change.
#[allow(clippy::disallowed_methods, reason = "influences only what is printed about a suite that is over")]
pub(super) fn is_on_github() -> bool {
    std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true")
}

/// A source file as it is named from here, when it is here; compilers mostly write whole paths.
pub(super) fn source_here(path: &str) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let path = Path::new(path);
    path.is_file().then(|| shown(path.strip_prefix(here).unwrap_or(path)))
}
