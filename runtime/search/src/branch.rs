//! The same way up to a decision, and another one from there.
//!
//! ```text
//! recorded   a b c d e f          at 3, with another seed
//! branch     a b c x y z …        x, y, z as that seed has them
//! inserting  a b c x d e f        the recording goes on behind what was inserted
//! ```
//!
//! Invariants: the first answers are those of the recording, however they came about there; the trace of a branch needs neither
//! the recording nor the moment.

use fozzy_trace::file::Recording;
use fozzy_trace::plan::Inputs;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{BackendRequest, DecisionSource, ObservationLookup, Origin, Question, SchedulingPoint, Seed};

/// Answers like a recording up to a decision, and from a seed after it.
pub struct Branch {
    recorded: Box<dyn DecisionSource>,
    seeded: SeededSource,
    /// Decisions that are still the recording's.
    left: u64,
    /// Decisions that the seed answers then, before the recording goes on.
    inserted: u64,
}

impl Branch {
    /// Leaves `recording` before its decision `at`, counted from 0; what comes then, `seed` answers.
    #[must_use]
    pub fn new(recording: &Recording, at: u64, seed: Seed) -> Branch {
        Branch::inserting(recording, at, u64::MAX, seed)
    }

    /// Before decision `at` of `recording`, `seed` answers so many others.
    #[must_use]
    pub fn inserting(recording: &Recording, at: u64, others: u64, seed: Seed) -> Branch {
        let (recorded, seeded) = (crate::source_of(recording), SeededSource::new(seed));
        Branch { recorded, seeded, left: at, inserted: others }
    }

    fn is_recorded(&mut self) -> bool {
        let is_recorded = self.left > 0 || self.inserted == 0;
        match self.left {
            0 => self.inserted = self.inserted.saturating_sub(1),
            _ => self.left -= 1,
        }
        is_recorded
    }
}

impl DecisionSource for Branch {
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin) {
        let drawn = self.seeded.below(question, bound);
        if !self.is_recorded() {
            return drawn;
        }
        let (answer, _) = self.recorded.below(question, bound);
        (answer, if answer == drawn.0 { drawn.1 } else { Origin::Explicit })
    }

    fn pick(&mut self, question: Question<'_>, point: &SchedulingPoint<'_>) -> (u64, Origin) {
        let drawn = self.seeded.pick(question, point);
        if !self.is_recorded() {
            return drawn;
        }
        let (answer, _) = self.recorded.pick(question, point);
        (answer, if answer == drawn.0 { drawn.1 } else { Origin::Explicit })
    }

    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin {
        let origin = self.seeded.fill(question, out);
        if !self.is_recorded() {
            return origin;
        }
        self.recorded.fill(question, out);
        Origin::Explicit
    }

    fn seed(&self) -> Seed {
        self.seeded.seed()
    }

    fn fork(&self) -> Box<dyn DecisionSource> {
        let (recorded, seeded) = (self.recorded.fork(), self.seeded.clone());
        Box::new(Branch { recorded, seeded, left: self.left, inserted: self.inserted })
    }

    fn observe(&mut self, ask: &BackendRequest, bytes: &mut Inputs) -> ObservationLookup {
        self.recorded.observe(ask, bytes)
    }
}
