//! `fozzy:scenario` from the outside: what the engine tells a guest's host before it calls an export.
//!
//! ```text
//! engine: host.begin_step(2, 17) ─▶ history `fozzy:scenario/stateful.step`, choices from the stream of (2, 17)
//!         step.call(17)          ─▶ the guest asks and answers inside that part
//! ```
//!
//! Invariant: each call of an export is an entry of the history, before those of what it does; so is each step of several in one call.
//! Not here: which calls are made, and in which order (`fozzy-engine`).

use crate::call::{Host, Import};
use crate::stepping::{CountedSteps, JudgedSteps, RAN, SKIPPED, STUCK, StepLook, StepReturn, SteppedCall};
use fozzy_trace::choice;
use fozzy_trace::facts::{Cost, ScenarioPosition};
use fozzy_trace::{DecisionPart, Duration, Purpose};
use wasmtime::Result;

const BEGIN_SEQUENCE: Import = Import::new("fozzy:scenario/stateful.begin-sequence");
const STEP: Import = Import::new("fozzy:scenario/stateful.step");
const END_SEQUENCE: Import = Import::new("fozzy:scenario/stateful.end-sequence");
const FUZZ: Import = Import::new("fozzy:scenario/fuzz.run");
const INPUT: Import = Import::new("fozzy:scenario/fuzz.input");
const CHECK_ONLY: Import = Import::new("fozzy:scenario/property.check-only");
const CHECK: Import = Import::new("fozzy:scenario/property.check");

impl Host {
    /// A sequence begins; `stream` tells the parts of a scenario's kinds apart.
    ///
    /// # Errors
    /// When the guest's budget is used up.
    pub fn begin_sequence(&mut self, sequence: u32, stream: u32) -> Result<()> {
        self.part = DecisionPart::beginning(stream);
        self.at(ScenarioPosition { sequence: Some(sequence), step: None, flow: None });
        self.call(BEGIN_SEQUENCE, sequence, |_| Ok(()))
    }

    /// A step begins.
    ///
    /// # Errors
    /// When the guest's budget is used up.
    pub fn begin_step(&mut self, sequence: u32, stream: u32, step: u32) -> Result<()> {
        self.run.steps += 1;
        self.part = DecisionPart::step(stream, step);
        self.at(ScenarioPosition { sequence: Some(sequence), step: Some(step), flow: None });
        self.call(STEP, step, |_| Ok(()))
    }

    /// The next call takes these steps.
    pub fn begin_steps(&mut self, steps: SteppedCall) {
        self.stepped = Some(Box::new(steps));
    }

    /// The call is over; the answer is how far it came.
    pub fn end_steps(&mut self) -> Option<Box<SteppedCall>> {
        self.stepped.take()
    }

    /// A step is about to be over, whose result has this text.
    pub(crate) fn tell_step(&mut self, text: &str) {
        if let Some(steps) = &mut self.stepped {
            steps.text = Some(text.to_owned());
        }
    }

    /// Whether the steps that are taken are counted.
    pub(crate) fn counts_steps(&self) -> bool {
        self.stepped.as_ref().is_some_and(|steps| matches!(steps.look, StepLook::Counted(_)))
    }

    /// A step is over: with which case of `step-result`, and in which flow. The guest `has` this much fuel, where it is counted. The answer
    /// is how much it is to have for the next step, which was begun; `None` when that does not follow.
    pub(crate) fn step_over(&mut self, result: u32, flow: u32, has: u64) -> Result<Option<u64>> {
        let Some(mut steps) = self.stepped.take() else { return Ok(None) };
        let SteppedCall { of, step, last, text, look } = &mut *steps;
        let next = (*step < *last).then_some((of.0, of.1, *step + 1));
        let result = (result, flow, text.take());
        let answer = match look {
            StepLook::Judged(judged) => Ok(self.judge_step(judged, result, next).then_some(has)),
            StepLook::Counted(counted) => self.count_step(counted, result, next, has),
        };
        *step += u32::from(matches!(answer, Ok(Some(_))));
        self.stepped = Some(steps);
        answer
    }

    /// Whether the next step follows, and was begun.
    fn judge_step(
        &mut self,
        steps: &mut JudgedSteps,
        (result, flow, text): (u32, u32, Option<String>),
        next: Option<(u32, u32, u32)>,
    ) -> bool {
        steps.has_run |= result == RAN;
        match (result, next) {
            (RAN | SKIPPED, Some((sequence, stream, step))) if steps.gate.goes_on(flow, &self.run.world.facts) => {
                steps.refused = self.begin_step(sequence, stream, step).err();
                return steps.refused.is_none();
            }
            (RAN | SKIPPED, _) => steps.outcome = Some(StepReturn::Flow(flow)),
            (STUCK, _) => steps.outcome = Some(StepReturn::Stuck(text.unwrap_or_default())),
            (other, _) => steps.refused = Some(wasmtime::Error::msg(format!("unexpected discriminant: {other}"))),
        }
        false
    }

    /// The same as [`Host::step_over`], of a step that is counted.
    fn count_step(
        &mut self,
        steps: &mut CountedSteps,
        (result, flow, text): (u32, u32, Option<String>),
        next: Option<(u32, u32, u32)>,
        found: u64,
    ) -> Result<Option<u64>> {
        let overhead = steps.overhead;
        let own = match (result, &text) {
            (RAN, None) => overhead.plain,
            (SKIPPED, Some(_)) => overhead.told,
            // It ends the run, with words that are not told here.
            _ => return Err(self.unclear_step()),
        };
        // Of one that has used all that there is, nobody knows how much more it has used.
        if found == 0 {
            return Err(self.unclear_step());
        }
        let (left, now) = (found + own, self.run.world.clock.now());
        let (had, since) = steps.begun;
        let cost = Cost { fuel: had.saturating_sub(left), time: Duration(now.0.saturating_sub(since.0)) };
        let flows = &mut self.run.world.facts.scenario.get_or_insert_default().flows;
        let Some(flow) = flows.get_mut(flow as usize) else { return Err(self.unclear_step()) };
        match text {
            None => flow.ran(cost),
            Some(label) => flow.skip(&label),
        }
        let Some((sequence, stream, step)) = next else {
            steps.left = Some(left);
            return Ok(None);
        };
        let left = self.run.hand_out(left).map_err(wasmtime::Error::new)?;
        if self.begin_step(sequence, stream, step).is_err() {
            return Err(self.unclear_step());
        }
        steps.begun = (left, self.run.world.clock.now());
        Ok(Some(left + overhead.next))
    }

    /// What has become of a step is not known as exactly as from a call of its own.
    fn unclear_step(&mut self) -> wasmtime::Error {
        wasmtime::Error::new(self.run.part_steps())
    }

    /// A sequence ends.
    ///
    /// # Errors
    /// When the guest's budget is used up.
    pub fn end_sequence(&mut self, sequence: u32, stream: u32) -> Result<()> {
        self.part = DecisionPart::ending(stream);
        self.at(ScenarioPosition { sequence: Some(sequence), step: None, flow: None });
        self.call(END_SEQUENCE, sequence, |_| Ok(()))
    }

    /// A property is about to be checked, which stands as `flow` among the flows.
    ///
    /// # Errors
    /// When the guest's budget is used up.
    pub fn begin_check(&mut self, round: u32, stream: u32, step: u32, flow: u32, property: u32) -> Result<()> {
        self.run.steps += 1;
        self.part = DecisionPart::step(stream, step);
        self.at(ScenarioPosition { sequence: Some(round), step: Some(step), flow: Some(flow) });
        self.call(CHECK, property, |_| Ok(()))?;
        self.tell_flow(flow);
        Ok(())
    }

    /// A fuzz target is about to be called, which stands as `flow` among the flows; the answer is its input.
    ///
    /// # Errors
    /// When the guest's budget is used up.
    pub fn begin_input(&mut self, round: u32, stream: u32, step: u32, flow: u32, target: u32) -> Result<Vec<u8>> {
        self.run.steps += 1;
        self.part = DecisionPart::step(stream, step);
        self.at(ScenarioPosition { sequence: Some(round), step: Some(step), flow: Some(flow) });
        let input = self.call(FUZZ, target, |host| {
            let purpose = Purpose::Choice(host.part);
            let length = choice::input_length(|bound| host.below(purpose, choice::INPUT_LENGTH_SITE, bound));
            let mut input = vec![0; length];
            host.draw(purpose, choice::INPUT_SITE, &mut input);
            Ok(input)
        })?;
        self.tell_flow(flow);
        Ok(input)
    }

    /// A fuzz target is about to be called, as all of a run: the answer is its input. It is asked for before the guest
    /// begins, in a part of its own, so that what the guest draws does not depend on it.
    ///
    /// # Errors
    /// When the guest's budget is used up.
    pub fn only_input(&mut self, function: &str) -> Result<Vec<u8>> {
        self.at(ScenarioPosition { sequence: Some(0), step: None, flow: Some(0) });
        self.part = DecisionPart::beginning(0);
        let input = self.call(INPUT, function, |host| {
            let purpose = Purpose::Choice(host.part);
            let length = host.below(purpose, choice::INPUT_LENGTH_SITE, choice::BYTES_MAX + 1);
            let mut input = vec![0; length as usize];
            host.draw(purpose, choice::INPUT_SITE, &mut input);
            Ok(input)
        });
        self.part = DecisionPart::WHOLE;
        input
    }

    /// A property is about to be checked, as all of a run.
    ///
    /// # Errors
    /// When the guest's budget is used up.
    pub fn only_check(&mut self, function: &str) -> Result<()> {
        self.at(ScenarioPosition { sequence: Some(0), step: None, flow: Some(0) });
        self.call(CHECK_ONLY, function, |_| Ok(()))?;
        self.tell_flow(0);
        Ok(())
    }

    pub(crate) fn at(&mut self, position: ScenarioPosition) {
        if let Some(scenario) = &mut self.world().facts.scenario {
            scenario.go(position);
        }
        if let Some(observe) = self.run.flow_observer {
            observe(position.flow);
        }
    }
}
