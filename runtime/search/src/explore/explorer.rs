//! The loop of an exploration.
//!
//! ```text
//! for ever: the strategy chooses a way ─▶ go there, answer from a stream of this run's own ─▶ step, look, keep ─▶ learn
//!                                                             failure ─▶ the whole story, run alone ─▶ finding
//! ```
//!
//! Invariants: what a run does depends on the seed, its number, and what the runs before it have shown; a finding is told at
//! once; a failure that its story does not show again is counted, and is no finding.
//! Not here: when it is told to stop by a clock (`fozzy`).

use super::bandit::Reward;
use super::decision_path::{DecisionPath, PathNode};
use super::frontier::Frontier;
use super::guided_source::{AnswerLog, AnswerPolicy, GuidedSource, TaskOrder};
use super::options::{Options, StopCondition};
use super::state_feedback::{NewCoverage, StateFeedback, StateScope};
use super::stateful_target::StatefulTarget;
use super::strategy::{CapturePolicy, ExplorationStrategy, RunOrigin, RunSpec, StrategyRow};
use super::swarm::AnswerMask;
use crate::findings::FailureRecord;
use crate::findings::Findings;
use crate::rng::Rng;
use crate::stats::Estimate;
use fozzy_check::judge_end;
use fozzy_trace::source::Override;
use fozzy_trace::{CheckpointId, HarnessError, StepId, StepOutcome, Verdict};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Steps without anything new after which nothing more is expected, at least.
const BARREN_STEPS: u64 = 20_000;
/// The same, in multiples of the steps up to the last that showed something.
const BARREN_TIMES: u64 = 3;
/// The stream of chance from which ways are chosen; runs have those of their numbers.
const CHOOSING: u64 = u64::MAX - 1;

/// Numbers of an exploration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Runs: ways that were tried.
    pub runs: u64,
    /// Steps.
    pub steps: u64,
    /// Edges that were taken.
    pub edges: u64,
    /// Edges, told apart by how often they were taken in one step.
    pub features: u64,
    /// States: those that the scenario said it was in, or that its memory told apart.
    pub states: u64,
    /// Places that are kept.
    pub checkpoints: u64,
    /// Runs that failed.
    pub failures: u64,
    /// Failures that differ.
    pub findings: u64,
    /// Failures that the path of their run did not reproduce.
    pub lost: u64,
    /// Runs that were cut because they asked more questions than answers are logged.
    pub cut: u64,
    /// The last step that showed something new.
    pub last_new: u64,
    /// Edges that were taken in one step only.
    pub edges_once: u64,
    /// Edges that were taken in two steps only.
    pub edges_twice: u64,
}

impl Stats {
    /// What is left to be found, by steps.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        Estimate::of(self.steps, self.edges_once, self.edges_twice)
    }

    /// Whether nothing new was seen for so long that nothing more is expected.
    #[must_use]
    pub fn is_saturated(&self) -> bool {
        self.steps - self.last_new >= BARREN_STEPS.max(BARREN_TIMES * self.last_new)
    }
}

/// For each module, the classes of counts that were seen of each of its edges, one byte each.
pub type EdgeClasses = Vec<Vec<u8>>;

/// What others have found.
#[derive(Clone, Debug, Default)]
pub struct PeerDiscoveries {
    /// The ways to their places.
    pub stories: Vec<DecisionPath>,
    /// What is not new any more.
    pub edges: Vec<EdgeClasses>,
}

/// Hears what happens, and keeps it.
pub trait ExplorationObserver {
    /// A step was taken. `false` ends the exploration.
    fn stepped(&mut self, stats: &Stats) -> bool;

    /// Something new was seen at the end of this story.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn kept(&mut self, story: &dyn Fn() -> DecisionPath) -> Result<(), HarnessError> {
        let _ = story;
        Ok(())
    }

    /// What others have found meanwhile; `edges` are those of this one, for them.
    fn others(&mut self, edges: &dyn Fn() -> EdgeClasses) -> PeerDiscoveries {
        let _ = edges;
        PeerDiscoveries::default()
    }

    /// A failure was found that was not known.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn found(&mut self, found: &FailureRecord<DecisionPath>) -> Result<(), HarnessError>;
}

/// Why an exploration has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplorationEnd {
    /// All its runs were made.
    Runs,
    /// The observer ended it.
    Stopped,
    /// Nothing new was seen for a long time.
    Saturated,
    /// A failure was found, and the first one was asked for.
    FirstFailure,
    /// There was nothing left to try.
    Exhausted,
}

/// An exploration.
pub struct Exploration {
    options: Options,
    strategy: Box<dyn ExplorationStrategy>,
    chance: Rng,
    choosing: Rng,
    novelty: StateFeedback,
    pool: Frontier,
    findings: Findings<DecisionPath>,
    stats: Stats,
    /// The way to the start.
    start: Arc<PathNode>,
}

/// Whom an exploration deals with.
struct ExplorationIo<'a> {
    ground: &'a mut dyn StatefulTarget,
    observer: &'a mut dyn ExplorationObserver,
}

/// Where a run is.
struct RunProgress {
    before: Arc<PathNode>,
    from: Option<CheckpointId>,
    answers: AnswerLog,
    steps: u32,
    /// The flow that ran last.
    flow: Option<u32>,
    /// Everything that it has shown.
    fresh: u32,
}

impl Exploration {
    /// An exploration that has not begun. `start` is what was answered before the beginning.
    #[must_use]
    pub fn new(options: Options, row: &StrategyRow, start: &AnswerLog) -> Exploration {
        let chance = Rng::new(options.seed, options.worker);
        Exploration {
            strategy: (row.make)(&options),
            choosing: chance.stream(CHOOSING),
            chance,
            options,
            novelty: StateFeedback::default(),
            pool: Frontier::default(),
            findings: Findings::default(),
            stats: Stats::default(),
            start: PathNode::from(None, &start.so_far(), 0),
        }
    }

    /// Its numbers.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Its failures.
    #[must_use]
    pub fn findings(&self) -> &Findings<DecisionPath> {
        &self.findings
    }

    /// The stories of the places that are kept.
    pub fn stories(&self) -> impl Iterator<Item = DecisionPath> {
        (0..self.pool.len()).filter_map(|at| Some(self.pool.get(at)?.way.story(&[], 0)))
    }

    /// What each of the things that its strategy divides its effort between has earned, by dial and name.
    #[must_use]
    pub fn earned(&self) -> Vec<(&'static str, &'static str, Reward)> {
        self.strategy.earned()
    }

    /// For each edge of a module, in the order in which the ground shows them, whether any step took it: one byte each.
    #[must_use]
    pub fn taken(&self, module: usize) -> Vec<u8> {
        self.novelty.taken(module)
    }

    /// Goes on with an exploration that had so many runs and steps behind it: its chance is that of the runs after these.
    pub fn resume(&mut self, runs: u64, steps: u64) {
        (self.stats.runs, self.stats.steps, self.stats.last_new) = (runs, steps, steps);
        self.choosing = self.chance.stream(CHOOSING - runs);
    }

    /// Explores: first goes the ways of `stories`, which others have found, then its own. Stories beyond the bound of runs are
    /// not taken.
    ///
    /// # Errors
    /// When the machine, not the scenario, fails.
    pub fn run(
        &mut self,
        ground: &mut dyn StatefulTarget,
        stories: &mut dyn Iterator<Item = DecisionPath>,
        observer: &mut dyn ExplorationObserver,
    ) -> Result<ExplorationEnd, HarnessError> {
        let mut outside = ExplorationIo { ground, observer };
        loop {
            if self.has_made_all_runs() {
                return Ok(ExplorationEnd::Runs);
            }
            let Some(story) = stories.next() else { break };
            if let Some(ended) = self.follow(&mut outside, &story)? {
                return Ok(ended);
            }
        }
        loop {
            if self.has_made_all_runs() {
                return Ok(ExplorationEnd::Runs);
            }
            if self.options.stop == StopCondition::Saturated && self.stats.is_saturated() {
                return Ok(ExplorationEnd::Saturated);
            }
            let others = outside.observer.others(&|| self.novelty.classes());
            others.edges.iter().for_each(|edges| self.novelty.know(edges));
            for story in others.stories {
                if let Some(ended) = self.follow(&mut outside, &story)? {
                    return Ok(ended);
                }
                if self.has_made_all_runs() {
                    return Ok(ExplorationEnd::Runs);
                }
            }
            let Some(attempt) = self.strategy.next(&mut self.pool, &mut self.choosing) else {
                return Ok(ExplorationEnd::Exhausted);
            };
            if let Some(ended) = self.attempt(&mut outside, &attempt)? {
                return Ok(ended);
            }
        }
    }

    fn has_made_all_runs(&self) -> bool {
        self.stats.runs >= self.options.runs_max
    }

    /// Goes the way of a story, and keeps where it leads if that is new.
    fn follow(
        &mut self,
        outside: &mut ExplorationIo<'_>,
        story: &DecisionPath,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        // What was answered before the beginning was asked before.
        let script: Arc<[Override]> = story.answers.get(self.start.len()..).unwrap_or_default().into();
        let manner = AnswerPolicy { mask: AnswerMask::All, order: TaskOrder::First, simplest: true, toggle: 0.0 };
        let (origin, steps) = (RunOrigin::Start, story.steps);
        self.go(outside, &RunSpec { origin, steps, script, manner, keeps: CapturePolicy::New }).map(|(ended, _)| ended)
    }

    fn attempt(
        &mut self,
        outside: &mut ExplorationIo<'_>,
        attempt: &RunSpec,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        let (ended, run) = self.go(outside, attempt)?;
        self.strategy.learn(run.fresh, run.steps, &run.answers);
        if let Some(place) = run.from {
            self.pool.reward(place, run.fresh);
        }
        Ok(ended)
    }

    /// One run.
    fn go(
        &mut self,
        outside: &mut ExplorationIo<'_>,
        attempt: &RunSpec,
    ) -> Result<(Option<ExplorationEnd>, RunProgress), HarnessError> {
        let answers = AnswerLog::default();
        let kept = match attempt.origin {
            RunOrigin::Start => None,
            RunOrigin::Checkpoint(at) => self.pool.get(at),
        };
        let before = kept.map_or_else(|| Arc::clone(&self.start), |kept| Arc::clone(&kept.way));
        let from = kept.map(|kept| kept.place);
        let mut run = RunProgress { before, from, answers: answers.clone(), steps: 0, flow: None, fresh: 0 };
        let chance = self.chance.stream(self.stats.runs);
        self.stats.runs += 1;
        let walk = GuidedSource::new(Arc::clone(&attempt.script), chance, attempt.manner.clone(), &answers);
        outside.ground.restore(from.unwrap_or_else(|| outside.ground.start()), Box::new(walk))?;
        self.novelty.arrive(outside.ground);
        let beginnings = u32::from(from.is_none());
        let steps = attempt.steps.min(self.options.steps_max.saturating_sub(run.before.steps));
        for number in 0..steps + beginnings {
            let is_step = number >= beginnings;
            let step = if is_step { StepId::Step(run.before.steps + run.steps) } else { StepId::Begin };
            let outcome = outside.ground.step(step)?;
            run.steps += u32::from(is_step);
            self.stats.steps += u64::from(is_step);
            match outcome {
                // Where its path does not lead, nothing is captured and nothing continues.
                StepOutcome::Returned { flow } if run.answers.is_truncated() => {
                    self.look(outside, &mut run, flow, CapturePolicy::Nothing)?;
                    self.stats.cut += 1;
                    return Ok((None, run));
                }
                StepOutcome::Returned { flow } => self.look(outside, &mut run, flow, attempt.keeps)?,
                StepOutcome::Finished => return Ok((None, run)),
                StepOutcome::Ended { end, backtrace, stderr } => {
                    let verdict = judge_end(&end, &stderr, &backtrace);
                    return Ok((self.failed(outside, &run, Some(&verdict))?, run));
                }
                StepOutcome::Cut => return Ok((self.failed(outside, &run, None)?, run)),
            }
            if !outside.observer.stepped(&self.stats) {
                return Ok((Some(ExplorationEnd::Stopped), run));
            }
        }
        // What has not ended goes on elsewhere, or comes to its end here.
        let is_at_end = run.before.steps + run.steps >= self.options.steps_max;
        if (attempt.keeps != CapturePolicy::States || is_at_end) && run.steps > 0 {
            let ended = match outside.ground.step(StepId::End)? {
                StepOutcome::Returned { .. } => match outside.ground.judge_end() {
                    Some(verdict) => self.failed(outside, &run, Some(&verdict))?,
                    None => {
                        let fresh = self.novelty.note(outside.ground, (run.flow, None), self.states(StateScope::Told));
                        run.fresh += self.count(fresh);
                        None
                    }
                },
                StepOutcome::Finished => None,
                StepOutcome::Ended { end, backtrace, stderr } => {
                    let verdict = judge_end(&end, &stderr, &backtrace);
                    self.failed(outside, &run, Some(&verdict))?
                }
                StepOutcome::Cut => self.failed(outside, &run, None)?,
            };
            return Ok((ended, run));
        }
        Ok((None, run))
    }

    /// Looks at the last step, and keeps the place where that is worth it.
    fn look(
        &mut self,
        outside: &mut ExplorationIo<'_>,
        run: &mut RunProgress,
        flow: Option<u32>,
        keeps: CapturePolicy,
    ) -> Result<(), HarnessError> {
        // A bounded search must not take for known what only the noise of a memory hides.
        let states = if keeps == CapturePolicy::New && run.steps > 0 { StateScope::All } else { StateScope::Told };
        let states = self.states(states);
        let fresh = self.novelty.note(outside.ground, (run.flow, flow), states);
        run.flow = flow;
        let sum = self.count(fresh);
        run.fresh += sum;
        run.answers.step_is_over(sum > 0);
        let is_kept = match keeps {
            CapturePolicy::Nothing => false,
            CapturePolicy::New => sum > 0,
            CapturePolicy::States => fresh.states > 0 || outside.ground.state().is_none(),
        };
        let is_last = run.before.steps + run.steps >= self.options.steps_max;
        if !is_kept || is_last || self.options.checkpoints_max == 0 {
            return Ok(());
        }
        let place = outside.ground.capture()?;
        let way = PathNode::from(Some(&run.before), &run.answers.so_far(), run.before.steps + run.steps);
        if keeps == CapturePolicy::New {
            outside.observer.kept(&|| way.story(&[], 0))?;
        }
        self.strategy.kept(place);
        if let Some(gone) = self.pool.add(place, way, sum, self.options.checkpoints_max) {
            outside.ground.release(gone);
        }
        self.stats.checkpoints = self.pool.len() as u64;
        Ok(())
    }

    /// Which states count, of these.
    fn states(&self, wanted: StateScope) -> StateScope {
        if self.options.states { wanted } else { StateScope::Ignored }
    }

    fn count(&mut self, fresh: NewCoverage) -> u32 {
        let (edges, features, states, (once, twice)) = self.novelty.totals();
        let stats = &mut self.stats;
        (stats.edges, stats.features, stats.states) = (edges, features, states);
        (stats.edges_once, stats.edges_twice) = (once, twice);
        if fresh.sum() > 0 {
            stats.last_new = stats.steps;
        }
        fresh.sum()
    }

    /// A run failed, or was cut. Its story, run alone, says what that is.
    fn failed(
        &mut self,
        outside: &mut ExplorationIo<'_>,
        run: &RunProgress,
        verdict: Option<&Verdict>,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        let signature = verdict.and_then(|verdict| verdict.signature.clone());
        if verdict.is_some() && self.findings.seen(signature.as_ref()) {
            self.stats.failures += 1;
            return Ok(None);
        }
        let story = run.before.story(&run.answers.so_far(), run.steps);
        let exact = outside.ground.confirm(&story)?;
        if exact.signature.is_none() {
            if run.answers.is_truncated() {
                self.stats.cut += 1;
            } else {
                self.stats.lost += u64::from(verdict.is_some());
            }
            return Ok(None);
        }
        self.stats.failures += 1;
        let found =
            FailureRecord { input: story, found_at: self.stats.runs, times: 1, verdict: exact, confirmed: true };
        let signature = signature.or_else(|| found.verdict.signature.clone());
        let Some(found) = self.findings.add(signature, found) else { return Ok(None) };
        outside.observer.found(found)?;
        self.stats.last_new = self.stats.steps;
        self.stats.findings = self.findings.all().len() as u64;
        Ok((self.options.stop == StopCondition::FirstFinding).then_some(ExplorationEnd::FirstFailure))
    }
}
