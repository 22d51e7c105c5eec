//! Answers by the place of their question, and a log of what was asked: what a search changes and looks at.
//!
//! ```text
//! answers   { (n0, choice of step 3, 1st): 7 }        the seed answers the rest
//! log       (n0, choice of step 3, 0th) below 100 ─▶ 42, (…, 1st) below 10 ─▶ 7, …
//! ```
//!
//! A recording names its answers by their number in the whole execution, which shifts when anything before them is left
//! out. Here they are named by stream and place in it, so that leaving out one step leaves the answers of the others.
//!
//! Invariants: the seed's stream moves at each question, explicit or not; an answer that does not fit its question is
//! brought to the nearest one that does.
//! Not here: which answers are tried (`shrink`).

use fozzy_trace::digest::{hex, unhex};
use fozzy_trace::file::Recording;
use fozzy_trace::plan::Inputs;
use fozzy_trace::source::{Override, RecordedSource};
use fozzy_trace::{
    BackendRequest, DecisionPart, DecisionSource, NodeId, Observation, ObservationLookup, Origin, Purpose, Question,
    SchedulingPoint, Seed,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Decisions of one execution that are logged; later ones stay as they are.
pub const LOGGED_MAX: usize = 1 << 20;

/// Where a question stands: in which part of the run, for what, and after how many others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DecisionKey {
    /// The part of the target's run: that of its last choice.
    pub part: DecisionPart,
    /// Who asked.
    pub node: NodeId,
    /// For what.
    pub purpose: Purpose,
    /// How many questions of that node and purpose came before in the part.
    pub nth: u64,
}

/// A question, and how it was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Where it stands.
    pub key: DecisionKey,
    /// The place in the program, or the import, that asked.
    pub site: String,
    /// Which answers there were.
    pub domain: AnswerDomain,
    /// Which one was given.
    pub answer: Override,
    /// Whether the seed gave it.
    pub origin: Origin,
}

/// The answers that a question has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerDomain {
    /// Numbers below this one.
    Below(u64),
    /// Bytes, by their number.
    Bytes(usize),
}

/// Decisions in the order in which they were taken.
pub type DecisionLog = Arc<Mutex<Vec<Decision>>>;

/// What a log holds, which is empty after that.
pub(crate) fn take(log: &DecisionLog) -> Vec<Decision> {
    std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Answers by [`DecisionKey`], over a seed.
pub struct KeyedSource {
    /// Whose answers are taken where none is given, and what the real computer said.
    beneath: Box<dyn DecisionSource>,
    answers: Arc<BTreeMap<DecisionKey, Override>>,
    /// Whether chance and faults are quiet where no answer is given.
    calm: bool,
    /// Whether everything gets the simplest answer where none is given.
    is_simplest: bool,
    part: DecisionPart,
    /// Questions of this part so far.
    asked: BTreeMap<(NodeId, Purpose), u64>,
    log: DecisionLog,
    /// The decisions of the log that stay at its next answer, if it is of an execution that is begun again.
    kept: Option<usize>,
}

impl KeyedSource {
    /// A source that answers by `answers`, elsewhere by the seed, and logs.
    #[must_use]
    pub fn new(seed: Seed, answers: Arc<BTreeMap<DecisionKey, Override>>, log: DecisionLog) -> KeyedSource {
        KeyedSource::over(Box::new(RecordedSource::new(seed, BTreeMap::new())), answers, log)
    }

    /// The same over a seed, where the real computer answered `observations`, whose bytes are `observed`.
    #[must_use]
    pub fn observing(
        seed: Seed,
        answers: Arc<BTreeMap<DecisionKey, Override>>,
        log: DecisionLog,
        (observations, observed): (Arc<[Observation]>, Inputs),
    ) -> KeyedSource {
        let beneath = RecordedSource::new(seed, BTreeMap::new()).observing(observations, observed);
        KeyedSource::over(Box::new(beneath), answers, log)
    }

    /// The same as it is now, which continues apart with other answers.
    pub(crate) fn fork_with(&self, answers: Arc<BTreeMap<DecisionKey, Override>>, log: DecisionLog) -> KeyedSource {
        let KeyedSource { beneath, calm, is_simplest, part, asked, .. } = self;
        let (beneath, asked) = (beneath.fork(), asked.clone());
        KeyedSource { beneath, answers, calm: *calm, is_simplest: *is_simplest, part: *part, asked, log, kept: None }
    }

    /// A source that answers by `answers`, elsewhere as `beneath` does, and logs.
    pub(crate) fn over(
        beneath: Box<dyn DecisionSource>,
        answers: Arc<BTreeMap<DecisionKey, Override>>,
        log: DecisionLog,
    ) -> KeyedSource {
        let (part, asked) = (DecisionPart::WHOLE, BTreeMap::new());
        KeyedSource { beneath, answers, calm: false, is_simplest: false, part, asked, log, kept: None }
    }

    /// The same; faults, turns and the network's chance get the simplest answer where none is given, instead of the seed's.
    #[must_use]
    pub fn calm(self, calm: bool) -> KeyedSource {
        KeyedSource { calm, ..self }
    }

    /// The same; every question gets the simplest answer where none is given, instead of the seed's.
    pub(crate) fn simplest(self, is_simplest: bool) -> KeyedSource {
        KeyedSource { is_simplest, ..self }
    }

    /// A source that answers as a recording does, and logs.
    #[must_use]
    pub fn recorded(recording: &Recording, log: DecisionLog) -> KeyedSource {
        let beneath = RecordedSource::new(recording.seed, recording.explicit.clone())
            .observing(Arc::clone(&recording.observations), recording.inputs.clone());
        KeyedSource::over(Box::new(beneath), Arc::default(), log)
    }

    fn key_of(&mut self, Question { node, purpose, .. }: Question<'_>) -> DecisionKey {
        if let Purpose::Choice(part) = purpose
            && node == NodeId(0)
            && part != self.part
        {
            self.part = part;
            self.asked.clear();
        }
        // What nemeses do is independent of the steps of the target, and all that one asks is asked at one moment.
        let part = if let Purpose::Nemesis(_) = purpose { DecisionPart::WHOLE } else { self.part };
        let count = self.asked.entry((node, purpose)).or_default();
        let key = DecisionKey { part, node, purpose, nth: *count };
        *count += 1;
        key
    }

    /// The answer that is given, where `drawn` is that of the seed or the recording.
    fn answer(&mut self, question: Question<'_>, bound: u64, drawn: (u64, Origin)) -> (u64, Origin) {
        let key = self.key_of(question);
        let answer = match self.answers.get(&key) {
            Some(Override::Number(number)) => (*number).min(bound - 1),
            None if self.is_simplest || self.calm && is_chance(question.purpose) => 0,
            Some(Override::Bytes(_)) | None => drawn.0,
        };
        let origin = if answer == drawn.0 { drawn.1 } else { Origin::Explicit };
        self.record(key, question.site, AnswerDomain::Below(bound), || Override::Number(answer), origin);
        (answer, origin)
    }

    fn record(
        &mut self,
        key: DecisionKey,
        site: &str,
        domain: AnswerDomain,
        answer: impl FnOnce() -> Override,
        origin: Origin,
    ) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = self.kept.take() {
            log.truncate(kept);
        }
        if log.len() < LOGGED_MAX {
            log.push(Decision { key, site: site.to_owned(), domain, answer: answer(), origin });
        }
    }
}

impl DecisionSource for KeyedSource {
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin) {
        let drawn = self.beneath.below(question, bound);
        self.answer(question, bound, drawn)
    }

    fn pick(&mut self, question: Question<'_>, point: &SchedulingPoint<'_>) -> (u64, Origin) {
        let drawn = self.beneath.pick(question, point);
        self.answer(question, point.ready.len() as u64, drawn)
    }

    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin {
        let drawn = self.beneath.fill(question, out);
        let key = self.key_of(question);
        let given = match self.answers.get(&key) {
            Some(Override::Bytes(text)) => unhex(text),
            Some(Override::Number(_)) | None => None,
        };
        let given = given.or_else(|| self.is_simplest.then(Vec::new));
        let origin = if let Some(bytes) = given {
            let common = bytes.len().min(out.len());
            out[..common].copy_from_slice(&bytes[..common]);
            out[common..].fill(0);
            Origin::Explicit
        } else {
            // Bytes of a recording are not drawn from the seed: a run without them is another run.
            drawn
        };
        self.record(key, question.site, AnswerDomain::Bytes(out.len()), || Override::Bytes(hex(out)), origin);
        origin
    }

    fn seed(&self) -> Seed {
        self.beneath.seed()
    }

    fn fork(&self) -> Box<dyn DecisionSource> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Box::new(self.fork_with(Arc::clone(&self.answers), Arc::new(Mutex::new(log))))
    }

    fn begun_again(&self) -> Option<Box<dyn DecisionSource>> {
        // Of an execution that is itself begun again, the log still has what the one before has left.
        let logged = || self.log.lock().unwrap_or_else(PoisonError::into_inner).len();
        let kept = Some(self.kept.unwrap_or_else(logged));
        let beneath = self.beneath.begun_again()?;
        let again = self.fork_with(Arc::clone(&self.answers), Arc::clone(&self.log));
        Some(Box::new(KeyedSource { beneath, kept, ..again }))
    }

    fn observe(&mut self, ask: &BackendRequest, bytes: &mut Inputs) -> ObservationLookup {
        self.beneath.observe(ask, bytes)
    }
}

/// Whether what is asked is the computer's doing, and not the program's.
pub(crate) fn is_chance(purpose: Purpose) -> bool {
    use Purpose::{Arrival, Fault, Nemesis, Network, Reply, Schedule};
    matches!(purpose, Fault | Schedule | Network | Arrival | Reply | Nemesis(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::source::SeededSource;

    fn ask(step: u32) -> Question<'static> {
        Question { node: NodeId(0), purpose: Purpose::Choice(DecisionPart::step(0, step)), site: "test" }
    }

    fn key_of(step: u32, nth: u64) -> DecisionKey {
        DecisionKey { part: DecisionPart::step(0, step), node: NodeId(0), purpose: ask(step).purpose, nth }
    }

    #[test]
    fn an_answer_stays_with_its_step_when_others_are_left_out() {
        let answers = Arc::new(BTreeMap::from([(key_of(2, 1), Override::Number(5))]));
        let draw = |steps: &[u32]| -> Vec<(u64, Origin)> {
            let mut source = KeyedSource::new(Seed(7), Arc::clone(&answers), DecisionLog::default());
            let draws = steps.iter().flat_map(|step| [*step; 2]);
            draws.map(|step| source.below(ask(step), 1000)).collect()
        };
        let (all, some) = (draw(&[0, 1, 2]), draw(&[0, 2]));
        assert_eq!(all[5], (5, Origin::Explicit));
        assert_eq!((&all[..2], &all[4..]), (&some[..2], &some[2..]));
        let mut seeded = SeededSource::new(Seed(7));
        assert_eq!(seeded.below(ask(0), 1000), all[0]);
    }

    #[test]
    fn an_execution_that_is_begun_again_leaves_nothing_of_the_one_before_in_the_log() {
        let log = DecisionLog::default();
        let mut first = KeyedSource::new(Seed(7), Arc::default(), Arc::clone(&log));
        let mut again = first.begun_again().expect("a seed can begin again");
        let draw = |source: &mut dyn DecisionSource| [0, 1, 2].map(|step| source.below(ask(step), 1000));
        let drawn = draw(&mut first);
        let whole = format!("{:?}", log.lock().expect("one thread"));
        first.below(ask(3), 1000);
        assert_ne!(format!("{:?}", log.lock().expect("one thread")), whole, "of the one that is given up");
        let mut third = again.begun_again().expect("a seed can begin again");
        assert_eq!(draw(&mut *again), drawn);
        assert_eq!(format!("{:?}", log.lock().expect("one thread")), whole);
        again.below(ask(3), 1000);
        assert_eq!(draw(&mut *third), drawn);
        assert_eq!(format!("{:?}", log.lock().expect("one thread")), whole, "as often as it is begun again");
    }

    #[test]
    fn what_strikes_in_one_step_does_not_move_to_another() {
        let fault = Question { node: NodeId(3), purpose: Purpose::Fault, site: "io-error" };
        let at = DecisionKey { part: DecisionPart::step(0, 2), node: NodeId(3), purpose: Purpose::Fault, nth: 0 };
        let answers = Arc::new(BTreeMap::from([(at, Override::Number(5))]));
        let draw = |steps: &[u32]| -> Vec<u64> {
            let mut source = KeyedSource::new(Seed(7), Arc::clone(&answers), DecisionLog::default()).calm(true);
            let asked = |step: &u32| {
                source.below(ask(*step), 1000);
                source.below(fault, 1000).0
            };
            steps.iter().map(asked).collect()
        };
        assert_eq!((draw(&[0, 1, 2, 3]), draw(&[2, 3])), (vec![0, 0, 5, 0], vec![5, 0]));
    }

    #[test]
    fn an_answer_that_does_not_fit_is_brought_to_one_that_does_and_all_is_logged() {
        let answers = [(key_of(0, 0), Override::Number(50)), (key_of(0, 1), Override::Bytes("0102".into()))];
        let answers = Arc::new(BTreeMap::from(answers));
        let log = DecisionLog::default();
        let mut source = KeyedSource::new(Seed(7), answers, Arc::clone(&log));
        assert_eq!(source.below(ask(0), 10), (9, Origin::Explicit));
        let mut out = [9; 3];
        assert_eq!(source.fill(ask(0), &mut out), Origin::Explicit);
        assert_eq!(out, [1, 2, 0]);
        let (drawn, _) = source.below(ask(0), 10);
        let noted: Vec<(u64, AnswerDomain, Override, Origin)> = log
            .lock()
            .expect("nobody panicked")
            .iter()
            .map(|decision| (decision.key.nth, decision.domain, decision.answer.clone(), decision.origin))
            .collect();
        let expected = [
            (0, AnswerDomain::Below(10), Override::Number(9), Origin::Explicit),
            (1, AnswerDomain::Bytes(3), Override::Bytes("010200".into()), Origin::Explicit),
            (2, AnswerDomain::Below(10), Override::Number(drawn), Origin::Seed),
        ];
        assert_eq!(noted, expected);
    }
}
