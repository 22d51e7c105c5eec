//! Answers of a trace: the seed's, but for the exceptions that were stored.
//!
//! ```text
//! exceptions  {3: "ff00"}        questions 0 1 2 3 4
//! answers                                  s s s E s        (s = seed, E = explicit)
//! ```
//!
//! Invariant: the seed's stream moves at each question, explicit or not.
//! An exception that does not fit its question (another kind, length or bound) is not used; the
//! replayer sees the difference in the history's digest.

use super::Seeded;
use crate::{DecisionSource, Origin, Question, Seed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
}

impl Recorded {
    /// A source that answers the n-th question (from zero) by `exceptions[n]` where there is one that
    /// fits, and by the seed elsewhere.
    #[must_use]
    pub fn new(seed: Seed, exceptions: BTreeMap<u64, Explicit>) -> Recorded {
        Recorded { seeded: Seeded::new(seed), next: 0, exceptions }
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
    fn explicit_bytes_are_used_when_they_fit() {
        let exceptions = [(0, Explicit::Bytes("ff00".into())), (1, Explicit::Bytes("ff".into()))];
        let mut source = Recorded::new(Seed(7), exceptions.into_iter().collect());
        let mut out = [1, 2];
        assert_eq!(source.fill(ASK, &mut out), Origin::Explicit);
        assert_eq!(out, [255, 0]);
        assert_eq!(source.fill(ASK, &mut out), Origin::Seed);
    }
}
