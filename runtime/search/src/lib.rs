//! Replay and the determinism audit, over any executor.
//!
//! ```text
//! Recording ─▶ Recorded source ─▶ dyn Executor ─▶ compare with what was recorded
//! seed ───────▶ Seeded source ──▶ dyn Executor, N times ─▶ compare with each other
//! ```
//!
//! Invariants: nothing here knows how an execution is performed; a difference is always named by its
//! first call, never by a hash alone.
//! Not here: shrinking, fuzzing and exploring, which come over the same trait.

mod audit;
mod compare;
mod replay;

pub use audit::{Audit, audit};
pub use compare::{Difference, Divergence, Side, compare, locate};
pub use replay::{Against, Replay, against, replay, source_of};
