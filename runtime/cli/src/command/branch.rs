//! `fozzy branch`: re-runs a recorded run up to one decision, then continues with another seed.
//!
//! Invariant: what comes of it is a run like any other, whose trace stands alone.

use super::run::{conclude, say_other_name, seed};
use super::shown_output::show_output;
use crate::args::{BranchArgs, ReportFormatArg};
use crate::context::{Context, exit};
use crate::error::{CliError, ErrorKind};
use fozzy_campaign::error::DeferredError;
use fozzy_campaign::pipeline::{ENTRIES_KEPT, PreparedProgram, RecordPolicy, identity, kept};
use fozzy_campaign::selector;
use fozzy_campaign::store::store_error;
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_report::{RunMode, RunSummary, TargetSummary};
use fozzy_search::Branch;
use fozzy_trace::file::store::{CollisionPolicy, check_target};
use fozzy_trace::{Executor, counted};
use std::process::ExitCode;

pub(crate) fn branch(context: &Context, args: &BranchArgs) -> Result<ExitCode, CliError> {
    let watch = Stopwatch::start();
    let (path, original) = selector::recording(&args.trace, &context.runs)?;
    let collision: CollisionPolicy = args.record_collision.into();
    if let Some(path) = &args.record {
        check_target(path, collision).map_err(store_error)?;
    }
    let decisions = original.outcome.decisions;
    if args.at > decisions {
        let number = counted(decisions, "decision");
        let message = format!("{} has {number}, so there is no moment {}", path.display(), args.at);
        return Err(CliError::new(ErrorKind::Usage, message)
            .hint(format!("fozzy trace show {}", fozzy_report::shell_path(&path))));
    }
    let seed = seed(context, args.seed);
    let prepared = PreparedProgram::of_recording(&original)?;
    let mut session = prepared.session()?;
    let format = context.format(args.reporter);
    if format == ReportFormatArg::Pretty {
        session.watch(show_output(&original.plan, false));
    }
    let source = Branch::new(&original, args.at, seed);
    let execution = session.execute(Box::new(source), 0..ENTRIES_KEPT)?;
    let recording = prepared.record(&execution, seed, RunMode::Run);
    let folder = context.runs.begin()?;
    let policy = RecordPolicy { path: args.record.as_deref(), collision, keep_passing: false };
    let trace = policy.write(&recording, &folder)?;
    let identity = identity(&folder, seed, trace.as_deref());
    let target = TargetSummary::of(&recording.target);
    let summary = RunSummary::of(RunMode::Run, identity, target, &recording.outcome, kept(&execution), watch.facts())
        .telling(&execution.facts);
    conclude(context, &folder, format, &summary, DeferredError::default())?;
    say_other_name(context, args.record.as_deref(), trace.as_deref());
    Ok(exit(summary.status))
}
