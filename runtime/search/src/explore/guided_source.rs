//! Decision source of an exploration: replays a script, then samples by the policy of the strategy; logs every answer.
//!
//! ```text
//! script  7 0 │ then: any answer, or the simplest │ faults: quiet or not, changed now and then from step to step
//! ```
//!
//! Invariants: every answer is logged in its order; a fork answers the same and logs nothing, as it repeats what is logged.
//! Not here: which policy is worth trying (`strategy`).

use super::strategy::alternatives::{Alternatives, AskedQuestion};
use super::swarm::{self, AnswerMask};
use super::values;
use crate::rng::Rng;
use fozzy_trace::digest::{hex, unhex};
use fozzy_trace::plan::fault::RATE_ALWAYS_PPM;
use fozzy_trace::scheduler::NEXT_TASK;
use fozzy_trace::source::Override;
use fozzy_trace::{
    DecisionPart, DecisionSource, NodeId, Origin, Purpose, Question, RunLengths, SchedulePolicy, Scheduler,
    SchedulingPoint, Seed,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Answers that are logged of one run and of the way before it, by their weight: some tens of megabytes. A run that asks for more ends after the step in which it does,
/// and is counted as cut: its path would not lead there again.
pub(crate) const ANSWERS_MAX: usize = 1 << 20;
/// Answers for which there is room from the beginning.
const ANSWERS_FEW: usize = 64;
/// Draws of one answer, until it is one that the mask allows.
const TRIES: u32 = 8;
/// The origin in the history of a path, so that the history stores no answers: the walker has noted them, and each
/// checkpoint would keep its whole path a second time.
const ORIGIN: Origin = Origin::Seed;

/// Chances of one kind of fault on one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ChanceGroup(u64);

#[cfg(test)]
impl ChanceGroup {
    /// The group of this number.
    pub(crate) const fn of(number: u64) -> ChanceGroup {
        ChanceGroup(number)
    }
}

/// Chances of faults that are logged of one run.
const CHANCES_MAX: usize = 1 << 16;

/// Answers in their order, each with the bound of its question.
#[derive(Clone, Debug, Default)]
pub struct AnswerLog(Arc<Mutex<AnswerLogState>>);

/// An answer, and what it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoggedAnswer {
    pub(crate) answer: Override,
    /// The bound of a number.
    pub(crate) bound: u64,
    /// Whether the program draws it: neither a fault nor a turn.
    pub(crate) is_drawn: bool,
    /// Whether it is one of a few alternatives with weights.
    pub(crate) is_weighted: bool,
}

#[derive(Debug, Default)]
struct AnswerLogState {
    answers: Vec<LoggedAnswer>,
    /// What they weigh, with those of the way before them.
    weight: usize,
    /// Whether numbers that stand for others of the same effect are noted, and those of a question by its place.
    lists_alternatives: bool,
    listed: BTreeMap<usize, Arc<[u64]>>,
    /// Whether one of them is a value out of many.
    has_wide: bool,
    /// Whether an answer was not logged, because there were [`ANSWERS_MAX`].
    is_truncated: bool,
    /// How often it was asked which task runs next.
    ordered: u64,
    /// For each question whether a planned fault strikes: the kind of fault, and the machine.
    chances: Vec<ChanceGroup>,
    /// What was learned of the length of runs of tasks.
    lengths: RunLengths,
    /// What may be left out, of this step.
    taken: Vec<u64>,
    /// The same, of all steps that showed something new.
    credited: Vec<u64>,
}

impl AnswerLog {
    fn lock(&self) -> MutexGuard<'_, AnswerLogState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy of what was answered.
    #[must_use]
    pub fn snapshot(&self) -> Vec<Override> {
        self.lock().answers.iter().map(|logged| logged.answer.clone()).collect()
    }

    /// The answers follow a path of this weight.
    pub(crate) fn continue_behind(&self, weight: usize) {
        self.lock().weight = weight;
    }

    /// Whether a value out of many was drawn.
    pub(crate) fn has_wide(&self) -> bool {
        self.lock().has_wide
    }

    /// How many answers there are.
    pub(crate) fn len(&self) -> usize {
        self.lock().answers.len()
    }

    /// The answers from one on, each with what it is of.
    pub(crate) fn since(&self, begin: usize) -> Vec<LoggedAnswer> {
        self.lock().answers.get(begin..).unwrap_or_default().to_vec()
    }

    /// Forgets the answers so far: the way to the place that the run is at has them.
    pub(crate) fn forget_answers(&self) {
        let log = &mut *self.lock();
        log.answers.clear();
        log.listed.clear();
        log.taken.clear();
        log.credited.clear();
    }

    /// How often it was asked which task runs next.
    pub(crate) fn ordered(&self) -> u64 {
        self.lock().ordered
    }

    /// Of each question whether a planned fault strikes, which group it is of; the first ones, if there are very many.
    pub(crate) fn chances(&self) -> Vec<ChanceGroup> {
        self.lock().chances.clone()
    }

    /// How often it was asked whether a planned fault strikes.
    pub(crate) fn chances_len(&self) -> u64 {
        self.lock().chances.len() as u64
    }

    /// How long runs of tasks were, where a policy chose which task runs next.
    pub(crate) fn lengths(&self) -> RunLengths {
        self.lock().lengths.clone()
    }

    /// A step is over, and showed something new or nothing.
    pub(crate) fn end_step(&self, is_new: bool) {
        let log = &mut *self.lock();
        if is_new {
            log.credited.append(&mut log.taken);
        }
        log.taken.clear();
    }

    /// A step is over, and showed nothing new; `false`, and nothing happens, if more was asked than is logged.
    pub(crate) fn end_dull_step(&self) -> bool {
        let log = &mut *self.lock();
        if !log.is_truncated {
            log.taken.clear();
        }
        !log.is_truncated
    }

    /// The answers after which something new came, of those that may be left out.
    pub(crate) fn credited(&self) -> Vec<u64> {
        std::mem::take(&mut self.lock().credited)
    }

    /// Notes of each question from here on which answers it has.
    pub(crate) fn list_alternatives(&self) {
        self.lock().lists_alternatives = true;
    }

    /// All questions with their answers.
    pub(crate) fn asked(&self) -> Vec<AskedQuestion> {
        let log = self.lock();
        let asked = |(at, logged): (usize, &LoggedAnswer)| AskedQuestion {
            answer: logged.answer.clone(),
            alternatives: match (&logged.answer, log.listed.get(&at)) {
                (Override::Bytes(_), _) => Alternatives::Bytes { is_drawn: logged.is_drawn },
                (Override::Number(_), Some(listed)) => Alternatives::Listed(Arc::clone(listed)),
                (Override::Number(_), None) => Alternatives::Below(logged.bound),
            },
        };
        log.answers.iter().enumerate().map(asked).collect()
    }

    /// Notes numbers that stand for all answers of the question that comes next.
    fn list(&self, alternatives: impl FnOnce() -> Vec<u64>) {
        let mut log = self.lock();
        if log.lists_alternatives && !log.is_truncated {
            let (at, alternatives) = (log.answers.len(), alternatives());
            log.listed.insert(at, Arc::from(alternatives));
        }
    }

    /// Notes an answer, and which one it is of those that may be left out.
    fn record(&self, answer: Override, (bound, is_drawn, is_weighted): (u64, bool, bool), named: Option<u64>) {
        let mut log = self.lock();
        let weight = log.weight + answer.weight();
        if weight <= ANSWERS_MAX && !log.is_truncated {
            log.weight = weight;
            if log.answers.is_empty() {
                log.answers.reserve(ANSWERS_FEW);
            }
            let logged = LoggedAnswer { answer, bound, is_drawn, is_weighted };
            log.has_wide |= values::is_wide(&logged);
            log.answers.push(logged);
            log.taken.extend(named);
        } else {
            log.is_truncated = true;
        }
    }

    /// Whether more was asked than is logged.
    pub(crate) fn is_truncated(&self) -> bool {
        self.lock().is_truncated
    }
}

/// How questions are answered that no script answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AnswerPolicy {
    /// Which answers may be given.
    pub(crate) mask: AnswerMask,
    /// Which of the ready tasks runs next.
    pub(crate) order: TaskOrder,
    /// What a program draws is the simplest there is.
    pub(crate) simplest: bool,
    /// How likely faults begin or end at a step.
    pub(crate) toggle: f64,
    /// Which chances of faults strike.
    pub(crate) faults: FaultChoice,
}

/// Which chances of the planned faults strike.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum FaultChoice {
    /// As often as the plan says.
    #[default]
    Chance,
    /// Those of these numbers, counted from where the run begins, and no others.
    At(Arc<[u64]>),
}

/// Which of the ready tasks runs next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TaskOrder {
    /// Any.
    Any,
    /// The one that has waited longest.
    First,
    /// As a policy has it, whatever the program asks for.
    Policy(SchedulePolicy, Arc<RunLengths>),
}

impl TaskOrder {
    /// By a policy that has learned nothing.
    pub(crate) fn by(policy: SchedulePolicy) -> TaskOrder {
        TaskOrder::Policy(policy, Arc::default())
    }
}

/// Answers on one way.
pub struct GuidedSource {
    script: Arc<[Override]>,
    at: usize,
    rng: Rng,
    policy: AnswerPolicy,
    part: DecisionPart,
    /// Whether faults strike as chance has it; otherwise none does.
    faults_active: bool,
    /// Chances of faults so far.
    chances: u64,
    /// Chooses which task runs next, where the order is a policy's.
    scheduler: Scheduler,
    /// The weights of the alternatives of the next question, if it has some.
    weights: Vec<u32>,
    /// `None` in a fork.
    log: Option<AnswerLog>,
}

impl GuidedSource {
    pub(crate) fn new(script: Arc<[Override]>, mut rng: Rng, policy: AnswerPolicy, log: &AnswerLog) -> GuidedSource {
        let faults_active = policy.toggle > 0.0 && rng.one_in(2);
        let (part, log) = (DecisionPart::WHOLE, Some(log.clone()));
        let scheduler = match &policy.order {
            TaskOrder::Policy(_, lengths) => Scheduler::new(RunLengths::clone(lengths)),
            TaskOrder::Any | TaskOrder::First => Scheduler::default(),
        };
        GuidedSource {
            script,
            at: 0,
            rng,
            policy,
            part,
            faults_active,
            chances: 0,
            scheduler,
            weights: Vec::new(),
            log,
        }
    }

    /// A walk that answers as chance has it, without faults: what is asked before a scenario begins.
    #[must_use]
    pub fn first(seed: Seed, log: &AnswerLog) -> GuidedSource {
        GuidedSource::continuing(Arc::from([]), Rng::new(seed, 0).stream(u64::MAX), 0.0, log)
    }

    /// A walk that answers by a script, and then as chance has it; faults begin or end at a step with the probability `toggle`.
    pub(crate) fn continuing(script: Arc<[Override]>, rng: Rng, toggle: f64, log: &AnswerLog) -> GuidedSource {
        let policy = AnswerPolicy {
            mask: AnswerMask::All,
            order: TaskOrder::Any,
            simplest: false,
            toggle,
            faults: FaultChoice::Chance,
        };
        GuidedSource::new(script, rng, policy, log)
    }

    fn next_scripted(&mut self) -> Option<Override> {
        let answer = self.script.get(self.at).cloned();
        self.at += 1;
        answer
    }

    /// A step begins: faults may begin or end with it.
    fn begin_step(&mut self, question: Question<'_>) {
        if let Purpose::Choice(part) = question.purpose
            && question.node == NodeId(0)
            && part != self.part
        {
            self.part = part;
            if self.policy.toggle > 0.0 && self.rng.happens(self.policy.toggle) {
                self.faults_active = !self.faults_active;
            }
        }
    }

    /// The number of a question whether a planned fault strikes; `None` of others.
    fn chance(&mut self, question: Question<'_>, bound: u64) -> Option<u64> {
        if !matches!(question.purpose, Purpose::Fault | Purpose::Nemesis(_)) || bound != u64::from(RATE_ALWAYS_PPM) {
            return None;
        }
        self.chances += 1;
        if let Some(log) = &self.log {
            let mut log = log.lock();
            if log.chances.len() < CHANCES_MAX {
                log.chances.push(ChanceGroup(swarm::answer(question.site, question.node.0.into())));
            }
        }
        Some(self.chances - 1)
    }

    fn draw(&mut self, question: Question<'_>, bound: u64, chance: Option<u64>) -> u64 {
        let asks_order = question.purpose == Purpose::Schedule || question.site == NEXT_TASK;
        if asks_order {
            return match self.policy.order {
                TaskOrder::First => 0,
                // A question that does not name its tasks can only be answered by chance.
                TaskOrder::Any | TaskOrder::Policy(..) => self.rng.below(bound),
            };
        }
        if let (Some(number), FaultChoice::At(chosen)) = (chance, &self.policy.faults) {
            // The upper part of the numbers is what the rate gives to a strike.
            return if chosen.contains(&number) { bound - 1 } else { 0 };
        }
        // How a fault that was chosen strikes is drawn.
        let is_drawn = self.policy.faults == FaultChoice::Chance;
        let quiet = matches!(question.purpose, Purpose::Fault | Purpose::Nemesis(_))
            && is_drawn
            && (!self.faults_active || !self.policy.mask.allows(swarm::answer(question.site, 0)));
        if quiet || self.policy.simplest {
            return 0;
        }
        match question.purpose {
            Purpose::Reply if self.rng.one_in(2) => self.any_alternative(bound),
            _ => self.draw_allowed(question, bound),
        }
    }

    /// Any of the alternatives, however likely it is: what is rare is what a search is for.
    fn any_alternative(&mut self, bound: u64) -> u64 {
        let Some(chosen) = (!self.weights.is_empty()).then(|| self.rng.below(self.weights.len() as u64)) else {
            return self.rng.below(bound);
        };
        let before = self.weights.iter().take(chosen as usize);
        before.map(|weight| u64::from(*weight)).sum::<u64>().min(bound - 1)
    }

    /// Any answer that the mask allows; one that it does not when that is all that comes.
    fn draw_allowed(&mut self, question: Question<'_>, bound: u64) -> u64 {
        let mut drawn = self.rng.below(bound);
        if !matches!(question.purpose, Purpose::Choice(_) | Purpose::Reply) {
            return drawn;
        }
        if self.policy.mask == AnswerMask::All {
            return drawn;
        }
        for _ in 0..TRIES {
            let Some(alternative) = self.alternative(drawn, bound) else { return drawn };
            if self.policy.mask.allows(swarm::answer(question.site, alternative)) {
                break;
            }
            drawn = self.rng.below(bound);
        }
        drawn
    }

    /// Which of a few alternatives an answer is.
    fn alternative(&self, answer: u64, bound: u64) -> Option<u64> {
        if self.weights.is_empty() {
            return (bound <= swarm::ALTERNATIVES_MAX).then_some(answer);
        }
        let mut left = answer;
        let at = self.weights.iter().position(|weight| {
            let is_here = left < u64::from(*weight);
            left = left.saturating_sub(u64::from(*weight));
            is_here
        });
        at.map(|at| at as u64)
    }
}

/// The first number of each alternative that has a weight.
fn first_of_each(weights: &[u32]) -> Vec<u64> {
    let mut before = 0;
    let first = |weight: &u32| {
        let first = before;
        before += u64::from(*weight);
        (*weight > 0).then_some(first)
    };
    weights.iter().filter_map(first).collect()
}

impl DecisionSource for GuidedSource {
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin) {
        self.begin_step(question);
        let chance = self.chance(question, bound);
        let answer = match self.next_scripted() {
            Some(Override::Number(number)) => number.min(bound - 1),
            Some(Override::Bytes(_)) | None => self.draw(question, bound, chance),
        };
        if let Some(log) = &self.log {
            if chance.is_some() {
                // The upper part of the numbers is what the rate gives to a strike.
                log.list(|| vec![0, bound - 1]);
            } else if !self.weights.is_empty() {
                log.list(|| first_of_each(&self.weights));
            }
            let may_be_left_out =
                matches!(question.purpose, Purpose::Choice(_) | Purpose::Reply) && question.site != NEXT_TASK;
            let alternative = if may_be_left_out { self.alternative(answer, bound) } else { None };
            let named = alternative.map(|alternative| swarm::answer(question.site, alternative));
            log.record(Override::Number(answer), (bound, may_be_left_out, !self.weights.is_empty()), named);
        }
        self.weights.clear();
        (answer, ORIGIN)
    }

    fn pick(&mut self, question: Question<'_>, point: &SchedulingPoint<'_>) -> (u64, Origin) {
        self.begin_step(question);
        let bound = point.ready.len() as u64;
        let scripted = self.next_scripted();
        let answer = match (scripted, &self.policy.order) {
            (Some(Override::Number(number)), _) => number.min(bound - 1),
            (_, TaskOrder::First) => 0,
            (_, TaskOrder::Any) => self.rng.below(bound),
            (_, TaskOrder::Policy(policy, _)) => {
                self.scheduler.pick(question, point, *policy, self.rng.number()) as u64
            }
        };
        if let Some(log) = &self.log {
            log.record(Override::Number(answer), (bound, false, false), None);
            let mut log = log.lock();
            log.ordered += 1;
            if let TaskOrder::Policy(..) = self.policy.order {
                self.scheduler.teach(question, point, &mut log.lengths);
            }
        }
        self.weights.clear();
        (answer, ORIGIN)
    }

    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin {
        self.begin_step(question);
        let given = match self.next_scripted() {
            Some(Override::Bytes(text)) => unhex(&text).filter(|bytes| bytes.len() == out.len()),
            Some(Override::Number(_)) | None => None,
        };
        match given {
            Some(bytes) => out.copy_from_slice(&bytes),
            None if self.policy.simplest => out.fill(0),
            None => self.rng.fill(out),
        }
        if let Some(log) = &self.log {
            // Seeds of hash maps are compared with nothing.
            log.record(Override::Bytes(hex(out)), (0, question.purpose != Purpose::InsecureSeed, false), None);
        }
        ORIGIN
    }

    fn weigh(&mut self, weights: &[u32]) {
        self.weights.clear();
        self.weights.extend_from_slice(weights);
    }

    fn seed(&self) -> Seed {
        Seed(0)
    }

    fn fork(&self) -> Box<dyn DecisionSource> {
        Box::new(GuidedSource {
            script: Arc::clone(&self.script),
            rng: self.rng.clone(),
            scheduler: self.scheduler.clone(),
            policy: self.policy.clone(),
            weights: self.weights.clone(),
            log: None,
            ..*self
        })
    }
}
