//! The loop of an exploration.
//!
//! ```text
//! for ever: the strategy chooses a way ─▶ go there, answer from a stream of this run's own ─▶ step, look, keep ─▶ learn
//!                                                             failure ─▶ the whole path, run alone ─▶ finding
//! ```
//!
//! Invariants: what a run does depends on the seed, its number, and what the runs before it have shown; a finding is
//! reported at once; a failure that its path does not reproduce is counted, and is no finding.
//! Not here: stopping by a clock (`fozzy-campaign`).

mod restoring;
mod several_steps;
mod value_runs;

use super::bandit::Bandit;
use super::bandit::Reward;
use super::decision_path::{DecisionPath, PathNode, PathNodeId};
use super::dull_steps::SharedDullSteps;
use super::frontier::{Frontier, NoveltyKind};
use super::guided_source::{AnswerLog, AnswerPolicy, FaultChoice, GuidedSource, SpareLogs, TaskOrder};
use super::kept_runs::KeptRuns;
use super::known_coverage::KnownCoverage;
use super::moments::MomentProposals;
use super::novelty::NewCoverage;
use super::options::{Options, StopCondition};
use super::state_feedback::{StateFeedback, StateScope};
use super::stateful_target::{ConfirmReason, StatefulTarget};
use super::strategy::{CapturePolicy, ExplorationStrategy, RunOrigin, RunSpec, StrategyRow};
use super::swarm::AnswerMask;
use super::values::{Proposal, TypedStep, ValueProposals, WholeRunValues};
use crate::findings::FailureRecord;
use crate::findings::Findings;
use crate::rng::Rng;
use crate::stats::outlook::Discoveries;
use crate::stats::{Estimate, Outlook};
use fozzy_check::{SearchVerdict, judge_end};
use fozzy_trace::facts::PropertyTable;
use fozzy_trace::source::Override;
use fozzy_trace::{HarnessError, StepId, StepOutcome, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;

/// Steps without anything new after which nothing more is expected, at least.
const BARREN_STEPS: u64 = 20_000;
/// The same, in multiples of the steps up to the last that showed something.
const BARREN_TIMES: u64 = 3;
/// The stream of chance from which ways are chosen; runs have those of their numbers.
const CHOOSING: u64 = u64::MAX - 1;
/// Most paths that are kept at the end of an exploration, or when it may end: they make up most of the file of a state.
const PATHS_MAX: usize = 4096;
/// Answers of all of them.
const PATHS_ANSWERS_MAX: usize = 1 << 20;
/// The stream of what is done about comparisons, so that a scenario that draws no values does the same as without them.
const COMPARING: u64 = 1 << 62;
/// One run in this many logs what it compares, where values are drawn.
const COMPARED_RUNS: u64 = 2;
/// Of places that only a state makes new which is new at most steps, one in this many is kept.
const FLOOD_KEPT: u64 = 8;
/// Steps of such a run, at most.
const COMPARED_STEPS_MAX: u32 = 4;
/// Proposals above which none are looked for but by proposals.
const PROPOSALS_ENOUGH: usize = 64;

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
    /// Runs that were cut because they asked more questions than answers are logged, or a step of theirs took too long.
    pub cut: u64,
    /// Runs that passed, and whose operations are too few for a verdict.
    #[serde(default)]
    pub undecided: u64,
    /// Runs that passed otherwise.
    #[serde(default)]
    pub passed: u64,
    /// The last step that showed something new.
    pub last_new: u64,
    /// Edges that were taken in one step only.
    pub edges_once: u64,
    /// Edges that were taken in two steps only.
    pub edges_twice: u64,
    /// Steps of the second half of its own that showed something new, or a failure.
    #[serde(default)]
    pub discoveries_last_half: u64,
}

impl Stats {
    /// What is left to be found, by steps.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        Estimate::of(self.steps, self.edges_once, self.edges_twice)
    }

    /// What is to be expected of it if it goes on, in multiples of its own steps.
    #[must_use]
    pub fn outlook(&self) -> Outlook {
        Outlook { discoveries: self.discoveries_last_half }
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
    pub paths: Vec<DecisionPath>,
    /// What is not new any more.
    pub edges: Vec<EdgeClasses>,
}

/// What an exploration is continued from.
#[derive(Clone, Debug, Default)]
pub struct SavedProgress {
    /// The paths to its places.
    pub places: Vec<DecisionPath>,
    /// The paths to what it has found.
    pub findings: Vec<DecisionPath>,
    /// What it has seen.
    pub known: KnownCoverage,
}

/// Hears what happens, and keeps it.
pub trait ExplorationObserver {
    /// A step was taken. `false` ends the exploration.
    fn on_step(&mut self, stats: &Stats) -> bool;

    /// Whether there is time to go to one more place of the exploration that is continued. Those that are left are gone to when the search picks
    /// them.
    fn has_time_to_restore(&mut self) -> bool {
        true
    }

    /// The search begins: paths of before were replayed, or are kept.
    fn on_search(&mut self) {}

    /// Something new was seen at the end of this path.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn on_captured(&mut self, path: &dyn Fn() -> DecisionPath) -> Result<(), HarnessError> {
        let _ = path;
        Ok(())
    }

    /// Between two runs: what an exploration would be continued from, by `progress`.
    ///
    /// # Errors
    /// When that is kept, and cannot be.
    fn on_run(&mut self, stats: &Stats, progress: &dyn Fn() -> SavedProgress) -> Result<(), HarnessError> {
        let _ = (stats, progress);
        Ok(())
    }

    /// What others have found meanwhile; `edges` are those of this one, for them.
    fn peer_discoveries(&mut self, edges: &dyn Fn() -> EdgeClasses) -> PeerDiscoveries {
        let _ = edges;
        PeerDiscoveries::default()
    }

    /// A failure was found that was not known. One that cannot be kept is a finding all the same.
    fn on_failure(&mut self, found: &FailureRecord<DecisionPath>);
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
    /// There was nothing left to try: every way was gone.
    Exhausted,
    /// The same, but that some answers and ways were left out.
    Sampled,
}

/// Paths that an exploration takes before its own.
pub enum FirstPaths<'a> {
    /// Found by others: each is a run, and those beyond the bound of runs are not taken.
    Found(&'a mut dyn Iterator<Item = DecisionPath>),
    /// Of the exploration that is continued: they are counted already, and are taken whatever the bound of runs. Those that there is no time for are
    /// kept, and taken when the search picks them.
    Restored(&'a mut RestoredPaths),
}

/// The paths of an exploration that is continued: those of its findings first. The path of a finding stays here until its run is at its end, and those of
/// places until the exploration has them.
#[derive(Clone, Debug, Default)]
pub struct RestoredPaths {
    findings: VecDeque<DecisionPath>,
    places: VecDeque<DecisionPath>,
    known: KnownCoverage,
}

impl RestoredPaths {
    /// The paths to findings and to places, in the order in which they were kept.
    #[must_use]
    pub fn new(findings: Vec<DecisionPath>, places: Vec<DecisionPath>) -> RestoredPaths {
        RestoredPaths { findings: findings.into(), places: places.into(), known: KnownCoverage::default() }
    }

    /// The same, of an exploration that has seen this.
    #[must_use]
    pub fn knowing(self, known: KnownCoverage) -> RestoredPaths {
        RestoredPaths { known, ..self }
    }

    /// What an exploration has seen that continues this one, with what was seen by then: it may be over before it has begun.
    #[must_use]
    pub fn known_with(&self, mut own: KnownCoverage) -> KnownCoverage {
        own.unite(&self.known);
        own
    }

    /// The paths to findings whose runs were not at their ends.
    pub fn findings(&self) -> impl Iterator<Item = &DecisionPath> {
        self.findings.iter()
    }

    /// The paths to places that the exploration does not have.
    pub fn places(&self) -> impl Iterator<Item = &DecisionPath> {
        self.places.iter()
    }
}

/// How the run of a path answers behind its answers: in the simplest way.
fn replay_policy() -> AnswerPolicy {
    AnswerPolicy {
        mask: AnswerMask::All,
        order: TaskOrder::First,
        simplest: true,
        toggle: 0.0,
        faults: FaultChoice::Chance,
    }
}

/// An exploration.
pub struct Exploration {
    options: Options,
    strategy: Box<dyn ExplorationStrategy>,
    rng: Rng,
    choosing: Rng,
    feedback: Box<StateFeedback>,
    /// What looks at several steps in a call, between two calls.
    dull_steps: Option<SharedDullSteps>,
    frontier: Frontier,
    /// Of a program that is run whole, the runs that have shown something new.
    kept_runs: KeptRuns,
    /// Places that were kept so far.
    places: u64,
    values: ValueProposals,
    /// The same for whole runs.
    whole_runs: WholeRunValues,
    moments: MomentProposals,
    comparing: Rng,
    /// Whether the next run is the strategy's, or tries a proposal.
    origins: Bandit<2>,
    findings: Findings<DecisionPath>,
    stats: Stats,
    /// When it has found something, in steps of its own: after those of the exploration that it continues, and of that one's paths.
    discoveries: Discoveries,
    steps_before: u64,
    /// Runs of these that others have made.
    adopted: u64,
    /// The way to the start.
    start: Arc<PathNode>,
    logs: SpareLogs,
}

/// Whom an exploration deals with.
struct ExplorationIo<'a> {
    target: &'a mut dyn StatefulTarget,
    observer: &'a mut dyn ExplorationObserver,
}

/// Where a run is.
struct RunProgress {
    before: Arc<PathNode>,
    answers: AnswerLog,
    steps: u32,
    /// The flow that ran last.
    flow: Option<u32>,
    /// Everything that it has shown.
    fresh: NewCoverage,
    /// The place that it kept last.
    kept: Option<KeptPlace>,
}

/// A place that a run has kept, with its answers and steps up to there.
#[derive(Clone)]
struct KeptPlace {
    node: Arc<PathNode>,
    answers: usize,
    steps: u32,
}

impl Exploration {
    /// An exploration that has not begun. `start` is what was answered before the beginning.
    #[must_use]
    pub fn new(options: Options, row: &StrategyRow, start: &AnswerLog) -> Exploration {
        let rng = Rng::new(options.seed, options.worker);
        Exploration {
            strategy: (row.make)(&options),
            choosing: rng.stream(CHOOSING),
            comparing: rng.stream(COMPARING),
            rng,
            options,
            feedback: Box::default(),
            dull_steps: None,
            frontier: Frontier::default(),
            kept_runs: KeptRuns::default(),
            places: 0,
            values: ValueProposals::default(),
            whole_runs: WholeRunValues::default(),
            moments: MomentProposals::default(),
            origins: Bandit::new(["strategy", "values"]),
            findings: Findings::default(),
            stats: Stats::default(),
            discoveries: Discoveries::default(),
            steps_before: 0,
            adopted: 0,
            start: PathNode::from(None, &start.snapshot(), 0, PathNodeId(0)),
            logs: SpareLogs::default(),
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

    /// The paths of the most promising places that are kept, 4,096 at the most, in the order in which they were. Of a program that is run whole
    /// they are those of the runs that have shown something new, each to its end.
    pub fn paths(&self) -> impl Iterator<Item = DecisionPath> {
        let told = match self.options.is_whole_run {
            true => self.kept_runs.latest(PATHS_MAX, PATHS_ANSWERS_MAX),
            false => self.frontier.hottest(PATHS_MAX, PATHS_ANSWERS_MAX),
        };
        told.into_iter().map(|node| node.path(&[], 0))
    }

    /// What it has seen, for one that continues it.
    #[must_use]
    pub fn known(&self) -> KnownCoverage {
        self.feedback.known()
    }

    /// What each of the things that its strategy divides its effort between has earned, by dial and name.
    #[must_use]
    pub fn rewards(&self) -> Vec<(&'static str, &'static str, Reward)> {
        let mut rewards = self.strategy.rewards();
        if self.values.has_wide {
            rewards.extend(self.origins.rewards().map(|(name, reward)| ("values", name, reward)));
        }
        rewards
    }

    /// For each edge of a module, in the order in which the target shows them, whether any step took it: one byte each.
    #[must_use]
    pub fn taken(&self, module: usize) -> Vec<u8> {
        self.feedback.taken(module)
    }

    /// The same, of all modules.
    #[must_use]
    pub fn all_taken(&self) -> Vec<Vec<u8>> {
        (0..self.feedback.modules()).map(|module| self.feedback.taken(module)).collect()
    }

    /// How the properties of the program stand over all its steps.
    #[must_use]
    pub fn property_table(&self) -> PropertyTable {
        self.feedback.property_table()
    }

    /// Continues an exploration with this number of runs and steps behind it: its chance is that of the runs after these.
    pub fn resume(&mut self, runs: u64, steps: u64) {
        (self.stats.runs, self.stats.steps, self.stats.last_new) = (runs, steps, steps);
        self.begin_own_steps();
        self.choosing = self.rng.stream(CHOOSING - runs);
        self.comparing = self.rng.stream(COMPARING + runs);
    }

    /// Counts a run that was made before it begins, and the failure that this was, if it is not known.
    pub fn adopt(&mut self, path: DecisionPath, judged: SearchVerdict) -> Option<&FailureRecord<DecisionPath>> {
        let SearchVerdict { verdict, is_undecided } = judged;
        self.stats.undecided += u64::from(is_undecided);
        self.stats.passed += u64::from(!is_undecided && verdict.signature.is_none());
        self.adopted += 1;
        self.stats.runs += 1;
        self.stats.steps += u64::from(path.steps);
        let signature = verdict.signature.clone();
        signature.as_ref()?;
        self.stats.failures += 1;
        let found = FailureRecord { input: path, found_at: self.stats.runs, times: 1, verdict, is_confirmed: true };
        self.findings.add(signature, found)?;
        self.note_discovery();
        self.stats.findings += 1;
        self.findings.all().last()
    }

    /// Explores: first replays `paths`, then continues with its own. An execution that is interrupted ends it.
    ///
    /// # Errors
    /// When the machine, not the scenario, fails.
    pub fn run(
        &mut self,
        target: &mut dyn StatefulTarget,
        paths: FirstPaths<'_>,
        observer: &mut dyn ExplorationObserver,
    ) -> Result<ExplorationEnd, HarnessError> {
        match self.explore(ExplorationIo { target, observer }, paths) {
            Err(error) if error.is_interruption() => Ok(ExplorationEnd::Stopped),
            ended => ended,
        }
    }

    fn explore(&mut self, mut io: ExplorationIo<'_>, paths: FirstPaths<'_>) -> Result<ExplorationEnd, HarnessError> {
        let ended = match paths {
            FirstPaths::Found(paths) => self.replay_found(&mut io, paths)?,
            FirstPaths::Restored(paths) => self.restore(&mut io, paths)?,
        };
        if let Some(ended) = ended {
            return Ok(ended);
        }
        io.observer.on_search();
        loop {
            if self.has_made_all_runs() {
                return Ok(ExplorationEnd::Runs);
            }
            if self.options.stop == StopCondition::Saturated && self.stats.is_saturated() {
                return Ok(ExplorationEnd::Saturated);
            }
            io.observer.on_run(&self.stats, &|| self.progress())?;
            let others = io.observer.peer_discoveries(&|| self.feedback.classes());
            others.edges.iter().for_each(|edges| self.feedback.merge_known(edges));
            for path in others.paths {
                if let Some(ended) = self.replay_path(&mut io, &path)? {
                    return Ok(ended);
                }
                if self.has_made_all_runs() {
                    return Ok(ExplorationEnd::Runs);
                }
            }
            if let Some(next) = self.next_value_run(&io) {
                if let Some(ended) = self.try_value_run(&mut io, next)? {
                    return Ok(ended);
                }
                continue;
            }
            if let Some(spec) = self.next_moment() {
                if let Some(ended) = self.try_moment(&mut io, &spec)? {
                    return Ok(ended);
                }
                continue;
            }
            let ended = match self.next_proposal() {
                Some(proposal) => self.try_proposal(&mut io, proposal)?,
                None => {
                    let Some(mut spec) = self.strategy.next(&mut self.frontier, &mut self.choosing) else {
                        let is_exhaustive = self.strategy.is_exhaustive() && self.stats.cut + self.stats.lost == 0;
                        return Ok(if is_exhaustive { ExplorationEnd::Exhausted } else { ExplorationEnd::Sampled });
                    };
                    spec.compares = self.compares(&spec);
                    if spec.compares {
                        // Each proposal takes all steps up to the one that compared.
                        spec.steps = spec.steps.min(COMPARED_STEPS_MAX);
                    }
                    self.execute_and_learn(&mut io, &spec)?
                }
            };
            if let Some(ended) = ended {
                return Ok(ended);
            }
        }
    }

    fn progress(&self) -> SavedProgress {
        let findings = self.findings.all().iter().map(|found| found.input.clone()).collect();
        SavedProgress { places: self.paths().collect(), findings, known: self.known() }
    }

    fn has_made_all_runs(&self) -> bool {
        self.stats.runs >= self.options.runs_max
    }

    /// Replays paths of others, within the bound of runs.
    fn replay_found(
        &mut self,
        io: &mut ExplorationIo<'_>,
        paths: &mut dyn Iterator<Item = DecisionPath>,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        loop {
            if self.has_made_all_runs() {
                return Ok(Some(ExplorationEnd::Runs));
            }
            let Some(path) = paths.next() else { return Ok(None) };
            if let Some(ended) = self.replay_path(io, &path)? {
                return Ok(Some(ended));
            }
        }
    }

    /// Continues an exploration from its paths, and from what it has seen: that is not new any more, whether there was time to take the paths or not.
    fn restore(
        &mut self,
        io: &mut ExplorationIo<'_>,
        paths: &mut RestoredPaths,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        let runs = self.stats.runs;
        let ended = self.replay_restored(io, paths);
        // They are none of those that were asked for.
        self.options.runs_max = self.options.runs_max.saturating_add(self.stats.runs.saturating_sub(runs));
        self.feedback.learn_known(&paths.known);
        self.count(NewCoverage::default());
        ended
    }

    /// Replays the paths of the exploration that is continued: those to its findings, then those to its places. What is not at its end stays with what is
    /// left.
    fn replay_restored(
        &mut self,
        io: &mut ExplorationIo<'_>,
        paths: &mut RestoredPaths,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        while let Some(path) = paths.findings.front().cloned() {
            let ended = self.replay_path(io, &path)?;
            self.begin_own_steps();
            if ended != Some(ExplorationEnd::Stopped) {
                paths.findings.pop_front();
            }
            if ended.is_some() {
                return Ok(ended);
            }
        }
        match (self.options.is_whole_run, self.options.checkpoints_max) {
            (true, _) => self.restore_runs(io, paths),
            (false, 0) => self.replay_places(io, paths),
            (false, _) => self.restore_places(io, paths),
        }
    }

    /// Replays the paths to places of an exploration that keeps none: they stay with what is left, for one that does.
    fn replay_places(
        &mut self,
        io: &mut ExplorationIo<'_>,
        paths: &RestoredPaths,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        for path in paths.places() {
            if !io.observer.has_time_to_restore() {
                break;
            }
            let ended = self.replay_path(io, path)?;
            self.begin_own_steps();
            if ended.is_some() {
                return Ok(ended);
            }
        }
        Ok(None)
    }

    /// Goes the way of a path, and keeps where it leads if that is new.
    fn replay_path(
        &mut self,
        io: &mut ExplorationIo<'_>,
        path: &DecisionPath,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        // What was answered before the beginning was asked before.
        let script: Arc<[Override]> = path.answers.get(self.start.len()..).unwrap_or_default().into();
        let policy = replay_policy();
        // A whole run is one step, also of a path that goes through places.
        let (origin, steps) = (RunOrigin::Start, if self.options.is_whole_run { 1 } else { path.steps });
        self.execute(io, &RunSpec { origin, steps, script, policy, capture: CapturePolicy::New, compares: false })
            .map(|(ended, _)| ended)
    }

    /// Whether a run of the strategy logs what it compares.
    fn compares(&mut self, spec: &RunSpec) -> bool {
        self.values.has_wide
            && !self.options.is_whole_run
            && spec.capture == CapturePolicy::New
            && self.values.waiting() < PROPOSALS_ENOUGH
            && self.comparing.one_in(COMPARED_RUNS)
    }

    /// A proposal, if it is its turn.
    fn next_proposal(&mut self) -> Option<Proposal> {
        let spent = |at: usize| self.origins.rewards().nth(at).map_or_else(Reward::default, |(_, reward)| reward);
        if !self.values.can_propose(spent(0), spent(1)) {
            self.origins.choose(0);
            return None;
        }
        self.origins.choose(1);
        self.values.next(&mut self.comparing)
    }

    /// Makes a run in which a comparison may be met, and looks at what is compared next.
    fn try_proposal(
        &mut self,
        io: &mut ExplorationIo<'_>,
        proposal: Proposal,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        let Proposal { origin, script, steps, fixup } = proposal;
        let (origin, policy) = (RunOrigin::Place(origin), value_runs::policy());
        let spec = RunSpec { origin, steps, script, policy, capture: CapturePolicy::New, compares: true };
        let (ended, run) = self.execute(io, &spec)?;
        self.origins.learn(run.fresh.sum(), u64::from(run.steps));
        if let (Some(fixup), true) = (fixup, run.fresh.sum() > 0) {
            self.values.record_success(fixup);
        }
        Ok(ended)
    }

    fn execute_and_learn(
        &mut self,
        io: &mut ExplorationIo<'_>,
        spec: &RunSpec,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        let (ended, run) = self.execute(io, spec)?;
        self.strategy.learn(run.fresh, run.steps, &run.answers);
        if self.values.has_wide {
            self.origins.learn(run.fresh.sum(), u64::from(run.steps));
        }
        if let RunOrigin::Place(node) = &spec.origin {
            self.frontier.reward(node.id, run.fresh.sum());
        }
        self.request_comparisons(&run, Vec::new());
        self.learn_moments(io, &run);
        Ok(ended)
    }

    /// One run. An interrupted one is not counted: an exploration that continues this one makes it.
    fn execute(
        &mut self,
        io: &mut ExplorationIo<'_>,
        spec: &RunSpec,
    ) -> Result<(Option<ExplorationEnd>, RunProgress), HarnessError> {
        let (runs, steps) = (self.stats.runs, self.stats.steps);
        self.execute_whole(io, spec).inspect_err(|error| {
            if error.is_interruption() {
                (self.stats.runs, self.stats.steps) = (runs, steps);
            }
        })
    }

    fn execute_whole(
        &mut self,
        io: &mut ExplorationIo<'_>,
        spec: &RunSpec,
    ) -> Result<(Option<ExplorationEnd>, RunProgress), HarnessError> {
        let answers = self.logs.next();
        let (origin, live) = match &spec.origin {
            RunOrigin::Start => (Arc::clone(&self.start), self.frontier.nearest_live(&self.start)),
            RunOrigin::Place(run) if self.options.is_whole_run => {
                let beginning = self.draw_beginning(run);
                let checkpoint = self.frontier.checkpoint(run.id);
                let live = checkpoint.map(|checkpoint| (checkpoint, Arc::clone(&beginning)));
                (beginning, live)
            }
            RunOrigin::Place(node) => (Arc::clone(node), self.frontier.nearest_live(node)),
        };
        let (from, before) = match live {
            Some((checkpoint, node)) => (Some(checkpoint), node),
            None => (None, Arc::clone(&self.start)),
        };
        // Without its checkpoint, a place is gone to again.
        let between = Frontier::answers_between(&before, &origin);
        answers.continue_behind(before.weight());
        if spec.capture.is_by_steps() {
            answers.list_alternatives();
        }
        let mut run = RunProgress {
            before,
            answers: answers.clone(),
            steps: 0,
            flow: None,
            fresh: NewCoverage::default(),
            kept: None,
        };
        let rng = self.rng.stream(self.stats.runs - self.adopted);
        self.stats.runs += 1;
        let script = if between.is_empty() {
            Arc::clone(&spec.script)
        } else {
            between.into_iter().chain(spec.script.iter().cloned()).collect()
        };
        let walk = Box::new(GuidedSource::new(script, rng, spec.policy.clone(), &answers));
        match from {
            Some(whole) if self.options.is_whole_run => io.target.restore_beginning(whole, run.before.len(), walk)?,
            _ => io.target.restore(from.unwrap_or_else(|| io.target.start()), walk)?,
        }
        io.target.log_comparisons(spec.compares)?;
        self.feedback.begin_run(io.target);
        let beginnings = u32::from(from.is_none());
        let again = if self.options.is_whole_run { 0 } else { origin.steps - run.before.steps };
        let steps = spec.steps.min(self.options.steps_max.saturating_sub(origin.steps));
        let mut is_stopped = false;
        let (several, all) = (self.states_of_several(io, spec), steps + again + beginnings);
        let mut number = 0;
        while number < all {
            let is_step = number >= beginnings;
            let is_again = run.before.id != origin.id && !self.options.is_whole_run;
            let step = if is_step { StepId::Step(run.before.steps + run.steps) } else { StepId::Begin };
            // Only a step that logs what it compares is looked at from there.
            let (begin, kept) = (run.answers.len(), if spec.compares { run.kept.clone() } else { None });
            let (outcome, dull) = match several {
                Some(states) if is_step && !is_again && number + 1 < all => {
                    let first = run.before.steps + run.steps;
                    self.take_several(io, (&mut run, spec), (first, first + (all - number - 1)), states)?
                }
                _ => (io.target.step(step)?, 0),
            };
            for _ in 0..dull {
                run.steps += 1;
                self.stats.steps += 1;
                self.stats.discoveries_last_half = self.discoveries.in_last_half(self.own_steps());
                if !io.observer.on_step(&self.stats) {
                    return Ok((Some(ExplorationEnd::Stopped), run));
                }
            }
            number += dull;
            run.steps += u32::from(is_step);
            self.stats.steps += u64::from(is_step);
            self.stats.discoveries_last_half = self.discoveries.in_last_half(self.own_steps());
            let fresh = run.fresh.sum();
            match outcome {
                // Where its path does not lead, nothing is captured and nothing continues.
                StepOutcome::Returned { flow } if run.answers.is_truncated() => {
                    self.observe_step(io, &mut run, flow, CapturePolicy::Nothing)?;
                    self.stats.cut += 1;
                    return Ok((None, run));
                }
                StepOutcome::Returned { flow } => {
                    let capture = if is_again { CapturePolicy::Nothing } else { spec.capture };
                    self.observe_step(io, &mut run, flow, capture)?;
                    self.learn_values(io, spec, &run, (begin, kept), run.fresh.sum() > fresh);
                }
                StepOutcome::Finished => {
                    self.learn_values(io, spec, &run, (begin, kept), false);
                    return Ok((None, run));
                }
                StepOutcome::Ended { end, backtrace, stderr } => {
                    self.learn_values(io, spec, &run, (begin, kept), false);
                    let verdict = judge_end(&end, &stderr, &backtrace);
                    return Ok((self.judge_failure(io, &run, Some(&verdict))?, run));
                }
                StepOutcome::Cut => return Ok((self.judge_failure(io, &run, None)?, run)),
            }
            if is_again && number + 1 == again + beginnings {
                self.arrive(io, &mut run, &origin)?;
            }
            // A run without a step is not counted.
            let runs = self.stats.runs - u64::from(run.steps == 0);
            if !io.observer.on_step(&Stats { runs, ..self.stats }) {
                if !is_step || !self.options.is_whole_run {
                    self.stats.runs = runs;
                    return Ok((Some(ExplorationEnd::Stopped), run));
                }
                // The run was made, and is judged.
                is_stopped = true;
            }
            number += 1;
        }
        let stopped = is_stopped.then_some(ExplorationEnd::Stopped);
        // A run that has not ended continues elsewhere, or ends here.
        if (!spec.capture.is_by_steps() || self.is_at_end(&run, spec.capture)) && run.steps > 0 {
            let ended = match io.target.step(StepId::End)? {
                StepOutcome::Returned { .. } => match io.target.judge_end() {
                    Some(SearchVerdict { verdict, .. }) if verdict.signature.is_some() => {
                        self.judge_failure(io, &run, Some(&verdict))?
                    }
                    judged => {
                        let is_undecided = judged.is_some_and(|judged| judged.is_undecided);
                        self.stats.undecided += u64::from(is_undecided);
                        self.stats.passed += u64::from(!is_undecided);
                        let states = self.states(StateScope::Told);
                        let fresh = self.feedback.observe(io.target, (run.flow, None), states, &[]);
                        run.fresh.add(fresh);
                        self.count(fresh);
                        None
                    }
                },
                StepOutcome::Finished => None,
                StepOutcome::Ended { end, backtrace, stderr } => {
                    let verdict = judge_end(&end, &stderr, &backtrace);
                    self.judge_failure(io, &run, Some(&verdict))?
                }
                StepOutcome::Cut => self.judge_failure(io, &run, None)?,
            };
            return Ok((ended.or(stopped), run));
        }
        Ok((stopped, run))
    }

    /// A beginning of a whole run, for another run to go on from. Where in its own answers something new came is not known: any of them may be what is
    /// needed of it, and the last one is never, as then nothing is left to be answered.
    fn draw_beginning(&mut self, run: &Arc<PathNode>) -> Arc<PathNode> {
        let own = run.own_len();
        let again = match own {
            0 => 0,
            // What comes next is near its end as often as far from it.
            _ if self.choosing.one_in(2) => self.choosing.length(own),
            _ => self.choosing.between(1, own),
        };
        PathNode::beginning_of(run, own - again)
    }

    /// Whether no step comes after the last one, in this run or another.
    fn is_at_end(&self, run: &RunProgress, capture: CapturePolicy) -> bool {
        let Options { steps_max, steps_per_run, .. } = self.options;
        let most = if capture.is_by_steps() { steps_max.min(steps_per_run) } else { steps_max };
        run.before.steps + run.steps >= most
    }

    /// A run has gone to the place of `origin` again, and continues from there.
    fn arrive(
        &mut self,
        io: &mut ExplorationIo<'_>,
        run: &mut RunProgress,
        origin: &Arc<PathNode>,
    ) -> Result<(), HarnessError> {
        run.answers.forget_answers();
        (run.before, run.steps, run.fresh, run.kept) = (Arc::clone(origin), 0, NewCoverage::default(), None);
        if self.frontier.node(origin.id).is_some() {
            let checkpoint = io.target.capture()?;
            let gone = self.frontier.revive(origin.id, checkpoint, self.options.checkpoints_max);
            gone.into_iter().for_each(|gone| io.target.release(gone));
        }
        Ok(())
    }

    /// Looks at what the last step compared, and at what it drew.
    fn learn_values(
        &mut self,
        io: &mut ExplorationIo<'_>,
        spec: &RunSpec,
        run: &RunProgress,
        (begin, kept): (usize, Option<KeptPlace>),
        is_new: bool,
    ) {
        self.values.has_wide |= spec.capture == CapturePolicy::New && run.answers.has_wide();
        if !spec.compares || self.options.is_whole_run {
            return;
        }
        // From the last place that was kept before this step, it is the fewest steps.
        let (origin, answered, steps) = match &kept {
            Some(kept) => (&kept.node, kept.answers, kept.steps),
            None => (&run.before, 0, 0),
        };
        let place = run.kept.as_ref().filter(|place| kept.as_ref().is_none_or(|kept| kept.steps < place.steps));
        let (answers, place) = (run.answers.since(answered), place.map(|place| &place.node));
        io.target.comparisons(self.values.log());
        let (begin, steps) = (begin - answered, run.steps - steps);
        let step = TypedStep { origin, place, answers: &answers, begin, steps, is_new };
        self.values.learn(&step, &mut self.comparing);
    }

    /// Looks at the last step, and keeps the place where that is worth it.
    fn observe_step(
        &mut self,
        io: &mut ExplorationIo<'_>,
        run: &mut RunProgress,
        flow: Option<u32>,
        capture: CapturePolicy,
    ) -> Result<(), HarnessError> {
        // A bounded search must not take for known what only the noise of a memory hides.
        let states = if capture == CapturePolicy::New && run.steps > 0 { StateScope::All } else { StateScope::Told };
        let states = self.states(states);
        let fresh = self.feedback.observe(io.target, (run.flow, flow), states, &self.options.novelty);
        run.flow = flow;
        let sum = self.count(fresh);
        run.fresh.add(fresh);
        run.answers.end_step(sum > 0);
        let is_kept = match capture {
            CapturePolicy::Nothing => false,
            CapturePolicy::New => sum > 0 && !self.is_of_flood(fresh),
            CapturePolicy::States => fresh.states() > 0 || io.target.state().is_none(),
            CapturePolicy::All => true,
        };
        // To its end, a whole run shows that again, whether others go on from a beginning of it or not.
        let is_run = self.options.is_whole_run && run.steps > 0;
        let is_place = !self.is_at_end(run, capture) && self.options.checkpoints_max > 0;
        if !is_kept || !is_run && !is_place {
            return Ok(());
        }
        let place = PathNodeId(self.places + 1);
        let (answers, steps) = (run.answers.snapshot(), run.before.steps + run.steps);
        let node = PathNode::from(Some(&run.before), &answers, steps, place);
        if is_run {
            self.kept_runs.keep(Arc::clone(&node));
        }
        if !is_place {
            return Ok(());
        }
        self.places += 1;
        let checkpoint = io.target.capture()?;
        if capture == CapturePolicy::New {
            io.observer.on_captured(&|| node.path(&[], 0))?;
        }
        self.strategy.on_captured(place);
        run.kept = Some(KeptPlace { node: Arc::clone(&node), answers: answers.len(), steps: run.steps });
        let gone = self.frontier.add(checkpoint, node, (fresh.kind(), sum), self.options.checkpoints_max);
        gone.into_iter().for_each(|gone| io.target.release(gone));
        self.stats.checkpoints = self.frontier.len() as u64;
        Ok(())
    }

    /// Which states count, of these.
    fn states(&self, wanted: StateScope) -> StateScope {
        if self.options.states { wanted } else { StateScope::Ignored }
    }

    fn count(&mut self, fresh: NewCoverage) -> u32 {
        let (edges, features, states, (once, twice)) = self.feedback.totals();
        let stats = &mut self.stats;
        (stats.edges, stats.features, stats.states) = (edges, features, states);
        (stats.edges_once, stats.edges_twice) = (once, twice);
        // What only its memory tells, beside the states that it names, is no sign that there is more to come.
        if fresh.sum() > fresh.further {
            self.note_discovery();
        }
        fresh.sum()
    }

    /// The last step has shown something new, or a failure.
    fn note_discovery(&mut self) {
        self.stats.last_new = self.stats.steps;
        self.discoveries.record(self.own_steps());
    }

    /// What is found from here on is its own.
    fn begin_own_steps(&mut self) {
        (self.discoveries, self.steps_before) = (Discoveries::default(), self.stats.steps);
        self.stats.discoveries_last_half = 0;
    }

    fn own_steps(&self) -> u64 {
        self.stats.steps.saturating_sub(self.steps_before)
    }

    /// Whether a place is new only by what is new at most steps, and is not one of the few of those that are kept.
    fn is_of_flood(&mut self, fresh: NewCoverage) -> bool {
        let fine = self.feedback.fine();
        self.frontier.set_flooded(fine.contains(&true));
        let kind = fresh.kind();
        kind != NoveltyKind::Coarse && fine[kind as usize] && !self.choosing.one_in(FLOOD_KEPT)
    }

    /// A run failed, or was cut. Its path, run alone, says what that is.
    fn judge_failure(
        &mut self,
        io: &mut ExplorationIo<'_>,
        run: &RunProgress,
        verdict: Option<&Verdict>,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        self.feedback.observe_properties(io.target);
        let signature = verdict.and_then(|verdict| verdict.signature.clone());
        if verdict.is_some() && self.findings.seen(signature.as_ref()).is_some() {
            self.stats.failures += 1;
            return Ok(None);
        }
        let path = run.before.path(&run.answers.snapshot(), run.steps);
        let reason = if verdict.is_some() { ConfirmReason::Failure } else { ConfirmReason::Cut };
        let (exact, is_confirmed) = match (io.target.confirm(&path, reason), verdict) {
            (Ok(exact), _) => (exact, true),
            // It is a finding all the same, and the search is over.
            (Err(error), Some(verdict)) if error.is_interruption() => (verdict.clone(), false),
            (Err(error), _) => return Err(error),
        };
        if exact.signature.is_none() {
            // A step that was ended from outside did not fail, and its run does not continue.
            if run.answers.is_truncated() || verdict.is_none() {
                self.stats.cut += 1;
            } else {
                self.stats.lost += 1;
            }
            return Ok(None);
        }
        self.stats.failures += 1;
        let found = FailureRecord { input: path, found_at: self.stats.runs, times: 1, verdict: exact, is_confirmed };
        let signature = signature.or_else(|| found.verdict.signature.clone());
        let Some(found) = self.findings.add(signature, found) else { return Ok(None) };
        io.observer.on_failure(found);
        self.note_discovery();
        self.stats.findings = self.findings.all().len() as u64;
        if !is_confirmed {
            return Ok(Some(ExplorationEnd::Stopped));
        }
        Ok((self.options.stop == StopCondition::FirstFinding).then_some(ExplorationEnd::FirstFailure))
    }
}
