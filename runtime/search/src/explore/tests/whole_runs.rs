//! Explorations of programs that are run whole: what of a run is told to who goes on from it.

use super::*;
use std::collections::BTreeSet;

/// Numbers that one run draws. The last one says which way it takes.
const DRAWN: usize = 4;
/// As many ways there are.
const WAYS: usize = 4;

/// A program that draws some numbers, and the one that it drew last.
struct Program {
    source: Box<dyn DecisionSource>,
    /// What was drawn up to each place, up to the one that the run continues, and by the run.
    places: BTreeMap<CheckpointId, Vec<u64>>,
    before: Vec<u64>,
    drawn: Vec<u64>,
}

impl StepTarget for Program {
    fn start(&self) -> CheckpointId {
        CheckpointId(0)
    }
    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        self.restore_beginning(checkpoint, usize::MAX, source)
    }
    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        if let StepId::Step(number) = step {
            let question =
                Question { node: NodeId(0), purpose: Purpose::Choice(DecisionPart::step(0, number)), site: "number" };
            self.drawn.clone_from(&self.before);
            while self.drawn.len() < DRAWN {
                let (number, _) = self.source.below(question, WAYS as u64);
                self.drawn.push(number);
            }
        }
        Ok(StepOutcome::Returned { flow: None })
    }
    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        let place = CheckpointId(self.places.last_key_value().map_or(1, |(last, _)| last.0 + 1));
        self.places.insert(place, self.drawn.clone());
        Ok(place)
    }
    fn release(&mut self, checkpoint: CheckpointId) {
        self.places.remove(&checkpoint);
    }
}

impl StatefulTarget for Program {
    fn restore_beginning(
        &mut self,
        checkpoint: CheckpointId,
        answers: usize,
        source: Box<dyn DecisionSource>,
    ) -> Result<(), HarnessError> {
        self.before = self.places.get(&checkpoint).cloned().unwrap_or_default();
        self.before.truncate(answers);
        (self.source, self.drawn) = (source, Vec::new());
        Ok(())
    }
    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
        let mut ways = [0; WAYS];
        self.drawn.last().into_iter().for_each(|way| ways[*way as usize] = 1);
        see(CoverageStretch::whole(0, &ways));
    }
    fn properties(&self, _: &mut dyn FnMut(&str, &Property)) {}
    fn state(&self) -> Option<u64> {
        None
    }
    fn confirm(&mut self, _: &DecisionPath, _: ConfirmReason) -> Result<Verdict, HarnessError> {
        unreachable!("no run fails")
    }
}

#[test]
fn the_paths_of_whole_runs_go_to_their_ends_and_take_all_ways_that_were_seen() {
    let row = strategy("coverage_guided").expect("there is one");
    let explored = |runs_max, paths: FirstPaths<'_>| {
        let options = Options { runs_max, is_whole_run: true, steps_per_run: 1, steps_max: 2, ..Options::default() };
        let mut exploration = Exploration::new(options, row, &AnswerLog::default());
        let source = Box::new(SeededSource::new(Seed(0)));
        let mut program = Program { source, places: BTreeMap::new(), before: Vec::new(), drawn: Vec::new() };
        exploration.run(&mut program, paths, &mut Patience(u64::MAX)).expect("no machine");
        assert_eq!(exploration.stats().edges, WAYS as u64);
        exploration.paths().collect::<Vec<DecisionPath>>()
    };
    let paths = explored(200, FirstPaths::Found(&mut std::iter::empty()));
    assert!(paths.iter().all(|path| (path.answers.len(), path.steps) == (DRAWN, 1)), "{paths:?}");
    let ways = paths.iter().map(|path| format!("{:?}", path.answers.last()));
    assert_eq!(ways.collect::<BTreeSet<String>>().len(), WAYS, "{paths:?}");
    // They alone take all ways again.
    explored(paths.len() as u64, FirstPaths::Found(&mut paths.into_iter()));
}

/// Has no time for what was before.
struct HurriedObserver;

impl ExplorationObserver for HurriedObserver {
    fn on_step(&mut self, _: &Stats) -> bool {
        true
    }
    fn has_time_to_restore(&mut self) -> bool {
        false
    }
    fn on_failure(&mut self, _: &FailureRecord<DecisionPath>) {}
}

#[test]
fn whole_runs_that_there_is_no_time_to_repeat_are_kept_and_what_they_showed_is_known() {
    let row = strategy("coverage_guided").expect("there is one");
    let explored = |runs_max, paths: FirstPaths<'_>, observer: &mut dyn ExplorationObserver| {
        let options = Options { runs_max, is_whole_run: true, steps_per_run: 1, steps_max: 2, ..Options::default() };
        let mut exploration = Exploration::new(options, row, &AnswerLog::default());
        let source = Box::new(SeededSource::new(Seed(0)));
        let mut program = Program { source, places: BTreeMap::new(), before: Vec::new(), drawn: Vec::new() };
        exploration.run(&mut program, paths, observer).expect("no machine");
        exploration
    };
    let first = explored(200, FirstPaths::Found(&mut std::iter::empty()), &mut Patience(u64::MAX));
    let paths: Vec<DecisionPath> = first.paths().collect();
    assert!(paths.len() >= WAYS);
    let mut restored = RestoredPaths::new(Vec::new(), paths.clone()).knowing(first.known());
    let again = explored(0, FirstPaths::Restored(&mut restored), &mut HurriedObserver);
    assert_eq!((again.paths().collect::<Vec<_>>(), again.stats().runs), (paths, 1));
    assert_eq!((again.stats().edges, again.known(), restored.places().count()), (WAYS as u64, first.known(), 0));
}

/// What the lowest five bits of each byte must be for the next one to be drawn. Behind the last one it fails.
const STAGES: [u8; 7] = [3, 7, 1, 9, 4, 22, 13];

/// A program that draws a byte, goes on if it is the right one, and ends otherwise, after some more that mean nothing.
struct Stages {
    source: Box<dyn DecisionSource>,
    /// What was drawn up to each place, up to the one that the run continues, and by the run.
    places: BTreeMap<CheckpointId, Vec<u8>>,
    before: Vec<u8>,
    drawn: Vec<u8>,
    met: usize,
    /// Bytes that are drawn behind a wrong one.
    tail: usize,
}

impl Stages {
    fn new(source: Box<dyn DecisionSource>, tail: usize) -> Stages {
        Stages { source, places: BTreeMap::new(), before: Vec::new(), drawn: Vec::new(), met: 0, tail }
    }
    fn draw(&mut self) -> u8 {
        let mut byte = [0];
        match self.before.get(self.drawn.len()) {
            Some(given) => byte = [*given],
            None => {
                let question = Question { node: NodeId(0), purpose: Purpose::Random, site: "random" };
                self.source.fill(question, &mut byte);
            }
        }
        self.drawn.push(byte[0]);
        byte[0]
    }
    /// Whether all are met.
    fn run(&mut self) -> bool {
        (self.drawn, self.met) = (Vec::new(), 0);
        while self.met < STAGES.len() && self.draw() % 32 == STAGES[self.met] {
            self.met += 1;
        }
        let is_met = self.met == STAGES.len();
        for _ in 0..if is_met { 0 } else { self.tail } {
            self.draw();
        }
        is_met
    }
}

impl StepTarget for Stages {
    fn start(&self) -> CheckpointId {
        CheckpointId(0)
    }
    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        self.restore_beginning(checkpoint, usize::MAX, source)
    }
    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        let is_met = matches!(step, StepId::Step(_)) && self.run();
        Ok(match is_met {
            true => StepOutcome::Ended {
                end: ExecutionEnd::Failed { failure: failure() },
                backtrace: Vec::new(),
                stderr: Vec::new(),
            },
            false => StepOutcome::Returned { flow: None },
        })
    }
    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        let place = CheckpointId(self.places.last_key_value().map_or(1, |(last, _)| last.0 + 1));
        self.places.insert(place, self.drawn.clone());
        Ok(place)
    }
    fn release(&mut self, checkpoint: CheckpointId) {
        self.places.remove(&checkpoint);
    }
}

impl StatefulTarget for Stages {
    fn restore_beginning(
        &mut self,
        checkpoint: CheckpointId,
        answers: usize,
        source: Box<dyn DecisionSource>,
    ) -> Result<(), HarnessError> {
        self.before = self.places.get(&checkpoint).cloned().unwrap_or_default();
        self.before.truncate(answers);
        (self.source, self.drawn, self.met) = (source, Vec::new(), 0);
        Ok(())
    }
    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
        let mut met = [0; STAGES.len()];
        met[..self.met].fill(1);
        see(CoverageStretch::whole(0, &met));
    }
    fn properties(&self, _: &mut dyn FnMut(&str, &Property)) {}
    fn state(&self) -> Option<u64> {
        None
    }
    fn confirm(&mut self, path: &DecisionPath, _: ConfirmReason) -> Result<Verdict, HarnessError> {
        let source = Box::new(RecordedSource::new(Seed(0), path.overrides()));
        let fails = Stages::new(source, self.tail).run();
        Ok(if fails { opened() } else { Verdict { status: Status::Pass, findings: Vec::new(), signature: None } })
    }
}

/// Runs until a program of stages has failed; `None` when that takes more than `runs_max`, or what is found is not confirmed.
fn solve_stages(tail: usize, seed: u64, runs_max: u64) -> Option<u64> {
    let row = strategy("coverage_guided").expect("there is one");
    let whole = Options { is_whole_run: true, steps_per_run: 1, steps_max: 2, ..Options::default() };
    let options = Options { runs_max, seed: Seed(seed), stop: StopCondition::FirstFinding, ..whole };
    let mut exploration = Exploration::new(options, row, &AnswerLog::default());
    let mut program = Stages::new(Box::new(SeededSource::new(Seed(0))), tail);
    let paths = FirstPaths::Found(&mut std::iter::empty());
    let ended = exploration.run(&mut program, paths, &mut Patience(u64::MAX)).expect("no machine");
    assert_eq!(exploration.stats().lost, 0);
    (ended == ExplorationEnd::FirstFailure).then(|| exploration.stats().runs)
}

#[test]
fn a_program_of_stages_is_climbed_from_the_runs_that_came_further() {
    for (tail, runs_max) in [(0, 5_000), (5, 40_000)] {
        let runs: Vec<_> = (0..8).map(|seed| solve_stages(tail, seed, runs_max)).collect();
        assert!(runs.iter().all(Option::is_some), "with {tail} more: {runs:?}");
    }
}
