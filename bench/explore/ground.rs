//! One puzzle as the target of explorations, as the command has it.

use fozzy_campaign::explore::stateful_target::{PathConfirmer, ScenarioTarget};
use fozzy_campaign::pipeline::{LoadedTarget, PreparedProgram, RunPlan};
use fozzy_check::SearchVerdict;
use fozzy_engine::Walker;
use fozzy_search::explore::{AnswerLog, ConfirmReason, CoverageStretch, DecisionPath, GuidedSource, StatefulTarget};
use fozzy_trace::facts::Property;
use fozzy_trace::plan::{Inputs, MachinePlan, ScenarioPlan};
use fozzy_trace::{
    CheckpointId, CmpLogEntry, DecisionSource, HarnessError, Plan, Seed, SharedStepJudge, StepId, StepOutcome,
    StepTarget, Verdict,
};
use std::collections::BTreeSet;

/// A puzzle, and what a search hears of it.
pub(super) struct Puzzle {
    target: ScenarioTarget,
    captured: BTreeSet<CheckpointId>,
    /// Whether it says what its state is.
    told: bool,
    /// What was answered before the beginning.
    pub(super) start: AnswerLog,
}

impl Puzzle {
    /// The puzzle of that name.
    pub(super) fn new(component: &[u8], name: &str, told: bool) -> Puzzle {
        let env = vec![("PUZZLE".to_owned(), name.to_owned())];
        let main = MachinePlan { env, ..MachinePlan::default() };
        let plan = Plan { main, scenario: Some(ScenarioPlan::all(1, 1)), ..Plan::default() };
        let loaded = LoadedTarget::of_bytes("puzzles", component).expect("it was just built");
        let prepared = PreparedProgram::compile(loaded, RunPlan::of(plan, Inputs::default())).expect("it compiles");
        let start = AnswerLog::default();
        let first = Box::new(GuidedSource::first(Seed(0), &start));
        let (component, planned) = (prepared.loaded.component.clone(), &prepared.planned);
        let walker = Walker::new(component, &planned.plan, &planned.inputs, None, first).expect("it has flows");
        let confirmer = PathConfirmer::new(&prepared, Seed(0)).expect("a plain plan");
        Puzzle { target: ScenarioTarget::new(walker, confirmer), captured: BTreeSet::new(), told, start }
    }

    /// Forgets all places but the start.
    pub(super) fn clear(&mut self) {
        std::mem::take(&mut self.captured).into_iter().for_each(|checkpoint| self.target.release(checkpoint));
        self.target.coverage(&mut |_| {});
    }
}

impl StepTarget for Puzzle {
    fn start(&self) -> CheckpointId {
        self.target.start()
    }

    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        self.target.restore(checkpoint, source)
    }

    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        self.target.step(step)
    }

    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        let checkpoint = self.target.capture()?;
        self.captured.insert(checkpoint);
        Ok(checkpoint)
    }

    fn release(&mut self, checkpoint: CheckpointId) {
        self.captured.remove(&checkpoint);
        self.target.release(checkpoint);
    }
}

impl StatefulTarget for Puzzle {
    fn judge_end(&self) -> Option<SearchVerdict> {
        self.target.judge_end()
    }

    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
        self.target.coverage(see);
    }

    fn properties(&self, see: &mut dyn FnMut(&str, &Property)) {
        self.target.properties(see);
    }

    fn properties_version(&self) -> Option<u64> {
        self.target.properties_version()
    }

    fn takes_several_steps(&self) -> bool {
        // A judge sees the state that is not told here.
        self.told && self.target.takes_several_steps()
    }

    fn steps(&mut self, first: u32, last: u32, judge: &SharedStepJudge) -> Result<(StepOutcome, u32), HarnessError> {
        self.target.steps(first, last, judge)
    }

    fn faults(&self, see: &mut dyn FnMut(u64)) {
        self.target.faults(see);
    }

    fn state(&self) -> Option<u64> {
        self.target.state().filter(|_| self.told)
    }

    fn memory_state(&mut self) -> Option<u64> {
        self.target.memory_state()
    }

    fn log_comparisons(&mut self, on: bool) -> Result<(), HarnessError> {
        self.target.log_comparisons(on)
    }

    fn comparisons(&mut self, log: &mut Vec<CmpLogEntry>) {
        self.target.comparisons(log);
    }

    fn confirm(&mut self, story: &DecisionPath, reason: ConfirmReason) -> Result<Verdict, HarnessError> {
        self.target.confirm(story, reason)
    }
}
