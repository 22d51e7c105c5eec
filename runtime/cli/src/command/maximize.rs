//! `explore --maximize` and `fuzz --maximize`: the run that costs most, instead of failures.
//!
//! Not here: the search (`fozzy-campaign`).

use super::run::conclude;
use crate::args::ReportFormatArg;
use crate::context::{Context, exit_as_told};
use crate::error::CliError;
use fozzy_campaign::error::DeferredError;
use fozzy_campaign::maximize::Maximization;
use fozzy_campaign::pipeline::identity;
use fozzy_campaign::store::RunFolder;
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_report::{RunMode, RunSummary, TargetSummary};
use fozzy_trace::{Seed, Status};
use std::cmp::Reverse;
use std::path::Path;
use std::process::ExitCode;

/// What is said of a search beside what it found.
pub(super) struct SearchFacts<'a> {
    pub(super) mode: RunMode,
    pub(super) target: TargetSummary,
    pub(super) seed: Seed,
    pub(super) record: Option<&'a Path>,
    pub(super) reporter: Option<ReportFormatArg>,
}

/// Reports the worst run. The status is that of the worst failure that was met, or a pass.
pub(super) fn show(
    context: &Context,
    folder: &RunFolder,
    facts: SearchFacts<'_>,
    found: Maximization,
    watch: &Stopwatch,
) -> Result<ExitCode, CliError> {
    let SearchFacts { mode, target, seed, record, reporter } = facts;
    let Maximization { summary: searched, worst, failures } = found;
    let keeps = context.keeps(record);
    let trace = Path::new(&searched.trace_path).to_owned();
    let identity = identity(folder, seed, Some(trace.as_path()).filter(|_| keeps));
    let output = (&*worst.stdout, &*worst.stderr);
    let mut summary = RunSummary::of(mode, identity, target, &worst.outcome, output, watch.facts());
    let mut verdicts: Vec<_> = failures.iter().map(|failure| &failure.outcome.verdict).collect();
    verdicts.sort_by_key(|verdict| Reverse(verdict.status.gravity()));
    summary.status = verdicts.first().map_or(Status::Pass, |verdict| verdict.status);
    summary.signature = verdicts.first().and_then(|verdict| verdict.signature.clone());
    summary = summary.finding(verdicts.iter().filter_map(|verdict| verdict.findings.first().cloned()).collect());
    summary.interrupted = searched.ended == "interrupted";
    summary.maximize = Some(if keeps { searched } else { searched.unkept() });
    conclude(context, folder, context.format(reporter), &summary, DeferredError::default())?;
    if keeps {
        let path = fozzy_report::shell_path(&trace);
        context.printer.remark(&format!("where it goes: fozzy profile top {path}\n"));
    }
    Ok(exit_as_told(summary.status, summary.interrupted))
}
