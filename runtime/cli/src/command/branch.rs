//! `fozzy branch`: re-runs a recorded run up to one decision, then continues with another seed.
//!
//! Invariant: what comes of it is a run like any other, whose trace stands alone.

use super::run::{identity, print, seed, show_output};
use super::{Context, exit};
use crate::args::{BranchArgs, ReporterArg};
use crate::error::CliError;
use fozzy_campaign::pipeline::session_of;
use fozzy_campaign::pipeline::{ENTRIES_KEPT, engine_id, kept};
use fozzy_campaign::selector;
use fozzy_campaign::store::{self, TRACE_NAME, store_error};
use fozzy_campaign::target;
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_check::judge;
use fozzy_report::{RunMode, RunSummary};
use fozzy_search::Branch;
use fozzy_trace::file::Recording;
use fozzy_trace::file::store::{CollisionPolicy, check_target};
use fozzy_trace::{Executor, Status};
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) fn branch(context: &Context, args: &BranchArgs) -> Result<ExitCode, CliError> {
    let watch = Stopwatch::start();
    let (path, original) = selector::recording(&args.trace, &context.runs)?;
    let collision: CollisionPolicy = args.record_collision.into();
    if let Some(path) = &args.record {
        check_target(path, collision).map_err(store_error)?;
    }
    let decisions = original.outcome.decisions;
    if args.at > decisions {
        let message = format!("{} has {decisions} decisions, so there is no moment {}", path.display(), args.at);
        return Err(CliError::new("usage", message).hint(format!("fozzy trace show {}", path.display())));
    }
    let seed = seed(context, args.seed);
    let mut session = session_of(&original)?;
    let json = context.printer.json || args.reporter == ReporterArg::Json;
    if !json {
        session.watch(show_output(&original.plan));
    }
    let source = Branch::new(&original, args.at, seed);
    let execution = session.execute(Box::new(source), 0..ENTRIES_KEPT)?;
    let verdict = judge(&execution);
    let recording = Recording::of(
        original.target.clone(),
        Arc::clone(&original.component),
        original.plan.clone(),
        &original.inputs,
        engine_id(session.program()),
        &execution,
        verdict,
        seed,
        RunMode::Run.name(),
    );
    let folder = context.runs.begin()?;
    let (to, collision) = match &args.record {
        Some(path) => (Some(path.clone()), collision),
        None if recording.outcome.verdict.status == Status::Pass => (None, collision),
        None => (Some(folder.path.join(TRACE_NAME)), CollisionPolicy::Error),
    };
    let trace = match to {
        None => None,
        Some(to) => {
            let bytes = recording.to_bytes().map_err(|error| CliError::new("trace", error.to_string()))?;
            Some(store::write_trace(&to, &bytes, collision)?)
        }
    };
    let identity = identity(&folder, seed, trace.as_deref());
    let target = target::summary_of(&recording.target);
    let summary = RunSummary::of(RunMode::Run, identity, target, &recording.outcome, kept(&execution), watch.facts())
        .telling(&execution.facts);
    context.runs.finish(&folder, &summary)?;
    print(context, json, &summary)?;
    Ok(exit(summary.status))
}
