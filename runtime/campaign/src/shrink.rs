//! Recorded failures minimized: the program of a recording, executed under one candidate after the other.
//!
//! ```text
//! Recording ─▶ ProgramReplayTarget, one a job ─▶ fozzy_search::shrink ─▶ the smallest candidate ─▶ Recording
//!                ├─ whole runs (Session)
//!                └─ steps of one sequence from checkpoints (`walker`)
//! ```
//!
//! Invariant: what comes out has the failure of what went in, confirmed by a whole run.

mod explained;
mod smaller_clusters;

pub use explained::explained_decisions;

use crate::error::{CampaignError, ErrorKind};
use crate::maelstrom;
use crate::options::StopFlag;
use crate::pipeline::{self, ENTRIES_KEPT, PreparedProgram, RecordingOrigin, cache};
use crate::progress::LIVE_EVERY_NS;
use crate::remarks::Remarks;
use crate::scenario::{self, ScenarioFile};
use crate::search_clock::SearchClock;
use crate::selector;
use crate::store::RunFolder;
use crate::walker::{SequenceProgram, SequenceWalker};
use fozzy_check::FailureIdentity;
use fozzy_engine::{Interrupt, Session};
use fozzy_report::{LiteralLanguage, ShownInput, ShrinkSlip, StateSearchSummary};
use fozzy_scenario_file::FailedPart;
use fozzy_search::shrink::{
    self, CandidateSize, Explanation, Options, ReplayTarget, SequenceTarget, ShrinkCandidate, ShrinkError,
    ShrinkProgress, ShrinkResult, StateSearch, StepDependencies,
};
use fozzy_trace::facts::ScenarioPosition;
use fozzy_trace::file::Recording;
use fozzy_trace::file::store::CollisionPolicy;
use fozzy_trace::plan::Inputs;
use fozzy_trace::{
    DecisionSource, Execution, Executor, FailureSignature, HarnessError, HistoryWindow, Plan, StateBasis,
    StateSearchEnd, Verdict, counted,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Other failures whose traces are kept; a program that fails in every way is not shown in all of them.
const SLIPS_KEPT_MAX: usize = 16;

/// The program of a recording, which is executed under many plans.
pub struct ProgramReplayTarget {
    session: Session,
    /// `None` when every candidate is run whole.
    sequences: Option<SequenceWalker>,
    /// The scenario file that is played, if one is.
    scenario: Option<Arc<ScenarioFile>>,
    origin: RecordingOrigin,
    /// Ends executions of all targets of the recording.
    interrupt: Interrupt,
    /// Ends those, too, that the end of the search does not end.
    request: Interrupt,
}

impl ProgramReplayTarget {
    /// One target a job; the program is compiled once.
    pub fn several(recording: &Recording, jobs: u32) -> Result<Vec<ProgramReplayTarget>, CampaignError> {
        let prepared = PreparedProgram::of_recording(recording)?;
        let program = SequenceProgram::new(Arc::clone(&recording.component), cache());
        let scenario = ScenarioFile::of_recording(recording).map(Arc::new);
        let target = |_| {
            let (sequences, scenario) = (Some(SequenceWalker::new(Arc::clone(&program))), scenario.clone());
            Ok(ProgramReplayTarget { sequences, scenario, ..ProgramReplayTarget::whole(recording, &prepared)? })
        };
        (0..jobs).map(target).collect()
    }

    /// A target that runs every candidate from its start.
    pub fn whole(recording: &Recording, prepared: &PreparedProgram) -> Result<ProgramReplayTarget, CampaignError> {
        let origin = RecordingOrigin::of_recording(recording);
        let (interrupt, request) = (prepared.interrupt.clone(), Interrupt::default());
        Ok(ProgramReplayTarget {
            session: prepared.session()?,
            sequences: None,
            scenario: None,
            origin,
            interrupt,
            request,
        })
    }

    /// Has `stop` end all executions, also of what is to be kept.
    fn end_by(&mut self, stop: &StopFlag) {
        self.request.arm(StopFlag::clone(stop));
    }

    /// A candidate of `original` as a recording, which is replayed by its number of each answer as any other.
    pub fn record(
        &mut self,
        original: &Recording,
        candidate: &ShrinkCandidate,
    ) -> Result<(Recording, Execution), CampaignError> {
        let (source, _) = shrink::source(candidate, original.seed, &original.observations);
        let execution = self.execute(&candidate.plan, &candidate.inputs, source, 0..ENTRIES_KEPT)?;
        let program = self.session.program();
        let recording = self.origin.record(program, candidate.plan.clone(), &candidate.inputs, &execution);
        Ok((recording, execution))
    }
}

impl ReplayTarget for ProgramReplayTarget {
    fn execute(
        &mut self,
        plan: &Plan,
        inputs: &Inputs,
        source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
    ) -> Result<Execution, HarnessError> {
        let replanned = self.session.replan(Arc::new(plan.clone()), inputs);
        replanned.map_err(|error| HarnessError::new(error.to_string()))?;
        self.session.execute(source, keep)
    }

    fn sequences(&mut self) -> Option<&mut dyn SequenceTarget> {
        self.sequences.as_mut().map(|walker| walker as &mut dyn SequenceTarget)
    }

    fn allow_interruption(&mut self, allowed: bool) {
        self.session.interrupt_by(if allowed { self.interrupt.clone() } else { self.request.clone() });
    }

    fn smaller_clusters(&self, plan: &Plan, inputs: &Inputs) -> Vec<Plan> {
        smaller_clusters::smaller_clusters(plan, inputs)
    }

    fn step_rate(&self, plan: &Plan) -> Option<f64> {
        maelstrom::step_rate(plan)
    }

    fn shortened(&self, plan: &Plan, steps: u32) -> Option<Plan> {
        maelstrom::shortened(plan, steps)
    }

    fn fault_of(&self, plan: &Plan, flow: (u64, u64)) -> Option<usize> {
        maelstrom::fault_of(plan, flow)
    }

    fn dependencies(&self, failure: &FailureIdentity, position: ScenarioPosition) -> StepDependencies {
        let Some(file) = &self.scenario else { return StepDependencies::default() };
        file.dependencies(failed_part(&failure.signature, position))
    }
}

/// Where a scenario file failed.
fn failed_part(signature: &FailureSignature, position: ScenarioPosition) -> FailedPart {
    let invariant = signature.site.strip_prefix("invariants[").and_then(|rest| rest.split_once(']'));
    match (invariant.and_then(|(number, _)| number.parse().ok()), position.step) {
        (Some(number), step) => FailedPart::Invariant(number, step),
        (None, Some(step)) => FailedPart::Step(step),
        (None, None) => FailedPart::End,
    }
}

/// Makes the failure of a recording smaller, with one target a job. An execution that is at work when `clock` is over is given up.
pub fn shrink(
    recording: &Recording,
    targets: &mut [ProgramReplayTarget],
    options: Options,
    clock: Option<&Arc<SearchClock>>,
    go_on: &mut dyn FnMut(&ShrinkProgress) -> bool,
) -> Result<ShrinkResult, ShrinkError> {
    let interrupt = targets.first().map(|target| target.interrupt.clone()).unwrap_or_default();
    clock.iter().for_each(|clock| clock.bound(&interrupt));
    let mut targets: Vec<&mut (dyn ReplayTarget + Send)> =
        targets.iter_mut().map(|target| target as &mut (dyn ReplayTarget + Send)).collect();
    let shrunk = shrink::shrink(recording, &mut targets, options, go_on);
    interrupt.disarm();
    shrunk
}

/// Which decisions of the smallest failure matter, until `clock` is over; an execution that is at work then is given up.
pub fn explain(
    recording: &Recording,
    target: &mut ProgramReplayTarget,
    smallest: &ShrinkCandidate,
    options: Options,
    clock: &Arc<SearchClock>,
) -> Result<Vec<Explanation>, ShrinkError> {
    let interrupt = target.interrupt.clone();
    clock.bound(&interrupt);
    let explained = shrink::explain(recording, target, smallest, options.keeps_stdin, &mut || !clock.is_over());
    interrupt.disarm();
    explained
}

/// Between two lines of progress, and between two states of the line of a terminal.
const PROGRESS_EVERY: [Duration; 2] = [Duration::from_secs(2), Duration::from_nanos(LIVE_EVERY_NS)];

/// How often progress is shown.
pub fn progress_every(remarks: &Remarks) -> Duration {
    PROGRESS_EVERY[usize::from(remarks.is_live())]
}

/// Shows how shrinking goes.
pub fn show_progress(remarks: &Remarks, elapsed: Duration, progress: &ShrinkProgress, budget_ns: u64) {
    match remarks.is_live() {
        true => remarks.live(&live_line(elapsed, progress, budget_ns)),
        false => remarks.text(&progress_line(elapsed, progress)),
    }
}

/// `3s  412 executions: 7 steps, 1 fault, 12 decisions  12s left`
fn live_line(elapsed: Duration, progress: &ShrinkProgress, budget_ns: u64) -> String {
    let ShrinkProgress { tries, size: CandidateSize { steps, faults, decisions, input_bytes, .. } } = progress;
    let sizes = [(*steps, "step"), (*faults, "fault"), (*decisions, "decision"), (*input_bytes, "byte")];
    let sizes: Vec<String> =
        sizes.iter().filter(|(size, _)| *size > 0).map(|(size, what)| counted(*size as u64, what)).collect();
    let left = Duration::from_nanos(budget_ns).saturating_sub(elapsed).as_secs();
    format!("{}s  {}: {}  {left}s left", elapsed.as_secs(), counted(*tries, "execution"), sizes.join(", "))
}

fn progress_line(elapsed: Duration, progress: &ShrinkProgress) -> String {
    let ShrinkProgress { tries, size: CandidateSize { steps, faults, decisions, input_bytes, .. } } = progress;
    format!(
        "[{}s] executions={tries} steps={steps} faults={faults} decisions={decisions} input={input_bytes}\n",
        elapsed.as_secs()
    )
}

/// Whether what stands on standard input is a scenario, which the player reads there.
pub fn keeps_stdin(recording: &Recording) -> bool {
    recording.target.kind == scenario::KIND
}

/// Standard input of a recording, as people look at it; `None` where it is empty or a scenario.
pub fn shown_stdin(recording: &Recording) -> Option<ShownInput> {
    let bytes = recording.inputs.get(&recording.plan.main.stdin.bytes).filter(|bytes| !bytes.is_empty())?;
    let language = LiteralLanguage::of(&fozzy_instrument::languages(&recording.component));
    (!keeps_stdin(recording)).then(|| ShownInput::of(&bytes, language))
}

/// Why `command` cannot work on the failure of the trace at `path`.
pub fn shrink_error(command: &str, path: &Path, error: &ShrinkError) -> CampaignError {
    let message = format!("{}: {error}", path.display());
    match error {
        ShrinkError::Passed => {
            CampaignError::new(ErrorKind::Target, message).hint(format!("fozzy {command} last-fail"))
        }
        ShrinkError::Unstable { .. } => CampaignError::new(ErrorKind::Replay, message)
            .hint(format!("fozzy replay {}", fozzy_report::shell_path(path))),
        ShrinkError::Harness(error) if error.is_interruption() => {
            let message = format!(
                "{}: the time was over before the recorded run was at its end once: nothing is smaller",
                path.display()
            );
            CampaignError::new(ErrorKind::Target, message)
                .hint(format!("fozzy {command} {} --budget 10m", fozzy_report::shell_path(path)))
        }
        ShrinkError::Harness(_) => CampaignError::new(ErrorKind::Harness, message),
    }
}

/// What making the failure of a trace smaller has come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShrunkTrace {
    /// The file of the smallest trace, and its steps; none where no other one than that of the failure is written.
    pub written: Option<(PathBuf, u64)>,
    /// Whether the smallest one is as small as it gets: all was tried before the time was over.
    pub is_minimal: bool,
}

/// Makes the failure of the trace at `found` smaller, as long as `budget` lasts, and writes it beside it. It goes on from `begun`, if there
/// is one: a trace of the same failure of the same program, at which the time of another search was over; that one is written too where it is
/// as small as it gets.
pub fn shrink_beside(
    found: &Path,
    begun: Option<&Path>,
    budget: fozzy_trace::Duration,
    shortest: bool,
    stop: &StopFlag,
) -> Result<ShrunkTrace, CampaignError> {
    let trace = begun.unwrap_or(found);
    let recording = selector::read(trace)?;
    let mut targets = ProgramReplayTarget::several(&recording, 1)?;
    targets.iter_mut().for_each(|target| target.end_by(stop));
    // As in other searches, what was compiled first takes nothing of it.
    let clock = SearchClock::start(Some(budget), Arc::clone(stop));
    let options = Options { only: None, aggressive: false, keeps_stdin: keeps_stdin(&recording), shortest };
    let shrunk = match shrink(&recording, &mut targets, options, Some(&clock), &mut |_| !clock.is_over()) {
        Err(ShrinkError::Harness(error)) if error.is_interruption() => return Ok(ShrunkTrace::default()),
        shrunk => shrunk.map_err(|error| shrink_error("shrink", trace, &error))?,
    };
    // Of a run with more decisions than are looked at it is not known whether it is minimal; more time does not change that.
    let is_minimal = shrunk.is_minimal || shrunk.exceeds_log && !clock.is_over();
    let is_smaller = shrunk.after != shrunk.before;
    if !(is_smaller || is_minimal && begun.is_some()) {
        return Ok(ShrunkTrace { written: None, is_minimal });
    }
    targets[0].allow_interruption(false);
    let (smallest, _) = match targets[0].record(&recording, &shrunk.smallest) {
        Err(error) if error.kind == ErrorKind::Interrupted => return Ok(ShrunkTrace::default()),
        recorded => recorded?,
    };
    let path = pipeline::write(&smallest, &found.with_extension("min.fozzy"), CollisionPolicy::Overwrite)?;
    Ok(ShrunkTrace { written: Some((path, shrunk.after.steps as u64)), is_minimal })
}

/// What was done by states, as a document; `None` where there is nothing to say, unless the shortest story was asked for.
pub fn states_document(search: &StateSearch, is_asked: bool) -> Option<StateSearchSummary> {
    let StateSearch { basis, end, .. } = *search;
    if matches!(end, StateSearchEnd::NoSteps | StateSearchEnd::FixedSteps) && !is_asked {
        return None;
    }
    Some(StateSearchSummary {
        basis,
        loop_steps: search.loop_steps,
        shortcut_steps: search.shortcut_steps,
        searched_states: search.states,
        searched_steps: search.steps,
        end,
        // What a memory is learned to tell leaves something out.
        shortest: end == StateSearchEnd::Exhausted && basis == StateBasis::Named,
    })
}

/// What the first finding of a verdict says.
pub fn message_of(verdict: &Verdict) -> String {
    verdict.findings.first().map(|finding| finding.message.clone()).unwrap_or_default()
}

/// Keeps a trace of each other failure that was met on the way.
pub fn keep_slips(
    target: &mut ProgramReplayTarget,
    recording: &Recording,
    shrunk: &ShrinkResult,
    folder: &RunFolder,
) -> Result<Vec<ShrinkSlip>, CampaignError> {
    let mut kept = Vec::new();
    for (number, (identity, candidate)) in shrunk.other_failures.iter().take(SLIPS_KEPT_MAX).enumerate() {
        let (recording, _) = target.record(recording, candidate)?;
        let path = folder.path.join(format!("slip-{}.fozzy", number + 1));
        let path = pipeline::write(&recording, &path, CollisionPolicy::Error)?;
        let (signature, message) = (identity.signature.clone(), message_of(&recording.outcome.verdict));
        kept.push(ShrinkSlip { signature, message, trace_path: path.display().to_string() });
    }
    Ok(kept)
}
