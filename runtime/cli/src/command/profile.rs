//! `fozzy profile`: where a recorded run spends its instructions, its time, its bytes.

use super::shrink::dimension;
use super::worker::stop_flag;
use crate::args::{ProfileCommand, ProfileShrinkArgs};
use crate::context::Context;
use crate::error::CliError;
use fozzy_campaign::profile::{
    CostShrinkRequest, profile_diff, profile_doctor, profile_explain, profile_export, profile_flame, profile_shrink,
    profile_top, run_activity,
};
use fozzy_campaign::search_clock::SearchClock;
use fozzy_campaign::selector;
use fozzy_campaign::shrink::{progress_every, show_progress};
use fozzy_campaign::store::write_output;
use fozzy_report::Layout;
use fozzy_report::profile::{ProfileEnv, ProfileExport, ProfileShrink, ProfileTimeline};
use fozzy_search::shrink::ShrinkProgress;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

pub(crate) fn profile(context: &Context, command: &ProfileCommand) -> Result<ExitCode, CliError> {
    let printer = &context.printer;
    let recorded = |run: &str| selector::recording(run, &context.runs);
    match command {
        ProfileCommand::Top(args) => {
            let (path, recording) = recorded(&args.run)?;
            printer.document(&profile_top(
                &path,
                &recording,
                args.domains.into(),
                &args.heap.allocator,
                args.limit,
            )?)?;
        }
        ProfileCommand::Flame(args) => {
            let (path, recording) = recorded(&args.run)?;
            let heap = args.heap.then_some(args.allocators.allocator.as_slice());
            let flame = profile_flame(&path, &recording, heap, &args.format)?;
            show_or_write(context, &flame, &flame.content, args.out.as_deref())?;
        }
        ProfileCommand::Timeline(args) => {
            let (path, recording) = recorded(&args.run)?;
            let timeline = ProfileTimeline::of(&run_activity(&path, &recording)?, &args.format);
            show_or_write(context, &timeline, &timeline.text(), args.out.as_deref())?;
        }
        ProfileCommand::Diff(args) => {
            let side = |runs: &str| selector::several(runs).into_iter().map(recorded).collect::<Result<Vec<_>, _>>();
            let (left, right) = (side(&args.left)?, side(&args.right)?);
            printer.document(&profile_diff(&left, &right, args.domains.into(), args.limit)?)?;
        }
        ProfileCommand::Explain(args) => {
            let before = args.diff_with.as_ref().map(|run| recorded(run)).transpose()?;
            printer.document(&profile_explain(&recorded(&args.run)?, before.as_ref())?)?;
        }
        ProfileCommand::Shrink(args) => printer.document(&shrink(context, args)?)?,
        ProfileCommand::Env => printer.document(&ProfileEnv::here(context.strict))?,
        ProfileCommand::Doctor(args) => {
            let (path, recording) = recorded(&args.run)?;
            let found = profile_doctor(&path, &recording, args.deep)?;
            printer.document(&found)?;
            return Ok(if found.ok { ExitCode::SUCCESS } else { ExitCode::from(1) });
        }
        ProfileCommand::Export(args) => {
            let (path, recording) = recorded(&args.run)?;
            let heap = args.heap.then_some(args.allocators.allocator.as_slice());
            let (written, warnings) = profile_export(&path, &recording, heap, &args.format)?;
            write_output(&args.out, &written)?;
            let (run, out) = (path.display().to_string(), args.out.display().to_string());
            printer.document(&ProfileExport::new(run, &args.format, out, warnings))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn shrink(context: &Context, args: &ProfileShrinkArgs) -> Result<ProfileShrink, CliError> {
    let clock = SearchClock::start(Some(args.budget), stop_flag());
    let (path, recording) = selector::recording(&args.run, &context.runs)?;
    let out = args.out.clone().unwrap_or_else(|| path.with_extension("min.fozzy"));
    let (metric, direction, only) = (args.metric.clone(), args.direction.into(), dimension(args.minimize));
    let request = CostShrinkRequest { metric, direction, keep_pct: args.keep, only };
    let remarks = &context.project.remarks;
    let every = progress_every(remarks);
    let mut next = every;
    let mut go_on = |progress: &ShrinkProgress| {
        let elapsed = Duration::from_nanos(clock.elapsed_ns());
        if elapsed >= next && !context.printer.json {
            next = elapsed + every;
            show_progress(remarks, elapsed, progress, args.budget.0);
        }
        !clock.is_over()
    };
    let found = profile_shrink((&path, &recording), &request, (&out, &clock), &mut go_on);
    remarks.live("");
    found
}

/// Prints a document, or writes its text to a file.
pub(crate) fn show_or_write(
    context: &Context,
    document: &impl Layout,
    text: &str,
    out: Option<&Path>,
) -> Result<(), CliError> {
    let printer = &context.printer;
    out.iter().try_for_each(|path| write_output(path, text.as_bytes()))?;
    match out {
        Some(path) if !printer.json => printer.remark(&format!("wrote {}\n", path.display())),
        _ => printer.document(document)?,
    }
    Ok(())
}
