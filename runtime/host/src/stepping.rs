//! Steps of a scenario that follow each other in one call of the guest: what its host knows of them.
//!
//! ```text
//! engine: begin_steps ─▶ fozzy-steps(4, 9)   step 4 ─▶ step over ─▶ the gate: go on ─▶ begin_step(5)
//!                                            step 5 ─▶ step over ─▶ the gate: stop  ─▶ the call returns
//! engine: end_steps: step 5 was the last
//! ```
//!
//! In a run, the steps are also counted: each has the fuel that it has in a call of its own, and what the code beside it uses is
//! given back.
//!
//! ```text
//! engine: begin_counted ─▶ fozzy-run-steps(4)   step 4 ─▶ (its label) ─▶ counted: what is left is what step 4 has left
//!                                               step 5 ─▶ …
//! ```
//!
//! Invariant: a step is begun, and seen in the history, as if it were a call of its own.
//! Not here: what the host does between two of them (`scenario`), the code that takes them (`fozzy-instrument`), what is looked at
//! between them (`fozzy-engine`, `fozzy-search`).

use fozzy_trace::Instant;
use fozzy_trace::facts::{Facts, MESSAGE_BYTES_MAX};

/// The import by which the code that takes steps asks for the next one.
pub(crate) const STEP_OVER: &str = "fozzy-step-over";

/// The import by which the code that takes the steps of a run says how one came out.
pub(crate) const STEP_COUNTED: &str = "fozzy-step-counted";
/// The import by which it says why a flow found nothing to do, before that.
pub(crate) const STEP_LABEL: &str = "fozzy-step-label";

/// The cases of `fozzy:scenario/stateful.step-result`: a flow ran, or found nothing to do, or none was valid.
pub(crate) const RAN: u32 = 0;
pub(crate) const SKIPPED: u32 = 1;
pub(crate) const STUCK: u32 = 2;
/// With it comes a byte of the text that says why none was valid.
pub(crate) const LETTER: u32 = 256;

/// Letters that are told: the message of a failure has no more of them, and shows that by the character that may be broken at its end.
const LETTERS_MAX: usize = MESSAGE_BYTES_MAX + 8;

/// Is asked after each step but the last one.
pub trait StepGate: Send + Sync {
    /// Whether the guest takes the next step at once, after one that ran `flow` or found nothing to do in it.
    fn goes_on(&mut self, flow: u32, facts: &Facts) -> bool;
}

/// How a step came out that has returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepReturn {
    /// This flow ran, or found nothing to do.
    Flow(u32),
    /// No flow was valid; why, for each of them.
    Stuck(String),
}

/// Several steps that are taken in one call.
pub struct SteppedCall {
    /// The sequence, and the stream of its choices.
    pub(crate) of: (u32, u32),
    /// The step that is being taken, or was taken last.
    pub step: u32,
    /// The last one that may be.
    pub(crate) last: u32,
    pub(crate) gate: Box<dyn StepGate>,
    /// Whether any flow ran.
    pub has_run: bool,
    /// How the last step came out; nothing as long as it is being taken.
    pub outcome: Option<StepReturn>,
    /// The text that says why no flow was valid, as far as it was told.
    pub(crate) letters: Vec<u8>,
    /// Why the step of this number was not begun, or what was wrong with its result.
    pub refused: Option<wasmtime::Error>,
}

impl SteppedCall {
    /// The steps from `first` to `last` of a sequence with this stream of choices. The first one was begun.
    #[must_use]
    pub fn new(of: (u32, u32), first: u32, last: u32, gate: Box<dyn StepGate>) -> SteppedCall {
        SteppedCall { of, step: first, last, gate, has_run: false, outcome: None, letters: Vec::new(), refused: None }
    }

    /// The guest says why no flow was valid, letter by letter. The answer is whether the next one is wanted: its text may be as long as its
    /// memory, and nothing cuts a guest that tells it.
    pub(crate) fn tell(&mut self, letter: u8) -> bool {
        self.letters.push(letter);
        self.letters.len() < LETTERS_MAX
    }
}

/// Fuel that the code around steps uses, which is not theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOverhead {
    /// From the beginning of the call to the first step.
    pub before: u64,
    /// From the end of a step whose flow ran to the question about it.
    pub ran: u64,
    /// The same for one that found nothing to do.
    pub skipped: u64,
    /// From the answer to the next step.
    pub next: u64,
}

/// Several steps of a run that are taken in one call, and counted as if each were a call of its own.
pub struct CountedSteps {
    /// The sequence, and the stream of its choices.
    pub(crate) of: (u32, u32),
    /// The step that is being taken.
    pub(crate) step: u32,
    pub(crate) last: u32,
    /// The fuel and the moment at which it began.
    pub(crate) begun: (u64, Instant),
    pub(crate) overhead: StepOverhead,
    /// Why its flow found nothing to do, if that was told.
    pub(crate) label: Option<String>,
    /// What the guest has left after the last step, once that was counted.
    pub left: Option<u64>,
}

impl CountedSteps {
    /// The steps from `first` to `last` of a sequence with this stream of choices. The first one was begun at this moment, by a
    /// guest that has this much fuel.
    #[must_use]
    pub fn new(
        of: (u32, u32),
        (first, last): (u32, u32),
        begun: (u64, Instant),
        overhead: StepOverhead,
    ) -> CountedSteps {
        CountedSteps { of, step: first, last, begun, overhead, label: None, left: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks for no further step.
    struct ClosedGate;

    impl StepGate for ClosedGate {
        fn goes_on(&mut self, _: u32, _: &Facts) -> bool {
            false
        }
    }

    #[test]
    fn no_more_letters_are_told_than_a_message_shows() {
        let mut steps = SteppedCall::new((0, 0), 0, 9, Box::new(ClosedGate));
        let told = (0..u32::MAX).take_while(|_| steps.tell(b'x')).count() + 1;
        assert_eq!((told, steps.letters.len()), (LETTERS_MAX, LETTERS_MAX));
        assert!(told > MESSAGE_BYTES_MAX);
    }
}
