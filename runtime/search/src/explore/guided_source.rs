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
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Answers that are logged of one run and of the way before it, by their weight: some tens of megabytes. A run that asks for more ends after the step in which it does,
/// and is counted as cut: its path would not lead there again.
pub(crate) const ANSWERS_MAX: usize = 1 << 20;
/// Answers for which there is room from the beginning.
const ANSWERS_FEW: usize = 64;
/// Logs that are kept to be used again: those of the last run, whose source the target still has, and of the one before it.
const SPARE_LOGS_MAX: usize = 4;
/// Answers for which they keep room.
const SPARE_ANSWERS_MAX: usize = 1 << 12;
/// Bytes of sites of one step beyond which its answers are named at once.
const SITES_BYTES_MAX: usize = 1 << 12;
/// Bytes of a site that is named anew each time.
const SITE_SHORT: usize = 8;
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
pub struct AnswerLog(Arc<SharedAnswers>);

/// What a source and the search share. What is asked at each step or answer stands beside the lock.
#[derive(Debug, Default)]
struct SharedAnswers {
    state: Mutex<AnswerLogState>,
    /// How many answers there are.
    len: AtomicUsize,
    /// Whether numbers that stand for others of the same effect are noted, and those of a question by its place.
    lists_alternatives: AtomicBool,
    /// Whether one of them is a value out of many.
    has_wide: AtomicBool,
    /// Whether an answer was not logged, because there were [`ANSWERS_MAX`].
    is_truncated: AtomicBool,
}

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
    /// Where they are noted: numbers that stand for others of the same effect, by the place of the answer.
    listed: BTreeMap<usize, Arc<[u64]>>,
    /// How often it was asked which task runs next.
    ordered: u64,
    /// For each question whether a planned fault strikes: the kind of fault, and the machine.
    chances: Vec<ChanceGroup>,
    /// What was learned of the length of runs of tasks.
    lengths: RunLengths,
    /// What may be left out, of this step: answers by their names, and those behind them that have none yet, each by the length of its site
    /// and by which alternative it is. Names are of use only after a step that showed something new.
    taken: Vec<u64>,
    unnamed: Vec<(usize, u64)>,
    /// The sites of those, one behind the other.
    sites: String,
    /// The same, of all steps that showed something new.
    credited: Vec<u64>,
}

/// Logs of runs that are over, to be used again.
#[derive(Debug, Default)]
pub(crate) struct SpareLogs(Vec<AnswerLog>);

impl SpareLogs {
    /// An empty log, in the allocations of one that nobody else has any more.
    pub(crate) fn next(&mut self) -> AnswerLog {
        for log in &mut self.0 {
            if let Some(shared) = Arc::get_mut(&mut log.0) {
                shared.empty();
                return log.clone();
            }
        }
        let log = AnswerLog::default();
        if self.0.len() < SPARE_LOGS_MAX {
            self.0.push(log.clone());
        }
        log
    }
}

impl SharedAnswers {
    /// As a new one is, but for what its lists have room for.
    fn empty(&mut self) {
        let SharedAnswers { state, len, lists_alternatives, has_wide, is_truncated } = self;
        let state = state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let AnswerLogState { answers, weight, listed, ordered, chances, lengths, taken, unnamed, sites, credited } =
            state;
        answers.clear();
        answers.shrink_to(SPARE_ANSWERS_MAX);
        chances.clear();
        chances.shrink_to(SPARE_ANSWERS_MAX);
        taken.clear();
        taken.shrink_to(SPARE_ANSWERS_MAX);
        unnamed.clear();
        unnamed.shrink_to(SPARE_ANSWERS_MAX);
        sites.clear();
        credited.clear();
        listed.clear();
        (*weight, *ordered, *lengths) = (0, 0, RunLengths::default());
        *len.get_mut() = 0;
        for flag in [lists_alternatives, has_wide, is_truncated] {
            *flag.get_mut() = false;
        }
    }
}

impl AnswerLogState {
    /// Notes an answer of this step that may be left out.
    fn take(&mut self, site: &str, alternative: u64) {
        self.unnamed.push((site.len(), alternative));
        self.sites.push_str(site);
        if self.sites.len() >= SITES_BYTES_MAX {
            self.name_taken();
        }
    }

    /// Names the answers of this step.
    fn name_taken(&mut self) {
        let mut sites = &*self.sites;
        for (length, alternative) in self.unnamed.drain(..) {
            let (site, behind) = sites.split_at(length);
            self.taken.push(swarm::answer(site, alternative));
            sites = behind;
        }
        self.sites.clear();
    }

    /// Forgets the answers of this step.
    fn forget_taken(&mut self) {
        self.taken.clear();
        self.unnamed.clear();
        self.sites.clear();
    }
}

impl AnswerLog {
    fn lock(&self) -> MutexGuard<'_, AnswerLogState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.0.has_wide.load(Ordering::Relaxed)
    }

    /// How many answers there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len.load(Ordering::Relaxed)
    }

    /// The answers from one on, each with what it is of.
    pub(crate) fn since(&self, begin: usize) -> Vec<LoggedAnswer> {
        self.lock().answers.get(begin..).unwrap_or_default().to_vec()
    }

    /// Forgets the answers so far: the way to the place that the run is at has them.
    pub(crate) fn forget_answers(&self) {
        let log = &mut *self.lock();
        log.answers.clear();
        self.0.len.store(0, Ordering::Relaxed);
        log.listed.clear();
        log.forget_taken();
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
            log.name_taken();
            log.credited.append(&mut log.taken);
        }
        log.forget_taken();
    }

    /// A step is over, and showed nothing new; `false`, and nothing happens, if more was asked than is logged.
    pub(crate) fn end_dull_step(&self) -> bool {
        if self.is_truncated() {
            return false;
        }
        self.lock().forget_taken();
        true
    }

    /// The answers after which something new came, of those that may be left out.
    pub(crate) fn credited(&self) -> Vec<u64> {
        std::mem::take(&mut self.lock().credited)
    }

    /// Notes of each question from here on which answers it has.
    pub(crate) fn list_alternatives(&self) {
        self.0.lists_alternatives.store(true, Ordering::Relaxed);
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
        if self.0.lists_alternatives.load(Ordering::Relaxed) && !self.is_truncated() {
            let mut log = self.lock();
            let (at, alternatives) = (log.answers.len(), alternatives());
            log.listed.insert(at, Arc::from(alternatives));
        }
    }

    /// Notes an answer, and which one it is of those that may be left out: its site, and which of its alternatives.
    fn record(&self, answer: Override, (bound, is_drawn, is_weighted): (u64, bool, bool), chosen: Option<(&str, u64)>) {
        let mut log = self.lock();
        let weight = log.weight + answer.weight();
        if weight <= ANSWERS_MAX && !self.is_truncated() {
            log.weight = weight;
            if log.answers.is_empty() {
                log.answers.reserve(ANSWERS_FEW);
            }
            let logged = LoggedAnswer { answer, bound, is_drawn, is_weighted };
            if values::is_wide(&logged) {
                self.0.has_wide.store(true, Ordering::Relaxed);
            }
            log.answers.push(logged);
            self.0.len.store(log.answers.len(), Ordering::Relaxed);
            if let Some((site, alternative)) = chosen {
                log.take(site, alternative);
            }
        } else {
            self.0.is_truncated.store(true, Ordering::Relaxed);
        }
    }

    /// Whether more was asked than is logged.
    pub(crate) fn is_truncated(&self) -> bool {
        self.0.is_truncated.load(Ordering::Relaxed)
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
    /// The site that was named last for a mask, of those that are not short, and its name.
    named: (String, u64),
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
            named: (String::new(), swarm::site("")),
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
        let site = self.site(question.site);
        for _ in 0..TRIES {
            let Some(alternative) = self.alternative(drawn, bound) else { return drawn };
            if self.policy.mask.allows(swarm::answer_at(site, alternative)) {
                break;
            }
            drawn = self.rng.below(bound);
        }
        drawn
    }

    /// The name of a site. Most steps ask at the site where the last one did.
    fn site(&mut self, site: &str) -> u64 {
        if site.len() <= SITE_SHORT {
            return swarm::site(site);
        }
        if self.named.0 != site {
            self.named.0.clear();
            self.named.0.push_str(site);
            self.named.1 = swarm::site(site);
        }
        self.named.1
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
            let chosen = alternative.map(|alternative| (question.site, alternative));
            log.record(Override::Number(answer), (bound, may_be_left_out, !self.weights.is_empty()), chosen);
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
            named: (String::new(), swarm::site("")),
            log: None,
            ..*self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_steps_that_showed_something_new_are_credited_in_their_order() {
        let (log, mut expected) = (AnswerLog::default(), Vec::new());
        let mut all = 0;
        for step in 0..40 {
            let is_new = step % 3 == 0;
            // The later steps have more sites than are noted at once.
            for number in 0..step * step {
                let site = format!("site {}", number % 7);
                log.record(Override::Number(number), (64, true, false), Some((site.as_str(), number)));
                log.record(Override::Number(number), (64, false, false), None);
                expected.extend(is_new.then(|| swarm::answer(&site, number)));
                all += 2;
            }
            log.end_step(is_new);
        }
        assert_eq!((log.credited(), log.credited()), (expected, Vec::new()));
        assert_eq!((log.len(), log.snapshot().len(), log.has_wide()), (all, all, false));
        log.record(Override::Number(1 << 40), (u64::MAX, true, false), Some(("wide", 1)));
        assert!(log.has_wide() && !log.is_truncated());
        log.forget_answers();
        log.end_step(true);
        assert_eq!((log.len(), log.snapshot(), log.credited()), (0, Vec::new(), Vec::new()));
    }

    #[test]
    fn a_log_that_is_used_again_is_as_a_new_one_and_one_in_use_is_not() {
        let mut spare = SpareLogs::default();
        let (first, second) = (spare.next(), spare.next());
        assert!(!Arc::ptr_eq(&first.0, &second.0));
        let mut source = GuidedSource::first(Seed(1), &first);
        first.list_alternatives();
        for number in 0..200 {
            let purpose = if number % 2 == 0 { Purpose::Choice(DecisionPart::WHOLE) } else { Purpose::Fault };
            let question = Question { node: NodeId(0), purpose, site: "a test" };
            source.weigh(&[3, 4]);
            source.below(question, u64::from(RATE_ALWAYS_PPM));
            source.below(question, u64::MAX);
            source.fill(question, &mut [0; 4]);
            first.end_step(number % 3 == 0);
        }
        assert!(first.has_wide() && first.len() > 500 && first.chances_len() > 50);
        first.continue_behind(ANSWERS_MAX);
        first.record(Override::Number(1), (2, true, false), Some(("a test", 1)));
        assert!(first.is_truncated());
        let used = Arc::as_ptr(&first.0);
        drop(first);
        assert!(!std::ptr::eq(Arc::as_ptr(&spare.next().0), used), "the source has it");
        drop(source);
        let again = spare.next();
        assert!(std::ptr::eq(Arc::as_ptr(&again.0), used));
        assert_eq!(format!("{again:?}"), format!("{:?}", AnswerLog::default()));
    }

    #[test]
    fn a_site_has_its_name_whichever_was_named_before() {
        let log = AnswerLog::default();
        let mut source = GuidedSource::first(Seed(1), &log);
        let mut rng = Rng::new(Seed(2), 0);
        let sites = ["", "flow", "12345678", "123456789", "a site that is long", "another site that is long"];
        for _ in 0..200 {
            let site = sites[rng.index(sites.len())];
            assert_eq!(source.site(site), swarm::site(site), "{site}");
        }
    }

    #[test]
    fn what_is_not_logged_is_noted() {
        let log = AnswerLog::default();
        log.continue_behind(ANSWERS_MAX - 1);
        log.record(Override::Number(1), (2, true, false), None);
        assert_eq!((log.len(), log.is_truncated()), (1, false));
        log.record(Override::Number(1), (2, true, false), None);
        assert_eq!((log.len(), log.is_truncated()), (1, true));
    }
}
