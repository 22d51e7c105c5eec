//! Who answers: the run in the sandbox, the seed natively. Both have these functions.
//!
//! ```text
//! choose("account", 5) ─▶ sandbox: fozzy:choices/draws.choose      ┐ the same number
//!                       └▶ native: fozzy_trace, the same stream     ┘ for the same seed
//! ```
//!
//! Invariant: what has no answer ends the program with a sentence that says so, in both.

#[cfg(not(target_arch = "wasm32"))]
mod native;
#[cfg(target_arch = "wasm32")]
mod sandbox;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use native::*;
#[cfg(target_arch = "wasm32")]
pub(crate) use sandbox::*;

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Left is less.
    Less,
    /// Left is less or equal.
    AtMost,
    /// Left is greater.
    Greater,
    /// Left is greater or equal.
    AtLeast,
}

/// Why the program says that it has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportedFailure {
    /// Every task waits for another.
    #[cfg_attr(not(feature = "std"), allow(dead_code, reason = "there are tasks with std only"))]
    Deadlock,
    /// It cannot be run as it is.
    Invalid,
    /// What must hold between steps does not.
    Invariant,
}

/// The scenario is wrong, and cannot continue.
#[doc(hidden)]
pub fn invalid(site: &str, message: &str) -> ! {
    fail(ReportedFailure::Invalid, site, message)
}
