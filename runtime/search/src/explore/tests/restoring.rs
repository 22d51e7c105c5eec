//! Explorations that continue others: nothing is lost, no step is taken twice, and short ones come as far as a long one.

use super::*;
use std::collections::BTreeSet;

/// Squares of a side.
const SIDE: u64 = 24;

/// A walk on squares, one at a step; each is a state.
struct Walk {
    at: (u64, u64),
    steps: u32,
    source: Box<dyn DecisionSource>,
    captured: BTreeMap<CheckpointId, ((u64, u64), u32)>,
    next: u64,
    /// The step that takes too long, once.
    slow: Option<StepId>,
}

fn walk() -> Walk {
    let captured = BTreeMap::from([(CheckpointId(0), ((0, 0), 0))]);
    Walk { at: (0, 0), steps: 0, source: Box::new(SeededSource::new(Seed(0))), captured, next: 1, slow: None }
}

impl StepTarget for Walk {
    fn start(&self) -> CheckpointId {
        CheckpointId(0)
    }
    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        (self.at, self.steps) = self.captured[&checkpoint];
        self.source = source;
        Ok(())
    }
    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        let StepId::Step(number) = step else { return Ok(StepOutcome::Returned { flow: None }) };
        assert_eq!(number, self.steps, "steps are taken in their order");
        if self.slow == Some(step) {
            self.slow = None;
            return Ok(StepOutcome::Cut);
        }
        let purpose = Purpose::Choice(DecisionPart::step(0, self.steps));
        self.steps += 1;
        let (way, _) = self.source.below(Question { node: NodeId(0), purpose, site: "way" }, 4);
        let (x, y) = self.at;
        self.at = match way {
            0 => ((x + 1).min(SIDE - 1), y),
            1 => (x, (y + 1).min(SIDE - 1)),
            2 => (x.saturating_sub(1), y),
            _ => (x, y.saturating_sub(1)),
        };
        Ok(StepOutcome::Returned { flow: Some(0) })
    }
    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        self.captured.insert(CheckpointId(self.next), (self.at, self.steps));
        self.next += 1;
        Ok(CheckpointId(self.next - 1))
    }
    fn release(&mut self, checkpoint: CheckpointId) {
        self.captured.remove(&checkpoint);
    }
}

impl StatefulTarget for Walk {
    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
        see(CoverageStretch::whole(0, &[1]));
    }
    fn properties(&self, _: &mut dyn FnMut(&str, &Property)) {}
    fn state(&self) -> Option<u64> {
        Some(self.at.0 * SIDE + self.at.1)
    }
    fn confirm(&mut self, _: &DecisionPath, reason: ConfirmReason) -> Result<Verdict, HarnessError> {
        assert_eq!(reason, ConfirmReason::Cut, "no run fails");
        Ok(Verdict { status: Status::Pass, findings: Vec::new(), signature: None })
    }
}

/// Ends after a number of steps, and goes to this number of places of before beside the first.
struct Slice {
    end: u64,
    restores: u64,
    /// What others were told.
    told: Vec<DecisionPath>,
}

fn slice(end: u64, restores: u64) -> Slice {
    Slice { end, restores, told: Vec::new() }
}

impl ExplorationObserver for Slice {
    fn on_step(&mut self, stats: &Stats) -> bool {
        stats.steps < self.end
    }
    fn has_time_to_restore(&mut self) -> bool {
        let has_time = self.restores > 0;
        self.restores = self.restores.saturating_sub(1);
        has_time
    }
    fn on_captured(&mut self, path: &dyn Fn() -> DecisionPath) -> Result<(), HarnessError> {
        self.told.push(path());
        Ok(())
    }
    fn on_failure(&mut self, _: &FailureRecord<DecisionPath>) {}
}

fn exploration(runs_max: u64) -> Exploration {
    let row = strategy("coverage_guided").expect("there is one");
    // As many places as are held at a time have room.
    let options = Options { runs_max, checkpoints_max: 1024, ..Options::default() };
    Exploration::new(options, row, &AnswerLog::default())
}

/// What an exploration of so many steps has come to.
fn explored(steps: u64) -> Exploration {
    let mut exploration = exploration(u64::MAX);
    let mut observer = slice(steps, 0);
    exploration.run(&mut walk(), FirstPaths::Found(&mut std::iter::empty()), &mut observer).expect("no machine");
    exploration
}

#[test]
fn steps_that_paths_of_before_have_in_common_are_taken_once() {
    let first = explored(3_000);
    let all: Vec<DecisionPath> = first.paths().collect();
    assert!(all.len() > 100, "{}", all.len());
    // Ways part at places, and in between where some of these are not kept.
    for one_in in [1, 3, 7] {
        let paths: Vec<DecisionPath> = all.iter().step_by(one_in).cloned().collect();
        let mut distinct = BTreeSet::new();
        for path in &paths {
            distinct.extend((1..=path.answers.len()).map(|len| path.answers[..len].to_vec()));
        }
        let (mut again, mut target) = (exploration(0), walk());
        let mut restored = RestoredPaths::new(Vec::new(), paths.clone());
        let mut observer = slice(u64::MAX, u64::MAX);
        let ended = again.run(&mut target, FirstPaths::Restored(&mut restored), &mut observer).expect("no machine");
        assert_eq!((ended, again.stats().steps), (ExplorationEnd::Runs, distinct.len() as u64), "one in {one_in}");
        assert_eq!(again.paths().collect::<Vec<_>>(), paths);
        assert!(observer.told.is_empty(), "whoever continues the same has them");
        // What is held on the way only is let go.
        assert_eq!(target.captured.len(), paths.len() + 1);
        if one_in == 1 {
            assert_eq!(again.stats().states, first.stats().states);
        }
    }
}

#[test]
fn nothing_is_lost_of_an_exploration_whose_continuation_ends_at_once() {
    let first = explored(3_000);
    let (paths, known) = (first.paths().collect::<Vec<_>>(), first.known());
    for (end, restores) in [(0, 0), (0, 9), (30, 9), (u64::MAX, 0)] {
        let mut again = exploration(0);
        let mut restored = RestoredPaths::new(Vec::new(), paths.clone()).knowing(known.clone());
        let mut observer = slice(end, restores);
        again.run(&mut walk(), FirstPaths::Restored(&mut restored), &mut observer).expect("no machine");
        let kept: Vec<DecisionPath> = again.paths().chain(restored.places().cloned()).collect();
        assert_eq!((kept, again.known()), (paths.clone(), known.clone()), "{end} {restores}");
        assert_eq!(again.stats().states, first.stats().states);
        assert!(again.stats().steps <= end.min(3_000) + 1, "{}", again.stats().steps);
    }
}

#[test]
fn a_place_stays_whose_way_takes_too_long_once() {
    let paths: Vec<DecisionPath> = explored(3_000).paths().collect();
    let (mut again, mut target) = (exploration(0), walk());
    target.slow = Some(StepId::Step(0));
    let mut restored = RestoredPaths::new(Vec::new(), paths.clone());
    let mut observer = slice(u64::MAX, u64::MAX);
    again.run(&mut target, FirstPaths::Restored(&mut restored), &mut observer).expect("no machine");
    assert_eq!((again.stats().cut, again.paths().collect::<Vec<_>>()), (1, paths));
}

#[test]
fn what_was_seen_is_kept_by_an_exploration_that_does_not_begin() {
    let known = explored(3_000).known();
    let restored = RestoredPaths::new(Vec::new(), Vec::new()).knowing(known.clone());
    assert_eq!(restored.known_with(exploration(0).known()), known);
}

#[test]
fn short_explorations_that_continue_each_other_come_as_far_as_half_of_a_long_one() {
    const SLICES: u64 = 40;
    const STEPS: u64 = 500;
    let long = explored(SLICES * STEPS).stats().states;
    let (mut progress, mut before, mut states) = (SavedProgress::default(), (0, 0), Vec::new());
    for _ in 0..SLICES {
        let mut again = exploration(u64::MAX);
        again.resume(before.0, before.1);
        let mut restored = RestoredPaths::new(Vec::new(), progress.places).knowing(progress.known);
        let mut observer = slice(before.1 + STEPS, 30);
        again.run(&mut walk(), FirstPaths::Restored(&mut restored), &mut observer).expect("no machine");
        progress = SavedProgress { places: again.paths().collect(), findings: Vec::new(), known: again.known() };
        before = (again.stats().runs, again.stats().steps);
        states.push(again.stats().states);
    }
    assert!(states.is_sorted(), "{states:?}");
    assert!(states.last().is_some_and(|last| last * 2 >= long), "{states:?} of {long}");
}

#[test]
fn runs_that_go_to_places_of_before_are_none_of_those_that_were_asked_for() {
    let first = explored(3_000);
    let paths: Vec<DecisionPath> = first.paths().collect();
    let mut again = exploration(7);
    let mut restored = RestoredPaths::new(Vec::new(), paths.clone());
    let mut observer = slice(u64::MAX, u64::MAX);
    again.run(&mut walk(), FirstPaths::Restored(&mut restored), &mut observer).expect("no machine");
    assert_eq!(again.stats().runs, paths.len() as u64 + 7);
}

#[test]
fn a_search_of_every_way_goes_on_from_the_places_of_before() {
    for name in ["bfs", "dfs"] {
        let row = strategy(name).expect("there is one");
        let explored = |end, paths: FirstPaths<'_>| {
            let mut exploration = Exploration::new(Options::default(), row, &AnswerLog::default());
            let mut observer = slice(end, u64::MAX);
            let ended = exploration.run(&mut walk(), paths, &mut observer).expect("no machine");
            (exploration, ended)
        };
        let (first, _) = explored(400, FirstPaths::Found(&mut std::iter::empty()));
        let mut restored = RestoredPaths::new(Vec::new(), first.paths().collect()).knowing(first.known());
        let (again, ended) = explored(3_000, FirstPaths::Restored(&mut restored));
        assert_ne!(ended, ExplorationEnd::Exhausted, "{name}");
        assert!(again.stats().states > first.stats().states, "{name}: {:?}", again.stats());
    }
}
