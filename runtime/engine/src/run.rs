//! Executions from beginning to end: guests take turns until the run has ended.
//!
//! ```text
//! Session ─execute─▶ schedule ─ a fiber for each guest ─▶ scenario │ command │ handler
//!                       │                                     └─▶ callee: the target of a scenario
//!                       └─▶ trap, coverage, inspect_at: how it ended, what it covered, how it stood at one moment
//!                       └─▶ debug: the same, stopped anywhere
//!                       └─▶ criteria: whether it is as its plan expects
//! ```
//!
//! Not here: checkpoints (`reactor`), what the host answers (`fozzy-host`).

pub(crate) mod block_stop;
pub(crate) mod callee;
pub(crate) mod comparison_log;
pub(crate) mod coverage;
pub(crate) mod criteria;
pub(crate) mod debug;
pub(crate) mod debugged;
pub(crate) mod heap;
pub(crate) mod inspect_at;
pub(crate) mod memory_roles;
pub(crate) mod preview1_memory;
pub(crate) mod profile;
pub(crate) mod scenario;
pub(crate) mod schedule;
pub(crate) mod session;
pub(crate) mod stretch;
pub(crate) mod trap;
