//! A scenario as the ground of an exploration: walked through with checkpoints, and confirmed by runs of their own.
//!
//! ```text
//! answers ─▶ Walker (checkpoints, steps) ─▶ went on │ failed: judged by how it ended
//! story ───▶ Session (the ordinary run, so many steps) ─▶ Execution ─▶ verdict, Recording
//! ```
//!
//! Invariant: what a finding is, a run says that can be recorded; walking only says where to look.

use crate::command::run::{ENTRIES_KEPT, engine_id};
use crate::error::CliError;
use fozzy_check::{judge, judge_end, judge_facts};
use fozzy_engine::{Place, Session, Walked, Walker};
use fozzy_report::RunMode;
use fozzy_search::explore::{CheckpointId, DecisionPath, StatefulTarget, Went};
use fozzy_trace::facts::Property;
use fozzy_trace::file::{RecordedTarget, Recording};
use fozzy_trace::plan::{Inputs, ScenarioPlan};
use fozzy_trace::source::RecordedSource;
use fozzy_trace::{DecisionSource, Execution, Executor, HarnessError, HistoryWindow, Plan, Seed, Verdict};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Runs stories as runs that can be recorded.
pub(crate) struct Confirmer {
    session: Session,
    plan: Plan,
    inputs: Inputs,
    seed: Seed,
}

impl Confirmer {
    pub(crate) fn new(session: Session, plan: Plan, inputs: Inputs, seed: Seed) -> Confirmer {
        Confirmer { session, plan, inputs, seed }
    }

    /// The plan of the run of a story.
    pub(crate) fn plan_of(&self, story: &DecisionPath) -> Plan {
        Plan { scenario: Some(ScenarioPlan::all(1, story.steps.max(1))), ..self.plan.clone() }
    }

    pub(crate) fn execute(&mut self, story: &DecisionPath, keep: HistoryWindow) -> Result<Execution, HarnessError> {
        let plan = Arc::new(self.plan_of(story));
        let planned = self.session.replan(plan, &self.inputs);
        planned.map_err(|error| HarnessError { what: error.to_string() })?;
        self.session.execute(Box::new(RecordedSource::new(self.seed, story.exceptions())), keep)
    }
}

impl Confirmer {
    /// The run of a story, as a recording.
    pub(crate) fn record(
        &mut self,
        story: &DecisionPath,
        target: &RecordedTarget,
        component: &Arc<[u8]>,
    ) -> Result<Recording, CliError> {
        let execution = self.execute(story, 0..ENTRIES_KEPT)?;
        let verdict = judge(&execution);
        let engine = engine_id(self.session.program());
        let (plan, mode) = (self.plan_of(story), RunMode::Explore.name());
        let (target, component) = (target.clone(), Arc::clone(component));
        Ok(Recording::of(target, component, plan, &self.inputs, engine, &execution, verdict, self.seed, mode))
    }
}

/// A scenario that is walked through.
pub(crate) struct ScenarioGround {
    walker: Walker,
    confirmer: Confirmer,
    places: BTreeMap<CheckpointId, Place>,
    next: u64,
}

/// The place where every way begins.
const START: CheckpointId = CheckpointId(0);

impl ScenarioGround {
    pub(crate) fn new(walker: Walker, confirmer: Confirmer) -> ScenarioGround {
        let places = BTreeMap::from([(START, walker.start())]);
        ScenarioGround { walker, confirmer, places, next: 1 }
    }

    pub(crate) fn walker(&self) -> &Walker {
        &self.walker
    }

    fn went(walked: Walked) -> Went {
        match walked {
            Walked::On { flow } => Went::On { flow },
            Walked::Over => Went::Over,
            Walked::Cut => Went::Cut,
            Walked::Ended { end, backtrace, stderr } => Went::Failed(Box::new(judge_end(&end, &stderr, &backtrace))),
        }
    }
}

impl StatefulTarget for ScenarioGround {
    fn start(&self) -> CheckpointId {
        START
    }

    fn go(&mut self, place: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        let place = self.places.get(&place).copied();
        let place =
            place.ok_or_else(|| HarnessError { what: "a place is gone; this is a fault of fozzy".to_owned() })?;
        self.walker.go(place, source)
    }

    fn forward(&mut self) -> Result<Went, HarnessError> {
        self.walker.forward().map(Self::went)
    }

    fn finish(&mut self) -> Result<Went, HarnessError> {
        let went = self.walker.finish().map(Self::went)?;
        let found = matches!(went, Went::On { .. }).then(|| judge_facts(self.walker.facts())).flatten();
        Ok(found.map_or(went, |verdict| Went::Failed(Box::new(verdict))))
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
        self.walker.facts().states.digest()
    }

    fn memory_state(&mut self) -> Option<u64> {
        self.walker.memory_state()
    }

    fn confirm(&mut self, story: &DecisionPath) -> Result<Verdict, HarnessError> {
        Ok(judge(&self.confirmer.execute(story, 0..0)?))
    }
}

/// A scenario that cannot be walked through, as an error of the command.
pub(crate) fn walk_error(name: &str, error: &fozzy_engine::WalkError) -> CliError {
    let refused = CliError::new("target", format!("{name}: {error}"));
    match error {
        fozzy_engine::WalkError::NoFlows => {
            refused.hint("write one with `#[scenario]` of the SDK: fozzy init --template rust")
        }
        _ => refused,
    }
}
