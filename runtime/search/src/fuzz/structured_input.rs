//! Answers read off an input: so a target that draws typed values is searched like one that is given bytes.
//!
//! ```text
//! input     07 | 2a 01 | 68 69 | (used up)
//! asked     below 10   below 1000   fill 2   below 5
//! answered  7          298          "hi"     0
//! ```
//!
//! Each number takes as many bytes as its bound needs. What is used up gives the simplest answers, so that a shorter input is
//! a simpler one, and every input is valid. A length (the site `length`, or one that ends with ` length`) is at most what is left, so that a text ends with the
//! input, and grows and shrinks with it; but one number in eight for a collection that may be long is a length whatever is left, since inputs
//! grow slowly. What is drawn last can take all that is left (the site `rest`), whatever it is: so files
//! of texts are inputs of a function that takes a text.
//!
//! Invariant: only what a program draws through `fozzy:choices` is read off; the seed answers all else, as it would without.

use fozzy_trace::source::SeededSource;
use fozzy_trace::{DecisionSource, Origin, Purpose, Question, Seed};
use std::sync::Arc;

/// The site of questions for how long something is, and how such a site ends in the SDK.
const LENGTH: &str = "length";
const LENGTH_SUFFIX: &str = " length";
/// Bounds up to this one are of short collections.
const SHORT_MAX: u64 = 256;
/// Of so many numbers for the length of a collection that may be long, one is the length whatever is left.
const FREE_LENGTHS: u64 = 8;
/// The site of the question how long the last thing is.
const REST: &str = "rest";

/// Answers what a program draws from an input.
#[derive(Clone, Debug)]
pub struct StructuredInput {
    seeded: SeededSource,
    input: Arc<[u8]>,
    used: usize,
}

impl StructuredInput {
    /// A source that answers from `input`, and what is not drawn from `seed`.
    #[must_use]
    pub fn new(seed: Seed, input: &[u8]) -> StructuredInput {
        StructuredInput { seeded: SeededSource::new(seed), input: input.into(), used: 0 }
    }

    fn take(&mut self, out: &mut [u8]) {
        let left = &self.input[self.used..];
        let taken = left.len().min(out.len());
        out[..taken].copy_from_slice(&left[..taken]);
        out[taken..].fill(0);
        self.used += taken;
    }
}

impl DecisionSource for StructuredInput {
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin) {
        let Purpose::Choice(_) = question.purpose else { return self.seeded.below(question, bound) };
        if question.site == REST {
            return (((self.input.len() - self.used) as u64).min(bound - 1), Origin::Explicit);
        }
        let bytes = (64 - (bound - 1).leading_zeros()).div_ceil(8) as usize;
        let mut word = [0; 8];
        self.take(&mut word[..bytes]);
        let number = u64::from_le_bytes(word) % bound;
        let left = (self.input.len() - self.used) as u64;
        let is_collection = question.site.ends_with(LENGTH_SUFFIX);
        let is_free =
            is_collection && bound > SHORT_MAX && u64::from_le_bytes(word) / bound % FREE_LENGTHS == FREE_LENGTHS - 1;
        let is_length = is_collection || question.site == LENGTH;
        (if is_length && !is_free { number.min(left) } else { number }, Origin::Explicit)
    }

    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin {
        let Purpose::Choice(_) = question.purpose else { return self.seeded.fill(question, out) };
        self.take(out);
        Origin::Explicit
    }

    fn seed(&self) -> Seed {
        self.seeded.seed()
    }

    fn fork(&self) -> Box<dyn DecisionSource> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::{DecisionPart, NodeId};

    fn ask(purpose: Purpose) -> Question<'static> {
        Question { node: NodeId(0), purpose, site: "test" }
    }

    #[test]
    fn answers_are_read_off_and_then_the_simplest() {
        let mut drawn = StructuredInput::new(Seed(1), b"\x07\x2a\x01hi\x09");
        let choice = ask(Purpose::Choice(DecisionPart::WHOLE));
        assert_eq!(drawn.below(choice, 1), (0, Origin::Explicit), "nothing to decide takes nothing");
        assert_eq!(drawn.below(choice, 10), (7, Origin::Explicit));
        assert_eq!(drawn.below(choice, 1000), (298, Origin::Explicit));
        let mut out = [1; 2];
        drawn.fill(choice, &mut out);
        assert_eq!(&out, b"hi");
        assert_eq!(drawn.below(choice, 5).0, 4);
        assert_eq!(drawn.below(choice, u64::MAX).0, 0);
        let mut drawn = StructuredInput::new(Seed(1), b"\xff\x0fabc");
        let length = Question { site: LENGTH, ..choice };
        assert_eq!(drawn.below(length, 4097), (3, Origin::Explicit), "no more than is left");
        let mut named = StructuredInput::new(Seed(1), b"\xff\x0fabc");
        assert_eq!(named.below(Question { site: "data length", ..choice }, 4097), (3, Origin::Explicit));
        let long = Question { site: "data length", ..choice };
        // 7 * 513 + 300
        assert_eq!(
            StructuredInput::new(Seed(1), b"\x33\x0fabc").below(long, 513).0,
            300,
            "elements beyond are the simplest"
        );
        assert_eq!(
            drawn.below(Question { site: REST, ..choice }, 4097),
            (3, Origin::Explicit),
            "and that takes nothing"
        );
        let random = ask(Purpose::Random);
        assert_eq!(drawn.below(random, 1 << 40), SeededSource::new(Seed(1)).below(random, 1 << 40));
    }
}
