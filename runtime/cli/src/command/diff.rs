//! `fozzy diff`: two programs under equal decisions.

use super::run_seeds::range;
use crate::args::{DiffArgs, request};
use crate::context::Context;
use crate::error::{CliError, ErrorKind, at_path};
use crate::interrupt::{self, EXIT_INTERRUPTED};
use fozzy_campaign::diff::{ComparisonResult, DiffRules, DiffRun, ProgramComparison};
use fozzy_campaign::pipeline::{RecordPolicy, identity, kept, load, write};
use fozzy_campaign::seed_runs::ScenarioSize;
use fozzy_campaign::selector;
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_report::{RunMode, RunSummary, TargetSummary, shell_word};
use fozzy_trace::Seed;
use fozzy_trace::file::store::CollisionPolicy;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) fn diff(context: &Context, args: &DiffArgs) -> Result<ExitCode, CliError> {
    let watch = Stopwatch::start();
    let rules = DiffRules::new(&args.ignore, &args.mask)?;
    let seeds = range(Some(&args.seeds), Seed(0))?;
    let remarks = &context.project.remarks;
    let (old, new) = (load(&args.old, remarks)?, load(&args.new, remarks)?);
    interrupt::ask_me_to_stop();
    let comparison = ProgramComparison {
        project: &context.project,
        old,
        new,
        rules,
        until_difference: args.until_difference,
        stop: Arc::new(interrupt::is_asked_to_stop),
    };
    let request = request(&args.args, &args.limits, &args.world);
    let size = ScenarioSize { sequences: args.sequences, flows: args.flows };
    let result = match (&args.corpus, &args.exploration, &args.runs[..], seeds) {
        (Some(folder), ..) => comparison.of_corpus(&request, folder, &args.given())?,
        (None, Some(state), ..) => comparison.of_exploration(&request, state)?,
        (None, None, [], Some(seeds)) => comparison.of_seeds(&request, size, &seeds)?,
        (None, None, runs, _) => {
            let recordings = runs.iter().map(|run| selector::recording(run, &context.runs));
            comparison.of_recordings(&recordings.collect::<Result<Vec<_>, _>>()?)?
        }
    };
    let ComparisonResult { mut document, runs } = result;
    if let (Some(first), Some([old, new])) = (&mut document.first, &runs) {
        if let Some(folder) = &args.out {
            std::fs::create_dir_all(folder)
                .map_err(|error| at_path(ErrorKind::Store, "cannot create", folder, &error))?;
        }
        let traces =
            [("old.fozzy", old), ("new.fozzy", new)].map(|(name, run)| trace(context, args, name, run, &watch));
        let [old, new] = traces;
        (first.old_trace, first.new_trace) = (old?, new?);
        document.next = match (&first.old_trace, &first.new_trace) {
            (Some(old), Some(new)) => {
                let (old, new) = (shell_word(old), shell_word(new));
                let call = first.divergence.as_ref().map(|it| format!("fozzy replay {new} --call {}", it.index));
                [format!("fozzy artifacts diff {old} {new}")].into_iter().chain(call).collect()
            }
            _ => {
                document.warnings.push("no recordings were kept (--no-store); --out DIR keeps them".to_owned());
                Vec::new()
            }
        };
    }
    context.printer.document(&document)?;
    Ok(match (document.equal, document.interrupted) {
        (false, _) => ExitCode::from(1),
        (true, true) => ExitCode::from(EXIT_INTERRUPTED),
        (true, false) => ExitCode::SUCCESS,
    })
}

/// Where the recording of a run is: in the folder that was asked for, or in the run store, where it is a run like any other.
fn trace(
    context: &Context,
    args: &DiffArgs,
    name: &str,
    run: &DiffRun,
    watch: &Stopwatch,
) -> Result<Option<String>, CliError> {
    let DiffRun { execution, recording } = run;
    let shown = |path: PathBuf| path.display().to_string();
    if let Some(folder) = &args.out {
        return Ok(Some(shown(write(recording, &folder.join(name), CollisionPolicy::Append)?)));
    }
    if context.globals.no_store {
        return Ok(None);
    }
    let folder = context.runs.begin()?;
    let policy = RecordPolicy { path: None, collision: CollisionPolicy::Error, keep_passing: true };
    let path = policy.write(recording, &folder).inspect_err(|_| folder.discard())?;
    let identity = identity(&folder, recording.seed, path.as_deref());
    let target = TargetSummary::of(&recording.target);
    let summary = RunSummary::of(RunMode::Run, identity, target, &recording.outcome, kept(execution), watch.facts())
        .telling(&execution.facts);
    context.runs.finish(&folder, &summary)?;
    Ok(path.map(shown))
}
