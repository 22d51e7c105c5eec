//! Questions, answers and who gives them.
//!
//! ```text
//! host: "64 random bytes for node 0?" ──Question──▶ DecisionSource ──▶ bytes, Origin::Seed
//! ```
//!
//! A question is one point of nondeterminism. It is typed: bytes of a length, or a number below a bound,
//! so that a shrinker knows what is simpler (zero) and a replayer knows what fits. Its site says
//! where it was asked.
//!
//! Invariant: a source is a pure function of its own state and the questions so far.
//! Not here: how answers are recorded (`history`), what they are used for (`fozzy-world`).

use crate::observation::{AnswerTime, BackendRequest, BackendResponse, Observation};
use crate::plan::Inputs;
use crate::scheduler::SchedulingPoint;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The number that all streams of an execution are derived from.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One simulated machine that runs a target instance.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

/// What a question is for. Each purpose of each node draws from a stream of its own, so that one more
/// draw in one place shifts no other place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// `wasi:random/random`.
    Random,
    /// `wasi:random/insecure`.
    Insecure,
    /// `wasi:random/insecure-seed`: the seed of hash maps.
    InsecureSeed,
    /// Which machine runs next, when several can.
    Schedule,
    /// How long a packet is on its way.
    Network,
    /// Whether a fault strikes, and how.
    Fault,
    /// When the answer of the real computer arrives, in virtual time.
    Arrival,
    /// Which answer of a scripted rule is given, where it has several.
    Reply,
    /// What a program draws through `fozzy:choices`, in this part of its run.
    Choice(DecisionPart),
    /// Whether a nemesis begins, and how: its rule is the sequence, and the number of its chance the step.
    Nemesis(DecisionPart),
}

/// A part of a program's run whose choices come from a stream of their own: one call of a scenario. Leaving a part
/// out shifts no choice of another. A part that comes again begins its stream again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DecisionPart(u64);

impl DecisionPart {
    /// Everything of a program that has no parts, and of a scenario before its first sequence.
    pub const WHOLE: DecisionPart = DecisionPart(0);

    /// A sequence before its first step. There are less than 2^32 - 1 sequences.
    #[must_use]
    pub const fn beginning(sequence: u32) -> DecisionPart {
        DecisionPart((sequence as u64 + 1) << 32)
    }

    /// A step of a sequence. There are less than 2^32 - 2 of them.
    #[must_use]
    pub const fn step(sequence: u32, step: u32) -> DecisionPart {
        DecisionPart(DecisionPart::beginning(sequence).0 + 1 + step as u64)
    }

    /// A sequence after its last step.
    #[must_use]
    pub const fn ending(sequence: u32) -> DecisionPart {
        DecisionPart(DecisionPart::beginning(sequence).0 + u32::MAX as u64)
    }

    /// The number of the step that this is, in its sequence; `None` for what is no step.
    #[must_use]
    pub const fn step_number(self) -> Option<u32> {
        let place = self.0 & 0xffff_ffff;
        if self.0 >> 32 == 0 || place == 0 || place == u32::MAX as u64 { None } else { Some(place as u32 - 1) }
    }

    /// The sequence that this is a part of; `None` for what is outside all sequences.
    #[must_use]
    pub const fn sequence(self) -> Option<u32> {
        match self.0 >> 32 {
            0 => None,
            next => Some(next as u32 - 1),
        }
    }

    /// The number of the stream.
    #[must_use]
    pub const fn stream(self) -> u64 {
        self.0
    }
}

impl Purpose {
    /// The name that stream keys are derived from. Part of the trace format: never renamed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Purpose::Random => "random",
            Purpose::Insecure => "insecure",
            Purpose::InsecureSeed => "insecure-seed",
            Purpose::Schedule => "schedule",
            Purpose::Network => "network",
            Purpose::Fault => "fault",
            Purpose::Arrival => "arrival",
            Purpose::Reply => "reply",
            Purpose::Choice(_) => "choice",
            Purpose::Nemesis(_) => "nemesis",
        }
    }
}

/// One point of nondeterminism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question<'a> {
    /// The node that asks.
    pub node: NodeId,
    /// Which stream answers it when the seed does.
    pub purpose: Purpose,
    /// Where it is asked: the import's name, or the guest's own label.
    pub site: &'a str,
}

/// Where an answer came from: what the seed determines needs no storing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Drawn from the stream of the question; the seed gives it again.
    Seed,
    /// Given by a recording, a mutator or an observation; stored in the trace.
    Explicit,
}

/// Who answers. Record, replay, mutation and enumeration are implementations of this trait.
///
/// Each question consumes from its stream even if the answer is explicit, so that replacing one answer
/// leaves all later ones as they were.
pub trait DecisionSource: Send {
    /// A number below `bound`. The simplest answer is zero.
    ///
    /// # Panics
    /// When `bound` is zero: a question without an answer is a fault of the asker.
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin);

    /// Fills `out`. The simplest answer is zeros.
    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin;

    /// The next question is which of some alternatives, which are so likely: an answer is a place in the row of all their
    /// weights. Who draws blindly need not know.
    fn weigh(&mut self, _weights: &[u32]) {}

    /// Which of the tasks of `point` runs next: a place in `point.ready`. The simplest answer is zero, who has been ready longest.
    /// Who does not know about tasks answers with any of them.
    fn pick(&mut self, question: Question<'_>, point: &SchedulingPoint<'_>) -> (u64, Origin) {
        self.below(question, point.ready.len() as u64)
    }

    /// The seed that the unrecorded answers come from.
    fn seed(&self) -> Seed;

    /// Another source that will give the answers that this one would give from here on.
    fn fork(&self) -> Box<dyn DecisionSource>;

    /// A source for the same execution once more, should it be given up: it answers as this one does from here on, and from its first
    /// answer on nothing is left of what this one has noted since. `None` when that cannot be had.
    fn begun_again(&self) -> Option<Box<dyn DecisionSource>> {
        None
    }

    /// What the real computer answers to `ask`, if that was captured before; its bytes are put into `bytes`.
    fn observe(&mut self, ask: &BackendRequest, bytes: &mut Inputs) -> ObservationLookup {
        let _ = (ask, bytes);
        ObservationLookup::Unknown
    }
}

/// What a source knows of an observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObservationLookup {
    /// Nothing: the real computer has to be asked.
    Unknown,
    /// This was the answer, and how long it took.
    Answer(BackendResponse, Option<AnswerTime>),
    /// Another question was recorded here; `None` when the recording has no more.
    Diverged(Option<Box<Observation>>),
}
