//! Shortcuts on a board, whose shortest ways are known.

use super::super::tests::{ALL, end_of, execution, recording_of, scenario};
use super::*;
use crate::shrink::{Options, ReplayTarget, SequenceTarget, ShrinkResult, shrink};
use fozzy_trace::facts::{ScenarioPosition, ScenarioStats};
use fozzy_trace::file::Recording;
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::plan::Inputs;
use fozzy_trace::plan::ScenarioKind;
use fozzy_trace::source::RecordedSource;
use fozzy_trace::{
    CheckpointId, DecisionSource, Execution, ExecutionEnd, History, HistoryWindow, Instant, NodeId, Plan, Question,
    Recorder, Seed, StepId, StepOutcome, StepTarget,
};

#[test]
fn the_way_among_the_states_of_a_story_is_the_shortest() {
    let states = [None, Some(1), Some(2), Some(1), Some(3), Some(2), Some(4)];
    // None ─▶ 1 ─▶ 2 ─▶ 4, by the step that was taken in 2 the second time, and the step that fails in 4.
    assert_eq!(shortest_among(&states, 7), [0, 1, 5, 6]);
    assert_eq!(loops(&states), [(2, 5), (1, 3)]);
    // At the end it is the state after the last step that fails.
    assert_eq!(shortest_among(&[None, Some(1), Some(1)], 2), [0]);
    assert_eq!(shortest_among(&[None, None, None], 3), [0, 1, 2], "states that are not told apart");
}

#[test]
fn of_weights_one_answer_is_enough_for_each_alternative() {
    assert_eq!(first_of_each(&[3, 0, 1, 5]), [0, 3, 4]);
}

/// Which part of its place a piece names as its state.
type Names = fn((u64, u64)) -> Option<u64>;

/// A piece on a board, one field east, north, west or south in each step. Coming to `goal` fails.
struct Board {
    goal: (u64, u64),
    names: Names,
    /// Further answers of each step, which do nothing.
    idle: u64,
    at: (u64, u64),
    sequence: u32,
    source: Box<dyn DecisionSource>,
    captured: BTreeMap<CheckpointId, (u64, u64)>,
    next: u64,
}

impl Board {
    fn new(goal: (u64, u64), names: Names) -> Board {
        let source = Box::new(RecordedSource::new(Seed(0), BTreeMap::new()));
        let captured = BTreeMap::from([(CheckpointId(0), (0, 0))]);
        Board { goal, names, idle: 0, at: (0, 0), sequence: 0, source, captured, next: 0 }
    }

    fn go(&mut self, source: &mut dyn DecisionSource, step: u32) -> (u64, fozzy_trace::Origin) {
        let purpose = Purpose::Choice(DecisionPart::step(ScenarioKind::Stateful.stream(self.sequence), step));
        let mut below = |site, bound| source.below(Question { node: NodeId(0), purpose, site }, bound);
        let direction = below("direction", 4);
        if self.idle > 0 {
            below("idle", self.idle);
        }
        let (x, y) = self.at;
        self.at = match direction.0 {
            0 => (x + 1, y),
            1 => (x, y + 1),
            2 => (x.saturating_sub(1), y),
            _ => (x, y.saturating_sub(1)),
        };
        direction
    }

    fn end(&self) -> Option<&'static str> {
        (self.at == self.goal).then_some("there")
    }

    /// A run by these directions.
    fn record(&self, directions: &[u64]) -> Recording {
        let plan = scenario(1, directions.len() as u32);
        let each = if self.idle > 0 { 2 } else { 1 };
        let answers = directions.iter().enumerate().map(|(at, number)| (at as u64 * each, Override::Number(*number)));
        let source = RecordedSource::new(Seed(0), answers.collect());
        let mut board = Board { idle: self.idle, ..Board::new(self.goal, self.names) };
        let execution = board.execute(&plan, &Inputs::default(), Box::new(source), 0..0).expect("no machine");
        recording_of(&plan, &execution, 0)
    }

    fn shrunk(mut self, directions: &[u64], shortest: bool) -> ShrinkResult {
        let recording = self.record(directions);
        shrink(&recording, &mut [&mut self], Options { shortest, ..ALL }, &mut |_| true).expect("it can be shrunk")
    }
}

impl ReplayTarget for Board {
    fn execute(
        &mut self,
        plan: &Plan,
        _: &Inputs,
        mut source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
    ) -> Result<Execution, HarnessError> {
        let mut recorder = Recorder::new(keep);
        let stretches = plan.scenario.as_ref().and_then(|scenario| scenario.stretches(ScenarioKind::Stateful, 0));
        let mut stats = ScenarioStats::default();
        (self.at, self.sequence) = ((0, 0), 0);
        recorder.call(1, "fozzy:scenario/stateful.begin-sequence", NodeId(0), Instant::START, &0u32, &());
        for step in stretches.into_iter().flatten().flat_map(|(from, to)| from..to) {
            let (answer, origin) = self.go(&mut *source, step);
            recorder.decision(origin, || Override::Number(answer));
            if self.idle > 0 {
                recorder.decision(fozzy_trace::Origin::Seed, || Override::Number(0));
            }
            stats.go(ScenarioPosition { sequence: Some(0), step: Some(step), flow: None });
            if self.end().is_some() {
                break;
            }
        }
        Ok(execution(end_of(self.end()), recorder.finish(), stats))
    }

    fn sequences(&mut self) -> Option<&mut dyn SequenceTarget> {
        Some(self)
    }
}

impl StepTarget for Board {
    fn start(&self) -> CheckpointId {
        CheckpointId(0)
    }

    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        (self.at, self.source) = (self.captured[&checkpoint], source);
        Ok(())
    }

    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        let StepId::Step(number) = step else { return Ok(StepOutcome::Returned { flow: None }) };
        let mut source = std::mem::replace(&mut self.source, Box::new(RecordedSource::new(Seed(0), BTreeMap::new())));
        self.go(&mut *source, number);
        self.source = source;
        Ok(match self.end() {
            None => StepOutcome::Returned { flow: None },
            site => StepOutcome::Ended { end: end_of(site), backtrace: Vec::new(), stderr: Vec::new() },
        })
    }

    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        self.next += 1;
        self.captured.insert(CheckpointId(self.next), self.at);
        assert!(self.captured.len() <= PLACES_MAX + 64, "places are given up");
        Ok(CheckpointId(self.next))
    }

    fn release(&mut self, checkpoint: CheckpointId) {
        assert!(self.captured.remove(&checkpoint).is_some(), "a checkpoint is released once");
    }
}

impl SequenceTarget for Board {
    fn open(
        &mut self,
        _: &Plan,
        _: &Inputs,
        sequence: u32,
        source: Box<dyn DecisionSource>,
    ) -> Result<bool, HarnessError> {
        (self.at, self.sequence, self.source) = ((0, 0), sequence, source);
        self.captured = BTreeMap::from([(CheckpointId(0), (0, 0))]);
        Ok(true)
    }

    fn execution(&self, end: ExecutionEnd, _: Vec<StackFrame>) -> Execution {
        let position = ScenarioPosition { sequence: Some(self.sequence), step: None, flow: None };
        execution(end, History::default(), ScenarioStats { position, ..ScenarioStats::default() })
    }

    fn state(&self) -> Option<u64> {
        (self.names)(self.at)
    }
}

/// Everything that there is to name.
fn place((x, y): (u64, u64)) -> Option<u64> {
    Some(x << 32 | y)
}

/// A way that goes two fields east and two north, and one back of each, and so on.
fn detours(to: u64) -> Vec<u64> {
    [0, 0, 1, 1, 2, 3].into_iter().cycle().take(6 * to as usize).collect()
}

#[test]
fn a_story_that_winds_is_made_the_shortest_there_is() {
    // No step of it can be left out alone: each is one of a pair.
    for shortest in [false, true] {
        let shrunk = Board::new((9, 9), place).shrunk(&detours(9), shortest);
        assert_eq!((shrunk.after.steps, shrunk.states.end), (18, StateSearchEnd::Exhausted), "{:?}", shrunk.states);
    }
}

#[test]
fn what_is_too_far_for_one_search_is_searched_from_later_states() {
    let shrunk = Board::new((150, 150), place).shrunk(&detours(150), false);
    assert_eq!(shrunk.states.end, StateSearchEnd::Bound, "{:?}", shrunk.states);
    assert!(shrunk.after.steps <= 302, "300 is the shortest: {:?}", shrunk.after);
}

#[test]
fn states_that_do_not_tell_what_matters_prove_nothing() {
    let shrunk = Board::new((9, 9), |(x, _)| Some(x)).shrunk(&detours(9), true);
    assert_eq!(shrunk.states.end, StateSearchEnd::Coarse, "{:?}", shrunk.states);
    assert_eq!(shrunk.after.steps, 18, "which passes find by leaving out, and which is not proven");
}

#[test]
fn with_answers_out_of_many_nothing_is_called_the_shortest() {
    let board = Board { idle: 1 << 20, ..Board::new((9, 9), place) };
    let shrunk = board.shrunk(&detours(9), true);
    assert_eq!((shrunk.after.steps, shrunk.states.end), (18, StateSearchEnd::Sampled), "{:?}", shrunk.states);
}

#[test]
fn where_no_state_is_told_from_another_nothing_is_searched() {
    let shrunk = Board::new((9, 9), |_| None).shrunk(&detours(9), true);
    assert_eq!((shrunk.states.end, shrunk.states.states), (StateSearchEnd::NoStates, 0), "{:?}", shrunk.states);
}
