//! An ordinary program as the target of an exploration: each step is a whole run, and a checkpoint is its answers.
//!
//! ```text
//! run       a a b c d e f ✓ something new      kept whole: executed again, it shows the same
//! from it   a a b c │ x y z …                  executed from the start: the same for the first N answers, and then other ones;
//!                                              N is another one each time
//! ```
//!
//! What varies is everything that is asked: the turns of machines, arrival and loss on the network, whether and where faults strike,
//! random bytes. What is new is seen over the edges of all machines, over lines, messages and places of faults (`NoveltyDimension`).
//!
//! Invariants: places are answers only, so that a checkpoint in the middle of a run could take the place of the execution
//! before it and nothing above would change; what a finding is, a run says that can be recorded.

use super::answer_path::AnswerPath;
use super::stateful_target::{ExploredTarget, PathConfirmer};
use super::unreached::unreached;
use crate::comparisons::ComparisonSession;
use crate::error::CampaignError;
use crate::pipeline::PreparedProgram;
use fozzy_check::{SearchVerdict, judge_of_search};
use fozzy_engine::{Build, ProgramCoverage, Session};
use fozzy_instrument::{CoverageMode, ModuleOrdinal};
use fozzy_report::{FaultOverlap, FaultTotals, UnreachedBranch};
use fozzy_search::explore::{
    ConfirmReason, CoverageStretch, DecisionPath, InputMoment, NoveltyDimension, StatefulTarget,
};
use fozzy_trace::digest::{hex, kind_of_text, unhex};
use fozzy_trace::facts::{InjectedFaults, Property};
use fozzy_trace::plan::{ARRIVAL_SITE, Inputs};
use fozzy_trace::source::Override;
use fozzy_trace::{
    BackendRequest, CheckpointId, CmpLogEntry, DecisionSource, Digest, Execution, Executor, FailureSignature,
    HarnessError, HistoryEntry, Instant, NodeId, ObservationLookup, Origin, Purpose, Question, RunningDigest,
    SchedulingPoint, Seed, Status, StepId, StepOutcome, StepTarget, Verdict,
};
use fozzy_world::channel::VARIATION_ANSWERS;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes and lines of each output that are looked at for what is new.
const LOG_BYTES_MAX: usize = 64 << 10;
const LOG_LINES_MAX: usize = 1024;
/// Budgets of instructions of an execution with coverage: counting edges costs instructions too. Whatever uses more than the plan's is judged by the run that
/// repeats it without, so that more of them would only be waited for where a program never ends.
const FUEL_TIMES: u64 = 2;
/// Calls of a run between which input may come, where that comes at moments that vary.
const MOMENT_CALLS_MAX: u64 = 1 << 12;
/// Moments of a run that are shown.
const MOMENTS_MAX: usize = 1 << 14;
/// Bytes of components that compile in about the time of one run of a small program.
const BYTES_A_PLAIN_RUN: u64 = 8 << 10;
/// Runs before the first that logs what it compares.
const PLAIN_RUNS_MIN: u64 = 4;
const PLAIN_RUNS_MAX: u64 = 192;
/// The place before the first answer.
const START: CheckpointId = CheckpointId(0);

/// A program that is run again and again.
pub struct ProgramTarget {
    prepared: PreparedProgram,
    session: Session,
    confirmer: PathConfirmer,
    /// The answers up to each place.
    places: BTreeMap<CheckpointId, Arc<AnswerPath>>,
    /// The one that the run continues.
    from: Arc<AnswerPath>,
    next_place: u64,
    /// Answers of the run that is about to be made, or was made last.
    log: SharedLog,
    source: Option<Box<dyn DecisionSource>>,
    execution: Option<Execution>,
    /// Modules of all components, in the order in which they were seen first.
    modules: Vec<(Digest, ModuleOrdinal)>,
    /// Coverage of the last run, by the number of the module.
    last: Vec<Vec<u8>>,
    /// Where runs have used up their instructions, as the plan counts them.
    timeouts: BTreeSet<FailureSignature>,
    /// Whether input comes at moments that vary.
    varies: bool,
    /// What became of the planned faults.
    faults: FaultTotals,
    compared: ComparisonSession,
    /// Whether the run that is about to be made logs what it compares.
    compares: bool,
}

impl ProgramTarget {
    /// The program, built so that its edges are seen; findings are repeated by `confirmer`.
    pub fn new(prepared: &PreparedProgram, confirmer: PathConfirmer) -> Result<ProgramTarget, CampaignError> {
        let build = Build { coverage: CoverageMode::Counters, ..Build::default() };
        let unbuilt = prepared;
        let prepared = prepared.rebuilt(&build)?;
        let mut session = prepared.session()?;
        session.fuel_times(FUEL_TIMES);
        session.collect_bytes();
        let stdin = prepared.planned.stdin.clone();
        if let Some(stdin) = &stdin {
            session.read_from(Arc::clone(stdin));
        }
        let plan = &prepared.planned.plan;
        let inputs = std::iter::once(&plan.main).chain(plan.nodes.iter().map(|node| &node.program.machine));
        let varies =
            inputs.into_iter().any(|machine| machine.stdin.channel.as_ref().is_some_and(|channel| channel.varies));
        Ok(ProgramTarget {
            varies,
            prepared,
            session,
            confirmer,
            places: BTreeMap::from([(START, Arc::default())]),
            from: Arc::default(),
            next_place: START.0 + 1,
            log: SharedLog::default(),
            source: None,
            execution: None,
            modules: Vec::new(),
            last: Vec::new(),
            timeouts: BTreeSet::new(),
            faults: FaultTotals::default(),
            compared: ComparisonSession::new(unbuilt, stdin),
            compares: false,
        })
    }

    /// Whether only the run that repeats this one can say if its instructions are within the plan's bound: seeing edges takes some too.
    fn is_beyond_budget(&self) -> bool {
        let Some(execution) = self.execution.as_ref().filter(|_| !self.compares) else { return false };
        if execution.fuel_used <= self.prepared.planned.plan.limits.fuel {
            return false;
        }
        let verdict = judge_of_search(execution).verdict;
        match verdict.status {
            Status::Pass => true,
            Status::Timeout => verdict.signature.is_none_or(|signature| !self.timeouts.contains(&signature)),
            _ => false,
        }
    }

    /// Makes a run by the source that is at hand; without one it was made.
    fn run(&mut self) -> Result<bool, HarnessError> {
        let Some(source) = self.source.take() else { return Ok(false) };
        if self.compares {
            self.execution = Some(self.compared.execute(None, source)?);
            return Ok(true);
        }
        let calls = if self.varies { MOMENT_CALLS_MAX } else { 0 };
        let execution = self.session.execute(source, 0..calls)?;
        let found = self.session.coverage_bytes().into_iter().flatten();
        for (component, modules) in found {
            for (module, bytes) in modules {
                // A module keeps its number, also where not every run has it.
                let known = self.modules.iter().position(|known| *known == (*component, *module));
                let number = known.unwrap_or(self.modules.len());
                if known.is_none() {
                    self.modules.push((*component, *module));
                    self.last.push(Vec::new());
                }
                self.last[number].clone_from(bytes);
            }
        }
        self.faults.add(&execution.facts.injected);
        self.execution = Some(execution);
        Ok(true)
    }
}

impl StepTarget for ProgramTarget {
    fn start(&self) -> CheckpointId {
        START
    }

    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        self.restore_beginning(checkpoint, usize::MAX, source)
    }

    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        let goes_on = match step {
            StepId::End if self.is_beyond_budget() => return Ok(StepOutcome::Cut),
            StepId::Begin | StepId::End => true,
            StepId::Step(_) => self.run()?,
        };
        Ok(if goes_on { StepOutcome::Returned { flow: None } } else { StepOutcome::Finished })
    }

    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        let place = CheckpointId(self.next_place);
        self.next_place += 1;
        let kept = AnswerPath::of(&self.from, &self.log.lock().answers);
        self.places.insert(place, kept);
        Ok(place)
    }

    fn release(&mut self, checkpoint: CheckpointId) {
        self.places.remove(&checkpoint);
    }
}

impl StatefulTarget for ProgramTarget {
    fn restore_beginning(
        &mut self,
        checkpoint: CheckpointId,
        answers: usize,
        source: Box<dyn DecisionSource>,
    ) -> Result<(), HarnessError> {
        let run = self.places.get(&checkpoint).cloned().unwrap_or_default();
        self.from = AnswerPath::beginning(&run, answers);
        let before = self.from.answers();
        self.log = SharedLog::default();
        let log = self.log.clone();
        self.source = Some(Box::new(ContinuedSource { before, at: 0, source, log: Some(log) }));
        self.execution = None;
        self.compares = false;
        Ok(())
    }

    fn judge_end(&self) -> Option<SearchVerdict> {
        let judged = judge_of_search(self.execution.as_ref()?);
        // Logging takes instructions that the plan does not count.
        let is_own = !(self.compares && judged.verdict.status == Status::Timeout);
        is_own.then_some(judged)
    }

    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
        self.last.iter().enumerate().for_each(|(module, bytes)| see(CoverageStretch::whole(module, bytes)));
        self.last.iter_mut().for_each(|bytes| bytes.fill(0));
    }

    fn module_name(&self, module: usize) -> u64 {
        let name = self.modules.get(module).map(|(component, ModuleOrdinal(ordinal))| format!("{component} {ordinal}"));
        let digest = Digest::of(name.unwrap_or_default().as_bytes());
        <[u8; 8]>::try_from(&digest.0[..8]).map_or(0, u64::from_le_bytes)
    }

    fn properties(&self, see: &mut dyn FnMut(&str, &Property)) {
        let execution = self.execution.iter().filter(|_| !self.compares);
        let properties = execution.flat_map(|execution| execution.facts.properties.iter());
        properties.for_each(|(name, property)| see(name, property));
    }

    fn signs(&self, see: &mut dyn FnMut(NoveltyDimension, u64)) {
        // The run that logs is one that was made, or one that is made again if it is of use.
        let Some(execution) = self.execution.as_ref().filter(|_| !self.compares) else { return };
        lines(execution, &mut |line| see(NoveltyDimension::Log, line));
        self.session.messages().iter().for_each(|message| see(NoveltyDimension::Messages, *message));
        struck(execution, &mut |place| see(NoveltyDimension::Faults, place));
    }

    fn state(&self) -> Option<u64> {
        self.execution.as_ref().filter(|_| !self.compares)?.facts.states.digest()
    }

    fn input_moments(&self, see: &mut dyn FnMut(InputMoment)) {
        let Some(execution) = self.execution.as_ref().filter(|_| self.varies && !self.compares) else { return };
        let log = self.log.lock();
        let windows = windows(execution);
        // Of many arrivals, each comes between fewer calls.
        let step = (windows.len() * WINDOW_MOMENTS * log.varied.len()).div_ceil(MOMENTS_MAX).max(1);
        for node in log.varied.iter().map(|(node, _)| *node).collect::<BTreeSet<NodeId>>() {
            let questions = log.varied.iter().filter(|(of, _)| *of == node);
            let arrivals = self.session.varied().iter().filter(|(of, _)| *of == node);
            for (number, ((_, answer), (_, varied))) in questions.zip(arrivals).enumerate() {
                for window in windows.iter().skip(number % step).step_by(step) {
                    window.moments(&mut |at, kind| {
                        let other = varied.answer_for(at);
                        other.into_iter().for_each(|other| see(InputMoment { answer: *answer, other, kind }));
                    });
                }
            }
        }
    }

    /// The larger the programs, the longer it takes to compile them once more.
    fn plain_runs(&self) -> u64 {
        let PreparedProgram { planned, program, .. } = &self.prepared;
        let own = program.component().len();
        let others: BTreeSet<Digest> = planned.plan.programs().map(|other| other.component).collect();
        let others = others.iter().filter_map(|component| planned.inputs.get(component)).map(|bytes| bytes.len());
        ((own + others.sum::<usize>()) as u64 / BYTES_A_PLAIN_RUN).clamp(PLAIN_RUNS_MIN, PLAIN_RUNS_MAX)
    }

    fn log_comparisons(&mut self, on: bool) -> Result<(), HarnessError> {
        self.compares = on;
        Ok(())
    }

    fn comparisons(&mut self, log: &mut Vec<CmpLogEntry>) {
        if self.compares {
            log.extend_from_slice(self.compared.log());
        }
    }

    fn confirm(&mut self, path: &DecisionPath, reason: ConfirmReason) -> Result<Verdict, HarnessError> {
        let verdict = self.confirmer.confirm(path, reason)?;
        if verdict.status == Status::Timeout {
            self.timeouts.extend(verdict.signature.clone());
        }
        Ok(verdict)
    }
}

impl ExploredTarget for ProgramTarget {
    fn has_run(&self) -> bool {
        true
    }

    fn note_faults(&mut self, injected: &InjectedFaults) {
        self.faults.add(injected);
    }

    fn overlaps(&self) -> Vec<FaultOverlap> {
        self.faults.overlaps()
    }

    fn edges_total(&self) -> u64 {
        self.last.iter().map(|bytes| bytes.len() as u64).sum()
    }

    fn not_reached(&self, taken: &dyn Fn(usize) -> Vec<u8>) -> Vec<UnreachedBranch> {
        let program = &self.prepared.program;
        let own = Digest::of(program.component());
        let modules = self.modules.iter().enumerate().filter(|(_, (component, _))| *component == own);
        let bytes = modules.map(|(number, (_, module))| (*module, taken(number))).collect();
        unreached(program, &ProgramCoverage::by(program, &bytes, None))
    }
}

/// The lines that machines have printed, each as a number that does not depend on the numbers in it.
fn lines(execution: &Execution, see: &mut dyn FnMut(u64)) {
    let others = execution.nodes.iter().flat_map(|node| [&node.stdout, &node.stderr]);
    for (stream, output) in (0..).zip([&execution.stdout, &execution.stderr].into_iter().chain(others)) {
        let kept = output.kept();
        let kept = &kept[..kept.len().min(LOG_BYTES_MAX)];
        for line in kept.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).take(LOG_LINES_MAX) {
            let mut kind = RunningDigest::default();
            kind.pair(stream, kind_of_text(line));
            see(kind.value());
        }
    }
}

/// Between two calls that follow each other: a race with what comes from outside is there, and nearly nowhere else.
struct CallWindow {
    from: Instant,
    to: Instant,
    kind: u64,
}

/// Moments of a window.
const WINDOW_MOMENTS: usize = 4;

impl CallWindow {
    /// Just behind its beginning, in its middle, just before its end and with it.
    fn moments(&self, see: &mut dyn FnMut(Instant, u64)) {
        let (from, to) = (self.from.0, self.to.0);
        let moments: [u64; WINDOW_MOMENTS] = [from.saturating_add(1), from.midpoint(to), to.saturating_sub(1), to];
        for (at, place) in moments.into_iter().zip(0..).filter(|(at, _)| *at > from && *at <= to) {
            let mut kind = RunningDigest::default();
            kind.pair(self.kind, place);
            see(Instant(at), kind.value());
        }
    }
}

/// The windows of a run. Those between calls of the same names that take about as long are of one kind.
fn windows(execution: &Execution) -> Vec<CallWindow> {
    let entries = &execution.history.entries;
    let pairs = entries.iter().zip(entries.iter().skip(1)).filter(|(before, after)| before.at < after.at);
    let window = |(before, after): (&HistoryEntry, &HistoryEntry)| {
        let mut kind = RunningDigest::default();
        kind.bytes(before.call.as_bytes());
        kind.bytes(after.call.as_bytes());
        kind.pair(
            u64::from(before.node.0) << 32 | u64::from(after.node.0),
            u64::from((after.at.0 - before.at.0).ilog2()),
        );
        CallWindow { from: before.at, to: after.at, kind: kind.value() }
    };
    pairs.map(window).collect()
}

/// The places where faults have struck, and which two of them in one run, each as a number.
fn struck(execution: &Execution, see: &mut dyn FnMut(u64)) {
    let mut places = BTreeSet::new();
    for (number, rule) in (0..).zip(&execution.facts.injected.rules) {
        for strike in &rule.first {
            let mut place = RunningDigest::default();
            place.pair(number, kind_of_text(strike.target.as_bytes()));
            place.bytes(strike.machine.as_bytes());
            places.insert(place.value());
        }
    }
    for place in &places {
        see(*place);
        for other in places.range(place + 1..) {
            let mut pair = RunningDigest::default();
            pair.pair(*place, *other);
            see(pair.value());
        }
    }
}

/// Answers that were given, for who keeps the place.
#[derive(Clone, Debug, Default)]
struct SharedLog(Arc<Mutex<GivenAnswers>>);

#[derive(Debug, Default)]
struct GivenAnswers {
    answers: Vec<Override>,
    /// Whose input was varied, and by which answer.
    varied: Vec<(NodeId, usize)>,
}

impl SharedLog {
    fn lock(&self) -> MutexGuard<'_, GivenAnswers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers as they were up to a place, and then as a source says, which is asked from there on.
struct ContinuedSource {
    before: Arc<[Override]>,
    at: usize,
    source: Box<dyn DecisionSource>,
    /// `None` in a fork.
    log: Option<SharedLog>,
}

impl ContinuedSource {
    /// The answer of before to the next question.
    fn given(&mut self) -> Option<Override> {
        let given = self.before.get(self.at).cloned();
        self.at += usize::from(given.is_some());
        given
    }

    fn note(&self, answer: Override) {
        self.log.iter().for_each(|log| log.lock().answers.push(answer.clone()));
    }

    fn number(&mut self, bound: u64) -> Option<(u64, Origin)> {
        let given = self.given()?;
        // A program of equal answers asks equal questions, so that it always fits.
        let number = match given {
            Override::Number(number) => number.min(bound - 1),
            Override::Bytes(_) => 0,
        };
        self.note(Override::Number(number));
        Some((number, Origin::Seed))
    }
}

impl DecisionSource for ContinuedSource {
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin) {
        if question.purpose == Purpose::Arrival && question.site == ARRIVAL_SITE && bound >= VARIATION_ANSWERS {
            self.log.iter().for_each(|log| {
                let mut log = log.lock();
                let number = log.answers.len();
                log.varied.push((question.node, number));
            });
        }
        self.number(bound).unwrap_or_else(|| {
            let answered = self.source.below(question, bound);
            self.note(Override::Number(answered.0));
            answered
        })
    }

    fn pick(&mut self, question: Question<'_>, point: &SchedulingPoint<'_>) -> (u64, Origin) {
        self.number(point.ready.len() as u64).unwrap_or_else(|| {
            let answered = self.source.pick(question, point);
            self.note(Override::Number(answered.0));
            answered
        })
    }

    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin {
        let given = match self.given() {
            Some(Override::Bytes(text)) => unhex(&text).filter(|bytes| bytes.len() == out.len()),
            Some(Override::Number(_)) => Some(vec![0; out.len()]),
            None => None,
        };
        match given {
            Some(bytes) => out.copy_from_slice(&bytes),
            None => {
                self.source.fill(question, out);
            }
        }
        self.note(Override::Bytes(hex(out)));
        Origin::Seed
    }

    fn weigh(&mut self, weights: &[u32]) {
        if self.at >= self.before.len() {
            self.source.weigh(weights);
        }
    }

    fn seed(&self) -> Seed {
        self.source.seed()
    }

    fn fork(&self) -> Box<dyn DecisionSource> {
        let (before, source) = (Arc::clone(&self.before), self.source.fork());
        Box::new(ContinuedSource { before, at: self.at, source, log: None })
    }

    fn observe(&mut self, ask: &BackendRequest, bytes: &mut Inputs) -> ObservationLookup {
        self.source.observe(ask, bytes)
    }
}
