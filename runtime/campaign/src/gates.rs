//! Gates: our own commands, one after the other, on the scenarios of a project, and a report of what came of each.
//!
//! ```text
//! discover ─▶ Project { all, primary } ─▶ step: fozzy … --json ─▶ passed │ failed │ skipped (why) │ advisory
//!                                          (subprocess)                  (steps)
//! ```
//!
//! Invariants: a step that was not done is `skipped` and says why, never passed; each failure names the command that repeats
//! it; what the steps write goes to a folder of their own, which stays only if one failed; their runs go to the store as any.
//! Not here: how they are shown, and the few steps of `fozzy gate` alone (`command/gate.rs`, `command/full.rs`).

pub mod chain;
pub mod full;
pub mod scope;
pub mod steps;
pub mod subprocess;
