//! `fozzy replay`: a trace once more, from its file alone; or its decisions against another program.

use super::run::conclude;
use super::shown_output::show_output;
use crate::args::{ReplayArgs, ReportFormatArg};
use crate::context::{Context, exit_as_told};
use crate::error::{CliError, ErrorKind};
use crate::output::{self, EXIT_ERROR};
use fozzy_campaign::block_stacks::{origins_of, related_stacks};
use fozzy_campaign::error::DeferredError;
use fozzy_campaign::explore::saved_failures::plan_of;
use fozzy_campaign::maelstrom::goals;
use fozzy_campaign::pipeline::{LoadedTarget, MachinesOfToday, PreparedProgram, identity, kept, load, session_of};
use fozzy_campaign::profile::profile_export;
use fozzy_campaign::selector;
use fozzy_campaign::sequence::{failing_sequence, last_sequence};
use fozzy_campaign::store::write_output;
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_engine::Session;
use fozzy_report::{MachineNames, ReplaySummary, RunMode, RunSummary, TargetSummary, document, entry_line, step_lines};
use fozzy_search::{CallDivergence, OutcomeDifference, replay as replay_recording};
use fozzy_trace::file::{RecordedOutcome, Recording};
use fozzy_trace::plan::AllocatorChoice;
use fozzy_trace::{Execution, FailureSignature, Finding, FindingKind, Status, Verdict};
use std::process::ExitCode;

pub(crate) fn replay(context: &Context, args: &ReplayArgs) -> Result<ExitCode, CliError> {
    if let Some(until) = args.until().map_err(|what| CliError::new(ErrorKind::Usage, what))? {
        return super::inspect_at::inspect_at(context, args, until);
    }
    let watch = Stopwatch::start();
    let (path, recording) = selector::recording(args.trace(), &context.runs)?;
    let format = context.format(args.reporter);
    let mut original = session_of(&recording)?;
    let is_checked = args.memcheck && !recording.plan.memcheck;
    let replayed = match &args.against {
        None if is_checked => {
            context.printer.remark(
                "with checks of memory, this is another run than the recorded one: blocks have other addresses\n",
            );
            against(
                &recording,
                &mut original,
                &mut checked_session(&recording, &args.allocator)?,
                TargetSummary::of(&recording.target),
            )?
        }
        None => same(&recording, &mut original, args, format == ReportFormatArg::Pretty)?,
        Some(program) => {
            let loaded = load(program, &context.project.remarks)?;
            let plan = args.plan.clone().or_else(|| plan_of(&context.project, &path));
            let machines = plan.map(|plan| MachinesOfToday::planned(&context.project, &loaded, Some(&plan)));
            other(&recording, &mut original, loaded, &machines.transpose()?.unwrap_or_default())?
        }
    };
    let folder = context.runs.begin()?;
    let identity = identity(&folder, recording.seed, Some(&path));
    let outcome = RecordedOutcome::of(&replayed.execution, replayed.verdict);
    let target = TargetSummary::of(&recording.target);
    let mut summary =
        RunSummary::of(RunMode::Replay, identity, target, &outcome, kept(&replayed.execution), watch.facts())
            .telling(&replayed.execution.facts);
    summary.goals = goals(&recording.plan, &replayed.execution);
    summary.replay = Some(replayed.comparison);
    if summary.replay.as_ref().is_some_and(|replay| replay.equal && replay.against.is_none()) {
        let steps = if args.prints_steps() { last_sequence(&recording) } else { failing_sequence(&recording) };
        if let (true, ReportFormatArg::Pretty, Some(steps)) = (args.prints_steps(), format, &steps) {
            context.printer.data(&step_lines(steps, context.printer.stdout_style()));
        }
        // Steps of a run that passed are no part of its report.
        summary = summary.with_steps(
            steps.filter(|_| recording.outcome.verdict.status != Status::Pass || format == ReportFormatArg::Json),
        );
    }
    if args.against.is_none() {
        // What was found is in the same place of the same decisions.
        let mut found = Recording { outcome: outcome.clone(), ..recording.clone() };
        found.plan.memcheck |= args.memcheck;
        found.plan.allocators.extend_from_slice(&args.allocator);
        summary = summary.with_related(related_stacks(&found));
        summary.warnings.extend(origins_of(&found, &replayed.execution.facts.undefined));
    }
    if args.profile.profile_regen {
        let why = "has no effect: `fozzy profile` makes the profile of any trace";
        context.printer.remark(&format!("--profile-regen {why}\n"));
    }
    if let Some((format, out)) = args.profile.export() {
        let (written, warnings) = profile_export(&path, &recording, None, format)?;
        write_output(out, &written)?;
        warnings.iter().for_each(|warning| context.printer.remark(&format!("note: {warning}\n")));
        context.printer.remark(&format!("wrote {}\n", out.display()));
    }
    let is_cut = recording.plan.limits.interrupted && summary.status == Status::Pass;
    let summary = if is_cut { summary.interrupted() } else { summary };
    let diverged = summary.replay.as_ref().is_some_and(|replay| !replay.equal);
    conclude(context, &folder, format, &summary, DeferredError::default())?;
    let diverged = diverged && !(is_checked && summary.status == Status::Crash);
    // A replay that is another run proves nothing about the recorded one, whatever its status.
    Ok(if diverged { ExitCode::from(EXIT_ERROR) } else { exit_as_told(summary.status, is_cut) })
}

struct ReplayResult {
    execution: Execution,
    verdict: Verdict,
    comparison: ReplaySummary,
}

fn same(
    recording: &Recording,
    session: &mut Session,
    args: &ReplayArgs,
    is_shown: bool,
) -> Result<ReplayResult, CliError> {
    if args.dump_events {
        let names = MachineNames::of(&recording.plan);
        session.follow(Box::new(move |entry| output::say(&format!("{}\n", entry_line(&entry, &names)))));
        replay_recording(recording, session, 0..u64::MAX)?;
    }
    if is_shown {
        session.watch(show_output(&recording.plan, false));
    }
    let replayed = replay_recording(recording, session, 0..0)?;
    let mut verdict = replayed.verdict;
    if let Some(difference) = &replayed.difference {
        let mut place = String::new();
        if let Some(stretch) = &replayed.stretch {
            place.push_str(&format!("; the first difference is in calls {} to {}", stretch.start, stretch.end));
        }
        place.push_str(&engine_difference(recording, session));
        // Whatever this execution came to, it is not the one that was asked for.
        verdict.status = Status::Error;
        verdict.signature = Some(FailureSignature { kind: FindingKind::Divergence, site: difference.what.to_owned() });
        match verdict.findings.iter_mut().find(|finding| finding.kind == FindingKind::Divergence) {
            // The program's own end has shown both sides.
            Some(finding) => finding.message.push_str(&place),
            None => {
                let OutcomeDifference { what, left, right } = difference;
                let message = format!("{what}: recorded {left}, found {right}{place}");
                verdict.findings.insert(0, divergence_finding("the replay differs from the recorded run", message));
            }
        }
    }
    let comparison = ReplaySummary {
        equal: replayed.difference.is_none(),
        claimed: replayed.claimed.iter().map(ToString::to_string).collect(),
        against: None,
        recorded_machines: Vec::new(),
        difference: replayed.difference.map(difference_document),
        divergence: None,
    };
    Ok(ReplayResult { execution: replayed.execution, verdict, comparison })
}

/// Another engine is the likeliest reason for a divergence, so it is said.
fn engine_difference(recording: &Recording, session: &Session) -> String {
    let (recorded, now) = (&recording.engine, fozzy_campaign::pipeline::engine_id(session.program()));
    if *recorded == now {
        return String::new();
    }
    format!(
        "; recorded by fozzy {} (wasmtime {}, rewriter {}), replayed by fozzy {} (wasmtime {}, rewriter {})",
        recorded.fozzy, recorded.wasmtime, recorded.rewriter, now.fozzy, now.wasmtime, now.rewriter
    )
}

fn other(
    recording: &Recording,
    original: &mut Session,
    loaded: LoadedTarget,
    machines: &MachinesOfToday,
) -> Result<ReplayResult, CliError> {
    let recorded_machines =
        if loaded.scenario.is_some() { Vec::new() } else { machines.recorded_ones(&recording.plan) };
    let mut changed = PreparedProgram::against(recording, loaded.clone(), machines)?.session()?;
    let mut replayed = against(recording, original, &mut changed, loaded.summary())?;
    replayed.comparison.recorded_machines = recorded_machines;
    Ok(replayed)
}

/// Replays the recorded decisions in another session, of this program.
fn against(
    recording: &Recording,
    original: &mut Session,
    changed: &mut Session,
    program: TargetSummary,
) -> Result<ReplayResult, CliError> {
    let against = fozzy_search::replay_against(recording, original, changed)?;
    let divergence = against.divergence.map(|found| divergence_document(found, &MachineNames::of(&recording.plan)));
    let (equal, claimed, program) = (divergence.is_none(), vec!["target.name".to_owned()], Some(program));
    let recorded_machines = Vec::new();
    let comparison =
        ReplaySummary { equal, claimed, against: program, recorded_machines, difference: None, divergence };
    Ok(ReplayResult { execution: against.execution, verdict: against.verdict, comparison })
}

/// The recorded run with checks of memory.
fn checked_session(recording: &Recording, allocators: &[AllocatorChoice]) -> Result<Session, CliError> {
    let mut checked = recording.clone();
    checked.plan.memcheck = true;
    checked.plan.allocators.extend_from_slice(allocators);
    session_of(&checked)
}

fn divergence_finding(title: &str, message: String) -> Finding {
    Finding {
        kind: FindingKind::Divergence,
        title: title.to_owned(),
        message,
        location: None,
        backtrace: Vec::new(),
        peers: Vec::new(),
        related: Vec::new(),
    }
}

pub(super) fn difference_document(difference: fozzy_search::OutcomeDifference) -> document::DifferenceDocument {
    document::DifferenceDocument {
        what: difference.what.to_owned(),
        recorded: difference.left,
        found: difference.right,
    }
}

pub(super) fn divergence_document(divergence: CallDivergence, names: &MachineNames) -> document::DivergenceDocument {
    document::DivergenceDocument {
        index: divergence.index,
        virtual_time_ns: divergence.at.0,
        machines: names.list(),
        recorded: divergence.recorded,
        asked: divergence.asked,
    }
}
