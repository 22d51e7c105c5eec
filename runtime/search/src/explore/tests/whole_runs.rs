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
        self.before = self.places.get(&checkpoint).cloned().unwrap_or_default();
        (self.source, self.drawn) = (source, Vec::new());
        Ok(())
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
        self.capture_after(self.drawn.len())
    }
    fn release(&mut self, checkpoint: CheckpointId) {
        self.places.remove(&checkpoint);
    }
}

impl StatefulTarget for Program {
    fn capture_after(&mut self, answers: usize) -> Result<CheckpointId, HarnessError> {
        let place = CheckpointId(self.places.last_key_value().map_or(1, |(last, _)| last.0 + 1));
        self.places.insert(place, self.drawn[..answers].to_vec());
        Ok(place)
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
