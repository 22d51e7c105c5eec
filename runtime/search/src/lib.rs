//! Replay, the determinism audit and fuzzing, over any executor.
//!
//! ```text
//! Recording ─▶ Recorded source ─▶ dyn Executor ─▶ compare with what was recorded
//! seed ───────▶ Seeded source ──▶ dyn Executor, N times ─▶ compare with each other
//! seed, corpus ▶ Campaign ───────▶ dyn Target ────────────▶ findings, a larger corpus
//! ```
//!
//! Invariants: nothing here knows how an execution is performed; a difference is always named by its
//! first call, never by a hash alone.
//! Not here: shrinking and exploring, which come over the same trait.

mod audit;
mod compare;
pub mod fuzz;
mod replay;

pub use audit::{Audit, audit};
pub use compare::{Difference, Divergence, Side, compare, locate};
pub use replay::{Against, Replay, against, replay, source_of};
