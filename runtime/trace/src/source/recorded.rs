//! Answers of a trace: the seed's, but for the exceptions that were stored.
//!
//! ```text
//! exceptions  {3: "ff00"}        questions 0 1 2 3 4
//! answers                                  s s s E s        (s = seed, E = explicit)
//! ```
//!
//! Invariant: the seed's stream moves at each question, explicit or not.
//! An exception that does not fit its question (another kind, length or bound) is not used; the
//! replayer sees the difference in the history's digest. An observation is used only for the very question
//! that it was the answer to.

use super::SeededSource;
use crate::observation::{BackendRequest, Observation};
use crate::plan::Inputs;
use crate::scheduler::SchedulingPoint;
use crate::{DecisionSource, ObservationLookup, Origin, Question, Seed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An answer that the seed does not determine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Override {
    /// The answer to `fill`, as hexadecimal digits.
    Bytes(String),
    /// The answer to `below`.
    Number(u64),
}

impl Override {
    /// What it takes to keep, in numbers: as many bytes as 32 digits tell take as much as a number.
    #[must_use]
    pub fn weight(&self) -> usize {
        match self {
            Override::Bytes(digits) => 1 + digits.len() / 32,
            Override::Number(_) => 1,
        }
    }
}

/// Replays stored answers over a seed.
#[derive(Clone, Debug)]
pub struct RecordedSource {
    seeded: SeededSource,
    next: u64,
    exceptions: Arc<BTreeMap<u64, Override>>,
    observations: Arc<[Observation]>,
    observed: Inputs,
    /// Observations that were used.
    used: usize,
}

impl RecordedSource {
    /// A source that answers the n-th question (from zero) by `exceptions[n]` where there is one that
    /// fits, and by the seed elsewhere.
    #[must_use]
    pub fn new(seed: Seed, exceptions: BTreeMap<u64, Override>) -> RecordedSource {
        let observations = Arc::from([]);
        RecordedSource {
            seeded: SeededSource::new(seed),
            next: 0,
            exceptions: Arc::new(exceptions),
            observations,
            observed: Inputs::default(),
            used: 0,
        }
    }

    /// The same, and the real computer answered `observations`, in this order; `observed` has their bytes.
    #[must_use]
    pub fn observing(self, observations: Arc<[Observation]>, observed: Inputs) -> RecordedSource {
        RecordedSource { observations, observed, ..self }
    }

    fn exception(&mut self) -> Option<&Override> {
        let index = self.next;
        self.next += 1;
        self.exceptions.get(&index)
    }

    /// The stored answer to the next question, if it is a number below `bound`.
    fn number(&mut self, bound: u64) -> Option<(u64, Origin)> {
        match self.exception() {
            Some(Override::Number(n)) if *n < bound => Some((*n, Origin::Explicit)),
            _ => None,
        }
    }
}

impl DecisionSource for RecordedSource {
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin) {
        let drawn = self.seeded.below(question, bound);
        self.number(bound).unwrap_or(drawn)
    }

    fn pick(&mut self, question: Question<'_>, point: &SchedulingPoint<'_>) -> (u64, Origin) {
        let drawn = self.seeded.pick(question, point);
        self.number(point.ready.len() as u64).unwrap_or(drawn)
    }

    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin {
        self.seeded.fill(question, out);
        let Some(Override::Bytes(text)) = self.exception() else { return Origin::Seed };
        match crate::digest::unhex(text) {
            Some(bytes) if bytes.len() == out.len() => {
                out.copy_from_slice(&bytes);
                Origin::Explicit
            }
            _ => Origin::Seed,
        }
    }

    fn seed(&self) -> Seed {
        self.seeded.seed()
    }

    fn fork(&self) -> Box<dyn DecisionSource> {
        Box::new(self.clone())
    }

    fn begun_again(&self) -> Option<Box<dyn DecisionSource>> {
        Some(self.fork())
    }

    fn observe(&mut self, ask: &BackendRequest, bytes: &mut Inputs) -> ObservationLookup {
        let Some(recorded) = self.observations.get(self.used) else { return ObservationLookup::Diverged(None) };
        if recorded.ask != *ask || !ask.fits(&recorded.answer) {
            return ObservationLookup::Diverged(Some(Box::new(recorded.clone())));
        }
        self.used += 1;
        for digest in recorded.answer.digests() {
            if let Some(content) = self.observed.get(&digest) {
                bytes.add(content);
            }
        }
        ObservationLookup::Answer(recorded.answer.clone(), recorded.took)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NodeId, Purpose};

    const ASK: Question<'static> = Question { node: NodeId(0), purpose: Purpose::Random, site: "test" };

    #[test]
    fn an_exception_replaces_one_answer_and_shifts_none() {
        let draw = |exceptions: &[(u64, Override)]| -> Vec<u64> {
            let mut source = RecordedSource::new(Seed(7), exceptions.iter().cloned().collect());
            (0..5).map(|_| source.below(ASK, 1000).0).collect()
        };
        let plain = draw(&[]);
        let mut changed = draw(&[(3, Override::Number(1))]);
        assert_eq!(changed[3], 1);
        changed[3] = plain[3];
        assert_eq!(changed, plain);
        let unfit = [(0, Override::Number(5000)), (1, Override::Bytes("00".into()))];
        assert_eq!(draw(&unfit), plain);
    }

    #[test]
    fn an_observation_answers_only_its_own_question() {
        use crate::observation::{BackendResponse, FileOperation, FileRequest, FileResponse};
        let ask =
            |offset| BackendRequest::File(FileRequest { on: 1, operation: FileOperation::Read { offset, length: 9 } });
        let mut observed = Inputs::default();
        let content = observed.add(b"content".to_vec());
        let answer = BackendResponse::File(Ok(FileResponse::Bytes { bytes: content, end: true }));
        let observation = Observation { ask: ask(0), answer: answer.clone(), took: None };
        let mut source =
            RecordedSource::new(Seed(7), BTreeMap::new()).observing(Arc::from([observation.clone()]), observed);
        let mut bytes = Inputs::default();
        assert_eq!(source.observe(&ask(5), &mut bytes), ObservationLookup::Diverged(Some(Box::new(observation))));
        assert_eq!(source.observe(&ask(0), &mut bytes), ObservationLookup::Answer(answer, None));
        assert_eq!(bytes.get(&content).as_deref(), Some(&b"content"[..]));
        assert_eq!(source.observe(&ask(0), &mut bytes), ObservationLookup::Diverged(None));
    }

    #[test]
    fn explicit_bytes_are_used_when_they_fit() {
        let exceptions = [(0, Override::Bytes("ff00".into())), (1, Override::Bytes("ff".into()))];
        let mut source = RecordedSource::new(Seed(7), exceptions.into_iter().collect());
        let mut out = [1, 2];
        assert_eq!(source.fill(ASK, &mut out), Origin::Explicit);
        assert_eq!(out, [255, 0]);
        assert_eq!(source.fill(ASK, &mut out), Origin::Seed);
    }
}
