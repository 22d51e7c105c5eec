//! From the bytes that a user gives to a program that is ready to run.
//!
//! ```text
//! bytes ─load─▶ component ─instrument─▶ ─compile (cached)─▶ Program ─link─▶ Program with its target
//! ```
//!
//! Invariant: nothing here executes guest code.
//! Not here: the rewriting itself (`fozzy-instrument`), executions (`run`, `reactor`).

pub(crate) mod build;
pub(crate) mod cache;
pub(crate) mod catalogue;
pub(crate) mod compiler;
pub(crate) mod componentize;
pub(crate) mod libfuzzer_module;
pub(crate) mod link;
pub(crate) mod load;
pub(crate) mod ports;
pub(crate) mod preview1_module;
pub(crate) mod program;
pub(crate) mod settings;
pub(crate) mod symbolizer;
pub(crate) mod untyped_imports;
