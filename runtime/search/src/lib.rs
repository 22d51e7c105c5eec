//! Replay, the determinism audit, shrinking, fuzzing and exploring, over any executor.
//!
//! ```text
//! Recording ─▶ Recorded source ─▶ dyn Executor ─▶ compare with what was recorded
//! seed ───────▶ Seeded source ──▶ dyn Executor, N times ─▶ compare with each other
//! Recording ─▶ Keyed source ────▶ dyn ReplayTarget, many times ─▶ the smallest candidate with the same failure
//! seed, corpus ▶ Campaign ───────▶ dyn FuzzTarget ────────▶ findings, a larger corpus
//! seed ────────▶ Exploration ────▶ dyn StatefulTarget, from checkpoints ▶ findings
//! seed ────────▶ Maximizer ──────▶ dyn MeasuredTarget ▶ the input that costs most
//! ```
//!
//! Invariants: nothing here knows how an execution is performed; a difference is always named by its
//! first call, never by a hash alone.
//! Not here: how an execution is performed (`fozzy-engine`).

mod audit;
mod branch;
pub mod causality;
mod compare;
pub mod explore;
mod feedback;
mod findings;
pub mod fuzz;
pub mod keyed_source;
pub mod maximize;
mod question_count;
mod replay;
mod rng;
pub mod shrink;
mod site_source;
pub mod stats;

pub use audit::{Audit, audit};
pub use branch::Branch;
pub use compare::{CallDivergence, OutcomeDifference, Repeat, ReplaySide, compare, end_words, locate, locate_within};
pub use feedback::Feedback;
pub use findings::{FailureRecord, Findings};
pub use question_count::{QuestionCount, QuestionCounter};
pub use replay::{CrossReplay, ReplayResult, replay, replay_against, source_of};
pub use rng::Rng;
