//! `fozzy shrink` and `fozzy ablate`: a recorded failure made smaller, and what it needs.

use super::run::{identity, print};
use super::{Context, exit};
use crate::args::{AblateArgs, MinimizeArg, ReporterArg, ShrinkArgs};
use crate::error::CliError;
use crate::output;
use fozzy_campaign::pipeline::session_of;
use fozzy_campaign::pipeline::{ENTRIES_KEPT, engine_id, kept};
use fozzy_campaign::scenario;
use fozzy_campaign::selector;
use fozzy_campaign::store::{self, RunFolder};
use fozzy_campaign::target;
use fozzy_campaign::walker::{Paths, WalkerFactory};
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_check::judge;
use fozzy_engine::Session;
use fozzy_report::{ExplainedDecision, FailureSize, RunMode, RunSummary, ShrinkSlip, ShrinkSummary};
use fozzy_search::shrink::{
    self, CandidateSize, Dimension, Explanation, Options, ReplayTarget, SequenceTarget, ShrinkCandidate, ShrinkError,
    ShrinkProgress, ShrinkResult, VariedPart,
};
use fozzy_trace::file::Recording;
use fozzy_trace::file::store::CollisionPolicy;
use fozzy_trace::plan::Inputs;
use fozzy_trace::source::Override;
use fozzy_trace::{DecisionSource, Execution, Executor, FailureSignature, HarnessError, HistoryWindow, Plan};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Between two lines of progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);
/// Other failures whose traces are kept; a program that fails in every way is not shown in all of them.
const SLIPS_KEPT_MAX: usize = 16;

pub(crate) fn shrink(context: &Context, args: &ShrinkArgs) -> Result<ExitCode, CliError> {
    let watch = Stopwatch::start();
    let (path, recording) = selector::recording(&args.trace, &context.runs)?;
    let out = args.out.clone().unwrap_or_else(|| path.with_extension("min.fozzy"));
    let json = context.printer.json || args.reporter == ReporterArg::Json;
    let mut engines = engines(&recording, args.jobs)?;
    let options =
        Options { only: dimension(args.minimize), aggressive: args.aggressive, keeps_stdin: is_of_file(&recording) };
    let mut told = Duration::ZERO;
    let mut go_on = |progress: &ShrinkProgress| {
        let elapsed = watch.elapsed();
        if elapsed - told >= PROGRESS_EVERY && !json {
            told = elapsed;
            output::stderr(progress_line(elapsed, progress).as_bytes());
        }
        elapsed < Duration::from_nanos(args.budget.0)
    };
    let shrunk = shrunk(&recording, &mut engines, options, &mut go_on).map_err(|error| failed(&path, &error))?;
    let engine = &mut engines[0];

    let explained = match (&recording.outcome.verdict.signature, args.explain) {
        (Some(signature), true) => {
            let mut go_on = || watch.elapsed() < Duration::from_nanos(args.budget.0.saturating_mul(2));
            let explained =
                shrink::explain(&recording, engine, &shrunk.smallest, signature, options.keeps_stdin, &mut go_on);
            explained.map_err(|error| failed(&path, &error))?.iter().map(explained_document).collect()
        }
        _ => Vec::new(),
    };
    let (smallest, execution) = engine.record(&recording, &shrunk.smallest)?;
    let bytes = smallest.to_bytes().map_err(|error| CliError::new("trace", error.to_string()))?;
    let written = store::write_trace(&out, &bytes, CollisionPolicy::Overwrite)?;
    let folder = context.runs.begin()?;
    let slips = slips(engine, &recording, &shrunk, &folder)?;
    let identity = identity(&folder, recording.seed, Some(&written));
    let target = target::summary_of(&recording.target);
    let mut summary =
        RunSummary::of(RunMode::Run, identity, target, &smallest.outcome, kept(&execution), watch.facts())
            .telling(&execution.facts);
    summary.shrink = Some(ShrinkSummary {
        source: path.display().to_string(),
        executions: shrunk.tries,
        minimal: shrunk.is_minimal,
        before: size(shrunk.before),
        after: size(shrunk.after),
        slips,
        explained,
    });
    context.runs.finish(&folder, &summary)?;
    print(context, json, &summary)?;
    Ok(exit(summary.status))
}

/// Whether what stands on standard input is a scenario, which the player reads there.
fn is_of_file(recording: &Recording) -> bool {
    recording.target.kind == scenario::KIND
}

fn explained_document(explained: &Explanation) -> ExplainedDecision {
    let Explanation { subject, tried, is_free } = explained;
    let (step, site, answer) = match subject {
        VariedPart::Decision(decision) => {
            let answer = match &decision.answer {
                Override::Number(number) => number.to_string(),
                Override::Bytes(digits) => digits.clone(),
            };
            (decision.key.part.step_number(), decision.site.clone(), answer)
        }
        VariedPart::Byte { decision, at, byte } => {
            (decision.key.part.step_number(), format!("{}, byte {at}", decision.site), format!("{byte:02x}"))
        }
        VariedPart::Stdin { at, byte } => (None, format!("standard input, byte {at}"), format!("{byte:02x}")),
    };
    ExplainedDecision { step, site, answer, tried: *tried as u64, free: *is_free }
}

const fn dimension(argument: MinimizeArg) -> Option<Dimension> {
    match argument {
        MinimizeArg::All => None,
        MinimizeArg::Input => Some(Dimension::Input),
        MinimizeArg::Schedule => Some(Dimension::Schedule),
        MinimizeArg::Faults => Some(Dimension::Faults),
    }
}

const fn size(size: CandidateSize) -> FailureSize {
    let CandidateSize { steps, faults, decisions, input_bytes } = size;
    FailureSize { steps, faults, decisions, input_bytes }
}

fn progress_line(elapsed: Duration, progress: &ShrinkProgress) -> String {
    let ShrinkProgress { tries, size: CandidateSize { steps, faults, decisions, input_bytes } } = progress;
    format!(
        "[{}s] executions={tries} steps={steps} faults={faults} decisions={decisions} input={input_bytes}\n",
        elapsed.as_secs()
    )
}

fn failed(path: &Path, error: &ShrinkError) -> CliError {
    let message = format!("{}: {error}", path.display());
    match error {
        ShrinkError::Passed => CliError::new("target", message).hint("fozzy shrink last-fail"),
        ShrinkError::Unstable { .. } => {
            CliError::new("replay", message).hint(format!("fozzy replay {}", path.display()))
        }
        ShrinkError::Harness(_) => CliError::new("harness", message),
    }
}

/// Makes the failure of a trace smaller, as long as `budget` lasts, and writes it beside it: the file, and its steps. `None`
/// when it does not get smaller.
pub(super) fn smaller(trace: &Path, budget: Duration) -> Result<Option<(PathBuf, u64)>, CliError> {
    let watch = Stopwatch::start();
    let recording = selector::read(trace)?;
    let mut engines = engines(&recording, 1)?;
    let options = Options { only: None, aggressive: false, keeps_stdin: is_of_file(&recording) };
    let shrunk = shrunk(&recording, &mut engines, options, &mut |_| watch.elapsed() < budget);
    let shrunk = shrunk.map_err(|error| failed(trace, &error))?;
    if shrunk.after == shrunk.before {
        return Ok(None);
    }
    let (smallest, _) = engines[0].record(&recording, &shrunk.smallest)?;
    let bytes = smallest.to_bytes().map_err(|error| CliError::new("trace", error.to_string()))?;
    let path = store::write_trace(&trace.with_extension("min.fozzy"), &bytes, CollisionPolicy::Overwrite)?;
    Ok(Some((path, shrunk.after.steps as u64)))
}

/// Keeps a trace of each other failure that was met on the way.
fn slips(
    engine: &mut Engine,
    recording: &Recording,
    shrunk: &ShrinkResult,
    folder: &RunFolder,
) -> Result<Vec<ShrinkSlip>, CliError> {
    let mut kept = Vec::new();
    for (number, (signature, smallest)) in shrunk.other_failures.iter().take(SLIPS_KEPT_MAX).enumerate() {
        let (recording, _) = engine.record(recording, smallest)?;
        let bytes = recording.to_bytes().map_err(|error| CliError::new("trace", error.to_string()))?;
        let path: PathBuf = folder.path.join(format!("slip-{}.fozzy", number + 1));
        let path = store::write_trace(&path, &bytes, CollisionPolicy::Error)?;
        kept.push(ShrinkSlip { signature: signature.clone(), trace_path: path.display().to_string() });
    }
    Ok(kept)
}

/// So many engines for a recording's program, which is compiled once.
fn engines(recording: &Recording, jobs: u32) -> Result<Vec<Engine>, CliError> {
    let first = session_of(recording)?;
    let program = first.program().clone();
    let ground = WalkerFactory::new(Arc::clone(&recording.component), target::cache());
    let engine = |session| Engine { session, paths: Paths::new(Arc::clone(&ground)) };
    let mut engines = vec![engine(first)];
    for _ in 1..jobs {
        engines.push(engine(target::session(program.clone(), &recording.plan, &recording.inputs)?));
    }
    Ok(engines)
}

fn shrunk(
    recording: &Recording,
    engines: &mut [Engine],
    options: Options,
    go_on: &mut dyn FnMut(&ShrinkProgress) -> bool,
) -> Result<ShrinkResult, ShrinkError> {
    let mut stages: Vec<&mut (dyn ReplayTarget + Send)> =
        engines.iter_mut().map(|engine| engine as &mut (dyn ReplayTarget + Send)).collect();
    shrink::shrink(recording, &mut stages, options, go_on)
}

/// The engine, which executes one program under many plans.
struct Engine {
    session: Session,
    paths: Paths,
}

impl ReplayTarget for Engine {
    fn execute(
        &mut self,
        plan: &Plan,
        inputs: &Inputs,
        source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
    ) -> Result<Execution, HarnessError> {
        let replanned = self.session.replan(Arc::new(plan.clone()), inputs);
        replanned.map_err(|error| HarnessError { what: error.to_string() })?;
        self.session.execute(source, keep)
    }

    fn sequences(&mut self) -> Option<&mut dyn SequenceTarget> {
        Some(&mut self.paths)
    }
}

impl Engine {
    /// A story as a trace, which is replayed by its number of each answer as any other.
    fn record(&mut self, original: &Recording, smallest: &ShrinkCandidate) -> Result<(Recording, Execution), CliError> {
        let (source, _) = shrink::source(smallest, original.seed, &original.observations);
        let execution = self.execute(&smallest.plan, &smallest.inputs, source, 0..ENTRIES_KEPT)?;
        let verdict = judge(&execution);
        let recording = Recording::of(
            original.target.clone(),
            Arc::clone(&original.component),
            smallest.plan.clone(),
            &smallest.inputs,
            engine_id(self.session.program()),
            &execution,
            verdict,
            original.seed,
            &original.mode,
        );
        Ok((recording, execution))
    }
}

/// `fozzy ablate`, as a document.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AblationDocument {
    schema_version: &'static str,
    trace: String,
    signature: Option<FailureSignature>,
    faults: Vec<String>,
    rows: Vec<AblationRow>,
}

/// What came of leaving out some faults.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AblationRow {
    /// Places among the planned faults.
    without: Vec<usize>,
    still_fails: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<FailureSignature>,
}

pub(crate) fn ablate(context: &Context, args: &AblateArgs) -> Result<ExitCode, CliError> {
    let (path, recording) = selector::recording(&args.trace, &context.runs)?;
    if recording.plan.faults.is_empty() {
        let message = format!("{}: no fault was planned, so none can be left out", path.display());
        return Err(CliError::new("target", message).hint("fozzy run TARGET --faults disk,http"));
    }
    let mut engines = engines(&recording, 1)?;
    let rows = shrink::ablate(&recording, &mut engines[0]).map_err(|error| failed(&path, &error))?;
    let names: Vec<String> =
        recording.plan.faults.iter().map(|fault| format!("{}@{}", fault.kind, fault.target)).collect();
    if context.printer.json {
        let rows = rows.into_iter().map(|row| AblationRow {
            without: row.without,
            still_fails: row.still_fails,
            signature: row.signature,
        });
        context.printer.document(&AblationDocument {
            schema_version: "fozzy.ablation.v1",
            trace: path.display().to_string(),
            signature: recording.outcome.verdict.signature.clone(),
            faults: names,
            rows: rows.collect(),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let named = |without: &[usize]| without.iter().map(|place| names[*place].as_str()).collect::<Vec<_>>().join(", ");
    let width = rows.iter().map(|row| named(&row.without).chars().count()).max().unwrap_or_default();
    for row in &rows {
        let what = match (&row.signature, row.still_fails, row.without.len()) {
            (_, true, _) => "still fails",
            (None, _, 1) => "passes: it is needed",
            (None, _, _) => "passes: one of them is needed",
            (Some(_), _, _) => "fails otherwise",
        };
        context.printer.data(&format!("without {:<width$}  {what}\n", named(&row.without)));
    }
    Ok(ExitCode::SUCCESS)
}
