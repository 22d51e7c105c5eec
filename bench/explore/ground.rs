//! One puzzle as the ground of explorations, as the command has it.

use fozzy_check::judge;
use fozzy_engine::{Program, Session, Switches, Walker};
use fozzy_search::explore::{AnswerLog, DecisionPath, GuidedSource, StatefulTarget};
use fozzy_trace::facts::Property;
use fozzy_trace::plan::{Inputs, MachinePlan, ScenarioPlan};
use fozzy_trace::source::RecordedSource;
use fozzy_trace::{
    CheckpointId, DecisionSource, Executor, HarnessError, Plan, Seed, StepId, StepOutcome, StepTarget, Verdict,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A puzzle that is walked through.
pub(super) struct Puzzle {
    walker: Walker,
    session: Session,
    plan: Plan,
    captured: BTreeSet<CheckpointId>,
    /// Whether it says what its state is.
    told: bool,
    /// What was answered before the beginning.
    pub(super) start: AnswerLog,
}

impl Puzzle {
    /// The puzzle of that name.
    pub(super) fn new(component: &Arc<[u8]>, name: &str, told: bool) -> Puzzle {
        let env = vec![("PUZZLE".to_owned(), name.to_owned())];
        let main = MachinePlan { env, ..MachinePlan::default() };
        let plan = Plan { main, scenario: Some(ScenarioPlan::all(1, 1)), ..Plan::default() };
        let (inputs, start) = (Inputs::default(), AnswerLog::default());
        let first = Box::new(GuidedSource::first(Seed(0), &start));
        let walker = Walker::new(Arc::clone(component), &plan, &inputs, None, first).expect("it has flows");
        let program = Program::new(Arc::clone(component), Switches::of(&plan), None).expect("it compiles");
        let session = Session::new(program, Arc::new(plan.clone()), &inputs).expect("a plain plan");
        Puzzle { walker, session, plan, captured: BTreeSet::new(), told, start }
    }

    /// Forgets all places but the start.
    pub(super) fn clear(&mut self) {
        std::mem::take(&mut self.captured).into_iter().for_each(|checkpoint| self.walker.release(checkpoint));
        self.walker.clear_coverage();
    }
}

impl StepTarget for Puzzle {
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
        let checkpoint = self.walker.capture()?;
        self.captured.insert(checkpoint);
        Ok(checkpoint)
    }

    fn release(&mut self, checkpoint: CheckpointId) {
        self.captured.remove(&checkpoint);
        self.walker.release(checkpoint);
    }
}

impl StatefulTarget for Puzzle {
    fn coverage(&mut self, see: &mut dyn FnMut(&[u8])) {
        self.walker.coverage().for_each(|(_, bytes)| see(bytes));
        self.walker.clear_coverage();
    }

    fn properties(&self, see: &mut dyn FnMut(&str, &Property)) {
        self.walker.facts().properties.iter().for_each(|(name, property)| see(name, property));
    }

    fn faults(&self, see: &mut dyn FnMut(u64)) {
        self.walker.injected().for_each(see);
    }

    fn state(&self) -> Option<u64> {
        self.walker.facts().states.digest().filter(|_| self.told)
    }

    fn memory_state(&mut self) -> Option<u64> {
        self.walker.memory_state()
    }

    fn confirm(&mut self, story: &DecisionPath) -> Result<Verdict, HarnessError> {
        let plan = Plan { scenario: Some(ScenarioPlan::all(1, story.steps.max(1))), ..self.plan.clone() };
        let planned = self.session.replan(Arc::new(plan), &Inputs::default());
        planned.map_err(|error| HarnessError { what: error.to_string() })?;
        let execution = self.session.execute(Box::new(RecordedSource::new(Seed(0), story.overrides())), 0..0)?;
        Ok(judge(&execution))
    }
}
