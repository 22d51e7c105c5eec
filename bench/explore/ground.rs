//! One puzzle as the ground of explorations, as the command has it.

use fozzy_check::{judge, judge_end};
use fozzy_engine::{Place, Program, Session, Switches, Walked, Walker};
use fozzy_search::explore::{AnswerLog, CheckpointId, DecisionPath, GuidedSource, StatefulTarget, Went};
use fozzy_trace::facts::Property;
use fozzy_trace::plan::{Inputs, MachinePlan, ScenarioPlan};
use fozzy_trace::source::RecordedSource;
use fozzy_trace::{DecisionSource, Executor, HarnessError, Plan, Seed, Verdict};
use std::collections::BTreeMap;
use std::sync::Arc;

const START: CheckpointId = CheckpointId(0);

/// A puzzle that is walked through.
pub(super) struct Puzzle {
    walker: Walker,
    session: Session,
    plan: Plan,
    places: BTreeMap<CheckpointId, Place>,
    next: u64,
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
        let places = BTreeMap::from([(START, walker.start())]);
        Puzzle { walker, session, plan, places, next: 1, told, start }
    }

    /// Forgets all places but the start.
    pub(super) fn clear(&mut self) {
        let kept = self.places.split_off(&CheckpointId(1));
        kept.into_values().for_each(|place| self.walker.forget(place));
        self.walker.clear_coverage();
    }
}

fn went(walked: Walked) -> Went {
    match walked {
        Walked::On { flow } => Went::On { flow },
        Walked::Over => Went::Over,
        Walked::Cut => Went::Cut,
        Walked::Ended { end, backtrace, stderr } => Went::Failed(Box::new(judge_end(&end, &stderr, &backtrace))),
    }
}

impl StatefulTarget for Puzzle {
    fn start(&self) -> CheckpointId {
        START
    }

    fn go(&mut self, place: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        self.walker.go(self.places[&place], source)
    }

    fn forward(&mut self) -> Result<Went, HarnessError> {
        self.walker.forward().map(went)
    }

    fn finish(&mut self) -> Result<Went, HarnessError> {
        self.walker.finish().map(went)
    }

    fn keep(&mut self) -> Result<CheckpointId, HarnessError> {
        let id = CheckpointId(self.next);
        self.next += 1;
        self.places.insert(id, self.walker.keep()?);
        Ok(id)
    }

    fn forget(&mut self, place: CheckpointId) {
        if let Some(place) = self.places.remove(&place) {
            self.walker.forget(place);
        }
    }

    fn coverage(&mut self, see: &mut dyn FnMut(&[u8])) {
        self.walker.coverage().for_each(|(_, bytes)| see(bytes));
        self.walker.clear_coverage();
    }

    fn properties(&self, see: &mut dyn FnMut(&str, &Property)) {
        self.walker.facts().properties.iter().for_each(|(name, property)| see(name, property));
    }

    fn faults(&self, see: &mut dyn FnMut(u64)) {
        self.walker.struck().for_each(see);
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
        let execution = self.session.execute(Box::new(RecordedSource::new(Seed(0), story.exceptions())), 0..0)?;
        Ok(judge(&execution))
    }
}
