//! Coverage-guided search for inputs that make a target fail.
//!
//! ```text
//!          ┌────────────── corpus ◀── new coverage? ── feedback ◀─┐
//! schedule ┴▶ testcase ─▶ mutate ─▶ input ─▶ dyn FuzzTarget ─▶ outcome ┤
//!                            ▲                  │ comparisons      └─ failed ─▶ findings, by signature
//!                            └── dictionary, ◀──┘
//!                                input-to-state
//! ```
//!
//! An input is a string of bytes, for every kind of target: one that draws typed values reads them off the bytes, in
//! order, the simplest when they are used up. So there is one corpus, one set of mutators, one way to trim.
//!
//! Invariants: a campaign is a pure function of its options, the corpus it began with and the target's answers: equal
//! campaigns make equal executions in equal order. All its randomness comes from one stream. Nothing here reads a clock.
//! Not here: how an input is executed (`fozzy-engine`), files and clocks (`fozzy`).

mod campaign;
mod comparison_budget;
mod corpus;
mod corpus_minimize;
mod cost_control;
mod dictionary;
mod input_to_state;
mod length_control;
mod mutate;
mod operand_stability;
mod power_schedule;
mod reduce;
mod structured_input;
mod target;

pub use campaign::{Campaign, CampaignEnd, FuzzObserver, Options, Stats};
pub use corpus::{Corpus, Testcase};
pub use corpus_minimize::{InputCoverage, minimize_corpus};
pub use dictionary::{Dictionary, DictionaryError, Token};
pub use mutate::{MUTATORS, Mutator};
pub use structured_input::StructuredInput;
pub use target::{FuzzOutcome, FuzzTarget, MemoryUse};

// What explorations use of it: the same comparisons propose answers there.
pub(crate) use comparison_budget::ComparisonBudget;
pub(crate) use input_to_state::{InputToStatePair, OperandFixup, PairFinder, candidates as comparison_candidates};
// And what searches for costs use.
pub(crate) use mutate::{MutationContext, Mutators};

#[cfg(test)]
mod tests;
