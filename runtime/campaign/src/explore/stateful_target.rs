//! A scenario as the target of an exploration: executed step by step with checkpoints, its findings confirmed by whole runs.
//!
//! ```text
//! answers ─▶ Walker (checkpoints, steps) ─▶ continues │ failed: judged by how it ended
//! path ───▶ Session (the ordinary run, bounded steps) ─▶ Execution ─▶ verdict, Recording
//! ```
//!
//! Invariant: what a finding is, a run says that can be recorded; walking only says where to look.

use super::unreached::unreached;
use crate::error::{CampaignError, ErrorKind};
use crate::pipeline::{ENTRIES_KEPT, PreparedProgram, RecordingOrigin};
use fozzy_check::{SearchVerdict, judge_facts, judge_of_search};
use fozzy_engine::{Interrupt, LazyInput, Session, Walker};
use fozzy_report::{FaultOverlap, RunMode, UnreachedBranch};
use fozzy_search::explore::{ConfirmReason, CoverageStretch, DecisionPath, StatefulTarget};
use fozzy_trace::facts::{InjectedFaults, Property};
use fozzy_trace::file::Recording;
use fozzy_trace::plan::{Inputs, ScenarioPlan};
use fozzy_trace::source::RecordedSource;
use fozzy_trace::{
    CheckpointId, CmpLogEntry, DecisionSource, Execution, Executor, HarnessError, HistoryWindow, Plan, Seed,
    SharedStepJudge, StepId, StepOutcome, StepTarget, Verdict,
};
use std::sync::Arc;

/// A target with what is reported of it when an exploration is over.
pub trait ExploredTarget: StatefulTarget {
    /// Whether anything was done that could fail.
    fn has_run(&self) -> bool;

    /// Why its state cannot be kept, one sentence each; places are reached by calling again then.
    fn obstacles(&self) -> &[String] {
        &[]
    }

    /// Edges that are told apart.
    fn edges_total(&self) -> u64;

    /// Branches that were not taken; `taken` has a byte for each edge of a module, in the order in which coverage was shown.
    fn not_reached(&self, taken: &dyn Fn(usize) -> Vec<u8>) -> Vec<UnreachedBranch>;

    /// Counts what became of the planned faults in a run that was made elsewhere.
    fn note_faults(&mut self, _injected: &InjectedFaults) {}

    /// Which nemeses were at work together in all runs, and with which operations.
    fn overlaps(&self) -> Vec<FaultOverlap> {
        Vec::new()
    }
}

/// Runs paths as runs that can be recorded.
pub struct PathConfirmer {
    session: Session,
    /// End its runs from outside: those of the search, and those that confirm or record a failure.
    interrupt: Interrupt,
    reprieve: Interrupt,
    plan: Plan,
    inputs: Inputs,
    /// Our own standard input, if the program may read that.
    stdin: Option<Arc<LazyInput>>,
    origin: RecordingOrigin,
    /// Whether a path is one of a whole run, whatever its steps.
    is_whole_run: bool,
}

impl PathConfirmer {
    /// Runs under the plan of `prepared`.
    pub fn new(prepared: &PreparedProgram, seed: Seed) -> Result<PathConfirmer, CampaignError> {
        let (plan, inputs) = (prepared.planned.plan.clone(), prepared.planned.inputs.clone());
        let (mut session, stdin) = (prepared.session()?, prepared.planned.stdin.clone());
        if let Some(stdin) = &stdin {
            session.read_from(Arc::clone(stdin));
        }
        let (interrupt, reprieve) = (prepared.interrupt.clone(), prepared.reprieve.clone());
        let origin = prepared.origin(seed, RunMode::Explore);
        let is_whole_run = prepared.is_explored_whole();
        Ok(PathConfirmer { session, interrupt, reprieve, plan, inputs, stdin, origin, is_whole_run })
    }

    /// Whether the runs of its paths are parted into steps.
    pub(super) fn has_steps(&self) -> bool {
        !self.is_whole_run
    }

    /// The plan of the run of a path.
    pub fn plan_of(&self, story: &DecisionPath) -> Plan {
        if self.is_whole_run {
            return self.plan.clone();
        }
        let steps = |_: &ScenarioPlan| ScenarioPlan::all(1, story.steps.max(1));
        Plan { scenario: self.plan.scenario.as_ref().map(steps), ..self.plan.clone() }
    }

    /// Runs a path once more, from the start, within the time of the search.
    pub fn execute(&mut self, story: &DecisionPath, keep: HistoryWindow) -> Result<Execution, HarnessError> {
        self.session.interrupt_by(self.interrupt.clone());
        self.repeat(story, keep)
    }

    /// The same, as it is recorded, by a source that `wrap` makes of the path's.
    pub(super) fn execute_by(
        &mut self,
        story: &DecisionPath,
        wrap: &dyn Fn(Box<dyn DecisionSource>) -> Box<dyn DecisionSource>,
    ) -> Result<Execution, HarnessError> {
        self.session.interrupt_by(self.interrupt.clone());
        self.replan(story)?;
        self.session.execute(wrap(self.source_of(story)), 0..ENTRIES_KEPT)
    }

    /// The verdict of the run of a path. That of a failure may take some time beyond the end of the search.
    pub(super) fn confirm(&mut self, story: &DecisionPath, reason: ConfirmReason) -> Result<Verdict, HarnessError> {
        self.session.interrupt_by(match reason {
            ConfirmReason::Failure => self.reprieve.clone(),
            ConfirmReason::Cut => self.interrupt.clone(),
        });
        Ok(judge_of_search(&self.repeat(story, 0..0)?).verdict)
    }

    fn repeat(&mut self, story: &DecisionPath, keep: HistoryWindow) -> Result<Execution, HarnessError> {
        self.replan(story)?;
        self.session.execute(self.source_of(story), keep)
    }

    fn replan(&mut self, story: &DecisionPath) -> Result<(), HarnessError> {
        let plan = Arc::new(self.plan_of(story));
        let planned = self.session.replan(plan, &self.inputs);
        planned.map_err(|error| HarnessError::new(error.to_string()))
    }

    fn source_of(&self, story: &DecisionPath) -> Box<dyn DecisionSource> {
        Box::new(RecordedSource::new(self.origin.seed, story.overrides()))
    }

    /// The run of a path, as a recording. It may take some time beyond the end of the search.
    pub fn record(&mut self, story: &DecisionPath) -> Result<Recording, CampaignError> {
        self.session.interrupt_by(self.reprieve.clone());
        let execution = self.repeat(story, 0..ENTRIES_KEPT)?;
        Ok(self.recording_of(story, &execution))
    }

    /// The run of a path that was executed, as a recording.
    pub(super) fn recording_of(&self, story: &DecisionPath, execution: &Execution) -> Recording {
        let (mut plan, mut inputs) = (self.plan_of(story), self.inputs.clone());
        if let Some(bytes) = self.stdin.as_ref().and_then(|stdin| stdin.taken()) {
            plan.main.stdin.bytes = inputs.add(bytes);
        }
        self.origin.record(self.session.program(), plan, &inputs, execution)
    }
}

/// A scenario that is walked through.
pub struct ScenarioTarget {
    walker: Walker,
    confirmer: PathConfirmer,
}

impl ScenarioTarget {
    /// A scenario that `walker` walks through and whose findings `confirmer` repeats.
    pub fn new(walker: Walker, confirmer: PathConfirmer) -> ScenarioTarget {
        ScenarioTarget { walker, confirmer }
    }
}

impl ExploredTarget for ScenarioTarget {
    fn has_run(&self) -> bool {
        self.walker.has_run()
    }

    fn obstacles(&self) -> &[String] {
        self.walker.obstacles()
    }

    fn edges_total(&self) -> u64 {
        self.walker.coverage().map(|(_, bytes)| bytes.len() as u64).sum()
    }

    fn not_reached(&self, taken: &dyn Fn(usize) -> Vec<u8>) -> Vec<UnreachedBranch> {
        unreached(self.walker.program(), &self.walker.covered(taken))
    }
}

impl StepTarget for ScenarioTarget {
    fn start(&self) -> CheckpointId {
        self.walker.start()
    }

    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        self.walker.restore(checkpoint, source)
    }

    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        self.walker.step(step)
    }

    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        self.walker.capture()
    }

    fn release(&mut self, checkpoint: CheckpointId) {
        self.walker.release(checkpoint);
    }
}

impl StatefulTarget for ScenarioTarget {
    fn judge_end(&self) -> Option<SearchVerdict> {
        Some(judge_facts(self.walker.facts()))
    }

    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
        self.walker.take_coverage(&mut |module, len, at, bytes| see(CoverageStretch { module, len, at, bytes }));
    }

    fn takes_several_steps(&self) -> bool {
        self.walker.takes_several_steps()
    }

    fn steps(&mut self, first: u32, last: u32, judge: &SharedStepJudge) -> Result<(StepOutcome, u32), HarnessError> {
        self.walker.steps(first, last, judge)
    }

    fn properties(&self, see: &mut dyn FnMut(&str, &Property)) {
        self.walker.facts().properties.iter().for_each(|(name, property)| see(name, property));
    }

    fn properties_version(&self) -> Option<u64> {
        Some(self.walker.facts().properties.version())
    }

    fn faults(&self, see: &mut dyn FnMut(u64)) {
        self.walker.injected().for_each(see);
    }

    fn state(&self) -> Option<u64> {
        self.walker.facts().states.digest()
    }

    fn memory_state(&mut self) -> Option<u64> {
        self.walker.memory_state()
    }

    fn log_comparisons(&mut self, on: bool) -> Result<(), HarnessError> {
        self.walker.log_comparisons(on);
        Ok(())
    }

    fn comparisons(&mut self, log: &mut Vec<CmpLogEntry>) {
        self.walker.read_comparisons(log);
    }

    fn confirm(&mut self, story: &DecisionPath, reason: ConfirmReason) -> Result<Verdict, HarnessError> {
        self.confirmer.confirm(story, reason)
    }
}

/// A scenario that cannot be walked through, as an error of the command.
pub fn walk_error(name: &str, error: &fozzy_engine::WalkerError) -> CampaignError {
    let refused = CampaignError::new(ErrorKind::Target, format!("{name}: {error}"));
    match error {
        fozzy_engine::WalkerError::NoFlows => {
            refused.hint("write one with `#[scenario]` of the SDK: fozzy init --template rust")
        }
        _ => refused,
    }
}
