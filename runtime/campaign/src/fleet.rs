//! A fleet: all tests of a project, searched for as long as there is time, on one store.
//!
//! ```text
//! select, cargo-fuzz ─▶ targets ─▶ whose turn? (division) ─▶ one slice: a campaign or an exploration (slice)
//!  (discovery, collector)  ▲                                     │ corpus, saved failures: where `fozzy fuzz` and `explore` keep them
//!                          ├────── estimates, failures, counts ◀─┤ (records, in the shared store)
//!                          └────── testcases, explored paths   ◀─┘ (exchange, in the shared store)
//! ```
//!
//! Invariants: all that a slice has found is kept before its lease ends; a target is worked on by one at a time, however many fleets share
//! the store; a target that crashes or hangs takes nothing but its slice.

pub mod collector;
pub mod discovery;
pub mod dismissal;
pub mod dispatch;
pub mod division;
pub mod exchange;
mod named_blobs;
pub mod page_command;
pub mod patches;
pub mod records;
pub mod shared_store;
mod slice;
mod slice_log;
mod source_stamp;
mod spool;
pub mod store_copy;
pub mod testcases;
pub(crate) mod trace_name;
pub mod view;

pub use slice::end_with_fleet;

/// Real time within which a holder of a lease says that it still works.
pub const LEASE_RENEWAL: std::time::Duration = std::time::Duration::from_secs(10);
