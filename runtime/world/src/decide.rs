//! How the parts of the computer ask: for chance, and whether a fault strikes.
//!
//! ```text
//! network.send(packet, &mut moment)
//!     ├─ moment.now                                   virtual time
//!     ├─ moment.below(Purpose::Network, site, n)      a question, answered by the source and recorded
//!     └─ moment.strikes(&LATENCY, "client->server")   a question too, if such a fault is planned
//! ```
//!
//! Invariant: nothing in this crate has chance from anywhere else.

use crate::fault::{FaultKind, Faults};
use fozzy_trace::plan::OtherReplies;
use fozzy_trace::{Duration, Instant, NodeId, Purpose, Question};

/// Answers questions; the host implements it over the source and the history.
pub trait Decider {
    /// A number below `bound`, which is not zero. The simplest answer is zero.
    fn below(&mut self, question: Question<'_>, bound: u64) -> u64;

    /// The next question is which of some answers, which are so likely.
    fn weigh(&mut self, _weights: &[u32]) {}

    /// Calls that were answered so far: the place of what happens now in the history.
    fn calls(&self) -> u64 {
        0
    }

    /// A planned fault strikes; who tells runs to people shows it.
    fn strike(&mut self, _strike: FaultStrike<'_>) {}
}

/// A planned fault, as it strikes.
#[derive(Clone, Copy, Debug)]
pub struct FaultStrike<'a> {
    /// Virtual time.
    pub at: Instant,
    /// The node whose operation it strikes.
    pub node: NodeId,
    /// Its kind.
    pub kind: &'static FaultKind,
    /// What it strikes: a path, a URL, a link, a machine.
    pub target: &'a str,
    /// How hard, in the unit of the kind.
    pub strength: u64,
}

/// Whose operation is performed, when, and whom it may ask.
pub struct OpContext<'a> {
    /// Virtual time.
    pub now: Instant,
    /// The node that does it.
    pub node: NodeId,
    /// Planned misbehaviour.
    pub faults: &'a mut Faults,
    /// Who answers.
    pub decider: &'a mut dyn Decider,
}

impl OpContext<'_> {
    /// A number below `bound`, which is not zero. The simplest answer is zero.
    pub fn below(&mut self, purpose: Purpose, site: &str, bound: u64) -> u64 {
        self.decider.below(Question { node: self.node, purpose, site }, bound)
    }

    /// Which answer a rule gives, and how long after it would otherwise come; without others, nothing is asked.
    pub fn reply<'r, R>(
        &mut self,
        (first, delay): (&'r R, Duration),
        others: Option<&'r OtherReplies<R>>,
        site: &str,
    ) -> (&'r R, Duration) {
        let Some(others) = others else { return (first, delay) };
        self.decider.weigh(&others.weights());
        // A plan whose weights cannot be is one that was made up: it has one answer.
        let chosen = others.choose(|bound| self.below(Purpose::Reply, site, bound)).ok().flatten();
        chosen.map_or((first, delay), |chosen| (&chosen.answer, chosen.delay))
    }

    /// Whether a fault of `kind` strikes `target` now, and how hard, in the kind's unit.
    #[inline]
    pub fn injects(&mut self, kind: &FaultKind, target: &str) -> Option<u64> {
        self.strikes_any(kind, &[target])
    }

    /// The same for a target with several names; a plan may use any of them. The question is asked once.
    #[inline]
    pub fn strikes_any(&mut self, kind: &FaultKind, targets: &[&str]) -> Option<u64> {
        if self.faults.is_empty() { None } else { self.faults.inject(kind, targets, self.now, self.node, self.decider) }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fozzy_trace::DecisionSource;
    use fozzy_trace::source::SeededSource;

    /// Chance by seed, for tests of the parts of the computer.
    pub(crate) struct SeededDecider(pub(crate) SeededSource);

    impl Decider for SeededDecider {
        fn below(&mut self, question: Question<'_>, bound: u64) -> u64 {
            self.0.below(question, bound).0
        }
    }
}
