//! Steps of a scenario that follow each other in one call of the guest: what its host knows of them.
//!
//! ```text
//! engine: begin_steps ─▶ fozzy-steps(4)   step 4 ─▶ (its text) ─▶ step over ─▶ looked at: go on ─▶ begin_step(5)
//!                                         step 5 ─▶ (its text) ─▶ step over ─▶ looked at: stop  ─▶ the call returns
//! engine: end_steps: step 5 was the last
//! ```
//!
//! In a search, a gate looks at each. In a run, each is counted: it has the fuel that it has in a call of its own, and what the code
//! beside it uses is given back.
//!
//! Invariant: a step is begun, and seen in the history, as if it were a call of its own.
//! Not here: what the host does between two of them (`scenario`), the code that takes them (`fozzy-instrument`), what is looked at
//! between them (`fozzy-engine`, `fozzy-search`).

use fozzy_trace::Instant;
use fozzy_trace::facts::Facts;

/// The import by which the code that takes steps says how one came out, and asks for the next one.
pub(crate) const STEP_OVER: &str = "fozzy-step-over";
/// The import by which it tells the text of a result, before that.
pub(crate) const STEP_TEXT: &str = "fozzy-step-text";

/// The cases of `fozzy:scenario/stateful.step-result`: a flow ran, or found nothing to do, or none was valid.
pub(crate) const RAN: u32 = 0;
pub(crate) const SKIPPED: u32 = 1;
pub(crate) const STUCK: u32 = 2;

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
    /// The text of its result, if it has one.
    pub(crate) text: Option<String>,
    /// What is done between two of them.
    pub look: StepLook,
}

/// What is done between two steps.
pub enum StepLook {
    /// A search looks at each.
    Judged(JudgedSteps),
    /// Each is counted, in a run.
    Counted(CountedSteps),
}

/// Steps of a search.
pub struct JudgedSteps {
    pub(crate) gate: Box<dyn StepGate>,
    /// Whether any flow ran.
    pub has_run: bool,
    /// How the last step came out; nothing as long as it is being taken.
    pub outcome: Option<StepReturn>,
    /// Why the step of this number was not begun, or what was wrong with its result.
    pub refused: Option<wasmtime::Error>,
}

/// Steps of a run, which are counted as if each were a call of its own.
pub struct CountedSteps {
    /// The fuel and the moment at which the step that is being taken began.
    pub(crate) begun: (u64, Instant),
    pub(crate) overhead: StepOverhead,
    /// What the guest has left after the last step, once that was counted.
    pub left: Option<u64>,
}

impl SteppedCall {
    /// The steps from `first` to `last` of a sequence with this stream of choices, as long as `gate` lets them go on. The first one
    /// was begun.
    #[must_use]
    pub fn judged(of: (u32, u32), first: u32, last: u32, gate: Box<dyn StepGate>) -> SteppedCall {
        let look = StepLook::Judged(JudgedSteps { gate, has_run: false, outcome: None, refused: None });
        SteppedCall { of, step: first, last, text: None, look }
    }

    /// The same, all of them. The first one was begun at this moment, by a guest that has this much fuel.
    #[must_use]
    pub fn counted(
        of: (u32, u32),
        first: u32,
        last: u32,
        begun: (u64, Instant),
        overhead: StepOverhead,
    ) -> SteppedCall {
        let look = StepLook::Counted(CountedSteps { begun, overhead, left: None });
        SteppedCall { of, step: first, last, text: None, look }
    }
}

/// Fuel that the code around steps uses, which is not theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOverhead {
    /// From the beginning of the call to the first step.
    pub before: u64,
    /// From the end of a step to the question about it, if its result has no text.
    pub plain: u64,
    /// The same for one with a text.
    pub told: u64,
    /// From the answer to the next step.
    pub next: u64,
}
