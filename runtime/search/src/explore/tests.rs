//! Explorations of a toy: a lock whose progress is a number, and whose target is a plain value.

mod doors;
mod dull_steps;
mod passwords;
mod races;
mod restoring;
mod whole_runs;

use super::guided_source::ANSWERS_MAX;
use super::*;
use crate::findings::FailureRecord;
use fozzy_check::SearchVerdict;
use fozzy_trace::facts::{FailureKind, Property, ReportedFailure};
use fozzy_trace::source::{Override, RecordedSource, SeededSource};
use fozzy_trace::{
    CheckpointId, DecisionPart, DecisionSource, ExecutionEnd, FailureSignature, FindingKind, HarnessError, NodeId,
    Purpose, Question, Seed, Status, StepId, StepOutcome, StepTarget, Verdict,
};
use std::collections::BTreeMap;

const DIGITS: [u64; 6] = [3, 1, 4, 1, 5, 0];

/// A lock of six digits out of six; a wrong one begins again.
struct Lock {
    right: usize,
    steps: u32,
    source: Box<dyn DecisionSource>,
    captured: BTreeMap<CheckpointId, (usize, u32)>,
    next: u64,
    tells: bool,
    /// What a sequence that comes to its end is judged to be.
    judged: Option<SearchVerdict>,
}

fn lock(tells: bool) -> Lock {
    let captured = BTreeMap::from([(CheckpointId(0), (0, 0))]);
    Lock { right: 0, steps: 0, source: Box::new(SeededSource::new(Seed(0))), captured, next: 1, tells, judged: None }
}

fn failure() -> ReportedFailure {
    ReportedFailure::new(FailureKind::Assertion, "open", "open")
}

fn opened() -> Verdict {
    let signature = FailureSignature { kind: FindingKind::Assertion, site: failure().site };
    Verdict { status: Status::Fail, findings: Vec::new(), signature: Some(signature) }
}

impl Lock {
    fn turn(&mut self) -> bool {
        let purpose = Purpose::Choice(DecisionPart::step(0, self.steps));
        self.steps += 1;
        let (digit, _) = self.source.below(Question { node: NodeId(0), purpose, site: "digit" }, 6);
        self.right = if digit == DIGITS[self.right] { self.right + 1 } else { 0 };
        self.right == DIGITS.len()
    }
}

impl StepTarget for Lock {
    fn start(&self) -> CheckpointId {
        CheckpointId(0)
    }
    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        (self.right, self.steps) = self.captured[&checkpoint];
        self.source = source;
        Ok(())
    }
    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        let StepId::Step(number) = step else { return Ok(StepOutcome::Returned { flow: None }) };
        assert_eq!(number, self.steps, "steps are taken in their order");
        Ok(match self.turn() {
            true => StepOutcome::Ended {
                end: ExecutionEnd::Failed { failure: failure() },
                backtrace: Vec::new(),
                stderr: Vec::new(),
            },
            false => StepOutcome::Returned { flow: Some(0) },
        })
    }
    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        self.captured.insert(CheckpointId(self.next), (self.right, self.steps));
        self.next += 1;
        Ok(CheckpointId(self.next - 1))
    }
    fn release(&mut self, checkpoint: CheckpointId) {
        self.captured.remove(&checkpoint);
    }
}

impl StatefulTarget for Lock {
    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
        see(CoverageStretch::whole(0, &[1, u8::from(self.right > 0)]));
    }
    fn properties(&self, _: &mut dyn FnMut(&str, &Property)) {}
    fn state(&self) -> Option<u64> {
        self.tells.then_some(self.right as u64)
    }
    fn judge_end(&self) -> Option<SearchVerdict> {
        self.judged.clone()
    }
    fn confirm(&mut self, path: &DecisionPath, _: ConfirmReason) -> Result<Verdict, HarnessError> {
        let mut alone = lock(self.tells);
        alone.source = Box::new(RecordedSource::new(Seed(0), path.overrides()));
        let failed = (0..path.steps).any(|_| alone.turn());
        Ok(if failed { opened() } else { Verdict { status: Status::Pass, findings: Vec::new(), signature: None } })
    }
}

#[test]
fn what_is_run_step_by_step_has_no_beginnings_of_runs() {
    let source = Box::new(SeededSource::new(Seed(0)));
    assert!(lock(false).restore_beginning(CheckpointId(0), 1, source).is_err());
}

#[test]
fn runs_that_come_to_no_verdict_are_counted() {
    let undecided = |is_undecided| {
        let options = Options { runs_max: 5, ..Options::default() };
        let row = strategy("random").expect("there is one");
        let mut exploration = Exploration::new(options, row, &AnswerLog::default());
        let passed = Verdict { status: Status::Pass, findings: Vec::new(), signature: None };
        let judged = SearchVerdict { verdict: passed, is_undecided };
        assert!(exploration.adopt(DecisionPath { answers: Vec::new(), steps: 1 }, judged.clone()).is_none());
        let mut lock = Lock { judged: Some(judged), ..lock(false) };
        exploration
            .run(&mut lock, FirstPaths::Found(&mut std::iter::empty()), &mut Patience(10_000))
            .expect("no machine");
        let stats = *exploration.stats();
        assert_eq!((stats.runs, stats.failures), (5, 0), "{stats:?}");
        stats.undecided
    };
    assert_eq!((undecided(true), undecided(false)), (5, 0));
}

/// Ends after this many steps.
struct Patience(u64);

impl ExplorationObserver for Patience {
    fn on_step(&mut self, stats: &Stats) -> bool {
        stats.steps < self.0
    }
    fn on_failure(&mut self, _: &FailureRecord<DecisionPath>) {}
}

/// Steps until the lock is open; `None` when that takes more than `most`.
fn solve(name: &str, tells: bool, seed: u64, most: u64) -> Option<u64> {
    let options = Options { seed: Seed(seed), stop: StopCondition::FirstFinding, ..Options::default() };
    let row = strategy(name).expect("there is one");
    let mut exploration = Exploration::new(options, row, &AnswerLog::default());
    let ended = exploration
        .run(&mut lock(tells), FirstPaths::Found(&mut std::iter::empty()), &mut Patience(most))
        .expect("no machine");
    assert_eq!(exploration.stats().lost, 0);
    (ended == ExplorationEnd::FirstFailure).then(|| exploration.stats().steps)
}

#[test]
fn a_lock_that_tells_how_far_it_is_is_opened() {
    for seed in 0..10 {
        let steps = solve("coverage_guided", true, seed, 20_000).expect("it is opened");
        assert!(steps < 4_000, "{steps} with seed {seed}");
    }
    assert!(solve("dfs", true, 1, 20_000).is_some_and(|steps| steps <= 6 * 6 * 6));
    assert!(solve("bfs", true, 1, 20_000).is_some_and(|steps| steps <= 6 * 6 * 6));
}

#[test]
fn one_that_does_not_needs_chance() {
    let solved = |name: &str, tells| (0..5).filter(|seed| solve(name, tells, *seed, 10_000).is_some()).count();
    assert!(solved("random", true) <= 3 && solved("coverage_guided", true) == 5);
}

#[test]
fn the_same_seed_goes_the_same_ways() {
    for row in STRATEGIES {
        assert_eq!(solve(row.name, true, 7, 5_000), solve(row.name, true, 7, 5_000), "{}", row.name);
    }
}

/// Has more ways from others than there are runs, each time that it is asked.
struct Talkative;

impl ExplorationObserver for Talkative {
    fn on_step(&mut self, _: &Stats) -> bool {
        true
    }
    fn peer_discoveries(&mut self, _: &dyn Fn() -> EdgeClasses) -> PeerDiscoveries {
        PeerDiscoveries { paths: vec![DecisionPath { answers: Vec::new(), steps: 1 }; 64], edges: Vec::new() }
    }
    fn on_failure(&mut self, _: &FailureRecord<DecisionPath>) {}
}

#[test]
fn no_run_is_made_beyond_the_bound_whatever_others_have_found() {
    let row = strategy("coverage_guided").expect("there is one");
    for (runs_max, given, left) in [(7, 3, 0), (7, 20, 13), (64, 0, 0), (100, 36, 0)] {
        let mut exploration = Exploration::new(Options { runs_max, ..Options::default() }, row, &AnswerLog::default());
        let mut paths = vec![DecisionPath { answers: Vec::new(), steps: 1 }; given].into_iter();
        let ended =
            exploration.run(&mut lock(true), FirstPaths::Found(&mut paths), &mut Talkative).expect("no machine");
        assert_eq!((ended, exploration.stats().runs, paths.len()), (ExplorationEnd::Runs, runs_max, left));
    }
}

#[test]
fn a_story_has_the_answers_from_the_beginning_in_their_order() {
    let options = Options { stop: StopCondition::FirstFinding, ..Options::default() };
    let row = strategy("coverage_guided").expect("there is one");
    let mut exploration = Exploration::new(options, row, &AnswerLog::default());
    exploration
        .run(&mut lock(true), FirstPaths::Found(&mut std::iter::empty()), &mut Patience(50_000))
        .expect("no machine");
    let path = &exploration.findings().all()[0].input;
    assert_eq!(path.answers.len() as u32, path.steps);
    let last: Vec<Override> = DIGITS.map(Override::Number).to_vec();
    assert_eq!(path.answers[path.answers.len() - 6..], last);
    // Its places are gone to again from their paths alone.
    let paths: Vec<DecisionPath> = exploration.paths().collect();
    assert!(paths.len() >= 5);
    let mut again =
        Exploration::new(Options { runs_max: paths.len() as u64, ..Options::default() }, row, &AnswerLog::default());
    again.run(&mut lock(true), FirstPaths::Found(&mut paths.into_iter()), &mut Patience(50_000)).expect("no machine");
    assert_eq!(again.stats().states, exploration.stats().states);
}

/// Asks more questions in its first step than answers are logged, and then fails.
struct Endless {
    source: Box<dyn DecisionSource>,
    confirmed: u64,
}

impl StepTarget for Endless {
    fn start(&self) -> CheckpointId {
        CheckpointId(0)
    }
    fn restore(&mut self, _: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        self.source = source;
        Ok(())
    }
    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        let StepId::Step(number) = step else { return Ok(StepOutcome::Returned { flow: None }) };
        if number == 1 {
            let end = ExecutionEnd::Failed { failure: failure() };
            return Ok(StepOutcome::Ended { end, backtrace: Vec::new(), stderr: Vec::new() });
        }
        let purpose = Purpose::Choice(DecisionPart::step(0, number));
        let question = Question { node: NodeId(0), purpose, site: "digit" };
        for _ in 0..=ANSWERS_MAX {
            self.source.below(question, 2);
        }
        Ok(StepOutcome::Returned { flow: Some(0) })
    }
    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        Ok(CheckpointId(1))
    }
    fn release(&mut self, _: CheckpointId) {}
}

impl StatefulTarget for Endless {
    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
        see(CoverageStretch::whole(0, &[1]));
    }
    fn properties(&self, _: &mut dyn FnMut(&str, &Property)) {}
    fn state(&self) -> Option<u64> {
        None
    }
    fn confirm(&mut self, _: &DecisionPath, _: ConfirmReason) -> Result<Verdict, HarnessError> {
        self.confirmed += 1;
        Ok(Verdict { status: Status::Pass, findings: Vec::new(), signature: None })
    }
}

#[test]
fn a_run_that_asks_more_than_is_logged_is_cut_and_counted_and_no_failure_is_lost() {
    let options = Options { runs_max: 3, ..Options::default() };
    let row = strategy("coverage_guided").expect("there is one");
    let mut exploration = Exploration::new(options, row, &AnswerLog::default());
    let mut endless = Endless { source: Box::new(SeededSource::new(Seed(0))), confirmed: 0 };
    exploration.run(&mut endless, FirstPaths::Found(&mut std::iter::empty()), &mut Patience(100)).expect("no machine");
    let stats = exploration.stats();
    assert_eq!((stats.runs, stats.steps, stats.cut, stats.lost, stats.failures), (3, 3, 3, 0, 0), "{stats:?}");
    assert_eq!((stats.checkpoints, endless.confirmed), (1, 0), "that after the beginning, and no failure");
}

/// A lock whose confirming runs are interrupted, as is every run of it after a number of steps.
struct Interrupted {
    lock: Lock,
    steps_left: u64,
}

impl StepTarget for Interrupted {
    fn start(&self) -> CheckpointId {
        self.lock.start()
    }
    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        self.lock.restore(checkpoint, source)
    }
    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        self.steps_left = self.steps_left.checked_sub(1).ok_or_else(HarnessError::interruption)?;
        self.lock.step(step)
    }
    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        self.lock.capture()
    }
    fn release(&mut self, checkpoint: CheckpointId) {
        self.lock.release(checkpoint);
    }
}

impl StatefulTarget for Interrupted {
    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
        self.lock.coverage(see);
    }
    fn properties(&self, _: &mut dyn FnMut(&str, &Property)) {}
    fn state(&self) -> Option<u64> {
        self.lock.state()
    }
    fn confirm(&mut self, _: &DecisionPath, reason: ConfirmReason) -> Result<Verdict, HarnessError> {
        assert_eq!(reason, ConfirmReason::Failure);
        Err(HarnessError::interruption())
    }
}

/// For each reported failure, whether it was confirmed.
#[derive(Default)]
struct Told(Vec<bool>);

impl ExplorationObserver for Told {
    fn on_step(&mut self, _: &Stats) -> bool {
        true
    }
    fn on_failure(&mut self, found: &FailureRecord<DecisionPath>) {
        self.0.push(found.is_confirmed);
    }
}

/// The path that opens the lock.
fn opening() -> DecisionPath {
    DecisionPath { answers: DIGITS.map(Override::Number).to_vec(), steps: DIGITS.len() as u32 }
}

#[test]
fn a_failure_whose_confirming_run_is_interrupted_is_told_and_ends_the_exploration() {
    let row = strategy("coverage_guided").expect("there is one");
    let mut exploration = Exploration::new(Options::default(), row, &AnswerLog::default());
    let (mut target, mut told) = (Interrupted { lock: lock(true), steps_left: u64::MAX }, Told::default());
    let mut paths = RestoredPaths::new(vec![opening()], Vec::new());
    let ended = exploration.run(&mut target, FirstPaths::Restored(&mut paths), &mut told).expect("no machine");
    assert_eq!((ended, exploration.stats().failures, told.0), (ExplorationEnd::Stopped, 1, vec![false]));
    assert_eq!(exploration.findings().all().len(), 1);
}

/// Ends after some steps, and knows after which the search began.
#[derive(Default)]
struct Beginning {
    steps: u64,
    before_search: Vec<u64>,
}

impl ExplorationObserver for Beginning {
    fn on_step(&mut self, stats: &Stats) -> bool {
        self.steps = stats.steps;
        stats.steps < 50
    }
    fn on_search(&mut self) {
        self.before_search.push(self.steps);
    }
    fn on_failure(&mut self, _: &FailureRecord<DecisionPath>) {}
}

#[test]
fn the_search_begins_behind_the_paths_of_before() {
    let row = strategy("coverage_guided").expect("there is one");
    let before_search = |paths: FirstPaths<'_>| {
        let (mut exploration, mut seen) =
            (Exploration::new(Options::default(), row, &AnswerLog::default()), Beginning::default());
        exploration.run(&mut lock(true), paths, &mut seen).expect("no machine");
        seen.before_search
    };
    assert_eq!(before_search(FirstPaths::Found(&mut std::iter::empty())), [0]);
    // All of its steps but the last, which ends the run.
    let is_behind = |before: Vec<u64>| matches!(before[..], [steps] if steps + 1 >= DIGITS.len() as u64);
    assert!(is_behind(before_search(FirstPaths::Found(&mut [opening()].into_iter()))));
    let mut paths = RestoredPaths::new(vec![opening()], Vec::new());
    assert!(is_behind(before_search(FirstPaths::Restored(&mut paths))));
}

#[test]
fn what_paths_of_before_show_again_is_no_discovery() {
    let row = strategy("coverage_guided").expect("there is one");
    let in_last_half = |paths: FirstPaths<'_>| {
        let mut exploration = Exploration::new(Options::default(), row, &AnswerLog::default());
        exploration.run(&mut lock(true), paths, &mut Patience(DIGITS.len() as u64)).expect("no machine");
        (exploration.stats().findings, exploration.stats().outlook().discoveries)
    };
    // Each of its steps shows something new.
    assert_eq!(in_last_half(FirstPaths::Found(&mut [opening()].into_iter())), (1, 3));
    let mut paths = RestoredPaths::new(vec![opening()], Vec::new());
    assert_eq!(in_last_half(FirstPaths::Restored(&mut paths)), (1, 0));
}

#[test]
fn a_restored_path_whose_run_is_interrupted_stays_with_those_that_are_left() {
    let row = strategy("coverage_guided").expect("there is one");
    let begun = DecisionPath { answers: vec![Override::Number(DIGITS[0])], steps: 1 };
    let left = |steps_left| {
        let mut exploration = Exploration::new(Options::default(), row, &AnswerLog::default());
        let (mut target, mut told) = (Interrupted { lock: lock(true), steps_left }, Told::default());
        let mut paths = RestoredPaths::new(vec![begun.clone(), opening()], vec![begun.clone(), begun.clone()]);
        let ended = exploration.run(&mut target, FirstPaths::Restored(&mut paths), &mut told).expect("no machine");
        assert_eq!(ended, ExplorationEnd::Stopped);
        (paths.findings().count(), paths.places().count())
    };
    // Its beginning is a step, too.
    assert_eq!(left(0), (2, 2));
    assert_eq!(left(4), (1, 2), "in the middle of the second finding");
}
