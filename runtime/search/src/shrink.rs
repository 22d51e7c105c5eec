//! Shrinking: the smallest candidate that fails in the same way.
//!
//! ```text
//! recording ─▶ ShrinkCandidate { plan, inputs, answers } ─▶ passes, each a smaller candidate ─▶ executed ─▶ same identity?
//!                     ▲                                                                                   │ yes: again,
//!                     └───────────────────────────────────────────────────────────────────────────────────┘ until none is
//! ```
//!
//! Smaller is: a smaller cluster, then fewer planned faults, then fewer steps, then fewer places where a fault strikes, then fewer decisions, then simpler
//! answers (zero is the simplest), then a shorter standard input (`order`). The order of the passes is that of what they save: first what one execution can prove to
//! be superfluous for many.
//!
//! Invariants: a candidate is only ever replaced by one with the same failure identity (`fozzy_check::identify`: its signature,
//! and what it says but for values), and smaller; what fails otherwise is kept apart, as a finding of its own; steps that the
//! failure depends on stay (`dependencies`); the same recording gives the same smallest candidate, however long it takes.
//!
//! What is left is 1-minimal: no part of it can be left out. Another story may still be shorter, and is looked for among the
//! states that it goes through (`shortcuts`).
//!
//! Candidates are told by one player, or by several at a time: what would be tried next if the one before it is in vain is
//! then told ahead, and forgotten where it is not (`speculated`).
//! Not here: who executes ([`ReplayTarget`] and [`SequenceTarget`] are the engine's), files and budgets of time (`fozzy`).
//!
//! Source of the method: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002), with
//! runs of adaptive length as in Hypothesis (MacIver and Donaldson, "Test-Case Reduction via Test-Case Generation",
//! 2020), over decisions instead of bytes.

mod ablate;
mod chunk_removal;
mod dependencies;
mod explain;
mod faults;
mod incremental_replay;
mod input;
mod order;
mod resample;
mod retrial;
mod schedule;
mod shortcuts;
mod speculate;
mod state_walk;
mod steps;
mod timeline;
mod values;

pub use ablate::{Ablation, ablate};
pub use dependencies::StepDependencies;
pub use explain::{Explanation, VariedPart, explain};
pub use incremental_replay::SequenceTarget;
pub use shortcuts::StateSearch;

use crate::keyed_source::{Decision, DecisionKey, DecisionLog, KeyedSource, LOGGED_MAX, take};
use fozzy_check::{FailureIdentity, identify};
use fozzy_trace::facts::ScenarioPosition;
use fozzy_trace::file::Recording;
use fozzy_trace::plan::{Inputs, KeptSequence};
use fozzy_trace::source::Override;
use fozzy_trace::{
    DecisionSource, Execution, HarnessError, HistoryWindow, Observation, Origin, Plan, RunningDigest, Seed,
};
use speculate::ReplayWorker;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Everything that decides about an execution, as a search changes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShrinkCandidate {
    /// Machines, steps, rules, faults.
    pub plan: Plan,
    /// The bytes that the plan names.
    pub inputs: Inputs,
    /// The answers that the seed does not give.
    pub answers: BTreeMap<DecisionKey, Override>,
    /// Whether faults, turns and the network's chance get the simplest answer where none is given: so that what is
    /// left out moves none of them elsewhere.
    pub calm: bool,
}

/// Who executes a candidate's plan: the engine, with the component of the recording.
pub trait ReplayTarget {
    /// One execution.
    ///
    /// # Errors
    /// When it fails for reasons of the machine.
    fn execute(
        &mut self,
        plan: &Plan,
        inputs: &Inputs,
        source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
    ) -> Result<Execution, HarnessError>;

    /// Its sequences, step by step, if it can: candidates are then not executed from the start each time.
    fn sequences(&mut self) -> Option<&mut dyn SequenceTarget> {
        None
    }

    /// Whether executions from here on may be given up when the time is over; until it is said they may.
    fn allow_interruption(&mut self, allowed: bool) {
        let _ = allowed;
    }

    /// What an execution shows that a smaller one has to show, too: its failure, unless something else is looked for.
    fn identify(&mut self, execution: &Execution) -> Option<FailureIdentity> {
        identify(execution)
    }

    /// The plan with fewer machines, or with fewer clients, the smallest first; none if there is no smaller cluster, or it is not one.
    fn smaller_clusters(&self, plan: &Plan, inputs: &Inputs) -> Vec<Plan> {
        let _ = (plan, inputs);
        Vec::new()
    }

    /// Steps a second of the test that the plan is, where each step has a moment of its own; none where steps follow each other.
    fn step_rate(&self, plan: &Plan) -> Option<f64> {
        let _ = plan;
        None
    }

    /// The plan of that test, over after this many steps; none if that is no shorter.
    fn shortened(&self, plan: &Plan, steps: u32) -> Option<Plan> {
        let _ = (plan, steps);
        None
    }

    /// The kind of fault that a step of that test begins or ends which has drawn `flow`, a number and its bound; none for other steps.
    fn fault_of(&self, plan: &Plan, flow: (u64, u64)) -> Option<usize> {
        let _ = (plan, flow);
        None
    }

    /// The steps that a failure at this position depends on, if the program says what its steps do.
    fn dependencies(&self, failure: &FailureIdentity, position: ScenarioPosition) -> StepDependencies {
        let _ = (failure, position);
        StepDependencies::default()
    }
}

/// What is made smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dimension {
    /// Steps, values and standard input.
    Input,
    /// Who is next, where several could be.
    Schedule,
    /// Planned faults, and where they strike.
    Faults,
}

/// How to shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Only this dimension; all of them when there is none.
    pub only: Option<Dimension>,
    /// Whether any failure will do, instead of the recorded one.
    pub aggressive: bool,
    /// Whether standard input stays as it is: it is what is run, not what is given to it.
    pub keeps_stdin: bool,
    /// Whether the shortest story is looked for, as long as there is time.
    pub shortest: bool,
}

/// One way to make a candidate smaller.
struct Pass {
    dimension: Dimension,
    run: fn(&mut Shrinker<'_>) -> Result<(), ShrinkHalt>,
}

/// The passes, in their order. They are repeated until none of them finds anything.
const PASSES: &[Pass] = &[
    Pass { dimension: Dimension::Faults, run: faults::plans },
    Pass { dimension: Dimension::Input, run: steps::sequences },
    Pass { dimension: Dimension::Input, run: |shrinker| shrinker.drop_faults() },
    Pass { dimension: Dimension::Input, run: steps::kinds },
    Pass { dimension: Dimension::Input, run: steps::each },
    Pass { dimension: Dimension::Input, run: |shrinker| shrinker.close_pauses() },
    Pass { dimension: Dimension::Input, run: steps::pairs },
    // Before values are looked at one by one: it may be that few of them are left to be.
    Pass { dimension: Dimension::Input, run: resample::few },
    Pass { dimension: Dimension::Input, run: resample::smaller_cluster },
    Pass { dimension: Dimension::Faults, run: faults::strikes },
    Pass { dimension: Dimension::Schedule, run: schedule::turns },
    Pass { dimension: Dimension::Input, run: input::drawn },
    Pass { dimension: Dimension::Input, run: values::parts },
    Pass { dimension: Dimension::Input, run: values::each },
    Pass { dimension: Dimension::Input, run: input::given },
];

/// Rounds over all passes. Each but the last one makes the candidate smaller, mostly by less than the one before; nothing
/// was seen to need more than six.
const ROUNDS_MAX: u32 = 32;

/// Why shrinking stops before it is at its end.
enum ShrinkHalt {
    /// The time budget is exhausted.
    Budget,
    /// The machine failed.
    Harness(HarnessError),
}

impl From<HarnessError> for ShrinkHalt {
    fn from(error: HarnessError) -> ShrinkHalt {
        if error.is_interruption() { ShrinkHalt::Budget } else { ShrinkHalt::Harness(error) }
    }
}

/// How much a candidate holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CandidateSize {
    /// Steps of a scenario that are run.
    pub steps: usize,
    /// Machines beside the main one.
    pub machines: usize,
    /// Planned faults.
    pub faults: usize,
    /// How often they strike, within the decisions that are examined.
    pub strikes: usize,
    /// Decisions that are not the simplest of their kind.
    pub decisions: usize,
    /// Bytes of standard input, and of the input that a campaign has given as a file or an argument.
    pub input_bytes: usize,
}

/// What came of it.
#[derive(Debug)]
pub struct ShrinkResult {
    /// The smallest candidate that was found.
    pub smallest: ShrinkCandidate,
    /// What the first one held.
    pub before: CandidateSize,
    /// What it holds.
    pub after: CandidateSize,
    /// Executions that it took.
    pub tries: u64,
    /// Whether no single part can be left out; not so when the budget ran out, or decisions were not looked at.
    pub is_minimal: bool,
    /// Whether it decides more than the [`LOGGED_MAX`] decisions that are looked at; later ones stay as they are.
    pub exceeds_log: bool,
    /// What was done by the states that the story goes through.
    pub states: StateSearch,
    /// Other failures that were met on the way, and the first candidate that had each.
    pub other_failures: BTreeMap<FailureIdentity, ShrinkCandidate>,
}

/// A recording cannot be shrunk.
#[derive(Debug, thiserror::Error)]
pub enum ShrinkError {
    /// It did not fail.
    #[error("the recorded run passed: there is no failure to make smaller")]
    Passed,
    /// It does not repeat.
    #[error("the recorded failure is not reproduced: recorded {recorded}, found {found}")]
    Unstable {
        /// The recorded signature.
        recorded: String,
        /// What the repetition showed.
        found: String,
    },
    /// The machine failed.
    #[error(transparent)]
    Harness(#[from] HarnessError),
}

/// The smallest candidate of a recording's failure that is found while `may_continue` gives time. Each of `targets`
/// executes the recorded program; there is at least one, and the result is the same with any number of them.
///
/// # Errors
/// When the recording passed or does not repeat, or the machine fails.
pub fn shrink(
    recording: &Recording,
    targets: &mut [&mut (dyn ReplayTarget + Send)],
    options: Options,
    may_continue: &mut dyn FnMut(&ShrinkProgress) -> bool,
) -> Result<ShrinkResult, ShrinkError> {
    let mut tries = 0;
    for is_incremental in [true, false] {
        let workers = targets.iter_mut().map(|target| ReplayWorker::new(&mut **target, is_incremental)).collect();
        let mut shrinker = Shrinker::of(recording, workers, options, &mut *may_continue)?;
        shrinker.tries += tries;
        let before = shrinker.size();
        let is_minimal = match shrinker.all() {
            Ok(()) => true,
            Err(ShrinkHalt::Budget) => {
                shortcuts::give_up(&mut shrinker);
                false
            }
            Err(ShrinkHalt::Harness(error)) => return Err(error.into()),
        };
        // The smallest is what counts, however long it takes.
        shrinker.workers[0].target().allow_interruption(false);
        let is_confirmed = shrinker.is_confirmed()?;
        shrinker.workers[0].target().allow_interruption(true);
        tries = shrinker.tries;
        if is_confirmed || !is_incremental {
            let after = shrinker.size();
            let Shrinker { smallest, other_failures, log, states, .. } = shrinker;
            let exceeds_log = log.len() == LOGGED_MAX;
            let is_minimal = is_minimal && !exceeds_log;
            return Ok(ShrinkResult {
                smallest,
                before,
                after,
                tries,
                is_minimal,
                exceeds_log,
                states,
                other_failures,
            });
        }
    }
    unreachable!("what is not walked is confirmed")
}

/// How far it is, for those who wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShrinkProgress {
    /// Executions so far.
    pub tries: u64,
    /// What the smallest candidate so far holds.
    pub size: CandidateSize,
}

/// A source that answers as a candidate says, and the log of what it was asked.
#[must_use]
pub fn source(
    smallest: &ShrinkCandidate,
    seed: Seed,
    observations: &Arc<[Observation]>,
) -> (Box<dyn DecisionSource>, DecisionLog) {
    let log = DecisionLog::default();
    let observed = (Arc::clone(observations), smallest.inputs.clone());
    let guided = KeyedSource::observing(seed, Arc::new(smallest.answers.clone()), Arc::clone(&log), observed);
    (Box::new(guided.calm(smallest.calm)), log)
}

struct Shrinker<'a> {
    /// Those who tell candidates; the first of them tells what must be known now.
    workers: Vec<ReplayWorker<'a>>,
    may_continue: &'a mut dyn FnMut(&ShrinkProgress) -> bool,
    options: Options,
    seed: Seed,
    observations: Arc<[Observation]>,
    identity: FailureIdentity,
    dependencies: StepDependencies,
    smallest: ShrinkCandidate,
    /// What the candidate was asked.
    log: Arc<[Decision]>,
    /// Where it failed, if it is a scenario.
    position: Option<ScenarioPosition>,
    tries: u64,
    /// Digests of candidates that were executed in vain.
    rejected: BTreeSet<u64>,
    /// Those of smaller clusters that were tried with other draws.
    retried: BTreeSet<u64>,
    /// Results of speculative executions, by candidate digest.
    speculated: BTreeMap<u64, CandidateResult>,
    other_failures: BTreeMap<FailureIdentity, ShrinkCandidate>,
    states: StateSearch,
}

/// What one execution of a candidate showed.
struct CandidateResult {
    /// What it was asked, in stretches.
    log: Vec<Arc<[Decision]>>,
    position: Option<ScenarioPosition>,
    execution: Execution,
    identity: Option<FailureIdentity>,
}

/// A recording as a candidate, and what its execution showed.
struct InitialReplay {
    smallest: ShrinkCandidate,
    result: CandidateResult,
    identity: FailureIdentity,
}

/// The recorded answers have numbers in the whole execution; repeating it tells which questions those were.
fn first(recording: &Recording, target: &mut dyn ReplayTarget) -> Result<InitialReplay, ShrinkError> {
    let Some(signature) = recording.outcome.verdict.signature.clone() else { return Err(ShrinkError::Passed) };
    let log = DecisionLog::default();
    let source = KeyedSource::recorded(recording, Arc::clone(&log));
    let execution = target.execute(&recording.plan, &recording.inputs, Box::new(source), 0..0)?;
    let identity = target.identify(&execution);
    let result = CandidateResult::identified(execution, identity, vec![take(&log).into()]);
    let identity = match &result.identity {
        Some(identity) if identity.signature == signature => identity.clone(),
        found => {
            let found = found.as_ref().map_or_else(|| "no failure".to_owned(), |found| found.signature.to_string());
            return Err(ShrinkError::Unstable { recorded: signature.to_string(), found });
        }
    };
    let explicit = result.log.iter().flat_map(|part| &**part).filter(|decision| decision.origin == Origin::Explicit);
    let answers = explicit.map(|decision| (decision.key, decision.answer.clone())).collect();
    let smallest =
        ShrinkCandidate { plan: recording.plan.clone(), inputs: recording.inputs.clone(), answers, calm: false };
    Ok(InitialReplay { smallest, result, identity })
}

impl CandidateResult {
    /// That of steps that were walked, which fail or show nothing.
    fn of(execution: Execution, log: Vec<Arc<[Decision]>>) -> CandidateResult {
        let identity = identify(&execution);
        CandidateResult::identified(execution, identity, log)
    }

    fn identified(
        execution: Execution,
        identity: Option<FailureIdentity>,
        log: Vec<Arc<[Decision]>>,
    ) -> CandidateResult {
        let position = execution.facts.scenario.as_ref().map(|scenario| scenario.position);
        CandidateResult { log, position, identity, execution }
    }

    fn log(&self) -> Arc<[Decision]> {
        self.log.iter().flat_map(|part| part.iter().cloned()).collect()
    }
}

impl<'a> Shrinker<'a> {
    fn of(
        recording: &Recording,
        mut workers: Vec<ReplayWorker<'a>>,
        options: Options,
        may_continue: &'a mut dyn FnMut(&ShrinkProgress) -> bool,
    ) -> Result<Shrinker<'a>, ShrinkError> {
        let InitialReplay { smallest, result, identity } = first(recording, workers[0].target())?;
        let dependencies = match (options.aggressive, result.position) {
            (false, Some(position)) => workers[0].target().dependencies(&identity, position),
            _ => StepDependencies::default(),
        };
        Ok(Shrinker {
            workers,
            may_continue,
            options,
            seed: recording.seed,
            observations: Arc::clone(&recording.observations),
            identity,
            dependencies,
            smallest,
            log: result.log(),
            position: result.position,
            tries: 1,
            rejected: BTreeSet::new(),
            retried: BTreeSet::new(),
            speculated: BTreeMap::new(),
            other_failures: BTreeMap::new(),
            states: StateSearch::default(),
        })
    }

    fn all(&mut self) -> Result<(), ShrinkHalt> {
        if self.wants(Dimension::Faults) {
            // While nothing is fixed, another fault may still take the place of one that goes.
            faults::plans(self)?;
        }
        self.settle()?;
        if self.wants(Dimension::Input) {
            steps::isolate(self)?;
            self.shorten_test()?;
            shortcuts::cut_early(self)?;
        }
        for _ in 0..ROUNDS_MAX {
            let before = self.smallest.clone();
            for pass in PASSES {
                if self.wants(pass.dimension) {
                    (pass.run)(self)?;
                }
            }
            if self.smallest == before && !self.blocks()? && !self.retrials()? && !shortcuts::shorten(self)? {
                break;
            }
        }
        Ok(())
    }

    /// Parts that go only together, when none goes alone.
    fn blocks(&mut self) -> Result<bool, ShrinkHalt> {
        Ok(self.wants(Dimension::Faults) && faults::block(self)? || self.wants(Dimension::Input) && steps::block(self)?)
    }

    /// Faults that only seem to be needed, since what was decided after them stands elsewhere without them.
    fn retrials(&mut self) -> Result<bool, ShrinkHalt> {
        Ok(self.wants(Dimension::Faults) && retrial::without_a_fault(self)?)
    }

    /// Whether a whole run of the candidate fails as it should, which needs no looking where none can have been walked.
    fn is_confirmed(&mut self) -> Result<bool, HarnessError> {
        if !self.workers[0].may_have_walked() {
            return Ok(true);
        }
        self.tries += 1;
        let result = self.workers[0].execute(&self.smallest, self.seed, &self.observations, 0..0)?;
        Ok(result.identity.as_ref() == Some(&self.identity))
    }

    /// What the seed decided about faults, turns and the network becomes part of the smallest candidate, each with its step.
    fn settle(&mut self) -> Result<(), ShrinkHalt> {
        if self.log.len() == LOGGED_MAX {
            return Ok(());
        }
        let mut candidate = ShrinkCandidate { calm: true, ..self.smallest.clone() };
        candidate.answers.extend(faults::chance(&candidate.plan, &self.log));
        self.attempt(candidate)?;
        Ok(())
    }

    fn wants(&self, dimension: Dimension) -> bool {
        self.options.only.is_none_or(|only| only == dimension)
    }

    fn size(&self) -> CandidateSize {
        CandidateSize {
            steps: steps::count(&self.smallest.plan, self.position),
            machines: self.smallest.plan.nodes.len(),
            faults: self.smallest.plan.faults.len(),
            strikes: self.log.iter().filter(|decision| faults::strikes_at(&self.smallest.plan, decision)).count(),
            decisions: self.log.iter().filter(|decision| !values::is_simplest(decision)).count(),
            input_bytes: input::planned(&self.smallest).iter().flatten().map(|bytes| bytes.len()).sum(),
        }
    }

    /// A candidate as it is executed: with the steps that its failure depends on, and without answers to questions that are not asked.
    fn completed(&self, candidate: ShrinkCandidate) -> ShrinkCandidate {
        steps::relevant(self.dependencies.complete(candidate, self.position))
    }

    /// Executes a candidate. When it fails in the same way, it is the smallest one from here on.
    fn attempt(&mut self, candidate: ShrinkCandidate) -> Result<bool, ShrinkHalt> {
        self.attempt_before(candidate, &|_, _| None)
    }

    /// The same. `next` makes, of the smallest candidate as it is, the n-th after this one, if this one and those before it are
    /// in vain: what is executed speculatively when a worker is idle.
    fn attempt_before(&mut self, candidate: ShrinkCandidate, next: &NextCandidates<'_>) -> Result<bool, ShrinkHalt> {
        let candidate = self.completed(candidate);
        if candidate == self.smallest {
            return Ok(false);
        }
        let digest = digest(&candidate);
        if self.rejected.contains(&digest) {
            return Ok(false);
        }
        let progress = ShrinkProgress { tries: self.tries, size: self.size() };
        if !(self.may_continue)(&progress) {
            return Err(ShrinkHalt::Budget);
        }
        self.tries += 1;
        let result = match self.speculated.remove(&digest) {
            Some(result) => result,
            None => self.replay_speculatively(&candidate, next)?,
        };
        if result.identity.as_ref() != Some(&self.identity) {
            self.rejected.insert(digest);
            let other = result.identity.clone().filter(is_own);
            let Some(other) = other else { return Ok(false) };
            if !self.options.aggressive {
                self.other_failures.entry(other).or_insert(candidate);
                return Ok(false);
            }
        }
        let log = result.log();
        if order::compare((&candidate, &log), (&self.smallest, &self.log)).is_gt() {
            self.rejected.insert(digest);
            return Ok(false);
        }
        self.identity = result.identity.unwrap_or_else(|| self.identity.clone());
        self.log = log;
        self.position = result.position;
        self.smallest = candidate;
        // Answers to questions that are no longer asked, and steps after the failure, have no effect.
        if self.log.len() < LOGGED_MAX && !self.smallest.answers.is_empty() {
            let domain: BTreeSet<DecisionKey> = self.log.iter().map(|decision| decision.key).collect();
            self.smallest.answers.retain(|key, _| domain.contains(key));
        }
        steps::cut_tail(&mut self.smallest.plan, self.position);
        self.speculated.clear();
        self.workers.iter_mut().for_each(|worker| worker.set_baseline(&self.smallest));
        Ok(true)
    }
}

/// Whether a failure is one of the program, and not of what the candidate lacks.
fn is_own(failure: &FailureIdentity) -> bool {
    use fozzy_trace::FindingKind::{Checker, Divergence, InputInvalid};
    !matches!(failure.signature.kind, Checker | Divergence | InputInvalid)
}

/// Makes the n-th candidate after another one.
type NextCandidates<'f> = dyn Fn(&ShrinkCandidate, usize) -> Option<ShrinkCandidate> + 'f;

/// What tells candidates of one recording apart: passes change nothing else.
fn digest(smallest: &ShrinkCandidate) -> u64 {
    let Plan { scenario, faults, main, nodes, input, .. } = &smallest.plan;
    let mut fold = RunningDigest::default();
    fold.word(u64::from(smallest.calm));
    for KeptSequence { kind, sequence, steps } in scenario.iter().flat_map(|scenario| &scenario.only) {
        fold.pair(u64::from(kind.stream(*sequence)), steps.len() as u64);
        steps.iter().for_each(|(from, to)| fold.pair(u64::from(*from), u64::from(*to)));
    }
    fold.bytes(format!("{faults:?} {:?} {:?}", main.stdin, main.args).as_bytes());
    nodes.iter().for_each(|node| fold.bytes(node.name.as_bytes()));
    if input.is_some() {
        fold.bytes(&smallest.plan.planned_input(&smallest.inputs).unwrap_or_default());
    }
    for (DecisionKey { part, node, purpose, nth }, answer) in &smallest.answers {
        fold.pair(part.stream(), *nth);
        fold.word(u64::from(node.0));
        fold.bytes(purpose.name().as_bytes());
        match answer {
            Override::Number(number) => fold.word(*number),
            Override::Bytes(digits) => fold.bytes(digits.as_bytes()),
        }
    }
    fold.value()
}

#[cfg(test)]
mod tests;
