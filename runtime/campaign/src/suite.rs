//! Suites: which scenarios there are, each run alone, several at a time.
//!
//! ```text
//! globs ─select─▶ cases ─build─▶ ┬─ regressions  kept failures, against the program of today ─┐
//!                                └─ scenarios    seed = f(suite seed, name)                   ─┴─ jobs ─▶ in order
//! ```
//!
//! Invariants: what a case comes to depends on its program, its plan and its seed only, never on the other cases, their number
//! or order, nor on how many run at once; a case that cannot be run is one failed case.
//! Not here: what is printed (`fozzy-report`, `command/test.rs`).

pub mod case;
pub mod entry;
pub mod expect;
pub(crate) mod find;
pub mod jobs;
pub mod project;
pub mod records;
pub mod regressions;
pub mod seeds;
pub mod select;
mod unfold;
