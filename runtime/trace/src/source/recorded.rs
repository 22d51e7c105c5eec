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

use super::Seeded;
use crate::observation::{Ask, Observation};
use crate::plan::Inputs;
use crate::{DecisionSource, Observed, Origin, Question, Seed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An answer that the seed does not determine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Explicit {
    /// The answer to `fill`, as hexadecimal digits.
    Bytes(String),
    /// The answer to `below`.
    Number(u64),
}

/// Replays stored answers over a seed.
#[derive(Clone, Debug)]
pub struct Recorded {
    seeded: Seeded,
    next: u64,
    exceptions: BTreeMap<u64, Explicit>,
    observations: Arc<[Observation]>,
    observed: Inputs,
    /// Observations that were used.
    used: usize,
}

impl Recorded {
    /// A source that answers the n-th question (from zero) by `exceptions[n]` where there is one that
    /// fits, and by the seed elsewhere.
    #[must_use]
    pub fn new(seed: Seed, exceptions: BTreeMap<u64, Explicit>) -> Recorded {
        let observations = Arc::from([]);
        Recorded { seeded: Seeded::new(seed), next: 0, exceptions, observations, observed: Inputs::default(), used: 0 }
    }

    /// The same, and the real computer answered `observations`, in this order; `observed` has their bytes.
    #[must_use]
    pub fn observing(self, observations: Arc<[Observation]>, observed: Inputs) -> Recorded {
        Recorded { observations, observed, ..self }
    }

    fn exception(&mut self) -> Option<Explicit> {
        let index = self.next;
        self.next += 1;
        self.exceptions.remove(&index)
    }
}

impl DecisionSource for Recorded {
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin) {
        let drawn = self.seeded.below(question, bound);
        match self.exception() {
            Some(Explicit::Number(n)) if n < bound => (n, Origin::Explicit),
            _ => drawn,
        }
    }

    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin {
        self.seeded.fill(question, out);
        let Some(Explicit::Bytes(text)) = self.exception() else { return Origin::Seed };
        match crate::digest::unhex(&text) {
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

    fn observe(&mut self, ask: &Ask, bytes: &mut Inputs) -> Observed {
        let Some(recorded) = self.observations.get(self.used) else { return Observed::Diverged(None) };
        if recorded.ask != *ask || !ask.fits(&recorded.answer) {
            return Observed::Diverged(Some(Box::new(recorded.clone())));
        }
        self.used += 1;
        for digest in recorded.answer.digests() {
            if let Some(content) = self.observed.get(&digest) {
                bytes.add(content);
            }
        }
        Observed::Answer(recorded.answer.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NodeId, Purpose};

    const ASK: Question<'static> = Question { node: NodeId(0), purpose: Purpose::Random, site: "test" };

    #[test]
    fn an_exception_replaces_one_answer_and_shifts_none() {
        let draw = |exceptions: &[(u64, Explicit)]| -> Vec<u64> {
            let mut source = Recorded::new(Seed(7), exceptions.iter().cloned().collect());
            (0..5).map(|_| source.below(ASK, 1000).0).collect()
        };
        let plain = draw(&[]);
        let mut changed = draw(&[(3, Explicit::Number(1))]);
        assert_eq!(changed[3], 1);
        changed[3] = plain[3];
        assert_eq!(changed, plain);
        let unfit = [(0, Explicit::Number(5000)), (1, Explicit::Bytes("00".into()))];
        assert_eq!(draw(&unfit), plain);
    }

    #[test]
    fn an_observation_answers_only_its_own_question() {
        use crate::observation::{Answer, FileAnswer, FileAsk, FileOperation};
        let ask = |offset| Ask::File(FileAsk { on: 1, operation: FileOperation::Read { offset, length: 9 } });
        let mut observed = Inputs::default();
        let content = observed.add(b"content".to_vec());
        let answer = Answer::File(Ok(FileAnswer::Bytes { bytes: content, end: true }));
        let observation = Observation { ask: ask(0), answer: answer.clone() };
        let mut source = Recorded::new(Seed(7), BTreeMap::new()).observing(Arc::from([observation.clone()]), observed);
        let mut bytes = Inputs::default();
        assert_eq!(source.observe(&ask(5), &mut bytes), Observed::Diverged(Some(Box::new(observation))));
        assert_eq!(source.observe(&ask(0), &mut bytes), Observed::Answer(answer));
        assert_eq!(bytes.get(&content).as_deref(), Some(&b"content"[..]));
        assert_eq!(source.observe(&ask(0), &mut bytes), Observed::Diverged(None));
    }

    #[test]
    fn explicit_bytes_are_used_when_they_fit() {
        let exceptions = [(0, Explicit::Bytes("ff00".into())), (1, Explicit::Bytes("ff".into()))];
        let mut source = Recorded::new(Seed(7), exceptions.into_iter().collect());
        let mut out = [1, 2];
        assert_eq!(source.fill(ASK, &mut out), Origin::Explicit);
        assert_eq!(out, [255, 0]);
        assert_eq!(source.fill(ASK, &mut out), Origin::Seed);
    }
}
