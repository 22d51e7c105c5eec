//! A sequence that is walked step by step, with the state that each step comes to.
//!
//! ```text
//! restore(place) ─▶ step 4 ─▶ its decisions, and what it reached: a state │ the failure that is wanted │ neither
//!                      └─ capture ─▶ a place
//! ```
//!
//! A state is what the scenario says it is in (`state!`), and of one that says nothing what its memory tells.
//! Not here: which steps are worth taking (`shortcuts`), how a step is taken (the engine's `Walker`).

use super::incremental_replay::{ReplayFrame, SequenceTarget, SharedSource, walkable};
use super::{CandidateResult, ShrinkCandidate};
use crate::keyed_source::{Decision, DecisionKey, DecisionLog, KeyedSource, take};
use fozzy_check::FailureIdentity;
use fozzy_trace::plan::ScenarioKind;
use fozzy_trace::source::Override;
use fozzy_trace::{
    BackendRequest, CheckpointId, DecisionPart, DecisionSource, ExecutionEnd, HarnessError, ObservationLookup, Origin,
    Purpose, Question, RunningDigest, SchedulingPoint, Seed, StepId, StepOutcome,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Steps of a story that are walked until its memory tells states apart, which takes some stretches of steps.
const LEARNING_STEPS: usize = 1024;

/// The answers of one step.
pub(super) type StepAnswers = Box<[(DecisionKey, Override)]>;

/// A state from which a walk is continued.
pub(super) struct WalkCheckpoint {
    checkpoint: CheckpointId,
    source: KeyedSource,
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepEnd {
    /// A state, which is not told from others when there is none.
    State(Option<u64>),
    /// The failure that is wanted.
    Wanted,
    /// Any other end.
    Nowhere,
}

/// What is recorded of an executed step.
pub(super) struct StepRecord {
    /// What it decided, and for each decision the weights of its alternatives, if it has some.
    pub(super) log: Vec<Decision>,
    pub(super) weights: Vec<Vec<u32>>,
    pub(super) end: StepEnd,
}

/// A failing run, step by step.
pub(super) struct Trajectory {
    /// The number of each step, and its answers.
    pub(super) steps: Vec<(u32, StepAnswers)>,
    /// What each step decided.
    pub(super) logs: Vec<StepRecord>,
    /// The state before each step, and after the last one where it is the end that fails.
    pub(super) states: Vec<Option<u64>>,
}

/// Walks through one sequence.
pub(super) struct StateWalk<'w> {
    target: &'w mut dyn SequenceTarget,
    wanted: &'w FailureIdentity,
    stream: u32,
    root: WalkCheckpoint,
    source: SharedSource,
    log: DecisionLog,
    weights: Arc<Mutex<Vec<Vec<u32>>>>,
    /// Whether the failure comes after the last step.
    fails_at_end: bool,
    /// Whether the memory is asked too where the scenario says what its state is.
    pub(super) asks_memory: bool,
    /// Whether the scenario has said what its state is.
    pub(super) is_named: bool,
    /// Steps that were taken.
    pub(super) steps: u64,
}

impl<'w> StateWalk<'w> {
    /// The walk of a candidate, at the beginning of its sequence; `None` when it cannot be walked.
    pub(super) fn open(
        target: &'w mut dyn SequenceTarget,
        candidate: &ShrinkCandidate,
        wanted: &'w FailureIdentity,
        seed: Seed,
    ) -> Result<Option<StateWalk<'w>>, HarnessError> {
        let Some((frame, _)) = walkable(candidate) else { return Ok(None) };
        let ReplayFrame { plan, inputs, sequence } = &frame;
        let (answers, log) = (Arc::new(candidate.answers.clone()), DecisionLog::default());
        let source = SharedSource::of(KeyedSource::new(seed, answers, Arc::clone(&log)).calm(true));
        if !target.open(plan, inputs, *sequence, Box::new(source.clone()))? {
            return Ok(None);
        }
        let root = WalkCheckpoint { checkpoint: target.start(), source: source.now() };
        let (stream, weights) = (ScenarioKind::Stateful.stream(*sequence), Arc::default());
        let mut walk = StateWalk {
            target,
            wanted,
            stream,
            root,
            source,
            log,
            weights,
            fails_at_end: false,
            asks_memory: false,
            is_named: false,
            steps: 0,
        };
        let start = walk.root.copy();
        walk.restore(&start, candidate.answers.clone(), false)?;
        let StepOutcome::Returned { .. } = walk.target.step(StepId::Begin)? else { return Ok(None) };
        walk.root = walk.capture()?;
        Ok(Some(walk))
    }

    /// The place after the beginning.
    pub(super) fn root(&self) -> WalkCheckpoint {
        self.root.copy()
    }

    /// The part of the step of this number.
    pub(super) fn part(&self, step: u32) -> DecisionPart {
        DecisionPart::step(self.stream, step)
    }

    /// Goes back to a place. From there on `answers` are given, elsewhere the seed's, or the simplest there are.
    pub(super) fn restore(
        &mut self,
        place: &WalkCheckpoint,
        answers: BTreeMap<DecisionKey, Override>,
        is_simplest: bool,
    ) -> Result<(), HarnessError> {
        self.log = DecisionLog::default();
        self.weights = Arc::default();
        let source = place.source.fork_with(Arc::new(answers), Arc::clone(&self.log)).simplest(is_simplest);
        self.source = SharedSource::of(source);
        let weighing = WeighingSource {
            beneath: Box::new(self.source.clone()),
            next: Vec::new(),
            weights: Arc::clone(&self.weights),
        };
        self.target.restore(place.checkpoint, Box::new(weighing))
    }

    /// Takes one step.
    pub(super) fn step(&mut self, number: u32) -> Result<StepRecord, HarnessError> {
        self.steps += 1;
        let outcome = self.target.step(StepId::Step(number))?;
        let end = match outcome {
            StepOutcome::Returned { .. } => StepEnd::State(self.state()),
            StepOutcome::Ended { end, backtrace, .. } => self.judged(end, backtrace),
            StepOutcome::Finished | StepOutcome::Cut => StepEnd::Nowhere,
        };
        let mut weights = std::mem::take(&mut *self.weights.lock().unwrap_or_else(PoisonError::into_inner));
        let log = take(&self.log);
        weights.resize(log.len(), Vec::new());
        Ok(StepRecord { log, weights, end })
    }

    /// Whether the sequence fails as it is wanted when it ends here.
    pub(super) fn fails_if_it_ends(&mut self) -> Result<bool, HarnessError> {
        if !self.fails_at_end {
            return Ok(false);
        }
        self.steps += 1;
        let end = match self.target.step(StepId::End)? {
            StepOutcome::Returned { .. } | StepOutcome::Finished => {
                self.judged(ExecutionEnd::Exited { code: 0 }, Vec::new())
            }
            StepOutcome::Ended { end, backtrace, .. } => self.judged(end, backtrace),
            StepOutcome::Cut => StepEnd::Nowhere,
        };
        Ok(end == StepEnd::Wanted)
    }

    fn judged(&self, end: ExecutionEnd, backtrace: Vec<fozzy_trace::outcome::StackFrame>) -> StepEnd {
        let result = CandidateResult::of(self.target.execution(end, backtrace), Vec::new());
        if result.identity.as_ref() == Some(self.wanted) { StepEnd::Wanted } else { StepEnd::Nowhere }
    }

    fn state(&mut self) -> Option<u64> {
        let named = self.target.state();
        self.is_named |= named.is_some();
        let memory = if named.is_none() || self.asks_memory { self.target.memory_state() } else { None };
        match (named, memory) {
            (Some(named), Some(memory)) => {
                let mut fold = RunningDigest::default();
                fold.pair(named, memory);
                Some(fold.value())
            }
            (named, memory) => named.or(memory),
        }
    }

    /// Keeps where it is.
    pub(super) fn capture(&mut self) -> Result<WalkCheckpoint, HarnessError> {
        Ok(WalkCheckpoint { checkpoint: self.target.capture()?, source: self.source.now() })
    }

    /// Gives up a place.
    pub(super) fn release(&mut self, place: &WalkCheckpoint) {
        self.target.release(place.checkpoint);
    }

    /// Walks a failing candidate; `None` when it does not fail so.
    pub(super) fn story(&mut self, candidate: &ShrinkCandidate) -> Result<Option<Trajectory>, HarnessError> {
        let mut walked = 0;
        loop {
            let story = self.walk(candidate)?;
            let Some(story) = story else { return Ok(None) };
            walked += story.steps.len();
            // The memory tells nothing before it was seen to change and to stay.
            let is_told = story.states.iter().skip(1).all(Option::is_some);
            if is_told || walked >= LEARNING_STEPS {
                return Ok(Some(story));
            }
        }
    }

    fn walk(&mut self, candidate: &ShrinkCandidate) -> Result<Option<Trajectory>, HarnessError> {
        let Some((_, numbers)) = walkable(candidate) else { return Ok(None) };
        let mut story = Trajectory { steps: Vec::new(), logs: Vec::new(), states: Vec::new() };
        let (root, mut state) = (self.root(), None);
        self.restore(&root, candidate.answers.clone(), false)?;
        for number in numbers {
            let step = self.step(number)?;
            story.states.push(state);
            story.steps.push((number, answers_of(&step.log)));
            let end = step.end;
            story.logs.push(step);
            match end {
                StepEnd::State(reached) => state = reached,
                StepEnd::Wanted => return Ok(Some(story)),
                StepEnd::Nowhere => return Ok(None),
            }
        }
        story.states.push(state);
        self.fails_at_end = true;
        Ok(self.fails_if_it_ends()?.then_some(story))
    }
}

impl WalkCheckpoint {
    fn copy(&self) -> WalkCheckpoint {
        let source = self.source.fork_with(Arc::default(), DecisionLog::default());
        WalkCheckpoint { checkpoint: self.checkpoint, source }
    }
}

/// The answers that a step decided.
pub(super) fn answers_of(log: &[Decision]) -> StepAnswers {
    log.iter().map(|decision| (decision.key, decision.answer.clone())).collect()
}

/// The answers of a step as those of another one.
pub(super) fn moved(
    answers: &StepAnswers,
    from: DecisionPart,
    to: DecisionPart,
) -> impl Iterator<Item = (DecisionKey, Override)> {
    let own = answers.iter().filter(move |(key, _)| key.part == from);
    own.map(move |(key, answer)| {
        let purpose = match key.purpose {
            Purpose::Choice(part) if part == from => Purpose::Choice(to),
            purpose => purpose,
        };
        (DecisionKey { part: to, purpose, ..*key }, answer.clone())
    })
}

/// A source that notes the weights of alternatives, one row for each question.
struct WeighingSource {
    beneath: Box<dyn DecisionSource>,
    next: Vec<u32>,
    weights: Arc<Mutex<Vec<Vec<u32>>>>,
}

impl WeighingSource {
    fn note(&mut self) {
        let row = std::mem::take(&mut self.next);
        self.weights.lock().unwrap_or_else(PoisonError::into_inner).push(row);
    }
}

impl DecisionSource for WeighingSource {
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin) {
        self.note();
        self.beneath.below(question, bound)
    }

    fn pick(&mut self, question: Question<'_>, point: &SchedulingPoint<'_>) -> (u64, Origin) {
        self.note();
        self.beneath.pick(question, point)
    }

    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin {
        self.note();
        self.beneath.fill(question, out)
    }

    fn weigh(&mut self, weights: &[u32]) {
        self.next = weights.to_vec();
    }

    fn seed(&self) -> Seed {
        self.beneath.seed()
    }

    fn fork(&self) -> Box<dyn DecisionSource> {
        self.beneath.fork()
    }

    fn observe(&mut self, ask: &BackendRequest, bytes: &mut fozzy_trace::plan::Inputs) -> ObservationLookup {
        self.beneath.observe(ask, bytes)
    }
}
