//! A source that counts what it is asked, for who needs to know at a call how many questions were answered by then.
//!
//! Invariant: its answers are those of the source that it holds.

use fozzy_trace::plan::Inputs;
use fozzy_trace::{BackendRequest, DecisionSource, ObservationLookup, Origin, Question, SchedulingPoint, Seed};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the questions of another source.
pub struct QuestionCount {
    source: Box<dyn DecisionSource>,
    asked: Arc<AtomicU64>,
}

/// How many questions were answered so far.
#[derive(Clone)]
pub struct QuestionCounter(Arc<AtomicU64>);

impl QuestionCounter {
    /// The number.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl QuestionCount {
    /// The answers of `source`, counted.
    #[must_use]
    pub fn new(source: Box<dyn DecisionSource>) -> QuestionCount {
        QuestionCount { source, asked: Arc::default() }
    }

    /// Who reads the count.
    #[must_use]
    pub fn count(&self) -> QuestionCounter {
        QuestionCounter(Arc::clone(&self.asked))
    }

    fn add(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }
}

impl DecisionSource for QuestionCount {
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin) {
        self.add();
        self.source.below(question, bound)
    }

    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin {
        self.add();
        self.source.fill(question, out)
    }

    fn weigh(&mut self, weights: &[u32]) {
        self.source.weigh(weights);
    }

    fn pick(&mut self, question: Question<'_>, point: &SchedulingPoint<'_>) -> (u64, Origin) {
        self.add();
        self.source.pick(question, point)
    }

    fn seed(&self) -> Seed {
        self.source.seed()
    }

    fn fork(&self) -> Box<dyn DecisionSource> {
        self.source.fork()
    }

    fn observe(&mut self, ask: &BackendRequest, bytes: &mut Inputs) -> ObservationLookup {
        self.source.observe(ask, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::source::SeededSource;
    use fozzy_trace::{NodeId, Purpose};

    #[test]
    fn each_question_counts_once_and_is_answered_as_before() {
        const ASK: Question<'static> = Question { node: NodeId(0), purpose: Purpose::Random, site: "test" };
        let mut plain = SeededSource::new(Seed(7));
        let mut counted = QuestionCount::new(Box::new(plain.clone()));
        let count = counted.count();
        for asked in 0..3 {
            assert_eq!(count.get(), asked);
            assert_eq!(counted.below(ASK, 1000).0, plain.below(ASK, 1000).0);
        }
        let (mut one, mut other) = ([0; 4], [0; 4]);
        counted.fill(ASK, &mut one);
        plain.fill(ASK, &mut other);
        assert_eq!((count.get(), one), (4, other));
    }
}
