//! `fozzy run`: a program once, from its bytes to a report.

use super::{Context, exit};
use crate::args::{ReporterArg, RunArgs, SeedArg};
use crate::error::CliError;
use crate::output;
use fozzy_campaign::pipeline::{ENTRIES_KEPT, driven, kept, recorded};
use fozzy_campaign::plan::plan;
use fozzy_campaign::store::{RunFolder, TRACE_NAME, store_error};
use fozzy_campaign::target;
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_check::is_own;
use fozzy_engine::{OutputKind, OutputTee, Program};
use fozzy_report::{RunIdentity, RunMode, RunSummary, pretty};
use fozzy_trace::file::{Recording, store};
use fozzy_trace::plan::ScenarioPlan;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Executor, NodeId, Plan, Seed, Status};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) fn run(context: &Context, args: &RunArgs) -> Result<ExitCode, CliError> {
    let watch = Stopwatch::start();
    let seed = seed(context, args.seed);
    let collision: store::CollisionPolicy = args.record_collision.into();
    if let Some(path) = &args.record {
        store::check_target(path, collision).map_err(store_error)?;
    }
    let loaded = target::load(&args.target)?;
    let name = &loaded.target.name;
    let mut planned = plan(&context.project, &loaded, &args.args, &args.limits.options(), &args.world.options())?;
    let program = target::compile(loaded.component.clone(), &planned.plan, name)?;
    planned.plan.scenario = scenario(&program, args, planned.plan.scenario)?;
    let mut session = target::session(program, &planned.plan, &planned.inputs)?;
    if let Some(stdin) = &planned.stdin {
        session.read_from(Arc::clone(stdin));
    }
    planned.open(&mut session, &context.project.config.base_dir)?;
    let json = context.printer.json || args.reporter == ReporterArg::Json;
    if !json {
        session.watch(show_output(&planned.plan));
    }
    let execution = session.execute(Box::new(SeededSource::new(seed)), 0..ENTRIES_KEPT)?;
    planned.add_stdin();
    let summary_target = loaded.summary();
    let is_file = loaded.scenario.is_some();
    let recording = recorded(loaded, planned, session.program(), &execution, seed, RunMode::Run);

    let folder = context.runs.begin()?;
    let trace = write_trace(&recording, args.record.as_deref(), collision, &folder, context.project.keep_passing);
    // A run that could not be kept is none: no empty folder stays behind.
    let trace = trace.inspect_err(|_| folder.discard())?;
    let identity = identity(&folder, seed, trace.as_deref());
    let summary =
        RunSummary::of(RunMode::Run, identity, summary_target, &recording.outcome, kept(&execution), watch.facts())
            .telling(&execution.facts);
    // A scenario file has no properties that could be left out.
    let catalogue = session.program().catalogue().remark().filter(|_| !is_file).map(str::to_owned);
    let summary = RunSummary { catalogue, ..summary };
    context.runs.finish(&folder, &summary)?;
    print(context, json, &summary)?;
    let findings = &recording.outcome.verdict.findings;
    if let Some(why) = findings.iter().find_map(|finding| session.missing_lines(&finding.backtrace)) {
        context.printer.remark(&format!("note: {why}\n"));
    }
    Ok(exit(summary.status))
}

/// How far a scenario is driven; a program that drives itself has no sequences.
fn scenario(program: &Program, args: &RunArgs, own: Option<ScenarioPlan>) -> Result<Option<ScenarioPlan>, CliError> {
    if let Some(own) = own {
        return Ok(Some(driven(own, args.sequences, args.flows)));
    }
    let default = ScenarioPlan::default();
    if program.is_scenario() {
        let sequences = args.sequences.unwrap_or(default.sequences);
        return Ok(Some(ScenarioPlan::all(sequences, args.flows.unwrap_or(default.flows))));
    }
    if args.sequences.is_none() && args.flows.is_none() {
        return Ok(None);
    }
    let message = "the program is a command: it exports `wasi:cli/run`, and no interface of `fozzy:scenario`";
    Err(CliError::new("target", message).hint("leave out --sequences and --flows"))
}

/// A fresh seed is drawn only when asked for, and is said before anything else.
pub(super) fn seed(context: &Context, seed: SeedArg) -> Seed {
    match seed {
        SeedArg::Number(number) => Seed(number),
        SeedArg::Random => {
            let number = uuid::Uuid::new_v4().as_u64_pair().0;
            context.printer.remark(&format!("seed {number}\n"));
            Seed(number)
        }
    }
}

/// Passes on what the programs write while they run: the target's own words as they are, those of other machines
/// on stderr, each line after the machine's name.
pub(super) fn show_output(plan: &Plan) -> OutputTee {
    let names: Vec<String> = plan.nodes.iter().map(|node| node.name.clone()).collect();
    let mut lines: BTreeMap<NodeId, Vec<u8>> = BTreeMap::new();
    Box::new(move |node, kind, bytes| match (node, kind) {
        (NodeId(0), OutputKind::Stdout) => drop(output::stdout(bytes)),
        (NodeId(0), OutputKind::Stderr) => output::stderr(bytes),
        (NodeId(number), _) => {
            let Some(name) = names.get(number as usize - 1) else { return };
            let line = lines.entry(node).or_default();
            line.extend_from_slice(bytes);
            while let Some(end) = line.iter().position(|byte| *byte == b'\n') {
                let rest = line.split_off(end + 1);
                output::stderr(&[name.as_bytes(), b" | ", line].concat());
                *line = rest;
            }
        }
    })
}

/// A recorded run is written where it was asked for; one that did not pass is kept with its run.
fn write_trace(
    recording: &Recording,
    record: Option<&Path>,
    collision: store::CollisionPolicy,
    folder: &RunFolder,
    passing_too: bool,
) -> Result<Option<PathBuf>, CliError> {
    let (path, collision) = match record {
        Some(path) => (path.to_owned(), collision),
        None if recording.outcome.verdict.status == Status::Pass && !passing_too => return Ok(None),
        None => (folder.path.join(TRACE_NAME), store::CollisionPolicy::Error),
    };
    let bytes = recording.to_bytes().map_err(|error| CliError::new("trace", error.to_string()))?;
    fozzy_campaign::store::write_trace(&path, &bytes, collision).map(Some)
}

pub(super) fn identity(folder: &RunFolder, seed: Seed, trace: Option<&Path>) -> RunIdentity {
    let text = |path: &Path| path.display().to_string();
    RunIdentity {
        run_id: folder.id.clone(),
        seed,
        trace_path: trace.map(text),
        report_path: Some(text(&folder.path.join("report.json"))),
        artifacts_dir: Some(text(&folder.path)),
    }
}

/// The summary: one document on stdout, or a block for people on stderr, where it does not mix with
/// what the program wrote.
pub(super) fn print(context: &Context, json: bool, summary: &RunSummary) -> Result<(), CliError> {
    if json {
        let text =
            serde_json::to_string_pretty(summary).map_err(|error| CliError::new("internal", error.to_string()))?;
        context.printer.data(&format!("{text}\n"));
    } else {
        context.printer.remark(&pretty(summary, context.printer.style(), is_own));
    }
    Ok(())
}
