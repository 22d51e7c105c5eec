//! Candidates that begin alike share their beginning: each continues from the last place that it shares with the one before.
//!
//! ```text
//! walked       begin  3  4 │ 9 10 11 │ 17 20 21 ✗          │ = a place that was kept
//! candidate    begin  3  4 │ 9 10 11 │    20 21 …          brought back to the second │, two steps taken
//! ```
//!
//! Invariants: a candidate gets the verdict that a whole run of it would get; where that is not certain (something was
//! cut because it took long) a whole run is made, and the smallest candidate is always confirmed by one.
//! Not here: how a step is taken (the engine's `Walker`).

use super::{CandidateResult, ReplayTarget, ShrinkCandidate};
use crate::keyed_source::{Decision, DecisionKey, DecisionLog, KeyedSource, take};
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::plan::{Inputs, KeptSequence, ScenarioKind, ScenarioPlan};
use fozzy_trace::source::Override;
use fozzy_trace::{
    BackendRequest, CheckpointId, DecisionPart, DecisionSource, Execution, ExecutionEnd, HarnessError,
    ObservationLookup, Origin, Plan, Question, SchedulingPoint, Seed, StepId, StepOutcome, StepTarget,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Steps of a candidate from which on it is walked: a shorter one is run whole in the time that getting ready takes.
const STEPS_MIN: usize = 64;
/// Steps of a candidate up to which it is walked.
const STEPS_MAX: usize = 1 << 16;
/// Least number of steps between two places: taking this many costs about as much as keeping one.
const BETWEEN_MIN: usize = 8;
/// Places of one way, about.
const PLACES: usize = 64;

/// A recorded program whose sequences can be replayed step by step.
pub trait SequenceTarget: StepTarget + Send {
    /// Prepares a sequence under a plan; earlier checkpoints are gone. `false` when it cannot be replayed step by step.
    ///
    /// # Errors
    /// When the machine fails.
    fn open(
        &mut self,
        plan: &Plan,
        inputs: &Inputs,
        sequence: u32,
        source: Box<dyn DecisionSource>,
    ) -> Result<bool, HarnessError>;

    /// The execution of a run that has come to `end` in the last step: what a verdict depends on.
    fn execution(&self, end: ExecutionEnd, backtrace: Vec<StackFrame>) -> Execution;

    /// What the scenario says its state is, after the last step; `None` when it says nothing.
    fn state(&self) -> Option<u64> {
        None
    }

    /// What its memory says its state is, after a step; `None` when that is not known.
    fn memory_state(&mut self) -> Option<u64> {
        None
    }
}

/// What candidates share that can be walked in one another's places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReplayFrame {
    /// Without what names the steps.
    pub(super) plan: Plan,
    pub(super) inputs: Inputs,
    pub(super) sequence: u32,
}

/// Part of a way that was taken.
struct ReplayMark {
    /// `None` at the beginning.
    step: Option<u32>,
    /// What was asked in it.
    log: Arc<[Decision]>,
    /// Where it led to, if that was kept, and who answered there.
    place: Option<(CheckpointId, KeyedSource)>,
}

/// Who walks, and the way that was taken last.
#[derive(Default)]
pub(super) struct IncrementalReplay {
    /// Stories of this frame are walked.
    wanted: Option<ReplayFrame>,
    ready: Option<PreparedFrame>,
    marks: Vec<ReplayMark>,
    /// Of the candidate that was walked last.
    answers: Arc<BTreeMap<DecisionKey, Override>>,
}

/// A frame that stands.
struct PreparedFrame {
    frame: ReplayFrame,
    /// `None` when it cannot be walked in.
    start: Option<(CheckpointId, KeyedSource)>,
    log: Arc<[Decision]>,
}

/// The frame of a candidate that can be walked, and its steps.
pub(super) fn walkable(candidate: &ShrinkCandidate) -> Option<(ReplayFrame, Vec<u32>)> {
    let Plan { nodes, call: None, scenario: Some(scenario), .. } = &candidate.plan else { return None };
    let [KeptSequence { kind: ScenarioKind::Stateful, sequence, .. }] = scenario.only.as_slice() else { return None };
    if !nodes.is_empty() || !candidate.calm {
        return None;
    }
    let stretches = scenario.stretches(ScenarioKind::Stateful, *sequence)?;
    let steps: Vec<u32> = stretches.iter().flat_map(|(from, to)| *from..*to).take(STEPS_MAX + 1).collect();
    let plan = Plan { scenario: Some(ScenarioPlan::all(1, 1)), ..candidate.plan.clone() };
    (steps.len() <= STEPS_MAX)
        .then(|| (ReplayFrame { plan, inputs: candidate.inputs.clone(), sequence: *sequence }, steps))
}

impl IncrementalReplay {
    /// Whether there are candidates that can be walked.
    pub(super) fn has_baseline(&self) -> bool {
        self.wanted.is_some()
    }

    /// Candidates that are like `candidate` but for steps and answers will be walked from here on.
    pub(super) fn set_baseline(&mut self, candidate: &ShrinkCandidate) {
        let Some((frame, steps)) = walkable(candidate) else { return };
        if self.wanted.as_ref() != Some(&frame) && (self.wanted.is_some() || steps.len() >= STEPS_MIN) {
            self.wanted = Some(frame);
        }
    }

    /// Its checkpoints are gone: another candidate was executed.
    pub(super) fn forget(&mut self) {
        self.ready = None;
        self.marks.clear();
    }

    /// Walks a candidate, if that can be done.
    pub(super) fn replay(
        &mut self,
        target: &mut dyn ReplayTarget,
        candidate: &ShrinkCandidate,
        seed: Seed,
    ) -> Result<Option<CandidateResult>, HarnessError> {
        if self.wanted.is_none() {
            return Ok(None);
        }
        let (Some((frame, steps)), Some(sequence)) = (walkable(candidate), target.sequences()) else { return Ok(None) };
        if self.wanted.as_ref() != Some(&frame) {
            return Ok(None);
        }
        if self.ready.as_ref().is_none_or(|ready| ready.frame != frame) {
            self.get_ready(sequence, frame, candidate, seed)?;
        }
        self.walk(sequence, candidate, &steps)
    }

    fn get_ready(
        &mut self,
        sequence: &mut dyn SequenceTarget,
        frame: ReplayFrame,
        candidate: &ShrinkCandidate,
        seed: Seed,
    ) -> Result<(), HarnessError> {
        self.marks.clear();
        self.answers = Arc::new(candidate.answers.clone());
        let log = DecisionLog::default();
        let source = KeyedSource::new(seed, Arc::clone(&self.answers), Arc::clone(&log)).calm(true);
        let held = SharedSource::of(source);
        let is_open = sequence.open(&frame.plan, &frame.inputs, frame.sequence, Box::new(held.clone()))?;
        let log: Arc<[Decision]> = take(&log).into();
        let start = is_open.then(|| (sequence.start(), held.now()));
        self.ready = Some(PreparedFrame { frame, start, log });
        Ok(())
    }

    fn walk(
        &mut self,
        sequence: &mut dyn SequenceTarget,
        candidate: &ShrinkCandidate,
        steps: &[u32],
    ) -> Result<Option<CandidateResult>, HarnessError> {
        let Some(PreparedFrame { start: Some(start), log: first, .. }) = &self.ready else { return Ok(None) };
        let first = Arc::clone(first);
        let Some(shared) = self.shared(candidate, steps) else { return Ok(None) };
        let from = self.marks[..shared].iter().rposition(|mark| mark.place.is_some()).map_or(0, |at| at + 1);
        let (place, source) = match from {
            0 => (start.0, &start.1),
            from => self.marks[from - 1].place.as_ref().map(|(place, source)| (*place, source)).expect("just seen"),
        };
        let (log, answers) = (DecisionLog::default(), Arc::new(candidate.answers.clone()));
        let held = SharedSource::of(source.fork_with(Arc::clone(&answers), Arc::clone(&log)));
        sequence.restore(place, Box::new(held.clone()))?;
        for mark in self.marks.drain(from..) {
            mark.place.into_iter().for_each(|(place, _)| sequence.release(place));
        }
        self.answers = answers;
        let between = (steps.len() / PLACES).max(BETWEEN_MIN);
        let mut last = None;
        for at in from..=steps.len() {
            let step = at.checked_sub(1).map(|at| steps[at]);
            match sequence.step(step.map_or(StepId::Begin, StepId::Step))? {
                StepOutcome::Returned { .. } => {
                    let log = take(&log).into();
                    let place = if at.is_multiple_of(between) { Some((sequence.capture()?, held.now())) } else { None };
                    self.marks.push(ReplayMark { step, log, place });
                }
                StepOutcome::Finished => {
                    last = Some(sequence.execution(ExecutionEnd::Exited { code: 0 }, Vec::new()));
                    break;
                }
                StepOutcome::Ended { end, backtrace, .. } => {
                    last = Some(sequence.execution(end, backtrace));
                    break;
                }
                StepOutcome::Cut => return Ok(None),
            }
        }
        let execution = match last {
            Some(execution) => execution,
            None => match sequence.step(StepId::End)? {
                StepOutcome::Returned { .. } | StepOutcome::Finished => {
                    sequence.execution(ExecutionEnd::Exited { code: 0 }, Vec::new())
                }
                StepOutcome::Ended { end, backtrace, .. } => sequence.execution(end, backtrace),
                StepOutcome::Cut => return Ok(None),
            },
        };
        let parts = self.marks.iter().map(|mark| Arc::clone(&mark.log));
        let log = [first].into_iter().chain(parts).chain([take(&log).into()]).collect();
        Ok(Some(CandidateResult::of(execution, log)))
    }

    /// How many marks of the last way are also a candidate's; `None` when it differs before the first.
    fn shared(&self, candidate: &ShrinkCandidate, steps: &[u32]) -> Option<usize> {
        let mine = self.marks.iter().map(|mark| mark.step);
        let its = std::iter::once(None).chain(steps.iter().copied().map(Some));
        let alike = mine.zip(its).take_while(|(mine, its)| mine == its).count();
        let Some(part) = first_difference(&self.answers, &candidate.answers) else { return Some(alike) };
        // What is asked in a part is asked after the part before it is over.
        let is_before = |mark: &ReplayMark| match (mark.step, part.step_number()) {
            (_, None) => false,
            (step, Some(first)) => step < Some(first),
        };
        (part != DecisionPart::WHOLE).then(|| self.marks[..alike].partition_point(is_before))
    }
}

/// The first part in which the answers are not the same; parts of one sequence are in the order of its steps.
fn first_difference(
    one: &BTreeMap<DecisionKey, Override>,
    other: &BTreeMap<DecisionKey, Override>,
) -> Option<DecisionPart> {
    let (mut one, mut other) = (one.iter(), other.iter());
    loop {
        match (one.next(), other.next()) {
            (None, None) => return None,
            (Some(one), Some(other)) if one == other => {}
            (one, other) => return one.into_iter().chain(other).map(|(key, _)| key.part).min(),
        }
    }
}

/// A source that its owner can read while it answers a guest.
#[derive(Clone)]
pub(super) struct SharedSource(Arc<Mutex<KeyedSource>>);

impl SharedSource {
    pub(super) fn of(source: KeyedSource) -> SharedSource {
        SharedSource(Arc::new(Mutex::new(source)))
    }

    fn lock(&self) -> MutexGuard<'_, KeyedSource> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It, as it is now.
    pub(super) fn now(&self) -> KeyedSource {
        let held = self.lock();
        held.fork_with(Arc::default(), DecisionLog::default())
    }
}

impl DecisionSource for SharedSource {
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin) {
        self.lock().below(question, bound)
    }

    fn pick(&mut self, question: Question<'_>, point: &SchedulingPoint<'_>) -> (u64, Origin) {
        self.lock().pick(question, point)
    }

    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin {
        self.lock().fill(question, out)
    }

    fn seed(&self) -> Seed {
        self.lock().seed()
    }

    fn fork(&self) -> Box<dyn DecisionSource> {
        self.lock().fork()
    }

    fn observe(&mut self, ask: &BackendRequest, bytes: &mut Inputs) -> ObservationLookup {
        self.lock().observe(ask, bytes)
    }
}
