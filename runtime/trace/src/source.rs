//! Sources of decisions: by seed, and by seed with recorded exceptions.
//!
//! One file a source; mutated and enumerated sources belong to `fozzy-search`.

mod recorded;
mod seeded;

pub use recorded::{Override, RecordedSource};
pub use seeded::SeededSource;
